/* The way of a file: program, signature, evaluation, graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/entry/bound.h"
#include "base/platform/context_map.h"
#include "frontend/torch/entry/entry.h"
#include "frontend/torch/entry/table.h"
#include "frontend/torch/python/python.h"
#include "ir/semantics/check.h"

#include <string.h>

/* ---- state ---- */

/* Each buffer that outlives the call is an argument from the first read on; it begins
 * with the weight that was there. */
static ig_status thread_state(ig_ts_entry *entry) {
    ig_ts_eval *eval = entry->eval;
    ig_graph *graph = eval->graph;
    size_t carried = entry->carried_names.count;
    size_t count = entry->states.count;
    const char **names = IG_NEW_ARRAY(&eval->module->arena, const char *,
                                      carried + count + 1);
    for (size_t i = 0; i < carried; i++) {
        *names++ = entry->carried_names.items[i];
        IG_PUSH(&eval->module->arena, &entry->result_names,
                entry->carried_names.items[i]);
        IG_PUSH(eval->arena, &entry->results, entry->carried_values.items[i]);
    }
    for (size_t i = 0; i < count; i++) {
        ig_ts_storage *storage = entry->states.items[i];
        ig_value *initial = storage->initial;
        if (!initial || !initial->def || initial->def->code != IG_OP_weight) {
            ig_location where = { .file = eval->file, .node = storage->name };
            return ig_error(&eval->context->diag, IG_UNSUPPORTED, &where,
                            "a buffer that the call changes is not in row-major order");
        }
        names[i] = ig_attr_str(initial->def, IG_weight_name);
        ig_value *arg = ig_block_add_arg(&graph->body, initial->type, names[i]);
        ig_value_replace(initial, arg);
        for (size_t k = 0; k < entry->results.count; k++) {
            if (entry->results.items[k] == initial) {
                entry->results.items[k] = arg;
            }
        }
        IG_PUSH(&eval->module->arena, &entry->arg_names, names[i]);
        IG_PUSH(&eval->module->arena, &entry->result_names, names[i]);
        IG_PUSH(eval->arena, &entry->results, storage->value);
    }
    graph->states = names - carried;
    graph->state_count = (uint32_t)(carried + count);
    return IG_OK;
}

static ig_status finish_graph(ig_ts_entry *entry) {
    ig_ts_eval *eval = entry->eval;
    ig_graph *graph = eval->graph;
    IG_TRY(thread_state(entry));
    ig_signature signature = { .entry = ig_module_string(eval->module,
                                                         ig_str_of(entry->name)),
                               .arg_count = entry->arg_count,
                               .after_count = entry->after_count,
                               .nodes = entry->nodes };
    eval->builder.loc = 0;
    ig_make_ret(&eval->builder, entry->results.items, (uint32_t)entry->results.count);
    graph->is_entry = true;
    graph->signature = ig_signature_copy(&signature, &eval->module->arena);
    graph->arg_names = entry->arg_names.items;
    graph->result_names = entry->result_names.items;
    return IG_OK;
}

/* ---- evaluation ---- */

static ig_status report_raise(ig_ts_eval *eval, ig_status status) {
    if (status == IG_OK || !eval->has_raised || eval->splits->has_grown) {
        return status;
    }
    return ig_error(&eval->context->diag, IG_INVALID, &eval->raised_at,
                    "with inputs like these the model raises an exception: %s",
                    eval->raised ? eval->raised : "");
}

/* Weights and nodes of a program that is not evaluated. */
static ig_status finish_outline(ig_ts_entry *entry) {
    ig_ts_eval *eval = entry->eval;
    const ig_ts_native *native = entry->method->native;
    for (size_t i = 0; i < eval->root->count; i++) {
        const ig_ts_value *value = &eval->root->values[i];
        ig_value *content;
        if (value->kind == IG_TS_TENSOR) {
            IG_TRY(ig_ts_tensor_read(eval, value->as.tensor, &content));
        }
    }
    native->survey(eval, native->user, NULL);
    eval->builder.loc = 0;
    ig_make_ret(&eval->builder, NULL, 0);
    eval->graph->is_entry = true;
    eval->graph->arg_names = entry->arg_names.items;
    return IG_OK;
}

