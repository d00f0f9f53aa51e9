/* The caches on disk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/cache.h"

#include "driver/cache/cache_folder.h"
#include "driver/cache/private_files.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NAME_BYTES = 64 };

/* ---- paths ---- */

const char *ig_cache_wanted_folder(ig_context *context, ig_arena *arena,
                                   bool *out_is_asked) {
    const char *given = ig_driver_of(context)->options.cache_folder;
    const char *set = given ? given : secure_getenv("INGOT_CACHE_DIR");
    const char *user = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    *out_is_asked = set && *set;
    if (set) {
        return *set ? ig_arena_strdup(arena, set) : NULL;
    }
    if (user && *user == '/') {
        return ig_arena_printf(arena, "%s/ingot", user);
    }
    return home && *home == '/' ? ig_arena_printf(arena, "%s/.cache/ingot", home)
                                : NULL;
}

ig_status ig_cache_check_limit(ig_context *context) {
    uint64_t limit;
    return ig_cache_read_limit(&limit)
               ? IG_OK
               : ig_error(&context->diag, IG_INVALID, NULL,
                          "INGOT_CACHE_BYTES is a number of bytes, not '%s'",
                          secure_getenv("INGOT_CACHE_BYTES"));
}

const char *ig_cache_folder(ig_context *context, ig_arena *arena) {
    char why[128] = "";
    bool is_asked;
    const char *folder = ig_cache_wanted_folder(context, arena, &is_asked);
    if (!folder) {
        return NULL;
    }
    bool is_made = ig_private_folder_create(folder);
    int opened = ig_private_folder_open(folder, why);
    if (opened < 0) {
        if (is_asked || is_made) { /* else a machine without a home for caches */
            ig_location where = { .file = folder };
            ig_warn(&context->diag, &where, "this cache folder is not used: %s", why);
        }
        return NULL;
    }
    close(opened);
    return folder;
}

/* "<hash of key>ENDING". */
static void name_of(ig_str key, const char *ending, char name[NAME_BYTES]) {
    assert(key.size > 0 && "an empty key is that of nothing");
    ig_hash128 hash = ig_artifact_hash(key.data, key.size);
    for (size_t i = 0; i < sizeof hash.bytes; i++) {
        snprintf(name + 2 * i, 3, "%02x", hash.bytes[i]);
    }
    snprintf(name + 2 * sizeof hash.bytes, NAME_BYTES - 2 * sizeof hash.bytes, "%s",
             ending);
}

/* "FOLDER/KIND/NAME"; false when it does not fit. */
static bool path_of(const char *folder, const char *kind, const char *name,
                    char path[PATH_BYTES]) {
    int length = snprintf(path, PATH_BYTES, "%s/%s%s%s", folder, kind,
                          name[0] ? "/" : "", name);
    return length > 0 && length < PATH_BYTES;
}

/* An entry that only we can have written, open for reading; or -1. */
static int open_private(const char *folder, const char *kind, const char *name) {
    char path[PATH_BYTES];
    int opened = path_of(folder, kind, "", path) ? ig_private_folder_open(path, NULL)
                                                 : -1;
    int file = opened < 0 ? -1 : ig_private_file_open(opened, name);
    if (opened >= 0) {
        close(opened);
    }
    return file;
}

static bool publish_entry(const char *folder, const char *kind, const char *name,
                          const ig_file_part *parts, size_t count) {
    char path[PATH_BYTES], why[128];
    int opened = path_of(folder, kind, "", path) && ig_private_folder_create(path)
                     ? ig_private_folder_open(path, NULL)
                     : -1;
    if (opened < 0) {
        return false;
    }
    close(opened);
    return path_of(folder, kind, name, path) &&
           ig_file_publish_private(path, parts, count, why) == IG_OK;
}

/* ---- kernels ---- */

/* Kinds of entries: their folder, and the head of a file. */
typedef struct entry_kind {
    const char *folder;
    char magic[8];
} entry_kind;

static const entry_kind kernel_kind = { "kernels", "ingotKRN" },
                        model_kind = { "models", "ingotKEY" },
                        hashes_kind = { "files", "ingotHSH" };

/* Of every file but artifacts: magic, then numbers of its kind, then the key. */
typedef struct entry_header {
    char magic[8];
    uint64_t key_bytes, content_bytes, entry;
    uint64_t inode, mtime_ns; /* of an artifact, when it was hashed */
    ig_hash128 hash;          /* of the content */
} entry_header;

