/* Scores and results of few rows on CPUs: keys and values as stored.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A copy of the keys as panels costs as much as some rows of the product.  Scores have
 * lanes along the depth: as many keys as lanes have a sum each, whose lanes are joined
 * by turning the square.  Results have lanes along the values, with as many vectors of
 * a row at once as there are registers for: one row of a block of dot_panels.c would be
 * two chains.  Their sums are in the order of those blocks, so the bits are the same.
 */
#include "passes/lower/cpu/attention.h"

enum { FEW_ROWS = 4, FEW_VECTORS = 8 };

/* Elements of a query, and of as many keys as lanes. */
typedef struct few_keys {
    ig_value *query, *keys[IG_CPU_SQUARE];
} few_keys;

/* Adds the products of elements of the depth from the loop's on, of which `count` are
 * there (NULL: all), to the sums that the loop carries. */
static void add_depth(const attention *a, k_loop *loop, const few_keys *f,
                      ig_value *count, ig_value **out_sums) {
    ig_builder *b = &loop->b;
    ig_value *q = k_load_count(b, f->query, loop->index, a->lanes, count);
    for (uint32_t i = 0; i < a->lanes; i++) {
        ig_value *k = k_load_count(b, f->keys[i], loop->index, a->lanes, count);
        out_sums[i] = k_muladd(b, q, k, loop->carried[i]);
    }
}

static ig_value *sum_depth(const attention *a, ig_builder *b, const few_keys *f) {
    ig_value *sums[IG_CPU_SQUARE], *lanes = k_i64(b, a->lanes);
    ig_value *depth = a->scores.words;
    for (uint32_t i = 0; i < a->lanes; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, a->lanes, 0);
    }
    ig_value *whole = k_mul(b, k_div(b, depth, lanes), lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, lanes, sums, a->lanes);
    add_depth(a, &loop, f, NULL, sums);
    k_loop_close(&loop, sums, a->lanes);
    k_loop rest = k_loop_open(b, whole, depth, lanes, loop.results, a->lanes);
    add_depth(a, &rest, f, k_sub(&rest.b, depth, rest.index), sums);
    k_loop_close(&rest, sums, a->lanes);
    return attention_join_lanes(a, b, rest.results, k_add);
}

/* Scores of one row and the keys of the range. */
static void emit_few_row(const attention *a, ig_builder *b, const dot_range *range,
                         ig_value *row) {
    const dot *d = &a->scores;
    few_keys f = { .query = dot_row_start(d, b, d->a, !d->transpose_a, range->index,
                                          row) };
    ig_value *own = k_sub(b, row, range->rows[0]), *lanes = k_i64(b, a->lanes);
    ig_value *to = k_mul(b, own, k_i64(b, ATTENTION_KEYS));
    k_loop keys = k_loop_open(b, range->columns[0], range->columns[1], lanes, NULL, 0);
    ig_builder *in = &keys.b;
    ig_value *last = k_sub(in, d->n, k_i64(in, 1));
    for (uint32_t i = 0; i < a->lanes; i++) {
        ig_value *key = k_min(in, k_add(in, keys.index, k_i64(in, i)), last);
        f.keys[i] = dot_row_start(d, in, d->b, d->transpose_b, range->index, key);
    }
    ig_value *column = k_sub(in, keys.index, range->columns[0]);
    k_store(in, sum_depth(a, in, &f), a->weights, k_add(in, to, column));
    k_loop_close(&keys, NULL, 0);
}

bool attention_may_have_few(const attention *a) {
    const dot *s = &a->scores;
    int64_t rows = 0;
    bool is_known = ig_dim_constant(a->lower->module, s->type->dims[a->rank - 2],
                                    &rows);
    return (!is_known || a->parts.offsets) && dot_is_along_k(s->a, !s->transpose_a) &&
           dot_is_along_k(s->b, s->transpose_b);
}

static ig_value *are_few(ig_builder *b, ig_value *rows) {
    return k_compare(b, IG_OP_lt, rows, k_i64(b, FEW_ROWS));
}

void attention_emit_scores(const attention *a, ig_builder *b, const dot_range *range) {
    if (!a->may_have_few) {
        dot_emit_micro_panels(&a->scores, b, range);
        return;
    }
    ig_value *rows = k_sub(b, range->rows[1], range->rows[0]);
    k_if few = k_if_open(b, are_few(b, rows), NULL, 0);
    k_loop each = k_loop_open(&few.then, range->rows[0], range->rows[1],
                              k_i64(&few.then, 1), NULL, 0);
    emit_few_row(a, &each.b, range, each.index);
    k_loop_close(&each, NULL, 0);
    dot_emit_micro_panels(&a->scores, &few.other, range);
    k_if_close(&few, NULL, NULL);
}

