/* Nodes in an order in which each comes after the nodes it reads from.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ONNX asks for that order, and nearly every file keeps it; some do not and are
 * accepted with a warning.  A node reads its inputs and the names that its branches and
 * bodies capture.  Depth first in file order, on a stack of our own: a sorted file
 * comes out as it is.
 */
#include "frontend/onnx/import/import.h"

#include <string.h>

/* Names that a graph defines, inside those of the graphs around it. */
typedef struct locals {
    const struct locals *outer;
    ig_map names;
} locals;

typedef struct edges {
    ig_onnx_scope *scope;
    ig_onnx_nodes nodes;
    ig_map makers;          /* name -> index + 1 */
    IG_VEC(size_t) targets; /* nodes read from, node by node */
    size_t *starts;         /* in targets; count + 1 of them */
} edges;

static void add_read(edges *e, const char *name) {
    uintptr_t maker = (uintptr_t)ig_map_get(&e->makers, ig_str_of(name));
    if (maker) {
        IG_PUSH(e->scope->import->arena, &e->targets, (size_t)maker - 1);
    }
}

/* ---- the names that a graph captures ---- */

static void define_local(locals *own, const char *name) {
    if (name && name[0]) {
        ig_map_set(&own->names, ig_str_of(name), (void *)1);
    }
}

static bool is_local(const locals *own, const char *name) {
    for (; own; own = own->outer) {
        if (ig_map_get(&own->names, ig_str_of(name))) {
            return true;
        }
    }
    return false;
}

static void read_name(edges *e, const locals *own, const char *name) {
    if (name && name[0] && !is_local(own, name)) {
        add_read(e, name);
    }
}

static void read_captures(edges *e, const locals *outer, const Onnx__GraphProto *graph);

static void read_graphs(edges *e, const locals *own, const Onnx__NodeProto *node) {
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attr = node->attribute[i];
        if (attr->g) {
            read_captures(e, own, attr->g);
        }
        for (size_t k = 0; k < attr->n_graphs; k++) {
            read_captures(e, own, attr->graphs[k]);
        }
    }
}

/* Nesting is bounded by the wire walk, so this recursion is too. */
static void read_captures(edges *e, const locals *outer,
                          const Onnx__GraphProto *graph) {
    locals own = { .outer = outer };
    ig_map_init(&own.names, e->scope->import->arena);
    for (size_t i = 0; i < graph->n_input; i++) {
        define_local(&own, graph->input[i]->name);
    }
    for (size_t i = 0; i < graph->n_initializer; i++) {
        define_local(&own, graph->initializer[i]->name);
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_output; k++) {
            define_local(&own, graph->node[i]->output[k]);
        }
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            read_name(e, &own, graph->node[i]->input[k]);
        }
        read_graphs(e, &own, graph->node[i]);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        read_name(e, &own, graph->output[i]->name);
    }
}

/* ---- edges of one graph ---- */

/* An input that nothing defines is reported once and poisoned. */
static void check_input(edges *e, size_t index, const char *name) {
    ig_onnx_import *import = e->scope->import;
    if (ig_map_get(&e->makers, ig_str_of(name)) || ig_onnx_find(e->scope, name)) {
        return;
    }
    ig_location where = ig_onnx_where(e->scope, e->nodes.items[index], index);
    ig_onnx_note(import, ig_error(&import->context->diag, IG_INVALID, &where,
                                  "reads '%s', which nothing defines", name));
    ig_onnx_define_value(e->scope, name, NULL, "nothing");
}

