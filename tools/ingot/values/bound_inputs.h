/* Inputs of a call, bound to a model, and who owns them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_BOUND_INPUTS_H
#define IG_TOOLS_INGOT_VALUES_BOUND_INPUTS_H

#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/structured.h"

typedef struct bound_inputs {
    call with;             /* borrows from the two below */
    structured arguments;  /* where they were given as trees */
    ig_arguments *archive; /* where they came from an .npz */
    bool is_bound;         /* nothing is left to be done */
    bool has_failed;       /* the work was done, and a check in it failed */
} bound_inputs;

/* Binds inputs to a model that is open, by its tree or by its flat inputs; does nothing
 * when they are bound.  With `sizes` they are for a measurement: inputs that were not
 * given are made up, as large as that says. */
ig_status bind_inputs(const settings *given, const model *m, const extents *sizes,
                      bound_inputs *out);
void bound_inputs_free(bound_inputs *which);

/* Opens `path` as --input and the arguments say.  After an error nothing is open. */
ig_status model_open_for(const settings *given, ig_context *context, const char *path,
                         model *m, bound_inputs *values, message *why);

/* A verb's work on the model it names.  `values` are bound where the arguments had to
 * come first (a model that says no types itself). */
typedef ig_status (*model_work)(const settings *given, const model *m,
                                bound_inputs *values, message *why);
/* Opens the model, works, closes, reports: the exit status. */
int work_on_model(const settings *given, model_work work);

/* The use of a call's results. */
typedef ig_status (*results_work)(const settings *given, const model *m,
                                  const results *got, bound_inputs *values);
/* Binds the inputs that are not bound, runs the model once, and hands the results
 * on. */
ig_status run_once(const settings *given, const model *m, bound_inputs *values,
                   results_work work, message *why);

#endif