/* ---- results ---- */

/* Of a row: where its weights and its results are, and the first key's values. */
typedef struct few_values {
    const attention_keys *keys;
    ig_value *weights, *results, *values;
} few_values;

/* Columns of so many vectors, of which the last may have lanes that are not there. */
static void add_columns(const attention *a, ig_builder *b, const few_values *f,
                        ig_value *column, uint32_t vectors) {
    const dot *d = &a->product;
    ig_value *sums[FEW_VECTORS], *at[FEW_VECTORS], *left[FEW_VECTORS];
    ig_value *step = ig_lower_dim(d->lower, dot_stride(d->b, true, d->transpose_b));
    bool is_even = ig_dim_is(d->type->dims[a->rank - 1], a->pitch);
    for (uint32_t i = 0; i < vectors; i++) {
        at[i] = k_add(b, column, k_i64(b, (int64_t)i * a->lanes));
        left[i] = is_even ? NULL : k_sub(b, d->n, at[i]);
        sums[i] = k_const_vector(b, IG_DT_f32, a->lanes, 0);
    }
    k_loop keys = k_loop_open(b, f->keys->first, f->keys->end, k_i64(b, 1), sums,
                              vectors);
    ig_builder *in = &keys.b;
    ig_value *key = k_sub(in, keys.index, f->keys->first);
    ig_value *w = k_splat(in, k_load(in, f->weights, key, 1), a->lanes);
    ig_value *line = k_mul(in, keys.index, step);
    for (uint32_t i = 0; i < vectors; i++) {
        ig_value *x = k_load_count(in, f->values, k_add(in, line, at[i]), a->lanes,
                                   left[i]);
        sums[i] = k_muladd(in, w, x, keys.carried[i]);
    }
    k_loop_close(&keys, sums, vectors);
    for (uint32_t i = 0; i < vectors; i++) {
        ig_value *before = k_load(b, f->results, at[i], a->lanes);
        k_store(b, k_add(b, before, keys.results[i]), f->results, at[i]);
    }
}

static void add_few_values(const attention *a, ig_builder *b, const attention_tile *t,
                           const attention_keys *keys) {
    const dot *d = &a->product;
    int64_t vectors = a->pitch / a->lanes;
    uint32_t own = (uint32_t)(vectors < FEW_VECTORS ? vectors : FEW_VECTORS);
    ig_value *zero = k_i64(b, 0), *step = k_i64(b, (int64_t)own * a->lanes);
    ig_value *whole = k_i64(b, vectors / own * own * a->lanes);
    k_loop rows = k_loop_open(b, zero, t->count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &rows.b;
    ig_value *weights = k_mul(in, rows.index, k_i64(in, ATTENTION_KEYS));
    ig_value *results = k_mul(in, rows.index, k_i64(in, a->pitch));
    few_values f = { .keys = keys,
                     .weights = k_offset(in, a->weights, weights),
                     .results = k_offset(in, a->results, results),
                     .values = dot_row_start(d, in, d->b, d->transpose_b, t->index,
                                             zero) };
    k_loop columns = k_loop_open(in, zero, whole, step, NULL, 0);
    add_columns(a, &columns.b, &f, columns.index, own);
    k_loop_close(&columns, NULL, 0);
    if (vectors % own) {
        add_columns(a, in, &f, whole, (uint32_t)(vectors % own));
    }
    k_loop_close(&rows, NULL, 0);
}

static void add_blocks(const attention *a, ig_builder *b, const attention_tile *t,
                       const attention_keys *keys) {
    const dot *d = &a->product;
    ig_value *k[2] = { keys->first, keys->end }, *zero = k_i64(b, 0);
    dot_range r = { .rows = { zero, t->count },
                    .columns = { zero, d->n },
                    .index = t->index,
                    .a = k_offset(b, a->weights, k_sub(b, zero, keys->first)),
                    .k = k };
    dot_emit_micro_panels(d, b, &r);
}

void attention_add_values(const attention *a, ig_builder *b, const attention_tile *t,
                          const attention_keys *keys) {
    const dot *d = &a->product;
    bool has_lines = ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1);
    if (!a->may_have_few || !has_lines) {
        add_blocks(a, b, t, keys);
        return;
    }
    k_if few = k_if_open(b, are_few(b, t->count), NULL, 0);
    add_few_values(a, &few.then, t, keys);
    add_blocks(a, &few.other, t, keys);
    k_if_close(&few, NULL, NULL);
}
