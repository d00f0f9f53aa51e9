/* Building ops: a cursor, and functions that make a typed op in one call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An op without a type does not exist: ig_build infers types at once, through the row's
 * hook, and reports errors at the op's location.
 */
#ifndef IG_IR_BUILD_BUILD_H
#define IG_IR_BUILD_BUILD_H

#include "ir/semantics/constant.h"

typedef struct ig_builder {
    ig_graph *graph;
    ig_block *block;
    ig_op *before; /* NULL: at the end of the block */
    uint32_t loc;
    ig_origins origins; /* 0: of loc alone */
} ig_builder;

ig_builder ig_builder_at_end(ig_block *block);
ig_builder ig_builder_before(ig_op *op); /* with the op's origins */

/* Makes, types and inserts an op.  On a type error reports it and returns the status;
 * then nothing was inserted. */
ig_status ig_build(ig_builder *builder, ig_opcode code, const ig_op_spec *spec,
                   ig_op **out_op);
/* For ops that are right by construction (passes, lowering): a type error is a defect
 * of ours and asserts; a result of more bytes than can be counted unwinds as exhausted
 * memory does.  `attrs` may be NULL.  Returns the first result (NULL when
 * none). */
ig_value *ig_make(ig_builder *builder, ig_opcode code, uint32_t operand_count,
                  ig_value *const *operands, const ig_attr *attrs);
ig_op *ig_make_op(ig_builder *builder, ig_opcode code, const ig_op_spec *spec);
ig_value *ig_make1(ig_builder *builder, ig_opcode code, ig_value *x);
ig_value *ig_make2(ig_builder *builder, ig_opcode code, ig_value *x, ig_value *y);
ig_value *ig_make3(ig_builder *builder, ig_opcode code, ig_value *x, ig_value *y,
                   ig_value *z);

/* Constants. */
ig_value *ig_make_const(ig_builder *builder, const ig_type *type, const void *bytes);
ig_value *ig_make_i64(ig_builder *builder, int64_t value); /* tensor i64[] */
ig_value *ig_make_float(ig_builder *builder, ig_dtype dtype, double value); /* scalar */
ig_value *ig_make_dims(ig_builder *builder, const ig_dim *dims, uint32_t count);
ig_value *ig_make_weight(ig_builder *builder, ig_weight *weight); /* one op a graph */
/* Numbers and small vectors in the graph; all else as a weight named `name`, whose
 * bytes are borrowed. */
ig_value *ig_make_data(ig_builder *builder, const char *name, const ig_data *data);
/* Views and movement with known dims. */
ig_value *ig_make_reshape(ig_builder *builder, ig_value *x, uint32_t rank,
                          const ig_dim *dims);
ig_value *ig_make_cast(ig_builder *builder, ig_value *x,
                       ig_dtype to); /* x when equal */
void ig_make_ret(ig_builder *builder, ig_value *const *values, uint32_t count);
void ig_make_yield(ig_builder *builder, ig_value *const *values, uint32_t count);
/* guard; nothing when it is proved already. */
void ig_make_guard_equal(ig_builder *builder, ig_dim a, ig_dim b, const char *message);

#endif
