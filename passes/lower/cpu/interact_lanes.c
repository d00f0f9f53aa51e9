/* Dot interaction of as many samples as a vector has lanes, a sample a lane.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   columns[i][k]  = x[first … first + lanes, i, k]     in squares of lanes x lanes
 *   products[p]    = sum over k of columns[i(p)][k] * columns[j(p)][k]
 *   out            = products, in squares again
 *
 * Products are made in blocks of LOW x HIGH pairs, so that LOW + HIGH loads feed
 * LOW * HIGH sums in registers (3 x 3 where there are 16 of them); of a block only the
 * pairs that are wanted are made, so nothing is multiplied in vain.  The depth goes in
 * parts of at most DEPTH, which bounds the scratch memory; between parts sums wait in
 * `products`.  A row of `columns` is one vector longer than a part, so that rows do not
 * meet in one set of the cache.
 */
#include "passes/lower/cpu/interact.h"

#include <assert.h>

enum { DEPTH = 64, LOW = 5, HIGH = 4 };

static int64_t part_depth(const ig_interact *t) {
    int64_t depth = (t->depth + t->lanes - 1) / t->lanes * t->lanes;
    return depth < DEPTH ? depth : DEPTH;
}

/* From a row of `columns` to the next, in floats. */
static int64_t row_pitch(const ig_interact *t) {
    return (part_depth(t) + 1) * t->lanes;
}

void ig_interact_plan_lanes(ig_interact *t) {
    int64_t pairs = ((int64_t)t->pair_count + t->lanes - 1) / t->lanes * t->lanes;
    t->columns = ig_cpu_scratch(t->lower, t->rows * row_pitch(t));
    t->products = ig_cpu_scratch(t->lower, pairs * t->lanes);
}

/* ---- columns ---- */

/* Elements k … k + lanes of a row of all samples, of which the first `left` exist
 * (NULL: all). */
static void emit_square(const ig_interact *t, ig_builder *b, ig_value *from,
                        ig_value *to, ig_value *left) {
    ig_value *square[IG_CPU_SQUARE];
    ig_value *step = ig_lower_dim(t->lower, t->x->strides[0]);
    for (uint32_t s = 0; s < t->lanes; s++) {
        ig_value *at = k_add(b, from, k_mul(b, step, k_i64(b, s)));
        square[s] = k_load_count(b, t->x->buffer, at, t->lanes, left);
    }
    ig_cpu_transpose(b, square, t->lanes);
    for (uint32_t k = 0; k < t->lanes; k++) {
        ig_value *at = k_add(b, to, k_i64(b, (int64_t)k * t->lanes));
        k_store(b, square[k], t->columns, at);
    }
}

