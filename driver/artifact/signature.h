/* Signature trees: a graph's own, or the flat one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_ARTIFACT_SIGNATURE_H
#define IG_DRIVER_ARTIFACT_SIGNATURE_H

#include "driver/artifact/plan_steps.h"

/* The graph's signature; where it has none, each argument by its name and a tuple of
 * the results, made in `arena`. */
const ig_signature *ig_signature_of(const ig_graph *graph, ig_arena *arena);

/* The section `nodes` of a plan, and `states` with their first values. */
void ig_plan_add_tree(ig_plan_build *plan);
ig_status ig_plan_add_states(ig_plan_build *plan);

#endif
