/* Where an op comes from: the nodes of the model whose work it does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An importer makes a location for each node, and its ops have that.  Passes make ops
 * of several others; whose work they do, the editing functions alone see to:
 *
 *     an op made before another      has its origins (ig_builder_before)
 *     ig_value_replace(old, value)   who makes `value` is the heir of who made `old`
 *     ig_op_erase(op)                its heir has its origins too, and is heir of the
 *                                    makers of its operands, which may go next
 *
 * So a pass need not record origins, unless it replaces an op by one that takes over
 * none of its values: ig_op_inherit.  An erased op without an heir is noted by its
 * opcode.
 *
 * A set of locations is one number: 0, a location, or the union of two sets.  Unions
 * are interned in a table of the module, so joining takes constant time.
 */
#ifndef IG_IR_ORIGIN_H
#define IG_IR_ORIGIN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ig_op ig_op;
typedef struct ig_module ig_module;

/* Location << 1, or index of a union << 1 | 1.  0: nobody knows. */
typedef uint32_t ig_origins;

typedef struct ig_origin_union {
    ig_origins first, second;
} ig_origin_union;

/* An op that went without an heir. */
typedef struct ig_op_gone {
    ig_origins origins;
    uint16_t code; /* ig_opcode */
} ig_op_gone;

ig_origins ig_op_origins(const ig_op *op);
ig_origins ig_origins_join(ig_module *module, ig_origins a, ig_origins b);
/* `heir` does the work of `op` from now on: it inherits the origins of `op` and of the
 * ops in its bodies when they are erased. */
void ig_op_inherit(ig_op *heir, ig_op *op);
/* The locations of a set, each once, rising.  Scratch memory is `arena`'s too. */
uint32_t ig_origins_list(const ig_module *module, ig_origins origins, ig_arena *arena,
                         uint32_t **out_locations);

/* For ir/graph.c: what erasing `op` says of its origins, before it is unlinked. */
void ig_origins_pass_on(ig_op *op);

#endif
