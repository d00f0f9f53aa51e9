/* A module in training: the step, and the memory of all that it changes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_TRAINER_H
#define IG_TOOLS_INGOT_MODEL_TRAINER_H

#include "tools/ingot/model/call.h"

#include <ingot/train.h>

/* Values of a step that somebody else keeps (rows of tables in stores), and inputs that
 * he computes for each batch. */
typedef struct trainer_values {
    void *user;
    /* Knows the step's arguments: sets `places`.  False: `why` tells. */
    bool (*open)(void *user, const ig_program *step, message *why);
    const ig_trainer_place *places; /* in memory as long as the trainer */
    size_t place_count;
    size_t computed_at, computed_count; /* among the inputs */
} trainer_values;

typedef struct trainer {
    const settings *given;
    model m;           /* the step */
    ig_module *module; /* that is trained, as it was; NULL where MODEL is an artifact */
    ig_train_options how;
    trainer_values *others; /* or NULL */
    ig_ranks *ranks;        /* of a rank: the group that it has met; or NULL */
    ig_trainer *own;        /* runs the parts; NULL: the step is interpreted */
    ig_program *parts[IG_TRAIN_PARTS]; /* of `module`, compiled when they are needed */
    call with;     /* whoever trains sets the first data_count inputs */
    void **memory; /* of the other inputs, and their extents */
    int64_t (*dims)[IG_MAX_RANK];
    size_t data_count; /* inputs of the model that stay as they are, and the label */
    ig_view *views;    /* of a call's data */
    results out;       /* of the last step: [0] is the loss, [1] the output it is of */
    double loss;
    int64_t step; /* how many there were */
    double *rates, *decays;
    size_t group_count; /* optimizers */
    size_t step_at;     /* the input "step"; "rates" and "decays" follow it */
    ig_status status;   /* of the last thing that failed */
    message why;
} trainer;

/* Compiles the step of `module`, which is the trainer's from now on; weights begin as
 * the model has them, states at 0.  Inputs of the model that are trained begin as
 * trainer_set makes them.  `how`, its texts and `others` (or NULL) outlive the trainer.
 * False: t->why
 * tells, or the context. */
bool trainer_open(trainer *t, const settings *given, ig_context *context,
                  ig_module *module, const ig_train_options *how,
                  trainer_values *others);
/* Opens an artifact of ig_compile_train_file. */
bool trainer_open_file(trainer *t, const settings *given, ig_context *context,
                       const char *path);
void trainer_close(trainer *t);
/* The input of that name: a weight, a state or data; NULL: there is none. */
ig_argument *trainer_find(const trainer *t, const char *name);
/* A copy of `value` becomes the input of that name, whose type and extents it has. */
bool trainer_set(trainer *t, const char *name, const ig_argument *value);
/* Has the trainer the value of this input (of those before the label), so that no batch
 * gives it? */
bool trainer_has(const trainer *t, size_t index);
/* One step.  False: t->why tells, and nothing has changed. */
bool trainer_step(trainer *t);
/* Loss and output as the model is now; nothing changes.  False: t->why tells. */
bool trainer_try(trainer *t);
/* The loss of the last step or trial. */
double trainer_loss(const trainer *t);

#endif
