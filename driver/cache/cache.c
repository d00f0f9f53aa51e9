/* The caches on disk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/cache.h"

#include "driver/cache/cache_folder.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* ---- paths ---- */

static bool is_usable_folder(const char *folder) {
    struct stat facts;
    return stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) &&
           facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

const char *ig_cache_folder(ig_context *context, ig_arena *arena) {
    const char *given = ig_host_of(context)->options.cache_folder;
    const char *set = given ? given : getenv("INGOT_CACHE_DIR");
    const char *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *folder = NULL;
    if (set) {
        folder = *set ? ig_arena_strdup(arena, set) : NULL;
    } else if (user && *user == '/') {
        folder = ig_arena_printf(arena, "%s/ingot", user);
    } else if (home && *home == '/') {
        folder = ig_arena_printf(arena, "%s/.cache/ingot", home);
    }
    if (folder && !ig_file_exists(folder)) {
        char why[128];
        (void)!ig_folder_create(folder, why); /* what failed shows in `usable` */
    }
    return folder && is_usable_folder(folder) ? folder : NULL;
}

/* "FOLDER/KIND/<hash of key>ENDING"; false when it does not fit. */
static bool path_of(const char *folder, const char *kind, ig_str key,
                    const char *ending, char *path) {
    assert(key.size > 0 && "an empty key is that of nothing");
    ig_hash128 hash = ig_artifact_hash(key.data, key.size);
    char digits[2 * sizeof hash.bytes + 1];
    for (size_t i = 0; i < sizeof hash.bytes; i++) {
        snprintf(digits + 2 * i, 3, "%02x", hash.bytes[i]);
    }
    int length = snprintf(path, PATH_BYTES, "%s/%s/%s%s", folder, kind, digits, ending);
    return length > 0 && length < PATH_BYTES;
}

static bool publish_entry(const char *folder, const char *kind, const char *path,
                          const ig_file_part *parts, size_t count) {
    char name[PATH_BYTES], why[128];
    int length = snprintf(name, sizeof name, "%s/%s", folder, kind);
    if (length < 0 || (size_t)length >= sizeof name) {
        return false;
    }
    return (ig_file_exists(name) || ig_folder_create(name, why) == IG_OK) &&
           ig_file_publish(path, parts, count, why) == IG_OK;
}

/* ---- kernels ---- */

#define KERNEL_MAGIC "ingotKRN"
#define KEY_MAGIC "ingotKEY"
#define HASHES_MAGIC "ingotHSH"

/* Of every file but artifacts: magic, then numbers of its kind, then the key. */
typedef struct entry_header {
    char magic[8];
    uint64_t key_bytes, content_bytes, entry;
    uint64_t inode, mtime_ns; /* of an artifact, when it was hashed */
    ig_hash128 hash;          /* of the content */
} entry_header;

/* Maps an entry and compares its key; false: not there, or another's. */
static bool open_entry(const char *path, const char *magic, ig_str key,
                       ig_file_map *map, entry_header *header) {
    if (ig_file_map_open(path, map, NULL) != IG_OK) {
        return false;
    }
    bool is_right = map->size >= sizeof *header + key.size;
    if (is_right) {
        memcpy(header, map->data, sizeof *header);
        is_right = memcmp(header->magic, magic, sizeof header->magic) == 0 &&
                   header->key_bytes == key.size &&
                   memcmp((const char *)map->data + sizeof *header, key.data,
                          key.size) == 0;
    }
    if (!is_right) {
        ig_file_map_close(map);
    }
    return is_right;
}

bool ig_cache_get_kernel(const char *folder, ig_str key, ig_arena *arena,
                         ig_artifact_kernel *out) {
    char path[PATH_BYTES];
    ig_file_map map;
    entry_header header;
    if (!path_of(folder, "kernels", key, "", path) ||
        !open_entry(path, KERNEL_MAGIC, key, &map, &header)) {
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
        *out = (ig_artifact_kernel){ copy, size, header.entry };
    }
    ig_file_map_close(&map);
    return copy != NULL;
}

void ig_cache_put_kernel(const char *folder, ig_str key,
                         const ig_artifact_kernel *kernel) {
    assert(kernel->bytes && kernel->entry < kernel->size &&
           "the function lies in its code, or it would not be read back");
    char path[PATH_BYTES];
    entry_header header = { .magic = KERNEL_MAGIC,
                            .key_bytes = key.size,
                            .content_bytes = kernel->size,
                            .entry = kernel->entry,
                            .hash = ig_artifact_hash(kernel->bytes, kernel->size) };
    ig_file_part parts[] = { { &header, sizeof header },
                             { key.data, key.size },
                             { kernel->bytes, kernel->size } };
    if (path_of(folder, "kernels", key, "", path)) {
        publish_entry(folder, "kernels", path, parts, IG_COUNT_OF(parts));
    }
}

