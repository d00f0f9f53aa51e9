/* Steps of optimisers, elementwise over a tensor that is trained.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The formulas are those of ai.onnx.preview.training.  A function reads the values
 * before the step and replaces x and its states by those after it.
 */
#ifndef IG_COMPOSE_OPTIMISE_H
#define IG_COMPOSE_OPTIMISE_H

#include "ir/build/expr.h"

enum { IG_OPTIMISE_STATES = 2 };

typedef struct ig_optimised {
    ig_value *x, *gradient;
    ig_value *states[IG_OPTIMISE_STATES]; /* like x */
    ig_value *rate;                       /* scalar, of x's dtype */
    ig_value *count;                      /* scalar f64: how many steps came before */
} ig_optimised;

/* `norm` adds the gradient of norm / 2 * x^2 to that of the loss. */
typedef struct ig_adagrad {
    double decay, epsilon, norm;
} ig_adagrad;

/* One state: the sum of the gradients' squares. */
void ig_compose_adagrad(ig_expr *e, ig_optimised *o, const ig_adagrad *how);

typedef struct ig_adam {
    double alpha, beta; /* how much of each state stays */
    double epsilon, norm;
    double norm_after; /* the share of x that is taken off after the step */
} ig_adam;

/* Two states: running means of the gradients and of their squares. */
void ig_compose_adam(ig_expr *e, ig_optimised *o, const ig_adam *how);

typedef struct ig_momentum {
    double alpha,
        beta; /* of the state and of the gradient; beta is 1 in the first step */
    double norm;
    bool is_nesterov;
} ig_momentum;

/* One state: the velocity. */
void ig_compose_momentum(ig_expr *e, ig_optimised *o, const ig_momentum *how);

#endif
