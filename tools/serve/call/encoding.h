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

/* A body that is unpacked in steps: a KB of zip may hold a MB, and a loop has others to
 * serve.  Zero: not begun.  Owner: whoever calls unpack_end, where a step was the last
 * that said UNPACK_MORE. */
typedef struct unpacking {
    struct z_stream_s *stream;
    size_t taken; /* packed bytes that are done with */
} unpacking;

typedef enum unpack_state {
    UNPACK_MORE, /* call again, with the same bytes */
    UNPACK_DONE,
    UNPACK_BROKEN, /* it is damaged */
    UNPACK_FULL,   /* it holds more than `max` bytes, or memory ran out */
} unpack_state;

/* Adds the next part, some 128 KB, to `to`. */
unpack_state unpack_step(unpacking *of, bytes *to, const uint8_t *from, size_t size,
                         size_t max);
void unpack_end(unpacking *of);
bool encoding_pack(bytes *to, const bytes *from, encoding how);

#endif
