/* From a pickled tree of modules to a program of plain Python.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch.package pickles a module as its __dict__:
 *
 *     Linear { training, _parameters {weight, bias}, _buffers {}, _modules {}, hooks …,
 *              in_features, out_features }
 *
 * The evaluator has objects with one flat set of attributes, and a class with source:
 * of the package, or torch's own (stock/).  A module with two parents stays one object.
 */
#include "frontend/torch/package/tree.h"

#include "base/vec.h"
#include "frontend/torch/stock/stock.h"

#include <assert.h>
#include <string.h>

/* A module that is not ours, and where in the tree it is. */
typedef struct unknown_module {
    const ig_py *module;
    const char *path;
    bool has_hooks; /* of a class that is known */
} unknown_module;

typedef struct builder {
    ig_package *package;
    ig_arena *arena;
    const char *resource;
    ig_map made; /* module -> its object; container -> the same of objects */
    ig_map told; /* classes that were reported */
    IG_VEC(unknown_module) unknown;
    ig_ts_sources sources; /* of the classes that are written in the package */
    bool has_python;       /* are there such? */
} builder;

/* ---- values ---- */

static ig_py *make_value(builder *b, ig_py_kind kind, const ig_py *from) {
    assert(kind < IG_PY_KIND_COUNT && "values have one of our kinds");
    ig_py *value = IG_NEW(b->arena, ig_py);
    value->kind = kind;
    value->id = b->package->pickles->value_count++;
    value->offset = from->offset;
    return value;
}

/* ---- one module ---- */

/* The attributes under construction; room for all that can come. */
typedef struct attributes {
    ig_py **keys, **values;
    size_t count, capacity;
} attributes;

static void add_attribute(attributes *to, ig_py *key, ig_py *value) {
    assert(to->count < to->capacity && "start_attributes counted all that can come");
    assert(key->kind == IG_PY_STR && "attributes are named by text");
    to->keys[to->count] = key;
    to->values[to->count++] = value;
}

/* The attributes of an object: its state, or beside the values of slots. */
static const ig_py *state_of(const ig_py *module) {
    const ig_py *state = module->as.object.state;
    return state->kind == IG_PY_TUPLE ? state->as.list.items[0] : state;
}

static size_t size_of(const ig_py *module, const char *group) {
    const ig_py *dict = ig_py_get(module, group);
    return dict && dict->kind == IG_PY_DICT ? dict->as.dict.count : 0;
}

static void add_group(attributes *to, const ig_py *module, const char *group) {
    const ig_py *dict = ig_py_get(module, group);
    for (size_t i = 0; i < size_of(module, group); i++) {
        add_attribute(to, dict->as.dict.keys[i], dict->as.dict.values[i]);
    }
}

static attributes start_attributes(builder *b, const ig_py *module) {
    assert(ig_package_is_module(module) && "only modules have attributes to gather");
    size_t most = state_of(module)->as.dict.count + size_of(module, "_parameters") +
                  size_of(module, "_buffers") + size_of(module, "_modules");
    return (attributes){ .keys = IG_NEW_ARRAY(b->arena, ig_py *, most),
                         .values = IG_NEW_ARRAY(b->arena, ig_py *, most),
                         .capacity = most };
}

/* ---- what is not ours ---- */

/* The line of "class NAME" in a source of the package, and its entry; 0: it is not
 * in. */
static uint32_t find_definition(builder *b, const ig_py *class,
                                const char **out_entry) {
    ig_archive *archive = b->package->archive;
    ig_archive_entry *entry = ig_package_source(b->package, class->as.global.module);
    ig_str text;
    if (!entry || ig_archive_read_text(archive, entry, &text) != IG_OK) {
        return 0;
    }
    *out_entry = entry->name.data;
    uint32_t line = ig_stock_class_line(text, class->as.global.name);
    return line ? line : 1;
}

static const char advice[] =
    "export the model: torch.jit.script or torch.jit.trace, or ONNX";

