/* Losses.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_LOSS_H
#define IG_COMPOSE_LOSS_H

#include "ir/build/expr.h"

typedef enum ig_loss_total {
    IG_LOSS_none, /* each as it is */
    IG_LOSS_mean,
    IG_LOSS_sum,
} ig_loss_total;

ig_value *ig_compose_reduce_loss(ig_expr *e, ig_value *x, ig_loss_total total);

/* Of each element, by its target y. */
ig_value *ig_compose_squared_error(ig_expr *e, ig_value *x, ig_value *y);
/* Binary cross entropy of probabilities x: -(y log x + (1 - y) log(1 - x)), logarithms
 * at least -100, as torch has it. */
ig_value *ig_compose_bce(ig_expr *e, ig_value *x, ig_value *y);
/* The same of logits: (1 - y) x + (1 + (positive - 1) y) softplus(-x); NULL: 1. */
ig_value *ig_compose_bce_logits(ig_expr *e, ig_value *x, ig_value *y,
                                ig_value *positive);

/* -weight[target] * log[…, target, …]; 0 where the target is `ignored`.  The mean is
 * that by weights. */
typedef struct ig_class_loss {
    ig_value *log;        /* logarithms of probabilities [N, C, …] or [C] */
    ig_value *target;     /* integers [N, …] or [] */
    ig_value *weight;     /* [C]; NULL: all 1 */
    ig_maybe_int ignored; /* a target */
    ig_loss_total total;
} ig_class_loss;

/* `out_weight`, or NULL: the sum of the weights, given or 1 for targets not ignored. */
ig_value *ig_compose_class_loss(ig_expr *e, const ig_class_loss *l,
                                ig_value **out_weight);

#endif
