/* Quantisation: rows built for importers, and the same rows taken apart for targets.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = quantize %x, %s, %z {to = u8, axis = 1}
 *   becomes
 *     div_round(x, s) + z in f32, cast to u8, which keeps to 0 … 255
 */
#include "compose/quantise.h"

#include "compose/decompose.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- rows: operands as they are built ---- */

static bool is_one(const ig_expr *e, const ig_value *x) {
    return ig_dim_equal(e->module, ig_type_count(e->module, x->type), ig_dim_of(1)) ==
           IG_YES;
}

/* A parameter with one element as a number; a vector with its check against x. */
static ig_value *settle_param(ig_expr *e, ig_value *param, const ig_value *x,
                              const ig_quant_params *q) {
    if (!param || param->type->kind != IG_TENSOR || q->block ||
        param->type->rank == 0) {
        return param;
    }
    if (is_one(e, param)) {
        return ig_expr_reshape(e, param, 0, NULL);
    }
    if (q->axis >= 0 && param->type->rank == 1) {
        if (q->axis >= x->type->rank) {
            return ig_expr_fail(e, IG_INVALID,
                                "quantised along axis %lld, of a tensor of rank %u",
                                (long long)q->axis, x->type->rank);
        }
        ig_expr_guard_equal(
            e, param->type->dims[0], x->type->dims[q->axis],
            "the scale or zero point must have one element for each index of the axis");
    }
    return param;
}

/* Both parameters, which have one shape; their axis goes where they are numbers. */
static ig_quant_params settle_params(ig_expr *e, const ig_value *x,
                                     const ig_quant_params *q) {
    ig_quant_params settled = *q;
    settled.scale = settle_param(e, q->scale, x, q);
    bool is_number = settled.scale && !q->block && settled.scale->type->rank == 0;
    settled.zero_point = is_number ? ig_expr_reshape(e, q->zero_point, 0, NULL)
                                   : settle_param(e, q->zero_point, x, q);
    bool is_spread = settled.scale && settled.scale->type->rank > 0;
    is_spread |= settled.zero_point && settled.zero_point->type->rank > 0;
    settled.axis = is_spread ? q->axis : -1;
    return settled;
}

static ig_value *build_quantize(ig_expr *e, ig_value *x, const ig_quant_params *given,
                                ig_quantize_attrs attrs) {
    if (!x || !given->scale) {
        return NULL;
    }
    ig_quant_params q = settle_params(e, x, given);
    if (q.axis >= 0) {
        attrs.axis = (ig_maybe_int)IG_SET(q.axis);
    }
    if (q.block) {
        attrs.block = (ig_maybe_int)IG_SET(q.block);
    }
    return ig_build_quantize(e, x, q.scale, q.zero_point, attrs);
}

ig_value *ig_compose_quantize(ig_expr *e, ig_value *x, const ig_quant_params *q,
                              ig_dtype to, ig_rounding rounding) {
    assert(!ig_dtype_is_float(to) && "floats are not rounded to integers");
    ig_quantize_attrs attrs = { .to = to, .rounding = (int)rounding };
    return build_quantize(e, x, q, attrs);
}

ig_value *ig_compose_quantize_float(ig_expr *e, ig_value *x, const ig_quant_params *q,
                                    ig_dtype to, bool saturate) {
    assert(ig_dtype_is_float(to) && "integers always saturate");
    return build_quantize(e, x, q,
                          (ig_quantize_attrs){ .to = to, .saturate = saturate });
}

ig_value *ig_compose_dequantize(ig_expr *e, ig_value *x, const ig_quant_params *given,
                                ig_dtype to) {
    ig_dequantize_attrs attrs = { 0 };
    if (!x || !given->scale) {
        return NULL;
    }
    ig_quant_params q = settle_params(e, x, given);
    if (q.axis >= 0) {
        attrs.axis = (ig_maybe_int)IG_SET(q.axis);
    }
    if (q.block) {
        attrs.block = (ig_maybe_int)IG_SET(q.block);
    }
    if (q.scale && q.scale->type->dtype != to) {
        attrs.to = (ig_maybe_dtype)IG_SET(to);
    }
    return ig_build_dequantize(e, x, q.scale, q.zero_point, attrs);
}

/* The bits of an f32 whose fraction is cleared, or was counted up to a whole exponent
 * before; infinity and NaN stay beyond all powers. */
