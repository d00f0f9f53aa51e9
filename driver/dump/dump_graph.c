/* Modules as graphs for other programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both walks go over every op of every block in order; an op is labelled by its line of
 * IR text.  Neither form is read back: the text shows them.
 */
#include "driver/dump/dump.h"

#include "driver/source.h"
#include "ir/text/text.h"

#include <string.h>

typedef struct walk {
    const ig_module *module;
    ig_writer *out;
    ig_arena scratch;
    const ig_graph *graph;
    ig_printer *lines; /* of the graph */
    size_t graph_index, op_count;
} walk;

typedef void op_fn(walk *w, const ig_op *op);

/* Every op of the graph, outer ones before those in their bodies. */
static void visit_ops(walk *w, op_fn *visit) {
    IG_VEC(const ig_block *) todo = { 0 };
    IG_PUSH(&w->scratch, &todo, &w->graph->body);
    for (size_t i = 0; i < todo.count; i++) {
        for (const ig_op *op = todo.items[i]->first; op; op = op->next) {
            visit(w, op);
            for (uint32_t b = 0; b < op->body_count; b++) {
                IG_PUSH(&w->scratch, &todo, op->bodies[b]);
            }
        }
    }
}

static void visit_graphs(walk *w, uint32_t stages, void (*visit)(walk *w)) {
    for (size_t i = 0; i < w->module->graphs.count; i++) {
        w->graph = w->module->graphs.items[i];
        if (w->graph->stage & stages) {
            ig_arena_init(&w->scratch, &w->module->context->budget);
            w->lines = ig_line_printer(w->graph, &w->scratch);
            visit(w);
            ig_arena_fini(&w->scratch);
            w->graph_index++;
        }
    }
}

static ig_str line_of(walk *w, const ig_op *op) {
    ig_writer line;
    ig_writer_init(&line, &w->scratch);
    ig_print_line(w->lines, op, &line);
    ig_str text = ig_writer_str(&line);
    while (text.size && strchr(" \n", text.data[text.size - 1])) {
        text.size--;
    }
    while (text.size && text.data[0] == ' ') {
        text = (ig_str){ text.data + 1, text.size - 1 };
    }
    return text;
}

static ig_str type_of(walk *w, const ig_value *value) {
    ig_writer text;
    ig_writer_init(&text, &w->scratch);
    ig_print_type(w->module, value->type, &text);
    return ig_writer_str(&text);
}

/* ---- dot ---- */

enum { LABEL_BYTES = 90 };

static void dot_op(walk *w, const ig_op *op) {
    ig_str label = line_of(w, op);
    label.size = label.size < LABEL_BYTES ? label.size : LABEL_BYTES;
    while (label.size && ((unsigned char)label.data[label.size - 1] & 0x80)) {
        label.size--; /* not in the middle of a character */
    }
    ig_put(w->out, "    g%zu_%u [label=", w->graph_index, op->id);
    ig_put_json_string(w->out, label);
    ig_put(w->out, "];\n");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        if (value->def) {
            ig_put(w->out, "    g%zu_%u -> g%zu_%u [label=", w->graph_index,
                   value->def->id, w->graph_index, op->id);
            ig_put_json_string(w->out, type_of(w, value));
            ig_put(w->out, "];\n");
        }
    }
    if (op->block->parent) {
        ig_put(w->out, "    g%zu_%u -> g%zu_%u [style=dotted];\n", w->graph_index,
               op->block->parent->id, w->graph_index, op->id);
    }
}

static void dot_graph(walk *w) {
    ig_put(w->out, "  subgraph cluster_%zu {\n    label=", w->graph_index);
    ig_put_json_string(w->out, ig_str_of(w->graph->name));
    ig_put(w->out, ";\n");
    visit_ops(w, dot_op);
    ig_put(w->out, "  }\n");
}

void ig_dump_dot(const ig_module *module, uint32_t stages, ig_writer *out) {
    walk w = { .module = module, .out = out };
    ig_put(out, "digraph ");
    ig_put_json_string(out, ig_str_of(module->name));
    ig_put(out, " {\n  node [shape=box, fontname=monospace];\n");
    visit_graphs(&w, stages, dot_graph);
    ig_put(out, "}\n");
}

/* ---- JSON ---- */

static void json_value(walk *w, const ig_value *value, const char *name) {
    ig_put(w->out, "{\"id\": %u, \"type\": ", value->id);
    ig_put_json_string(w->out, type_of(w, value));
    const char *known = name ? name : value->name;
    if (known) {
        ig_put(w->out, ", \"name\": ");
        ig_put_json_string(w->out, ig_str_of(known));
    }
    ig_put_char(w->out, '}');
}

const char *ig_dump_source_name(ig_arena *arena, const ig_location *where) {
    const char *name = where->node ? where->node : where->op;
    const char *graph = where->graph && !where->node ? where->graph : "";
    if (where->scope && name && !strchr(name, '/')) {
        graph = ig_source_scope(arena, where->scope);
    }
    const char *line = where->line ? ig_arena_printf(arena, ":%u", where->line) : "";
    return name ? ig_arena_printf(arena, "%s%s%s%s", graph, graph[0] ? "/" : "", name,
                                  line)
                : "";
}

/* Whose work the op does. */
static void json_sources(walk *w, const ig_op *op) {
    uint32_t *locations;
    uint32_t count = ig_origins_list(w->module, ig_op_origins(op), &w->scratch,
                                     &locations);
    const char *comma = "";
    ig_put(w->out, ", \"sources\": [");
    for (uint32_t i = 0; i < count; i++) {
        const char *name =
            ig_dump_source_name(&w->scratch, &w->module->locations.items[locations[i]]);
        if (name[0]) {
            ig_put(w->out, "%s", comma);
            ig_put_json_string(w->out, ig_str_of(name));
            comma = ", ";
        }
    }
    ig_put_char(w->out, ']');
}

