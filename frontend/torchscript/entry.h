/* The entry graph: how values of the program and leaves of the graph go together.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     traced.c   traced inputs as trees
 *     entry_in.c  trees -> values of the arguments, one graph argument a leaf
 *     entry_example.c what a missing argument could be, for the message
 *     entry_out.c the result -> trees and leaves; changed inputs; state
 */
#ifndef IG_FRONTEND_TORCHSCRIPT_ENTRY_H
#define IG_FRONTEND_TORCHSCRIPT_ENTRY_H

#include "frontend/torchscript/expression.h"
#include "frontend/torchscript/program.h"
#include "frontend/torchscript/torchscript.h"

typedef struct ig_ts_leaf {
    ig_ts_storage *storage; /* of a tensor, else NULL */
    const char    *path;
} ig_ts_leaf;

typedef struct ig_ts_entry {
    ig_ts_eval                   *eval;
    const ig_ts_program          *program;
    const ig_torchscript_options *options;
    const char                   *name; /* of the method */
    const ig_function            *method;
    ig_node_list                  nodes; /* of the signature */
    uint32_t                      arg_count;
    IG_VEC(ig_ts_leaf)            leaves;
    IG_VEC(const char *)          arg_names;
    IG_VEC(const char *)          result_names;
    IG_VEC(ig_value *)            results;
    uint32_t                      after_count;
    IG_VEC(ig_ts_storage *)       states;
} ig_ts_entry;

/* The values of all parameters but self. */
ig_status ig_ts_entry_arguments(ig_ts_entry *entry, ig_ts_arguments *out_arguments);
/* Appends " --input 'x=f32[B, 13]'", by the argument's type. */
void ig_ts_entry_example(const ig_param *param, ig_writer *out);
/* A tree that says what a traced input was like; false: it does not tell. */
bool ig_ts_traced_tree(ig_ts_eval *eval, const char *name, const ig_py *value,
                       ig_node_list *out_nodes);
/* Adds the tree of the result, and its leaves to entry->results. */
ig_status ig_ts_entry_result(ig_ts_entry *entry, ig_ts_value value);
/* Tensor arguments that the call changed, then attributes of modules. */
ig_status ig_ts_entry_changes(ig_ts_entry *entry, const ig_ts_level *level);

#endif
