/* Movement of elements: slices, pieces, joins, padding, repetition.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Positions known at import become attributes (start, size and step of each axis);
 * others are left to the op's operand form.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"
#include "base/checked.h"
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
        c->sizes[i] = type->dims[i];
        c->steps[i] = 1;
    }
}

/* Cuts along one axis; `*out_known` false when a sign is not known. */
static ig_status cut_axis(const ig_onnx_node *node, cut *c, int64_t axis,
                          const ig_slice_ends *ends, bool *out_known) {
    const ig_type *type = node->inputs[0]->type;
    uint32_t at;
    IG_TRY(ig_onnx_axis(node, axis, type->rank, &at));
    if (c->is_cut[at]) {
        return ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", at);
    }
    if (ends->step == 0) {
        return ig_onnx_fail(node, IG_INVALID, "the step along axis %u is 0", at);
    }
    c->is_cut[at] = true;
    c->steps[at] = ends->step;
    *out_known = ig_slice_extent(node->import->module, ends, type->dims[at],
                                 &c->starts[at], &c->sizes[at]);
    return IG_OK;
}

static ig_status build_cut(ig_onnx_node *node, const cut *c) {
    ig_module *module = node->import->module;
    uint32_t rank = node->inputs[0]->type->rank;
    ig_attr attrs[IG_slice_attr_count] = {
        [IG_slice_starts] = ig_attr_of_dims(module, c->starts, rank),
        [IG_slice_sizes] = ig_attr_of_dims(module, c->sizes, rank),
    };
    for (uint32_t i = 0; i < rank; i++) {
        if (c->steps[i] != 1) {
            attrs[IG_slice_steps] = ig_attr_of_ints(module, c->steps, rank);
        }
    }
    return ig_onnx_build(node, IG_OP_slice, 1, node->inputs, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_slice_attributes(ig_onnx_node *node) {
    uint32_t starts_count, ends_count, axes_count;
    const int64_t *starts = ig_onnx_attr_ints(node, "starts", &starts_count);
    const int64_t *ends = ig_onnx_attr_ints(node, "ends", &ends_count);
    const int64_t *axes = ig_onnx_attr_ints(node, "axes", &axes_count);
    ig_module *module = node->import->module;
    IG_TRY(ig_onnx_tensor(node, 0));
    if (starts_count != ends_count || (axes && axes_count != starts_count)) {
        return ig_onnx_fail(node, IG_INVALID, "starts, ends and axes differ in length");
    }
    cut c;
    cut_nothing(&c, node->inputs[0]->type);
    for (uint32_t i = 0; i < starts_count; i++) {
        bool is_known; /* always: these are numbers */
        ig_slice_ends span = { ig_dim_const(module, starts[i]),
                               ig_dim_const(module, ends[i]), 1 };
        IG_TRY(cut_axis(node, &c, axes ? axes[i] : (int64_t)i, &span, &is_known));
    }
    return build_cut(node, &c);
}

/* starts, ends, axes, steps as far as they are known. */
static ig_status cut_by_inputs(const ig_onnx_node *node, cut *c, bool *out_known) {
    ig_dims_value in[5] = { 0 };
    ig_module *module = node->import->module;
    *out_known = true;
    for (uint32_t i = 1; i < 5; i++) {
        if (ig_onnx_in(node, i) && !ig_onnx_dims(node, i, &in[i])) {
            *out_known = false;
            return IG_OK;
        }
        if (ig_onnx_in(node, i) && in[i].count != in[1].count) {
            return ig_onnx_fail(node, IG_INVALID,
                                "input %u has %u entries, but starts has %u", i,
                                in[i].count, in[1].count);
        }
    }
    for (uint32_t i = 0; *out_known && i < in[1].count; i++) {
        int64_t axis = i, step = 1;
        if ((ig_onnx_in(node, 3) && !ig_dim_constant(module, in[3].dims[i], &axis)) ||
            (ig_onnx_in(node, 4) && !ig_dim_constant(module, in[4].dims[i], &step))) {
            *out_known = false;
            return IG_OK;
        }
        ig_slice_ends ends = { in[1].dims[i], in[2].dims[i], step };
        IG_TRY(cut_axis(node, c, axis, &ends, out_known));
    }
    return IG_OK;
}

/* 0, 1, 2 … in the type of `like`, for inputs that are absent before one that is
 * there. */
static ig_value *count_up(const ig_onnx_node *node, const ig_value *like) {
    int64_t numbers[IG_TENSOR_RANK];
    ig_dim count = like->type->dims[0];
    for (int64_t i = 0; i < ig_dim_value(count); i++) {
        numbers[i] = i;
    }
    const ig_type *type = ig_type_tensor(node->import->module, IG_DT_i64, 1, &count);
    return ig_make_cast(node->builder, ig_make_const(node->builder, type, numbers),
                        (ig_dtype)like->type->dtype);
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
    ig_symbol *symbol = ig_dim_as_symbol(node->import->module, result->type->dims[0]);
    shifted from = shift_of(start), to = shift_of(end);
    int64_t width;
    bool is_window = from.base == to.base && ig_sub_i64(to.by, from.by, &width);
    if (symbol && is_window && node->inputs[0]->type->rank == 1 &&
        !ig_onnx_in(node, 4) && width >= 0 && width < symbol->max) {
        symbol->max = width;
    }
}

ig_status ig_onnx_import_slice(ig_onnx_node *node) {
    cut c;
    bool is_known;
    for (uint32_t i = 0; i < 3; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
    }
    cut_nothing(&c, node->inputs[0]->type);
    IG_TRY(cut_by_inputs(node, &c, &is_known));
    if (is_known) {
        return build_cut(node, &c);
    }
    ig_value *operands[5] = { node->inputs[0], node->inputs[1], node->inputs[2],
                              ig_onnx_in(node, 3), ig_onnx_in(node, 4) };
    const ig_type *starts = operands[1]->type;
    if (!operands[3] && operands[4]) {
        int64_t count;
        if (starts->rank != 1 || !ig_dim_known(starts->dims[0], &count) ||
            count > IG_TENSOR_RANK) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "the number of axes to slice is not known");
        }
        operands[3] = count_up(node, operands[1]);
    }
    uint32_t count = operands[4] ? 5 : operands[3] ? 4 : 3;
    IG_TRY(ig_onnx_build(node, IG_OP_slice, count, operands, NULL, &node->outputs[0]));
    bound_window(node, operands[1], operands[2], node->outputs[0]);
    return IG_OK;
}

