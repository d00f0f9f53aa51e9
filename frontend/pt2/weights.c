/* The tensors of an exported program, by their names in the module.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/weights.h"

#include "base/vec.h"
#include "frontend/pt2/codes.h"
#include "frontend/pt2/json.h"

#include <assert.h>
#include <string.h>

typedef struct reader {
    ig_archive *archive;
    ig_pickle_set *set;
    ig_arena *arena;
    ig_map storages; /* entry -> ig_py_storage */
    IG_VEC(ig_py *) keys;
    IG_VEC(ig_py *) values;
} reader;

static ig_py *make_value(reader *r, ig_py_kind kind) {
    ig_py *value = IG_NEW(r->arena, ig_py);
    value->kind = kind;
    value->id = r->set->value_count++;
    return value;
}

static void add_tensor(reader *r, ig_str name, ig_py *value) {
    ig_py *key = make_value(r, IG_PY_STR);
    key->as.text = name;
    IG_PUSH(r->arena, &r->keys, key);
    IG_PUSH(r->arena, &r->values, value);
}

/* ---- files of torch.save ---- */

/* Is every value a tensor, or nothing that a graph could use? */
static ig_status add_pickled(reader *r, const ig_archive_entry *entry,
                             const ig_py *dict) {
    if (dict->kind != IG_PY_DICT) {
        ig_location where = ig_archive_where(r->archive, entry);
        return ig_error(&r->archive->context->diag, IG_INVALID, &where,
                        "holds %s, not tensors by name", ig_py_kind_name(dict->kind));
    }
    for (size_t i = 0; i < dict->as.dict.count; i++) {
        const ig_py *key = dict->as.dict.keys[i];
        if (key->kind == IG_PY_STR) {
            add_tensor(r, key->as.text, dict->as.dict.values[i]);
        }
    }
    return IG_OK;
}

/* The archive inside of an entry. */
static ig_status open_inner(reader *r, ig_archive_entry *entry,
                            ig_archive **out_inner) {
    ig_archive_span span;
    ig_archive *inner = *out_inner = IG_NEW(r->arena, ig_archive);
    IG_TRY(ig_archive_read(r->archive, entry, &span));
    const char *file = ig_arena_printf(r->arena, "%s/%s", r->archive->file,
                                       entry->name.data);
    IG_TRY(ig_archive_open(inner, r->archive->context, r->arena, file, span.bytes));
    inner->base = span.offset < 0 ? -1 : r->archive->base + span.offset;
    return IG_OK;
}

/* The first name in a pickle that the reader of pickles does not know. */
typedef struct foreign_name {
    ig_str module, name;
} foreign_name;

static ig_str package_of(ig_str module) {
    const char *dot = memchr(module.data, '.', module.size);
    return (ig_str){ module.data, dot ? (size_t)(dot - module.data) : module.size };
}

/* A tensor's class, and what that brings along of its own package: names of values that
 * nobody looks at. */
static bool is_of_package(void *user, ig_str module, ig_str name) {
    foreign_name *first = user;
    if (!first->name.size) {
        *first = (foreign_name){ module, name };
    }
    return ig_str_equal(package_of(first->module), package_of(module));
}

/* What torch.save put into an entry; nothing of it is run.  `foreign`: where unknown
 * names of one package may be; NULL: none may. */
static ig_status read_pickled(reader *r, ig_archive_entry *entry, foreign_name *foreign,
                              ig_py **out_value) {
    ig_archive *inner;
    ig_archive_entry *pickle;
    ig_str text;
    IG_TRY(open_inner(r, entry, &inner));
    ig_pickle_set *set = IG_NEW(r->arena, ig_pickle_set);
    ig_pickle_set_init(set, inner);
    set->value_count = r->set->value_count;
    IG_TRY(ig_archive_need(inner, IG_STR("data.pkl"), &pickle));
    IG_TRY(ig_archive_read_text(inner, pickle, &text));
    ig_pickle_options options = { .file = inner->file,
                                  .name = "data.pkl",
                                  .storage_prefix = "data/",
                                  .storage_suffix = "",
                                  .is_allowed = foreign ? is_of_package : NULL,
                                  .user = foreign };
    IG_TRY(ig_pickle_read(set, text, &options, out_value));
    r->set->value_count = set->value_count;
    return IG_OK;
}