/* Once for each class; the tree is walked on, so that all are told. */
static void report_class(builder *b, const ig_py *class, const char *path) {
    const char *name = ig_py_path(class, b->arena);
    if (ig_map_get(&b->told, ig_str_of(name))) {
        return;
    }
    ig_map_set(&b->told, ig_str_of(name), b);
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    const char *entry = NULL;
    uint32_t line = find_definition(b, class, &entry);
    const char *at = path[0] ? path : "the model itself";
    if (line) {
        where.file = ig_arena_printf(b->arena, "%s/%s", archive->file, entry);
        where.graph = NULL;
        where.line = line;
        ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                      "class %s (%s in %s) is written in Python, which is not compiled",
                      name, at, b->resource);
        return;
    }
    bool is_torch = ig_str_starts(class->as.global.module, "torch.");
    if (ig_str_starts(class->as.global.module, "torch.fx.")) {
        ig_error_hint(
            &archive->context->diag, IG_UNSUPPORTED, &where, advice,
            "%s is a GraphModule of torch.fx (%s): its forward is generated Python, which is not compiled",
            at, name);
        return;
    }
    ig_error_hint(
        &archive->context->diag, IG_UNSUPPORTED, &where, advice,
        is_torch
            ? "class %s (%s) is not one of the torch.nn classes that are known"
            : "class %s (%s) is written in Python that is not in the package (extern)",
        name, at);
}

static bool has_hooks(const ig_py *module) {
    static const char *const groups[] = { "_forward_hooks", "_forward_pre_hooks" };
    for (size_t i = 0; i < IG_COUNT_OF(groups); i++) {
        if (size_of(module, groups[i]) > 0) {
            return true;
        }
    }
    return false;
}

static void report_hooks(builder *b, const ig_py *module, const char *path) {
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                  "%s (%s) has forward hooks, which are Python functions",
                  path[0] ? path : "the model itself", ig_py_path(module, b->arena));
}

/* All at once, where nothing of the tree can be run without them; false: there is
 * nothing to tell. */
static bool report_unknown(builder *b) {
    bool has_told = false;
    for (size_t i = 0; i < b->unknown.count; i++) {
        const unknown_module *one = &b->unknown.items[i];
        const ig_py *module = one->module;
        const ig_py *function = module->kind == IG_PY_CALL ? module->as.call.function
                                                           : module;
        if (one->has_hooks) {
            report_hooks(b, module, one->path);
        } else if (function->kind == IG_PY_OBJECT) {
            report_class(b, function->as.object.class, one->path);
        } else if (function->kind == IG_PY_GLOBAL) {
            report_class(b, function, one->path);
        } else {
            continue;
        }
        has_told = true;
    }
    return has_told;
}

/* ---- classes of the package ---- */

/* There is no source in TorchScript's dialect. */
static ig_status read_nothing(void *user, const char *name, ig_str *out_text,
                              bool *out_found) {
    (void)user;
    (void)name;
    *out_text = IG_STR("");
    *out_found = false;
    return IG_OK;
}

static ig_status read_python(void *user, ig_str module, ig_ts_source *out,
                             bool *out_found) {
    builder *b = user;
    ig_archive_entry *entry = ig_package_source(b->package, module);
    *out_found = entry != NULL;
    if (!entry) {
        return IG_OK;
    }
    out->file = ig_arena_printf(b->arena, "%s/%s", b->package->archive->file,
                                entry->name.data);
    out->is_package = ig_str_ends(entry->name, "/__init__.py");
    return ig_archive_read_text(b->package->archive, entry, &out->text);
}

/* An object of a class whose source is in the package? */
static bool is_python(const builder *b, const ig_py *object) {
    const ig_py *class = object->as.object.class;
    return class->kind == IG_PY_GLOBAL &&
           ig_package_source(b->package, class->as.global.module) != NULL;
}

/* A GraphModule of torch.fx, pickled as its attributes and the module that holds its
 * generated forward, as an object of a class of that module; else NULL. */
