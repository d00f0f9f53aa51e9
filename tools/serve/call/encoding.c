/* gzip and deflate, by zlib.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/encoding.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { STEP = 64 << 10, SLICE = 2 * STEP };
enum { WINDOW = 15, GZIP = 16, EITHER = 32, QUICK = 1 };

static const char *const names[] = {
    [ENCODING_GZIP] = "gzip", [ENCODING_DEFLATE] = "deflate"
};

encoding encoding_find(const char *name) {
    if (!name || !*name || strcasecmp(name, "identity") == 0) {
        return ENCODING_NONE;
    }
    for (int i = ENCODING_GZIP; i <= ENCODING_DEFLATE; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return (encoding)i;
        }
    }
    return ENCODING_OTHER;
}

encoding encoding_choose(const char *accepted) {
    while (accepted && *accepted) {
        accepted += strspn(accepted, ", \t");
        size_t length = strcspn(accepted, ",; \t");
        for (int i = ENCODING_GZIP; i <= ENCODING_DEFLATE; i++) {
            const char *rest = accepted + length + strspn(accepted + length, " \t");
            if (length == strlen(names[i]) &&
                strncasecmp(accepted, names[i], length) == 0 &&
                strncmp(rest, ";q=0", 4) != 0) {
                return (encoding)i;
            }
        }
        accepted += strcspn(accepted, ",");
    }
    return ENCODING_NONE;
}

const char *encoding_name(encoding of) {
    return names[of];
}

static bool begin_unpacking(unpacking *of, size_t size) {
    of->stream = size <= UINT32_MAX ? calloc(1, sizeof *of->stream) : NULL;
    if (of->stream && inflateInit2(of->stream, WINDOW + EITHER) != Z_OK) {
        free(of->stream);
        of->stream = NULL;
    }
    of->taken = 0;
    return of->stream;
}

void unpack_end(unpacking *of) {
    if (of->stream) {
        inflateEnd(of->stream);
        free(of->stream);
        of->stream = NULL;
    }
}

/* Inflates into the memory of `to`; beyond the last byte that fits one more shows that
 * there are more. */
static int inflate_more(z_stream *stream, bytes *to, size_t max, bool *out_is_full) {
    size_t step = max - to->size < STEP ? max - to->size : STEP;
    uint8_t more;
    bool is_last = step == 0;
    if (!is_last && !bytes_reserve(to, step)) {
        *out_is_full = true;
        return Z_OK;
    }
    stream->next_out = is_last ? &more : to->data + to->size;
    stream->avail_out = is_last ? 1 : (uInt)step;
    uInt before = stream->avail_out;
    int state = inflate(stream, Z_NO_FLUSH);
    to->size += is_last ? 0 : before - stream->avail_out;
    *out_is_full = is_last && stream->avail_out == 0;
    return state;
}

unpack_state unpack_step(unpacking *of, bytes *to, const uint8_t *from, size_t size,
                         size_t max) {
    if (!of->stream && !begin_unpacking(of, size)) {
        return UNPACK_FULL;
    }
    z_stream *stream = of->stream;
    stream->next_in = (Bytef *)(uintptr_t)from + of->taken;
    stream->avail_in = (uInt)(size - of->taken);
    size_t begin = to->size;
    bool is_full = false;
    int state = Z_OK;
    while (state == Z_OK && !is_full && to->size - begin < SLICE) {
        state = inflate_more(stream, to, max, &is_full);
    }
    of->taken = size - stream->avail_in;
    if (state == Z_OK && !is_full) {
        return UNPACK_MORE;
    }
    bool is_good = state == Z_STREAM_END && of->taken == size;
    unpack_end(of);
    return is_full ? UNPACK_FULL : is_good ? UNPACK_DONE : UNPACK_BROKEN;
}

bool encoding_pack(bytes *to, const bytes *from, encoding how) {
    z_stream stream = { .next_in = from->data, .avail_in = (uInt)from->size };
    if (from->size > UINT32_MAX ||
        deflateInit2(&stream, QUICK, Z_DEFLATED,
                     how == ENCODING_GZIP ? WINDOW + GZIP : WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return false;
    }
    uLong bound = deflateBound(&stream, (uLong)from->size);
    bool is_good = bytes_reserve(to, bound);
    if (is_good) {
        stream.next_out = to->data + to->size;
        stream.avail_out = (uInt)bound;
        is_good = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        to->size += stream.total_out;
    }
    deflateEnd(&stream);
    return is_good;
}
