/* FBGEMM's custom classes, whose objects an archive holds as their pickled state.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     AtomicCounter   a decimal number; counts look-ups, for the age of cached rows
 *     TensorQueue     init_tensor, queue/size, queue/0 …; places of ids in a cache
 *     PrunedMapCPU    an archive of its own: values (id, row) and table_offsets
 *
 * Counters and queues serve caches alone, and nothing is cached here: a counter keeps
 * its number, and an empty queue gives its first tensor.  The library itself restores a
 * pruned map of several tables wrongly (it goes on to the end of the values for each);
 * here each table has the pairs between its offsets.
 */
#include "frontend/torch/eval/eval.h"
#include "frontend/torch/fbgemm/fbgemm.h"

#include "frontend/torch/archive/archive.h"
#include "frontend/torch/pickle/pickle.h"
#include "ir/build/extent.h"

#include <stdlib.h>
#include <string.h>

static ig_status state_of(ig_ts_call *call, const char *class_name,
                          const ig_ts_value **out_state) {
    ig_ts_object *object;
    IG_TRY(ig_ts_object_arg(call, 0, class_name, &object));
    *out_state = ig_ts_object_get(object, "state");
    return *out_state ? IG_OK
                      : ig_ts_fail(call, IG_INVALID, "%s without a state", class_name);
}

/* ---- AtomicCounter ---- */

ig_status ig_ts_op_fb_counter(ig_ts_call *call) {
    const ig_ts_value *state;
    int64_t number = 0;
    IG_TRY(state_of(call, "AtomicCounter", &state));
    if (state->kind == IG_TS_INT) {
        number = state->as.i;
    } else if (state->kind != IG_TS_STR || !ig_str_to_i64(state->as.str, &number)) {
        return ig_ts_fail(call, IG_INVALID, "the state of a counter is not a number");
    }
    return ig_ts_give_int(call, 0, number);
}

/* ---- TensorQueue ---- */

static const ig_ts_value *queue_item(const ig_ts_value *state, const char *name) {
    const ig_ts_dict *dict = state->kind == IG_TS_DICT ? state->as.dict : NULL;
    for (size_t i = 0; dict && i < dict->count; i++) {
        const ig_ts_value *key = &dict->keys[i];
        if (key->kind == IG_TS_STR && ig_str_is(key->as.str, name)) {
            return &dict->values[i];
        }
    }
    return NULL;
}

/* Variants: 0 pop and top, 1 size. */
ig_status ig_ts_op_fb_queue(ig_ts_call *call) {
    const ig_ts_value *state;
    IG_TRY(state_of(call, "TensorQueue", &state));
    const ig_ts_value *first = queue_item(state, "init_tensor");
    if (!first || queue_item(state, "queue/0")) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "a queue that is not empty");
    }
    return call->row->variant ? ig_ts_give_int(call, 0, 0)
                              : ig_ts_give_value(call, 0, *first);
}

/* ---- PrunedMapCPU ---- */

typedef struct pruned_map {
    const int64_t *slots, *edges;
    int64_t slot_count, edge_count;
} pruned_map;

/* A tensor of the nested archive, as i64 numbers. */
static ig_status read_numbers(ig_ts_call *call, const ig_py *root, const char *name,
                              const int64_t **out_numbers, int64_t *out_count) {
    const ig_py *value = ig_py_get(root, name);
    if (!value || value->kind != IG_PY_TENSOR) {
        return ig_ts_fail(call, IG_INVALID, "a pruned map without '%s'", name);
    }
    const ig_py_tensor *tensor = value->as.tensor;
    ig_archive_span span;
    ig_tensor view = { .kind = IG_TENSOR, .dtype = tensor->dtype->ir, .count = 1 };
    ig_location where = { .file = "PrunedMapCPU" };
    IG_TRY(ig_py_tensor_bytes(call->context, call->arena, tensor, &where, &span));
    for (uint32_t i = 0; i < tensor->rank; i++) {
        view.count *= tensor->sizes[i];
    }
    int64_t *numbers = IG_NEW_ARRAY(call->arena, int64_t, (size_t)view.count + 1);
    view.data = (void *)(uintptr_t)span.bytes.data; /* only read */
    for (int64_t i = 0; i < view.count; i++) {
        numbers[i] = ig_tensor_get_i64(&view, i);
    }
    *out_numbers = numbers;
    *out_count = view.count;
    return IG_OK;
}

