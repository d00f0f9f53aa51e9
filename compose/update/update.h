/* Updates of trained weights: what one step of an optimiser makes of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The learning rate, the step's number and the weight decay are values of the graph, so
 * that a schedule compiles nothing.  All else about a rule is known when the graph is
 * made.
 */
#ifndef IG_COMPOSE_UPDATE_UPDATE_H
#define IG_COMPOSE_UPDATE_UPDATE_H

#include "ir/build/expr.h"

typedef enum ig_update_rule {
#define RULE(name, first, second, is_by_row) IG_UPDATE_##name,
#include "compose/update/rules.def"
#undef RULE
    IG_UPDATE_RULES,
} ig_update_rule;

typedef enum ig_update_state_shape {
    IG_STATE_none,
    IG_STATE_full,
    IG_STATE_row
} ig_update_state_shape;

/* How the weight decay wd acts. */
typedef enum ig_decay {
    IG_DECAY_none,
    IG_DECAY_l2,        /* the gradient gets wd * w */
    IG_DECAY_decoupled, /* w gets smaller by rate * wd * w, whatever the gradient is */
} ig_decay;

enum { IG_UPDATE_STATES = 2 };

typedef struct ig_optimizer {
    ig_update_rule rule;
    ig_decay decay;
    double epsilon, beta1, beta2, momentum;
    double eta;          /* LARS: the share of the norms' ratio */
    double max_gradient; /* > 0: whoever makes gradients clamps them to ± this */
    bool is_nesterov;
} ig_optimizer;

/* "adam", …; NULL text: none.  False: no rule has that name. */
bool ig_update_rule_of(const char *name, ig_update_rule *out_rule);
const char *ig_update_rule_name(ig_update_rule rule);
/* The rule's own defaults: those of FBGEMM for tables' rules, and of torch.optim. */
ig_optimizer ig_optimizer_of(ig_update_rule rule);
/* State `number` (0 or 1) of a weight that changes so. */
ig_update_state_shape ig_optimizer_state(const ig_optimizer *how, uint32_t index);

/* A weight before its step, and after it when ig_compose_update has been called. */
typedef struct ig_update {
    ig_value *weight, *gradient; /* floats, one shape; a row is the last axis */
    /* By ig_optimizer_state; NULL where there is none.  One number for each row: the
     * weight's extents with 1 at the end. */
    ig_value *states[IG_UPDATE_STATES];
    ig_value *rate;  /* a scalar of the weight's dtype */
    ig_value *step;  /* scalar i64: 1 for the first step */
    ig_value *decay; /* a scalar of the weight's dtype; unused without decay */
    bool is_table;   /* each row is a vector of its own; else see rules.def */
} ig_update;

/* Replaces weight and states by those after the step. */
void ig_compose_update(ig_expr *e, const ig_optimizer *how, ig_update *u);

/* A table of which only the rows of a batch change, and what their gradients are. */
typedef struct ig_update_table {
    ig_value *weight; /* [rows, dim] */
    ig_value *states[IG_UPDATE_STATES];
    ig_value *ids;       /* i64 [n]: rows; -1: none */
    ig_value *gradients; /* [m, dim], of the weight's dtype */
    ig_value *bags;      /* i64 [n]: which gradient each id takes; NULL: its own */
    ig_value *factors;   /* [n]: what that is multiplied by; NULL: 1 */
} ig_update_table;

/* Those of ig_update, for all tables together. */
typedef struct ig_update_numbers {
    ig_value *rate, *step, *decay;
} ig_update_numbers;

/* Replaces weights and states by those after the step (op bag_update): the gradients of
 * a row are added in order of occurrence before its one update; rows that do not occur
 * stay, and so do their states.  The tables have one dtype and dim, and the same of
 * bags and factors. */
void ig_compose_update_tables(ig_expr *e, const ig_optimizer *how,
                              const ig_update_numbers *numbers, ig_update_table *tables,
                              uint32_t count);

/* The factor for all of `count` gradients that makes the norm of them together at most
 * `norm`, a scalar of the first one's dtype: min(1, norm / (their norm + 1e-6)), as
 * torch.nn.utils.clip_grad_norm_ has it. */
ig_value *ig_compose_clip_factor(ig_expr *e, ig_value *const *gradients, uint32_t count,
                                 ig_value *norm);

#endif
