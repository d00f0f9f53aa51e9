/* Matrix multiplication with a computed right-hand side in register tiles, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[…, m, n] = epilogue(sum over k of A[…, m, k] * B[…, k, n])
 *
 * Lanes run along n.  A micro-panel of B (two vectors of columns, K_BLOCK of k) is
 * copied into a local panel, row by row of k, and all rows of the tile are multiplied
 * with it:
 *
 *   B [n, k]   (queries times keys of attention) squares of lanes x lanes elements are
 *              transposed in registers, log2(lanes) shuffles a vector
 *   B [k, n]   vectors are copied; narrow floats are widened on the way
 *   other      one element a lane
 *
 * A square costs about (2 + log2(lanes)) instructions for each `lanes` elements, as
 * much as some rows of the product, and a dot product along k costs a horizontal sum
 * for each element: least_rows has the number of rows from which on the copy pays.
 *
 *   grid       tiles of at most ROW_TILE rows, evenly split, x COLUMN_TILE columns
 *   tile       micro-panels; for each, panels of K_BLOCK of k; for each, blocks of rows
 *   block      r x 2 vectors in registers: a chain of muladds over k for each element
 *
 * Sums of blocks of k are added up in a local array, in order: the bits of an element
 * depend on K alone, not on how rows and columns are split.  Long epilogues, and those
 * that take no vectors, go through that array too.
 */
#include "passes/lower/cpu/dot.h"

#include <assert.h>
#include <string.h>

enum {
    VECTORS = 2,
    MAX_ROWS = 8,
    MAX_LANES = 16,
    K_BLOCK = 128,
    MIN_COLUMNS = 4,
    WIDE = 65, /* columns: fewer are multiplied as stored where lanes are contiguous */
};

/* Columns of one panel, for all rows of a tile. */
typedef struct micro_panel {
    uint32_t vectors;
    ig_value *column; /* first */
    ig_value *left;   /* columns from there on, or NULL: enough */
    const dot_range *range;
} micro_panel;

static int64_t width_of(const dot *d, const micro_panel *s) {
    return (int64_t)s->vectors * d->panels.lanes;
}

static ig_value *valid_lanes(ig_builder *b, const micro_panel *s, ig_value *column) {
    return s->left ? k_sub(b, s->left, column) : NULL;
}

/* ---- B into panels ---- */

/* B's matrix of this batch, and its strides as numbers of the kernel. */
typedef struct matrix {
    ig_value *start, *along_k, *along_n;
} matrix;

static matrix matrix_of(const dot *d, ig_builder *b, const micro_panel *s) {
    ig_value *const *index = s->range->index;
    ig_dim along_k = dot_stride(d->b, true, d->transpose_b);
    ig_dim along_n = dot_stride(d->b, false, d->transpose_b);
    return (matrix){
        .start = dot_row_start(d, b, d->b, d->transpose_b, index, k_i64(b, 0)),
        .along_k = ig_lower_dim(d->lower, along_k),
        .along_n = ig_lower_dim(d->lower, along_n),
    };
}

/* Rows of k to rows of n: quarters change places at each distance. */
static void transpose_square(ig_builder *b, ig_value **rows, uint32_t lanes) {
    for (uint32_t step = 1; step < lanes; step *= 2) {
        int64_t upper[MAX_LANES], lower[MAX_LANES];
        for (uint32_t j = 0; j < lanes; j++) {
            upper[j] = j & step ? lanes + j - step : j;
            lower[j] = j & step ? lanes + j : j + step;
        }
        for (uint32_t i = 0; i < lanes; i++) {
            if (!(i & step)) {
                ig_value *x = rows[i], *y = rows[i + step];
                rows[i] = k_shuffle(b, x, y, upper, lanes);
                rows[i + step] = k_shuffle(b, x, y, lower, lanes);
            }
        }
    }
}

/* Where a square comes from, and its first element in the panel. */
typedef struct square {
    ig_value *columns[MAX_LANES]; /* of B: lines along k */
    ig_value *place;              /* in the panel, for the first k */
    int64_t width;
} square;

