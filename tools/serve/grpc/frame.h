/* The five bytes that gRPC puts before each message.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_FRAME_H
#define IG_TOOLS_SERVE_GRPC_FRAME_H

#include "tools/serve/call/bytes.h"
#include "tools/serve/call/encoding.h"
#include "tools/serve/call/status.h"

typedef struct framed {
    const uint8_t *data;
    size_t size;
    size_t taken; /* bytes that it stood in, its head counted */
} framed;

/* How messages of a stream are read. */
typedef struct framing {
    encoding packed; /* those that say they are packed */
    size_t max;      /* bytes of a message, unpacked */
    bytes unpacked;  /* the last one that was packed */
    unpacking unpack;
    bool is_unpacking;  /* the next one goes on when frame_read is called again */
    call_status status; /* why the last one failed; CALL_OK: it needs more
                         * bytes, or another call */
    const char *words;
} framing;

/* Takes the message that begins at `at`.  True: *out holds it until `from` changes or
 * the next is read.  False: the framing says why. */
bool frame_read(framing *how, const bytes *from, size_t at, framed *out);

#endif
