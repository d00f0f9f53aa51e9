/* From a pickled tree of modules to a program of plain Python.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The evaluator loads the tree, and finds the source of each class in the package or in
 * torch's own (stock/).  Here are found the parts of it that stay Python.
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
    ig_map seen;  /* modules that were looked at */
    ig_map given; /* classes that were reported */
    IG_VEC(unknown_module) unknown;
    ig_ts_sources sources; /* of the classes that are written in the package */
    bool has_python;       /* are there such? */
} builder;

/* ---- not ours ---- */

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
    if (ig_map_get(&b->given, ig_str_of(name))) {
        return;
    }
    ig_map_set(&b->given, ig_str_of(name), b);
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
    bool has_reported = false;
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
        has_reported = true;
    }
    return has_reported;
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

/* ---- the tree ---- */

/* Notes a module that stays Python, and those below it that do: of a class that nobody
 * here knows, or with hooks.  Depth is bounded by the pickle's own
 * (limits.pickle_depth). */
static void look_at(builder *b, const ig_py *value, const char *path) {
    const ig_py *graph = ig_py_graph_module(value, b->arena);
    const ig_py *module = graph && is_python(b, graph) ? graph : value;
    bool is_module = ig_py_is_module(module);
    bool is_of_package = is_module && is_python(b, module) &&
                         module->as.object.state->kind == IG_PY_DICT;
    bool is_known = is_of_package || (is_module && ig_package_is_stock(module));
    if (value->kind == IG_PY_NONE || ig_map_get_id(&b->seen, IG_MAP_PTR(value))) {
        return;
    }
    ig_map_set_id(&b->seen, IG_MAP_PTR(value), b);
    if (is_known && !ig_py_has_hooks(module)) {
        b->has_python = b->has_python || is_of_package;
    } else {
        unknown_module one = { module, path, is_known };
        IG_PUSH(b->arena, &b->unknown, one);
    }
    const ig_py *members = is_module ? ig_py_get(module, "_modules") : NULL;
    for (size_t i = 0; members && i < members->as.dict.count; i++) {
        ig_str name = members->as.dict.keys[i]->as.text;
        look_at(b, members->as.dict.values[i],
                ig_arena_printf(b->arena, path[0] ? "%s.%.*s" : "%s%.*s", path,
                                IG_STR_ARG(name)));
    }
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
    ig_map_init(&b->seen, b->arena);
    ig_map_init(&b->given, b->arena);
    program->root = module;
    program->constants = IG_NEW(b->arena, ig_py);
    program->constants->kind = IG_PY_TUPLE;
    program->code_folder = "code/";
    program->read = read_nothing;
    program->sources = &b->sources;
    look_at(b, module, "");
    bool can_run = module->kind != IG_PY_NONE &&
                   (!b->unknown.count || b->unknown.items[0].path[0]);
    if (can_run && (b->has_python || !b->unknown.count)) {
        return IG_OK;
    }
    return report_unknown(b) ? IG_UNSUPPORTED : refuse_kind(b, module);
}
