/* The reference interpreter: runs a tensor-stage graph by the folds of its ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Slow and plain; rounds as each op's dtype says.  Control flow is run here, everything
 * else by the fold column.  Kernel-form graphs have their own (ir/interpret/kernel.h).
 */
#ifndef IG_IR_INTERPRET_INTERPRET_H
#define IG_IR_INTERPRET_INTERPRET_H

#include "ir/ops.h"

/* Runs `graph` on `inputs` (one an argument, borrowed).  Binds the symbols of the
 * arguments' dims to the inputs' extents; a contradiction or a failed guard is
 * IG_INVALID with a message naming input and dim.  Outputs live in `arena`. */
ig_status ig_interpret(const ig_graph *graph, const ig_tensor *inputs, ig_arena *arena,
                       ig_tensor *out_outputs);
/* Runs the programs of all ranks of a world, one a rank, until all have ended: each by
 * itself up to its next collective, which must be the same for all.  inputs[r] and
 * outputs[r] are those of rank r.  Reports disagreements of ranks (IG_INVALID), naming
 * the collective and two ranks, or the report of one of them. */
ig_status ig_interpret_ranks(const ig_graph *const *graphs, uint32_t world,
                             const ig_tensor *const *inputs, ig_arena *arena,
                             ig_tensor *const *outputs);
/* Evaluates one op on concrete operands; for passes that fold. */
ig_status ig_evaluate_op(const ig_op *op, const ig_tensor *const *in, ig_arena *arena,
                         ig_tensor *out);

#endif
