/* The inside of the editor.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_EDIT_EDITOR_H
#define IG_FRONTEND_ONNX_EDIT_EDITOR_H

#include "frontend/onnx/edit/edit.h"
#include "frontend/onnx/read/model.h"

struct ig_onnx_editor {
    ig_onnx_model model;
    ig_map known; /* name of a value -> ig_tensor */
};

/* Maps and unpacks a file; the module owns all of it. */
ig_status ig_onnx_edit_read(ig_context *context, const char *path,
                            ig_module **out_module, ig_onnx_model *model);

#endif
