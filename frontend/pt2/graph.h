/* An exported graph, run node by node by the evaluator of frontend/torch.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %linear = torch.ops.aten.linear.default(%x, %p_fc_weight, %p_fc_bias)
 *
 * calls the operator "aten::linear" with the values of these names, and names its
 * results.  So operators, views, writes in place and control flow have their meaning in
 * TorchScript, by the same rows.  Values are names of the frame; the graph of a branch
 * or a loop has names of its own there, after a prefix.
 */
#ifndef IG_FRONTEND_PT2_GRAPH_H
#define IG_FRONTEND_PT2_GRAPH_H

#include "frontend/pt2/json.h"
#include "frontend/torch/python/missing.h"

typedef struct ig_pt2_scope {
    ig_ts_eval *eval;
    const ig_json *graph;
    const char *prefix; /* of its names in the frame: "", "cond.1/" */
    const char *target; /* of the node at hand, for messages; NULL: none is */
    uint32_t depth;     /* of graphs in graphs */
    const struct ig_pt2_vmap *vmap; /* the innermost one around the node, or NULL */
} ig_pt2_scope;

typedef struct ig_pt2_values {
    ig_ts_value *items;
    size_t count;
} ig_pt2_values;

/* Reports at the node at hand. */
ig_status ig_pt2_error(const ig_pt2_scope *scope, ig_status status, const char *format,
                       ...) IG_PRINTF(3, 4);

/* ---- values by their names ---- */

ig_status ig_pt2_get(const ig_pt2_scope *scope, const char *name,
                     ig_ts_value *out_value);
/* A value without name (NULL) is dropped. */
void ig_pt2_set(const ig_pt2_scope *scope, const char *name, ig_ts_value value);
/* The name of a value as the frame knows it. */
const char *ig_pt2_slot(const ig_pt2_scope *scope, const char *name);

/* ---- Arguments of the schema: unions, objects with one member (argument.c) ---- */

/* The kind and the member; "": it is not a union. */
const char *ig_pt2_union(const ig_json *value, const ig_json **out_member);
/* The name of the value that an Argument is, or NULL (constants, None). */
const char *ig_pt2_argument_name(const ig_json *argument);
ig_status ig_pt2_argument(const ig_pt2_scope *scope, const ig_json *argument,
                          ig_ts_value *out_value);
/* The type by the Argument's kind; NULL: nothing. */
const ig_script_type *ig_pt2_argument_type(ig_script_types *types,
                                           const ig_json *argument);
/* A list of tensors, whose type an empty one does not tell. */
ig_ts_list *ig_pt2_tensor_list(ig_ts_eval *eval, size_t capacity);

/* ---- nodes ---- */

/* "aten::add.Tensor" of "torch.ops.aten.add.Tensor"; NULL: it names no operator. */
const char *ig_pt2_operator(ig_arena *arena, const char *target);
/* An operator of one result. */
ig_status ig_pt2_call(const ig_pt2_scope *scope, const char *name,
                      const ig_ts_value *args, uint32_t count, ig_ts_value *out_value);
/* The results of a call go to the names of `outputs`. */
ig_status ig_pt2_bind(const ig_pt2_scope *scope, const ig_json *outputs,
                      size_t output_count, const ig_ts_value *results, uint32_t count);
/* The names of a node's results, one by one; NULL for those that are not used. */
const char **ig_pt2_result_names(ig_arena *arena, const ig_json *node,
                                 size_t *out_count);
/* All nodes of the scope's graph, whose inputs are set. */
ig_status ig_pt2_nodes(ig_pt2_scope *scope);
/* The nodes first … end - 1 of it. */
ig_status ig_pt2_nodes_between(ig_pt2_scope *scope, size_t first, size_t end);
/* Tells what operators a graph calls, and those in it; `look` NULL: notes their
 * positions in the module. */
void ig_pt2_survey(ig_ts_eval *eval, const ig_json *graph, ig_python_look *look);

/* A node whose target is a higher-order operator (higher_order.c). */
ig_status ig_pt2_higher_order(const ig_pt2_scope *scope, const char *name,
                              const ig_json *node);
/* Does torch.vmap begin (+ 1) or end (- 1) with a node of that target? */
int ig_pt2_vmap_nesting(const char *target);
/* The nodes first … end - 1 of the scope's graph, which torch.vmap runs for each index
 * of an axis; node first - 1 begins them (vmap.c). */
ig_status ig_pt2_vmap_region(ig_pt2_scope *scope, size_t first, size_t end);
/* A node in them that takes such an item, or gives one; false: it is none. */
bool ig_pt2_vmap_node(const ig_pt2_scope *scope, const ig_json *node,
                      ig_status *out_status);
/* A node that calls an operator which writes to its arguments (functionalized.c). */
ig_status ig_pt2_functionalized(const ig_pt2_scope *scope, const char *name,
                                const ig_json *node);

#endif
