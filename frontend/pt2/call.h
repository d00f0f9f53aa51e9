/* How a program is called: the trees of its arguments and of its result.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The graph of an exported program is flat: parameters, buffers, constants and the
 * leaves of the arguments go in, mutated buffers and the leaves of the result come out.
 * Here the method `forward` is written around it, which takes and gives what the Python
 * module did.
 */
#ifndef IG_FRONTEND_PT2_CALL_H
#define IG_FRONTEND_PT2_CALL_H

#include "frontend/pt2/source.h"
#include "frontend/torch/eval/program.h"

/* A parameter of forward. */
typedef struct ig_pt2_parameter {
    const char *name;
    const char *tree; /* as ig_node_parse reads it: "f32[s0, 16]", "{\"x\": f32[3]}" */
} ig_pt2_parameter;

typedef struct ig_pt2_call {
    IG_VEC(ig_pt2_parameter) parameters;
    IG_VEC(ig_ts_range) ranges;
} ig_pt2_call;

/* Writes class `name` with method forward.  `exported` is the program's JSON. */
ig_status ig_pt2_write_class(ig_pt2_source *source, const char *name,
                             const ig_json *exported, ig_pt2_call *out_call);

#endif
