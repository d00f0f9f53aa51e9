/* The verifier: is this graph legal at its stage?
 * SPDX-License-Identifier: Apache-2.0
 *
 * Checks use chains, dominance, types against infer hooks, attributes against rows,
 * stages, terminators; at the plan stage destinations (written before read, no overlap
 * of live values); at the kernel stage buffers and scalars.  All errors are collected,
 * then the graph is printed with each error under its line.
 */
#ifndef IG_IR_VERIFY_H
#define IG_IR_VERIFY_H

#include "ir/ops.h"

/* IG_INTERNAL with diagnostics when something is wrong. */
ig_status ig_verify(const ig_graph *graph, ig_stage stage);
ig_status ig_verify_module(const ig_module *module);

#endif
