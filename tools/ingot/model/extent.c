/* Extents of a type's text: a small calculator over + - * ( ) and names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/extent.h"

#include "tools/ingot/model/jagged.h"

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

/* The first item of --dim whose pattern fits the name, or the count of items. */
static size_t find_dim(const extents *with, const char *name) {
    size_t i = 0;
    for (; i < with->dims.count; i++) {
        const char *text = with->dims.items[i], *equals = strchr(text, '=');
        char pattern[NAME_BYTES];
        if (!equals || equals - text >= NAME_BYTES) {
            continue;
        }
        snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - text), text);
        if (fnmatch(pattern, name, 0) == 0) {
            break;
        }
    }
    return i;
}

/* Inputs that share the name of an extent, "S", have symbols of their own: S, S2, S3.
 * An option for S goes for all of them, unless one is named itself. */
static size_t find_dim_of_family(const extents *with, const char *name) {
    char family[NAME_BYTES];
    size_t length = strlen(name);
    while (length > 0 && isdigit((unsigned char)name[length - 1])) {
        length--;
    }
    bool is_member = name[length] >= '1' && name[length] <= '9' && length > 0;
    snprintf(family, sizeof family, "%.*s", is_member ? (int)length : 0, name);
    return is_member ? find_dim(with, family) : with->dims.count;
}

/* -1 where the number is too large, or the name has no multiple. */
static int64_t scaled_value(const extents *with, const char *name) {
    for (size_t i = 0; i < with->scaled_count; i++) {
        int64_t value;
        if (strcmp(with->scaled[i].symbol, name) == 0) {
            bool is_too_large =
                __builtin_mul_overflow(with->batch, with->scaled[i].factor, &value) ||
                __builtin_add_overflow(value, with->scaled[i].more, &value);
            return is_too_large ? -1 : value;
        }
    }
    return -1;
}

