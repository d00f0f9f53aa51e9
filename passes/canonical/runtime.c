/* canonicalise: shapes and positions that came as operands become attributes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Importers build the general form, in which a shape is computed when the model runs.
 * Where ig_value_dims knows the operand's elements, the op is made anew with
 * attributes.  A condition that the run would have checked - as many elements after a
 * reshape as before, extents that broadcast - becomes a guard, unless it is proved.
 */
#include "ir/build/expr.h"
#include "ir/infer/slice.h"
#include "passes/canonical/canonicalise.h"

#include <string.h>

/* Every entry of a list operand that is known. */
static bool read_list(const ig_op *op, uint32_t index, ig_dims_value *out) {
    return ig_value_dims(ig_op_operand(op, index), out) && out->rank == 1;
}

/* A list of numbers. */
static bool read_numbers(const ig_op *op, uint32_t index, ig_dims_value *list,
                         int64_t *out) {
    if (!read_list(op, index, list)) {
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (!ig_dim_constant(ig_op_module(op), list->dims[i], &out[i])) {
            return false;
        }
    }
    return true;
}

/* Where axis `at` counts from, for numbers that are checked already. */
static uint32_t from_front(int64_t axis, uint32_t rank) {
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* ---- reshape ---- */

/* A -1 in the list is the count divided by the other extents. */
static bool resolve_shape(const ig_op *op, ig_dims_value *shape) {
    ig_module *module = ig_op_module(op);
    ig_dim minus_one = ig_dim_const(module, -1), others = ig_dim_of(1);
    ig_dim *rest = NULL;
    for (uint32_t i = 0; i < shape->count; i++) {
        if (ig_dim_same(shape->dims[i], minus_one)) {
            rest = &shape->dims[i];
            continue;
        }
        if (ig_dim_less_equal(module, ig_dim_of(0), shape->dims[i]) != IG_YES) {
            return false; /* could be -1 when it runs */
        }
        others = ig_dim_mul(module, others, shape->dims[i]);
    }
    if (rest) {
        ig_dim count = ig_type_count(module, ig_op_operand(op, 0)->type);
        *rest = ig_dim_exact_div(module, count, others);
    }
    return true;
}

static ig_value *reshape_with_known_shape(ig_builder *b, ig_op *op) {
    ig_dims_value shape;
    if (op->operand_count != 2 || !read_list(op, 1, &shape) ||
        !resolve_shape(op, &shape)) {
        return NULL;
    }
    ig_module *module = ig_op_module(op);
    ig_value *x = ig_op_operand(op, 0);
    ig_expr e = ig_expr_trying(b);
    ig_value *made = ig_expr_reshape(&e, x, shape.count, shape.dims);
    if (made) {
        ig_make_guard_equal(b, ig_type_count(module, x->type),
                            ig_type_count(module, made->type),
                            "a reshape keeps the number of elements");
    }
    return made;
}

/* ---- expand ---- */

/* Extents a and b broadcast exactly where bcast does not care for their order. */
static void guard_broadcast(ig_builder *b, ig_dim x, ig_dim y) {
    ig_module *module = b->graph->module;
    ig_make_guard_equal(b, ig_dim_bcast(module, x, y), ig_dim_bcast(module, y, x),
                        "extents do not broadcast");
}

static ig_value *expand_with_known_shape(ig_builder *b, ig_op *op) {
    ig_dims_value shape;
    if (op->operand_count != 2 || !read_list(op, 1, &shape)) {
        return NULL;
    }
    ig_module *module = ig_op_module(op);
    for (uint32_t i = 0; i < shape.count; i++) {
        if (ig_dim_less_equal(module, ig_dim_of(0), shape.dims[i]) != IG_YES) {
            return NULL;
        }
    }
    ig_expr e = ig_expr_trying(b);
    ig_dims to = { shape.dims, shape.count };
    ig_value *x = ig_op_operand(op, 0);
    ig_value *made = ig_build_expand(&e, x, NULL, (ig_expand_attrs){ .to = to });
    uint32_t common = x->type->rank < shape.count ? x->type->rank : shape.count;
    for (uint32_t i = 1; made && i <= common; i++) {
        guard_broadcast(b, x->type->dims[x->type->rank - i],
                        shape.dims[shape.count - i]);
    }
    return made;
}

/* ---- slice ---- */

enum { STARTS = 1, ENDS, AXES, STEPS };

typedef struct positions {
    ig_dims_value starts, ends;
    int64_t axes[32], steps[32];
} positions;

static bool read_positions(const ig_op *op, positions *p) {
    ig_dims_value list;
    if (!read_list(op, STARTS, &p->starts) || !read_list(op, ENDS, &p->ends) ||
        p->ends.count != p->starts.count) {
        return false;
    }
    for (uint32_t i = 0; i < p->starts.count; i++) {
        p->axes[i] = i;
        p->steps[i] = 1;
    }
    return (op->operand_count <= AXES || (read_numbers(op, AXES, &list, p->axes) &&
                                          list.count == p->starts.count)) &&
           (op->operand_count <= STEPS || (read_numbers(op, STEPS, &list, p->steps) &&
                                           list.count == p->starts.count));
}

static ig_value *slice_with_known_positions(ig_builder *b, ig_op *op) {
    const ig_type *type = ig_op_operand(op, 0)->type;
    positions p;
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    if (op->operand_count < 3 || !read_positions(op, &p)) {
        return NULL;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        sizes[i] = type->dims[i];
        steps[i] = 1;
    }
    for (uint32_t i = 0; i < p.starts.count; i++) {
        uint32_t axis = from_front(p.axes[i], type->rank);
        ig_slice_ends ends = { p.starts.dims[i], p.ends.dims[i], p.steps[i] };
        if (axis >= type->rank || p.steps[i] == 0 ||
            !ig_slice_extent(ig_op_module(op), &ends, type->dims[axis], &starts[axis],
                             &sizes[axis])) {
            return NULL;
        }
        steps[axis] = p.steps[i];
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_slices(&e, ig_op_operand(op, 0), starts, sizes, steps);
}

/* ---- pad ---- */

enum { PADS = 1, VALUE, PAD_AXES };

static ig_value *pad_with_known_widths(ig_builder *b, ig_op *op) {
    const ig_type *type = ig_op_operand(op, 0)->type;
    ig_dims_value pads, list;
    int64_t axes[32];
    if (ig_attr_is_set(op, IG_pad_before) || op->operand_count < 2 ||
        !read_list(op, PADS, &pads) || pads.count % 2) {
        return NULL;
    }
    uint32_t count = pads.count / 2;
    bool has_axes = op->operand_count > PAD_AXES;
    if (has_axes ? !read_numbers(op, PAD_AXES, &list, axes) || list.count != count
                 : count != type->rank) {
        return NULL;
    }
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = has_axes ? from_front(axes[i], type->rank) : i;
        if (axis >= type->rank) {
            return NULL;
        }
        before[axis] = pads.dims[i];
        after[axis] = pads.dims[count + i];
    }
    ig_expr e = ig_expr_trying(b);
    ig_pad_attrs attrs = { .before = { before, type->rank },
                           .after = { after, type->rank },
                           .mode = (int)ig_attr_int(op, IG_pad_mode, 0) };
    return ig_build_pad(&e, ig_op_operand(op, 0), ig_op_operand(op, VALUE), NULL, NULL,
                        attrs);
}

/* ---- reduce ---- */

static ig_value *reduce_with_known_axes(ig_builder *b, ig_op *op) {
    ig_dims_value list;
    int64_t axes[32];
    if (op->operand_count != 2 || !read_numbers(op, 1, &list, axes)) {
        return NULL;
    }
    bool is_noop = !list.count && ig_attr_int(op, IG_reduce_noop_if_empty, 0);
    ig_reduce_attrs attrs = { .op = (int)ig_attr_int(op, IG_reduce_op, 0),
                              .keep = ig_attr_int(op, IG_reduce_keep, 0) != 0,
                              .noop_if_empty = is_noop,
                              .empty_zero = ig_attr_int(op, IG_reduce_empty_zero, 0) !=
                                            0 };
    if (list.count || is_noop) {
        attrs.axes = (ig_ints){ axes, list.count };
    }
    ig_expr e = ig_expr_trying(b);
    return ig_build_reduce(&e, ig_op_operand(op, 0), NULL, attrs);
}

static bool reduces_axis(const ig_op *op, uint32_t axis) {
    const ig_attr *axes = &op->attrs[IG_reduce_axes];
    int64_t rank = ig_op_operand(op, 0)->type->rank;
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t given = axes->as.ints[i];
        if ((given < 0 ? given + rank : given) == axis) {
            return true;
        }
    }
    return axes->count == 0 && !ig_attr_int(op, IG_reduce_noop_if_empty, 0);
}

