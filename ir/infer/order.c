/* Result types of ops that put elements in order, find or count them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

/* Strings and packed dtypes have no order here. */
static ig_status check_ordered(const ig_op *op, uint32_t operand) {
    IG_TRY(ig_check_tensor(op, operand));
    if (ig_operand_type(op, operand)->dtype == IG_DT_str) {
        return INFER_FAIL(op, IG_UNSUPPORTED, "%s of strings is not supported",
                          ig_ops[op->code].name);
    }
    return IG_OK;
}

static ig_status check_along(const ig_op *op, uint32_t slot, uint32_t *out_axis) {
    IG_TRY(check_ordered(op, 0));
    return ig_check_axis(op, ig_attr_int(op, slot, 0), ig_operand_type(op, 0)->rank,
                         out_axis);
}

/* i64 with the shape of operand 0. */
static const ig_type *positions_of(const ig_op *op) {
    const ig_type *x = ig_operand_type(op, 0);
    return ig_type_tensor(ig_op_module(op), IG_DT_i64, x->rank, x->dims);
}

static const ig_type *counts_of(const ig_op *op, ig_dim count) {
    return ig_type_tensor(ig_op_module(op), IG_DT_i64, 1, &count);
}

ig_status ig_infer_arg_reduce(ig_op *op, const ig_type **out_types) {
    uint32_t axis, rank = 0;
    IG_TRY(check_along(op, IG_arg_reduce_axis, &axis));
    const ig_type *x = ig_operand_type(op, 0);
    ig_dim dims[IG_TENSOR_RANK];
    bool keep = ig_attr_int(op, IG_arg_reduce_keep, 0) != 0;
    bool has_results = true; /* in every call */
    for (uint32_t d = 0; d < x->rank; d++) {
        int64_t min, max;
        ig_dim_range(ig_op_module(op), x->dims[d], &min, &max);
        has_results = has_results && (d == axis || min > 0);
        if (d != axis || keep) {
            dims[rank++] = d == axis ? ig_dim_of(1) : x->dims[d];
        }
    }
    if (ig_dim_is(x->dims[axis], 0) && has_results) {
        return INFER_ERROR(op,
                           "operand 0 is %s: zero elements have no largest or smallest",
                           ig_operand_text(op, 0));
    }
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, rank, dims);
    return IG_OK;
}

ig_status ig_infer_sort(ig_op *op, const ig_type **out_types) {
    uint32_t axis;
    IG_TRY(check_along(op, IG_sort_axis, &axis));
    out_types[0] = ig_operand_type(op, 0);
    out_types[1] = positions_of(op);
    return IG_OK;
}

/* The number of elements that topk gives: of the attribute, or of operand 1. */
static ig_status topk_count(const ig_op *op, uint32_t axis, ig_dim *out_count) {
    int64_t count;
    bool has_attr = ig_attr_is_set(op, IG_topk_k);
    if (has_attr == (op->operand_count > 1)) {
        return INFER_ERROR(op, "topk has k, or it as an operand");
    }
    if (has_attr) {
        *out_count = op->attrs[IG_topk_k].as.dim;
        return IG_OK;
    }
    IG_TRY(ig_check_tensor(op, 1));
    IG_TRY(ig_check_dtype(op, 1, IG_DT_i64));
    const ig_type *k = ig_operand_type(op, 1);
    if (k->rank > 1 ||
        (k->rank == 1 && !ig_claim_equal(ig_op_module(op), k->dims[0], ig_dim_of(1)))) {
        return INFER_ERROR(op, "operand 1 is %s, expected one number",
                           ig_operand_text(op, 1));
    }
    ig_dims_value value;
    if (ig_operand_dims(op, 1, 1, &value) && value.count == 1) {
        *out_count = value.dims[0];
        return IG_OK;
    }
    *out_count = ig_operand_int(op, 1, &count) ? ig_dim_const(ig_op_module(op), count)
                                               : ig_result_symbol(op, 0, axis, "k");
    return IG_OK;
}

