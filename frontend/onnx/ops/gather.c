/* Indexing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Indices that are constants are checked here; all others by the run.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* Constant indices along an axis of known extent must lie in it. */
static ig_status check_constant(const ig_onnx_node *node, uint32_t input,
                                uint32_t axis) {
    const ig_data *data = ig_constant_of(node->inputs[input]);
    int64_t extent;
    if (!data || !data->bytes || data->is_splat ||
        !ig_dim_known(node->inputs[0]->type->dims[axis], &extent) ||
        !ig_dtype_is_int((ig_dtype)data->type->dtype)) {
        return IG_OK;
    }
    int64_t count = ig_dim_value(ig_type_count(node->import->module, data->type));
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes };
    for (int64_t i = 0; i < count; i++) {
        int64_t index = ig_tensor_get_i64(&tensor, i);
        if (index < -extent || index >= extent) {
            return ig_onnx_fail(
                node, IG_INVALID,
                "constant index %lld is outside of axis %u, whose extent is %lld",
                (long long)index, axis, (long long)extent);
        }
    }
    return IG_OK;
}

static ig_status read_axis(const ig_onnx_node *node, uint32_t *out_axis) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    return ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 0),
                        node->inputs[0]->type->rank, out_axis);
}

ig_status ig_onnx_import_gather(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, &axis));
    IG_TRY(check_constant(node, 1, axis));
    ig_attr attrs[IG_gather_attr_count] = {
        [IG_gather_axis] = ig_attr_of_int(axis),
        [IG_gather_negative] = ig_attr_of_enum(IG_NEGATIVE_wrap),
    };
    return ig_onnx_build(node, IG_OP_gather, 2, node->inputs, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_gather_nd(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    int64_t batch = ig_onnx_attr_int(node, "batch_dims", 0);
    const ig_type *x = node->inputs[0]->type, *indices = node->inputs[1]->type;
    if (batch < 0 || batch >= x->rank || batch >= indices->rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "batch_dims is %lld, for inputs of rank %u and %u",
                            (long long)batch, x->rank, indices->rank);
    }
    for (uint32_t i = 0; i < batch; i++) {
        ig_onnx_guard_extents(node, 0, i, 1, i);
    }
    ig_attr attrs[IG_gather_nd_attr_count] = { 0 };
    if (batch > 0) {
        attrs[IG_gather_nd_batch] = ig_attr_of_int(batch);
    }
    return ig_onnx_build(node, IG_OP_gather_nd, 2, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_gather_elements(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, &axis));
    IG_TRY(check_constant(node, 1, axis));
    ig_attr attrs[IG_gather_elements_attr_count] = { [IG_gather_elements_axis] =
                                                         ig_attr_of_int(axis) };
    return ig_onnx_build(node, IG_OP_gather_elements, 2, node->inputs, attrs,
                         &node->outputs[0]);
}

/* How updates meet what is there. */
static ig_status read_reduction(const ig_onnx_node *node, ig_attr *out_attr) {
    static const char *const names[] = { "none", "add", "mul", "min", "max" };
    ig_str reduction = ig_onnx_attr_str(node, "reduction", "none");
    for (uint32_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(reduction, names[i])) {
            *out_attr = ig_attr_of_enum(i);
            return IG_OK;
        }
    }
    return ig_onnx_fail(node, IG_INVALID, "there is no reduction '%.*s'",
                        IG_STR_ARG(reduction));
}

ig_status ig_onnx_import_scatter_elements(ig_onnx_node *node) {
    uint32_t axis;
    ig_attr attrs[IG_scatter_elements_attr_count] = { 0 };
    IG_TRY(read_reduction(node, &attrs[IG_scatter_elements_reduce]));
    IG_TRY(read_axis(node, &axis));
    IG_TRY(ig_onnx_tensor(node, 2));
    IG_TRY(check_constant(node, 1, axis));
    const ig_type *indices = node->inputs[1]->type, *updates = node->inputs[2]->type;
    for (uint32_t i = 0; i < indices->rank && indices->rank == updates->rank; i++) {
        ig_onnx_guard_extents(node, 1, i, 2, i);
    }
    attrs[IG_scatter_elements_axis] = ig_attr_of_int(axis);
    return ig_onnx_build(node, IG_OP_scatter_elements, 3, node->inputs, attrs,
                         &node->outputs[0]);
}

/* The ranks tell how long tuples are, where their extent does not. */
static ig_status know_depth(const ig_onnx_node *node, ig_value **indices) {
    const ig_type *x = node->inputs[0]->type, *type = (*indices)->type;
    const ig_type *updates = node->inputs[2]->type;
    ig_dim dims[IG_TENSOR_RANK];
    if (type->rank == 0 || ig_dim_is_static(type->dims[type->rank - 1])) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = type->dims[i];
    }
    int64_t depth = (int64_t)type->rank - 1 + x->rank - updates->rank;
    if (depth < 0 || depth > x->rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "inputs of rank %u, %u and %u do not fit each other",
                            x->rank, type->rank, updates->rank);
    }
    dims[type->rank - 1] = ig_dim_of(depth);
    ig_make_guard_equal(node->builder, type->dims[type->rank - 1], ig_dim_of(depth),
                        "the indices' last extent does not fit the updates' rank");
    return ig_onnx_reshape(node, *indices, type->rank, dims, indices);
}

