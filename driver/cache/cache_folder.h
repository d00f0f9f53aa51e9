/* Keeping the caches small.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_CACHE_CACHE_FOLDER_H
#define IG_DRIVER_CACHE_CACHE_FOLDER_H

#include "base/status.h"

/* Entries of one kind ("models", "kernels", "files") and their bytes. */
typedef struct ig_cache_usage {
    uint64_t count, bytes;
} ig_cache_usage;

ig_cache_usage ig_cache_measure(const char *folder, const char *kind);
/* Removes every entry of the kind; what could not be removed is counted. */
ig_cache_usage ig_cache_empty(const char *folder, const char *kind);
/* Bytes of models that are kept at most: 4 GiB, or INGOT_CACHE_BYTES.  False: that is
 * not a number of bytes. */
bool ig_cache_read_limit(uint64_t *out_limit);
uint64_t ig_cache_limit(void);

/* Room for entry `name`, which is a hash: removes those that were used longest ago
 * until `bytes` more fit below the limit (4 GiB, or INGOT_CACHE_BYTES).  Not for each
 * entry that is small beside the limit, so that some 1024th of it is too much, at times
 * a 64th.
 * False: an entry of that size is not to be kept. */
bool ig_cache_make_room(const char *folder, const char *name, uint64_t bytes);

#endif
