/* Strings that an operator only moves.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_IMPORT_PLACES_H
#define IG_FRONTEND_ONNX_IMPORT_PLACES_H

#include "frontend/onnx/import/import.h"

/* Has the node strings among the inputs whose elements it moves? */
bool ig_onnx_moves_texts(const ig_onnx_node *node);
/* The row's import function over the places of such strings, and their choice. */
ig_status ig_onnx_import_texts_by_position(ig_onnx_node *node);

#endif
