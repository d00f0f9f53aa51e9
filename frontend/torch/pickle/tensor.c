/* Tensors: what torch's _rebuild functions make of storages.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tensor is a view: offset, sizes and strides in elements of its storage.  Every
 * number is checked, and that the last element is in the storage, before anything
 * reads through it.
 */
#include "frontend/torch/pickle/vm.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

static ig_status fail_args(ig_pickle_vm *vm, const ig_py *function) {
    return ig_pickle_fail(vm, IG_INVALID, "%.*s has arguments of the wrong kind",
                          IG_STR_ARG(function->as.global.name));
}

/* ---- the view ---- */

/* Non-negative integers, from a tuple, a list or a torch.Size. */
static ig_status read_extents(ig_pickle_vm *vm, const ig_py *from, const char *what,
                              uint32_t *out_rank, const int64_t **out) {
    bool is_list = from && (from->kind == IG_PY_TUPLE || from->kind == IG_PY_LIST);
    if (!is_list) {
        return ig_pickle_fail(vm, IG_INVALID, "a tensor has no %ss", what);
    }
    if (from->as.list.count > (uint64_t)vm->set->context->limits.rank) {
        return ig_pickle_error_limit(vm, IG_LIMIT_rank, "a tensor's rank");
    }
    int64_t *numbers = IG_NEW_ARRAY(vm->arena, int64_t, from->as.list.count + 1);
    for (size_t i = 0; i < from->as.list.count; i++) {
        const ig_py *item = from->as.list.items[i];
        if (item->kind != IG_PY_INT || item->as.i < 0) {
            return ig_pickle_fail(vm, IG_INVALID,
                                  "dimension %zu has a %s that is not an integer >= 0",
                                  i, what);
        }
        numbers[i] = item->as.i;
    }
    *out_rank = (uint32_t)from->as.list.count;
    *out = numbers;
    return IG_OK;
}

/* Elements, and the index of the last one that is reached from the offset on. */
static bool measure_view(const ig_py_tensor *tensor, int64_t *out_count,
                         int64_t *out_last) {
    *out_count = 1;
    *out_last = tensor->offset;
    bool is_empty = false, fits = true;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        is_empty = is_empty || tensor->sizes[i] == 0;
    }
    for (uint32_t i = 0; i < tensor->rank && !is_empty; i++) {
        int64_t reach;
        fits = fits && ig_mul_i64(*out_count, tensor->sizes[i], out_count) &&
               ig_mul_i64(tensor->sizes[i] - 1, tensor->strides[i], &reach) &&
               ig_add_i64(*out_last, reach, out_last);
    }
    if (is_empty) {
        *out_count = 0;
    }
    return fits;
}

const char *ig_py_tensor_measure(ig_py_tensor *tensor, ig_arena *arena) {
    assert(tensor->dtype && tensor->dtype->bits > 0 && "the dtype is known");
    int64_t last, held = tensor->storage->count, bytes;
    if (!measure_view(tensor, &tensor->count, &last)) {
        return "has more elements than 64 bits count";
    }
    bool counts_bytes = !tensor->storage->dtype || tensor->dtype->bits < 8;
    if (counts_bytes && !ig_mul_i64(held, 8, &held)) {
        return "is of a storage that is too large";
    }
    held = counts_bytes ? held / tensor->dtype->bits : held;
    if (tensor->count > 0 && last >= held) {
        return ig_arena_printf(arena,
                               "reaches element %lld of storage '%s', which has %lld",
                               (long long)last, tensor->storage->key, (long long)held);
    }
    return ig_torch_dtype_bytes(tensor->dtype, tensor->count, &bytes)
               ? NULL
               : "has more bytes than 64 bits count";
}

static ig_status check_view(ig_pickle_vm *vm, ig_py_tensor *tensor) {
    const char *wrong = ig_py_tensor_measure(tensor, vm->arena);
    return wrong ? ig_pickle_fail(vm, IG_INVALID, "a tensor %s", wrong) : IG_OK;
}

/* (storage, offset, sizes, strides, …), the head of most argument lists.  `dtype` NULL:
 * the storage's. */