/* ---- split ---- */

/* Sizes of the pieces: given, or equal ones. */
static ig_status split_sizes(const ig_onnx_node *node, ig_dim extent, ig_dim *sizes) {
    ig_module *module = node->import->module;
    uint32_t pieces = node->output_count, given_count;
    const int64_t *given = ig_onnx_attr_ints(node, "split", &given_count);
    ig_dims_value known = { 0 };
    bool has_input = ig_onnx_in(node, 1) != NULL;
    if (has_input && !ig_onnx_dims(node, 1, &known)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "input 1, the sizes of the pieces, is computed from data");
    }
    if (given || has_input) {
        uint32_t count = given ? given_count : known.count;
        if (count != pieces) {
            return ig_onnx_fail(node, IG_INVALID, "has %u outputs, but %u sizes",
                                pieces, count);
        }
        for (uint32_t i = 0; i < pieces; i++) {
            sizes[i] = given ? ig_dim_const(module, given[i]) : known.dims[i];
        }
        return IG_OK;
    }
    bool is_uneven = ig_onnx_attr(node, "num_outputs", NULL) != NULL;
    int64_t wanted = ig_onnx_attr_int(node, "num_outputs", pieces);
    if (wanted != pieces) {
        return ig_onnx_fail(node, IG_INVALID, "has %u outputs, but num_outputs is %lld",
                            pieces, (long long)wanted);
    }
    ig_dim size = is_uneven ? ig_dim_ceil_div(module, extent, ig_dim_of(pieces))
                            : ig_dim_exact_div(module, extent, ig_dim_of(pieces));
    ig_dim left = extent;
    for (uint32_t i = 0; i < pieces; i++) {
        ig_dim piece = is_uneven ? ig_dim_min(module, size, left) : size;
        sizes[i] = piece;
        left = ig_dim_sub(module, left, piece);
    }
    return IG_OK;
}

ig_status ig_onnx_import_split(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_tensor(node, 0));
    ig_module *module = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 0), type->rank, &axis));
    ig_dim *sizes = IG_NEW_ARRAY(node->import->arena, ig_dim, node->output_count);
    IG_TRY(split_sizes(node, type->dims[axis], sizes));
    ig_dim total = ig_dim_of(0);
    for (uint32_t i = 0; i < node->output_count; i++) {
        total = ig_dim_add(module, total, sizes[i]);
    }
    if (ig_dim_equal(module, total, type->dims[axis]) == IG_NO) {
        return ig_onnx_fail(node, IG_INVALID,
                            "the pieces do not add up to the extent of axis %u", axis);
    }
    ig_make_guard_equal(node->builder, total, type->dims[axis],
                        "the pieces of a split do not add up to the extent");
    ig_dim start = ig_dim_of(0);
    for (uint32_t i = 0; i < node->output_count; i++) {
        IG_TRY(ig_onnx_slice(node, node->inputs[0], axis, start, sizes[i],
                             &node->outputs[i]));
        start = ig_dim_add(module, start, sizes[i]);
    }
    return IG_OK;
}

/* ---- concat ---- */

ig_status ig_onnx_import_concat(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_tensor(node, 0));
    uint32_t rank = node->inputs[0]->type->rank;
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 0), rank, &axis));
    for (uint32_t i = 1; i < node->input_count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        if (node->inputs[i]->type->rank != rank) {
            return ig_onnx_fail(node, IG_INVALID,
                                "input %u has rank %u, but input 0 has %u", i,
                                node->inputs[i]->type->rank, rank);
        }
        for (uint32_t d = 0; d < rank; d++) {
            if (d != axis) {
                ig_onnx_guard_extents(node, 0, d, i, d);
            }
        }
    }
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(axis) };
    return ig_onnx_build(node, IG_OP_concat, node->input_count, node->inputs, attrs,
                         &node->outputs[0]);
}

