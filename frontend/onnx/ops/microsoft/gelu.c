/* Gelus, products and norms of com.microsoft, which ONNX Runtime writes when it saves a
 * model that it has optimised.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/activation.h"
#include "compose/norm.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/read/onnx.pb-c.h"

/* ---- gelus ---- */

/* gelu(x + bias); the row's variant: by tanh. */
ig_status ig_onnx_import_bias_gelu(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    if (ig_onnx_row_has_input(node->row, 1) && ig_onnx_in(node, 1)) {
        ig_dim last = x->type->rank ? ig_onnx_extent(node->e, x, x->type->rank - 1)
                                    : ig_dim_of(1);
        ig_value *bias = ig_onnx_list_input(node, 1, last,
                                            "bias must be as long as the last axis");
        x = bias ? ig_build_add(node->e, x, bias) : NULL;
    }
    ig_gelu_attrs attrs = { .tanh = node->row->variant != 0 };
    return ig_onnx_give(node, x ? ig_build_gelu(node->e, x, attrs) : NULL);
}

ig_status ig_onnx_import_quick_gelu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1.702F);
    ig_value *x = ig_onnx_float_input(node, 0);
    IG_TRY(node->e->status);
    return ig_onnx_give(node, ig_compose_swish(node->e, x, alpha));
}

/* ---- FusedMatMul ---- */

/* With its last two axes exchanged when the attribute `swap` says so. */
static ig_value *read_factor(const ig_onnx_node *node, uint32_t index, const char *swap,
                             const char *batch) {
    ig_value *x = ig_onnx_float_input(node, index);
    uint32_t rank = x->type->rank;
    if (ig_onnx_attr_bool(node, batch, false) && rank > 2) {
        x = ig_expr_move_axis(node->e, x, 0, rank - 2); /* rows are first there */
    }
    bool is_swapped = ig_onnx_attr_bool(node, swap, false) && rank > 1;
    return is_swapped ? ig_expr_swap(node->e, x, rank - 2, rank - 1) : x;
}

ig_status ig_onnx_import_fused_matmul(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *a = read_factor(node, 0, "transA", "transBatchA");
    ig_value *b = read_factor(node, 1, "transB", "transBatchB");
    IG_TRY(node->e->status);
    ig_value *product = ig_expr_matmul(node->e, a, b);
    bool is_scaled = product && alpha != 1;
    return ig_onnx_give(
        node, is_scaled ? ig_expr_with(node->e, IG_OP_mul, product, alpha) : product);
}

/* ---- SkipLayerNormalization ---- */

enum { X, SKIP, SCALE };

/* A vector for the last axis, or NULL when it is absent. */
static ig_value *read_vector(const ig_onnx_node *node, uint32_t index, ig_dim last) {
    if (!ig_onnx_in(node, index)) {
        return NULL;
    }
    ig_onnx_float_input(node, index);
    return ig_onnx_list_input(node, index, last,
                              "gamma, beta and bias must be as long as the last axis");
}

/* Of x + skip + bias; the row's variant: by the root mean square, which has no beta. */
ig_status ig_onnx_import_skip_norm(ig_onnx_node *node) {
    bool is_rms = node->row->variant != 0;
    ig_value *x = ig_onnx_float_input(node, X), *skip = ig_onnx_float_input(node, SKIP);
    if (x->type->rank == 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank 0, expected 2 or 3");
    }
    uint32_t axis = x->type->rank - 1u;
    ig_dim last = ig_onnx_extent(node->e, x, axis);
    ig_norm norm = { .scale = read_vector(node, SCALE, last),
                     .bias = is_rms ? NULL : read_vector(node, SCALE + 1, last),
                     .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-12F) };
    ig_value *bias = read_vector(node, is_rms ? SCALE + 1 : SCALE + 2, last);
    IG_TRY(node->e->status);
    ig_value *sum = ig_expr_map2(node->e, IG_OP_add, x, skip);
    sum = bias && sum ? ig_build_add(node->e, sum, bias) : sum;
    IG_TRY(node->e->status);
    if (sum->type->rank != x->type->rank) {
        return ig_onnx_fail(node, IG_INVALID, "skip has more axes than input 0");
    }
    for (uint32_t i = 1; is_rms && i < node->output_count && i < 3; i++) {
        if (node->proto->output[i][0]) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "gives statistics, which is not supported");
        }
    }
    ig_value *wide = ig_expr_widen(node->e, sum), *found[2];
    ig_compose_moments(node->e, wide, axis, norm.epsilon, &found[0], &found[1]);
    for (uint32_t i = 1; i < node->output_count; i++) {
        node->outputs[i] = i < 3 ? found[i - 1] : sum;
    }
    return ig_onnx_give(node, is_rms
                                  ? ig_compose_rms_norm(node->e, sum, axis, &norm)
                                  : ig_compose_layer_norm(node->e, sum, axis, &norm));
}
