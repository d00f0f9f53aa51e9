/* Types of inputs that values say.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_DECLARE_H
#define IG_TOOLS_INGOT_VALUES_DECLARE_H

#include "tools/ingot/model/call.h"

/* Names and types of a model's inputs, and no more of it: of ONNX nodes are not read,
 * and "f32[any_rank]" is an input whose rank the file does not say. */
ig_status declared_open(const settings *given, ig_context *context, const char *path,
                        model *out);
/* The same with those inputs for which an ONNX file has a default. */
ig_status declared_open_all(const settings *given, ig_context *context,
                            const char *path, model *out);
bool is_unranked(const char *type);

/* "x=f32[2, 13]" for a value, "x=f32[n0_0, n0_1]" with open extents, of a list the type
 * of its first item; NULL for a value that says no type. */
char *declare_input(const char *name, const ig_argument *value, size_t index,
                    bool is_open);

typedef struct declarations {
    char **items;
    size_t count;
} declarations;

/* A statement for each input whose rank the file does not say and whose value is
 * given, and for each given by name that has a default. */
ig_status declare_unranked(const settings *given, ig_context *context, const char *path,
                           declarations *out);
/* The statements of --input NAME=TYPE, and for --dim one for each other input with such
 * an extent.  Only ONNX names its extents before it is imported. */
ig_status declare_extents(const settings *given, ig_context *context, const char *path,
                          declarations *out);
void declarations_free(declarations *which);
/* Reads the model by these statements. */
ig_status declared_import(const settings *given, ig_context *context, const char *path,
                          ig_module **out);

#endif
