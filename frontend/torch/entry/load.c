/* The values of data.pkl and constants.pkl.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Identity is kept: one pickled list, object or storage is one of ours.  A tensor's
 * content becomes a weight when it is first read, so that what the program does not use
 * is not in the module.  Bytes are borrowed from the archive where they lie there in
 * row-major order, or in that of another permutation of the axes (then the weight has
 * the permuted shape and a transpose puts it right); else they are gathered.
 */
#include "frontend/torch/eval/expression.h"

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

/* Axes from the widest stride to the narrowest; true when the elements lie without gaps
 * in that order. */
static bool dense_order(const ig_py_tensor *tensor, int64_t *order) {
    assert(tensor->rank <= IG_TENSOR_RANK && "load_tensor has bounded the rank");
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

/* What lies with gaps is not known to lie in any order: a copy of it is loaded. */
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
           "load_tensor has bounded the rank");
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

static ig_value *add_weight(ig_ts_eval *eval, const char *name, const ig_type *type,
                            const ig_archive_span *span) {
    ig_data data = { .type = type,
                     .bytes = span->bytes.data,
                     .size = (int64_t)span->bytes.size };
    ig_builder head = ig_builder_at_end(&eval->graph->body);
    if (span->offset >= 0) {
        data.file = ig_module_string(eval->module, ig_str_of(eval->file));
        data.offset = span->offset;
    }
    return ig_make_weight(&head, ig_module_add_weight(eval->module, name, &data));
}

/* A weight in the order in which it lies in the file, transposed back. */
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
    ig_value *weight = add_weight(eval, storage->name, type_of(eval, &dense), &span);
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
    storage->value = add_weight(eval, storage->name, type_of(eval, tensor), &span);
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
    ig_ts_value scales, zeros;
    quant->axis = from->axis;
    quant->is_float = from->scheme == IG_PY_PER_CHANNEL_FLOAT;
    IG_TRY(ig_ts_load(eval, from->scales, "scales", &scales));
    IG_TRY(ig_ts_load(eval, from->zero_points, "zero_points", &zeros));
    IG_TRY(ig_ts_storage_load(eval, scales.as.tensor->storage));
    IG_TRY(ig_ts_storage_load(eval, zeros.as.tensor->storage));
    quant->scale = scales.as.tensor->storage->value;
    quant->zero_point = zeros.as.tensor->storage->value;
    return IG_OK;
}

