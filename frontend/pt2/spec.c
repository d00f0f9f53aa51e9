/* Trees of containers, as torch.utils._pytree writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/spec.h"

#include <assert.h>
#include <string.h>

/* What is known to be a container of one of our kinds. */
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

/* A key as a literal of the dialect. */
static const char *key_text(ig_arena *arena, const ig_json *key) {
    ig_writer out;
    int64_t number;
    ig_writer_init(&out, arena);
    if (ig_json_int(key, &number)) {
        ig_put(&out, "%lld", (long long)number);
    } else {
        ig_put_quoted(&out, ig_str_of(ig_json_text(key)));
    }
    return out.data;
}

/* The context of a dict is a list of its keys; of a defaultdict, its type and that. */
static const ig_json *keys_of(const ig_json *context, size_t count) {
    bool is_pair = ig_json_count(context) == 2 &&
                   context->as.list.items[1].kind == IG_JSON_ARRAY;
    const ig_json *keys = is_pair ? &context->as.list.items[1] : context;
    return keys && keys->kind == IG_JSON_ARRAY && ig_json_count(keys) == count ? keys
                                                                               : NULL;
}

/* Fields of a named tuple: {"fqn": {"field_names": ["x", "y"]}}. */
static const ig_json *fields_of(const ig_json *records, const char *class_name,
                                size_t count) {
    const ig_json *fields = ig_json_get(ig_json_get(records, class_name),
                                        "field_names");
    return fields && ig_json_count(fields) == count ? fields : NULL;
}

static ig_status read_spec(ig_pt2_source *source, const ig_json *json,
                           const ig_json *records, ig_pt2_spec *out);

static ig_status read_children(ig_pt2_source *source, const ig_json *children,
                               const ig_json *records, ig_pt2_spec *out) {
    out->count = ig_json_count(children);
    out->items = IG_NEW_ARRAY(source->arena, ig_pt2_spec, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        IG_TRY(read_spec(source, &children->as.list.items[i], records, &out->items[i]));
    }
    return IG_OK;
}

static void name_children(ig_pt2_source *source, const ig_json *keys, bool are_fields,
                          ig_pt2_spec *out) {
    out->keys = IG_NEW_ARRAY(source->arena, const char *, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        const ig_json *key = &keys->as.list.items[i];
        out->keys[i] = are_fields ? ig_json_text(key) : key_text(source->arena, key);
    }
}

/* A class of the user's (a dataclass, a ModelOutput) is a dict where its context lists
 * as many keys as it has children, else a tuple. */
static ig_status name_container(ig_pt2_source *source, const char *type,
                                const ig_json *context, const ig_json *records,
                                ig_pt2_spec *out) {
    out->kind = IG_PT2_DICT;
    for (size_t i = 0; i < IG_COUNT_OF(type_rows); i++) {
        if (strcmp(type_rows[i].type, type) == 0) {
            out->kind = type_rows[i].kind;
        }
    }
    if (out->kind == IG_PT2_RECORD) {
        out->class_name = after_dot(ig_json_text(context));
        const ig_json *fields = fields_of(records, ig_json_text(context), out->count);
        if (fields) {
            name_children(source, fields, true, out);
        } else {
            out->kind = IG_PT2_TUPLE;
        }
    } else if (out->kind == IG_PT2_DICT) {
        const ig_json *keys = keys_of(context, out->count);
        if (keys) {
            name_children(source, keys, false, out);
        } else {
            out->kind = IG_PT2_TUPLE;
        }
    }
    return IG_OK;
}

/* The context is JSON in a string. */
static ig_status read_context(ig_pt2_source *source, const ig_json *json,
                              const ig_json **out_context) {
    const ig_json *context = ig_json_get(json, "context");
    ig_str text = ig_str_of(ig_json_text(context));
    *out_context = context;
    bool is_json = text.size && strchr("[{\"", text.data[0]);
    return is_json ? ig_json_read(source->context, source->arena, &source->where, text,
                                  out_context)
                   : IG_OK;
}

static ig_status read_spec(ig_pt2_source *source, const ig_json *json,
                           const ig_json *records, ig_pt2_spec *out) {
    const char *type = ig_json_text(ig_json_get(json, "type"));
    const ig_json *context = NULL;
    *out = (ig_pt2_spec){ .kind = IG_PT2_LEAF };
    if (!*type) {
        return IG_OK;
    }
    IG_TRY(read_children(source, ig_json_get(json, "children_spec"), records, out));
    IG_TRY(read_context(source, json, &context));
    return name_container(source, type, context, records, out);
}

ig_status ig_pt2_read_spec(ig_pt2_source *source, ig_str text, const ig_json *records,
                           ig_pt2_spec *out_spec) {
    const ig_json *json;
    IG_TRY(ig_json_read(source->context, source->arena, &source->where, text, &json));
    if (ig_json_count(json) != 2) {
        return ig_pt2_error(source, IG_INVALID,
                            "the tree of its arguments or results is none: '%.60s'",
                            text.data);
    }
    return read_spec(source, &json->as.list.items[1], records, out_spec);
}

size_t ig_pt2_spec_leaves(const ig_pt2_spec *spec) {
    size_t count = spec->kind == IG_PT2_LEAF;
    for (size_t i = 0; i < spec->count; i++) {
        count += ig_pt2_spec_leaves(&spec->items[i]);
    }
    return count;
}
