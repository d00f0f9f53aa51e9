/* Constants as tensors that borrow their bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_DATA_H
#define IG_IR_DATA_H

#include "ir/graph.h"
#include "ir/tensor/tensor.h"

/* Splats are written out into `arena`.  `context` is for messages; it may be NULL. */
ig_status ig_tensor_of_data(const ig_data *data, ig_arena *arena, ig_context *context,
                            ig_tensor *out_tensor);

#endif
