/* Shapes, and movement that only renames axes: views.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

#include <string.h>

ig_status ig_onnx_import_identity(ig_onnx_node *node) {
    node->outputs[0] = node->inputs[0];
    return IG_OK;
}

/* true, in the shape of x */
static ig_status give_mask(const ig_onnx_node *node, ig_value **out_value) {
    ig_module *module = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    ig_value *all = ig_onnx_scalar(node, IG_DT_bool, 1);
    ig_attr attrs[IG_expand_attr_count] = { 0 };
    attrs[IG_expand_to] = ig_attr_of_dims(module, type->dims, type->rank);
    return ig_onnx_build(node, IG_OP_expand, 1, &all, attrs, out_value);
}

/* Inference: the input as it is. */
ig_status ig_onnx_import_dropout(ig_onnx_node *node) {
    const ig_value *training = ig_onnx_in(node, 2);
    double is_training = 0;
    IG_TRY(ig_onnx_tensor(node, 0));
    if (training && (!ig_constant_f64(training, &is_training) || is_training != 0)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "training mode is not supported yet");
    }
    node->outputs[0] = node->inputs[0];
    return node->output_count > 1 ? give_mask(node, &node->outputs[1]) : IG_OK;
}

/* ---- shape and size ---- */

static int64_t clamp_axis(int64_t axis, int64_t rank) {
    axis = axis < 0 ? axis + rank : axis;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

ig_status ig_onnx_import_shape(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    int64_t rank = node->inputs[0]->type->rank;
    int64_t start = clamp_axis(ig_onnx_attr_int(node, "start", 0), rank);
    int64_t end = clamp_axis(ig_onnx_attr_int(node, "end", rank), rank);
    ig_value *shape;
    IG_TRY(ig_onnx_build1(node, IG_OP_shape, node->inputs[0], &shape));
    if (start > 0 || end < rank) {
        int64_t size = end > start ? end - start : 0;
        IG_TRY(ig_onnx_slice(node, shape, 0, ig_dim_of(size ? start : 0),
                             ig_dim_of(size), &shape));
    }
    node->outputs[0] = shape;
    return IG_OK;
}

ig_status ig_onnx_import_size(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    return ig_onnx_build1(node, IG_OP_size, node->inputs[0], &node->outputs[0]);
}

/* ---- reshape ---- */

/* A wanted shape whose entries are known: 0 copies, -1 is what is left. */
static ig_status resolve_shape(const ig_onnx_node *node, bool allows_zero,
                               ig_dims_value *shape) {
    ig_module *module = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    ig_dim minus_one = ig_dim_const(module, -1), others = ig_dim_of(1);
    uint32_t rest = UINT32_MAX;
    bool has_zero = false;
    for (uint32_t i = 0; i < shape->count; i++) {
        if (ig_dim_is(shape->dims[i], 0) && !allows_zero) {
            if (i >= type->rank) {
                return ig_onnx_fail(node, IG_INVALID,
                                    "the shape copies extent %u of an input of rank %u",
                                    i, type->rank);
            }
            shape->dims[i] = type->dims[i];
        }
        has_zero = has_zero || ig_dim_is(shape->dims[i], 0);
        if (ig_dim_same(shape->dims[i], minus_one)) {
            if (rest != UINT32_MAX) {
                return ig_onnx_fail(node, IG_INVALID, "the shape has -1 twice");
            }
            rest = i;
        } else {
            others = ig_dim_mul(module, others, shape->dims[i]);
        }
    }
    if (rest != UINT32_MAX && has_zero && allows_zero) {
        return ig_onnx_fail(node, IG_INVALID,
                            "the shape has both 0 and -1, with allowzero");
    }
    if (rest != UINT32_MAX) {
        shape->dims[rest] = ig_dim_exact_div(module, ig_type_count(module, type),
                                             others);
    }
    return IG_OK;
}

/* The input's extents, cut or filled up with 0 to `count` entries. */
static ig_status own_extents(const ig_onnx_node *node, int64_t count,
                             ig_value **out_value) {
    int64_t rank = node->inputs[0]->type->rank, zeros[IG_TENSOR_RANK] = { 0 };
    IG_TRY(ig_onnx_build1(node, IG_OP_shape, node->inputs[0], out_value));
    if (count < rank) {
        return ig_onnx_slice(node, *out_value, 0, ig_dim_of(0), ig_dim_of(count),
                             out_value);
    }
    if (count == rank) {
        return IG_OK;
    }
    ig_dim more = ig_dim_of(count - rank);
    const ig_type *type = ig_type_tensor(node->import->module, IG_DT_i64, 1, &more);
    ig_value *parts[] = { *out_value, ig_make_const(node->builder, type, zeros) };
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    return ig_onnx_build(node, IG_OP_concat, 2, parts, attrs, out_value);
}

/* where(shape = 0, the input's extents, shape), for a shape only the run knows. */
static ig_status copy_zeros(const ig_onnx_node *node, ig_value **shape) {
    const ig_type *type = (*shape)->type;
    ig_value *own, *is_zero;
    int64_t count;
    if (type->rank != 1 || !ig_dim_known(type->dims[0], &count) ||
        count > IG_TENSOR_RANK) {
        return IG_OK; /* the op will not take it */
    }
    IG_TRY(own_extents(node, count, &own));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_eq, *shape, 0, &is_zero));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_zero, own, *shape },
                         NULL, shape);
}