ig_value *ig_compose_round_to_power(ig_expr *e, ig_value *x, ig_power_rounding rounding,
                                    bool saturate) {
    ig_cast_attrs attrs = { .to = IG_DT_f8e8m0, .saturate = saturate };
    x = ig_expr_cast(e, x, IG_DT_f32);
    if (rounding != IG_POWER_NEAREST) {
        const int64_t exponent = 0x7f800000, fraction = 0x7fffff, largest = 0x7f000000;
        ig_value *bits = ig_build_bitcast(e, x, (ig_bitcast_attrs){ .to = IG_DT_i32 });
        bits = ig_expr_with_integer(e, IG_OP_and, bits, exponent | fraction);
        if (rounding == IG_POWER_UP) {
            int64_t end = saturate ? largest : exponent; /* of the counted-up values */
            ig_value *is_kept = ig_expr_with_integer(e, IG_OP_ge, bits, end);
            ig_value *above = ig_expr_with_integer(e, IG_OP_add, bits, fraction);
            bits = ig_build_where(e, is_kept, bits, above);
        }
        bits = ig_expr_with_integer(e, IG_OP_and, bits, exponent);
        x = ig_build_bitcast(e, bits, (ig_bitcast_attrs){ .to = IG_DT_f32 });
    }
    return ig_build_cast(e, x, attrs);
}

/* ---- rows: products ---- */

/* Zero points of both factors: a's is 0 where only b has one. */
static void settle_factors(ig_expr *e, ig_integers *a, ig_integers *b) {
    ig_integers *factors[] = { a, b };
    for (uint32_t i = 0; i < 2; i++) {
        ig_value **zero = &factors[i]->zero_point;
        if (*zero && (*zero)->type->kind == IG_TENSOR && is_one(e, *zero)) {
            *zero = ig_expr_reshape(e, *zero, 0, NULL);
        }
        ig_expr_guard_broadcast_to(e, factors[i]->value, *zero,
                                   "the zero point has more elements than its axis");
    }
    if (b->zero_point && !a->zero_point && a->value) {
        a->zero_point = ig_expr_integer(e, (ig_dtype)a->value->type->dtype, 0);
    }
}

ig_value *ig_compose_matmul_integer(ig_expr *e, ig_integers a, ig_integers b) {
    settle_factors(e, &a, &b);
    ig_expr_guard_product(e, a.value, b.value);
    return ig_build_matmul_integer(e, a.value, b.value, a.zero_point, b.zero_point,
                                   (ig_matmul_integer_attrs){ 0 });
}

ig_value *ig_compose_conv_integer(ig_expr *e, ig_integers x, ig_integers w,
                                  ig_conv_integer_attrs attrs) {
    settle_factors(e, &x, &w);
    return ig_build_conv_integer(e, x.value, w.value, x.zero_point, w.zero_point,
                                 attrs);
}

/* A scale in f32; a number where it has one element. */
static ig_value *take_scale(ig_expr *e, ig_value *scale) {
    bool is_number = scale && scale->type->kind == IG_TENSOR && scale->type->rank > 0 &&
                     is_one(e, scale);
    scale = is_number ? ig_expr_reshape(e, scale, 0, NULL) : scale;
    return ig_expr_cast(e, scale, IG_DT_f32);
}

ig_value *ig_compose_requantize(ig_expr *e, ig_value *sum, ig_value *a, ig_value *b,
                                const ig_quant_params *y, ig_dtype to) {
    ig_value *factor = ig_build_mul(e, take_scale(e, a), take_scale(e, b));
    factor = ig_build_div(e, factor, take_scale(e, y->scale));
    ig_quant_params q = { .scale = factor,
                          .zero_point = y->zero_point,
                          .axis = y->axis };
    if (factor && factor->type->rank > 1) {
        q.axis = -1;
    }
    return ig_compose_quantize(e, sum, &q, to, IG_ROUNDING_factor);
}

/* ---- parameters chosen at run time ---- */

/* The smallest and the largest of x and 0. */
static void find_range(ig_expr *e, ig_value *x, ig_dtype dtype, ig_value **out_low,
                       ig_value **out_high) {
    ig_value *low = ig_expr_reduce(e, IG_REDUCE_min, x, NULL, 0, false);
    ig_value *high = ig_expr_reduce(e, IG_REDUCE_max, x, NULL, 0, false);
    *out_low = ig_expr_with(e, IG_OP_min, ig_expr_cast(e, low, dtype), 0);
    *out_high = ig_expr_with(e, IG_OP_max, ig_expr_cast(e, high, dtype), 0);
}

