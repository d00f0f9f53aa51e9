/* Movement of elements: slices, pieces, joins, padding.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Positions known at import become attributes (start, size and step of each axis);
 * others are left to the op's operand form.
 */
#include "base/checked.h"
#include "frontend/onnx/ops/hooks.h"
#include "ir/infer/slice.h"

#include <string.h>

/* ---- slice ---- */

typedef struct cut {
    ig_dim starts[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    bool is_cut[IG_TENSOR_RANK];
} cut;

static void cut_nothing(cut *c, const ig_type *type) {
    memset(c, 0, sizeof(*c));
    for (uint32_t i = 0; i < type->rank; i++) {
        c->starts[i] = ig_dim_of(0);
        c->sizes[i] = type->dims[i];
        c->steps[i] = 1;
    }
}

/* Cuts along one axis; false when the sign of a position is not known, or the node has
 * failed. */
static bool cut_axis(const ig_onnx_node *node, cut *c, int64_t axis,
                     const ig_slice_ends *ends) {
    const ig_type *type = node->inputs[0]->type;
    uint32_t at = ig_onnx_axis_of(node, axis, type->rank);
    if (c->is_cut[at]) {
        ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", at);
    }
    if (ends->step == 0) {
        ig_onnx_fail(node, IG_INVALID,
                     "the step along axis %u is 0, expected another number", at);
    }
    c->is_cut[at] = true;
    c->steps[at] = ends->step;
    return !ig_onnx_has_failed(node) &&
           ig_slice_extent(node->import->module, ends, type->dims[at], &c->starts[at],
                           &c->sizes[at]);
}

static ig_status give_cut(ig_onnx_node *node, const cut *c) {
    return ig_onnx_give(
        node, ig_expr_slices(node->e, node->inputs[0], c->starts, c->sizes, c->steps));
}

ig_status ig_onnx_import_slice_attributes(ig_onnx_node *node) {
    ig_module *m = node->import->module;
    cut c;
    ig_ints starts = ig_onnx_attr_list(node, "starts");
    ig_ints ends = ig_onnx_attr_list_of(node, "ends", starts.count);
    ig_ints axes = ig_onnx_attr_list_of(node, "axes", starts.count);
    cut_nothing(&c, node->inputs[0]->type);
    for (uint32_t i = 0; i < starts.count && !ig_onnx_has_failed(node); i++) {
        ig_slice_ends span = { ig_dim_const(m, starts.items[i]),
                               ig_dim_const(m, ends.items[i]), 1 };
        cut_axis(node, &c, axes.items ? axes.items[i] : (int64_t)i, &span);
    }
    return give_cut(node, &c);
}

/* starts, ends, axes, steps; false when they are not known, or the node has failed. */
static bool cut_by_inputs(const ig_onnx_node *node, cut *c) {
    ig_dims_value in[5] = { 0 };
    ig_module *m = node->import->module;
    for (uint32_t i = 1; i < 5; i++) {
        if (ig_onnx_in(node, i) && !ig_onnx_dims(node, i, &in[i])) {
            return false;
        }
        if (ig_onnx_in(node, i) && in[i].count != in[1].count) {
            ig_onnx_fail(node, IG_INVALID, "input %u has %u entries, but starts has %u",
                         i, in[i].count, in[1].count);
            return false;
        }
    }
    for (uint32_t i = 0; i < in[1].count; i++) {
        int64_t axis = i, step = 1;
        if ((ig_onnx_in(node, 3) && !ig_dim_constant(m, in[3].dims[i], &axis)) ||
            (ig_onnx_in(node, 4) && !ig_dim_constant(m, in[4].dims[i], &step))) {
            return false;
        }
        ig_slice_ends ends = { in[1].dims[i], in[2].dims[i], step };
        if (!cut_axis(node, c, axis, &ends)) {
            return false;
        }
    }
    return true;
}

/* 0, 1, 2 … in the type of `starts`, for axes that are absent before steps. */
static ig_value *count_up(const ig_onnx_node *node, const ig_value *starts) {
    int64_t count;
    if (starts->type->rank != 1 ||
        !ig_dim_known(ig_onnx_extent(node->e, starts, 0), &count) ||
        count > IG_TENSOR_RANK) {
        return ig_expr_fail(node->e, IG_UNSUPPORTED,
                            "the number of axes to slice is not known");
    }
    return ig_expr_iota(node->e, (ig_dtype)starts->type->dtype, ig_dim_of(count));
}

/* `value` as another plus a constant. */
typedef struct shifted {
    const ig_value *base;
    int64_t by;
} shifted;

static shifted shift_of(const ig_value *value) {
    const ig_op *sum = ig_def(value, IG_OP_add);
    shifted s = { .base = value };
    for (uint32_t i = 0; sum && i < 2; i++) {
        if (ig_constant_i64(ig_op_operand(sum, i), &s.by)) {
            s.base = ig_op_operand(sum, 1 - i);
            return s;
        }
    }
    return s;
}

/* x[i + a : i + b] of a vector has at most b - a elements, whatever i is. */
static void bound_window(const ig_onnx_node *node, const ig_value *start,
                         const ig_value *end, const ig_value *result) {
    if (!result || node->inputs[0]->type->rank != 1 || ig_onnx_in(node, 4)) {
        return;
    }
    ig_symbol *symbol = ig_dim_as_symbol(node->import->module,
                                         ig_onnx_extent(node->e, result, 0));
    shifted from = shift_of(start), to = shift_of(end);
    int64_t width;
    bool is_window = from.base == to.base && ig_sub_i64(to.by, from.by, &width);
    if (symbol && is_window && width >= 0 && width < symbol->max) {
        symbol->max = width;
    }
}

ig_status ig_onnx_import_slice(ig_onnx_node *node) {
    cut c;
    cut_nothing(&c, node->inputs[0]->type);
    if (cut_by_inputs(node, &c) || ig_onnx_has_failed(node)) {
        return give_cut(node, &c);
    }
    ig_value *starts = ig_onnx_ranked_input(node, 1, 1), *ends = node->inputs[2];
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    ig_value *axes = ig_onnx_in(node, 3), *steps = ig_onnx_in(node, 4);
    for (uint32_t i = 2; i < node->input_count; i++) {
        if (ig_onnx_in(node, i) &&
            !ig_onnx_list_input(
                node, i, ig_onnx_extent(node->e, starts, 0),
                "starts, ends, axes and steps must have the same length")) {
            return node->e->status;
        }
    }
    axes = !axes && steps ? count_up(node, starts) : axes;
    ig_value *part = ig_build_slice(node->e, node->inputs[0], starts, ends, axes, steps,
                                    (ig_slice_attrs){ 0 });
    bound_window(node, starts, ends, part);
    return ig_onnx_give(node, part);
}

/* ---- split ---- */

/* Sizes of the pieces, as an attribute or an input gives them; those that the run
 * computes are symbols. */
static void read_sizes(const ig_onnx_node *node, ig_ints given, ig_dim *sizes) {
    ig_dims_value known = { .count = given.count };
    for (uint32_t i = 0; i < given.count && i < node->output_count; i++) {
        sizes[i] = ig_dim_const(node->import->module, given.items[i]);
    }
    if (!given.items && !ig_onnx_dims(node, 1, &known)) {
        ig_value *list = ig_onnx_list_input(node, 1, ig_dim_of(node->output_count),
                                            "a size for each output");
        ig_expr_bind_dims(node->e, ig_expr_cast(node->e, list, IG_DT_i64),
                          node->output_count, "the size of a piece", sizes);
    } else if (known.count != node->output_count) {
        ig_onnx_fail(node, IG_INVALID, "has %u outputs, but %u sizes",
                     node->output_count, known.count);
    } else if (!given.items) {
        memcpy(sizes, known.dims, known.count * sizeof(*sizes));
    }
}

/* Equal pieces; with num_outputs the last one may be smaller. */
static void divide_evenly(const ig_onnx_node *node, ig_dim extent, ig_dim *sizes) {
    ig_module *m = node->import->module;
    uint32_t count = node->output_count;
    bool is_uneven = ig_onnx_row_has_attr(node->row, "num_outputs") &&
                     ig_onnx_attr(node, "num_outputs", NULL);
    int64_t wanted = is_uneven ? ig_onnx_attr_int(node, "num_outputs", 0) : count;
    if (wanted != count) {
        ig_onnx_fail(node, IG_INVALID, "has %u outputs, but num_outputs is %lld", count,
                     (long long)wanted);
    }
    ig_dim pieces = ig_dim_of(count), left = extent;
    ig_dim size = is_uneven ? ig_dim_ceil_div(m, extent, pieces)
                            : ig_dim_exact_div(m, extent, pieces);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = is_uneven ? ig_dim_min(m, size, left) : size;
        left = ig_dim_sub(m, left, sizes[i]);
    }
}