ig_status ig_onnx_import_reshape(ig_onnx_node *node) {
    bool allows_zero = ig_onnx_attr_int(node, "allowzero", 0) != 0;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    ig_dims_value shape;
    ig_value *wanted = node->inputs[1];
    if (ig_onnx_dims(node, 1, &shape) && shape.rank == 1) {
        IG_TRY(resolve_shape(node, allows_zero, &shape));
        return ig_onnx_reshape(node, node->inputs[0], shape.count, shape.dims,
                               &node->outputs[0]);
    }
    if (!allows_zero && wanted->type->dtype == IG_DT_i64) {
        IG_TRY(copy_zeros(node, &wanted));
    }
    return ig_onnx_build(node, IG_OP_reshape, 2,
                         (ig_value *[]){ node->inputs[0], wanted }, NULL,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_flatten(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    int64_t axis = ig_onnx_attr_int(node, "axis", 1), rank = type->rank;
    if (axis < -rank || axis > rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "axis %lld is outside of a tensor of rank %lld",
                            (long long)axis, (long long)rank);
    }
    uint32_t split = (uint32_t)(axis < 0 ? axis + rank : axis);
    ig_module *module = node->import->module;
    ig_dim dims[2];
    dims[0] = ig_dim_product(module, type->dims, split);
    dims[1] = ig_dim_product(module, type->dims + split, type->rank - split);
    return ig_onnx_reshape(node, node->inputs[0], 2, dims, &node->outputs[0]);
}

/* Marks the axes given; each at most once. */
static ig_status mark_axes(const ig_onnx_node *node, const int64_t *axes,
                           uint32_t count, uint32_t rank, bool *marks) {
    memset(marks, 0, IG_TENSOR_RANK * sizeof(*marks));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        IG_TRY(ig_onnx_axis(node, axes[i], rank, &axis));
        if (marks[axis]) {
            return ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", axis);
        }
        marks[axis] = true;
    }
    return IG_OK;
}

/* An axis that goes must have extent 1. */
static ig_status check_single(const ig_onnx_node *node, uint32_t axis, ig_dim dim) {
    ig_truth is_one = ig_dim_equal(node->import->module, dim, ig_dim_of(1));
    if (is_one == IG_NO) {
        return ig_onnx_fail(node, IG_INVALID,
                            "axis %u cannot be squeezed, its extent is not 1", axis);
    }
    const char *text = ig_arena_printf(
        node->import->arena, "%s: axis %u must have extent 1",
        ig_onnx_node_label(node->import, node->proto, node->where.number - 1), axis);
    ig_make_guard_equal(node->builder, dim, ig_dim_of(1), text);
    return IG_OK;
}

ig_status ig_onnx_import_squeeze(ig_onnx_node *node) {
    const int64_t *axes;
    uint32_t count, rank = 0;
    IG_TRY(ig_onnx_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    bool marks[IG_TENSOR_RANK];
    IG_TRY(ig_onnx_ints(node, "axes", 1, &axes, &count));
    IG_TRY(mark_axes(node, axes, count, type->rank, marks));
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        bool goes = axes ? marks[i] : ig_dim_is(type->dims[i], 1);
        if (!goes) {
            dims[rank++] = type->dims[i];
        } else {
            IG_TRY(check_single(node, i, type->dims[i]));
        }
    }
    return ig_onnx_reshape(node, node->inputs[0], rank, dims, &node->outputs[0]);
}

ig_status ig_onnx_import_unsqueeze(ig_onnx_node *node) {
    const int64_t *axes;
    uint32_t count, from = 0;
    IG_TRY(ig_onnx_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    IG_TRY(ig_onnx_ints(node, "axes", 1, &axes, &count));
    uint64_t rank = (uint64_t)type->rank + count;
    if (rank > IG_TENSOR_RANK) {
        return ig_onnx_fail(node, IG_LIMIT,
                            "the result has %llu dimensions, more than %d",
                            (unsigned long long)rank, IG_TENSOR_RANK);
    }
    bool marks[IG_TENSOR_RANK];
    IG_TRY(mark_axes(node, axes, count, (uint32_t)rank, marks));
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = marks[i] ? ig_dim_of(1) : type->dims[from++];
    }
    return ig_onnx_reshape(node, node->inputs[0], (uint32_t)rank, dims,
                           &node->outputs[0]);
}

ig_status ig_onnx_import_transpose(ig_onnx_node *node) {
    uint32_t count;
    IG_TRY(ig_onnx_tensor(node, 0));
    uint32_t rank = node->inputs[0]->type->rank;
    const int64_t *perm = ig_onnx_attr_ints(node, "perm", &count);
    int64_t reversed[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        reversed[i] = rank - 1 - i;
    }
    ig_attr attrs[IG_transpose_attr_count] = {
        [IG_transpose_perm] = ig_attr_of_ints(
            node->import->module, perm ? perm : reversed, perm ? count : rank)
    };
    return ig_onnx_build(node, IG_OP_transpose, 1, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_expand(ig_onnx_node *node) {
    ig_dims_value shape;
    ig_module *module = node->import->module;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (!ig_onnx_dims(node, 1, &shape) || shape.rank != 1) {
        return ig_onnx_build(node, IG_OP_expand, 2, node->inputs, NULL,
                             &node->outputs[0]);
    }
    const ig_type *type = node->inputs[0]->type;
    for (uint32_t i = 1; i <= shape.count && i <= type->rank; i++) {
        ig_dim a = type->dims[type->rank - i], b = shape.dims[shape.count - i];
        if (!ig_dim_is(a, 1) && !ig_dim_is(b, 1) &&
            ig_dim_equal(module, a, b) == IG_MAYBE) {
            ig_make_guard_equal(node->builder, ig_dim_bcast(module, a, b),
                                ig_dim_bcast(module, b, a),
                                "the input does not expand to the shape");
        }
    }
    ig_attr attrs[IG_expand_attr_count] = { [IG_expand_to] = ig_attr_of_dims(
                                                module, shape.dims, shape.count) };
    return ig_onnx_build(node, IG_OP_expand, 1, node->inputs, attrs, &node->outputs[0]);
}