static ig_status read_map(ig_ts_call *call, ig_str bytes, pruned_map *out) {
    ig_archive archive;
    ig_pickle_set set;
    ig_py *root = NULL;
    IG_TRY(
        ig_archive_open(&archive, call->context, call->arena, "PrunedMapCPU", bytes));
    ig_pickle_set_init(&set, &archive);
    IG_TRY(ig_pickle_read_torchscript(&set, "", "data.pkl", &root));
    IG_TRY(read_numbers(call, root, "values", &out->slots, &out->slot_count));
    IG_TRY(read_numbers(call, root, "table_offsets", &out->edges, &out->edge_count));
    if (out->edge_count < 2 || out->edges[0] < 0 ||
        out->edges[out->edge_count - 1] > out->slot_count / 2) {
        return ig_ts_fail(call, IG_INVALID, "a pruned map with bad offsets");
    }
    for (int64_t t = 0; t + 1 < out->edge_count; t++) {
        if (out->edges[t] > out->edges[t + 1]) {
            return ig_ts_fail(call, IG_INVALID, "a pruned map whose offsets fall");
        }
    }
    return IG_OK;
}

/* ---- lists ---- */

static ig_status list_of(ig_ts_call *call, ig_value *x, ig_ts_kind kind,
                         ig_ts_value *out) {
    int64_t count;
    if (x->type->rank == 0) {
        return ig_ts_number_of(call->eval, kind, x, out);
    }
    if (!ig_dim_constant(call->module, ig_expr_extent(call->e, x, 0), &count)) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "a list whose length depends on inputs");
    }
    ig_ts_list *list = ig_ts_list_create(call->eval, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        ig_ts_value item;
        ig_value *one = ig_expr_slice(call->e, x, 0, ig_dim_of(i), ig_dim_of(1), 1);
        one = ig_expr_reshape(call->e, one, x->type->rank - 1, x->type->dims + 1);
        IG_TRY(call->e->status);
        IG_TRY(list_of(call, one, kind, &item));
        ig_ts_list_add(call->eval, list, item);
    }
    *out = ig_ts_of_list(list);
    return IG_OK;
}

/* tensor.tolist(): nested as deep as the tensor's rank. */
ig_status ig_ts_op_fb_tolist(ig_ts_call *call) {
    ig_value *x;
    ig_ts_value list;
    IG_TRY(ig_ts_tensor_arg(call, 0, &x));
    bool is_float = ig_dtype_is_float((ig_dtype)x->type->dtype);
    bool is_bool = x->type->dtype == IG_DT_bool;
    ig_ts_kind kind = is_float ? IG_TS_FLOAT : is_bool ? IG_TS_BOOL : IG_TS_INT;
    ig_dtype wide = is_float ? IG_DT_f64 : is_bool ? IG_DT_bool : IG_DT_i64;
    x = ig_expr_cast(call->e, x, wide);
    IG_TRY(call->e->status);
    IG_TRY(list_of(call, x, kind, &list));
    return ig_ts_give_value(call, 0, list);
}

/* ---- pruned maps ---- */

ig_status ig_ts_op_fb_pruned_map(ig_ts_call *call) {
    const ig_ts_value *state;
    pruned_map map;
    IG_TRY(state_of(call, "PrunedMapCPU", &state));
    if (state->kind != IG_TS_STR) {
        return ig_ts_fail(call, IG_INVALID,
                          "the state of a pruned map is not an archive");
    }
    ig_value *ids = ig_aten_tensor(call, 1), *offsets = ig_aten_tensor(call, 2);
    IG_TRY(call->e->status);
    IG_TRY(read_map(call, state->as.str, &map));
    return ig_aten_give(call,
                        ig_fb_look_up_pairs(call, ids, offsets, map.slots, map.edges,
                                            (uint32_t)map.edge_count - 1));
}
