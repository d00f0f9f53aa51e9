/* What users write about training, read; and the parts of a training, made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_TRAIN_TRAIN_H
#define IG_DRIVER_TRAIN_TRAIN_H

#include "base/arena.h"
#include "base/diag.h"
#include "compose/update/update.h"
#include "ingot/train.h"
#include "ir/graph.h"

typedef struct ig_train_group {
    const char *pattern;
    ig_optimizer how;
    double rate, decay;
    bool is_dense; /* all rows of tables change, as torch.optim has it */
    bool is_met;   /* a weight has a name of the pattern */
} ig_train_group;

/* "PATTERN=RULE(KEY=NUMBER,…)".  Texts are the arena's. */
ig_status ig_train_read_group(ig_diag *diag, ig_arena *arena, const char *text,
                              ig_train_group *out);

typedef enum ig_loss_kind {
    IG_LOSS_KIND_bce,
    IG_LOSS_KIND_bce_logits,
    IG_LOSS_KIND_mse,
    IG_LOSS_KIND_cross_entropy,
    IG_LOSS_KIND_total, /* "sum" */
    IG_LOSS_KINDS,
} ig_loss_kind;

typedef struct ig_train_loss {
    ig_loss_kind kind;
    const char *output, *label; /* label: NULL for a sum */
} ig_train_loss;

/* "KIND:OUTPUT=LABEL". */
ig_status ig_train_read_loss(ig_diag *diag, ig_arena *arena, const char *text,
                             ig_train_loss *out);

/* Makes the module a part of its training: ig_module_train, for any of them. */
ig_status ig_train_make(ig_module *module, const ig_train_options *options,
                        const ig_compile_options *compile, ig_train_part part);

/* Writes the description of the module's training (describe.c); the module is
 * changed. */
ig_status ig_train_describe_module(ig_module *module, const ig_train_options *options,
                                   const ig_compile_options *compile, ig_writer *out);

typedef struct ig_train_initial {
    const char *const *weights;
    size_t weight_count;
    const ig_train_group *groups;
    size_t group_count;
} ig_train_initial;

/* The entry graph takes nothing and returns these weights, by their names, and the
 * groups' numbers as "rates" and "decays"; the model is erased. */
ig_status ig_train_keep_initial(ig_module *module, ig_graph *graph,
                                const ig_train_initial *what);

/* A state of the model, which a step changes beside the weights. */
typedef struct ig_train_carried {
    const char *name; /* of the weight with its first value */
    uint32_t argument, result;
} ig_train_carried;

/* The states of an entry, which are its arguments from `first` on, become plain inputs
 * after all others, and their values after a call plain results; `out` has room for
 * each.  The indices of arguments after `first` fall by as many. */
void ig_train_carry_states(ig_graph *graph, uint32_t first, ig_train_carried *out);
/* Where the model is tried: batch norms apply running statistics, as they are, in place
 * of the batch's, and the states' next values are no results. */
void ig_train_apply_states(ig_graph *graph, const ig_train_carried *carried,
                           uint32_t count);

#endif
