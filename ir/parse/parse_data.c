/* Constants from text: lists of numbers, one number, splats, bytes, parts of files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The type is known before the content is read, so nothing is allocated that the text
 * at hand, or the file that it names, does not hold.
 */
#include "ir/parse/parse.h"

#include "base/checked.h"
#include "base/platform/context_map.h"
#include "ir/tensor/element.h"

ig_status ig_parse_element_text(ig_parser *parser, ig_str *out_text) {
    ig_token first = parser->token;
    bool has_sign = ig_parse_accept(parser, '-');
    ig_token last = parser->token;
    bool is_number = last.kind == IG_TOKEN_INT || last.kind == IG_TOKEN_FLOAT ||
                     last.kind == IG_TOKEN_HEX || last.kind == IG_TOKEN_WORD;
    if (!is_number || (has_sign && last.text.data != first.text.data + 1)) {
        return ig_parse_expected(parser, "a number");
    }
    *out_text = (ig_str){ first.text.data,
                          (size_t)(last.text.data + last.text.size - first.text.data) };
    ig_parse_advance(parser);
    return IG_OK;
}

/* Element `index`; `room` is NULL beyond the last one, where only the count matters. */
static ig_status read_element(ig_parser *p, ig_dtype dtype, void *room, int64_t index) {
    ig_token at = p->token;
    ig_str text;
    IG_TRY(ig_parse_element_text(p, &text));
    const char *problem = room ? ig_element_parse(dtype, text, room, index) : NULL;
    if (problem) {
        return ig_parse_error(p, &at, "'%.*s' %s", IG_STR_ARG(text), problem);
    }
    return IG_OK;
}

/* ---- the forms ---- */

static ig_status read_list(ig_parser *p, ig_data *data, int64_t count) {
    ig_token at = p->token;
    ig_dtype dtype = (ig_dtype)data->type->dtype;
    int64_t read = 0;
    /* An element takes at least one byte of text, a comma follows all but the last. */
    if (count > p->lexer.end - p->lexer.next) {
        return ig_parse_error(p, &at,
                              "the type has %lld elements, the text holds fewer",
                              (long long)count);
    }
    char *room = ig_arena_zalloc(p->arena, (size_t)data->size);
    data->bytes = room;
    IG_TRY(ig_parse_expect(p, '[', "'['"));
    for (; !ig_parse_is(p, ']'); read++) {
        IG_TRY(read_element(p, dtype, read < count ? room : NULL, read));
        if (!ig_parse_accept(p, ',')) {
            read++;
            break;
        }
    }
    if (read != count && ig_parse_is(p, ']')) {
        return ig_parse_error(p, &at, "the type has %lld elements, here are %lld",
                              (long long)count, (long long)read);
    }
    return ig_parse_expect(p, ']', "',' or ']'");
}

static ig_status read_one(ig_parser *p, ig_data *data) {
    char *room = ig_arena_zalloc(p->arena, sizeof(int64_t));
    data->bytes = room;
    return read_element(p, (ig_dtype)data->type->dtype, room, 0);
}

static ig_status read_splat(ig_parser *p, ig_data *data) {
    data->is_splat = true;
    IG_TRY(read_one(p, data));
    return ig_parse_expect(p, ')', "')'");
}

static int hex_value(char c) {
    return c <= '9' ? c - '0' : c >= 'a' ? c - 'a' + 10 : c - 'A' + 10;
}

static ig_status read_bytes(ig_parser *p, ig_data *data) {
    ig_str text = p->token.text;
    if (!ig_parse_is(p, IG_TOKEN_HEX)) {
        return ig_parse_expected(p, "bytes, 0x…");
    }
    size_t size = (text.size - 2) / 2;
    if (text.size % 2 || (uint64_t)size != (uint64_t)data->size) {
        return ig_parse_error(p, &p->token, "the type has %lld bytes, here are %zu%s",
                              (long long)data->size, size,
                              text.size % 2 ? " and a half" : "");
    }
    char *room = ig_arena_alloc(p->arena, size);
    for (size_t i = 0; i < size; i++) {
        const char *pair = text.data + 2 + 2 * i;
        room[i] = (char)(hex_value(pair[0]) << 4 | hex_value(pair[1]));
    }
    data->bytes = room;
    ig_parse_advance(p);
    return ig_parse_expect(p, ')', "')'");
}

/* ---- parts of files ---- */

#define MISSING_FILE UINTPTR_MAX /* in place of a number in the map of files */

/* Reported once for each file, with advice: dumps refer to their model's weights. */
static ig_status refuse_file(ig_parser *p, const ig_token *at, const char *name,
                             ig_status status, const char *why) {
    const char *folder = p->module->folder;
    ig_location where = { .file = p->file, .line = at->line, .column = at->column };
    ig_map_set(&p->files, ig_str_of(name), (void *)MISSING_FILE);
    return ig_error_hint(
        &p->context->diag, status == IG_IO ? IG_INVALID : status, &where,
        ig_arena_printf(p->arena,
                        "weights are looked for beside the text, in '%s': put the file "
                        "there, or dump the model again beside it",
                        folder[0] ? folder : "."),
        "'%s': %s", name, why);
}

