/* The entry `sources.json` of an artifact: what became of each node of the model.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     {"nodes": [{"name": "conv1", "op": "Conv", "number": 12, "fate": "step"}, …],
 *      "steps": [[0, 3], [], [4], …]}
 *
 * Nodes are in the order of import, each once; `steps` has, for each step of the
 * plan, the nodes whose work it does.  A fate is
 *
 *     step     at least one step does its work
 *     folded   constants, shapes and values computed from them: computed when compiling
 *     view     another look at the same bytes
 *     removed  nothing is left to do
 *
 * The runtime does not read it, and an artifact without it runs alike.
 */
#ifndef IG_DRIVER_ARTIFACT_SOURCES_H
#define IG_DRIVER_ARTIFACT_SOURCES_H

#include "driver/artifact/plan_steps.h"

/* `steps` are the origins of each step of the plan, in its order. */
ig_str ig_sources_write(const ig_module *module, const ig_origins *steps,
                        uint32_t step_count, ig_arena *arena);

#endif
