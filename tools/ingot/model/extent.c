/* Extents of a type's text: a small calculator over + - * ( ) and names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/extent.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16, NAME_BYTES = 256 };

typedef struct reader {
    const extents *with;
    const char *at;
    int depth;
    bool is_bad;
} reader;

static int64_t read_sum(reader *r);

static bool is_name_byte(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || (c & 0x80);
}

static void skip_blanks(reader *r) {
    while (*r->at == ' ') {
        r->at++;
    }
}

static int64_t value_of(const reader *r, const char *name) {
    const extents *with = r->with;
    bool is_batch = with->batch_symbol && strcmp(name, with->batch_symbol) == 0;
    for (size_t i = 0; i < with->dims.count && r->depth < DEPTH; i++) {
        const char *equals = strchr(with->dims.items[i], '=');
        char pattern[NAME_BYTES];
        if (!equals || equals - with->dims.items[i] >= NAME_BYTES) {
            continue;
        }
        snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - with->dims.items[i]),
                 with->dims.items[i]);
        if (fnmatch(pattern, name, 0) == 0) {
            reader inner = { .with = with, .at = equals + 1, .depth = r->depth + 1 };
            int64_t value = read_sum(&inner);
            return inner.is_bad || *inner.at ? -1 : value;
        }
    }
    return is_batch || strcmp(name, "batch") == 0 || r->depth == 0 ? with->batch : -1;
}

static int64_t read_name(reader *r) {
    char name[NAME_BYTES];
    size_t length = 0;
    while (is_name_byte(r->at[length])) {
        length++;
    }
    if (length == 0 || length >= sizeof name) {
        r->is_bad = true;
        return 0;
    }
    memcpy(name, r->at, length);
    name[length] = '\0';
    r->at += length;
    int64_t value = value_of(r, name);
    r->is_bad |= value < 0;
    return value;
}

static int64_t read_factor(reader *r) {
    skip_blanks(r);
    if (isdigit((unsigned char)*r->at)) {
        char *end;
        int64_t number = strtoll(r->at, &end, 10);
        r->at = end;
        return number;
    }
    if (*r->at != '(' || r->depth >= DEPTH) {
        return read_name(r);
    }
    r->at++;
    r->depth++;
    int64_t inner = read_sum(r);
    r->depth--;
    skip_blanks(r);
    r->is_bad |= *r->at != ')';
    r->at += *r->at == ')';
    return inner;
}

static int64_t read_product(reader *r) {
    int64_t value = read_factor(r);
    for (skip_blanks(r); *r->at == '*' && !r->is_bad; skip_blanks(r)) {
        r->at++;
        r->is_bad |= __builtin_mul_overflow(value, read_factor(r), &value);
    }
    return value;
}

static int64_t read_sum(reader *r) {
    int64_t value = read_product(r);
    for (skip_blanks(r); (*r->at == '+' || *r->at == '-') && !r->is_bad;
         skip_blanks(r)) {
        bool is_minus = *r->at++ == '-';
        int64_t next = read_product(r);
        r->is_bad |= is_minus ? __builtin_sub_overflow(value, next, &value)
                              : __builtin_add_overflow(value, next, &value);
    }
    return value;
}

char *type_with_extents(const extents *with, const char *type) {
    const char *bracket = strchr(type, '[');
    if (!bracket) {
        return text_of("%s", type);
    }
    char *out = text_of("%.*s[", (int)(bracket - type), type);
    reader r = { .with = with, .at = bracket + 1 };
    for (const char *comma = ""; *r.at && *r.at != ']' && !r.is_bad; comma = ", ") {
        int64_t extent = read_sum(&r);
        char *longer = text_of("%s%s%lld", out, comma, (long long)extent);
        free(out);
        out = longer;
        r.is_bad |= extent < 0 || (*r.at != ',' && *r.at != ']');
        r.at += *r.at == ',';
    }
    if (r.is_bad || *r.at != ']') {
        complain(0,
                 "the extents of %s are not all known: give --dim NAME=N, or --input",
                 type);
        free(out);
        return NULL;
    }
    char *whole = text_of("%s%s", out, r.at);
    free(out);
    return whole;
}

char *batch_symbol_of(const model *m) {
    for (size_t i = 0; i < model_input_count(m); i++) {
        const char *bracket = strchr(model_input_type(m, i), '[');
        size_t length = 0;
        while (bracket && is_name_byte(bracket[1 + length])) {
            length++;
        }
        if (length && !isdigit((unsigned char)bracket[1])) {
            return text_of("%.*s", (int)length, bracket + 1);
        }
    }
    return NULL;
}
