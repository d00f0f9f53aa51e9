/* Elementwise ops of one operand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/complex.h"
#include "frontend/torch/aten/quant.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* sigmoid is in 0 … 1, tanh in -1 … 1: these are the ranges of their results. */
static ig_status give_quantised_unary(ig_ts_call *call, ig_opcode code) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    bool is_tanh = code == IG_OP_tanh, is_signed = q.dtype->ir == IG_DT_i8;
    if ((!is_tanh && code != IG_OP_sigmoid) || q.dtype->ir == IG_DT_i32) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "of quantised numbers");
    }
    ig_value *y = ig_expr_map1(call->e, code, ig_aten_dequantise(call, &q));
    return is_tanh ? ig_aten_give_quantised(
                         call, y, q.dtype,
                         ig_aten_quant_of(call, 2.0 / 256, is_signed ? 0 : 128))
                   : ig_aten_give_unit(call, y, q.dtype);
}

/* variant: the opcode; integers and booleans become f32. */
ig_status ig_ts_op_unary_float(ig_ts_call *call) {
    if (ig_aten_is_complex(call, 0, 1)) {
        return ig_aten_complex_unary(call, (ig_opcode)call->row->variant);
    }
    if (ig_aten_is_quantised(call, 0)) {
        return give_quantised_unary(call, (ig_opcode)call->row->variant);
    }
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    return ig_aten_give(call, ig_expr_map1(call->e, (ig_opcode)call->row->variant, x));
}

/* variant: the opcode, defined on integers too. */
ig_status ig_ts_op_unary(ig_ts_call *call) {
    if (ig_aten_is_complex(call, 0, 1)) {
        return ig_aten_complex_unary(call, (ig_opcode)call->row->variant);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    ig_opcode code = (ig_opcode)call->row->variant;
    if (x && x->type->dtype == IG_DT_bool && code != IG_OP_not) {
        return ig_aten_give(call, x); /* abs and sign of false and true */
    }
    ig_value *y = ig_expr_map1(call->e, code, x);
    if (y && code == IG_OP_sign && ig_expr_is_float(x)) { /* that of NaN is 0 */
        ig_value *zero = ig_expr_number(call->e, (ig_dtype)x->type->dtype, 0);
        y = ig_build_where(call->e, ig_build_isnan(call->e, x), zero, y);
    }
    return ig_aten_give(call, y);
}

/* floor, ceil, trunc, round: integers are unchanged. */
ig_status ig_ts_op_to_whole(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && ig_expr_is_float(x)) {
        x = ig_expr_map1(call->e, (ig_opcode)call->row->variant, x);
    }
    return ig_aten_give(call, x);
}

/* round(x * 10^decimals) / 10^decimals */
ig_status ig_ts_op_round_decimals(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t decimals = ig_aten_int(call, 1);
    if (!x || !ig_expr_is_float(x)) {
        return ig_aten_give(call, x);
    }
    double power = pow(10, (double)llabs(decimals));
    ig_opcode forth = decimals < 0 ? IG_OP_div : IG_OP_mul;
    ig_opcode back = decimals < 0 ? IG_OP_mul : IG_OP_div;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    x = ig_expr_with(call->e, forth, ig_aten_wide(call, x), power);
    x = ig_expr_with(call->e, back, ig_build_round(call->e, x), power);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

/* x - trunc(x) */
ig_status ig_ts_op_frac(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call, ig_build_sub(call->e, x, ig_build_trunc(call->e, x)));
}

static ig_status scale_by(ig_ts_call *call, double factor) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    x = ig_expr_with(call->e, IG_OP_mul, ig_aten_wide(call, x), factor);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

ig_status ig_ts_op_deg2rad(ig_ts_call *call) {
    return scale_by(call, 0.017453292519943295769236907684886);
}

ig_status ig_ts_op_rad2deg(ig_ts_call *call) {
    return scale_by(call, 57.29577951308232087679815481410517);
}

/* sin(pi x) / (pi x), 1 at 0 */
ig_status ig_ts_op_sinc(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    x = ig_expr_with(call->e, IG_OP_mul, ig_aten_wide(call, x),
                     3.14159265358979323846264338327950288);
    ig_value *y = ig_build_div(call->e, ig_build_sin(call->e, x), x);
    ig_value *one = x ? ig_expr_number(call->e, (ig_dtype)x->type->dtype, 1) : NULL;
    y = ig_build_where(call->e, ig_expr_with(call->e, IG_OP_eq, x, 0), one, y);
    return ig_aten_give(call, ig_aten_cast(call, y, dtype));
}

/* ---- predicates ---- */

