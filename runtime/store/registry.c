/* The types of stores that this process knows, and the libraries that bring them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The list only grows, and its libraries stay open: stores that are in use point into
 * them.  It is the one thing of the process, and not of a handle, because a library
 * registered by one part of a program must serve the others.
 */
#include "runtime/store/registry.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ig_store_type *known; /* guarded by lock */

static bool is_named(const char *type, const char *name, size_t name_size) {
    return strlen(type) == name_size && memcmp(type, name, name_size) == 0;
}

static const ig_store_plugin *find_known(const char *name, size_t name_size) {
    const ig_store_plugin *const built_in[] = { &ig_store_memory, &ig_store_tiered };
    for (size_t i = 0; i < IG_COUNT_OF(built_in); i++) {
        if (is_named(built_in[i]->type, name, name_size)) {
            return built_in[i];
        }
    }
    for (const ig_store_type *type = known; type; type = type->next) {
        if (is_named(type->plugin.type, name, name_size)) {
            return &type->plugin;
        }
    }
    return NULL;
}

/* ---- libraries ---- */

static ig_status read_version2(const ig_store_call *call, const char *path,
                               ig_store_plugin_entry *entry, ig_store_type *type) {
    const ig_store_plugin *plugin = entry();
    if (!plugin || plugin->abi != IG_STORE_ABI) {
        return ig_store_fail(call, IG_UNSUPPORTED,
                             "%s: its interface has version %u, expected %d", path,
                             plugin ? plugin->abi : 0, IG_STORE_ABI);
    }
    size_t size = plugin->size < sizeof *plugin ? plugin->size : sizeof *plugin;
    memcpy(&type->plugin, plugin, size);
    type->plugin.size = sizeof *plugin;
    const ig_store_plugin *has = &type->plugin;
    if (!has->type || !has->open || !has->close || !has->pull || !has->push ||
        !has->ping) {
        return ig_store_fail(call, IG_INVALID,
                             "%s: the plug-in has no type, open, close, pull, push or "
                             "ping",
                             path);
    }
    return IG_OK;
}

static ig_status read_library(const ig_store_call *call, const char *path,
                              void *library, ig_store_type *type) {
    void *symbol = dlsym(library, "ig_store_plugin_v2");
    if (symbol) {
        ig_store_plugin_entry *entry;
        memcpy(&entry, &symbol, sizeof entry);
        return read_version2(call, path, entry, type);
    }
    const char *missing = NULL;
    if (!ig_store_version1(library, type, &missing)) {
        return ig_store_fail(call, IG_INVALID,
                             "%s: this is not a store: it exports neither "
                             "ig_store_plugin_v2 nor %s",
                             path, missing);
    }
    return IG_OK;
}

/* Loads and adds a library; `lock` is held. */
static ig_status add_library(const ig_store_call *call, const char *path,
                             const ig_store_plugin **out_plugin) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return ig_store_fail(call, IG_IO, "%s", why ? why : path);
    }
    ig_store_type *type = calloc(1, sizeof *type);
    ig_status status = type ? read_library(call, path, library, type)
                            : ig_store_fail(call, IG_LIMIT, "%s: out of memory", path);
    if (status == IG_OK && find_known(type->plugin.type, strlen(type->plugin.type))) {
        status = ig_store_fail(call, IG_INVALID, "%s: stores of type '%s' are known",
                               path, type->plugin.type);
    }
    if (status != IG_OK) {
        free(type);
        (void)dlclose(library);
        return status;
    }
    type->next = known;
    known = type;
    *out_plugin = &type->plugin;
    return IG_OK;
}

/* ---- types that Ingot brings ---- */

enum { PATH_BYTES = 4096 };

static bool is_type_name(const char *name, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (!((name[i] >= 'a' && name[i] <= 'z') ||
              (i > 0 && name[i] >= '0' && name[i] <= '9'))) {
            return false;
        }
    }
    return size > 0 && size <= 32;
}

/* The folder of the library that holds this function. */
static bool own_folder(char folder[PATH_BYTES]) {
    Dl_info info;
    const void *here = &known;
    if (dladdr(here, &info) == 0 || !info.dli_fname) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int size = slash ? (int)(slash - info.dli_fname) : 0;
    int written = slash ? snprintf(folder, PATH_BYTES, "%.*s", size, info.dli_fname)
                        : snprintf(folder, PATH_BYTES, ".");
    return written >= 0 && written < PATH_BYTES;
}

static bool has_library(const char *folder, const char *name, int name_size,
                        char path[PATH_BYTES]) {
    int written = snprintf(path, PATH_BYTES, "%s/libingot-store-%.*s.so", folder,
                           name_size, name);
    if (written < 0 || written >= PATH_BYTES) {
        return false;
    }
    FILE *file = fopen(path, "rbe");
    if (file) {
        (void)fclose(file);
    }
    return file != NULL;
}

static ig_status load_ours(const ig_store_call *call, const char *name,
                           size_t name_size, const ig_store_plugin **out_plugin) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    const char *extra = secure_getenv("INGOT_STORE_DIR");
    int size = (int)name_size;
    if (is_type_name(name, name_size) &&
        ((own_folder(folder) && has_library(folder, name, size, path)) ||
         (extra && has_library(extra, name, size, path)))) {
        return add_library(call, path, out_plugin);
    }
    return ig_store_fail(call, IG_UNSUPPORTED,
                         "there are no stores of type '%.*s': register its library, or "
                         "put libingot-store-%.*s.so beside libingot-store.so or into "
                         "INGOT_STORE_DIR",
                         size > 32 ? 32 : size, name, size > 32 ? 32 : size, name);
}

ig_status ig_store_type_find(const ig_store_call *call, const char *name,
                             size_t name_size, const ig_store_plugin **out_plugin) {
    (void)pthread_mutex_lock(&lock);
    *out_plugin = find_known(name, name_size);
    ig_status status = *out_plugin ? IG_OK
                                   : load_ours(call, name, name_size, out_plugin);
    (void)pthread_mutex_unlock(&lock);
    return status;
}

ig_status ig_store_register(const char *path, const ig_store_call *given) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    if (!path || !*path) {
        return ig_store_fail(&call, IG_INVALID, "no path of a library was given");
    }
    const ig_store_plugin *plugin = NULL;
    (void)pthread_mutex_lock(&lock);
    ig_status status = add_library(&call, path, &plugin);
    (void)pthread_mutex_unlock(&lock);
    return status;
}
