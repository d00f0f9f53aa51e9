/* One elementwise op of a body as kernel ops on scalars or vectors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernel form computes in i1 to i64, f32 and f64.  f16 and bf16 values are widened
 * before an op and rounded after it, as in the interpreter.  Integer
 * division is made total: x / 0 is 0 (and reported, site.c) and the lowest integer / -1
 * wraps, because a trap would kill the process that runs us.
 */
#include "ir/build/expr.h"
#include "passes/lower/lower.h"
#include "passes/lower/math/more.h"

#include <assert.h>
#include <math.h>

/* ---- narrow floats ---- */

static bool is_narrow_float(ig_dtype dtype) {
    return ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
}

static ig_value *widen_float(ig_builder *b, ig_value *x) {
    return is_narrow_float(x->type->dtype) ? k_cast(b, x, IG_DT_f32) : x;
}

/* ---- ops that need more than one kernel op; a row each ---- */

typedef ig_value *(*scalar_fn)(ig_builder *b, const ig_op *op, ig_value *const *x);

static ig_value *lower_by_math(ig_builder *b, const ig_op *op, ig_value *const *x) {
    return ig_lower_math(b, (ig_opcode)op->code, x[0]);
}

static ig_value *zero_like(ig_builder *b, ig_value *x) {
    return k_const_vector(b, x->type->dtype, x->type->lanes, 0.0);
}

static ig_value *constant_like(ig_builder *b, ig_value *x, double value) {
    return k_const_vector(b, x->type->dtype, x->type->lanes, value);
}

/* x / y or x % y with a divisor that cannot trap; y = -1 and y = 0 are put right
 * after. */
static ig_value *divide_safely(ig_builder *b, ig_opcode code, ig_value *x,
                               ig_value *y) {
    ig_value *zero = zero_like(b, x), *one = constant_like(b, x, 1.0);
    ig_value *is_zero = k_compare(b, IG_OP_eq, y, zero);
    bool is_div = code == IG_OP_div;
    if (ig_dtypes[x->type->dtype].class == IG_UINT) {
        ig_value *q = k_binary(b, code, x, k_where(b, is_zero, one, y));
        return k_where(b, is_zero, zero, q);
    }
    ig_value *is_minus = k_compare(b, IG_OP_eq, y, constant_like(b, x, -1.0));
    ig_value *is_special = k_binary(b, IG_OP_or, is_zero, is_minus);
    ig_value *q = k_binary(b, code, x, k_where(b, is_special, one, y));
    ig_value *minus = is_div ? k_sub(b, zero, x) : zero;
    return k_where(b, is_zero, zero, k_where(b, is_minus, minus, q));
}

static ig_value *lower_div(ig_builder *b, const ig_op *op, ig_value *const *x) {
    (void)op;
    return ig_dtype_is_float(x[0]->type->dtype)
               ? k_binary(b, IG_OP_div, x[0], x[1])
               : divide_safely(b, IG_OP_div, x[0], x[1]);
}

static ig_value *lower_mod(ig_builder *b, const ig_op *op, ig_value *const *x) {
    bool truncates = ig_attr_int(op, IG_mod_truncate, 0) != 0;
    if (!ig_dtype_is_float(x[0]->type->dtype)) { /* kernel mod has the divisor's sign */
        ig_value *q = truncates ? divide_safely(b, IG_OP_div, x[0], x[1]) : NULL;
        return q ? k_sub(b, x[0], k_mul(b, q, x[1]))
                 : divide_safely(b, IG_OP_mod, x[0], x[1]);
    }
    return ig_math_mod(b, x[0], x[1], truncates);
}

static ig_value *lower_isinf(ig_builder *b, const ig_op *op, ig_value *const *x) {
    ig_value *plus = k_compare(b, IG_OP_eq, x[0],
                               constant_like(b, x[0], (double)INFINITY));
    ig_value *minus = k_compare(b, IG_OP_eq, x[0],
                                constant_like(b, x[0], -(double)INFINITY));
    bool has_plus = !ig_attr_int(op, IG_isinf_skip_positive, 0);
    bool has_minus = !ig_attr_int(op, IG_isinf_skip_negative, 0);
    if (has_plus != has_minus) {
        return has_plus ? plus : minus;
    }
    return k_binary(b, has_plus ? IG_OP_or : IG_OP_and, plus, minus); /* and: never */
}

/* x multiplied y times, in 64 bits; y is unsigned. */
static ig_value *multiply_often(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *one = constant_like(b, x, 1.0);
    ig_value *inits[3] = { one, x, k_cast(b, y, IG_DT_u64) };
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, 64), k_i64(b, 1), inits, 3);
    ig_builder *in = &loop.b;
    ig_value *base = loop.carried[1], *left = loop.carried[2];
    ig_value *bit = constant_like(in, left, 1.0);
    ig_value *is_odd = k_compare(in, IG_OP_eq, k_binary(in, IG_OP_and, left, bit), bit);
    ig_value *more = k_mul(in, loop.carried[0], base);
    ig_value *next[3] = { k_where(in, is_odd, more, loop.carried[0]),
                          k_mul(in, base, base), k_binary(in, IG_OP_shr, left, bit) };
    k_loop_close(&loop, next, 3);
    return loop.results[0];
}