static ig_status make_view(ig_pickle_vm *vm, ig_py *function, const ig_py *args,
                           const ig_torch_dtype_info *dtype, ig_py **out_value) {
    const ig_py *storage = ig_pickle_arg(args, 0), *offset = ig_pickle_arg(args, 1);
    if (!storage || storage->kind != IG_PY_STORAGE || !offset ||
        offset->kind != IG_PY_INT || offset->as.i < 0) {
        return fail_args(vm, function);
    }
    ig_py_tensor *tensor = IG_NEW(vm->arena, ig_py_tensor);
    tensor->storage = storage->as.storage;
    tensor->offset = offset->as.i;
    tensor->dtype = dtype ? dtype : tensor->storage->dtype;
    if (!tensor->dtype || (dtype && tensor->storage->dtype &&
                           tensor->storage->dtype->bits != dtype->bits)) {
        return fail_args(vm, function);
    }
    if (!tensor->storage->dtype && dtype->bits > 8 && vm->set->archive &&
        vm->set->archive->is_big_endian) {
        return ig_pickle_fail(
            vm, IG_UNSUPPORTED,
            "an untyped storage of a big-endian archive cannot be read");
    }
    uint32_t stride_count = 0;
    IG_TRY(read_extents(vm, ig_pickle_arg(args, 2), "size", &tensor->rank,
                        &tensor->sizes));
    IG_TRY(read_extents(vm, ig_pickle_arg(args, 3), "stride", &stride_count,
                        &tensor->strides));
    if (stride_count != tensor->rank) {
        return ig_pickle_fail(vm, IG_INVALID, "a tensor has %u sizes and %u strides",
                              tensor->rank, stride_count);
    }
    IG_TRY(check_view(vm, tensor));
    IG_TRY(ig_pickle_new(vm, IG_PY_TENSOR, out_value));
    (*out_value)->as.tensor = tensor;
    return IG_OK;
}

static bool is_true(const ig_py *value) {
    return value && value->kind == IG_PY_BOOL && value->as.b;
}

/* {"conj": True, "neg": True} */
static void read_math_bits(const ig_py *bits, ig_py_tensor *tensor) {
    if (bits && bits->kind == IG_PY_DICT) {
        tensor->is_conj = is_true(ig_py_get(bits, "conj"));
        tensor->is_neg = is_true(ig_py_get(bits, "neg"));
    }
}

/* _rebuild_tensor[_v2](storage, offset, sizes, strides[, requires_grad, hooks,
 * bits]) */
ig_status ig_pickle_make_tensor(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                ig_py **out_value) {
    IG_TRY(make_view(vm, function, args, NULL, out_value));
    ig_py_tensor *tensor = (*out_value)->as.tensor;
    tensor->requires_grad = is_true(ig_pickle_arg(args, 4));
    read_math_bits(ig_pickle_arg(args, 6), tensor);
    if (tensor->dtype->is_quantised) {
        return ig_pickle_fail(vm, IG_INVALID, "a tensor of %s has no scale",
                              tensor->dtype->name);
    }
    return IG_OK;
}

/* _rebuild_tensor_v3(storage, offset, sizes, strides, requires_grad, hooks, dtype,
 * bits) */
ig_status ig_pickle_make_tensor_v3(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                   ig_py **out_value) {
    const ig_py *dtype = ig_pickle_arg(args, 6);
    if (!dtype || dtype->kind != IG_PY_DTYPE) {
        return fail_args(vm, function);
    }
    IG_TRY(make_view(vm, function, args, dtype->as.dtype, out_value));
    (*out_value)->as.tensor->requires_grad = is_true(ig_pickle_arg(args, 4));
    read_math_bits(ig_pickle_arg(args, 7), (*out_value)->as.tensor);
    return IG_OK;
}

/* ---- a tensor made of a tensor ---- */

static ig_status copy_tensor(ig_pickle_vm *vm, const ig_py *from, ig_py **out_value) {
    assert(from->kind == IG_PY_TENSOR && "the caller checked the kind");
    IG_TRY(ig_pickle_new(vm, IG_PY_TENSOR, out_value));
    (*out_value)->as.tensor = IG_NEW(vm->arena, ig_py_tensor);
    *(*out_value)->as.tensor = *from->as.tensor;
    return IG_OK;
}

