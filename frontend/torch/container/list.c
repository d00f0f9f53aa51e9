/* Lists and tuples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"
#include "frontend/torch/container/picked.h"
#include "frontend/torch/eval/stacked.h"

#include <assert.h>
#include <string.h>

ig_status ig_ts_container_run(ig_ts_eval *eval, const char *name, ig_ts_op_hook hook,
                              const ig_ts_value *values, uint32_t count,
                              ig_ts_value *out) {
    static const ig_ts_row row = { .schema = "" };
    ig_ts_call call = { .eval = eval,
                        .context = eval->context,
                        .module = eval->module,
                        .arena = eval->arena,
                        .builder = &eval->builder,
                        .row = &row,
                        .where = ig_ts_where(eval),
                        .arg_count = count,
                        .results = out,
                        .result_count = 1,
                        .version = eval->version };
    ig_expr expr = ig_expr_for(&eval->builder, &ig_ts_expr_source, &call);
    call.e = &expr;
    call.where.op = name;
    call.args = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    memcpy(call.args, values, count * sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_use(eval, &values[i]));
    }
    *out = ig_ts_none();
    return hook(&call);
}

ig_ts_list *ig_ts_list_of(ig_ts_eval *eval, const ig_ts_value *items, size_t count) {
    ig_ts_list *list = ig_ts_list_create(eval, count);
    for (size_t i = 0; i < count; i++) {
        ig_ts_list_add(eval, list, items[i]);
    }
    return list;
}

ig_ts_value ig_ts_pair_of(ig_ts_eval *eval, ig_ts_value a, ig_ts_value b) {
    return ig_ts_of_tuple(ig_ts_list_of(eval, (ig_ts_value[]){ a, b }, 2));
}

ig_status ig_ts_list_at(ig_ts_call *call, uint32_t index, ig_ts_list **out_list) {
    assert(index < call->arg_count && "the schema has no such argument");
    ig_ts_value *value = &call->args[index];
    if (value->kind != IG_TS_LIST && value->kind != IG_TS_TUPLE) {
        return ig_ts_fail(call, IG_INVALID, "takes a list, got %s",
                          ig_ts_kind_name(value));
    }
    IG_TRY(ig_ts_open(call->eval, value));
    *out_list = value->as.list;
    return IG_OK;
}

/* A list to add to: it may be one that grows in a loop. */
static ig_status target_at(ig_ts_call *call, uint32_t index, ig_ts_list **out_list) {
    assert(index < call->arg_count && "the schema has no such argument");
    const ig_ts_value *value = &call->args[index];
    if (value->kind == IG_TS_LIST && value->as.list->poison == &ig_ts_grows) {
        *out_list = value->as.list;
        return IG_OK;
    }
    return ig_ts_list_at(call, index, out_list);
}

/* A number that is known at run time only; that of a trip is known when the trips
 * are. */
static ig_status refuse_index(ig_ts_call *call, const ig_ts_value *index) {
    ig_dim dim = index->form == IG_TS_DIM ? index->as.dim : ig_dim_of(0);
    bool is_trip = index->form == IG_TS_RUN && ig_ts_is_trip(index->as.value, &dim);
    if (index->kind != IG_TS_INT || (index->form != IG_TS_DIM && !is_trip)) {
        return ig_ts_error(call->eval, IG_UNSUPPORTED,
                           "indexes a list by a number that is computed at run time");
    }
    return ig_ts_error(call->eval, IG_UNSUPPORTED, "indexes a list by %s%s",
                       is_trip ? "the number of a trip, and trips are an extent, " : "",
                       ig_ts_open_dim(call->module, call->arena, dim));
}

/* An index of a list of `count`, negative ones from its end; raises as Python does. */
static ig_status index_at(ig_ts_call *call, uint32_t arg, size_t count,
                          size_t *out_index) {
    const ig_ts_value *index = &call->args[arg];
    bool is_int = index->kind == IG_TS_INT || index->kind == IG_TS_BOOL;
    if (!is_int || index->form != IG_TS_KNOWN) {
        return refuse_index(call, index);
    }
    int64_t i = index->kind == IG_TS_BOOL ? index->as.b : index->as.i;
    i = i < 0 ? i + (int64_t)count : i;
    if (i < 0 || (uint64_t)i >= count) {
        return ig_ts_raise(call->eval, "IndexError: list index out of range");
    }
    *out_index = (size_t)i;
    return IG_OK;
}

static bool is_of_run(const ig_ts_value *index) {
    return index->kind == IG_TS_INT && index->form != IG_TS_KNOWN;
}

