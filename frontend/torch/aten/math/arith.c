/* Arithmetic with type promotion.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The operands of a binary op are cast to torch.result_type of both.  Formulas of more
 * than one step are computed in f32 for f16 and bf16 and rounded once, as torch's
 * kernels do. */
#include "compose/activation.h"
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/complex.h"

#include <assert.h>
#include <math.h>

/* Both operands in one dtype. */
typedef struct pair {
    ig_value *x, *y;
    ig_dtype dtype;
} pair;

static pair promote_pair(ig_ts_call *call) {
    pair p = { .dtype = ig_aten_result_type(call, 0, 2) };
    p.x = ig_aten_operand(call, 0, p.dtype);
    p.y = ig_aten_operand(call, 1, p.dtype);
    return p;
}

/* The same, integers as f32. */
static pair promote_float(ig_ts_call *call) {
    pair p = { .dtype = ig_aten_result_type(call, 0, 2) };
    p.dtype = ig_dtype_is_float(p.dtype) ? p.dtype : IG_DT_f32;
    p.x = ig_aten_operand(call, 0, p.dtype);
    p.y = ig_aten_operand(call, 1, p.dtype);
    return p;
}

static pair widen_pair(ig_ts_call *call, pair p) {
    if (ig_dtype_is_float(p.dtype)) {
        p.x = ig_aten_wide(call, p.x);
        p.y = ig_aten_wide(call, p.y);
    }
    return p;
}

static bool is_half(ig_dtype dtype) {
    return ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits == 16;
}

/* Is the number one of the dtype's normal numbers? */
static bool is_exact(ig_dtype dtype, double number) {
    enum { F16_MIN = -14, F16_MAX = 15 };
    int exponent, digits = dtype == IG_DT_f16 ? 11 : 8;
    double mantissa = ldexp(frexp(number, &exponent), digits);
    return number == 0 ||
           (mantissa == trunc(mantissa) && exponent > F16_MIN && exponent <= F16_MAX);
}

/* torch's kernels of products and quotients of halves take a second operand of one
 * element as it is, without rounding it to their dtype first, and work in f32.  Gives
 * that form where it makes a difference. */
static pair promote_scale(ig_ts_call *call, pair p) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, 1);
    double number;
    if (!p.x || !is_half(p.dtype) || (tensor && tensor->type->rank > 0)) {
        return p;
    }
    ig_value *y = ig_aten_operand(call, 1, IG_DT_f64);
    if (!y || (ig_constant_f64(y, &number) && is_exact(p.dtype, number))) {
        return p;
    }
    p.x = ig_aten_wide(call, p.x);
    p.y = ig_expr_cast(call->e, y, IG_DT_f32);
    return p;
}

static ig_status give_as(ig_ts_call *call, ig_value *value, ig_dtype dtype) {
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* A trace stores x * 2.5 with 2.5 as an f64 tensor of rank 0.  As the second operand of
 * add, sub, mul and div torch's executor takes it for the number again (its
 * csrc/jit/passes/canonicalize_ops.cpp); to all other operators it is a tensor. */
static void take_number(ig_ts_call *call) {
    const ig_ts_tensor *other = ig_ts_peek(call, 1);
    if (other && other->is_constant) {
        ig_ts_tensor *number = IG_NEW(call->arena, ig_ts_tensor);
        *number = *other;
        number->is_number = true;
        call->args[1] = ig_ts_of_tensor(number);
    }
}

/* bool has `or` for a sum, `and` for a product. */
static ig_opcode code_for(ig_opcode code, ig_dtype dtype) {
    assert(code < IG_OP_COUNT && "the row's variant is an opcode");
    if (dtype != IG_DT_bool) {
        return code;
    }
    return code == IG_OP_add ? IG_OP_or : code == IG_OP_mul ? IG_OP_and : code;
}

/* variant: the opcode. */
ig_status ig_ts_op_binary(ig_ts_call *call) {
    if (call->row->variant == IG_OP_mul) {
        take_number(call);
    }
    if (ig_aten_is_complex(call, 0, 2)) {
        return ig_aten_complex_binary(call, (ig_opcode)call->row->variant);
    }
    pair p = promote_pair(call);
    p = call->row->variant == IG_OP_mul ? promote_scale(call, p) : p;
    ig_opcode code = code_for((ig_opcode)call->row->variant, p.dtype);
    return give_as(call, ig_expr_map2(call->e, code, p.x, p.y), p.dtype);
}

/* Float results for integers. */
ig_status ig_ts_op_binary_float(ig_ts_call *call) {
    pair p = promote_float(call);
    return ig_aten_give(call,
                        ig_expr_map2(call->e, (ig_opcode)call->row->variant, p.x, p.y));
}

