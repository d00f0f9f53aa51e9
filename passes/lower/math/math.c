/* exp and its relatives, and the building blocks of all mathematical functions.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     exp(x) = 2^n exp(r),  n = round(x / ln 2),  r = x - n ln 2 in [-0.35, 0.35]
 *
 * n ln 2 is subtracted in two parts, of which the first is exact.  exp(r) is a minimax
 * polynomial, 1 + r (1 + r p(r)), whose last two additions make nearly all of the
 * error.  n is in the low bits of x / ln 2 + 1.5 * 2^23, from which mul_exp2 takes
 * it.
 *
 * tanh divides by 1 + exp: stable, since its error is divided away.  Coefficients are
 * minimax (Remez) on their intervals.
 */
#include "passes/lower/math/math.h"

#include <assert.h>
#include <math.h>

/* ---- parts ---- */

static const ig_math_real reals[] = {
    { IG_DT_f32, IG_DT_i32, 23, 127, 0x1.8p23, 0x1p-126, 0x1.63p-1,
      -0x1.bd0105c610ca8p-13 },
    { IG_DT_f64, IG_DT_i64, 52, 1023, 0x1.8p52, 0x1p-1022, 0x1.62e42feep-1,
      0x1.a39ef35793c76p-33 },
};

const ig_math_real *ig_math_real_of(const ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    bool is_double = dtype == IG_DT_f64 || dtype == IG_DT_i64;
    assert((is_double || dtype == IG_DT_f32 || dtype == IG_DT_i32) &&
           "mathematical functions are computed in f32 or f64");
    return &reals[is_double];
}

ig_value *ig_math_const(ig_builder *b, const ig_value *like, double value) {
    return k_const_vector(b, (ig_dtype)like->type->dtype, like->type->lanes, value);
}

ig_value *ig_math_bits_const(ig_builder *b, const ig_value *like, int64_t value) {
    const ig_math_real *real = ig_math_real_of(like);
    if (real->bits == IG_DT_i64) {
        return k_splat(b, k_i64(b, value), like->type->lanes);
    }
    return k_const_vector(b, real->bits, like->type->lanes, (double)(int32_t)value);
}

ig_value *ig_math_bits(ig_builder *b, ig_value *x) {
    assert(ig_dtype_is_float((ig_dtype)x->type->dtype) && "bits of a float");
    return k_reinterpret(b, x, ig_math_real_of(x)->bits);
}

ig_value *ig_math_from_bits(ig_builder *b, ig_value *bits) {
    assert(!ig_dtype_is_float((ig_dtype)bits->type->dtype) && "bits are integers");
    return k_reinterpret(b, bits, ig_math_real_of(bits)->real);
}

ig_value *ig_math_neg(ig_builder *b, ig_value *x) {
    return k_unary(b, IG_OP_neg, x);
}

ig_value *ig_math_abs(ig_builder *b, ig_value *x) {
    return k_unary(b, IG_OP_abs, x);
}

