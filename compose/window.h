/* Declarations shared by the formulas of windows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_WINDOW_H
#define IG_COMPOSE_WINDOW_H

#include "ir/build/expr.h"

/* The entry of axis `axis` of space in a list of the op: 0 where a list of dims is
 * absent, 1 where one of integers is. */
ig_dim ig_spatial_dim(const ig_op *op, uint32_t slot, uint32_t axis);
int64_t ig_spatial_int(const ig_op *op, uint32_t slot, uint32_t axis);

/* Pads the axes from 2 on with `value`; x itself where that is nothing. */
ig_value *ig_compose_pad_space(ig_expr *e, ig_value *x, const ig_dim *before,
                               const ig_dim *after, double value);
/* The convolution `op` over padded x, not transposed, with its own strides or none. */
ig_value *ig_compose_plain_conv(ig_expr *e, const ig_op *op, ig_value *x, ig_value *w,
                                bool has_strides);
/* A transposed convolution as plain ones (conv_transposed.c); NULL: it has too many
 * axes. */
ig_value *ig_compose_untransposed_conv(ig_expr *e, const ig_op *op);

#endif
