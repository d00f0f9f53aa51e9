/* Tensors of the archive: their contents become weights when they are first read.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Unused weights are not in the module.  Bytes are borrowed from the archive where it
 * holds them in row-major order, or in another permutation of the axes (then the weight
 * has the permuted shape and a transpose puts it right); else they are gathered.
 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <string.h>

/* Where a storage's content comes from. */
struct ig_ts_origin {
    const ig_py_tensor *tensor;
    ig_ts_storage *storage;
    struct ig_ts_origin *others; /* other views of the same memory */
};

/* ---- tensors ---- */

static bool is_same_view(const ig_py_tensor *a, const ig_py_tensor *b) {
    bool is_same = a->rank == b->rank && a->offset == b->offset && a->dtype == b->dtype;
    for (uint32_t i = 0; is_same && i < a->rank; i++) {
        is_same = a->sizes[i] == b->sizes[i] &&
                  (a->strides[i] == b->strides[i] || a->sizes[i] <= 1);
    }
    return is_same;
}

/* Axes from the widest stride to the narrowest; true when the elements have no gaps in
 * that order. */
static bool dense_order(const ig_py_tensor *tensor, int64_t *order) {
    assert(tensor->rank <= IG_TENSOR_RANK && "ig_ts_tensor_load has bounded the rank");
    int64_t run = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint32_t at = i;
        for (; at > 0 && tensor->strides[order[at - 1]] < tensor->strides[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (uint32_t i = tensor->rank; i-- > 0;) {
        if (tensor->sizes[order[i]] > 1 && tensor->strides[order[i]] != run) {
            return false;
        }
        run *= tensor->sizes[order[i]];
    }
    return true;
}

/* Elements with gaps have no known order: a copy of it is loaded. */
static const ig_ts_order *order_of(ig_ts_eval *eval, const ig_py_tensor *tensor) {
    static const ig_ts_order unknown = { .is_known = false };
    int64_t axes[IG_TENSOR_RANK];
    if (ig_py_tensor_is_contiguous(tensor)) {
        return NULL;
    }
    if (tensor->dtype->is_complex || !dense_order(tensor, axes)) {
        return &unknown;
    }
    ig_ts_order *order = IG_NEW(eval->arena, ig_ts_order);
    order->is_known = true;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        order->axes[i] = (uint32_t)axes[i];
    }
    return order;
}

/* The storage of a pickled tensor: one for all tensors that are the same view. */
static ig_ts_storage *storage_of(ig_ts_eval *eval, const ig_py_tensor *tensor,
                                 const char *path) {
    uint64_t key = IG_MAP_PTR(tensor->storage);
    struct ig_ts_origin *first = ig_map_get_id(&eval->storages, key);
    for (struct ig_ts_origin *o = first; o; o = o->others) {
        if (is_same_view(o->tensor, tensor)) {
            return o->storage;
        }
    }
    struct ig_ts_origin *origin = IG_NEW(eval->arena, struct ig_ts_origin);
    origin->tensor = tensor;
    origin->others = first;
    origin->storage = ig_ts_storage_create(
        eval, NULL, ig_module_string(eval->module, ig_str_of(path)));
    origin->storage->origin = origin;
    origin->storage->order = order_of(eval, tensor);
    ig_map_set_id(&eval->storages, key, origin);
    for (struct ig_ts_origin *o = origin; first && o; o = o->others) {
        o->storage->refusal =
            "shares its memory with another tensor of the archive in another view";
    }
    return origin->storage;
}

static const ig_type *type_of(ig_ts_eval *eval, const ig_py_tensor *tensor) {
    assert(tensor->rank + tensor->dtype->is_complex <= IG_TENSOR_RANK &&
           "ig_ts_tensor_load has bounded the rank");
    ig_dim dims[IG_TENSOR_RANK + 1];
    uint32_t rank = tensor->rank;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_dim_of(tensor->sizes[i]);
    }
    if (tensor->dtype->is_complex) {
        dims[rank++] = ig_dim_of(2);
    }
    return ig_type_tensor(eval->module, tensor->dtype->ir, rank, dims);
}

static ig_value *add_weight(ig_ts_eval *eval, const ig_ts_storage *storage,
                            const ig_type *type, const ig_archive_span *span) {
    ig_data data = { .type = type,
                     .bytes = span->bytes.data,
                     .size = (int64_t)span->bytes.size };
    ig_builder head = ig_builder_at_end(&eval->graph->body);
    if (span->offset >= 0) {
        data.file = ig_module_string(eval->module, ig_str_of(eval->file));
        data.offset = span->offset;
    }
    ig_weight *weight = ig_module_add_weight(eval->module, storage->name, &data);
    weight->is_parameter = storage->origin->tensor->is_parameter;
    return ig_make_weight(&head, weight);
}

