/* pow.
 * SPDX-License-Identifier: Apache-2.0
 *
 * |x|^y = exp(y log |x|).  An error of log is multiplied by y, so log and the product
 * are needed to 65 bits or so for results in f64; f32 is computed in plain f64, which
 * has bits to spare.  For f64 the logarithm is a sum of two doubles:
 *
 *     log x = k ln 2 + 2 s + 2/3 s^3 + s^5 P(s^2),  s = f / (2 + f)
 *
 * with s, s^2 and s^3 as sums of two doubles (Dekker's products: muladd rounds twice on
 * some levels, so it cannot be used to find the error of a product).
 */
#include "passes/lower/math/math.h"

#include <assert.h>

/* ---- sums of two doubles ---- */

typedef struct pair {
    ig_value *high, *low;
} pair;

/* high + low for |high| >= |low|, without loss. */
static pair join_parts(ig_builder *b, ig_value *high, ig_value *low) {
    assert(high->type == low->type && "two parts of one number");
    ig_value *sum = k_add(b, high, low);
    return (pair){ sum, k_sub(b, low, k_sub(b, sum, high)) };
}

/* The upper 26 bits of x. */
static ig_value *upper_part(ig_builder *b, ig_value *x) {
    ig_value *grown = ig_math_with(b, IG_OP_mul, x, 0x1p27 + 1);
    return k_sub(b, grown, k_sub(b, grown, x));
}

/* x y, without loss. */
static pair multiply_exactly(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *p = k_mul(b, x, y);
    ig_value *x1 = upper_part(b, x), *y1 = upper_part(b, y);
    ig_value *x2 = k_sub(b, x, x1), *y2 = k_sub(b, y, y1);
    ig_value *lost = k_sub(b, k_mul(b, x1, y1), p);
    lost = k_add(b, lost, k_mul(b, x1, y2));
    lost = k_add(b, lost, k_mul(b, x2, y1));
    return (pair){ p, k_add(b, lost, k_mul(b, x2, y2)) };
}

static pair multiply_pairs(ig_builder *b, pair x, pair y) {
    pair p = multiply_exactly(b, x.high, y.high);
    ig_value *cross = k_add(b, k_mul(b, x.high, y.low), k_mul(b, x.low, y.high));
    return join_parts(b, p.high, k_add(b, p.low, cross));
}

static pair scale_pair(ig_builder *b, pair x, double high, double low) {
    pair by = { ig_math_const(b, x.high, high), ig_math_const(b, x.high, low) };
    return multiply_pairs(b, x, by);
}

/* x + y for |x| >= |y|. */
static pair add_pairs(ig_builder *b, pair x, pair y) {
    pair sum = join_parts(b, x.high, y.high);
    return join_parts(b, sum.high, k_add(b, sum.low, k_add(b, x.low, y.low)));
}

/* ---- log as a sum ---- */

/* (log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5 over s^2 <= 0.0295; to 3e-16. */
static const double log_terms[] = {
    0.4,
    0.285714285714285714,
    0.222222222222222222,
    0.181818181818181818,
    0.153846153846153846,
    0.133333333333333333,
    0.117647058823529412,
    0.105263157894736842,
    0.0952380952380952381,
};

/* s = f / (2 + f). */
static pair divide_pair(ig_builder *b, ig_value *f) {
    ig_value *two = ig_math_const(b, f, 2);
    pair divisor = join_parts(b, two, f);
    ig_value *s = k_binary(b, IG_OP_div, f, divisor.high);
    pair back = multiply_exactly(b, s, divisor.high);
    ig_value *rest = k_sub(b, k_sub(b, f, back.high), back.low);
    rest = k_sub(b, rest, k_mul(b, s, divisor.low));
    return (pair){ s, k_binary(b, IG_OP_div, rest, divisor.high) };
}

/* log x for positive finite x. */
static pair log_sum(ig_builder *b, ig_value *x) {
    const ig_math_real *real = ig_math_real_of(x);
    ig_math_parts parts = ig_math_split(b, x);
    pair s = divide_pair(b, parts.f), square = multiply_pairs(b, s, s);
    pair cube = multiply_pairs(b, square, s);
    ig_value *fifth = k_mul(b, cube.high, square.high);
    ig_value *terms = ig_math_poly(b, square.high, log_terms, IG_COUNT_OF(log_terms));
    ig_value *tail = k_mul(b, fifth, terms);
    pair third = scale_pair(b, cube, 0x1.5555555555555p-1, 0x1.5555555555555p-55);
    pair twice = { k_add(b, s.high, s.high), k_add(b, s.low, s.low) };
    pair sum = add_pairs(b, twice,
                         join_parts(b, third.high, k_add(b, third.low, tail)));
    pair whole = { ig_math_with(b, IG_OP_mul, parts.exponent, real->ln2_high),
                   ig_math_with(b, IG_OP_mul, parts.exponent, real->ln2_low) };
    return add_pairs(b, whole, sum);
}

