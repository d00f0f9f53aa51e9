/* quantized_decomposed, by rows and groups: a scale for each token or run of a row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch states these operators as formulas of tensors, whose promotion decides in which
 * precision they are computed: torch/ao/quantization/fx/_decomposed.py.  So they are
 * built from the same steps. */
#include "frontend/torch/aten/quant.h"

enum { INPUT, SCALES, ZEROS, MIN, MAX, GROUP = 6, ROW_OUT = 6, GROUP_OUT };

/* ---- runs of a row as rows of their own ---- */

static ig_value *as_column(ig_expr *e, ig_value *x) {
    return x ? ig_expr_unsqueeze(e, ig_expr_flatten(e, x), 1) : NULL;
}

/* x as [runs, elements]; the group is the whole row where scales are one a row. */
static ig_value *cut_groups(ig_ts_call *call, ig_value *x, const ig_value *scales) {
    int64_t group = ig_aten_int(call, GROUP), width;
    if (!x || call->e->status != IG_OK) {
        return NULL;
    }
    uint32_t last = scales->type->rank;
    bool is_one = last > 0 && ig_dim_is(scales->type->dims[last - 1], 1);
    if (!ig_dim_known(x->type->dims[1], &width)) {
        return ig_expr_fail(call->e, IG_UNSUPPORTED,
                            "the length of the rows is not known at import");
    }
    group = group > width && is_one ? width : group;
    if (group <= 1 || width % group != 0) {
        return ig_expr_fail(call->e, IG_INVALID,
                            "rows of %lld elements are not made of groups of %lld",
                            (long long)width, (long long)group);
    }
    ig_dim dims[] = { ig_dim_mul(call->module, x->type->dims[0],
                                 ig_dim_of(width / group)),
                      ig_dim_of(group) };
    return ig_expr_reshape(call->e, x, 2, dims);
}

/* ---- the operators ---- */

/* Variant 1: in groups. */
ig_status ig_ts_op_decomposed_rows_quantize(ig_ts_call *call) {
    bool is_grouped = call->row->variant != 0;
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, INPUT), *scales = ig_aten_tensor(call, SCALES),
             *zeros = ig_aten_tensor(call, ZEROS), *given = x;
    double min = (double)ig_aten_int(call, MIN), max = (double)ig_aten_int(call, MAX);
    ig_dtype to = ig_aten_dtype(call, MAX + 1, IG_DT_i8);
    IG_TRY(e->status);
    if (is_grouped) {
        x = cut_groups(call, x, scales);
        scales = as_column(e, scales);
        zeros = as_column(e, zeros);
    }
    x = ig_aten_combine(call, IG_OP_mul, x,
                        ig_expr_number_with(e, IG_OP_div, 1, scales));
    x = ig_build_round(e, ig_aten_combine(call, IG_OP_add, x, zeros));
    x = ig_expr_with(e, IG_OP_min, ig_expr_with(e, IG_OP_max, x, min), max);
    x = ig_expr_cast(e, x, to);
    if (is_grouped && x) {
        x = ig_expr_reshape(e, x, 2, given->type->dims);
    }
    return ig_aten_give(call, x);
}

ig_status ig_ts_op_decomposed_rows_dequantize(ig_ts_call *call) {
    bool is_grouped = call->row->variant != 0;
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, INPUT), *scales = ig_aten_tensor(call, SCALES),
             *zeros = ig_aten_optional(call, ZEROS), *given = x;
    ig_dtype to = ig_aten_dtype(call, is_grouped ? GROUP_OUT : ROW_OUT, IG_DT_f32);
    IG_TRY(e->status);
    if (is_grouped) {
        x = cut_groups(call, x, scales);
        scales = as_column(e, scales);
        zeros = as_column(e, zeros);
    }
    x = zeros ? ig_aten_combine(call, IG_OP_sub, x, zeros) : x;
    x = ig_expr_cast(e, ig_aten_combine(call, IG_OP_mul, x, scales), to);
    if (is_grouped && x) {
        x = ig_expr_reshape(e, x, 2, given->type->dims);
    }
    return ig_aten_give(call, x);
}

/* max |x| / 127 of each row, and 0. */
ig_status ig_ts_op_decomposed_choose_rows(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_dtype dtype = ig_aten_dtype(call, 1, IG_DT_i8);
    IG_TRY(e->status);
    if (dtype != IG_DT_i8) {
        return ig_ts_fail(call, IG_INVALID, "it chooses for %s, expected int8",
                          ig_dtypes[dtype].name);
    }
    x = ig_expr_reduce_axis(e, IG_REDUCE_max, ig_build_abs(e, x), x->type->rank - 1,
                            true);
    x = x && x->type->dtype == IG_DT_f16 ? ig_aten_cast(call, x, IG_DT_f32) : x;
    x = ig_expr_with(e, IG_OP_div, ig_expr_with(e, IG_OP_max, x, 1e-5), 127);
    IG_TRY(e->status);
    ig_value *zeros = ig_expr_fill(e, (ig_dtype)x->type->dtype, x->type->rank,
                                   x->type->dims, 0);
    return ig_aten_give2(call, x, zeros);
}

/* The end of the range that is hit with the smaller error decides on the zero point. */
static ig_value *place_zeros(ig_expr *e, ig_value *low, ig_value *high,
                             ig_value *scale) {
    const double min = -128, max = 127;
    ig_value *at_low = ig_build_div(e, low, scale),
             *at_high = ig_build_div(e, high, scale);
    ig_value *error = ig_build_add(e, ig_expr_with(e, IG_OP_add, at_low, min),
                                   ig_expr_with(e, IG_OP_add, at_high, max));
    ig_value *is_above = ig_expr_with(e, IG_OP_gt, error, 0);
    ig_value *zero = ig_build_where(e, is_above,
                                    ig_expr_number_with(e, IG_OP_sub, min, at_low),
                                    ig_expr_number_with(e, IG_OP_sub, max, at_high));
    zero = ig_expr_with(e, IG_OP_min, ig_expr_with(e, IG_OP_max, zero, min), max);
    return ig_build_round(e, zero);
}

ig_status ig_ts_op_decomposed_choose_rows_between(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(e->status);
    uint32_t last = x->type->rank - 1;
    ig_value *low = ig_expr_reduce_axis(e, IG_REDUCE_min, x, last, true);
    ig_value *high = ig_expr_reduce_axis(e, IG_REDUCE_max, x, last, true);
    low = ig_expr_with(e, IG_OP_min, low, 0);
    high = ig_expr_with(e, IG_OP_max, high, 0);
    ig_value *scale = ig_expr_with(e, IG_OP_div, ig_build_sub(e, high, low), 255);
    scale = ig_expr_with(e, IG_OP_max, scale, 0x1p-23); /* FLT_EPSILON */
    ig_value *zeros = place_zeros(e, low, high, scale);
    return ig_aten_give2(call, ig_expr_cast(e, scale, IG_DT_f64),
                         ig_expr_cast(e, zeros, IG_DT_i64));
}
