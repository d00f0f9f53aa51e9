/* Heads of queries in groups, each of which shares one of keys and values, and a cache
 * that each call extends: what operators of decoders have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MICROSOFT_GROUP_H
#define IG_FRONTEND_ONNX_OPS_MICROSOFT_GROUP_H

#include "frontend/onnx/ops/microsoft/heads.h"

/* Inputs that all have. */
enum {
    IG_ONNX_G_QUERY,
    IG_ONNX_G_KEY,
    IG_ONNX_G_VALUE,
    IG_ONNX_G_PAST_KEY,
    IG_ONNX_G_PAST_VALUE
};

typedef struct ig_onnx_group {
    ig_onnx_heads h;
    ig_value *past;      /* i64 [B]: rows of the cache before this call */
    ig_value *total;     /* i64 [B]: and after it */
    ig_value *positions; /* i64 [B, L], or NULL: they count on from the past */
    ig_dim rows, all;    /* of this call; of the cache after it */
} ig_onnx_group;

/* Queries, keys and values, which may be side by side in the first input, and how many
 * rows they are.  false: the node has failed. */
bool ig_onnx_read_group(ig_onnx_group *g);
/* Finds the rows that each batch had before the call, from `lengths`, its rows after
 * it [B], and their `max`, i64[]. */
void ig_onnx_find_past(ig_onnx_group *g, ig_value *lengths, ig_value *max);
/* Queries and keys turned by the angles of their rows, inputs `cos` and `sin`. */
void ig_onnx_rotate_group(ig_onnx_group *g, uint32_t cos, uint32_t sin);
/* The caches with this call's rows in place, results 1 and 2. */
void ig_onnx_extend_caches(ig_onnx_group *g);
/* i64 [B, 1, rows, 1]: the place of each query's row in the cache. */
ig_value *ig_onnx_own_rows(const ig_onnx_group *g);

#endif
