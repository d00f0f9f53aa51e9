/* Normalisations, softmax and attention in terms of simpler ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Narrow floats are computed in f32 and rounded at the end, as the interpreter does.
 */
#include "compose/compose.h"

#include <math.h>
#include <string.h>

/* exp(x - m) / sum, m the largest; log: x - m - log(sum). */
ig_value *ig_expand_softmax(ig_builder *b, ig_op *op) {
    ig_value *x = ig_expand_widen(b, op->operands[0].value);
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    int64_t given = ig_attr_int(op, IG_softmax_axis, 0);
    uint32_t axis = (uint32_t)(given < 0 ? given + x->type->rank : given);
    ig_value *most = ig_expand_reduce(b, IG_REDUCE_max, x, axis, axis);
    x = ig_make2(b, IG_OP_sub, x, most);
    ig_value *grown = ig_make1(b, IG_OP_exp, x);
    ig_value *sum = ig_expand_reduce(b, IG_REDUCE_sum, grown, axis, axis);
    bool is_log = ig_attr_int(op, IG_softmax_log, 0) != 0;
    x = is_log ? ig_make2(b, IG_OP_sub, x, ig_make1(b, IG_OP_log, sum))
               : ig_make2(b, IG_OP_div, grown, sum);
    return ig_make_cast(b, x, dtype);
}

/* x * factor + shift, both of [C, 1 …]. */
static ig_value *scale_channels(ig_builder *b, ig_value *x, ig_value *factor,
                                ig_value *shift) {
    uint32_t rank = x->type->rank - 1;
    factor = ig_expand_along(b, factor, 0, rank);
    shift = ig_expand_along(b, shift, 0, rank);
    return ig_make2(b, IG_OP_add, ig_make2(b, IG_OP_mul, x, factor), shift);
}

ig_value *ig_expand_batch_norm(ig_builder *b, ig_op *op) {
    ig_value *in[5];
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    for (uint32_t i = 0; i < 5; i++) {
        in[i] = ig_expand_widen(b, op->operands[i].value);
    }
    double epsilon = ig_attr_float(op, IG_batch_norm_epsilon, 0);
    ig_value *spread = ig_expand_with(b, IG_OP_add, in[4], epsilon);
    spread = ig_make1(b, IG_OP_sqrt, spread);
    ig_value *factor = ig_make2(b, IG_OP_div, in[1], spread);
    ig_value *shift = ig_make2(b, IG_OP_mul, in[3], factor);
    shift = ig_make2(b, IG_OP_sub, in[2], shift);
    return ig_make_cast(b, scale_channels(b, in[0], factor, shift), dtype);
}

ig_value *ig_expand_group_norm(ig_builder *b, ig_op *op) {
    ig_module *module = b->graph->module;
    ig_value *x = op->operands[0].value;
    const ig_type *type = x->type;
    ig_dtype dtype = (ig_dtype)type->dtype;
    ig_dim groups = ig_dim_const(module, ig_attr_int(op, IG_group_norm_groups, 1));
    ig_dim own = ig_dim_exact_div(module, type->dims[1], groups);
    ig_dim rest = ig_dim_product(module, type->dims + 2, type->rank - 2);
    ig_dim dims[3] = { type->dims[0], groups, ig_dim_mul(module, own, rest) };
    ig_attr attrs[IG_layer_norm_attr_count] = { { 0 } };
    attrs[IG_layer_norm_axis] = ig_attr_of_int(2);
    attrs[IG_layer_norm_epsilon] = op->attrs[IG_group_norm_epsilon];
    x = ig_make_reshape(b, ig_expand_widen(b, x), 3, dims);
    x = ig_make(b, IG_OP_layer_norm, 1, &x, attrs);
    x = ig_make_reshape(b, x, type->rank, type->dims);
    if (op->operand_count > 2) {
        x = scale_channels(b, x, ig_expand_widen(b, op->operands[1].value),
                           ig_expand_widen(b, op->operands[2].value));
    }
    return ig_make_cast(b, x, dtype);
}

/* ---- attention ---- */

/* -inf where column > row. */
static ig_value *mask_future(ig_builder *b, ig_value *scores) {
    const ig_type *type = scores->type;
    ig_value *row = ig_expand_range(b, type->dims[type->rank - 2]);
    ig_value *column = ig_expand_range(b, type->dims[type->rank - 1]);
    ig_value *is_past = ig_make2(b, IG_OP_ge, ig_expand_along(b, row, 0, 2),
                                 ig_expand_along(b, column, 1, 2));
    ig_value *none = ig_make_float(b, (ig_dtype)type->dtype, -(double)INFINITY);
    return ig_make3(b, IG_OP_where, is_past, scores, none);
}

static ig_value *mask_scores(ig_builder *b, ig_value *scores, ig_value *mask) {
    ig_dtype dtype = (ig_dtype)scores->type->dtype;
    if (mask->type->dtype != IG_DT_bool) {
        return ig_make2(b, IG_OP_add, scores, ig_make_cast(b, mask, dtype));
    }
    ig_value *none = ig_make_float(b, dtype, -(double)INFINITY);
    return ig_make3(b, IG_OP_where, mask, scores, none);
}

ig_value *ig_expand_attention(ig_builder *b, ig_op *op) {
    ig_value *in[3];
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    bool is_causal = ig_attr_int(op, IG_attention_causal, 0) != 0;
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = ig_expand_widen(b, op->operands[i].value);
    }
    ig_value *scores = ig_expand_matmul(b, in[0], in[1], true);
    scores = ig_expand_with(b, IG_OP_mul, scores,
                            ig_attr_float(op, IG_attention_scale, 1));
    if (op->operand_count > 3) {
        scores = mask_scores(b, scores, op->operands[3].value);
    }
    scores = is_causal ? mask_future(b, scores) : scores;
    uint32_t axis = scores->type->rank - 1;
    ig_attr attrs[IG_softmax_attr_count] = { { 0 } };
    attrs[IG_softmax_axis] = ig_attr_of_int(axis);
    ig_value *parts = ig_make(b, IG_OP_softmax, 1, &scores, attrs);
    if (is_causal || op->operand_count > 3) {
        ig_value *most = ig_expand_reduce(b, IG_REDUCE_max, scores, axis, axis);
        ig_value *is_none = ig_expand_with(b, IG_OP_eq, most, -(double)INFINITY);
        ig_value *zero = ig_make_float(b, (ig_dtype)parts->type->dtype, 0);
        parts = ig_make3(b, IG_OP_where, is_none, zero, parts);
    }
    return ig_make_cast(b, ig_expand_matmul(b, parts, in[2], false), dtype);
}
