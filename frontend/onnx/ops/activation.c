/* Activations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* ---- activations ---- */

/* where(x < 0, below, x) */
static ig_status below_zero(ig_onnx_node *node, ig_value *x, ig_value *below) {
    ig_value *is_below;
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_lt, x, 0, &is_below));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_below, below, x },
                         NULL, &node->outputs[0]);
}

ig_status ig_onnx_import_leaky_relu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *scaled;
    double alpha = ig_onnx_attr_float(node, "alpha", 0.01f);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &scaled));
    return below_zero(node, x, scaled);
}

ig_status ig_onnx_import_prelu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    ig_value *x = node->inputs[0], *scaled;
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, node->inputs[1], &scaled));
    return below_zero(node, x, scaled);
}

ig_status ig_onnx_import_thresholded_relu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *is_above;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_gt, x, alpha, &is_above));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_above, x, zero },
                         NULL, &node->outputs[0]);
}

/* alpha * (exp(x / divisor) - 1) */
static ig_status exponential(ig_onnx_node *node, ig_value *x, double alpha,
                             double divisor, ig_value **out_value) {
    if (divisor != 1) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_div, x, divisor, &x));
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_exp, x, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, x, 1, &x));
    return ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, out_value);
}

ig_status ig_onnx_import_elu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    IG_TRY(exponential(node, x, ig_onnx_attr_float(node, "alpha", 1), 1, &below));
    return below_zero(node, x, below);
}

ig_status ig_onnx_import_selu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    double alpha = ig_onnx_attr_float(node, "alpha", 1.67326319217681884765625);
    double gamma = ig_onnx_attr_float(node, "gamma", 1.05070102214813232421875);
    IG_TRY(exponential(node, x, alpha, 1, &below));
    IG_TRY(below_zero(node, x, below));
    return ig_onnx_build_scalar(node, IG_OP_mul, node->outputs[0], gamma,
                                &node->outputs[0]);
}

ig_status ig_onnx_import_celu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    IG_TRY(exponential(node, x, alpha, alpha, &below));
    return below_zero(node, x, below);
}

/* max(0, min(1, alpha * x + beta)) */
static ig_status hard_sigmoid(ig_onnx_node *node, double alpha, double beta,
                              ig_value **out_value) {
    ig_value *x = node->inputs[0];
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, x, beta, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_min, x, 1, &x));
    return ig_onnx_build_scalar(node, IG_OP_max, x, 0, out_value);
}

ig_status ig_onnx_import_hard_sigmoid(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    return hard_sigmoid(node, ig_onnx_attr_float(node, "alpha", 0.2f),
                        ig_onnx_attr_float(node, "beta", 0.5), &node->outputs[0]);
}

ig_status ig_onnx_import_hard_swish(ig_onnx_node *node) {
    ig_value *gate;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(hard_sigmoid(node, 1.0 / 6, 0.5, &gate));
    return ig_onnx_build2(node, IG_OP_mul, node->inputs[0], gate, &node->outputs[0]);
}

ig_status ig_onnx_import_softsign(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    IG_TRY(ig_onnx_build1(node, IG_OP_abs, x, &below));
    IG_TRY(ig_onnx_scalar_build(node, IG_OP_add, 1, below, &below));
    return ig_onnx_build2(node, IG_OP_div, x, below, &node->outputs[0]);
}

ig_status ig_onnx_import_mish(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate;
    IG_TRY(ig_onnx_build1(node, IG_OP_softplus, x, &gate));
    IG_TRY(ig_onnx_build1(node, IG_OP_tanh, gate, &gate));
    return ig_onnx_build2(node, IG_OP_mul, x, gate, &node->outputs[0]);
}

ig_status ig_onnx_import_swish(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate = x;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    if (alpha != 1) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &gate));
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_sigmoid, gate, &gate));
    return ig_onnx_build2(node, IG_OP_mul, x, gate, &node->outputs[0]);
}

/* sqrt(2 / pi) * (x + 0.044715 * x^3) */
static ig_status gelu_tanh(ig_onnx_node *node, ig_value *x, ig_value **out_value) {
    ig_value *cube;
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, x, &cube));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, cube, x, &cube));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, cube, 0.044715, &cube));
    IG_TRY(ig_onnx_build2(node, IG_OP_add, x, cube, &cube));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, cube, 0.79788456080286535588, &cube));
    return ig_onnx_build1(node, IG_OP_tanh, cube, out_value);
}

ig_status ig_onnx_import_gelu(ig_onnx_node *node) {
    ig_str approximate = ig_onnx_attr_str(node, "approximate", "none");
    bool is_tanh = ig_str_is(approximate, "tanh");
    if (!is_tanh && !ig_str_is(approximate, "none")) {
        return ig_onnx_fail(node, IG_INVALID,
                            "approximate is '%.*s', expected none or tanh",
                            IG_STR_ARG(approximate));
    }
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate, *half;
    if (is_tanh) {
        IG_TRY(gelu_tanh(node, x, &gate));
    } else {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, 0.70710678118654752440, &gate));
        IG_TRY(ig_onnx_build1(node, IG_OP_erf, gate, &gate));
    }
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, gate, 1, &gate));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, 0.5, &half));
    return ig_onnx_build2(node, IG_OP_mul, half, gate, &node->outputs[0]);
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
ig_status ig_onnx_import_shrink(ig_onnx_node *node) {
    double lambd = ig_onnx_attr_float(node, "lambd", 0.5);
    double bias = ig_onnx_attr_float(node, "bias", 0);
    ig_value *is_below, *is_above, *below, *above, *x = node->inputs[0];
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_lt, x, -lambd, &is_below));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_gt, x, lambd, &is_above));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, x, bias, &below));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, x, bias, &above));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    IG_TRY(ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_above, above, zero },
                         NULL, &above));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_below, below, above },
                         NULL, &node->outputs[0]);
}