/* `scale`, or `otherwise` where it is 0. */
static ig_value *avoid_zero(ig_expr *e, ig_value *scale, ig_dtype dtype,
                            double otherwise) {
    return ig_build_where(e, ig_expr_with(e, IG_OP_eq, scale, 0),
                          ig_expr_number(e, dtype, otherwise), scale);
}

ig_quant_params ig_compose_choose_quant(ig_expr *e, ig_value *x) {
    ig_quant_params q = { .axis = -1 }, bare = { .axis = -1 };
    ig_value *low, *high;
    find_range(e, x, IG_DT_f32, &low, &high);
    ig_value *scale = ig_expr_with(e, IG_OP_div, ig_build_sub(e, high, low), 255);
    q.scale = avoid_zero(e, scale, IG_DT_f32, 1);
    bare.scale = q.scale;
    q.zero_point = ig_compose_quantize(e, ig_build_neg(e, low), &bare, IG_DT_u8,
                                       IG_ROUNDING_divide);
    return q;
}

ig_quant_params ig_compose_choose_quant_torch(ig_expr *e, ig_value *x, double steps) {
    ig_value *low, *high;
    find_range(e, x, IG_DT_f64, &low, &high);
    ig_value *scale = ig_expr_with(e, IG_OP_div, ig_build_sub(e, high, low), steps);
    scale = ig_expr_cast(e, ig_expr_cast(e, scale, IG_DT_f32), IG_DT_f64);
    scale = avoid_zero(e, scale, IG_DT_f64, (double)0.1f);
    low = ig_build_div(e, low, scale);
    high = ig_build_div(e, high, scale);
    ig_value *from_low = ig_build_neg(e, low);
    ig_value *from_high = ig_expr_number_with(e, IG_OP_sub, steps, high);
    ig_value *low_error = ig_build_abs(e, from_low);
    ig_value *high_error = ig_expr_with(e, IG_OP_add, ig_build_abs(e, high), steps);
    ig_value *is_low = ig_build_lt(e, low_error, high_error);
    ig_value *zero = ig_build_where(e, is_low, from_low, from_high);
    zero = ig_expr_with(e, IG_OP_max, ig_build_round(e, zero), 0);
    zero = ig_expr_with(e, IG_OP_min, zero, steps);
    return (ig_quant_params){ .scale = scale,
                              .zero_point = ig_expr_cast(e, zero, IG_DT_u8),
                              .axis = -1 };
}

/* ---- decomposition: scales and zero points against x ---- */

/* Each element for `block` indices of the axis, cut to the extent of x. */
static ig_value *spread_blocks(ig_expr *e, ig_value *param, const ig_type *x,
                               uint32_t axis, int64_t block) {
    ig_dim dims[IG_TENSOR_RANK], size = ig_dim_of(block);
    uint32_t rank = x->rank;
    assert(rank < IG_TENSOR_RANK && "blocks are an axis more");
    param = ig_expr_unsqueeze(e, param, axis + 1);
    memcpy(dims, param->type->dims, (rank + 1) * sizeof(*dims));
    dims[axis + 1] = size;
    param = ig_expr_expand(e, param, rank + 1, dims);
    param = ig_expr_merge_axes(e, param, axis, axis + 1);
    return ig_expr_slice(e, param, axis, ig_dim_of(0), x->dims[axis], 1);
}

typedef struct param_slots {
    uint32_t axis, block;
} param_slots;

/* Operand `operand` as `dtype`, so that it broadcasts with operand 0; NULL: absent. */
static ig_value *take_param(ig_expr *e, const ig_op *op, uint32_t operand,
                            param_slots slots, ig_dtype dtype) {
    if (operand >= op->operand_count) {
        return NULL;
    }
    const ig_type *x = op->operands[0].value->type;
    ig_value *param = ig_expr_cast(e, op->operands[operand].value, dtype);
    int64_t axis = ig_attr_int(op, slots.axis, 0),
            block = ig_attr_int(op, slots.block, 0);
    axis += axis < 0 ? x->rank : 0;
    if (block) {
        return spread_blocks(e, param, x, (uint32_t)axis, block);
    }
    bool is_vector = ig_attr_is_set(op, slots.axis) && param->type->rank == 1 &&
                     axis + 1 <
                         x->rank; /* along the last axis it broadcasts as it is */
    return is_vector ? ig_expr_along(e, param, (uint32_t)axis, x->rank) : param;
}

