/* Rules: the gradient of one op.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The column `grad` of ops.def names a function here, which adds to the gradients of
 * the op's operands their parts through the op:
 *
 *     // d exp(x) = y dx
 *     void ig_grad_exp(ig_grad *g) {
 *         ig_grad_give(g, 0, ig_build_mul(g->e, g->dy, ig_op_result(g->op, 0)));
 *     }
 *
 * A rule reads operands and results of the op, which are in the forward part.  It asks
 * ig_grad_wants before it makes values that only one operand needs.  An expression of C
 * must not build two ops whose order the language leaves open: graphs would differ from
 * compiler to compiler.
 */
#ifndef IG_PASSES_GRAD_RULE_H
#define IG_PASSES_GRAD_RULE_H

#include "ir/build/expr.h"

typedef struct ig_reverse ig_reverse; /* the walk: reverse.c */

typedef struct ig_grad {
    ig_expr *e;   /* builds after all of the forward part */
    ig_op *op;    /* of the forward part */
    ig_value *dy; /* the gradient of the op's first result; NULL: none */
    ig_reverse *walk;
} ig_grad;

typedef void (*ig_grad_rule)(ig_grad *g);

/* NULL: the op has no gradient. */
ig_grad_rule ig_grad_rule_of(uint32_t code);

/* The gradient of the op's result `index`; NULL: y does not depend on it. */
ig_value *ig_grad_of_result(const ig_grad *g, uint32_t index);
/* Is the gradient of operand `index` needed by anybody? */
bool ig_grad_wants(const ig_grad *g, uint32_t index);
/* Adds to it.  `d` has the operand's extents, or those that it was broadcast to: then
 * it is summed along them.  NULL d: nothing is added. */
void ig_grad_give(ig_grad *g, uint32_t index, ig_value *d);
/* Adds to the gradient of a value that a body reads, d of its type. */
void ig_grad_give_value(ig_grad *g, const ig_value *value, ig_value *d);
/* This form of the op has no gradient, since `why`. */
void ig_grad_refuse(ig_grad *g, const char *why);

/* ---- what rules share ---- */

ig_value *ig_grad_x(const ig_grad *g, uint32_t index); /* operand, or NULL */
ig_value *ig_grad_y(const ig_grad *g);                 /* first result */
/* Zeros of a type. */
ig_value *ig_grad_zeros(ig_expr *e, const ig_type *type);
/* d where the condition holds, else 0; and the reverse. */
ig_value *ig_grad_when(ig_expr *e, ig_value *condition, ig_value *d);
ig_value *ig_grad_unless(ig_expr *e, ig_value *condition, ig_value *d);
/* The rule of any op that only moves elements of its first operand. */
void ig_grad_by_places(ig_grad *g);
/* The rule of a pad whose amounts are operands. */
void ig_grad_pad_computed(ig_grad *g);
/* Zeros of a type, and d added to the rows that `index`, of any extents, says; d has
 * those, then the extents of a row.  is_live (NULL: all) tells which ones count. */
ig_value *ig_grad_add_rows(ig_expr *e, const ig_type *type, ig_value *index,
                           ig_value *is_live, ig_value *d);
/* Of x's number of axes: an axis counted from the end becomes one from the start. */
uint32_t ig_grad_axis(const ig_value *x, int64_t axis);

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    void ig_grad_##grad(ig_grad *g);
#include "ir/ops.def"
#undef OP

#endif
