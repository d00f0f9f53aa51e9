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
 * Where B is computed and its columns lie side by side (weights times values of
 * attention), lanes run along n: register tiles of BLOCK rows and some vectors of
 * columns, each element one chain over k, no packing.
 *
 *   grid       blocks of ROWS rows of C's last but one dim, all batches
 */
#include "passes/lower/cpu/cpu.h"

#include <assert.h>
#include <string.h>

enum { ROWS = 8, COLUMNS = 4, BLOCK = 4, MOST_VECTORS = 4, LEAST_COLUMNS = 4 };

typedef struct dot {
    ig_lower         *lower;
    const ig_op      *anchor;
    const ig_operand *a, *b; /* matrices: a vector is one row, or one column */
    const ig_type    *type;  /* of the product, with an extent of 1 for each vector */
    bool              a_is_vector, b_is_vector;
    uint32_t          rank;
    bool              transpose_a, transpose_b;
    uint32_t          lanes;
    bool              has_groups;     /* COLUMNS columns at a time */
    uint32_t          block, vectors; /* by columns: the register tile */
    ig_value         *k, *row_blocks;
} dot;

/* Stride of an operand along its rows (m or n), or along k. */
static ig_dim matrix_stride(const ig_operand *x, bool is_k, bool k_is_last) {
    uint32_t rank = x->type->rank;
    return x->strides[is_k == k_is_last ? rank - 1 : rank - 2];
}

static ig_dim k_extent(const dot *d) {
    uint32_t rank = d->a->type->rank;
    return d->a->type->dims[d->transpose_a ? rank - 2 : rank - 1];
}

/* 0 where the operand is the same for the whole axis, which the run may learn. */
static ig_dim batch_stride(const dot *d, const ig_operand *x, uint32_t axis,
                           ig_dim whole) {
    ig_module *module = d->lower->module;
    ig_dim     extent = x->type->dims[axis], stride = x->strides[axis];
    if (extent == 1) {
        return 0;
    }
    bool is_own = ig_dim_equal(module, extent, whole) == IG_YES ||
                  ig_dim_equal(module, extent, 1) == IG_NO;
    ig_dim below = ig_dim_sub(module, extent, 1);
    ig_dim is_wide = ig_dim_max(module, ig_dim_min(module, below, 1), 0);
    return is_own ? stride : ig_dim_mul(module, stride, is_wide);
}

/* Start of the operand's matrix for this batch, then of its row. */
static ig_value *row_start(const dot *d, ig_builder *b, const ig_operand *x,
                           bool k_is_last, ig_value *const *index, ig_value *row) {
    ig_lower *lower = d->lower;
    ig_value *at = k_mul(b, row,
                         ig_lower_dim(lower, matrix_stride(x, false, k_is_last)));
    uint32_t  batch = x->type->rank - 2, missing = d->rank - x->type->rank;
    for (uint32_t i = 0; i < batch; i++) {
        ig_dim    stride = batch_stride(d, x, i, d->type->dims[missing + i]);
        ig_value *step = ig_lower_dim(lower, stride);
        at = k_add(b, at, k_mul(b, index[missing + i], step));
    }
    return k_offset(b, x->buffer, at);
}

/* A row of A and columns of B side by side: their sums do not wait for each other. */
typedef struct dot_group {
    ig_value *row, *columns[COLUMNS];
    uint32_t  count;
} dot_group;

/* One pass of the k loop: acc + x[k …] * y[k …]. */
static ig_value *step(const dot *d, ig_builder *b, ig_value *const rows[2], ig_value *k,
                      ig_value *acc, ig_value *count) {
    ig_lower *lower = d->lower;
    ig_value *sx = ig_lower_dim(lower, matrix_stride(d->a, true, !d->transpose_a));
    ig_value *sy = ig_lower_dim(lower, matrix_stride(d->b, true, d->transpose_b));
    ig_value *x = k_load_count(b, rows[0], k_mul(b, k, sx), d->lanes, count);
    ig_value *y = k_load_count(b, rows[1], k_mul(b, k, sy), d->lanes, count);
    ig_dtype  wide = (ig_dtype)acc->type->dtype;
    return k_muladd(b, k_cast(b, x, wide), k_cast(b, y, wide), acc);
}

/* Sums of one row with `count` columns: for each two chains over whole pairs of
 * vectors, then one vector, then the tail. */
