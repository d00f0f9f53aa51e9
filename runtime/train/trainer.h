/* A trainer: the programs of a training, and the memory of weights and states.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     step       data … step rates decays states weights  ──►  loss output, in place
 *     evaluate   data … weights                           ──►  loss output
 *     predict    data … weights                           ──►  the model's outputs
 *     initial                                             ──►  rates decays weights
 *
 * The step says what there is: an input that an output replaces in place is trained,
 * three are the trainer's own numbers, all others are data.  Other parts take theirs by
 * name.
 */
#ifndef IG_RUNTIME_TRAIN_TRAINER_H
#define IG_RUNTIME_TRAIN_TRAINER_H

#include "ingot/trainer.h"
#include "runtime/message.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { IG_TRAINER_MESSAGE_BYTES = 512, IG_STEP_LOSS = 0, IG_STEP_OUTPUT = 1 };

typedef enum ig_trainer_origin {
    IG_FROM_DATA,
    IG_FROM_TRAINED,
    IG_FROM_STEP,
    IG_FROM_RATES,
    IG_FROM_DECAYS
} ig_trainer_origin;

/* An input of a part. */
typedef struct ig_trainer_source {
    ig_trainer_origin kind;
    size_t index; /* of the data, or of the values */
} ig_trainer_source;

typedef struct ig_trainer_slot {
    ig_program *program;
    ig_session *session;
    ig_view *inputs, *outputs;
    ig_trainer_source *sources; /* by input */
    size_t input_count, output_count;
    size_t data_needed; /* data inputs of a call at least */
    bool is_stale;      /* weights have changed since its last run */
} ig_trainer_slot;

/* A weight or state; `memory` is NULL where it is the caller's. */
typedef struct ig_trainer_value {
    ig_trained is;
    void *memory;
} ig_trainer_value;

struct ig_trainer {
    ig_trainer_slot parts[IG_TRAIN_PARTS];
    bool owns_programs;
    ig_session_options how; /* of sessions */
    size_t *data;           /* inputs of the step */
    size_t data_count;
    ig_trainer_value *values;
    size_t value_count;
    int64_t step;
    double *rates, *decays;
    size_t group_count;
    _Atomic int is_busy;
    char text[IG_TRAINER_MESSAGE_BYTES];
    ig_message message; /* text */
};

/* Lists the values that training changes, with their memory; and fills it. */
ig_status ig_trainer_find_values(ig_trainer *trainer, const ig_trainer_options *options,
                                 const ig_message *message);
ig_status ig_trainer_fill_values(ig_trainer *trainer, const ig_message *message);
/* A call that changes or reads weights may begin; false: another one is at work. */
bool ig_trainer_enter(ig_trainer *trainer);
void ig_trainer_leave(ig_trainer *trainer);

#endif
