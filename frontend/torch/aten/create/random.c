/* Random numbers: drawn by Philox from the place of the call and the run, not from
 * torch's generator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

static ig_value *draw_values(ig_ts_call *call, ig_random kind, ig_dtype dtype,
                             uint32_t rank, const ig_dim *dims) {
    ig_value *run = ig_build_run_number(call->e);
    ig_dtype wide = dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    ig_random_attrs attrs = { .dtype = wide,
                              .shape = { dims, rank },
                              .kind = (int)kind,
                              .number = IG_SET(call->builder->graph->op_count) };
    return ig_aten_cast(call, ig_build_random(call->e, run, attrs), dtype);
}

/* rand, randn(size, dtype …); variant: kind */
ig_status ig_ts_op_rand(ig_ts_call *call) {
    uint32_t rank;
    const ig_dim *dims = ig_aten_shape(call, 0, &rank);
    ig_dtype dtype = ig_aten_dtype(call, 1, IG_DT_f32);
    IG_TRY(call->e->status);
    return ig_aten_give(
        call, draw_values(call, (ig_random)call->row->variant, dtype, rank, dims));
}

/* rand_like, randn_like(self, dtype …) */
ig_status ig_ts_op_rand_like(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    ig_dtype dtype = ig_aten_dtype(call, 1, (ig_dtype)x->type->dtype);
    return ig_aten_give(call, draw_values(call, (ig_random)call->row->variant, dtype,
                                          x->type->rank, x->type->dims));
}

/* uniform(self, from, to), normal(self, mean, std); variant: kind */
ig_status ig_ts_op_rand_between(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    double a = ig_aten_float(call, 1), b = ig_aten_float(call, 2);
    IG_TRY(call->e->status);
    ig_random kind = (ig_random)call->row->variant;
    ig_value *y = draw_values(call, kind, (ig_dtype)x->type->dtype, x->type->rank,
                              x->type->dims);
    y = ig_expr_with(call->e, IG_OP_mul, y, kind == IG_RANDOM_uniform ? b - a : b);
    return ig_aten_give(call, ig_expr_with(call->e, IG_OP_add, y, a));
}

/* bernoulli(self): 1 with the probability that each element says; .p (variant 1): with
 * the same */
ig_status ig_ts_op_bernoulli(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_dtype wide = dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    ig_value *chance = call->row->variant
                           ? ig_expr_number(call->e, wide, ig_aten_float(call, 1))
                           : ig_aten_cast(call, x, wide);
    ig_value *drawn = draw_values(call, IG_RANDOM_uniform, wide, x->type->rank,
                                  x->type->dims);
    ig_value *is_one = ig_build_lt(call->e, drawn, chance);
    return ig_aten_give(call, ig_aten_cast(call, is_one, dtype));
}

/* Numbers of categories drawn with replacement: the first whose running share is above
 * a number between 0 and 1. */
static ig_value *draw_again(ig_ts_call *call, ig_value *x, ig_dim count) {
    ig_expr *e = call->e;
    uint32_t rank = x->type->rank, last = rank - 1u;
    ig_dim dims[] = { ig_expr_extent(e, x, 0), count };
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *share = ig_build_cumsum(e, x, (ig_cumsum_attrs){ .axis = last });
    ig_dim all = ig_expr_extent(e, x, last);
    ig_value *sum = ig_expr_slice(
        e, share, last, ig_dim_sub(e->module, all, ig_dim_of(1)), ig_dim_of(1), 1);
    ig_value *drawn = draw_values(call, IG_RANDOM_uniform, dtype, rank,
                                  rank == 1 ? dims + 1 : dims);
    drawn = ig_build_mul(e, drawn, sum);
    return ig_build_bucketize(e, drawn, share, (ig_bucketize_attrs){ .right = true });
}

/* multinomial(self, num_samples, replacement): without replacement the largest of
 * p / q, where q has an exponential distribution */
ig_status ig_ts_op_multinomial(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_dim count = ig_aten_dim(call, 1);
    bool is_again = ig_aten_bool(call, 2);
    IG_TRY(e->status);
    uint32_t rank = x->type->rank;
    if (rank < 1 || rank > 2 || !ig_expr_is_float(x)) {
        return ig_ts_fail(call, IG_INVALID,
                          "weights of rank %u, expected 1 or 2 of floats", rank);
    }
    x = ig_aten_wide(call, x);
    IG_TRY(e->status);
    if (is_again) {
        return ig_aten_give(call, draw_again(call, x, count));
    }
    ig_value *q = draw_values(call, IG_RANDOM_uniform, (ig_dtype)x->type->dtype, rank,
                              x->type->dims);
    q = ig_expr_number_with(e, IG_OP_sub, 1, q); /* above 0 */
    q = ig_build_neg(e, ig_build_log(e, q));
    q = ig_expr_with(e, IG_OP_max, q, 1e-30);
    q = ig_build_div(e, x, q);
    ig_topk_attrs attrs = { .axis = rank - 1, .k = IG_SET(count) };
    ig_value *results[2], *first = q ? ig_build_topk(e, q, NULL, attrs) : NULL;
    IG_TRY(e->status);
    return ig_expr_results(first, results) ? ig_aten_give(call, results[1]) : e->status;
}
