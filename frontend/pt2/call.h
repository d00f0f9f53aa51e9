/* How a program is called: the trees of its arguments and of its result.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The graph of an exported program is flat: parameters, buffers, constants and the
 * leaves of the arguments go in, mutated buffers and the leaves of the result come out.
 * Here is the method `forward` around it, with the arguments and results of the Python
 * module.
 */
#ifndef IG_FRONTEND_PT2_CALL_H
#define IG_FRONTEND_PT2_CALL_H

#include "base/vec.h"
#include "frontend/pt2/spec.h"
#include "frontend/torch/eval/program.h"

/* A parameter, buffer or constant of the module. */
typedef struct ig_pt2_held {
    const char *name, *attribute;
} ig_pt2_held;

/* The graph's results: a leaf of the result, or the new content of a buffer or an
 * argument.
 */
typedef struct ig_pt2_output {
    const ig_json *leaf;        /* an Argument; NULL: it is none */
    const char *target, *value; /* which becomes which */
    bool is_input;              /* `target` is an input of the graph, else a buffer */
} ig_pt2_output;

typedef struct ig_pt2_program {
    ig_pt2_reader reader;
    const ig_json *graph, *signature;
    const ig_json *records; /* fields of named tuples */
    ig_pt2_spec in, out;
    IG_VEC(ig_pt2_held) held;
    IG_VEC(const ig_json *) leaves; /* of the arguments, in order */
    IG_VEC(ig_pt2_output) outputs;
    IG_VEC(const char *) parameters; /* of forward: their names, */
    IG_VEC(ig_node_list) trees;      /* and the kind of each */
    IG_VEC(ig_ts_range) ranges;
} ig_pt2_program;

/* Reads how the program is called; `exported` is its JSON, and `program` is zero but
 * for the reader. */
ig_status ig_pt2_read_call(ig_pt2_program *program, const ig_json *exported);

/* Parts of TorchRec's objects that are not supported. */
#define IG_PT2_OTHER_PARTS \
    "a %s with strides by key or with inverse indices is not supported yet"

/* A constant among the leaves of the arguments, as trees have it. */
ig_status ig_pt2_constant(const ig_pt2_reader *reader, const ig_json *argument,
                          ig_node *out);

/* The name of the class that represents the program (forward.c). */
extern const char ig_pt2_class[];
/* Adds it with its method `forward`, and the classes of named tuples.  `user` is the
 * program; see ig_ts_program. */
void ig_pt2_declare(void *user, struct ig_code *code);

#endif
