/* The listing of a package, for `ingot inspect`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/package/tree.h"

#include "base/writer.h"

#include <assert.h>

enum { ITEMS_SHOWN = 32 }; /* of each container and tensor of a plain value */

typedef struct describer {
    ig_package *package;
    ig_writer *out;
    ig_map seen; /* module -> the path where it was told */
} describer;

/* Names of a file may not steer a terminal or fake a line. */
static void put_name(describer *d, ig_str name) {
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        ig_put_char(d->out, c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
}

/* ---- modules ---- */

static void put_tensor(describer *d, const char *path, ig_str name,
                       const ig_py_tensor *tensor) {
    ig_put(d->out, "    ");
    put_name(d, ig_str_of(path));
    put_name(d, name);
    ig_put(d->out, "  %s[", tensor->dtype->name);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        ig_put(d->out, i ? ", %lld" : "%lld", (long long)tensor->sizes[i]);
    }
    ig_put(d->out, "]\n");
}

static void put_tensors(describer *d, const ig_py *module, const char *group,
                        const char *path) {
    const ig_py *dict = ig_py_get(module, group);
    assert(dict && dict->kind == IG_PY_DICT && "modules have all groups");
    for (size_t i = 0; i < dict->as.dict.count; i++) {
        const ig_py *value = dict->as.dict.values[i];
        if (value->kind == IG_PY_TENSOR) {
            put_tensor(d, path, dict->as.dict.keys[i]->as.text, value->as.tensor);
        }
    }
}

/* `path` ends with '.' unless it is empty.  A module with several parents is
 * told once.  Depth is bounded by the pickle's own. */
static void put_module(describer *d, const ig_py *module, const char *path) {
    ig_arena *arena = d->package->archive->arena;
    const char *known = ig_map_get_id(&d->seen, IG_MAP_PTR(module));
    if (!ig_py_is_module(module) || known) {
        if (known) {
            ig_put(d->out, "    ");
            put_name(d, ig_str_of(path));
            ig_put(d->out, "  is ");
            put_name(d, ig_str_of(known));
            ig_put(d->out, "\n");
        }
        return;
    }
    ig_map_set_id(&d->seen, IG_MAP_PTR(module), (void *)(uintptr_t)path);
    const char *class = ig_py_path(module, arena);
    const ig_py *of = module->as.object.class;
    const char *words = ig_package_is_stock(module) ? ""
                        : ig_package_source(d->package, of->as.global.module)
                            ? "  (plain Python)"
                            : "  (not compiled)";
    ig_put(d->out, "    ");
    put_name(d, ig_str_of(path[0] ? path : "the module"));
    ig_put(d->out, "  %s%s\n", class, words);
    put_tensors(d, module, "_parameters", path);
    put_tensors(d, module, "_buffers", path);
    const ig_py *members = ig_py_get(module, "_modules");
    for (size_t i = 0; i < members->as.dict.count; i++) {
        ig_str name = members->as.dict.keys[i]->as.text;
        put_module(d, members->as.dict.values[i],
                   ig_arena_printf(arena, "%s%.*s.", path, IG_STR_ARG(name)));
    }
}

/* ---- pickles ---- */

/* One line for each key of a dict, else one for all. */
static void put_value(describer *d, const ig_py *value) {
    if (value->kind != IG_PY_DICT) {
        ig_put(d->out, "    ");
        ig_py_print(d->out, value, ITEMS_SHOWN);
        ig_put(d->out, "\n");
        return;
    }
    for (size_t i = 0; i < value->as.dict.count; i++) {
        ig_put(d->out, "    ");
        ig_py_print(d->out, value->as.dict.keys[i], ITEMS_SHOWN);
        ig_put(d->out, ": ");
        ig_py_print(d->out, value->as.dict.values[i], ITEMS_SHOWN);
        ig_put(d->out, "\n");
    }
}

static ig_status put_pickle(describer *d, const ig_package_item *item) {
    ig_py *value;
    IG_TRY(ig_package_read(d->package, item, &value));
    const char *id = ig_package_script_id(value, d->package->archive->arena);
    bool is_module = ig_py_is_module(value);
    ig_put(d->out, "  %s: %s\n", item->entry->name.data,
           id          ? "a ScriptModule"
           : is_module ? "a module"
                       : ig_py_kind_name(value->kind));
    if (is_module) {
        put_module(d, value, "");
    } else if (!id) {
        put_value(d, value);
    }
    return IG_OK;
}

/* ---- the listing ---- */

/* All items of a kind, under a heading when there are any. */
static void put_items(describer *d, ig_package_kind kind, const char *heading) {
    bool is_first = true;
    for (size_t i = 0; i < d->package->item_count; i++) {
        const ig_package_item *item = &d->package->items[i];
        if (item->kind != kind) {
            continue;
        }
        if (is_first) {
            ig_put(d->out, "%s:\n", heading);
        }
        is_first = false;
        ig_put(d->out, "  %s  %llu bytes\n", item->entry->name.data,
               (unsigned long long)item->entry->size);
    }
}

ig_status ig_package_describe(ig_package *package, ig_writer *out) {
    describer d = { .package = package, .out = out };
    ig_map_init(&d.seen, package->archive->arena);
    if (package->python_version.size > 0) {
        ig_put(out, "python: %.*s\n", IG_STR_ARG(package->python_version));
    }
    put_items(&d, IG_PACKAGE_TEXT, "text");
    put_items(&d, IG_PACKAGE_BINARY, "binary");
    put_items(&d, IG_PACKAGE_SOURCE, "python sources");
    for (size_t i = 0; i < package->extern_count; i++) {
        ig_put(out, i ? "  " : "extern modules:\n  ");
        put_name(&d, package->externs[i]);
        ig_put(out, "\n");
    }
    bool is_first = true;
    for (size_t i = 0; i < package->item_count; i++) {
        if (package->items[i].kind != IG_PACKAGE_PICKLE) {
            continue;
        }
        ig_put_str(out, is_first ? IG_STR("pickles:\n") : IG_STR(""));
        is_first = false;
        IG_TRY(put_pickle(&d, &package->items[i]));
    }
    return IG_OK;
}
