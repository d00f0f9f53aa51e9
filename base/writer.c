/* A growable buffer in an arena, and how numbers and strings are written into it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <assert.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ig_writer_init(ig_writer *writer, ig_arena *arena) {
    assert(arena && "a writer grows in an arena");
    *writer = (ig_writer){ .arena = arena };
}

/* Makes room for `size` more bytes and a final zero. */
static char *reserve_bytes(ig_writer *writer, size_t size) {
    size_t wanted;
    if (!ig_add_size(writer->size, size, &wanted) || !ig_add_size(wanted, 1, &wanted)) {
        ig_budget_exhausted(writer->arena->budget, size);
    }
    if (wanted > writer->capacity) {
        size_t twice = writer->capacity < SIZE_MAX / 2 ? 2 * writer->capacity : 0;
        size_t capacity = twice < 64 ? 64 : twice;
        capacity = capacity < wanted ? wanted : capacity;
        char *data = ig_arena_alloc(writer->arena, capacity);
        if (writer->size) {
            memcpy(data, writer->data, writer->size);
        }
        writer->data = data;
        writer->capacity = capacity;
    }
    return writer->data + writer->size;
}

static void advance_writer(ig_writer *writer, size_t size) {
    assert(size <= writer->capacity - writer->size && "more written than was reserved");
    writer->size += size;
    writer->data[writer->size] = '\0';
}

/* All that is left of a format and its arguments. */
IG_PRINTF(2, 0)
static void put_formatted(ig_writer *writer, const char *format, va_list list) {
    char *to = reserve_bytes(writer, 64);
    size_t room = writer->capacity - writer->size;
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(to, room, format, list);
    if (length < 0) { /* over INT_MAX, or a broken multibyte string: nothing written */
        length = 0;
    } else if ((size_t)length >= room) {
        to = reserve_bytes(writer, (size_t)length);
        vsnprintf(to, (size_t)length + 1, format, again);
    }
    va_end(again);
    advance_writer(writer, (size_t)length);
}

static void put_decimal(ig_writer *writer, uint64_t value, bool is_negative) {
    char digits[24];
    char *end = digits + sizeof digits, *at = end;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    if (is_negative) {
        *--at = '-';
    }
    ig_put_bytes(writer, at, (size_t)(end - at));
}

static void put_signed(ig_writer *writer, int64_t value) {
    put_decimal(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Texts of graphs are words and numbers in the plainest forms, a few million of them in
 * a compilation; these are written here, and the first other form and all after it
 * by the C library. */
void ig_put_list(ig_writer *writer, const char *format, va_list list) {
    for (const char *at = format; *at;) {
        size_t plain = strcspn(at, "%");
        ig_put_bytes(writer, at, plain);
        at += plain;
        if (strncmp(at, "%%", 2) == 0) {
            ig_put_char(writer, '%');
            at += 2;
        } else if (strncmp(at, "%s", 2) == 0) {
            ig_put_str(writer, ig_str_of(va_arg(list, const char *)));
            at += 2;
        } else if (strncmp(at, "%u", 2) == 0) {
            put_decimal(writer, va_arg(list, unsigned), false);
            at += 2;
        } else if (strncmp(at, "%d", 2) == 0) {
            put_signed(writer, va_arg(list, int));
            at += 2;
        } else if (strncmp(at, "%lld", 4) == 0) {
            put_signed(writer, va_arg(list, long long));
            at += 4;
        } else if (*at) {
            put_formatted(writer, at, list);
            break;
        }
    }
}

void ig_put(ig_writer *writer, const char *format, ...) {
    va_list list;
    va_start(list, format);
    ig_put_list(writer, format, list);
    va_end(list);
}

void ig_put_bytes(ig_writer *writer, const void *bytes, size_t size) {
    assert((bytes || size == 0) && "bytes to write");
    char *to = reserve_bytes(writer, size);
    if (size) {
        memcpy(to, bytes, size);
    }
    advance_writer(writer, size);
}

void ig_put_str(ig_writer *writer, ig_str text) {
    ig_put_bytes(writer, text.data, text.size);
}

void ig_put_char(ig_writer *writer, char c) {
    *reserve_bytes(writer, 1) = c;
    advance_writer(writer, 1);
}

static void put_fill(ig_writer *writer, char c, size_t count) {
    memset(reserve_bytes(writer, count), c, count);
    advance_writer(writer, count);
}

void ig_put_spaces(ig_writer *writer, int count) {
    put_fill(writer, ' ', count > 0 ? (size_t)count : 0);
}

void ig_put_align(ig_writer *writer, size_t unit) {
    assert(unit > 0 && "alignment to nothing");
    put_fill(writer, '\0', ig_align_up(writer->size, unit) - writer->size);
}

ig_str ig_writer_str(const ig_writer *writer) {
    return writer->data ? (ig_str){ writer->data, writer->size } : IG_STR("");
}

/* ---- strings ---- */

/* The letter of a one-letter escape, or 0. */
static char short_escape(char c) {
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\n':
        return 'n';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

/* A control byte becomes `control` and two hex digits; a byte that is not UTF-8 becomes
 * `broken`, or counts as a control byte where that is NULL. */
static void put_escaped(ig_writer *writer, ig_str text, const char *control,
                        const char *broken) {
    ig_put_char(writer, '"');
    for (size_t i = 0; i < text.size;) {
        const char *at = text.data + i;
        size_t length = ig_utf8_length(at, text.size - i);
        unsigned byte = (unsigned char)*at;
        char letter = short_escape(*at);
        if (letter) {
            ig_put(writer, "\\%c", letter);
        } else if (!length && broken) {
            ig_put_str(writer, ig_str_of(broken));
        } else if (!length || byte < 0x20 || byte == 0x7f) {
            ig_put(writer, "%s%02x", control, byte);
        } else {
            ig_put_bytes(writer, at, length);
        }
        i += length ? length : 1;
    }
    ig_put_char(writer, '"');
}

void ig_put_quoted(ig_writer *writer, ig_str text) {
    put_escaped(writer, text, "\\x", NULL);
}

void ig_put_json_string(ig_writer *writer, ig_str text) {
    put_escaped(writer, text, "\\u00", "\xef\xbf\xbd");
}

/* ---- numbers ---- */

/* Tries digits from `first` on until `value` reads back.  The host's locale may write a
 * comma, so the plain one is in force meanwhile; glibc's "C" is a static object,
 * nothing to fail or free. */
static void put_shortest(ig_writer *writer, double value, bool is_single, int first) {
    char text[40];
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    for (int digits = first; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        double back = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
        if (!(back < value || back > value)) {
            break;
        }
    }
    uselocale(before);
    ig_put_str(writer, ig_str_of(text));
}

static bool put_special(ig_writer *writer, double value) {
    if (isnan(value)) {
        ig_put(writer, "nan");
    } else if (isinf(value)) {
        ig_put(writer, value < 0 ? "-inf" : "inf");
    }
    return !isfinite(value);
}

/* DBL_DIG digits always survive the way there and back, so nothing shorter is missed by
 * beginning there; below the normal range fewer digits may do. */
void ig_put_f64(ig_writer *writer, double value) {
    if (!put_special(writer, value)) {
        put_shortest(writer, value, false, fabs(value) < DBL_MIN ? 1 : DBL_DIG);
    }
}

void ig_put_f32(ig_writer *writer, float value) {
    if (!put_special(writer, (double)value)) {
        put_shortest(writer, (double)value, true, fabsf(value) < FLT_MIN ? 1 : FLT_DIG);
    }
}
