/* The verifier: is this graph legal at its stage?
 * SPDX-License-Identifier: Apache-2.0
 *
 * Checks use chains, dominance, types against infer hooks, attributes against rows,
 * stages, terminators; at the plan stage destinations (written before read, no overlap
 * of live values); at the kernel stage buffers and scalars.  All errors are collected,
 * then the graph is printed with each error under its line.
 */
#ifndef IG_IR_VERIFY_VERIFY_H
#define IG_IR_VERIFY_VERIFY_H

#include "ir/ops.h"

/* IG_INTERNAL with diagnostics when something is wrong. */
ig_status ig_verify(const ig_graph *graph, ig_stage stage);
ig_status ig_verify_module(const ig_module *module);
/* The same for a module just read from `file`: each error is reported at its op's
 * location, and the status is IG_INVALID.  Types were inferred by the reader. */
ig_status ig_verify_input(const ig_module *module, const char *file);

/* May the op have texts among its operands, and results of these types (NULL: those
 * that it has)?  IG_UNSUPPORTED, reported, where not. */
ig_status ig_check_texts(const ig_op *op, const ig_type *const *types);

/* May one value have both types?  Equal but for extents that are not provably
 * different; a scalar of a kernel may be a tensor of rank 0. */
bool ig_types_agree(const ig_module *module, const ig_type *a, const ig_type *b);

#endif
