/* What recognise_integer asks of products and of convolutions alike.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_RECOGNISE_INTEGER_H
#define IG_PASSES_RECOGNISE_INTEGER_H

#include "ir/build/expr.h"

/* Has x one element? */
bool ig_match_is_number(const ig_op *op, const ig_value *x);
/* The dequantize of bytes to f32 that makes `value`, its zero point of their type; or
 * NULL. */
const ig_op *ig_match_bytes(const ig_value *value);
/* Are all products of a scale of `x` and one of `w` normal numbers?  Both are
 * constants then. */
bool ig_match_normal_products(const ig_value *x, const ig_value *w);
/* Does i32 hold any sum of `depth` products of bytes? */
bool ig_match_fits_sum(const ig_op *op, ig_dim depth);
/* One element as a number, several as a vector; NULL stays. */
ig_value *ig_match_flatten(ig_expr *e, const ig_op *op, ig_value *x);

/* The rule for conv (integer_conv.c). */
ig_value *ig_match_windows(ig_builder *b, ig_op *op);
/* Those of integer_copy.c. */
ig_value *ig_match_bytes_moved(ig_builder *b, ig_op *op);
ig_value *ig_match_maxima(ig_builder *b, ig_op *op);
ig_value *ig_match_quantised_anew(ig_builder *b, ig_op *op);

#endif
