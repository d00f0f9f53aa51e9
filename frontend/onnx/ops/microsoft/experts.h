/* What operators of mixtures of experts share: tokens find their experts, whose outputs
 * come together.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MICROSOFT_EXPERTS_H
#define IG_FRONTEND_ONNX_OPS_MICROSOFT_EXPERTS_H

#include "compose/rows/grouped.h"
#include "frontend/onnx/import/args.h"

/* From the result of an expert's first layer to its last. */
typedef struct ig_onnx_activation {
    uint32_t kind; /* a place in "relu gelu silu identity swiglu" */
    int64_t
        fusion; /* swiglu: 0 gate and factor are two layers, 1 alternate, 2 halves */
    double alpha, beta; /* swiglu */
    double limit;       /* swiglu; INFINITY: none */
} ig_onnx_activation;

typedef struct ig_onnx_routes {
    int64_t k;         /* experts of a token */
    ig_value *tokens;  /* [T, H] in f32 */
    ig_value *weights; /* [T, k] */
    ig_grouping by;    /* rows: k for each token */
    ig_onnx_activation activation;
} ig_onnx_routes;

/* Whose softmax an expert's weight is. */
typedef enum ig_onnx_share {
    IG_ONNX_SHARE_all,    /* that of all experts */
    IG_ONNX_SHARE_chosen, /* of the k chosen ones alone: they sum to 1 */
} ig_onnx_share;

/* Tokens (input 0) by the k largest of their router values (input 1).  `mixing` [T, E]
 * holds the weights themselves, or is NULL: they are the softmax of the router values.
 * `third` is the input that may be the third layer.  false: the node has failed. */
bool ig_onnx_route(const ig_onnx_node *node, ig_onnx_share share, ig_value *mixing,
                   uint32_t third, ig_onnx_routes *out);
/* The rows of tokens of rows of experts. */
ig_value *ig_onnx_token_of(ig_expr *e, const ig_onnx_routes *routes, ig_value *order);
/* x and, where there is a third layer, what that gave. */
ig_value *ig_onnx_activate_experts(ig_expr *e, const ig_onnx_activation *activation,
                                   ig_value *x, ig_value *third);
/* The outputs y [T * k, out], grouped as `routes` says, summed by weight: output 0. */
ig_status ig_onnx_join_experts(ig_onnx_node *node, const ig_onnx_routes *routes,
                               ig_value *y);

#endif
