/* Keeping the caches small.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_CACHE_CACHE_FOLDER_H
#define IG_DRIVER_CACHE_CACHE_FOLDER_H

#include "base/status.h"

/* Removes the entries that were used longest ago until `bytes` more fit below the limit
 * (4 GiB, or INGOT_CACHE_BYTES).  False: an entry of that size is not to be kept. */
bool ig_cache_make_room(const char *folder, uint64_t bytes);

#endif
