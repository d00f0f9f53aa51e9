/* DepthToSpace and SpaceToDepth: blocks of pixels become channels and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* Rank, and a block size that is one. */
static ig_status read_block(const ig_onnx_node *node, int64_t *out_block) {
    IG_TRY(ig_onnx_tensor(node, 0));
    *out_block = ig_onnx_attr_int(node, "blocksize", 0);
    if (node->inputs[0]->type->rank != 4 || *out_block < 1 || *out_block > INT32_MAX) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "input 0 has rank %u and blocksize is %lld, expected 4 and 1 or more",
            node->inputs[0]->type->rank, (long long)*out_block);
    }
    return IG_OK;
}

/* x as `dims`, with its axes permuted, as `to`. */
static ig_status rearrange(ig_onnx_node *node, const ig_dim *dims, const int64_t *perm,
                           const ig_dim *to) {
    ig_value *x = node->inputs[0];
    ig_attr attrs[IG_transpose_attr_count] = { { 0 } };
    attrs[IG_transpose_perm] = ig_attr_of_ints(node->import->module, perm, 6);
    IG_TRY(ig_onnx_reshape(node, x, 6, dims, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_transpose, 1, &x, attrs, &x));
    return ig_onnx_reshape(node, x, 4, to, &node->outputs[0]);
}

ig_status ig_onnx_import_depth_to_space(ig_onnx_node *node) {
    static const int64_t block_first[] = { 0, 3, 4, 1, 5, 2 };
    static const int64_t channel_first[] = { 0, 1, 4, 2, 5, 3 };
    ig_module *module = node->import->module;
    ig_str mode = ig_onnx_attr_str(node, "mode", "DCR");
    bool is_channel_first = ig_str_is(mode, "CRD");
    int64_t block;
    IG_TRY(read_block(node, &block));
    if (!is_channel_first && !ig_str_is(mode, "DCR")) {
        return ig_onnx_fail(node, IG_INVALID, "mode is '%.*s', expected DCR or CRD",
                            IG_STR_ARG(mode));
    }
    const ig_dim *x = node->inputs[0]->type->dims;
    ig_dim channels = ig_dim_exact_div(module, x[1],
                                       ig_dim_const(module, block * block));
    ig_dim to[4] = { x[0], channels, ig_dim_mul(module, x[2], ig_dim_of(block)),
                     ig_dim_mul(module, x[3], ig_dim_of(block)) };
    ig_dim blocks[6] = {
        x[0], ig_dim_of(block), ig_dim_of(block), channels, x[2], x[3]
    };
    ig_dim depths[6] = {
        x[0], channels, ig_dim_of(block), ig_dim_of(block), x[2], x[3]
    };
    return rearrange(node, is_channel_first ? depths : blocks,
                     is_channel_first ? channel_first : block_first, to);
}

ig_status ig_onnx_import_space_to_depth(ig_onnx_node *node) {
    static const int64_t perm[] = { 0, 3, 5, 1, 2, 4 };
    ig_module *module = node->import->module;
    int64_t block;
    IG_TRY(read_block(node, &block));
    const ig_dim *x = node->inputs[0]->type->dims;
    ig_dim by = ig_dim_const(module, block);
    ig_dim rows = ig_dim_exact_div(module, x[2], by);
    ig_dim columns = ig_dim_exact_div(module, x[3], by);
    ig_dim dims[6] = { x[0], x[1], rows, ig_dim_of(block), columns, ig_dim_of(block) };
    ig_dim to[4] = { x[0], ig_dim_mul(module, x[1], ig_dim_of(block * block)), rows,
                     columns };
    return rearrange(node, dims, perm, to);
}
