/* Counts, and values put back to their positions: bincount, histc, max_unpool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* x [n] added up at `at` (i64 [n]) of zeros of `zeros`' shape and x's dtype. */
static ig_value *add_at(ig_expr *e, ig_value *zeros, ig_value *at, ig_value *x) {
    assert((!zeros || zeros->type->rank == 1) && "sums over bins are vectors");
    ig_scatter_elements_attrs attrs = { .axis = 0,
                                        .reduce = IG_SCATTER_add,
                                        .negative = IG_NEGATIVE_error };
    return ig_build_scatter_elements(e, zeros, at, x, attrs);
}

/* bincount(self, weights, minlength): one bin for each integer from 0 to the largest */
ig_status ig_ts_op_bincount(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_i64);
    ig_value *weights = ig_aten_optional(call, 1);
    int64_t min = ig_aten_int(call, 2);
    ig_dim one = ig_dim_of(1);
    IG_TRY(call->e->status);
    if (min < 0) {
        return ig_ts_fail(call, IG_INVALID, "minlength is %lld, must be at least 0",
                          (long long)min);
    }
    ig_dtype dtype = !weights                            ? IG_DT_i64
                     : weights->type->dtype == IG_DT_f32 ? IG_DT_f32
                                                         : IG_DT_f64;
    if (ig_dim_equal(call->module, ig_expr_extent(call->e, x, 0), ig_dim_of(0)) ==
        IG_YES) {
        dtype = IG_DT_i64; /* torch looks at no weights then */
    }
    ig_value *bound = ig_expr_integer(call->e, IG_DT_i64, min - 1);
    ig_value *all[] = { x, ig_expr_reshape(call->e, bound, 1, &one) };
    ig_value *max = ig_expr_reduce_axis(call->e, IG_REDUCE_max,
                                        ig_expr_concat(call->e, 0, all, 2), 0, false);
    ig_value *range[] = { ig_expr_integer(call->e, IG_DT_i64, 0),
                          ig_expr_with(call->e, IG_OP_add, max, 1),
                          ig_expr_integer(call->e, IG_DT_i64, 1) };
    ig_value *bins = ig_expr_make(call->e, IG_OP_range, range, 3, NULL);
    ig_value *zeros = ig_aten_cast(call, ig_expr_with(call->e, IG_OP_mul, bins, 0),
                                   dtype);
    IG_TRY(call->e->status);
    ig_value *each = weights ? ig_aten_cast(call, weights, dtype)
                             : ig_expr_fill(call->e, dtype, 1, x->type->dims, 1);
    return ig_aten_give(call, add_at(call->e, zeros, x, each));
}

/* The ends that are given, or those of the data where both are equal; and one more
 * where those are. */
static void ends_of(ig_ts_call *call, ig_value *x, ig_value **low, ig_value **high) {
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    double given[] = { ig_aten_float(call, 2), ig_aten_float(call, 3) };
    if (given[0] < given[1]) {
        *low = ig_expr_number(call->e, dtype, given[0]);
        *high = ig_expr_number(call->e, dtype, given[1]);
        return;
    }
    *low = ig_expr_reduce(call->e, IG_REDUCE_min, x, NULL, 0, false);
    *high = ig_expr_reduce(call->e, IG_REDUCE_max, x, NULL, 0, false);
    ig_value *is_equal = ig_build_eq(call->e, *low, *high);
    ig_value *below = ig_expr_with(call->e, IG_OP_sub, *low, 1);
    ig_value *above = ig_expr_with(call->e, IG_OP_add, *high, 1);
    *low = ig_build_where(call->e, is_equal, below, *low);
    *high = ig_build_where(call->e, is_equal, above, *high);
}

/* histc(self, bins, min, max): the last bin holds its upper end; outliers go to a bin
 * that is cut off */
ig_status ig_ts_op_histc(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *low = NULL, *high = NULL;
    int64_t bins = ig_aten_distance(call, 1);
    IG_TRY(call->e->status);
    if (bins <= 0 || !ig_expr_is_float(x)) {
        return ig_ts_fail(
            call, IG_INVALID,
            "bins is %lld and the elements are %s, expected 1 or more and floats",
            (long long)bins, ig_dtypes[x->type->dtype].name);
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_dim count = ig_dim_of(bins + 1);
    x = ig_expr_flatten(call->e, ig_aten_wide(call, x));
    ends_of(call, x, &low, &high);
    ig_value *at = ig_build_sub(call->e, x, low);
    at = ig_expr_with(call->e, IG_OP_mul, at, (double)bins);
    at = ig_build_div(call->e, at, ig_build_sub(call->e, high, low));
    at = ig_expr_with(call->e, IG_OP_min, ig_aten_cast(call, at, IG_DT_i64),
                      (double)(bins - 1));
    ig_value *is_in = ig_build_and(call->e, ig_build_ge(call->e, x, low),
                                   ig_build_le(call->e, x, high));
    at = ig_build_where(call->e, is_in, at, ig_expr_integer(call->e, IG_DT_i64, bins));
    IG_TRY(call->e->status);
    ig_value *zeros = ig_expr_fill(call->e, IG_DT_i64, 1, &count, 0);
    ig_value *ones = ig_expr_fill(call->e, IG_DT_i64, 1, x->type->dims, 1);
    ig_value *y = ig_expr_slice(call->e, add_at(call->e, zeros, at, ones), 0,
                                ig_dim_of(0), ig_dim_of(bins), 1);
    return ig_aten_give(call, ig_aten_cast(call, y, dtype));
}

/* max_unpool2d, 3d(self, indices, output_size, …): values back at their places in
 * planes of zeros; variant: axes of space */
ig_status ig_ts_op_max_unpool(ig_ts_call *call) {
    uint32_t space = (uint32_t)call->row->variant, count;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *at = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    const ig_dim *size = ig_aten_dims(call, 2, space, &count);
    ig_dim dims[IG_TENSOR_RANK];
    ig_module *m = call->module;
    IG_TRY(call->e->status);
    uint32_t lead = x->type->rank - space;
    if (x->type->rank <= space || at->type->rank != x->type->rank) {
        return ig_ts_fail(call, IG_INVALID, "an image of rank %u", x->type->rank);
    }
    memcpy(dims, x->type->dims, lead * sizeof *dims);
    memcpy(dims + lead, size, space * sizeof *dims);
    ig_dim planes = ig_dim_product(m, dims, lead);
    ig_dim flat[] = { planes, ig_dim_product(m, x->type->dims + lead, space) };
    ig_dim wide[] = { planes, ig_dim_product(m, size, space) };
    ig_scatter_elements_attrs attrs = { .axis = 1, .negative = IG_NEGATIVE_error };
    ig_value *zeros = ig_expr_fill(call->e, (ig_dtype)x->type->dtype, 2, wide, 0);
    x = ig_build_scatter_elements(call->e, zeros, ig_expr_reshape(call->e, at, 2, flat),
                                  ig_expr_reshape(call->e, x, 2, flat), attrs);
    return ig_aten_give(call, ig_expr_reshape(call->e, x, x ? lead + space : 0, dims));
}
