/* Products of two computed matrices of bytes in register tiles, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[…, m, n] = epilogue(sum over k of (A[…, m, k] - za) * (B[…, k, n] - zb))
 *
 * The schedule is that of dot_panels.c; four neighbours of k are one word there, and a
 * panel of B has a word for each column.  dot4 multiplies u8 by i8, so A' is A, with
 * 128 more where it is i8, and B' is B, with 128 less where it is u8: the top bit of
 * each byte turned over.  With zero points that moved along, za' and zb':
 *
 *   sum (A' - za') (B' - zb') = sum A' B' - zb' sum A - (za' sum B' - K zb' za)
 *
 * The second sum is one for each row, made at the start of a tile; the value in
 * brackets is one for each column, made with the panel.  All of it wraps in 32 bits, as
 * sums of matmul_integer do, or is in 64 bits, where each panel's sums are added to
 * those before.
 *
 * A word beyond K's end has bytes of A' that are 0, so what B' has there does not count
 * but for the sums of columns, where it is known.
 */
#include "passes/lower/cpu/dot.h"

#include <assert.h>
#include <string.h>

enum { MAX_ROWS = 8, MAX_VECTORS = 2, FLIP = 128 };

static const double top_bits = 0x80808080u; /* of a word's bytes */

bool dot_takes_quads(const dot *d) {
    return dot_is_along_k(d->a, !d->transpose_a) && !d->a_is_vector && !d->b_is_vector;
}

static ig_dtype sum_dtype(const dot *d) {
    return (ig_dtype)d->type->dtype;
}

static bool is_signed(const ig_lower_operand *x) {
    return x->type->dtype == IG_DT_i8;
}

/* May the zero point of A differ from 0? */
static bool has_zero(const dot *d, uint32_t factor) {
    return d->quads.zeros[factor] || d->quads.flips[factor];
}

void dot_open_quads(dot *d, int64_t width) {
    dot_quads *q = &d->quads;
    ig_graph *kernel = d->lower->kernel;
    int64_t k = 1;
    q->flips[0] = is_signed(d->a);
    q->flips[1] = !is_signed(d->b);
    q->is_whole = ig_dim_constant(d->lower->module, dot_depth(d), &k) &&
                  k % IG_QUAD == 0;
    if (has_zero(d, 1)) {
        q->row_sums = k_local(kernel, sum_dtype(d), DOT_ROW_TILE);
    }
    if (has_zero(d, 0)) {
        q->column_sums = k_local(kernel, sum_dtype(d), width);
    }
}

ig_value *dot_zero(const dot *d, ig_builder *b, uint32_t factor) {
    const ig_lower_operand *zero = d->quads.zeros[factor];
    return zero ? k_cast(b, k_load(b, zero->buffer, k_i64(b, 0), 1), sum_dtype(d))
                : NULL;
}

/* The zero point of A. */
static ig_value *moved_zero(const dot *d, ig_builder *b, uint32_t factor) {
    ig_value *zero = dot_zero(d, b, factor);
    double flip = !d->quads.flips[factor] ? 0 : factor == 0 ? FLIP : -FLIP;
    ig_value *moved = k_const(b, sum_dtype(d), flip);
    return zero ? k_add(b, zero, moved) : moved;
}

static ig_value *flip_words(ig_builder *b, ig_value *words) {
    ig_value *bits = k_const_vector(b, IG_DT_u32, words->type->lanes, top_bits);
    return k_binary(b, IG_OP_xor, words, bits);
}

/* ---- B into panels ---- */

ig_value *dot_quad_line(const dot *d, ig_builder *b, ig_value *column, ig_value *k,
                        ig_value *count) {
    uint32_t bytes = IG_QUAD * d->panels.lanes;
    ig_value *at = k_mul(b, k, k_i64(b, IG_QUAD));
    ig_value *x = k_regroup(b, k_load_count(b, column, at, bytes, count), IG_DT_u32);
    return d->quads.flips[1] ? flip_words(b, x) : x;
}

