/* Which resource of a package is the program, and of which kind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/package/tree.h"

#include "base/writer.h"
#include "frontend/torch/stock/stock.h"

#include <assert.h>
#include <string.h>

bool ig_package_is_stock(const ig_py *object) {
    const ig_py *class = object->as.object.class;
    return class->kind == IG_PY_GLOBAL &&
           ig_stock_has_class(class->as.global.module, class->as.global.name);
}

const char *ig_package_script_id(const ig_py *value, ig_arena *arena) {
    bool is_script = value->kind == IG_PY_CALL && value->as.call.is_package_reduce &&
                     ig_py_is_global(value->as.call.function, "torch.jit._script",
                                     "unpackage_script_module");
    const ig_py *args = is_script ? value->as.call.args : NULL;
    if (!args || args->as.list.count != 1 ||
        args->as.list.items[0]->kind != IG_PY_STR) {
        return NULL;
    }
    ig_str id = args->as.list.items[0]->as.text;
    return ig_arena_copy(arena, id.data, id.size);
}

/* A GraphModule of torch.fx, or the result of a call of the user's function. */
static bool is_program(const ig_py *value) {
    return ig_py_is_module(value) ||
           (value->kind == IG_PY_CALL && value->as.call.is_package_reduce);
}

static const char *name_of(const ig_package_item *item) {
    return item->entry->name.data;
}

/* The names of all pickles, for messages. */
static const char *list_pickles(const ig_package *package) {
    ig_writer out;
    ig_writer_init(&out, package->archive->arena);
    for (size_t i = 0; i < package->item_count; i++) {
        if (package->items[i].kind == IG_PACKAGE_PICKLE) {
            ig_put(&out, out.size ? ", %s" : "%s", name_of(&package->items[i]));
        }
    }
    return out.size ? out.data : "none";
}

/* "a.b/m.v1.pkl", as PyTorch names resources, of the entry "a/b/m.v1.pkl". */
static bool is_resource(const char *entry, const char *resource) {
    const char *slash = strrchr(resource, '/');
    size_t folder = slash ? (size_t)(slash - resource) : 0;
    if (strlen(entry) != strlen(resource)) {
        return false;
    }
    for (size_t i = 0; entry[i]; i++) {
        bool is_step = i < folder && resource[i] == '.' && entry[i] == '/';
        if (entry[i] != resource[i] && !is_step) {
            return false;
        }
    }
    return true;
}

static ig_status find_named(ig_package *package, const char *resource,
                            const ig_package_item **out_item, ig_py **out_value) {
    for (size_t i = 0; i < package->item_count; i++) {
        const ig_package_item *item = &package->items[i];
        if (item->kind == IG_PACKAGE_PICKLE && is_resource(name_of(item), resource)) {
            *out_item = item;
            return ig_package_read(package, item, out_value);
        }
    }
    ig_location where = { .file = package->archive->file };
    return ig_error(&package->archive->context->diag, IG_INVALID, &where,
                    "the package has no pickle '%s'; it has %s", resource,
                    list_pickles(package));
}

static bool is_named_model(const ig_package_item *item) {
    ig_str name = item->entry->name;
    return ig_str_is(name, "model.pkl") || ig_str_ends(name, "/model.pkl");
}

/* The one module, or the one that is called model.pkl. */
static ig_status find_module(ig_package *package, const ig_package_item **out_item,
                             ig_py **out_value) {
    size_t count = 0, named = 0;
    for (size_t i = 0; i < package->item_count; i++) {
        const ig_package_item *item = &package->items[i];
        ig_py *value;
        if (item->kind != IG_PACKAGE_PICKLE) {
            continue;
        }
        IG_TRY(ig_package_read(package, item, &value));
        if (!is_program(value)) {
            continue;
        }
        count++;
        named += is_named_model(item);
        if (count == 1 || (is_named_model(item) && named == 1)) {
            *out_item = item;
            *out_value = value;
        }
    }
    if (count == 1 || named == 1) {
        return IG_OK;
    }
    ig_location where = { .file = package->archive->file };
    return ig_error_hint(&package->archive->context->diag, IG_INVALID, &where,
                         count ? "choose with --resource PACKAGE/NAME.pkl"
                               : "ingot info lists its contents",
                         count ? "the package has several modules (pickles: %s)"
                               : "the package has no module to run (pickles: %s)",
                         list_pickles(package));
}

ig_status ig_package_program(ig_ts_program *program, const char *resource) {
    ig_archive *archive = program->archive;
    ig_package *package = IG_NEW(archive->arena, ig_package);
    const ig_package_item *item = NULL;
    ig_py *value = NULL;
    IG_TRY(ig_package_open(package, archive, program->pickles));
    IG_TRY(resource ? find_named(package, resource, &item, &value)
                    : find_module(package, &item, &value));
    assert(item && value && "a resource was found, or it was reported");
    program->resource = name_of(item);
    const char *id = ig_package_script_id(value, archive->arena);
    if (id) {
        const char *folder = ig_arena_printf(archive->arena, ".data/ts_code/%s/", id);
        return ig_ts_program_of_script(program, folder);
    }
    return ig_package_build(package, program->resource, value, program);
}