static ig_py *graph_module(builder *b, ig_py *value) {
    bool is_graph = value->kind == IG_PY_CALL && value->as.call.is_package_reduce &&
                    ig_py_is_global(value->as.call.function, "torch.fx.graph_module",
                                    "reduce_package_graph_module");
    const ig_py *args = is_graph ? value->as.call.args : NULL;
    if (!args || args->kind != IG_PY_TUPLE || args->as.list.count != 2 ||
        args->as.list.items[0]->kind != IG_PY_DICT ||
        args->as.list.items[1]->kind != IG_PY_STR) {
        return NULL;
    }
    ig_py *object = make_value(b, IG_PY_OBJECT, value);
    ig_py *class = make_value(b, IG_PY_GLOBAL, value);
    class->as.global.module = args->as.list.items[1]->as.text;
    class->as.global.name = IG_STR("GraphModule");
    object->as.object.class = class;
    object->as.object.args = make_value(b, IG_PY_TUPLE, value);
    object->as.object.state = args->as.list.items[0];
    return ig_package_is_module(object) && is_python(b, object) ? object : NULL;
}

/* ---- the tree ---- */

static ig_py *build_module(builder *b, ig_py *module, const char *path);

/* Depth is bounded by the pickle's own (limits.pickle_depth). */
static void add_modules(builder *b, attributes *to, const ig_py *module,
                        const char *path) {
    const ig_py *members = ig_py_get(module, "_modules");
    for (size_t i = 0; i < members->as.dict.count; i++) {
        ig_py *key = members->as.dict.keys[i], *value = members->as.dict.values[i];
        if (key->kind != IG_PY_STR) {
            continue;
        }
        const char *inner = ig_arena_printf(b->arena, path[0] ? "%s.%.*s" : "%s%.*s",
                                            path, IG_STR_ARG(key->as.text));
        add_attribute(to, key, build_module(b, value, inner));
    }
}

static ig_py *build_value(builder *b, ig_py *value, const char *path);

static ig_py **build_all(builder *b, ig_py *const *values, size_t count,
                         const char *path) {
    ig_py **made = IG_NEW_ARRAY(b->arena, ig_py *, count + 1);
    for (size_t i = 0; i < count; i++) {
        made[i] = build_value(b, values[i], path);
    }
    return made;
}

static ig_py *build_container(builder *b, const ig_py *value, const char *path) {
    ig_py *made = make_value(b, value->kind, value);
    made->type = value->type;
    made->as = value->as;
    ig_map_set_id(&b->made, IG_MAP_PTR(value), made);
    if (value->kind == IG_PY_DICT) {
        made->as.dict.keys = build_all(b, value->as.dict.keys, value->as.dict.count,
                                       path);
        made->as.dict.values = build_all(b, value->as.dict.values, value->as.dict.count,
                                         path);
    } else if (value->kind == IG_PY_OBJECT) {
        made->as.object.state = value->as.object.state
                                    ? build_value(b, value->as.object.state, path)
                                    : NULL;
    } else {
        made->as.list.items = build_all(b, value->as.list.items, value->as.list.count,
                                        path);
    }
    return made;
}

/* An attribute of a class of the package: there may be modules in it. */
static ig_py *build_value(builder *b, ig_py *value, const char *path) {
    ig_py *known = ig_map_get_id(&b->made, IG_MAP_PTR(value));
    if (known) {
        return known;
    }
    switch ((int)value->kind) {
    case IG_PY_LIST:
    case IG_PY_TUPLE:
    case IG_PY_SET:
    case IG_PY_DICT:
        return build_container(b, value, path);
    case IG_PY_OBJECT:
        return ig_package_is_module(value) ? build_module(b, value, path)
               : is_python(b, value)       ? build_container(b, value, path)
                                           : value;
    case IG_PY_CALL:
        return graph_module(b, value) ? build_module(b, value, path) : value;
    default:
        return value;
    }
}

/* What torch.nn.Module itself keeps, which no author's code uses. */
static bool is_kept_by_torch(ig_str name) {
    static const char *const names[] = {
        "_parameters",
        "_buffers",
        "_modules",
        "_non_persistent_buffers_set",
        "_is_full_backward_hook",
        "_code",
        "_lineno_map",
        "_prologue_start",
        "_tracer_cls",
        "_tracer_extras",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(name, names[i])) {
            return true;
        }
    }
    return ig_str_starts(name, "_graphmodule") || ig_str_ends(name, "_hooks") ||
           ig_str_ends(name, "_hooks_with_kwargs") ||
           ig_str_ends(name, "_hooks_always_called");
}

