/* Guards that can never hold.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_ENGINE_GUARDS_H
#define IG_PASSES_ENGINE_GUARDS_H

#include "passes/engine/pass.h"

ig_truth ig_guard_truth(const ig_op *guard);
/* IG_INVALID with the guard's words where one of the graph's own block never holds. */
ig_status ig_guards_check(ig_pass_run *run, const ig_graph *graph);
/* The same after symbols became known, and with the words of the first op whose
 * operands do not fit any more. */
ig_status ig_learnt_check(ig_pass_run *run, const ig_graph *graph);

#endif