/* Is axis `d` of an expand's result nothing but copies, of which there is one? */
static bool is_copied(const ig_op *expand, uint32_t d) {
    const ig_type *from = ig_op_operand(expand, 0)->type;
    const ig_type *to = expand->results[0].type;
    uint32_t added = to->rank - from->rank;
    int64_t min, max;
    ig_dim_range(ig_op_module(expand), to->dims[d], &min, &max);
    return min >= 1 && !ig_dim_is(to->dims[d], 1) &&
           (d < added || ig_dim_is(from->dims[d - added], 1));
}

/* The largest (smallest) of copies is the one that they are copies of. */
static ig_value *extreme_of_copies(ig_builder *b, ig_op *op) {
    ig_op *expand = ig_def(ig_op_operand(op, 0), IG_OP_expand);
    int64_t kind = ig_attr_int(op, IG_reduce_op, 0);
    if (!expand || expand->operand_count != 1 || op->operand_count != 1 ||
        (kind != IG_REDUCE_max && kind != IG_REDUCE_min)) {
        return NULL;
    }
    const ig_type *wide = expand->results[0].type;
    ig_dim dims[IG_TENSOR_RANK];
    bool has_copies = false;
    for (uint32_t d = 0; d < wide->rank; d++) {
        bool is_dropped = reduces_axis(op, d) && is_copied(expand, d);
        dims[d] = is_dropped ? ig_dim_of(1) : wide->dims[d];
        has_copies = has_copies || is_dropped;
    }
    ig_expr e = ig_expr_trying(b);
    ig_value *x = has_copies
                      ? ig_expr_expand(&e, ig_op_operand(expand, 0), wide->rank, dims)
                      : NULL;
    return ig_expr_make(&e, IG_OP_reduce, &x, 1, op->attrs);
}

static const ig_rule rules[] = {
    RULE(reshape, reshape_with_known_shape), RULE(expand, expand_with_known_shape),
    RULE(slice, slice_with_known_positions), RULE(pad, pad_with_known_widths),
    RULE(reduce, reduce_with_known_axes),    RULE(reduce, extreme_of_copies),
};

const ig_rules ig_rules_runtime = { rules, IG_COUNT_OF(rules) };
