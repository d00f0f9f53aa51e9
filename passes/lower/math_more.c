/* Functions made of exp, log, sine and cosine; and the arc tangent with its relatives.
 * SPDX-License-Identifier: Apache-2.0
 *
 * expm1 uses Kahan's form: with u = exp(x) rounded, (u - 1) * x / log(u) is right to a
 * few places because the error of u enters twice and cancels; sinh and atanh follow.
 *
 * atan is reduced by atan(x) = pi / 2 - atan(1 / x) above 1 and, above tan(pi / 8), by
 * pi / 4 + atan((x - 1) / (x + 1)); then a short odd series, or for f64 a quotient of
 * polynomials (the well-known coefficients of Cephes).
 *
 * erfc is 1 - erf: right to a place of 1, not of itself, where it is small.
 */
#include "passes/lower/math.h"
#include "passes/lower/lower.h"

static ig_value *pick(ig_builder *b, ig_opcode compare, ig_value *x, double bound,
                      ig_value *then, ig_value *other) {
    return k_where(b, ig_math_is(b, compare, x, bound), then, other);
}

static ig_value *divide(ig_builder *b, ig_value *x, ig_value *y) {
    return k_binary(b, IG_OP_div, x, y);
}

/* ---- exponentials ---- */

ig_value *ig_math_expm1(ig_builder *b, ig_value *x) {
    ig_value *u = ig_math_exp(b, x);
    ig_value *less = ig_math_with(b, IG_OP_sub, u, 1);
    ig_value *mended = k_mul(b, less, divide(b, x, ig_math_log(b, u)));
    ig_value *far = pick(b, IG_OP_gt, ig_math_abs(b, x), 1, less, mended);
    return pick(b, IG_OP_eq, u, 1, x, far);
}

/* exp(x ln 2), the product in two parts. */
ig_value *ig_math_exp2(ig_builder *b, ig_value *x) {
    bool      is_double = x->type->dtype == IG_DT_f64;
    ig_value *held = ig_math_with(b, IG_OP_min, x, is_double ? 1100 : 200);
    held = ig_math_with(b, IG_OP_max, held, is_double ? -1100 : -200);
    ig_value *ln2 = ig_math_const(b, x, 0.6931471805599453);
    ig_value *high = k_mul(b, held, ln2);
    ig_value *low = k_muladd(b, held, ln2, ig_math_neg(b, high));
    return ig_math_exp_sum(b, high, low);
}

ig_value *ig_math_log2(ig_builder *b, ig_value *x) {
    return ig_math_with(b, IG_OP_mul, ig_math_log(b, x), 1.4426950408889634);
}

ig_value *ig_math_log10(ig_builder *b, ig_value *x) {
    return ig_math_with(b, IG_OP_mul, ig_math_log(b, x), 0.4342944819032518);
}

ig_value *ig_math_erfc(ig_builder *b, ig_value *x) {
    return k_sub(b, ig_math_const(b, x, 1), ig_math_erf(b, x));
}

/* ---- hyperbolic ---- */

/* exp is halved before it can overflow. */
static ig_value *half_exp(ig_builder *b, ig_value *size) {
    ig_value *root = ig_math_exp(b, ig_math_with(b, IG_OP_mul, size, 0.5));
    return k_mul(b, ig_math_with(b, IG_OP_mul, root, 0.5), root);
}

ig_value *ig_math_sinh(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *t = ig_math_expm1(b, size);
    ig_value *below = divide(b, t, ig_math_with(b, IG_OP_add, t, 1));
    ig_value *near = ig_math_with(b, IG_OP_mul, k_add(b, t, below), 0.5);
    ig_value *y = pick(b, IG_OP_gt, size, 20, half_exp(b, size), near);
    return ig_math_with_sign(b, y, x);
}

ig_value *ig_math_cosh(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *t = ig_math_exp(b, size);
    ig_value *both = k_add(b, t, ig_math_recip(b, t));
    ig_value *near = ig_math_with(b, IG_OP_mul, both, 0.5);
    return pick(b, IG_OP_gt, size, 20, half_exp(b, size), near);
}

/* log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))); log(2 |x|) where x^2 would overflow. */
ig_value *ig_math_asinh(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x);
    ig_value *held = ig_math_with(b, IG_OP_min, size, 1e9);
    ig_value *square = k_mul(b, held, held);
    ig_value *root = k_unary(b, IG_OP_sqrt, ig_math_with(b, IG_OP_add, square, 1));
    ig_value *more = divide(b, square, ig_math_with(b, IG_OP_add, root, 1));
    ig_value *near = ig_math_log1p(b, k_add(b, held, more));
    ig_value *far = ig_math_with(b, IG_OP_add, ig_math_log(b, size),
                                 0.6931471805599453);
    return ig_math_with_sign(b, pick(b, IG_OP_gt, size, 1e8, far, near), x);
}

/* log1p(t + sqrt(2 t + t^2)), t = x - 1 */
ig_value *ig_math_acosh(ig_builder *b, ig_value *x) {
    ig_value *t = ig_math_with(b, IG_OP_sub, x, 1);
    ig_value *held = ig_math_with(b, IG_OP_min, t, 1e9);
    ig_value *inner = k_mul(b, held, ig_math_with(b, IG_OP_add, held, 2));
    ig_value *near = ig_math_log1p(b, k_add(b, held, k_unary(b, IG_OP_sqrt, inner)));
    ig_value *far = ig_math_with(b, IG_OP_add, ig_math_log(b, x), 0.6931471805599453);
    return pick(b, IG_OP_gt, x, 1e8, far, near);
}

