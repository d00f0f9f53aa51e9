/* Weights of attention on CPUs: what elementwise ops and softmax make of scores.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax goes by the largest score so far, m, and the sum of weights so far:
 *
 *   m' = max(m, scores)   f = exp(m - m')   w = exp(scores - m')
 *   sum' = f sum + w      results' = f results + w v       at last results / sum
 *
 * An m of -inf counts as 0 in these differences: a row of which no key has taken part
 * yet has weights of 0, and at last 0 / 0, or 0 with empty_zero.
 *
 * A row's maximum and sum stay vectors until those of as many rows as lanes are joined
 * at once, in squares.
 */
#include "passes/lower/cpu/attention.h"
#include "passes/lower/math/math.h"
#include "passes/lower/serial/softmax.h"

#include <math.h>
#include <string.h>

/* A row of a tile, by its number there, and keys: the first one, and how many. */
typedef struct key_row {
    const attention_tile *tile;
    ig_value *row, *first, *count;
    ig_value *max;
} key_row;

typedef ig_value *(*step_fn)(const attention *a, ig_builder *b, const key_row *r,
                             ig_value *i, ig_value *total, ig_value *left);

static ig_value *weight_at(ig_builder *b, const key_row *r, ig_value *i) {
    return k_add(b, k_mul(b, r->row, k_i64(b, ATTENTION_KEYS)), i);
}

ig_value *attention_join_lanes(const attention *a, ig_builder *b, ig_value **vectors,
                               attention_join join) {
    ig_cpu_transpose(b, vectors, a->lanes);
    for (uint32_t half = a->lanes / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            vectors[i] = join(b, vectors[i], vectors[i + half]);
        }
    }
    return vectors[0];
}

/* Scores of the row from key i of the block on, as the elementwise ops have them. */
static ig_value *map_scores(const attention *a, ig_builder *b, const key_row *r,
                            ig_value *i, ig_value *left) {
    ig_value *index[IG_TENSOR_RANK];
    ig_map values;
    memcpy(index, r->tile->index, a->rank * sizeof *index);
    index[a->rank - 2] = k_add(b, r->tile->rows[0], r->row);
    index[a->rank - 1] = k_add(b, r->first, i);
    ig_map_init(&values, a->lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(a->scores.anchor->results),
                  k_load(b, a->weights, weight_at(b, r, i), a->lanes));
    ig_site site = { .b = b,
                     .lanes = a->lanes,
                     .rank = a->rank,
                     .dims = a->scores.type->dims,
                     .index = index,
                     .count = left,
                     .values = &values };
    return ig_lower_value(a->lower, &site, a->mapped);
}

/* Keys that are not there have no weight. */
static ig_value *mask_missing(const attention *a, ig_builder *b, ig_value *x,
                              ig_value *left) {
    if (!left) {
        return x;
    }
    ig_value *is_there = k_compare(b, IG_OP_lt, k_iota(b, a->lanes),
                                   k_splat(b, left, a->lanes));
    ig_value *none = k_const_vector(b, IG_DT_f32, a->lanes, -(double)INFINITY);
    return k_where(b, is_there, x, none);
}

/* The largest score so far. */
static ig_value *step_larger(const attention *a, ig_builder *b, const key_row *r,
                             ig_value *i, ig_value *total, ig_value *left) {
    ig_value *x = map_scores(a, b, r, i, left);
    x = mask_missing(a, b, x, left);
    k_store(b, x, a->weights, weight_at(b, r, i));
    return ig_softmax_larger(b, x, total);
}

/* Has a weight that is not 0 been there?  One block is multiplied in any case. */
static ig_value *step_some(const attention *a, ig_builder *b, const key_row *r,
                           ig_value *i, ig_value *total, ig_value *left) {
    ig_value *x = map_scores(a, b, r, i, left);
    k_store(b, x, a->weights, weight_at(b, r, i));
    if (!a->is_long) {
        return total;
    }
    ig_value *zero = k_const_vector(b, IG_DT_f32, a->lanes, 0);
    return k_binary(b, IG_OP_or, total, k_compare(b, IG_OP_ne, x, zero));
}

static ig_value *step_exp(const attention *a, ig_builder *b, const key_row *r,
                          ig_value *i, ig_value *total, ig_value *left) {
    (void)left; /* their scores are -inf */
    ig_value *at = weight_at(b, r, i);
    ig_value *x = k_sub(b, k_load(b, a->weights, at, a->lanes), r->max);
    ig_value *e = ig_math_decay(b, x);
    k_store(b, e, a->weights, at);
    return k_add(b, total, e);
}

