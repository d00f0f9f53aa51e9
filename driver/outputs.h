/* Inputs and outputs of a graph.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_OUTPUTS_H
#define IG_DRIVER_OUTPUTS_H

#include "ir/graph.h"

bool ig_type_has_floats(const ig_type *type);
/* The output of an entry that has this name; of NULL the only one of floats.  INVALID
 * (reported): there is none, several, or it is not of floats. */
ig_status ig_graph_find_output(const ig_graph *graph, const char *name,
                               uint32_t *out_index);
/* A new argument of an entry after all others, of that type; its number.  Inputs are
 * flat then. */
uint32_t ig_graph_add_input(ig_graph *graph, const char *name, const ig_type *type);
typedef struct ig_input {
    const char *name;
    const ig_type *type;
} ig_input;

typedef IG_VEC(ig_input) ig_input_list;

/* New arguments of an entry, the first of number `at`; those after it are made anew. */
void ig_graph_insert_inputs(ig_graph *graph, uint32_t at, const ig_input_list *inputs);
/* Removes `count` inputs from index `first` on, which are not read. */
void ig_graph_remove_inputs(ig_graph *graph, uint32_t first, uint32_t count);
/* The graph of an entry gives `values`, by these names, in place of its own outputs and
 * in front of its states; they are flat then.  Names are the module's. */
void ig_graph_return(ig_graph *graph, ig_value *const *values, const char *const *names,
                     size_t count);
/* The graph of an entry gives `values`, by these names, after its own outputs and
 * before its states; its outputs are flat then.  Names are the module's.  IG_LIMIT
 * (reported) for more than a graph can have. */
ig_status ig_graph_return_more(ig_graph *graph, ig_value *const *values,
                               const char *const *names, size_t count);

#endif
