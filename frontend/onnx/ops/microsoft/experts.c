/* MoE of com.microsoft: each token through the few experts that its router prefers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  A token's k largest router values
 * go through softmax and weigh their experts.  Tokens are copied for each of their
 * experts, those of one expert together, so that an expert computes no others.
 */
#include "compose/activation.h"
#include "compose/grouped.h"
#include "compose/segments.h"
#include "frontend/onnx/ops/hooks.h"

enum { X, ROUTER, FC1, BIAS1, FC2, BIAS2, FC3, BIAS3 };

/* x [rows, in] through the layers of their experts, w [E, out, in], bias [E, out]. */
static ig_value *apply_layer(const ig_onnx_node *node, const ig_grouping *experts,
                             ig_value *x, uint32_t weights) {
    ig_expr *e = node->e;
    ig_value *w = ig_onnx_ranked_input(node, weights, 3);
    ig_value *bias = ig_onnx_in(node, weights + 1);
    w = ig_expr_swap(e, ig_expr_cast(e, w, IG_DT_f32), 1, 2);
    ig_value *y = ig_compose_grouped_matmul(e, x, w, experts->ends);
    if (bias) {
        bias = ig_expr_cast(e, ig_onnx_ranked_input(node, weights + 1, 2), IG_DT_f32);
        y = ig_build_add(e, y, ig_compose_take_rows(e, bias, experts->groups));
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

/* The k experts of each token, i64 [T, k], and what each counts, [T, k]: their softmax
 * among all, or among these alone. */
static bool choose_experts(const ig_onnx_node *node, ig_value *router, int64_t k,
                           ig_value **out_experts, ig_value **out_weights) {
    ig_expr *e = node->e;
    bool is_shared = ig_onnx_attr_bool(node, "normalize_routing_weights", false);
    ig_value *all = ig_expr_cast(e, router, IG_DT_f32), *best[2];
    ig_topk_attrs attrs = { .axis = 1 };
    ig_value *count = ig_expr_integer(e, IG_DT_i64, k);
    if (!ig_expr_results(ig_build_topk(e, all, count, attrs), best)) {
        return false;
    }
    ig_softmax_attrs along = { .axis = 1 };
    ig_value *weights = ig_build_gather_elements(
        e, ig_build_softmax(e, all, along), best[1],
        (ig_gather_elements_attrs){ .axis = 1 });
    if (is_shared) {
        ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, weights, 1, true);
        weights = ig_build_div(e, weights, sum);
    }
    *out_experts = best[1];
    *out_weights = weights;
    return weights != NULL;
}

/* Tokens [T, H] through the experts of each, rows of one expert together. */
static ig_value *run_experts(const ig_onnx_node *node, const ig_grouping *experts,
                             ig_value *tokens, int64_t k, uint32_t kind) {
    ig_expr *e = node->e;
    ig_value *token = ig_build_div(e, experts->order, ig_expr_integer(e, IG_DT_i64, k));
    ig_value *x = ig_compose_take_rows(e, tokens, token);
    ig_value *inner = activate_inner(node, kind, apply_layer(node, experts, x, FC1));
    if (ig_onnx_in(node, FC3)) {
        inner = ig_build_mul(e, inner, apply_layer(node, experts, x, FC3));
    }
    return apply_layer(node, experts, inner, FC2);
}

ig_status ig_onnx_import_experts(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, X), *chosen, *weights;
    ig_value *router = ig_onnx_ranked_input(node, ROUTER, 2);
    int64_t k = ig_onnx_attr_between(node, "k", 1, 1, INT32_MAX);
    uint32_t kind = ig_onnx_attr_choice(node, "activation_type",
                                        "relu gelu silu identity");
    ig_grouping experts;
    IG_TRY(e->status);
    const ig_type *type = x->type;
    if (type->rank < 2 || ig_onnx_attr_bool(node, "use_sparse_mixer", false)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "use_sparse_mixer, or tokens of rank %u", type->rank);
    }
    ig_value *tokens = ig_expr_merge_axes(e, x, 0, type->rank - 2u);
    tokens = ig_expr_cast(e, tokens, IG_DT_f32);
    if (!choose_experts(node, router, k, &chosen, &weights) ||
        !ig_compose_group_rows(e, ig_expr_flatten(e, chosen), router->type->dims[1],
                               &experts)) {
        return e->status;
    }
    ig_value *y = run_experts(node, &experts, tokens, k, kind);
    IG_TRY(e->status);
    ig_dim dims[] = { tokens->type->dims[0], ig_dim_of(k), y->type->dims[1] };
    y = ig_compose_put_rows(e, y, experts.order, y->type->dims[0],
                            ig_expr_number(e, IG_DT_f32, 0));
    y = ig_build_mul(e, ig_expr_reshape(e, y, 3, dims),
                     ig_expr_unsqueeze(e, weights, 2));
    y = y ? ig_expr_reduce_axis(e, IG_REDUCE_sum, y, 1, false) : NULL;
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}
