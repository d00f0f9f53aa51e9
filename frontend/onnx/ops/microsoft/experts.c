/* MoE of com.microsoft: each token through the few experts that its router prefers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  A token's k largest router values
 * go through softmax and weigh their experts; all experts are computed for all tokens,
 * and those that a token does not prefer count 0 times.
 */
#include "compose/activation.h"
#include "frontend/onnx/ops/hooks.h"

enum { X, ROUTER, FC1, BIAS1, FC2, BIAS2, FC3, BIAS3 };

/* x [E or 1, T, in] through a layer of each expert, w [E, out, in], bias [E, out]. */
static ig_value *apply_layer(const ig_onnx_node *node, ig_value *x, uint32_t weights) {
    ig_expr *e = node->e;
    ig_value *w = ig_onnx_ranked_input(node, weights, 3);
    ig_value *bias = ig_onnx_in(node, weights + 1);
    ig_value *y = ig_expr_matmul_transposed(e, x, ig_expr_cast(e, w, IG_DT_f32));
    if (bias) {
        bias = ig_expr_cast(e, ig_onnx_ranked_input(node, weights + 1, 2), IG_DT_f32);
        y = ig_build_add(e, y, ig_expr_unsqueeze(e, bias, 1));
    }
    return y;
}

static ig_value *activate_inner(const ig_onnx_node *node, uint32_t kind, ig_value *x) {
    ig_expr *e = node->e;
    switch (kind) {
    case 0:
        return ig_build_relu(e, x);
    case 1:
        return ig_build_gelu(e, x, (ig_gelu_attrs){ .tanh = true });
    case 2:
        return ig_compose_swish(e, x, 1);
    default:
        return x;
    }
}

/* What each expert counts for each token, [E, T, 1]: the k largest of the router's
 * values [T, E] by their softmax, the others 0. */
static ig_value *weigh_experts(const ig_onnx_node *node, ig_value *router, int64_t k) {
    ig_expr *e = node->e;
    bool is_shared = ig_onnx_attr_bool(node, "normalize_routing_weights", false);
    ig_value *all = ig_expr_cast(e, router, IG_DT_f32), *best[2];
    ig_topk_attrs attrs = { .axis = 1 };
    ig_value *count = ig_expr_integer(e, IG_DT_i64, k);
    if (!ig_expr_results(ig_build_topk(e, all, count, attrs), best)) {
        return NULL;
    }
    ig_softmax_attrs along = { .axis = 1 };
    ig_value *expert = ig_expr_axis_iota(e, 3, 2, router->type->dims[1]);
    ig_value *is_own = ig_build_eq(e, ig_expr_unsqueeze(e, best[1], 2), expert);
    ig_value *is_chosen = ig_expr_reduce_axis(
        e, IG_REDUCE_max, ig_expr_cast(e, is_own, IG_DT_f32), 1, false);
    ig_value *weights = ig_build_mul(e, ig_build_softmax(e, all, along), is_chosen);
    if (is_shared) {
        ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, weights, 1, true);
        weights = ig_build_div(e, weights, sum);
    }
    return ig_expr_unsqueeze(e, ig_expr_swap(e, weights, 0, 1), 2);
}

ig_status ig_onnx_import_experts(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, X);
    ig_value *router = ig_onnx_ranked_input(node, ROUTER, 2);
    int64_t k = ig_onnx_attr_between(node, "k", 1, 1, INT32_MAX);
    uint32_t kind = ig_onnx_attr_choice(node, "activation_type",
                                        "relu gelu silu identity");
    IG_TRY(e->status);
    const ig_type *type = x->type;
    if (type->rank < 2 || ig_onnx_attr_bool(node, "use_sparse_mixer", false)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "use_sparse_mixer, or tokens of rank %u", type->rank);
    }
    ig_value *tokens = ig_expr_merge_axes(e, x, 0, type->rank - 2u);
    tokens = ig_expr_unsqueeze(e, ig_expr_cast(e, tokens, IG_DT_f32), 0);
    ig_value *inner = activate_inner(node, kind, apply_layer(node, tokens, FC1));
    if (ig_onnx_in(node, FC3)) {
        inner = ig_build_mul(e, inner, apply_layer(node, tokens, FC3));
    }
    ig_value *y = apply_layer(node, inner, FC2);
    y = ig_build_mul(e, y, weigh_experts(node, router, k));
    y = y ? ig_expr_reduce_axis(e, IG_REDUCE_sum, y, 0, false) : NULL;
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}
