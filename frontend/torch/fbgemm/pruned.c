/* FBGEMM's look-ups of pruned ids: from the ids of a whole table to the rows left.
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

#include <assert.h>
#include <stdlib.h>

/* The table of each id. */
static ig_value *tables_of(ig_expr *e, ig_value *ids, ig_value *offsets,
                           ig_dim tables) {
    ig_module *module = e->module;
    ig_dim bags = ig_fb_segments(e, offsets);
    ig_dim per = ig_dim_exact_div(module, bags, tables);
    ig_value *at = ig_fb_positions(e, ids);
    ig_value *bag = ig_compose_segment_of(e, ig_expr_cast(e, offsets, IG_DT_i64), at);
    ig_value *by = ig_build_max(e, ig_expr_dim(e, per, IG_DT_i64),
                                ig_expr_integer(e, IG_DT_i64, 1));
    ig_value *table = ig_build_div(e, bag, by);
    ig_dim last = ig_dim_sub(module, tables, ig_dim_of(1));
    return ig_build_min(e, table, ig_expr_dim(e, last, IG_DT_i64));
}

ig_status ig_ts_op_fb_pruned_array(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *given = ig_aten_tensor(call, 0), *offsets = ig_aten_tensor(call, 1);
    ig_value *rows = ig_fb_arg(call, 2, IG_DT_i64),
             *edges = ig_fb_arg(call, 3, IG_DT_i64);
    ig_dim tables = ig_fb_segments(e, edges);
    ig_value *ids = ig_expr_cast(e, given, IG_DT_i64);
    ig_value *table = tables_of(e, ids, offsets, tables);
    ig_value *start = ig_compose_take_rows(e, edges, table);
    ig_value *size = ig_compose_take_rows(e, ig_compose_segment_lengths(e, edges),
                                          table);
    ig_value *is_in = ig_build_and(e, ig_expr_with_integer(e, IG_OP_ge, ids, 0),
                                   ig_build_lt(e, ids, size));
    /* the row after all others holds -1: none */
    ig_dim one = ig_dim_of(1);
    ig_value *none = ig_expr_reshape(e, ig_expr_integer(e, IG_DT_i64, -1), 1, &one);
    ig_value *absent = ig_expr_dim(e, ig_fb_extent(e, rows, 0), IG_DT_i64);
    ig_value *at = ig_build_where(e, is_in, ig_build_add(e, start, ids), absent);
    rows = ig_expr_concat(e, 0, (ig_value *[]){ rows, none }, 2);
    ig_value *row = ig_compose_take_rows(e, rows, at);
    ig_value *is_whole = ig_expr_with_integer(e, IG_OP_eq, size, 0);
    row = ig_build_where(e, is_whole, ids, row);
    return ig_aten_give(call, ig_expr_like(e, row, given));
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
static void sort_pairs(ig_ts_call *call, const int64_t *slots, const int64_t *edges,
                       uint32_t tables, ig_value **out_keys, ig_value **out_rows) {
    assert(edges[0] >= 0 && edges[0] <= edges[tables] &&
           "the caller has checked the offsets");
    ig_arena *arena = call->arena;
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
    keys[count] = INT64_MAX; /* rows that no id finds */
    rows[count] = -1;
    *out_keys = ig_expr_ints(call->e, keys, count + 1);
    *out_rows = ig_expr_ints(call->e, rows, count + 1);
}

ig_value *ig_fb_look_up_pairs(ig_ts_call *call, ig_value *given, ig_value *offsets,
                              const int64_t *slots, const int64_t *edges,
                              uint32_t tables) {
    ig_expr *e = call->e;
    assert(tables > 0 && "the caller has refused a map without tables");
    ig_value *keys, *rows, *at = NULL;
    int64_t *sizes = IG_NEW_ARRAY(call->arena, int64_t, (size_t)tables + 1);
    for (uint32_t t = 0; t < tables; t++) {
        sizes[t] = edges[t + 1] - edges[t];
    }
    sort_pairs(call, slots, edges, tables, &keys, &rows);
    ig_value *ids = ig_expr_cast(e, given, IG_DT_i64);
    ig_value *table = tables_of(e, ids, offsets, ig_dim_of(tables));
    ig_value *low = ig_expr_with_integer(e, IG_OP_and, ids, 0xffffffff);
    ig_value *high = ig_expr_with_integer(e, IG_OP_shl, table, 32);
    ig_value *key = ig_build_or(e, high, low), *operands[] = { key, keys };
    if (!key || !(at = ig_expr_make(e, IG_OP_bucketize, operands, 2, NULL))) {
        return NULL;
    }
    ig_value *is_found = ig_build_eq(e, ig_compose_take_rows(e, keys, at), key);
    ig_value *row = ig_build_where(e, is_found, ig_compose_take_rows(e, rows, at),
                                   ig_expr_integer(e, IG_DT_i64, -1));
    ig_value *size = ig_compose_take_rows(e, ig_expr_ints(e, sizes, tables), table);
    row = ig_build_where(e, ig_expr_with_integer(e, IG_OP_eq, size, 0), ids, row);
    return ig_expr_like(e, row, given);
}

ig_status ig_ts_op_fb_pruned_hashmap(ig_ts_call *call) {
    uint32_t slot_count, edge_count;
    ig_value *ids = ig_aten_tensor(call, 0), *offsets = ig_aten_tensor(call, 1);
    const int64_t *slots = ig_fb_known(call, 2, "the hash table", &slot_count);
    const int64_t *edges = ig_fb_known(call, 3, "the hash table's offsets",
                                       &edge_count);
    IG_TRY(call->e->status);
    if (edge_count < 2 || edges[0] < 0 || edges[edge_count - 1] > slot_count / 2) {
        return ig_ts_fail(
            call, IG_INVALID,
            "the hash table's offsets run from %lld to %lld, expected 0 to %u",
            (long long)(edge_count ? edges[0] : -1),
            (long long)(edge_count ? edges[edge_count - 1] : -1), slot_count / 2);
    }
    for (uint32_t t = 0; t + 1 < edge_count; t++) {
        if (edges[t] > edges[t + 1]) {
            return ig_ts_fail(
                call, IG_INVALID,
                "the hash table's offset %u is above the next, expected rising offsets",
                t);
        }
    }
    return ig_ts_give(
        call, 0, ig_fb_look_up_pairs(call, ids, offsets, slots, edges, edge_count - 1));
}