/* `yes` of x's shape. */
static ig_value *constant_mask(ig_expr *e, const ig_value *x, bool yes) {
    return ig_expr_fill(e, IG_DT_bool, x->type->rank, x->type->dims, yes);
}

ig_status ig_ts_op_isnan(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !ig_expr_is_float(x)) {
        return x ? ig_aten_give(call, constant_mask(call->e, x, false))
                 : call->e->status;
    }
    return ig_aten_give(call, ig_build_isnan(call->e, x));
}

/* variant: 0 both, 1 positive, 2 negative infinity only */
ig_status ig_ts_op_isinf(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);

    if (!x || !ig_expr_is_float(x)) {
        return x ? ig_aten_give(call, constant_mask(call->e, x, false))
                 : call->e->status;
    }
    ig_isinf_attrs attrs = { .skip_negative = call->row->variant == 1,
                             .skip_positive = call->row->variant == 2 };
    return ig_aten_give(call, ig_build_isinf(call->e, x, attrs));
}

static ig_value *is_finite(ig_expr *e, ig_value *x) {
    ig_value *odd = ig_build_or(e, ig_build_isnan(e, x),
                                ig_expr_map1(e, IG_OP_isinf, x));
    return ig_build_not(e, odd);
}

ig_status ig_ts_op_isfinite(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !ig_expr_is_float(x)) {
        return x ? ig_aten_give(call, constant_mask(call->e, x, true))
                 : call->e->status;
    }
    return ig_aten_give(call, is_finite(call->e, x));
}

/* x < 0, or -0, whose reciprocal is. */
static ig_value *has_sign(ig_expr *e, ig_value *x) {
    ig_value *below = ig_expr_with(e, IG_OP_lt, x, 0);
    ig_value *zero = ig_expr_with(e, IG_OP_eq, x, 0);
    ig_value *far = ig_expr_with(e, IG_OP_lt, ig_build_recip(e, x), 0);
    return ig_build_or(e, below, ig_build_and(e, zero, far));
}

/* The sign bit, that of -0 too. */
ig_status ig_ts_op_signbit(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && ig_expr_is_float(x)) {
        return ig_aten_give(call, has_sign(call->e, x));
    } else if (x && x->type->dtype == IG_DT_bool) {
        return ig_aten_give(call, constant_mask(call->e, x, false));
    }
    return ig_aten_give(call, ig_expr_with(call->e, IG_OP_lt, x, 0));
}

/* |x - y| <= atol + rtol |y|, and equal infinities */
ig_status ig_ts_op_isclose(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    double rtol = ig_aten_float(call, 2), atol = ig_aten_float(call, 3);
    ig_value *close = ig_build_eq(e, x, y);
    if (x && y && ig_expr_is_float(x) && ig_aten_bool(call, 4)) {
        ig_value *both = ig_build_and(e, ig_build_isnan(e, x), ig_build_isnan(e, y));
        close = ig_build_or(e, close, both);
    }
    x = ig_expr_to_float(e, x);
    y = ig_expr_to_float(e, y);
    ig_value *gap = ig_build_abs(e, ig_build_sub(e, x, y));
    ig_value *room = ig_expr_with(e, IG_OP_mul, ig_build_abs(e, y), rtol);
    room = ig_expr_with(e, IG_OP_add, room, atol);
    ig_value *near = ig_build_and(e, is_finite(e, gap), ig_build_le(e, gap, room));
    return ig_aten_give(call, ig_build_or(e, close, near));
}

/* ---- numbers in place of NaN and infinities ---- */

static double largest_of(ig_dtype dtype) {
    assert(ig_dtype_is_float(dtype) && "only floats have infinities to replace");
    switch ((int)dtype) {
    case IG_DT_f16:
        return 65504;
    case IG_DT_bf16:
        return 3.3895313892515355e38;
    case IG_DT_f64:
        return DBL_MAX;
    default:
        return (double)FLT_MAX;
    }
}

static ig_value *replace_where(ig_expr *e, ig_value *is_odd, double with, ig_value *x) {
    ig_value *number = x ? ig_expr_number(e, (ig_dtype)x->type->dtype, with) : NULL;
    return ig_build_where(e, is_odd, number, x);
}

ig_status ig_ts_op_nan_to_num(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !ig_expr_is_float(x)) {
        return ig_aten_give(call, x);
    }
    double largest = largest_of((ig_dtype)x->type->dtype);
    ig_value *is_nan = ig_build_isnan(call->e, x);
    ig_value *is_high = ig_expr_with(call->e, IG_OP_eq, x, INFINITY);
    ig_value *is_low = ig_expr_with(call->e, IG_OP_eq, x, -INFINITY);
    x = replace_where(call->e, is_nan, ig_aten_float_or(call, 1, 0), x);
    x = replace_where(call->e, is_high, ig_aten_float_or(call, 2, largest), x);
    x = replace_where(call->e, is_low, ig_aten_float_or(call, 3, -largest), x);
    return ig_aten_give(call, x);
}

