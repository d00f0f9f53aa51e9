/* Rewriting: rules that replace an op by something better, and one driver for all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule is a function.  It matches downward from its root op, leaves early, and
 * returns the replacement of the op's first result:
 *
 *     // relu(relu(x)) is relu(x).
 *     static ig_value *relu_of_relu(ig_builder *b, ig_op *op) {
 *         ig_op *inner = ig_def(op->operands[0].value, IG_OP_relu);
 *         return inner ? &inner->results[0] : NULL;
 *     }
 *
 *     static const ig_rule rules[] = {
 *         RULE(relu, relu_of_relu),
 *     };
 *
 * The builder is before the op and has its location.
 */
#ifndef IG_PASSES_ENGINE_REWRITE_H
#define IG_PASSES_ENGINE_REWRITE_H

#include "passes/engine/pass.h"

/* NULL: no match.  &op->results[0] of the op itself: it was changed in place (or the
 * rule has replaced the results of an op with several), see ig_rule_done.  A
 * replacement of another type is taken as the more precise one. */
typedef ig_value *(*ig_rule_fn)(ig_builder *b, ig_op *op);

typedef struct ig_rule {
    const char *name;
    ig_opcode root; /* IG_OP_COUNT: any op */
    ig_rule_fn apply;
} ig_rule;

#define RULE(op, function) \
    { #function, IG_OP_##op, function }
#define RULE_OF_ANY(function) \
    { #function, IG_OP_COUNT, function }
/* The result of a rule that edited the graph itself. */
static inline ig_value *ig_rule_done(ig_op *op) {
    return op->results;
}

/* Applies the rules, in order of the table, until none matches; sets run->changed.  Ops
 * that are not needed any more go.  IG_INTERNAL naming the rule when rules never
 * end. */
ig_status ig_rewrite(ig_pass_run *run, ig_graph *graph, const ig_rule *rules,
                     size_t count);

#endif