/* A negative y truncates the quotient: nothing is left of it but for x = 1 and -1. */
static ig_value *integer_power(ig_builder *b, ig_value *x, ig_value *y) {
    bool x_is_signed = ig_dtypes[x->type->dtype].class == IG_SINT;
    bool y_is_signed = ig_dtypes[y->type->dtype].class == IG_SINT;
    x = k_cast(b, x, IG_DT_i64);
    y = k_cast(b, y, IG_DT_i64);
    ig_value *power = multiply_often(b, x, y);
    if (!y_is_signed) {
        return power;
    }
    ig_value *one = constant_like(b, x, 1.0), *zero = zero_like(b, x);
    ig_value *minus = constant_like(b, x, -1.0);
    ig_value *is_odd = k_compare(b, IG_OP_eq, k_binary(b, IG_OP_and, y, one), one);
    ig_value *inverse = k_where(b, k_compare(b, IG_OP_eq, x, one), one, zero);
    if (x_is_signed) {
        inverse = k_where(b, k_compare(b, IG_OP_eq, x, minus),
                          k_where(b, is_odd, minus, one), inverse);
    }
    return k_where(b, k_compare(b, IG_OP_lt, y, zero), inverse, power);
}

/* Integers of more than 16 bits are not exact in f32. */
static bool needs_f64(const ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    return dtype == IG_DT_f64 || (ig_dtype_is_int(dtype) && ig_dtypes[dtype].bits > 16);
}

static ig_value *lower_pow(ig_builder *b, const ig_op *op, ig_value *const *x) {
    (void)op;
    bool is_int = ig_dtype_is_int(x[0]->type->dtype) &&
                  ig_dtype_is_int(x[1]->type->dtype);
    if (is_int) {
        return integer_power(b, x[0], x[1]);
    }
    ig_dtype real = needs_f64(x[0]) || needs_f64(x[1]) ? IG_DT_f64 : IG_DT_f32;
    return ig_math_pow(b, k_cast(b, x[0], real), k_cast(b, x[1], real));
}

static ig_value *lower_isnan(ig_builder *b, const ig_op *op, ig_value *const *x) {
    (void)op;
    return k_compare(b, IG_OP_ne, x[0], x[0]);
}

static ig_value *lower_copysign(ig_builder *b, const ig_op *op, ig_value *const *x) {
    (void)op;
    return ig_math_with_sign(b, ig_math_abs(b, x[0]), x[1]);
}

/* The bits of the next number up are one more for positive x and one less for negative
 * x; next to 0 is the smallest number of y's sign. */
static ig_value *lower_nextafter(ig_builder *b, const ig_op *op, ig_value *const *x) {
    (void)op;
    ig_value *zero = zero_like(b, x[0]), *bits = ig_math_bits(b, x[0]);
    ig_value *one = ig_math_bits_const(b, x[0], 1);
    ig_value *minus = ig_math_bits_const(b, x[0], -1);
    ig_value *goes_up = k_compare(b, IG_OP_lt, x[0], x[1]);
    ig_value *is_above = k_compare(b, IG_OP_gt, x[0], zero);
    ig_value *grows = k_compare(b, IG_OP_eq, goes_up, is_above);
    ig_value *step = k_where(b, grows, one, minus);
    ig_value *next = ig_math_from_bits(b, k_add(b, bits, step));
    ig_value *min = ig_math_with_sign(b, ig_math_from_bits(b, one), x[1]);
    next = k_where(b, k_compare(b, IG_OP_eq, x[0], zero), min, next);
    next = k_where(b, k_compare(b, IG_OP_eq, x[0], x[1]), x[1], next);
    ig_value *are_numbers = k_binary(b, IG_OP_and, k_compare(b, IG_OP_eq, x[0], x[0]),
                                     k_compare(b, IG_OP_eq, x[1], x[1]));
    return k_where(b, are_numbers, next, k_add(b, x[0], x[1]));
}

/* Euclid's steps, of which 64-bit numbers need 92 at most, on non-negative numbers.
 * Unsigned, so that the size of the lowest integer is one too. */
static ig_value *divisor_of(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *inits[] = { x, y }, *zero = zero_like(b, x);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, 93), k_i64(b, 1), inits, 2);
    ig_builder *in = &loop.b;
    ig_value *goes_on = k_compare(in, IG_OP_ne, loop.carried[1], zero);
    ig_value *rest = divide_safely(in, IG_OP_mod, loop.carried[0], loop.carried[1]);
    ig_value *next[] = { k_where(in, goes_on, loop.carried[1], loop.carried[0]),
                         k_where(in, goes_on, rest, zero) };
    k_loop_close(&loop, next, 2);
    return loop.results[0];
}