/* k … k + lanes; those from `count` on are zero. */
static void pack_square(const dot *d, ig_builder *b, const square *q, ig_value *k,
                        ig_value *first, ig_value *count) {
    uint32_t lanes = d->panels.lanes;
    ig_value *rows[MAX_LANES];
    for (uint32_t j = 0; j < lanes; j++) {
        ig_value *x = k_load_count(b, q->columns[j], k, lanes, count);
        rows[j] = k_cast(b, x, d->panels.wide);
    }
    transpose_square(b, rows, lanes);
    ig_value *at = k_mul(b, k_sub(b, k, first), k_i64(b, q->width));
    at = k_add(b, at, q->place);
    for (uint32_t j = 0; j < lanes; j++) {
        ig_value *place = k_add(b, at, k_i64(b, (int64_t)j * q->width));
        k_store(b, rows[j], d->panels.panel, place);
    }
}

/* Columns beyond N repeat the last one: nobody reads their sums. */
static void pack_transposed(const dot *d, ig_builder *b, const micro_panel *s,
                            ig_value *const k[2]) {
    ig_value *lanes = k_i64(b, d->panels.lanes), *width = k_i64(b, width_of(d, s));
    ig_value *whole = k_mul(b, k_div(b, k_sub(b, k[1], k[0]), lanes), lanes);
    ig_value *end = k_add(b, k[0], whole), *last = k_sub(b, d->n, k_i64(b, 1));
    k_loop squares = k_loop_open(b, k_i64(b, 0), width, lanes, NULL, 0);
    ig_builder *in = &squares.b;
    matrix m = matrix_of(d, in, s);
    square q = { .place = squares.index, .width = width_of(d, s) };
    for (uint32_t j = 0; j < d->panels.lanes; j++) {
        ig_value *n = k_add(in, k_add(in, s->column, squares.index), k_i64(in, j));
        n = s->left ? k_min(in, n, last) : n;
        q.columns[j] = k_offset(in, m.start, k_mul(in, n, m.along_n));
    }
    k_loop loop = k_loop_open(in, k[0], end, lanes, NULL, 0);
    pack_square(d, &loop.b, &q, loop.index, k[0], NULL);
    k_loop_close(&loop, NULL, 0);
    k_if rest = k_if_open(in, k_compare(in, IG_OP_lt, end, k[1]), NULL, 0);
    pack_square(d, &rest.then, &q, end, k[0], k_sub(&rest.then, k[1], end));
    k_if_close(&rest, NULL, NULL);
    k_loop_close(&squares, NULL, 0);
}

/* One vector of B's row k. */
static ig_value *load_columns(const dot *d, ig_builder *b, const micro_panel *s,
                              const matrix *m, ig_value *const at[2]) {
    ig_value *k = at[0], *column = at[1], *n = k_add(b, s->column, column);
    uint32_t lanes = d->panels.lanes;
    ig_value *row = k_offset(b, m->start, k_mul(b, k, m->along_k));
    if (ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1)) {
        return k_load_count(b, row, n, lanes, valid_lanes(b, s, column));
    }
    ig_value *all = k_add(b, k_iota(b, lanes), k_splat(b, n, lanes));
    ig_value *last = k_sub(b, d->n, k_i64(b, 1));
    all = s->left ? k_min(b, all, k_splat(b, last, lanes)) : all;
    return k_load_at(b, row, k_mul(b, all, k_splat(b, m->along_n, lanes)));
}

