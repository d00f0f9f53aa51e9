/* Attributes that become something else in a call and outlive it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A buffer that is written to has its storage, and is state by itself.  An attribute
 * that is bound anew is not known to be state until the call has been evaluated: a
 * number that grows, an Optional that is None until the first call.  So such a change
 * is noted, and the import begins again, this time with the attribute as an argument:
 *
 *     number          its value, of rank 0; also one that a list or dict holds
 *     buffer          whose value was used to evaluate (`int(self.count)`): never again
 *     tensor          whose extents change from call to call: these are open
 *     None → tensor   whether it is there yet, and the tensor (zeros until it is); the
 *                     method is evaluated for either and an `if` joins the two
 */
#include "frontend/torch/entry/entry.h"

#include "ir/build/build.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- noting ---- */

static bool is_number(const ig_ts_value *value) {
    return value->kind == IG_TS_INT || value->kind == IG_TS_FLOAT ||
           value->kind == IG_TS_BOOL;
}

static bool fits_parameter(char *out, size_t room, const char *text) {
    return (size_t)snprintf(out, room, "%s", text) < room;
}

bool ig_ts_carried_note(ig_ts_entry *entry, const ig_ts_slot *slot,
                        const ig_ts_value *before, const ig_ts_value *after) {
    ig_ts_carried_list *list = entry->carried;
    bool is_tensor = slot->item < 0 && before->kind == IG_TS_NONE &&
                     after->kind == IG_TS_TENSOR && !after->as.tensor->quant;
    if (!is_tensor && !(is_number(before) && before->kind == after->kind)) {
        return false;
    }
    for (uint32_t i = 0; i < list->count && is_tensor; i++) {
        if (list->items[i].kind == IG_TS_TENSOR && !list->items[i].is_there) {
            return false; /* one is chosen by an `if`; more would be chosen apart */
        }
    }
    ig_ts_carried note = { .kind = (ig_ts_kind)after->kind, .item = slot->item };
    if (list->count == IG_COUNT_OF(list->items) ||
        !fits_parameter(note.path, sizeof note.path, slot->path) ||
        !fits_parameter(note.name, sizeof note.name, slot->name)) {
        return false;
    }
    if (is_tensor) {
        const ig_type *type = after->as.tensor->type;
        note.dtype = after->as.tensor->dtype;
        note.rank = type->rank;
        for (uint32_t d = 0; d < type->rank && d < IG_COUNT_OF(note.dims); d++) {
            note.dims[d] = ig_dim_is_static(type->dims[d]) ? ig_dim_value(type->dims[d])
                                                           : -1;
        }
        if (type->rank > IG_COUNT_OF(note.dims)) {
            return false;
        }
    }
    list->items[list->count++] = note;
    return true;
}

bool ig_ts_carried_note_extents(ig_ts_entry *entry, const ig_ts_slot *slot,
                                const ig_type *before, const ig_type *after) {
    const ig_module *module = entry->eval->module;
    ig_ts_carried_list *list = entry->carried;
    ig_ts_carried note = {
        .kind = IG_TS_TENSOR, .item = slot->item, .rank = before->rank, .is_there = true
    };
    if (list->count == IG_COUNT_OF(list->items) || slot->item >= 0 ||
        before->rank > IG_COUNT_OF(note.dims) || before->rank != after->rank ||
        !fits_parameter(note.path, sizeof note.path, slot->path) ||
        !fits_parameter(note.name, sizeof note.name, slot->name)) {
        return false;
    }
    for (uint32_t d = 0; d < before->rank; d++) {
        bool is_same = ig_dim_equal(module, before->dims[d], after->dims[d]) == IG_YES;
        note.dims[d] = is_same ? ig_dim_value(before->dims[d]) : -1;
    }
    list->items[list->count++] = note;
    return true;
}

void ig_ts_carried_note_buffer(ig_ts_entry *entry, const ig_ts_storage *storage) {
    ig_ts_carried_list *list = entry->carried;
    const ig_op *weight = storage->initial ? storage->initial->def : NULL;
    ig_ts_carried note = { .kind = IG_TS_UNDEFINED };
    if (!weight || weight->code != IG_OP_weight) {
        return; /* reported when state is threaded */
    }
    const char *name = ig_attr_str(weight, IG_weight_name);
    if (ig_map_get(&entry->eval->folded, ig_str_of(name)) &&
        list->count < IG_COUNT_OF(list->items) &&
        fits_parameter(note.name, sizeof note.name, name)) {
        list->items[list->count++] = note;
    }
}