ig_status ig_onnx_import_split(ig_onnx_node *node) {
    ig_module *m = node->import->module;
    ig_value *x = node->inputs[0];
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 0, x->type->rank);
    ig_dim *sizes = IG_NEW_ARRAY(node->import->arena, ig_dim, node->output_count);
    ig_ints given = ig_onnx_attr_list(node, "split");
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    if (given.items || ig_onnx_in(node, 1)) {
        read_sizes(node, given, sizes);
    } else {
        divide_evenly(node, ig_onnx_extent(node->e, x, axis), sizes);
    }
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    ig_dim total = ig_dim_of(0), start = total;
    for (uint32_t i = 0; i < node->output_count; i++) {
        total = ig_dim_add(m, total, sizes[i]);
    }
    ig_expr_guard_equal(node->e, total, ig_onnx_extent(node->e, x, axis),
                        "the sizes of the pieces must add up to the axis' extent");
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = ig_expr_slice(node->e, x, axis, start, sizes[i], 1);
        start = ig_dim_add(m, start, sizes[i]);
    }
    return node->e->status;
}

/* ---- concat ---- */

ig_status ig_onnx_import_concat(ig_onnx_node *node) {
    uint32_t rank = node->inputs[0]->type->rank;
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 1, rank); /* optional before 4 */
    for (uint32_t i = 1; i < node->input_count; i++) {
        ig_onnx_ranked_input(node, i, rank);
        for (uint32_t d = 0; d < rank && !ig_onnx_has_failed(node); d++) {
            if (d != axis) {
                ig_onnx_guard_extents(node, 0, d, i, d);
            }
        }
    }
    return ig_onnx_give(node,
                        ig_expr_concat(node->e, axis, node->inputs, node->input_count));
}

