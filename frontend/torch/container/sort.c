/* Stable sorting of known items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include <assert.h>
#include <string.h>

enum { DEPTH = 16 }; /* of lists in lists that are compared */

/* Known real numbers, or texts. */
static bool can_compare(const ig_ts_value *a, const ig_ts_value *b) {
    bool are_numbers = a->kind >= IG_TS_BOOL && a->kind <= IG_TS_FLOAT &&
                       b->kind >= IG_TS_BOOL && b->kind <= IG_TS_FLOAT &&
                       ig_ts_is_known(a) && ig_ts_is_known(b);
    return are_numbers || (a->kind == IG_TS_STR && b->kind == IG_TS_STR);
}

static int64_t int_of(const ig_ts_value *value) {
    return value->kind == IG_TS_BOOL ? value->as.b : value->as.i;
}

static double float_of(const ig_ts_value *value) {
    return value->kind == IG_TS_FLOAT ? value->as.f : (double)int_of(value);
}

static int compare_values(const ig_ts_value *a, const ig_ts_value *b) {
    assert(can_compare(a, b) && "values of one sort");
    if (a->kind == IG_TS_STR) {
        size_t size = a->as.str.size < b->as.str.size ? a->as.str.size : b->as.str.size;
        int order = size ? memcmp(a->as.str.data, b->as.str.data, size) : 0;
        return order ? order
                     : (a->as.str.size > b->as.str.size) -
                           (a->as.str.size < b->as.str.size);
    }
    if (a->kind == IG_TS_FLOAT || b->kind == IG_TS_FLOAT) {
        return (float_of(a) > float_of(b)) - (float_of(a) < float_of(b));
    }
    return (int_of(a) > int_of(b)) - (int_of(a) < int_of(b));
}

static bool is_plain_list(const ig_ts_value *value) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    return is_list && !value->as.list->poison && !value->as.list->stack;
}

/* As Python has it: two lists by the first items that differ, and then by length.
 * Items that cannot be compared may follow those.  False: it may not. */
static bool compare_items(const ig_ts_value *a, const ig_ts_value *b, int depth,
                          int *out_order) {
    if (a->kind != b->kind || !is_plain_list(a) || !is_plain_list(b) || depth == 0) {
        bool can = can_compare(a, b);
        *out_order = can ? compare_values(a, b) : 0;
        return can;
    }
    const ig_ts_list *left = a->as.list, *right = b->as.list;
    *out_order = 0;
    for (size_t i = 0; i < left->count && i < right->count && *out_order == 0; i++) {
        if (!compare_items(&left->items[i], &right->items[i], depth - 1, out_order)) {
            return false;
        }
    }
    if (*out_order == 0) {
        *out_order = (left->count > right->count) - (left->count < right->count);
    }
    return true;
}

ig_status ig_ts_sort(ig_ts_eval *eval, ig_ts_value *items, ig_ts_value *keys,
                     size_t count, bool reverse) {
    for (size_t i = 1; i < count; i++) { /* lists at import are short */
        ig_ts_value item = items[i], key = keys[i];
        size_t at = i;
        for (; at > 0; at--) {
            IG_TRY(ig_ts_step(eval));
            int order;
            if (!compare_items(&keys[at - 1], &key, DEPTH, &order)) {
                return ig_ts_error(
                    eval, IG_UNSUPPORTED,
                    "sorts values that are not known numbers or texts, or lists that begin with them");
            }
            if (reverse ? order >= 0 : order <= 0) {
                break;
            }
            keys[at] = keys[at - 1];
            items[at] = items[at - 1];
        }
        keys[at] = key;
        items[at] = item;
    }
    return IG_OK;
}
