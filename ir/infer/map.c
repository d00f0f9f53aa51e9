/* Result types of elementwise ops: tensors broadcast as numpy's, kernel values lane by
 * lane.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/semantics/scalar.h"

/* The op must be defined on the class of its operands. */
static ig_status check_class(const ig_op *op) {
    ig_dtype dtypes[3];
    for (uint32_t i = 0; i < op->operand_count; i++) {
        dtypes[i] = (ig_dtype)ig_operand_type(op, i)->dtype;
    }
    ig_dtype_class class = ig_scalar_class(dtypes, op->operand_count);
    if (ig_scalar_supports((ig_opcode)op->code, class)) {
        return IG_OK;
    }
    uint32_t last = op->operand_count - 1;
    return INFER_ERROR(op, "operand %u is %s, on whose elements %s is not defined",
                       last, ig_operand_text(op, last), ig_ops[op->code].name);
}

/* All operands are vectors of equal lanes (a scalar has one). */
static ig_status join_vectors(const ig_op *op, ig_dtype dtype,
                              const ig_type **out_type) {
    uint32_t lanes = ig_operand_type(op, 0)->lanes;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *type = ig_operand_type(op, i);
        if (type->kind != IG_VECTOR || type->lanes != lanes) {
            return INFER_ERROR(op, "operand %u is %s, expected %u lanes", i,
                               ig_operand_text(op, i), lanes);
        }
    }
    *out_type = ig_type_vector(ig_op_module(op), dtype, lanes);
    return IG_OK;
}

/* The operands' common shape with elements `dtype`. */
static ig_status join_operands(const ig_op *op, ig_dtype dtype,
                               const ig_type **out_type) {
    if (ig_operand_type(op, 0)->kind == IG_VECTOR) {
        IG_TRY(check_class(op));
        return join_vectors(op, dtype, out_type);
    }
    IG_TRY(ig_check_tensors(op));
    IG_TRY(check_class(op));
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_broadcast(op, i, dims, &rank));
    }
    *out_type = ig_type_tensor(ig_op_module(op), dtype, rank, dims);
    return IG_OK;
}

static ig_dtype dtype_of(const ig_op *op, uint32_t operand) {
    return (ig_dtype)ig_operand_type(op, operand)->dtype;
}

ig_status ig_infer_same(ig_op *op, const ig_type **out_types) {
    return join_operands(op, dtype_of(op, 0), out_types);
}

ig_status ig_infer_predicate(ig_op *op, const ig_type **out_types) {
    return join_operands(op, IG_DT_bool, out_types);
}

ig_status ig_infer_broadcast(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_same_dtype(op, 0, op->operand_count - 1u));
    return join_operands(op, dtype_of(op, 0), out_types);
}

ig_status ig_infer_compare(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_same_dtype(op, 0, 1));
    return join_operands(op, IG_DT_bool, out_types);
}

/* The neighbour of a number is one of its own format. */
ig_status ig_infer_nextafter(ig_op *op, const ig_type **out_types) {
    ig_dtype dtype = dtype_of(op, 0);
    if (dtype != IG_DT_f32 && dtype != IG_DT_f64) {
        return INFER_FAIL(op, IG_UNSUPPORTED,
                          "nextafter is defined on f32 and f64, not on %s",
                          ig_operand_text(op, 0));
    }
    return ig_infer_broadcast(op, out_types);
}

/* The exponent may have a dtype of its own. */
ig_status ig_infer_pow(ig_op *op, const ig_type **out_types) {
    return join_operands(op, dtype_of(op, 0), out_types);
}

ig_status ig_infer_where(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_dtype(op, 0, IG_DT_bool));
    IG_TRY(ig_check_same_dtype(op, 1, 2));
    return join_operands(op, dtype_of(op, 1), out_types);
}

ig_status ig_infer_cast(ig_op *op, const ig_type **out_types) {
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_cast_to, IG_DT_COUNT);
    if (to >= IG_DT_COUNT) {
        return INFER_ERROR(op, "'to' is not an element type");
    }
    ig_dtype from = dtype_of(op, 0);
    bool is_address = (to == IG_DT_str && from == IG_DT_i64) ||
                      (to == IG_DT_i64 && from == IG_DT_str);
    if (is_address) { /* whole_bytes makes these, and nobody else may */
        out_types[0] = ig_type_with_dtype(ig_op_module(op), ig_operand_type(op, 0), to);
        return ig_check_tensors(op);
    }
    if (to == IG_DT_str || from == IG_DT_str) {
        return INFER_FAIL(op, IG_UNSUPPORTED, "casts of strings are not supported");
    }
    return join_operands(op, to, out_types);
}

/* Whole bytes that may hold any bits. */
static bool is_plain_bits(ig_dtype dtype) {
    return dtype < IG_DT_COUNT && dtype != IG_DT_bool && ig_dtypes[dtype].bits >= 8;
}

ig_status ig_infer_bitcast(ig_op *op, const ig_type **out_types) {
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_bitcast_to, IG_DT_COUNT);
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    if (!is_plain_bits(to) || !is_plain_bits(dtype_of(op, 0)) ||
        ig_dtypes[to].bits != ig_dtypes[x->dtype].bits) {
        return INFER_ERROR(op, "the bits of %s are not those of %s",
                           ig_operand_text(op, 0),
                           to < IG_DT_COUNT ? ig_dtypes[to].name : "no element type");
    }
    *out_types = ig_type_tensor(ig_op_module(op), to, x->rank, x->dims);
    return IG_OK;
}
