/* MoE of com.microsoft: each token through the few experts that its router prefers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  A token's k largest router values
 * go through softmax and weigh their experts.  Tokens are copied for each of their
 * experts, those of one expert together, so that an expert computes no others.
 */
#include "frontend/onnx/ops/microsoft/experts.h"

#include "compose/activation.h"
#include "compose/rows/segments.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>

enum { X, ROUTER, FC1, BIAS1, FC2, BIAS2, FC3, BIAS3 };
enum { RELU, GELU, SILU, IDENTITY, SWIGLU };
enum { APART, ALTERNATE, HALVES }; /* swiglu_fusion */

/* ---- an expert's first layer ---- */

static ig_onnx_activation read_activation(const ig_onnx_node *node) {
    ig_onnx_activation a = {
        .kind = ig_onnx_attr_choice(node, "activation_type",
                                    "relu gelu silu identity swiglu"),
        .fusion = ig_onnx_attr_between(node, "swiglu_fusion", APART, APART, HALVES),
        .alpha = ig_onnx_attr_float(node, "activation_alpha", 1),
        .beta = ig_onnx_attr_float(node, "activation_beta", 0),
        .limit = ig_onnx_attr_float(node, "swiglu_limit", (double)INFINITY),
    };
    return a;
}

/* Gate and factor, in one row. */
static void split_gate(ig_expr *e, int64_t fusion, ig_value *x, ig_value *out[2]) {
    ig_dim half = ig_dim_exact_div(e->module, ig_onnx_extent(e, x, 1), ig_dim_of(2));
    for (int64_t i = 0; i < 2; i++) {
        bool is_second_half = fusion == HALVES && i == 1;
        ig_dim start = is_second_half ? half : ig_dim_of(fusion == HALVES ? 0 : i);
        out[i] = ig_expr_slice(e, x, 1, start, half, fusion == HALVES ? 1 : 2);
    }
}

/* min(g, limit) * sigmoid(alpha * min(g, limit)) * (clip(l, -limit, limit) + beta) */
static ig_value *apply_swiglu(ig_expr *e, const ig_onnx_activation *a, ig_value *x,
                              ig_value *third) {
    ig_value *parts[] = { x, third };
    if (!x) {
        return NULL;
    }
    if (a->fusion != APART) {
        split_gate(e, a->fusion, x, parts);
    }
    if (!isinf(a->limit)) {
        parts[0] = ig_expr_with(e, IG_OP_min, parts[0], a->limit);
        parts[1] = ig_compose_clip(e, parts[1], -a->limit, a->limit);
    }
    ig_value *gate = ig_compose_swish(e, parts[0], a->alpha);
    return ig_build_mul(e, gate, ig_expr_with(e, IG_OP_add, parts[1], a->beta));
}

ig_value *ig_onnx_activate_experts(ig_expr *e, const ig_onnx_activation *a, ig_value *x,
                                   ig_value *third) {
    switch (a->kind) {
    case SWIGLU:
        return apply_swiglu(e, a, x, third);
    case RELU:
        x = ig_build_relu(e, x);
        break;
    case GELU:
        x = ig_build_gelu(e, x, (ig_gelu_attrs){ .tanh = true });
        break;
    case SILU:
        x = ig_compose_swish(e, x, 1);
        break;
    default:
        break;
    }
    return third ? ig_build_mul(e, x, third) : x;
}

/* ---- ways to experts, and back ---- */

/* The k experts of each token, i64 [T, k], and the weight of each, [T, k]. */
static bool choose_experts(const ig_onnx_node *node, ig_onnx_share share,
                           ig_value *mixing, ig_onnx_routes *r,
                           ig_value **out_experts) {
    ig_expr *e = node->e;
    bool is_shared = share == IG_ONNX_SHARE_chosen;
    ig_value *all = ig_expr_cast(e, node->inputs[ROUTER], IG_DT_f32), *best[2];
    ig_topk_attrs attrs = { .axis = 1 };
    ig_value *count = ig_expr_integer(e, IG_DT_i64, r->k);
    if (!ig_expr_results(ig_build_topk(e, all, count, attrs), best)) {
        return false;
    }
    ig_softmax_attrs along = { .axis = 1 };
    ig_value *from = mixing ? ig_expr_cast(e, mixing, IG_DT_f32)
                            : ig_build_softmax(e, all, along);
    r->weights = ig_build_gather_elements(e, from, best[1],
                                          (ig_gather_elements_attrs){ .axis = 1 });
    if (is_shared) {
        ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, r->weights, 1, true);
        r->weights = ig_build_div(e, r->weights, sum);
    }
    *out_experts = best[1];
    return r->weights != NULL;
}

