/* Equality, and membership in a container: known, or as the run says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include <string.h>

static ig_status call_op(ig_ts_eval *eval, const char *name, ig_ts_value a,
                         ig_ts_value b, ig_ts_value *out) {
    ig_ts_value pair[2] = { a, b };
    ig_ts_arguments arguments = { .values = pair,
                                  .positional = b.kind == IG_TS_UNSET ? 1 : 2 };
    uint32_t count = 1;
    return ig_ts_call_op(eval, name, &arguments, out, &count);
}

static bool has_items(const ig_ts_value *value) {
    return value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
}

static bool is_false(const ig_ts_value *truth) {
    return truth->form == IG_TS_KNOWN && !truth->as.b;
}

/* *truth = *truth op more; both are bools. */
static ig_status join_truth(ig_ts_eval *eval, bool is_and, const ig_ts_value *more,
                            ig_ts_value *truth) {
    bool is_first = truth->form == IG_TS_KNOWN;
    if (!is_first && more->form != IG_TS_KNOWN) {
        return call_op(eval, is_and ? "aten::__and__" : "aten::__or__", *truth, *more,
                       truth);
    }
    const ig_ts_value *known = is_first ? truth : more;
    *truth = known->as.b == is_and ? is_first ? *more : *truth : *known;
    return IG_OK;
}

/* *truth, and that a is b. */
static ig_status and_equal(ig_ts_eval *eval, const ig_ts_value *a, const ig_ts_value *b,
                           ig_ts_value *truth) {
    ig_ts_value one;
    IG_TRY(ig_ts_values_equal(eval, a, b, &one));
    IG_TRY(ig_ts_truth(eval, &one, &one));
    return join_truth(eval, true, &one, truth);
}

/* Item by item: sizes may be equal as the run says.  Sets: whatever the order. */
static ig_status equal_items(ig_ts_eval *eval, const ig_ts_value *a,
                             const ig_ts_value *b, ig_ts_value *out) {
    const ig_ts_list *x = a->as.list, *y = b->as.list;
    *out = ig_ts_of_bool(x->count == y->count);
    for (size_t i = 0; i < x->count && !is_false(out); i++) {
        IG_TRY(ig_ts_is_set(a) ? ig_ts_contains(eval, &x->items[i], b, out)
                               : and_equal(eval, &x->items[i], &y->items[i], out));
    }
    return IG_OK;
}

/* Value by value, whatever the order of the keys. */
static ig_status equal_dicts(ig_ts_eval *eval, const ig_ts_dict *x, const ig_ts_dict *y,
                             ig_ts_value *out) {
    *out = ig_ts_of_bool(x->count == y->count);
    for (size_t i = 0; i < x->count && !is_false(out); i++) {
        size_t at = ig_ts_dict_find(y, &x->keys[i]);
        if (at == y->count) {
            *out = ig_ts_of_bool(false);
            return IG_OK;
        }
        IG_TRY(and_equal(eval, &x->values[i], &y->values[at], out));
    }
    return IG_OK;
}

/* At most as deep as the values are nested. */
ig_status ig_ts_values_equal(ig_ts_eval *eval, const ig_ts_value *a,
                             const ig_ts_value *b, ig_ts_value *out) {
    bool is_known = true, is_number = ig_ts_is_number(a) && ig_ts_is_number(b);
    IG_TRY(ig_ts_use(eval, a));
    IG_TRY(ig_ts_use(eval, b));
    IG_TRY(ig_ts_open(eval, a));
    IG_TRY(ig_ts_open(eval, b));
    bool is_swapped = b->kind == IG_TS_TENSOR && ig_ts_is_number(a);
    bool is_tensor = is_swapped || (a->kind == IG_TS_TENSOR &&
                                    (b->kind == IG_TS_TENSOR || ig_ts_is_number(b)));
    if (is_tensor || (is_number && !(ig_ts_is_known(a) && ig_ts_is_known(b)))) {
        return call_op(eval, "aten::eq", is_swapped ? *b : *a, is_swapped ? *a : *b,
                       out);
    }
    if (has_items(a) && a->kind == b->kind && ig_ts_is_set(a) == ig_ts_is_set(b)) {
        return equal_items(eval, a, b, out);
    }
    if (a->kind == IG_TS_DICT && b->kind == IG_TS_DICT) {
        return equal_dicts(eval, a->as.dict, b->as.dict, out);
    }
    bool is_equal = a->kind != IG_TS_LIST && ig_ts_equal(a, b, &is_known);
    *out = ig_ts_of_bool(is_equal);
    return is_known ? IG_OK
                    : ig_ts_error(eval, IG_UNSUPPORTED,
                                  "compares %s whose parts are known at run time only",
                                  ig_ts_kind_name(a));
}

static bool has_text(ig_str text, ig_str part) {
    bool is_in = part.size == 0;
    for (size_t i = 0; !is_in && i + part.size <= text.size; i++) {
        is_in = memcmp(text.data + i, part.data, part.size) == 0;
    }
    return is_in;
}

ig_status ig_ts_contains(ig_ts_eval *eval, const ig_ts_value *item,
                         const ig_ts_value *container, ig_ts_value *out) {
    IG_TRY(ig_ts_open(eval, container));
    *out = ig_ts_of_bool(false);
    const ig_ts_dict *dict = container->as.dict;
    if (container->kind == IG_TS_DICT && ig_ts_is_key(item)) {
        *out = ig_ts_of_bool(ig_ts_dict_find(dict, item) < dict->count);
        return IG_OK;
    }
    if (container->kind == IG_TS_STR && item->kind == IG_TS_STR) {
        *out = ig_ts_of_bool(has_text(container->as.str, item->as.str));
        return IG_OK;
    }
    bool is_dict = container->kind == IG_TS_DICT;
    if (!is_dict && !has_items(container)) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "'in' over %s is not supported",
                           ig_ts_kind_name(container));
    }
    size_t count = is_dict ? dict->count : container->as.list->count;
    const ig_ts_value *items = is_dict ? dict->keys : container->as.list->items;
    bool is_found = false;
    for (size_t i = 0; i < count && !is_found; i++) {
        ig_ts_value one;
        IG_TRY(ig_ts_values_equal(eval, item, &items[i], &one));
        IG_TRY(ig_ts_truth(eval, &one, &one));
        IG_TRY(join_truth(eval, false, &one, out));
        is_found = out->form == IG_TS_KNOWN && out->as.b;
    }
    return IG_OK;
}

ig_status ig_ts_negate(ig_ts_eval *eval, ig_ts_value *value) {
    bool is_tensor = value->kind == IG_TS_TENSOR;
    if (!is_tensor && value->form == IG_TS_KNOWN) {
        value->as.b = !value->as.b;
        return IG_OK;
    }
    return call_op(eval, is_tensor ? "aten::logical_not" : "aten::__not__", *value,
                   (ig_ts_value){ 0 }, value);
}

/* ---- as operators ---- */

ig_status ig_ts_op_values_equal(ig_ts_call *call) {
    ig_ts_value result;
    IG_TRY(ig_ts_values_equal(call->eval, &call->args[0], &call->args[1], &result));
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_negate(call->eval, &result));
    }
    return ig_ts_give_value(call, 0, result);
}

ig_status ig_ts_op_is(ig_ts_call *call) {
    bool is_same = ig_ts_is_same(&call->args[0], &call->args[1]);
    return ig_ts_give_bool(call, 0, is_same != (call->row->variant == 1));
}
