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
 *   few bits   (dot_bits.c) squares of numbers that became floats
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
 * depend on K alone, not on how rows and columns are split.  The last block's go to C
 * from registers where blocks have few heights; long epilogues, and those that take no
 * vectors, go through that array.
 *
 * While rows are multiplied with a panel, what the next one is copied from comes into
 * L2: columns of B may be pages apart.
 */
#include "passes/lower/cpu/dot.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

enum {
    VECTORS = 2,
    MAX_ROWS = 8,
    K_BLOCK = DOT_K_BLOCK,
    MIN_COLUMNS = 4,
    WIDE = 65, /* columns: fewer are multiplied as stored where lanes are contiguous */
};

/* ---- blocks of rows ---- */

static void sum_block(const dot *d, ig_builder *b, const dot_micro_panel *s,
                      const dot_rows *r, ig_value **out_sums) {
    uint32_t lanes = d->panels.lanes, count = r->count * s->vectors;
    ig_dim stride = dot_stride(d->a, false, !d->transpose_a);
    ig_value *along_k = ig_lower_dim(d->lower, dot_stride(d->a, true, !d->transpose_a));
    ig_value *rows[MAX_ROWS], *zeros[MAX_ROWS * VECTORS];
    rows[0] = k_offset(b, r->start, k_mul(b, r->k[0], along_k));
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
    ig_value *line = k_mul(in, loop.index, s->pitch);
    ig_value *at = k_mul(in, loop.index, along_k), *columns[VECTORS];
    for (uint32_t v = 0; v < s->vectors; v++) {
        ig_value *position = k_add(in, line, k_i64(in, (int64_t)v * lanes));
        columns[v] = k_load(in, s->panel, position, lanes);
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
static void store_vector(const dot *d, ig_builder *b, const dot_micro_panel *s,
                         ig_site site, ig_value *const at[2], ig_value *sum) {
    ig_value *index[IG_TENSOR_RANK], *own[IG_TENSOR_RANK];
    memcpy(index, s->range->index, d->rank * sizeof *index);
    index[d->rank - 2] = at[0];
    index[d->rank - 1] = k_add(b, s->column, at[1]);
    ig_map values;
    sum = d->unit > 1 ? dot_centre(d, b, s, at, sum) : sum;
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

/* more: the rows and their sums. */
typedef struct block_sums {
    const dot_rows *rows;
    ig_value *const *sums;
} block_sums;

static void store_sums(const dot *d, ig_builder *b, const dot_micro_panel *s,
                       const void *more) {
    const block_sums *block = more;
    const dot_rows *r = block->rows;
    for (uint32_t i = 0; i < r->count * s->vectors; i++) {
        int64_t lane = (int64_t)(i % s->vectors) * d->panels.lanes;
        ig_value *at[2] = { k_add(b, r->row, k_i64(b, i / s->vectors)),
                            k_i64(b, lane) };
        ig_site site = { .lanes = d->panels.lanes,
                         .count = dot_valid_lanes(b, s, at[1]) };
        store_vector(d, b, s, site, at, block->sums[i]);
    }
}

static void store_block(const dot *d, ig_builder *b, const dot_micro_panel *s,
                        const dot_rows *r, ig_value *const *sums) {
    dot_emit_ends(d, b, s, store_sums, &(block_sums){ r, sums });
}

/* Vector number `vector` of the block's rows, of those of the micro-panel, in the
 * stage. */
static ig_value *staged_at(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_rows *r, uint32_t vector) {
    int64_t step = d->panels.stage_step ? d->panels.stage_step : dot_width(d, s);
    ig_value *row = k_sub(b, r->row, s->range->rows[0]);
    ig_value *at = k_i64(b, vector / s->vectors * step +
                                (int64_t)(vector % s->vectors) * d->panels.lanes);
    if (d->panels.stage_step) {
        at = k_add(b, at, k_sub(b, s->column, s->range->columns[0]));
    }
    return k_add(b, k_mul(b, row, k_i64(b, step)), at);
}

/* Sums of the k before this block, where there are some, and of this block. */
static void add_staged(const dot *d, ig_builder *b, const dot_micro_panel *s,
                       const dot_rows *r, ig_value **sums) {
    const dot_panels *p = &d->panels;
    ig_value *added[MAX_ROWS * VECTORS];
    const ig_type *types[MAX_ROWS * VECTORS];
    uint32_t count = r->count * s->vectors;
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = k_cast(b, sums[i], p->sum);
        types[i] = sums[i]->type;
    }
    if (!p->is_deep) {
        return;
    }
    ig_value *has_some = k_compare(b, IG_OP_gt, r->k[0], k_i64(b, 0));
    k_if before = k_if_open(b, has_some, types, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *position = staged_at(d, &before.then, s, r, i);
        ig_value *sum = k_load(&before.then, p->stage, position, p->lanes);
        added[i] = k_add(&before.then, sum, sums[i]);
    }
    k_if_close(&before, added, sums);
    memcpy(sums, before.results, count * sizeof *sums);
}

static void stage_block(const dot *d, ig_builder *b, const dot_micro_panel *s,
                        const dot_rows *r, ig_value *const *sums) {
    for (uint32_t i = 0; i < r->count * s->vectors; i++) {
        k_store(b, sums[i], d->panels.stage, staged_at(d, b, s, r, i));
    }
}

static void emit_block(const dot *d, ig_builder *b, const dot_micro_panel *s,
                       const dot_rows *r) {
    const dot_panels *p = &d->panels;
    ig_value *sums[MAX_ROWS * VECTORS];
    (d->unit > 1 ? dot_sum_quads : sum_block)(d, b, s, r, sums);
    if (!p->is_staged) {
        store_block(d, b, s, r, sums);
        return;
    }
    add_staged(d, b, s, r, sums);
    if (!p->is_direct) {
        stage_block(d, b, s, r, sums);
        return;
    }
    k_if last = k_if_open(b, k_compare(b, IG_OP_ge, r->k[1], d->words), NULL, 0);
    store_block(d, &last.then, s, r, sums);
    stage_block(d, &last.other, s, r, sums);
    k_if_close(&last, NULL, NULL);
}

/* if (rows == r) block of r rows, for r from `low` to `high`. */
static void emit_by_rows(const dot *d, ig_builder *b, const dot_micro_panel *s,
                         ig_value *rows, const uint32_t range[2], dot_rows r) {
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

/* Adds the heights of the blocks of a tile of so many rows to the range. */
static void add_heights(const dot *d, int64_t rows, uint32_t range[2]) {
    int64_t blocks = ig_ceil_div(rows, d->panels.rows);
    uint32_t low = (uint32_t)(rows / blocks),
             high = (uint32_t)ig_ceil_div(rows, blocks);
    range[0] = low < range[0] ? low : range[0];
    range[1] = high > range[1] ? high : range[1];
}

/* Minimum and maximum of rows of a block.  Tiles of a known M have one of two heights;
 * others have as many rows as panels pay for, since those of a large M, which is split
 * evenly, have more than half of ROW_TILE. */
static void find_block_rows(const dot *d, uint32_t out_range[2]) {
    int64_t m = 0, low = d->panels.is_choice ? d->panels.min_m : 1;
    out_range[0] = UINT32_MAX;
    out_range[1] = 0;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 2], &m);
    if (is_known && m > 0 && !d->panels.has_fewer_rows) {
        int64_t tiles = ig_ceil_div(m, d->panels.row_tile);
        add_heights(d, m / tiles, out_range);
        add_heights(d, ig_ceil_div(m, tiles), out_range);
        return;
    }
    int64_t high = d->panels.row_tile;
    assert(low > 0 && low <= high / 2 && "tiles of an open M have so many");
    for (int64_t rows = low; rows <= high; rows++) {
        add_heights(d, rows, out_range);
    }
}

/* Two lines that the next panel is copied from: number `line` pair of K_BLOCK. */
static void fetch_pair(const dot *d, ig_builder *b, const dot_micro_panel *s,
                       ig_value *const k[2], ig_value *line) {
    ig_value *one = k_i64(b, 1), *zero = k_i64(b, 0),
             *width = k_i64(b, dot_width(d, s));
    ig_value *has_more = k_compare(b, IG_OP_lt, k[1], d->words);
    ig_value *first = k_where(b, has_more, k[1], zero);
    ig_value *column = k_add(b, s->column, k_where(b, has_more, zero, width));
    int64_t lanes = d->panels.lanes, pairs = K_BLOCK / (2 * lanes);
    dot_matrix m = dot_matrix_of(d, b, s);
    bool is_along_k = ig_dim_is(dot_stride(d->b, true, d->transpose_b), 1);
    if (is_along_k) {
        column = k_add(b, column, k_div(b, line, k_i64(b, pairs)));
        line = k_mul(b, k_mod(b, line, k_i64(b, pairs)), k_i64(b, 2 * lanes));
    }
    ig_value *at = k_min(b, k_add(b, first, line), k_sub(b, d->words, one));
    at = k_mul(b, at, m.along_k);
    column = k_mul(b, k_min(b, column, k_sub(b, d->n, one)), m.along_n);
    at = k_add(b, at, column);
    k_prefetch(b, m.start, at, 2);
    k_prefetch(b, m.start, k_add(b, at, k_i64(b, lanes)), 2);
}

/* A pair for each row of the block, until the panel's are under way. */
static void fetch_next(const dot *d, ig_builder *b, const dot_micro_panel *s,
                       ig_value *const k[2], const ig_cpu_blocks *blocks) {
    ig_value *first = blocks->skipped;
    ig_value *end = k_min(b, k_add(b, first, blocks->rows), k_i64(b, K_BLOCK));
    k_loop loop = k_loop_open(b, first, end, k_i64(b, 1), NULL, 0);
    fetch_pair(d, &loop.b, s, k, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* Is B read in lines, of which a panel has as many as fetch_pair takes it for? */
static bool fetches_next(const dot *d) {
    bool is_unit = ig_dim_is(dot_stride(d->b, true, d->transpose_b), 1) ||
                   ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1);
    return !d->panels.stage_step && d->unit == 1 && !dot_is_bits(d) && is_unit &&
           d->panels.wide == IG_DT_f32 &&
           d->lower->target->line_bytes == 4 * d->panels.lanes;
}

/* The tile's rows in blocks of at most `rows`, evenly split. */
static void emit_blocks(const dot *d, ig_builder *b, const dot_micro_panel *s,
                        ig_value *const k[2]) {
    const dot_range *range = s->range;
    ig_value *rows = k_sub(b, range->rows[1], range->rows[0]);
    ig_cpu_blocks blocks = ig_cpu_open_blocks(b, rows, d->panels.rows);
    ig_builder *in = &blocks.loop.b;
    dot_rows r = { .row = k_add(in, range->rows[0], blocks.skipped), .k = k };
    ig_dim stride = dot_stride(d->a, false, !d->transpose_a);
    ig_value *above = k_mul(in, r.row, ig_lower_dim(d->lower, stride));
    r.start = k_offset(in, range->a, above); /* before the branches: it takes a while */
    uint32_t counts[2];
    find_block_rows(d, counts);
    if (fetches_next(d)) {
        fetch_next(d, in, s, k, &blocks);
    }
    emit_by_rows(d, in, s, blocks.rows, counts, r);
    k_loop_close(&blocks.loop, NULL, 0);
}

/* ---- micro-panels ---- */

static void clear_stage(const dot *d, ig_builder *b, const dot_micro_panel *s) {
    k_loop loop = k_loop_open(b, s->range->rows[0], s->range->rows[1], k_i64(b, 1),
                              NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *zero = k_const_vector(in, d->panels.sum, d->panels.lanes, 0.0);
    dot_rows r = { .row = loop.index };
    for (uint32_t v = 0; v < s->vectors; v++) {
        k_store(in, zero, d->panels.stage, staged_at(d, in, s, &r, v));
    }
    k_loop_close(&loop, NULL, 0);
}

/* One vector of a row of the stage, from column `column` of the micro-panel on. */
static void store_staged_at(const dot *d, ig_builder *b, const dot_micro_panel *s,
                            ig_value *row, ig_value *column) {
    uint32_t lanes = d->panels.store_lanes;
    ig_value *number = k_sub(b, row, s->range->rows[0]);
    ig_value *first = k_mul(b, number, k_i64(b, dot_width(d, s)));
    ig_value *at[2] = { row, column };
    ig_site site = { .lanes = lanes };
    site.count = lanes > 1 ? dot_valid_lanes(b, s, column) : NULL;
    ig_value *sum = k_load(b, d->panels.stage, k_add(b, first, column), lanes);
    store_vector(d, b, s, site, at, sum);
}

/* Whole rows of short epilogues without a loop over their one or two vectors. */
static void store_staged(const dot *d, ig_builder *b, const dot_micro_panel *s,
                         const void *more) {
    (void)more;
    uint32_t lanes = d->panels.store_lanes;
    ig_value *width = k_i64(b, dot_width(d, s)), *zero = k_i64(b, 0);
    ig_value *end = s->left ? k_min(b, s->left, width) : width;
    ig_value *one = k_i64(b, 1), *step = k_i64(b, lanes);
    k_loop rows = k_loop_open(b, s->range->rows[0], s->range->rows[1], one, NULL, 0);
    ig_builder *in = &rows.b;
    if (!s->left && lanes > 1 && !ig_lower_is_heavy(d->lower->body)) {
        for (uint32_t v = 0; v < s->vectors; v++) {
            store_staged_at(d, in, s, rows.index, k_i64(in, (int64_t)v * lanes));
        }
    } else {
        k_loop columns = k_loop_open(in, zero, end, step, NULL, 0);
        store_staged_at(d, &columns.b, s, rows.index, columns.index);
        k_loop_close(&columns, NULL, 0);
    }
    k_loop_close(&rows, NULL, 0);
}

/* Elements one by one need no masks, so they have one form. */
void dot_store_stage(const dot *d, ig_builder *b, const dot_micro_panel *s) {
    dot_micro_panel own = *s;
    own.is_whole = d->panels.store_lanes > 1 ? s->is_whole : NULL;
    dot_emit_ends(d, b, &own, store_staged, NULL);
}

static void copy_panel(const dot *d, ig_builder *b, dot_micro_panel *s,
                       ig_value *const k[2]) {
    dot_pack_panel(d, b, s, k);
    if (d->unit > 1) {
        dot_sum_columns(d, b, s, k);
    }
    s->panel = d->panels.panel;
    s->pitch = k_i64(b, dot_width(d, s));
}

/* The words from k[0] on of its columns, where they are in B. */
static void find_panel(const dot *d, ig_builder *b, dot_micro_panel *s,
                       ig_value *const k[2]) {
    dot_matrix m = dot_matrix_of(d, b, s);
    ig_value *at = k_add(b, k_mul(b, k[0], m.along_k), s->column);
    s->panel = k_offset(b, m.start, at);
    s->pitch = m.along_k;
}

/* The words k[0] … k[1] of its columns: copied, or for few rows as stored. */
static void make_panel(const dot *d, ig_builder *b, dot_micro_panel *s,
                       ig_value *const k[2]) {
    const dot_panels *p = &d->panels;
    if (!p->direct_rows || p->direct_rows > p->row_tile) {
        (p->direct_rows ? find_panel : copy_panel)(d, b, s, k);
        return;
    }
    dot_micro_panel stored = *s;
    const ig_type *types[] = { p->panel->type, k[0]->type };
    ig_value *rows = k_sub(b, s->range->rows[1], s->range->rows[0]);
    ig_value *are_few = k_compare(b, IG_OP_lt, rows, k_i64(b, p->direct_rows));
    k_if few = k_if_open(b, are_few, types, 2);
    find_panel(d, &few.then, &stored, k);
    copy_panel(d, &few.other, s, k);
    k_if_close(&few, (ig_value *[]){ stored.panel, stored.pitch },
               (ig_value *[]){ s->panel, s->pitch });
    s->panel = few.results[0];
    s->pitch = few.results[1];
}

/* Sums of no k at all are 0. */
static void clear_empty(const dot *d, ig_builder *b, const dot_micro_panel *s) {
    ig_value *is_empty = k_compare(b, IG_OP_le, d->words, k_i64(b, 0));
    k_if empty = k_if_open(b, is_empty, NULL, 0);
    clear_stage(d, &empty.then, s);
    k_if_close(&empty, NULL, NULL);
}

static void emit_deep(const dot *d, ig_builder *b, dot_micro_panel *s) {
    if (!d->panels.is_direct) {
        clear_empty(d, b, s);
    }
    ig_value *step = k_i64(b, K_BLOCK);
    k_loop loop = k_loop_open(b, k_i64(b, 0), d->words, step, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *end = k_min(in, d->words, k_add(in, loop.index, step));
    ig_value *k[2] = { loop.index, end };
    make_panel(d, in, s, k);
    emit_blocks(d, in, s, k);
    k_loop_close(&loop, NULL, 0);
}

static void emit_micro_panel(const dot *d, ig_builder *b, dot_micro_panel *s) {
    assert(s->vectors > 0 && s->vectors <= VECTORS && "vectors of a micro-panel");
    if (d->unit > 1) {
        dot_open_columns(d, b, s);
    }
    if (d->panels.is_deep && !s->range->k) {
        emit_deep(d, b, s);
    } else {
        ig_value *all[2] = { k_i64(b, 0), d->words };
        ig_value *const *k = s->range->k ? s->range->k : all;
        make_panel(d, b, s, k);
        emit_blocks(d, b, s, k);
    }
    if (d->panels.is_staged && !d->panels.is_direct && !d->panels.stage_step) {
        dot_store_stage(d, b, s);
    }
}

/* Micro-panels of two vectors: those that N ends in too, unless one vector is enough
 * for what they have.  Returns the first column after them. */
static ig_value *emit_pairs(const dot *d, ig_builder *b, const dot_range *range,
                            bool may_end) {
    int64_t lanes = d->panels.lanes, width = (int64_t)VECTORS * lanes;
    ig_value *step = k_i64(b, width), *from = range->columns[0];
    ig_value *columns = k_sub(b, range->columns[1], from);
    columns = may_end ? k_add(b, columns, k_i64(b, width - lanes - 1)) : columns;
    ig_value *end = k_add(b, from, k_mul(b, k_div(b, columns, step), step));
    k_loop loop = k_loop_open(b, from, end, step, NULL, 0);
    ig_builder *in = &loop.b;
    dot_micro_panel s = { .vectors = VECTORS, .column = loop.index, .range = range };
    if (may_end) {
        s.left = k_sub(in, range->columns[1], s.column);
        s.is_whole = k_compare(in, IG_OP_ge, s.left, k_i64(in, width));
    }
    emit_micro_panel(d, in, &s);
    k_loop_close(&loop, NULL, 0);
    return end;
}

/* What is left: at most one vector. */
static void emit_single(const dot *d, ig_builder *b, const dot_range *range,
                        ig_value *column, bool is_vector) {
    dot_micro_panel s = { .vectors = 1, .column = column, .range = range };
    k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, column, range->columns[1]), NULL,
                          0);
    s.left = is_vector ? NULL : k_sub(&rest.then, range->columns[1], column);
    emit_micro_panel(d, &rest.then, &s);
    k_if_close(&rest, NULL, NULL);
}

void dot_emit_micro_panels(const dot *d, ig_builder *b, const dot_range *range) {
    int64_t n = 0, lanes = d->panels.lanes, width = (int64_t)VECTORS * lanes;
    bool is_known = ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n);
    is_known = is_known && !d->panels.has_fewer_columns;
    int64_t rest = n % width;
    ig_value *column = range->columns[0];
    if (d->unit > 1) {
        dot_sum_rows(d, b, range);
    }
    if (!is_known || n > lanes) {
        column = emit_pairs(d, b, range, !is_known || rest > lanes);
    }
    if (!is_known || (rest > 0 && rest <= lanes)) {
        emit_single(d, b, range, column, is_known && rest == lanes);
    }
}

void dot_emit_panels(const dot *d, ig_builder *b, const dot_range *range) {
    dot_range own = *range;
    own.a = dot_row_start(d, b, d->a, !d->transpose_a, own.index, k_i64(b, 0));
    dot_emit_micro_panels(d, b, &own);
}

/* ---- when they pay ---- */

/* Rows of C from which on copying B costs less than it saves.  Where dot products along
 * k would do, a vector of it costs 2 + log2(lanes) instructions, and each row saves
 * two; where columns would, rows save what B loses by lying in more pages and lines of
 * the nearest cache than these hold.  All else would go element by element. */
static int64_t min_rows(const dot *d, uint32_t lanes) {
    int64_t shuffles = 0;
    while ((lanes >> shuffles) > 1) {
        shuffles++;
    }
    if (d->vectors) {
        return 24;
    }
    bool has_dots = dot_is_along_k(d->a, !d->transpose_a) &&
                    dot_is_along_k(d->b, d->transpose_b);
    return has_dots ? (3 + shuffles) / 2 : 2;
}

/* Is the extent known, and smaller than that?  *is_open: it is not known. */
static bool is_below(const dot *d, ig_dim extent, int64_t min, bool *is_open) {
    int64_t value = 0;
    bool is_known = ig_dim_constant(d->lower->module, extent, &value);
    *is_open |= !is_known && min > 0;
    return is_known && value < min;
}

uint32_t dot_panel_rows(const ig_target *target) {
    return target->vector_registers >= 32 ? 8 : target->vector_bytes >= 32 ? 6 : 4;
}

int64_t dot_panel_width(uint32_t lanes) {
    return (int64_t)VECTORS * lanes;
}

/* What panels of known lanes and rows need for the depth and the epilogue. */
static void open_panels(dot *d, dot_panels p) {
    ig_lower *lower = d->lower;
    int64_t k = 0, width = dot_panel_width(p.lanes);
    p.is_deep = !ig_dim_constant(lower->module, dot_depth(d), &k) ||
                k > (int64_t)K_BLOCK * d->unit;
    bool has_vectors = dot_has_column_epilogue(d);
    p.sum = d->type->dtype == IG_DT_i64 ? IG_DT_i64 : p.wide;
    p.is_staged = p.is_deep || !has_vectors || p.sum != p.wide || dot_is_bits(d) ||
                  ig_lower_is_heavy(lower->body);
    p.store_lanes = has_vectors ? p.lanes : 1;
    p.panel = k_local(lower->kernel, d->unit > 1 ? IG_DT_u32 : p.wide, K_BLOCK * width);
    if (p.is_staged) {
        p.stage = k_local(lower->kernel, p.sum, DOT_ROW_TILE * width);
    }
    uint32_t rows[2];
    d->panels = p;
    find_block_rows(d, rows);
    bool is_plain = has_vectors && p.sum == p.wide && !ig_lower_is_heavy(lower->body);
    d->panels.is_direct = p.is_deep && k > 0 && is_plain && rows[1] - rows[0] < 2;
}

void dot_choose_panels(dot *d) {
    ig_lower *lower = d->lower;
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    bool is_same = d->a->type->dtype == dtype && d->b->type->dtype == dtype;
    dot_panels p = { .row_tile = DOT_ROW_TILE,
                     .wide = d->unit > 1          ? IG_DT_i32
                             : dtype == IG_DT_f64 ? IG_DT_f64
                                                  : IG_DT_f32 };
    p.lanes = dot_is_bits(d) ? d->bits.lanes : ig_lower_lanes(lower, p.wide);
    p.rows = dot_panel_rows(lower->target);
    if (d->unit > 1) {
        open_panels(d, p);
        dot_open_quads(d, (int64_t)VECTORS * p.lanes);
        return;
    }
    p.min_m = min_rows(d, p.lanes);
    if (dot_is_bits(d)) {
        p.is_choice = true;
        open_panels(d, p);
        return;
    }
    p.min_n = d->vectors ? WIDE : 0;
    int64_t min_n = d->vectors ? WIDE : MIN_COLUMNS;
    bool is_m_open = false, is_n_open = false;
    bool is_small = is_below(d, d->type->dims[d->rank - 2], p.min_m, &is_m_open);
    is_small |= is_below(d, d->type->dims[d->rank - 1], min_n, &is_n_open);
    if (!ig_dtype_is_float(dtype) || !is_same || d->a_is_vector || d->b_is_vector ||
        is_small) {
        return;
    }
    p.is_choice = is_m_open || (is_n_open && p.min_n > 0);
    open_panels(d, p);
}