static bool has_key(const ig_file_map *map, const char *magic, ig_str key,
                    entry_header *header) {
    if (map->size < sizeof *header + key.size) {
        return false;
    }
    memcpy(header, map->data, sizeof *header);
    return memcmp(header->magic, magic, sizeof header->magic) == 0 &&
           header->key_bytes == key.size &&
           memcmp((const char *)map->data + sizeof *header, key.data, key.size) == 0;
}

/* Maps an entry and compares its key; false: not there, or another's. */
static bool open_entry(const char *folder, const entry_kind *kind, const char *name,
                       ig_str key, ig_file_map *map, entry_header *header) {
    char path[IG_OPEN_PATH_BYTES];
    int file = open_private(folder, kind->folder, name);
    if (file < 0) {
        return false;
    }
    ig_open_file_path(file, path);
    ig_status status = ig_file_map_open(path, map, NULL);
    close(file);
    if (status != IG_OK) {
        return false;
    }
    if (!has_key(map, kind->magic, key, header)) {
        ig_file_map_close(map);
        return false;
    }
    return true;
}

bool ig_cache_get_kernel(const char *folder, ig_str key, ig_arena *arena,
                         ig_artifact_kernel *out) {
    char name[NAME_BYTES];
    ig_file_map map;
    entry_header header;
    name_of(key, "", name);
    if (!open_entry(folder, &kernel_kind, name, key, &map, &header)) {
        return false;
    }
    const char *code = (const char *)map.data + sizeof header + key.size;
    size_t size = map.size - sizeof header - key.size;
    ig_hash128 hash = ig_artifact_hash(code, size);
    bool is_whole = header.content_bytes == size && header.entry < size &&
                    memcmp(&hash, &header.hash, sizeof hash) == 0;
    void *copy = is_whole ? ig_arena_try_alloc(arena, size) : NULL;
    if (copy) {
        memcpy(copy, code, size);
        *out = (ig_artifact_kernel){ copy, size, header.entry, NULL };
    }
    ig_file_map_close(&map);
    return copy != NULL;
}

void ig_cache_put_kernel(const char *folder, ig_str key,
                         const ig_artifact_kernel *kernel) {
    assert(kernel->bytes && kernel->entry < kernel->size &&
           "the function is in its code, or it would not be read back");
    char name[NAME_BYTES];
    entry_header header = { .key_bytes = key.size,
                            .content_bytes = kernel->size,
                            .entry = kernel->entry,
                            .hash = ig_artifact_hash(kernel->bytes, kernel->size) };
    memcpy(header.magic, kernel_kind.magic, sizeof header.magic);
    ig_file_part parts[] = { { &header, sizeof header },
                             { key.data, key.size },
                             { kernel->bytes, kernel->size } };
    name_of(key, "", name);
    publish_entry(folder, "kernels", name, parts, IG_COUNT_OF(parts));
}

/* ---- models ---- */

static uint64_t mtime_of(const struct stat *facts) {
    return (uint64_t)facts->st_mtim.tv_sec * 1000000000u +
           (uint64_t)facts->st_mtim.tv_nsec;
}

ig_cached_model ig_cache_find_model(const char *folder, ig_str key) {
    char name[NAME_BYTES];
    ig_file_map map;
    entry_header header;
    struct stat facts;
    ig_cached_model none = { .file = -1 };
    name_of(key, ".key", name);
    if (!open_entry(folder, &model_kind, name, key, &map, &header)) {
        return none;
    }
    ig_file_map_close(&map);
    name_of(key, ".ingot", name);
    ig_cached_model found = { .file = open_private(folder, "models", name),
                              .hash = header.hash };
    if (found.file < 0 || fstat(found.file, &facts) != 0 ||
        (uint64_t)facts.st_size != header.content_bytes) {
        ig_cached_model_close(&found);
        return none;
    }
    /* Used now: trimming takes the oldest.  Written files never change. */
    const struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
                                       { .tv_nsec = UTIME_OMIT } };
    futimens(found.file, times);
    ig_open_file_path(found.file, found.path);
    found.is_untouched = facts.st_ino == header.inode &&
                         mtime_of(&facts) == header.mtime_ns;
    return found;
}

bool ig_cached_model_is_sound(const ig_cached_model *cached, ig_file_map *out_map) {
    assert(cached->file >= 0 && "the entry was found");
    if (ig_file_map_open(cached->path, out_map, NULL) != IG_OK) {
        return false;
    }
    ig_hash128 hash = ig_artifact_hash(out_map->data, out_map->size);
    if (memcmp(&hash, &cached->hash, sizeof hash) != 0) {
        ig_file_map_close(out_map);
        return false;
    }
    return true;
}

