/* Softmax and normalisations over channels in simpler ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/decompose.h"

#include <assert.h>

static ig_dtype result_dtype(const ig_op *op) {
    return (ig_dtype)op->results[0].type->dtype;
}

/* exp(x - max) / sum; log: x - max - log(sum). */
bool ig_decompose_softmax(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *x = ig_expr_widen(e, op->operands[0].value);
    int64_t given = ig_attr_int(op, IG_softmax_axis, 0);
    uint32_t axis = (uint32_t)(given < 0 ? given + x->type->rank : given);
    ig_value *max = ig_expr_reduce_axis(e, IG_REDUCE_max, x, axis, true);
    x = ig_build_sub(e, x, max);
    ig_value *power = ig_build_exp(e, x);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, power, axis, true);
    bool is_log = ig_attr_int(op, IG_softmax_log, 0) != 0;
    x = is_log ? ig_build_sub(e, x, ig_build_log(e, sum)) : ig_build_div(e, power, sum);
    *out_results = ig_expr_cast(e, x, result_dtype(op));
    return true;
}

/* x * factor + shift, both [C]. */
static ig_value *scale_channels(ig_expr *e, ig_value *x, ig_value *factor,
                                ig_value *shift) {
    uint32_t rank = x->type->rank - 1;
    factor = ig_expr_along(e, factor, 0, rank);
    shift = ig_expr_along(e, shift, 0, rank);
    return ig_build_add(e, ig_build_mul(e, x, factor), shift);
}

bool ig_decompose_batch_norm(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *in[5];
    for (uint32_t i = 0; i < 5; i++) {
        in[i] = ig_expr_widen(e, op->operands[i].value);
    }
    double epsilon = ig_attr_float(op, IG_batch_norm_epsilon, 0);
    ig_value *deviation = ig_build_sqrt(e, ig_expr_with(e, IG_OP_add, in[4], epsilon));
    ig_value *factor = ig_build_div(e, in[1], deviation);
    ig_value *shift = ig_build_sub(e, in[2], ig_build_mul(e, in[3], factor));
    ig_value *y = scale_channels(e, in[0], factor, shift);
    *out_results = ig_expr_cast(e, y, result_dtype(op));
    return true;
}

/* Each group is a row of a layer norm. */
bool ig_decompose_group_norm(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_module *module = e->module;
    const ig_type *type = op->operands[0].value->type;
    ig_dim groups = ig_dim_of(ig_attr_int(op, IG_group_norm_groups, 1));
    ig_dim own = ig_dim_exact_div(module, type->dims[1], groups);
    ig_dim rest = ig_dim_product(module, type->dims + 2, type->rank - 2u);
    ig_dim dims[3] = { type->dims[0], groups, ig_dim_mul(module, own, rest) };
    ig_layer_norm_attrs attrs = {
        .axis = 2, .epsilon = ig_attr_float(op, IG_group_norm_epsilon, 0)
    };
    assert(type->rank >= 2 && "group_norm has batch and channels");
    ig_value *x = ig_expr_widen(e, op->operands[0].value);
    x = ig_build_layer_norm(e, ig_expr_reshape(e, x, 3, dims), NULL, NULL, attrs);
    x = ig_expr_reshape(e, x, type->rank, type->dims);
    if (op->operand_count > 2) {
        ig_value *factor = ig_expr_widen(e, op->operands[1].value);
        ig_value *shift = ig_expr_widen(e, op->operands[2].value);
        x = scale_channels(e, x, factor, shift);
    }
    *out_results = ig_expr_cast(e, x, result_dtype(op));
    return true;
}