/* The list of argument 0 and the index that argument 1 names in it. */
static ig_status item_at(ig_ts_call *call, ig_ts_list **out_list, size_t *out_index) {
    IG_TRY(ig_ts_list_at(call, 0, out_list));
    return index_at(call, 1, (*out_list)->count, out_index);
}

static ig_status give_list(ig_ts_call *call, ig_ts_list *list,
                           const ig_script_type *type) {
    list->type = type;
    return ig_ts_give_value(call, 0, ig_ts_of_list(list));
}

static void add_all(ig_ts_call *call, ig_ts_list *list, const ig_ts_list *from) {
    for (size_t i = 0; i < from->count; i++) {
        ig_ts_list_add(call->eval, list, from->items[i]);
    }
}

ig_status ig_ts_op_list_len(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    const ig_ts_value *value = &call->args[0];
    if (value->kind == IG_TS_LIST && value->as.list->stack) {
        return ig_ts_give_dim(call, 0, ig_ts_stacked_length(value->as.list));
    }
    IG_TRY(ig_ts_list_at(call, 0, &list));
    return ig_ts_give_int(call, 0, (int64_t)list->count);
}

ig_status ig_ts_op_list_append(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    IG_TRY(target_at(call, 0, &list));
    ig_ts_list_insert(call->eval, list, list->count, call->args[1]);
    return ig_ts_give_arg(call, 0, 0);
}

ig_status ig_ts_op_list_extend(ig_ts_call *call) {
    ig_ts_list *list = NULL, *other = NULL;
    IG_TRY(target_at(call, 0, &list));
    IG_TRY(ig_ts_list_at(call, 1, &other));
    size_t count = other->count; /* it may be the same list */
    for (size_t i = 0; i < count; i++) {
        ig_ts_list_insert(call->eval, list, list->count, other->items[i]);
    }
    return IG_OK;
}

/* a += b of lists */
ig_status ig_ts_op_list_add(ig_ts_call *call) {
    IG_TRY(ig_ts_op_list_extend(call));
    return ig_ts_give_arg(call, 0, 0);
}

/* a *= n of lists */
ig_status ig_ts_op_list_mul(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    IG_TRY(ig_ts_op_list_repeat(call));
    ig_ts_content content = ig_ts_content_of(IG_TS_HOLD_LIST, call->results[0].as.list);
    ig_ts_set_content(call->eval, IG_TS_HOLD_LIST, list, &content);
    return ig_ts_give_arg(call, 0, 0);
}

ig_status ig_ts_op_list_insert(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    int64_t i = 0;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    IG_TRY(ig_ts_int(call, 1, &i));
    int64_t count = (int64_t)list->count;
    i = i < 0 ? i + count : i;
    i = i < 0 ? 0 : i > count ? count : i;
    ig_ts_list_insert(call->eval, list, (size_t)i, call->args[2]);
    return IG_OK;
}

ig_status ig_ts_op_list_pop(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    size_t i = 0;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    if (call->arg_count > 1) {
        IG_TRY(index_at(call, 1, list->count, &i));
    } else if (list->count) {
        i = list->count - 1;
    } else {
        return ig_ts_raise(call->eval, "IndexError: pop from empty list");
    }
    IG_TRY(ig_ts_give_value(call, 0, list->items[i]));
    ig_ts_list_remove(call->eval, list, i);
    return IG_OK;
}

ig_status ig_ts_op_list_delete(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    size_t i = 0;
    IG_TRY(item_at(call, &list, &i));
    ig_ts_list_remove(call->eval, list, i);
    return IG_OK;
}

ig_status ig_ts_op_list_clear(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    while (list->count > 0) {
        ig_ts_list_remove(call->eval, list, list->count - 1);
    }
    return IG_OK;
}

ig_status ig_ts_op_list_reverse(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    for (size_t i = 0; i < list->count / 2; i++) {
        ig_ts_value low = list->items[i], high = list->items[list->count - 1 - i];
        ig_ts_list_set(call->eval, list, i, high);
        ig_ts_list_set(call->eval, list, list->count - 1 - i, low);
    }
    return IG_OK;
}

