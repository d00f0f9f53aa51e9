/* ONNX test data: one TensorProto, SequenceProto or OptionalProto a file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_READ_ONNX_TENSOR_H
#define IG_FRONTEND_ONNX_READ_ONNX_TENSOR_H

#include "base/writer.h"
#include "ir/tensor/tensor.h"

/* `kind` says which message it is (the model's type of the value).  Data is copied into
 * `arena`.  `file` is for messages. */
ig_status ig_onnx_tensor_read(ig_context *context, ig_arena *arena, const char *file,
                              ig_str bytes, ig_kind kind, ig_tensor *out_tensor);
/* Appends the message of `tensor` to `out`. */
ig_status ig_onnx_tensor_write(ig_context *context, const ig_tensor *tensor,
                               const char *name, ig_writer *out);

#endif