/* Byte `byte` of a word for each column, where it belongs; 0 beyond K. */
static ig_value *load_byte(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_matrix *m, ig_value *const at[2], uint32_t byte) {
    ig_value *k = k_add(b, k_mul(b, at[0], k_i64(b, IG_QUAD)), k_i64(b, byte));
    ig_value *last = k_sub(b, d->k, k_i64(b, 1));
    ig_value *position[2] = { d->quads.is_whole ? k : k_min(b, k, last), at[1] };
    uint32_t lanes = d->panels.lanes;
    ig_value *x = k_cast(b, dot_load_columns(d, b, s, m, position), IG_DT_u32);
    if (!d->quads.is_whole) {
        ig_value *is_inside = k_cast(b, k_compare(b, IG_OP_lt, k, d->k), IG_DT_u32);
        x = k_binary(b, IG_OP_mul, x, k_splat(b, is_inside, lanes));
    }
    ig_value *distance = k_const_vector(b, IG_DT_u32, lanes, 8 * byte);
    return byte > 0 ? k_binary(b, IG_OP_shl, x, distance) : x;
}

ig_value *dot_quad_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_matrix *m, ig_value *const at[2]) {
    ig_value *words = load_byte(d, b, s, m, at, 0);
    for (uint32_t byte = 1; byte < IG_QUAD; byte++) {
        words = k_binary(b, IG_OP_or, words, load_byte(d, b, s, m, at, byte));
    }
    return d->quads.flips[1] ? flip_words(b, words) : words;
}

/* ---- blocks of rows ---- */

static ig_value *load_panel(const dot *d, ig_builder *b, const dot_micro_panel *s,
                            ig_value *word, uint32_t vector) {
    ig_value *line = k_mul(b, word, k_i64(b, dot_width(d, s)));
    ig_value *at = k_add(b, line, k_i64(b, (int64_t)vector * d->panels.lanes));
    return k_regroup(b, k_load(b, d->panels.panel, at, d->panels.lanes), IG_DT_i8);
}

/* A word of A in every lane; count: NULL, or how many of its bytes there are. */
static ig_value *load_word(const dot *d, ig_builder *b, ig_value *row, ig_value *at,
                           ig_value *count) {
    ig_value *x = k_load_count(b, row, at, IG_QUAD, count);
    x = k_regroup(b, x, IG_DT_u32);
    if (d->quads.flips[0] && count) {
        ig_value *missing = k_sub(b, k_i64(b, IG_QUAD), count);
        ig_value *distance = k_cast(b, k_mul(b, missing, k_i64(b, 8)), IG_DT_u32);
        ig_value *bits = k_const(b, IG_DT_u32, top_bits);
        x = k_binary(b, IG_OP_xor, x, k_binary(b, IG_OP_shr, bits, distance));
    } else if (d->quads.flips[0]) {
        x = flip_words(b, x);
    }
    return k_regroup(b, k_splat(b, x, d->panels.lanes), IG_DT_u8);
}

/* A word of all rows: number `word` of the panel, at `at` in the rows. */
typedef struct word_step {
    ig_value *const *rows;
    ig_value *word, *at, *count;
} word_step;

static void add_word(const dot *d, ig_builder *b, const dot_micro_panel *s,
                     uint32_t count, const word_step *w, ig_value **sums) {
    ig_value *columns[MAX_VECTORS];
    for (uint32_t v = 0; v < s->vectors; v++) {
        columns[v] = load_panel(d, b, s, w->word, v);
    }
    for (uint32_t r = 0; r < count; r++) {
        ig_value *x = load_word(d, b, w->rows[r], w->at, w->count);
        for (uint32_t v = 0; v < s->vectors; v++) {
            ig_value **sum = &sums[r * s->vectors + v];
            *sum = k_dot4(b, x, columns[v], *sum);
        }
    }
}

static void open_rows(const dot *d, ig_builder *b, const dot_rows *r,
                      ig_value **out_rows) {
    ig_dim stride = dot_stride(d->a, false, !d->transpose_a);
    ig_value *first = k_reinterpret(b, r->start, IG_DT_u8);
    first = k_offset(b, first, k_mul(b, r->k[0], k_i64(b, IG_QUAD)));
    for (uint32_t i = 0; i < r->count; i++) {
        ig_dim below = ig_dim_mul(d->lower->module, stride, ig_dim_of(i));
        out_rows[i] = k_offset(b, first, ig_lower_dim(d->lower, below));
    }
}