/* Cases beyond the formulas are errors before them. */
static bool check_experts(const ig_onnx_node *node, const ig_onnx_routes *r,
                          uint32_t third) {
    uint32_t rank = node->inputs[X]->type->rank;
    if (ig_onnx_has_failed(node)) {
        return false;
    }
    if (rank < 2 || ig_onnx_attr_bool(node, "use_sparse_mixer", false)) {
        ig_onnx_fail(node, IG_UNSUPPORTED,
                     "use_sparse_mixer, and tokens of rank %u, are not supported",
                     rank);
        return false;
    }
    bool is_apart = r->activation.kind == SWIGLU && r->activation.fusion == APART;
    bool has_third = ig_onnx_in(node, third) != NULL;
    if (r->activation.kind == SWIGLU && has_third != is_apart) {
        ig_onnx_fail(
            node, IG_INVALID,
            "swiglu_fusion is %lld and input %u, fc3, is %s: swiglu_fusion 0 needs it, others do not take it",
            (long long)r->activation.fusion, third, has_third ? "there" : "absent");
        return false;
    }
    return true;
}

bool ig_onnx_route(const ig_onnx_node *node, ig_onnx_share share, ig_value *mixing,
                   uint32_t third, ig_onnx_routes *out) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, X), *chosen;
    const ig_type *router = ig_onnx_ranked_input(node, ROUTER, 2)->type;
    *out = (ig_onnx_routes){ .k = ig_onnx_attr_between(node, "k", 1, 1, INT32_MAX),
                             .activation = read_activation(node) };
    if (!check_experts(node, out, third)) {
        return false;
    }
    x = ig_expr_merge_axes(e, x, 0, x->type->rank - 2u);
    out->tokens = ig_expr_cast(e, x, IG_DT_f32);
    return choose_experts(node, share, mixing, out, &chosen) &&
           ig_compose_group_rows(e, ig_expr_flatten(e, chosen),
                                 ig_onnx_extent_of(e, router, 1), &out->by);
}

ig_value *ig_onnx_token_of(ig_expr *e, const ig_onnx_routes *routes, ig_value *order) {
    return ig_build_div(e, order, ig_expr_integer(e, IG_DT_i64, routes->k));
}

ig_status ig_onnx_join_experts(ig_onnx_node *node, const ig_onnx_routes *routes,
                               ig_value *y) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[X]->type;
    IG_TRY(e->status);
    ig_dim dims[] = { ig_onnx_extent(e, routes->tokens, 0), ig_dim_of(routes->k),
                      ig_onnx_extent(e, y, 1) };
    y = ig_compose_put_rows(e, y, routes->by.order, ig_onnx_extent(e, y, 0),
                            ig_expr_number(e, IG_DT_f32, 0));
    y = ig_build_mul(e, ig_expr_reshape(e, y, 3, dims),
                     ig_expr_unsqueeze(e, routes->weights, 2));
    y = y ? ig_expr_reduce_axis(e, IG_REDUCE_sum, y, 1, false) : NULL;
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[X]));
}

/* ---- MoE ---- */

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

ig_status ig_onnx_import_experts(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_onnx_routes r;
    IG_TRY(ig_onnx_needs_input(node, FC2) ? IG_OK : e->status);
    bool is_shared = ig_onnx_attr_bool(node, "normalize_routing_weights", false);
    if (!ig_onnx_route(node, is_shared ? IG_ONNX_SHARE_chosen : IG_ONNX_SHARE_all, NULL,
                       FC3, &r)) {
        return e->status;
    }
    ig_value *token = ig_onnx_token_of(e, &r, r.by.order);
    ig_value *x = ig_compose_take_rows(e, r.tokens, token), *third = NULL;
    ig_value *inner = apply_layer(node, &r.by, x, FC1);
    if (ig_onnx_in(node, FC3)) {
        third = apply_layer(node, &r.by, x, FC3);
    }
    inner = ig_onnx_activate_experts(e, &r.activation, inner, third);
    return ig_onnx_join_experts(node, &r, apply_layer(node, &r.by, inner, FC2));
}
