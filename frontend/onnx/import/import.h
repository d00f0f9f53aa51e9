/* The data structures and functions that the parts of the ONNX importer share.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     import.c     the way of a file: parse, check, entry graph, result
 *     check.c      every node against the import table, before anything is built
 *     functions.c  model-local functions: names, recursion, size when inlined
 *     scope.c      names of values, and definitions that clash or are missing
 *     order.c      nodes in an order in which each comes after the nodes it reads from
 *     nodes.c      the way of a node: inputs, import function, outputs; calls inlined
 *     custom.c     operators that the user gives as graphs
 *     attr.c       attributes of a node
 *     args.c       the arguments of a node: inputs, attributes, axes
 *     value.c      constants and symbols
 *     keys.c       results that are lists of dicts
 *     body.c       graphs as bodies; loop.c: bodies of loops
 *     ../ops/      the import functions, by family
 *
 * Defects do not stop the import: each is reported where it is met, the results of a
 * flawed node are poisoned, and nodes that read a poisoned value are passed over.
 */
#ifndef IG_FRONTEND_ONNX_IMPORT_IMPORT_H
#define IG_FRONTEND_ONNX_IMPORT_IMPORT_H

#include "frontend/onnx/read/model.h"
#include "frontend/onnx/import/onnx.h"
#include "frontend/onnx/import/table.h"
#include "ir/build/expr.h"

typedef struct ig_onnx_import ig_onnx_import;
typedef struct ig_onnx_scope ig_onnx_scope;
typedef struct ig_onnx_function ig_onnx_function;
typedef struct ig_onnx_walk ig_onnx_walk;
typedef struct ig_onnx_keys ig_onnx_keys;

/* Opset versions by domain, of the model or of one function. */
typedef struct ig_onnx_opsets {
    Onnx__OperatorSetIdProto *const *imports;
    size_t count;
} ig_onnx_opsets;

/* The version imported for a domain, 0 when it is not. */
int64_t ig_onnx_opset_of(const ig_onnx_opsets *opsets, ig_str domain);

/* A model-local function. */
struct ig_onnx_function {
    const Onnx__FunctionProto *proto;
    ig_onnx_opsets opsets;
    const char *label; /* "domain::name", for messages */
    uint64_t size;     /* nodes when everything below is inlined; saturated */
    uint32_t depth;    /* of calls below */
    IG_VEC(ig_onnx_function *) calls;
    enum { IG_ONNX_NEW, IG_ONNX_OPEN, IG_ONNX_DONE } state;
};

/* A result of an if that another of its branches' ranks would do for. */
typedef struct ig_onnx_levelled {
    const ig_op *op;
    uint32_t index;
} ig_onnx_levelled;

/* A weight that a call in training mode changes, and its value after it. */
typedef struct ig_onnx_running {
    ig_value *kept, *next;
} ig_onnx_running;

struct ig_onnx_import {
    ig_onnx_model *model;
    ig_context *context;
    ig_module *module;
    ig_arena *arena;
    ig_graph *graph;
    ig_onnx_opsets opsets;
    ig_map functions; /* "domain\nname\noverload" -> ig_onnx_function */
    ig_map flawed;    /* NodeProtos that were reported */
    ig_map rows;      /* "domain\nname" -> first row of the operator */
    ig_map weights;   /* TensorProto -> ig_weight */
    ig_map untyped;   /* sequences whose items are not known yet: see below */
    ig_map given;     /* names of inputs that are given in place of an initializer */
    ig_map freed;     /* bodies -> extents that change from trip to trip */
    IG_VEC(ig_onnx_levelled) levelled; /* see ranks.c */
    IG_VEC(ig_onnx_running) running;   /* statistics of batch norms */
    const ig_onnx_options *options;    /* or NULL */
    size_t node_count;                 /* imported so far, inlined ones too */
    uint64_t node_bound;
    ig_status worst; /* reported so far */
};

/* ---- names (scope.c) ---- */

typedef struct ig_onnx_name {
    ig_value *value;    /* NULL while poisoned */
    const char *origin; /* "input 'x'"; NULL: a node's output */
    const Onnx__NodeProto *node;
    uint32_t index; /* of the node */
    bool is_poisoned;
    bool ranks_differ; /* two branches give different ranks: NULL, or one for all */
    ig_value *either;  /* then, of an output: one of any rank */
    const ig_onnx_keys *keys; /* of a list of dicts: see keys.h; else NULL */
} ig_onnx_name;

/* The call that a function's body is inlined for. */
typedef struct ig_onnx_call {
    const ig_onnx_function *function;
    const Onnx__NodeProto *node; /* the call */
    ig_onnx_scope *scope;        /* that the call is in */
} ig_onnx_call;

struct ig_onnx_scope {
    ig_onnx_import *import;
    ig_onnx_scope *outer; /* names are captured from there; NULL: none */
    const ig_onnx_opsets *opsets;
    const ig_onnx_call *call; /* NULL outside of functions */
    const char *label;        /* graph or function for messages; NULL: the main one */
    ig_builder *builder;
    ig_map names;       /* -> ig_onnx_name */
    ig_map outputs;     /* names of what its graph or function gives */
    ig_onnx_walk *walk; /* through the nodes of it, or NULL */
};

