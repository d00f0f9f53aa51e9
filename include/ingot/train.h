/* Ingot, training: a module becomes one step of training it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef INGOT_TRAIN_H
#define INGOT_TRAIN_H

#include "ingot/ingot.h"
#include "ingot/trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of ranks that train together: what their gradients are divided by. */
typedef enum ig_train_division {
    IG_DIVIDE_AS_LOSS, /* all by the number of ranks, of a loss that is a mean; of a sum
                        * none: as one rank that was given all batches at once */
    IG_DIVIDE_ALL,     /* all by the number of ranks: TorchRec's and DDP's default */
    IG_DIVIDE_DENSE,   /* those of replicated weights: TorchRec without division */
    IG_DIVIDE_NONE
} ig_train_division;

typedef struct ig_train_options {
    size_t size;
    /* "KIND:OUTPUT=LABEL": bce, bce_logits, mse and cross_entropy are means over all
     * elements of an output and of the input LABEL, which the step has besides the
     * model's; of cross_entropy it holds i64 classes, and axis 1 of the output their
     * scores.  "sum:OUTPUT" is the sum of the output's elements: the loss is made by
     * the model. */
    const char *loss;
    /* Each "PATTERN=RULE(KEY=NUMBER,…)"; PATTERN as of file names.  The first whose
     * pattern a weight's name matches says how it changes; what matches none stays as
     * it is.  An input, or a weight that is not a parameter, changes where PATTERN is
     * its very name.  docs/training.md lists rules and keys. */
    const char *const *optimizers;
    size_t optimizer_count;
    /* > 0: gradients of dense weights are made smaller until the norm of all of them
     * together is at most this. */
    double clip_norm;
    /* The plan of ranks, as of ig_module_shard, and which one this is: its step trains
     * its parts of the tables ("NAME.0" where it has not all of NAME), and replicated
     * weights by gradients of all ranks; the loss is theirs too.  NULL: one rank. */
    const char *plan, *plan_name; /* plan_name: for messages, or NULL */
    size_t rank;
    ig_train_division division;
    /* > 1: weights change in each so many calls, by the gradients of all of them, whose
     * sum so far is a state (NAME.momentum3).  A mean is over all their batches.
     * Tables whose rows change do so in each call, with its share of the gradient. */
    int64_t accumulate;
} ig_train_options;

/* Makes of the module one step of its training (docs/training.md).  Its inputs are then
 * those of the model, LABEL, "step" (i64, 1 for the first), "rates" and "decays" (f64
 * [optimizers], learning rates and weight decays), the states of the model (running
 * statistics), those of the optimizers, and the weights that change; its outputs
 * "loss", the output that the loss is of, and in the memory of their inputs the weights
 * and states after the step.  Nothing has changed when a step fails.  Of `compile` (may
 * be NULL) the options about bags count.  After an error the module is to be closed.
 * Errors: IG_INVALID where the words of the options say nothing, or a name is nobody's;
 * IG_UNSUPPORTED where an operator has no gradient, or weights of the model were
 * opened. */
IG_API IG_MUST_USE ig_status ig_module_train(ig_module *module,
                                             const ig_train_options *options,
                                             const ig_compile_options *compile);

/* Compiles a part of the module's training for this process: see ingot/trainer.h.  The
 * module, imported with `keeps_weights`, is left as it was.  Errors as above. */
IG_API IG_MUST_USE ig_status ig_compile_train(ig_module *module,
                                              const ig_train_options *options,
                                              const ig_compile_options *compile,
                                              ig_train_part part,
                                              ig_program **out_program);
/* Compiles all parts into one artifact, which ig_trainer_open opens. */
IG_API IG_MUST_USE ig_status ig_compile_train_file(ig_module *module,
                                                   const ig_train_options *options,
                                                   const char *path,
                                                   const ig_compile_options *compile);

/* A text that lists the trained weights: JSON with "optimizers", as given; "trained",
 * weights and inputs by "name" with the index of their "optimizer"; "world_size" and
 * "rank"; and "tables", those that ranks have parts of: "rows", "dim", and "parts" of
 * their columns with "shards", each a rank, its first row, rows, and where these begin
 * in the rank's own.  *out_json is the context's until its next call.  Errors as
 * above. */
IG_API IG_MUST_USE ig_status ig_train_describe(ig_module *module,
                                               const ig_train_options *options,
                                               const ig_compile_options *compile,
                                               const char **out_json);
/* The same of an artifact, which ig_compile_train_file has written.  IG_INVALID: it is
 * none. */
IG_API IG_MUST_USE ig_status ig_artifact_train(ig_context *context, const char *path,
                                               const char **out_json);
/* The learning rate and weight decay that the text of an optimizer names (see above);
 * `context` gets the message where it is none. */
IG_API IG_MUST_USE ig_status ig_optimizer_read(ig_context *context, const char *text,
                                               double *out_rate, double *out_decay);

#ifdef __cplusplus
}
#endif
#endif
