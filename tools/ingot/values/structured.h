/* Structured values: arguments and results of models from Python.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value is a tree with the kinds of ingot/tree.h whose tensors hold data.  It comes
 * from JSON (values.json of a case, or --input), from a short text, or is only compared
 * with: a model's result stays a flat list that the model's tree explains.
 */
#ifndef IG_TOOLS_INGOT_VALUES_STRUCTURED_H
#define IG_TOOLS_INGOT_VALUES_STRUCTURED_H

#include "tools/ingot/values/compare.h"

#include <jansson.h>

typedef struct structured structured;
struct structured {
    ig_tree_kind kind;
    char *name; /* of an argument or field, or NULL */
    char *text; /* STR: content; else NULL */
    int64_t integer;
    double real;
    structured *items; /* a dict's: key, value, key … */
    size_t count;
    ig_arguments *owner; /* TENSOR: its one value; else the archive of shared ones */
    const ig_argument *shared; /* TENSOR: a value that a node above owns, or NULL */
};

void structured_free(structured *value);
structured *structured_add(structured *to, ig_tree_kind kind, const char *name);
const ig_argument *structured_tensor(const structured *value);
/* The tree as ig_import_options takes it: "kjt(keys=["a"], values=i64[7], …)".  With
 * `symbols`, extents are names that begin so, "x0_d1"; `*number` counts tensors. */
char *structured_statement(const structured *value, const char *symbols, size_t *index);

/* ---- from JSON (structured_json.c) ---- */

/* The files of {"tensor": K}: "FOLDER/input_K.npy". */
typedef struct structured_files {
    ig_context *context;
    const char *folder, *kind;
} structured_files;

/* A node as in values.json.  False: `why` tells, or the context has. */
bool structured_of_json(const json_t *json, const structured_files *files,
                        structured *out, message *why);

/* ---- from text (structured_text.c) ---- */

/* The value of --input: JSON as in values.json, inline or "@FILE.json" (its tensors are
 * beside it as input_K.npy); "kjt:keys=a,b;lengths=1,2;values=5,6,7"; "none", a number,
 * true, false or a quoted string; else a tensor's value. */
bool structured_parse(ig_context *context, const char *text, structured *out,
                      message *why);

/* ---- arguments of a call (inputs_structured.c) ---- */

/* Are the arguments of models of this format structured and without types? */
bool is_structured_format(const char *format);
/* Reads the arguments that --inputs and --input give (a tuple; some have names), and
 * imports and compiles the model for them. */
ig_status structured_model_open(const settings *given, ig_context *context,
                                const char *path, structured *out_arguments,
                                model *out);
/* The arguments that --inputs and --input give: a tuple; some have names. */
ig_status structured_arguments(const settings *given, ig_context *context,
                               structured *out);

/* ---- arguments as the model's inputs (bind_tree.c) ---- */

/* Does --input name an argument that is a container, or --inputs a folder with the
 * values.json of a call? */
bool tree_is_given(const settings *given, const model *m);
/* Binds the arguments; tensors are borrowed from them.  `why`: the value that does not
 * fit. */
ig_status tree_bind(const model *m, const structured *arguments, call *out,
                    message *why);
/* The same; reports values that do not fit, and the model's own types. */
ig_status tree_bind_or_report(const model *m, const structured *arguments, call *out);

/* ---- against a model's result (structured_compare.c) ---- */

/* False: `why` names the path and the first difference. */
bool structured_agrees(ig_call *tree, const results *got, const structured *want,
                       const tolerance *within, message *why);
#endif
