/* erfc, erfinv, lgamma and digamma, in f64.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     erfc      x >= 0.46: exp(-x^2) G(u) / (1 + 2 x), u = (x - 3.75) / (x + 3.75), G
 *               a minimax polynomial; x^2 goes into exp with what its rounding lost.
 *               Below, 1 - erf(x); for negative x, 2 - erfc(-x)
 *     erfinv    a rough start, then Halley's steps on erf (near the ends: on erfc)
 *     lgamma    Stirling's series from x + 8 (x >= 8: from x), less the logarithm of
 *     digamma   the product (the sum) that leads back; reflected for x < 1/2
 */
#include "passes/lower/math/more.h"

#include <math.h>

#define INF ((double)INFINITY)
#define PI 3.14159265358979323846

static ig_value *with_number(ig_builder *b, ig_opcode code, ig_value *x, double y) {
    return ig_math_with(b, code, x, y);
}

static ig_value *constant_like(ig_builder *b, ig_value *like, double value) {
    return ig_math_const(b, like, value);
}

/* ---- erfc ---- */

/* (1 + 2 x) exp(x^2) erfc(x) over u, for x in [0.46, 28]; to 3e-16. */
static const double erfc_terms[] = {
    1.23751263083782732,     -0.140240598585544982,   0.0035854154855520042,
    0.0822767384899228523,   -0.108803930146642766,   0.0923043211676772738,
    -0.0586933984834161051,  0.0283622773100735151,   -0.00974658073125378433,
    0.0017556267353930795,   0.000293721132564310484, -0.000290158318127799832,
    5.16200183122731619e-05, 2.23967585406112972e-05, -1.13734257317747752e-05,
    -9.96360700941886276e-7, 1.6458928328833541e-06,  -3.25279768575675087e-8,
    -1.67441270994154463e-7, 8.78821366174256025e-09,
};

/* What x * x loses by rounding: the parts of x have 26 and 27 bits, so that their
 * products are exact where muladd is not. */
static ig_value *lost_of_square(ig_builder *b, ig_value *x, ig_value *square) {
    ig_value *mask = ig_math_bits_const(b, x, -(INT64_C(1) << 27));
    ig_value *bits = k_binary(b, IG_OP_and, ig_math_bits(b, x), mask);
    ig_value *high = ig_math_from_bits(b, bits), *low = k_sub(b, x, high);
    ig_value *lost = k_sub(b, k_mul(b, high, high), square);
    lost = k_add(b, lost, k_mul(b, k_add(b, high, high), low));
    return k_add(b, lost, k_mul(b, low, low));
}

static ig_value *far_erfc(ig_builder *b, ig_value *size) {
    ig_value *x = with_number(b, IG_OP_min, with_number(b, IG_OP_max, size, 0.46), 28);
    ig_value *u = k_binary(b, IG_OP_div, with_number(b, IG_OP_sub, x, 3.75),
                           with_number(b, IG_OP_add, x, 3.75));
    ig_value *p = ig_math_poly(b, u, erfc_terms, IG_COUNT_OF(erfc_terms));
    ig_value *scale = with_number(b, IG_OP_add, k_add(b, x, x), 1);
    ig_value *square = k_mul(b, x, x);
    ig_value *lost = lost_of_square(b, x, square);
    ig_value *decay = ig_math_exp_sum(b, ig_math_neg(b, square), ig_math_neg(b, lost));
    return k_binary(b, IG_OP_div, k_mul(b, decay, p), scale);
}

ig_value *ig_math_erfc(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *far = far_erfc(b, size);
    ig_value *is_below = ig_math_is(b, IG_OP_lt, x, 0);
    far = k_where(b, is_below, k_sub(b, constant_like(b, x, 2), far), far);
    ig_value *near = k_sub(b, constant_like(b, x, 1), ig_math_erf(b, x));
    ig_value *is_far = ig_math_is(b, IG_OP_gt, size, 0.48);
    return k_where(b, is_far, far, near); /* near: of NaN, too */
}

/* ---- erfinv ---- */

/* y less e / (1 + y e), where e = (erf(y) - x) / erf'(y). */
static ig_value *halley_step(ig_builder *b, ig_value *x, ig_value *rest, ig_value *y) {
    ig_value *near = k_sub(b, ig_math_erf(b, y), x);
    ig_value *far = k_sub(b, rest, ig_math_erfc(b, y));
    ig_value *off = k_where(b, ig_math_is(b, IG_OP_lt, x, 0.5), near, far);
    ig_value *growth = ig_math_exp(b, k_mul(b, y, y));
    ig_value *e = k_mul(b, with_number(b, IG_OP_mul, off, 0.886226925452758013649),
                        growth);
    ig_value *divisor = with_number(b, IG_OP_add, k_mul(b, y, e), 1);
    return k_sub(b, y, k_binary(b, IG_OP_div, e, divisor));
}

ig_value *ig_math_erfinv(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *one = constant_like(b, x, 1);
    ig_value *held = with_number(b, IG_OP_min, size, 1 - 0x1p-53);
    ig_value *rest = k_sub(b, one, held);
    ig_value *near = k_mul(b, held,
                           k_muladd(b, k_mul(b, held, held),
                                    constant_like(b, x, 0.2320137),
                                    constant_like(b, x, 0.886227)));
    ig_value *l = ig_math_log(b, k_mul(b, rest, with_number(b, IG_OP_add, held, 1)));
    ig_value *a = with_number(b, IG_OP_add, with_number(b, IG_OP_mul, l, 0.5),
                              2 / (PI * 0.147));
    ig_value *inner = k_sub(b, k_mul(b, a, a), with_number(b, IG_OP_div, l, 0.147));
    ig_value *far = k_unary(b, IG_OP_sqrt, k_sub(b, k_unary(b, IG_OP_sqrt, inner), a));
    ig_value *y = k_where(b, ig_math_is(b, IG_OP_lt, held, 0.5), near, far);
    for (int i = 0; i < 3; i++) {
        y = halley_step(b, held, rest, y);
    }
    y = k_where(b, ig_math_is(b, IG_OP_eq, size, 1), constant_like(b, x, INF), y);
    ig_value *is_inside = ig_math_is(b, IG_OP_le, size, 1);
    y = k_where(b, is_inside, y, constant_like(b, x, (double)NAN));
    return ig_math_with_sign(b, y, x);
}

