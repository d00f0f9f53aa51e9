/* Hashes of constants: computed once per compilation, remembered for large files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_CACHE_PAYLOAD_H
#define IG_DRIVER_CACHE_PAYLOAD_H

#include "driver/cache/cache.h"
#include "ir/graph.h"

/* Zero but for module, arena and folder. */
typedef struct ig_payloads {
    const ig_module *module; /* its files hold the constants */
    ig_arena *arena;
    const char *folder;       /* of the cache, or NULL */
    ig_payload_hashes *files; /* private: one each of module->files, or NULL yet */
} ig_payloads;

/* XXH3-128 of bytes that the module, or a clone of it, borrows or owns. */
ig_hash128 ig_payload_hash_of(ig_payloads *payloads, const void *bytes, size_t size);
/* Bytes of constants in files, when these are still on disk as they were
 * mapped; else 0. */
uint64_t ig_payloads_on_disk(const ig_module *module);
/* Remembers computed hashes. */
void ig_payloads_keep(ig_payloads *payloads);

#endif
