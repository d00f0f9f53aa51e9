/* A module after each pass: ops once, states as lists of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/dump/states.h"

#include "driver/dump/dump.h"
#include "ir/text/text.h"

#include <string.h>

/* Texts, each once, in order of their first use. */
typedef struct text_table {
    ig_map ids;     /* text -> number + 1 */
    ig_writer list; /* as JSON */
    uint32_t count;
} text_table;

typedef IG_VEC(uint32_t) index_list;

struct ig_states {
    ig_arena *arena, scratch; /* scratch: of one state */
    text_table ops, types, sources;
    ig_writer states;
    uint32_t state_count;
    ig_str last; /* graphs of the last state */
    bool is_used[IG_OP_COUNT];
};

/* The data of work on one graph that is added. */
typedef struct adder {
    ig_states *states;
    const ig_graph *graph;
    ig_printer *printer;
    ig_writer op;
} adder;

static void open_table(text_table *table, ig_arena *arena) {
    ig_map_init(&table->ids, arena);
    ig_writer_init(&table->list, arena);
}

ig_states *ig_states_create(ig_arena *arena) {
    ig_states *states = IG_NEW(arena, ig_states);
    states->arena = arena;
    open_table(&states->ops, arena);
    open_table(&states->types, arena);
    open_table(&states->sources, arena);
    ig_writer_init(&states->states, arena);
    return states;
}

/* The number of `text`; `json` is its entry in the list when it is new. */
static uint32_t id_of(text_table *table, ig_str text, bool is_json) {
    uintptr_t known = (uintptr_t)ig_map_get(&table->ids, text);
    if (known) {
        return (uint32_t)known - 1;
    }
    ig_put(&table->list, "%s", table->count ? ",\n" : "");
    if (is_json) {
        ig_put_str(&table->list, text);
    } else {
        ig_put_json_string(&table->list, text);
    }
    table->count++;
    ig_map_set(&table->ids, text, (void *)(uintptr_t)table->count);
    return table->count - 1;
}

/* ---- ops ---- */

static uint32_t type_id(adder *a, const ig_value *value) {
    ig_writer text;
    ig_writer_init(&text, &a->states->scratch);
    ig_print_type(a->graph->module, value->type, &text);
    return id_of(&a->states->types, ig_writer_str(&text), false);
}

static void put_value(adder *a, ig_writer *out, const ig_value *value,
                      const char *name) {
    const char *known = name ? name : value->name;
    ig_put(out, "[%u, %u", value->id, type_id(a, value));
    if (known) {
        ig_put(out, ", ");
        ig_put_json_string(out, ig_str_of(known));
    }
    ig_put_char(out, ']');
}

static void put_attrs(adder *a, const ig_op *op) {
    ig_writer text;
    ig_writer_init(&text, &a->states->scratch);
    ig_print_line_attrs(a->printer, op, &text);
    if (text.size > 0) {
        ig_put(&a->op, ", \"a\": ");
        ig_put_json_string(&a->op, ig_writer_str(&text));
    }
}

static void put_sources(adder *a, const ig_op *op) {
    const ig_module *module = a->graph->module;
    uint32_t *locations, shown = 0;
    uint32_t count = ig_origins_list(module, ig_op_origins(op), &a->states->scratch,
                                     &locations);
    for (uint32_t i = 0; i < count; i++) {
        const ig_location *where = &module->locations.items[locations[i]];
        ig_str name = ig_str_of(ig_dump_source_name(&a->states->scratch, where));
        if (name.size) {
            ig_put(&a->op, "%s%u", shown++ ? ", " : ", \"s\": [",
                   id_of(&a->states->sources, name, false));
        }
    }
    ig_put(&a->op, "%s", shown ? "]" : "");
}

static void put_bodies(adder *a, const ig_op *op) {
    bool is_first = true;
    for (uint32_t b = 0; b < op->body_count; b++) {
        const ig_block *body = op->bodies[b];
        for (uint32_t i = 0; i < body->arg_count; i++) {
            ig_put(&a->op, "%s", is_first ? ", \"b\": [" : ", ");
            put_value(a, &a->op, body->args[i], NULL);
            is_first = false;
        }
    }
    ig_put(&a->op, "%s", is_first ? "" : "]");
}

static uint32_t op_id(adder *a, const ig_op *op) {
    ig_writer_init(&a->op, &a->states->scratch);
    ig_put(&a->op, "{\"i\": %u, \"o\": \"%s\", \"u\": [", op->id,
           ig_ops[op->code].name);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_put(&a->op, "%s%u", i ? ", " : "", op->operands[i].value->id);
    }
    ig_put(&a->op, "], \"r\": [");
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_put(&a->op, "%s", i ? ", " : "");
        put_value(a, &a->op, &op->results[i], NULL);
    }
    ig_put_char(&a->op, ']');
    put_attrs(a, op);
    put_sources(a, op);
    put_bodies(a, op);
    if (op->block->parent) {
        ig_put(&a->op, ", \"in\": %u", op->block->parent->id);
    }
    ig_put_char(&a->op, '}');
    a->states->is_used[op->code] = true;
    return id_of(&a->states->ops, ig_writer_str(&a->op), true);
}

/* ---- graphs ---- */

/* Numbers as runs: first, count, first, count. */
static void put_runs(const index_list *ids, ig_writer *out) {
    size_t i = 0;
    while (i < ids->count) {
        size_t end = i + 1;
        while (end < ids->count && ids->items[end] == ids->items[end - 1] + 1) {
            end++;
        }
        ig_put(out, "%s%u, %zu", i ? ", " : "", ids->items[i], end - i);
        i = end;
    }
}

