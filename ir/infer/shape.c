/* Result types of ops that move elements without computing: shape, size, reshape,
 * transpose, expand, concat, tile.  Slices are in slice.c.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shapes that come as operands are read through ig_value_dims, which sees through shape
 * arithmetic.  An extent that it cannot see becomes a symbol; a shape without a known
 * length, so that even the rank of the result is unknown, is not supported.
 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

ig_status ig_infer_shape(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensor(op, 0));
    ig_dim rank = ig_dim_of(ig_operand_type(op, 0)->rank);
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 1, &rank);
    return IG_OK;
}

ig_status ig_infer_size(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensor(op, 0));
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 0, NULL);
    return IG_OK;
}

/* ---- shapes given by attribute or operand ---- */

typedef struct wanted_shape {
    uint32_t rank;
    bool is_known; /* dims are; else only how many */
    ig_dim dims[IG_TENSOR_RANK];
} wanted_shape;

static ig_status read_length(const ig_op *op, uint32_t operand, wanted_shape *out) {
    IG_TRY(ig_check_rank(op, operand, 1));
    int64_t length;
    if (!ig_dim_known(ig_operand_type(op, operand)->dims[0], &length)) {
        return INFER_FAIL(
            op, IG_UNSUPPORTED,
            "operand %u is %s: a shape of unknown length would give a result of unknown rank",
            operand, ig_operand_text(op, operand));
    }
    if (length > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "the shape has %lld entries, more than %d",
                          (long long)length, IG_TENSOR_RANK);
    }
    out->rank = (uint32_t)length;
    return IG_OK;
}

static ig_status read_shape(const ig_op *op, uint32_t slot, wanted_shape *out) {
    memset(out, 0, sizeof *out);
    if (ig_attr_is_set(op, slot) == (op->operand_count > 1)) {
        return INFER_ERROR(op,
                           "the shape is given by 'to' or by operand 1, one of them");
    }
    if (ig_attr_is_set(op, slot)) {
        if (op->attrs[slot].count > IG_TENSOR_RANK) {
            return INFER_FAIL(op, IG_LIMIT, "the shape has more than %d entries",
                              IG_TENSOR_RANK);
        }
        out->rank = op->attrs[slot].count;
        out->is_known = true;
        for (uint32_t i = 0; i < out->rank; i++) {
            out->dims[i] = op->attrs[slot].as.dims[i];
        }
        return IG_OK;
    }
    IG_TRY(ig_check_int(op, 1));
    IG_TRY(read_length(op, 1, out));
    ig_dims_value value;
    if (ig_operand_dims(op, 1, out->rank, &value)) {
        out->is_known = true;
        memcpy(out->dims, value.dims, sizeof out->dims);
    }
    return IG_OK;
}

static bool is_negative(const ig_module *module, ig_dim dim) {
    int64_t min, max;
    ig_dim_range(module, dim, &min, &max);
    return max < 0;
}

static ig_status check_extents(const ig_op *op, const wanted_shape *shape) {
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (is_negative(ig_op_module(op), shape->dims[i])) {
            return INFER_ERROR(op, "extent %u of the shape is negative", i);
        }
    }
    return IG_OK;
}

/* ---- reshape ---- */

/* A -1 is the count divided by the other extents. */
static ig_status resolve_rest(const ig_op *op, ig_dim count, wanted_shape *shape) {
    ig_module *module = ig_op_module(op);
    ig_dim others = ig_dim_of(1), minus_one = ig_dim_const(module, -1);
    int64_t rest = -1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (!ig_dim_same(shape->dims[i], minus_one)) {
            others = ig_dim_mul(module, others, shape->dims[i]);
        } else if (rest >= 0) {
            return INFER_ERROR(op, "the shape has -1 at %lld and at %u",
                               (long long)rest, i);
        } else {
            rest = i;
        }
    }
    if (rest >= 0) {
        shape->dims[rest] = ig_dim_exact_div(module, count, others);
    }
    return IG_OK;
}

ig_status ig_infer_reshape(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    ig_module *module = ig_op_module(op);
    const ig_type *type = ig_operand_type(op, 0);
    wanted_shape shape;
    IG_TRY(read_shape(op, IG_reshape_to, &shape));
    ig_dim count = ig_type_count(module, type);
    if (!shape.is_known) {
        for (uint32_t i = 0; i < shape.rank; i++) {
            shape.dims[i] = ig_result_symbol(op, 0, i, "n");
        }
    } else {
        if (op->operand_count > 1) {
            IG_TRY(resolve_rest(op, count, &shape));
        }
        IG_TRY(check_extents(op, &shape));
    }
    const ig_type *result = ig_type_with_dims(module, type, shape.rank, shape.dims);
    bool fits = shape.is_known
                    ? ig_claim_equal(module, count, ig_type_count(module, result))
                    : ig_dim_equal(module, count, ig_type_count(module, result)) !=
                          IG_NO;
    if (!fits) {
        return INFER_ERROR(
            op,
            "operand 0 is %s, which does not have as many elements as the shape asked for",
            ig_operand_text(op, 0));
    }
    out_types[0] = result;
    return IG_OK;
}

