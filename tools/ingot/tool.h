/* What the verbs share: the context, messages, models, values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_TOOL_H
#define IG_TOOLS_INGOT_TOOL_H

#include "tools/ingot/options.h"

#include <ingot/ingot.h>
#include <ingot/runtime.h>

extern const verb *const verbs[]; /* NULL-terminated (verbs.c) */

/* ---- words and statuses (console.c) ---- */

/* The exit status of the command line for a status. */
int exit_of(ig_status status);
/* "ingot: …" on stderr; returns `exit_status`. */
/* Text from a file: what could steer a terminal or fake a line is written as \\xNN. */
void put_plain(FILE *to, const char *text);
/* "  WHAT NAME: TYPE" on a line. */
void put_port(FILE *to, const char *what, const char *name, const char *type);
int complain(int exit_status, const char *format, ...) IG_PRINTF(2, 3);
void note(const settings *given, const char *format, ...) IG_PRINTF(2, 3);
/* Clears the progress line before other output. */
void progress_clear(void);
/* Memory that must be there: prints and exits with status 5 otherwise. */
void *need(void *memory);
char *text_of(const char *format, ...) IG_PRINTF(1, 2); /* free() it */

/* Why something failed; "" where the context has said it already. */
typedef struct words {
    char text[4096];
} words;

/* A context that prints messages and progress on stderr (silent: keeps them), with
 * limits set; Ctrl-C cancels its work, a second one exits.  NULL after a message
 * (status in *out_exit). */
ig_context *context_open(const settings *given, words *errors, int *out_exit);
void context_close(ig_context *context);
bool was_interrupted(void);
/* Ctrl-C also stops the run in progress; NULL: no longer. */
void interrupt_also(ig_session *session);

/* ---- models (model.c) ---- */

/* What MODEL names: an artifact, or a module (NULL program until compiled). */
typedef struct model {
    ig_context *context;
    ig_module *module;   /* NULL for an artifact */
    ig_program *program; /* NULL for --target interpret */
} model;

bool is_artifact(const char *path);
ig_compile_options compile_options(const settings *given);
/* Statements, entry and fixes. */
ig_import_options import_options(const settings *given);
bool fixes_rowwise_mean(const settings *given);
/* Prints what is in `why`, if anything, and returns the exit status. */
int report(ig_status status, const words *why);

/* Reads and, unless the target is interpret, compiles. */
ig_status model_open(const settings *given, ig_context *context, const char *path,
                     model *out, words *why);
ig_status program_open(const char *path, const ig_program_options *how,
                       ig_program **out_program, words *why);
void model_close(model *which);
bool is_interpret(const char *target);

size_t model_input_count(const model *m);
size_t model_output_count(const model *m);
const char *model_input_name(const model *m, size_t index);
const char *model_input_type(const model *m, size_t index);
const char *model_output_name(const model *m, size_t index);
const char *model_output_type(const model *m, size_t index);
/* States stand behind the inputs: their names and types are those of inputs. */
size_t model_state_count(const model *m);
size_t model_node_count(const model *m);
ig_tree_node model_node(const model *m, size_t index);
/* A session of the model's program; NULL and *out NULL for the interpreter. */
ig_status session_open(const settings *given, const model *m, ig_session **out,
                       words *why);

/* ---- calls (call.c) ---- */

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

/* ---- showing (show.c) ---- */

/* "f32[2, 3]" or "list of 3"; free() it. */
char *type_text(const ig_argument *value);
/* The shortest text that reads back as the element. */
void element_text(const ig_argument *tensor, size_t index, char *out, size_t size);
/* Names, types and values, for people; long tensors are cut. */
void show_values(const ig_argument *values, const char *const *names, size_t count);
void show_values_json(const ig_argument *values, const char *const *names,
                      size_t count);
/* More than a flat list of tensors? */
bool tree_is_structured(const model *m);
size_t tree_result(const model *m); /* its node */
/* The tree from node `at` on, with types of leaves: "kjt(keys=["a"], …)"; free() it. */
char *tree_text(const model *m, size_t at);
void put_tree_json(const model *m, size_t at);
/* A string as JSON, with its quotes. */
void put_json_text(FILE *to, const char *text);

#endif