static ig_status run_entry(ig_ts_entry *entry) {
    ig_ts_eval *eval = entry->eval;
    ig_ts_level level;
    ig_ts_arguments arguments;
    ig_ts_value result;
    IG_TRY(ig_ts_entry_arguments(entry, &arguments));
    if (entry->options && entry->options->is_outline && entry->method->native) {
        return finish_outline(entry);
    }
    IG_TRY(ig_ts_carried_begin(entry));
    ig_ts_level_start(eval, &level);
    IG_TRY(ig_ts_carried_call(entry, &arguments, &result));
    IG_TRY(ig_ts_entry_result(entry, result));
    IG_TRY(ig_ts_entry_changes(entry, &level));
    if (entry->carried->count > entry->known) {
        return IG_OK; /* begins again with the findings */
    }
    IG_TRY(ig_ts_carried_end(entry));
    return finish_graph(entry);
}

static const char *method_list(const ig_ts_eval *eval) {
    const ig_class *class = eval->root->class;
    ig_writer w;
    ig_writer_init(&w, eval->arena);
    for (size_t i = 0; class && i < class->method_count; i++) {
        const char *name = strrchr(class->methods[i].name, '.');
        ig_put(&w, "%s%s", i ? ", " : "", name ? name + 1 : class->methods[i].name);
    }
    return ig_arena_printf(eval->arena, "it has %.*s", IG_STR_ARG(ig_writer_str(&w)));
}

static ig_status load_program(ig_ts_eval *eval, const ig_ts_program *program) {
    ig_ts_value root, constants;
    ig_location where = { .file = eval->file };
    if (program->constants) {
        IG_TRY(ig_python_load(eval, program->constants, "CONSTANTS", &constants));
        eval->constants = constants.kind == IG_TS_TUPLE || constants.kind == IG_TS_LIST
                              ? constants.as.list
                              : NULL;
    }
    IG_TRY(ig_python_load(eval, program->root, "", &root));
    if (root.kind != IG_TS_OBJECT) {
        return ig_error(&eval->context->diag, IG_INVALID, &where,
                        "data.pkl holds %s, not a module", ig_ts_kind_name(&root));
    }
    eval->root = root.as.object;
    return IG_OK;
}

static ig_status import_program(ig_ts_eval *eval, const ig_ts_program *program,
                                const ig_torchscript_options *options,
                                ig_ts_carried_list *carried) {
    ig_ts_entry entry = { .eval = eval,
                          .program = program,
                          .options = options,
                          .carried = carried,
                          .known = carried->count };
    ig_location where = { .file = eval->file };
    ig_map_init(&eval->rows, eval->arena);
    ig_python_begin(eval, program->sources);
    IG_TRY(load_program(eval, program));
    entry.name = options && options->entry ? options->entry : "forward";
    entry.method = eval->root->class ? ig_class_method(eval->root->class, entry.name)
                                     : NULL;
    if (!entry.method || entry.method->param_count == 0) {
        return ig_error_hint(&eval->context->diag, IG_INVALID, &where,
                             method_list(eval), "the module has no method '%s'",
                             entry.name);
    }
    eval->entry = entry.method;
    ig_status status = run_entry(&entry);
    if (carried->count == entry.known && !eval->splits->has_grown) {
        /* else it begins again */
        ig_python_report(eval, program->resource, status);
    }
    return status;
}

/* A file's bytes on their way into a module. */
typedef struct import_way {
    ig_context *context;
    ig_str bytes;
    const char *file;
    const ig_torchscript_options *options;
    ig_ts_program_opener open;
    ig_ts_carried_list carried;
    ig_ts_splits splits;
} import_way;

