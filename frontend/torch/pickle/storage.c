/* Persistent ids: storages, and what torch.package reduces in its own way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/pickle/vm.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

/* The fields of ("storage", class, key, location, count). */
typedef struct storage_id {
    const ig_torch_dtype_info *dtype; /* NULL: untyped */
    const char *entry;
    ig_str location;
    int64_t count, size;
} storage_id;

static ig_status fail_id(ig_pickle_vm *vm) {
    return ig_pickle_fail(vm, IG_INVALID, "its persistent id is not one of PyTorch's");
}

/* The key, text or number, as the name of an entry. */
static ig_status read_key(ig_pickle_vm *vm, const ig_py *key, storage_id *out) {
    const ig_pickle_options *options = vm->options;
    ig_str text = key->as.text;
    if (key->kind == IG_PY_INT && key->as.i >= 0) {
        text = ig_str_of(ig_arena_printf(vm->arena, "%lld", (long long)key->as.i));
    } else if (key->kind != IG_PY_STR) {
        return fail_id(vm);
    }
    bool is_plain = text.size > 0 && text.size < 200 &&
                    !memchr(text.data, '/', text.size);
    if (!is_plain || !options->storage_prefix) {
        int size = (int)(text.size < 60 ? text.size : 60);
        return ig_pickle_fail(vm, IG_INVALID, "the storage '%.*s' has no plain key",
                              size, text.data);
    }
    out->entry = ig_arena_printf(vm->arena, "%s%.*s%s", options->storage_prefix,
                                 IG_STR_ARG(text), options->storage_suffix);
    return IG_OK;
}

static ig_status read_class(ig_pickle_vm *vm, const ig_py *class, storage_id *out) {
    if (class->kind != IG_PY_GLOBAL) {
        return fail_id(vm);
    }
    out->dtype = ig_torch_dtype_of_storage(class->as.global.name);
    if (!out->dtype && !ig_str_is(class->as.global.name, "UntypedStorage")) {
        return ig_pickle_fail(vm, IG_INVALID, "%.*s is not a storage class",
                              IG_STR_ARG(class->as.global.name));
    }
    return IG_OK;
}

static ig_status read_id(ig_pickle_vm *vm, const ig_py *id, storage_id *out) {
    assert(id->kind == IG_PY_TUPLE && "the caller checked that ids are tuples");
    ig_py **parts = id->as.list.items;
    if (id->as.list.count < 5 || parts[3]->kind != IG_PY_STR ||
        parts[4]->kind != IG_PY_INT || parts[4]->as.i < 0) {
        return fail_id(vm);
    }
    *out = (storage_id){ .location = parts[3]->as.text, .count = parts[4]->as.i };
    IG_TRY(read_class(vm, parts[1], out));
    IG_TRY(read_key(vm, parts[2], out));
    /* Of packed dtypes the count is that of bytes. */
    out->size = out->count;
    if (out->dtype && out->dtype->bits >= 8 &&
        !ig_torch_dtype_bytes(out->dtype, out->count, &out->size)) {
        return ig_pickle_fail(vm, IG_INVALID,
                              "the storage '%s' says it has %lld elements", out->entry,
                              (long long)out->count);
    }
    return IG_OK;
}

/* The bytes of each element (or half of a complex one) turned round, in the arena. */
static const void *swap_bytes(ig_pickle_vm *vm, const char *bytes, int64_t size,
                              size_t unit) {
    assert(size >= 0 && unit > 1 && "single bytes have no order");
    char *out = ig_arena_alloc(vm->arena, (size_t)size);
    size_t whole = (size_t)size / unit * unit;
    for (size_t at = 0; at < whole; at += unit) {
        for (size_t i = 0; i < unit; i++) {
            out[at + i] = bytes[at + unit - 1 - i];
        }
    }
    memcpy(out + whole, bytes + whole, (size_t)size - whole);
    return out;
}