bool ig_ts_carried_has(const ig_ts_entry *entry, const ig_ts_slot *slot) {
    assert(entry->known <= entry->carried->count &&
           "earlier evaluations found a part of the list");
    for (uint32_t i = 0; i < entry->known; i++) {
        const ig_ts_carried *item = &entry->carried->items[i];
        if (strcmp(item->path, slot->path) == 0 &&
            strcmp(item->name, slot->name) == 0 && item->item == slot->item) {
            return true;
        }
    }
    return false;
}

/* ---- places ---- */

/* The object at "a.b.c", or NULL. */
static ig_ts_object *object_at(ig_ts_object *root, const char *path) {
    while (root && *path) {
        char step[64];
        size_t length = strcspn(path, ".");
        ig_ts_value *value = NULL;
        if (length < sizeof step) {
            memcpy(step, path, length);
            step[length] = '\0';
            value = ig_ts_object_get(root, step);
        }
        root = value && value->kind == IG_TS_OBJECT ? value->as.object : NULL;
        path += length + (path[length] == '.');
    }
    return root;
}

ig_ts_value *ig_ts_slot_get(const ig_ts_entry *entry, const ig_ts_slot *slot) {
    const ig_ts_object *object = object_at(entry->eval->root, slot->path);
    ig_ts_value *held = object ? ig_ts_object_get(object, slot->name) : NULL;
    if (!held || slot->item < 0) {
        return held;
    }
    size_t item = (size_t)slot->item;
    if (held->kind == IG_TS_LIST && item < held->as.list->count) {
        return &held->as.list->items[item];
    }
    bool is_entry = held->kind == IG_TS_DICT && item < held->as.dict->count;
    return is_entry ? &held->as.dict->values[item] : NULL;
}

static ig_ts_value *value_of(const ig_ts_entry *entry, const ig_ts_carried *item) {
    ig_ts_slot slot = { item->path, item->name, item->item };
    return ig_ts_slot_get(entry, &slot);
}

/* ---- beginning ---- */

/* An argument that is state and begins with these bytes (NULL: zeros). */
static ig_value *add_state(ig_ts_entry *entry, const char *name, const ig_type *arg,
                           const ig_type *initial, const void *bytes) {
    assert(ig_type_is_static(initial) && "state begins with known extents");
    ig_module *module = entry->eval->module;
    int64_t count = 1;
    for (uint32_t d = 0; d < initial->rank; d++) {
        count *= ig_dim_value(initial->dims[d]);
    }
    size_t size = (size_t)count * ig_dtypes[initial->dtype].bits / 8;
    void *content = ig_arena_zalloc(&module->arena, size + 1);
    ig_data data = { .type = initial, .bytes = content, .size = (int64_t)size };
    if (bytes) {
        memcpy(content, bytes, size);
    }
    const ig_weight *weight = ig_module_add_weight(module, name, &data);
    IG_PUSH(&module->arena, &entry->arg_names, weight->name);
    IG_PUSH(entry->eval->arena, &entry->carried_names, weight->name);
    return ig_block_add_arg(&entry->eval->graph->body, arg, weight->name);
}

static ig_value *add_scalar(ig_ts_entry *entry, const char *name, ig_dtype dtype,
                            const void *bytes) {
    const ig_type *type = ig_type_tensor(entry->eval->module, dtype, 0, NULL);
    return add_state(entry, name, type, type, bytes);
}

static ig_status begin_number(ig_ts_entry *entry, const ig_ts_carried *item,
                              ig_ts_value *value) {
    assert((item->kind == IG_TS_INT || item->kind == IG_TS_FLOAT ||
            item->kind == IG_TS_BOOL) &&
           "only numbers have a dtype in the table");
    static const ig_dtype dtypes[] = {
        [IG_TS_INT] = IG_DT_i64, [IG_TS_FLOAT] = IG_DT_f64, [IG_TS_BOOL] = IG_DT_bool
    };
    uint8_t truth = value->kind == IG_TS_BOOL && value->as.b;
    const void *bytes = value->kind == IG_TS_BOOL  ? (const void *)&truth
                        : value->kind == IG_TS_INT ? (const void *)&value->as.i
                                                   : (const void *)&value->as.f;
    const char *name = item->item < 0
                           ? item->name
                           : ig_arena_printf(entry->eval->arena, "%s.%lld", item->name,
                                             (long long)item->item);
    ig_value *arg = add_scalar(entry, name, dtypes[item->kind], bytes);
    return ig_ts_number_of(entry->eval, item->kind, arg, value);
}

