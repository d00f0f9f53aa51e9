/* Checks of operands.  Each reports its error and returns IG_INVALID.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An infer hook rejects only provable errors.  Extents that may or may not be
 * equal are taken as equal (whoever made the op emitted a guard), and the more precise
 * of the two goes into the result.
 */
#ifndef IG_IR_SEMANTICS_CHECK_H
#define IG_IR_SEMANTICS_CHECK_H

#include "ir/semantics/constant.h"

/* `return INFER_ERROR(op, "…")`: IG_INVALID at the op's location. */
#define INFER_ERROR(op, ...) INFER_FAIL(op, IG_INVALID, __VA_ARGS__)
#define INFER_FAIL(op, status, ...) \
    ig_error(&ig_op_module(op)->context->diag, status, ig_op_location(op), __VA_ARGS__)

const ig_type *ig_operand_type(const ig_op *op, uint32_t operand);
/* "f32[5, 2]", for messages. */
const char *ig_operand_text(const ig_op *op, uint32_t operand);

ig_status ig_check_tensors(const ig_op *op); /* every operand is a tensor */
ig_status ig_check_tensor(const ig_op *op, uint32_t operand);
ig_status ig_check_rank(const ig_op *op, uint32_t operand, uint32_t rank);
ig_status ig_check_float(const ig_op *op, uint32_t operand);
ig_status ig_check_int(const ig_op *op, uint32_t operand);
ig_status ig_check_dtype(const ig_op *op, uint32_t operand, ig_dtype dtype);
/* Equal dtypes of operands first … last. */
ig_status ig_check_same_dtype(const ig_op *op, uint32_t first, uint32_t last);
/* An axis in [-rank, rank), made non-negative. */
ig_status ig_check_axis(const ig_op *op, int64_t axis, uint32_t rank,
                        uint32_t *out_axis);
/* Extent `axis` of an operand must equal `expected`, which is "what"; gives the more
 * precise of the two. */
ig_status ig_check_extent(const ig_op *op, uint32_t operand, uint32_t axis,
                          ig_dim expected, const char *what, ig_dim *out_dim);

/* An equality of two extents that a hook assumes and cannot prove. */
typedef struct ig_claim {
    ig_dim left, right;
    enum {
        IG_CLAIM_EQUAL,
        IG_CLAIM_BROADCAST, /* either is 1, or they are equal */
        IG_CLAIM_NOT_ABOVE
    } kind;
} ig_claim;
typedef struct ig_claims {
    ig_arena *arena;
    IG_VEC(ig_claim) items;
} ig_claims;
/* Hooks on ops of the module add to `claims` from now on; NULL: to none. */
void ig_claims_collect(ig_module *module, ig_claims *claims);
/* Where they are collected, or NULL. */
ig_claims *ig_claims_of(const ig_module *module);
/* a = b, a <= b: false when that is provably wrong, noted where nobody knows. */
bool ig_claim_equal(ig_module *module, ig_dim a, ig_dim b);
bool ig_claim_less_equal(ig_module *module, ig_dim a, ig_dim b);

/* Whoever makes a module without guards for such claims says so: pass add_guards adds
 * them, once. */
void ig_module_want_guards(ig_module *module);
bool ig_module_wants_guards(const ig_module *module);
void ig_module_settle_guards(ig_module *module);

/* One of two extents that are equal: a number before a symbol before an expression. */
ig_dim ig_dim_precise(const ig_module *module, ig_dim a, ig_dim b);
/* Broadcast of two extents; false when they are provably unfit. */
bool ig_dim_broadcast(ig_module *module, ig_dim a, ig_dim b, ig_dim *out_dim);
/* Broadcast of whole shapes into `dims` (room for IG_TENSOR_RANK); reports. */
ig_status ig_check_broadcast(const ig_op *op, uint32_t operand, ig_dim *dims,
                             uint32_t *rank);

/* A symbol for an extent that is known at run time only: that of the result's present
 * type when the op is typed already, else a fresh one. */
ig_dim ig_result_symbol(const ig_op *op, uint32_t result, uint32_t axis,
                        const char *name);
/* Values of an operand, when at least `count` are known. */
bool ig_operand_dims(const ig_op *op, uint32_t operand, int64_t count,
                     ig_dims_value *out);
bool ig_operand_int(const ig_op *op, uint32_t operand, int64_t *out_value);

#endif
