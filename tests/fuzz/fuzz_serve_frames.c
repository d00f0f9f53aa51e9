/* Messages of gRPC in their frames, as they come in pieces, packed or not.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says how packed messages are, and how much comes at a time.
 */
#include "tools/serve/grpc/frame.h"

#include <stdlib.h>

enum { MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink; /* whatever a reader gives is read */

/* Whole messages of what is there; what they take is never more than that. */
static size_t take_all(framing *how, const bytes *from, size_t at) {
    framed next;
    while (frame_read(how, from, at, &next)) {
        if (next.taken > from->size - at || next.size > MAX) {
            abort();
        }
        for (size_t i = 0; i < next.size; i++) {
            sink = next.data[i];
        }
        at += next.taken;
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    budget all = { .limit = 1 << 20 };
    framing how = { .packed = (encoding)(data[0] & 3),
                    .max = MAX,
                    .unpacked = { .from = &all } };
    bytes in = { .from = &all };
    size_t step = data[0] & 4 ? 1 : size, at = 0;
    for (size_t i = 1; i < size && how.status == CALL_OK; i += step) {
        if (!bytes_put(&in, data + i, step < size - i ? step : size - i)) {
            break;
        }
        at = take_all(&how, &in, at);
    }
    bytes_free(&in);
    bytes_free(&how.unpacked);
    if (all.held != 0) {
        abort();
    }
    return 0;
}