ig_status ig_ts_op_compare(ig_ts_call *call) {
    if (ig_aten_is_complex(call, 0, 2)) {
        return ig_aten_complex_compare(call, (ig_opcode)call->row->variant);
    }
    pair p = promote_pair(call);
    if (p.dtype == IG_DT_bool && call->row->variant != IG_OP_eq &&
        call->row->variant != IG_OP_ne) {
        p.x = ig_aten_cast(call, p.x, IG_DT_u8);
        p.y = ig_aten_cast(call, p.y, IG_DT_u8);
    }
    return ig_aten_give(call,
                        ig_expr_map2(call->e, (ig_opcode)call->row->variant, p.x, p.y));
}

/* x + alpha * y; variants: IG_OP_add, IG_OP_sub; negative: the operands exchanged.
 * alpha is rounded to the result's dtype. */
ig_status ig_ts_op_add(ig_ts_call *call) {
    bool is_swapped = call->row->variant < 0;
    int variant = is_swapped ? -call->row->variant : call->row->variant;
    ig_opcode code = (ig_opcode)variant;
    take_number(call);
    if (ig_aten_is_complex(call, 0, 2)) {
        return ig_aten_complex_add(call, code, is_swapped);
    }
    pair p = promote_pair(call);
    const ig_ts_value one = call->args[2];
    bool is_one = ig_ts_is_known(&one) &&
                  (one.kind == IG_TS_INT ? one.as.i == 1
                                         : one.kind == IG_TS_FLOAT && one.as.f == 1);
    if (p.dtype == IG_DT_bool && code == IG_OP_sub) {
        return ig_ts_fail(call, IG_INVALID, "differences of booleans are not defined");
    }
    ig_value **scaled = is_swapped ? &p.x : &p.y;
    if (!is_one && p.dtype != IG_DT_bool) {
        ig_value *alpha = ig_aten_operand(call, 2, p.dtype);
        p = widen_pair(call, p);
        alpha = ig_dtype_is_float(p.dtype) ? ig_aten_wide(call, alpha) : alpha;
        *scaled = ig_build_mul(call->e, alpha, *scaled);
    }
    ig_value *first = is_swapped ? p.y : p.x, *second = is_swapped ? p.x : p.y;
    return give_as(call, ig_expr_map2(call->e, code_for(code, p.dtype), first, second),
                   p.dtype);
}

/* ---- division ---- */

static pair bool_as_integer(ig_ts_call *call, pair p) {
    if (p.dtype == IG_DT_bool) {
        p.x = ig_aten_cast(call, p.x, IG_DT_i8);
        p.y = ig_aten_cast(call, p.y, IG_DT_i8);
    }
    return p;
}

static ig_value *divide_floor(ig_expr *e, ig_value *x, ig_value *y) {
    return x && ig_expr_is_float(x) ? ig_compose_floor_divide_floats(e, x, y)
                                    : ig_compose_floor_divide(e, x, y);
}

static ig_value *divide_trunc(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *quotient = ig_build_div(e, x, y);
    return x && ig_expr_is_float(x) ? ig_build_trunc(e, quotient) : quotient;
}

/* Quotients that are rounded to integers.  Of halves all steps are rounded to their
 * dtype, unless the divisor has one element. */
static ig_status give_whole(ig_ts_call *call,
                            ig_value *(*divide)(ig_expr *, ig_value *, ig_value *)) {
    ig_expr *e = call->e;
    pair p = bool_as_integer(call, promote_pair(call));
    IG_TRY(e->status);
    if (!is_half(p.dtype)) {
        return give_as(call, divide(e, p.x, p.y), p.dtype);
    }
    ig_dim count = ig_type_count(e->module, p.y->type);
    ig_truth is_one = ig_dim_equal(e->module, count, ig_dim_of(1));
    ig_value *exact = is_one == IG_YES ? NULL : divide(e, p.x, p.y);
    if (is_one == IG_NO) {
        return ig_aten_give(call, exact);
    }
    ig_value *y = p.y->type->rank ? p.y : ig_aten_operand(call, 1, IG_DT_f32);
    ig_value *wide = divide(e, ig_aten_wide(call, p.x), ig_aten_wide(call, y));
    wide = ig_aten_cast(call, wide, p.dtype);
    if (exact) {
        ig_value *one = ig_expr_dim(e, count, IG_DT_i64);
        one = ig_expr_with(e, IG_OP_eq, one, 1);
        wide = ig_build_where(e, one, wide, exact);
    }
    return ig_aten_give(call, wide);
}

static ig_status divide_true(ig_ts_call *call) {
    pair p = promote_float(call);
    p = promote_scale(call, p);
    return give_as(call, ig_build_div(call->e, p.x, p.y), p.dtype);
}