static ig_status begin_tensor(ig_ts_entry *entry, const ig_ts_carried *item,
                              ig_ts_object *object) {
    assert(item->rank <= IG_COUNT_OF(item->dims) && "noting has refused a higher rank");
    assert(!entry->optional && "noting allows one tensor");
    ig_module *module = entry->eval->module;
    ig_arena *arena = entry->eval->arena;
    ig_dim dims[IG_TENSOR_RANK], initial[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < item->rank; d++) {
        const char *symbol = ig_arena_printf(arena, "%s_d%u", item->name, d);
        bool is_known = ig_dim_from(item->dims[d], &initial[d]); /* 0 where it is not */
        dims[d] = is_known ? initial[d] : ig_dim_symbol(module, symbol);
    }
    const char *flag = ig_arena_printf(arena, "%s.present", item->name);
    ig_dtype dtype = item->dtype->ir;
    entry->present = add_scalar(entry, flag, IG_DT_bool, NULL);
    ig_value *arg = add_state(entry, item->name,
                              ig_type_tensor(module, dtype, item->rank, dims),
                              ig_type_tensor(module, dtype, item->rank, initial), NULL);
    entry->optional = item;
    entry->optional_object = object;
    entry->optional_tensor = ig_ts_tensor_create(entry->eval, arg, item->dtype);
    return IG_OK;
}

/* A tensor of the archive, from now on with open extents. */
static ig_status begin_extents(ig_ts_entry *entry, const ig_ts_carried *item,
                               ig_ts_value *held) {
    ig_ts_eval *eval = entry->eval;
    ig_ts_tensor *old = held->as.tensor;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(ig_ts_storage_load(eval, old->storage));
    const ig_data *data = ig_constant_of(old->storage->value);
    if (!data || !data->bytes || old->step_count > 0 || old->type->rank != item->rank) {
        return ig_ts_entry_fail(
            entry, IG_UNSUPPORTED,
            "a buffer whose extents the call changes is not a plain tensor");
    }
    for (uint32_t d = 0; d < item->rank; d++) {
        const char *symbol = ig_arena_printf(eval->arena, "%s_d%u", item->name, d);
        dims[d] = item->dims[d] < 0 ? ig_dim_symbol(eval->module, symbol)
                                    : old->type->dims[d];
    }
    const ig_type *open = ig_type_with_dims(eval->module, old->type, item->rank, dims);
    ig_value *arg = add_state(entry, item->name, open, old->type, data->bytes);
    *held = ig_ts_of_tensor(ig_ts_tensor_create(eval, arg, old->dtype));
    return IG_OK;
}

ig_status ig_ts_carried_begin(ig_ts_entry *entry) {
    for (uint32_t i = 0; i < entry->known; i++) {
        const ig_ts_carried *item = &entry->carried->items[i];
        if (item->kind == IG_TS_UNDEFINED) {
            ig_map_set(&entry->eval->changing, ig_str_of(item->name), entry);
            continue;
        }
        ig_ts_value *value = value_of(entry, item);
        if (!value || (item->kind != IG_TS_TENSOR && value->kind != item->kind)) {
            return ig_ts_entry_fail(
                entry, IG_UNSUPPORTED,
                "an attribute that the call changes is not found again");
        }
        if (item->is_there) {
            IG_TRY(begin_extents(entry, item, value));
        } else if (item->kind == IG_TS_TENSOR) {
            IG_TRY(begin_tensor(entry, item, object_at(entry->eval->root, item->path)));
        } else {
            IG_TRY(begin_number(entry, item, value));
        }
    }
    return IG_OK;
}

/* ---- the call ---- */

typedef struct method_call {
    ig_ts_entry *entry;
    const ig_ts_arguments *arguments;
    ig_ts_list *box; /* the result goes through the merge like any item */
} method_call;

static ig_status call_it(ig_ts_eval *eval, void *user) {
    method_call *call = user;
    ig_ts_value result;
    IG_TRY(ig_python_call_method(eval, eval->root, call->entry->name, call->arguments,
                                 &result));
    ig_ts_list_set(eval, call->box, 0, result);
    return IG_OK;
}

