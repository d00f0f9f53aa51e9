/* Integers of any size and escaped text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/pickle/number.h"

#include "base/writer.h"

#include <assert.h>
#include <string.h>

/* Turning bytes into decimals takes the square of their count. */
enum { MAX_BYTES = 1024, MAX_DIGITS = 2500 };

static ig_status fail_size(ig_pickle_vm *vm) {
    return ig_pickle_fail(vm, IG_LIMIT, "an integer has more than %d bytes", MAX_BYTES);
}

/* Divides the magnitude (lowest byte first) by ten; returns the remainder. */
static unsigned divide_by_ten(unsigned char *bytes, size_t size) {
    unsigned rest = 0;
    for (size_t i = size; i-- > 0;) {
        unsigned part = rest << 8 | bytes[i];
        bytes[i] = (unsigned char)(part / 10);
        rest = part % 10;
    }
    return rest;
}

static void negate_bytes(unsigned char *bytes, size_t size) {
    unsigned carry = 1;
    for (size_t i = 0; i < size; i++) {
        unsigned sum = (unsigned char)~bytes[i] + carry;
        bytes[i] = (unsigned char)sum;
        carry = sum >> 8;
    }
}

static ig_str decimal_of(ig_arena *arena, ig_str number) {
    assert(number.size > 0 && number.size <= MAX_BYTES &&
           "the caller checked the size");
    unsigned char bytes[MAX_BYTES];
    char digits[MAX_DIGITS];
    size_t size = number.size, begin = sizeof(digits);
    memcpy(bytes, number.data, size);
    bool is_negative = bytes[size - 1] & 0x80;
    if (is_negative) {
        negate_bytes(bytes, size);
    }
    while (size > 0 && begin > 1) {
        digits[--begin] = (char)('0' + divide_by_ten(bytes, size));
        while (size > 0 && bytes[size - 1] == 0) {
            size--;
        }
    }
    assert(size == 0 && begin > 0 &&
           "MAX_DIGITS hold any integer of MAX_BYTES, and its sign");
    if (is_negative) {
        digits[--begin] = '-';
    }
    size_t length = sizeof(digits) - begin;
    return (ig_str){ ig_arena_copy(arena, digits + begin, length), length };
}

ig_status ig_pickle_int_of_bytes(ig_pickle_vm *vm, ig_str bytes, ig_py *item) {
    const unsigned char *at = (const unsigned char *)bytes.data;
    size_t size = bytes.size;
    unsigned char sign = size && at[size - 1] & 0x80 ? 0xff : 0;
    while (size > 8 && at[size - 1] == sign && (at[size - 2] & 0x80) == (sign & 0x80)) {
        size--;
    }
    if (size > MAX_BYTES) {
        return fail_size(vm);
    }
    if (size > 8) {
        item->kind = IG_PY_BIG;
        item->as.text = decimal_of(vm->arena, (ig_str){ bytes.data, size });
        return IG_OK;
    }
    uint64_t number = sign ? UINT64_MAX : 0;
    for (size_t i = size; i-- > 0;) {
        number = number << 8 | at[i];
    }
    item->kind = IG_PY_INT;
    item->as.i = (int64_t)number;
    return IG_OK;
}

ig_status ig_pickle_int_of_text(ig_pickle_vm *vm, ig_str text, ig_py *item) {
    if (ig_str_to_i64(text, &item->as.i)) {
        item->kind = IG_PY_INT;
        return IG_OK;
    }
    size_t first = text.size > 0 && text.data[0] == '-';
    bool is_decimal = text.size > first;
    for (size_t i = first; i < text.size; i++) {
        is_decimal = is_decimal && text.data[i] >= '0' && text.data[i] <= '9';
    }
    if (!is_decimal) {
        return ig_pickle_fail(vm, IG_INVALID, "its argument is not an integer");
    }
    if (text.size > MAX_DIGITS) {
        return fail_size(vm);
    }
    item->kind = IG_PY_BIG;
    item->as.text = text;
    return IG_OK;
}

/* ---- text ---- */

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* `count` digits at `*at`; at most `max` of an octal run. */
static bool read_digits(ig_str text, size_t *at, size_t count, int base,
                        uint32_t *out_code) {
    assert(base > 1 && base <= 16 && "digits are 0 to f");
    *out_code = 0;
    for (size_t i = 0; i < count; i++, ++*at) {
        int digit = *at < text.size ? digit_of(text.data[*at]) : 99;
        if (digit >= base) {
            return false;
        }
        *out_code = *out_code * (uint32_t)base + (uint32_t)digit;
    }
    return true;
}

static void put_code(ig_writer *out, uint32_t code) {
    assert(code <= 0x10ffff && "the caller checked that UTF-8 can hold it");
    if (code < 0x80) {
        ig_put_char(out, (char)code);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };
    ig_put_char(out, (char)(leads[more] | code >> (6 * more)));
    while (more-- > 0) {
        ig_put_char(out, (char)(0x80 | (code >> (6 * more) & 0x3f)));
    }
}

typedef struct escape_row {
    char letter, plain;
} escape_row;

static const escape_row escapes[] = { { 'n', '\n' },  { 't', '\t' },  { 'r', '\r' },
                                      { '\\', '\\' }, { '\'', '\'' }, { '"', '"' },
                                      { 'a', '\a' },  { 'b', '\b' },  { 'f', '\f' },
                                      { 'v', '\v' } };

/* The escape at `*at`, after its backslash; false when it is none. */
static bool read_escape(ig_str text, size_t *at, bool is_raw, ig_writer *out) {
    char letter = *at < text.size ? text.data[*at] : '\0';
    uint32_t code;
    if (is_raw) {
        size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        ++*at;
        bool is_good = digits && read_digits(text, at, digits, 16, &code) &&
                       code <= 0x10ffff;
        if (is_good) {
            put_code(out, code);
        }
        return is_good;
    }
    if (letter == 'x') {
        ++*at;
        if (!read_digits(text, at, 2, 16, &code)) {
            return false;
        }
        ig_put_char(out, (char)code);
        return true;
    }
    if (letter >= '0' && letter <= '7') {
        size_t count = 1;
        while (count < 3 && *at + count < text.size &&
               digit_of(text.data[*at + count]) < 8) {
            count++;
        }
        read_digits(text, at, count, 8, &code);
        ig_put_char(out, (char)code);
        return true;
    }
    for (size_t i = 0; i < IG_COUNT_OF(escapes); i++) {
        if (escapes[i].letter == letter) {
            ig_put_char(out, escapes[i].plain);
            ++*at;
            return true;
        }
    }
    return false;
}

ig_status ig_pickle_unescape(ig_pickle_vm *vm, ig_str text, bool is_raw,
                             ig_str *out_text) {
    ig_writer out;
    ig_writer_init(&out, vm->arena);
    for (size_t at = 0; at < text.size;) {
        char c = text.data[at++];
        bool is_latin = is_raw && (unsigned char)c >= 0x80;
        bool is_literal = c == '\\' && is_raw &&
                          (at >= text.size ||
                           (text.data[at] != 'u' && text.data[at] != 'U'));
        if (is_latin) {
            put_code(&out, (unsigned char)c);
        } else if (c != '\\' || is_literal) {
            ig_put_char(&out, c);
        } else if (!read_escape(text, &at, is_raw, &out)) {
            return ig_pickle_fail(vm, IG_INVALID, "its text has a broken escape");
        }
    }
    *out_text = out.size ? ig_writer_str(&out) : IG_STR("");
    return IG_OK;
}
