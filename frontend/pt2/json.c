/* JSON as a tree in an arena.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/json.h"

#include "base/writer.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- bare Infinity and NaN ---- */

static const char *const bare_words[] = { "-Infinity", "Infinity", "NaN" };

static const char *bare_word_at(const char *at, const char *end) {
    for (size_t i = 0; i < IG_COUNT_OF(bare_words); i++) {
        size_t size = strlen(bare_words[i]);
        if ((size_t)(end - at) >= size && memcmp(at, bare_words[i], size) == 0) {
            return bare_words[i];
        }
    }
    return NULL;
}

/* Past the string that begins at `at`, or the end. */
static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        at += *at == '\\';
    }
    return at < end ? at + 1 : end;
}

/* The text with quotes around the words, or as it is where there are none. */
static ig_str quote_words(ig_arena *arena, ig_str text) {
    const char *end = text.data + text.size, *done = text.data;
    ig_writer out;
    ig_writer_init(&out, arena);
    for (const char *at = text.data; at < end;) {
        const char *word = *at == '-' || *at == 'I' || *at == 'N'
                               ? bare_word_at(at, end)
                               : NULL;
        if (word) {
            ig_put_bytes(&out, done, (size_t)(at - done));
            ig_put(&out, "\"%s\"", word);
            done = at += strlen(word);
        } else {
            at = *at == '"' ? skip_string(at, end) : at + 1;
        }
    }
    if (done == text.data) {
        return text;
    }
    ig_put_bytes(&out, done, (size_t)(end - done));
    return ig_writer_str(&out);
}

/* ---- jansson's tree as ours ---- */

/* Nothing here may unwind while jansson's tree is alive: room is asked for by
 * ig_arena_try_alloc. */
typedef struct copier {
    ig_arena *arena;
    int64_t depth_left;
    bool is_too_deep;
} copier;

static bool copy_value(copier *c, json_t *from, ig_json *to);

