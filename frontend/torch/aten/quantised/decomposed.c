/* quantized_decomposed: torch.export's integers, whose scales are arguments.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     quantize     clamp(round(x * (1 / scale)) + zero point, quant_min, quant_max)
 *     dequantize   (x - zero point) * scale
 *
 * The reciprocal is taken in the precision that the scale has (a Python number is an
 * f64), and rounded to f32 then: torch/ao/quantization/fx/_decomposed.py. */
#include "frontend/torch/aten/quant.h"

#include <assert.h>

/* quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype), the same
 * per channel with axis before quant_min; dequantize_* alike. */
enum { INPUT, SCALE, ZERO_POINT, AXIS };

static bool is_per_channel(const ig_ts_call *call) {
    return call->row->variant != 0;
}

/* The position of quant_min. */
static uint32_t first_limit(const ig_ts_call *call) {
    return is_per_channel(call) ? AXIS + 1 : AXIS;
}

/* A number, or a tensor with one element, as a number. */
static ig_value *number_argument(ig_ts_call *call, uint32_t index, ig_dtype dtype) {
    ig_value *value = ig_aten_operand(call, index, dtype);
    return value ? ig_expr_reshape(call->e, value, 0, NULL) : NULL;
}

/* Scale in its own precision, zero point of the integers' dtype. */
static ig_quant_params read_params(ig_ts_call *call, const ig_value *x,
                                   ig_dtype integers) {
    ig_quant_params q = { .axis = -1 };
    if (!x || call->e->status != IG_OK) {
        return q;
    }
    if (is_per_channel(call)) {
        q.axis = ig_aten_axis(call, AXIS, x->type->rank);
        q.scale = ig_aten_tensor(call, SCALE);
        q.zero_point = ig_aten_optional(call, ZERO_POINT);
    } else {
        q.scale = number_argument(call, SCALE, IG_DT_f64);
        q.zero_point = number_argument(call, ZERO_POINT, IG_DT_i64);
    }
    q.zero_point = ig_expr_cast(call->e, q.zero_point, integers);
    return q;
}

static bool is_whole_range(ig_dtype dtype, int64_t min, int64_t max) {
    uint32_t bits = ig_dtypes[dtype].bits;
    assert(bits < 64 && "torch has bounds for integers of up to 32 bits");
    int64_t span = (int64_t)1 << bits;
    bool is_unsigned = ig_dtypes[dtype].name[0] == 'u';
    int64_t low = is_unsigned ? 0 : -span / 2;
    return min <= low && max >= low + span - 1;
}

static ig_value *clamp_integers(ig_ts_call *call, ig_value *x) {
    uint32_t at = first_limit(call);
    int64_t min = ig_aten_int(call, at), max = ig_aten_int(call, at + 1);
    if (!x || is_whole_range((ig_dtype)x->type->dtype, min, max)) {
        return x;
    }
    x = ig_expr_with_integer(call->e, IG_OP_max, x, min);
    return ig_expr_with_integer(call->e, IG_OP_min, x, max);
}

static ig_status read_integers(ig_ts_call *call, ig_dtype *out) {
    *out = ig_aten_dtype(call, first_limit(call) + 2, IG_DT_i8);
    IG_TRY(call->e->status);
    return ig_dtype_is_int(*out) && ig_dtypes[*out].bits <= 32
               ? IG_OK
               : ig_ts_fail(call, IG_INVALID,
                            "it quantises to %s, expected integers of "
                            "up to 32 bits",
                            ig_dtypes[*out].name);
}

ig_status ig_ts_op_decomposed_quantize(ig_ts_call *call) {
    ig_dtype to;
    IG_TRY(read_integers(call, &to));
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, INPUT), IG_DT_f32);
    ig_quant_params q = read_params(call, x, to);
    IG_TRY(call->e->status);
    q.scale = ig_expr_cast(call->e, ig_expr_number_with(call->e, IG_OP_div, 1, q.scale),
                           IG_DT_f32);
    x = ig_compose_quantize(call->e, x, &q, to, IG_ROUNDING_factor);
    return ig_aten_give(call, clamp_integers(call, x));
}

