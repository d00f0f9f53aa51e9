/* Looking at values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/pickle/pickle.h"

#include <assert.h>
#include <string.h>

static const char *const kind_names[IG_PY_KIND_COUNT] = {
    [IG_PY_NONE] = "None",   [IG_PY_BOOL] = "bool",     [IG_PY_INT] = "int",
    [IG_PY_BIG] = "int",     [IG_PY_FLOAT] = "float",   [IG_PY_COMPLEX] = "complex",
    [IG_PY_STR] = "str",     [IG_PY_BYTES] = "bytes",   [IG_PY_LIST] = "list",
    [IG_PY_TUPLE] = "tuple", [IG_PY_SET] = "set",       [IG_PY_DICT] = "dict",
    [IG_PY_GLOBAL] = "name", [IG_PY_OBJECT] = "object", [IG_PY_ENUM] = "enum",
    [IG_PY_CALL] = "call",   [IG_PY_TENSOR] = "tensor", [IG_PY_STORAGE] = "storage",
    [IG_PY_DTYPE] = "dtype", [IG_PY_DEVICE] = "device",
};

const char *ig_py_kind_name(ig_py_kind kind) {
    assert(kind < IG_PY_KIND_COUNT && kind_names[kind] && "every kind has a name");
    return kind_names[kind];
}

/* Where the attributes or items by name are; NULL: nowhere. */
static const ig_py *dict_of(const ig_py *value) {
    const ig_py *dict = value->kind == IG_PY_DICT     ? value
                        : value->kind == IG_PY_OBJECT ? value->as.object.state
                        : value->kind == IG_PY_CALL   ? value->as.call.state
                                                      : NULL;
    /* Python gives (dict, slots) to a class that has slots. */
    if (dict && dict->kind == IG_PY_TUPLE && dict->as.list.count == 2) {
        dict = dict->as.list.items[0];
    }
    return dict && dict->kind == IG_PY_DICT ? dict : NULL;
}

ig_py *ig_py_get(const ig_py *value, const char *key) {
    const ig_py *dict = dict_of(value);
    for (size_t i = dict ? dict->as.dict.count : 0; i-- > 0;) {
        if (ig_py_is_str(dict->as.dict.keys[i], key)) {
            return dict->as.dict.values[i];
        }
    }
    return NULL;
}

bool ig_py_is_str(const ig_py *value, const char *text) {
    return value && value->kind == IG_PY_STR && ig_str_is(value->as.text, text);
}

bool ig_py_is_global(const ig_py *value, const char *module, const char *name) {
    return value && value->kind == IG_PY_GLOBAL &&
           ig_str_is(value->as.global.module, module) &&
           ig_str_is(value->as.global.name, name);
}

const char *ig_py_path(const ig_py *value, ig_arena *arena) {
    const ig_py *global = value->kind == IG_PY_OBJECT ? value->as.object.class
                          : value->kind == IG_PY_ENUM ? value->as.enumeration.class
                          : value->kind == IG_PY_CALL ? value->as.call.function
                                                      : value;
    if (global->kind != IG_PY_GLOBAL) {
        return NULL;
    }
    return ig_arena_printf(arena, "%.*s.%.*s", IG_STR_ARG(global->as.global.module),
                           IG_STR_ARG(global->as.global.name));
}

/* ---- the elements of a tensor ---- */

bool ig_py_tensor_is_contiguous(const ig_py_tensor *tensor) {
    int64_t expected = 1;
    if (tensor->sparse) {
        return false;
    }
    for (uint32_t i = tensor->rank; i-- > 0 && tensor->count > 0;) {
        if (tensor->sizes[i] != 1 && tensor->strides[i] != expected) {
            return false;
        }
        expected *= tensor->sizes[i];
    }
    return true;
}

/* Copies row by row of the last dimension, stepping the others like an odometer. */
static void gather_elements(const ig_py_tensor *tensor, size_t unit, int64_t *index,
                            char *out) {
    assert(tensor->rank > 0 && tensor->count > 0 &&
           "scalars and empty tensors are contiguous");
    const char *base = tensor->storage->bytes;
    uint32_t last = tensor->rank - 1;
    int64_t from = tensor->offset;
    for (int64_t done = 0; done < tensor->count; done += tensor->sizes[last]) {
        for (int64_t i = 0; i < tensor->sizes[last]; i++, out += unit) {
            memcpy(out, base + (size_t)(from + i * tensor->strides[last]) * unit, unit);
        }
        for (uint32_t d = last; d-- > 0;) {
            from += tensor->strides[d];
            if (++index[d] < tensor->sizes[d]) {
                break;
            }
            from -= tensor->sizes[d] * tensor->strides[d];
            index[d] = 0;
        }
    }
}

ig_status ig_py_tensor_bytes(ig_context *context, ig_arena *arena,
                             const ig_py_tensor *tensor, const ig_location *where,
                             ig_archive_span *out_span) {
    if (tensor->sparse || !tensor->storage->bytes) {
        return ig_error(&context->diag, IG_UNSUPPORTED, where, "%s",
                        tensor->sparse
                            ? "a sparse tensor has no elements in a row"
                            : "the archive does not hold this tensor's data");
    }
    int64_t size = 0, begin = 0;
    bool is_packed = tensor->dtype->bits < 8;
    bool is_row = ig_py_tensor_is_contiguous(tensor);
    bool is_split = is_packed && tensor->count > 0 &&
                    tensor->offset * tensor->dtype->bits % 8 != 0;
    ig_torch_dtype_bytes(tensor->dtype, tensor->count, &size);
    if (is_row && !is_split) {
        ig_torch_dtype_bytes(tensor->dtype, tensor->offset, &begin);
        const char *bytes = (const char *)tensor->storage->bytes;
        int64_t offset = tensor->storage->offset;
        assert((size == 0 || begin + size <= tensor->storage->size) &&
               "check_view found the elements in the storage");
        out_span->bytes = (ig_str){ size ? bytes + begin : "", (size_t)size };
        out_span->offset = offset < 0 || size == 0 ? -1 : offset + begin;
        return IG_OK;
    }
    if (is_packed) {
        return ig_error(&context->diag, IG_UNSUPPORTED, where,
                        "a tensor of %s does not cover a row-major storage",
                        tensor->dtype->name);
    }
    size_t unit = tensor->dtype->bits / 8;
    char *out = ig_arena_alloc(arena, (size_t)size);
    int64_t *index = IG_NEW_ARRAY(arena, int64_t, tensor->rank + 1);
    gather_elements(tensor, unit, index, out);
    *out_span = (ig_archive_span){ .bytes = { out, (size_t)size }, .offset = -1 };
    return IG_OK;
}
