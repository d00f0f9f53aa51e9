/* Softmax and normalisation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

static ig_status build_softmax(const ig_onnx_node *node, ig_value *x, uint32_t axis,
                               ig_value **out_value) {
    ig_attr attrs[IG_softmax_attr_count] = { [IG_softmax_axis] = ig_attr_of_int(axis) };
    if (node->row->variant) {
        attrs[IG_softmax_log] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_softmax, 1, &x, attrs, out_value);
}

ig_status ig_onnx_import_softmax(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", -1),
                        node->inputs[0]->type->rank, &axis));
    return build_softmax(node, node->inputs[0], axis, &node->outputs[0]);
}

/* Before opset 13: over all axes from `axis` on, as if they were one. */
ig_status ig_onnx_import_softmax_flat(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0];
    const ig_type *type = x->type;
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 1), type->rank, &axis));
    if (axis + 1 == type->rank) {
        return build_softmax(node, x, axis, &node->outputs[0]);
    }
    ig_module *module = node->import->module;
    ig_dim before = ig_dim_product(module, type->dims, axis);
    ig_dim after = ig_dim_product(module, type->dims + axis, type->rank - axis);
    ig_dim flat[2] = { before, after };
    IG_TRY(ig_onnx_reshape(node, x, 2, flat, &x));
    IG_TRY(build_softmax(node, x, 1, &x));
    return ig_onnx_reshape(node, x, type->rank, type->dims, &node->outputs[0]);
}

/* ---- layer normalisation ---- */

static ig_status mean_over(const ig_onnx_node *node, ig_value *x, uint32_t axis,
                           ig_value **out_value) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t i = axis; i < x->type->rank; i++) {
        axes[count++] = i;
    }
    ig_attr attrs[IG_reduce_attr_count] = {
        [IG_reduce_op] = ig_attr_of_enum(IG_REDUCE_mean),
        [IG_reduce_axes] = ig_attr_of_ints(node->import->module, axes, count),
        [IG_reduce_keep] = ig_attr_of_bool(true),
    };
    return ig_onnx_build(node, IG_OP_reduce, 1, &x, attrs, out_value);
}

/* The optional outputs Mean and InvStdDev. */
static ig_status give_statistics(ig_onnx_node *node, uint32_t axis, double epsilon) {
    ig_value *x = node->inputs[0], *mean, *spread;
    if (ig_onnx_attr_int(node, "stash_type", 1) ==
        ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT) {
        x = ig_make_cast(node->builder, x, IG_DT_f32);
    }
    IG_TRY(mean_over(node, x, axis, &mean));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, x, mean, &spread));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, spread, spread, &spread));
    IG_TRY(mean_over(node, spread, axis, &spread));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, spread, epsilon, &spread));
    IG_TRY(ig_onnx_build1(node, IG_OP_rsqrt, spread, &spread));
    ig_value *results[] = { mean, spread };
    for (uint32_t i = 1; i < node->output_count; i++) {
        node->outputs[i] = results[i - 1];
    }
    return IG_OK;
}

ig_status ig_onnx_import_layer_norm(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    double epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5f);
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", -1), type->rank, &axis));
    uint32_t count = ig_onnx_in(node, 2) ? 3 : 2;
    for (uint32_t i = 1; i < count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        const ig_type *factor = node->inputs[i]->type;
        for (uint32_t d = 1; d <= factor->rank && d <= type->rank; d++) {
            if (!ig_dim_is(factor->dims[factor->rank - d], 1)) {
                ig_onnx_guard_extents(node, i, factor->rank - d, 0, type->rank - d);
            }
        }
    }
    ig_attr attrs[IG_layer_norm_attr_count] = {
        [IG_layer_norm_axis] = ig_attr_of_int(axis),
        [IG_layer_norm_epsilon] = ig_attr_of_float(epsilon),
    };
    IG_TRY(ig_onnx_build(node, IG_OP_layer_norm, count, node->inputs, attrs,
                         &node->outputs[0]));
    return node->output_count > 1 ? give_statistics(node, axis, epsilon) : IG_OK;
}
