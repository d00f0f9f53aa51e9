/* Steps of optimisers (ai.onnx.preview.training), elementwise over each tensor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inputs are the rate R, the update count T, then n tensors X to be optimised, n
 * gradients G, and n of each state; outputs are n new X and n of each new state.
 */
#include "compose/optimise.h"
#include "frontend/onnx/ops/hooks.h"

typedef void (*step_fn)(const ig_onnx_node *node, ig_optimised *o);

static void step_adagrad(const ig_onnx_node *node, ig_optimised *o) {
    ig_adagrad how = { .decay = ig_onnx_attr_float(node, "decay_factor", 0),
                       .epsilon = ig_onnx_attr_float(node, "epsilon", 0),
                       .norm = ig_onnx_attr_float(node, "norm_coefficient", 0) };
    ig_compose_adagrad(node->e, o, &how);
}

static void step_adam(const ig_onnx_node *node, ig_optimised *o) {
    ig_adam how = { .alpha = ig_onnx_attr_float(node, "alpha", 0.9f),
                    .beta = ig_onnx_attr_float(node, "beta", 0.999f),
                    .epsilon = ig_onnx_attr_float(node, "epsilon", 0),
                    .norm = ig_onnx_attr_float(node, "norm_coefficient", 0),
                    .norm_after = ig_onnx_attr_float(node, "norm_coefficient_post",
                                                     0) };
    ig_compose_adam(node->e, o, &how);
}

static void step_momentum(const ig_onnx_node *node, ig_optimised *o) {
    ig_momentum how = { .alpha = ig_onnx_attr_float(node, "alpha", 0),
                        .beta = ig_onnx_attr_float(node, "beta", 1),
                        .norm = ig_onnx_attr_float(node, "norm_coefficient", 0) };
    how.is_nesterov = ig_onnx_attr_choice(node, "mode", "standard nesterov") != 0;
    ig_compose_momentum(node->e, o, &how);
}

/* How many states belong to a tensor, by the rows' variant. */
static const struct {
    step_fn fn;
    uint32_t states;
} optimisers[] = { { step_adagrad, 1 }, { step_adam, 2 }, { step_momentum, 1 } };

static void take_step(ig_onnx_node *node, uint32_t index, uint32_t count) {
    uint32_t states = optimisers[node->row->variant].states;
    ig_optimised s = { .x = node->inputs[2 + index] };
    s.rate = ig_expr_like(node->e, ig_onnx_scalar_input(node, 0), s.x);
    s.count = ig_expr_cast(node->e, ig_onnx_scalar_input(node, 1), IG_DT_f64);
    s.gradient = node->inputs[2 + count + index];
    for (uint32_t k = 0; k < states; k++) {
        s.states[k] = node->inputs[2 + (2 + k) * count + index];
    }
    optimisers[node->row->variant].fn(node, &s);
    node->outputs[index] = s.x;
    for (uint32_t k = 0; k < states; k++) {
        node->outputs[(1 + k) * count + index] = s.states[k];
    }
}

ig_status ig_onnx_import_optimise(ig_onnx_node *node) {
    uint32_t each = optimisers[node->row->variant].states + 2;
    uint32_t given = node->input_count - 2, count = given / each;
    if (given % each || count == 0 || node->output_count != (each - 1) * count) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "has %u inputs and %u outputs, expected 2 + %u and %u for each tensor",
            node->input_count, node->output_count, each, each - 1);
    }
    for (uint32_t i = 2; i < node->input_count; i++) {
        if (!node->inputs[i]) {
            return ig_onnx_fail(node, IG_INVALID, "lacks input %u", i);
        }
        (void)ig_onnx_float_input(node, i);
    }
    for (uint32_t i = 0; i < count && !ig_onnx_has_failed(node); i++) {
        take_step(node, i, count);
    }
    return node->e->status;
}
