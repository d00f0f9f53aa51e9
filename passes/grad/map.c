/* Rules of elementwise ops of one operand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * At kinks: abs and sign 0 at 0, relu 0 at 0, as torch has them; rounding is flat. */
#include "passes/grad/rule.h"

/* dx = formula, of dy, the operand x and the result y. */
#define RULE(name, formula)                                            \
    void ig_grad_##name(ig_grad *g) {                                  \
        ig_expr *e = g->e;                                             \
        ig_value *dy = g->dy, *x = ig_grad_x(g, 0), *y = ig_grad_y(g); \
        (void)x, (void)y;                                              \
        ig_grad_give(g, 0, formula);                                   \
    }

static ig_value *times_number(ig_expr *e, ig_value *a, double number) {
    return ig_expr_with(e, IG_OP_mul, a, number);
}

static ig_value *square_of(ig_expr *e, ig_value *a) {
    return ig_build_mul(e, a, a);
}

/* number + a, number - a */
static ig_value *number_plus(ig_expr *e, double number, ig_value *a) {
    return ig_expr_number_with(e, IG_OP_add, number, a);
}

static ig_value *number_minus(ig_expr *e, double number, ig_value *a) {
    return ig_expr_number_with(e, IG_OP_sub, number, a);
}

#define LN2 0.693147180559945309417232121458
#define LN10 2.302585092994045684017991454684
#define TWO_OVER_SQRT_PI 1.128379167095512573896158903122
#define HALF_SQRT_PI 0.886226925452758013649083741671

RULE(neg, ig_build_neg(e, dy))
RULE(abs, ig_build_mul(e, dy, ig_build_sign(e, x)))
RULE(sqrt, times_number(e, ig_build_div(e, dy, y), 0.5))
RULE(rsqrt, times_number(e, ig_build_mul(e, dy, ig_build_div(e, y, x)), -0.5))
RULE(recip, ig_build_neg(e, ig_build_mul(e, dy, square_of(e, y))))
RULE(exp, ig_build_mul(e, dy, y))
RULE(log, ig_build_div(e, dy, x))
RULE(log1p, ig_build_div(e, dy, number_plus(e, 1, x)))
RULE(sin, ig_build_mul(e, dy, ig_build_cos(e, x)))
RULE(cos, ig_build_neg(e, ig_build_mul(e, dy, ig_build_sin(e, x))))
RULE(tanh, ig_build_mul(e, dy, number_minus(e, 1, square_of(e, y))))
RULE(tan, ig_build_mul(e, dy, number_plus(e, 1, square_of(e, y))))
RULE(asin, ig_build_mul(e, dy, ig_build_rsqrt(e, number_minus(e, 1, square_of(e, x)))))
RULE(acos,
     ig_build_neg(e,
                  ig_build_mul(e, dy,
                               ig_build_rsqrt(e, number_minus(e, 1, square_of(e, x))))))
RULE(atan, ig_build_div(e, dy, number_plus(e, 1, square_of(e, x))))
RULE(sinh, ig_build_mul(e, dy, ig_build_cosh(e, x)))
RULE(cosh, ig_build_mul(e, dy, ig_build_sinh(e, x)))
RULE(asinh, ig_build_mul(e, dy, ig_build_rsqrt(e, number_plus(e, 1, square_of(e, x)))))
RULE(acosh, ig_build_mul(e, dy, ig_build_rsqrt(e, number_plus(e, -1, square_of(e, x)))))
RULE(atanh, ig_build_div(e, dy, number_minus(e, 1, square_of(e, x))))
RULE(expm1, ig_build_mul(e, dy, number_plus(e, 1, y)))
RULE(exp2, times_number(e, ig_build_mul(e, dy, y), LN2))
RULE(log2, times_number(e, ig_build_div(e, dy, x), 1 / LN2))
RULE(log10, times_number(e, ig_build_div(e, dy, x), 1 / LN10))
/* exp(-x^2) */
static ig_value *bell(ig_expr *e, ig_value *x) {
    return ig_build_exp(e, ig_build_neg(e, square_of(e, x)));
}
RULE(erf, times_number(e, ig_build_mul(e, dy, bell(e, x)), TWO_OVER_SQRT_PI))
RULE(erfc, times_number(e, ig_build_mul(e, dy, bell(e, x)), -TWO_OVER_SQRT_PI))
RULE(erfinv, times_number(e, ig_build_mul(e, dy, ig_build_exp(e, square_of(e, y))),
                          HALF_SQRT_PI))
