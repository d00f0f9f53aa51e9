/* erf.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     |x| < 0.92   x + x P(x^2)
 *     else         1 - exp(-Q(|x|)),  Q = -log erfc: nearly a parabola, and its error
 *                  is multiplied by erfc, which is small here
 *
 * Both are minimax polynomials; in f64 Q is one of |x| - 2.5, to keep its terms small.
 */
#include "passes/lower/math.h"

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

/* -log erfc(t) on [0.92, 4.05], and over t - 2.5 on [0.92, 6]; to 2e-9 and 3e-18. */
static const double far_f32[] = {
    0.000195678852, 1.12767561,    0.637182279,      0.1039315644,
    -0.02222690225, 0.00304321219, -0.0001959366322,
};
static const double far_f64[] = {
    7.80681527272726998,      5.35268075098644776,      0.943893733523903923,
    0.010858072736030607,     -0.00216547690159647909,  0.000420932577239875783,
    -7.70307687894571e-05,    1.27558276392561443e-05,  -1.76908226613637792e-06,
    1.55906136765302046e-07,  1.26955003994196051e-08,  -1.08177626088739265e-08,
    3.5064055573235622e-09,   -9.08900865444641999e-10, 1.39995698520559507e-10,
    -8.6782214502322684e-12,  1.04665953330408102e-11,  -1.40541989142753883e-13,
    -1.30206866898790347e-12,
};

static ig_value *far_exponent(ig_builder *b, ig_value *size) {
    if (size->type->dtype == IG_DT_f32) {
        ig_value *held = ig_math_with(b, IG_OP_min, size, 4.05);
        return ig_math_poly(b, held, far_f32, IG_COUNT_OF(far_f32));
    }
    ig_value *held = ig_math_with(b, IG_OP_min, size, 6);
    ig_value *u = ig_math_with(b, IG_OP_sub, held, 2.5);
    return ig_math_poly(b, u, far_f64, IG_COUNT_OF(far_f64));
}

/* f32: 1.0 ulp; f64: 1.0. */
ig_value *ig_math_erf(ig_builder *b, ig_value *x) {
    bool is_double = x->type->dtype == IG_DT_f64;
    ig_value *size = ig_math_abs(b, x), *square = k_mul(b, x, x);
    ig_value *p = is_double ? ig_math_poly(b, square, near_f64, IG_COUNT_OF(near_f64))
                            : ig_math_poly(b, square, near_f32, IG_COUNT_OF(near_f32));
    ig_value *near = k_muladd(b, size, p, size);
    ig_value *decay = ig_math_exp(b, ig_math_neg(b, far_exponent(b, size)));
    ig_value *far = k_sub(b, ig_math_const(b, x, 1), decay);
    ig_value *is_near = ig_math_is(b, IG_OP_lt, size, 0.92);
    return ig_math_with_sign(b, k_where(b, is_near, near, far), x);
}
