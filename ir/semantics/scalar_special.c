/* erfinv by bisection and Newton's steps; digamma by recurrence and its series; hypot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/scalar_special.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* A start by bisection, which any y brackets, then Newton's steps on the side where the
 * difference is not lost: erf below a half, erfc above. */
static double erfinv_of_size(double x) {
    double low = 0, high = 6, rest = 1 - x, y = 0;
    for (int i = 0; i < 20; i++) {
        y = (low + high) / 2;
        *(erf(y) < x ? &low : &high) = y;
    }
    for (int i = 0; i < 4; i++) {
        double off = x < 0.5 ? erf(y) - x : rest - erfc(y);
        y -= off * sqrt(pi) / 2 * exp(y * y);
    }
    return y;
}

double ig_real_erfinv(double x) {
    double size = fabs(x);
    if (!(size < 1)) {
        return size == 1 ? copysign((double)INFINITY, x) : (double)NAN;
    }
    return copysign(size < 1e-8 ? size * sqrt(pi) / 2 : erfinv_of_size(size), x);
}

double ig_real_digamma(double x) {
    double sum = 0;
    if (x == 0) {
        return copysign((double)INFINITY, -x);
    }
    if (x < 0) {
        double angle = pi * (x - rint(x));
        return angle == 0 ? (double)NAN : ig_real_digamma(1 - x) - pi / tan(angle);
    }
    for (; x < 12; x++) {
        sum -= 1 / x;
    }
    double z = 1 / (x * x);
    double tail =
        z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z / 132))));
    return sum + log(x) - 0.5 / x - tail;
}

/* Source: C. F. Borges, "An Improved Algorithm for hypot(a,b)", 2019: the error of the
 * square root is measured by fused products and taken away.  For 0 < small <= large of
 * exponents that keep all squares in range. */
static double corrected_hypot(double large, double small) {
    double root = sqrt(fma(large, large, small * small));
    double square = root * root, large_square = large * large;
    double error = fma(-small, small, square - large_square) +
                   fma(root, root, -square) - fma(large, large, -large_square);
    return root - error / (2 * root);
}

double ig_real_hypot(double x, double y) {
    double large = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
    if (isinf(x) || isinf(y)) {
        return INFINITY;
    }
    if (isnan(x) || isnan(y)) {
        return NAN;
    }
    if (small <= large * 0x1p-54) {
        return large + small;
    }
    double scale = large > 0x1p500 ? 0x1p600 : small < 0x1p-450 ? 0x1p-600 : 1;
    return scale * corrected_hypot(large / scale, small / scale);
}