static ig_status read_saved(reader *r, ig_archive_entry *entry) {
    ig_py *dict = NULL;
    IG_TRY(read_pickled(r, entry, NULL, &dict));
    return add_pickled(r, entry, dict);
}

/* Is the class the one whose names may be unknown, or is none unknown? */
static bool is_own_class(const ig_py *class, const foreign_name *foreign) {
    return !foreign->name.size || (class && class->kind == IG_PY_GLOBAL &&
                                   ig_str_equal(package_of(class->as.global.module),
                                                package_of(foreign->module)));
}

/* A tensor around others (torchao's), as the call that makes it. */
static bool is_wrapper(const ig_py *value) {
    return value->kind == IG_PY_CALL &&
           ig_py_is_global(value->as.call.function, "torch._utils",
                           "_rebuild_wrapper_subclass") &&
           value->as.call.args->as.list.count > 0 && value->as.call.state &&
           value->as.call.state->kind == IG_PY_DICT;
}

static bool is_opened(const ig_py *value) {
    return value->kind == IG_PY_OBJECT &&
           ig_py_is_global(value->as.object.class, IG_PT2_MODULE, IG_PT2_WRAPPER);
}

/* It becomes an object of its tensors by their names, which graphs ask for
 * (access_subclass_inner_tensor).  Recursion is as deep as pickles are. */
static void open_wrapper(reader *r, ig_py *value) {
    const ig_py *state = value->as.call.state;
    ig_py *parts = make_value(r, IG_PY_DICT), *class = make_value(r, IG_PY_GLOBAL);
    size_t count = state->as.dict.count, *kept = &parts->as.dict.count;
    parts->as.dict.keys = IG_NEW_ARRAY(r->arena, ig_py *, count + 1);
    parts->as.dict.values = IG_NEW_ARRAY(r->arena, ig_py *, count + 1);
    class->as.global.module = IG_STR(IG_PT2_MODULE);
    class->as.global.name = IG_STR(IG_PT2_WRAPPER);
    value->kind = IG_PY_OBJECT;
    value->as.object.class = class;
    value->as.object.args = make_value(r, IG_PY_TUPLE);
    value->as.object.state = parts;
    value->as.object.items = NULL;
    for (size_t i = 0; i < count; i++) {
        ig_py *part = state->as.dict.values[i];
        if (is_wrapper(part)) {
            open_wrapper(r, part);
        }
        if (part->kind == IG_PY_TENSOR || is_opened(part)) {
            parts->as.dict.keys[*kept] = state->as.dict.keys[i];
            parts->as.dict.values[(*kept)++] = part;
        }
    }
}

/* A tensor of a class of its own: the graph uses its elements, or its parts. */
static bool take_tensor(reader *r, ig_py *value, const foreign_name *foreign) {
    if (is_wrapper(value) &&
        is_own_class(value->as.call.args->as.list.items[0], foreign)) {
        open_wrapper(r, value);
        return true;
    }
    return value->kind == IG_PY_TENSOR &&
           is_own_class(value->as.tensor->subclass, foreign);
}

static ig_status read_object(reader *r, ig_str name, ig_archive_entry *entry) {
    ig_py *value = NULL;
    foreign_name foreign = { 0 };
    ig_location where = { .file = r->archive->file, .node = name.data };
    IG_TRY(read_pickled(r, entry, &foreign, &value));
    if (take_tensor(r, value, &foreign)) {
        add_tensor(r, name, value);
        return IG_OK;
    }
    int size = (int)(foreign.name.size < 80 ? foreign.name.size : 80);
    const char *named = size ? ig_arena_printf(r->arena, " with '%.*s' in it", size,
                                               foreign.name.data)
                             : "";
    return ig_error_hint(
        &r->archive->context->diag, IG_UNSUPPORTED, &where,
        "call run_decompositions() on the program before torch.export.save, which takes tensor subclasses apart; script objects are not read",
        "it is pickled as %s%s, and no code of a file is run",
        ig_py_kind_name(value->kind), named);
}

