/* Products with a matrix of numbers of few bits, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[m, n] = epilogue(sum over k of A[m, k] * (number[n, k] - zero) * scale)
 *
 * Zero point and scale are those of a block of row n.  Numbers become floats in
 * registers, so that no more than their bytes is read from memory:
 *
 *   few rows   a vector of bytes of each of some columns; each part of the bytes is
 *              multiplied with every `parts`th element of A, and has sums of its own
 *   more       the panels of dot_panels.c, which are made of floats then
 *
 * A vector of bytes has one scale: its lanes divide a block. */
#include "passes/lower/cpu/dot.h"

enum { COLUMNS = 4, MAX_PARTS = 4 };

bool dot_open_bits(dot *d) {
    if (d->anchor->code != IG_OP_matmul_bits) {
        return true;
    }
    ig_bits form = ig_bits_of(d->anchor);
    uint32_t lanes = ig_lower_lanes(d->lower, IG_DT_f32);
    if (form.block == 0 || form.block % IG_BITS_LANES != 0) {
        return false; /* decompose takes these apart */
    }
    while (form.block % lanes != 0) {
        lanes /= 2;
    }
    d->bits.form = form;
    d->bits.lanes = lanes;
    d->bits.scales = ig_lower_input(d->lower, d->anchor, 2);
    if (d->anchor->operand_count > 3) {
        d->bits.zeros = ig_lower_input(d->lower, d->anchor, 3);
    }
    return true;
}

bool dot_is_bits(const dot *d) {
    return d->bits.lanes > 0;
}

/* ---- one row of B ---- */

static ig_value *row_of(const dot *d, ig_builder *b, const ig_lower_operand *x,
                        ig_value *n) {
    return k_offset(b, x->buffer, k_mul(b, n, ig_lower_dim(d->lower, x->strides[0])));
}

dot_bits_row dot_open_bits_row(const dot *d, ig_builder *b, ig_value *n) {
    dot_bits_row row = { .bytes = row_of(d, b, d->b, n),
                         .scales = row_of(d, b, d->bits.scales, n) };
    if (d->bits.zeros) {
        row.zeros = row_of(d, b, d->bits.zeros, n);
    }
    return row;
}

/* A block's scale or zero point in each lane. */
static ig_value *load_entry(const dot *d, ig_builder *b, const ig_lower_operand *x,
                            ig_value *row, ig_value *block) {
    ig_value *at = k_mul(b, block, ig_lower_dim(d->lower, x->strides[1]));
    return k_splat(b, k_load(b, row, at, 1), d->bits.lanes);
}

/* The scale and the zero point of a block. */
typedef struct bits_block {
    ig_value *scale, *zero;
} bits_block;

static bits_block open_block(const dot *d, ig_builder *b, const dot_bits_row *row,
                             ig_value *block) {
    const dot_bits *q = &d->bits;
    double half = (double)(1 << (q->form.bits - 1));
    ig_value *zero = q->zeros ? load_entry(d, b, q->zeros, row->zeros, block)
                              : k_const_vector(b, IG_DT_f32, q->lanes, half);
    return (bits_block){ load_entry(d, b, q->scales, row->scales, block), zero };
}

/* Numbers, i32, as floats. */
static ig_value *make_real(ig_builder *b, const bits_block *block, ig_value *numbers) {
    ig_value *x = k_sub(b, k_cast(b, numbers, IG_DT_f32), block->zero);
    return k_mul(b, x, block->scale);
}

static ig_value *mask_numbers(const dot *d, ig_builder *b, ig_value *x) {
    double mask = (double)((1 << d->bits.form.bits) - 1);
    return k_binary(b, IG_OP_and, x,
                    k_const_vector(b, IG_DT_i32, x->type->lanes, mask));
}

/* How far up each lane's number is in its byte, where numbers are in order. */
static ig_value *shifts_of(const dot *d, ig_builder *b) {
    uint32_t lanes = d->bits.lanes;
    ig_value *lane = k_cast(b, k_iota(b, lanes), IG_DT_i32);
    double parts = (double)d->bits.form.parts, bits = (double)d->bits.form.bits;
    ig_value *last = k_const_vector(b, IG_DT_i32, lanes, parts - 1);
    return k_mul(b, k_binary(b, IG_OP_and, lane, last),
                 k_const_vector(b, IG_DT_i32, lanes, bits));
}

ig_value *dot_bits_line(const dot *d, ig_builder *b, const dot_bits_row *row,
                        ig_value *k) {
    const ig_bits *form = &d->bits.form;
    uint32_t lanes = d->bits.lanes, bytes = lanes / (uint32_t)form->parts;
    ig_value *byte = k_div(b, k, k_i64(b, form->parts));
    bits_block block = open_block(d, b, row, k_div(b, byte, k_i64(b, form->block)));
    ig_value *x = k_load(b, row->bytes, byte, bytes);
    if (form->parts == 1) {
        return make_real(b, &block, k_cast(b, x, IG_DT_i32));
    }
    int64_t picks[IG_CPU_SQUARE];
    for (uint32_t i = 0; i < lanes; i++) {
        picks[i] = i / form->parts;
    }
    x = bytes > 1 ? k_shuffle(b, x, x, picks, lanes) : k_splat(b, x, lanes);
    x = k_binary(b, IG_OP_shr, k_cast(b, x, IG_DT_i32), shifts_of(d, b));
    return make_real(b, &block, mask_numbers(d, b, x));
}

/* ---- few rows ---- */

/* A row of A and columns side by side. */
typedef struct bits_group {
    ig_value *row;
    dot_bits_row columns[COLUMNS];
    bits_block blocks[COLUMNS];
    uint32_t count;
} bits_group;