/* Depth first: a body's ops follow the op that has it, in the order of running.
 * Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void add_block(adder *a, const ig_block *block, index_list *out) {
    for (const ig_op *op = block->first; op; op = op->next) {
        IG_PUSH(&a->states->scratch, out, op_id(a, op));
        for (uint32_t b = 0; b < op->body_count; b++) {
            add_block(a, op->bodies[b], out);
        }
    }
}

static void put_ports(adder *a, ig_writer *out) {
    const ig_graph *graph = a->graph;
    const ig_op *ret = graph->body.last;
    ig_put(out, "\"inputs\": [");
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        ig_put(out, "%s", i ? ", " : "");
        put_value(a, out, graph->body.args[i],
                  graph->arg_names ? graph->arg_names[i] : NULL);
    }
    ig_put(out, "], \"outputs\": [");
    for (uint32_t i = 0; graph->result_names && ret && i < ret->operand_count; i++) {
        ig_put(out, "%s", i ? ", " : "");
        ig_put_json_string(
            out, ig_str_of(graph->result_names[i] ? graph->result_names[i] : ""));
    }
    ig_put_char(out, ']');
}

static void put_graph(ig_states *states, const ig_graph *graph, ig_writer *out) {
    static const char *const stages[] = { [IG_STAGE_TENSOR] = "tensor",
                                          [IG_STAGE_PLAN] = "plan",
                                          [IG_STAGE_KERNEL] = "kernel" };
    index_list ops = { 0 };
    adder a = { .states = states,
                .graph = graph,
                .printer = ig_line_printer(graph, &states->scratch) };
    add_block(&a, &graph->body, &ops);
    ig_put(out, "{\"graph\": ");
    ig_put_json_string(out, ig_str_of(graph->name));
    ig_put(out, ", \"stage\": \"%s\", ", stages[graph->stage]);
    put_ports(&a, out);
    ig_put(out, ", \"ops\": [");
    put_runs(&ops, out);
    ig_put(out, "]}");
}

void ig_states_add(ig_states *states, const char *pass, uint32_t index,
                   const ig_module *module, uint32_t stages) {
    ig_writer graphs;
    const char *comma = "";
    ig_writer_init(&graphs, states->arena);
    ig_arena_init(&states->scratch, &module->context->budget);
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (module->graphs.items[i]->stage & stages) {
            ig_put(&graphs, "%s", comma);
            put_graph(states, module->graphs.items[i], &graphs);
            comma = ",\n  ";
        }
    }
    ig_arena_fini(&states->scratch);
    ig_str now = ig_writer_str(&graphs);
    bool is_same = states->state_count && ig_str_equal(now, states->last);
    if (!is_same) {
        ig_put(&states->states, "%s{\"pass\": ", states->state_count++ ? ",\n" : "");
        ig_put_json_string(&states->states, ig_str_of(pass));
        ig_put(&states->states, ", \"number\": %u, \"graphs\": [", index);
        ig_put_str(&states->states, now);
        ig_put(&states->states, "]}");
        states->last = now;
    }
}

/* ---- all of it ---- */

/* The description of an op, for people: its family, or a word for its traits. */
static const char *kind_of(uint16_t code) {
    static const struct {
        uint32_t trait;
        const char *kind;
    } rows[] = {
        { IG_CONSTANT, "constant" }, { IG_GUARD, "guard" },  { IG_TERMINATOR, "end" },
        { IG_COLLECTIVE, "rank" },   { IG_VIEW, "view" },    { IG_MAP, "map" },
        { IG_HOST, "host" },         { IG_STATE, "effect" },
    };
    const ig_op_info *info = &ig_ops[code];
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (info->traits & rows[i].trait) {
            return rows[i].kind;
        }
    }
    return info->body_count                 ? "body"
           : info->family != IG_FAMILY_none ? ig_families[info->family].name
           : info->stages == IG_STAGE_PLAN  ? "memory"
                                            : "";
}

static void put_kinds(const ig_states *states, ig_writer *out) {
    const char *comma = "";
    ig_put(out, "\"kinds\": {");
    for (uint16_t code = 0; code < IG_OP_COUNT; code++) {
        if (states->is_used[code]) {
            ig_put(out, "%s\"%s\": \"%s\"", comma, ig_ops[code].name, kind_of(code));
            comma = ", ";
        }
    }
    ig_put(out, "},\n");
}

static void put_symbols(const ig_module *module, ig_writer *out) {
    ig_put(out, "\"symbols\": {");
    for (uint32_t i = 0; i < ig_symbol_count(module); i++) {
        const ig_symbol *symbol = ig_symbol_at(module, i);
        ig_put(out, "%s", i ? ", " : "");
        ig_put_json_string(out, ig_str_of(symbol->name));
        ig_put(out, ": ");
        ig_put_json_string(out, ig_str_of(symbol->origin ? symbol->origin : ""));
    }
    ig_put(out, "},\n");
}

static void put_table(const char *name, const text_table *table, ig_writer *out) {
    ig_put(out, "\"%s\": [", name);
    ig_put_str(out, ig_writer_str(&table->list));
    ig_put(out, "],\n");
}

void ig_states_write(const ig_states *states, const ig_module *module, ig_writer *out) {
    ig_put(out, "\"module\": ");
    ig_put_json_string(out, ig_str_of(module->name));
    ig_put(out, ",\n");
    put_symbols(module, out);
    put_kinds(states, out);
    put_table("sources", &states->sources, out);
    put_table("types", &states->types, out);
    put_table("ops", &states->ops, out);
    ig_put(out, "\"states\": [");
    ig_put_str(out, ig_writer_str(&states->states));
    ig_put(out, "]");
}
