/* External data: tensors in files beside the model.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model file is not trusted to name files: only regular files beneath the model's own
 * folder are opened (base/platform does the checking, on the opened file), each once,
 * and offsets and lengths are checked before anything is touched.  Data that the
 * caller has in memory comes before files.
 */
#include "frontend/onnx/read/model.h"

#include "base/checked.h"
#include "base/platform/context_map.h"
#include "base/platform/platform.h"

#include <string.h>

typedef struct span {
    const char *location, *offset, *length;
} span;

static ig_status read_span(ig_onnx_model *model, const ig_onnx_about *about,
                           const Onnx__TensorProto *tensor, span *out) {
    static const char *const ignored[] = { "checksum", "basepath" };
    struct {
        const char *key;
        const char **value;
    } keys[] = { { "location", &out->location },
                 { "offset", &out->offset },
                 { "length", &out->length } };
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        const Onnx__StringStringEntryProto *entry = tensor->external_data[i];
        const char *key = entry->key ? entry->key : "";
        bool is_known = false;
        for (size_t k = 0; k < IG_COUNT_OF(keys); k++) {
            if (strcmp(key, keys[k].key) != 0) {
                continue;
            }
            if (*keys[k].value) {
                return ig_onnx_complain(about, IG_INVALID, "names external %s twice",
                                        key);
            }
            *keys[k].value = entry->value ? entry->value : "";
            is_known = true;
        }
        for (size_t k = 0; k < IG_COUNT_OF(ignored); k++) {
            is_known = is_known || strcmp(key, ignored[k]) == 0;
        }
        if (!is_known) {
            ig_warn(&model->context->diag, about->where,
                    "%s has unknown external data key '%s', which is ignored",
                    about->what, key);
        }
    }
    return IG_OK;
}

static ig_status read_number(const ig_onnx_about *about, const char *key,
                             const char *text, int64_t absent, int64_t *out_value) {
    *out_value = absent;
    if (!text) {
        return IG_OK;
    }
    if (!ig_str_to_i64(ig_str_of(text), out_value) || *out_value < 0) {
        return ig_onnx_complain(about, IG_INVALID,
                                "has external %s '%s', which is not a size in bytes",
                                key, text);
    }
    return IG_OK;
}

/* A file that was asked for; one that cannot be read is reported once. */
typedef struct opened {
    ig_status status;
    const void *data;
    size_t size;
    bool is_given; /* it is the caller's memory */
} opened;

void ig_onnx_external_give(ig_onnx_model *model, const char *name, ig_str bytes) {
    opened *file = IG_NEW(model->arena, opened);
    *file = (opened){ IG_OK, bytes.data, bytes.size, true };
    ig_map_set(&model->external, ig_str_of(name), file);
}

static ig_status open_file(ig_onnx_model *model, const ig_onnx_about *about,
                           const char *location, const opened **out_file) {
    opened *file = ig_map_get(&model->external, ig_str_of(location));
    *out_file = file;
    if (file) {
        return file->status;
    }
    if (!model->beside) {
        return ig_onnx_complain(
            about, IG_INVALID,
            "is external in '%s', but the model was read from memory without that file or a folder to look in",
            location);
    }
    char why[256] = "";
    *out_file = file = IG_NEW(model->arena, opened);
    ig_map_set(&model->external, ig_str_of(location), file);
    ig_file_map *map = ig_module_add_map(model->module);
    file->status = ig_context_map_beneath(model->context, model->beside,
                                          ig_str_of(location), map, why);
    if (file->status != IG_OK) {
        return ig_onnx_complain(about, file->status, "has external data in '%s': %s",
                                location, why);
    }
    file->data = map->data;
    file->size = map->size;
    return IG_OK;
}

/* The bytes that the caller gave for this tensor, where it did not give the file. */
static const opened *given_tensor(ig_onnx_model *model, const Onnx__TensorProto *tensor,
                                  const char *location) {
    const opened *file = ig_map_get(&model->external, ig_str_of(location));
    const opened *own = ig_map_get(&model->external,
                                   ig_str_of(tensor->name ? tensor->name : ""));
    return own && own->is_given && !(file && file->is_given) ? own : NULL;
}

static ig_status check_given(const ig_onnx_about *about,
                             const Onnx__TensorProto *tensor, const opened *own,
                             int64_t bytes) {
    if ((uint64_t)bytes == own->size) {
        return IG_OK;
    }
    return ig_onnx_complain(about, IG_INVALID,
                            "needs %lld bytes, but what was given as '%s' has %zu",
                            (long long)bytes, tensor->name, own->size);
}

/* "folder/weights.bin" of a location relative to the model's folder. */
static const char *path_beside(ig_onnx_model *model, const char *location) {
    const char *slash = strrchr(model->beside, '/');
    int folder = slash ? (int)(slash - model->beside) + 1 : 0;
    const char *path = ig_arena_printf(model->arena, "%.*s%s", folder, model->beside,
                                       location);
    return ig_module_string(model->module, ig_str_of(path));
}

ig_status ig_onnx_external_bytes(ig_onnx_model *model, const ig_onnx_about *about,
                                 const Onnx__TensorProto *tensor, int64_t bytes,
                                 ig_data *out_data) {
    span at = { 0 };
    IG_TRY(read_span(model, about, tensor, &at));
    if (!at.location || !at.location[0]) {
        return ig_onnx_complain(about, IG_INVALID,
                                "is external, but names no location");
    }
    int64_t offset, length, end;
    IG_TRY(read_number(about, "offset", at.offset, 0, &offset));
    IG_TRY(read_number(about, "length", at.length, bytes, &length));
    if (length != bytes) {
        return ig_onnx_complain(about, IG_INVALID,
                                "needs %lld bytes, but its external length is %lld",
                                (long long)bytes, (long long)length);
    }
    const opened *file = given_tensor(model, tensor, at.location);
    if (file) {
        out_data->bytes = bytes ? file->data : "";
        return check_given(about, tensor, file, bytes);
    }
    IG_TRY(open_file(model, about, at.location, &file));
    if (!ig_add_i64(offset, length, &end) || (uint64_t)end > file->size) {
        return ig_onnx_complain(
            about, IG_INVALID,
            "runs past the end of '%s': offset %lld and length %lld, but the file has %zu bytes",
            at.location, (long long)offset, (long long)length, file->size);
    }
    out_data->bytes = bytes ? (const char *)file->data + offset : "";
    if (!file->is_given) {
        out_data->file = path_beside(model, at.location);
        out_data->offset = offset;
    }
    return IG_OK;
}
