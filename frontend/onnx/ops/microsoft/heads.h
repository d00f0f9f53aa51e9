/* Heads of attention, as operators of com.microsoft have them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MICROSOFT_HEADS_H
#define IG_FRONTEND_ONNX_OPS_MICROSOFT_HEADS_H

#include "compose/attention.h"
#include "frontend/onnx/import/args.h"

/* One call's heads, [B, heads, L, E]. */
typedef struct ig_onnx_heads {
    ig_onnx_node *node;
    ig_expr *e;
    int64_t count, keys; /* heads of queries, of keys and values */
    ig_value *q, *k, *v;
    ig_value *bias; /* floats that are added to the scores, or NULL */
} ig_onnx_heads;

/* Attention of these heads, each of keys for as many of queries as it takes. */
ig_attention ig_onnx_open_attention(ig_onnx_heads *h);
/* Its result, [B, L, heads * E]: output 0. */
ig_status ig_onnx_give_attention(ig_onnx_heads *h, ig_attention *a);
/* Part `index` of an axis that holds parts of these sizes side by side. */
ig_value *ig_onnx_take_part(ig_expr *e, ig_value *x, uint32_t axis, const ig_dim *sizes,
                            uint32_t index);

#endif