/* ---- pad ---- */

static int read_pad_mode(const ig_onnx_node *node) {
    _Static_assert(IG_PAD_constant == 0 && IG_PAD_edge == 1 && IG_PAD_reflect == 2 &&
                       IG_PAD_wrap == 3,
                   "modes in the order of the names");
    return (int)ig_onnx_attr_choice(node, "mode", "constant edge reflect wrap");
}

/* Pads of the axes given, or of all, become attributes. */
static void spread_pads(const ig_onnx_node *node, ig_dims pads, ig_ints axes,
                        ig_dim *before, ig_dim *after) {
    uint32_t rank = node->inputs[0]->type->rank;
    uint32_t count = axes.items ? axes.count : rank;
    if (pads.count != 2 * count) {
        ig_onnx_fail(node, IG_INVALID, "pads has %u entries, expected %u", pads.count,
                     2 * count);
        return;
    }
    for (uint32_t i = 0; i < rank; i++) {
        before[i] = after[i] = ig_dim_of(0);
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = axes.items ? axes.items[i] : i;
        before[axis] = pads.items[i];
        after[axis] = pads.items[count + i];
    }
}

/* Crops x by its negative pads, so that the others repeat the rest of it. */
static ig_value *crop_first(const ig_onnx_node *node, ig_value *x, ig_dim *before,
                            ig_dim *after) {
    ig_module *module = node->import->module;
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        int64_t by[2] = { 0, 0 };
        bool is_known = ig_dim_constant(module, before[i], &by[0]) &&
                        ig_dim_constant(module, after[i], &by[1]);
        if (!is_known || (by[0] >= 0 && by[1] >= 0)) {
            continue;
        }
        ig_dim none = ig_dim_of(0);
        ig_dim start = by[0] < 0 ? ig_dim_sub(module, none, before[i]) : none;
        ig_dim end = by[1] < 0 ? ig_dim_sub(module, none, after[i]) : none;
        ig_dim rest = ig_dim_sub(module, ig_onnx_extent(node->e, x, i),
                                 ig_dim_add(module, start, end));
        if (ig_dim_less_equal(module, none, rest) == IG_NO) {
            ig_onnx_fail(node, IG_INVALID, "pads remove more of axis %u than it has",
                         i);
            return NULL;
        }
        x = ig_expr_slice(node->e, x, i, start, rest, 1);
        before[i] = by[0] < 0 ? none : before[i];
        after[i] = by[1] < 0 ? none : after[i];
    }
    return x;
}