static ig_status load_tensor(ig_ts_eval *eval, const ig_py *value, const char *path,
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

/* ---- containers ---- */

static const ig_script_type *tag_of(ig_ts_eval *eval, const ig_py *value) {
    const ig_script_type *type = NULL;
    ig_location where = { .file = eval->file };
    bool is_tag = value->type && (strncmp(value->type, "List[", 5) == 0 ||
                                  strncmp(value->type, "Dict[", 5) == 0);
    if (!is_tag || ig_script_type_of_text(&eval->code->types, &where,
                                          ig_str_of(value->type), &type) != IG_OK) {
        return NULL;
    }
    return type;
}

static ig_status load_items(ig_ts_eval *eval, const ig_py *value, const char *path,
                            ig_ts_list *list) {
    for (size_t i = 0; i < value->as.list.count; i++) {
        ig_ts_value item;
        const char *name = ig_arena_printf(eval->arena, "%s.%zu", path, i);
        IG_TRY(ig_ts_load(eval, value->as.list.items[i], name, &item));
        ig_ts_list_add(eval, list, item);
    }
    list->type = tag_of(eval, value);
    list->path = ig_module_string(eval->module, ig_str_of(path));
    return IG_OK;
}

static ig_status load_dict(ig_ts_eval *eval, const ig_py *value, const char *path,
                           ig_ts_dict *dict) {
    for (size_t i = 0; i < value->as.dict.count; i++) {
        ig_ts_value key, item;
        IG_TRY(ig_ts_load(eval, value->as.dict.keys[i], path, &key));
        const char *name = key.kind == IG_TS_STR
                               ? ig_arena_printf(eval->arena, "%s.%.*s", path,
                                                 IG_STR_ARG(key.as.str))
                               : ig_arena_printf(eval->arena, "%s.%zu", path, i);
        IG_TRY(ig_ts_load(eval, value->as.dict.values[i], name, &item));
        ig_ts_dict_set(eval, dict, key, item);
    }
    dict->type = tag_of(eval, value);
    dict->path = ig_module_string(eval->module, ig_str_of(path));
    return IG_OK;
}

/* ---- objects ---- */

ig_status ig_ts_load_attributes(ig_ts_eval *eval, const ig_py *state, const char *path,
                                ig_ts_object *object) {
    for (size_t i = 0; i < state->as.dict.count; i++) {
        const ig_py *key = state->as.dict.keys[i];
        ig_ts_value item;
        if (key->kind != IG_PY_STR) {
            return ig_ts_error(eval, IG_INVALID, "an attribute's name is no string");
        }
        const char *name = ig_module_string(eval->module, key->as.text);
        const char *dot = path[0] ? "." : "";
        IG_TRY(ig_ts_load(eval, state->as.dict.values[i],
                          ig_arena_printf(eval->arena, "%s%s%s", path, dot, name),
                          &item));
        ig_ts_object_set(eval, object, name, item);
    }
    return IG_OK;
}

/* Custom classes keep their state as attribute "state"; what reads it knows it. */
static ig_status load_state(ig_ts_eval *eval, const ig_py *state, const char *path,
                            ig_ts_object *object) {
    ig_ts_value value, nothing;
    IG_TRY(ig_ts_load(eval, (ig_py *)(uintptr_t)state, path, &value));
    if (!object->class || !ig_ts_has_method(eval, object, "__setstate__")) {
        ig_ts_object_set(eval, object, "state", value);
        return IG_OK;
    }
    ig_ts_arguments arguments = { .values = &value, .positional = 1 };
    return ig_ts_call_method(eval, object, "__setstate__", &arguments, &nothing);
}

static ig_status load_object(ig_ts_eval *eval, const ig_py *value, const char *path,
                             ig_ts_object *object) {
    const ig_py *state = value->as.object.state;
    const char *name = ig_py_path(value, eval->arena);
    ig_location where = { .file = eval->file, .node = path };
    object->class_name = ig_module_string(eval->module, ig_str_of(name));
    object->path = ig_module_string(eval->module, ig_str_of(path));
    IG_TRY(ig_code_class(eval->code, name, &where, &object->class));
    if (object->class->kind == IG_CLASS_CUSTOM) {
        object->class = NULL;
    }
    if (!state) {
        return IG_OK;
    }
    bool has_setstate = ig_ts_has_method(eval, object, "__setstate__") &&
                        ig_ts_has_method(eval, object, "__getstate__");
    return state->kind == IG_PY_DICT && !has_setstate && object->class
               ? ig_ts_load_attributes(eval, state, path, object)
               : load_state(eval, state, path, object);
}

static ig_status load_enum(ig_ts_eval *eval, const ig_py *value, const char *path,
                           ig_ts_value *out_value) {
    const ig_class *class = NULL;
    ig_location where = { .file = eval->file, .node = path };
    ig_ts_value wanted;
    IG_TRY(ig_code_class(eval->code, ig_py_path(value, eval->arena), &where, &class));
    IG_TRY(ig_ts_load(eval, value->as.enumeration.value, path, &wanted));
    for (size_t i = 0; i < class->members.count; i++) {
        ig_ts_value member;
        bool is_known;
        IG_TRY(ig_ts_enum_member(eval, class, class->members.items[i].name, &member));
        if (ig_ts_equal(ig_ts_object_get(member.as.object, "value"), &wanted,
                        &is_known)) {
            *out_value = member;
            return IG_OK;
        }
    }
    return ig_ts_error(eval, IG_INVALID, "'%s' is no member of its enum", path);
}

/* ---- the whole ---- */

static bool is_of_dialect(const ig_py *object) {
    const ig_py *class = object->as.object.class;
    return class->kind == IG_PY_GLOBAL &&
           ig_str_starts(class->as.global.module, "__torch__");
}

/* Containers are known by their pickled value before their items are loaded: a cycle
 * cannot be in a pickle's graph, but one object is met many times. */
static ig_status load_container(ig_ts_eval *eval, ig_py *value, const char *path,
                                ig_ts_value *memo) {
    switch ((int)value->kind) {
    case IG_PY_LIST:
        *memo = ig_ts_of_list(ig_ts_list_create(eval, value->as.list.count));
        return load_items(eval, value, path, memo->as.list);
    case IG_PY_TUPLE:
        *memo = ig_ts_of_tuple(ig_ts_list_create(eval, value->as.list.count));
        return load_items(eval, value, path, memo->as.list);
    case IG_PY_DICT:
        *memo = ig_ts_of_dict(ig_ts_dict_create(eval));
        return load_dict(eval, value, path, memo->as.dict);
    case IG_PY_OBJECT:
        if (eval->plain && !is_of_dialect(value)) {
            return eval->plain->load(eval, value, path, memo);
        }
        *memo = ig_ts_of_object(ig_ts_object_create(eval, "?"));
        return load_object(eval, value, path, memo->as.object);
    case IG_PY_ENUM:
        return load_enum(eval, value, path, memo);
    case IG_PY_TENSOR:
        return load_tensor(eval, value, path, memo);
    default:
        if (eval->plain) {
            return eval->plain->load(eval, value, path, memo);
        }
        return ig_ts_error(eval, IG_UNSUPPORTED, "'%s' is %s, which is not supported",
                           path, ig_py_kind_name(value->kind));
    }
}

ig_status ig_ts_load(ig_ts_eval *eval, ig_py *value, const char *path,
                     ig_ts_value *out_value) {
    switch ((int)value->kind) {
    case IG_PY_NONE:
        *out_value = ig_ts_none();
        return IG_OK;
    case IG_PY_BOOL:
        *out_value = ig_ts_of_bool(value->as.b);
        return IG_OK;
    case IG_PY_INT:
        *out_value = ig_ts_of_int(value->as.i);
        return IG_OK;
    case IG_PY_FLOAT:
        *out_value = ig_ts_of_float(value->as.f);
        return IG_OK;
    case IG_PY_COMPLEX:
        *out_value = ig_ts_of_complex(value->as.complex.re, value->as.complex.im);
        return IG_OK;
    case IG_PY_STR:
    case IG_PY_BYTES: /* a custom class's state may be one */
        *out_value = ig_ts_of_str(value->as.text);
        return IG_OK;
    case IG_PY_DEVICE:
        *out_value = (ig_ts_value){ .kind = IG_TS_DEVICE, .as.str = value->as.text };
        return IG_OK;
    case IG_PY_DTYPE:
        *out_value = ig_ts_of_int(value->as.dtype->code);
        return IG_OK;
    default:
        break;
    }
    ig_ts_value *memo = ig_map_get_id(&eval->loaded, IG_MAP_PTR(value));
    if (!memo) {
        memo = IG_NEW(eval->arena, ig_ts_value);
        ig_map_set_id(&eval->loaded, IG_MAP_PTR(value), memo);
        IG_TRY(load_container(eval, value, path, memo));
    }
    *out_value = *memo;
    return IG_OK;
}
