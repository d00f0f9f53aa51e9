/* ONNX models in, modules out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where to start reading: import.c (the way of a file), then nodes.c (the way of a
 * node), then ops/ops.def and any file of ops/.
 */
#ifndef IG_FRONTEND_ONNX_IMPORT_ONNX_H
#define IG_FRONTEND_ONNX_IMPORT_ONNX_H

#include "ir/build/gradient.h"
#include "ir/tensor/tensor.h"

/* "x" with "f32[8, 13]": replaces the type that the file declares for an input.  A name
 * in place of an extent leaves it symbolic; equal names are the same extent. */
typedef struct ig_onnx_input_type {
    const char *name, *type;
} ig_onnx_input_type;

/* Folds an input into the graph.  The tensor's data is copied. */
typedef struct ig_onnx_input_value {
    const char *name;
    const ig_tensor *tensor;
} ig_onnx_input_value;

/* External data in memory: a file by its location, or a tensor by its name. */
typedef struct ig_onnx_external {
    const char *name;
    ig_str bytes; /* outlive the module */
} ig_onnx_external;

typedef struct ig_onnx_options {
    const ig_onnx_input_type *types;
    size_t type_count;
    const ig_onnx_input_value *constants;
    size_t constant_count;
    const ig_onnx_external *external;
    size_t external_count;
    bool
        is_inputs_only; /* no node is looked at; a rank that is unknown is "any_rank" */
    bool has_defaults;  /* inputs for which the file has a value are inputs, too; else
                         * those alone that `types` or `constants` name */
    bool keeps_weights; /* floats that training may change are weights, however few */
    bool is_outline;    /* with it: operators and weights are there to be told of */
    /* Called for each name of the main graph with its value; several may have one
     * value.  NULL: nobody asks. */
    void (*named)(void *user, const char *name, ig_value *value);
    void *user;
    /* Builds the operator Gradient; reports a failure.  NULL: it is
     * refused. */
    ig_gradient_builder *gradients;
    /* Operators of the user (compose/custom.h), or NULL. */
    const struct ig_custom_functions *functions;
} ig_onnx_options;

/* Reads a model file.  Weights stay in the file, which the module keeps mapped.
 *
 * `*out_module` is set as soon as a module exists, so that a caller to whom exhausted
 * memory unwinds can destroy it; on an error status it is NULL again.  `options` may be
 * NULL. */
ig_status ig_import_onnx(ig_context *context, const char *path,
                         const ig_onnx_options *options, ig_module **out_module);
/* Reads a model in memory, which must outlive the module.  External data is searched
 * beside `path`; NULL: there must be none. */
ig_status ig_import_onnx_memory(ig_context *context, ig_str bytes, const char *path,
                                const ig_onnx_options *options, ig_module **out_module);

#endif
