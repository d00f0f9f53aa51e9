/* Shapes, and movement that only renames axes: views.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/keys.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/shape/axes.h"

#include <string.h>

ig_status ig_onnx_import_identity(ig_onnx_node *node) {
    ig_onnx_set_keys(node, 0, ig_onnx_find(node->scope, node->proto->input[0])->keys);
    return ig_onnx_give(node, node->inputs[0]);
}

/* ---- shape and size ---- */

static int64_t clamp_axis(int64_t axis, int64_t rank) {
    axis = axis < 0 ? axis + rank : axis;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

ig_status ig_onnx_import_shape(ig_onnx_node *node) {
    int64_t rank = node->inputs[0]->type->rank;
    int64_t start = clamp_axis(ig_onnx_attr_int(node, "start", 0), rank);
    int64_t end = clamp_axis(ig_onnx_attr_int(node, "end", rank), rank);
    ig_dim size = ig_dim_of(end > start ? end - start : 0);
    ig_dim from = ig_dim_of(end > start ? start : 0);
    ig_value *shape = ig_build_shape(node->e, node->inputs[0]);
    return ig_onnx_give(node, ig_expr_slice(node->e, shape, 0, from, size, 1));
}

/* ---- reshape ---- */

/* A wanted shape whose entries are known: 0 copies, -1 is the rest. */
static void resolve_shape(const ig_onnx_node *node, bool allows_zero,
                          ig_dims_value *shape) {
    ig_module *m = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    ig_dim minus_one = ig_dim_const(m, -1), others = ig_dim_of(1);
    uint32_t rest = UINT32_MAX;
    bool has_zero = false;
    for (uint32_t i = 0; i < shape->count; i++) {
        bool is_zero = ig_dim_is(shape->dims[i], 0);
        if (is_zero && !allows_zero && i >= type->rank) {
            ig_onnx_fail(
                node, IG_INVALID,
                "entry %u of the shape is 0, which copies an extent, but the input has rank %u",
                i, type->rank);
            return;
        }
        shape->dims[i] = is_zero && !allows_zero ? type->dims[i] : shape->dims[i];
        has_zero = has_zero || (is_zero && allows_zero);
        if (!ig_dim_same(shape->dims[i], minus_one)) {
            others = ig_dim_mul(m, others, shape->dims[i]);
        } else if (rest != UINT32_MAX) {
            ig_onnx_fail(node, IG_INVALID,
                         "entries %u and %u of the shape are -1, expected at most one",
                         rest, i);
        } else {
            rest = i;
        }
    }
    if (rest != UINT32_MAX && has_zero) {
        ig_onnx_fail(node, IG_INVALID,
                     "the shape has both 0 and -1, which allowzero excludes");
    } else if (rest != UINT32_MAX) {
        shape->dims[rest] = ig_dim_exact_div(m, ig_type_count(m, type), others);
    }
}

/* The input's extents, cut or filled up with 0 to `count` entries. */
static ig_value *fit_extents(const ig_onnx_node *node, uint32_t count) {
    static const int64_t zeros[IG_TENSOR_RANK];
    uint32_t rank = node->inputs[0]->type->rank;
    ig_value *own = ig_build_shape(node->e, node->inputs[0]);
    if (count <= rank) {
        return ig_expr_slice(node->e, own, 0, ig_dim_of(0), ig_dim_of(count), 1);
    }
    ig_value *parts[] = { own, ig_expr_ints(node->e, zeros, count - rank) };
    return ig_expr_concat(node->e, 0, parts, 2);
}

/* where(shape = 0, the input's extents, shape), for a shape only the run knows. */
static ig_value *copy_zeros(const ig_onnx_node *node, ig_value *shape) {
    int64_t count;
    if (shape->type->dtype != IG_DT_i64 || shape->type->rank != 1 ||
        !ig_dim_known(ig_onnx_extent(node->e, shape, 0), &count) ||
        count > IG_TENSOR_RANK) {
        return shape; /* the op will not take it */
    }
    ig_value *own = fit_extents(node, (uint32_t)count);
    return ig_build_where(node->e, ig_expr_with(node->e, IG_OP_eq, shape, 0), own,
                          shape);
}

ig_status ig_onnx_import_reshape(ig_onnx_node *node) {
    bool allows_zero = ig_onnx_attr_bool(node, "allowzero", false);
    ig_value *x = node->inputs[0], *wanted = node->inputs[1];
    ig_dims_value shape;
    if (ig_onnx_shape(node, 1, &shape)) {
        resolve_shape(node, allows_zero, &shape);
        return ig_onnx_give(node, ig_expr_reshape(node->e, x, shape.count, shape.dims));
    }
    wanted = allows_zero ? wanted : copy_zeros(node, wanted);
    return ig_onnx_give(node,
                        ig_build_reshape(node->e, x, wanted, (ig_reshape_attrs){ 0 }));
}

/* The shape as an attribute. */
ig_status ig_onnx_import_reshape_attribute(ig_onnx_node *node) {
    ig_ints list = ig_onnx_attr_list(node, "shape");
    ig_dims_value shape = { .rank = 1, .count = list.count };
    if (list.count > IG_TENSOR_RANK) {
        return ig_onnx_fail(node, IG_INVALID,
                            "shape has %u entries, expected %d or less", list.count,
                            IG_TENSOR_RANK);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i] < -1) {
            return ig_onnx_fail(node, IG_INVALID, "entry %u of shape is %lld", i,
                                (long long)list.items[i]);
        }
        shape.dims[i] = ig_dim_const(node->import->module, list.items[i]);
    }
    resolve_shape(node, false, &shape);
    return ig_onnx_has_failed(node)
               ? node->e->status
               : ig_onnx_give(node, ig_expr_reshape(node->e, node->inputs[0],
                                                    shape.count, shape.dims));
}