/* _rebuild_parameter(tensor, requires_grad, hooks), with a fourth: its attributes. */
ig_status ig_pickle_make_parameter(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                   ig_py **out_value) {
    const ig_py *from = ig_pickle_arg(args, 0);
    if (!from || from->kind != IG_PY_TENSOR) {
        return fail_args(vm, function);
    }
    IG_TRY(copy_tensor(vm, from, out_value));
    (*out_value)->as.tensor->is_parameter = true;
    (*out_value)->as.tensor->requires_grad = is_true(ig_pickle_arg(args, 1));
    (*out_value)->as.tensor->extra = ig_pickle_arg(args, 3);
    return IG_OK;
}

/* _rebuild_from_type_v2(function, type, args, state) */
ig_status ig_pickle_make_typed(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                               ig_py **out_value) {
    ig_py *inner = ig_pickle_arg(args, 0), *type = ig_pickle_arg(args, 1),
          *tuple = ig_pickle_arg(args, 2);
    bool is_typed = inner && inner->kind == IG_PY_GLOBAL &&
                    ig_str_starts(inner->as.global.name, "_rebuild_from_type");
    if (!inner || !type || !tuple || is_typed) {
        return fail_args(vm, function);
    }
    IG_TRY(ig_pickle_call(vm, inner, tuple, out_value));
    ig_py *state = ig_pickle_arg(args, 3);
    if ((*out_value)->kind == IG_PY_CALL) { /* of a tensor around others */
        (*out_value)->as.call.state = state;
    }
    if ((*out_value)->kind != IG_PY_TENSOR) {
        return IG_OK;
    }
    ig_py_tensor *tensor = (*out_value)->as.tensor;
    bool is_plain = ig_py_is_global(type, "torch", "Tensor") ||
                    ig_py_is_global(type, "torch.nn.parameter", "Parameter");
    tensor->is_parameter = tensor->is_parameter ||
                           ig_py_is_global(type, "torch.nn.parameter", "Parameter");
    tensor->subclass = is_plain ? NULL : type;
    tensor->extra = state ? state : tensor->extra;
    return IG_OK;
}

/* ---- quantised ---- */

static bool is_vector(const ig_py *value) {
    return value && value->kind == IG_PY_TENSOR && value->as.tensor->rank == 1 &&
           !value->as.tensor->dtype->is_quantised && !value->as.tensor->sparse;
}

typedef struct scheme_row {
    const char *name;
    ig_py_qscheme scheme;
} scheme_row;

static const scheme_row schemes[] = {
    { "per_tensor_affine", IG_PY_PER_TENSOR },
    { "per_tensor_symmetric", IG_PY_PER_TENSOR },
    { "per_channel_affine", IG_PY_PER_CHANNEL },
    { "per_channel_symmetric", IG_PY_PER_CHANNEL },
    { "per_channel_affine_float_qparams", IG_PY_PER_CHANNEL_FLOAT },
};

static const scheme_row *find_scheme(const ig_py *value) {
    for (size_t i = 0; value && i < IG_COUNT_OF(schemes); i++) {
        if (ig_py_is_global(value, "torch", schemes[i].name)) {
            return &schemes[i];
        }
    }
    return NULL;
}

/* (scheme, scale, zero point) or (scheme, scales, zero points, axis) */
static bool read_quant(const ig_py *params, const ig_py_tensor *tensor,
                       ig_py_quant *out) {
    if (!params || params->kind != IG_PY_TUPLE) {
        return false;
    }
    const scheme_row *row = find_scheme(ig_pickle_arg(params, 0));
    ig_py *scale = ig_pickle_arg(params, 1), *zero = ig_pickle_arg(params, 2);
    const ig_py *axis = ig_pickle_arg(params, 3);
    if (!row || !scale || !zero) {
        return false;
    }
    out->scheme = row->scheme;
    if (row->scheme == IG_PY_PER_TENSOR) {
        bool is_good = scale->kind == IG_PY_FLOAT && zero->kind == IG_PY_INT;
        out->scale = is_good ? scale->as.f : 0;
        out->zero_point = is_good ? zero->as.i : 0;
        return is_good;
    }
    if (!is_vector(scale) || !is_vector(zero) || !axis || axis->kind != IG_PY_INT ||
        axis->as.i < 0 || axis->as.i >= (int64_t)tensor->rank) {
        return false;
    }
    out->scales = scale;
    out->zero_points = zero;
    out->axis = axis->as.i;
    int64_t channels = tensor->sizes[axis->as.i];
    return scale->as.tensor->sizes[0] == channels &&
           zero->as.tensor->sizes[0] == channels;
}

