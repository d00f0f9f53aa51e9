/* Values between a graph's inputs and outputs: listed, and made outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/defect.h"

#include "driver/host.h"
#include "driver/outputs.h"
#include "driver/source.h"
#include "frontend/onnx/edit/edit.h"
#include "ir/build/build.h"
#include "ir/text/text.h"

#include <assert.h>
#include <string.h>

typedef struct value_list {
    IG_VEC(ig_value *) values;
} value_list;

/* Tensors that the ops of `graph` itself give, but for constants. */
static void list_values(const ig_graph *graph, ig_arena *arena, value_list *out) {
    for (ig_op *op = graph->body.first; op; op = op->next) {
        bool is_constant = ig_ops[op->code].traits & IG_CONSTANT;
        for (uint32_t i = 0; i < op->result_count && !is_constant; i++) {
            if (op->results[i].type->kind == IG_TENSOR) {
                IG_PUSH(arena, &out->values, &op->results[i]);
            }
        }
    }
}

/* ---- their names ---- */

typedef struct naming {
    ig_module *module;
    ig_arena *arena;
    ig_printer *printer;
    ig_map taken; /* names that were given */
} naming;

/* "%12" of result `index`, as a line of text has it in front of its " = ". */
static const char *printed_name(naming *n, const ig_value *value) {
    ig_writer line;
    ig_writer_init(&line, n->arena);
    ig_print_line(n->printer, value->def, &line);
    const char *at = line.data + strspn(line.data, " ");
    for (uint32_t i = 0; i < value->index; i++) {
        at += strcspn(at, ",=");
        at += *at == ',' ? 1 : 0;
        at += strspn(at, " ");
    }
    return ig_arena_copy(n->arena, at, strcspn(at, ", ="));
}

/* Functions that are called twice give the same names twice. */
static const char *name_of(naming *n, const ig_value *value) {
    const char *own = value->name && value->name[0] ? value->name
                                                    : printed_name(n, value);
    const char *name = own;
    for (int i = 2; ig_map_get(&n->taken, ig_str_of(name)); i++) {
        name = ig_arena_printf(n->arena, "%s#%d", own, i);
    }
    ig_map_set(&n->taken, ig_str_of(name), n);
    return name;
}

static naming naming_of(ig_module *module, const ig_graph *graph, ig_arena *arena) {
    naming n = { .module = module,
                 .arena = arena,
                 .printer = ig_line_printer(graph, arena) };
    ig_map_init(&n.taken, arena);
    return n;
}

/* ---- the list ---- */

typedef struct values_call {
    ig_module *module;
    ig_arena *arena;
    ig_inner_value *items;
    size_t count;
    const size_t *indices; /* of those to expose */
    size_t index_count;
    ig_module *exposed;
} values_call;

static ig_status need_graph(const ig_module *module, const ig_graph **out) {
    *out = ig_entry_of(module);
    return *out && (*out)->body.last ? IG_OK
                                     : ig_error(&module->context->diag, IG_INVALID,
                                                NULL, "the module has no entry graph");
}

static const char *type_text(const values_call *call, const ig_type *type) {
    ig_writer text;
    ig_writer_init(&text, call->arena);
    ig_print_type(call->module, type, &text);
    return ig_writer_str(&text).data;
}

static ig_status list_call(void *arguments) {
    values_call *call = arguments;
    const ig_graph *graph;
    value_list list = { 0 };
    IG_TRY(need_graph(call->module, &graph));
    list_values(graph, call->arena, &list);
    naming names = naming_of(call->module, graph, call->arena);
    call->items = IG_NEW_ARRAY(call->arena, ig_inner_value, list.values.count);
    for (size_t i = 0; i < list.values.count; i++) {
        const ig_value *value = list.values.items[i];
        call->items[i] = (ig_inner_value){
            .name = name_of(&names, value),
            .type = type_text(call, value->type),
            .op = ig_ops[value->def->code].name,
            .source = ig_source_of(call->arena, call->module, value->def->loc)
        };
    }
    call->count = list.values.count;
    return IG_OK;
}

