/* Matrix products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/einsum.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

#include <math.h>

/* Sums over axis `a` of input 0 and axis `b` of input 1. */
static ig_status product(const ig_onnx_node *node, bool transpose_a, bool transpose_b,
                         ig_value **out_value) {
    ig_value *a = node->inputs[0], *b = node->inputs[1];
    uint32_t rank_a = a->type->rank, rank_b = b->type->rank;
    if (rank_a > 0 && rank_b > 0) {
        uint32_t axis_a = rank_a == 1 ? 0 : rank_a - 1 - transpose_a;
        uint32_t axis_b = rank_b == 1 ? 0 : rank_b - 2 + transpose_b;
        ig_onnx_guard_extents(node, 0, axis_a, 1, axis_b);
    }
    ig_attr attrs[IG_matmul_attr_count] = { 0 };
    if (transpose_a) {
        attrs[IG_matmul_transpose_a] = ig_attr_of_bool(true);
    }
    if (transpose_b) {
        attrs[IG_matmul_transpose_b] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_matmul, 2, (ig_value *[]){ a, b }, attrs,
                         out_value);
}

/* Extents before the last two broadcast. */
static void guard_batch(const ig_onnx_node *node) {
    ig_module *module = node->import->module;
    const ig_type *a = node->inputs[0]->type, *b = node->inputs[1]->type;
    for (uint32_t i = 3; i <= a->rank && i <= b->rank; i++) {
        ig_dim x = a->dims[a->rank - i], y = b->dims[b->rank - i];
        if (!ig_dim_is(x, 1) && !ig_dim_is(y, 1) &&
            ig_dim_equal(module, x, y) == IG_MAYBE) {
            ig_make_guard_equal(node->builder, ig_dim_bcast(module, x, y),
                                ig_dim_bcast(module, y, x),
                                "the batches of a matrix product do not broadcast");
        }
    }
}

ig_status ig_onnx_import_matmul(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    guard_batch(node);
    return product(node, false, false, &node->outputs[0]);
}

/* ---- gemm: alpha * A * B + beta * C ---- */

static ig_status check_scale(const ig_onnx_node *node, const char *name, double scale) {
    bool is_float = ig_dtype_is_float((ig_dtype)node->inputs[0]->type->dtype);
    if (!is_float && scale != floor(scale)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "%s = %g on integers", name, scale);
    }
    return IG_OK;
}

/* C broadcasts one way: it must not widen the product. */
static ig_status check_bias(const ig_onnx_node *node, const ig_type *sum,
                            const ig_type *bias) {
    bool fits = bias->kind == IG_TENSOR && bias->rank <= sum->rank;
    for (uint32_t i = 1; fits && i <= bias->rank; i++) {
        ig_dim extent = bias->dims[bias->rank - i];
        fits = ig_dim_is(extent, 1) || ig_dim_equal(node->import->module, extent,
                                                    sum->dims[sum->rank - i]) != IG_NO;
    }
    if (!fits) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "input 2, C, does not broadcast to the shape of the product");
    }
    return IG_OK;
}

ig_status ig_onnx_import_gemm(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    double beta = ig_onnx_attr_float(node, "beta", 1);
    for (uint32_t i = 0; i < 2; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        if (node->inputs[i]->type->rank != 2) {
            return ig_onnx_fail(node, IG_INVALID, "input %u has rank %u, expected 2", i,
                                node->inputs[i]->type->rank);
        }
    }
    IG_TRY(check_scale(node, "alpha", alpha));
    IG_TRY(check_scale(node, "beta", beta));
    ig_value *sum, *bias = ig_onnx_in(node, 2);
    IG_TRY(product(node, ig_onnx_attr_int(node, "transA", 0) != 0,
                   ig_onnx_attr_int(node, "transB", 0) != 0, &sum));
    if (alpha != 1) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, sum, alpha, &sum));
    }
    if (bias && beta != 0) {
        IG_TRY(check_bias(node, sum->type, bias->type));
        if (beta != 1) {
            IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, bias, beta, &bias));
        }
        IG_TRY(ig_onnx_build2(node, IG_OP_add, sum, bias, &sum));
    }
    node->outputs[0] = sum;
    return IG_OK;
}

/* ---- einsum ---- */

ig_status ig_onnx_import_einsum(ig_onnx_node *node) {
    ig_str equation = ig_onnx_attr_str(node, "equation", "");
    const char *why;
    for (uint32_t i = 0; i < node->input_count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
    }
    ig_einsum_spec spec = { equation, node->inputs, node->input_count };
    if (ig_einsum(node->builder, node->import->arena, &spec, &node->outputs[0], &why) !=
        IG_OK) {
        return ig_onnx_fail(node, IG_INVALID, "equation '%.*s': %s",
                            IG_STR_ARG(equation), why);
    }
    return IG_OK;
}
