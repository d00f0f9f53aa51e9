/* Result types of ops on texts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * whole_bytes makes addresses of texts i64, so that kernels can move them: from then on
 * an operand may be either, and texts of the result have the operand's type.
 * Before it, a file's numbers would be read as addresses.
 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

/* The mark of such a module. */
static const char addresses;

void ig_infer_take_addresses(ig_module *module) {
    ig_module_keep_beside(module, &addresses, &addresses);
}

static bool has_addresses(const ig_op *op) {
    return ig_module_beside(ig_op_module(op), &addresses) != NULL;
}

static ig_status check_texts(const ig_op *op, uint32_t operand) {
    IG_TRY(ig_check_tensor(op, operand));
    uint8_t dtype = ig_operand_type(op, operand)->dtype;
    bool is_address = dtype == IG_DT_i64 && has_addresses(op);
    if (dtype == IG_DT_str || is_address) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand %u is %s, expected texts", operand,
                       ig_operand_text(op, operand));
}

/* Texts, one after the other. */
static ig_status check_list(const ig_op *op, uint32_t operand) {
    IG_TRY(ig_check_rank(op, operand, 1));
    return ig_check_dtype(op, operand, IG_DT_u8);
}

/* Operand 0 with another dtype. */
static ig_status give_like(ig_op *op, ig_dtype dtype, const ig_type **out_types) {
    out_types[0] = ig_type_with_dtype(ig_op_module(op), ig_operand_type(op, 0), dtype);
    return IG_OK;
}

static ig_status check_pair(const ig_op *op) {
    IG_TRY(check_texts(op, 0));
    IG_TRY(check_texts(op, 1));
    IG_TRY(ig_check_same_dtype(op, 0, 1));
    const ig_type *x = ig_operand_type(op, 0);
    IG_TRY(ig_check_rank(op, 1, x->rank));
    for (uint32_t i = 0; i < x->rank; i++) {
        ig_dim extent;
        IG_TRY(ig_check_extent(op, 1, i, x->dims[i], "operand 0's", &extent));
    }
    return IG_OK;
}

ig_status ig_infer_text_of(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_list(op, 0));
    const ig_attr *shape = &op->attrs[IG_text_of_shape];
    const ig_type *present = op->results[0].type;
    bool is_address = present && present->dtype == IG_DT_i64 && has_addresses(op);
    ig_dtype dtype = is_address ? IG_DT_i64 : IG_DT_str;
    out_types[0] = ig_type_tensor(ig_op_module(op), dtype, shape->count,
                                  shape->as.dims);
    return IG_OK;
}

ig_status ig_infer_text_eq(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_pair(op));
    return give_like(op, IG_DT_bool, out_types);
}

ig_status ig_infer_text_join(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_pair(op));
    out_types[0] = ig_operand_type(op, 0);
    return IG_OK;
}

ig_status ig_infer_text_find(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    IG_TRY(check_list(op, 1));
    return give_like(op, IG_DT_i64, out_types);
}

ig_status ig_infer_text_order(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    return give_like(op, IG_DT_i64, out_types);
}

ig_status ig_infer_text_match(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    IG_TRY(check_list(op, 1));
    return give_like(op, IG_DT_bool, out_types);
}

ig_status ig_infer_text_parse(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_text_parse_to, IG_DT_COUNT);
    if (to != IG_DT_f64 && to != IG_DT_i64) {
        return INFER_ERROR(op, "'to' is neither f64 nor i64");
    }
    return give_like(op, to, out_types);
}

ig_status ig_infer_text_print(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensor(op, 0));
    uint8_t dtype = ig_operand_type(op, 0)->dtype;
    if (dtype != IG_DT_f32 && dtype != IG_DT_f64 && dtype != IG_DT_i64 &&
        dtype != IG_DT_u64) {
        return INFER_ERROR(op, "operand 0 is %s, expected f32, f64, i64 or u64",
                           ig_operand_text(op, 0));
    }
    const ig_type *present = op->results[0].type;
    return give_like(op, present ? (ig_dtype)present->dtype : IG_DT_str, out_types);
}

ig_status ig_infer_text_split(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    IG_TRY(check_list(op, 1));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank >= IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "the result has more than %d dimensions",
                          IG_TENSOR_RANK);
    }
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    dims[x->rank] = ig_result_symbol(op, 0, x->rank, "parts");
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank + 1, dims);
    out_types[1] = ig_type_with_dtype(ig_op_module(op), x, IG_DT_i64);
    return IG_OK;
}

ig_status ig_infer_text_clean(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_texts(op, 0));
    IG_TRY(check_list(op, 1));
    IG_TRY(check_list(op, 2));
    const ig_type *x = ig_operand_type(op, 0);
    bool is_row = x->rank == 1 || (x->rank == 2 && ig_dim_is(x->dims[0], 1));
    if (!is_row && (x->rank != 2 || ig_dim_is_static(x->dims[0]))) {
        return INFER_ERROR(op, "operand 0 is %s, expected [n] or [1, n]",
                           ig_operand_text(op, 0));
    }
    ig_dim dims[2] = { ig_dim_of(1), ig_dim_of(1) };
    dims[x->rank - 1] = ig_result_symbol(op, 0, x->rank - 1, "kept");
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank, dims);
    return IG_OK;
}
