/* log and log1p.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     x = 2^k m,  m in [0.71, 1.42),  f = m - 1,  s = f / (2 + f)
 *     log m = log((1 + s) / (1 - s)) = 2 s + s R(s^2) = f - f^2/2 + s (f^2/2 + R)
 *
 * The last form keeps f, which is exact, apart from everything that is rounded; k ln 2
 * joins in two parts, of which the first is exact.  k and m come from the bits: taking
 * those of sqrt(1/2) away makes the exponent count from there.
 */
#include "passes/lower/math/math.h"

/* (R(z) / z) over z = s^2 <= 0.0295; to 5e-12 and 2e-18. */
static const double log_f32[] = { 0.6666666564, 0.4000033571, 0.2853727339,
                                  0.2358286093 };
static const double log_f64[] = {
    0.666666666666673465, 0.399999999994128969, 0.285714287428229895,
    0.222221985247788388, 0.181835670241034054, 0.153139770981420794,
    0.147967269906129576,
};

/* The bits of sqrt(1/2), rounded down. */
static int64_t half_root_bits(const ig_math_real *real) {
    return real->bits == IG_DT_i64 ? INT64_C(0x3fe6a09e00000000) : 0x3f3504f3;
}

ig_math_parts ig_math_split(ig_builder *b, ig_value *x) {
    const ig_math_real *real = ig_math_real_of(x);
    bool is_double = real->real == IG_DT_f64;
    double lift = is_double ? 0x1p54 : 0x1p25, lifted_by = is_double ? 54 : 25;
    ig_value *is_tiny = ig_math_is(b, IG_OP_lt, x, real->min_normal);
    ig_value *normal = k_where(b, is_tiny, ig_math_with(b, IG_OP_mul, x, lift), x);
    ig_value *bits = ig_math_bits(b, normal);
    ig_value *above = k_sub(b, bits, ig_math_bits_const(b, x, half_root_bits(real)));
    ig_value *k = ig_math_with(b, IG_OP_shr, above, real->mantissa);
    ig_value *field = ig_math_with(b, IG_OP_shl, k, real->mantissa);
    ig_value *m = ig_math_from_bits(b, k_sub(b, bits, field));
    ig_value *zero = ig_math_const(b, x, 0);
    ig_value *correction = k_where(b, is_tiny, ig_math_const(b, x, lifted_by), zero);
    return (ig_math_parts){ k_sub(b, k_cast(b, k, real->real), correction),
                            ig_math_with(b, IG_OP_sub, m, 1) };
}

/* log(x) + low for positive finite x and a tiny `low` (may be NULL). */
static ig_value *log_of_normal(ig_builder *b, ig_value *x, ig_value *low) {
    const ig_math_real *real = ig_math_real_of(x);
    ig_math_parts p = ig_math_split(b, x);
    ig_value *s = k_binary(b, IG_OP_div, p.f, ig_math_with(b, IG_OP_add, p.f, 2));
    ig_value *z = k_mul(b, s, s);
    ig_value *poly = real->real == IG_DT_f64
                         ? ig_math_poly(b, z, log_f64, IG_COUNT_OF(log_f64))
                         : ig_math_poly(b, z, log_f32, IG_COUNT_OF(log_f32));
    ig_value *half = k_mul(b, ig_math_with(b, IG_OP_mul, p.f, 0.5), p.f);
    ig_value *rest = k_mul(b, s, k_muladd(b, z, poly, half));
    ig_value *small = ig_math_with(b, IG_OP_mul, p.exponent, real->ln2_low);
    small = low ? k_add(b, small, low) : small;
    ig_value *tail = k_sub(b, half, k_add(b, rest, small));
    ig_value *large = ig_math_with(b, IG_OP_mul, p.exponent, real->ln2_high);
    return k_sub(b, large, k_sub(b, tail, p.f));
}

ig_value *ig_math_log_ends(ig_builder *b, ig_value *x, ig_value *value) {
    ig_value *infinity = ig_math_const(b, x, (double)__builtin_inf());
    ig_value *nan = ig_math_const(b, x, (double)__builtin_nan(""));
    ig_value *is_zero = ig_math_is(b, IG_OP_eq, x, 0);
    ig_value *is_below = ig_math_is(b, IG_OP_lt, x, 0);
    ig_value *is_finite = k_compare(b, IG_OP_lt, x, infinity);
    ig_value *result = k_where(b, is_finite, value, x);
    result = k_where(b, is_below, nan, result);
    return k_where(b, is_zero, ig_math_neg(b, infinity), result);
}

/* f32: 1.0 ulp; f64: 1.0. */
ig_value *ig_math_log(ig_builder *b, ig_value *x) {
    return ig_math_log_ends(b, x, log_of_normal(b, x, NULL));
}

/* log of u = 1 + x as rounded, plus the rounding error over u.  f32: 1.5 ulp. */
ig_value *ig_math_log1p(ig_builder *b, ig_value *x) {
    ig_value *one = ig_math_const(b, x, 1);
    ig_value *u = k_add(b, x, one);
    ig_value *is_large = ig_math_is(b, IG_OP_gt, x, 1);
    /* The smaller of the two addends is what loses bits. */
    ig_value *lost_x = k_sub(b, x, k_sub(b, u, one));
    ig_value *lost_one = k_sub(b, one, k_sub(b, u, x));
    ig_value *lost = k_where(b, is_large, lost_one, lost_x);
    ig_value *low = k_binary(b, IG_OP_div, lost, u);
    ig_value *value = ig_math_log_ends(b, u, log_of_normal(b, u, low));
    ig_value *is_tiny = ig_math_is(b, IG_OP_lt, ig_math_abs(b, x), 0x1p-60);
    return k_where(b, is_tiny, x, value);
}
