/* Steps, evaluation, prediction.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/train/trainer.h"

#include <string.h>

bool ig_trainer_enter(ig_trainer *trainer) {
    return atomic_exchange(&trainer->is_busy, 1) == 0;
}

void ig_trainer_leave(ig_trainer *trainer) {
    atomic_store(&trainer->is_busy, 0);
}

static ig_status check_call(ig_trainer *trainer, const ig_trainer_slot *p,
                            size_t input_count, size_t output_count) {
    if (!p->program) {
        return ig_message_set(&trainer->message, IG_INVALID,
                              "the trainer was made without that part");
    }
    if (input_count > trainer->data_count || input_count < p->data_needed) {
        return ig_message_set(&trainer->message, IG_INVALID, "%zu inputs, expected %zu",
                              input_count, trainer->data_count);
    }
    if (output_count != p->output_count) {
        return ig_message_set(&trainer->message, IG_INVALID,
                              "%zu outputs, expected %zu", output_count,
                              p->output_count);
    }
    for (size_t i = 0; i < p->input_count; i++) {
        const ig_trainer_source *from = &p->sources[i];
        if (from->kind == IG_FROM_TRAINED && !trainer->values[from->index].is.is_set) {
            return ig_message_set(&trainer->message, IG_INVALID,
                                  "'%s' is trained and has no value yet: set it",
                                  trainer->values[from->index].is.name);
        }
    }
    return IG_OK;
}

static ig_status run_part(ig_trainer *trainer, ig_train_part part,
                          const ig_view *inputs, size_t input_count, ig_view *outputs,
                          size_t output_count) {
    ig_trainer_slot *p = &trainer->parts[part];
    IG_TRY(check_call(trainer, p, input_count, output_count));
    for (size_t i = 0; i < p->input_count; i++) {
        if (p->sources[i].kind == IG_FROM_DATA) {
            p->inputs[i] = inputs[p->sources[i].index];
        }
    }
    if (p->is_stale) {
        ig_session_weights_changed(p->session);
        p->is_stale = false;
    }
    ig_status status = ig_session_run(p->session, p->inputs, p->input_count, outputs,
                                      output_count);
    return status == IG_OK ? IG_OK
                           : ig_message_set(&trainer->message, status, "%s",
                                            ig_session_error(p->session));
}

/* Rounded to double; the loss is of f32 or f64. */
static double read_loss(const ig_view *loss) {
    float single = 0;
    double number = 0;
    if (loss->dtype == IG_F64) {
        memcpy(&number, loss->data, sizeof number);
        return number;
    }
    memcpy(&single, loss->data, sizeof single);
    return (double)single;
}

/* A part whose first outputs are those of a step. */
static ig_status run_loss(ig_trainer *trainer, ig_train_part part,
                          const ig_view *inputs, size_t input_count, double *out_loss,
                          ig_view *output) {
    ig_trainer_slot *p = &trainer->parts[part];
    for (size_t i = 0; i < p->output_count; i++) {
        p->outputs[i] = (ig_view){ 0 };
    }
    IG_TRY(run_part(trainer, part, inputs, input_count, p->outputs, p->output_count));
    if (out_loss) {
        *out_loss = read_loss(&p->outputs[IG_STEP_LOSS]);
    }
    if (output) {
        *output = p->outputs[IG_STEP_OUTPUT];
    }
    return IG_OK;
}

ig_status ig_trainer_step(ig_trainer *trainer, const ig_view *inputs,
                          size_t input_count, double *out_loss, ig_view *output) {
    if (!ig_trainer_enter(trainer)) {
        return IG_INVALID;
    }
    trainer->step++;
    ig_status status = run_loss(trainer, IG_TRAIN_STEP, inputs, input_count, out_loss,
                                output);
    trainer->step -= status != IG_OK;
    trainer->parts[IG_TRAIN_EVALUATE].is_stale = true;
    trainer->parts[IG_TRAIN_PREDICT].is_stale = true;
    ig_trainer_leave(trainer);
    return status;
}

ig_status ig_trainer_evaluate(ig_trainer *trainer, const ig_view *inputs,
                              size_t input_count, double *out_loss, ig_view *output) {
    if (!ig_trainer_enter(trainer)) {
        return IG_INVALID;
    }
    ig_status status = run_loss(trainer, IG_TRAIN_EVALUATE, inputs, input_count,
                                out_loss, output);
    ig_trainer_leave(trainer);
    return status;
}

ig_status ig_trainer_predict(ig_trainer *trainer, const ig_view *inputs,
                             size_t input_count, ig_view *outputs,
                             size_t output_count) {
    if (!ig_trainer_enter(trainer)) {
        return IG_INVALID;
    }
    ig_status status = run_part(trainer, IG_TRAIN_PREDICT, inputs, input_count, outputs,
                                output_count);
    ig_trainer_leave(trainer);
    return status;
}

void ig_trainer_cancel(ig_trainer *trainer) {
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_INITIAL; part++) {
        if (trainer->parts[part].session) {
            ig_session_cancel(trainer->parts[part].session);
        }
    }
}

const char *ig_trainer_error(const ig_trainer *trainer) {
    return trainer->text;
}
