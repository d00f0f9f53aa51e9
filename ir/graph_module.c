/* Modules, graphs, weights, locations: what owns the IR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/dim/table.h"
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

ig_module *ig_module_create(ig_context *context, const char *name) {
    ig_arena arena;
    ig_arena_init(&arena, &context->budget);
    ig_module *module = IG_NEW(&arena, ig_module);
    module->arena = arena; /* the module lives in its own arena */
    module->context = context;
    ig_map_init(&module->strings, &module->arena);
    ig_map_init(&module->types, &module->arena);
    ig_map_init(&module->union_of, &module->arena);
    ig_map_init(&module->weights_by_name, &module->arena);
    ig_map_init(&module->graphs_by_name, &module->arena);
    ig_map_init(&module->beside, &module->arena);
    ig_dim_table_create(module);
    module->name = ig_module_string(module, ig_str_of(name));
    IG_PUSH(&module->arena, &module->locations, (ig_location){ 0 });
    return module;
}

ig_module *ig_module_create_for(ig_context *context, const char *path) {
    enum { LONGEST = 63 };
    char name[LONGEST + 1];
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *from = slash ? slash + 1 : path ? path : "model";
    const char *at = path && strstr(path, "://") ? strrchr(from, '@') : NULL;
    from = at ? at + 1 : from; /* a name says nothing of who may open it */
    const char *dot = strrchr(from, '.');
    size_t size = dot && dot > from ? (size_t)(dot - from) : strlen(from);
    size = size < LONGEST ? size : LONGEST;
    for (size_t i = 0; i < size; i++) {
        bool is_plain = (from[i] >= 'a' && from[i] <= 'z') ||
                        (from[i] >= 'A' && from[i] <= 'Z') ||
                        (from[i] >= '0' && from[i] <= '9') || from[i] == '.';
        name[i] = is_plain ? from[i] : '_';
    }
    name[size] = 0;
    ig_module *module = ig_module_create(context, size ? name : "model");
    module->path = path ? ig_module_string(module, ig_str_of(path)) : NULL;
    return module;
}

void ig_module_destroy(ig_module *module) {
    if (!module) {
        return;
    }
    for (size_t i = 0; i < module->files.count; i++) {
        ig_file_map_close(&module->files.items[i]);
    }
    ig_arena arena = module->arena;
    ig_arena_fini(&arena);
}

ig_file_map *ig_module_add_map(ig_module *module) {
    assert(module && "a mapping has an owner before it is opened");
    IG_PUSH(&module->arena, &module->files, (ig_file_map){ 0 });
    return &IG_LAST(&module->files);
}

static const char *own_text(ig_module *module, const char *text) {
    return text ? ig_module_string(module, ig_str_of(text)) : NULL;
}

uint32_t ig_module_location(ig_module *module, const ig_location *where) {
    ig_location copy = *where;
    copy.file = own_text(module, where->file);
    copy.graph = own_text(module, where->graph);
    copy.node = own_text(module, where->node);
    copy.op = own_text(module, where->op);
    copy.scope = own_text(module, where->scope);
    IG_PUSH(&module->arena, &module->locations, copy);
    return (uint32_t)(module->locations.count - 1);
}

ig_graph *ig_module_graph(const ig_module *module, const char *name) {
    assert(name && "a graph has a name");
    return (ig_graph *)ig_map_get(&module->graphs_by_name, ig_str_of(name));
}

ig_weight *ig_module_weight(const ig_module *module, const char *name) {
    assert(name && "a weight has a name");
    return (ig_weight *)ig_map_get(&module->weights_by_name, ig_str_of(name));
}

/* `name`, or `name` with a number appended when `names` has it already.  The number
 * starts at a count that grows with the names, so that equal names cost no search. */
static const char *unique_name(ig_module *module, const ig_map *names, const char *name,
                               size_t count) {
    const char *unique = name;
    while (ig_map_get(names, ig_str_of(unique))) {
        unique = ig_arena_printf(&module->arena, "%s_%zu", name, ++count);
    }
    return ig_module_string(module, ig_str_of(unique));
}

ig_weight *ig_module_add_weight(ig_module *module, const char *name,
                                const ig_data *data) {
    assert(data->type &&
           (data->type->kind == IG_TENSOR || data->type->kind == IG_TABLE) &&
           "a weight is a tensor or a table");
    assert(data->size >= 0 && data->offset >= 0 && "a span of a file has an end");
    ig_weight *weight = IG_NEW(&module->arena, ig_weight);
    weight->name = unique_name(module, &module->weights_by_name, name,
                               module->weights.count);
    weight->data = *data;
    weight->type = data->type;
    IG_PUSH(&module->arena, &module->weights, weight);
    ig_map_set(&module->weights_by_name, ig_str_of(weight->name), weight);
    return weight;
}