/* The word that K ends within, if this pass has it. */
static void add_last_word(const dot *d, ig_builder *b, const dot_micro_panel *s,
                          const dot_rows *r, ig_value *const *rows, ig_value **sums) {
    uint32_t count = r->count * s->vectors;
    const ig_type *types[MAX_ROWS * MAX_VECTORS];
    ig_value *then[MAX_ROWS * MAX_VECTORS];
    ig_value *quad = k_i64(b, IG_QUAD), *whole = k_div(b, d->k, quad);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = sums[i]->type;
        then[i] = sums[i];
    }
    k_if last = k_if_open(b, k_compare(b, IG_OP_lt, whole, r->k[1]), types, count);
    ig_builder *in = &last.then;
    ig_value *word = k_sub(in, whole, r->k[0]);
    word_step w = { rows, word, k_mul(in, word, quad), k_mod(in, d->k, quad) };
    add_word(d, in, s, r->count, &w, then);
    k_if_close(&last, then, sums);
    memcpy(sums, last.results, count * sizeof *sums);
}

void dot_sum_quads(const dot *d, ig_builder *b, const dot_micro_panel *s,
                   const dot_rows *r, ig_value **out_sums) {
    assert(r->count <= MAX_ROWS && s->vectors <= MAX_VECTORS && "a register tile");
    uint32_t count = r->count * s->vectors;
    ig_value *rows[MAX_ROWS], *quad = k_i64(b, IG_QUAD), *end = r->k[1];
    open_rows(d, b, r, rows);
    for (uint32_t i = 0; i < count; i++) {
        out_sums[i] = k_const_vector(b, IG_DT_i32, d->panels.lanes, 0.0);
    }
    end = d->quads.is_whole ? end : k_min(b, end, k_div(b, d->k, quad));
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_sub(b, end, r->k[0]), k_i64(b, 1),
                              out_sums, count);
    ig_builder *in = &loop.b;
    word_step w = { rows, loop.index, k_mul(in, loop.index, quad), NULL };
    memcpy(out_sums, loop.carried, count * sizeof *out_sums);
    add_word(d, in, s, r->count, &w, out_sums);
    k_loop_close(&loop, out_sums, count);
    memcpy(out_sums, loop.results, count * sizeof *out_sums);
    if (!d->quads.is_whole) {
        add_last_word(d, b, s, r, rows, out_sums);
    }
}

/* ---- zero points ---- */

/* acc + the bytes of a row of A from `at` on, four for each lane. */
static ig_value *add_row_bytes(const dot *d, ig_builder *b, ig_value *row, ig_value *at,
                               ig_value *count, ig_value *acc) {
    uint32_t bytes = IG_QUAD * d->panels.lanes;
    ig_value *x = k_load_count(b, row, at, bytes, count);
    return is_signed(d->a) ? k_dot4(b, k_const_vector(b, IG_DT_u8, bytes, 1), x, acc)
                           : k_dot4(b, x, k_const_vector(b, IG_DT_i8, bytes, 1), acc);
}

void dot_sum_rows(const dot *d, ig_builder *b, const dot_range *range) {
    if (!d->quads.row_sums) {
        return;
    }
    int64_t bytes = (int64_t)IG_QUAD * d->panels.lanes;
    ig_value *zero = k_const_vector(b, IG_DT_i32, d->panels.lanes, 0.0);
    ig_value *times = moved_zero(d, b, 1), *step = k_i64(b, bytes);
    ig_value *whole = k_mul(b, k_div(b, d->k, step), step);
    k_loop rows = k_loop_open(b, range->rows[0], range->rows[1], k_i64(b, 1), NULL, 0);
    ig_builder *in = &rows.b;
    ig_value *row = dot_row_start(d, in, d->a, !d->transpose_a, range->index,
                                  rows.index);
    k_loop loop = k_loop_open(in, k_i64(in, 0), whole, step, &zero, 1);
    ig_value *sum = add_row_bytes(d, &loop.b, row, loop.index, NULL, loop.carried[0]);
    k_loop_close(&loop, &sum, 1);
    k_loop tail = k_loop_open(in, whole, d->k, step, loop.results, 1);
    ig_value *left = k_sub(&tail.b, d->k, tail.index);
    sum = add_row_bytes(d, &tail.b, row, tail.index, left, tail.carried[0]);
    k_loop_close(&tail, &sum, 1);
    sum = k_hreduce(in, IG_REDUCE_sum, k_cast(in, tail.results[0], sum_dtype(d)));
    k_store(in, k_binary(in, IG_OP_mul, sum, times), d->quads.row_sums,
            k_sub(in, rows.index, range->rows[0]));
    k_loop_close(&rows, NULL, 0);
}

