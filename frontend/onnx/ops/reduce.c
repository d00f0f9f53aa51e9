/* Reductions and running sums.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Axes are an attribute in old versions and an input in newer ones; ig_onnx_ints reads
 * either, and where an input is computed from data the op takes it as an operand.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

static ig_status set_axes(const ig_onnx_node *node, const int64_t *axes, uint32_t count,
                          ig_attr *attr) {
    int64_t *normal = IG_NEW_ARRAY(node->import->arena, int64_t, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        IG_TRY(ig_onnx_axis(node, axes[i], node->inputs[0]->type->rank, &axis));
        normal[i] = axis;
        for (uint32_t k = 0; k < i; k++) {
            if (normal[k] == axis) {
                return ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", axis);
            }
        }
    }
    if (count > 0) {
        *attr = ig_attr_of_ints(node->import->module, normal, count);
    }
    return IG_OK;
}

static bool is_known(const ig_onnx_node *node, uint32_t index) {
    ig_dims_value value;
    return ig_constant_of(ig_onnx_in(node, index)) || ig_onnx_dims(node, index, &value);
}

ig_status ig_onnx_import_reduce(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    ig_attr attrs[IG_reduce_attr_count] = {
        [IG_reduce_op] = ig_attr_of_enum(node->row->variant),
    };
    if (ig_onnx_attr_int(node, "keepdims", 1)) {
        attrs[IG_reduce_keep] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_int(node, "noop_with_empty_axes", 0)) {
        attrs[IG_reduce_noop_if_empty] = ig_attr_of_bool(true);
    }
    if (ig_onnx_in(node, 1) && !is_known(node, 1)) {
        return ig_onnx_build(node, IG_OP_reduce, 2, node->inputs, attrs,
                             &node->outputs[0]);
    }
    const int64_t *axes;
    uint32_t count;
    IG_TRY(ig_onnx_ints(node, "axes", 1, &axes, &count));
    IG_TRY(set_axes(node, axes, count, &attrs[IG_reduce_axes]));
    return ig_onnx_build(node, IG_OP_reduce, 1, node->inputs, attrs, &node->outputs[0]);
}

/* ---- running sums and products ---- */

static ig_status build_running(const ig_onnx_node *node, uint32_t axis,
                               ig_value **out_value) {
    ig_attr exclusive = ig_attr_of_bool(ig_onnx_attr_int(node, "exclusive", 0) != 0);
    ig_attr reverse = ig_attr_of_bool(ig_onnx_attr_int(node, "reverse", 0) != 0);
    ig_attr none = { 0 };
    exclusive = exclusive.as.i ? exclusive : none;
    reverse = reverse.as.i ? reverse : none;
    ig_attr sum[IG_cumsum_attr_count] = {
        [IG_cumsum_axis] = ig_attr_of_int(axis),
        [IG_cumsum_exclusive] = exclusive,
        [IG_cumsum_reverse] = reverse,
    };
    ig_attr product[IG_cumulate_attr_count] = {
        [IG_cumulate_op] = ig_attr_of_enum(IG_CUMULATE_prod),
        [IG_cumulate_axis] = ig_attr_of_int(axis),
        [IG_cumulate_exclusive] = exclusive,
        [IG_cumulate_reverse] = reverse,
    };
    bool is_sum = node->row->variant == IG_OP_cumsum;
    return ig_onnx_build(node, (ig_opcode)node->row->variant, 1, node->inputs,
                         is_sum ? sum : product, out_value);
}

/* The axis is known while running only: all of them are computed, one is chosen.  An
 * axis that is none of them is found by looking it up among as many as there are. */
static ig_status choose_running(const ig_onnx_node *node, ig_value **out_value) {
    uint32_t rank = node->inputs[0]->type->rank;
    ig_value *axis = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64), *all;
    ig_dim count = ig_dim_of(rank);
    IG_TRY(ig_onnx_reshape(node, axis, 0, NULL, &axis));
    ig_value *bounds[] = { ig_make_i64(node->builder, 0),
                           ig_make_dims(node->builder, &count, 1),
                           ig_make_i64(node->builder, 1) };
    IG_TRY(ig_onnx_reshape(node, bounds[1], 0, NULL, &bounds[1]));
    IG_TRY(ig_onnx_build(node, IG_OP_range, 3, bounds, NULL, &all));
    ig_attr along[IG_gather_attr_count] = { [IG_gather_axis] = ig_attr_of_int(0) };
    IG_TRY(ig_onnx_build(node, IG_OP_gather, 2, (ig_value *[]){ all, axis }, along,
                         &axis));
    IG_TRY(build_running(node, rank - 1, out_value));
    for (uint32_t d = rank - 1; d-- > 0;) {
        ig_value *is_this, *running;
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_eq, axis, d, &is_this));
        IG_TRY(build_running(node, d, &running));
        IG_TRY(ig_onnx_build(node, IG_OP_where, 3,
                             (ig_value *[]){ is_this, running, *out_value }, NULL,
                             out_value));
    }
    return IG_OK;
}

ig_status ig_onnx_import_running(ig_onnx_node *node) {
    const int64_t *axes;
    uint32_t count, axis;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (!is_known(node, 1) && node->inputs[0]->type->rank > 1) {
        return choose_running(node, &node->outputs[0]);
    }
    if (!is_known(node, 1)) {
        return build_running(node, 0, &node->outputs[0]);
    }
    IG_TRY(ig_onnx_const_ints(node, 1, "the axis", &axes, &count));
    if (count != 1) {
        return ig_onnx_fail(node, IG_INVALID, "input 1 must hold one axis");
    }
    IG_TRY(ig_onnx_axis(node, axes[0], node->inputs[0]->type->rank, &axis));
    return build_running(node, axis, &node->outputs[0]);
}
