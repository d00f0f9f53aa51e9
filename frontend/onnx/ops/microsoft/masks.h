/* Masks of tokens, as embeddings give them on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MICROSOFT_MASKS_H
#define IG_FRONTEND_ONNX_OPS_MICROSOFT_MASKS_H

#include "frontend/onnx/import/args.h"

/* How many tokens of each row of `words` [B, L] count, i32 [B]: those that the mask,
 * input `index`, has 1 for; 0 where it is absent. */
ig_value *ig_onnx_count_masked(const ig_onnx_node *node, const ig_value *words,
                               uint32_t index);

#endif
