/* Matrix multiplication with lanes along n, B as stored, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where B is computed and its columns are contiguous (weights times values of
 * attention): register tiles of BLOCK rows and some vectors of columns, each element
 * one chain over k, no packing.
 */
#include "passes/lower/cpu/dot.h"

#include <string.h>

enum { BLOCK = 4, MAX_VECTORS = 4, MIN_COLUMNS = 4 };

/* ---- requirements ---- */

/* Can the epilogue be computed and stored a vector at a time? */
bool dot_has_column_epilogue(const dot *d) {
    ig_lower others = ig_lower_without(d->lower, ig_lower_only_of(d->lower, d->anchor));
    const ig_type *product = d->anchor->results[0].type;
    bool can_store = true;
    for (uint32_t i = 0; i < others.out_count; i++) {
        const ig_lower_operand *out = &others.outs[i];
        can_store &= out->type->rank == product->rank &&
                     ig_dim_is(out->strides[product->rank - 1], 1);
    }
    return can_store && ig_lower_is_vectorizable(&others, product->rank, product->dims);
}

bool dot_has_columns(const dot *d) {
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    int64_t n = 0;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    bool is_same = d->a->type->dtype == dtype && d->b->type->dtype == dtype;
    bool has_lanes = dtype == IG_DT_f32 || dtype == IG_DT_f64 || dtype == IG_DT_i32;
    return is_same && has_lanes && !d->b_is_vector && (!is_known || n >= MIN_COLUMNS) &&
           ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1) &&
           dot_has_column_epilogue(d);
}

/* The register tile: two vectors of columns, four where registers allow. */
void dot_choose_columns(dot *d) {
    bool is_heavy = ig_lower_is_heavy(d->lower->body);
    d->lanes = ig_lower_lanes(d->lower, (ig_dtype)d->type->dtype);
    d->block = is_heavy ? 1 : BLOCK;
    d->vectors = is_heavy ? 1 : d->lower->target->vector_registers >= 32 ? 4 : 2;
}

/* ---- one register tile ---- */

/* Rows from index[rank - 2] on, columns from index[rank - 1] on. */
typedef struct column_tile {
    uint32_t rows;
    ig_value **index;
    ig_value *columns; /* how many are left, or NULL: enough */
    ig_value *a[BLOCK], *b;
} column_tile;

static ig_value *valid_lanes(const dot *d, ig_builder *b, const column_tile *t,
                             uint32_t vector) {
    return t->columns ? k_sub(b, t->columns, k_i64(b, (int64_t)vector * d->lanes))
                      : NULL;
}

static void multiply_columns(const dot *d, k_loop *loop, const column_tile *t,
                             ig_value **out_sums) {
    ig_builder *b = &loop->b;
    ig_lower *lower = d->lower;
    ig_value *sa = ig_lower_dim(lower, dot_stride(d->a, true, !d->transpose_a));
    ig_value *sb = ig_lower_dim(lower, dot_stride(d->b, true, d->transpose_b));
    ig_value *row = k_mul(b, loop->index, sb), *at = k_mul(b, loop->index, sa);
    ig_value *columns[MAX_VECTORS];
    for (uint32_t v = 0; v < d->vectors; v++) {
        ig_value *position = k_add(b, row, k_i64(b, (int64_t)v * d->lanes));
        columns[v] = k_load_count(b, t->b, position, d->lanes, valid_lanes(d, b, t, v));
    }
    for (uint32_t r = 0; r < t->rows; r++) {
        ig_value *x = k_splat(b, k_load(b, t->a[r], at, 1), d->lanes);
        for (uint32_t v = 0; v < d->vectors; v++) {
            uint32_t i = r * d->vectors + v;
            out_sums[i] = k_muladd(b, x, columns[v], loop->carried[i]);
        }
    }
}

