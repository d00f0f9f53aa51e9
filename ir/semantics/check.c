/* Checks that infer hooks share: operands, axes, extents, broadcasting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/check.h"

#include "ir/text/text.h"

#include <assert.h>

const ig_type *ig_operand_type(const ig_op *op, uint32_t operand) {
    assert(operand < op->operand_count && "operand counts are checked before infer");
    return op->operands[operand].value->type;
}

static const char *text_of_type(const ig_op *op, const ig_type *type) {
    ig_module *module = ig_op_module(op);
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_print_type(module, type, &writer);
    return writer.data;
}

const char *ig_operand_text(const ig_op *op, uint32_t operand) {
    return text_of_type(op, ig_operand_type(op, operand));
}

static const char *text_of_dim(const ig_op *op, ig_dim dim) {
    ig_module *module = ig_op_module(op);
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_dim_print(module, dim, &writer);
    return writer.data;
}

/* ---- kinds, dtypes, ranks ---- */

ig_status ig_check_tensor(const ig_op *op, uint32_t operand) {
    const ig_type *type = ig_operand_type(op, operand);
    if (type->kind != IG_TENSOR) {
        return INFER_ERROR(op, "operand %u is %s, expected a tensor", operand,
                           ig_operand_text(op, operand));
    }
    if (type->rank > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "operand %u has more than %d dimensions",
                          operand, IG_TENSOR_RANK);
    }
    return IG_OK;
}

ig_status ig_check_tensors(const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_tensor(op, i));
    }
    return IG_OK;
}

ig_status ig_check_rank(const ig_op *op, uint32_t operand, uint32_t rank) {
    IG_TRY(ig_check_tensor(op, operand));
    if (ig_operand_type(op, operand)->rank == rank) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand %u is %s, expected rank %u", operand,
                       ig_operand_text(op, operand), rank);
}

ig_status ig_check_float(const ig_op *op, uint32_t operand) {
    if (ig_dtype_is_float((ig_dtype)ig_operand_type(op, operand)->dtype)) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand %u is %s, expected floating-point elements",
                       operand, ig_operand_text(op, operand));
}

ig_status ig_check_int(const ig_op *op, uint32_t operand) {
    if (ig_dtype_is_int((ig_dtype)ig_operand_type(op, operand)->dtype)) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand %u is %s, expected integers", operand,
                       ig_operand_text(op, operand));
}

ig_status ig_check_dtype(const ig_op *op, uint32_t operand, ig_dtype dtype) {
    if (ig_operand_type(op, operand)->dtype == dtype) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand %u is %s, expected elements of type %s", operand,
                       ig_operand_text(op, operand), ig_dtypes[dtype].name);
}

ig_status ig_check_same_dtype(const ig_op *op, uint32_t first, uint32_t last) {
    for (uint32_t i = first + 1; i <= last; i++) {
        if (ig_operand_type(op, i)->dtype != ig_operand_type(op, first)->dtype) {
            return INFER_ERROR(
                op,
                "operand %u is %s, expected the element type of operand %u, which is %s",
                i, ig_operand_text(op, i), first, ig_operand_text(op, first));
        }
    }
    return IG_OK;
}

ig_status ig_check_axis(const ig_op *op, int64_t axis, uint32_t rank,
                        uint32_t *out_axis) {
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        return INFER_ERROR(op, "axis %lld is outside of a tensor of rank %u",
                           (long long)axis, rank);
    }
    *out_axis = (uint32_t)(axis < 0 ? axis + rank : axis);
    return IG_OK;
}

/* ---- extents ---- */

/* Numbers before symbols before expressions. */
static int rate_vagueness(const ig_module *module, ig_dim dim) {
    return ig_dim_is_static(dim) ? 0 : ig_dim_as_symbol(module, dim) ? 1 : 2;
}

ig_dim ig_dim_precise(const ig_module *module, ig_dim a, ig_dim b) {
    return rate_vagueness(module, b) < rate_vagueness(module, a) ? b : a;
}

static const char claims_key;
static const ig_claims no_claims;

void ig_claims_collect(ig_module *module, ig_claims *claims) {
    assert((!claims || claims->arena) && "claims grow in an arena");
    ig_module_keep_beside(module, &claims_key, claims ? claims : &no_claims);
}

ig_claims *ig_claims_of(const ig_module *module) {
    ig_claims *claims = ig_module_beside(module, &claims_key);
    return claims == &no_claims ? NULL : claims;
}

static bool note_claim(const ig_module *module, ig_truth truth, ig_claim claim) {
    ig_claims *claims = truth == IG_MAYBE ? ig_claims_of(module) : NULL;
    if (claims) {
        IG_PUSH(claims->arena, &claims->items, claim);
    }
    return truth != IG_NO;
}

/* The mark of a module, and its replacement once it is settled. */
static const char wanted_mark, settled_mark;

void ig_module_want_guards(ig_module *module) {
    ig_module_keep_beside(module, &wanted_mark, &wanted_mark);
}

bool ig_module_wants_guards(const ig_module *module) {
    return ig_module_beside(module, &wanted_mark) == &wanted_mark;
}

