/* Operators of com.microsoft over several streams of one token, branches, which are
 * side by side along the last axis or have one of their own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md.  All is computed in f32. */
#include "compose/norm.h"
#include "frontend/onnx/ops/hooks.h"

#include <string.h>

enum { X };

/* Input 0 in f32 as [..., C, H], whichever form it has, and the extents C and H. */
static ig_value *read_branches(const ig_onnx_node *node, ig_dim out[2]) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, X);
    uint32_t rank = x->type->rank;
    int64_t count = ig_onnx_attr_between(node, "num_branches", 0, 0, INT32_MAX);
    ig_dim dims[IG_TENSOR_RANK];
    if (ig_onnx_has_failed(node)) {
        return NULL;
    }
    if (rank < (count ? 1 : 2) || rank >= IG_TENSOR_RANK) {
        return ig_expr_fail(e, IG_INVALID,
                            "input 0 has rank %u and num_branches is %lld", rank,
                            (long long)count);
    }
    x = ig_expr_cast(e, x, IG_DT_f32);
    if (count) {
        memcpy(dims, x->type->dims, rank * sizeof *dims);
        dims[rank] = ig_dim_exact_div(e->module, dims[rank - 1], ig_dim_of(count));
        dims[rank - 1] = ig_dim_of(count);
        x = ig_expr_reshape(e, x, rank + 1, dims);
    }
    if (x) {
        rank = x->type->rank;
        out[0] = ig_onnx_extent(e, x, rank - 2);
        out[1] = ig_onnx_extent(e, x, rank - 1);
    }
    return x;
}

/* Gates of x [..., C, H]: [..., C], [..., C, 1], [..., C, H] or [..., C * H]. */
static ig_value *read_gates(const ig_onnx_node *node, uint32_t index,
                            const ig_value *x) {
    ig_expr *e = node->e;
    ig_value *gates = ig_expr_cast(e, ig_onnx_float_input(node, index), IG_DT_f32);
    uint32_t rank = x->type->rank;
    if (!gates || gates->type->rank == rank) {
        return gates;
    }
    if (gates->type->rank + 1u != rank) {
        return ig_expr_fail(e, IG_INVALID, "input %u has rank %u, expected %u or %u",
                            index, gates->type->rank, rank - 1, rank);
    }
    ig_dim last = ig_onnx_extent(e, gates, rank - 2);
    bool is_narrow = ig_dim_equal(e->module, last, ig_onnx_extent(e, x, rank - 2)) ==
                     IG_YES;
    ig_dim whole = ig_dim_mul(e->module, ig_onnx_extent(e, x, rank - 2),
                              ig_onnx_extent(e, x, rank - 1));
    if (!is_narrow && ig_dim_equal(e->module, last, whole) == IG_YES) {
        return ig_expr_reshape(e, gates, rank, x->type->dims);
    }
    return ig_expr_unsqueeze(e, gates, rank - 1);
}

/* BranchwiseRMSNorm(x, scale?), scale [C * H], [C, H] or [H] */
ig_status ig_onnx_import_branch_norm(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_dim of[2];
    ig_value *x = read_branches(node, of), *scale = ig_onnx_in(node, 1);
    IG_TRY(e->status);
    ig_norm norm = { .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5F) };
    ig_value *y = ig_compose_rms_norm(e, x, x->type->rank - 1u, &norm);
    if (scale) {
        scale = ig_expr_cast(e, ig_onnx_float_input(node, 1), IG_DT_f32);
        bool is_whole = scale && scale->type->rank == 1 &&
                        ig_dim_equal(e->module, ig_onnx_extent(e, scale, 0), of[1]) !=
                            IG_YES;
        y = ig_build_mul(e, y, is_whole ? ig_expr_reshape(e, scale, 2, of) : scale);
    }
    const ig_type *type = node->inputs[X]->type;
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[X]));
}

/* HyperConnectionPreMix(x, gates): reduction_scale * the sum of gated branches */
ig_status ig_onnx_import_mix_branches(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_dim of[2];
    ig_value *x = read_branches(node, of);
    IG_TRY(e->status);
    ig_value *y = ig_build_mul(e, x, read_gates(node, 1, x));
    y = y ? ig_expr_reduce_axis(e, IG_REDUCE_sum, y, x->type->rank - 2u, false) : NULL;
    y = ig_expr_with(e, IG_OP_mul, y, ig_onnx_attr_float(node, "reduction_scale", 1));
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[X]));
}

/* HyperConnectionPostMix(x, block, gates, mix?): the branches, mixed by [..., C, C] as
 * column k says for branch k, plus the block's result, gated. */
ig_status ig_onnx_import_spread_branches(ig_onnx_node *node) {
    enum { BLOCK = 1, GATES, MIX };
    ig_expr *e = node->e;
    ig_dim of[2];
    ig_value *x = read_branches(node, of), *y = x;
    ig_value *block = ig_expr_cast(e, ig_onnx_float_input(node, BLOCK), IG_DT_f32);
    IG_TRY(e->status);
    uint32_t rank = x->type->rank;
    if (block->type->rank + 1u != rank) {
        return ig_onnx_fail(node, IG_INVALID, "input 1 has rank %u, expected %u",
                            block->type->rank, rank - 1);
    }
    if (ig_onnx_in(node, MIX)) {
        ig_value *mix = ig_onnx_float_input(node, MIX);
        mix = ig_expr_cast(e, ig_onnx_ranked_input(node, MIX, rank), IG_DT_f32);
        y = ig_expr_matmul(e, ig_expr_swap(e, mix, rank - 2, rank - 1), x);
    }
    ig_value *more = ig_build_mul(e, read_gates(node, GATES, x),
                                  ig_expr_unsqueeze(e, block, rank - 2));
    y = ig_build_add(e, y, more);
    const ig_type *type = node->inputs[X]->type;
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[X]));
}
