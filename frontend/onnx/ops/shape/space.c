/* DepthToSpace and SpaceToDepth: blocks of pixels become channels and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

/* The input as `dims`, with its axes permuted, as `to`. */
static ig_status give_rearranged(ig_onnx_node *node, const ig_dim *dims,
                                 const int64_t *perm, const ig_dim *to) {
    ig_value *x = ig_expr_reshape(node->e, node->inputs[0], 6, dims);
    x = ig_expr_transpose(node->e, x, perm);
    return ig_onnx_give(node, ig_expr_reshape(node->e, x, 4, to));
}

ig_status ig_onnx_import_depth_to_space(ig_onnx_node *node) {
    static const int64_t perms[2][6] = { { 0, 3, 4, 1, 5, 2 }, { 0, 1, 4, 2, 5, 3 } };
    ig_module *m = node->import->module;
    int64_t size = ig_onnx_attr_between(node, "blocksize", 0, 1, INT32_MAX);
    uint32_t mode = ig_onnx_attr_choice(node, "mode", "DCR CRD");
    const ig_type *type = ig_onnx_ranked_input(node, 0, 4)->type;
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    const ig_dim *x = type->dims, block = ig_dim_of(size);
    ig_dim channels = ig_dim_exact_div(m, x[1], ig_dim_of(size * size));
    ig_dim dims[2][6] = { { x[0], block, block, channels, x[2], x[3] },
                          { x[0], channels, block, block, x[2], x[3] } };
    ig_dim to[4] = { x[0], channels, ig_dim_mul(m, x[2], block),
                     ig_dim_mul(m, x[3], block) };
    return give_rearranged(node, dims[mode], perms[mode], to);
}

ig_status ig_onnx_import_space_to_depth(ig_onnx_node *node) {
    static const int64_t perms[2][6] = { { 0, 3, 5, 1, 2, 4 }, { 0, 1, 3, 5, 2, 4 } };
    ig_module *m = node->import->module;
    int64_t size = ig_onnx_attr_between(node, "blocksize", 0, 1, INT32_MAX);
    uint32_t mode = ig_onnx_attr_choice(node, "mode", "DCR CRD");
    const ig_type *type = ig_onnx_ranked_input(node, 0, 4)->type;
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    const ig_dim *x = type->dims, block = ig_dim_of(size);
    ig_dim rows = ig_dim_exact_div(m, x[2], block);
    ig_dim columns = ig_dim_exact_div(m, x[3], block);
    ig_dim dims[6] = { x[0], x[1], rows, block, columns, block };
    ig_dim to[4] = { x[0], ig_dim_mul(m, x[1], ig_dim_of(size * size)), rows, columns };
    return give_rearranged(node, dims, perms[mode], to);
}