static int64_t value_of(const reader *r, const char *name) {
    const extents *with = r->with;
    bool is_batch = with->batch_symbol && strcmp(name, with->batch_symbol) == 0;
    size_t found = r->depth < DEPTH ? find_dim(with, name) : with->dims.count;
    if (found == with->dims.count && r->depth < DEPTH) {
        found = find_dim_of_family(with, name);
    }
    if (found == with->dims.count && scaled_value(with, name) >= 0) {
        return scaled_value(with, name);
    }
    if (found == with->dims.count) {
        return is_batch || strcmp(name, "batch") == 0 || r->depth == 0 ? with->batch
                                                                       : -1;
    }
    with->is_dim_used[found] = true;
    reader inner = { .with = with,
                     .at = strchr(with->dims.items[found], '=') + 1,
                     .depth = r->depth + 1 };
    int64_t value = read_sum(&inner);
    return inner.is_bad || *inner.at ? -1 : value;
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

/* Does an item of --dim fit the extent, which is all name? */
static bool is_dim_given(const extents *with, const char *extent) {
    bool is_name = extent[0] && !isdigit((unsigned char)extent[0]);
    for (const char *at = extent; *at; at++) {
        is_name = is_name && is_name_byte(*at);
    }
    return is_name && (find_dim(with, extent) < with->dims.count ||
                       find_dim_of_family(with, extent) < with->dims.count);
}

/* One extent's text: a number where --dim gives one; NULL: it gives no number. */
static char *extent_with_dims(const extents *with, const char *extent) {
    if (!is_dim_given(with, extent)) {
        return text_of("%s", extent);
    }
    reader r = { .with = with, .at = extent };
    int64_t value = read_sum(&r);
    if (!r.is_bad && value >= 0) {
        return text_of("%lld", (long long)value);
    }
    complain(0, "--dim gives no number for %s: write --dim NAME=N", extent);
    return NULL;
}

char *type_with_dims(const extents *with, const char *type) {
    const char *at = strchr(type, '['), *end = at ? strchr(at, ']') : NULL;
    if (!end) {
        return text_of("%s", type);
    }
    char *out = text_of("%.*s", (int)(++at - type), type);
    while (at < end && out) {
        size_t length = strcspn(at, ",]");
        char *extent = text_of("%.*s", (int)length, at);
        char *closed = extent_with_dims(with, extent);
        char *longer = closed ? text_of("%s%s%s", out, closed,
                                        at[length] == ',' ? ", " : "")
                              : NULL;
        free(extent);
        free(closed);
        free(out);
        out = longer;
        at += length + (at[length] == ',');
        at += strspn(at, " ");
    }
    char *whole = out ? text_of("%s%s", out, end) : NULL;
    free(out);
    return whole;
}

/* The name that a type's first extent is, "batch" of "f32[batch, 13]"; 0 bytes:
 * none. */
static const char *first_symbol(const char *type, size_t *out_length) {
    const char *bracket = strchr(type, '[');
    *out_length = 0;
    if (!bracket || isdigit((unsigned char)bracket[1])) {
        return type;
    }
    while (is_name_byte(bracket[1 + *out_length])) {
        (*out_length)++;
    }
    return bracket + 1;
}

static bool has_open_extent(const model *m, size_t index) {
    size_t length;
    first_symbol(model_input_type(m, index), &length);
    return length > 0;
}

/* Is input number `index` lengths or offsets, or the items of some? */
static bool is_of_bags(const model *m, size_t index) {
    bool is_it = jagged_of(m, index).form != JAGGED_NONE;
    for (size_t i = 0; i < model_input_count(m) && !is_it; i++) {
        jagged bags = jagged_of(m, i);
        is_it = bags.form != JAGGED_NONE && bags.items == index;
    }
    return is_it;
}

/* The first input whose first extent is the batch, which is open unless `is_fixed`: of
 * bags it is one that counts their rows; the count of inputs when there is none. */
static size_t batch_input(const model *m, bool is_fixed) {
    size_t count = model_input_count(m), index = count;
    for (size_t i = 0; i < count && index == count; i++) {
        bool may_be = is_fixed || has_open_extent(m, i);
        index = may_be && !is_of_bags(m, i) ? i : index;
    }
    for (size_t i = 0; i < count && index == count; i++) {
        jagged bags = jagged_of(m, i);
        bool may_be = is_fixed || has_open_extent(m, i);
        bool counts_rows = bags.keys || bags.form == JAGGED_OFFSETS;
        index = may_be && counts_rows ? i : index;
    }
    for (size_t i = 0; i < count && index == count; i++) {
        index = is_fixed || has_open_extent(m, i) ? i : index;
    }
    return index;
}

/* The batch size that fixed types give: the first extent of the first input. */
static int64_t fixed_batch(const model *m) {
    const char *type = model_input_count(m) ? model_input_type(m, 0) : "";
    const char *bracket = strchr(type, '[');
    return bracket && isdigit((unsigned char)bracket[1])
               ? strtoll(bracket + 1, NULL, 10)
               : 1;
}

static void add_scaled(extents *out, const model *m, size_t index, int64_t factor,
                       int64_t more) {
    size_t length;
    const char *symbol = first_symbol(model_input_type(m, index), &length);
    if (length) {
        out->scaled[out->scaled_count++] =
            (scaled_extent){ text_of("%.*s", (int)length, symbol), factor, more };
    }
}

/* `first`: the input whose first extent is the batch. */
static void find_scaled(extents *out, const model *m, size_t first) {
    size_t count = model_input_count(m);
    out->scaled = need(calloc(2 * count + 1, sizeof *out->scaled));
    for (size_t i = 0; i < count; i++) {
        jagged bags = jagged_of(m, i);
        if (bags.form != JAGGED_NONE && bags.keys) {
            add_scaled(out, m, i, bags.keys, 0);
            add_scaled(out, m, bags.items, bags.keys, 0);
        } else if (bags.form == JAGGED_OFFSETS && i == first) {
            add_scaled(out, m, i, 1, 1); /* the last one ends there, too */
        }
    }
}

bool extents_init(extents *out, const model *m, int64_t batch, text_list dims) {
    size_t index = batch_input(m, false), length = 0;
    bool is_open = index < model_input_count(m);
    const char *symbol = is_open ? first_symbol(model_input_type(m, index), &length)
                                 : "";
    *out = (extents){ .batch_symbol = is_open ? text_of("%.*s", (int)length, symbol)
                                              : NULL,
                      .batch = batch >= 0 ? batch
                               : is_open  ? 1
                                          : fixed_batch(m),
                      .dims = dims,
                      .is_dim_used = need(calloc(dims.count + 1, sizeof(bool))) };
    find_scaled(out, m, index);
    if (is_open || batch < 0 || batch == fixed_batch(m)) {
        return true;
    }
    complain(0, "--batch %lld: no input of the model leaves its first extent open",
             (long long)batch);
    return false;
}

void extents_fini(extents *which) {
    for (size_t i = 0; i < which->scaled_count; i++) {
        free(which->scaled[i].symbol);
    }
    free(which->scaled);
    free(which->batch_symbol);
    free(which->is_dim_used);
    *which = (extents){ 0 };
}

bool extents_check_dims(const extents *with, const model *m) {
    for (size_t i = 0; i < with->dims.count; i++) {
        if (!with->is_dim_used[i]) {
            complain(0, "--dim %s: no open extent of the inputs has that name:",
                     with->dims.items[i]);
            for (size_t k = 0; k < model_input_count(m); k++) {
                put_port(stderr, "", model_input_name(m, k), model_input_type(m, k));
            }
            (void)wrong_usage();
            return false;
        }
    }
    return true;
}

int64_t batch_of_call(const model *m, const call *with) {
    size_t index = batch_input(m, false);
    index = index < with->count ? index : batch_input(m, true);
    if (index >= with->count || with->inputs[index].rank == 0) {
        return 1;
    }
    jagged bags = jagged_of(m, index);
    int64_t entries = with->inputs[index].dims[0] - (bags.form == JAGGED_OFFSETS);
    return entries / (bags.keys ? bags.keys : 1);
}
