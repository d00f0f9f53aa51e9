/* Forms that operators had before opset 7.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Binary operators said how they broadcast: with `broadcast`, the second operand's axes
 * are those of the first from `axis` on, or its last ones; without, the shapes are
 * equal.  The result has the shape of the first.  `consumed_inputs` let a runtime
 * overwrite an input, and says nothing about the result. */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/read/onnx.pb-c.h"

#include <math.h>

/* ---- binary operators ---- */

/* The second operand with an axis for each of the first's from `axis` on. */
static ig_value *align_axes(const ig_onnx_node *node, ig_value *x, ig_value *y) {
    uint32_t rank = x->type->rank, own = y->type->rank;
    bool is_given = ig_onnx_attr(node, "axis", NULL) != NULL;
    if (own > rank) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "input 1 has rank %u, more than the %u of input 0", own,
                            rank);
    }
    /* A scalar has no axes to be placed. */
    uint32_t first = is_given && own > 0 ? ig_onnx_axis_attr(node, "axis", 0, rank)
                                         : rank - own;
    if (first > rank - own) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "axis is %u, but input 1 has rank %u and input 0 rank %u",
                            first, own, rank);
    }
    return ig_expr_unsqueeze_to(node->e, y, rank - first);
}

/* The second operand is as large as the first, or is repeated where `repeats`. */
static void guard_shape(const ig_onnx_node *node, ig_value *x, ig_value *y,
                        bool repeats) {
    if (!y || (y->type->rank != x->type->rank && !repeats)) {
        ig_onnx_fail(node, IG_INVALID,
                     "inputs of ranks %u and %u are not broadcast without the "
                     "attribute broadcast",
                     x->type->rank, node->inputs[1]->type->rank);
        return;
    }
    const char *what = "input 1 must have the extents of input 0";
    for (uint32_t i = 0; i < y->type->rank && !repeats; i++) {
        ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, y, i),
                            ig_onnx_extent(node->e, x, i), what);
    }
    if (repeats && !ig_onnx_has_failed(node)) {
        ig_expr_guard_broadcast_to(node->e, x, y, what);
    }
}

ig_status ig_onnx_import_map_from_axis(ig_onnx_node *node) {
    bool repeats = ig_onnx_attr_bool(node, "broadcast", false);
    ig_value *x = node->inputs[0], *y = node->inputs[1];
    y = repeats ? align_axes(node, x, y) : y;
    guard_shape(node, x, y, repeats);
    return ig_onnx_give(node,
                        ig_expr_map2(node->e, (ig_opcode)node->row->variant, x, y));
}

/* One slope for all, or one for each channel. */
ig_status ig_onnx_import_prelu_by_channel(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *slope = node->inputs[1];
    bool is_shared = slope->type->rank == 0 ||
                     (slope->type->rank == 1 &&
                      ig_dim_is(ig_onnx_extent(node->e, slope, 0), 1));
    if (is_shared || x->type->rank < 2) {
        return ig_onnx_import_prelu(node);
    }
    slope = ig_onnx_list_input(node, 1, ig_onnx_extent(node->e, x, 1),
                               "the slope must have one entry per channel");
    if (!slope) {
        return node->e->status;
    }
    node->inputs[1] = ig_expr_along(node->e, slope, 1, x->type->rank);
    return ig_onnx_has_failed(node) ? node->e->status : ig_onnx_import_prelu(node);
}

/* ---- layers that could train ---- */

static bool is_test(const ig_onnx_node *node) {
    if (!ig_onnx_attr_bool(node, "is_test", false)) {
        ig_onnx_fail(node, IG_UNSUPPORTED,
                     "is_test is 0: training mode is not supported before opset 7");
    }
    return !ig_onnx_has_failed(node);
}

ig_status ig_onnx_import_dropout_test(ig_onnx_node *node) {
    return is_test(node) ? ig_onnx_import_dropout(node) : node->e->status;
}

ig_status ig_onnx_import_batch_norm_test(ig_onnx_node *node) {
    return is_test(node) ? ig_onnx_import_batch_norm(node) : node->e->status;
}

/* ---- attributes that became inputs, or changed their type ---- */

ig_status ig_onnx_import_cast_to_name(ig_onnx_node *node) {
    ig_str name = ig_onnx_attr_str(node, "to", "");
    const char *text = ig_arena_printf(node->import->arena, "%.*s", IG_STR_ARG(name));
    const ProtobufCEnumValue *type = protobuf_c_enum_descriptor_get_value_by_name(
        &onnx__tensor_proto__data_type__descriptor, text);
    ig_dtype to;
    if (!type || !ig_dtype_from_onnx(type->value, &to)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "to is '%.*s', which is not a supported element type",
                            IG_STR_ARG(name));
    }
    return ig_onnx_give(
        node, ig_build_cast(node->e, node->inputs[0], (ig_cast_attrs){ .to = to }));
}

ig_status ig_onnx_import_tile_axis(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *times = ig_onnx_count_input(node, 1);
    uint32_t rank = x->type->rank, axis;
    double number;
    if (!ig_constant_entry(node->inputs[2], 0, &number) ||
        !(fabs(number) <= IG_TENSOR_RANK)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "input 2, axis, is computed from data, or is not an axis");
    }
    axis = ig_onnx_axis_of(node, (int64_t)number, rank);
    ig_value *one = ig_expr_integer(node->e, IG_DT_i64, 1);
    ig_value *all[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        all[i] = ig_expr_unsqueeze(node->e, i == axis ? times : one, 0);
    }
    return ig_onnx_has_failed(node)
               ? node->e->status
               : ig_onnx_give(
                     node,
                     ig_build_tile(node->e, x, ig_expr_concat(node->e, 0, all, rank)));
}