static ig_status call_with_tensor(ig_ts_eval *eval, void *user) {
    method_call *call = user;
    ig_ts_object_set(eval, call->entry->optional_object, call->entry->optional->name,
                     ig_ts_of_tensor(call->entry->optional_tensor));
    return call_it(eval, user);
}

ig_status ig_ts_carried_call(ig_ts_entry *entry, const ig_ts_arguments *arguments,
                             ig_ts_value *out_result) {
    ig_ts_eval *eval = entry->eval;
    if (!entry->optional) {
        return ig_python_call_method(eval, eval->root, entry->name, arguments,
                                     out_result);
    }
    method_call call = { entry, arguments, ig_ts_list_create(eval, 1) };
    ig_ts_list_add(eval, call.box, ig_ts_none());
    ig_ts_value present;
    IG_TRY(ig_ts_number_of(eval, IG_TS_BOOL, entry->present, &present));
    IG_TRY(ig_ts_branch(eval, &present, call_with_tensor, call_it, &call));
    *out_result = call.box->items[0];
    return IG_OK;
}

/* ---- the end ---- */

static ig_status end_tensor(ig_ts_entry *entry, const ig_ts_value *value) {
    assert(entry->optional && "ig_ts_carried_begin has added the tensor");
    ig_ts_eval *eval = entry->eval;
    ig_ts_value yes = ig_ts_of_bool(true);
    ig_value *present, *tensor;
    if (value->kind != IG_TS_TENSOR ||
        value->as.tensor->dtype != entry->optional->dtype ||
        value->as.tensor->type->rank != entry->optional->rank) {
        return ig_ts_entry_fail(
            entry, IG_UNSUPPORTED,
            "the call binds an attribute to tensors of several dtypes or ranks, or to None again");
    }
    IG_TRY(ig_ts_number_read(eval, &yes, &present));
    IG_TRY(ig_ts_tensor_read(eval, value->as.tensor, &tensor));
    IG_PUSH(eval->arena, &entry->carried_values, present);
    IG_PUSH(eval->arena, &entry->carried_values, tensor);
    return IG_OK;
}

static ig_status end_extents(ig_ts_entry *entry, const ig_ts_carried *item,
                             const ig_ts_value *value) {
    ig_value *tensor;
    if (value->kind != IG_TS_TENSOR || value->as.tensor->type->rank != item->rank) {
        return ig_ts_entry_fail(entry, IG_UNSUPPORTED,
                                "the call binds a buffer to tensors of several ranks");
    }
    IG_TRY(ig_ts_tensor_read(entry->eval, value->as.tensor, &tensor));
    for (uint32_t d = 0; d < item->rank; d++) {
        bool is_kept = item->dims[d] < 0 ||
                       ig_dim_is(tensor->type->dims[d], item->dims[d]);
        if (!is_kept) {
            return ig_ts_entry_fail(entry, IG_UNSUPPORTED,
                                    "the call changes more extents of a buffer the "
                                    "second time than the first");
        }
    }
    IG_PUSH(entry->eval->arena, &entry->carried_values, tensor);
    return IG_OK;
}

ig_status ig_ts_carried_end(ig_ts_entry *entry) {
    for (uint32_t i = 0; i < entry->known; i++) {
        const ig_ts_carried *item = &entry->carried->items[i];
        if (item->kind == IG_TS_UNDEFINED) {
            continue;
        }
        const ig_ts_value *value = value_of(entry, item);
        ig_value *number;
        if (!value) {
            return ig_ts_entry_fail(
                entry, IG_UNSUPPORTED,
                "the call removes an attribute that it has changed");
        }
        if (item->is_there) {
            IG_TRY(end_extents(entry, item, value));
            continue;
        }
        if (item->kind == IG_TS_TENSOR) {
            IG_TRY(end_tensor(entry, value));
            continue;
        }
        if (value->kind != item->kind) {
            return ig_ts_entry_fail(
                entry, IG_UNSUPPORTED,
                "the call binds an attribute to numbers of several kinds");
        }
        IG_TRY(ig_ts_number_read(entry->eval, value, &number));
        IG_PUSH(entry->eval->arena, &entry->carried_values, number);
    }
    return IG_OK;
}
