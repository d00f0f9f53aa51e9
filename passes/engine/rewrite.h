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
 * or states its shape as a constant tree and then decides:
 *
 *     enum { X, W, B };
 *     static const ig_pat *const matmul_then_bias =
 *         P(add, P(matmul, ANY(X), ANY(W)), ANY(B));
 *     static ig_value *matmul_with_bias(ig_builder *b, ig_op *op,
 *                                       ig_value *const *holes);
 *
 *     static const ig_rule rules[] = {
 *         RULE(relu, relu_of_relu),
 *         FUSE(matmul_then_bias, matmul_with_bias),
 *     };
 *
 * The builder is before the op and has its location.  A hole that occurs twice must
 * meet the same value; an op that commutes is tried both ways.
 */
#ifndef IG_PASSES_ENGINE_REWRITE_H
#define IG_PASSES_ENGINE_REWRITE_H

#include "passes/engine/pass.h"

enum { IG_PAT_OPERANDS = 4, IG_PAT_HOLES = 8 };

typedef enum ig_pat_kind {
    IG_PAT_NONE,
    IG_PAT_ANY,      /* any value, kept in a hole */
    IG_PAT_CONSTANT, /* a constant, kept in a hole */
    IG_PAT_NUMBER,   /* a constant of one element with this value */
    IG_PAT_OP,       /* the first result of this op on these operands */
} ig_pat_kind;

typedef struct ig_pat ig_pat;
struct ig_pat {
    ig_pat_kind kind;
    ig_opcode code;
    uint32_t hole;
    double number;
    const ig_pat *operands[IG_PAT_OPERANDS]; /* as many as the op has */
};

/* Compound literals of static storage: for use at file scope. */
#define ANY(index) (&(const ig_pat){ .kind = IG_PAT_ANY, .hole = (index) })
#define CONSTANT(index) (&(const ig_pat){ .kind = IG_PAT_CONSTANT, .hole = (index) })
#define NUMBER(value) (&(const ig_pat){ .kind = IG_PAT_NUMBER, .number = (value) })
#define P(op, ...)    \
    (&(const ig_pat){ \
        .kind = IG_PAT_OP, .code = IG_OP_##op, .operands = { __VA_ARGS__ } })

/* NULL: no match.  &op->results[0] of the op itself: it was changed in place (or the
 * rule has replaced the results of an op with several), see ig_rule_done.  A
 * replacement of another type is taken as the more precise one. */
typedef ig_value *(*ig_rule_fn)(ig_builder *b, ig_op *op);
typedef ig_value *(*ig_fuse_fn)(ig_builder *b, ig_op *op, ig_value *const *holes);

typedef struct ig_rule {
    const char *name;
    ig_opcode root; /* IG_OP_COUNT: any op; fusions take it from the pattern */
    ig_rule_fn apply;
    const ig_pat *const *pattern;
    ig_fuse_fn fuse;
} ig_rule;

#define RULE(op, function) \
    { #function, IG_OP_##op, function, NULL, NULL }
#define RULE_OF_ANY(function) \
    { #function, IG_OP_COUNT, function, NULL, NULL }
#define FUSE(tree, function) \
    { #function, IG_OP_COUNT, NULL, &tree, function }

/* The result of a rule that edited the graph itself. */
static inline ig_value *ig_rule_done(ig_op *op) {
    return op->results;
}

/* Applies the rules, in order of the table, until none matches; sets run->changed.  Ops
 * that nobody needs any more go.  IG_INTERNAL naming the rule when rules never end. */
ig_status ig_rewrite(ig_pass_run *run, ig_graph *graph, const ig_rule *rules,
                     size_t count);

#endif
