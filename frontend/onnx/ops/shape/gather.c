/* Indexing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Indices that are constants are checked here; all others by the run.
 */
#include "frontend/onnx/ops/hooks.h"

#include "ir/tensor/tensor.h"

#include <string.h>

/* Constant indices along an axis of known extent must be in range. */
static void check_constant(const ig_onnx_node *node, uint32_t axis) {
    const ig_data *data = ig_constant_of(node->inputs[1]);
    int64_t extent;
    if (ig_onnx_has_failed(node) || !data || !data->bytes || data->is_splat ||
        !ig_dim_known(ig_onnx_extent(node->e, node->inputs[0], axis), &extent) ||
        !ig_dtype_is_int((ig_dtype)data->type->dtype)) {
        return;
    }
    int64_t count = ig_dim_value(ig_type_count(node->import->module, data->type));
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes };
    for (int64_t i = 0; i < count; i++) {
        int64_t index = ig_tensor_get_i64(&tensor, i);
        if (index < -extent || index >= extent) {
            ig_onnx_fail(
                node, IG_INVALID,
                "constant index %lld is outside of axis %u, whose extent is %lld",
                (long long)index, axis, (long long)extent);
            return;
        }
    }
}

/* Attribute axis of input 0, along which input 1 indexes. */
static uint32_t read_axis(const ig_onnx_node *node) {
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 0, node->inputs[0]->type->rank);
    check_constant(node, axis);
    return axis;
}

ig_status ig_onnx_import_gather(ig_onnx_node *node) {
    uint32_t axis = read_axis(node);
    return ig_onnx_give(node, ig_expr_gather(node->e, node->inputs[0], node->inputs[1],
                                             axis, IG_NEGATIVE_wrap));
}

/* Where the last extent of the indices is not known, the rank that the file says the
 * result has tells how many axes they select; the run checks it. */
static ig_value *state_depth(const ig_onnx_node *node, ig_value *indices,
                             int64_t batch) {
    uint32_t rank = indices->type->rank, said;
    if (rank == 0 || ig_dim_is_static(ig_onnx_extent(node->e, indices, rank - 1)) ||
        !ig_onnx_declared_rank(node, 0, &said)) {
        return indices;
    }
    int64_t depth = (int64_t)rank + node->inputs[0]->type->rank - 1 - batch - said;
    if (depth < 1 || depth > node->inputs[0]->type->rank - batch) {
        return indices;
    }
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, indices->type->dims, rank * sizeof *dims);
    dims[rank - 1] = ig_dim_of(depth);
    ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, indices, rank - 1),
                        dims[rank - 1],
                        "the indices do not give the result the rank that the file "
                        "says");
    return ig_expr_reshape(node->e, indices, rank, dims);
}

ig_status ig_onnx_import_gather_nd(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *indices = node->inputs[1];
    uint32_t x_rank = x->type->rank, index_rank = indices->type->rank;
    int64_t shared = x_rank < index_rank ? x_rank : index_rank;
    int64_t batch = ig_onnx_row_has_attr(node->row, "batch_dims")
                        ? ig_onnx_attr_between(node, "batch_dims", 0, 0, shared - 1)
                        : 0;
    for (uint32_t i = 0; i < batch; i++) {
        ig_onnx_guard_extents(node, 0, i, 1, i);
    }
    ig_gather_nd_attrs attrs = { .batch = { batch > 0, batch } };
    indices = state_depth(node, indices, batch);
    return ig_onnx_give(node, ig_build_gather_nd(node->e, x, indices, attrs));
}

ig_status ig_onnx_import_gather_elements(ig_onnx_node *node) {
    ig_gather_elements_attrs attrs = { .axis = read_axis(node) };
    return ig_onnx_give(node, ig_build_gather_elements(node->e, node->inputs[0],
                                                       node->inputs[1], attrs));
}

/* ---- scatters ---- */

/* How updates and old values combine; in the order of ig_scatter. */
static const char reductions[] = "none add mul min max";