/* Elements begin … begin + count of all rows. */
static void emit_columns(const ig_interact *t, ig_builder *b, ig_value *first,
                         ig_value *begin, ig_value *count) {
    ig_value *lanes = k_i64(b, t->lanes), *zero = k_i64(b, 0);
    k_loop rows = k_loop_open(b, zero, k_i64(b, t->rows), k_i64(b, 1), NULL, 0);
    k_loop loop = k_loop_open(&rows.b, zero, count, lanes, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *step = ig_lower_dim(t->lower, t->x->strides[0]);
    ig_value *row = ig_lower_dim(t->lower, t->x->strides[1]);
    ig_value *from = k_add(in, k_mul(in, first, step), k_mul(in, rows.index, row));
    from = k_add(in, from, k_add(in, begin, loop.index));
    ig_value *to = k_mul(in, rows.index, k_i64(in, row_pitch(t)));
    to = k_add(in, to, k_mul(in, loop.index, lanes));
    bool is_whole = t->depth % t->lanes == 0;
    emit_square(t, in, from, to, is_whole ? NULL : k_sub(in, count, loop.index));
    k_loop_close(&loop, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

/* ---- products ---- */

/* Some pairs of a row from `low` on and a row from `high` on that is not before it. */
typedef struct block {
    int64_t low, high;
    uint32_t positions[LOW * HIGH]; /* of its pairs, in `pairs` */
    uint32_t count;
} block;

typedef struct edges {
    int64_t low, high;
} edges;

static edges edges_of(const ig_interact *t) {
    bool is_large = t->lower->target->vector_registers >= 32;
    return is_large ? (edges){ LOW, HIGH } : (edges){ 3, 3 };
}

static ig_value *load_column(const ig_interact *t, ig_builder *b, ig_value *k,
                             int64_t row) {
    ig_value *at = k_add(b, k, k_i64(b, row * row_pitch(t)));
    return k_load(b, t->columns, at, t->lanes);
}

/* The sums of a block go on by elements 0 … count of the part. */
static void emit_block(const ig_interact *t, ig_builder *b, const block *of,
                       ig_value *count) {
    ig_value *sums[LOW * HIGH];
    for (uint32_t n = 0; n < of->count; n++) {
        ig_value *at = k_i64(b, (int64_t)of->positions[n] * t->lanes);
        sums[n] = k_load(b, t->products, at, t->lanes);
    }
    ig_value *lanes = k_i64(b, t->lanes), *end = k_mul(b, count, lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), end, lanes, sums, of->count);
    ig_builder *in = &loop.b;
    ig_value *low[LOW] = { 0 }, *high[HIGH] = { 0 };
    for (uint32_t n = 0; n < of->count; n++) {
        int64_t pair = t->pairs[of->positions[n]], i = pair / t->rows,
                j = pair % t->rows;
        int64_t below = i < j ? i : j, above = i < j ? j : i;
        ig_value **x = &low[below - of->low], **y = &high[above - of->high];
        *x = *x ? *x : load_column(t, in, loop.index, below);
        *y = *y ? *y : load_column(t, in, loop.index, above);
        sums[n] = k_muladd(in, *x, *y, loop.carried[n]);
    }
    k_loop_close(&loop, sums, of->count);
    for (uint32_t n = 0; n < of->count; n++) {
        ig_value *at = k_i64(b, (int64_t)of->positions[n] * t->lanes);
        k_store(b, loop.results[n], t->products, at);
    }
}

/* All pairs whose rows are in the two ranges; more than a block holds are several. */
static void emit_blocks_at(const ig_interact *t, ig_builder *b, int64_t low,
                           int64_t high, ig_value *count) {
    edges edge = edges_of(t);
    block of = { .low = low, .high = high };
    for (uint32_t p = 0; p < t->pair_count; p++) {
        int64_t i = t->pairs[p] / t->rows, j = t->pairs[p] % t->rows;
        int64_t below = i < j ? i : j, above = i < j ? j : i;
        if (below / edge.low * edge.low != low ||
            above / edge.high * edge.high != high) {
            continue;
        }
        of.positions[of.count++] = p;
        if (of.count == edge.low * edge.high) {
            emit_block(t, b, &of, count);
            of.count = 0;
        }
    }
    if (of.count) {
        emit_block(t, b, &of, count);
    }
}

static void emit_products(const ig_interact *t, ig_builder *b, ig_value *count) {
    edges edge = edges_of(t);
    for (int64_t high = 0; high < t->rows; high += edge.high) {
        for (int64_t low = 0; low < high + edge.high; low += edge.low) {
            emit_blocks_at(t, b, low, high, count);
        }
    }
}

static void clear_products(const ig_interact *t, ig_builder *b) {
    ig_value *lanes = k_i64(b, t->lanes);
    ig_value *end = k_i64(b, (int64_t)t->pair_count * t->lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), end, lanes, NULL, 0);
    ig_value *zero = k_const_vector(&loop.b, IG_DT_f32, t->lanes, 0.0);
    k_store(&loop.b, zero, t->products, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* ---- results ---- */

/* Products `at` … at + lanes of all samples; `left` are wanted, NULL: all. */
static void emit_results(const ig_interact *t, ig_builder *b, ig_value *first,
                         ig_value *at, ig_value *left) {
    ig_value *square[IG_CPU_SQUARE], *lanes = k_i64(b, t->lanes);
    int64_t rest = t->pair_count % t->lanes;
    for (uint32_t p = 0; p < t->lanes; p++) {
        ig_value *position = k_mul(b, k_add(b, at, k_i64(b, p)), lanes);
        square[p] = left && p >= rest ? k_const_vector(b, IG_DT_f32, t->lanes, 0.0)
                                      : k_load(b, t->products, position, t->lanes);
    }
    ig_cpu_transpose(b, square, t->lanes);
    ig_value *step = ig_lower_dim(t->lower, t->out->strides[0]);
    for (uint32_t s = 0; s < t->lanes; s++) {
        ig_value *sample = k_mul(b, k_add(b, first, k_i64(b, s)), step);
        k_store_count(b, square[s], t->out->buffer, k_add(b, sample, at), left);
    }
}

void ig_interact_emit_lanes(const ig_interact *t, ig_builder *b, ig_value *first) {
    assert(t->lanes <= IG_CPU_SQUARE && t->columns && "ig_interact_plan_lanes");
    int64_t whole = t->pair_count / t->lanes * t->lanes;
    ig_value *depth = k_i64(b, t->depth), *zero = k_i64(b, 0);
    clear_products(t, b);
    k_loop parts = k_loop_open(b, zero, depth, k_i64(b, part_depth(t)), NULL, 0);
    ig_value *left = k_sub(&parts.b, depth, parts.index);
    ig_value *count = k_min(&parts.b, left, k_i64(&parts.b, part_depth(t)));
    emit_columns(t, &parts.b, first, parts.index, count);
    emit_products(t, &parts.b, count);
    k_loop_close(&parts, NULL, 0);
    k_loop loop = k_loop_open(b, zero, k_i64(b, whole), k_i64(b, t->lanes), NULL, 0);
    emit_results(t, &loop.b, first, loop.index, NULL);
    k_loop_close(&loop, NULL, 0);
    if (whole < t->pair_count) {
        emit_results(t, b, first, k_i64(b, whole), k_i64(b, t->pair_count - whole));
    }
}
