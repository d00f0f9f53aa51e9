/* Bodies that are packed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_ENCODING_H
#define IG_TOOLS_SERVE_CALL_ENCODING_H

#include "tools/serve/call/bytes.h"

typedef enum encoding {
    ENCODING_NONE,
    ENCODING_GZIP,
    ENCODING_DEFLATE,
    ENCODING_OTHER, /* that this server does not know */
} encoding;

/* Of the value of Content-Encoding. */
encoding encoding_find(const char *name);
/* The first of those that Accept-Encoding lists which this server knows. */
encoding encoding_choose(const char *accepted);
const char *encoding_name(encoding of);
/* Unpacks at most `max` bytes.  False: it is damaged (*out_is_full false), or there
 * are more, or memory ran out (true). */
bool encoding_unpack(bytes *to, const uint8_t *from, size_t size, size_t max,
                     bool *out_is_full);
bool encoding_pack(bytes *to, const bytes *from, encoding how);

#endif
