/* The contents of a torch.package.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/package/package.h"

#include "base/vec.h"

#include <assert.h>
#include <string.h>

/* ---- opening ---- */

static bool is_text(ig_str bytes) {
    return ig_utf8_is_valid(bytes) && !memchr(bytes.data, '\0', bytes.size);
}

/* By the name, and of anything else by the content. */
static ig_status tell_kind(ig_archive *archive, ig_archive_entry *entry,
                           ig_package_kind *out_kind) {
    bool is_pickle = ig_str_ends(entry->name, ".pkl");
    *out_kind = is_pickle ? IG_PACKAGE_PICKLE : IG_PACKAGE_SOURCE;
    if (is_pickle || ig_str_ends(entry->name, ".py")) {
        return IG_OK;
    }
    *out_kind = IG_PACKAGE_BINARY;
    if (entry->size > (uint64_t)archive->context->limits.source_bytes) {
        return IG_OK;
    }
    ig_str text;
    IG_TRY(ig_archive_read_text(archive, entry, &text));
    *out_kind = is_text(text) ? IG_PACKAGE_TEXT : IG_PACKAGE_BINARY;
    return IG_OK;
}

/* Entries that PyTorch writes beside the resources. */
static bool is_inner(ig_str name) {
    return ig_str_starts(name, ".data/") || ig_str_is(name, "byteorder") ||
           ig_str_is(name, "version");
}

static ig_status list_items(ig_package *package) {
    ig_archive *archive = package->archive;
    package->items = IG_NEW_ARRAY(archive->arena, ig_package_item,
                                  archive->entry_count + 1);
    for (size_t i = 0; i < archive->entry_count; i++) {
        ig_archive_entry *entry = &archive->entries[i];
        if (is_inner(entry->name)) {
            continue;
        }
        assert(package->item_count < archive->entry_count &&
               "there is room for each entry");
        ig_package_item *item = &package->items[package->item_count++];
        item->entry = entry;
        IG_TRY(tell_kind(archive, entry, &item->kind));
    }
    return IG_OK;
}

/* One name per line. */
static void list_externs(ig_package *package, ig_str text) {
    IG_VEC(ig_str) names = { 0 };
    size_t begin = 0;
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != '\n') {
            continue;
        }
        size_t end = i > begin && text.data[i - 1] == '\r' ? i - 1 : i;
        ig_str name = { text.data + begin, end - begin };
        if (name.size > 0) {
            IG_PUSH(package->archive->arena, &names, name);
        }
        begin = i + 1;
    }
    package->externs = names.items;
    package->extern_count = names.count;
}

ig_status ig_package_open(ig_package *package, ig_archive *archive,
                          ig_pickle_set *pickles) {
    *package = (ig_package){ .archive = archive, .pickles = pickles };
    ig_archive_entry *externs = ig_archive_find(archive,
                                                IG_STR(".data/extern_modules"));
    ig_archive_entry *version = ig_archive_find(archive,
                                                IG_STR(".data/python_version"));
    ig_str text = IG_STR("");
    if (externs) {
        IG_TRY(ig_archive_read_text(archive, externs, &text));
    }
    list_externs(package, text);
    if (version) {
        IG_TRY(ig_archive_read_text(archive, version, &package->python_version));
    }
    return list_items(package);
}

/* ---- pickles ---- */

/* Is it `module` itself or a package around it? */
static bool covers_module(ig_str outer, ig_str module) {
    return module.size >= outer.size &&
           memcmp(module.data, outer.data, outer.size) == 0 &&
           (module.size == outer.size || module.data[outer.size] == '.');
}

/* "a.b" is a/b.py or a/b/__init__.py. */
ig_archive_entry *ig_package_source(const ig_package *package, ig_str module) {
    char path[512];
    if (module.size + sizeof("/__init__.py") > sizeof(path)) {
        return NULL;
    }
    for (size_t i = 0; i < module.size; i++) {
        path[i] = module.data[i] == '.' ? '/' : module.data[i];
    }
    memcpy(path + module.size, ".py", sizeof(".py"));
    ig_archive_entry *entry = ig_archive_find(package->archive, ig_str_of(path));
    if (entry) {
        return entry;
    }
    memcpy(path + module.size, "/__init__.py", sizeof("/__init__.py"));
    return ig_archive_find(package->archive, ig_str_of(path));
}

static bool is_allowed(void *user, ig_str module, ig_str name) {
    const ig_package *package = user;
    (void)name;
    for (size_t i = 0; i < package->extern_count; i++) {
        if (covers_module(package->externs[i], module)) {
            return true;
        }
    }
    return ig_package_source(package, module) != NULL;
}

ig_status ig_package_read(ig_package *package, const ig_package_item *item,
                          ig_py **out_value) {
    assert(item->kind == IG_PACKAGE_PICKLE && "only pickles have values");
    ig_pickle_options options = {
        .file = package->archive->file,
        .name = item->entry->name.data,
        .storage_prefix = ".data/",
        .storage_suffix = ".storage",
        .is_allowed = is_allowed,
        .user = package,
        .why_not = "which is neither in the package nor in its extern_modules",
    };
    ig_str bytes;
    IG_TRY(ig_archive_read_text(package->archive, item->entry, &bytes));
    return ig_pickle_read(package->pickles, bytes, &options, out_value);
}