static ig_status give_pad(ig_onnx_node *node, ig_dims pads, ig_ints axes,
                          ig_value *value) {
    ig_value *x = node->inputs[0];
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    int mode = read_pad_mode(node);
    spread_pads(node, pads, axes, before, after);
    if (ig_onnx_has_failed(node) || x->type->rank == 0) {
        return ig_onnx_has_failed(node) ? node->e->status : ig_onnx_give(node, x);
    }
    x = mode == IG_PAD_constant ? x : crop_first(node, x, before, after);
    IG_TRY(node->e->status);
    ig_pad_attrs attrs = { .before = { before, x->type->rank },
                           .after = { after, x->type->rank },
                           .mode = mode };
    return ig_onnx_give(node, ig_build_pad(node->e, x, value, NULL, NULL, attrs));
}

ig_status ig_onnx_import_pad_attributes(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    bool is_first = ig_onnx_attr(node, "paddings", NULL) != NULL;
    ig_ints list = ig_onnx_attr_list_of(node, is_first ? "paddings" : "pads",
                                        2 * x->type->rank);
    ig_dim *pads = IG_NEW_ARRAY(node->import->arena, ig_dim, list.count + 1u);
    for (uint32_t i = 0; i < list.count; i++) {
        pads[i] = ig_dim_const(node->import->module, list.items[i]);
    }
    double value = ig_onnx_attr_float(node, "value", 0);
    return give_pad(node, (ig_dims){ pads, list.count }, (ig_ints){ 0 },
                    ig_expr_number(node->e, (ig_dtype)x->type->dtype, value));
}

/* Which axes are padded; NULL: all, as com.microsoft's form has it always. */
static ig_value *pad_axes(const ig_onnx_node *node) {
    return ig_onnx_row_has_input(node->row, 3) ? ig_onnx_in(node, 3) : NULL;
}

ig_status ig_onnx_import_pad(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *value = ig_onnx_in(node, 2);
    ig_dims_value pads;
    if (ig_onnx_dims(node, 1, &pads)) {
        bool has_axes = pad_axes(node) != NULL;
        ig_ints axes = { 0 };
        axes = has_axes ? ig_onnx_axes(node, "axes", 3, x->type->rank) : axes;
        value = value ? ig_onnx_scalar_input(node, 2) : NULL;
        return give_pad(node, (ig_dims){ pads.dims, pads.count }, axes, value);
    }
    ig_value *axes = pad_axes(node) ? ig_onnx_ranked_input(node, 3, 1) : NULL;
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    ig_dim ends = axes ? ig_onnx_extent(node->e, axes, 0) : ig_dim_of(x->type->rank);
    ends = ig_dim_mul(node->import->module, ends, ig_dim_of(2));
    if (!ig_onnx_list_input(node, 1, ends, "pads must be two for each axis")) {
        return node->e->status;
    }
    ig_pad_attrs attrs = { .mode = read_pad_mode(node) };
    value = value ? value : ig_expr_number(node->e, (ig_dtype)x->type->dtype, 0);
    return ig_onnx_give(node,
                        ig_build_pad(node->e, x, node->inputs[1], value, axes, attrs));
}

/* ---- tile ---- */

ig_status ig_onnx_import_tile(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    ig_value *times = ig_onnx_list_input(node, 1, ig_dim_of(x->type->rank),
                                         "repeats must have as many entries as axes");
    if (!times) {
        return node->e->status;
    }
    return ig_onnx_give(node, ig_build_tile(node->e, x, times));
}
