/* The two caches on disk: kernel content → code, model and options → artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     FOLDER/kernels/<hash>        header, key, code
 *     FOLDER/models/<hash>.key     header, key
 *     FOLDER/models/<hash>.ingot   the artifact
 *     FOLDER/files/<device>-<inode>  hashes of a model file's payloads
 *
 * A hash of the key selects an entry, the whole key decides.  A cache that cannot be
 * read or written is a slower compiler and never an error.  Entries are published by
 * rename.  Entries are run as code: private_files.h.
 */
#ifndef IG_DRIVER_CACHE_CACHE_H
#define IG_DRIVER_CACHE_CACHE_H

#include "driver/artifact/write.h"
#include "driver/cache/private_files.h"
#include "driver/host.h"

/* Where the cache is wanted, NULL: nowhere; *out_is_asked: somebody named it. */
const char *ig_cache_wanted_folder(ig_context *context, ig_arena *arena,
                                   bool *out_is_asked);
/* Is INGOT_CACHE_BYTES a valid size?  INVALID after a message. */
ig_status ig_cache_check_limit(ig_context *context);
/* The folder for this context, NULL when there is to be no cache.  Warns where one was
 * asked for that cannot be trusted. */
const char *ig_cache_folder(ig_context *context, ig_arena *arena);

/* Code in `arena`; false: not there. */
bool ig_cache_get_kernel(const char *folder, ig_str key, ig_arena *arena,
                         ig_artifact_kernel *out);
void ig_cache_put_kernel(const char *folder, ig_str key,
                         const ig_artifact_kernel *kernel);

/* An artifact in the cache. */
typedef struct ig_cached_model {
    int file;                      /* -1: not there */
    char path[IG_OPEN_PATH_BYTES]; /* of the open file */
    ig_hash128 hash;               /* of the whole file, when it was written */
    bool is_untouched;             /* no other time of writing than then */
} ig_cached_model;

/* The caller closes the entry. */
ig_cached_model ig_cache_find_model(const char *folder, ig_str key);
void ig_cached_model_close(ig_cached_model *cached);
/* Maps the artifact when its bytes are those that were written; the caller closes the
 * map.  Without this nothing of it may be used: disks forget, and people edit. */
bool ig_cached_model_is_sound(const ig_cached_model *cached, ig_file_map *out_map);
/* False when it was not kept.  Needs no arena, so that it can run beside other work. */
bool ig_cache_put_model(const char *folder, ig_str key, const ig_file_part *parts,
                        size_t count);

/* Known hashes of payloads in one model file. */
typedef struct ig_payload_hash {
    uint64_t offset, size;
    ig_hash128 hash;
} ig_payload_hash;

typedef struct ig_payload_hashes {
    IG_VEC(ig_payload_hash) items;
    bool is_changed;
} ig_payload_hashes;

void ig_cache_get_hashes(const char *folder, const ig_file_map *file, ig_arena *arena,
                         ig_payload_hashes *out);
void ig_cache_put_hashes(const char *folder, const ig_file_map *file,
                         const ig_payload_hashes *hashes);

#endif
