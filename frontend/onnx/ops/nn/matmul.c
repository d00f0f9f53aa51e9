/* Matrix products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/math/einsum.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>

ig_status ig_onnx_import_matmul(ig_onnx_node *node) {
    return ig_onnx_give(node,
                        ig_expr_matmul(node->e, node->inputs[0], node->inputs[1]));
}

/* ---- gemm: alpha * A * B + beta * C ---- */

static double read_scale(const ig_onnx_node *node, const char *name) {
    double scale = ig_onnx_attr_float(node, name, 1);
    if (!ig_expr_is_float(node->inputs[0]) && scale != floor(scale)) {
        ig_onnx_fail(node, IG_UNSUPPORTED, "%s is %g, expected an integer for integers",
                     name, scale);
    }
    return scale;
}

static ig_value *scale_by(ig_expr *e, ig_value *x, double scale) {
    return scale == 1 ? x : ig_expr_with(e, IG_OP_mul, x, scale);
}

/* C broadcasts one way: it must not widen the product. */
static ig_value *add_bias(const ig_onnx_node *node, ig_value *sum, ig_value *bias,
                          double beta) {
    const char *what = "input 2, C, does not broadcast to the shape of the product";
    if (sum && bias->type->rank > sum->type->rank) {
        return ig_expr_fail(node->e, IG_INVALID, "%s", what);
    }
    ig_expr_guard_broadcast_to(node->e, sum, bias, what);
    return ig_build_add(node->e, sum, scale_by(node->e, bias, beta));
}

ig_status ig_onnx_import_gemm(ig_onnx_node *node) {
    double alpha = read_scale(node, "alpha"), beta = read_scale(node, "beta");
    ig_matmul_attrs attrs = { .transpose_a = ig_onnx_attr_bool(node, "transA", false),
                              .transpose_b = ig_onnx_attr_bool(node, "transB", false) };
    ig_value *a = ig_onnx_ranked_input(node, 0, 2),
             *b = ig_onnx_ranked_input(node, 1, 2);
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    ig_onnx_guard_extents(node, 0, 1 - attrs.transpose_a, 1, attrs.transpose_b);
    ig_value *sum = scale_by(node->e, ig_build_matmul(node->e, a, b, attrs), alpha);
    ig_value *bias = beta != 0 ? ig_onnx_in(node, 2) : NULL;
    return ig_onnx_give(node, bias ? add_bias(node, sum, bias, beta) : sum);
}

ig_status ig_onnx_import_einsum(ig_onnx_node *node) {
    ig_str equation = ig_onnx_attr_str(node, "equation", "");
    const char *why;
    ig_einsum_spec spec = { equation, node->inputs, node->input_count, false };
    if (ig_einsum(node->builder, node->import->arena, &spec, &node->outputs[0], &why) !=
        IG_OK) {
        return ig_onnx_fail(node, IG_INVALID, "equation '%.*s': %s",
                            IG_STR_ARG(equation), why);
    }
    return IG_OK;
}