ig_status ig_module_values(ig_module *module, const ig_inner_value **out_values,
                           size_t *out_count) {
    values_call call = { .module = module, .arena = ig_driver_results(module) };
    ig_status status = ig_driver_guard(module->context, list_call, &call);
    *out_values = status == IG_OK ? call.items : NULL;
    *out_count = status == IG_OK ? call.count : 0;
    return ig_driver_settle(module->context, status);
}

/* ---- as outputs ---- */

static ig_status return_values(values_call *call, ig_graph *graph,
                               const value_list *list) {
    ig_module *module = call->exposed;
    ig_arena *arena = &module->arena;
    naming names = naming_of(module, graph, arena);
    const char **list_names = IG_NEW_ARRAY(arena, const char *, list->values.count);
    for (size_t i = 0; i < list->values.count; i++) {
        list_names[i] = name_of(&names, list->values.items[i]);
    }
    ig_value **values = IG_NEW_ARRAY(arena, ig_value *, call->index_count);
    const char **value_names = IG_NEW_ARRAY(arena, const char *, call->index_count);
    for (size_t i = 0; i < call->index_count; i++) {
        if (call->indices[i] >= list->values.count) {
            return ig_error(&module->context->diag, IG_INVALID, NULL,
                            "there is no value %zu: the graph has %zu",
                            call->indices[i], list->values.count);
        }
        values[i] = list->values.items[call->indices[i]];
        value_names[i] = list_names[call->indices[i]];
    }
    return ig_graph_return_more(graph, values, value_names, call->index_count);
}

static ig_status expose_call(void *arguments) {
    values_call *call = arguments;
    const ig_graph *graph;
    value_list list = { 0 };
    call->exposed = ig_module_clone(call->module);
    IG_TRY(need_graph(call->exposed, &graph));
    ig_graph *own = (ig_graph *)(uintptr_t)graph;
    list_values(own, &call->exposed->arena, &list);
    return return_values(call, own, &list);
}

ig_status ig_module_expose(ig_module *module, const size_t *indices, size_t count,
                           ig_module **out_exposed) {
    values_call call = { .module = module, .indices = indices, .index_count = count };
    ig_status status = ig_driver_guard(module->context, expose_call, &call);
    if (status != IG_OK) {
        ig_module_close(call.exposed);
    }
    *out_exposed = status == IG_OK ? call.exposed : NULL;
    return ig_driver_settle(module->context, status);
}

/* ---- in the file ---- */

typedef struct file_call {
    ig_module *module, *file;
    const char *path;
    ig_onnx_wanted wanted;
    ig_str text;
} file_call;

static ig_status expose_file(void *arguments) {
    file_call *call = arguments;
    ig_location where = { .file = call->path };
    if (strcmp(ig_model_format(call->path), "onnx") != 0) {
        return ig_error(&call->module->context->diag, IG_UNSUPPORTED, &where,
                        "only ONNX models are given to other runtimes");
    }
    IG_TRY(ig_onnx_expose(call->module->context, call->path, &call->wanted, &call->file,
                          &call->text));
    ig_arena *arena = ig_driver_results(call->module);
    call->text.data = ig_arena_copy(arena, call->text.data, call->text.size);
    return IG_OK;
}

ig_status ig_module_expose_file(ig_module *module, const char *path,
                                const ig_wanted_values *wanted, const void **out_bytes,
                                size_t *out_size) {
    ig_wanted_values own = { 0 };
    ig_options_take(module->context, &own, sizeof own, wanted);
    file_call call = { .module = module,
                       .path = path,
                       .wanted = { own.names, own.count, own.has } };
    ig_status status = ig_driver_guard(module->context, expose_file, &call);
    ig_module_destroy(call.file);
    *out_bytes = status == IG_OK ? call.text.data : NULL;
    *out_size = status == IG_OK ? call.text.size : 0;
    return ig_driver_settle(module->context, status);
}