static ig_status load_bytes(ig_pickle_vm *vm, const storage_id *id,
                            ig_py_storage *storage) {
    ig_archive *archive = vm->set->archive;
    ig_archive_entry *entry = archive ? ig_archive_find(archive, ig_str_of(id->entry))
                                      : NULL;
    if (id->size == 0) {
        storage->bytes = "";
        return IG_OK;
    }
    if (!entry) {
        return ig_pickle_fail(
            vm, IG_INVALID, "the archive has no entry '%s' for a storage of %lld bytes",
            id->entry, (long long)id->size);
    }
    if (entry->size < (uint64_t)id->size) {
        return vm->options->storages_may_be_empty
                   ? IG_OK
                   : ig_pickle_fail(
                         vm, IG_INVALID,
                         "the storage '%s' needs %lld bytes, but its entry has %llu",
                         id->entry, (long long)id->size,
                         (unsigned long long)entry->size);
    }
    ig_archive_span span;
    IG_TRY(ig_archive_read(archive, entry, &span));
    storage->bytes = span.bytes.data;
    storage->offset = span.offset;
    size_t unit = id->dtype ? id->dtype->bits / (id->dtype->is_complex ? 16u : 8u) : 1;
    if (archive->is_big_endian && unit > 1) {
        storage->bytes = swap_bytes(vm, span.bytes.data, id->size, unit);
        storage->offset = -1;
    }
    return IG_OK;
}

/* One value for each entry and dtype, over all pickles of the set. */
static ig_status make_storage(ig_pickle_vm *vm, const ig_py *tuple, ig_py **out_value) {
    storage_id id;
    IG_TRY(read_id(vm, tuple, &id));
    const char *dtype = id.dtype ? id.dtype->name : "untyped";
    ig_str name = ig_str_of(ig_arena_printf(vm->arena, "%s %s", id.entry, dtype));
    ig_py *known = ig_map_get(&vm->set->storages, name);
    if (known && known->as.storage->count == id.count) {
        *out_value = known;
        return IG_OK;
    }
    if (known) {
        return ig_pickle_fail(
            vm, IG_INVALID,
            "the storage '%s' has %lld elements here and %lld elsewhere", id.entry,
            (long long)id.count, (long long)known->as.storage->count);
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_STORAGE, out_value));
    ig_py_storage *storage = IG_NEW(vm->arena, ig_py_storage);
    *storage = (ig_py_storage){ .key = id.entry,
                                .count = id.count,
                                .size = id.size,
                                .offset = -1,
                                .dtype = id.dtype,
                                .location = id.location };
    IG_TRY(load_bytes(vm, &id, storage));
    (*out_value)->as.storage = storage;
    ig_map_set(&vm->set->storages, name, *out_value);
    return IG_OK;
}

/* ("reduce_package", [number,] function, args): one CALL for each number. */
static ig_status make_reduced(ig_pickle_vm *vm, const ig_py *tuple, ig_py **out_value) {
    assert(tuple->kind == IG_PY_TUPLE && "the caller checked that ids are tuples");
    ig_py **parts = tuple->as.list.items;
    size_t count = tuple->as.list.count;
    bool has_id = count == 4 && parts[1]->kind == IG_PY_INT;
    if (!(has_id || count == 3) || parts[count - 1]->kind != IG_PY_TUPLE) {
        return fail_id(vm);
    }
    uint64_t id = has_id ? (uint64_t)parts[1]->as.i : 0;
    ig_py *known = has_id ? ig_map_get_id(&vm->set->reduced, id) : NULL;
    if (known) {
        *out_value = known;
        return IG_OK;
    }
    IG_TRY(ig_pickle_new(vm, IG_PY_CALL, out_value));
    (*out_value)->as.call.function = parts[count - 2];
    (*out_value)->as.call.args = parts[count - 1];
    (*out_value)->as.call.is_package_reduce = true;
    if (has_id) {
        ig_map_set_id(&vm->set->reduced, id, *out_value);
    }
    return IG_OK;
}

ig_status ig_pickle_persistent(ig_pickle_vm *vm, ig_py *id, ig_py **out_value) {
    if (id->kind != IG_PY_TUPLE || id->as.list.count == 0) {
        return fail_id(vm);
    }
    const ig_py *what = id->as.list.items[0];
    if (ig_py_is_str(what, "storage")) {
        return make_storage(vm, id, out_value);
    }
    if (ig_py_is_str(what, "reduce_package")) {
        return make_reduced(vm, id, out_value);
    }
    return fail_id(vm);
}