/* ---- raw storages ---- */

static ig_status storage_of(reader *r, ig_archive_entry *entry,
                            ig_py_storage **out_storage) {
    ig_archive_span span;
    *out_storage = ig_map_get(&r->storages, entry->name);
    if (*out_storage) {
        return IG_OK;
    }
    IG_TRY(ig_archive_read(r->archive, entry, &span));
    ig_py_storage *storage = *out_storage = IG_NEW(r->arena, ig_py_storage);
    *storage = (ig_py_storage){ .key = entry->name.data,
                                .count = (int64_t)span.bytes.size,
                                .size = (int64_t)span.bytes.size,
                                .bytes = span.bytes.data,
                                .offset = span.offset };
    ig_map_set(&r->storages, entry->name, storage);
    return IG_OK;
}

static bool read_sizes(reader *r, const ig_json *from, const int64_t **out,
                       uint32_t *out_rank) {
    size_t count = ig_json_count(from);
    int64_t *numbers = IG_NEW_ARRAY(r->arena, int64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const ig_json *size = ig_json_at(from, i);
        if (!ig_json_int(ig_json_get(size, "as_int"), &numbers[i]) || numbers[i] < 0) {
            return false;
        }
    }
    *out = numbers;
    *out_rank = (uint32_t)count;
    return count <= (uint64_t)r->archive->context->limits.rank;
}

static bool read_meta(reader *r, const ig_json *meta, ig_py_tensor *out) {
    int64_t code, layout;
    uint32_t strides;
    const ig_json *offset = ig_json_get(meta, "storage_offset");
    bool is_read = ig_json_int(ig_json_get(meta, "dtype"), &code) &&
                   ig_json_int(ig_json_get(meta, "layout"), &layout) &&
                   read_sizes(r, ig_json_get(meta, "sizes"), &out->sizes, &out->rank) &&
                   read_sizes(r, ig_json_get(meta, "strides"), &out->strides, &strides);
    out->dtype = is_read ? ig_torch_dtype_of_code(ig_pt2_dtype_code(code)) : NULL;
    bool has_offset = ig_json_int(offset, &out->offset) ||
                      ig_json_int(ig_json_get(offset, "as_int"), &out->offset);
    return out->dtype && strides == out->rank && has_offset && out->offset >= 0 &&
           ig_pt2_layout_code(layout) >= 0;
}

/* An empty entry means a tensor without data (torch's fake tensors): zeros. */
static ig_status fill_empty(reader *r, ig_py_tensor *tensor) {
    int64_t bytes;
    if (!ig_torch_dtype_bytes(tensor->dtype, tensor->count, &bytes) ||
        tensor->storage->size > 0 || bytes == 0) {
        return IG_OK;
    }
    ig_location where = { .file = r->archive->file, .node = tensor->storage->key };
    return ig_error_hint(&r->archive->context->diag, IG_UNSUPPORTED, &where,
                         "export it with its weights: torch.export.save(program, path)",
                         "the tensor's data is not in the archive");
}

static ig_status read_raw(reader *r, const ig_json *row, ig_str name,
                          ig_archive_entry *entry) {
    ig_location where = { .file = r->archive->file, .node = name.data };
    ig_py *value = make_value(r, IG_PY_TENSOR);
    ig_py_tensor *tensor = value->as.tensor = IG_NEW(r->arena, ig_py_tensor);
    IG_TRY(storage_of(r, entry, &tensor->storage));
    if (!read_meta(r, ig_json_get(row, "tensor_meta"), tensor)) {
        return ig_error(&r->archive->context->diag, IG_UNSUPPORTED, &where,
                        "its metadata does not describe a dense tensor of known size");
    }
    tensor->is_parameter = ig_json_is_true(ig_json_get(row, "is_param"));
    const char *wrong = ig_py_tensor_measure(tensor, r->arena);
    if (wrong) {
        return ig_error(&r->archive->context->diag, IG_INVALID, &where, "the tensor %s",
                        wrong);
    }
    IG_TRY(fill_empty(r, tensor));
    add_tensor(r, name, value);
    return IG_OK;
}

