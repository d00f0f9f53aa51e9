/* Matrix multiplication by dot products, on CPUs: few columns, or odd strides.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[…, m, n] = epilogue(sum over k of A[…, m, k] * B[…, n, k])
 *
 * For a narrow layer (256 -> 1) panels would waste 15 of 16 columns.  Here lanes run
 * along k: two accumulators of one vector each, added at the end, then halves with
 * halves - one fixed order for each element, whatever the batch.  It is also the bottom
 * tier of matmul: any rank and any strides; where k is not contiguous in both operands,
 * lanes is 1.
 *
 * Where B is numbers of few bits, bytes are read and become floats in registers
 * (dot_bits.c).
 *
 * Where B is computed and its columns are contiguous, lanes run along n
 * (dot_columns.c); where they do not and there are rows enough, B is copied so that
 * they do (dot_panels.c).
 *
 *   grid       blocks of ROWS rows of C's last but one dim, all batches
 */
#include "passes/lower/cpu/dot.h"

#include <assert.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 4 };

ig_dim dot_stride(const ig_lower_operand *x, bool is_k, bool k_is_last) {
    uint32_t rank = x->type->rank;
    return x->strides[is_k == k_is_last ? rank - 1 : rank - 2];
}

ig_dim dot_depth(const dot *d) {
    uint32_t rank = d->a->type->rank;
    return d->a->type->dims[d->transpose_a ? rank - 2 : rank - 1];
}

ig_value *dot_row_start(const dot *d, ig_builder *b, const ig_lower_operand *x,
                        bool k_is_last, ig_value *const *index, ig_value *row) {
    ig_lower *lower = d->lower;
    ig_value *at = k_mul(b, row, ig_lower_dim(lower, dot_stride(x, false, k_is_last)));
    uint32_t batch = x->type->rank - 2, missing = d->rank - x->type->rank;
    for (uint32_t i = 0; i < batch; i++) {
        ig_dim stride = ig_lower_batch_stride(lower, x, i, d->type->dims[missing + i]);
        ig_value *step = ig_lower_dim(lower, stride);
        at = k_add(b, at, k_mul(b, index[missing + i], step));
    }
    return k_offset(b, x->buffer, at);
}

/* A row of A and columns of B side by side: their sums do not wait for each other. */
typedef struct dot_group {
    ig_value *row, *columns[COLUMNS];
    uint32_t count;
} dot_group;

/* Elements of a factor; of bytes the zero point is subtracted. */
static ig_value *widen_factor(const dot *d, ig_builder *b, uint32_t factor, ig_value *x,
                              ig_dtype wide) {
    ig_value *zero = dot_zero(d, b, factor);
    x = k_cast(b, x, wide);
    return zero ? k_sub(b, x, zero) : x;
}

/* One pass of the k loop: acc + x[k …] * y[k …]. */
static ig_value *add_products(const dot *d, ig_builder *b, ig_value *const rows[2],
                              ig_value *k, ig_value *acc, ig_value *count) {
    ig_lower *lower = d->lower;
    ig_value *sx = ig_lower_dim(lower, dot_stride(d->a, true, !d->transpose_a));
    ig_value *sy = ig_lower_dim(lower, dot_stride(d->b, true, d->transpose_b));
    ig_value *x = k_load_count(b, rows[0], k_mul(b, k, sx), d->lanes, count);
    ig_value *y = k_load_count(b, rows[1], k_mul(b, k, sy), d->lanes, count);
    ig_dtype wide = (ig_dtype)acc->type->dtype;
    return k_muladd(b, widen_factor(d, b, 0, x, wide), widen_factor(d, b, 1, y, wide),
                    acc);
}

/* Sums of one row with `count` columns: for each two chains over whole pairs of
 * vectors, then one vector, then the tail. */
static void emit_sums(const dot *d, ig_builder *b, const dot_group *g, ig_dtype wide,
                      ig_value **out_sums) {
    ig_value *zero = k_const_vector(b, wide, d->lanes, 0.0);
    int64_t lanes = d->lanes;
    ig_value *pairs = k_mul(b, k_div(b, d->k, k_i64(b, 2 * lanes)),
                            k_i64(b, 2 * lanes));
    ig_value *state[2 * COLUMNS], *next[2 * COLUMNS];
    for (uint32_t i = 0; i < 2 * g->count; i++) {
        state[i] = zero;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), pairs, k_i64(b, 2 * lanes), state,
                              2 * g->count);
    ig_value *second = k_add(&loop.b, loop.index, k_i64(&loop.b, lanes));
    for (uint32_t i = 0; i < 2 * g->count; i++) {
        ig_value *rows[2] = { g->row, g->columns[i / 2] };
        next[i] = add_products(d, &loop.b, rows, i % 2 ? second : loop.index,
                               loop.carried[i], NULL);
    }
    k_loop_close(&loop, next, 2 * g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        state[i] = k_add(b, loop.results[2 * i], loop.results[2 * i + 1]);
    }
    k_loop tail = k_loop_open(b, pairs, d->k, k_i64(b, lanes), state, g->count);
    ig_value *left = k_sub(&tail.b, d->k, tail.index);
    for (uint32_t i = 0; i < g->count; i++) {
        ig_value *rows[2] = { g->row, g->columns[i] };
        next[i] = add_products(d, &tail.b, rows, tail.index, tail.carried[i],
                               lanes == 1 ? NULL : left);
    }
    k_loop_close(&tail, next, g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        out_sums[i] = k_hreduce(b, IG_REDUCE_sum, tail.results[i]);
    }
}