static void emit_sums(const dot *d, ig_builder *b, const dot_group *g, ig_dtype wide,
                      ig_value **out_sums) {
    ig_value *zero = k_const_vector(b, wide, d->lanes, 0.0);
    int64_t   lanes = d->lanes;
    ig_value *pairs = k_mul(b, k_div(b, d->k, k_i64(b, 2 * lanes)),
                            k_i64(b, 2 * lanes));
    ig_value *state[2 * COLUMNS], *next[2 * COLUMNS];
    for (uint32_t i = 0; i < 2 * g->count; i++) {
        state[i] = zero;
    }
    k_loop    loop = k_loop_open(b, k_i64(b, 0), pairs, k_i64(b, 2 * lanes), state,
                                 2 * g->count);
    ig_value *second = k_add(&loop.b, loop.index, k_i64(&loop.b, lanes));
    for (uint32_t i = 0; i < 2 * g->count; i++) {
        ig_value *rows[2] = { g->row, g->columns[i / 2] };
        next[i] = step(d, &loop.b, rows, i % 2 ? second : loop.index, loop.carried[i],
                       NULL);
    }
    k_loop_close(&loop, next, 2 * g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        state[i] = k_add(b, loop.results[2 * i], loop.results[2 * i + 1]);
    }
    k_loop    tail = k_loop_open(b, pairs, d->k, k_i64(b, lanes), state, g->count);
    ig_value *left = k_sub(&tail.b, d->k, tail.index);
    for (uint32_t i = 0; i < g->count; i++) {
        ig_value *rows[2] = { g->row, g->columns[i] };
        next[i] = step(d, &tail.b, rows, tail.index, tail.carried[i],
                       lanes == 1 ? NULL : left);
    }
    k_loop_close(&tail, next, g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        out_sums[i] = k_hreduce(b, IG_REDUCE_sum, tail.results[i]);
    }
}

