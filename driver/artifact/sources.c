/* What became of each node of a model.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/sources.h"

#include "driver/source.h"
#include "ir/ops.h"

#include <stdlib.h>

/* In order of rank: a node that is several is the last of them. */
typedef enum fate { FATE_REMOVED, FATE_FOLDED, FATE_VIEW, FATE_STEP } fate;

typedef struct sources {
    const ig_module *module;
    ig_arena *arena, scratch;
    ig_writer out;
    uint32_t *node_of;      /* by location: number of the node + 1; 0 is none */
    ig_map id_of;           /* a node's name -> index + 1 */
    IG_VEC(uint32_t) nodes; /* by number: its first location */
    uint8_t *fates;         /* by number */
} sources;

/* ---- nodes ---- */

/* Locations of one node, as trips of an unrolled loop have them, read alike. */
static void index_nodes(sources *s) {
    s->node_of = IG_NEW_ARRAY(s->arena, uint32_t, s->module->locations.count);
    ig_map_init(&s->id_of, s->arena);
    for (uint32_t i = 1; i < s->module->locations.count; i++) {
        const char *scope = s->module->locations.items[i].scope;
        ig_str text = ig_str_of(ig_source_of(s->arena, s->module, i));
        if (!text.size) {
            continue;
        }
        if (scope) { /* modules of one class share their lines of source */
            text = ig_str_of(ig_arena_printf(s->arena, "%s\n%s", text.data, scope));
        }
        uintptr_t known = (uintptr_t)ig_map_get(&s->id_of, text);
        if (!known) {
            IG_PUSH(s->arena, &s->nodes, i);
            known = s->nodes.count;
            ig_map_set(&s->id_of, text, (void *)known);
        }
        s->node_of[i] = (uint32_t)known;
    }
    s->fates = IG_NEW_ARRAY(s->arena, uint8_t, s->nodes.count);
}

/* ---- fates ---- */

static fate fate_of(uint16_t code) {
    uint32_t traits = ig_ops[code].traits;
    return traits & IG_CONSTANT ? FATE_FOLDED
           : traits & IG_VIEW   ? FATE_VIEW
                                : FATE_REMOVED;
}

static void raise_fate(sources *s, ig_origins origins, fate what) {
    uint32_t *locations;
    uint32_t count = ig_origins_list(s->module, origins, &s->scratch, &locations);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = s->node_of[locations[i]];
        if (node && s->fates[node - 1] < what) {
            s->fates[node - 1] = (uint8_t)what;
        }
    }
}

/* Ops that are there still: views, constants, and recipes of constants. */
static void find_fates_in(sources *s, const ig_graph *graph, bool is_folded) {
    IG_VEC(const ig_block *) todo = { 0 };
    IG_PUSH(s->arena, &todo, &graph->body);
    while (todo.count) {
        for (const ig_op *op = IG_POP(&todo)->first; op; op = op->next) {
            fate own = fate_of(op->code);
            raise_fate(s, ig_op_origins(op),
                       is_folded && own < FATE_FOLDED ? FATE_FOLDED : own);
            for (uint32_t i = 0; i < op->body_count; i++) {
                IG_PUSH(s->arena, &todo, op->bodies[i]);
            }
        }
    }
}

static void find_fates(sources *s, const ig_origins *steps, uint32_t step_count) {
    for (uint32_t i = 0; i < step_count; i++) {
        raise_fate(s, steps[i], FATE_STEP);
    }
    for (size_t i = 0; i < s->module->graphs.count; i++) {
        const ig_graph *graph = s->module->graphs.items[i];
        if (graph->stage != IG_STAGE_KERNEL) {
            find_fates_in(s, graph, !graph->is_entry);
        }
    }
    for (size_t i = 0; i < s->module->gone.count; i++) {
        const ig_op_gone *gone = &s->module->gone.items[i];
        raise_fate(s, gone->origins, fate_of(gone->code));
    }
}

/* ---- JSON ---- */

static void put_text(sources *s, const char *key, const char *text) {
    if (text && text[0]) {
        ig_put(&s->out, "\"%s\": ", key);
        ig_put_json_string(&s->out, ig_str_of(text));
        ig_put(&s->out, ", ");
    }
}

static void put_number(sources *s, const char *key, uint32_t index) {
    if (index) {
        ig_put(&s->out, "\"%s\": %u, ", key, index);
    }
}

static void put_node(sources *s, uint32_t index) {
    static const char *const fates[] = { [FATE_REMOVED] = "removed",
                                         [FATE_FOLDED] = "folded",
                                         [FATE_VIEW] = "view",
                                         [FATE_STEP] = "step" };
    const ig_location *where = &s->module->locations.items[s->nodes.items[index]];
    ig_put(&s->out, "%s\n  {", index ? "," : "");
    put_text(s, "name", where->node);
    put_text(s, "op", where->op);
    put_text(s, "graph", where->graph);
    put_text(s, "scope", where->scope);
    put_number(s, "number", where->node_id);
    put_number(s, "line", where->line);
    ig_put(&s->out, "\"fate\": \"%s\"}", fates[s->fates[index]]);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Numbers of its nodes, each once, rising. */
static void put_step(sources *s, ig_origins origins) {
    uint32_t *nodes, before = 0;
    uint32_t count = ig_origins_list(s->module, origins, &s->scratch, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = s->node_of[nodes[i]];
    }
    if (count) {
        qsort(nodes, count, sizeof *nodes, compare_numbers);
    }
    ig_put_char(&s->out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] != before) {
            ig_put(&s->out, "%s%u", before ? ", " : "", nodes[i] - 1);
            before = nodes[i];
        }
    }
    ig_put_char(&s->out, ']');
}

ig_str ig_sources_write(const ig_module *module, const ig_origins *steps,
                        uint32_t step_count, ig_arena *arena) {
    sources s = { .module = module, .arena = arena };
    ig_arena_init(&s.scratch, arena->budget);
    ig_writer_init(&s.out, arena);
    index_nodes(&s);
    find_fates(&s, steps, step_count);
    ig_put(&s.out, "{\"nodes\": [");
    for (uint32_t i = 0; i < s.nodes.count; i++) {
        put_node(&s, i);
    }
    ig_put(&s.out, "],\n\"steps\": [");
    for (uint32_t i = 0; i < step_count; i++) {
        ig_put(&s.out, "%s", i ? ",\n  " : "\n  ");
        put_step(&s, steps[i]);
    }
    ig_put(&s.out, "]}\n");
    ig_arena_fini(&s.scratch);
    return ig_writer_str(&s.out);
}
