/* Calls of a model: values in, results out, by a program or by the interpreter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_CALL_H
#define IG_TOOLS_INGOT_MODEL_CALL_H

#include "tools/ingot/model/model.h"

/* Values in the order of the model's inputs; `owners` are closed with it. */
typedef struct call {
    ig_argument *inputs;
    ig_arguments **owners;
    size_t count;
} call;

void call_init(call *which, size_t count);
void call_fini(call *which);

/* Results of a run: borrowed from session or module until its next run. */
typedef struct results {
    ig_argument *items;
    size_t count;
    ig_view *views; /* of a program: dims stand there */
} results;

/* Runs the program in `session`, or the interpreter when `session` is NULL. */
ig_status call_run(const model *m, ig_session *session, const call *with, results *out,
                   words *why);
void results_fini(results *which);
/* Binds the values, and memory of the session for the outputs. */
ig_status call_bind(const model *m, ig_session *session, const call *with,
                    ig_view *outputs, words *why);
/* A tensor as a view; false when the runtime takes no such value (a list, rank > 8). */
bool view_of(const ig_argument *tensor, ig_view *out);

size_t element_count(const ig_argument *tensor);
size_t element_bits(const char *dtype);
bool is_real(const char *dtype);

#endif
