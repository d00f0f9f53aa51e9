/* Ingot, trainers: run steps of training that were compiled, and own the values that
 * they change.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_trainer_options how = { .size = sizeof how, .message = why,
 *                                .message_size = sizeof why };
 *     ig_trainer *trainer = NULL;
 *     double loss;
 *     if (ig_trainer_open("model.ingot", &how, &trainer) != IG_OK)
 *         return complain(why);
 *     for (int i = 0; i < batches; i++)
 *         if (ig_trainer_step(trainer, batch[i].inputs, n, &loss) != IG_OK)
 *             fprintf(stderr, "%s\n", ig_trainer_error(trainer));
 *     ig_trainer_close(trainer);
 *
 * An artifact that ig_compile_train_file made holds the programs of ig_train_part.  The
 * trainer keeps weights and states in memory of its own, or of the caller's, where each
 * step changes them in place.  Nothing has changed when a step fails.  In steady state
 * (shapes seen before) a step allocates nothing.  Ownership: inputs are read in place,
 * during the call.  Threads: a call that meets another one at work on its trainer is
 * refused (IG_INVALID, and no message), so that no call reads weights while a step
 * writes them; ig_trainer_cancel may come from any thread, also from a signal handler.
 * Bits do not depend on how many threads share a step.
 */
#ifndef INGOT_TRAINER_H
#define INGOT_TRAINER_H

#include <ingot/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ig_train_part {
    IG_TRAIN_STEP,     /* loss, and weights and states after one step */
    IG_TRAIN_EVALUATE, /* the loss and the output that it is of, as weights are */
    IG_TRAIN_PREDICT,  /* the model's outputs, as weights are; takes no label */
    IG_TRAIN_INITIAL,  /* weights as the model had them, learning rates and decays */
    IG_TRAIN_PARTS
} ig_train_part;

typedef struct ig_trainer ig_trainer;

/* A weight or a state to keep in the caller's memory, which holds its first
 * value already and outlives the trainer: torch's tensor, a mapped file. */
typedef struct ig_trainer_place {
    const char *name;
    ig_view view;
} ig_trainer_place;

/* Extensible: set size, without which it is refused; other zero fields mean the
 * default. */
typedef struct ig_trainer_options {
    size_t size;
    char *message; /* receives one line when opening fails, or NULL */
    size_t message_size;
    const char *level;    /* of code: ig_program_options */
    ig_thread_pool *pool; /* shared with others, or NULL */
    int threads;          /* of its own pool; 0 and 1: the caller's thread alone */
    ig_ranks *ranks;      /* where ranks train together: ig_group_ranks; else NULL */
    const ig_trainer_place *places;
    size_t place_count;
    const ig_log *log; /* is told why opening it and its calls fail, or NULL */
} ig_trainer_options;

/* Opens an artifact.  Weights begin as the model had them, states at 0.  IG_INVALID:
 * damaged, nothing that trains, or a place that no weight or state fits. */
IG_API IG_MUST_USE ig_status ig_trainer_open(const char *path,
                                             const ig_trainer_options *options,
                                             ig_trainer **out_trainer);
/* The same over programs (ig_compile_train), by ig_train_part, that the caller closes
 * after it.  The step and the initial values are needed, others may be NULL. */
IG_API IG_MUST_USE ig_status ig_trainer_create(ig_program *const *programs,
                                               const ig_trainer_options *options,
                                               ig_trainer **out_trainer);
/* Gives the trainer a program that it was made without: to evaluate or to predict. */
IG_API IG_MUST_USE ig_status ig_trainer_add(ig_trainer *trainer, ig_train_part part,
                                            ig_program *program);
IG_API void ig_trainer_close(ig_trainer *trainer);

/* ---- calls ---- */

/* The arguments of each call: the model's inputs that do not change, and last the
 * label, where the loss has one. */
IG_API size_t ig_trainer_input_count(const ig_trainer *trainer);
IG_API ig_port ig_trainer_input(const ig_trainer *trainer, size_t index);
/* The arguments and results of a part; NULL: it was not given. */
IG_API const ig_program *ig_trainer_program(const ig_trainer *trainer,
                                            ig_train_part part);

/* One step; its number is one more than that of the last.  Sets dtype, rank, dims and
 * data of `output`, unless that is NULL: the output that the loss is of, before the
 * step, the trainer's until its next call. */
IG_API IG_MUST_USE ig_status ig_trainer_step(ig_trainer *trainer, const ig_view *inputs,
                                             size_t input_count, double *out_loss,
                                             ig_view *output);
/* Loss and output as weights are now; nothing changes. */
IG_API IG_MUST_USE ig_status ig_trainer_evaluate(ig_trainer *trainer,
                                                 const ig_view *inputs,
                                                 size_t input_count, double *out_loss,
                                                 ig_view *output);
/* The model's outputs as weights are now, as ig_session_run gives them.  Inputs as of a
 * step; the label may be left out. */
IG_API IG_MUST_USE ig_status ig_trainer_predict(ig_trainer *trainer,
                                                const ig_view *inputs,
                                                size_t input_count, ig_view *outputs,
                                                size_t output_count);
/* The call in progress ends soon with IG_CANCELLED, and has changed nothing. */
IG_API void ig_trainer_cancel(ig_trainer *trainer);
/* The message of the last call that failed; "" when there was none. */
IG_API const char *ig_trainer_error(const ig_trainer *trainer);

/* ---- what training changes ---- */

/* How many steps there were; to be set where training goes on. */
IG_API int64_t ig_trainer_step_count(const ig_trainer *trainer);
IG_API void ig_trainer_set_step_count(ig_trainer *trainer, int64_t count);
/* Learning rates and weight decays by optimizer, as the model's have them at first:
 * whoever schedules them writes there between steps. */
IG_API size_t ig_trainer_group_count(const ig_trainer *trainer);
IG_API double *ig_trainer_rates(ig_trainer *trainer);
IG_API double *ig_trainer_decays(ig_trainer *trainer);

typedef struct ig_trained {
    const char *name; /* the trainer's */
    ig_view view;     /* its address */
    int is_state;     /* of an optimizer: NAME.momentum1 of NAME */
    int is_set;       /* 0: an input that is trained, and was given no value yet */
} ig_trained;

IG_API size_t ig_trainer_count(const ig_trainer *trainer);
IG_API ig_trained ig_trainer_get(const ig_trainer *trainer, size_t index);
/* The number of that name, or -1. */
IG_API int ig_trainer_find(const ig_trainer *trainer, const char *name);
/* Copies a value of the same type and extents to its memory. */
IG_API IG_MUST_USE ig_status ig_trainer_set(ig_trainer *trainer, size_t index,
                                            const ig_view *value);

/* After a change of bytes in the caller's memory (ig_trainer_place). */
IG_API void ig_trainer_changed(ig_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
