/* What users write about training, read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_TRAIN_TRAIN_H
#define IG_DRIVER_TRAIN_TRAIN_H

#include "base/arena.h"
#include "base/diag.h"
#include "compose/update/update.h"

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

#endif
