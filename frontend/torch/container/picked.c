/* Items of lists by indices that are known at run time only.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     y = l[i]      row i of the items, side by side
 *     l[i] = y      each item becomes where(i is its index, y, it)
 *
 * A picked item is right until one of the items is written to, and is not written to
 * itself: it may be any of them (eval/choice.h).
 */
#include "frontend/torch/container/picked.h"

#include "frontend/torch/eval/choice.h"

/* ---- which lists ---- */

static bool has_type_of(const ig_module *module, const ig_ts_tensor *a,
                        const ig_ts_tensor *b) {
    bool is_same = a->dtype == b->dtype && a->type->rank == b->type->rank &&
                   !a->quant && !b->quant;
    for (uint32_t i = 0; is_same && i < a->type->rank; i++) {
        is_same = ig_dim_equal(module, a->type->dims[i], b->type->dims[i]) == IG_YES;
    }
    return is_same;
}

/* Tuples do not change, so parts of several may make one; they nest as types do. */
static bool is_like(const ig_module *module, const ig_ts_value *a,
                    const ig_ts_value *b) {
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == IG_TS_TENSOR) {
        return has_type_of(module, a->as.tensor, b->as.tensor);
    }
    if (a->kind != IG_TS_TUPLE) {
        return a->kind == IG_TS_INT || a->kind == IG_TS_FLOAT || a->kind == IG_TS_BOOL;
    }
    const ig_ts_list *x = a->as.list, *y = b->as.list;
    bool is_same = x->count == y->count && x->class == y->class && !x->poison &&
                   !y->poison;
    for (size_t i = 0; is_same && i < x->count; i++) {
        is_same = is_like(module, &x->items[i], &y->items[i]);
    }
    return is_same;
}

bool ig_ts_can_pick(const ig_ts_call *call, const ig_ts_value *items, size_t count) {
    bool can = count > 0;
    for (size_t i = 0; can && i < count; i++) {
        can = is_like(call->module, &items[0], &items[i]);
    }
    return can;
}

/* ---- items as rows ---- */

static ig_status read_picked(ig_ts_call *call, const ig_ts_value *item,
                             ig_value **out) {
    return item->kind == IG_TS_TENSOR
               ? ig_ts_tensor_read(call->eval, item->as.tensor, out)
               : ig_ts_number_read(call->eval, item, out);
}

/* A value like `like`, which may share the memory of `sources`. */
static ig_ts_value value_like(ig_ts_call *call, const ig_ts_value *like,
                              ig_value *value, const ig_ts_value *sources,
                              size_t count) {
    if (like->kind != IG_TS_TENSOR) {
        return ig_ts_of_run(like->kind, value);
    }
    const ig_ts_tensor **tensors = IG_NEW_ARRAY(call->arena, const ig_ts_tensor *,
                                                count);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = sources[i].as.tensor;
    }
    ig_ts_tensor *tensor = ig_ts_tensor_create(call->eval, value,
                                               like->as.tensor->dtype);
    tensor->alias = ig_ts_alias_of(call->eval, tensors, (uint32_t)count, UINT64_MAX);
    return ig_ts_of_tensor(tensor);
}

static ig_status pick_row(ig_ts_call *call, const ig_ts_value *items, size_t count,
                          ig_value *index, ig_ts_value *out) {
    ig_value **rows = IG_NEW_ARRAY(call->arena, ig_value *, count);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(read_picked(call, &items[i], &rows[i]));
        rows[i] = ig_expr_unsqueeze(call->e, rows[i], 0);
    }
    ig_value *all = ig_expr_concat(call->e, 0, rows, (uint32_t)count);
    ig_value *row = ig_expr_gather(call->e, all, index, 0, IG_NEGATIVE_wrap);
    IG_TRY(call->e->status);
    *out = value_like(call, &items[0], row, items, count);
    return IG_OK;
}

static ig_status pick_value(ig_ts_call *call, const ig_ts_value *items, size_t count,
                            ig_value *index, ig_ts_value *out) {
    if (items->kind != IG_TS_TUPLE) {
        return pick_row(call, items, count, index, out);
    }
    size_t parts = items->as.list->count;
    ig_ts_value *column = IG_NEW_ARRAY(call->arena, ig_ts_value, count);
    ig_ts_list *picked = ig_ts_list_create(call->eval, parts);
    for (size_t p = 0; p < parts; p++) {
        ig_ts_value part;
        for (size_t i = 0; i < count; i++) {
            column[i] = items[i].as.list->items[p];
        }
        IG_TRY(pick_value(call, column, count, index, &part));
        ig_ts_list_add(call->eval, picked, part);
    }
    picked->class = items->as.list->class;
    *out = ig_ts_of_tuple(picked);
    return IG_OK;
}

ig_status ig_ts_pick_item(ig_ts_call *call, const ig_ts_value *items, size_t count,
                          const ig_ts_value *index, ig_ts_value *out) {
    ig_value *at = NULL;
    IG_TRY(ig_ts_number_read(call->eval, index, &at));
    return pick_value(call, items, count, at, out);
}

/* ---- writes ---- */

static ig_status put_picked(ig_ts_call *call, ig_value *is_it, const ig_ts_value *value,
                            const ig_ts_value *item, ig_ts_value *out) {
    ig_ts_value sides[] = { *value, *item };
    ig_value *chosen = NULL, *kept = NULL;
    if (item->kind != IG_TS_TUPLE) {
        IG_TRY(read_picked(call, value, &chosen));
        IG_TRY(read_picked(call, item, &kept));
        chosen = ig_build_where(call->e, is_it, chosen, kept);
        IG_TRY(call->e->status);
        *out = value_like(call, item, chosen, sides, IG_COUNT_OF(sides));
        return IG_OK;
    }
    ig_ts_list *list = ig_ts_list_create(call->eval, item->as.list->count);
    for (size_t p = 0; p < item->as.list->count; p++) {
        ig_ts_value part;
        IG_TRY(put_picked(call, is_it, &value->as.list->items[p],
                          &item->as.list->items[p], &part));
        ig_ts_list_add(call->eval, list, part);
    }
    list->class = item->as.list->class;
    *out = ig_ts_of_tuple(list);
    return IG_OK;
}

/* The place that `index` names among `count`, from the front; an error of the run where
 * there is none. */
static ig_value *position_of(ig_ts_call *call, ig_value *index, size_t count) {
    ig_value *positions = ig_expr_iota(call->e, IG_DT_i64, ig_dim_of((int64_t)count));
    return ig_expr_gather(call->e, positions, index, 0, IG_NEGATIVE_wrap);
}

ig_status ig_ts_put_item(ig_ts_call *call, ig_ts_list *list, const ig_ts_value *index,
                         const ig_ts_value *value) {
    ig_value *at = NULL;
    IG_TRY(ig_ts_number_read(call->eval, index, &at));
    at = position_of(call, at, list->count);
    IG_TRY(call->e->status);
    for (size_t i = 0; i < list->count; i++) {
        ig_ts_value item;
        ig_value *is_it = ig_expr_with_integer(call->e, IG_OP_eq, at, (int64_t)i);
        IG_TRY(put_picked(call, is_it, value, &list->items[i], &item));
        ig_ts_list_set(call->eval, list, i, item);
    }
    return IG_OK;
}