/* ---- pad ---- */

static ig_status pad_mode(const ig_onnx_node *node, ig_pad_mode *out_mode) {
    static const char *const names[] = { [IG_PAD_constant] = "constant",
                                         [IG_PAD_edge] = "edge",
                                         [IG_PAD_reflect] = "reflect",
                                         [IG_PAD_wrap] = "wrap" };
    ig_str mode = ig_onnx_attr_str(node, "mode", "constant");
    for (uint32_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(mode, names[i])) {
            *out_mode = (ig_pad_mode)i;
            return IG_OK;
        }
    }
    return ig_onnx_fail(node, IG_INVALID,
                        "mode is '%.*s', expected constant, edge, reflect or wrap",
                        IG_STR_ARG(mode));
}

static ig_status build_pad(ig_onnx_node *node, const ig_dim *before,
                           const ig_dim *after, ig_value *value) {
    ig_module *module = node->import->module;
    uint32_t rank = node->inputs[0]->type->rank;
    ig_pad_mode mode;
    IG_TRY(pad_mode(node, &mode));
    ig_attr attrs[IG_pad_attr_count] = {
        [IG_pad_before] = ig_attr_of_dims(module, before, rank),
        [IG_pad_after] = ig_attr_of_dims(module, after, rank),
        [IG_pad_mode] = ig_attr_of_enum(mode),
    };
    return ig_onnx_build(node, IG_OP_pad, value ? 2 : 1,
                         (ig_value *[]){ node->inputs[0], value }, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_pad_attributes(ig_onnx_node *node) {
    uint32_t count;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    const int64_t *pads = ig_onnx_attr_ints(node, "pads", &count);
    uint32_t rank = node->inputs[0]->type->rank;
    if (count != 2 * rank) {
        return ig_onnx_fail(node, IG_INVALID, "pads has %u entries, expected %u", count,
                            2 * rank);
    }
    ig_module *module = node->import->module;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        before[i] = ig_dim_const(module, pads[i]);
        after[i] = ig_dim_const(module, pads[rank + i]);
    }
    ig_value *value = ig_onnx_scalar(node, (ig_dtype)node->inputs[0]->type->dtype,
                                     ig_onnx_attr_float(node, "value", 0));
    return build_pad(node, before, after, value);
}

/* Pads for the axes that input 3 names, or for all. */
static ig_status spread_pads(const ig_onnx_node *node, const ig_dims_value *pads,
                             const int64_t *axes, uint32_t count, ig_dim *before,
                             ig_dim *after) {
    bool seen[IG_TENSOR_RANK] = { false };
    if (pads->count != 2 * count) {
        return ig_onnx_fail(node, IG_INVALID, "pads has %u entries, expected %u",
                            pads->count, 2 * count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        IG_TRY(ig_onnx_axis(node, axes ? axes[i] : (int64_t)i,
                            node->inputs[0]->type->rank, &axis));
        if (seen[axis]) {
            return ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", axis);
        }
        seen[axis] = true;
        before[axis] = pads->dims[i];
        after[axis] = pads->dims[count + i];
    }
    return IG_OK;
}

static ig_status pad_by_operands(ig_onnx_node *node) {
    ig_pad_mode mode;
    IG_TRY(pad_mode(node, &mode));
    ig_attr attrs[IG_pad_attr_count] = { [IG_pad_mode] = ig_attr_of_enum(mode) };
    ig_value *x = node->inputs[0], *value = ig_onnx_in(node, 2),
             *axes = ig_onnx_in(node, 3);
    if (!value) {
        value = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    }
    return ig_onnx_build(node, IG_OP_pad, axes ? 4 : 3,
                         (ig_value *[]){ x, node->inputs[1], value, axes }, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_pad(ig_onnx_node *node) {
    ig_dims_value pads;
    const int64_t *axes = NULL;
    uint32_t count;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (!ig_onnx_dims(node, 1, &pads)) {
        return pad_by_operands(node);
    }
    count = node->inputs[0]->type->rank;
    if (ig_onnx_in(node, 3)) {
        IG_TRY(ig_onnx_const_ints(node, 3, "the axes", &axes, &count));
    }
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    IG_TRY(spread_pads(node, &pads, axes, count, before, after));
    ig_value *value = ig_onnx_in(node, 2);
    if (value && value->type->kind == IG_TENSOR && value->type->rank > 0) {
        IG_TRY(ig_onnx_reshape(node, value, 0, NULL, &value)); /* [1] for a scalar */
    }
    return build_pad(node, before, after, value);
}

ig_status ig_onnx_import_tile(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    return ig_onnx_build(node, IG_OP_tile, 2, node->inputs, NULL, &node->outputs[0]);
}
