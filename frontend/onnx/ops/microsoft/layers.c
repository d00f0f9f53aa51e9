/* Operators of com.microsoft that models of images are fused into, pools of channels
 * last, and LSTM whose weights are integers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.
 */
#include "compose/activation.h"
#include "compose/norm.h"
#include "compose/quantise.h"
#include "frontend/onnx/ops/hooks.h"

enum { X, GAMMA, BETA, SKIP, BIAS };

/* ---- norms of groups of channels ---- */

/* Input `index`, one entry for each of x's channels. */
static ig_value *read_per_channel(const ig_onnx_node *node, uint32_t index,
                                  uint32_t axis) {
    ig_value *x = ig_onnx_ranked_input(node, index, 1);
    if (!ig_onnx_has_failed(node)) {
        ig_onnx_guard_extents(node, X, axis, index, 0);
    }
    return x;
}

/* x and its addend: a tensor of x's extents, or rows of channels [N, C]. */
static ig_value *add_skip(const ig_onnx_node *node, ig_value *x, uint32_t axis) {
    ig_expr *e = node->e;
    ig_value *skip = ig_onnx_in(node, SKIP);
    if (skip->type->rank == 2) {
        skip = ig_expr_unsqueeze(e, ig_expr_unsqueeze(e, skip, axis == 1 ? 2 : 1), 2);
    }
    x = ig_build_add(e, x, ig_expr_like(e, skip, x));
    if (ig_onnx_in(node, BIAS)) {
        ig_value *bias = ig_expr_like(e, read_per_channel(node, BIAS, axis), x);
        bias = axis == 1 ? ig_expr_unsqueeze_to(e, bias, 3) : bias;
        x = ig_build_add(e, x, bias);
    }
    if (node->output_count > 1) {
        node->outputs[1] = x;
    }
    return x;
}

static ig_status norm_images(ig_onnx_node *node, bool has_skip) {
    ig_expr *e = node->e;
    ig_onnx_float_input(node, X);
    ig_value *x = ig_onnx_ranked_input(node, X, 4);
    uint32_t axis = ig_onnx_attr_bool(node, "channels_last", true) ? 3 : 1;
    int64_t groups = ig_onnx_attr_between(node, "groups", 1, 1, INT32_MAX);
    bool is_swished = ig_onnx_attr_bool(node, "activation", false);
    ig_norm norm = { .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5) };
    norm.scale = read_per_channel(node, GAMMA, axis);
    norm.bias = read_per_channel(node, BETA, axis);
    IG_TRY(e->status);
    x = has_skip ? add_skip(node, x, axis) : x;
    ig_value *y = ig_expr_move_axis(e, x, axis, 1);
    y = ig_compose_group_norm(e, y, groups, &norm);
    y = is_swished && y ? ig_compose_swish(e, y, 1) : y;
    return ig_onnx_give(node, ig_expr_move_axis(e, y, 1, axis));
}

/* GroupNorm(x, gamma, beta) */
ig_status ig_onnx_import_group_norm_of_images(ig_onnx_node *node) {
    return norm_images(node, false);
}

/* SkipGroupNorm(x, gamma, beta, skip, bias?) */
ig_status ig_onnx_import_skip_group_norm(ig_onnx_node *node) {
    return norm_images(node, true);
}

/* ---- biases ---- */

ig_status ig_onnx_import_add_bias(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *y = ig_build_add(e, node->inputs[0], ig_onnx_ranked_input(node, 1, 1));
    return ig_onnx_give(node, ig_build_add(e, y, node->inputs[2]));
}

/* The first half of x + bias by the gelu of the second. */
ig_status ig_onnx_import_split_gelu(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_onnx_float_input(node, 0);
    ig_value *x = ig_onnx_ranked_input(node, 0, 3);
    x = ig_build_add(e, x, ig_onnx_ranked_input(node, 1, 1));
    IG_TRY(e->status);
    ig_dim half = ig_dim_exact_div(e->module, ig_onnx_extent(e, x, 2), ig_dim_of(2));
    ig_value *left = ig_expr_slice(e, x, 2, ig_dim_of(0), half, 1);
    ig_value *right = ig_expr_slice(e, x, 2, half, half, 1);
    right = ig_build_gelu(e, right, (ig_gelu_attrs){ .tanh = false });
    return ig_onnx_give(node, ig_build_mul(e, left, right));
}

