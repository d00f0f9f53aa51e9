/* Composites and what their expansions share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The `expand` column of ops.def names a function that rewrites the op into others; a
 * target that has no kernel for it gets those.  Forms of conv and pool that kernels do
 * not have are rewritten too (expand_window.c).
 */
#ifndef IG_COMPOSE_COMPOSE_H
#define IG_COMPOSE_COMPOSE_H

#include "passes/engine/rewrite.h"

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           lower, attrs)                                                            \
    ig_value *ig_expand_##expand(ig_builder *b, ig_op *op);
#include "ir/ops.def"
#undef OP

ig_value *ig_expand_conv_form(ig_builder *b, ig_op *op);
ig_value *ig_expand_pool_form(ig_builder *b, ig_op *op);

/* ---- shared ---- */

/* `x` op a number of x's dtype. */
ig_value *ig_expand_with(ig_builder *b, ig_opcode code, ig_value *x, double number);
/* f16 and bf16 as f32, others as they are. */
ig_value *ig_expand_widen(ig_builder *b, ig_value *x);
/* Reduced over the axes from `first` to `last`, which stay as 1. */
ig_value *ig_expand_reduce(ig_builder *b, ig_reduce op, ig_value *x, uint32_t first,
                           uint32_t last);
ig_value *ig_expand_broadcast(ig_builder *b, ig_value *x, uint32_t rank,
                              const ig_dim *dims); /* numpy's broadcast_to */
/* A vector as the extent of `axis` in `rank` axes, the others 1. */
ig_value *ig_expand_along(ig_builder *b, ig_value *x, uint32_t axis, uint32_t rank);
/* i64 0 … extent - 1 */
ig_value *ig_expand_range(ig_builder *b, ig_dim extent);
ig_value *ig_expand_gather(ig_builder *b, ig_value *x, ig_value *ids, uint32_t axis);
ig_value *ig_expand_transpose(ig_builder *b, ig_value *x, const int64_t *perm);
ig_value *ig_expand_matmul(ig_builder *b, ig_value *x, ig_value *y, bool transposes_y);

#endif
