/* Result types of matmul, reductions and normalisations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

/* ---- matmul: numpy's ---- */

/* The operand as [batch…, rows, columns] after its transposition; a vector is a row on
 * the left and a column on the right. */
typedef struct matrix {
    uint32_t batch_rank;
    uint32_t row_axis, column_axis; /* of the operand's type */
    bool is_vector;
} matrix;

static matrix matrix_of(const ig_op *op, uint32_t operand, bool is_transposed) {
    const ig_type *type = ig_operand_type(op, operand);
    if (type->rank == 1) {
        return (matrix){ .is_vector = true };
    }
    uint32_t last = type->rank - 1;
    return (matrix){ .batch_rank = type->rank - 2,
                     .row_axis = is_transposed ? last : last - 1,
                     .column_axis = is_transposed ? last - 1 : last };
}

static ig_status join_batch(const ig_op *op, const matrix *a, const matrix *b,
                            ig_dim *dims, uint32_t *out_rank) {
    ig_module *module = ig_op_module(op);
    const ig_type *left = ig_operand_type(op, 0), *right = ig_operand_type(op, 1);
    uint32_t rank = a->batch_rank > b->batch_rank ? a->batch_rank : b->batch_rank;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t from_end = rank - i;
        ig_dim x = from_end <= a->batch_rank ? left->dims[a->batch_rank - from_end]
                                             : ig_dim_of(1);
        ig_dim y = from_end <= b->batch_rank ? right->dims[b->batch_rank - from_end]
                                             : ig_dim_of(1);
        if (!ig_dim_broadcast(module, x, y, &dims[i])) {
            return INFER_ERROR(
                op, "operands are %s and %s, whose batch extents do not broadcast",
                ig_operand_text(op, 0), ig_operand_text(op, 1));
        }
    }
    *out_rank = rank;
    return IG_OK;
}

ig_status ig_check_product(const ig_op *op, bool transpose_a, bool transpose_b,
                           const ig_type **out_type) {
    const ig_type *left = ig_operand_type(op, 0), *right = ig_operand_type(op, 1);
    if (left->rank == 0 || right->rank == 0 || left->dtype == IG_DT_bool) {
        return INFER_ERROR(op,
                           "operands are %s and %s, expected numbers of rank 1 or more",
                           ig_operand_text(op, 0), ig_operand_text(op, 1));
    }
    matrix a = matrix_of(op, 0, transpose_a);
    matrix b = matrix_of(op, 1, transpose_b);
    ig_dim inner = left->dims[a.is_vector ? 0 : a.column_axis];
    uint32_t inner_axis = b.is_vector ? 0 : b.row_axis;
    IG_TRY(
        ig_check_extent(op, 1, inner_axis, inner, "which operand 0 sums over", NULL));
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    IG_TRY(join_batch(op, &a, &b, dims, &rank));
    if (!a.is_vector) {
        dims[rank++] = left->dims[a.row_axis];
    }
    if (!b.is_vector) {
        dims[rank++] = right->dims[b.column_axis];
    }
    *out_type = ig_type_with_dims(ig_op_module(op), left, rank, dims);
    return IG_OK;
}

ig_status ig_infer_matmul(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_same_dtype(op, 0, 1));
    return ig_check_product(op, ig_attr_int(op, IG_matmul_transpose_a, 0),
                            ig_attr_int(op, IG_matmul_transpose_b, 0), out_types);
}

/* ---- reduce ---- */

static ig_status check_reduce_dtype(const ig_op *op) {
    ig_dtype dtype = (ig_dtype)ig_operand_type(op, 0)->dtype;
    ig_reduce kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, IG_REDUCE_sum);
    bool is_order = kind == IG_REDUCE_max || kind == IG_REDUCE_min;
    if (dtype == IG_DT_str || (dtype == IG_DT_bool && !is_order)) {
        return INFER_ERROR(op, "operand 0 is %s, whose elements cannot be reduced so",
                           ig_operand_text(op, 0));
    }
    return IG_OK;
}

/* Bit i: axis i is reduced.  False: which axes is not known, only how many. */
static ig_status read_axes(const ig_op *op, uint32_t rank, uint64_t *out_mask,
                           uint32_t *out_count, bool *out_known) {
    ig_dims_value value = { 0 };
    const ig_attr *attr = &op->attrs[IG_reduce_axes];
    bool by_operand = op->operand_count > 1;
    int64_t count = attr->count;
    *out_mask = 0;
    *out_known = true;
    if (by_operand) {
        IG_TRY(ig_check_int(op, 1));
        IG_TRY(ig_check_rank(op, 1, 1));
        bool has_count = ig_dim_known(ig_operand_type(op, 1)->dims[0], &count);
        bool keeps = ig_attr_int(op, IG_reduce_keep, 0) != 0;
        *out_known = has_count && count <= IG_TENSOR_RANK &&
                     (count == 0 || ig_operand_dims(op, 1, count, &value));
        if (!*out_known && keeps) {
            *out_count = 1; /* the rank stays, whatever is reduced */
            return IG_OK;
        }
        if (!*out_known && (!has_count || count > rank)) {
            return INFER_FAIL(op, IG_UNSUPPORTED,
                              "operand 1, the axes, is %s: how many there are decides "
                              "the rank of the result, so it must be a number from 0 "
                              "to %u",
                              ig_operand_text(op, 1), rank);
        }
    }
    for (uint32_t i = 0; *out_known && i < count; i++) {
        int64_t axis = by_operand ? 0 : attr->as.ints[i];
        uint32_t at;
        if (by_operand && !ig_dim_constant(ig_op_module(op), value.dims[i], &axis)) {
            *out_known = false;
            break;
        }
        IG_TRY(ig_check_axis(op, axis, rank, &at));
        *out_mask |= (uint64_t)1 << at;
    }
    *out_count = (uint32_t)count;
    return IG_OK;
}