void ig_onnx_scope_init(ig_onnx_scope *scope, ig_onnx_import *import,
                        ig_onnx_scope *outer, const char *label);
/* Defines a name of this scope; reports a clash.  A value of NULL poisons it. */
void ig_onnx_define(ig_onnx_scope *scope, const char *name, const ig_onnx_name *what);
void ig_onnx_define_value(ig_onnx_scope *scope, const char *name, ig_value *value,
                          const char *origin);
/* The name as seen from `scope`, or NULL. */
ig_onnx_name *ig_onnx_find(const ig_onnx_scope *scope, const char *name);
/* Says before its nodes are imported that the scope gives `name`. */
void ig_onnx_scope_gives(ig_onnx_scope *scope, const char *name);
/* The value that the scope gives under `name`, NULL where poisoned; `out_value` is not
 * changed where nothing has the name. */
bool ig_onnx_scope_output(const ig_onnx_scope *scope, const char *name,
                          ig_value **out_value);

/* ---- nodes (nodes.c, order.c) ---- */

typedef struct ig_onnx_nodes {
    Onnx__NodeProto *const *items;
    size_t count;
} ig_onnx_nodes;

/* The nodes of a scope while they are imported. */
struct ig_onnx_walk {
    ig_onnx_nodes nodes;
    size_t *order; /* each comes after those it reads from */
    size_t *reads,
        *starts; /* node i reads from nodes reads[starts[i]] to reads[starts[i + 1]] */
    bool *is_done; /* by node: it is, or is being, imported */
    bool is_split; /* nodes go on in the branches of an If: see ops/sequence/branch.c */
};

struct ig_onnx_node {
    ig_onnx_import *import;
    ig_onnx_scope *scope;
    ig_builder *builder;
    ig_expr *e; /* over the builder; failures are reported at the node */
    const Onnx__NodeProto *proto;
    const ig_onnx_row *row;
    ig_location where;
    ig_value **inputs; /* NULL: absent */
    uint32_t input_count, output_count;
    ig_value **outputs; /* for the import function to fill; NULL: not asked */
    bool ranks_differ;  /* where an output is NULL, its branches have different ranks */
    ig_value **either;  /* NULL, or by output as in ig_onnx_name */
    const ig_onnx_keys **keys; /* the same */
};

/* Expressions at `builder`, whose failures are those of the node. */
ig_expr ig_onnx_expr_at(ig_builder *builder, ig_onnx_node *node);
/* Imports `nodes` into the scope's block, in an order that works. */
ig_status ig_onnx_import_nodes(ig_onnx_scope *scope, ig_onnx_nodes nodes);
/* Imports one of them; its results are poisoned where it is flawed.  Fails with what
 * ends the import. */
ig_status ig_onnx_import_at(ig_onnx_scope *scope, ig_onnx_nodes nodes, size_t index);
/* Finds order and edges of the walk's nodes; reports cycles and undefined names. */
void ig_onnx_order(ig_onnx_scope *scope, ig_onnx_walk *walk);
/* A graph attribute as a body: its initializers and nodes.  Formal inputs must be
 * defined by then.  Writes the values of its outputs, NULL where poisoned. */
ig_status ig_onnx_import_body(ig_onnx_scope *scope, const Onnx__GraphProto *graph,
                              ig_value **out_outputs);
/* Defines the constants of a graph's initializers. */
ig_status ig_onnx_import_initializers(ig_onnx_scope *scope,
                                      const Onnx__GraphProto *graph);

ig_location ig_onnx_where(const ig_onnx_scope *scope, const Onnx__NodeProto *node,
                          size_t index);
/* "node 3 'conv1' (Conv)" */
const char *ig_onnx_node_label(ig_onnx_import *import, const Onnx__NodeProto *node,
                               size_t index);
/* Keeps the worst status of an import, returns whether to go on. */
bool ig_onnx_note(ig_onnx_import *import, ig_status status);

/* ---- checks before building (check.c, functions.c) ---- */

ig_status ig_onnx_check(ig_onnx_import *import);
ig_status ig_onnx_functions_collect(ig_onnx_import *import);
/* Recursion, depth and size; `main` means the main graph. */
ig_status ig_onnx_functions_check(ig_onnx_import *import, ig_onnx_function *main);
/* The function that a node calls, or NULL. */
ig_onnx_function *ig_onnx_function_of(const ig_onnx_import *import,
                                      const Onnx__NodeProto *node);
/* The row that serves a node; NULL when there is none (reported by check.c). */
const ig_onnx_row *ig_onnx_row_of(ig_onnx_import *import, const ig_onnx_opsets *opsets,
                                  const Onnx__NodeProto *node);

/* ---- operators of the user (custom.c) ---- */

/* The next form of the operator that a node names, after `after`, or NULL. */
const ig_graph *ig_onnx_custom_form(const ig_onnx_import *import,
                                    const Onnx__NodeProto *node, const ig_graph *after);
/* Inlines the form that fits the node. */
ig_status ig_onnx_import_custom(ig_onnx_node *node);