uint32_t dot_own_index(const dot *d, ig_value *const *index, ig_value **out_own) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < d->rank; i++) {
        bool is_missing = (d->a_is_vector && i + 2 == d->rank) ||
                          (d->b_is_vector && i + 1 == d->rank);
        out_own[rank] = index[i];
        rank += !is_missing;
    }
    return rank;
}

/* `count` elements of C, from column index[rank - 1] on. */
static void emit_elements(const dot *d, ig_builder *b, ig_value *const *index,
                          uint32_t count) {
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    ig_value *at[COLUMNS], *sums[COLUMNS];
    dot_group group = { .count = count };
    group.row = dot_row_start(d, b, d->a, !d->transpose_a, index, index[d->rank - 2]);
    for (uint32_t i = 0; i < count; i++) {
        at[i] = k_add(b, index[d->rank - 1], k_i64(b, i));
        group.columns[i] = dot_row_start(d, b, d->b, d->transpose_b, index, at[i]);
    }
    emit_sums(d, b, &group, is_narrow ? IG_DT_f32 : dtype, sums);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *position[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
        ig_map values;
        memcpy(position, index, d->rank * sizeof *position);
        position[d->rank - 1] = at[i];
        ig_map_init(&values, d->lower->arena);
        ig_map_set_id(&values, IG_MAP_PTR(&d->anchor->results[0]),
                      k_cast(b, sums[i], dtype));
        ig_site site = { .b = b,
                         .lanes = 1,
                         .rank = dot_own_index(d, position, own),
                         .dims = d->anchor->results[0].type->dims,
                         .index = own,
                         .values = &values };
        ig_lower_store_yields(d->lower, &site);
    }
}

/* Columns low … to, `count` at a time while they fit; returns the first one left. */
static ig_value *emit_groups(const dot *d, ig_builder *b, ig_value **index,
                             ig_value *const range[2], uint32_t count) {
    ig_value *width = k_i64(b, count);
    ig_value *whole = k_div(b, k_sub(b, range[1], range[0]), width);
    ig_value *end = k_add(b, range[0], k_mul(b, whole, width));
    k_loop loop = k_loop_open(b, range[0], end, width, NULL, 0);
    index[d->rank - 1] = loop.index;
    emit_elements(d, &loop.b, index, count);
    k_loop_close(&loop, NULL, 0);
    return end;
}

static void emit_along_k(const dot *d, ig_builder *b, const dot_range *range) {
    k_loop rows = k_loop_open(b, range->rows[0], range->rows[1], k_i64(b, 1), NULL, 0);
    range->index[d->rank - 2] = rows.index;
    ig_value *columns[2] = { range->columns[0], range->columns[1] };
    if (d->has_groups) {
        columns[0] = emit_groups(d, &rows.b, range->index, columns, COLUMNS);
    }
    emit_groups(d, &rows.b, range->index, columns, 1);
    k_loop_close(&rows, NULL, 0);
}

/* ---- tiles ---- */

static void emit_range(const dot *d, ig_builder *b, const dot_range *range) {
    (dot_is_bits(d) ? dot_emit_bits
     : d->vectors   ? dot_emit_columns
                    : emit_along_k)(d, b, range);
}

/* Too few rows or columns for panels? */
static ig_value *is_small(const dot *d, ig_builder *b) {
    ig_value *m = ig_lower_dim(d->lower, d->type->dims[d->rank - 2]);
    ig_value *is_low = k_compare(b, IG_OP_lt, m, k_i64(b, d->panels.min_m));
    ig_value *is_narrow = k_compare(b, IG_OP_lt, d->n, k_i64(b, d->panels.min_n));
    return d->panels.min_n ? k_binary(b, IG_OP_or, is_low, is_narrow) : is_low;
}