RULE(lgamma, ig_build_mul(e, dy, ig_build_digamma(e, x)))
RULE(sigmoid, ig_build_mul(e, dy, ig_build_mul(e, y, number_minus(e, 1, y))))
RULE(relu, ig_grad_unless(e, ig_expr_with(e, IG_OP_le, y, 0), dy))
RULE(softplus, ig_build_mul(e, dy, ig_build_sigmoid(e, x)))
RULE(cast, ig_expr_like(e, dy, x))

/* Steps are flat. */
void ig_grad_flat(ig_grad *g) {
    (void)g;
}

/* The slope of digamma, of 10 and more: 1/z + 1/(2 z^2) + the sum of B_2k / z^(2k + 1),
 * by the Bernoulli numbers (Abramowitz, Stegun 6.4.12). */
static ig_value *trigamma_far(ig_expr *e, ig_value *z) {
    static const double numbers[] = { 7.0 / 6,  -691.0 / 2730, 5.0 / 66, -1.0 / 30,
                                      1.0 / 42, -1.0 / 30,     1.0 / 6 };
    ig_value *r = ig_build_recip(e, z);
    ig_value *rr = square_of(e, r);
    ig_value *sum = times_number(e, rr, numbers[0]);
    for (size_t i = 1; i < IG_COUNT_OF(numbers); i++) {
        sum = ig_build_mul(e, ig_expr_with(e, IG_OP_add, sum, numbers[i]), rr);
    }
    sum = ig_expr_with(e, IG_OP_add, sum, 1);
    return ig_build_mul(e, r, ig_build_add(e, sum, times_number(e, r, 0.5)));
}

/* Below 10 by steps of 1, each 1 / z^2 more; below 1/2 by reflection: the slopes at x
 * and 1 - x are (pi / sin(pi x))^2 together. */
void ig_grad_digamma(ig_grad *g) {
    static const double pi = 3.14159265358979323846;
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0);
    ig_value *is_low = ig_expr_with(e, IG_OP_lt, x, 0.5);
    ig_value *z = ig_build_where(e, is_low, number_minus(e, 1, x), x);
    ig_value *sum = trigamma_far(e, number_plus(e, 10, z));
    for (int i = 0; i < 10; i++) {
        ig_value *step = square_of(e, ig_build_recip(e, number_plus(e, i, z)));
        sum = ig_build_add(e, sum, step);
    }
    ig_value *sine = ig_build_sin(e, times_number(e, x, pi));
    ig_value *both = square_of(e, ig_expr_number_with(e, IG_OP_div, pi, sine));
    sum = ig_build_where(e, is_low, ig_build_sub(e, both, sum), sum);
    ig_grad_give(g, 0, ig_build_mul(e, g->dy, sum));
}

/* The slope of x / 2 (1 + erf(x / sqrt 2)): half of that bracket, and x times the
 * normal density. */
static ig_value *gelu_slope(ig_expr *e, ig_value *x) {
    ig_value *share = ig_build_erf(e, times_number(e, x, 0.70710678118654752440));
    ig_value *density = ig_build_exp(e, times_number(e, square_of(e, x), -0.5));
    density = times_number(e, ig_build_mul(e, x, density), 0.39894228040143267794);
    return ig_build_add(e, times_number(e, number_plus(e, 1, share), 0.5), density);
}

/* Of x / 2 (1 + t), t = tanh(u), u = c (x + 0.044715 x^3). */
static ig_value *gelu_tanh_slope(ig_expr *e, ig_value *x) {
    static const double c = 0.79788456080286535588, k = 0.044715;
    ig_value *xx = square_of(e, x);
    ig_value *u = times_number(
        e, ig_build_mul(e, x, number_plus(e, 1, times_number(e, xx, k))), c);
    ig_value *t = ig_build_tanh(e, u);
    ig_value *du = times_number(e, number_plus(e, 1, times_number(e, xx, 3 * k)), c);
    ig_value *dt = ig_build_mul(e, number_minus(e, 1, square_of(e, t)), du);
    ig_value *left = times_number(e, number_plus(e, 1, t), 0.5);
    return ig_build_add(e, left, times_number(e, ig_build_mul(e, x, dt), 0.5));
}

void ig_grad_gelu(ig_grad *g) {
    ig_value *x = ig_grad_x(g, 0);
    ig_value *slope = ig_attr_int(g->op, IG_gelu_tanh, 0) ? gelu_tanh_slope(g->e, x)
                                                          : gelu_slope(g->e, x);
    ig_grad_give(g, 0, ig_build_mul(g->e, g->dy, slope));
}