/* A row's whole vectors, then one that may have less. */
static ig_value *walk_keys(const attention *a, ig_builder *b, const key_row *r,
                           ig_value *total, step_fn step) {
    ig_value *lanes = k_i64(b, a->lanes);
    ig_value *whole = k_mul(b, k_div(b, r->count, lanes), lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, lanes, &total, 1);
    ig_value *next = step(a, &loop.b, r, loop.index, loop.carried[0], NULL);
    k_loop_close(&loop, &next, 1);
    if (!a->is_ragged) {
        return loop.results[0];
    }
    k_loop tail = k_loop_open(b, whole, r->count, lanes, loop.results, 1);
    ig_value *left = k_sub(&tail.b, r->count, tail.index);
    next = step(a, &tail.b, r, tail.index, tail.carried[0], left);
    k_loop_close(&tail, &next, 1);
    return tail.results[0];
}

/* ---- softmax, by the numbers of `lanes` rows at once ---- */

/* The numbers of the rows from this one on, in lanes. */
static ig_value *join_rows(const attention *a, ig_builder *b, ig_value *row,
                           attention_join join) {
    ig_value *rows[IG_CPU_SQUARE];
    for (uint32_t i = 0; i < a->lanes; i++) {
        ig_value *at = k_mul(b, k_add(b, row, k_i64(b, i)), k_i64(b, a->lanes));
        rows[i] = k_load(b, a->totals, at, a->lanes);
    }
    return attention_join_lanes(a, b, rows, join);
}

/* Exponents below this give a weight of 0. */
static const double no_weight = -104;

/* Maxima with this block, and what sums and results before it are multiplied by.
 * Returns a bool: has some row a weight that is not 0? */
static ig_value *join_maxima(const attention *a, ig_builder *b, ig_value *row) {
    ig_value *none = k_const_vector(b, IG_DT_f32, a->lanes, -(double)INFINITY);
    ig_value *zero = k_const_vector(b, IG_DT_f32, a->lanes, 0);
    ig_value *own = join_rows(a, b, row, ig_softmax_larger), *max = own, *before = NULL;
    if (a->is_long) {
        before = k_load(b, a->max, row, a->lanes);
        max = ig_softmax_larger(b, own, before);
        k_store(b, max, a->max, row);
    }
    ig_value *origin = k_where(b, k_compare(b, IG_OP_eq, max, none), zero, max);
    k_store(b, origin, a->origins, row);
    if (a->is_long) {
        ig_value *factor = ig_math_decay(b, k_sub(b, before, origin));
        k_store(b, factor, a->factors, row);
    }
    ig_value *bound = k_const_vector(b, IG_DT_f32, a->lanes, no_weight);
    ig_value *is_none = k_compare(b, IG_OP_lt, k_sub(b, own, origin), bound);
    return k_any(b, k_unary(b, IG_OP_not, is_none));
}

static void join_sums(const attention *a, ig_builder *b, ig_value *row) {
    ig_value *sum = join_rows(a, b, row, k_add);
    if (a->is_long) {
        ig_value *factor = k_load(b, a->factors, row, a->lanes);
        sum = k_muladd(b, k_load(b, a->sums, row, a->lanes), factor, sum);
    }
    k_store(b, sum, a->sums, row);
}

/* The row's results so far, times its factor. */
static void scale_results(const attention *a, ig_builder *b, const key_row *r) {
    ig_value *factor = k_load(b, a->factors, r->row, 1);
    ig_value *is_less = k_compare(b, IG_OP_ne, factor, k_const(b, IG_DT_f32, 1));
    k_if scale = k_if_open(b, is_less, NULL, 0);
    ig_builder *in = &scale.then;
    ig_value *row = k_mul(in, r->row, k_i64(in, a->pitch));
    ig_value *by = k_splat(in, factor, a->lanes);
    k_loop loop = k_loop_open(in, k_i64(in, 0), k_i64(in, a->pitch),
                              k_i64(in, a->lanes), NULL, 0);
    ig_value *at = k_add(&loop.b, row, loop.index);
    ig_value *x = k_load(&loop.b, a->results, at, a->lanes);
    k_store(&loop.b, k_mul(&loop.b, x, by), a->results, at);
    k_loop_close(&loop, NULL, 0);
    k_if_close(&scale, NULL, NULL);
}

/* ---- weights of a tile ---- */

