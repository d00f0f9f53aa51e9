/* Random numbers: drawn by Philox from the place of the call and the run, not from
 * torch's generator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

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
