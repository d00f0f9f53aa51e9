/* Reduction of large angles, for sin and cos.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_MATH_LARGE_H
#define IG_PASSES_LOWER_MATH_LARGE_H

#include "passes/lower/kernel/kernel.h"

/* x = n pi/2 + r + low */
typedef struct ig_math_angle {
    ig_value *r, *low; /* f64; |r| <= pi/4 and low is what r rounded away */
    ig_value *n;       /* i64; its low two bits count */
} ig_math_angle;

/* `x` is f64, of magnitude 2^20 or more (and, when `is_single`, below 2^128); for other
 * values, infinities and NaN among them, the result is some number. */
ig_math_angle ig_math_reduce_large(ig_builder *b, ig_value *x, bool is_single);

#endif
