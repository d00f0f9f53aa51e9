/* The two halves of channels_last: convolutions, and what transposes go through.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_CHANNELS_H
#define IG_PASSES_PLACE_CHANNELS_H

#include "ir/build/expr.h"
#include "passes/engine/rewrite.h"

/* x [N, C, s…] with its channels last, and back. */
ig_value *ig_channels_to_last(ig_expr *e, ig_value *x);
ig_value *ig_channels_to_first(ig_expr *e, ig_value *x);
/* `y`, whose channels are last, in place of the op's result; the op goes. */
void ig_channels_replace(ig_pass_run *run, ig_expr *e, ig_op *op, ig_value *y);

/* channels_bytes.c: a conv_integer in groups becomes conv_quads; false for others. */
bool ig_channels_convert_bytes(ig_pass_run *run, ig_op *op);

/* channels_winograd.c: may and should the convolution be conv_winograd?  Its weights
 * [O, C, 3, 3], constants, transformed to [O, C, 4, 4]. */
bool ig_channels_takes_winograd(const ig_pass_run *run, const ig_op *conv);
ig_value *ig_channels_winograd_weights(ig_expr *e, ig_value *w);

/* channels_sink.c: ops on values that were brought back work on those with channels
 * last. */
extern const ig_rule ig_channels_rules[];
extern const size_t ig_channels_rule_count;

#endif
