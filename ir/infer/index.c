/* Result types of gathers and scatters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

static ig_status check_index_operands(const ig_op *op) {
    IG_TRY(ig_check_tensors(op));
    return ig_check_int(op, 1);
}

static ig_status give_shape(const ig_op *op, uint32_t rank, const ig_dim *dims,
                            const ig_type **out_types) {
    if (rank > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "the result has %u dimensions, more than %d",
                          rank, IG_TENSOR_RANK);
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), ig_operand_type(op, 0), rank,
                                     dims);
    return IG_OK;
}

/* x[:axis] + indices + x[axis + 1:] */
ig_status ig_infer_gather(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_index_operands(op));
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    ig_dim dims[2 * IG_TENSOR_RANK];
    uint32_t axis, rank = 0;
    IG_TRY(ig_check_axis(op, ig_attr_int(op, IG_gather_axis, 0), x->rank, &axis));
    for (uint32_t i = 0; i < axis; i++) {
        dims[rank++] = x->dims[i];
    }
    for (uint32_t i = 0; i < indices->rank; i++) {
        dims[rank++] = indices->dims[i];
    }
    for (uint32_t i = axis + 1; i < x->rank; i++) {
        dims[rank++] = x->dims[i];
    }
    return give_shape(op, rank, dims, out_types);
}

/* indices[..., k] select along k axes after `batch` common ones. */
ig_status ig_infer_gather_nd(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_index_operands(op));
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    int64_t batch = ig_attr_int(op, IG_gather_nd_batch, 0);
    if (batch < 0 || batch >= indices->rank || batch >= x->rank) {
        return INFER_ERROR(op, "%lld batch axes do not fit operands %s and %s",
                           (long long)batch, ig_operand_text(op, 0),
                           ig_operand_text(op, 1));
    }
    int64_t depth;
    if (!ig_dim_known(indices->dims[indices->rank - 1], &depth)) {
        return INFER_FAIL(
            op, IG_UNSUPPORTED,
            "operand 1 is %s: with an unknown last extent the result's rank is unknown",
            ig_operand_text(op, 1));
    }
    if (depth > x->rank - batch) {
        return INFER_ERROR(
            op,
            "operand 1 is %s, its last extent passes the %lld axes that it can select in %s",
            ig_operand_text(op, 1), (long long)(x->rank - batch),
            ig_operand_text(op, 0));
    }
    ig_dim dims[2 * IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < batch; i++) {
        IG_TRY(
            ig_check_extent(op, 1, i, x->dims[i], "that of operand 0", &dims[rank++]));
    }
    for (uint32_t i = (uint32_t)batch; i + 1 < indices->rank; i++) {
        dims[rank++] = indices->dims[i];
    }
    for (uint32_t i = (uint32_t)(batch + depth); i < x->rank; i++) {
        dims[rank++] = x->dims[i];
    }
    return give_shape(op, rank, dims, out_types);
}

/* Indices may be shorter than x along the other axes, not longer. */
static ig_status check_elements(const ig_op *op, uint32_t axis) {
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != axis &&
            !ig_claim_less_equal(ig_op_module(op), indices->dims[i], x->dims[i])) {
            return INFER_ERROR(
                op,
                "operand 1 is %s, its extent %u passes that of operand 0, which is %s",
                ig_operand_text(op, 1), i, ig_operand_text(op, 0));
        }
    }
    return IG_OK;
}

ig_status ig_infer_gather_elements(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_index_operands(op));
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    int64_t wanted = ig_attr_int(op, IG_gather_elements_axis, 0);
    uint32_t axis;
    IG_TRY(ig_check_rank(op, 1, x->rank));
    IG_TRY(ig_check_axis(op, wanted, x->rank, &axis));
    IG_TRY(check_elements(op, axis));
    return give_shape(op, x->rank, indices->dims, out_types);
}

/* indices [i…, k] and updates [i…, x's extents from k on]. */
ig_status ig_infer_scatter_nd(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_index_operands(op));
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    IG_TRY(ig_check_dtype(op, 2, (ig_dtype)x->dtype));
    int64_t depth = 0;
    bool is_known = indices->rank &&
                    ig_dim_known(indices->dims[indices->rank - 1], &depth);
    if (indices->rank == 0 || depth > x->rank) {
        return INFER_ERROR(
            op, "operand 1 is %s, expected tuples for operand 0, which is %s",
            ig_operand_text(op, 1), ig_operand_text(op, 0));
    }
    if (!is_known) {
        return INFER_FAIL(op, IG_UNSUPPORTED,
                          "operand 1 is %s: its last extent must be known",
                          ig_operand_text(op, 1));
    }
    uint32_t lead = indices->rank - 1;
    IG_TRY(ig_check_rank(op, 2, lead + x->rank - (uint32_t)depth));
    for (uint32_t i = 0; i < lead; i++) {
        IG_TRY(ig_check_extent(op, 2, i, indices->dims[i], "that of operand 1", NULL));
    }
    for (uint32_t i = (uint32_t)depth; i < x->rank; i++) {
        uint32_t at = lead + i - (uint32_t)depth;
        IG_TRY(ig_check_extent(op, 2, at, x->dims[i], "that of operand 0", NULL));
    }
    out_types[0] = x;
    return IG_OK;
}

ig_status ig_infer_scatter_elements(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_index_operands(op));
    const ig_type *x = ig_operand_type(op, 0), *indices = ig_operand_type(op, 1);
    int64_t wanted = ig_attr_int(op, IG_scatter_elements_axis, 0);
    uint32_t axis;
    IG_TRY(ig_check_dtype(op, 2, (ig_dtype)x->dtype));
    IG_TRY(ig_check_rank(op, 1, x->rank));
    IG_TRY(ig_check_rank(op, 2, x->rank));
    IG_TRY(ig_check_axis(op, wanted, x->rank, &axis));
    IG_TRY(check_elements(op, axis));
    for (uint32_t i = 0; i < x->rank; i++) {
        IG_TRY(ig_check_extent(op, 2, i, indices->dims[i], "that of operand 1", NULL));
    }
    out_types[0] = x;
    return IG_OK;
}

/* One extent for all indices, or one for each place of a tuple. */
ig_status ig_infer_check_index(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_int(op, 0));
    const ig_type *indices = ig_operand_type(op, 0);
    uint32_t count = op->attrs[IG_check_index_extents].count;
    int64_t depth = 0;
    bool is_tuple = indices->rank > 0 &&
                    ig_dim_known(indices->dims[indices->rank - 1], &depth) &&
                    depth == (int64_t)count;
    if (count != 1 && !is_tuple) {
        return INFER_ERROR(op, "%u extents for operand 0, which is %s", count,
                           ig_operand_text(op, 0));
    }
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, indices->rank,
                                  indices->dims);
    return IG_OK;
}