/* _rebuild_qtensor(storage, offset, sizes, strides, params, requires_grad, hooks) */
ig_status ig_pickle_make_quantised(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                   ig_py **out_value) {
    IG_TRY(make_view(vm, function, args, NULL, out_value));
    ig_py_tensor *tensor = (*out_value)->as.tensor;
    ig_py_quant *quant = IG_NEW(vm->arena, ig_py_quant);
    if (!tensor->dtype->is_quantised ||
        !read_quant(ig_pickle_arg(args, 4), tensor, quant)) {
        return fail_args(vm, function);
    }
    tensor->quant = quant;
    tensor->requires_grad = is_true(ig_pickle_arg(args, 5));
    return IG_OK;
}

/* ---- sparse ---- */

static const char *const layouts[] = { "strided",    "sparse_coo", "sparse_csr",
                                       "mkldnn",     "sparse_csc", "sparse_bsr",
                                       "sparse_bsc", "jagged" };

/* A layout by libtorch's number or as the global of Python. */
static const char *layout_of(const ig_py *value) {
    for (size_t i = 0; value && i < IG_COUNT_OF(layouts); i++) {
        bool is_number = value->kind == IG_PY_INT && value->as.i == (int64_t)i;
        if (is_number || ig_py_is_global(value, "torch", layouts[i])) {
            return layouts[i];
        }
    }
    return NULL;
}

/* The parts are tensors from argument `first` on; the last one are the values. */
static ig_status make_parts(ig_pickle_vm *vm, ig_py *function, const ig_py *from,
                            size_t first, ig_py_sparse form, ig_py_tensor *tensor) {
    assert(form.part_count >= 2 && "sparse tensors have indices and values");
    ig_py_sparse *sparse = IG_NEW(vm->arena, ig_py_sparse);
    *sparse = form;
    sparse->parts = IG_NEW_ARRAY(vm->arena, ig_py *, form.part_count);
    for (size_t i = 0; i < form.part_count; i++) {
        sparse->parts[i] = ig_pickle_arg(from, first + i);
        if (!sparse->parts[i] || sparse->parts[i]->kind != IG_PY_TENSOR) {
            return fail_args(vm, function);
        }
    }
    tensor->dtype = sparse->parts[form.part_count - 1]->as.tensor->dtype;
    tensor->sparse = sparse;
    return IG_OK;
}

/* libtorch: (layout, sizes, requires_grad, indices…, values, hooks); Python: (layout,
 * (indices…, values, sizes[, is_coalesced])). */
ig_status ig_pickle_make_sparse(ig_pickle_vm *vm, ig_py *function, ig_py *args,
                                ig_py **out_value) {
    const char *layout = layout_of(ig_pickle_arg(args, 0));
    const ig_py *second = ig_pickle_arg(args, 1);
    if (!layout || !second || second->kind != IG_PY_TUPLE) {
        return fail_args(vm, function);
    }
    size_t count = strcmp(layout, "sparse_coo") == 0 ? 2 : 3;
    bool is_python = args->as.list.count == 2;
    const ig_py *from = is_python ? second : args;
    const ig_py *sizes = is_python ? ig_pickle_arg(second, count) : second;
    size_t first = is_python ? 0 : 3;
    IG_TRY(ig_pickle_new(vm, IG_PY_TENSOR, out_value));
    ig_py_tensor *tensor = (*out_value)->as.tensor = IG_NEW(vm->arena, ig_py_tensor);
    IG_TRY(read_extents(vm, sizes, "size", &tensor->rank, &tensor->sizes));
    int64_t *strides = IG_NEW_ARRAY(vm->arena, int64_t, tensor->rank + 1);
    int64_t last;
    tensor->strides = strides;
    if (!measure_view(tensor, &tensor->count, &last)) {
        return fail_args(vm, function);
    }
    ig_py_sparse sparse = { .layout = layout,
                            .part_count = count,
                            .is_coalesced = is_python &&
                                            is_true(ig_pickle_arg(second, count + 1)) };
    IG_TRY(make_parts(vm, function, from, first, sparse, tensor));
    tensor->requires_grad = !is_python && is_true(ig_pickle_arg(args, 2));
    return IG_OK;
}