static ig_status read_row(reader *r, const char *folder, ig_str name,
                          const ig_json *row) {
    ig_archive_entry *entry;
    const char *path = ig_arena_printf(r->arena, "%s%s", folder,
                                       ig_json_text(ig_json_get(row, "path_name")));
    IG_TRY(ig_archive_need(r->archive, ig_str_of(path), &entry));
    ig_location where = { .file = r->archive->file, .node = name.data };
    if (r->archive->is_big_endian) {
        return ig_error_hint(&r->archive->context->diag, IG_UNSUPPORTED, &where,
                             "save it on a little-endian machine",
                             "raw weights of a big-endian archive are not read");
    }
    return ig_json_is_true(ig_json_get(row, "use_pickle"))
               ? read_object(r, name, entry)
               : read_raw(r, row, name, entry);
}

static ig_status read_config(reader *r, const char *folder, ig_archive_entry *entry) {
    ig_str text;
    const ig_json *json;
    ig_location where = ig_archive_where(r->archive, entry);
    IG_TRY(ig_archive_read_text(r->archive, entry, &text));
    IG_TRY(ig_json_read(r->archive->context, r->arena, &where, text, &json));
    const ig_json *config = ig_json_get(json, "config");
    for (size_t i = 0; i < ig_json_count(config); i++) {
        IG_TRY(read_row(r, folder, config->as.list.keys[i], ig_json_at(config, i)));
    }
    return IG_OK;
}

/* ---- which of them ---- */

/* Names with %s for the model's; documentation builds had others for the lists. */
static const struct place_row {
    const char *path,
        *folder; /* folder: of a list's entries; NULL: a file of torch.save */
} place_rows[] = {
    { "data/weights/%s_weights_config.json", "data/weights/" },
    { "data/weights/%s_model_param_config.json", "data/weights/" },
    { "data/constants/%s_constants_config.json", "data/constants/" },
    { "data/constants/%s_model_constants_config.json", "data/constants/" },
    { "data/weights/%s.pt", NULL },
    { "data/constants/%s.pt", NULL },
    { "serialized_state_dict.pt", NULL },
    { "serialized_state_dict.json", NULL },
    { "serialized_constants.pt", NULL },
    { "serialized_constants.json", NULL },
};

static const char *place_path(ig_arena *arena, const char *path, const char *model) {
    const char *at = strstr(path, "%s");
    return at ? ig_arena_printf(arena, "%.*s%s%s", (int)(at - path), path, model,
                                at + 2)
              : path;
}

ig_status ig_pt2_weights(ig_archive *archive, ig_pickle_set *set, const char *model,
                         ig_py **out_dict) {
    reader r = { .archive = archive, .set = set, .arena = archive->arena };
    ig_map_init(&r.storages, archive->arena);
    for (size_t i = 0; i < IG_COUNT_OF(place_rows); i++) {
        const struct place_row *row = &place_rows[i];
        const char *path = place_path(archive->arena, row->path, model);
        ig_archive_entry *entry = ig_archive_find(archive, ig_str_of(path));
        if (entry && entry->size > 0) {
            IG_TRY(row->folder ? read_config(&r, row->folder, entry)
                               : read_saved(&r, entry));
        }
    }
    ig_py *dict = *out_dict = make_value(&r, IG_PY_DICT);
    dict->as.dict.keys = r.keys.items;
    dict->as.dict.values = r.values.items;
    dict->as.dict.count = r.keys.count;
    return IG_OK;
}