/* ---- logic and bits ---- */

/* variants and, or, xor: operands as booleans */
ig_status ig_ts_op_logical(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_bool);
    ig_value *y = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_bool);
    return ig_aten_give(call,
                        ig_expr_map2(call->e, (ig_opcode)call->row->variant, x, y));
}

ig_status ig_ts_op_logical_not(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_bool);
    return ig_aten_give(call, ig_build_not(call->e, x));
}

/* ---- special functions of two operands ---- */

/* x log(y): 0 where x is 0, unless y is NaN.  variant 1: x log(1 + y) */
ig_status ig_ts_op_xlogy(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    dtype = ig_dtype_is_float(dtype) ? dtype : IG_DT_f32;
    ig_value *x = ig_aten_wide(call, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_wide(call, ig_aten_operand(call, 1, dtype));
    ig_value *log = ig_expr_map1(e, call->row->variant ? IG_OP_log1p : IG_OP_log, y);
    ig_value *product = ig_build_mul(e, x, log);
    ig_value *zero = x ? ig_expr_number(e, (ig_dtype)x->type->dtype, 0) : NULL;
    product = ig_build_where(e, ig_expr_with(e, IG_OP_eq, x, 0), zero, product);
    product = ig_build_where(e, ig_build_isnan(e, y), y, product);
    return ig_aten_give(call, ig_aten_cast(call, product, dtype));
}

/* log(exp(x) + exp(y)); variant 1: of powers of two */
ig_status ig_ts_op_logaddexp(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    dtype = ig_dtype_is_float(dtype) ? dtype : IG_DT_f32;
    double ln2 = 0.693147180559945309417232121458176568;
    bool is_two = call->row->variant == 1;
    ig_value *x = ig_aten_wide(call, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_wide(call, ig_aten_operand(call, 1, dtype));
    ig_value *max = ig_build_max(call->e, x, y);
    ig_value *gap = ig_build_abs(call->e, ig_build_sub(call->e, x, y));
    gap = ig_expr_with(call->e, IG_OP_mul, gap, is_two ? -ln2 : -1);
    ig_value *rest = ig_build_log1p(call->e, ig_build_exp(call->e, gap));
    if (is_two) {
        rest = ig_expr_with(call->e, IG_OP_div, rest, ln2);
    }
    ig_value *sum = ig_build_add(call->e, max, rest);
    ig_value *same = ig_build_and(call->e, ig_build_eq(call->e, x, y),
                                  ig_expr_map1(call->e, IG_OP_isinf, x));
    sum = ig_build_where(call->e, same, x, sum);
    return ig_aten_give(call, ig_aten_cast(call, sum, dtype));
}

/* 0 below, 1 above, `values` at zero */
ig_status ig_ts_op_heaviside(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *values = ig_aten_tensor(call, 1);
    ig_value *above = x ? ig_aten_cast(call, ig_expr_with(call->e, IG_OP_gt, x, 0),
                                       (ig_dtype)x->type->dtype)
                        : NULL;
    return ig_aten_give(
        call,
        ig_build_where(call->e, ig_expr_with(call->e, IG_OP_eq, x, 0), values, above));
}

/* |x| with y's sign */
ig_status ig_ts_op_copysign(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    dtype = ig_dtype_is_float(dtype) ? dtype : IG_DT_f32;
    ig_value *x = ig_build_abs(call->e, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_operand(call, 1, dtype);
    return ig_aten_give(call, ig_build_where(call->e, has_sign(call->e, y),
                                             ig_build_neg(call->e, x), x));
}

ig_status ig_ts_op_hypot(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    dtype = ig_dtype_is_float(dtype) ? dtype : IG_DT_f32;
    ig_value *x = ig_aten_wide(call, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_wide(call, ig_aten_operand(call, 1, dtype));
    return ig_aten_give(call, ig_aten_cast(call, ig_build_hypot(call->e, x, y), dtype));
}

/* -x log x: 0 at 0, -inf below */
ig_status ig_ts_op_entr(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_value *y = ig_build_neg(call->e,
                               ig_build_mul(call->e, x, ig_build_log(call->e, x)));
    y = replace_where(call->e, ig_expr_with(call->e, IG_OP_eq, x, 0), 0, y);
    y = replace_where(call->e, ig_expr_with(call->e, IG_OP_lt, x, 0), -INFINITY, y);
    return ig_aten_give(call, y);
}