/* Products of known extents take one form; else the run chooses. */
static void emit_forms(const dot *d, ig_builder *b, const dot_range *range) {
    if (!d->panels.lanes) {
        emit_range(d, b, range);
    } else if (!d->panels.is_choice) {
        dot_emit_panels(d, b, range);
    } else {
        k_if few = k_if_open(b, is_small(d, b), NULL, 0);
        emit_range(d, &few.then, range);
        dot_emit_panels(d, &few.other, range);
        k_if_close(&few, NULL, NULL);
    }
}

/* Rows of tile number `tile`: of panels' tiles no one is thin (dot_panels.c counts on
 * it), so the first ones have one more where M does not divide. */
static void find_rows(const dot *d, ig_builder *b, ig_value *tile, dot_range *range) {
    ig_lower *lower = d->lower;
    ig_dim extent = d->type->dims[d->rank - 2];
    ig_value *m = ig_lower_dim(lower, extent), *one = k_i64(b, 1);
    ig_value *height = ig_lower_dim(lower, d->height);
    range->rows[0] = k_mul(b, tile, height);
    range->rows[1] = k_add(b, range->rows[0], height);
    if (!d->panels.lanes) {
        range->rows[1] = k_min(b, m, range->rows[1]);
        return;
    }
    ig_dim evenly = ig_lower_mul(lower, d->height, d->row_tiles);
    ig_value *longer = k_sub(b, m, ig_lower_dim(lower, evenly)); /* so many tiles */
    range->rows[0] = k_add(b, range->rows[0], k_min(b, tile, longer));
    range->rows[1] = k_add(b, range->rows[1], k_min(b, k_add(b, tile, one), longer));
}

/* Tile -> batch indices, rows, columns. */
static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const dot *d = user;
    ig_lower *lower = d->lower;
    ig_value *index[IG_TENSOR_RANK], *zero = k_i64(b, 0);
    dot_range range = { .columns = { zero, d->n }, .index = index };
    if (d->panels.lanes) {
        ig_value *across = ig_lower_dim(lower, d->column_tiles);
        ig_value *width = k_i64(b, DOT_COLUMN_TILE);
        range.columns[0] = k_mul(b, k_mod(b, tile, across), width);
        range.columns[1] = k_min(b, d->n, k_add(b, range.columns[0], width));
        tile = k_div(b, tile, across);
    }
    ig_value *row_tiles = ig_lower_dim(lower, d->row_tiles);
    find_rows(d, b, k_mod(b, tile, row_tiles), &range);
    ig_value *rest = k_div(b, tile, row_tiles);
    for (uint32_t i = d->rank - 2; i-- > 0;) {
        ig_value *extent = ig_lower_dim(lower, d->type->dims[i]);
        index[i] = k_mod(b, rest, extent);
        rest = k_div(b, rest, extent);
    }
    emit_forms(d, b, &range);
}

static void choose_grid(dot *d) {
    ig_lower *lower = d->lower;
    ig_module *module = lower->module;
    ig_dim m = d->type->dims[d->rank - 2], n = d->type->dims[d->rank - 1];
    d->height = ig_dim_const(module, ROWS);
    d->row_tiles = ig_lower_ceil_div(lower, m, ROWS);
    d->column_tiles = ig_dim_of(1);
    if (d->panels.lanes) {
        d->row_tiles = ig_lower_ceil_div(lower, m, DOT_ROW_TILE);
        d->height = ig_dim_floor_div(module, m,
                                     ig_dim_max(module, d->row_tiles, ig_dim_of(1)));
        d->column_tiles = ig_lower_ceil_div(lower, n, DOT_COLUMN_TILE);
    }
    ig_dim batches = ig_dim_product(module, d->type->dims, d->rank - 2);
    ig_dim tiles = ig_lower_mul(lower, d->row_tiles, d->column_tiles);
    lower->grid = ig_lower_mul(lower, batches, tiles);
}

/* A vector as a matrix of one row, or of one column. */
static const ig_lower_operand *as_matrix(dot *d, const ig_lower_operand *x, bool is_row,
                                         bool *out_was_vector) {
    *out_was_vector = x->type->rank == 1;
    if (!*out_was_vector) {
        return x;
    }
    ig_lower_operand *matrix = IG_NEW(d->lower->arena, ig_lower_operand);
    ig_dim *strides = IG_NEW_ARRAY(d->lower->arena, ig_dim, 2);
    ig_dim dims[2] = { ig_dim_of(1), ig_dim_of(1) };
    dims[is_row] = x->type->dims[0];
    strides[is_row] = x->strides[0];
    *matrix = (ig_lower_operand){ .buffer = x->buffer, .strides = strides };
    matrix->type = ig_type_with_dims(d->lower->module, x->type, 2, dims);
    return matrix;
}

