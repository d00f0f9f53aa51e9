/* Texts, as several families of operators need them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_TEXT_TEXT_H
#define IG_FRONTEND_ONNX_OPS_TEXT_TEXT_H

#include "frontend/onnx/import/args.h"

/* Strings of an attribute or of a tensor as a constant str [count] (rank 1) or str []
 * (rank 0).  Refused: a zero byte in one. */
ig_status ig_onnx_text_data(const ig_onnx_node *node, uint32_t rank,
                            const ProtobufCBinaryData *texts, size_t count,
                            ig_data *out_data);
/* A list u8 [n] of the one text, or of the strings of attribute `name` (none where it
 * is absent). */
ig_value *ig_onnx_text_list(ig_onnx_node *node, ig_str text);
ig_value *ig_onnx_text_list_of(ig_onnx_node *node, const char *name);
/* The list that a constant of texts was made of; fails for another value. */
ig_value *ig_onnx_text_source(ig_onnx_node *node, const ig_value *texts);
/* x as texts, numbers or bool: `to` is the element type that is wanted. */
ig_value *ig_onnx_text_cast(ig_expr *e, ig_value *x, ig_dtype to);
/* bool: which texts are equal; x and y broadcast. */
ig_value *ig_onnx_text_equal(ig_expr *e, ig_value *x, ig_value *y);

#endif