/* The run checks that the blocks have the shape of what they replace. */
static void guard_blocks(const ig_onnx_node *node, const ig_type *indices) {
    const ig_type *x = node->inputs[0]->type;
    const ig_type *updates = node->inputs[2]->type;
    uint32_t lead = indices->rank ? indices->rank - 1 : 0;
    int64_t depth = 0;
    bool is_known = indices->rank == 0 || ig_dim_known(indices->dims[lead], &depth);
    for (uint32_t i = 0; i < lead && i < updates->rank; i++) {
        ig_onnx_guard_extents(node, 1, i, 2, i);
    }
    for (uint32_t i = lead; is_known && i < updates->rank; i++) {
        int64_t axis = depth + i - lead;
        if (axis < x->rank) {
            ig_onnx_guard_extents(node, 0, (uint32_t)axis, 2, i);
        }
    }
}

ig_status ig_onnx_import_scatter_nd(ig_onnx_node *node) {
    ig_attr attrs[IG_scatter_nd_attr_count] = { 0 };
    for (uint32_t i = 0; i < 3; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
    }
    IG_TRY(read_reduction(node, &attrs[IG_scatter_nd_reduce]));
    ig_value *operands[] = { node->inputs[0], node->inputs[1], node->inputs[2] };
    IG_TRY(know_depth(node, &operands[1]));
    guard_blocks(node, operands[1]->type);
    return ig_onnx_build(node, IG_OP_scatter_nd, 3, operands, attrs, &node->outputs[0]);
}

/* ---- one-hot: where(index = 0, 1, 2 …, on, off) ---- */

/* Element `index` of a tensor of two. */
static ig_status pick(const ig_onnx_node *node, ig_value *pair, int64_t index,
                      ig_value **out_value) {
    ig_value *at = ig_make_i64(node->builder, index);
    ig_attr attrs[IG_gather_attr_count] = { [IG_gather_axis] = ig_attr_of_int(0) };
    return ig_onnx_build(node, IG_OP_gather, 2, (ig_value *[]){ pair, at }, attrs,
                         out_value);
}

/* 0 … depth - 1 along `axis` of a shape of `rank` ones. */
static ig_status classes(const ig_onnx_node *node, ig_value *depth, uint32_t rank,
                         uint32_t axis, ig_value **out_value) {
    ig_value *from = ig_make_i64(node->builder, 0),
             *step = ig_make_i64(node->builder, 1);
    ig_value *all;
    IG_TRY(ig_onnx_build(node, IG_OP_range, 3, (ig_value *[]){ from, depth, step },
                         NULL, &all));
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i == axis ? all->type->dims[0] : ig_dim_of(1);
    }
    return ig_onnx_reshape(node, all, rank, dims, out_value);
}

/* Indices as i64 with a new axis; negative ones count from the end. */
static ig_status wrapped(const ig_onnx_node *node, ig_value *depth, uint32_t axis,
                         ig_value **out_value) {
    ig_value *index = ig_make_cast(node->builder, node->inputs[0], IG_DT_i64);
    ig_value *is_negative, *from_end;
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_lt, index, 0, &is_negative));
    IG_TRY(ig_onnx_build2(node, IG_OP_add, index, depth, &from_end));
    IG_TRY(ig_onnx_build(node, IG_OP_where, 3,
                         (ig_value *[]){ is_negative, from_end, index }, NULL, &index));
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t from = 0;
    for (uint32_t i = 0; i < index->type->rank + 1; i++) {
        dims[i] = i == axis ? ig_dim_of(1) : index->type->dims[from++];
    }
    return ig_onnx_reshape(node, index, from + 1, dims, out_value);
}

ig_status ig_onnx_import_one_hot(ig_onnx_node *node) {
    uint32_t axis;
    for (uint32_t i = 0; i < 3; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
    }
    uint32_t rank = node->inputs[0]->type->rank + 1;
    if (rank > IG_TENSOR_RANK || node->inputs[2]->type->rank != 1) {
        return ig_onnx_fail(node, IG_INVALID, "input 2 must hold two values");
    }
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", -1), rank, &axis));
    ig_value *depth = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64);
    ig_value *index, *range, *is_hot, *on, *off;
    IG_TRY(ig_onnx_reshape(node, depth, 0, NULL, &depth));
    IG_TRY(wrapped(node, depth, axis, &index));
    IG_TRY(classes(node, depth, rank, axis, &range));
    IG_TRY(ig_onnx_build(node, IG_OP_eq, 2, (ig_value *[]){ index, range }, NULL,
                         &is_hot));
    IG_TRY(pick(node, node->inputs[2], 0, &off));
    IG_TRY(pick(node, node->inputs[2], 1, &on));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_hot, on, off }, NULL,
                         &node->outputs[0]);
}
