/* Activations: attributes of the formulas in compose/activation.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/activation.h"

#include "frontend/onnx/ops/hooks.h"

ig_status ig_onnx_import_leaky_relu(ig_onnx_node *node) {
    double slope = ig_onnx_attr_float(node, "alpha", 0.01f);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_leaky_relu(node->e, x, slope));
}

ig_status ig_onnx_import_prelu(ig_onnx_node *node) {
    return ig_onnx_give(
        node, ig_compose_prelu(node->e, node->inputs[0], node->inputs[1], true));
}

/* x where x > alpha, else 0: of a NaN too, which torch's threshold keeps. */
ig_status ig_onnx_import_thresholded_relu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *x = ig_onnx_float_input(node, 0);
    IG_TRY(node->e->status);
    ig_value *is_above = ig_expr_with(node->e, IG_OP_gt, x, alpha);
    ig_value *zero = ig_expr_number(node->e, (ig_dtype)x->type->dtype, 0);
    return ig_onnx_give(node, ig_build_where(node->e, is_above, x, zero));
}

ig_status ig_onnx_import_elu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_elu(node->e, x, alpha, 1, 1));
}

ig_status ig_onnx_import_selu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1.67326319217681884765625);
    double gamma = ig_onnx_attr_float(node, "gamma", 1.05070102214813232421875);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_elu(node->e, x, alpha, gamma, 1));
}

ig_status ig_onnx_import_celu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_elu(node->e, x, alpha, 1, 1 / alpha));
}

ig_status ig_onnx_import_hard_sigmoid(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 0.2f);
    double beta = ig_onnx_attr_float(node, "beta", 0.5);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_hard_sigmoid(node->e, x, alpha, beta));
}

/* x * hard_sigmoid(x): torch multiplies by 6 as much, which leaves the range sooner. */
ig_status ig_onnx_import_hard_swish(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0), *wide = ig_expr_widen(node->e, x);
    ig_value *gate = ig_compose_hard_sigmoid(node->e, wide, 1.0 / 6, 0.5);
    return ig_onnx_give(node,
                        ig_expr_like(node->e, ig_build_mul(node->e, wide, gate), x));
}

ig_status ig_onnx_import_softsign(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_softsign(node->e, x));
}

ig_status ig_onnx_import_mish(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_mish(node->e, x));
}

ig_status ig_onnx_import_swish(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node, ig_compose_swish(node->e, x, alpha));
}

ig_status ig_onnx_import_gelu(ig_onnx_node *node) {
    bool by_tanh = ig_onnx_attr_choice(node, "approximate", "none tanh") == 1;
    ig_value *x = ig_onnx_float_input(node, 0);
    return ig_onnx_give(node,
                        ig_build_gelu(node->e, x, (ig_gelu_attrs){ .tanh = by_tanh }));
}

/* Integers are compared with lambda, and moved by bias, as reals. */
ig_status ig_onnx_import_shrink(ig_onnx_node *node) {
    double lambda = ig_onnx_attr_float(node, "lambd", 0.5);
    double bias = ig_onnx_attr_float(node, "bias", 0);
    ig_value *x = node->inputs[0], *real = x;
    if (!ig_dtype_is_float((ig_dtype)x->type->dtype)) {
        real = ig_expr_cast(node->e, x, IG_DT_f64);
    }
    ig_value *y = ig_compose_shrink(node->e, real, lambda, bias);
    return ig_onnx_give(node, ig_expr_like(node->e, y, x));
}
