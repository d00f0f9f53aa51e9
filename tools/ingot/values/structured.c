/* Structured values: making, walking, and their types as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/structured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void structured_free(structured *value) {
    for (size_t i = 0; i < value->count; i++) {
        structured_free(&value->items[i]);
    }
    free(value->items);
    free(value->name);
    free(value->text);
    ig_arguments_close(value->owner);
    *value = (structured){ 0 };
}

structured *structured_add(structured *to, ig_tree_kind kind, const char *name) {
    to->items = need(realloc(to->items, (to->count + 1) * sizeof *to->items));
    structured *item = &to->items[to->count++];
    *item = (structured){ .kind = kind, .name = name ? text_of("%s", name) : NULL };
    return item;
}

const ig_argument *structured_tensor(const structured *value) {
    if (value->shared) {
        return value->shared;
    }
    return value->owner ? ig_arguments_at(value->owner, 0) : NULL;
}

/* ---- statements ---- */

typedef struct statement {
    char *text;
    size_t size, room;
    const char *symbols;
    size_t index; /* tensors so far */
} statement;

static void put_text(statement *s, const char *text) {
    size_t length = strlen(text);
    if (s->size + length + 1 > s->room) {
        s->room = 2 * s->room + length + 64;
        s->text = need(realloc(s->text, s->room));
    }
    memcpy(s->text + s->size, text, length + 1);
    s->size += length;
}

static void put_quoted(statement *s, const char *text) {
    put_text(s, "\"");
    for (const char *at = text; *at; at++) {
        char one[8] = { *at, '\0' };
        if (*at == '"' || *at == '\\') {
            snprintf(one, sizeof one, "\\%c", *at);
        } else if (*at == '\n' || *at == '\t') {
            snprintf(one, sizeof one, *at == '\n' ? "\\n" : "\\t");
        } else if ((unsigned char)*at < 32 || *at == 127) {
            snprintf(one, sizeof one, "\\x%02x", (unsigned)(unsigned char)*at);
        }
        put_text(s, one);
    }
    put_text(s, "\"");
}

static void put_real(statement *s, double value) {
    char text[64];
    if (isnan(value) || isinf(value)) {
        put_text(s, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    put_text(s, text);
    put_text(s, strpbrk(text, ".eE") ? "" : ".0");
}

static void put_tensor(statement *s, const ig_argument *tensor) {
    char text[96];
    put_text(s, tensor->dtype);
    put_text(s, "[");
    for (uint32_t d = 0; d < tensor->rank; d++) {
        snprintf(text, sizeof text, "%s", d ? ", " : "");
        put_text(s, text);
        if (s->symbols) {
            snprintf(text, sizeof text, "%s%zu_d%u", s->symbols, s->index, d);
        } else {
            snprintf(text, sizeof text, "%lld", (long long)tensor->dims[d]);
        }
        put_text(s, text);
    }
    put_text(s, "]");
    s->index++;
}

static void put_value(statement *s, const structured *value);

static void put_items(statement *s, const structured *value, const char *open,
                      const char *close) {
    bool is_dict = value->kind == IG_TREE_DICT;
    put_text(s, open);
    for (size_t i = 0; i < value->count; i++) {
        put_text(s, is_dict && i % 2 ? ": " : i ? ", " : "");
        if (value->items[i].name) {
            put_quoted(s, value->items[i].name);
            put_text(s, "=");
        }
        put_value(s, &value->items[i]);
    }
    put_text(s, value->kind == IG_TREE_TUPLE && value->count == 1 ? "," : "");
    put_text(s, close);
}

static void put_whole(statement *s, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    put_text(s, text);
}

static void put_value(statement *s, const structured *value) {
    switch (value->kind) {
    case IG_TREE_TENSOR:
        put_tensor(s, structured_tensor(value));
        break;
    case IG_TREE_INT:
        put_whole(s, value->integer);
        break;
    case IG_TREE_FLOAT:
        put_real(s, value->real);
        break;
    case IG_TREE_BOOL:
        put_text(s, value->integer ? "true" : "false");
        break;
    case IG_TREE_STR:
        put_quoted(s, value->text);
        break;
    case IG_TREE_NONE:
        put_text(s, "none");
        break;
    case IG_TREE_LIST:
        put_items(s, value, "[", "]");
        break;
    case IG_TREE_TUPLE:
        put_items(s, value, "(", ")");
        break;
    case IG_TREE_DICT:
        put_items(s, value, "{", "}");
        break;
    case IG_TREE_RECORD:
        put_items(s, value, "\"record\"(", ")");
        break;
    case IG_TREE_OPTIONAL:
        put_items(s, value, "optional(", ")");
        break;
    case IG_TREE_COMPLEX:
        put_items(s, value, "complex(", ")");
        break;
    case IG_TREE_QUANTIZED:
        put_items(s, value, "quantized(", ")");
        break;
    case IG_TREE_KJT:
        put_items(s, value, "kjt(", ")");
        break;
    case IG_TREE_KT:
        put_items(s, value, "kt(", ")");
        break;
    case IG_TREE_JT:
        put_items(s, value, "jt(", ")");
        break;
    case IG_TREE_CALL:
        break;
    }
}

char *structured_statement(const structured *value, const char *symbols,
                           size_t *index) {
    statement s = { .symbols = symbols, .index = *index };
    put_text(&s, "");
    put_value(&s, value);
    *index = s.index;
    return s.text;
}
