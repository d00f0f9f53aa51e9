/* Growing bytes.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/bytes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_ROOM = 512 };

static bool fail_bytes(bytes *to) {
    to->has_failed = true;
    return false;
}

bool bytes_reserve(bytes *to, size_t more) {
    if (to->has_failed || more > SIZE_MAX / 4 || to->size > SIZE_MAX / 4) {
        return fail_bytes(to);
    }
    size_t need = to->size + more;
    if (need <= to->room) {
        return true;
    }
    size_t room = need < 2 * to->room ? 2 * to->room : need;
    room = room < MIN_ROOM ? MIN_ROOM : room;
    size_t added = room - to->room;
    if (to->from && added > to->from->limit - to->from->held) {
        return fail_bytes(to);
    }
    uint8_t *data = realloc(to->data, room);
    if (!data) {
        return fail_bytes(to);
    }
    if (to->from) {
        to->from->held += added;
    }
    to->data = data;
    to->room = room;
    return true;
}

bool bytes_put(bytes *to, const void *data, size_t size) {
    if (!bytes_reserve(to, size)) {
        return false;
    }
    if (size) {
        memcpy(to->data + to->size, data, size);
        to->size += size;
    }
    return true;
}

void bytes_clear(bytes *of) {
    of->size = 0;
    of->has_failed = false;
}

void bytes_free(bytes *of) {
    if (of->from) {
        of->from->held -= of->room;
    }
    free(of->data);
    *of = (bytes){ .from = of->from };
}

void put_text(bytes *to, const char *text) {
    bytes_put(to, text, strlen(text));
}

void put_format(bytes *to, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size > 0) {
        bytes_put(to, text,
                  (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
    }
}

/* How many bytes the character of UTF-8 at `text` has; 0: it is none. */
static size_t character_size(const uint8_t *text, size_t left) {
    static const struct {
        uint8_t mask, head;
        uint32_t min;
    } forms[] = { { 0x80, 0, 0 },
                  { 0xe0, 0xc0, 0x80 },
                  { 0xf0, 0xe0, 0x800 },
                  { 0xf8, 0xf0, 0x10000 } };
    for (size_t size = 1; size <= 4; size++) {
        if ((text[0] & forms[size - 1].mask) != forms[size - 1].head) {
            continue;
        }
        uint32_t code = text[0] & (uint32_t)~forms[size - 1].mask & 0xff;
        for (size_t i = 1; i < size; i++) {
            if (i >= left || (text[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (text[i] & 0x3fu);
        }
        bool is_good = code >= forms[size - 1].min && code <= 0x10ffff &&
                       (code < 0xd800 || code > 0xdfff);
        return is_good ? size : 0;
    }
    return 0;
}

void put_string(bytes *to, const char *text, size_t size) {
    const uint8_t *at = (const uint8_t *)text, *end = at + size;
    bytes_put(to, "\"", 1);
    while (at < end) {
        const uint8_t *plain = at;
        while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') {
            at++;
        }
        bytes_put(to, plain, (size_t)(at - plain));
        if (at == end) {
            break;
        }
        size_t length = character_size(at, (size_t)(end - at));
        if (length > 1) {
            bytes_put(to, at, length);
        } else if (length == 1) {
            put_format(to, "\\u%04x", *at);
        } else {
            put_text(to, "\\ufffd");
        }
        at += length ? length : 1;
    }
    bytes_put(to, "\"", 1);
}

void put_real(bytes *to, double value, int digits) {
    if (value == 0 && signbit(value)) {
        put_text(to,
                 "-0.0"); /* readers take -0 for a whole number, which has no sign */
    } else if (isfinite(value)) {
        put_format(to, "%.*g", digits, value);
    } else {
        put_text(to, "null");
    }
}