static ig_status map_named(ig_parser *p, const ig_token *at, const char *name,
                           const ig_file_map **out_map) {
    char why[128];
    ig_file_map map;
    uintptr_t known = (uintptr_t)ig_map_get(&p->files, ig_str_of(name));
    if (!p->module->folder) {
        return ig_parse_error(p, at, "there is no folder to look for '%s' in", name);
    }
    if (!known) {
        ig_status status = ig_context_map_beneath(p->context, p->file, ig_str_of(name),
                                                  &map, why);
        if (status != IG_OK) {
            return refuse_file(p, at, name, status, why);
        }
        IG_PUSH(p->arena, &p->module->files, map);
        known = p->module->files.count;
        ig_map_set(&p->files, ig_str_of(name), (void *)known);
    }
    if (known == MISSING_FILE) {
        return IG_INVALID; /* said before */
    }
    *out_map = &p->module->files.items[known - 1];
    return IG_OK;
}

/* The hash of the bytes, which may be absent: a text and the file beside it may be of
 * two writings, or the file may have been replaced. */
static ig_status check_hash(ig_parser *p, const ig_data *data, const char *name) {
    if (!ig_parse_accept(p, ',')) {
        return IG_OK;
    }
    ig_str text = p->token.text;
    if (!ig_parse_is(p, IG_TOKEN_HEX) || text.size != 2 + IG_TEXT_HASH_DIGITS) {
        return ig_parse_expected(p, "a hash, 0x and 16 digits");
    }
    uint64_t said = 0, hash = ig_hash_bytes(data->bytes, (size_t)data->size, 0);
    for (size_t i = 2; i < text.size; i++) {
        said = said << 4 | (uint64_t)hex_value(text.data[i]);
    }
    if (said != hash) {
        return ig_parse_error(p, &p->token,
                              "'%s' holds other bytes at %lld than those that this "
                              "text was written with",
                              name, (long long)data->offset);
    }
    ig_parse_advance(p);
    return IG_OK;
}

static ig_status read_file(ig_parser *p, ig_data *data) {
    ig_token at = p->token;
    const ig_file_map *map = NULL;
    int64_t size, end;
    const char *name;
    IG_TRY(ig_parse_quoted(p, "a quoted file name", &name));
    IG_TRY(ig_parse_expect(p, ',', "','"));
    IG_TRY(ig_parse_integer(p, "an offset", &data->offset));
    IG_TRY(ig_parse_expect(p, ',', "','"));
    IG_TRY(ig_parse_integer(p, "a size", &size));
    if (size != data->size) {
        return ig_parse_error(p, &at, "the type has %lld bytes, not %lld",
                              (long long)data->size, (long long)size);
    }
    IG_TRY(map_named(p, &at, name, &map));
    if (data->offset < 0 || !ig_add_i64(data->offset, size, &end) ||
        (uint64_t)end > map->size) {
        return ig_parse_error(
            p, &at, "'%s' has %zu bytes, too few for offset %lld + %lld", name,
            map->size, (long long)data->offset, (long long)size);
    }
    data->bytes = (const char *)map->data + data->offset;
    data->file = ig_arena_printf(p->arena, "%s%s", p->module->folder, name);
    IG_TRY(check_hash(p, data, name));
    return ig_parse_expect(p, ')', "')'");
}

/* ---- any form ---- */

static bool accept_form(ig_parser *p, const char *word) {
    if (!ig_parse_is_word(p, word) || ig_parse_peek(p).kind != '(') {
        return false;
    }
    ig_parse_advance(p);
    ig_parse_advance(p);
    return true;
}

static ig_status read_numbers(ig_parser *p, ig_data *data) {
    int64_t count;
    bool has_rows = data->type->kind == IG_TABLE && !ig_rows_is_plain(data->type->rows);
    if (has_rows || !ig_type_known_count(data->type, &count)) {
        return ig_parse_expected(p, "inline(0x…) or file(…), since rows have scales");
    }
    if (accept_form(p, "splat")) {
        return read_splat(p, data);
    }
    if (ig_parse_is(p, '[')) {
        return read_list(p, data, count);
    }
    if (data->type->rank || data->type->lanes > 1) {
        return ig_parse_expected(p, "[…], splat(…), inline(0x…) or file(…)");
    }
    return read_one(p, data);
}

ig_status ig_parse_data(ig_parser *parser, const ig_type *type, ig_data *out_data) {
    *out_data = (ig_data){ .type = type };
    if (!ig_type_bytes(type, &out_data->size)) {
        return ig_parse_error(parser, &parser->token,
                              "a constant needs a type whose size is known");
    }
    if (accept_form(parser, "file")) {
        return read_file(parser, out_data);
    }
    if (accept_form(parser, "inline")) {
        return read_bytes(parser, out_data);
    }
    if (accept_form(parser, "elided")) {
        return ig_parse_expected(parser,
                                 "bytes; they were left out when this was printed");
    }
    return read_numbers(parser, out_data);
}

/* A constant is one element, a list in brackets, or a word and parentheses; none
 * nests. */
ig_status ig_parse_skip_data(ig_parser *parser) {
    ig_parse_accept(parser, '-');
    bool is_list = ig_parse_is(parser, '[');
    bool is_form = ig_parse_is(parser, IG_TOKEN_WORD) &&
                   ig_parse_peek(parser).kind == '(';
    int end = is_list ? ']' : ')';
    if (is_list || is_form) {
        while (!ig_parse_is(parser, end) && !ig_parse_is(parser, IG_TOKEN_END)) {
            ig_parse_advance(parser);
        }
    }
    if (ig_parse_is(parser, IG_TOKEN_END)) {
        return ig_parse_expected(parser, "a constant");
    }
    ig_parse_advance(parser);
    return IG_OK;
}