ig_value *ig_math_atanh(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *one = ig_math_const(b, x, 1);
    ig_value *part = divide(b, k_add(b, size, size), k_sub(b, one, size));
    ig_value *y = ig_math_with(b, IG_OP_mul, ig_math_log1p(b, part), 0.5);
    return ig_math_with_sign(b, y, x);
}

/* ---- trigonometric ---- */

ig_value *ig_math_tan(ig_builder *b, ig_value *x) {
    ig_value *sine = ig_math_sin(b, x);
    return divide(b, sine, ig_math_cos(b, x));
}

/* (atan(x) / x - 1) / x^2 over x^2 */
static const double atan_f32[] = { -3.33329491539e-1, 1.99777106478e-1,
                                   -1.38776856032e-1, 8.05374449538e-2 };
static const double atan_top[] = {
    -6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
    -1.615753718733365076637e1, -8.750608600031904122785e-1
};
static const double atan_bottom[] = {
    1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
    1.650270098316988542046e2, 2.485846490142306297962e1, 1.0
};

static ig_value *small_atan(ig_builder *b, ig_value *x) {
    ig_value *square = k_mul(b, x, x), *p;
    if (x->type->dtype == IG_DT_f64) {
        ig_value *top = ig_math_poly(b, square, atan_top, IG_COUNT_OF(atan_top));
        ig_value *bottom = ig_math_poly(b, square, atan_bottom,
                                        IG_COUNT_OF(atan_bottom));
        p = divide(b, top, bottom);
    } else {
        p = ig_math_poly(b, square, atan_f32, IG_COUNT_OF(atan_f32));
    }
    return k_muladd(b, k_mul(b, square, x), p, x);
}

ig_value *ig_math_atan(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *one = ig_math_const(b, x, 1);
    ig_value *less = k_sub(b, size, one), *more = k_add(b, size, one);
    ig_value *is_large = ig_math_is(b, IG_OP_gt, size, 2.414213562373095);
    ig_value *is_middle = ig_math_is(b, IG_OP_gt, size, 0.4142135623730950);
    ig_value *far = ig_math_neg(b, ig_math_recip(b, size));
    ig_value *near = k_where(b, is_middle, divide(b, less, more), size);
    ig_value *rest = small_atan(b, k_where(b, is_large, far, near));
    ig_value *zero = ig_math_const(b, x, 0);
    ig_value *quarter = ig_math_const(b, x, 0.7853981633974483);
    ig_value *base = k_where(b, is_middle, quarter, zero);
    base = k_where(b, is_large, ig_math_const(b, x, 1.5707963267948966), base);
    return ig_math_with_sign(b, k_add(b, base, rest), x);
}

/* The quadrant is put right after atan(|y / x|). */
ig_value *ig_math_atan2(ig_builder *b, ig_value *y, ig_value *x) {
    ig_value *across = ig_math_abs(b, x), *up = ig_math_abs(b, y);
    ig_value *is_same = k_compare(b, IG_OP_eq, across, up);
    ig_value *ratio = k_where(b, is_same, ig_math_const(b, x, 1),
                              divide(b, up, across));
    ig_value *is_none = k_binary(b, IG_OP_and, is_same, ig_math_is(b, IG_OP_eq, up, 0));
    ratio = k_where(b, is_none, ig_math_const(b, x, 0), ratio);
    ig_value *angle = ig_math_atan(b, ratio);
    ig_value *mirrored = k_sub(b, ig_math_const(b, x, 3.141592653589793), angle);
    ig_value *sign = ig_math_with_sign(b, ig_math_const(b, x, 1), x);
    ig_value *result = k_where(b, ig_math_is(b, IG_OP_lt, sign, 0), mirrored, angle);
    ig_value *is_nan = k_binary(b, IG_OP_or, k_compare(b, IG_OP_ne, x, x),
                                k_compare(b, IG_OP_ne, y, y));
    result = ig_math_with_sign(b, result, y);
    return k_where(b, is_nan, k_add(b, x, y), result);
}

/* atan(x / sqrt((1 - x) (1 + x))) */
ig_value *ig_math_asin(ig_builder *b, ig_value *x) {
    ig_value *one = ig_math_const(b, x, 1);
    ig_value *inner = k_mul(b, k_sub(b, one, x), k_add(b, one, x));
    return ig_math_atan2(b, x, k_unary(b, IG_OP_sqrt, inner));
}

ig_value *ig_math_acos(ig_builder *b, ig_value *x) {
    ig_value *one = ig_math_const(b, x, 1);
    ig_value *inner = k_mul(b, k_sub(b, one, x), k_add(b, one, x));
    return ig_math_atan2(b, k_unary(b, IG_OP_sqrt, inner), x);
}

/* ---- gelu ---- */

ig_value *ig_math_gelu(ig_builder *b, ig_value *x, bool by_tanh) {
    ig_value *gate;
    if (by_tanh) {
        ig_value *cube = k_mul(b, k_mul(b, x, x), x);
        ig_value *inner = k_add(b, x, ig_math_with(b, IG_OP_mul, cube, 0.044715));
        inner = ig_math_with(b, IG_OP_mul, inner, 0.79788456080286535588);
        gate = ig_math_tanh(b, inner);
    } else {
        gate = ig_math_erf(b, ig_math_with(b, IG_OP_mul, x, 0.70710678118654752440));
    }
    ig_value *half = ig_math_with(b, IG_OP_mul, x, 0.5);
    return k_mul(b, half, ig_math_with(b, IG_OP_add, gate, 1));
}
