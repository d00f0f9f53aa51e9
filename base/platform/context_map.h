/* Files of a compilation: mapped by this process, or opened by one that may.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_CONTEXT_MAP_H
#define IG_BASE_PLATFORM_CONTEXT_MAP_H

#include "base/context.h"

/* ig_file_map_open and ig_file_map_beneath, for models and the files that they name. */
ig_status ig_context_map(ig_context *context, const char *path, ig_file_map *out_map,
                         char *why);
ig_status ig_context_map_beneath(ig_context *context, const char *beside, ig_str name,
                                 ig_file_map *out_map, char *why);

#endif