static void pack_by_rows(const dot *d, ig_builder *b, const micro_panel *s,
                         ig_value *const k[2]) {
    matrix m = matrix_of(d, b, s);
    k_loop loop = k_loop_open(b, k[0], k[1], k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *row = k_mul(in, k_sub(in, loop.index, k[0]), k_i64(in, width_of(d, s)));
    for (uint32_t v = 0; v < s->vectors; v++) {
        ig_value *column = k_i64(in, (int64_t)v * d->panels.lanes);
        ig_value *at[2] = { loop.index, column };
        ig_value *x = load_columns(d, in, s, &m, at);
        k_store(in, k_cast(in, x, d->panels.wide), d->panels.panel,
                k_add(in, row, column));
    }
    k_loop_close(&loop, NULL, 0);
}

static bool is_along_k(const ig_operand *x, bool k_is_last) {
    return ig_dim_is(dot_stride(x, true, k_is_last), 1);
}

static void pack_panel(const dot *d, ig_builder *b, const micro_panel *s,
                       ig_value *const k[2]) {
    assert(s->vectors > 0 && "a panel has columns");
    bool is_transposing = is_along_k(d->b, d->transpose_b) &&
                          !ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1);
    (is_transposing ? pack_transposed : pack_by_rows)(d, b, s, k);
}

/* ---- blocks of rows ---- */

/* Rows row … row + count of C, k[0] … k[1] of the sums. */
typedef struct row_block {
    ig_value *row;
    uint32_t count;
    ig_value *const *k;
} row_block;

static void sum_block(const dot *d, ig_builder *b, const micro_panel *s,
                      const row_block *r, ig_value **out_sums) {
    uint32_t lanes = d->panels.lanes, count = r->count * s->vectors;
    ig_dim stride = dot_stride(d->a, false, !d->transpose_a);
    ig_value *along_k = ig_lower_dim(d->lower, dot_stride(d->a, true, !d->transpose_a));
    ig_value *rows[MAX_ROWS], *zeros[MAX_ROWS * VECTORS];
    rows[0] = dot_row_start(d, b, d->a, !d->transpose_a, s->range->index, r->row);
    rows[0] = k_offset(b, rows[0], k_mul(b, r->k[0], along_k));
    for (uint32_t i = 1; i < r->count; i++) {
        ig_dim below = ig_dim_mul(d->lower->module, stride, ig_dim_of(i));
        rows[i] = k_offset(b, rows[0], ig_lower_dim(d->lower, below));
    }
    for (uint32_t i = 0; i < count; i++) {
        zeros[i] = k_const_vector(b, d->panels.wide, lanes, 0.0);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_sub(b, r->k[1], r->k[0]), k_i64(b, 1),
                              zeros, count);
    ig_builder *in = &loop.b;
    ig_value *line = k_mul(in, loop.index, k_i64(in, width_of(d, s)));
    ig_value *at = k_mul(in, loop.index, along_k), *columns[VECTORS];
    for (uint32_t v = 0; v < s->vectors; v++) {
        ig_value *place = k_add(in, line, k_i64(in, (int64_t)v * lanes));
        columns[v] = k_load(in, d->panels.panel, place, lanes);
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_value *x = k_cast(in, k_load(in, rows[i / s->vectors], at, 1),
                             d->panels.wide);
        out_sums[i] = k_muladd(in, k_splat(in, x, lanes), columns[i % s->vectors],
                               loop.carried[i]);
    }
    k_loop_close(&loop, out_sums, count);
    memcpy(out_sums, loop.results, count * sizeof *out_sums);
}

