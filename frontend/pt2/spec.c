/* Trees of containers, as torch.utils._pytree writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Values known to be containers of one of our kinds. */
static const struct type_row {
    const char *type;
    ig_pt2_spec_kind kind;
} type_rows[] = {
    { "builtins.tuple", IG_PT2_TUPLE },
    { "builtins.list", IG_PT2_LIST },
    { "builtins.dict", IG_PT2_DICT },
    { "collections.OrderedDict", IG_PT2_DICT },
    { "collections.defaultdict", IG_PT2_DICT },
    { "collections.deque", IG_PT2_LIST },
    { "collections.namedtuple", IG_PT2_RECORD },
    { "torch.fx.immutable_collections.immutable_list", IG_PT2_LIST },
    { "torch.fx.immutable_collections.immutable_dict", IG_PT2_DICT },
    { "torch.Size", IG_PT2_TUPLE },
};

static const char *after_dot(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

ig_status ig_pt2_report(const ig_pt2_reader *reader, ig_status status,
                        const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ig_error(&reader->context->diag, status, &reader->where, "%s", text);
}

static bool are_strings(const ig_json *list) {
    bool are = list && list->kind == IG_JSON_ARRAY;
    for (size_t i = 0; are && i < ig_json_count(list); i++) {
        are = ig_json_at(list, i)->kind == IG_JSON_STRING;
    }
    return are;
}

/* The context of a dict is a list of its keys; of a defaultdict it holds that list. */
static const ig_json *keys_of(const ig_json *context) {
    const ig_json *inner = ig_json_get(context, "dict_context");
    return inner ? inner : context;
}

/* Names of the children of a class of the user's, or NULL.  A dataclass has the names
 * of the fields that are set, then of those that are None; others (transformers'
 * ModelOutput) list their keys. */
static const ig_json *names_of(const ig_json *context) {
    bool is_dataclass = ig_json_count(context) == 2 && context->kind == IG_JSON_ARRAY &&
                        are_strings(ig_json_at(context, 0)) &&
                        are_strings(ig_json_at(context, 1));
    const ig_json *names = is_dataclass ? ig_json_at(context, 0) : context;
    return are_strings(names) ? names : NULL;
}

/* Fields of a named tuple: {"fqn": {"field_names": ["x", "y"]}}. */
static const ig_json *fields_of(const ig_json *records, const char *class_name) {
    return ig_json_get(ig_json_get(records, class_name), "field_names");
}

static ig_status read_spec(const ig_pt2_reader *reader, const ig_json *json,
                           const ig_json *records, ig_pt2_spec *out);

static ig_status read_children(const ig_pt2_reader *reader, const ig_json *children,
                               const ig_json *records, ig_pt2_spec *out) {
    out->count = ig_json_count(children);
    out->items = IG_NEW_ARRAY(reader->arena, ig_pt2_spec, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        IG_TRY(read_spec(reader, ig_json_at(children, i), records, &out->items[i]));
    }
    return IG_OK;
}

/* A container whose children have no names, or not as many as there are children, is a
 * tuple. */
static void name_children(const ig_pt2_reader *reader, const ig_json *keys,
                          ig_pt2_spec_kind kind, ig_pt2_spec *out) {
    bool has_names = keys && keys->kind == IG_JSON_ARRAY &&
                     ig_json_count(keys) == out->count;
    out->kind = has_names ? kind : IG_PT2_TUPLE;
    out->keys = IG_NEW_ARRAY(reader->arena, const ig_json *, out->count + 1);
    for (size_t i = 0; has_names && i < out->count; i++) {
        out->keys[i] = ig_json_at(keys, i);
    }
}

/* The context: the keys; of a KeyedTensor, those and the width of each. */
static ig_status read_jagged(const ig_pt2_reader *reader, const ig_json *context,
                             ig_pt2_spec *out) {
    const ig_pt2_jagged *class = out->jagged;
    size_t min = class->is_keyed_tensor ? 1 : IG_PT2_JAGGED_ITEMS, fixed = 0;
    bool is_flat = out->count >= min;
    for (size_t i = 0; i < out->count; i++) {
        is_flat = is_flat && out->items[i].kind == IG_PT2_LEAF;
    }
    if (!is_flat) {
        return ig_pt2_report(reader, IG_UNSUPPORTED,
                             "%s has an unknown number of parts: %zu",
                             class->class_name, out->count);
    }
    out->kind = IG_PT2_JAGGED;
    out->keys = IG_NEW_ARRAY(reader->arena, const ig_json *, IG_COUNT_OF(class->fixed));
    for (; fixed < IG_COUNT_OF(class->fixed) && class->fixed[fixed]; fixed++) {
        out->keys[fixed] = !class->is_keyed_tensor          ? context
                           : fixed < ig_json_count(context) ? ig_json_at(context, fixed)
                                                            : NULL;
    }
    return IG_OK;
}

static ig_status name_container(const ig_pt2_reader *reader, const char *type,
                                const ig_json *context, const ig_json *records,
                                ig_pt2_spec *out) {
    for (size_t i = 0; i < IG_COUNT_OF(type_rows); i++) {
        if (strcmp(type_rows[i].type, type) == 0) {
            out->kind = type_rows[i].kind;
        }
    }
    out->jagged = ig_pt2_jagged_find(type);
    if (out->jagged) {
        return read_jagged(reader, context, out);
    }
    if (out->kind == IG_PT2_RECORD) {
        out->class_name = after_dot(ig_json_text(context));
        name_children(reader, fields_of(records, ig_json_text(context)), IG_PT2_RECORD,
                      out);
    } else if (out->kind == IG_PT2_DICT) {
        name_children(reader, keys_of(context), IG_PT2_DICT, out);
    } else if (out->kind == IG_PT2_LEAF) {
        name_children(reader, names_of(context), IG_PT2_DICT, out);
    }
    return IG_OK;
}

/* The context is JSON in a string. */
static ig_status read_context(const ig_pt2_reader *reader, const ig_json *json,
                              const ig_json **out_context) {
    const ig_json *context = ig_json_get(json, "context");
    ig_str text = ig_str_of(ig_json_text(context));
    *out_context = context;
    bool is_json = text.size && strchr("[{\"", text.data[0]);
    return is_json ? ig_json_read(reader->context, reader->arena, &reader->where, text,
                                  out_context)
                   : IG_OK;
}

static ig_status read_spec(const ig_pt2_reader *reader, const ig_json *json,
                           const ig_json *records, ig_pt2_spec *out) {
    const char *type = ig_json_text(ig_json_get(json, "type"));
    const ig_json *context = NULL;
    *out = (ig_pt2_spec){ .kind = IG_PT2_LEAF };
    if (!*type) {
        return IG_OK;
    }
    IG_TRY(read_children(reader, ig_json_get(json, "children_spec"), records, out));
    IG_TRY(read_context(reader, json, &context));
    return name_container(reader, type, context, records, out);
}

ig_status ig_pt2_read_spec(const ig_pt2_reader *reader, ig_str text,
                           const ig_json *records, ig_pt2_spec *out_spec) {
    const ig_json *json;
    IG_TRY(ig_json_read(reader->context, reader->arena, &reader->where, text, &json));
    if (ig_json_count(json) != 2) {
        return ig_pt2_report(
            reader, IG_INVALID,
            "the tree of its arguments or results is malformed: '%.60s'", text.data);
    }
    return read_spec(reader, ig_json_at(json, 1), records, out_spec);
}

size_t ig_pt2_spec_leaves(const ig_pt2_spec *spec) {
    size_t count = spec->kind == IG_PT2_LEAF;
    for (size_t i = 0; i < spec->count; i++) {
        count += ig_pt2_spec_leaves(&spec->items[i]);
    }
    return count;
}
