/* Rows of parts, padded and made jagged: the decompositions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/decompose.h"
#include "compose/rows/jagged.h"

bool ig_decompose_jagged_to_padded(ig_expr *e, const ig_op *op,
                                   ig_value **out_results) {
    ig_value *x = op->operands[0].value;
    ig_dim length = op->attrs[IG_jagged_to_padded_length].as.dim;
    double padding = ig_attr_float(op, IG_jagged_to_padded_padding, 0);
    ig_jagged_parts j = {
        .offsets = { ig_expr_cast(e, op->operands[1].value, IG_DT_i64) }, .axes = 1
    };
    out_results[0] = ig_compose_jagged_to_padded(
        e, &j, x, &length, ig_expr_number(e, (ig_dtype)x->type->dtype, padding));
    return out_results[0] != NULL;
}

bool ig_decompose_padded_to_jagged(ig_expr *e, const ig_op *op,
                                   ig_value **out_results) {
    ig_value *is_in = NULL;
    ig_jagged_parts j = {
        .offsets = { ig_expr_cast(e, op->operands[1].value, IG_DT_i64) }, .axes = 1
    };
    ig_value *count = op->operand_count > 2
                          ? op->operands[2].value
                          : ig_expr_dim(e, op->attrs[IG_padded_to_jagged_rows].as.dim,
                                        IG_DT_i64);
    out_results[0] = ig_compose_padded_to_jagged(e, &j, op->operands[0].value, count,
                                                 &is_in);
    return out_results[0] != NULL;
}