/* The epilogue of one vector of sums, and its stores. */
static void store_vector(const dot *d, ig_builder *b, const micro_panel *s,
                         ig_site site, ig_value *const at[2], ig_value *sum) {
    ig_value *index[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
    memcpy(index, s->range->index, d->rank * sizeof *index);
    index[d->rank - 2] = at[0];
    index[d->rank - 1] = k_add(b, s->column, at[1]);
    ig_map values;
    ig_map_init(&values, d->lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(&d->anchor->results[0]),
                  k_cast(b, sum, (ig_dtype)d->type->dtype));
    site.b = b;
    site.rank = dot_own_index(d, index, own);
    site.dims = d->anchor->results[0].type->dims;
    site.index = own;
    site.values = &values;
    ig_lower_store_yields(d->lower, &site);
}

static void store_block(const dot *d, ig_builder *b, const micro_panel *s,
                        const row_block *r, ig_value *const *sums) {
    for (uint32_t i = 0; i < r->count * s->vectors; i++) {
        int64_t lane = (int64_t)(i % s->vectors) * d->panels.lanes;
        ig_value *at[2] = { k_add(b, r->row, k_i64(b, i / s->vectors)),
                            k_i64(b, lane) };
        ig_site site = { .lanes = d->panels.lanes, .count = valid_lanes(b, s, at[1]) };
        store_vector(d, b, s, site, at, sums[i]);
    }
}

/* Sums into the local array: added to those of the k before when there may be some. */
static void stage_block(const dot *d, ig_builder *b, const micro_panel *s,
                        const row_block *r, ig_value *const *sums) {
    const dot_panels *p = &d->panels;
    ig_value *row = k_sub(b, r->row, s->range->rows[0]);
    ig_value *first = k_mul(b, row, k_i64(b, width_of(d, s)));
    for (uint32_t i = 0; i < r->count * s->vectors; i++) {
        ig_value *place = k_add(b, first, k_i64(b, (int64_t)i * p->lanes));
        ig_value *sum = sums[i];
        if (p->is_deep) {
            sum = k_add(b, k_load(b, p->stage, place, p->lanes), sum);
        }
        k_store(b, sum, p->stage, place);
    }
}

static void emit_block(const dot *d, ig_builder *b, const micro_panel *s,
                       const row_block *r) {
    ig_value *sums[MAX_ROWS * VECTORS];
    sum_block(d, b, s, r, sums);
    (d->panels.is_staged ? stage_block : store_block)(d, b, s, r, sums);
}

/* if (rows == r) block of r rows, for r from `low` to `high`. */
static void emit_by_rows(const dot *d, ig_builder *b, const micro_panel *s,
                         ig_value *rows, const uint32_t range[2], row_block r) {
    if (range[0] == range[1]) {
        r.count = range[0];
        emit_block(d, b, s, &r);
        return;
    }
    uint32_t middle = (range[0] + range[1]) / 2;
    ig_value *is_low = k_compare(b, IG_OP_le, rows, k_i64(b, middle));
    k_if half = k_if_open(b, is_low, NULL, 0);
    emit_by_rows(d, &half.then, s, rows, (uint32_t[]){ range[0], middle }, r);
    emit_by_rows(d, &half.other, s, rows, (uint32_t[]){ middle + 1, range[1] }, r);
    k_if_close(&half, NULL, NULL);
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* Minimum and maximum of rows of a block, where M is known. */
static void find_block_rows(const dot *d, uint32_t out_range[2]) {
    int64_t m = 0, max = d->panels.rows;
    out_range[0] = 1;
    out_range[1] = d->panels.rows;
    if (!ig_dim_constant(d->lower->module, d->type->dims[d->rank - 2], &m) || m < 1) {
        return;
    }
    int64_t tiles = ceil_div(m, DOT_ROW_TILE), height = ceil_div(m, tiles);
    int64_t last = m - (ceil_div(m, height) - 1) * height;
    int64_t min = last / ceil_div(last, max);
    int64_t usual = height / ceil_div(height, max);
    out_range[0] = (uint32_t)(min < usual ? min : usual);
    min = ceil_div(last, ceil_div(last, max));
    usual = ceil_div(height, ceil_div(height, max));
    out_range[1] = (uint32_t)(min > usual ? min : usual);
}

/* The tile's rows in blocks of at most `rows`, evenly split. */
static void emit_blocks(const dot *d, ig_builder *b, const micro_panel *s,
                        ig_value *const k[2]) {
    const dot_range *range = s->range;
    ig_value *rows = k_sub(b, range->rows[1], range->rows[0]);
    ig_cpu_blocks blocks = ig_cpu_open_blocks(b, rows, d->panels.rows);
    ig_builder *in = &blocks.loop.b;
    row_block r = { .row = k_add(in, range->rows[0], blocks.skipped), .k = k };
    uint32_t counts[2];
    find_block_rows(d, counts);
    emit_by_rows(d, in, s, blocks.rows, counts, r);
    k_loop_close(&blocks.loop, NULL, 0);
}

/* ---- micro-panels ---- */

static void clear_stage(const dot *d, ig_builder *b, const micro_panel *s) {
    ig_value *rows = k_sub(b, s->range->rows[1], s->range->rows[0]);
    ig_value *end = k_mul(b, rows, k_i64(b, width_of(d, s)));
    k_loop loop = k_loop_open(b, k_i64(b, 0), end, k_i64(b, d->panels.lanes), NULL, 0);
    ig_value *zero = k_const_vector(&loop.b, d->panels.wide, d->panels.lanes, 0.0);
    k_store(&loop.b, zero, d->panels.stage, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* The epilogue of what the local array has. */
static void store_stage(const dot *d, ig_builder *b, const micro_panel *s) {
    const dot_panels *p = &d->panels;
    ig_value *width = k_i64(b, width_of(d, s));
    ig_value *end = s->left ? k_min(b, s->left, width) : width;
    ig_value *one = k_i64(b, 1), *step = k_i64(b, p->store_lanes);
    k_loop rows = k_loop_open(b, s->range->rows[0], s->range->rows[1], one, NULL, 0);
    ig_value *number = k_sub(&rows.b, rows.index, s->range->rows[0]);
    ig_value *first = k_mul(&rows.b, number, width);
    k_loop columns = k_loop_open(&rows.b, k_i64(&rows.b, 0), end, step, NULL, 0);
    ig_builder *in = &columns.b;
    ig_value *place = k_add(in, first, columns.index);
    ig_value *at[2] = { rows.index, columns.index };
    ig_site site = { .lanes = p->store_lanes };
    site.count = p->store_lanes > 1 ? valid_lanes(in, s, columns.index) : NULL;
    store_vector(d, in, s, site, at, k_load(in, p->stage, place, p->store_lanes));
    k_loop_close(&columns, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

static void emit_deep(const dot *d, ig_builder *b, const micro_panel *s) {
    clear_stage(d, b, s);
    ig_value *step = k_i64(b, K_BLOCK);
    k_loop loop = k_loop_open(b, k_i64(b, 0), d->k, step, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *end = k_min(in, d->k, k_add(in, loop.index, step));
    ig_value *k[2] = { loop.index, end };
    pack_panel(d, in, s, k);
    emit_blocks(d, in, s, k);
    k_loop_close(&loop, NULL, 0);
}

static void emit_micro_panel(const dot *d, ig_builder *b, const micro_panel *s) {
    assert(s->vectors > 0 && s->vectors <= VECTORS && "vectors of a micro-panel");
    if (d->panels.is_deep) {
        emit_deep(d, b, s);
    } else {
        ig_value *k[2] = { k_i64(b, 0), d->k };
        pack_panel(d, b, s, k);
        emit_blocks(d, b, s, k);
    }
    if (d->panels.is_staged) {
        store_stage(d, b, s);
    }
}

/* Columns after the whole micro-panels: one vector where that is enough. */
static void emit_rest(const dot *d, ig_builder *b, const dot_range *range,
                      ig_value *column) {
    int64_t n = 0, lanes = d->panels.lanes;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    int64_t rest = n % (VECTORS * lanes);
    ig_value *left = k_sub(b, range->columns[1], column);
    micro_panel s = { .column = column, .left = left, .range = range };
    if (is_known) {
        s.vectors = rest <= lanes ? 1 : VECTORS;
        s.left = rest % lanes == 0 ? NULL : left;
        emit_micro_panel(d, b, &s);
        return;
    }
    ig_value *is_narrow = k_compare(b, IG_OP_le, left, k_i64(b, lanes));
    k_if narrow = k_if_open(b, is_narrow, NULL, 0);
    s.vectors = 1;
    emit_micro_panel(d, &narrow.then, &s);
    s.vectors = VECTORS;
    emit_micro_panel(d, &narrow.other, &s);
    k_if_close(&narrow, NULL, NULL);
}

void dot_emit_panels(const dot *d, ig_builder *b, const dot_range *range) {
    int64_t n = 0, width = (int64_t)VECTORS * d->panels.lanes;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    ig_value *step = k_i64(b, width), *from = range->columns[0];
    ig_value *whole = k_div(b, k_sub(b, range->columns[1], from), step);
    ig_value *end = k_add(b, from, k_mul(b, whole, step));
    if (!is_known || n >= width) {
        k_loop loop = k_loop_open(b, from, end, step, NULL, 0);
        micro_panel s = { .vectors = VECTORS, .column = loop.index, .range = range };
        emit_micro_panel(d, &loop.b, &s);
        k_loop_close(&loop, NULL, 0);
    }
    if (!is_known || n % width != 0) {
        k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, end, range->columns[1]), NULL,
                              0);
        emit_rest(d, &rest.then, range, end);
        k_if_close(&rest, NULL, NULL);
    }
}

/* ---- when they pay ---- */

/* Rows of C from which on copying B costs less than it saves.  Where dot products along
 * k would do, a vector of it costs 2 + log2(lanes) instructions, and each row saves
 * two; where columns would, rows save what B loses by lying in more pages and lines of
 * the nearest cache than these hold.  All else would go element by element. */
static int64_t least_rows(const dot *d, uint32_t lanes) {
    int64_t shuffles = 0;
    while ((lanes >> shuffles) > 1) {
        shuffles++;
    }
    if (d->vectors) {
        return 24;
    }
    bool has_dots = is_along_k(d->a, !d->transpose_a) &&
                    is_along_k(d->b, d->transpose_b);
    return has_dots ? (3 + shuffles) / 2 : 2;
}

/* Is the extent known, and smaller than that?  *is_open: it is not known. */
static bool is_below(const dot *d, ig_dim extent, int64_t min, bool *is_open) {
    int64_t value = 0;
    bool is_known = ig_dim_constant(d->lower->module, extent, &value);
    *is_open |= !is_known && min > 0;
    return is_known && value < min;
}

static uint32_t most_rows(const ig_target *target) {
    return target->vector_registers >= 32 ? 8 : target->vector_bytes >= 32 ? 6 : 4;
}

void dot_choose_panels(dot *d) {
    ig_lower *lower = d->lower;
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    int64_t k = 0;
    bool is_same = d->a->type->dtype == dtype && d->b->type->dtype == dtype;
    dot_panels p = { .wide = dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32 };
    p.lanes = ig_lower_lanes(lower, p.wide);
    p.rows = most_rows(lower->target);
    p.least_m = least_rows(d, p.lanes);
    p.least_n = d->vectors ? WIDE : 0;
    int64_t least_n = d->vectors ? WIDE : MIN_COLUMNS;
    bool is_m_open = false, is_n_open = false;
    bool is_small = is_below(d, d->type->dims[d->rank - 2], p.least_m, &is_m_open);
    is_small |= is_below(d, d->type->dims[d->rank - 1], least_n, &is_n_open);
    if (!ig_dtype_is_float(dtype) || !is_same || d->a_is_vector || d->b_is_vector ||
        is_small) {
        return;
    }
    p.is_choice = is_m_open || (is_n_open && p.least_n > 0);
    p.is_deep = !ig_dim_constant(lower->module, dot_depth(d), &k) || k > K_BLOCK;
    bool has_vectors = dot_has_column_epilogue(d);
    p.is_staged = p.is_deep || !has_vectors || ig_lower_is_heavy(lower->body);
    p.store_lanes = has_vectors ? p.lanes : 1;
    int64_t width = (int64_t)VECTORS * p.lanes;
    p.panel = k_local(lower->kernel, p.wide, K_BLOCK * width);
    if (p.is_staged) {
        p.stage = k_local(lower->kernel, p.wide, DOT_ROW_TILE * width);
    }
    d->panels = p;
}