/* ---- gamma ---- */

/* Bernoulli numbers of even order over 2 k (2 k - 1), and over 2 k. */
static const double stirling[] = {
    1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
    1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400,
};
static const double psi_terms[] = {
    1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
    1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160,
};

/* x for x >= 8, else x + 8; *is_moved says which. */
static ig_value *moved_up(ig_builder *b, ig_value *x, ig_value **is_moved) {
    *is_moved = ig_math_is(b, IG_OP_lt, x, 8);
    return k_where(b, *is_moved, with_number(b, IG_OP_add, x, 8), x);
}

static ig_value *lgamma_above(ig_builder *b, ig_value *x) {
    ig_value *is_moved, *y = moved_up(b, x, &is_moved), *product = x;
    for (int k = 1; k < 8; k++) {
        product = k_mul(b, product, with_number(b, IG_OP_add, x, k));
    }
    ig_value *inverse = ig_math_recip(b, y);
    ig_value *series = ig_math_poly(b, k_mul(b, inverse, inverse), stirling,
                                    IG_COUNT_OF(stirling));
    ig_value *rest = k_muladd(b, series, inverse,
                              constant_like(b, x, 0.918938533204672741780));
    ig_value *log_y = ig_math_log(b, y);
    ig_value *large = k_mul(b, with_number(b, IG_OP_sub, y, 0.5),
                            with_number(b, IG_OP_sub, log_y, 1));
    large = k_add(b, large, with_number(b, IG_OP_sub, rest, 0.5));
    ig_value *back = k_where(b, is_moved, product, constant_like(b, x, 1));
    return k_sub(b, large, ig_math_log(b, back));
}

/* pi (x - its nearest integer) */
static ig_value *half_turns(ig_builder *b, ig_value *x) {
    return with_number(b, IG_OP_mul, k_sub(b, x, k_unary(b, IG_OP_round, x)), PI);
}

ig_value *ig_math_lgamma(ig_builder *b, ig_value *x) {
    ig_value *is_low = ig_math_is(b, IG_OP_lt, x, 0.5);
    ig_value *other = k_sub(b, constant_like(b, x, 1), x);
    ig_value *above = lgamma_above(b, k_where(b, is_low, other, x));
    ig_value *sine = ig_math_abs(b, ig_math_sin(b, half_turns(b, x)));
    ig_value *ratio = k_binary(b, IG_OP_div, constant_like(b, x, PI), sine);
    ig_value *low = k_sub(b, ig_math_log(b, ratio), above);
    ig_value *value = k_where(b, is_low, low, above);
    ig_value *is_pole = k_binary(b, IG_OP_and, ig_math_is(b, IG_OP_le, x, 0),
                                 ig_math_is(b, IG_OP_eq, sine, 0));
    ig_value *is_infinite = ig_math_is(b, IG_OP_eq, ig_math_abs(b, x), INF);
    ig_value *is_end = k_binary(b, IG_OP_or, is_pole, is_infinite);
    return k_where(b, is_end, constant_like(b, x, INF), value);
}

static ig_value *digamma_above(ig_builder *b, ig_value *x) {
    ig_value *is_moved, *y = moved_up(b, x, &is_moved), *sum = ig_math_recip(b, x);
    for (int k = 1; k < 8; k++) {
        sum = k_add(b, sum, ig_math_recip(b, with_number(b, IG_OP_add, x, k)));
    }
    ig_value *inverse = ig_math_recip(b, y), *square = k_mul(b, inverse, inverse);
    ig_value *series = ig_math_poly(b, square, psi_terms, IG_COUNT_OF(psi_terms));
    ig_value *tail = k_muladd(b, series, square,
                              with_number(b, IG_OP_mul, inverse, 0.5));
    ig_value *large = k_sub(b, ig_math_log(b, y), tail);
    return k_where(b, is_moved, k_sub(b, large, sum), large);
}

/* At 0 the infinity with the sign of -x; at negative integers no number. */
ig_value *ig_math_digamma(ig_builder *b, ig_value *x) {
    ig_value *is_low = ig_math_is(b, IG_OP_lt, x, 0.5);
    ig_value *other = k_sub(b, constant_like(b, x, 1), x);
    ig_value *above = digamma_above(b, k_where(b, is_low, other, x));
    ig_value *angle = half_turns(b, x);
    ig_value *tangent = k_binary(b, IG_OP_div, ig_math_sin(b, angle),
                                 ig_math_cos(b, angle));
    ig_value *turn = k_binary(b, IG_OP_div, constant_like(b, x, PI), tangent);
    ig_value *value = k_where(b, is_low, k_sub(b, above, turn), above);
    ig_value *is_pole = k_binary(b, IG_OP_and, ig_math_is(b, IG_OP_lt, x, 0),
                                 ig_math_is(b, IG_OP_eq, angle, 0));
    value = k_where(b, is_pole, constant_like(b, x, (double)NAN), value);
    ig_value *at_zero = ig_math_with_sign(b, constant_like(b, x, INF),
                                          ig_math_neg(b, x));
    return k_where(b, ig_math_is(b, IG_OP_eq, x, 0), at_zero, value);
}
