/* A training while its parts are made.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_TRAIN_TRAINING_H
#define IG_DRIVER_TRAIN_TRAINING_H

#include "driver/shard/opened.h"
#include "driver/train/train.h"
#include "ir/build/expr.h"
#include "passes/engine/pass.h"

#define IG_TRAIN_NONE ((ig_train_part)IG_TRAIN_PARTS)

/* One weight or input that training changes. */
typedef struct ig_train_weight {
    const char *name;
    const char *whole; /* the table that it is a rank's part of, or NULL */
    uint32_t group;
    const ig_type *type;
    uint32_t states[IG_UPDATE_STATES]; /* numbers of arguments; 0: none */
    uint32_t argument;
    bool is_weight;       /* of the model: an argument once it is opened */
    bool is_rows;         /* a table that only bags read */
    uint32_t gradients;   /* how many are asked for: of its bags, or one */
    ig_value *gradient;   /* of values that are no such table */
    ig_update_table rows; /* of such tables */
    ig_value *next, *next_states[IG_UPDATE_STATES];
    uint32_t sum; /* the argument of its gradient so far; 0: none */
    ig_value *next_sum;
} ig_train_weight;

typedef struct ig_training {
    ig_module *module;
    ig_graph *graph;        /* the entry */
    ig_train_part part;     /* IG_TRAIN_NONE: only the description is made */
    ig_writer *description; /* or NULL */
    ig_train_options options;
    ig_pass_options passes;
    ig_arena *arena;
    ig_train_loss loss;
    ig_train_group *groups;
    const char *narrow; /* a weight of f16 or bf16 that an optimizer names, or NULL */
    uint32_t output;    /* which result the loss is of */
    uint32_t label, step, rates, decays; /* arguments; label 0: none */
    IG_VEC(ig_train_weight) trained;
    ig_train_carried *carried; /* states of the model */
    uint32_t carried_count;
    ig_held held; /* by a plan for ranks; world 0: there is none */
    ig_expr e;
    ig_value *total;         /* the loss */
    ig_value **carried_next; /* by `carried` */
    ig_value *is_due;        /* bool[]: weights change in this call; NULL: in each */
    ig_value *update;        /* the index of the update, i64[] from 1 on */
} ig_training;

typedef IG_VEC(ig_value *) ig_train_values;

/* ---- rows.c ---- */

/* Do only those rows of the weight change that a step reads?  It is a table that only
 * bags read, then. */
bool ig_train_has_rows(const ig_training *t, const ig_train_weight *w);
/* Adds the results of the bags that read the table; how many. */
uint32_t ig_train_list_rows(const ig_training *t, const ig_train_weight *w,
                            ig_train_values *to);
/* Ids and gradients of these bags become w->rows; `next` points at the gradients. */
void ig_train_join_rows(ig_training *t, ig_train_weight *w, ig_value **next);
/* The gradient within the optimizer's max_gradient. */
ig_value *ig_train_clamp(ig_training *t, const ig_train_weight *w, ig_value *g);

/* ---- gathered.c ---- */

/* Gradients become those of all calls since the last update. */
void ig_train_gather(ig_training *t);
/* Where the update is not due, its new weight is left out. */
void ig_train_keep(ig_training *t, ig_train_weight *w);
/* The factor of a call's loss in that of all calls up to an update. */
double ig_train_call_share(const ig_training *t);

/* ---- draws.c ---- */

/* For parts that try the model: dropouts pass their operand on. */
void ig_train_drop_nothing(ig_training *t);
/* For a step: draws are by its number, and the rank. */
void ig_train_index_draws(ig_training *t);

/* ---- ranks.c ---- */

/* Tables become this rank's parts of them, by the plan, which are trained in their
 * place; the arguments of the tables go.  Numbers of arguments in `trained` are to be
 * found again. */
ig_status ig_train_divide(ig_training *t);
/* How many ranks train together; 1: this one alone. */
int64_t ig_train_world(const ig_training *t);
/* The factor of one rank's loss in the loss of all. */
double ig_train_share(const ig_training *t);
/* The loss, gradients of weights that every rank has, and running statistics become
 * those of all ranks, alike on each.  Where no gradients were made: the loss. */
void ig_train_reduce(ig_training *t);

/* ---- describe.c ---- */

/* Writes the description of the training, whose tables have been divided. */
void ig_train_put(const ig_training *t, ig_writer *out);

#endif
