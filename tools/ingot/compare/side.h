/* The two sides of a comparison: a module that is run, and its reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_COMPARE_SIDE_H
#define IG_TOOLS_INGOT_COMPARE_SIDE_H

#include "tools/ingot/values/bound_inputs.h"

#include <ingot/defect.h>

/* ---- a run that is over: its results live as long as it ---- */

typedef struct finished_run {
    model m;
    ig_session *session;
    results got;
} finished_run;

typedef struct run_order {
    ig_module *module; /* taken over */
    const call *with;
    bool is_interpreted; /* whatever the target, and as it is */
} run_order;

/* Compiles the module, or where the target is interpret takes it through --passes, and
 * runs it. */
ig_status run_module(const settings *given, ig_context *context, const run_order *what,
                     finished_run *out, message *why);
void finished_run_close(finished_run *which);

/* ---- references of a model ---- */

typedef struct reference reference;

/* The request: a copy of the model with values exposed, and the names of all
 * its outputs. */
typedef struct request {
    ig_module *exposed; /* NULL: an artifact, which has no values but its outputs */
    const char *const *names;
    size_t count, own; /* outputs, and how many of them are the model's own */
} request;

/* --against: "interpret", "onnxruntime" or "onnxruntime:LIBRARY", a model or artifact,
 * a folder or an .npz with values by their names.  NULL after a message. */
reference *reference_open(const settings *given, const model *m, const call *with,
                          ig_status *out_status);
void reference_close(reference *which);
/* Writes for each name its value, or NULL where the reference has none; good until the
 * next call.  Arrays have room for request->count. */
ig_status reference_values(reference *which, const request *what,
                           const ig_argument **out_values, message *why);

#endif
