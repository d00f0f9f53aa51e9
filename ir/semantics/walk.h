/* What evaluating an op on concrete operands needs: errors, scratch memory, extents,
 * walks over elements.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_WALK_H
#define IG_IR_SEMANTICS_WALK_H

#include "ir/ops.h"
#include "ir/tensor/span.h"

/* `return FOLD_ERROR(eval, op, "…")`: the data are wrong, at the op's location. */
#define FOLD_ERROR(eval, op, ...) FOLD_FAIL(eval, op, IG_INVALID, __VA_ARGS__)
#define FOLD_FAIL(eval, op, status, ...) \
    ig_error(&(eval)->context->diag, status, ig_op_location(op), __VA_ARGS__)

/* Every element of `out` is to be written; its memory is zero. */
ig_status ig_eval_alloc(ig_eval *eval, const ig_op *op, ig_dtype dtype, uint32_t rank,
                        const int64_t *dims, ig_tensor *out);
/* Zeroed scratch memory for `count` items of `size` bytes. */
ig_status ig_eval_scratch(ig_eval *eval, const ig_op *op, int64_t count, size_t size,
                          void *out_memory);
/* Value of a dim with the symbols that are bound. */
ig_status ig_eval_dim(ig_eval *eval, const ig_op *op, ig_dim dim, int64_t *out_value);
/* The same, which must not be negative. */
ig_status ig_eval_extent(ig_eval *eval, const ig_op *op, ig_dim dim,
                         int64_t *out_value);
/* Shape of attribute `slot`, or of integer operand `operand` when it is not set. */
ig_status ig_eval_shape(ig_eval *eval, const ig_op *op, uint32_t slot,
                        const ig_tensor *operand, uint32_t *out_rank,
                        int64_t *out_dims);
uint32_t ig_axis_of(int64_t axis, uint32_t rank); /* in [-rank, rank) */

/* Row-major strides in elements; of `dims` broadcast to `out_rank` dims: 0 where an
 * extent is 1 or missing. */
void ig_strides_of(uint32_t rank, const int64_t *dims, int64_t *out_strides);
void ig_strides_broadcast(const ig_tensor *tensor, uint32_t out_rank,
                          int64_t *out_strides);
/* Broadcasts `dims` with the tensor's; false when they do not fit. */
bool ig_walk_broadcast(const ig_tensor *tensor, uint32_t *rank, int64_t *dims);

/* A walk over index tuples in row-major order that keeps an element number per operand:
 *
 *     for (ig_walk_start(&walk, rank, dims); walk.is_inside; ig_walk_next(&walk)) …
 */
enum { IG_WALK_RANK = 2 * IG_TENSOR_RANK, IG_WALK_OPERANDS = 3 };
typedef struct ig_walk {
    bool is_inside;
    uint32_t rank, operand_count;
    const int64_t *dims;
    int64_t index[IG_WALK_RANK];
    const int64_t *strides[IG_WALK_OPERANDS]; /* set before the start */
    int64_t at[IG_WALK_OPERANDS];             /* set before the start: of the first */
} ig_walk;
void ig_walk_start(ig_walk *walk, uint32_t rank, const int64_t *dims);
void ig_walk_next(ig_walk *walk);

/* out[i] = from[start + sum of i_d * strides[d]] for all i of `dims` (whose product is
 * the number of elements of `out`). */
void ig_walk_copy(ig_tensor *out, const ig_tensor *from, uint32_t rank,
                  const int64_t *dims, int64_t start, const int64_t *strides);

/* A tensor as outer x extent x inner around one axis. */
typedef struct ig_around {
    int64_t outer, extent, inner;
} ig_around;
ig_around ig_around_axis(const ig_tensor *tensor, uint32_t axis);

#endif
