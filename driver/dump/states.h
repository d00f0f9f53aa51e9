/* A module after each pass, as the JSON that the page draws.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     {"module": "dlrm", "symbols": {"B": "dim 0 of input 'x'"},
 *      "kinds": {"relu": "map"}, "sources": ["/top/top.0/Gemm"],
 *      "types": ["f32[B, 13]"],
 *      "ops": [{"i": 3, "o": "relu", "u": [2], "r": [[3, 0]], "s": [0]}, …],
 *      "states": [{"pass": "fold", "number": 2, "graphs": [
 *          {"graph": "main", "stage": "tensor", "inputs": [[0, 0, "x"]],
 *           "outputs": ["y"], "ops": [0, 412, 900, 2]}]}]}
 *
 * An op is written once however many states it is in as it is: states list runs of
 * `ops` (first, count, first, count).  Of an op: id, name, operands, results (id, type,
 * the user's name), "a" attributes, "s" sources, "in" the id of the op whose body holds
 * it, "b" arguments of its bodies.  Ids stay the same from state to state, so that a
 * pass's additions, removals and changes can be told.
 */
#ifndef IG_DRIVER_DUMP_STATES_H
#define IG_DRIVER_DUMP_STATES_H

#include "base/writer.h"
#include "ir/graph.h"

typedef struct ig_states ig_states;

/* The caller's arena holds all of it. */
ig_states *ig_states_create(ig_arena *arena);
/* Adds the graphs of these stages as they are now, unless nothing changed since. */
void ig_states_add(ig_states *states, const char *pass, uint32_t index,
                   const ig_module *module, uint32_t stages);
/* Writes the members of the object, without its braces.  `module`: the last added. */
void ig_states_write(const ig_states *states, const ig_module *module, ig_writer *out);

#endif