ig_value *ig_math_poly(ig_builder *b, ig_value *x, const double *c, uint32_t count) {
    assert(count > 0 && "a polynomial has coefficients");
    ig_value *sum = ig_math_const(b, x, c[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;) {
        sum = k_muladd(b, sum, x, ig_math_const(b, x, c[i]));
    }
    return sum;
}

ig_value *ig_math_with_sign(ig_builder *b, ig_value *x, ig_value *sign) {
    assert(x->type == sign->type && "operands of one type");
    const ig_math_real *real = ig_math_real_of(x);
    int64_t mask = real->bits == IG_DT_i64 ? INT64_MIN : INT32_MIN;
    ig_value *bit = k_binary(b, IG_OP_and, ig_math_bits(b, sign),
                             ig_math_bits_const(b, x, mask));
    return ig_math_from_bits(b, k_binary(b, IG_OP_or, ig_math_bits(b, x), bit));
}

ig_value *ig_math_with(ig_builder *b, ig_opcode code, ig_value *x, double constant) {
    return k_binary(b, code, x, ig_math_const(b, x, constant));
}

ig_value *ig_math_is(ig_builder *b, ig_opcode compare, ig_value *x, double constant) {
    return k_compare(b, compare, x, ig_math_const(b, x, constant));
}

/* ---- exp ---- */

/* exp(r) for |r| <= ln 2 / 2: 1 + r + r^2 p(r), p to 3e-9 and 4e-18. */
enum { LINEAR = 2 }; /* coefficients before those of p */
static const double exp_f32[] = {
    1, 1, 0.5000000095, 0.1666651873, 0.04166620543, 0.008368902749, 0.001395051491,
};
static const double exp_f64[] = {
    1,
    1,
    0.500000000000001276,
    0.166666666666666992,
    0.0416666666665151966,
    0.00833333333330714772,
    0.00138888889470802993,
    0.000198412699175024697,
    2.48014898700458622e-05,
    2.75572161962334367e-06,
    2.76313078267314291e-07,
    2.51178941435659983e-08,
};

/* exp(r) from its coefficient `first` on. */
static ig_value *exp_poly(ig_builder *b, ig_value *r, uint32_t first) {
    return r->type->dtype == IG_DT_f64
               ? ig_math_poly(b, r, exp_f64 + first, IG_COUNT_OF(exp_f64) - first)
               : ig_math_poly(b, r, exp_f32 + first, IG_COUNT_OF(exp_f32) - first);
}

ig_value *ig_math_power_of_two(ig_builder *b, ig_value *n) {
    assert(!ig_dtype_is_float((ig_dtype)n->type->dtype) && "an exponent is an integer");
    const ig_math_real *real = ig_math_real_of(n);
    ig_value *biased = ig_math_with(b, IG_OP_add, n, real->exponent_bias);
    ig_value *bits = ig_math_with(b, IG_OP_shl, biased, real->mantissa);
    return ig_math_from_bits(b, bits);
}

/* Held where the result is 0 or infinity already, so that n stays small. */
static ig_value *hold_above(ig_builder *b, ig_value *x) {
    return ig_math_with(b, IG_OP_max, x, x->type->dtype == IG_DT_f64 ? -746 : -104);
}

static ig_value *hold_exponent(ig_builder *b, ig_value *x) {
    bool is_double = x->type->dtype == IG_DT_f64;
    return hold_above(b, ig_math_with(b, IG_OP_min, x, is_double ? 710 : 89));
}

/* x = n ln 2 + r: r, and n as mul_exp2 takes it. */
typedef struct exp_parts {
    ig_value *n, *r;
} exp_parts;

static exp_parts split_exp(ig_builder *b, ig_value *x) {
    const ig_math_real *real = ig_math_real_of(x);
    ig_value *round = ig_math_const(b, x, real->round);
    exp_parts parts = {
        .n = k_muladd(b, x, ig_math_const(b, x, 1.4426950408889634), round),
    };
    ig_value *n = k_sub(b, parts.n, round);
    parts.r = k_muladd(b, n, ig_math_const(b, x, -real->ln2_high), x);
    parts.r = k_muladd(b, n, ig_math_const(b, x, -real->ln2_low), parts.r);
    return parts;
}

/* exp(r) - 1 */
static ig_value *exp_rest(ig_builder *b, ig_value *r) {
    return k_muladd(b, k_mul(b, r, r), exp_poly(b, r, LINEAR), r);
}

/* 2^(n + more), which must be in range. */
static ig_value *power_of_parts(ig_builder *b, exp_parts parts, int more) {
    ig_value *n = ig_math_bits(b, parts.n), *like = parts.r;
    n = ig_math_with(b, IG_OP_shl, n, ig_math_real_of(like)->mantissa);
    ig_value *one = ig_math_bits(b, ig_math_const(b, like, ldexp(1, more)));
    return ig_math_from_bits(b, k_add(b, n, one));
}

static ig_value *exp_of_parts(ig_builder *b, exp_parts parts) {
    return k_binary(b, IG_OP_mul_exp2, exp_poly(b, parts.r, 0), parts.n);
}

ig_value *ig_math_exp_sum(ig_builder *b, ig_value *x, ig_value *low) {
    assert(low->type == x->type && "two parts of one sum");
    ig_value *held = hold_exponent(b, x);
    exp_parts parts = split_exp(b, held);
    ig_value *is_held = k_compare(b, IG_OP_ne, held, x);
    low = k_where(b, is_held, ig_math_const(b, x, 0), low);
    parts.r = k_add(b, parts.r, low);
    return exp_of_parts(b, parts);
}

/* f32: 1.1 ulp; f64: 1.1. */
ig_value *ig_math_exp(ig_builder *b, ig_value *x) {
    return exp_of_parts(b, split_exp(b, hold_exponent(b, x)));
}

ig_value *ig_math_decay(ig_builder *b, ig_value *x) {
    return exp_of_parts(b, split_exp(b, hold_above(b, x)));
}

/* ---- relatives ---- */

/* 2^n q + (2^n - 1), of which half is computed, since 2^n may be beyond the range; with
 * the sign of x, which also -0 has.  f32: 2.0 ulp; f64: 2.0. */
ig_value *ig_math_expm1(ig_builder *b, ig_value *x) {
    bool is_double = x->type->dtype == IG_DT_f64;
    ig_value *held = ig_math_with(b, IG_OP_min, x, is_double ? 710 : 89);
    held = ig_math_with(b, IG_OP_max, held, is_double ? -40 : -20); /* -1 */
    exp_parts parts = split_exp(b, held);
    ig_value *q = exp_rest(b, parts.r), *power = power_of_parts(b, parts, -1);
    ig_value *t = k_muladd(b, power, q, ig_math_with(b, IG_OP_sub, power, 0.5));
    return ig_math_with_sign(b, k_add(b, t, t), x);
}

/* 2^n exp((x - n) ln 2).  f32: 1.1 ulp; f64: 1.1. */
ig_value *ig_math_exp2(ig_builder *b, ig_value *x) {
    bool is_double = x->type->dtype == IG_DT_f64;
    ig_value *held = ig_math_with(b, IG_OP_min, x, is_double ? 1024 : 128);
    held = ig_math_with(b, IG_OP_max, held, is_double ? -1075 : -150);
    ig_value *round = ig_math_const(b, x, ig_math_real_of(x)->round);
    exp_parts parts = { .n = k_add(b, held, round) };
    ig_value *rest = k_sub(b, held, k_sub(b, parts.n, round));
    parts.r = ig_math_with(b, IG_OP_mul, rest, 0.693147180559945309417);
    return exp_of_parts(b, parts);
}

/* t / (t + 2) for t = exp(2 |x|) - 1 = 2^n q + (2^n - 1), where nothing cancels.  f32:
 * 2.2 ulp; f64: 2.4. */
ig_value *ig_math_tanh(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *twice = k_add(b, size, size);
    double last = x->type->dtype == IG_DT_f64 ? 40 : 20; /* 1 from there on */
    exp_parts parts = split_exp(b, ig_math_with(b, IG_OP_min, twice, last));
    ig_value *q = exp_rest(b, parts.r), *power = power_of_parts(b, parts, 0);
    ig_value *t = k_muladd(b, power, q, ig_math_with(b, IG_OP_sub, power, 1));
    ig_value *y = k_binary(b, IG_OP_div, t, ig_math_with(b, IG_OP_add, t, 2));
    return ig_math_with_sign(b, y, x);
}

/* 2^n / (2^n + exp(-r)), for x = n ln 2 + r; 1 is added last, or it would be rounded
 * twice.  f32: 2.0 ulp. */
ig_value *ig_math_sigmoid(ig_builder *b, ig_value *x) {
    double last = x->type->dtype == IG_DT_f64 ? 40 : 20; /* 1 from there on */
    ig_value *held = hold_above(b, ig_math_with(b, IG_OP_min, x, last));
    exp_parts parts = split_exp(b, held);
    ig_value *power = k_binary(b, IG_OP_mul_exp2, ig_math_const(b, x, 1), parts.n);
    ig_value *r = ig_math_neg(b, parts.r);
    ig_value *rest = k_muladd(b, r, exp_poly(b, r, LINEAR - 1), power);
    return k_binary(b, IG_OP_div, power, ig_math_with(b, IG_OP_add, rest, 1));
}

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)).  f32: 2.0 ulp. */
ig_value *ig_math_softplus(ig_builder *b, ig_value *x) {
    ig_value *z = ig_math_decay(b, ig_math_neg(b, ig_math_abs(b, x)));
    return k_add(b, ig_math_with(b, IG_OP_max, x, 0), ig_math_log1p(b, z));
}