/* The value in brackets before all sums: za' times what B' has beyond K, and K zb'
 * za. */
static ig_value *columns_at_first(const dot *d, ig_builder *b) {
    ig_value *zero = dot_zero(d, b, 0), *k = k_cast(b, d->k, sum_dtype(d));
    ig_value *sum = k_const(b, sum_dtype(d), 0);
    if (d->quads.flips[1] && !d->quads.is_whole) {
        ig_value *words = k_mul(b, d->words, k_i64(b, IG_QUAD));
        ig_value *beyond = k_cast(b, k_sub(b, words, d->k), sum_dtype(d));
        beyond = k_binary(b, IG_OP_mul, beyond, k_const(b, sum_dtype(d), FLIP));
        sum = k_binary(b, IG_OP_mul, beyond, moved_zero(d, b, 0));
    }
    if (zero && has_zero(d, 1)) {
        k = k_binary(b, IG_OP_mul, k, moved_zero(d, b, 1));
        sum = k_sub(b, sum, k_binary(b, IG_OP_mul, k, zero));
    }
    return sum;
}

void dot_open_columns(const dot *d, ig_builder *b, const dot_micro_panel *s) {
    if (!d->quads.column_sums) {
        return;
    }
    uint32_t lanes = d->panels.lanes;
    ig_value *first = k_splat(b, columns_at_first(d, b), lanes);
    for (uint32_t v = 0; v < s->vectors; v++) {
        k_store(b, first, d->quads.column_sums, k_i64(b, (int64_t)v * lanes));
    }
}

/* Adds one vector of the panel's columns. */
static void sum_column_vector(const dot *d, ig_builder *b, const dot_micro_panel *s,
                              ig_value *const k[2], uint32_t vector) {
    uint32_t lanes = d->panels.lanes;
    ig_value *sums = d->quads.column_sums, *at = k_i64(b, (int64_t)vector * lanes);
    ig_value *ones = k_const_vector(b, IG_DT_u8, IG_QUAD * lanes, 1);
    ig_value *zero = k_const_vector(b, IG_DT_i32, lanes, 0.0);
    ig_value *count = k_sub(b, k[1], k[0]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), &zero, 1);
    ig_value *panel = load_panel(d, &loop.b, s, loop.index, vector);
    ig_value *sum = k_dot4(&loop.b, ones, panel, loop.carried[0]);
    k_loop_close(&loop, &sum, 1);
    ig_value *times = k_splat(b, moved_zero(d, b, 0), lanes);
    sum = k_binary(b, IG_OP_mul, k_cast(b, loop.results[0], sum_dtype(d)), times);
    k_store(b, k_add(b, k_load(b, sums, at, lanes), sum), sums, at);
}

void dot_sum_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                     ig_value *const k[2]) {
    for (uint32_t v = 0; d->quads.column_sums && v < s->vectors; v++) {
        sum_column_vector(d, b, s, k, v);
    }
}

ig_value *dot_centre(const dot *d, ig_builder *b, const dot_micro_panel *s,
                     ig_value *const at[2], ig_value *sum) {
    uint32_t lanes = sum->type->lanes;
    if (d->quads.row_sums) {
        ig_value *row = k_sub(b, at[0], s->range->rows[0]);
        ig_value *x = k_load(b, d->quads.row_sums, row, 1);
        sum = k_sub(b, sum, k_splat(b, x, lanes));
    }
    if (d->quads.column_sums) {
        sum = k_sub(b, sum, k_load(b, d->quads.column_sums, at[1], lanes));
    }
    return sum;
}