ig_status ig_onnx_import_scatter_elements(ig_onnx_node *node) {
    ig_scatter_elements_attrs attrs = { .axis = read_axis(node) };
    const ig_type *indices = node->inputs[1]->type, *updates = node->inputs[2]->type;
    if (ig_onnx_row_has_attr(node->row, "reduction")) {
        attrs.reduce = (int)ig_onnx_attr_choice(node, "reduction", reductions);
    }
    for (uint32_t i = 0; i < indices->rank && indices->rank == updates->rank; i++) {
        ig_onnx_guard_extents(node, 1, i, 2, i);
    }
    return ig_onnx_give(node, ig_build_scatter_elements(node->e, node->inputs[0],
                                                        node->inputs[1],
                                                        node->inputs[2], attrs));
}

/* Indices whose tuples have a known length: the ranks tell it where their extent does
 * not. */
static ig_value *know_depth(const ig_onnx_node *node, ig_value *indices) {
    const ig_type *x = node->inputs[0]->type, *type = indices->type;
    const ig_type *updates = node->inputs[2]->type;
    uint32_t last = type->rank - 1;
    ig_dim dims[IG_TENSOR_RANK];
    if (type->rank == 0 || ig_dim_is_static(type->dims[last])) {
        return indices;
    }
    int64_t depth = (int64_t)last + x->rank - updates->rank;
    if (depth < 0 || depth > x->rank) {
        return ig_expr_fail(
            node->e, IG_INVALID,
            "the updates have rank %u, expected %u to %u for data of rank %u and indices of rank %u",
            updates->rank, last, last + x->rank, x->rank, type->rank);
    }
    memcpy(dims, type->dims, type->rank * sizeof(*dims));
    dims[last] = ig_dim_of(depth);
    ig_expr_guard_equal(node->e, type->dims[last], dims[last],
                        "the indices' last extent does not fit the updates' rank");
    return ig_expr_reshape(node->e, indices, type->rank, dims);
}

/* The run checks that the blocks have the shape of the elements that they replace. */
static void guard_blocks(const ig_onnx_node *node, const ig_type *indices) {
    const ig_type *x = node->inputs[0]->type;
    const ig_type *updates = node->inputs[2]->type;
    uint32_t lead = indices->rank ? indices->rank - 1 : 0;
    int64_t depth = 0;
    bool is_known = !indices->rank || ig_dim_known(indices->dims[lead], &depth);
    for (uint32_t i = 0; i < lead && i < updates->rank; i++) {
        ig_onnx_guard_extents(node, 1, i, 2, i);
    }
    bool is_tuple = is_known && depth <= x->rank; /* the op's own rule refuses others */
    for (uint32_t i = lead; is_tuple && i < updates->rank; i++) {
        int64_t axis = depth + i - lead;
        if (axis < x->rank) {
            ig_onnx_guard_extents(node, 0, (uint32_t)axis, 2, i);
        }
    }
}

ig_status ig_onnx_import_scatter_nd(ig_onnx_node *node) {
    ig_scatter_nd_attrs attrs = { .reduce = (int)ig_onnx_attr_choice(node, "reduction",
                                                                     reductions) };
    ig_value *indices = know_depth(node, node->inputs[1]);
    if (indices) {
        guard_blocks(node, indices->type);
    }
    return ig_onnx_give(node, ig_build_scatter_nd(node->e, node->inputs[0], indices,
                                                  node->inputs[2], attrs));
}

/* ---- one-hot: where(index = 0, 1, 2 …, on, off) ---- */

/* Element `index` of a tensor of two. */
static ig_value *pick_element(ig_expr *e, ig_value *pair, int64_t index) {
    return ig_expr_gather(e, pair, ig_expr_integer(e, IG_DT_i64, index), 0,
                          IG_NEGATIVE_wrap);
}