/* Indices of the product: those of the space without the extents of vectors. */
static uint32_t own_index(const dot *d, ig_value *const *index, ig_value **out_own) {
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
    ig_dtype  dtype = (ig_dtype)d->type->dtype;
    bool      is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    ig_value *at[COLUMNS], *sums[COLUMNS];
    dot_group group = { .count = count };
    group.row = row_start(d, b, d->a, !d->transpose_a, index, index[d->rank - 2]);
    for (uint32_t i = 0; i < count; i++) {
        at[i] = k_add(b, index[d->rank - 1], k_i64(b, i));
        group.columns[i] = row_start(d, b, d->b, d->transpose_b, index, at[i]);
    }
    emit_sums(d, b, &group, is_narrow ? IG_DT_f32 : dtype, sums);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *place[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
        ig_map    values;
        memcpy(place, index, d->rank * sizeof *place);
        place[d->rank - 1] = at[i];
        ig_map_init(&values, d->lower->arena);
        ig_map_set_id(&values, IG_MAP_PTR(&d->anchor->results[0]),
                      k_cast(b, sums[i], dtype));
        ig_site site = { .b = b,
                         .lanes = 1,
                         .rank = own_index(d, place, own),
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
    k_loop    loop = k_loop_open(b, range[0], end, width, NULL, 0);
    index[d->rank - 1] = loop.index;
    emit_elements(d, &loop.b, index, count);
    k_loop_close(&loop, NULL, 0);
    return end;
}

/* ---- lanes along n ---- */

/* Rows from index[rank - 2] on, columns from index[rank - 1] on. */
typedef struct column_tile {
    uint32_t   rows;
    ig_value **index;
    ig_value  *columns; /* how many are left, or NULL: enough */
    ig_value  *a[BLOCK], *b;
} column_tile;

static ig_value *valid_lanes(const dot *d, ig_builder *b, const column_tile *t,
                             uint32_t vector) {
    return t->columns ? k_sub(b, t->columns, k_i64(b, (int64_t)vector * d->lanes))
                      : NULL;
}

static void multiply_columns(const dot *d, k_loop *loop, const column_tile *t,
                             ig_value **out_sums) {
    ig_builder *b = &loop->b;
    ig_lower   *lower = d->lower;
    ig_value   *sa = ig_lower_dim(lower, matrix_stride(d->a, true, !d->transpose_a));
    ig_value   *sb = ig_lower_dim(lower, matrix_stride(d->b, true, d->transpose_b));
    ig_value   *row = k_mul(b, loop->index, sb), *at = k_mul(b, loop->index, sa);
    ig_value   *columns[MOST_VECTORS];
    for (uint32_t v = 0; v < d->vectors; v++) {
        ig_value *place = k_add(b, row, k_i64(b, (int64_t)v * d->lanes));
        columns[v] = k_load_count(b, t->b, place, d->lanes, valid_lanes(d, b, t, v));
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
        uint32_t  vector = i % d->vectors;
        ig_value *index[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
        memcpy(index, t->index, d->rank * sizeof *index);
        ig_value **row = &index[d->rank - 2], **column = &index[d->rank - 1];
        *row = k_add(b, *row, k_i64(b, i / d->vectors));
        *column = k_add(b, *column, k_i64(b, (int64_t)vector * d->lanes));
        uint32_t rank = own_index(d, index, own);
        ig_map   values;
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
    ig_value *zeros[BLOCK * MOST_VECTORS], *sums[BLOCK * MOST_VECTORS];
    uint32_t  count = t.rows * d->vectors;
    ig_dtype  dtype = (ig_dtype)d->type->dtype;
    for (uint32_t r = 0; r < t.rows; r++) {
        ig_value *at = k_add(b, row, k_i64(b, r));
        t.a[r] = row_start(d, b, d->a, !d->transpose_a, t.index, at);
    }
    t.b = row_start(d, b, d->b, d->transpose_b, t.index, column);
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

static void emit_columns(const dot *d, ig_builder *b, ig_value *const range[2],
                         ig_value **index) {
    int64_t   width = (int64_t)d->vectors * d->lanes;
    ig_value *n = ig_lower_dim(d->lower, d->type->dims[d->rank - 1]);
    ig_value *end = k_mul(b, k_div(b, n, k_i64(b, width)), k_i64(b, width));
    k_loop    loop = k_loop_open(b, k_i64(b, 0), end, k_i64(b, width), NULL, 0);
    index[d->rank - 1] = loop.index;
    emit_column_rows(d, &loop.b, range, index, NULL);
    k_loop_close(&loop, NULL, 0);
    k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, end, n), NULL, 0);
    index[d->rank - 1] = end;
    emit_column_rows(d, &rest.then, range, index, k_sub(&rest.then, n, end));
    k_if_close(&rest, NULL, NULL);
}

/* ---- tiles ---- */

/* Tile -> batch indices and the first row. */
static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const dot *d = user;
    ig_value  *index[IG_TENSOR_RANK];
    ig_value  *row = k_mul(b, k_mod(b, tile, d->row_blocks), k_i64(b, ROWS));
    ig_value  *rest = k_div(b, tile, d->row_blocks);
    for (uint32_t i = d->rank - 2; i-- > 0;) {
        ig_value *extent = ig_lower_dim(d->lower, d->type->dims[i]);
        index[i] = k_mod(b, rest, extent);
        rest = k_div(b, rest, extent);
    }
    ig_value *m = ig_lower_dim(d->lower, d->type->dims[d->rank - 2]);
    ig_value *n = ig_lower_dim(d->lower, d->type->dims[d->rank - 1]);
    ig_value *end = k_min(b, m, k_add(b, row, k_i64(b, ROWS)));
    if (d->vectors) {
        ig_value *range[2] = { row, end };
        emit_columns(d, b, range, index);
        return;
    }
    k_loop rows = k_loop_open(b, row, end, k_i64(b, 1), NULL, 0);
    index[d->rank - 2] = rows.index;
    ig_value *range[2] = { k_i64(&rows.b, 0), n };
    if (d->has_groups) {
        range[0] = emit_groups(d, &rows.b, index, range, COLUMNS);
    }
    emit_groups(d, &rows.b, index, range, 1);
    k_loop_close(&rows, NULL, 0);
}

/* A vector as a matrix of one row, or of one column. */
static const ig_operand *as_matrix(dot *d, const ig_operand *x, bool is_row,
                                   bool *out_was_vector) {
    *out_was_vector = x->type->rank == 1;
    if (!*out_was_vector) {
        return x;
    }
    ig_operand *matrix = IG_NEW(d->lower->arena, ig_operand);
    ig_dim     *strides = IG_NEW_ARRAY(d->lower->arena, ig_dim, 2);
    ig_dim      dims[2] = { 1, 1 };
    dims[is_row] = x->type->dims[0];
    strides[is_row] = x->strides[0];
    *matrix = (ig_operand){ .buffer = x->buffer, .strides = strides };
    matrix->type = ig_type_with_dims(d->lower->module, x->type, 2, dims);
    return matrix;
}

/* The product with an extent of 1 for each vector. */
static void find_matrices(dot *d) {
    const ig_type *product = d->anchor->results[0].type;
    ig_dim         dims[IG_TENSOR_RANK + 2];
    d->a = as_matrix(d, d->a, true, &d->a_is_vector);
    d->b = as_matrix(d, d->b, false, &d->b_is_vector);
    uint32_t kept = (d->a_is_vector ? 0u : 1u) + (d->b_is_vector ? 0u : 1u);
    uint32_t batch = product->rank - kept;
    for (uint32_t i = 0; i < batch; i++) {
        dims[i] = product->dims[i];
    }
    dims[batch] = d->a_is_vector ? 1 : product->dims[batch];
    dims[batch + 1] = d->b_is_vector ? 1 : product->dims[product->rank - 1];
    d->rank = batch + 2;
    d->type = ig_type_with_dims(d->lower->module, product, d->rank, dims);
    d->transpose_a = d->transpose_a && !d->a_is_vector;
    d->transpose_b = d->transpose_b && !d->b_is_vector;
}

/* Is the body's argument this factor of the product and nothing else? */
static bool is_factor_only(const dot *d, uint32_t argument) {
    const ig_use *uses = d->lower->body->args[argument]->uses;
    return uses && !uses->next && uses->user == d->anchor;
}

/* Can the epilogue be computed and stored a vector at a time? */
static bool has_column_epilogue(const dot *d) {
    ig_lower others = *d->lower; /* without the factors */
    others.in_count = 0;
    others.ins = IG_NEW_ARRAY(d->lower->arena, ig_operand, d->lower->in_count);
    for (uint32_t i = 0; i < d->lower->in_count; i++) {
        if (!is_factor_only(d, i)) {
            others.ins[others.in_count++] = d->lower->ins[i];
        }
    }
    const ig_type *product = d->anchor->results[0].type;
    bool           can_store = true;
    for (uint32_t i = 0; i < others.out_count; i++) {
        const ig_operand *out = &others.outs[i];
        can_store &= out->type->rank == product->rank &&
                     out->strides[product->rank - 1] == 1;
    }
    return can_store && ig_lower_is_vectorizable(&others, product->rank, product->dims);
}

static bool is_by_columns(const dot *d) {
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    int64_t  n = 0;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    bool is_same = d->a->type->dtype == dtype && d->b->type->dtype == dtype;
    return is_same && (dtype == IG_DT_f32 || dtype == IG_DT_f64) && !d->b_is_vector &&
           (!is_known || n >= LEAST_COLUMNS) &&
           matrix_stride(d->b, false, d->transpose_b) == 1 && has_column_epilogue(d);
}

/* The register tile: two vectors of columns, four where registers allow. */
static void choose_column_tile(dot *d) {
    bool is_heavy = ig_cpu_is_heavy(d->lower->body);
    d->lanes = ig_lower_lanes(d->lower, (ig_dtype)d->type->dtype);
    d->block = is_heavy ? 1 : BLOCK;
    d->vectors = is_heavy ? 1 : d->lower->target->vector_registers >= 32 ? 4 : 2;
}

ig_status ig_lower_cpu_dot(ig_lower *lower) {
    ig_op *anchor = ig_cpu_anchor(lower, IG_OP_matmul);
    assert(anchor && "the family's body has its anchor");
    dot d = { .lower = lower,
              .anchor = anchor,
              .a = ig_cpu_input(lower, anchor, 0),
              .b = ig_cpu_input(lower, anchor, 1),
              .transpose_a = ig_attr_int(anchor, IG_matmul_transpose_a, 0) != 0,
              .transpose_b = ig_attr_int(anchor, IG_matmul_transpose_b, 0) != 0 };
    if (!d.a || !d.b) {
        return ig_lower_unsupported(lower, "a product of what the kernel computes");
    }
    find_matrices(&d);
    bool is_contiguous = matrix_stride(d.a, true, !d.transpose_a) == 1 &&
                         matrix_stride(d.b, true, d.transpose_b) == 1;
    d.lanes = is_contiguous ? ig_lower_lanes(lower, (ig_dtype)d.type->dtype) : 1;
    if (!is_contiguous && is_by_columns(&d)) {
        choose_column_tile(&d);
    }
    int64_t n = COLUMNS;
    (void)ig_dim_constant(lower->module, d.type->dims[d.rank - 1], &n);
    d.has_groups = d.lanes > 1 && n >= COLUMNS && !ig_cpu_is_heavy(lower->body);
    lower->name = ig_cpu_name(lower, "dot");
    ig_dim blocks = ig_lower_ceil_div(lower, d.type->dims[d.rank - 2], ROWS);
    lower->grid = ig_lower_mul(
        lower, ig_dim_product(lower->module, d.type->dims, d.rank - 2), blocks);
    d.k = ig_lower_param(lower, k_extent(&d));
    d.row_blocks = ig_lower_dim(lower, blocks);
    ig_dim macs = ig_lower_mul(lower, ig_type_count(lower->module, d.type),
                               k_extent(&d));
    lower->cost = ig_lower_ceil_div(lower, macs, 8);
    ig_cpu_each_tile(lower, emit_tile, &d);
    return IG_OK;
}
