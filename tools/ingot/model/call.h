/* Calls of a model: values in, results out, by a program or by the interpreter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_CALL_H
#define IG_TOOLS_INGOT_MODEL_CALL_H

#include "tools/ingot/model/model.h"

/* Values in the order of the model's inputs. */
typedef struct call {
    ig_argument *inputs;
    ig_arguments **owners; /* of each input, or NULL; closed with the call */
    size_t count;
    ig_call *tree; /* that arranged them, or NULL; destroyed with the call */
} call;

void call_init(call *which, size_t count);
void call_fini(call *which);

/* Results of a run: borrowed from session or module until its next run. */
typedef struct results {
    ig_argument *items;
    size_t count;
    ig_view *views;
    const char *const *names; /* where a script gave them; NULL: the model's outputs' */
    void **made;              /* memory that items point to (lists.h) */
    size_t made_count;
} results;

/* Runs the program in `session`, or the interpreter when `session` is NULL. */
ig_status call_run(const model *m, ig_session *session, const call *with, results *out,
                   message *why);
void results_fini(results *which);
/* The session's message for a status that is not good, with the model's name before
 * it. */
void message_of_session(const model *m, const ig_session *session, ig_status status,
                        message *why);
/* Binds the values, lists as the tensors that programs take, and memory of the session
 * for the outputs: `out`, empty before, whose views are the program's.  It is the
 * caller's after a failure too, and ends after the session. */
ig_status call_bind(const model *m, ig_session *session, const call *with, results *out,
                    message *why);
/* Its values as the runtime takes them: room for with->count. */
ig_status call_views(const model *m, const call *with, ig_view *out, message *why);
/* A tensor as a view; false when the runtime takes no such value (a list, rank > 8). */
bool view_of(const ig_argument *tensor, ig_view *out);
/* The other way: extents and data stay the view's. */
void argument_of(const ig_view *view, ig_argument *out);
/* Nested arguments and results of the model's tree. */
ig_status model_call_create(const model *m, ig_call **out, message *why);

size_t element_count(const ig_argument *tensor);
size_t element_bits(const char *dtype);
/* Elements that are addresses of texts, and one of them. */
bool holds_texts(const char *dtype);
const char *element_text_at(const ig_argument *tensor, size_t index);
bool is_real(const char *dtype);

#endif
