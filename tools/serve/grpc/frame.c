/* Frames of gRPC.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/frame.h"

enum { HEAD = 5 };

static bool refuse_frame(framing *how, call_status status, const char *words) {
    how->status = status;
    how->words = words;
    return false;
}

static bool unpack_frame(framing *how, framed *of) {
    if (how->packed != ENCODING_GZIP && how->packed != ENCODING_DEFLATE) {
        return refuse_frame(
            how, CALL_UNSUPPORTED,
            "a packed message, and grpc-encoding is neither gzip nor deflate");
    }
    if (!how->is_unpacking) {
        bytes_clear(&how->unpacked);
    }
    unpack_state state = unpack_step(&how->unpack, &how->unpacked, of->data, of->size,
                                     how->max);
    how->is_unpacking = state == UNPACK_MORE;
    if (state != UNPACK_DONE) {
        return state == UNPACK_FULL
                   ? refuse_frame(how, CALL_FULL,
                                  "the unpacked message is larger than --max-body")
               : state == UNPACK_BROKEN
                   ? refuse_frame(how, CALL_INVALID,
                                  "the message is not what grpc-encoding says")
                   : false;
    }
    of->data = how->unpacked.data;
    of->size = how->unpacked.size;
    return true;
}

bool frame_read(framing *how, const bytes *from, size_t at, framed *out) {
    how->status = CALL_OK;
    if (from->size - at < HEAD) {
        return false;
    }
    const uint8_t *head = from->data + at;
    uint32_t size = (uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 |
                    (uint32_t)head[3] << 8 | (uint32_t)head[4];
    if (head[0] > 1) {
        return refuse_frame(how, CALL_INVALID,
                            "the flag of a message is neither 0 nor 1");
    }
    if (size > how->max) {
        return refuse_frame(how, CALL_FULL, "a message is larger than --max-body");
    }
    if (from->size - at - HEAD < size) {
        return false;
    }
    *out = (framed){ head + HEAD, size, HEAD + size };
    return head[0] == 0 || unpack_frame(how, out);
}