static bool copy_text(copier *c, const char *text, size_t size, ig_str *out) {
    char *copy = ig_arena_try_alloc(c->arena, size + 1);
    if (!copy) {
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    *out = (ig_str){ copy, size };
    return true;
}

/* Only an object has keys, one an item; texts end with a zero. */
static void check_value(const ig_json *value) {
    bool is_list = value->kind == IG_JSON_ARRAY || value->kind == IG_JSON_OBJECT;
    assert((!is_list || value->as.list.items) && "a list has room for its items");
    assert((!is_list ||
            (value->as.list.keys != NULL) == (value->kind == IG_JSON_OBJECT)) &&
           "an object has keys, an array none");
    assert(
        (value->kind != IG_JSON_STRING || !value->as.text.data[value->as.text.size]) &&
        "a text ends with a zero");
    (void)is_list;
}

static bool copy_array(copier *c, json_t *from, ig_json *to) {
    size_t count = json_array_size(from);
    ig_json *items = ig_arena_try_alloc(c->arena, (count + 1) * sizeof *items);
    to->as.list.items = items;
    to->as.list.count = count;
    bool is_copied = items != NULL;
    for (size_t i = 0; is_copied && i < count; i++) {
        is_copied = copy_value(c, json_array_get(from, i), &items[i]);
    }
    return is_copied;
}

static bool copy_object(copier *c, json_t *from, ig_json *to) {
    size_t count = json_object_size(from), i = 0;
    ig_json *items = ig_arena_try_alloc(c->arena, (count + 1) * sizeof *items);
    ig_str *keys = ig_arena_try_alloc(c->arena, (count + 1) * sizeof *keys);
    to->as.list.items = items;
    to->as.list.keys = keys;
    to->as.list.count = count;
    bool is_copied = items && keys;
    for (void *at = json_object_iter(from); is_copied && at;
         at = json_object_iter_next(from, at), i++) {
        const char *key = json_object_iter_key(at);
        is_copied = copy_text(c, key, strlen(key), &keys[i]) &&
                    copy_value(c, json_object_iter_value(at), &items[i]);
    }
    return is_copied;
}

static bool copy_container(copier *c, json_t *from, ig_json *to) {
    if (c->depth_left-- == 0) {
        c->is_too_deep = true;
        return false;
    }
    to->kind = json_is_array(from) ? IG_JSON_ARRAY : IG_JSON_OBJECT;
    bool is_copied = to->kind == IG_JSON_ARRAY ? copy_array(c, from, to)
                                               : copy_object(c, from, to);
    c->depth_left++;
    if (is_copied) {
        check_value(to);
    }
    return is_copied;
}

static bool copy_string(copier *c, json_t *from, ig_json *to) {
    to->kind = IG_JSON_STRING;
    if (!copy_text(c, json_string_value(from), json_string_length(from),
                   &to->as.text)) {
        return false;
    }
    check_value(to);
    return true;
}

static bool copy_value(copier *c, json_t *from, ig_json *to) {
    *to = (ig_json){ .kind = IG_JSON_NULL };
    switch (json_typeof(from)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return copy_container(c, from, to);
    case JSON_STRING:
        return copy_string(c, from, to);
    case JSON_INTEGER:
        to->kind = IG_JSON_INT;
        to->as.i = json_integer_value(from);
        return true;
    case JSON_REAL:
        to->kind = IG_JSON_REAL;
        to->as.f = json_real_value(from);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        to->kind = IG_JSON_BOOL;
        to->as.b = json_is_true(from);
        return true;
    case JSON_NULL:
        break;
    }
    return true;
}

static ig_status refuse_memory(ig_context *context, const ig_location *where,
                               ig_str text) {
    return ig_error(&context->diag, IG_LIMIT, where,
                    "no memory for the %zu bytes of JSON", text.size);
}

ig_status ig_json_read(ig_context *context, ig_arena *arena, const ig_location *where,
                       ig_str text, const ig_json **out_value) {
    json_error_t error;
    copier c = { .arena = arena, .depth_left = context->limits.source_depth };
    ig_json *value = IG_NEW(arena, ig_json);
    *out_value = value;
    text = quote_words(arena, text);
    errno = 0;
    json_t *json = json_loadb(text.data, text.size, JSON_ALLOW_NUL, &error);
    if (errno == ENOMEM) { /* jansson may have left out values for lack of memory */
        json_decref(json);
        return refuse_memory(context, where, text);
    }
    if (!json) {
        return ig_error(&context->diag, IG_INVALID, where, "line %d: %s", error.line,
                        error.text);
    }
    bool is_copied = copy_value(&c, json, value);
    json_decref(json);
    if (c.is_too_deep) {
        return ig_error_limit(&context->diag, where, &context->limits,
                              IG_LIMIT_source_depth, "the nesting of the JSON");
    }
    return is_copied ? IG_OK : refuse_memory(context, where, text);
}

/* ---- looking ---- */

const ig_json *ig_json_get(const ig_json *value, const char *key) {
    size_t count = value && value->kind == IG_JSON_OBJECT ? value->as.list.count : 0;
    for (size_t i = 0; i < count; i++) {
        const ig_json *item = &value->as.list.items[i];
        if (ig_str_is(value->as.list.keys[i], key)) {
            return item->kind == IG_JSON_NULL ? NULL : item;
        }
    }
    return NULL;
}

size_t ig_json_count(const ig_json *value) {
    bool is_list = value &&
                   (value->kind == IG_JSON_ARRAY || value->kind == IG_JSON_OBJECT);
    return is_list ? value->as.list.count : 0;
}

const ig_json *ig_json_at(const ig_json *value, size_t index) {
    return index < ig_json_count(value) ? &value->as.list.items[index] : NULL;
}

const char *ig_json_text(const ig_json *value) {
    return value && value->kind == IG_JSON_STRING ? value->as.text.data : "";
}

bool ig_json_int(const ig_json *value, int64_t *out_value) {
    bool is_int = value && value->kind == IG_JSON_INT;
    *out_value = is_int ? value->as.i : 0;
    return is_int;
}

bool ig_json_real(const ig_json *value, double *out_value) {
    static const double values[] = { -INFINITY, INFINITY, NAN };
    bool is_int = value && value->kind == IG_JSON_INT;
    bool is_real = value && value->kind == IG_JSON_REAL;
    *out_value = is_int ? (double)value->as.i : is_real ? value->as.f : 0;
    for (size_t i = 0; i < IG_COUNT_OF(bare_words); i++) {
        if (strcmp(ig_json_text(value), bare_words[i]) == 0) {
            *out_value = values[i];
            return true;
        }
    }
    return is_int || is_real;
}

bool ig_json_is_true(const ig_json *value) {
    return value && value->kind == IG_JSON_BOOL && value->as.b;
}