/* Before version 4 the quotient of integers was truncated. */
ig_status ig_ts_op_div(ig_ts_call *call) {
    take_number(call);
    if (ig_aten_is_complex(call, 0, 2)) {
        return ig_aten_complex_binary(call, IG_OP_div);
    }
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    return call->version < 4 && !ig_dtype_is_float(dtype)
               ? give_whole(call, divide_trunc)
               : divide_true(call);
}

ig_status ig_ts_op_div_mode(ig_ts_call *call) {
    if (ig_ts_is_none(call, 2)) {
        return divide_true(call);
    }
    ig_str mode = ig_aten_str(call, 2);
    if (ig_str_is(mode, "floor")) {
        return give_whole(call, divide_floor);
    }
    if (ig_str_is(mode, "trunc")) {
        return give_whole(call, divide_trunc);
    }
    return ig_ts_fail(call, IG_INVALID, "rounding_mode is '%.*s'", IG_STR_ARG(mode));
}

ig_status ig_ts_op_floor_divide(ig_ts_call *call) {
    return give_whole(call, divide_floor);
}

/* variant 1: the dividend's sign (fmod), 0: the divisor's (remainder). */
ig_status ig_ts_op_remainder(ig_ts_call *call) {
    pair p = bool_as_integer(call, promote_pair(call));
    ig_mod_attrs attrs = { .truncate = call->row->variant == 1 };
    return give_as(call, ig_build_mod(call->e, p.x, p.y, attrs), p.dtype);
}

/* ---- powers ---- */

static ig_value *square_of(ig_expr *e, ig_value *x) {
    return ig_build_mul(e, x, x);
}

/* The exponents that torch computes without pow; NULL for all others. */
static ig_value *power_of_number(ig_expr *e, ig_value *x, double exponent) {
    bool is_float = x && ig_expr_is_float(x);
    if (exponent == 1) {
        return x;
    }
    if (exponent == 2) {
        return square_of(e, x);
    }
    if (exponent == 3) {
        return ig_build_mul(e, square_of(e, x), x);
    }
    if (is_float && exponent == 0.5) {
        return ig_build_sqrt(e, x);
    }
    if (is_float && exponent == -0.5) {
        return ig_build_rsqrt(e, x);
    }
    if (is_float && exponent == -1) {
        return ig_build_recip(e, x);
    }
    return NULL;
}

ig_status ig_ts_op_pow(ig_ts_call *call) {
    pair p = promote_pair(call);
    const ig_ts_value *exponent = &call->args[1];
    if (p.dtype == IG_DT_bool) {
        p.x = ig_aten_cast(call, p.x, IG_DT_i8);
        p.y = ig_aten_cast(call, p.y, IG_DT_i8);
    }
    pair wide = widen_pair(call, p);
    if (ig_ts_is_number(exponent) && ig_ts_is_known(exponent)) {
        double number = ig_aten_float(call, 1);
        if (!ig_dtype_is_float(p.dtype) && number < 0) {
            return ig_ts_fail(call, IG_INVALID, "integers to a negative integer power");
        }
        ig_value *easy = power_of_number(call->e, wide.x, number);
        if (easy) {
            return give_as(call, easy, p.dtype);
        }
    }
    return give_as(call, ig_build_pow(call->e, wide.x, wide.y), p.dtype);
}

/* Computed in f64. */
ig_status ig_ts_op_float_power(ig_ts_call *call) {
    ig_value *x = ig_aten_operand(call, 0, IG_DT_f64);
    ig_value *y = ig_aten_operand(call, 1, IG_DT_f64);
    return ig_aten_give(call, ig_build_pow(call->e, x, y));
}

ig_status ig_ts_op_square(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && x->type->dtype == IG_DT_bool) {
        x = ig_aten_cast(call, x, IG_DT_i64);
    }
    return ig_aten_give(call, square_of(call->e, x));
}

/* x * 2^y */
ig_status ig_ts_op_ldexp(ig_ts_call *call) {
    pair p = promote_float(call);
    ig_value *two = p.y ? ig_expr_number(call->e, p.dtype, 2) : NULL;
    ig_value *power = ig_build_pow(call->e, two, p.y);
    return ig_aten_give(call, ig_build_mul(call->e, p.x, power));
}

/* ---- selection ---- */

/* fmax, fmin: a number wins over NaN. */
ig_status ig_ts_op_number_wins(ig_ts_call *call) {
    pair p = promote_pair(call);
    ig_opcode code = (ig_opcode)call->row->variant;
    ig_value *both = ig_expr_map2(call->e, code, p.x, p.y);
    if (ig_dtype_is_float(p.dtype)) {
        both = ig_build_where(call->e, ig_build_isnan(call->e, p.x), p.y, both);
        both = ig_build_where(call->e, ig_build_isnan(call->e, p.y), p.x, both);
    }
    return ig_aten_give(call, both);
}

