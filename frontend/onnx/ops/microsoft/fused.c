/* Operators of com.microsoft that are others with an activation, a sum or an embedding
 * before or after.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/norm.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/masks.h"

/* ---- activations ---- */

/* Parameter `index` of the activation, in the list or in an attribute of its own. */
static double read_parameter(const ig_onnx_node *node, uint32_t index, const char *name,
                             double absent) {
    const Onnx__AttributeProto *list = NULL;
    if (ig_onnx_row_has_attr(node->row, "activation_params")) {
        list = ig_onnx_attr(node, "activation_params", NULL);
        return list && index < list->n_floats ? (double)list->floats[index] : absent;
    }
    return ig_onnx_attr_float(node, name, absent);
}

/* x through the activation that the attribute names; x where there is none. */
static ig_value *activate_output(const ig_onnx_node *node, ig_value *x) {
    ig_expr *e = node->e;
    static const char names[] = "none Relu Tanh Sigmoid LeakyRelu Clip HardSigmoid";
    bool is_given = ig_onnx_attr(node, "activation", NULL) != NULL;
    uint32_t kind = is_given ? ig_onnx_attr_choice(node, "activation", names) : 0;
    static const ig_opcode plain[] = { IG_OP_relu, IG_OP_tanh, IG_OP_sigmoid };
    if (kind == 0 || !x) {
        return x;
    }
    if (kind <= 3) {
        return ig_expr_map1(e, plain[kind - 1], x);
    }
    double first = read_parameter(node, 0,
                                  kind == 5 ? "activation_gamma" : "activation_alpha",
                                  kind == 4 ? 0.01F : 0.2F);
    if (kind == 4) {
        ig_value *below = ig_expr_with(e, IG_OP_mul, x, first);
        return ig_build_where(e, ig_expr_with(e, IG_OP_ge, x, 0), x, below);
    }
    double second = read_parameter(node, 1, "activation_beta", 0.5);
    if (kind == 5) {
        x = ig_expr_with(e, IG_OP_max, x, first);
        return ig_expr_with(e, IG_OP_min, x, second);
    }
    x = ig_expr_with(e, IG_OP_mul, x, first);
    x = ig_expr_with(e, IG_OP_add, x, second);
    x = ig_expr_with(e, IG_OP_max, x, 0);
    return ig_expr_with(e, IG_OP_min, x, 1);
}

/* act(conv(x, w, b) + z) */
ig_status ig_onnx_import_fused_conv(ig_onnx_node *node) {
    IG_TRY(ig_onnx_import_conv(node));
    ig_value *y = node->outputs[0];
    if (ig_onnx_in(node, 3)) {
        y = ig_build_add(node->e, y, node->inputs[3]);
    }
    return ig_onnx_give(node, activate_output(node, y));
}

ig_status ig_onnx_import_fused_gemm(ig_onnx_node *node) {
    IG_TRY(ig_onnx_import_gemm(node));
    return ig_onnx_give(node, activate_output(node, node->outputs[0]));
}

/* softmax(x + bias) over the axes from `axis` on as one */
ig_status ig_onnx_import_bias_softmax(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0), *bias = ig_onnx_float_input(node, 1);
    const ig_type *type = x->type;
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 1, type->rank);
    bool is_inner = ig_onnx_attr_bool(node, "is_inner_broadcast", true);
    IG_TRY(e->status);
    if (!is_inner && bias->type->rank != type->rank) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "an outer broadcast of a bias of rank %u to rank %u",
                            bias->type->rank, type->rank);
    }
    ig_value *sum = ig_build_add(e, x, bias);
    sum = sum ? ig_expr_merge_axes(e, sum, axis, type->rank - 1) : NULL;
    sum = ig_build_softmax(e, sum, (ig_softmax_attrs){ .axis = axis });
    return ig_onnx_give(node, ig_expr_reshape(e, sum, type->rank, type->dims));
}

/* ---- EmbedLayerNormalization ---- */

enum {
    WORDS,
    SEGMENTS,
    WORD_ROWS,
    POSITION_ROWS,
    SEGMENT_ROWS,
    GAMMA,
    BETA,
    MASK,
    POSITIONS
};

