/* Attention in simpler ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/decompose.h"

#include <math.h>

/* -inf where column > row. */
static ig_value *mask_future(ig_expr *e, ig_value *scores) {
    const ig_type *type = scores->type;
    ig_value *row = ig_expr_axis_iota(e, 2, 0, type->dims[type->rank - 2]);
    ig_value *column = ig_expr_axis_iota(e, 2, 1, type->dims[type->rank - 1]);
    ig_value *is_past = ig_build_ge(e, row, column);
    ig_value *none = ig_expr_number(e, (ig_dtype)type->dtype, -(double)INFINITY);
    return ig_build_where(e, is_past, scores, none);
}

static ig_value *mask_scores(ig_expr *e, ig_value *scores, ig_value *mask) {
    if (mask->type->dtype != IG_DT_bool) {
        return ig_build_add(e, scores, ig_expr_like(e, mask, scores));
    }
    ig_dtype dtype = (ig_dtype)scores->type->dtype;
    ig_value *none = ig_expr_number(e, dtype, -(double)INFINITY);
    return ig_build_where(e, mask, scores, none);
}

/* 0 in the rows in which nothing takes part. */
static ig_value *clear_empty_rows(ig_expr *e, ig_value *weights, ig_value *scores) {
    uint32_t axis = scores->type->rank - 1u;
    ig_value *max = ig_expr_reduce_axis(e, IG_REDUCE_max, scores, axis, true);
    ig_value *is_none = ig_expr_with(e, IG_OP_eq, max, -(double)INFINITY);
    ig_value *zero = ig_expr_number(e, (ig_dtype)weights->type->dtype, 0);
    return ig_build_where(e, is_none, zero, weights);
}

bool ig_decompose_attention(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *in[3], *mask = ig_op_operand(op, 3);
    bool is_causal = ig_attr_int(op, IG_attention_causal, 0) != 0;
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = ig_expr_widen(e, op->operands[i].value);
    }
    ig_value *scores = ig_expr_matmul_transposed(e, in[0], in[1]);
    scores = ig_expr_with(e, IG_OP_mul, scores,
                          ig_attr_float(op, IG_attention_scale, 1));
    scores = mask ? mask_scores(e, scores, mask) : scores;
    scores = is_causal ? mask_future(e, scores) : scores;
    ig_softmax_attrs along = { .axis = scores->type->rank - 1 };
    ig_value *weights = ig_build_softmax(e, scores, along);
    bool is_zeroed = !ig_attr_int(op, IG_attention_empty_nan, 0);
    if (is_zeroed && (is_causal || mask)) {
        weights = clear_empty_rows(e, weights, scores);
    }
    ig_value *y = ig_expr_matmul(e, weights, in[2]);
    *out_results = ig_expr_cast(e, y, (ig_dtype)op->results[0].type->dtype);
    return true;
}
