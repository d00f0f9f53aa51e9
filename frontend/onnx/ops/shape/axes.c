/* Squeeze and Unsqueeze whose axes the run computes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rank of the result is known, as the list has a known length; its extents are
 * symbols that a vector of the run gives their values.
 */
#include "frontend/onnx/ops/shape/axes.h"

/* bool[rank]: which axes input 1 names.  The run checks that they are `count` different
 * ones. */
static ig_value *mark_axes(ig_onnx_node *node, uint32_t rank, uint32_t count) {
    ig_expr *e = node->e;
    ig_dim extent = ig_dim_of(rank), one = ig_dim_of(1), found = ig_dim_of(count);
    ig_value *axes = ig_expr_cast(e, node->inputs[1], IG_DT_i64);
    ig_value *is_negative = ig_expr_with(e, IG_OP_lt, axes, 0);
    ig_value *from_end = ig_expr_with_integer(e, IG_OP_add, axes, rank);
    axes = ig_build_where(e, is_negative, from_end, axes);
    ig_value *indices = ig_expr_axis_iota(e, 2, 1, extent);
    ig_value *is_it = ig_build_eq(e, ig_expr_along(e, axes, 0, 2), indices);
    ig_value *times = ig_expr_reduce_axis(e, IG_REDUCE_sum,
                                          ig_expr_cast(e, is_it, IG_DT_i64), 0, false);
    ig_value *marks = ig_expr_with(e, IG_OP_gt, times, 0);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum,
                                        ig_expr_cast(e, marks, IG_DT_i64), 0, false);
    ig_expr_bind_dims(e, ig_expr_reshape(e, sum, 1, &one), 1, "the number of axes",
                      &found);
    ig_expr_guard_equal(e, found, ig_dim_of(count),
                        "axes must be different axes of the tensor");
    return marks;
}

/* How many of the marks up to each place are set. */
static ig_value *count_marks(ig_expr *e, ig_value *marks) {
    return ig_build_cumsum(e, ig_expr_cast(e, marks, IG_DT_i64),
                           (ig_cumsum_attrs){ .axis = 0 });
}

static ig_status give_shape(ig_onnx_node *node, ig_value *shape, uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK];
    ig_expr_bind_dims(node->e, shape, rank, "an extent of the result", dims);
    return ig_onnx_give(node, ig_expr_reshape(node->e, node->inputs[0], rank, dims));
}

/* The length of input 1; false when it is not known or not within [0, most]. */
static bool count_axes(ig_onnx_node *node, uint32_t max, uint32_t *out_count) {
    int64_t count;
    const ig_value *axes = ig_onnx_ranked_input(node, 1, 1);
    if (ig_onnx_has_failed(node)) {
        return false;
    }
    if (!ig_dim_constant(node->e->module, ig_onnx_extent(node->e, axes, 0), &count)) {
        ig_onnx_fail(node, IG_UNSUPPORTED, "input 1, axes, has no known length");
        return false;
    }
    if (count < 0 || count > max) {
        ig_onnx_fail(node, IG_INVALID, "input 1 names %lld axes, expected at most %u",
                     (long long)count, max);
        return false;
    }
    *out_count = (uint32_t)count;
    return true;
}

ig_status ig_onnx_unsqueeze_at_run(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[0]->type;
    uint32_t count;
    if (!count_axes(node, IG_TENSOR_RANK - type->rank, &count)) {
        return e->status;
    }
    uint32_t rank = type->rank + count;
    ig_value *marks = mark_axes(node, rank, count);
    if (type->rank == 0) {
        ig_dim dims[IG_TENSOR_RANK];
        for (uint32_t d = 0; d < rank; d++) {
            dims[d] = ig_dim_of(1);
        }
        return ig_onnx_give(node, ig_expr_reshape(e, node->inputs[0], rank, dims));
    }
    ig_value *at = count_marks(e, ig_build_not(e, marks));
    at = ig_expr_with(e, IG_OP_max, ig_expr_with_integer(e, IG_OP_sub, at, 1), 0);
    at = ig_expr_with(e, IG_OP_min, at, type->rank - 1.0);
    ig_value *dims = ig_expr_dims(e, type->dims, type->rank);
    ig_value *kept = ig_expr_gather(e, dims, at, 0, IG_NEGATIVE_error);
    ig_value *one = ig_expr_integer(e, IG_DT_i64, 1);
    return give_shape(node, ig_build_where(e, marks, one, kept), rank);
}

ig_status ig_onnx_squeeze_at_run(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[0]->type;
    uint32_t count;
    if (!count_axes(node, type->rank, &count)) {
        return e->status;
    }
    uint32_t rank = type->rank - count;
    ig_value *marks = mark_axes(node, type->rank, count);
    if (rank == 0) {
        return ig_onnx_give(node, ig_expr_reshape(e, node->inputs[0], 0, NULL));
    }
    /* The n-th axis that stays is the first with n before or at it. */
    ig_value *running = count_marks(e, ig_build_not(e, marks));
    ig_value *nth = ig_expr_iota(e, IG_DT_i64, ig_dim_of(rank));
    nth = ig_expr_with_integer(e, IG_OP_add, nth, 1);
    ig_value *at = ig_build_bucketize(e, nth, running, (ig_bucketize_attrs){ 0 });
    at = ig_expr_with(e, IG_OP_min, at, type->rank - 1.0);
    ig_value *dims = ig_expr_dims(e, type->dims, type->rank);
    return give_shape(node, ig_expr_gather(e, dims, at, 0, IG_NEGATIVE_error), rank);
}