/* 0, 1 … count - 1; a negative count is refused, which a range takes for none. */
static ig_value *count_up(const ig_onnx_node *node, ig_value *count) {
    ig_expr *e = node->e;
    ig_dims_value known;
    int64_t min, max = 0;
    if (count && ig_value_dims(count, &known)) {
        ig_dim_range(node->import->module, known.dims[0], &min, &max);
        if (max < 0) {
            (void)ig_onnx_fail(node, IG_INVALID,
                               min == max ? "the depth (input 1) is %lld"
                                          : "the depth (input 1) is at most %lld",
                               (long long)max);
        }
    }
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *shape = ig_expr_unsqueeze(e, count, 0);
    ig_value *zeros = ig_build_expand(e, zero, shape, (ig_expand_attrs){ 0 });
    return zeros ? ig_expr_iota(e, IG_DT_i64, ig_onnx_extent(e, zeros, 0)) : NULL;
}

ig_status ig_onnx_import_one_hot(ig_onnx_node *node) {
    ig_expr *e = node->e;
    uint32_t rank = node->inputs[0]->type->rank + 1;
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, rank);
    ig_value *values = ig_onnx_ranked_input(node, 2, 1);
    ig_value *depth = ig_onnx_count_input(node, 1);
    if (values) {
        ig_expr_guard_equal(e, ig_onnx_extent(e, values, 0), ig_dim_of(2),
                            "input 2 must hold two values");
    }
    ig_value *classes = count_up(node, depth);
    ig_value *index = ig_expr_cast(e, node->inputs[0], IG_DT_i64);
    ig_value *from_end = ig_build_add(e, index, depth);
    index = ig_build_where(e, ig_expr_with(e, IG_OP_lt, index, 0), from_end, index);
    index = ig_expr_unsqueeze(e, index, axis);
    classes = index ? ig_expr_along(e, classes, axis, rank) : NULL;
    ig_value *off = pick_element(e, values, 0), *on = pick_element(e, values, 1);
    return ig_onnx_give(node,
                        ig_build_where(e, ig_build_eq(e, index, classes), on, off));
}

/* ---- TensorScatter: rows of a cache are replaced ---- */

ig_status ig_onnx_import_tensor_scatter(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *cache = node->inputs[0], *fresh = node->inputs[1];
    const ig_type *type = cache->type;
    uint32_t rank = type->rank, axis = ig_onnx_axis_attr(node, "axis", -2, rank);
    bool is_ring = ig_onnx_attr_choice(node, "mode", "linear circular") == 1;
    IG_TRY(e->status);
    if (axis == 0 || fresh->type->rank != rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "axis must not be that of the batch, and both ranks equal");
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (i != axis) {
            ig_onnx_guard_extents(node, 0, i, 1, i);
        }
    }
    ig_dim rows = type->dims[axis], given = ig_onnx_extent(e, fresh, axis);
    ig_expr_guard_less_equal(e, given, rows, "the update has more rows than the cache");
    ig_value *to = ig_expr_axis_iota(e, rank, axis, given);
    if (ig_onnx_in(node, 2)) {
        ig_value *first = ig_expr_cast(e, ig_onnx_ranked_input(node, 2, 1), IG_DT_i64);
        if (!is_ring) {
            ig_dim positions = ig_dim_add(e->module, ig_dim_sub(e->module, rows, given),
                                          ig_dim_of(1));
            first = ig_onnx_index_among(node, first, positions);
        }
        to = ig_build_add(e, to, ig_expr_along(e, first, 0, rank));
    }
    if (is_ring) {
        to = ig_build_mod(e, to, ig_expr_dim(e, rows, IG_DT_i64), (ig_mod_attrs){ 0 });
    }
    to = ig_expr_expand(e, to, rank, fresh->type->dims);
    ig_scatter_elements_attrs attrs = { .axis = axis, .negative = IG_NEGATIVE_error };
    return ig_onnx_give(node, ig_build_scatter_elements(e, cache, to, fresh, attrs));
}
