/* erf.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     |x| < 0.92   x + x P(x^2)
 *     else         1 - exp(Q(|x|)),  Q = log erfc: nearly a parabola, and its error is
 *                  multiplied by erfc, which is small here
 *
 * Both are minimax polynomials; Q is one of |x| - 1, whose terms are small where erfc
 * is not.
 */
#include "passes/lower/math/math.h"

/* erf(s) / s - 1 over s^2, |s| <= 0.9285; to 5e-10 and 2e-20. */
static const double near_f32[] = {
    0.1283791667,   -0.3761263379,   0.112836954,    -0.02685935221,
    0.005200837021, -0.000813973892, 8.354937121e-5,
};
static const double near_f64[] = {
    0.128379167095512574,     -0.376126389031837517,    0.112837916709550756,
    -0.0268661706451183864,   0.00522397762527074402,   -0.000854832700984758219,
    0.000120553322884214284,  -1.49256266463377519e-05, 1.64615581543743761e-06,
    -1.63568545965187198e-07, 1.47084225475025479e-08,  -1.15806248124521505e-09,
    6.34542835402640982e-11,
};

/* log erfc(t) over t - 1, for t in [0.92, 4.05] and [0.92, 6]; to 5e-11 and 3e-18. */
static const double far_f32[] = {
    -1.84960551,   -2.638967507,    -0.8431072974,   -0.0415620845,
    0.01004272442, -0.002007282882, 0.0002867969098, -2.109496144e-05,
};
static const double far_f64[] = {
    -1.8496055099332482,    -2.638967514234791,      -0.8431072563584874,
    -0.04156109804678047,   0.010033825436252261,    -0.001977903006643852,
    0.00023732445045168284, 2.6271915719123145e-05,  -2.7146431657944788e-05,
    9.589403635011786e-06,  -2.0377338091561625e-06, 1.2439253161313937e-07,
    1.0906839890700045e-07, -5.734255850440256e-08,  1.6686890982304434e-08,
    -3.283014756271792e-09, 4.341867232429047e-10,   -3.501531207353064e-11,
    1.3020686689879034e-12,
};

static ig_value *far_exponent(ig_builder *b, ig_value *size, bool is_double) {
    ig_value *held = ig_math_with(b, IG_OP_min, size, is_double ? 6 : 4.05);
    ig_value *u = ig_math_with(b, IG_OP_sub, held, 1);
    return is_double ? ig_math_poly(b, u, far_f64, IG_COUNT_OF(far_f64))
                     : ig_math_poly(b, u, far_f32, IG_COUNT_OF(far_f32));
}

/* f32: 1.1 ulp; f64: 1.1. */
ig_value *ig_math_erf(ig_builder *b, ig_value *x) {
    bool is_double = x->type->dtype == IG_DT_f64;
    ig_value *size = ig_math_abs(b, x), *square = k_mul(b, x, x);
    ig_value *p = is_double ? ig_math_poly(b, square, near_f64, IG_COUNT_OF(near_f64))
                            : ig_math_poly(b, square, near_f32, IG_COUNT_OF(near_f32));
    ig_value *near = k_muladd(b, size, p, size);
    ig_value *decay = ig_math_decay(b, far_exponent(b, size, is_double));
    ig_value *far = k_sub(b, ig_math_const(b, x, 1), decay);
    ig_value *is_near = ig_math_is(b, IG_OP_lt, size, 0.92);
    return ig_math_with_sign(b, k_where(b, is_near, near, far), x);
}