static void read_edges(edges *e) {
    ig_arena *arena = e->scope->import->arena;
    e->starts = IG_NEW_ARRAY(arena, size_t, e->nodes.count + 1);
    for (size_t i = 0; i < e->nodes.count; i++) {
        const Onnx__NodeProto *node = e->nodes.items[i];
        for (size_t k = 0; k < node->n_output; k++) {
            ig_str name = ig_str_of(node->output[k]);
            if (name.size > 0 && !ig_map_get(&e->makers, name)) {
                ig_map_set(&e->makers, name, (void *)(uintptr_t)(i + 1));
            }
        }
    }
    for (size_t i = 0; i < e->nodes.count; i++) {
        const Onnx__NodeProto *node = e->nodes.items[i];
        e->starts[i] = e->targets.count;
        for (size_t k = 0; k < node->n_input; k++) {
            if (node->input[k][0]) {
                check_input(e, i, node->input[k]);
                add_read(e, node->input[k]);
            }
        }
        read_graphs(e, NULL, node);
    }
    e->starts[e->nodes.count] = e->targets.count;
}

/* ---- depth first ---- */

typedef struct step {
    size_t node, next;
} step;

static void report_cycle(const edges *e, const step *stack, size_t depth,
                         size_t again) {
    ig_onnx_import *import = e->scope->import;
    ig_writer chain;
    ig_writer_init(&chain, import->arena);
    size_t first = depth;
    while (first > 0 && stack[first - 1].node != again) {
        first--;
    }
    for (size_t i = first ? first - 1 : 0; i < depth; i++) {
        size_t node = stack[i].node;
        if (chain.size < 400) {
            ig_put(&chain, "%s reads from ",
                   ig_onnx_node_label(import, e->nodes.items[node], node));
        }
        ig_map_set_id(&import->flawed, IG_MAP_PTR(e->nodes.items[node]), (void *)1);
    }
    ig_location where = ig_onnx_where(e->scope, e->nodes.items[again], again);
    ig_onnx_note(import,
                 ig_error(&import->context->diag, IG_INVALID, &where,
                          "nodes form a cycle: %s%s", chain.data,
                          ig_onnx_node_label(import, e->nodes.items[again], again)));
}

enum { FRESH, OPEN, DONE };

static size_t visit_node(const edges *e, size_t root, uint8_t *states,
                         size_t *out_order, size_t placed) {
    IG_VEC(step) stack = { 0 };
    ig_arena *arena = e->scope->import->arena;
    IG_PUSH(arena, &stack, (step){ root, e->starts[root] });
    states[root] = OPEN;
    while (stack.count > 0) {
        step *top = &IG_LAST(&stack);
        if (top->next == e->starts[top->node + 1]) {
            states[top->node] = DONE;
            out_order[placed++] = top->node;
            stack.count--;
            continue;
        }
        size_t target = e->targets.items[top->next++];
        if (states[target] == OPEN) {
            report_cycle(e, stack.items, stack.count, target);
        } else if (states[target] == FRESH) {
            states[target] = OPEN;
            IG_PUSH(arena, &stack, (step){ target, e->starts[target] });
        }
    }
    return placed;
}

static void warn_unsorted(const edges *e, const size_t *order) {
    ig_onnx_import *import = e->scope->import;
    for (size_t i = 0; i < e->nodes.count; i++) {
        if (order[i] == i) {
            continue;
        }
        ig_location where = ig_onnx_where(e->scope, e->nodes.items[order[i]], order[i]);
        ig_warn(&import->context->diag, &where,
                "comes after nodes that read from it; the nodes were sorted");
        return;
    }
}

void ig_onnx_order(ig_onnx_scope *scope, ig_onnx_walk *walk) {
    ig_arena *arena = scope->import->arena;
    ig_onnx_nodes nodes = walk->nodes;
    edges e = { .scope = scope, .nodes = nodes };
    ig_map_init(&e.makers, arena);
    read_edges(&e);
    uint8_t *states = IG_NEW_ARRAY(arena, uint8_t, nodes.count);
    walk->order = IG_NEW_ARRAY(arena, size_t, nodes.count);
    walk->reads = e.targets.items;
    walk->starts = e.starts;
    size_t placed = 0;
    for (size_t i = 0; i < nodes.count; i++) {
        if (states[i] == FRESH) {
            placed = visit_node(&e, i, states, walk->order, placed);
        }
    }
    warn_unsorted(&e, walk->order);
}
