/* Scores of few rows on CPUs: lanes along the depth, keys as stored.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A copy of the keys as panels costs as much as some rows of the product.  As many keys
 * as lanes have a sum each; their lanes are joined by turning the square.
 */
#include "passes/lower/cpu/attention.h"

enum { FEW_ROWS = 4 };

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
    return (!is_known || a->offsets) && dot_is_along_k(s->a, !s->transpose_a) &&
           dot_is_along_k(s->b, s->transpose_b);
}

void attention_emit_scores(const attention *a, ig_builder *b, const dot_range *range) {
    if (!a->may_have_few) {
        dot_emit_micro_panels(&a->scores, b, range);
        return;
    }
    ig_value *rows = k_sub(b, range->rows[1], range->rows[0]);
    ig_value *are_few = k_compare(b, IG_OP_lt, rows, k_i64(b, FEW_ROWS));
    k_if few = k_if_open(b, are_few, NULL, 0);
    k_loop each = k_loop_open(&few.then, range->rows[0], range->rows[1],
                              k_i64(&few.then, 1), NULL, 0);
    emit_few_row(a, &each.b, range, each.index);
    k_loop_close(&each, NULL, 0);
    dot_emit_micro_panels(&a->scores, &few.other, range);
    k_if_close(&few, NULL, NULL);
}
