/* Reverse mode: gradients of a model's results, as ops of the same graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x: f32[B, 4], %w: f32[4]) { %0 = mul %x, %w  %1 = exp %0 ret %1 }
 *   becomes, for the gradient of the sum of its result by w,
 *     %2 = mul %g, %1            %g: ones      the rule of exp: y times that of y
 *     %3 = mul %2, %x                          the rule of mul
 *     %4 = reduce %3 {axes = [0]}              w was broadcast along B
 *
 * The column `grad` of ops.def names a rule for each op (rule.h).  One walk over the
 * ops that y needs, last one first, hands each op the gradients of its results; the
 * rule adds gradients to those of its operands that depend on wanted values, and to no
 * others.  Composites without a rule of their own are taken apart first.
 * docs/training.md says which ops have a rule, and its value at kinks.
 */
#ifndef IG_PASSES_GRAD_GRAD_H
#define IG_PASSES_GRAD_GRAD_H

#include "ir/build/gradient.h"
#include "passes/engine/pass.h"

typedef struct ig_gradient_of {
    ig_value *y;    /* floats; made in the graph's own block */
    ig_value *seed; /* the gradient of y, of its type; NULL: ones, so that of its sum */
    /* By what: float arguments of the graph, or results of ops of its block that are no
     * composites. */
    ig_value *const *wanted;
    uint32_t wanted_count;
} ig_gradient_of;

/* Builds the gradients at the builder's position, after y in the graph's own block.
 * out[i] is of the type of wanted[i]; zeros where y does not depend on it.  Guards go
 * in front of the ops that they are for.  IG_UNSUPPORTED, naming node and op, where an
 * op in between has no gradient. */
ig_status ig_gradients(ig_builder *builder, const ig_gradient_of *what, ig_value **out);

/* The same of what y would be if the xs were the points: values between them are made
 * again, and the graph itself is left alone. */
ig_gradient_builder ig_gradients_at;

#endif