/* ---- models ---- */

static uint64_t mtime_of(const struct stat *facts) {
    return (uint64_t)facts->st_mtim.tv_sec * 1000000000u +
           (uint64_t)facts->st_mtim.tv_nsec;
}

ig_cached_model ig_cache_find_model(const char *folder, ig_str key, ig_arena *arena) {
    char path[PATH_BYTES];
    ig_file_map map;
    entry_header header;
    struct stat facts;
    ig_cached_model none = { 0 };
    if (!path_of(folder, "models", key, ".key", path) ||
        !open_entry(path, KEY_MAGIC, key, &map, &header)) {
        return none;
    }
    ig_file_map_close(&map);
    path_of(folder, "models", key, ".ingot", path);
    if (stat(path, &facts) != 0 || (uint64_t)facts.st_size != header.content_bytes) {
        return none;
    }
    /* Used now: trimming takes the oldest.  What was written when stays as it is. */
    const struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
                                       { .tv_nsec = UTIME_OMIT } };
    utimensat(AT_FDCWD, path, times, 0);
    return (ig_cached_model){ .path = ig_arena_strdup(arena, path),
                              .hash = header.hash,
                              .is_untouched = facts.st_ino == header.inode &&
                                              mtime_of(&facts) == header.mtime_ns };
}

/* The key is published last: whoever reads it finds its artifact. */
static bool publish_model(const char *folder, ig_str key, const char *key_path,
                          const char *path, const ig_hash128 *hash) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return false;
    }
    entry_header header = { .magic = KEY_MAGIC,
                            .key_bytes = key.size,
                            .content_bytes = (uint64_t)facts.st_size,
                            .inode = facts.st_ino,
                            .mtime_ns = mtime_of(&facts),
                            .hash = *hash };
    ig_file_part parts[] = { { &header, sizeof header }, { key.data, key.size } };
    return publish_entry(folder, "models", key_path, parts, IG_COUNT_OF(parts));
}

bool ig_cache_put_model(const char *folder, ig_str key, const ig_file_part *parts,
                        size_t count) {
    assert(count > 0 && "an artifact has parts");
    char key_path[PATH_BYTES], path[PATH_BYTES];
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += parts[i].size;
    }
    if (!path_of(folder, "models", key, ".key", key_path) ||
        !path_of(folder, "models", key, ".ingot", path) ||
        !ig_cache_make_room(folder, bytes)) {
        return false;
    }
    unlink(key_path); /* of a twin by hash */
    ig_file_remove_stale(path);
    ig_hash128 hash = ig_artifact_hash_parts(parts, count);
    return publish_entry(folder, "models", path, parts, count) &&
           publish_model(folder, key, key_path, path, &hash);
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

static bool hashes_path(const char *folder, const ig_file_map *file, char *path) {
    int length = snprintf(path, PATH_BYTES, "%s/files/%llx-%llx", folder,
                          (unsigned long long)file->device,
                          (unsigned long long)file->inode);
    return length > 0 && length < PATH_BYTES;
}

void ig_cache_get_hashes(const char *folder, const ig_file_map *file, ig_arena *arena,
                         ig_payload_hashes *out) {
    char path[PATH_BYTES];
    ig_file_map map;
    entry_header header;
    file_facts facts = { file->device, file->inode, file->size, file->mtime_ns };
    ig_str key = { (const char *)&facts, sizeof facts };
    *out = (ig_payload_hashes){ 0 };
    if (file->size < LARGE_FILE || !hashes_path(folder, file, path) ||
        !open_entry(path, HASHES_MAGIC, key, &map, &header)) {
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
    char path[PATH_BYTES];
    file_facts facts = { file->device, file->inode, file->size, file->mtime_ns };
    size_t bytes = hashes->items.count * sizeof(ig_payload_hash);
    if (!hashes->is_changed || file->size < LARGE_FILE || !is_settled(file) ||
        !hashes_path(folder, file, path)) {
        return;
    }
    entry_header header = { .magic = HASHES_MAGIC,
                            .key_bytes = sizeof facts,
                            .content_bytes = bytes,
                            .hash = ig_artifact_hash(hashes->items.items, bytes) };
    ig_file_part parts[] = { { &header, sizeof header },
                             { &facts, sizeof facts },
                             { hashes->items.items, bytes } };
    publish_entry(folder, "files", path, parts, IG_COUNT_OF(parts));
}