/* ---- pools ---- */

/* By the pool's own import function, which reads the node's row and attributes. */
ig_status ig_onnx_import_max_pool_of_last(ig_onnx_node *node) {
    ig_expr *e = node->e;
    uint32_t rank = node->inputs[0]->type->rank;
    if (rank < 3) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3 or more",
                            rank);
    }
    ig_value *x = ig_expr_move_axis(e, node->inputs[0], rank - 1, 1), *y = NULL;
    IG_TRY(e->status);
    ig_onnx_node inner = *node;
    inner.inputs = &x;
    inner.outputs = &y;
    IG_TRY(ig_onnx_import_max_pool(&inner));
    return ig_onnx_give(node, ig_expr_move_axis(e, y, 1, rank - 1));
}

/* ---- recurrent layers of integers ---- */

enum { W = 1, R = 2, LSTM_INPUTS = 8, W_SCALE = 8, R_SCALE = 10 };

/* Input `index` [directions, entries] beside weights [directions, in, entries]; one for
 * all entries of a direction is [directions]. */
static ig_value *read_beside(const ig_onnx_node *node, uint32_t index) {
    ig_value *x = node->inputs[index];
    if (x->type->rank == 1) {
        x = ig_expr_unsqueeze(node->e, x, 1);
    } else {
        x = ig_onnx_ranked_input(node, index, 2);
    }
    return ig_expr_cast(node->e, ig_expr_unsqueeze(node->e, x, 1), IG_DT_f32);
}

/* Weights as LSTM has them: real numbers, [directions, gates, in]. */
static ig_value *read_gates(const ig_onnx_node *node, uint32_t index, uint32_t scale) {
    ig_expr *e = node->e;
    ig_value *w = ig_expr_cast(e, ig_onnx_ranked_input(node, index, 3), IG_DT_f32);
    if (ig_onnx_in(node, scale + 1)) {
        w = ig_build_sub(e, w, read_beside(node, scale + 1));
    }
    return ig_expr_swap(e, ig_build_mul(e, w, read_beside(node, scale)), 1, 2);
}

/* x as bytes that hold all of it say it: ONNX Runtime rounds so
 * (onnxruntime/contrib_ops/cpu/quantization/dynamic_quantize_lstm.cc). */
static ig_value *round_to_bytes(const ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_quant_params q = ig_compose_choose_quant(e, x);
    x = ig_compose_quantize(e, x, &q, IG_DT_u8, IG_ROUNDING_divide);
    return ig_compose_dequantize(e, x, &q, IG_DT_f32);
}

/* DynamicQuantizeLSTM.  h is unchanged: ONNX Runtime rounds it too, in groups of
 * rows that depend on its threads. */
ig_status ig_onnx_import_lstm_of_integers(ig_onnx_node *node) {
    ig_value *inputs[LSTM_INPUTS];
    if (!ig_onnx_in(node, W_SCALE) || !ig_onnx_in(node, R_SCALE)) {
        return ig_onnx_fail(node, IG_INVALID, "lacks the scales of its weights");
    }
    for (uint32_t i = 0; i < LSTM_INPUTS; i++) {
        inputs[i] = ig_onnx_in(node, i);
    }
    inputs[0] = round_to_bytes(node);
    inputs[W] = read_gates(node, W, W_SCALE);
    inputs[R] = read_gates(node, R, R_SCALE);
    IG_TRY(node->e->status);
    ig_onnx_node inner = *node;
    inner.inputs = inputs;
    inner.input_count = LSTM_INPUTS;
    return ig_onnx_import_rnn(&inner);
}