/* The product with an extent of 1 for each vector. */
void dot_find_matrices(dot *d) {
    const ig_type *product = d->anchor->results[0].type;
    ig_dim dims[IG_TENSOR_RANK + 2];
    d->a = as_matrix(d, d->a, true, &d->a_is_vector);
    d->b = as_matrix(d, d->b, false, &d->b_is_vector);
    uint32_t kept = (d->a_is_vector ? 0u : 1u) + (d->b_is_vector ? 0u : 1u);
    uint32_t batch = product->rank - kept;
    for (uint32_t i = 0; i < batch; i++) {
        dims[i] = product->dims[i];
    }
    dims[batch] = d->a_is_vector ? ig_dim_of(1) : product->dims[batch];
    dims[batch + 1] = d->b_is_vector ? ig_dim_of(1) : product->dims[product->rank - 1];
    d->rank = batch + 2;
    d->type = ig_type_with_dims(d->lower->module, product, d->rank, dims);
    d->transpose_a = d->transpose_a && !d->a_is_vector;
    d->transpose_b = d->transpose_b && !d->b_is_vector;
}

dot dot_read_matmul(ig_lower *lower, const ig_op *matmul) {
    return (dot){ .lower = lower,
                  .anchor = matmul,
                  .a = ig_lower_input(lower, matmul, 0),
                  .b = ig_lower_input(lower, matmul, 1),
                  .transpose_a = ig_attr_int(matmul, IG_matmul_transpose_a, 0) != 0,
                  .transpose_b = ig_attr_int(matmul, IG_matmul_transpose_b, 0) != 0,
                  .unit = 1 };
}

/* The factors; of bytes also their zero points. */
static dot read_product(ig_lower *lower) {
    const ig_op *matmul = ig_lower_anchor(lower, IG_OP_matmul);
    const ig_op *integer = ig_lower_anchor(lower, IG_OP_matmul_integer);
    const ig_op *bits = ig_lower_anchor(lower, IG_OP_matmul_bits);
    if (matmul) {
        return dot_read_matmul(lower, matmul);
    }
    const ig_op *anchor = integer ? integer : bits;
    assert(anchor && "the family's body has its anchor");
    dot d = { .lower = lower,
              .anchor = anchor,
              .a = ig_lower_input(lower, anchor, 0),
              .b = ig_lower_input(lower, anchor, 1),
              .unit = 1 };
    for (uint32_t i = 2; integer && i < anchor->operand_count; i++) {
        d.quads.zeros[i - 2] = ig_lower_input(lower, anchor, i);
    }
    d.transpose_b = bits != NULL;
    return d;
}

/* Registers, lanes and copies. */
static void choose_form(dot *d) {
    if (dot_is_bits(d)) {
        dot_choose_panels(d);
        return;
    }
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    bool is_integer = d->anchor->code == IG_OP_matmul_integer;
    bool is_contiguous = dot_is_along_k(d->a, !d->transpose_a) &&
                         dot_is_along_k(d->b, d->transpose_b);
    d->lanes = is_contiguous && !is_integer ? ig_lower_lanes(d->lower, dtype) : 1;
    d->unit = is_integer && dot_takes_quads(d) ? IG_QUAD : 1;
    if (!is_contiguous && dot_has_columns(d)) {
        dot_choose_columns(d);
    }
    dot_choose_panels(d);
    int64_t n = COLUMNS;
    (void)ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    d->has_groups = d->lanes > 1 && n >= COLUMNS && !ig_lower_is_heavy(d->lower->body);
}

ig_status ig_lower_cpu_dot(ig_lower *lower) {
    dot d = read_product(lower);
    if (!d.a || !d.b || !dot_open_bits(&d)) {
        return ig_lower_unsupported(lower, "a product of what the kernel computes");
    }
    dot_find_matrices(&d);
    choose_form(&d);
    lower->name = ig_lower_name(lower, d.unit > 1        ? "dot_i8"
                                       : dot_is_bits(&d) ? "dot_bits"
                                                         : "dot");
    choose_grid(&d);
    ig_dim depth = dot_depth(&d);
    d.k = ig_lower_param(lower, depth);
    d.words = d.unit > 1
                  ? ig_lower_param(lower, ig_lower_ceil_div(lower, depth, IG_QUAD))
                  : d.k;
    d.n = ig_lower_dim(lower, d.type->dims[d.rank - 1]);
    ig_dim macs = ig_lower_mul(lower, ig_type_count(lower->module, d.type), depth);
    uint32_t each = d.panels.lanes ? 32 : 8;
    lower->cost = ig_lower_ceil_div(lower, macs, d.unit > 1 ? 64 : each);
    ig_lower_each_tile(lower, emit_tile, &d);
    return IG_OK;
}
