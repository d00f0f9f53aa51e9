/* Where ops may be placed, given their users.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_ENGINE_USERS_H
#define IG_PASSES_ENGINE_USERS_H

#include "base/arena.h"
#include "ir/graph.h"

/* The first op after `op`, in its block, that needs a result of it, itself or in its
 * bodies, of those 0, `step`, 2 * `step` …; NULL: none does. */
ig_op *ig_first_user(ig_arena *arena, const ig_op *op, uint32_t step);
/* Ops before `op` that compute, and that only ops after it need, go after it. */
void ig_sink_after(ig_arena *arena, ig_op *op);

#endif
