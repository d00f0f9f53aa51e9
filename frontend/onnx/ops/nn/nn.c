/* Softmax.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

static ig_value *build_softmax(const ig_onnx_node *node, ig_value *x, uint32_t axis) {
    ig_softmax_attrs attrs = { .axis = axis, .log = node->row->variant != 0 };
    return ig_build_softmax(node->e, x, attrs);
}

ig_status ig_onnx_import_softmax(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank);
    return ig_onnx_give(node, build_softmax(node, x, axis));
}

/* Before opset 13: over all axes from `axis` on, as if they were one. */
ig_status ig_onnx_import_softmax_flat(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    const ig_type *type = x->type;
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 1, type->rank);
    if (ig_onnx_has_failed(node) || axis + 1 == type->rank) {
        return ig_onnx_give(node, build_softmax(node, x, axis));
    }
    ig_module *module = node->e->module;
    ig_dim flat[2] = { ig_dim_product(module, type->dims, axis),
                       ig_dim_product(module, type->dims + axis, type->rank - axis) };
    x = build_softmax(node, ig_expr_reshape(node->e, x, 2, flat), 1);
    return ig_onnx_give(node, ig_expr_reshape(node->e, x, type->rank, type->dims));
}