static ig_value *unsigned_size(ig_builder *b, ig_value *x) {
    bool is_signed = ig_dtypes[x->type->dtype].class == IG_SINT;
    x = k_cast(b, x, is_signed ? IG_DT_i64 : IG_DT_u64);
    return k_cast(b, is_signed ? k_unary(b, IG_OP_abs, x) : x, IG_DT_u64);
}

static ig_value *lower_gcd(ig_builder *b, const ig_op *op, ig_value *const *x) {
    ig_value *sizes[] = { unsigned_size(b, x[0]), unsigned_size(b, x[1]) };
    ig_value *common = divisor_of(b, sizes[0], sizes[1]);
    return op->code == IG_OP_gcd
               ? common
               : k_mul(b, divide_safely(b, IG_OP_div, sizes[0], common), sizes[1]);
}

static ig_value *lower_gelu(ig_builder *b, const ig_op *op, ig_value *const *x) {
    ig_value *y = ig_math_gelu(b, x[0], ig_attr_int(op, IG_gelu_tanh, 0) != 0);
    bool is_finite = ig_attr_int(op, IG_gelu_finite, 0) != 0;
    /* x - x is 0, but NaN for an infinity. */
    return is_finite ? k_add(b, y, k_binary(b, IG_OP_sub, x[0], x[0])) : y;
}

static const scalar_fn special[IG_OP_COUNT] = {
    [IG_OP_gelu] = lower_gelu,
    [IG_OP_copysign] = lower_copysign,
    [IG_OP_nextafter] = lower_nextafter,
    [IG_OP_gcd] = lower_gcd,
    [IG_OP_lcm] = lower_gcd,
    [IG_OP_exp] = lower_by_math,
    [IG_OP_expm1] = lower_by_math,
    [IG_OP_exp2] = lower_by_math,
    [IG_OP_log] = lower_by_math,
    [IG_OP_log1p] = lower_by_math,
    [IG_OP_sin] = lower_by_math,
    [IG_OP_cos] = lower_by_math,
    [IG_OP_tanh] = lower_by_math,
    [IG_OP_erf] = lower_by_math,
    [IG_OP_sigmoid] = lower_by_math,
    [IG_OP_softplus] = lower_by_math,
    [IG_OP_rsqrt] = lower_by_math,
    [IG_OP_recip] = lower_by_math,
    [IG_OP_div] = lower_div,
    [IG_OP_mod] = lower_mod,
    [IG_OP_isinf] = lower_isinf,
    [IG_OP_isnan] = lower_isnan,
    [IG_OP_pow] = lower_pow,
};

/* ---- the rest: the kernel op of the same name ---- */

static ig_value *same_op(ig_builder *b, const ig_op *op, ig_value *const *x) {
    if (op->code == IG_OP_where) {
        return k_where(b, x[0], x[1], x[2]);
    }
    if (op->operand_count == 1) {
        return k_unary(b, (ig_opcode)op->code, x[0]);
    }
    bool is_compare = op->results[0].type->dtype == IG_DT_bool &&
                      x[0]->type->dtype != IG_DT_bool;
    bool compares_bools = op->code == IG_OP_eq || op->code == IG_OP_ne;
    return is_compare || compares_bools ? k_compare(b, (ig_opcode)op->code, x[0], x[1])
                                        : k_binary(b, (ig_opcode)op->code, x[0], x[1]);
}

/* One rounding, so the kernel's own op does all of it. */
static ig_value *lower_cast(ig_builder *b, const ig_op *op, ig_value *x) {
    ig_dtype to = (ig_dtype)op->results[0].type->dtype;
    if ((ig_dtype)x->type->dtype == to) {
        return x;
    }
    const ig_type *type = ig_type_vector(b->graph->module, to, x->type->lanes);
    ig_op_spec spec = {
        .operands = &x, .operand_count = 1, .result_types = &type, .result_count = 1
    };
    ig_expr e = ig_expr_of(b);
    return ig_build_cast_op(&e, &spec, ig_cast_attrs_of(op))->results;
}

ig_value *ig_lower_scalar(ig_builder *b, const ig_op *op, ig_value *const *operands) {
    ig_dtype to = (ig_dtype)op->results[0].type->dtype;
    if (op->code == IG_OP_cast) {
        return lower_cast(b, op, operands[0]);
    }
    if (op->code == IG_OP_bitcast) {
        return k_reinterpret(b, operands[0], to);
    }
    ig_value *wide[4];
    assert(op->operand_count <= 4 && "elementwise ops have few operands");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        wide[i] = widen_float(b, operands[i]);
    }
    if (ig_math_is_in_double((ig_opcode)op->code)) {
        return k_cast(b, ig_math_in_double(b, (ig_opcode)op->code, wide), to);
    }
    scalar_fn fn = special[op->code];
    return k_cast(b, fn ? fn(b, op, wide) : same_op(b, op, wide), to);
}
