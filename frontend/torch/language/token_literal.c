/* Values of the literals of Python source.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/token.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- numbers ---- */

static int digit_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static int base_of(ig_str text) {
    if (text.size < 2 || text.data[0] != '0') {
        return 10;
    }
    switch (text.data[1] | 0x20) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 10;
    }
}

const char *ig_py_token_int(ig_str text, bool is_negative, int64_t *out_value) {
    assert(text.size > 0 && "the lexer makes no empty number");
    int base = base_of(text);
    size_t first = base == 10 ? 0 : 2;
    uint64_t value = 0, max = (uint64_t)INT64_MAX + is_negative;
    bool has_digit = false, is_zero = true;
    for (size_t i = first; i < text.size; i++) {
        if (text.data[i] == '_') {
            continue;
        }
        int digit = digit_value(text.data[i]);
        if (digit >= base) {
            return "a digit that its base does not have";
        }
        if (value > (max - (uint64_t)digit) / (uint64_t)base) {
            return "an integer that 64 bits cannot hold";
        }
        value = value * (uint64_t)base + (uint64_t)digit;
        has_digit = true;
        is_zero = is_zero && digit == 0;
    }
    if (!has_digit) {
        return "an integer without digits";
    }
    if (base == 10 && !is_zero && text.data[0] == '0') {
        return "an integer with leading zeros";
    }
    *out_value = (int64_t)(is_negative ? 0 - value : value);
    return NULL;
}

const char *ig_py_token_float(ig_arena *arena, ig_str text, double *out_value) {
    char *clean = ig_arena_alloc(arena, text.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '_' && (text.data[i] | 0x20) != 'j') {
            clean[size++] = text.data[i];
        }
    }
    clean[size] = '\0';
    return ig_str_to_f64((ig_str){ clean, size }, out_value)
               ? NULL
               : "a number that no double holds";
}

/* ---- strings ---- */

ig_py_string_form ig_py_token_string_form(ig_str text) {
    assert(text.size >= 2 && "a string has its quotes");
    ig_py_string_form form = { 0 };
    size_t at = 0;
    for (; text.data[at] != '"' && text.data[at] != '\''; at++) {
        char c = (char)(text.data[at] | 0x20);
        form.is_raw = form.is_raw || c == 'r';
        form.is_bytes = form.is_bytes || c == 'b';
        form.is_formatted = form.is_formatted || c == 'f';
    }
    char quote = text.data[at];
    bool is_long = text.size - at >= 6 && text.data[at + 1] == quote &&
                   text.data[at + 2] == quote;
    size_t width = is_long ? 3 : 1;
    assert(text.size >= at + 2 * width && "the end quotes are others than the first");
    form.body = (ig_str){ text.data + at + width, text.size - at - 2 * width };
    return form;
}

/* Writes to a buffer that is large enough: an escape is never shorter than its
 * UTF-8. */
typedef struct unescape {
    const char *next, *end;
    char *out;
    bool bytes_are_bytes;
} unescape;

static void put_code_point(unescape *at, uint32_t code) {
    assert(code <= 0x10ffff && "the caller checked that UTF-8 can hold it");
    if (code < 0x80) {
        *at->out++ = (char)code;
    } else if (code < 0x800) {
        *at->out++ = (char)(0xc0 | code >> 6);
        *at->out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *at->out++ = (char)(0xe0 | code >> 12);
        *at->out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *at->out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *at->out++ = (char)(0xf0 | code >> 18);
        *at->out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *at->out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *at->out++ = (char)(0x80 | (code & 0x3f));
    }
}

static void put_byte(unescape *at, uint32_t byte) {
    assert(byte <= 255 && "the caller checked the byte");
    if (at->bytes_are_bytes) {
        *at->out++ = (char)byte;
    } else {
        put_code_point(at, byte);
    }
}

/* One to three octal digits; `first` is taken. */
static const char *put_octal(unescape *at, char first) {
    assert(first >= '0' && first <= '7' && "the caller saw an octal digit");
    uint32_t value = (uint32_t)(first - '0');
    for (int i = 0; i < 2 && at->next < at->end; i++) {
        if (*at->next < '0' || *at->next > '7') {
            break;
        }
        value = value * 8 + (uint32_t)(*at->next++ - '0');
    }
    if (value > 255) {
        return "an octal escape above \\377";
    }
    put_byte(at, value);
    return NULL;
}

static const char *put_hex(unescape *at, int digits) {
    uint32_t value = 0;
    for (int i = 0; i < digits; i++) {
        int digit = at->next < at->end ? digit_value(*at->next) : 99;
        if (digit > 15) {
            return "an escape with too few hexadecimal digits";
        }
        value = value * 16 + (uint32_t)digit;
        at->next++;
    }
    if (digits == 2) {
        put_byte(at, value);
    } else if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
        return "an escape of no character";
    } else {
        put_code_point(at, value);
    }
    return NULL;
}

/* After the backslash. */
static const char *put_escape(unescape *at) {
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    char c = *at->next++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        *at->out++ = to[known - from];
        return NULL;
    }
    if (c >= '0' && c <= '7') {
        return put_octal(at, c);
    }
    switch (c) {
    case '\n':
        return NULL; /* a joined line */
    case 'x':
        return put_hex(at, 2);
    case 'u':
        return put_hex(at, 4);
    case 'U':
        return put_hex(at, 8);
    case 'N':
        return "an escape by name";
    default:
        *at->out++ = '\\';
        *at->out++ = c;
        return NULL;
    }
}

const char *ig_py_token_unescape(const ig_py_string_form *form, bool bytes_are_bytes,
                                 char *out, size_t *out_size) {
    unescape at = { form->body.data, form->body.data + form->body.size, out,
                    bytes_are_bytes || form->is_bytes };
    while (at.next < at.end) {
        if (*at.next != '\\' || form->is_raw || at.next + 1 == at.end) {
            *at.out++ = *at.next++;
            continue;
        }
        at.next++;
        const char *problem = put_escape(&at);
        if (problem) {
            return problem;
        }
    }
    *out_size = (size_t)(at.out - out);
    assert(*out_size <= form->body.size && "escapes never grow");
    return NULL;
}