void ig_module_settle_guards(ig_module *module) {
    ig_module_keep_beside(module, &wanted_mark, &settled_mark);
}

bool ig_claim_equal(ig_module *module, ig_dim a, ig_dim b) {
    return note_claim(module, ig_dim_equal(module, a, b),
                      (ig_claim){ a, b, IG_CLAIM_EQUAL });
}

bool ig_claim_less_equal(ig_module *module, ig_dim a, ig_dim b) {
    return note_claim(module, ig_dim_less_equal(module, a, b),
                      (ig_claim){ a, b, IG_CLAIM_NOT_ABOVE });
}

ig_status ig_check_extent(const ig_op *op, uint32_t operand, uint32_t axis,
                          ig_dim expected, const char *what, ig_dim *out_dim) {
    ig_module *module = ig_op_module(op);
    ig_dim dim = ig_operand_type(op, operand)->dims[axis];
    if (!ig_claim_equal(module, dim, expected)) {
        return INFER_ERROR(
            op, "operand %u is %s, expected its extent %u to equal %s, %s", operand,
            ig_operand_text(op, operand), axis, text_of_dim(op, expected), what);
    }
    if (out_dim) {
        *out_dim = ig_dim_precise(module, dim, expected);
    }
    return IG_OK;
}

static bool excludes_one(const ig_module *module, ig_dim dim) {
    int64_t min, max;
    ig_dim_range(module, dim, &min, &max);
    return min > 1 || max < 1;
}

bool ig_dim_broadcast(ig_module *module, ig_dim a, ig_dim b, ig_dim *out_dim) {
    ig_truth equal = ig_dim_equal(module, a, b);
    if (equal == IG_YES || ig_dim_is(a, 1) || ig_dim_is(b, 1)) {
        *out_dim = equal == IG_YES   ? ig_dim_precise(module, a, b)
                   : ig_dim_is(a, 1) ? b
                                     : a;
        return true;
    }
    bool a_wide = excludes_one(module, a), b_wide = excludes_one(module, b);
    if (a_wide && b_wide) { /* neither is 1, so they must be equal */
        *out_dim = ig_dim_precise(module, a, b);
        return ig_claim_equal(module, a, b);
    }
    *out_dim = a_wide ? a : b_wide ? b : ig_dim_bcast(module, a, b);
    ig_dim left = ig_dim_bcast(module, a, b), right = ig_dim_bcast(module, b, a);
    bool is_proved = ig_dim_equal(module, left, right) == IG_YES;
    return note_claim(module, is_proved ? IG_YES : IG_MAYBE,
                      (ig_claim){ a, b, IG_CLAIM_BROADCAST });
}

ig_status ig_check_broadcast(const ig_op *op, uint32_t operand, ig_dim *dims,
                             uint32_t *rank) {
    const ig_type *type = ig_operand_type(op, operand);
    ig_module *module = ig_op_module(op);
    ig_dim joined[IG_TENSOR_RANK];
    uint32_t joined_rank = type->rank > *rank ? type->rank : *rank;
    if (joined_rank > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "operand %u has more than %d dimensions",
                          operand, IG_TENSOR_RANK);
    }
    for (uint32_t i = 0; i < joined_rank; i++) { /* from the last */
        uint32_t at = joined_rank - 1 - i;
        ig_dim a = i < *rank ? dims[*rank - 1 - i] : ig_dim_of(1);
        ig_dim b = i < type->rank ? type->dims[type->rank - 1 - i] : ig_dim_of(1);
        if (!ig_dim_broadcast(module, a, b, &joined[at])) {
            const ig_type *other = ig_type_with_dims(module, type, *rank, dims);
            return INFER_ERROR(op, "operand %u is %s, which does not broadcast with %s",
                               operand, ig_operand_text(op, operand),
                               text_of_type(op, other));
        }
    }
    for (uint32_t i = 0; i < joined_rank; i++) {
        dims[i] = joined[i];
    }
    *rank = joined_rank;
    return IG_OK;
}

/* ---- known extents and values ---- */

static const ig_type *present_type(const ig_op *op, uint32_t result) {
    const ig_type *type = result < op->result_count ? op->results[result].type : NULL;
    bool is_host = type && (type->kind == IG_SEQUENCE || type->kind == IG_OPTIONAL);
    return is_host ? type->element : type;
}

ig_dim ig_result_symbol(const ig_op *op, uint32_t result, uint32_t axis,
                        const char *name) {
    ig_module *module = ig_op_module(op);
    const ig_type *type = present_type(op, result);
    if (type && axis < type->rank && ig_dim_as_symbol(module, type->dims[axis])) {
        return type->dims[axis];
    }
    return ig_dim_symbol(module, name);
}

bool ig_operand_dims(const ig_op *op, uint32_t operand, int64_t count,
                     ig_dims_value *out) {
    return operand < op->operand_count &&
           ig_value_dims(op->operands[operand].value, out) && out->count >= count;
}

bool ig_operand_int(const ig_op *op, uint32_t operand, int64_t *out_value) {
    ig_dims_value value;
    return ig_operand_dims(op, operand, 1, &value) && value.count == 1 &&
           ig_dim_constant(ig_op_module(op), value.dims[0], out_value);
}