/* A weight in the file's order, transposed back. */
static ig_status load_permuted(ig_ts_eval *eval, ig_ts_storage *storage,
                               const int64_t *order, const ig_location *where) {
    assert(storage->origin && "a storage of the archive");
    const ig_py_tensor *tensor = storage->origin->tensor;
    ig_py_tensor dense = *tensor;
    int64_t sizes[IG_TENSOR_RANK], strides[IG_TENSOR_RANK], back[IG_TENSOR_RANK];
    ig_archive_span span;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        sizes[i] = tensor->sizes[order[i]];
        strides[i] = tensor->strides[order[i]];
        back[order[i]] = i;
    }
    dense.sizes = sizes;
    dense.strides = strides;
    IG_TRY(
        ig_py_tensor_bytes(eval->context, &eval->module->arena, &dense, where, &span));
    ig_value *weight = add_weight(eval, storage, type_of(eval, &dense), &span);
    ig_builder after = { .graph = eval->graph,
                         .block = &eval->graph->body,
                         .before = eval->graph->last_head->next };
    ig_expr e = ig_expr_of(&after);
    storage->initial = ig_expr_transpose(&e, weight, back);
    storage->value = storage->initial;
    return IG_OK;
}

ig_status ig_ts_storage_load(ig_ts_eval *eval, ig_ts_storage *storage) {
    int64_t order[IG_TENSOR_RANK];
    ig_archive_span span;
    ig_location where = { .file = eval->file, .node = storage->name };
    if (storage->value || !storage->origin) {
        return IG_OK;
    }
    const ig_py_tensor *tensor = storage->origin->tensor;
    if (tensor->dtype->ir == IG_DT_COUNT || tensor->sparse) {
        return ig_error(&eval->context->diag, IG_UNSUPPORTED, &where,
                        "a tensor of %s is not supported yet",
                        tensor->sparse ? tensor->sparse->layout : tensor->dtype->name);
    }
    bool is_permuted = !ig_py_tensor_is_contiguous(tensor) &&
                       !tensor->dtype->is_complex && tensor->dtype->bits >= 8 &&
                       dense_order(tensor, order);
    if (is_permuted) {
        return load_permuted(eval, storage, order, &where);
    }
    IG_TRY(
        ig_py_tensor_bytes(eval->context, &eval->module->arena, tensor, &where, &span));
    storage->value = add_weight(eval, storage, type_of(eval, tensor), &span);
    storage->initial = storage->value;
    return IG_OK;
}

/* A constant of rank 0 that every block sees. */
static ig_value *head_constant(ig_ts_eval *eval, ig_dtype dtype, const void *bytes) {
    ig_op *last = eval->graph->last_head;
    ig_builder head = { .graph = eval->graph,
                        .block = &eval->graph->body,
                        .before = last ? last->next : eval->graph->body.first };
    return ig_make_const(&head, ig_type_tensor(eval->module, dtype, 0, NULL), bytes);
}

static ig_status load_parameters(ig_ts_eval *eval, const ig_py *from, const char *name,
                                 ig_value **out) {
    ig_ts_value tensor;
    IG_TRY(ig_ts_tensor_load(eval, from, name, &tensor));
    IG_TRY(ig_ts_storage_load(eval, tensor.as.tensor->storage));
    *out = tensor.as.tensor->storage->value;
    return IG_OK;
}

static ig_status load_quant(ig_ts_eval *eval, const ig_py_quant *from,
                            const ig_ts_quant **out_quant) {
    ig_ts_quant *quant = IG_NEW(eval->arena, ig_ts_quant);
    *out_quant = quant;
    quant->axis = -1;
    if (from->scheme == IG_PY_PER_TENSOR) {
        quant->scale = head_constant(eval, IG_DT_f64, &from->scale);
        quant->zero_point = head_constant(eval, IG_DT_i64, &from->zero_point);
        return IG_OK;
    }
    quant->axis = from->axis;
    quant->is_float = from->scheme == IG_PY_PER_CHANNEL_FLOAT;
    IG_TRY(load_parameters(eval, from->scales, "scales", &quant->scale));
    return load_parameters(eval, from->zero_points, "zero_points", &quant->zero_point);
}

ig_status ig_ts_tensor_load(ig_ts_eval *eval, const ig_py *value, const char *path,
                            ig_ts_value *out_value) {
    const ig_py_tensor *from = value->as.tensor;
    uint32_t rank = from->rank + from->dtype->is_complex;
    if (rank > IG_TENSOR_RANK) {
        return ig_ts_error(eval, IG_LIMIT, "'%s' has rank %u, expected at most %d",
                           path, rank, IG_TENSOR_RANK);
    }
    if (from->is_conj || from->is_neg || from->sparse) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "'%s' is a sparse tensor, or one that is conjugated or negated lazily; that is not supported yet",
            path);
    }
    ig_ts_tensor *tensor = IG_NEW(eval->arena, ig_ts_tensor);
    tensor->dtype = from->dtype;
    tensor->storage = storage_of(eval, from, path);
    if (from->dtype->ir != IG_DT_COUNT) {
        tensor->type = type_of(eval, from);
    }
    *out_value = ig_ts_of_tensor(tensor);
    return from->quant ? load_quant(eval, from->quant, &tensor->quant) : IG_OK;
}
