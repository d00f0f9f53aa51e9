/* Sorting, stable, of what is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/container/container.h"

#include <assert.h>
#include <string.h>

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

ig_status ig_ts_sort(ig_ts_eval *eval, ig_ts_value *items, ig_ts_value *keys,
                     size_t count, bool reverse) {
    for (size_t i = 1; i < count; i++) { /* lists at import are short */
        ig_ts_value item = items[i], key = keys[i];
        size_t at = i;
        for (; at > 0; at--) {
            IG_TRY(ig_ts_step(eval));
            if (!can_compare(&keys[at - 1], &key)) {
                return ig_ts_error(eval, IG_UNSUPPORTED,
                                   "sorts what is neither known numbers nor texts");
            }
            int order = compare_values(&keys[at - 1], &key);
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
