/* A call: the tree of a program, and the state of putting and reading values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_TREE_CALL_H
#define IG_RUNTIME_TREE_CALL_H

#include "ingot/runtime.h"
#include "runtime/message.h"

#include <stdbool.h>

enum { IG_CALL_DEPTH = 64, IG_CALL_WORDS = 256, IG_CALL_ERROR = 1024 };

/* The call's data beside a node. */
typedef struct ig_call_slot {
    uint32_t parent;
    uint32_t position; /* among the parent's children */
    uint64_t put_in;   /* generation of the call in which it was put last */
    uint32_t next;     /* of an open container: the next child in order */
    bool is_named;     /* an argument that was put by its name */
} ig_call_slot;

struct ig_call {
    const ig_tree_node *nodes;
    ig_call_slot *slots;
    const ig_port *ports; /* of the inputs, or NULL: nothing is known of their types */
    ig_view *inputs;
    int64_t *numbers; /* memory of inputs that were put as numbers */
    uint32_t count, input_count, output_count;
    uint32_t result; /* node */

    /* putting */
    uint64_t generation;
    uint32_t open;    /* innermost container; 0: the call */
    uint32_t pending; /* the child that was named, or whose key was put; 0: none */
    int last_input;
    ig_status status;
    char error[IG_CALL_ERROR];

    /* reading */
    ig_view *outputs;
    uint32_t at;   /* the next node */
    uint32_t last; /* the node read last */
};

/* The nodes of a tree in a call of its own; `ports` as in ig_call_create_from_nodes. */
typedef struct ig_call_source {
    const ig_tree_node *nodes; /* or NULL: the program's */
    const ig_program *program;
    const ig_port *ports;
    size_t count;
} ig_call_source;

/* ---- words (describe.c) ---- */

/* "args[1]['ids']", "x.values", "result[0]". */
void ig_call_put_path(const ig_call *call, uint32_t node, char *out, size_t size);
/* A description of the tree's node: "f32[B, 13]", "the int 2", "a list". */
void ig_call_put_expected(const ig_call *call, uint32_t node, char *out, size_t size);
/* A value that was put: "f64[2, 13]", "the str 'c'", "a dict". */
void ig_call_put_value(const ig_call_value *value, char *out, size_t size);

/* ---- errors (call.c) ---- */

/* Keeps the first error: "PATH: words". */
ig_status ig_call_fail(ig_call *call, uint32_t node, ig_status status,
                       const char *format, ...) IG_PRINTF(4, 5);

#endif