ig_status ig_onnx_import_flatten(ig_onnx_node *node) {
    ig_module *m = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    int64_t rank = type->rank,
            axis = ig_onnx_attr_between(node, "axis", 1, -rank, rank);
    uint32_t split = (uint32_t)(axis < 0 ? axis + rank : axis);
    ig_dim dims[] = { ig_dim_product(m, type->dims, split),
                      ig_dim_product(m, type->dims + split, type->rank - split) };
    return ig_onnx_give(node, ig_expr_reshape(node->e, node->inputs[0], 2, dims));
}

/* ---- axes that come and go ---- */

/* Marks the axes given. */
static void mark_axes(ig_ints axes, bool *marks) {
    memset(marks, 0, IG_TENSOR_RANK * sizeof(*marks));
    for (uint32_t i = 0; i < axes.count; i++) {
        marks[axes.items[i]] = true;
    }
}

/* Without axes every extent of 1 goes; one that is not known at import must be another,
 * or the rank of the result would depend on it. */
static void guard_not_one(const ig_onnx_node *node, uint32_t axis) {
    ig_module *m = node->import->module;
    ig_dim extent = ig_onnx_extent(node->e, node->inputs[0], axis), one = ig_dim_of(1);
    ig_dim pairs = ig_dim_floor_div(m, extent, ig_dim_of(2));
    ig_expr_guard_equal(
        node->e, ig_dim_min(m, extent, one), ig_dim_min(m, pairs, one),
        ig_arena_printf(node->import->arena,
                        "axis %u has extent 1: Squeeze without axes takes it, "
                        "which is only known at import where the model or "
                        "--input states it",
                        axis));
}

/* Are the axes an input that the run computes? */
static bool has_axes_of_run(const ig_onnx_node *node) {
    return ig_onnx_in(node, 1) && !ig_onnx_is_known(node, 1);
}

ig_status ig_onnx_import_squeeze(ig_onnx_node *node) {
    if (has_axes_of_run(node)) {
        return ig_onnx_squeeze_at_run(node);
    }
    bool marks[IG_TENSOR_RANK];
    const ig_type *type = node->inputs[0]->type;
    ig_ints axes = ig_onnx_axes(node, "axes", 1, type->rank);
    ig_dim dims[IG_TENSOR_RANK], one = ig_dim_of(1);
    uint32_t rank = 0;
    mark_axes(axes, marks);
    for (uint32_t i = 0; i < type->rank; i++) {
        if (axes.items ? marks[i] : ig_dim_is(type->dims[i], 1)) {
            ig_expr_guard_equal(
                node->e, type->dims[i], one,
                ig_arena_printf(node->import->arena, "axis %u must have extent 1", i));
        } else {
            if (!axes.items) {
                guard_not_one(node, i);
            }
            dims[rank++] = type->dims[i];
        }
    }
    return ig_onnx_give(node, ig_expr_reshape(node->e, node->inputs[0], rank, dims));
}

ig_status ig_onnx_import_unsqueeze(ig_onnx_node *node) {
    if (has_axes_of_run(node)) {
        return ig_onnx_unsqueeze_at_run(node);
    }
    bool marks[IG_TENSOR_RANK];
    const ig_type *type = node->inputs[0]->type;
    uint32_t count = ig_onnx_list(node, "axes", 1).count, from = 0;
    if (count > IG_TENSOR_RANK - type->rank) {
        return ig_onnx_fail(node, IG_LIMIT,
                            "the result has rank %llu, expected at most %d",
                            (unsigned long long)type->rank + count, IG_TENSOR_RANK);
    }
    uint32_t rank = type->rank + count;
    mark_axes(ig_onnx_axes(node, "axes", 1, rank), marks);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank && !ig_onnx_has_failed(node); i++) {
        dims[i] = marks[i] ? ig_dim_of(1) : type->dims[from++];
    }
    return ig_onnx_give(node,
                        ig_onnx_has_failed(node)
                            ? NULL
                            : ig_expr_reshape(node->e, node->inputs[0], rank, dims));
}

ig_status ig_onnx_import_transpose(ig_onnx_node *node) {
    int64_t reversed[IG_TENSOR_RANK];
    uint32_t rank = node->inputs[0]->type->rank;
    for (uint32_t i = 0; i < rank; i++) {
        reversed[i] = rank - 1 - i;
    }
    ig_ints perm = ig_onnx_attr_list(node, "perm");
    perm = perm.items ? perm : (ig_ints){ reversed, rank };
    ig_transpose_attrs attrs = { .perm = perm };
    return ig_onnx_give(node, ig_build_transpose(node->e, node->inputs[0], attrs));
}

ig_status ig_onnx_import_expand(ig_onnx_node *node) {
    ig_dims_value shape, joined;
    ig_value *x = node->inputs[0];
    if (!ig_onnx_shape(node, 1, &shape)) {
        return ig_onnx_give(
            node, ig_build_expand(node->e, x, node->inputs[1], (ig_expand_attrs){ 0 }));
    }
    joined = shape; /* only the guards are wanted */
    ig_expr_broadcast_dims(node->e, x->type, joined.dims, &joined.count);
    ig_expand_attrs attrs = { .to = { shape.dims, shape.count } };
    return ig_onnx_give(node, ig_build_expand(node->e, x, NULL, attrs));
}