static void store_columns(const dot *d, ig_builder *b, const column_tile *t,
                          ig_value *const *sums) {
    const ig_type *product = d->anchor->results[0].type;
    for (uint32_t i = 0; i < t->rows * d->vectors; i++) {
        uint32_t vector = i % d->vectors;
        ig_value *index[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
        memcpy(index, t->index, d->rank * sizeof *index);
        ig_value **row = &index[d->rank - 2], **column = &index[d->rank - 1];
        *row = k_add(b, *row, k_i64(b, i / d->vectors));
        *column = k_add(b, *column, k_i64(b, (int64_t)vector * d->lanes));
        uint32_t rank = dot_own_index(d, index, own);
        ig_map values;
        ig_map_init(&values, d->lower->arena);
        ig_map_set_id(&values, IG_MAP_PTR(&d->anchor->results[0]), sums[i]);
        ig_site site = { .b = b,
                         .lanes = d->lanes,
                         .rank = rank,
                         .dims = product->dims,
                         .index = own,
                         .count = valid_lanes(d, b, t, vector),
                         .values = &values };
        ig_lower_store_yields(d->lower, &site);
    }
}

static void emit_column_tile(const dot *d, ig_builder *b, column_tile t) {
    ig_value *row = t.index[d->rank - 2], *column = t.index[d->rank - 1];
    ig_value *zeros[BLOCK * MAX_VECTORS], *sums[BLOCK * MAX_VECTORS];
    uint32_t count = t.rows * d->vectors;
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    for (uint32_t r = 0; r < t.rows; r++) {
        ig_value *at = k_add(b, row, k_i64(b, r));
        t.a[r] = dot_row_start(d, b, d->a, !d->transpose_a, t.index, at);
    }
    t.b = dot_row_start(d, b, d->b, d->transpose_b, t.index, column);
    for (uint32_t i = 0; i < count; i++) {
        zeros[i] = k_const_vector(b, dtype, d->lanes, 0.0);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), d->k, k_i64(b, 1), zeros, count);
    multiply_columns(d, &loop, &t, sums);
    k_loop_close(&loop, sums, count);
    store_columns(d, b, &t, loop.results);
}

/* Rows from … to: blocks while they fit, then one by one. */
static void emit_column_rows(const dot *d, ig_builder *b, ig_value *const range[2],
                             ig_value **index, ig_value *columns) {
    ig_value *block = k_i64(b, d->block), *one = k_i64(b, 1), *from = range[0];
    ig_value *whole = k_div(b, k_sub(b, range[1], from), block);
    ig_value *end = k_add(b, from, k_mul(b, whole, block));
    for (uint32_t rows = d->block; rows > 0; rows = rows > 1 ? 1 : 0) {
        k_loop loop = k_loop_open(b, from, rows > 1 || d->block == 1 ? end : range[1],
                                  rows > 1 ? block : one, NULL, 0);
        index[d->rank - 2] = loop.index;
        column_tile t = { .rows = rows, .index = index, .columns = columns };
        emit_column_tile(d, &loop.b, t);
        k_loop_close(&loop, NULL, 0);
        from = end;
    }
}

void dot_emit_columns(const dot *d, ig_builder *b, const dot_range *range) {
    int64_t width = (int64_t)d->vectors * d->lanes;
    ig_value **index = range->index, *from = range->columns[0];
    ig_value *whole = k_div(b, k_sub(b, range->columns[1], from), k_i64(b, width));
    ig_value *end = k_add(b, from, k_mul(b, whole, k_i64(b, width)));
    k_loop loop = k_loop_open(b, from, end, k_i64(b, width), NULL, 0);
    index[d->rank - 1] = loop.index;
    emit_column_rows(d, &loop.b, range->rows, index, NULL);
    k_loop_close(&loop, NULL, 0);
    ig_value *is_left = k_compare(b, IG_OP_lt, end, range->columns[1]);
    k_if rest = k_if_open(b, is_left, NULL, 0);
    index[d->rank - 1] = end;
    emit_column_rows(d, &rest.then, range->rows, index,
                     k_sub(&rest.then, range->columns[1], end));
    k_if_close(&rest, NULL, NULL);
}
