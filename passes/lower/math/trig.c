/* sin and cos.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     x = n pi/2 + r,  |r| <= pi/4;   n mod 4 says which of +-sin r, +-cos r is meant
 *
 * pi/2 is subtracted in three parts of 33, 33 and 53 bits; the first two products are
 * exact while n < 2^20, and r comes out as a sum of two doubles.  f32 is computed in
 * f64, where it needs no more care than that.  Where a lane is beyond 2^20, a branch
 * that is hardly ever taken reduces by integers (math/large.c).
 */
#include "passes/lower/math/math.h"
#include "passes/lower/math/large.h"

#include <assert.h>

/* (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 over r^2, |r| <= pi/4. */
static const double sin_terms[] = {
    -0.16666666666666632,    0.00833333333332241071,   -0.000198412698298053288,
    2.75573136910160545e-06, -2.50507579680190788e-08, 1.58967867952406431e-10,
};
static const double cos_terms[] = {
    0.0416666666666665995,    -0.00138888888888741199, 2.4801587289479515e-05,
    -2.75573143515227405e-07, 2.08757231582908884e-09, -1.13596416213933487e-11,
};

static ig_math_angle reduce_small(ig_builder *b, ig_value *x) {
    ig_value *round = ig_math_const(b, x, 0x1.8p52);
    ig_value *quotient = ig_math_with(b, IG_OP_mul, x, 0x1.45f306dc9c883p-1);
    ig_value *shifted = k_add(b, quotient, round);
    ig_value *n = k_sub(b, shifted, round);
    ig_value *first = k_sub(b, x, ig_math_with(b, IG_OP_mul, n, 0x1.921fb544p+0));
    ig_value *middle = ig_math_with(b, IG_OP_mul, n, 0x1.0b4611a6p-34);
    ig_value *second = k_sub(b, first, middle);
    ig_value *lost = k_sub(b, k_sub(b, first, second), middle);
    ig_value *third = k_sub(b, ig_math_with(b, IG_OP_mul, n, 0x1.3198a2e037073p-69),
                            lost);
    ig_value *r = k_sub(b, second, third);
    ig_value *low = k_sub(b, k_sub(b, second, r), third);
    return (ig_math_angle){ r, low, ig_math_bits(b, shifted) };
}

/* `is_large` lanes of `small` replaced, in a branch taken when there is one. */
static ig_math_angle reduce_rest(ig_builder *b, ig_value *x, ig_value *is_large,
                                 ig_math_angle small, bool is_single) {
    const ig_type *types[] = { x->type, x->type, small.n->type };
    k_if branch = k_if_open(b, k_any(b, is_large), types, 3);
    ig_math_angle large = ig_math_reduce_large(&branch.then, x, is_single);
    ig_value *mixed[] = {
        k_where(&branch.then, is_large, large.r, small.r),
        k_where(&branch.then, is_large, large.low, small.low),
        k_where(&branch.then, is_large, large.n, small.n),
    };
    ig_value *kept[] = { small.r, small.low, small.n };
    k_if_close(&branch, mixed, kept);
    return (ig_math_angle){ branch.results[0], branch.results[1], branch.results[2] };
}

/* Infinities stay with the small ones, where they become NaN. */
static ig_math_angle reduce_angle(ig_builder *b, ig_value *x, bool is_single) {
    assert(x->type->dtype == IG_DT_f64 && "angles are reduced in f64");
    ig_value *size = ig_math_abs(b, x);
    ig_value *is_beyond = ig_math_is(b, IG_OP_gt, size, 0x1p20);
    ig_value *is_finite = ig_math_is(b, IG_OP_lt, size, (double)__builtin_inf());
    ig_value *is_large = k_binary(b, IG_OP_and, is_beyond, is_finite);
    return reduce_rest(b, x, is_large, reduce_small(b, x), is_single);
}

/* sin(r + low) = r + (low - r^2 low / 2 + r^3 S). */
static ig_value *sin_of(ig_builder *b, const ig_math_angle *x, ig_value *square) {
    ig_value *p = ig_math_poly(b, square, sin_terms, IG_COUNT_OF(sin_terms));
    ig_value *cube = k_mul(b, square, x->r);
    ig_value *half = ig_math_with(b, IG_OP_mul, x->low, 0.5);
    ig_value *low = k_sub(b, x->low, k_mul(b, square, half));
    return k_add(b, x->r, k_muladd(b, cube, p, low));
}

/* cos(r + low) = w + ((1 - w - r^2/2) + (r^4 C - r low)),  w = 1 - r^2/2. */
static ig_value *cos_of(ig_builder *b, const ig_math_angle *x, ig_value *square) {
    ig_value *p = ig_math_poly(b, square, cos_terms, IG_COUNT_OF(cos_terms));
    ig_value *half = ig_math_with(b, IG_OP_mul, square, 0.5);
    ig_value *one = ig_math_const(b, square, 1);
    ig_value *w = k_sub(b, one, half);
    ig_value *lost = k_sub(b, k_sub(b, one, w), half);
    ig_value *fourth = k_mul(b, k_mul(b, square, square), p);
    ig_value *rest = k_sub(b, fourth, k_mul(b, x->r, x->low));
    return k_add(b, w, k_add(b, lost, rest));
}

/* sin(x + quarter pi/2). */
static ig_value *turn_sine(ig_builder *b, ig_value *x, int quarter) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_math_angle in = reduce_angle(b, k_cast(b, x, IG_DT_f64), dtype == IG_DT_f32);
    ig_value *square = k_mul(b, in.r, in.r);
    ig_value *sine = sin_of(b, &in, square), *cosine = cos_of(b, &in, square);
    ig_value *n = ig_math_with(b, IG_OP_add, in.n, quarter);
    ig_value *one = ig_math_bits_const(b, n, 1), *zero = ig_math_bits_const(b, n, 0);
    ig_value *odd = k_compare(b, IG_OP_ne, k_binary(b, IG_OP_and, n, one), zero);
    ig_value *value = k_where(b, odd, cosine, sine);
    /* Bit 1 of n becomes the sign bit and turns it around. */
    ig_value *two = k_binary(b, IG_OP_and, n, ig_math_bits_const(b, n, 2));
    ig_value *sign = ig_math_with(b, IG_OP_shl, two, 62);
    ig_value *bits = k_binary(b, IG_OP_xor, ig_math_bits(b, value), sign);
    return k_cast(b, ig_math_from_bits(b, bits), dtype);
}

/* f32: 0.51 ulp; f64: 1.0 (1.5 beyond 2^20). */
ig_value *ig_math_sin(ig_builder *b, ig_value *x) {
    return turn_sine(b, x, 0);
}

ig_value *ig_math_cos(ig_builder *b, ig_value *x) {
    return turn_sine(b, x, 1);
}
