/* Functions that are computed in f64 whatever their operands' dtype.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_MATH_MORE_H
#define IG_PASSES_LOWER_MATH_MORE_H

#include "passes/lower/math/math.h"

bool ig_math_is_in_double(ig_opcode code);
/* Hundreds of kernel ops. */
bool ig_math_is_long(ig_opcode code);
/* The function of one or two f32 or f64 numbers. */
ig_value *ig_math_in_double(ig_builder *b, ig_opcode code, ig_value *const *x);

/* The exact remainder of x / y with the sign of x; where it does not truncate, with
 * the sign of y: the remainder plus y, rounded. */
ig_value *ig_math_mod(ig_builder *b, ig_value *x, ig_value *y, bool truncates);

/* Of f64 alone: */
ig_value *ig_math_erfc(ig_builder *b, ig_value *x);
ig_value *ig_math_erfinv(ig_builder *b, ig_value *x);
ig_value *ig_math_lgamma(ig_builder *b, ig_value *x);
ig_value *ig_math_digamma(ig_builder *b, ig_value *x);

#endif