/* ---- decomposition: quantize and dequantize ---- */

static ig_value *scale_down(ig_expr *e, ig_value *x, ig_value *scale,
                            ig_rounding rounding) {
    if (rounding == IG_ROUNDING_divide) {
        return ig_build_div(e, x, scale);
    }
    bool is_factor = rounding == IG_ROUNDING_factor;
    return ig_build_mul(e, x, is_factor ? scale : ig_build_recip(e, scale));
}

/* As casts do; those to less than a byte are made of wider ones. */
static ig_value *saturate_cast(ig_expr *e, ig_value *x, ig_dtype to) {
    if (ig_dtypes[to].bits >= 8) {
        return ig_expr_cast(e, x, to);
    }
    bool is_signed = ig_dtypes[to].class == IG_SINT;
    double steps = ldexp(1, (int)ig_dtypes[to].bits - is_signed);
    x = ig_expr_with(e, IG_OP_max, x, is_signed ? -steps : 0);
    return ig_expr_cast(e, ig_expr_with(e, IG_OP_min, x, steps - 1), to);
}

static ig_value *decompose_quantize(ig_expr *e, const ig_op *op) {
    static const param_slots slots = { IG_quantize_axis, IG_quantize_block };
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_quantize_to, 0);
    ig_rounding rounding = (ig_rounding)ig_attr_int(op, IG_quantize_rounding, 0);
    ig_value *scale = take_param(e, op, 1, slots, IG_DT_f32);
    ig_value *x = ig_expr_cast(e, op->operands[0].value, IG_DT_f32);
    bool is_short = !ig_dtype_is_float(to) && ig_dtypes[to].bits <= 16;
    bool is_whole = is_short && rounding == IG_ROUNDING_divide;
    x = is_whole ? ig_build_div_round(e, x, scale) : scale_down(e, x, scale, rounding);
    if (ig_dtype_is_float(to)) {
        bool saturates = ig_attr_int(op, IG_quantize_saturate, 0) != 0;
        return ig_build_cast(e, x, (ig_cast_attrs){ .to = to, .saturate = saturates });
    }
    ig_value *zero = take_param(e, op, 2, slots, IG_DT_f32);
    if (rounding == IG_ROUNDING_offset && zero) {
        return saturate_cast(e, ig_build_round(e, ig_build_add(e, x, zero)), to);
    }
    x = is_whole ? x : ig_build_round(e, x);
    return saturate_cast(e, zero ? ig_build_add(e, x, zero) : x, to);
}

static bool is_number_one(const ig_value *value) {
    const ig_data *data = value->type->rank == 0 ? ig_constant_of(value) : NULL;
    float one = 1;
    return data && data->bytes && value->type->dtype == IG_DT_f32 &&
           memcmp(data->bytes, &one, sizeof one) == 0;
}

bool ig_decompose_quantize(ig_expr *e, const ig_op *op, ig_value **results) {
    results[0] = decompose_quantize(e, op);
    return true;
}

bool ig_decompose_dequantize(ig_expr *e, const ig_op *op, ig_value **results) {
    static const param_slots slots = { IG_dequantize_axis, IG_dequantize_block };
    ig_value *x = op->operands[0].value, *scale = op->operands[1].value;
    ig_dtype to = (ig_dtype)op->results->type->dtype, dtype = (ig_dtype)x->type->dtype;
    bool has_integers = op->operand_count > 2 &&
                        op->operands[2].value->type->dtype == dtype;
    bool is_wide = ig_dtypes[dtype].bits == 32 && has_integers;
    ig_dtype exact = is_wide ? dtype : IG_DT_f32; /* holds the difference */
    ig_value *zero = take_param(e, op, 2, slots, exact);
    ig_value *sum = is_wide ? NULL : ig_exact_sum(e, x);
    x = sum ? sum : ig_expr_cast(e, x, exact);
    x = ig_expr_cast(e, zero ? ig_build_sub(e, x, zero) : x, IG_DT_f32);
    if (!is_number_one(scale)) {
        x = ig_build_mul(e, x, take_param(e, op, 1, slots, IG_DT_f32));
    }
    results[0] = ig_expr_cast(e, x, to);
    return true;
}
