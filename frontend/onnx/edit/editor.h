/* The inside of the editor.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_EDIT_EDITOR_H
#define IG_FRONTEND_ONNX_EDIT_EDITOR_H

#include "frontend/onnx/edit/edit.h"
#include "frontend/onnx/read/model.h"

struct ig_onnx_editor {
    ig_onnx_model model;
    ig_map known; /* name of a value -> ig_onnx_known */
};

/* Maps and unpacks a file; the module owns all of it. */
ig_status ig_onnx_edit_read(ig_context *context, const char *path,
                            ig_module **out_module, ig_onnx_model *model);

/* Adds the names that a node reads.  Names that a graph inside of it reads from outside
 * (or calls by the same name, which is harmless) is among them.  Recursion is as deep
 * as the wire walk let graphs nest. */
void ig_onnx_read_names(ig_map *read, const Onnx__NodeProto *node);

/* The fate of an extent. */
int64_t ig_onnx_cut_extent(const ig_onnx_variant *variant, int64_t extent);
/* A constant as a variant has it; new parts are the arena's. */
Onnx__TensorProto *ig_onnx_cut_constant(const ig_onnx_variant *variant,
                                        const Onnx__TensorProto *from, ig_arena *arena);
/* An input's value as a variant reads it: whole numbers that may be places in an extent
 * that is cut are so still.  New data is the arena's. */
void ig_onnx_cut_value(const ig_onnx_variant *variant, ig_tensor *value,
                       ig_arena *arena);

#endif