/* ---- exp(y log |x|) ---- */

static ig_value *pow_plain(ig_builder *b, ig_value *size, ig_value *y) {
    return k_mul(b, y, ig_math_log(b, size));
}

/* y is held where the result is 0, 1 or infinity anyway, so that nothing overflows. */
static pair pow_exponent(ig_builder *b, ig_value *size, ig_value *y) {
    ig_value *held = ig_math_with(b, IG_OP_max, y, -0x1p70);
    held = ig_math_with(b, IG_OP_min, held, 0x1p70);
    pair log = log_sum(b, size);
    pair p = multiply_exactly(b, held, log.high);
    ig_value *low = k_add(b, p.low, k_mul(b, held, log.low));
    ig_value *ends = ig_math_log_ends(b, size, log.high);
    ig_value *is_inner = k_compare(b, IG_OP_eq, ends, log.high);
    return (pair){ k_mul(b, held, ends),
                   k_where(b, is_inner, low, ig_math_const(b, y, 0)) };
}

/* Exactly 1 where |x| = 1 or y = 0. */
static ig_value *pow_of_size(ig_builder *b, ig_value *size, ig_value *y,
                             bool is_single) {
    ig_value *zero = ig_math_const(b, size, 0);
    ig_value *is_one = ig_math_is(b, IG_OP_eq, size, 1);
    ig_value *is_flat = k_binary(b, IG_OP_or, is_one, ig_math_is(b, IG_OP_eq, y, 0));
    if (is_single) {
        ig_value *plain = pow_plain(b, size, y);
        return ig_math_exp(b, k_where(b, is_flat, zero, plain));
    }
    pair exponent = pow_exponent(b, size, y);
    return ig_math_exp_sum(b, k_where(b, is_flat, zero, exponent.high),
                           k_where(b, is_flat, zero, exponent.low));
}

/* ---- signs and ends ---- */

/* Infinities are integers, even ones. */
static ig_value *is_integer(ig_builder *b, ig_value *y) {
    return k_compare(b, IG_OP_eq, k_unary(b, IG_OP_trunc, y), y);
}

static ig_value *is_odd(ig_builder *b, ig_value *y) {
    ig_value *is_even = is_integer(b, ig_math_with(b, IG_OP_mul, y, 0.5));
    return k_binary(b, IG_OP_and, is_integer(b, y), k_unary(b, IG_OP_not, is_even));
}

/* A negative finite number to a power that is not an integer. */
static ig_value *is_undefined(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *is_below = ig_math_is(b, IG_OP_lt, x, 0);
    ig_value *is_finite = ig_math_is(b, IG_OP_gt, x, -(double)__builtin_inf());
    ig_value *is_broken = k_unary(b, IG_OP_not, is_integer(b, y));
    return k_binary(b, IG_OP_and, is_broken,
                    k_binary(b, IG_OP_and, is_below, is_finite));
}

/* As C's pow, special values included.  f32: 0.51 ulp; f64: 1.5. */
ig_value *ig_math_pow(ig_builder *b, ig_value *x, ig_value *y) {
    assert(x->type == y->type && "operands of one type");
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *base = k_cast(b, x, IG_DT_f64), *by = k_cast(b, y, IG_DT_f64);
    ig_value *size = ig_math_abs(b, base);
    ig_value *value = pow_of_size(b, size, by, dtype == IG_DT_f32);
    ig_value *nan = ig_math_const(b, base, (double)__builtin_nan(""));
    ig_value *with_sign = ig_math_with_sign(b, value, base);
    value = k_where(b, is_odd(b, by), with_sign, value);
    value = k_where(b, is_undefined(b, base, by), nan, value);
    ig_value *is_flat = ig_math_is(b, IG_OP_eq, by, 0);
    value = k_where(b, is_flat, ig_math_const(b, base, 1), value);
    return k_cast(b, value, dtype);
}
