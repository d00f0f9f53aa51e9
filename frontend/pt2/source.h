/* An exported graph as source of the dialect that frontend/torch evaluates.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %linear = torch.ops.aten.linear.default(%x, %p_fc_weight, %p_fc_bias)
 *
 * becomes the line
 *
 *     linear = ops.aten.linear(x, p_fc_weight, p_fc_bias)
 *
 * so that operators, views, writes in place and control flow mean here what they mean
 * in TorchScript, by the same rows.  Each line knows the node that it came from, for
 * messages.  Values have names of their own: those of the graph where they are
 * identifiers that nothing else has.
 */
#ifndef IG_FRONTEND_PT2_SOURCE_H
#define IG_FRONTEND_PT2_SOURCE_H

#include "base/map.h"
#include "base/vec.h"
#include "base/writer.h"
#include "frontend/pt2/json.h"

/* The values of one graph: name in the graph -> what stands for it in the source.  The
 * graph of a branch or a loop has a scope of its own; it sees its operands only. */
typedef struct ig_pt2_scope {
    ig_map names;
    const ig_json *graph; /* whose nodes are written */
} ig_pt2_scope;

typedef struct ig_pt2_source {
    ig_context *context;
    ig_arena *arena;
    ig_location where; /* of messages: file, and the node at hand */
    ig_writer out;
    ig_map used; /* names in the source */
    uint32_t indent, depth;
    uint32_t line;                 /* that is being written, from 1 on */
    IG_VEC(const char *) nodes;    /* by line: the node; NULL: none */
    IG_VEC(const char *) modules;  /* by line: the module that it is of, or NULL */
    IG_VEC(const char *) unpacked; /* statements that follow the one being written */
} ig_pt2_source;

void ig_pt2_source_init(ig_pt2_source *source, ig_context *context, ig_arena *arena,
                        const char *file);
void ig_pt2_scope_init(ig_pt2_scope *scope, ig_arena *arena);

/* Reports at the node at hand. */
ig_status ig_pt2_error(const ig_pt2_source *source, ig_status status,
                       const char *format, ...) IG_PRINTF(3, 4);

/* Appends one line, indented. */
void ig_pt2_line(ig_pt2_source *source, const char *format, ...) IG_PRINTF(2, 3);

/* A name that nothing in the source has, like `wish`. */
const char *ig_pt2_fresh(ig_pt2_source *source, const char *wish);
/* The same for a value of the graph, which is known by it from now on. */
const char *ig_pt2_define(ig_pt2_source *source, ig_pt2_scope *scope, const char *name);
/* `name` of the graph stands for this expression. */
void ig_pt2_bind(ig_pt2_scope *scope, const char *name, const char *expression);

/* An Argument of the schema (a union: an object with one member) as an expression. */
ig_status ig_pt2_argument(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *argument, const char **out_text);
/* The name of the value that an Argument is, or NULL (constants, None). */
const char *ig_pt2_argument_name(const ig_json *argument);

/* All nodes of a graph.  The caller has bound its inputs, and asks for its outputs
 * afterwards. */
ig_status ig_pt2_nodes(ig_pt2_source *source, ig_pt2_scope *scope,
                       const ig_json *graph);

/* A node whose target is a higher-order operator (higher_order.c). */
ig_status ig_pt2_higher_order(ig_pt2_source *source, ig_pt2_scope *scope,
                              const char *name, const ig_json *node);
/* A node that calls an operator which writes to its arguments (functionalized.c). */
ig_status ig_pt2_functionalized(ig_pt2_source *source, ig_pt2_scope *scope,
                                const char *name, const ig_json *node);
/* Names for a node's results: "a, b", each defined in the scope; empty: it has none.
 * `*out_is_list`: they are the items of one list. */
ig_status ig_pt2_results(ig_pt2_source *source, ig_pt2_scope *scope,
                         const ig_json *node, const char **out_text, bool *out_is_list);

#endif