ig_status ig_infer_topk(ig_op *op, const ig_type **out_types) {
    uint32_t axis;
    ig_dim count = ig_dim_of(0), dims[IG_TENSOR_RANK];
    IG_TRY(check_along(op, IG_topk_axis, &axis));
    IG_TRY(topk_count(op, axis, &count));
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    if (!ig_claim_less_equal(module, count, x->dims[axis]) ||
        !ig_claim_less_equal(module, ig_dim_of(0), count)) {
        return INFER_ERROR(
            op, "operand 0 is %s and has no such number of elements along axis %u",
            ig_operand_text(op, 0), axis);
    }
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    dims[axis] = count;
    out_types[0] = ig_type_with_dims(module, x, x->rank, dims);
    out_types[1] = ig_type_tensor(module, IG_DT_i64, x->rank, dims);
    return IG_OK;
}

/* All four results share one symbol. */
ig_status ig_infer_unique(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_ordered(op, 0));
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    ig_dim dims[IG_TENSOR_RANK], count = ig_result_symbol(op, 1, 0, "unique");
    if (!ig_attr_is_set(op, IG_unique_axis)) {
        out_types[0] = ig_type_with_dims(module, x, 1, &count);
        out_types[2] = counts_of(op, ig_type_count(module, x));
    } else {
        uint32_t axis;
        IG_TRY(check_along(op, IG_unique_axis, &axis));
        memcpy(dims, x->dims, x->rank * sizeof *dims);
        dims[axis] = count;
        out_types[0] = ig_type_with_dims(module, x, x->rank, dims);
        out_types[2] = counts_of(op, x->dims[axis]);
    }
    out_types[1] = out_types[3] = counts_of(op, count);
    return IG_OK;
}

ig_status ig_infer_nonzero(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_ordered(op, 0));
    uint32_t rank = ig_operand_type(op, 0)->rank;
    ig_dim dims[] = { ig_result_symbol(op, 0, 0, "nonzero"), ig_dim_of(rank) };
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 2, dims);
    return IG_OK;
}

ig_status ig_infer_bucketize(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_ordered(op, 0));
    IG_TRY(check_ordered(op, 1));
    IG_TRY(ig_check_same_dtype(op, 0, 1));
    const ig_type *x = ig_operand_type(op, 0), *rows = ig_operand_type(op, 1);
    if (rows->rank != 1) {
        IG_TRY(ig_check_rank(op, 1, x->rank));
    }
    for (uint32_t d = 0; rows->rank > 1 && d + 1 < rows->rank; d++) {
        IG_TRY(ig_check_extent(op, 1, d, x->dims[d], "that of operand 0", NULL));
    }
    if (rows->rank == 0) {
        return INFER_ERROR(op, "operand 1 is %s, expected a row of boundaries",
                           ig_operand_text(op, 1));
    }
    out_types[0] = positions_of(op);
    return IG_OK;
}

ig_status ig_infer_cumulate(ig_op *op, const ig_type **out_types) {
    uint32_t axis;
    int64_t kind = ig_attr_int(op, IG_cumulate_op, 0);
    IG_TRY(check_along(op, IG_cumulate_axis, &axis));
    if (kind == IG_CUMULATE_logsumexp) {
        IG_TRY(ig_check_float(op, 0));
    }
    if (ig_attr_int(op, IG_cumulate_exclusive, 0) && kind != IG_CUMULATE_prod) {
        return INFER_ERROR(op, "only a product can leave its own element out");
    }
    out_types[0] = ig_operand_type(op, 0);
    return IG_OK;
}

ig_status ig_infer_cumulate_index(ig_op *op, const ig_type **out_types) {
    uint32_t axis;
    IG_TRY(check_along(op, IG_cumulate_index_axis, &axis));
    out_types[0] = positions_of(op);
    return IG_OK;
}
