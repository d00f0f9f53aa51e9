/* Models of every format: artifacts are opened, all others are compiled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_MODEL_H
#define IG_TOOLS_INGOT_MODEL_MODEL_H

#include "tools/ingot/cli/console.h"

#include <ingot/lookahead.h>

/* The model that MODEL names: an artifact, or a module (NULL program until
 * compiled). */
typedef struct model {
    ig_context *context;
    ig_module *module;   /* NULL for an artifact */
    ig_program *program; /* NULL for --target interpret */
    const char *path;    /* as the user named it, for messages; or NULL */
    ig_lookahead *ahead; /* of an artifact with tables in stores; else NULL */
    int64_t deadline;    /* of a call of such an artifact, in ms; 0: none */
} model;

bool is_artifact(const char *path);
/* ig_model_format; not IG_OK after a message, where a file that is there cannot be read
 * and whoever tried again would take it for another. */
ig_status model_format(const char *path, const char **out_format);
ig_compile_options compile_options(const settings *given);
/* Statements, entry and fixes. */
ig_import_options import_options(const settings *given);
bool fixes_rowwise_mean(const settings *given);
/* Reads and, unless the target is interpret, compiles. */
ig_status model_open(const settings *given, ig_context *context, const char *path,
                     model *out, message *why);
/* The same for models that are not artifacts, by these options; out->context is set. */
ig_status module_open(const settings *given, const char *path,
                      const ig_import_options *how, model *out);
ig_status program_open(const char *path, const ig_program_options *how,
                       ig_program **out_program, message *why);
void model_close(model *which);
/* 0, or the exit status after a message: what isolated work cannot do is asked for. */
int isolation_check(const settings *given);
/* 0, or the exit status after a message: the output would replace the model. */
int output_check(const settings *given);
/* 0, or the exit status after a message: an artifact's name (-o) must end in .ingot. */
int artifact_name_check(const settings *given);
bool is_interpret(const char *target);

/* Does its program take or give two tensors where the model has a list?  Inputs and
 * outputs are the model's then. */
bool model_has_lists(const model *m);
size_t model_input_count(const model *m);
size_t model_output_count(const model *m);
const char *model_input_name(const model *m, size_t index);
const char *model_input_type(const model *m, size_t index);
const char *model_output_name(const model *m, size_t index);
const char *model_output_type(const model *m, size_t index);
/* States follow the inputs: their names and types are those of inputs. */
size_t model_state_count(const model *m);
size_t model_node_count(const model *m);
ig_tree_node model_node(const model *m, size_t index);
/* A session of the model's program; NULL and *out NULL for the interpreter. */
ig_status session_open(const settings *given, const model *m, ig_session **out,
                       message *why);

#endif