ig_status ig_ts_op_list_copy(ig_ts_call *call) {
    ig_ts_list *list = NULL, *copy;
    if (call->args[0].kind == IG_TS_STR) { /* list("abc") */
        copy = ig_ts_list_create(call->eval, call->args[0].as.str.size);
        for (size_t i = 0; i < call->args[0].as.str.size; i++) {
            ig_str one = { call->args[0].as.str.data + i, 1 };
            ig_ts_list_add(call->eval, copy, ig_ts_of_str(one));
        }
        return give_list(call, copy, NULL);
    }
    IG_TRY(ig_ts_list_at(call, 0, &list));
    copy = ig_ts_list_of(call->eval, list->items, list->count);
    copy->is_set = list->is_set;
    return give_list(call, copy, list->type);
}

ig_status ig_ts_op_list_getitem(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    ig_ts_value item;
    size_t i = 0;
    if (call->args[0].kind == IG_TS_LIST && call->args[0].as.list->stack) {
        IG_TRY(ig_ts_stacked_item(call->eval, call->args[0].as.list, &call->args[1],
                                  &item));
        return ig_ts_give_value(call, 0, item);
    }
    IG_TRY(ig_ts_list_at(call, 0, &list));
    if (is_of_run(&call->args[1]) && ig_ts_can_pick(call, list->items, list->count)) {
        IG_TRY(ig_ts_pick_item(call, list->items, list->count, &call->args[1], &item));
        return ig_ts_give_value(call, 0, item);
    }
    IG_TRY(index_at(call, 1, list->count, &i));
    return ig_ts_give_value(call, 0, list->items[i]);
}

ig_status ig_ts_op_list_set_item(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    size_t i = 0;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    const ig_ts_value ends[] = { list->count ? list->items[0] : call->args[2],
                                 call->args[2] };
    if (is_of_run(&call->args[1]) && ig_ts_can_pick(call, list->items, list->count) &&
        ig_ts_can_pick(call, ends, IG_COUNT_OF(ends))) {
        IG_TRY(ig_ts_put_item(call, list, &call->args[1], &call->args[2]));
        return ig_ts_give_arg(call, 0, 0);
    }
    IG_TRY(index_at(call, 1, list->count, &i));
    ig_ts_list_set(call->eval, list, i, call->args[2]);
    return ig_ts_give_arg(call, 0, 0);
}

ig_status ig_ts_op_list_concat(ig_ts_call *call) {
    ig_ts_list *a = NULL, *b = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &a));
    IG_TRY(ig_ts_list_at(call, 1, &b));
    ig_ts_list *sum = ig_ts_list_create(call->eval, a->count + b->count);
    add_all(call, sum, a);
    add_all(call, sum, b);
    return give_list(call, sum, a->type);
}

ig_status ig_ts_op_list_repeat(ig_ts_call *call) {
    enum { REPEAT_MAX = 1 << 20 };
    uint32_t at = call->args[0].kind == IG_TS_INT ? 1 : 0;
    ig_ts_list *list = NULL, *many = ig_ts_list_create(call->eval, 0);
    int64_t times = 0;
    IG_TRY(ig_ts_list_at(call, at, &list));
    IG_TRY(ig_ts_int(call, 1 - at, &times));
    if (times > 0 && list->count > (size_t)(REPEAT_MAX / times)) {
        return ig_ts_fail(call, IG_LIMIT, "makes a list of more than %d items",
                          REPEAT_MAX);
    }
    for (int64_t n = 0; n < times && list->count > 0; n++) {
        add_all(call, many, list);
    }
    return give_list(call, many, list->type);
}

/* ---- slices ---- */

ig_status ig_ts_slice_range(ig_ts_call *call, int64_t count, int64_t *out_start,
                            int64_t *out_step, int64_t *out_trips) {
    assert(call->arg_count > 3 && count >= 0 &&
           "start, end and step are arguments 1, 2 and 3");
    int64_t step = 0, start = 0, end = 0;
    IG_TRY(ig_ts_int(call, 3, &step));
    if (step == 0) {
        return ig_ts_raise(call->eval, "ValueError: slice step cannot be zero");
    }
    int64_t first = step > 0 ? 0 : -1, last = step > 0 ? count : count - 1;
    IG_TRY(ig_ts_int_or(call, 1, step > 0 ? 0 : last, &start));
    IG_TRY(ig_ts_int_or(call, 2, step > 0 ? count : -1 - count, &end));
    start = start < 0 && !ig_ts_is_none(call, 1) ? start + count : start;
    end = end < 0 && (!ig_ts_is_none(call, 2) || step < 0) ? end + count : end;
    start = start < first ? first : start > last ? last : start;
    end = end < first ? first : end > last ? last : end;
    int64_t span = step > 0 ? end - start : start - end;
    int64_t width = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    *out_start = start;
    *out_step = step;
    *out_trips = span > 0 ? (span - 1) / width + 1 : 0;
    return IG_OK;
}