ig_graph *ig_graph_create(ig_module *module, const char *name, ig_stage stage) {
    assert(stage && !(stage & (stage - 1)) && "a graph is at one stage");
    ig_graph *graph = IG_NEW(&module->arena, ig_graph);
    graph->module = module;
    graph->name = unique_name(module, &module->graphs_by_name, name,
                              module->graphs.count);
    graph->stage = stage;
    graph->body.graph = graph;
    IG_PUSH(&module->arena, &module->graphs, graph);
    ig_map_set(&module->graphs_by_name, ig_str_of(graph->name), graph);
    return graph;
}

static void forget_name(ig_graph *graph) {
    ig_map *names = &graph->module->graphs_by_name;
    for (size_t i = 0; i < names->count; i++) {
        if (names->entries[i].value == graph) {
            names->entries[i].value = NULL;
        }
    }
}

void ig_graph_destroy(ig_graph *graph) {
    ig_module *module = graph->module;
    while (graph->body.last) {
        ig_op_erase(graph->body.last);
    }
    ig_graph **items = module->graphs.items;
    size_t kept = 0;
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (items[i] != graph) {
            items[kept++] = items[i];
        }
    }
    assert(kept + 1 == module->graphs.count && "the module holds the graph once");
    module->graphs.count = kept;
    forget_name(graph);
}

void ig_graph_rename(ig_graph *graph, const char *name) {
    assert(ig_module_graph(graph->module, graph->name) == graph &&
           "the module knows the graph");
    ig_module *module = graph->module;
    forget_name(graph);
    graph->name = unique_name(module, &module->graphs_by_name, name,
                              module->graphs.count);
    ig_map_set(&module->graphs_by_name, ig_str_of(graph->name), graph);
}

void *ig_module_beside(const ig_module *module, const void *key) {
    assert(key && "data kept beside a module has a key");
    return ig_map_get_id(&module->beside, IG_MAP_PTR(key));
}

void ig_module_keep_beside(ig_module *module, const void *key, const void *value) {
    assert(key && value && "data kept beside a module has a key");
    ig_map_set_id(&module->beside, IG_MAP_PTR(key), (void *)(uintptr_t)value);
}

void *ig_module_scratch(ig_module *module, size_t size) {
    if (module->scratch_size < size) {
        module->scratch = ig_arena_alloc(&module->arena, size);
        module->scratch_size = size;
    }
    memset(module->scratch, 0, size);
    return module->scratch;
}

/* ---- weights of graphs ---- */

static bool is_head(const ig_op *op, const ig_graph *graph) {
    return op && (op->code == IG_OP_weight || op->code == IG_OP_table) &&
           op->block == &graph->body;
}

/* The op after which the next head goes; NULL: at the very front. */
static ig_op *last_head(ig_graph *graph) {
    ig_op *op = graph->last_head;
    if (!is_head(op, graph)) {
        op = NULL;
        for (ig_op *next = graph->body.first; is_head(next, graph); next = next->next) {
            op = next;
        }
    }
    return op;
}

static ig_value *find_head(const ig_graph *graph, const ig_weight *weight) {
    if (!graph->heads.arena) {
        return NULL;
    }
    ig_op *op = (ig_op *)ig_map_get(&graph->heads, ig_str_of(weight->name));
    return is_head(op, graph) ? &op->results[0] : NULL;
}

ig_value *ig_graph_weight(ig_graph *graph, ig_weight *weight) {
    assert(ig_module_weight(graph->module, weight->name) == weight &&
           "a weight of the module");
    ig_value *known = find_head(graph, weight);
    if (known) {
        return known;
    }
    ig_op *last = last_head(graph);
    ig_attr name = ig_attr_of_sym(graph->module, weight->name);
    ig_op_spec spec = { .result_types = &weight->type,
                        .result_count = 1,
                        .attrs = &name };
    bool is_table = weight->type->kind == IG_TABLE;
    graph->last_head = ig_op_create(graph, is_table ? IG_OP_table : IG_OP_weight,
                                    &spec);
    ig_op_insert(graph->last_head, &graph->body, last ? last->next : graph->body.first);
    return &graph->last_head->results[0];
}

bool ig_module_knows_parameters(const ig_module *module) {
    assert(module && "there is a module");
    for (size_t i = 0; i < module->weights.count; i++) {
        if (module->weights.items[i]->is_parameter) {
            return true;
        }
    }
    return false;
}
