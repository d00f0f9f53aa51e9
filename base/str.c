/* Borrowed byte spans: comparison, hashing, UTF-8, numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

ig_str ig_str_of(const char *text) {
    return text ? (ig_str){ text, strlen(text) } : (ig_str){ "", 0 };
}

bool ig_str_equal(ig_str a, ig_str b) {
    assert((a.data || !a.size) && (b.data || !b.size) && "text without bytes");
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Most comparisons end at the first byte: a table of words is gone through with it. */
bool ig_str_is(ig_str a, const char *text) {
    text = text ? text : "";
    for (size_t i = 0; i < a.size; i++) {
        if (text[i] == '\0' || text[i] != a.data[i]) {
            return false;
        }
    }
    return text[a.size] == '\0';
}

bool ig_str_starts(ig_str a, const char *prefix) {
    ig_str p = ig_str_of(prefix);
    return a.size >= p.size && ig_str_equal((ig_str){ a.data, p.size }, p);
}

bool ig_str_ends(ig_str a, const char *suffix) {
    ig_str s = ig_str_of(suffix);
    return a.size >= s.size &&
           (s.size == 0 ||
            ig_str_equal((ig_str){ a.data + a.size - s.size, s.size }, s));
}

uint64_t ig_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    assert((bytes || size == 0) && "bytes to hash");
    return XXH3_64bits_withSeed(size ? bytes : "", size, seed);
}

/* ---- UTF-8 ---- */

/* Bytes of the well-formed sequence that begins at `bytes`, or 0.  The second byte's
 * range is what keeps out overlong forms, surrogates and values above U+10FFFF. */
size_t ig_utf8_length(const char *text, size_t size) {
    const unsigned char *bytes = (const unsigned char *)text;
    if (size == 0) {
        return 0;
    }
    unsigned char first = bytes[0];
    if (first < 0x80) {
        return 1;
    }
    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || size < length) {
        return 0;
    }
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t ig_utf8_encode(uint32_t point, char to[4]) {
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        return 0;
    }
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; point >>= 6) {
        to[i] = (char)(0x80 | (point & 0x3f));
    }
    to[0] = (char)(length == 1 ? point : (0xf00U >> length & 0xff) | point);
    return length;
}

uint32_t ig_utf8_decode(const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    assert(length >= 1 && length <= 4 && "a letter has one to four bytes");
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    return code;
}

size_t ig_utf8_plain(const char *text, size_t size) {
    size_t length = ig_utf8_length(text, size);
    uint32_t code = length ? ig_utf8_decode(text, length) : 0;
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool is_mark = (code >= 0x200e && code <= 0x200f) ||
                   (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
    return is_control || is_mark ? 0 : length;
}

bool ig_utf8_is_valid(ig_str text) {
    for (size_t i = 0; i < text.size;) {
        size_t length = ig_utf8_length(text.data + i, text.size - i);
        if (!length) {
            return false;
        }
        i += length;
    }
    return true;
}

/* ---- numbers ---- */

bool ig_str_to_i64(ig_str text, int64_t *out_value) {
    size_t i = 0;
    bool is_negative = text.size && text.data[0] == '-';
    if (text.size && (text.data[0] == '-' || text.data[0] == '+')) {
        i++;
    }
    if (i == text.size) {
        return false;
    }
    int64_t value = 0;
    for (; i < text.size; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || !ig_mul_i64(value, 10, &value) ||
            !ig_add_i64(value, is_negative ? -digit : digit, &value)) {
            return false;
        }
    }
    *out_value = value;
    return true;
}

bool ig_str_to_f64(ig_str text, double *out_value) {
    char buffer[1024]; /* a double's exact decimal form has under 800 characters */
    if (text.size == 0 || text.size >= sizeof(buffer)) {
        return false;
    }
    memcpy(buffer, text.data, text.size);
    buffer[text.size] = '\0';
    if (strchr(" \t\n\v\f\r", buffer[0])) {
        return false;
    }
    /* A host's locale may want a comma.  glibc's "C" is a static object: nothing to
     * fail or free. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    errno = 0;
    double value = strtod_l(buffer, &end, plain);
    if (end != buffer + text.size || (errno == ERANGE && fabs(value) > 1)) {
        return false;
    }
    *out_value = value;
    return true;
}