ig_status ig_ts_op_list_slice(ig_ts_call *call) {
    ig_ts_list *list = NULL, *part = NULL;
    int64_t start = 0, step = 0, trips = 0;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    IG_TRY(ig_ts_slice_range(call, (int64_t)list->count, &start, &step, &trips));
    part = ig_ts_list_create(call->eval, (size_t)trips);
    for (int64_t i = 0; i < trips; i++) {
        ig_ts_list_add(call->eval, part, list->items[start + i * step]);
    }
    return give_list(call, part, list->type);
}

/* ---- finding ---- */

/* The first equal item from `from` on; the count of items where there is none. */
static ig_status find_item(ig_ts_call *call, size_t from, size_t *out_index) {
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    for (*out_index = from; *out_index < list->count; ++*out_index) {
        ig_ts_value equal;
        IG_TRY(ig_ts_values_equal(call->eval, &list->items[*out_index], &call->args[1],
                                  &equal));
        if (equal.kind != IG_TS_BOOL || equal.form != IG_TS_KNOWN) {
            return ig_ts_fail(call, IG_UNSUPPORTED,
                              "looks for a value that is computed at run time");
        }
        if (equal.as.b) {
            return IG_OK;
        }
    }
    return IG_OK;
}

ig_status ig_ts_op_list_contains(ig_ts_call *call) {
    ig_ts_value found;
    IG_TRY(ig_ts_contains(call->eval, &call->args[1], &call->args[0], &found));
    return ig_ts_give_value(call, 0, found);
}

static ig_status find_or_raise(ig_ts_call *call, size_t *out_index) {
    IG_TRY(find_item(call, 0, out_index));
    return *out_index < call->args[0].as.list->count
               ? IG_OK
               : ig_ts_raise(call->eval, "ValueError: the item is not in the list");
}

ig_status ig_ts_op_list_index(ig_ts_call *call) {
    size_t i = 0;
    IG_TRY(find_or_raise(call, &i));
    return ig_ts_give_int(call, 0, (int64_t)i);
}

ig_status ig_ts_op_list_remove(ig_ts_call *call) {
    size_t i = 0;
    IG_TRY(find_or_raise(call, &i));
    ig_ts_list_remove(call->eval, call->args[0].as.list, i);
    return IG_OK;
}

ig_status ig_ts_op_list_count(ig_ts_call *call) {
    int64_t count = 0;
    size_t i = 0;
    for (;; i++, count++) {
        IG_TRY(find_item(call, i, &i));
        if (i >= call->args[0].as.list->count) {
            return ig_ts_give_int(call, 0, count);
        }
    }
}

/* ---- sorting and sums ---- */

/* sort (variant 0) in place; sorted (1) gives a new list. */
ig_status ig_ts_op_list_sort(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    bool reverse = false, is_new = call->row->variant == 1;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    if (!is_new && call->arg_count > 1) {
        IG_TRY(ig_ts_bool(call, 1, &reverse));
    }
    if (is_new) {
        IG_TRY(ig_ts_op_list_copy(call));
        list = call->results[0].as.list;
    } else {
        ig_ts_touch(call->eval, IG_TS_HOLD_LIST, list);
    }
    return ig_ts_sort(call->eval, list->items, list->items, list->count, reverse);
}

ig_status ig_ts_op_list_sum(ig_ts_call *call) {
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    const ig_schema_argument *argument = &call->schema->arguments[0];
    bool is_float = argument->type->count == 1 &&
                    argument->type->items[0]->kind == IG_SCRIPT_FLOAT;
    ig_ts_value sum = is_float ? ig_ts_of_float(0) : ig_ts_of_int(0);
    for (size_t i = 0; i < list->count; i++) {
        IG_TRY(ig_ts_number_op(call, IG_TS_ADD, &sum, &list->items[i], &sum));
    }
    return ig_ts_give_value(call, 0, sum);
}

/* all (variant 1) and any (0). */
ig_status ig_ts_op_list_every(ig_ts_call *call) {
    bool wants_all = call->row->variant == 1;
    ig_ts_value result = ig_ts_of_bool(wants_all), truth;
    ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_at(call, 0, &list));
    for (size_t i = 0; i < list->count; i++) {
        IG_TRY(ig_ts_truth(call->eval, &list->items[i], &truth));
        IG_TRY(ig_ts_number_op(call, wants_all ? IG_TS_AND : IG_TS_OR, &result, &truth,
                               &result));
    }
    return ig_ts_give_value(call, 0, result);
}