ig_value *ig_onnx_count_masked(const ig_onnx_node *node, const ig_value *words,
                               uint32_t index) {
    ig_expr *e = node->e;
    if (!ig_onnx_in(node, index)) {
        return ig_expr_fill(e, IG_DT_i32, 1, words->type->dims, 0);
    }
    ig_value *mask = ig_onnx_ranked_input(node, index, 2);
    ig_value *is_set = ig_expr_cast(e, ig_expr_with(e, IG_OP_eq, mask, 1), IG_DT_i32);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, is_set, 1, false);
}

/* The norm of word + position + segment rows; outputs: it, the mask's counts, the
 * sum */
ig_status ig_onnx_import_embed_norm(ig_onnx_node *node) {
    ig_expr *e = node->e;
    static const uint32_t needed[] = { WORD_ROWS, POSITION_ROWS, GAMMA, BETA };
    ig_value *words = ig_onnx_ranked_input(node, WORDS, 2);
    for (uint32_t i = 0; i < IG_COUNT_OF(needed); i++) {
        IG_TRY(ig_onnx_needs_input(node, needed[i]) ? IG_OK : e->status);
    }
    ig_norm norm = { .scale = node->inputs[GAMMA],
                     .bias = node->inputs[BETA],
                     .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-12F) };
    ig_value *at = ig_onnx_in(node, POSITIONS);
    IG_TRY(e->status);
    if (!at) {
        at = ig_expr_unsqueeze(
            e, ig_expr_iota(e, IG_DT_i64, ig_onnx_extent(e, words, 1)), 0);
    }
    ig_value *sum = ig_expr_gather(e, node->inputs[WORD_ROWS], words, 0,
                                   IG_NEGATIVE_error);
    sum = ig_build_add(
        e, sum,
        ig_expr_gather(e, node->inputs[POSITION_ROWS], at, 0, IG_NEGATIVE_error));
    if (ig_onnx_in(node, SEGMENTS) && ig_onnx_in(node, SEGMENT_ROWS)) {
        sum = ig_build_add(e, sum,
                           ig_expr_gather(e, node->inputs[SEGMENT_ROWS],
                                          node->inputs[SEGMENTS], 0,
                                          IG_NEGATIVE_error));
    }
    if (node->output_count > 1) {
        node->outputs[1] = ig_onnx_count_masked(node, words, MASK);
    }
    if (node->output_count > 2) {
        node->outputs[2] = sum;
    }
    return ig_onnx_give(node, ig_compose_layer_norm(e, sum, 2, &norm));
}

/* ---- ExpandDims and CDist ---- */

/* A new axis of extent 1, at a constant. */
ig_status ig_onnx_import_expand_dims(ig_onnx_node *node) {
    int64_t axis;
    ig_value *x = node->inputs[0];
    if (!ig_constant_i64(node->inputs[1], &axis)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "the axis is not a constant");
    }
    uint32_t position = ig_onnx_axis_of(node, axis, x->type->rank + 1u);
    return ig_onnx_give(node, ig_expr_unsqueeze(node->e, x, position));
}

/* Distances of rows of a [M, N] and of b [K, N], or their squares: [M, K]. */
ig_status ig_onnx_import_distances(ig_onnx_node *node) {
    ig_expr *e = node->e;
    bool is_root = ig_onnx_attr_choice(node, "metric", "sqeuclidean euclidean") == 1;
    ig_value *in[2];
    for (uint32_t i = 0; i < 2; i++) {
        (void)ig_onnx_float_input(node, i);
        in[i] = ig_onnx_ranked_input(node, i, 2);
    }
    IG_TRY(e->status);
    ig_value *gap = ig_build_sub(e, ig_expr_unsqueeze(e, in[0], 1),
                                 ig_expr_unsqueeze(e, in[1], 0));
    ig_value *sum = ig_build_mul(e, gap, gap);
    sum = sum ? ig_expr_reduce_axis(e, IG_REDUCE_sum, sum, 2, false) : NULL;
    return ig_onnx_give(node, is_root ? ig_build_sqrt(e, sum) : sum);
}