/* Part `part` of bytes, i32. */
static ig_value *take_part(const dot *d, ig_builder *b, ig_value *bytes, int64_t part) {
    int64_t bits = d->bits.form.bits;
    if (part > 0) {
        double distance = (double)(part * bits);
        bytes = k_binary(b, IG_OP_shr, bytes,
                         k_const_vector(b, IG_DT_i32, d->bits.lanes, distance));
    }
    return part + 1 < d->bits.form.parts ? mask_numbers(d, b, bytes) : bytes;
}

/* One vector of bytes of each column, from `byte` on; sums: [column][part]. */
static void add_bytes(const dot *d, ig_builder *b, const bits_group *g, ig_value *byte,
                      ig_value **sums) {
    int64_t parts = d->bits.form.parts;
    uint32_t lanes = d->bits.lanes;
    ig_value *x[MAX_PARTS], *first = k_mul(b, byte, k_i64(b, parts));
    for (int64_t p = 0; p < parts; p++) {
        x[p] = k_load_apart(b, g->row, k_add(b, first, k_i64(b, p)), k_i64(b, parts),
                            lanes, NULL);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        ig_value *bytes = k_load(b, g->columns[i].bytes, byte, lanes);
        bytes = k_cast(b, bytes, IG_DT_i32);
        for (int64_t p = 0; p < parts; p++) {
            ig_value *w = make_real(b, &g->blocks[i], take_part(d, b, bytes, p));
            ig_value **sum = &sums[i * parts + p];
            *sum = k_muladd(b, x[p], w, *sum);
        }
    }
}

/* The bytes of one block, a vector at a time. */
static void add_block(const dot *d, ig_builder *b, const bits_group *g, ig_value *first,
                      ig_value **sums) {
    uint32_t count = g->count * (uint32_t)d->bits.form.parts;
    if (d->bits.form.block == d->bits.lanes) {
        add_bytes(d, b, g, first, sums);
        return;
    }
    ig_value *end = k_add(b, first, k_i64(b, d->bits.form.block));
    ig_value *next[COLUMNS * MAX_PARTS];
    k_loop loop = k_loop_open(b, first, end, k_i64(b, d->bits.lanes), sums, count);
    for (uint32_t i = 0; i < count; i++) {
        next[i] = loop.carried[i];
    }
    add_bytes(d, &loop.b, g, loop.index, next);
    k_loop_close(&loop, next, count);
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = loop.results[i];
    }
}

/* The sums of a row with columns from `column` on go to the stage, at `to`. */
static void store_group(const dot *d, ig_builder *b, bits_group g, ig_value *column,
                        ig_value *to) {
    const ig_bits *form = &d->bits.form;
    uint32_t parts = (uint32_t)form->parts, count = g.count * parts;
    ig_value *sums[COLUMNS * MAX_PARTS];
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, d->bits.lanes, 0.0);
    }
    for (uint32_t i = 0; i < g.count; i++) {
        g.columns[i] = dot_open_bits_row(d, b, k_add(b, column, k_i64(b, i)));
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, form->bytes / form->block),
                              k_i64(b, 1), sums, count);
    ig_builder *in = &loop.b;
    for (uint32_t i = 0; i < g.count; i++) {
        g.blocks[i] = open_block(d, in, &g.columns[i], loop.index);
    }
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = loop.carried[i];
    }
    add_block(d, in, &g, k_mul(in, loop.index, k_i64(in, form->block)), sums);
    k_loop_close(&loop, sums, count);
    for (uint32_t i = 0; i < g.count; i++) {
        ig_value *sum = loop.results[i * parts];
        for (uint32_t p = 1; p < parts; p++) {
            sum = k_add(b, sum, loop.results[i * parts + p]);
        }
        k_store(b, k_hreduce(b, IG_REDUCE_sum, sum), d->panels.stage,
                k_add(b, to, k_i64(b, i)));
    }
}

/* Columns from … to, `count` at a time while they fit; returns the first one left. */
static ig_value *store_groups(const dot *d, ig_builder *b, ig_value *row,
                              ig_value *const columns[3], uint32_t count) {
    ig_value *width = k_i64(b, count), *from = columns[1];
    ig_value *whole = k_div(b, k_sub(b, columns[2], from), width);
    ig_value *end = k_add(b, from, k_mul(b, whole, width));
    k_loop loop = k_loop_open(b, from, end, width, NULL, 0);
    bits_group group = { .row = row, .count = count };
    store_group(d, &loop.b, group, loop.index, k_sub(&loop.b, loop.index, columns[0]));
    k_loop_close(&loop, NULL, 0);
    return end;
}

void dot_emit_bits(const dot *d, ig_builder *b, const dot_range *range) {
    k_loop rows = k_loop_open(b, range->rows[0], range->rows[1], k_i64(b, 1), NULL, 0);
    ig_builder *in = &rows.b;
    ig_value *row = row_of(d, in, d->a, rows.index);
    ig_value *columns[3] = { range->columns[0], range->columns[0], range->columns[1] };
    columns[1] = store_groups(d, in, row, columns, COLUMNS);
    store_groups(d, in, row, columns, 1);
    dot_range one = { .rows = { rows.index, k_add(in, rows.index, k_i64(in, 1)) },
                      .columns = { range->columns[0], range->columns[1] },
                      .index = range->index };
    dot_micro_panel all = { .vectors = DOT_COLUMN_TILE / d->panels.lanes,
                            .column = range->columns[0],
                            .left = k_sub(in, range->columns[1], range->columns[0]),
                            .range = &one };
    dot_store_stage(d, in, &all);
    k_loop_close(&rows, NULL, 0);
}