/* "" for the domain "ai.onnx". */
static inline ig_str ig_onnx_domain(const char *domain) {
    ig_str text = ig_str_of(domain);
    return ig_str_is(text, "ai.onnx") ? IG_STR("") : text;
}

/* ---- attributes (attr.c) ---- */

/* The attribute's `type`, or where that is absent the type that its fields imply. */
int ig_onnx_attr_type(const Onnx__AttributeProto *attr);
/* The attribute, looked up through the calls of functions; NULL when absent.  The scope
 * in which a graph in it is to be read goes to `out_scope` (may be NULL). */
const Onnx__AttributeProto *ig_onnx_attr(const ig_onnx_node *node, const char *name,
                                         ig_onnx_scope **out_scope);
int64_t ig_onnx_attr_int(const ig_onnx_node *node, const char *name, int64_t absent);
double ig_onnx_attr_float(const ig_onnx_node *node, const char *name, double absent);
ig_str ig_onnx_attr_str(const ig_onnx_node *node, const char *name, const char *absent);
/* The graph of an attribute that the row requires, and the scope it captures names
 * from. */
const Onnx__GraphProto *ig_onnx_attr_graph(const ig_onnx_node *node, const char *name,
                                           ig_onnx_scope **out_scope);
/* NULL when absent. */
const int64_t *ig_onnx_attr_ints(const ig_onnx_node *node, const char *name,
                                 uint32_t *out_count);

/* ---- building (value.c) ---- */

/* Fails the node's expression, which reports it at the node unless it has failed
 * before: `return ig_onnx_fail(node, IG_INVALID, "…")`. */
ig_status ig_onnx_fail(const ig_onnx_node *node, ig_status status, const char *format,
                       ...) IG_PRINTF(3, 4);
/* Input `index`, or NULL when it is absent. */
ig_value *ig_onnx_in(const ig_onnx_node *node, uint32_t index);
/* The shape that an integer input holds, as far as it is known. */
bool ig_onnx_dims(const ig_onnx_node *node, uint32_t index, ig_dims_value *out);
/* The run checks that extent `a` of input `i` equals extent `b` of input `k`. */
void ig_onnx_guard_extents(const ig_onnx_node *node, uint32_t i, uint32_t a, uint32_t k,
                           uint32_t b);
/* "dim 0 of input 'x'": a new symbol named after `name`. */
ig_dim ig_onnx_symbol(ig_onnx_import *import, const char *name, const char *origin);
/* ---- empty sequences (untyped.c) ----
 *
 * SequenceEmpty says of its items only the dtype; the IR wants their rank too.  It is
 * learnt from the first item put in.  Until then the value is in import->untyped,
 * typed as a sequence of scalars; an empty sequence is made anew wherever its type has
 * become known, and an argument of a loop is retyped.  So is an optional without a
 * value, whatever its node says of the tensors that it does not hold. */

bool ig_onnx_is_untyped(const ig_onnx_import *import, const ig_value *sequence);
void ig_onnx_set_untyped(ig_onnx_import *import, const ig_value *sequence, bool is_so);
ig_value *ig_onnx_empty_sequence(ig_builder *builder, const ig_type *type);
ig_value *ig_onnx_none(ig_builder *builder, const ig_type *type); /* an optional */
/* The untyped `sequence` as a value of `type`: made anew at `builder`, or retyped. */
ig_status ig_onnx_settle(const ig_onnx_node *node, ig_builder *builder,
                         const ig_type *type, ig_value **sequence);

/* ---- ranks of branches (ranks.c) ---- */

/* Reports that `name` has another rank in either branch of an If; UNSUPPORTED. */
ig_status ig_onnx_ranks_fail(const ig_onnx_scope *scope, const char *name,
                             const ig_onnx_name *found);
/* Do types of different ranks differ in leading axes of one element only? */
bool ig_onnx_can_level(ig_module *module, const ig_type *a, const ig_type *b);
/* Where the values of two branches differ in leading axes of one element only, gives
 * both the higher rank; `result` of the if will be of it, and is noted. */
ig_status ig_onnx_level_ranks(ig_onnx_node *node, ig_builder *builders,
                              ig_value **values[2], const ig_value *result);
/* Refuses what could tell which rank such a result has.  The graph must be whole. */
ig_status ig_onnx_check_ranks(ig_onnx_import *import);

/* Can output `i` of the body, of this type, be stacked along a new axis?  It says why
 * not: UNSUPPORTED where the run decides its rank. */
ig_status ig_onnx_check_stacked(const ig_onnx_node *node, uint32_t i,
                                const ig_type *type);

/* The item type of a sequence of items of both types, where their ranks differ; else
 * NULL. */
const ig_type *ig_onnx_any_item(const ig_onnx_import *import, const ig_type *a,
                                const ig_type *b);

/* A type in which each dim is the same where the two agree, else a new symbol; for the
 * output `what` of two branches. */
ig_status ig_onnx_join_types(const ig_onnx_node *node, const char *what,
                             const ig_type *a, const ig_type *b,
                             const ig_type **out_type);

#endif
