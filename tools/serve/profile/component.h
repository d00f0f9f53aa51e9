/* Files of models, found by their bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A component is kept under its SHA-256, so that a graph that a client sends again, in
 * another session too, need not be uploaded.  Sessions use hard links: a component that
 * is dropped for want of room stays where it is used.
 */
#ifndef IG_TOOLS_SERVE_PROFILE_COMPONENT_H
#define IG_TOOLS_SERVE_PROFILE_COMPONENT_H

#include "tools/serve/model/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_BYTES = 32, PATH_BYTES = 4096 };

typedef struct components {
    const char *folder; /* of the server alone */
    uint64_t limit;     /* bytes of all */
} components;

/* A file that is being uploaded. */
typedef struct upload {
    const components *to;
    int file;
    void *hash; /* GnuTLS's */
    uint64_t size;
    char path[PATH_BYTES];
} upload;

/* Links the component with this hash to `path`, making folders of the way.  False: it
 * is not there (errno ENOENT), or could not be linked. */
bool component_link(const components *in, const uint8_t hash[HASH_BYTES],
                    const char *path);
/* NULL: memory or descriptors ran out. */
upload *upload_begin(const components *to);
/* False: the component is larger than the limit, or the disk is full. */
bool upload_put(upload *to, const uint8_t *data, size_t size);
/* Keeps it, drops the least used ones beyond the limit, and links it to `path`.  Frees
 * the upload; `path` NULL: throws it away. */
bool upload_end(upload *of, const char *path);

#endif