static void keep_total(const attention *a, ig_builder *b, const key_row *r,
                       ig_value *total) {
    k_store(b, total, a->totals, k_mul(b, r->row, k_i64(b, a->lanes)));
}

static k_loop open_rows(ig_builder *b, key_row *r, int64_t step,
                        ig_value *const *some) {
    k_loop rows = k_loop_open(b, k_i64(b, 0), r->tile->count, k_i64(b, step), some,
                              some ? 1 : 0);
    r->row = rows.index;
    return rows;
}

/* 1 where the flag, or `before`, says so. */
static ig_value *or_flag(ig_builder *b, ig_value *before, ig_value *flag) {
    return k_max(b, before, k_cast(b, flag, IG_DT_i64));
}

static ig_value *map_softmax(const attention *a, ig_builder *b, key_row r) {
    ig_value *zero = k_i64(b, 0);
    k_loop rows = open_rows(b, &r, 1, NULL);
    ig_value *none = k_const_vector(&rows.b, IG_DT_f32, a->lanes, -(double)INFINITY);
    keep_total(a, &rows.b, &r, walk_keys(a, &rows.b, &r, none, step_larger));
    k_loop_close(&rows, NULL, 0);
    k_loop groups = open_rows(b, &r, a->lanes, &zero);
    ig_value *some = join_maxima(a, &groups.b, r.row);
    some = or_flag(&groups.b, groups.carried[0], some);
    k_loop_close(&groups, &some, 1);
    return groups.results[0];
}

static void finish_softmax(const attention *a, ig_builder *b, key_row r) {
    k_loop rows = open_rows(b, &r, 1, NULL);
    ig_builder *in = &rows.b;
    r.max = k_splat(in, k_load(in, a->origins, r.row, 1), a->lanes);
    ig_value *zero = k_const_vector(in, IG_DT_f32, a->lanes, 0);
    keep_total(a, in, &r, walk_keys(a, in, &r, zero, step_exp));
    if (a->is_long) {
        scale_results(a, in, &r);
    }
    k_loop_close(&rows, NULL, 0);
    k_loop groups = open_rows(b, &r, a->lanes, NULL);
    join_sums(a, &groups.b, r.row);
    k_loop_close(&groups, NULL, 0);
}

static ig_value *map_weights(const attention *a, ig_builder *b, key_row r) {
    ig_value *zero = k_i64(b, 0);
    k_loop rows = open_rows(b, &r, 1, &zero);
    ig_builder *in = &rows.b;
    ig_value *none = k_const_vector(in, IG_DT_bool, a->lanes, !a->is_long);
    ig_value *some = walk_keys(a, in, &r, none, step_some);
    some = or_flag(in, rows.carried[0], k_any(in, some));
    k_loop_close(&rows, &some, 1);
    return rows.results[0];
}

ig_value *attention_emit_weights(const attention *a, ig_builder *b,
                                 const attention_tile *t, const attention_keys *keys) {
    key_row r = { .tile = t,
                  .first = keys->first,
                  .count = k_sub(b, keys->end, keys->first) };
    ig_value *some = (a->softmax ? map_softmax : map_weights)(a, b, r);
    ig_value *has_some = k_compare(b, IG_OP_gt, some, k_i64(b, 0));
    if (a->softmax) {
        k_if wanted = k_if_open(b, has_some, NULL, 0);
        finish_softmax(a, &wanted.then, r);
        k_if_close(&wanted, NULL, NULL);
    }
    return has_some;
}

void attention_open_rows(const attention *a, ig_builder *b, const attention_tile *t) {
    ig_value *zero = k_i64(b, 0), *none = k_const(b, IG_DT_f32, -(double)INFINITY);
    ig_value *is_empty = k_cast(b, k_compare(b, IG_OP_le, a->keys, zero), IG_DT_f32);
    k_loop rows = k_loop_open(b, zero, t->count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &rows.b;
    if (a->softmax) {
        k_store(in, none, a->max, rows.index);
        k_store(in, is_empty, a->sums, rows.index);
    }
    k_loop line = k_loop_open(in, zero, k_i64(in, a->pitch), k_i64(in, a->lanes), NULL,
                              0);
    ig_value *row = k_mul(&line.b, rows.index, k_i64(&line.b, a->pitch));
    k_store(&line.b, k_const_vector(&line.b, IG_DT_f32, a->lanes, 0), a->results,
            k_add(&line.b, row, line.index));
    k_loop_close(&line, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}
