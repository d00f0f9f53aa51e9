/* How an artifact names the files that it refers to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/reference.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The real path of the folder of `artifact`; false when there is none. */
static bool folder_of(ig_arena *arena, const char *artifact, char *folder) {
    const char *slash = strrchr(artifact, '/');
    size_t size = slash ? (size_t)(slash - artifact) + 1 : 0;
    char *text = ig_arena_copy(arena, artifact, size);
    return realpath(size ? text : ".", folder) != NULL;
}

const char *ig_reference_path(ig_arena *arena, const char *artifact, const char *file) {
    char full[PATH_MAX], folder[PATH_MAX];
    if (!realpath(file, full)) {
        return file;
    }
    if (!artifact || !folder_of(arena, artifact, folder)) {
        return ig_arena_strdup(arena, full);
    }
    size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    bool is_beneath = strncmp(full, folder, size) == 0 && full[size] == '/';
    return ig_arena_strdup(arena, is_beneath ? full + size + 1 : full);
}