/* ---- expand: broadcast both ways ---- */

/* Where only the length of the shape is known, an extent that is not 1 stays. */
static ig_dim expand_unknown(const ig_op *op, uint32_t axis, ig_dim dim) {
    bool stays = ig_dim_is_static(dim) && !ig_dim_is(dim, 1);
    return stays ? dim : ig_result_symbol(op, 0, axis, "n");
}

ig_status ig_infer_expand(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *type = ig_operand_type(op, 0);
    wanted_shape shape;
    IG_TRY(read_shape(op, IG_expand_to, &shape));
    if (shape.is_known) {
        IG_TRY(check_extents(op, &shape));
        IG_TRY(ig_check_broadcast(op, 0, shape.dims, &shape.rank));
    } else {
        uint32_t rank = type->rank > shape.rank ? type->rank : shape.rank;
        for (uint32_t i = 0; i < rank; i++) {
            uint32_t missing = rank - type->rank;
            ig_dim dim = i < missing ? ig_dim_of(1) : type->dims[i - missing];
            bool is_asked = i >= rank - shape.rank;
            shape.dims[i] = is_asked ? expand_unknown(op, i, dim) : dim;
        }
        shape.rank = rank;
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, shape.rank, shape.dims);
    return IG_OK;
}

/* ---- transpose, concat, tile ---- */

ig_status ig_infer_transpose(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensor(op, 0));
    const ig_type *type = ig_operand_type(op, 0);
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    ig_dim dims[IG_TENSOR_RANK];
    uint64_t seen = 0;
    if (perm->count != type->rank || type->rank > IG_TENSOR_RANK) {
        return INFER_ERROR(op, "operand 0 is %s, but the permutation has %u entries",
                           ig_operand_text(op, 0), perm->count);
    }
    for (uint32_t i = 0; i < perm->count; i++) {
        int64_t from = perm->as.ints[i];
        if (from < 0 || from >= type->rank || seen >> from & 1) {
            return INFER_ERROR(op,
                               "the axes given are not a permutation: entry %u is %lld",
                               i, (long long)from);
        }
        seen |= (uint64_t)1 << from;
        dims[i] = type->dims[from];
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, type->rank, dims);
    return IG_OK;
}

ig_status ig_infer_concat(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_same_dtype(op, 0, op->operand_count - 1u));
    ig_module *module = ig_op_module(op);
    const ig_type *type = ig_operand_type(op, 0);
    uint32_t axis;
    IG_TRY(ig_check_axis(op, ig_attr_int(op, IG_concat_axis, 0), type->rank, &axis));
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, type->dims, type->rank * sizeof *dims);
    for (uint32_t i = 1; i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, type->rank));
        ig_dim extent = ig_operand_type(op, i)->dims[axis];
        for (uint32_t d = 0; d < type->rank; d++) {
            if (d != axis) {
                IG_TRY(ig_check_extent(op, i, d, dims[d],
                                       "that of the operands before it", &dims[d]));
            }
        }
        dims[axis] = ig_dim_add(module, dims[axis], extent);
    }
    out_types[0] = ig_type_with_dims(module, type, type->rank, dims);
    return IG_OK;
}

ig_status ig_infer_tile(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_int(op, 1));
    ig_module *module = ig_op_module(op);
    const ig_type *type = ig_operand_type(op, 0);
    IG_TRY(ig_check_rank(op, 1, 1));
    IG_TRY(ig_check_extent(op, 1, 0, ig_dim_of(type->rank), "the rank of operand 0",
                           NULL));
    ig_dims_value repeats;
    bool is_known = ig_operand_dims(op, 1, type->rank, &repeats);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        if (is_known && is_negative(module, repeats.dims[i])) {
            return INFER_ERROR(op, "axis %u is repeated a negative number of times", i);
        }
        dims[i] = is_known ? ig_dim_mul(module, type->dims[i], repeats.dims[i])
                           : ig_result_symbol(op, 0, i, "n");
    }
    out_types[0] = ig_type_with_dims(module, type, type->rank, dims);
    return IG_OK;
}
