/* FBGEMM's look-ups of pruned ids: from the ids of a whole table to rows of what is
 * left.
 * SPDX-License-Identifier: Apache-2.0
 *
 * By an array, for each table as long as it was, which holds the row or -1; or by a
 * hash table of pairs (id, row).  The pairs of a constant hash table are sorted when
 * the model is read, and found by search:
 *
 *     key    table << 32 | id       sorted, with the row beside it
 *     row    that of the first key not below the wanted one, if they are equal; else -1
 *
 * A table without entries is not pruned: ids stay.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include <stdlib.h>

/* The table of each id. */
static ig_value *tables_of(ig_fb *fb, ig_value *ids, ig_value *offsets, ig_dim tables) {
    ig_module *module = fb->call->module;
    ig_dim bags = ig_dim_sub(module, ig_fb_extent(fb, offsets, 0), ig_dim_of(1));
    ig_dim per = ig_dim_exact_div(module, bags, tables);
    ig_value *at = ig_fb_range_dim(fb, ig_fb_extent(fb, ids, 0));
    ig_value *bag = ig_fb_segment_of(fb, ig_fb_cast(fb, offsets, IG_DT_i64), at);
    ig_value *by = ig_fb_2(fb, IG_OP_max, ig_fb_dim(fb, per), ig_fb_int(fb, 1));
    ig_value *table = ig_fb_2(fb, IG_OP_div, bag, by);
    ig_dim last = ig_dim_sub(module, tables, ig_dim_of(1));
    return ig_fb_2(fb, IG_OP_min, table, ig_fb_dim(fb, last));
}

ig_status ig_ts_op_fb_pruned_array(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *given = ig_fb_tensor(&fb, 0), *offsets = ig_fb_tensor(&fb, 1);
    ig_value *rows = ig_fb_arg(&fb, 2, IG_DT_i64),
             *edges = ig_fb_arg(&fb, 3, IG_DT_i64);
    ig_dim tables = ig_dim_sub(call->module, ig_fb_extent(&fb, edges, 0), ig_dim_of(1));
    ig_value *ids = ig_fb_cast(&fb, given, IG_DT_i64);
    ig_value *table = tables_of(&fb, ids, offsets, tables);
    ig_value *start = ig_fb_gather(&fb, edges, table, 0);
    ig_value *size = ig_fb_gather(&fb, ig_fb_lengths(&fb, edges), table, 0);
    ig_value *is_in = ig_fb_2(&fb, IG_OP_and, ig_fb_with(&fb, IG_OP_ge, ids, 0),
                              ig_fb_2(&fb, IG_OP_lt, ids, size));
    /* the row behind all others says: none */
    ig_dim one = ig_dim_of(1);
    ig_value *none = ig_fb_reshape(&fb, ig_fb_int(&fb, -1), 1, &one);
    ig_value *absent = ig_fb_dim(&fb, ig_fb_extent(&fb, rows, 0));
    ig_value *at = ig_fb_where(&fb, is_in, ig_fb_2(&fb, IG_OP_add, start, ids), absent);
    rows = ig_fb_concat(&fb, (ig_value *[]){ rows, none }, 2, 0);
    ig_value *row = ig_fb_gather(&fb, rows, at, 0);
    ig_value *is_whole = ig_fb_with(&fb, IG_OP_eq, size, 0);
    row = ig_fb_where(&fb, is_whole, ids, row);
    return ig_fb_give(&fb, 0, ig_fb_like(&fb, row, given));
}

/* ---- hash tables ---- */

typedef struct pair {
    int64_t key, row;
} pair;

static int by_key(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Pairs (id, row) of `tables` tables, cut by `edges`, as sorted arrays. */
static void sort_pairs(ig_fb *fb, const int64_t *slots, const int64_t *edges,
                       uint32_t tables, ig_value **out_keys, ig_value **out_rows) {
    ig_arena *arena = fb->call->arena;
    int64_t all = edges[tables];
    pair *pairs = IG_NEW_ARRAY(arena, pair, (size_t)all + 1);
    uint32_t count = 0;
    for (uint32_t t = 0; t < tables; t++) {
        for (int64_t s = edges[t]; s < edges[t + 1]; s++) {
            if (slots[2 * s] != -1) {
                int64_t id = slots[2 * s] & 0xffffffff;
                pairs[count++] = (pair){ (int64_t)t << 32 | id, slots[2 * s + 1] };
            }
        }
    }
    qsort(pairs, count, sizeof *pairs, by_key);
    int64_t *keys = IG_NEW_ARRAY(arena, int64_t, (size_t)count + 1);
    int64_t *rows = IG_NEW_ARRAY(arena, int64_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = pairs[i].key;
        rows[i] = pairs[i].row;
    }
    keys[count] = INT64_MAX; /* what no id finds */
    rows[count] = -1;
    *out_keys = ig_fb_ints(fb, keys, count + 1);
    *out_rows = ig_fb_ints(fb, rows, count + 1);
}

ig_value *ig_fb_look_up_pairs(ig_fb *fb, ig_value *given, ig_value *offsets,
                              const int64_t *slots, const int64_t *edges,
                              uint32_t tables) {
    ig_value *keys, *rows, *at = NULL;
    int64_t *sizes = IG_NEW_ARRAY(fb->call->arena, int64_t, (size_t)tables + 1);
    for (uint32_t t = 0; t < tables; t++) {
        sizes[t] = edges[t + 1] - edges[t];
    }
    sort_pairs(fb, slots, edges, tables, &keys, &rows);
    ig_value *ids = ig_fb_cast(fb, given, IG_DT_i64);
    ig_value *table = tables_of(fb, ids, offsets, ig_dim_of(tables));
    ig_value *low = ig_fb_with(fb, IG_OP_and, ids, 0xffffffff);
    ig_value *high = ig_fb_with(fb, IG_OP_shl, table, 32);
    ig_value *key = ig_fb_2(fb, IG_OP_or, high, low), *operands[] = { key, keys };
    if (!key || !ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_bucketize, 2, operands, NULL,
                                           &at))) {
        return NULL;
    }
    ig_value *is_found = ig_fb_2(fb, IG_OP_eq, ig_fb_gather(fb, keys, at, 0), key);
    ig_value *row = ig_fb_where(fb, is_found, ig_fb_gather(fb, rows, at, 0),
                                ig_fb_int(fb, -1));
    ig_value *size = ig_fb_gather(fb, ig_fb_ints(fb, sizes, tables), table, 0);
    row = ig_fb_where(fb, ig_fb_with(fb, IG_OP_eq, size, 0), ids, row);
    return ig_fb_like(fb, row, given);
}

ig_status ig_ts_op_fb_pruned_hashmap(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    uint32_t numbers, edge_count;
    ig_value *ids = ig_fb_tensor(&fb, 0), *offsets = ig_fb_tensor(&fb, 1);
    const int64_t *slots = ig_fb_known(&fb, 2, "the hash table", &numbers);
    const int64_t *edges = ig_fb_known(&fb, 3, "the hash table's offsets", &edge_count);
    IG_TRY(fb.status);
    if (edge_count < 2 || edges[0] < 0 || edges[edge_count - 1] > numbers / 2) {
        return ig_ts_fail(call, IG_INVALID, "the hash table's offsets");
    }
    for (uint32_t t = 0; t + 1 < edge_count; t++) {
        if (edges[t] > edges[t + 1]) {
            return ig_ts_fail(call, IG_INVALID, "the hash table's offsets fall");
        }
    }
    return ig_fb_give(
        &fb, 0, ig_fb_look_up_pairs(&fb, ids, offsets, slots, edges, edge_count - 1));
}
