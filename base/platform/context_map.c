/* Files of a compilation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/context_map.h"

#include "base/status.h"

static ig_status map_by_opener(ig_context *context, const char *path, ig_str name,
                               ig_file_map *out_map, char *why) {
    int file = -1;
    *out_map = (ig_file_map){ .data = "" };
    IG_TRY(context->opener->open(context->opener->user, path, name, &file, why));
    return ig_file_map_of(file, out_map, why);
}

ig_status ig_context_map(ig_context *context, const char *path, ig_file_map *out_map,
                         char *why) {
    return context->opener
               ? map_by_opener(context, path, (ig_str){ "", 0 }, out_map, why)
               : ig_file_map_open(path, out_map, why);
}

ig_status ig_context_map_beneath(ig_context *context, const char *beside, ig_str name,
                                 ig_file_map *out_map, char *why) {
    return context->opener && name.size
               ? map_by_opener(context, beside, name, out_map, why)
               : ig_file_map_beneath(beside, name, out_map, why);
}