void ig_cached_model_close(ig_cached_model *cached) {
    if (cached->file >= 0) {
        close(cached->file);
    }
    *cached = (ig_cached_model){ .file = -1 };
}

/* The key is published last: whoever reads it finds its artifact. */
static bool publish_model(const char *folder, ig_str key, const ig_file_part *artifact,
                          size_t count) {
    char name[NAME_BYTES], path[PATH_BYTES];
    struct stat facts;
    name_of(key, ".ingot", name);
    if (!publish_entry(folder, "models", name, artifact, count) ||
        !path_of(folder, "models", name, path) || stat(path, &facts) != 0) {
        return false;
    }
    entry_header header = { .key_bytes = key.size,
                            .content_bytes = (uint64_t)facts.st_size,
                            .inode = facts.st_ino,
                            .mtime_ns = mtime_of(&facts),
                            .hash = ig_artifact_hash_parts(artifact, count) };
    memcpy(header.magic, model_kind.magic, sizeof header.magic);
    ig_file_part parts[] = { { &header, sizeof header }, { key.data, key.size } };
    name_of(key, ".key", name);
    return publish_entry(folder, "models", name, parts, IG_COUNT_OF(parts));
}

bool ig_cache_put_model(const char *folder, ig_str key, const ig_file_part *parts,
                        size_t count) {
    assert(count > 0 && "an artifact has parts");
    char name[NAME_BYTES], path[PATH_BYTES];
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += parts[i].size;
    }
    name_of(key, ".key", name);
    if (!path_of(folder, "models", name, path) ||
        !ig_cache_make_room(folder, name, bytes)) {
        return false;
    }
    unlink(path); /* of a twin by hash */
    return publish_model(folder, key, parts, count);
}

/* ---- hashes of payloads ---- */

/* Below this, hashing is faster than looking it up. */
enum { LARGE_FILE = 1 << 20 };

/* A file that changed so lately may change again within the same tick of its clock. */
static bool is_settled(const ig_file_map *file) {
    const uint64_t second = 1000000000u;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec > file->mtime_ns / second + 2;
}

typedef struct file_facts {
    uint64_t device, inode, size, mtime_ns;
} file_facts;

static void hashes_name(const ig_file_map *file, char name[NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "%llx-%llx", (unsigned long long)file->device,
             (unsigned long long)file->inode);
}

void ig_cache_get_hashes(const char *folder, const ig_file_map *file, ig_arena *arena,
                         ig_payload_hashes *out) {
    char name[NAME_BYTES];
    ig_file_map map;
    entry_header header;
    file_facts facts = { file->device, file->inode, file->size, file->mtime_ns };
    ig_str key = { (const char *)&facts, sizeof facts };
    *out = (ig_payload_hashes){ 0 };
    hashes_name(file, name);
    if (file->size < LARGE_FILE ||
        !open_entry(folder, &hashes_kind, name, key, &map, &header)) {
        return;
    }
    const char *content = (const char *)map.data + sizeof header + key.size;
    size_t size = map.size - sizeof header - key.size;
    ig_hash128 hash = ig_artifact_hash(content, size);
    size_t count = size / sizeof(ig_payload_hash);
    bool is_whole = header.content_bytes == size &&
                    memcmp(&hash, &header.hash, sizeof hash) == 0;
    ig_payload_hash *items = is_whole ? ig_arena_try_alloc(arena, size) : NULL;
    if (items) {
        memcpy(items, content, count * sizeof *items);
        out->items.items = items;
        out->items.count = out->items.capacity = count;
    }
    ig_file_map_close(&map);
}

void ig_cache_put_hashes(const char *folder, const ig_file_map *file,
                         const ig_payload_hashes *hashes) {
    assert((hashes->items.items || hashes->items.count == 0) &&
           "counted hashes are there");
    char name[NAME_BYTES];
    file_facts facts = { file->device, file->inode, file->size, file->mtime_ns };
    size_t bytes = hashes->items.count * sizeof(ig_payload_hash);
    hashes_name(file, name);
    if (!hashes->is_changed || file->size < LARGE_FILE || !is_settled(file)) {
        return;
    }
    entry_header header = { .key_bytes = sizeof facts,
                            .content_bytes = bytes,
                            .hash = ig_artifact_hash(hashes->items.items, bytes) };
    memcpy(header.magic, hashes_kind.magic, sizeof header.magic);
    ig_file_part parts[] = { { &header, sizeof header },
                             { &facts, sizeof facts },
                             { hashes->items.items, bytes } };
    publish_entry(folder, "files", name, parts, IG_COUNT_OF(parts));
}