ig_status ig_ts_op_decomposed_dequantize(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, INPUT);
    ig_dtype to = ig_aten_dtype(call, first_limit(call) + 3, IG_DT_f32);
    IG_TRY(call->e->status);
    if (!ig_dtype_is_int((ig_dtype)x->type->dtype)) {
        return ig_ts_fail(call, IG_INVALID, "its input is %s, expected integers",
                          ig_dtypes[x->type->dtype].name);
    }
    ig_quant_params q = read_params(call, x, (ig_dtype)x->type->dtype);
    q.scale = ig_expr_cast(call->e, q.scale, IG_DT_f32);
    return ig_aten_give(call, ig_compose_dequantize(call->e, x, &q, to));
}

/* ---- scales chosen at run time ---- */

/* The smallest and the largest element, 0 among them. */
static void find_range(ig_expr *e, ig_value *x, ig_value **out_low,
                       ig_value **out_high) {
    ig_value *low = ig_expr_reduce(e, IG_REDUCE_min, x, NULL, 0, false);
    ig_value *high = ig_expr_reduce(e, IG_REDUCE_max, x, NULL, 0, false);
    *out_low = ig_expr_with(e, IG_OP_min, low, 0);
    *out_high = ig_expr_with(e, IG_OP_max, high, 0);
}

/* round(low / scale) steps below quant_min's place, within the range. */
static ig_value *place_zero(ig_expr *e, ig_value *low, ig_value *scale, int64_t min,
                            int64_t max) {
    ig_value *steps = ig_build_round(e, ig_build_div(e, low, scale));
    ig_value *zero = ig_build_neg(e, ig_expr_cast(e, steps, IG_DT_i64));
    zero = ig_expr_with_integer(e, IG_OP_add, zero, min);
    zero = ig_expr_with_integer(e, IG_OP_max, zero, min);
    return ig_expr_with_integer(e, IG_OP_min, zero, max);
}

/* choose_qparams(input, quant_min, quant_max, eps, dtype) -> (f64[1], i64[1]); variant
 * 1: the range is the same on both sides of 0 */
ig_status ig_ts_op_decomposed_choose(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_f32), *low, *high;
    int64_t min = ig_aten_int(call, 1), max = ig_aten_int(call, 2);
    double eps = ig_aten_float(call, 3);
    ig_dtype dtype = ig_aten_dtype(call, 4, IG_DT_i8);
    IG_TRY(e->status);
    if (min >= max || min < INT32_MIN || max > INT32_MAX) {
        return ig_ts_fail(call, IG_INVALID, "quant_min is %lld, quant_max %lld",
                          (long long)min, (long long)max);
    }
    find_range(e, x, &low, &high);
    ig_value *zero, *scale;
    if (call->row->variant) {
        high = ig_build_max(e, high, ig_build_neg(e, low));
        scale = ig_expr_with(e, IG_OP_div, high, (double)(max - min) / 2);
        scale = ig_expr_with(e, IG_OP_max, scale, eps);
        zero = ig_expr_integer(e, IG_DT_i64, dtype == IG_DT_u8 ? 128 : 0);
    } else {
        scale = ig_expr_with(e, IG_OP_div, ig_build_sub(e, high, low),
                             (double)(max - min));
        scale = ig_expr_with(e, IG_OP_max, scale, eps);
        zero = place_zero(e, low, scale, min, max);
    }
    ig_dim one = ig_dim_of(1);
    return ig_aten_give2(call,
                         ig_expr_reshape(e, ig_expr_cast(e, scale, IG_DT_f64), 1, &one),
                         ig_expr_reshape(e, zero, 1, &one));
}
