/* Reductions and running sums.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Axes are an attribute in old versions and an input in newer ones; ig_onnx_ints reads
 * either, and where an input is computed from data the op takes it as an operand.
 */
#include "frontend/onnx/hooks.h"
#include "frontend/onnx/import.h"

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
    uint32_t       count;
    IG_TRY(ig_onnx_ints(node, "axes", 1, &axes, &count));
    IG_TRY(set_axes(node, axes, count, &attrs[IG_reduce_axes]));
    return ig_onnx_build(node, IG_OP_reduce, 1, node->inputs, attrs, &node->outputs[0]);
}

/* The axis that input 1 names. */
static ig_status read_axis(const ig_onnx_node *node, uint32_t *out_axis) {
    const int64_t *axes;
    uint32_t       count;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_const_ints(node, 1, "the axis", &axes, &count));
    if (count != 1) {
        return ig_onnx_fail(node, IG_INVALID, "input 1 must hold one axis");
    }
    return ig_onnx_axis(node, axes[0], node->inputs[0]->type->rank, out_axis);
}

ig_status ig_onnx_import_cumprod(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, &axis));
    ig_attr attrs[IG_cumulate_attr_count] = {
        [IG_cumulate_op] = ig_attr_of_enum(IG_CUMULATE_prod),
        [IG_cumulate_axis] = ig_attr_of_int(axis),
    };
    if (ig_onnx_attr_int(node, "exclusive", 0)) {
        attrs[IG_cumulate_exclusive] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_int(node, "reverse", 0)) {
        attrs[IG_cumulate_reverse] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_cumulate, 1, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_cumsum(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, &axis));
    ig_attr attrs[IG_cumsum_attr_count] = { [IG_cumsum_axis] = ig_attr_of_int(axis) };
    if (ig_onnx_attr_int(node, "exclusive", 0)) {
        attrs[IG_cumsum_exclusive] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_int(node, "reverse", 0)) {
        attrs[IG_cumsum_reverse] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_cumsum, 1, node->inputs, attrs, &node->outputs[0]);
}