static uint32_t reduce_dims(const ig_type *type, uint64_t mask, bool keep,
                            ig_dim *dims) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_reduced = mask >> i & 1;
        if (!is_reduced || keep) {
            dims[rank++] = is_reduced ? ig_dim_of(1) : type->dims[i];
        }
    }
    return rank;
}

ig_status ig_infer_reduce(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(check_reduce_dtype(op));
    const ig_type *type = ig_operand_type(op, 0);
    bool keep = ig_attr_int(op, IG_reduce_keep, 0), is_known;
    ig_dim dims[IG_TENSOR_RANK];
    uint64_t mask;
    uint32_t count = 0, rank = 0;
    if (op->operand_count > 1 && ig_attr_is_set(op, IG_reduce_axes)) {
        return INFER_ERROR(op, "axes are given both by attribute and by operand 1");
    }
    IG_TRY(read_axes(op, type->rank, &mask, &count, &is_known));
    if (count == 0 && !ig_attr_int(op, IG_reduce_noop_if_empty, 0)) {
        mask = ~(uint64_t)0;
    }
    if (is_known) {
        rank = reduce_dims(type, mask, keep, dims);
    } else {
        rank = keep ? type->rank : type->rank - count;
        for (uint32_t i = 0; i < rank; i++) {
            dims[i] = ig_result_symbol(op, 0, i, "n");
        }
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, rank, dims);
    return IG_OK;
}

/* ---- along one axis ---- */

static ig_status check_along(const ig_op *op, uint32_t slot) {
    uint32_t axis;
    IG_TRY(ig_check_tensor(op, 0));
    return ig_check_axis(op, ig_attr_int(op, slot, 0), ig_operand_type(op, 0)->rank,
                         &axis);
}

ig_status ig_infer_softmax(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_along(op, IG_softmax_axis));
    IG_TRY(ig_check_float(op, 0));
    out_types[0] = ig_operand_type(op, 0);
    return IG_OK;
}

ig_status ig_infer_cumsum(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_along(op, IG_cumsum_axis));
    const ig_type *type = ig_operand_type(op, 0);
    if (!ig_dtype_is_int((ig_dtype)type->dtype)) {
        IG_TRY(ig_check_float(op, 0));
    }
    if (!ig_attr_int(op, IG_cumsum_complete, 0)) {
        out_types[0] = type;
        return IG_OK;
    }
    if (ig_attr_int(op, IG_cumsum_reverse, 0)) {
        return INFER_ERROR(op, "a complete sum goes forward");
    }
    ig_dim dims[IG_TENSOR_RANK];
    int64_t axis = ig_attr_int(op, IG_cumsum_axis, 0);
    axis += axis < 0 ? type->rank : 0;
    memcpy(dims, type->dims, type->rank * sizeof *dims);
    dims[axis] = ig_dim_add(ig_op_module(op), dims[axis], ig_dim_of(1));
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, type->rank, dims);
    return IG_OK;
}

/* Scale and bias broadcast to the normalised axes, one way. */
ig_status ig_infer_layer_norm(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_along(op, IG_layer_norm_axis));
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_float(op, 0));
    IG_TRY(ig_check_same_dtype(op, 0, op->operand_count - 1u));
    const ig_type *type = ig_operand_type(op, 0);
    uint32_t axis;
    IG_TRY(
        ig_check_axis(op, ig_attr_int(op, IG_layer_norm_axis, 0), type->rank, &axis));
    for (uint32_t i = 1; i < op->operand_count; i++) {
        const ig_type *factor = ig_operand_type(op, i);
        if (factor->rank > type->rank - axis) {
            return INFER_ERROR(
                op, "operand %u is %s, which has more axes than are normalised in %s",
                i, ig_operand_text(op, i), ig_operand_text(op, 0));
        }
        for (uint32_t d = 0; d < factor->rank; d++) {
            ig_dim extent = type->dims[type->rank - factor->rank + d];
            if (!ig_dim_is(factor->dims[d], 1)) {
                IG_TRY(ig_check_extent(op, i, d, extent, "that of operand 0", NULL));
            }
        }
    }
    out_types[0] = type;
    return IG_OK;
}
