/* Result types of conversions between jagged and padded tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

/* Operands x, of `rank` or more, and offsets; gives the number of parts. */
static ig_status check_parts(const ig_op *op, uint32_t rank, ig_dim *out_parts) {
    ig_module *module = ig_op_module(op);
    ig_dim one = ig_dim_of(1);
    IG_TRY(ig_check_tensor(op, 0));
    IG_TRY(ig_check_tensor(op, 1));
    const ig_type *x = ig_operand_type(op, 0), *offsets = ig_operand_type(op, 1);
    if (x->dtype == IG_DT_str || x->rank < rank) {
        return INFER_ERROR(op, "operand 0 is %s, expected numbers of rank %u or more",
                           ig_operand_text(op, 0), rank);
    }
    if (offsets->dtype != IG_DT_i64 && offsets->dtype != IG_DT_i32) {
        return INFER_ERROR(op, "operand 1 is %s, expected offsets of i32 or i64",
                           ig_operand_text(op, 1));
    }
    IG_TRY(ig_check_rank(op, 1, 1));
    if (!ig_claim_less_equal(module, one, offsets->dims[0])) {
        return INFER_ERROR(op, "operand 1 is %s, expected an offset more than parts",
                           ig_operand_text(op, 1));
    }
    *out_parts = ig_dim_sub(module, offsets->dims[0], one);
    return IG_OK;
}

/* [T, r…] -> [B, length, r…] */
ig_status ig_infer_jagged_to_padded(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_TENSOR_RANK + 1];
    IG_TRY(check_parts(op, 1, &dims[0]));
    const ig_type *x = ig_operand_type(op, 0);
    dims[1] = op->attrs[IG_jagged_to_padded_length].as.dim;
    if (!ig_claim_less_equal(ig_op_module(op), ig_dim_of(0), dims[1])) {
        return INFER_ERROR(op, "the length of parts is negative");
    }
    if (x->rank + 1 > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "the result has %u dimensions, more than %d",
                          x->rank + 1, IG_TENSOR_RANK);
    }
    memcpy(dims + 2, x->dims + 1, (x->rank - 1) * sizeof *dims);
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank + 1, dims);
    return IG_OK;
}

/* The attribute, or what is known of operand 2, or a symbol. */
static ig_status count_rows(const ig_op *op, ig_dim *out_rows) {
    ig_module *module = ig_op_module(op);
    bool has_attr = ig_attr_is_set(op, IG_padded_to_jagged_rows);
    if (has_attr == (op->operand_count > 2)) {
        return INFER_ERROR(op, "padded_to_jagged has rows, or them as an operand");
    }
    if (has_attr) {
        *out_rows = op->attrs[IG_padded_to_jagged_rows].as.dim;
        return ig_claim_less_equal(module, ig_dim_of(0), *out_rows)
                   ? IG_OK
                   : INFER_ERROR(op, "the number of rows is negative");
    }
    IG_TRY(ig_check_tensor(op, 2));
    IG_TRY(ig_check_dtype(op, 2, IG_DT_i64));
    IG_TRY(ig_check_rank(op, 2, 0));
    ig_dims_value value;
    bool is_known = ig_operand_dims(op, 2, 1, &value) && value.count == 1;
    *out_rows = is_known ? ig_dim_max(module, value.dims[0], ig_dim_of(0))
                         : ig_result_symbol(op, 0, 0, "n");
    return IG_OK;
}

/* [B, N, r…] -> [rows, r…] */
ig_status ig_infer_padded_to_jagged(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_TENSOR_RANK], parts;
    IG_TRY(check_parts(op, 2, &parts));
    IG_TRY(ig_check_extent(op, 0, 0, parts, "the parts of operand 1", NULL));
    IG_TRY(count_rows(op, &dims[0]));
    const ig_type *x = ig_operand_type(op, 0);
    memcpy(dims + 1, x->dims + 2, (x->rank - 2) * sizeof *dims);
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank - 1, dims);
    return IG_OK;
}