static void add_own(builder *b, attributes *to, const ig_py *module, const char *path) {
    const ig_py *state = state_of(module);
    for (size_t i = 0; i < state->as.dict.count; i++) {
        ig_py *key = state->as.dict.keys[i], *value = state->as.dict.values[i];
        if (key->kind == IG_PY_STR && !is_kept_by_torch(key->as.text)) {
            const char *inner = ig_arena_printf(b->arena,
                                                path[0] ? "%s.%.*s" : "%s%.*s", path,
                                                IG_STR_ARG(key->as.text));
            add_attribute(to, key, build_value(b, value, inner));
        }
    }
}

static void note_unknown(builder *b, const ig_py *module, const char *path,
                         bool with_hooks) {
    unknown_module one = { module, path, with_hooks };
    IG_PUSH(b->arena, &b->unknown, one);
}

static void fill_object(builder *b, ig_py *object, const ig_py *module,
                        const char *path) {
    attributes to = start_attributes(b, module);
    add_group(&to, module, "_parameters"); /* which name their tensors, before others */
    add_group(&to, module, "_buffers");
    add_own(b, &to, module, path);
    add_modules(b, &to, module, path);
    ig_py *state = make_value(b, IG_PY_DICT, module);
    state->as.dict.keys = to.keys;
    state->as.dict.values = to.values;
    state->as.dict.count = to.count;
    object->as.object.state = state;
}

/* Notes a module that stays as it is, and those below it that do. */
static ig_py *leave_module(builder *b, ig_py *module, const char *path,
                           bool with_hooks) {
    note_unknown(b, module, path, with_hooks);
    ig_map_set_id(&b->made, IG_MAP_PTR(module), module);
    if (ig_package_is_module(module)) {
        attributes to = start_attributes(b, module);
        add_modules(b, &to, module, path);
    }
    return module;
}

/* Whatever is not a module (None, as a rule) stays what it is. */
static ig_py *build_module(builder *b, ig_py *module, const char *path) {
    ig_py *known = ig_map_get_id(&b->made, IG_MAP_PTR(module));
    if (known || module->kind == IG_PY_NONE) {
        return known ? known : module;
    }
    ig_py *given = module;
    ig_py *graph = graph_module(b, module);
    module = graph ? graph : module;
    if (!ig_package_is_module(module)) {
        return leave_module(b, module, path, false);
    }
    bool is_of_package = is_python(b, module) &&
                         module->as.object.state->kind == IG_PY_DICT;
    bool is_known = is_of_package || ig_package_is_stock(module);
    if (!is_known || has_hooks(module)) {
        return leave_module(b, module, path, is_known);
    }
    ig_py *object = make_value(b, IG_PY_OBJECT, module);
    ig_map_set_id(&b->made, IG_MAP_PTR(given), object);
    object->as.object.args = make_value(b, IG_PY_TUPLE, module);
    object->as.object.class = module->as.object.class;
    b->has_python = b->has_python || is_of_package;
    fill_object(b, object, module, path);
    return object;
}

static ig_status refuse_kind(builder *b, const ig_py *value) {
    ig_archive *archive = b->package->archive;
    ig_location where = { .file = archive->file, .graph = b->resource };
    return ig_error_hint(&archive->context->diag, IG_UNSUPPORTED, &where, advice,
                         "the pickle holds a %s, which cannot be run",
                         ig_py_kind_name(value->kind));
}

ig_status ig_package_build(ig_package *package, const char *resource, ig_py *module,
                           ig_ts_program *program) {
    builder *b = IG_NEW(package->archive->arena, builder);
    b->package = package;
    b->arena = package->archive->arena;
    b->resource = resource;
    b->sources = (ig_ts_sources){ .read = read_python, .user = b };
    ig_map_init(&b->made, b->arena);
    ig_map_init(&b->told, b->arena);
    program->root = build_module(b, module, "");
    program->constants = make_value(b, IG_PY_TUPLE, module);
    program->code_folder = "code/";
    program->read = read_nothing;
    program->sources = &b->sources;
    bool is_made = program->root->kind == IG_PY_OBJECT && program->root != module;
    if (is_made && (b->has_python || !b->unknown.count)) {
        return IG_OK;
    }
    return report_unknown(b) ? IG_UNSUPPORTED : refuse_kind(b, module);
}