static ig_status import_bytes(import_way *way, ig_arena *arena, ig_module *module) {
    ig_context *context = way->context;
    const char *file = way->file;
    const ig_torchscript_options *options = way->options;
    ig_ts_program program;
    ig_code code;
    IG_TRY(way->open(context, &module->arena, file, way->bytes,
                     options ? options->resource : NULL, &program));
    ig_code_init(&code, context, &module->arena, file, program.code_folder);
    code.read = program.read;
    code.user = program.user;
    if (program.declare) {
        program.declare(program.user, &code);
    }
    ig_ts_eval eval = { .context = context,
                        .module = module,
                        .arena = arena,
                        .file = file,
                        .archive = program.archive,
                        .pickles = program.pickles,
                        .code = &code,
                        .fixes_rowwise_mean = options && options->fixes_rowwise_mean,
                        .gradients = options ? options->gradients : NULL,
                        .version = program.version,
                        .table = &ig_ts_operators,
                        .functions = options ? options->functions : NULL,
                        .splits = &way->splits };
    ig_map_init(&eval.loaded, arena);
    ig_map_init(&eval.storages, arena);
    ig_map_init(&eval.enums, arena);
    ig_map_init(&eval.folded, arena);
    ig_map_init(&eval.changing, arena);
    ig_map_init(&eval.nested, arena);
    ig_map_init(&eval.picks, arena);
    eval.graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    eval.builder = ig_builder_at_end(&eval.graph->body);
    return report_raise(&eval, import_program(&eval, &program, options, &way->carried));
}

/* ---- entry points ---- */

/* Programs are run while they are read. */
static ig_status import_bounded(import_way *way, ig_arena *arena, ig_module *module) {
    ig_budget before = ig_ts_bound_begin(way->context, way->file, way->bytes.size);
    ig_status status = import_bytes(way, arena, module);
    ig_ts_bound_end(way->context, &before);
    return status;
}

static ig_status import_into(import_way *way, ig_module **out_module) {
    ig_arena arena;
    ig_arena_init(&arena, &way->context->budget);
    ig_module_want_guards(*out_module);
    ig_status status = import_bounded(way, &arena, *out_module);
    ig_arena_fini(&arena);
    if (status != IG_OK) {
        ig_module *module = *out_module;
        *out_module = NULL;
        ig_module_destroy(module);
    }
    return status;
}

static ig_status open_and_import(import_way *way, const char *path,
                                 ig_module **out_module) {
    char why[256] = "";
    ig_module *module = *out_module = ig_module_create_for(way->context, path);
    ig_file_map *map = ig_module_add_map(module);
    ig_status status = ig_context_map(way->context, path, map, why);
    if (status != IG_OK) {
        ig_location where = { .file = path };
        status = ig_error(&way->context->diag, status, &where, "cannot be read: %s",
                          why);
        *out_module = NULL;
        ig_module_destroy(module);
        return status;
    }
    way->file = ig_module_string(module, ig_str_of(path));
    way->bytes = (ig_str){ map->data, map->size };
    return import_into(way, out_module);
}

static ig_status take_and_import(import_way *way, const char *path,
                                 ig_module **out_module) {
    ig_module *module = *out_module = ig_module_create_for(way->context, path);
    way->file = path ? ig_module_string(module, ig_str_of(path)) : "<memory>";
    return import_into(way, out_module);
}

/* State that one evaluation finds is an argument of the next; a branch that it wants
 * split is so in the next. */
static ig_status import_until_closed(import_way *way, const char *path,
                                     ig_status (*import)(import_way *, const char *,
                                                         ig_module **),
                                     ig_module **out_module) {
    for (;;) {
        uint32_t known = way->carried.count;
        way->splits.has_grown = false;
        way->splits.rounds++;
        ig_status status = import(way, path, out_module);
        bool begins_again = way->splits.has_grown || way->carried.count != known;
        if (!begins_again || (status != IG_OK && !way->splits.has_grown)) {
            return status;
        }
        ig_module *module = *out_module;
        *out_module = NULL;
        if (module) {
            ig_module_destroy(module);
        }
    }
}

ig_status ig_import_program(ig_context *context, ig_ts_program_opener open,
                            const char *path, const ig_str *bytes,
                            const ig_torchscript_options *options,
                            ig_module **out_module) {
    import_way way = { .context = context, .options = options, .open = open };
    way.bytes = bytes ? *bytes : (ig_str){ NULL, 0 };
    return import_until_closed(&way, path, bytes ? take_and_import : open_and_import,
                               out_module);
}

ig_status ig_import_torchscript(ig_context *context, const char *path,
                                const ig_torchscript_options *options,
                                ig_module **out_module) {
    return ig_import_program(context, ig_ts_program_open, path, NULL, options,
                             out_module);
}

ig_status ig_import_torchscript_memory(ig_context *context, ig_str bytes,
                                       const char *path,
                                       const ig_torchscript_options *options,
                                       ig_module **out_module) {
    return ig_import_program(context, ig_ts_program_open, path, &bytes, options,
                             out_module);
}