ig_value *ig_math_recip(ig_builder *b, ig_value *x) {
    return k_binary(b, IG_OP_div, ig_math_const(b, x, 1), x);
}

/* f32: 1.5 ulp; f64: 1.5. */
ig_value *ig_math_rsqrt(ig_builder *b, ig_value *x) {
    return ig_math_recip(b, k_unary(b, IG_OP_sqrt, x));
}

/* ---- by opcode ---- */

typedef ig_value *(*math_fn)(ig_builder *b, ig_value *x);

static const math_fn functions[IG_OP_COUNT] = {
    [IG_OP_exp] = ig_math_exp,           [IG_OP_log] = ig_math_log,
    [IG_OP_expm1] = ig_math_expm1,       [IG_OP_exp2] = ig_math_exp2,
    [IG_OP_log1p] = ig_math_log1p,       [IG_OP_sin] = ig_math_sin,
    [IG_OP_cos] = ig_math_cos,           [IG_OP_tanh] = ig_math_tanh,
    [IG_OP_erf] = ig_math_erf,           [IG_OP_sigmoid] = ig_math_sigmoid,
    [IG_OP_softplus] = ig_math_softplus, [IG_OP_rsqrt] = ig_math_rsqrt,
    [IG_OP_recip] = ig_math_recip,
};

ig_value *ig_lower_math(ig_builder *b, ig_opcode code, ig_value *x) {
    assert(functions[code] && "an op that is a function of one number");
    return functions[code](b, x);
}