/* where(condition, x, y) */
ig_status ig_ts_op_where(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 1, 2);
    ig_value *condition = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_bool);
    ig_value *x = ig_aten_operand(call, 1, dtype);
    ig_value *y = ig_aten_operand(call, 2, dtype);
    return ig_aten_give(call, ig_build_where(call->e, condition, x, y));
}

ig_status ig_ts_op_masked_fill(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *mask = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_bool);
    ig_value *value = x ? ig_aten_operand(call, 2, (ig_dtype)x->type->dtype) : NULL;
    return ig_aten_give(call, ig_build_where(call->e, mask, value, x));
}

/* Is a bound beyond the range of this integer dtype?  -1: below all of them, 1:
 * above; 0 where it is among them, or not known. */
static int compare_with_range(const ig_ts_value *bound, ig_dtype dtype) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (bound->kind != IG_TS_INT || !ig_ts_is_known(bound) || info->bits >= 64 ||
        !ig_dtype_is_int(dtype)) {
        return 0;
    }
    bool is_signed = info->class == IG_SINT;
    int64_t highest = ((int64_t)1 << (info->bits - is_signed)) - 1;
    int64_t lowest = is_signed ? -highest - 1 : 0;
    return bound->as.i < lowest ? -1 : bound->as.i > highest;
}

/* A bound on the far side of all integers of the dtype bounds nothing; one on the near
 * side is refused, as torch does. */
static ig_value *bound_value(ig_ts_call *call, ig_opcode code, ig_value *x,
                             uint32_t index) {
    assert(index < call->arg_count && "the schema has no such argument");
    if (!x || ig_ts_is_none(call, index)) {
        return x;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    int side = compare_with_range(&call->args[index], dtype);
    if (side == (code == IG_OP_max ? -1 : 1)) {
        return x;
    }
    if (side) {
        ig_expr_fail(call->e, IG_INVALID, "a bound of %lld is outside of %s's range",
                     (long long)call->args[index].as.i, ig_dtypes[dtype].name);
        return NULL;
    }
    return ig_expr_map2(call->e, code, x, ig_aten_operand(call, index, dtype));
}

/* clamp(x, min, max); the upper bound wins. */
ig_status ig_ts_op_clamp(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_clamp);
    }
    ig_dtype dtype = ig_aten_result_type(call, 0, 3);
    ig_value *x = ig_aten_operand(call, 0, dtype);
    x = bound_value(call, IG_OP_max, x, 1);
    return ig_aten_give(call, bound_value(call, IG_OP_min, x, 2));
}

/* clamp_min and clamp_max, by variant. */
ig_status ig_ts_op_clamp_one(ig_ts_call *call) {
    ig_value *x = ig_aten_operand(call, 0, ig_aten_result_type(call, 0, 2));
    return ig_aten_give(call, bound_value(call, (ig_opcode)call->row->variant, x, 1));
}

/* ---- three operands ---- */

/* x + w (y - x), from the nearer end. */
ig_status ig_ts_op_lerp(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    ig_value *x = ig_aten_wide(call, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_wide(call, ig_aten_operand(call, 1, dtype));
    if (!x || !y) {
        return call->e->status;
    }
    ig_value *weight = ig_aten_operand(call, 2, (ig_dtype)x->type->dtype);
    ig_value *way = ig_build_sub(call->e, y, x);
    ig_value *near = ig_build_add(call->e, x, ig_build_mul(call->e, weight, way));
    ig_value *rest = ig_expr_number_with(call->e, IG_OP_sub, 1, weight);
    ig_value *far = ig_build_sub(call->e, y, ig_build_mul(call->e, way, rest));
    ig_value *is_near = ig_build_abs(call->e, weight);
    is_near = ig_expr_with(call->e, IG_OP_lt, is_near, 0.5);
    return give_as(call, ig_build_where(call->e, is_near, near, far), dtype);
}

/* x + value * (y op z); variants mul, div. */
ig_status ig_ts_op_addc(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 3);
    ig_value *operands[3];
    for (uint32_t i = 0; i < 3; i++) {
        operands[i] = ig_aten_operand(call, i, dtype);
        if (ig_dtype_is_float(dtype)) {
            operands[i] = ig_aten_wide(call, operands[i]);
        }
    }
    IG_TRY(call->e->status);
    ig_dtype wide = (ig_dtype)operands[0]->type->dtype;
    ig_value *scaled = ig_build_mul(call->e, ig_aten_operand(call, 3, wide),
                                    operands[1]);
    scaled = ig_expr_map2(call->e, (ig_opcode)call->row->variant, scaled, operands[2]);
    return give_as(call, ig_build_add(call->e, operands[0], scaled), dtype);
}