static void json_location(walk *w, const ig_op *op) {
    const ig_location *where = ig_op_location(op);
    if (where && where->node) {
        ig_put(w->out, ", \"node\": ");
        ig_put_json_string(w->out, ig_str_of(where->node));
    }
    json_sources(w, op);
}

static void json_op(walk *w, const ig_op *op) {
    ig_put(w->out, "%s\n    {\"id\": %u, \"op\": \"%s\", \"operands\": [",
           w->op_count++ ? "," : "", op->id, ig_ops[op->code].name);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_put(w->out, "%s%u", i ? ", " : "", op->operands[i].value->id);
    }
    ig_put(w->out, "], \"results\": [");
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_put(w->out, "%s", i ? ", " : "");
        json_value(w, &op->results[i], NULL);
    }
    ig_put(w->out, "], \"text\": ");
    ig_put_json_string(w->out, line_of(w, op));
    json_location(w, op);
    if (op->block->parent) {
        ig_put(w->out, ", \"inside\": %u", op->block->parent->id);
    }
    ig_put_char(w->out, '}');
}

static void json_graph(walk *w) {
    static const char *const stages[] = { [IG_STAGE_TENSOR] = "tensor",
                                          [IG_STAGE_PLAN] = "plan",
                                          [IG_STAGE_KERNEL] = "kernel" };
    const ig_graph *graph = w->graph;
    ig_put(w->out, "%s\n  {\"graph\": ", w->graph_index ? "," : "");
    ig_put_json_string(w->out, ig_str_of(graph->name));
    ig_put(w->out, ", \"stage\": \"%s\", \"inputs\": [", stages[graph->stage]);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        ig_put(w->out, "%s", i ? ", " : "");
        json_value(w, graph->body.args[i],
                   graph->arg_names ? graph->arg_names[i] : NULL);
    }
    ig_put(w->out, "], \"ops\": [");
    w->op_count = 0;
    visit_ops(w, json_op);
    ig_put(w->out, "]}");
}

void ig_dump_json(const ig_module *module, uint32_t stages, ig_writer *out) {
    walk w = { .module = module, .out = out };
    ig_put(out, "{\"module\": ");
    ig_put_json_string(out, ig_str_of(module->name));
    ig_put(out, ", \"graphs\": [");
    visit_graphs(&w, stages, json_graph);
    ig_put(out, "]}\n");
}

/* ---- Model Explorer ---- */

static void explorer_pair(walk *w, const char *key, ig_str value, const char *comma) {
    ig_put(w->out, "%s{\"key\": \"%s\", \"value\": ", comma, key);
    ig_put_json_string(w->out, value);
    ig_put_char(w->out, '}');
}

/* "top/top.0" of "/top/top.0/Gemm": the boxes around the op. */
static ig_str scope_of(walk *w, const ig_op *op) {
    const ig_location *where = ig_op_location(op);
    const char *name = where ? ig_dump_source_name(&w->scratch, where) : "";
    const char *end = strrchr(name, '/');
    name += name[0] == '/' && end != name;
    return (ig_str){ name, end > name ? (size_t)(end - name) : 0 };
}

static void explorer_edges(walk *w, const ig_op *op) {
    const char *comma = "";
    ig_put(w->out, ", \"incomingEdges\": [");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        if (value->def) {
            ig_put(w->out,
                   "%s{\"sourceNodeId\": \"%u\", \"sourceNodeOutputId\": \"%u\", "
                   "\"targetNodeInputId\": \"%u\"}",
                   comma, value->def->id, value->index, i);
            comma = ", ";
        }
    }
    ig_put_char(w->out, ']');
}

static void explorer_op(walk *w, const ig_op *op) {
    ig_put(w->out, "%s\n  {\"id\": \"%u\", \"label\": \"%s\", \"namespace\": ",
           w->op_count++ ? "," : "", op->id, ig_ops[op->code].name);
    ig_put_json_string(w->out, scope_of(w, op));
    explorer_edges(w, op);
    ig_put(w->out, ", \"attrs\": [");
    explorer_pair(w, "text", line_of(w, op), "");
    const ig_location *where = ig_op_location(op);
    if (where && where->node) {
        explorer_pair(w, "node", ig_str_of(where->node), ", ");
    }
    ig_put(w->out, "], \"outputsMetadata\": [");
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_put(w->out, "%s{\"id\": \"%u\", \"attrs\": [", i ? ", " : "", i);
        explorer_pair(w, "tensor_shape", type_of(w, &op->results[i]), "");
        ig_put(w->out, "]}");
    }
    ig_put(w->out, "]}");
}

static void explorer_graph(walk *w) {
    ig_put(w->out, "%s\n {\"id\": ", w->graph_index ? "," : "");
    ig_put_json_string(w->out, ig_str_of(w->graph->name));
    ig_put(w->out, ", \"nodes\": [");
    w->op_count = 0;
    visit_ops(w, explorer_op);
    ig_put(w->out, "]}");
}

void ig_dump_explorer(const ig_module *module, uint32_t stages, ig_writer *out) {
    walk w = { .module = module, .out = out };
    ig_put(out, "{\"label\": ");
    ig_put_json_string(out, ig_str_of(module->name));
    ig_put(out, ", \"graphs\": [");
    visit_graphs(&w, stages, explorer_graph);
    ig_put(out, "]}\n");
}
