/* What com.microsoft's models of recurrences have around LinearAttention.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  All is computed in f32. */
#include "compose/activation.h"
#include "compose/norm.h"
#include "frontend/onnx/ops/hooks.h"

/* ---- LinearAttentionGate ---- */

enum { A, DT_BIAS, DECAY_SCALE, B };

/* Input `index`, an entry for each head, in f32. */
static ig_value *read_per_head(const ig_onnx_node *node, uint32_t index, ig_dim heads) {
    ig_value *x = ig_onnx_list_input(
        node, index, heads, "dt_bias and decay_scale must have an entry per head");
    return ig_expr_cast(node->e, x, IG_DT_f32);
}

/* decay_scale * softplus(a + dt_bias), and sigmoid(b) */
ig_status ig_onnx_import_recurrence_gates(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *a = ig_onnx_float_input(node, A);
    (void)ig_onnx_ranked_input(node, A, 3);
    IG_TRY(e->status);
    ig_dim heads = ig_onnx_extent(e, a, 2);
    ig_value *decay = ig_build_add(e, ig_expr_cast(e, a, IG_DT_f32),
                                   read_per_head(node, DT_BIAS, heads));
    decay = ig_build_mul(e, ig_build_softplus(e, decay),
                         read_per_head(node, DECAY_SCALE, heads));
    if (node->output_count > 1) {
        if (!ig_onnx_needs_input(node, B)) { /* for the second output alone */
            return e->status;
        }
        ig_value *b = ig_onnx_float_input(node, B);
        b = ig_build_sigmoid(e, ig_expr_cast(e, b, IG_DT_f32));
        node->outputs[1] = ig_expr_like(e, b, a);
    }
    return ig_onnx_give(node, ig_expr_like(e, decay, a));
}

/* ---- GatedRMSNorm ---- */

enum { X, SCALE, GATE };

/* [..., H * C] as [..., H, C], by the length of the scale. */
static ig_value *split_groups(const ig_onnx_node *node, ig_value *x, ig_dim size) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_onnx_extent(node->e, x, i);
    }
    dims[rank] = size;
    dims[rank - 1] = ig_dim_exact_div(node->e->module, dims[rank - 1], size);
    return ig_expr_reshape(node->e, x, rank + 1, dims);
}

/* Groups of the last axis by their root mean square, times an activation of a gate. */
ig_status ig_onnx_import_gated_rms_norm(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, X);
    ig_value *scale = ig_onnx_ranked_input(node, SCALE, 1);
    ig_value *gate = ig_onnx_ranked_input(node, GATE, x->type->rank);
    bool is_sigmoid = ig_onnx_attr_choice(node, "activation", "silu swish sigmoid") ==
                      2;
    uint32_t rank = x->type->rank;
    IG_TRY(e->status);
    if (rank == 0 || rank >= IG_TENSOR_RANK) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "input 0 has rank %u", rank);
    }
    for (uint32_t i = 0; i < rank; i++) {
        ig_onnx_guard_extents(node, X, i, GATE, i);
    }
    ig_norm norm = { .scale = ig_expr_cast(e, scale, IG_DT_f32),
                     .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5F) };
    ig_value *y = split_groups(node, ig_expr_cast(e, x, IG_DT_f32),
                               ig_onnx_extent(e, scale, 0));
    y = y ? ig_compose_rms_norm(e, y, rank, &norm) : NULL;
    y = ig_expr_reshape(e, y, rank, x->type->dims);
    gate = ig_expr_cast(e, gate, IG_DT_f32);
    gate = is_sigmoid ? ig_build_sigmoid(e, gate) : ig_compose_swish(e, gate, 1);
    return ig_onnx_give(node, ig_expr_like(e, ig_build_mul(e, y, gate), x));
}
