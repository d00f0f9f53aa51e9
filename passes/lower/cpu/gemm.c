/* Matrix multiplication with an epilogue, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[m, n] = epilogue(sum over k of A[m, k] * B[k, n], m, n)
 *
 * B is packed into panels of 16 columns, [ceil(N / 16), K, 16], zero beyond N: a
 * constant B is packed so when compiling (passes/place/pack.c); panels of f16, bf16, i8
 * or u8 are widened as they are loaded, the last two less their zero points.  A and C
 * keep their layout.
 *
 *   grid       tiles of at most row_limit(K) rows, evenly split, x 128 columns; a
 *              worker walks the columns of one row tile first, so its rows of A stay
 *              in L2; of one block when K is so small that storing the results takes
 *              longer than summing up: they are written row by row
 *   pass       a part of K, at most K_BLOCK: a tile's part of A stays in L2 for it;
 *              between passes the tile's sums wait in scratch memory
 *   micro-panel
 *              NP panels; for each, the rows in blocks of at most MR, evenly split, so
 *              that the last block is not a thin one
 *   block      r x NP register tile: a chain of muladds over k for each element
 *
 * Every variant sums each element over k in one order: a chain for each pass, and the
 * passes' sums added up one after the other.  Bounded chains bound rounding errors, and
 * the bits do not depend on how rows and columns are split, nor on the batch.  Few rows
 * take wider micro-panels: one row alone would wait for the latency of its additions.
 *
 * Rows and panels in memory or L3 come into L2 while the block before is multiplied: a
 * line of A, of B and of C for each k.  All at once they would hold up the loads that
 * the multiplication waits for.  A single block goes through B so fast that lines
 * fetched by hand come late, and take the place of those that the processor fetches
 * itself.
 *
 * K, N, M and strides are params: one kernel serves every shape of its class (rows of a
 * tile, does N divide by 16, is the number of panels odd).  Block heights ruled out by
 * the known bounds on M and N are not emitted (gemm_tiles.c).
 *
 * Products of 8-bit integers are the same with quads for floats: k counts words of four
 * bytes, `dot4` is the muladd, and sums are i32, which wrap and have no order.  Where K
 * is not a multiple of four the rows of A are copied, with zeros after them.  Where
 * the weights prove that so many words fit, sums of 16 bits are made first
 * (ir/semantics/chains.h), and the excess is added at the end of K.  Where the target
 * can sum blocks of rows at once, all but short tails take that path (gemm_rows.c).
 */
#include "passes/lower/cpu/gemm.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = IG_PANEL,
    TILE_COLUMNS = IG_GEMM_TILE_COLUMNS,
    MAX_ROWS = IG_GEMM_MAX_ROWS,
    K_BLOCK = IG_GEMM_K_BLOCK,
    AHEAD = 128, /* of k */
};

/* ---- rows of a tile ---- */

/* if (rows == r) block of r rows, for each r of `all`. */
static void emit_heights(const gemm *g, ig_builder *b, ig_value *rows,
                         const gemm_heights *all, gemm_block tile) {
    if (all->count == 1) {
        tile.rows = all->rows[0];
        gemm_emit_block(g, b, tile);
        return;
    }
    gemm_heights low = *all, high = { .count = all->count / 2 };
    low.count -= high.count;
    memcpy(high.rows, all->rows + low.count, high.count * sizeof *high.rows);
    ig_value *max = k_i64(b, low.rows[low.count - 1]);
    k_if half = k_if_open(b, k_compare(b, IG_OP_le, rows, max), NULL, 0);
    emit_heights(g, &half.then, rows, &low, tile);
    emit_heights(g, &half.other, rows, &high, tile);
    k_if_close(&half, NULL, NULL);
}

static void emit_by_rows(const gemm *g, ig_builder *b, ig_value *rows,
                         gemm_block_rows allowed, gemm_block tile) {
    gemm_heights all = gemm_heights_of(g, allowed);
    if (all.count > 0) {
        emit_heights(g, b, rows, &all, tile);
    }
}

/* The next rows of A after this block, while the first micro-panel goes over them. */
static gemm_cursor next_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                             ig_value *rows) {
    ig_value *next = k_add(b, tile->row, rows);
    ig_value *line = k_i64(b, (int64_t)PANEL * g->unit);
    ig_value *is_first = k_compare(b, IG_OP_eq, tile->column, k_i64(b, 0));
    ig_value *is_inside = k_compare(b, IG_OP_lt, next, g->m);
    ig_value *wanted = k_where(b, is_inside, k_cast(b, is_first, IG_DT_i64),
                               k_i64(b, 0));
    ig_value *row = k_add(b, tile->row, k_mul(b, wanted, rows));
    ig_value *step = k_add(b, k_mul(b, wanted, k_sub(b, line, k_i64(b, 1))),
                           k_i64(b, 1));
    return (gemm_cursor){
        .buffer = g->a->buffer, .first = k_mul(b, row, g->lda), .step = step, .level = 2
    };
}

/* The rows of this block some lines later: where no other micro-panel uses them,
 * nothing has fetched them before. */
static gemm_cursor rows_ahead(const gemm *g, ig_builder *b, const gemm_block *tile) {
    ig_value *k = k_mul(b, k_add(b, tile->range->k, k_i64(b, AHEAD)),
                        k_i64(b, g->unit));
    return (gemm_cursor){ .buffer = g->a->buffer,
                          .first = k_add(b, k_mul(b, tile->row, g->lda), k),
                          .step = k_i64(b, g->unit),
                          .across = g->lda,
                          .level = 1 };
}

ig_value *gemm_panel_start(const gemm *g, ig_builder *b, ig_value *panel) {
    ig_value *depth = k_add(b, g->k, k_i64(b, g->extra));
    return k_mul(b, panel, k_mul(b, depth, k_i64(b, PANEL)));
}

/* Where in B the next micro-panel begins, or the first one of the next pass. */
static ig_value *next_micro_panel(const gemm *g, ig_builder *b,
                                  const gemm_block *tile) {
    const gemm_range *range = tile->range;
    ig_value *line = k_i64(b, PANEL);
    ig_value *next = k_add(b, tile->column, k_i64(b, (int64_t)tile->panels * PANEL));
    ig_value *at = gemm_panel_start(g, b, k_div(b, next, line));
    if (!g->is_deep) {
        return at;
    }
    ig_value *first = gemm_panel_start(g, b, k_div(b, range->column, line));
    ig_value *again = k_add(b, first, k_mul(b, range->k_end, line));
    ig_value *is_inside = k_compare(b, IG_OP_lt, next, range->column_end);
    ig_value *has_pass = k_compare(b, IG_OP_lt, range->k_end, g->k);
    ig_value *below = k_add(b, at, k_mul(b, range->k, line));
    return k_where(b, is_inside, below, k_where(b, has_pass, again, at));
}

/* The next micro-panel of B: panel `number` of it, if it has so many. */
static gemm_cursor next_panels(const gemm *g, ig_builder *b, const gemm_block *tile,
                               ig_value *number) {
    ig_value *line = k_i64(b, PANEL);
    ig_value *own = gemm_panel_start(g, b, k_div(b, tile->column, line));
    ig_value *is_one = k_compare(b, IG_OP_lt, number, k_i64(b, tile->panels));
    ig_value *next = k_add(b, next_micro_panel(g, b, tile),
                           gemm_panel_start(g, b, number));
    own = k_add(b, own, k_mul(b, tile->range->k, line));
    return (gemm_cursor){ .buffer = g->words,
                          .first = k_where(b, is_one, next, own),
                          .step = line,
                          .level = 2 };
}

static bool stores_lines(const gemm *g) {
    const ig_lower_operand *c = &g->lower->outs[0];
    return c->type->rank == 2 && ig_dtypes[c->type->dtype].bits == 32 &&
           ig_dim_is(c->strides[1], 1);
}

/* The lines that the next micro-panel writes: a store waits for its line too.  Block i
 * fetches line i of each row; a row of C may begin anywhere in a line, so there may be
 * one more. */
static gemm_cursor next_results(const gemm *g, ig_builder *b, const gemm_block *tile,
                                ig_value *number) {
    const gemm_range *range = tile->range;
    int64_t width = (int64_t)tile->panels * PANEL;
    const ig_lower_operand *c = &g->lower->outs[0];
    ig_value *group = g->first_column ? g->first_column : k_i64(b, 0);
    ig_value *ldc = ig_lower_param(g->lower, c->strides[0]);
    ig_value *part = k_min(b, k_mul(b, number, k_i64(b, PANEL)), k_i64(b, width - 1));
    ig_value *column = k_add(b, k_add(b, tile->column, k_i64(b, width)), part);
    column = k_add(b, group, column);
    ig_value *first = k_add(b, k_mul(b, range->row, ldc), column);
    ig_value *below = k_mul(b, k_sub(b, range->rows, k_i64(b, 1)), ldc);
    return (gemm_cursor){ .buffer = c->buffer,
                          .first = first,
                          .step = ldc,
                          .last = k_add(b, first, below),
                          .level = 1 }; /* the last one is fetched again and again */
}

/* ---- copied rows ---- */

/* Is this the first micro-panel that needs these rows of A?  Windows are copied for all
 * passes at once. */
static ig_value *is_first_use(const gemm *g, ig_builder *b, const gemm_block *tile) {
    const gemm_range *range = tile->range;
    ig_value *is_first = k_compare(b, IG_OP_eq, tile->column, range->column);
    if (g->window && g->is_deep) {
        ig_value *is_start = k_compare(b, IG_OP_eq, range->k, k_i64(b, 0));
        is_first = k_binary(b, IG_OP_and, is_first, is_start);
    }
    return k_where(b, range->is_new, is_first, range->is_new);
}

/* Elements begin … end of a row of A. */
typedef struct row_copy {
    uint32_t lanes;
    ig_value *from, *to, *begin, *end;
} row_copy;

/* Whole vectors, then the rest, and zeros after it: rows of the copy are whole
 * vectors. */
static void copy_row(ig_builder *b, const row_copy *c) {
    ig_value *lanes = k_i64(b, c->lanes);
    ig_value *whole = k_div(b, k_sub(b, c->end, c->begin), lanes);
    ig_value *middle = k_add(b, c->begin, k_mul(b, whole, lanes));
    k_loop line = k_loop_open(b, c->begin, middle, lanes, NULL, 0);
    k_store(&line.b, k_load(&line.b, c->from, line.index, c->lanes), c->to, line.index);
    k_loop_close(&line, NULL, 0);
    k_loop rest = k_loop_open(b, middle, c->end, lanes, NULL, 0);
    ig_value *left = k_sub(&rest.b, c->end, rest.index);
    ig_value *x = k_load_count(&rest.b, c->from, rest.index, c->lanes, left);
    k_store(&rest.b, x, c->to, rest.index);
    k_loop_close(&rest, NULL, 0);
}

/* Rows of A whose lines share sets of L1 evict each other as they are summed up, or are
 * told apart slowly: the part that a pass sums is copied once for all columns. */
static void copy_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                      ig_value *count) {
    const gemm_range *range = tile->range;
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1), *unit = k_i64(b, g->unit);
    ig_value *depth = ig_lower_param(g->lower, g->a->type->dims[1]);
    k_loop rows = k_loop_open(b, zero, count, one, NULL, 0);
    ig_builder *in = &rows.b;
    ig_value *row = k_add(in, tile->row, rows.index);
    ig_value *position = k_mul(in, k_sub(in, row, range->row),
                               k_i64(in, g->copy_stride * g->unit));
    row_copy c = { .lanes = g->shape.lanes * g->unit,
                   .from = k_offset(in, g->a->buffer, k_mul(in, row, g->lda)),
                   .to = k_offset(in, g->copy, position),
                   .begin = k_mul(in, range->k, unit),
                   .end = k_min(in, k_mul(in, range->k_end, unit), depth) };
    copy_row(in, &c);
    k_loop_close(&rows, NULL, 0);
}

static void copy_new_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                          ig_value *count) {
    if (!g->copy) {
        return;
    }
    k_if is_new = k_if_open(b, is_first_use(g, b, tile), NULL, 0);
    (g->window ? gemm_copy_windows : copy_rows)(g, &is_new.then, tile, count);
    k_if_close(&is_new, NULL, NULL);
}

/* The next rows after this block, of which the next one makes a copy. */
static gemm_cursor next_copied(const gemm *g, ig_builder *b, const gemm_block *tile,
                               ig_value *rows) {
    ig_value *next = k_add(b, tile->row, rows), *zero = k_i64(b, 0);
    ig_value *is_inside = k_compare(b, IG_OP_lt, next, g->m);
    ig_value *is_wanted = k_where(b, is_inside, is_first_use(g, b, tile), is_inside);
    ig_value *row = k_where(b, is_wanted, next, tile->row);
    ig_value *unit = k_i64(b, g->unit);
    return (gemm_cursor){
        .buffer = g->a->buffer,
        .first = k_add(b, k_mul(b, row, g->lda), k_mul(b, tile->range->k, unit)),
        .step = k_where(b, is_wanted, unit, zero),
        .across = k_where(b, is_wanted, g->lda, zero),
        .level = 2,
    };
}

static void add_cursor(gemm_block *tile, gemm_cursor c) {
    tile->cursors[tile->cursor_count++] = c;
}

/* All row blocks of one micro-panel of `panels` panels from `column` on. */
static void emit_micro_panel(const gemm *g, ig_builder *b, const gemm_range *range,
                             ig_value *column, uint32_t panels,
                             gemm_block_rows allowed) {
    assert(panels > 0 && "a micro-panel has panels");
    ig_cpu_blocks blocks = ig_cpu_open_blocks(b, range->rows, g->shape.rows);
    ig_builder *in = &blocks.loop.b;
    ig_value *number = blocks.loop.index;
    gemm_block tile = { .range = range,
                        .panels = panels,
                        .column = column,
                        .row = k_add(in, range->row, blocks.skipped) };
    if (!g->is_narrow || g->is_deep) { /* else the block uses all that there is */
        ig_value *is_several = k_compare(in, IG_OP_lt, k_i64(in, 1), blocks.count);
        ig_value *fetched = k_where(in, is_several, number, k_i64(in, panels));
        add_cursor(&tile, next_panels(g, in, &tile, fetched));
    }
    copy_new_rows(g, in, &tile, blocks.rows);
    if (g->copy) {
        add_cursor(&tile, next_copied(g, in, &tile, blocks.rows));
    } else if (!g->is_deep && !g->window) {
        add_cursor(&tile, next_rows(g, in, &tile, blocks.rows));
    } else if (g->is_narrow && !g->window) {
        add_cursor(&tile, rows_ahead(g, in, &tile));
    }
    bool is_free = !g->is_narrow && !g->window; /* windows need registers for rows */
    if (is_free && stores_lines(g)) {
        add_cursor(&tile, next_results(g, in, &tile, number));
    }
    emit_by_rows(g, in, blocks.rows, allowed, tile);
    k_loop_close(&blocks.loop, NULL, 0);
}

/* A micro-panel of a single block. */
static void emit_single(const gemm *g, ig_builder *b, const gemm_range *range,
                        ig_value *column, uint32_t panels, gemm_block_rows allowed) {
    gemm_block tile = {
        .range = range, .panels = panels, .row = range->row, .column = column
    };
    copy_new_rows(g, b, &tile, range->rows);
    if (g->is_shallow && !g->copy && !g->window && allowed.low < allowed.high) {
        add_cursor(&tile, next_rows(g, b, &tile, range->rows));
    }
    emit_by_rows(g, b, range->rows, allowed, tile);
}

/* Slivers of `panels` panels while they fit; returns the first column left. */
static ig_value *emit_micro_panels(const gemm *g, ig_builder *b,
                                   const gemm_range *range, ig_value *column,
                                   uint32_t panels, gemm_block_rows allowed) {
    assert(panels > 0 && "a micro-panel has panels");
    int64_t width = (int64_t)panels * PANEL;
    ig_value *left = k_sub(b, range->column_end, column);
    ig_value *count = k_div(b, left, k_i64(b, width));
    ig_value *end = k_add(b, column, k_mul(b, count, k_i64(b, width)));
    k_loop loop = k_loop_open(b, column, end, k_i64(b, width), NULL, 0);
    if (allowed.is_single) {
        emit_single(g, &loop.b, range, loop.index, panels, allowed);
    } else {
        emit_micro_panel(g, &loop.b, range, loop.index, panels, allowed);
    }
    k_loop_close(&loop, NULL, 0);
    return end;
}

/* Whole micro-panels, then one panel when their number is odd. */
static void emit_columns(const gemm *g, ig_builder *b, const gemm_range *range,
                         ig_value *column, gemm_block_rows allowed) {
    if (gemm_has_tile_panels(g, g->shape.panels)) {
        column = emit_micro_panels(g, b, range, column, g->shape.panels, allowed);
    }
    if (g->is_odd) {
        emit_micro_panels(g, b, range, column, 1, allowed);
    }
}

/* Micro-panels of `panels` panels while they fit, their rows in blocks summed at once;
 * returns the first column left. */
static ig_value *emit_block_panels(const gemm *g, ig_builder *b,
                                   const gemm_range *range, ig_value *column,
                                   uint32_t panels) {
    ig_value *width = k_i64(b, (int64_t)panels * PANEL);
    ig_value *count = k_div(b, k_sub(b, range->column_end, column), width);
    ig_value *end = k_add(b, column, k_mul(b, count, width));
    k_loop loop = k_loop_open(b, column, end, width, NULL, 0);
    ig_cpu_blocks blocks = ig_cpu_open_blocks(&loop.b, range->rows, GEMM_BLOCK_ROWS);
    ig_builder *in = &blocks.loop.b;
    gemm_block tile = { .range = range,
                        .panels = panels,
                        .column = loop.index,
                        .row = k_add(in, range->row, blocks.skipped) };
    copy_new_rows(g, in, &tile, blocks.rows);
    gemm_emit_rows(g, in, tile, blocks.rows);
    k_loop_close(&blocks.loop, NULL, 0);
    k_loop_close(&loop, NULL, 0);
    return end;
}

/* The panels that are left over are one micro-panel where their number is known. */
static void emit_blocks(const gemm *g, ig_builder *b, const gemm_range *range,
                        ig_value *column) {
    int64_t n = 0;
    bool is_known = ig_dim_constant(g->lower->module, g->dims[1], &n);
    int64_t rest = (n + PANEL - 1) / PANEL % GEMM_BLOCK_PANELS;
    if (gemm_has_tile_panels(g, GEMM_BLOCK_PANELS)) {
        column = emit_block_panels(g, b, range, column, GEMM_BLOCK_PANELS);
    }
    if (!is_known || rest > 0) {
        emit_block_panels(g, b, range, column, is_known ? (uint32_t)rest : 1);
    }
}

/* The remaining columns of a tile that has at least `low` rows. Rows beyond one block
 * are split into blocks of at least half its rows; fewer rows are computed one by
 * one. */
static void emit_rest(const gemm *g, ig_builder *b, const gemm_range *range,
                      ig_value *column, uint32_t low) {
    uint32_t max = g->shape.rows, half = (max + 1) / 2;
    gemm_block_rows tall = { half, max, false }, single = { low, half, true };
    if (g->has_blocks) {
        emit_blocks(g, b, range, column);
        return;
    }
    if (g->is_shallow) {
        emit_columns(g, b, range, column, (gemm_block_rows){ low, max, true });
        return;
    }
    if (low > half || !gemm_has_tile_rows(g, low, half)) {
        emit_columns(g, b, range, column, tall);
        return;
    }
    if (!gemm_has_tile_rows(g, half + 1, INT64_MAX)) {
        emit_columns(g, b, range, column, single);
        return;
    }
    ig_value *is_low = k_compare(b, IG_OP_le, range->rows, k_i64(b, half));
    k_if some = k_if_open(b, is_low, NULL, 0);
    emit_columns(g, &some.then, range, column, single);
    emit_columns(g, &some.other, range, column, tall);
    k_if_close(&some, NULL, NULL);
}

/* Sums that go through 16 bits leave registers for wide micro-panels of one row. */
static uint32_t few_rows(const gemm *g) {
    return g->chain > 0 ? 1 : ig_gemm_few_rows(g->lower->target);
}

/* Do wide micro-panels have all columns of every tile? */
static bool wide_leave_none(const gemm *g) {
    const ig_target *target = g->lower->target;
    int64_t n = 0;
    bool is_none = ig_dim_constant(g->lower->module, g->dims[1], &n);
    for (uint32_t rows = few_rows(g); rows > 0; rows--) {
        is_none &= TILE_COLUMNS / PANEL % ig_gemm_wide_panels(target, rows) == 0;
    }
    return is_none && n % TILE_COLUMNS == 0;
}

/* Few rows take wide micro-panels; then the rest. */
static void emit_wide(const gemm *g, ig_builder *b, const gemm_range *range) {
    const ig_type *i64 = ig_type_vector(g->lower->module, IG_DT_i64, 1);
    uint32_t max = few_rows(g);
    ig_value *column = range->column;
    for (uint32_t rows = max; rows > 0; rows--) {
        uint32_t panels = ig_gemm_wide_panels(g->lower->target, rows);
        if (!gemm_has_tile_rows(g, rows, rows) || !gemm_has_tile_panels(g, panels)) {
            continue;
        }
        ig_value *is_few = k_compare(b, IG_OP_eq, range->rows, k_i64(b, rows));
        k_if few = k_if_open(b, is_few, &i64, 1);
        gemm_block_rows one = { rows, rows, true };
        ig_value *left = emit_micro_panels(g, &few.then, range, column, panels, one);
        k_if_close(&few, &left, &column);
        column = few.results[0];
    }
    emit_rest(g, b, range, column, wide_leave_none(g) ? max + 1 : 1);
}

/* The tile that an attribute asks for, in place of the schedule's own choice.  Wide
 * micro-panels of a single block are those of few rows. */
static void emit_asked(const gemm *g, ig_builder *b, const gemm_range *range) {
    const ig_type *i64 = ig_type_vector(g->lower->module, IG_DT_i64, 1);
    uint32_t rows = g->shape.rows, panels = g->asked_panels;
    if (panels <= g->shape.panels) {
        emit_rest(g, b, range, range->column, 1);
        return;
    }
    ig_value *is_few = k_compare(b, IG_OP_eq, range->rows, k_i64(b, rows));
    ig_value *start = range->column;
    k_if few = k_if_open(b, is_few, &i64, 1);
    gemm_block_rows one = { rows, rows, true }, any = { 1, rows, false };
    ig_value *then = emit_micro_panels(g, &few.then, range, start, panels, one);
    ig_value *other = emit_micro_panels(g, &few.other, range, start, panels, any);
    k_if_close(&few, &then, &other);
    emit_rest(g, b, range, few.results[0], 1);
}

/* ---- the grid ---- */

static int64_t row_limit(const gemm *g) {
    int64_t k = 0;
    ig_dim_constant(g->lower->module, g->depth, &k);
    if (g->span > 0) {
        return g->span;
    }
    uint32_t rows = g->has_blocks ? GEMM_BLOCK_ROWS : g->shape.rows;
    return ig_gemm_row_limit(g->lower->target, k, rows);
}

/* One pass over K of a tile. */
static void emit_pass(const gemm *g, ig_builder *b, const gemm_range *range) {
    if (g->asked_panels) {
        emit_asked(g, b, range);
    } else {
        emit_wide(g, b, range);
    }
}

/* Passes are evenly long, in whole lines of A. */
static void emit_passes(const gemm *g, ig_builder *b, gemm_range range) {
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    if (!g->is_deep) {
        range.k = zero;
        range.k_end = g->k;
        emit_pass(g, b, &range);
        return;
    }
    ig_value *k = k_max(b, g->k, one); /* results are written when K is 0 too */
    ig_value *count = k_ceil_div(b, k, K_BLOCK), *line = k_i64(b, PANEL);
    ig_value *even = k_div(b, k_sub(b, k_add(b, k, count), one), count);
    ig_value *step = k_mul(b, k_ceil_div(b, even, PANEL), line);
    k_loop passes = k_loop_open(b, zero, k, step, NULL, 0);
    range.k = passes.index;
    range.k_end = k_min(&passes.b, g->k, k_add(&passes.b, range.k, step));
    emit_pass(g, &passes.b, &range);
    k_loop_close(&passes, NULL, 0);
}

/* Group number `group` of a product: its part of A, its panels, and its columns. */
static void enter_group(gemm *g, ig_builder *b, ig_value *group, ig_lower_operand *a) {
    ig_value *ins = ig_lower_param(g->lower, g->a->type->dims[1]);
    ig_value *panels = k_mul(b, k_ceil_div(b, g->n, PANEL), k_i64(b, PANEL));
    *a = *g->a;
    a->buffer = k_offset(b, a->buffer, k_mul(b, group, ins));
    g->a = a;
    g->words = k_offset(b, g->words, k_mul(b, group, k_mul(b, panels, g->k)));
    g->first_column = k_mul(b, group, g->n);
}

/* How rows are shared out: tile i of a column has `each` rows, and one line more below
 * `extra`. */
typedef struct row_split {
    ig_value *each, *extra;
} row_split;

static row_split split_rows(gemm *g, ig_dim tiles) {
    ig_module *module = g->lower->module;
    ig_dim line = ig_dim_of(g->line), some = ig_dim_max(module, tiles, ig_dim_of(1));
    ig_dim lines = ig_dim_exact_div(module, g->dims[0], line);
    ig_dim each = ig_dim_floor_div(module, lines, some);
    ig_dim extra = ig_dim_sub(module, lines, ig_dim_mul(module, each, some));
    return (row_split){ ig_lower_param(g->lower, ig_dim_mul(module, each, line)),
                        ig_lower_param(g->lower, extra) };
}

/* Rows and columns of tile number `tile` of a group, of so many tiles across. */
static gemm_range range_of(const gemm *g, ig_builder *b, ig_value *tile,
                           ig_value *across, const row_split *rows) {
    ig_value *number = k_div(b, tile, across);
    ig_value *longer = k_mul(b, k_min(b, number, rows->extra), k_i64(b, g->line));
    ig_value *row = k_add(b, k_mul(b, number, rows->each), longer);
    ig_value *is_longer = k_compare(b, IG_OP_lt, number, rows->extra);
    ig_value *column = k_mul(b, k_mod(b, tile, across), k_i64(b, TILE_COLUMNS));
    ig_value *padded = k_mul(b, k_ceil_div(b, g->n, PANEL), k_i64(b, PANEL));
    ig_value *column_end = k_add(b, column, k_i64(b, TILE_COLUMNS));
    return (gemm_range){ .row = row,
                         .rows = k_add(b, rows->each,
                                       k_mul(b, k_cast(b, is_longer, IG_DT_i64),
                                             k_i64(b, g->line))),
                         .column = column,
                         .column_end = k_min(b, column_end, padded) };
}

static void emit_tiles(gemm *g) {
    ig_lower *lower = g->lower;
    ig_builder *b = &lower->b;
    ig_dim column_tiles = ig_lower_ceil_div(lower, g->dims[1], TILE_COLUMNS);
    ig_dim row_tiles = ig_lower_ceil_div(lower, g->dims[0], row_limit(g));
    row_split rows = split_rows(g, row_tiles);
    ig_dim tiles = ig_lower_mul(lower, row_tiles, column_tiles);
    lower->grid = ig_lower_mul(lower, tiles, ig_dim_of(g->groups));
    ig_value *across = ig_lower_param(lower, column_tiles);
    ig_value *begin = NULL, *end = NULL;
    k_tiles(b, &begin, &end);
    k_loop loop = k_loop_open(b, begin, end, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *tile = loop.index;
    gemm own = *g;
    ig_lower_operand a;
    if (g->groups > 1) {
        ig_value *each = ig_lower_param(lower, tiles);
        enter_group(&own, in, k_div(in, tile, each), &a);
        tile = k_mod(in, tile, each);
    }
    gemm_range range = range_of(&own, in, tile, across, &rows);
    if (g->copy) {
        ig_value *is_start = k_compare(in, IG_OP_eq, loop.index, begin);
        ig_value *is_first = k_compare(in, IG_OP_eq, range.column, k_i64(in, 0));
        range.is_new = k_where(in, is_start, is_start, is_first);
    }
    if (g->span > 0) {
        range.window = gemm_window_start(&own, in, range.row);
    }
    if (g->window && g->window->padding) {
        gemm_open_positions(&own, in, &range);
    }
    emit_passes(&own, in, range);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

/* Takes the attribute `tile`; false when it does not stay in registers. */
static bool take_tile(gemm *g, const ig_op *anchor) {
    const ig_attr *tile = &anchor->attrs[IG_matmul_panels_tile];
    if (g->is_quads || tile->kind != IG_ATTR_INTS) {
        return true;
    }
    int64_t rows = tile->as.ints[0], panels = tile->as.ints[1] / PANEL;
    if (rows > MAX_ROWS || panels > TILE_COLUMNS / PANEL ||
        !ig_gemm_fits(g->lower->target, (uint32_t)rows, (uint32_t)panels)) {
        return false;
    }
    g->asked_panels = (uint32_t)panels;
    g->shape.rows = (uint32_t)rows;
    if (g->asked_panels < g->shape.panels) {
        g->shape.panels = g->asked_panels;
    }
    return true;
}

/* Rows that end within a word are copied; so are those whose lines share sets of L1,
 * or fewer at a time, and windows that are summed in blocks. */
void gemm_spread_rows(gemm *g) {
    const ig_module *module = g->lower->module;
    const ig_target *target = g->lower->target;
    int64_t distance = 0, k = 0, n = 0;
    int64_t words = K_BLOCK; /* of a pass, where K is open */
    bool has_depth = ig_dim_constant(module, g->depth, &words);
    bool is_known = has_depth && ig_dim_constant(module, g->a->type->dims[1], &k) &&
                    ig_dim_constant(module, g->dims[1], &n);
    if (g->is_quads && g->window && target->has_blocks && is_known) {
        g->copy_stride = ig_gemm_copy_stride(words);
        return;
    }
    if (g->is_quads && !g->window && (!is_known || k % IG_QUAD != 0)) {
        g->copy_stride = ig_gemm_copy_stride(words);
        return;
    }
    if (!ig_dim_constant(module, g->a->strides[0], &distance)) {
        return;
    }
    distance = distance * 4 / g->unit;
    if (is_known && !g->window && ig_gemm_copies_rows(target, distance, n)) {
        g->copy_stride = ig_gemm_copy_stride(words);
        return;
    }
    g->shape.rows = ig_gemm_rows_in_l1(target, distance, g->shape.rows);
}

/* Rows that end within a word are copied, a pass at a time: extra quads ask for any. */
bool gemm_take_chains(gemm *g, const ig_op *anchor) {
    int64_t depth = 0, k = 0, room = 1;
    bool has_targets = anchor->operand_count > 2;
    g->chain = ig_attr_int(anchor, IG_matmul_quads_chain, 0);
    if (g->chain == 0) {
        return !has_targets;
    }
    const ig_module *module = g->lower->module;
    bool is_known = ig_dim_constant(module, g->depth, &depth) && depth > 0 &&
                    ig_dim_constant(module, g->a->type->dims[1], &k);
    bool has_rows = depth <= K_BLOCK || k % IG_QUAD == 0;
    g->shape = ig_gemm_chain_shape_of(g->lower->target);
    g->targets = has_targets ? ig_lower_input(g->lower, anchor, 2) : NULL;
    if (!is_known || depth % g->chain != 0 || (has_targets && !g->targets)) {
        return false;
    }
    has_rows |= !has_targets;
    has_rows &= !has_targets ||
                ig_dim_constant(module, g->targets->type->dims[1], &room);
    g->extra = room - 1;
    return has_rows;
}

static ig_dim gemm_cost(const gemm *g) {
    ig_module *module = g->lower->module;
    ig_dim macs = ig_dim_product(module, g->dims, 2);
    macs = ig_dim_mul(module, macs, ig_dim_of(g->groups));
    macs = ig_dim_mul(module, macs, g->depth);
    return ig_dim_ceil_div(module, macs, ig_dim_of(32));
}

/* Decides by the product's known extents which parts it needs. */
static void classify_extents(gemm *g) {
    const ig_module *module = g->lower->module;
    const ig_target *target = g->lower->target;
    int64_t n = 0, k = 0;
    bool knows_n = ig_dim_constant(module, g->dims[1], &n);
    bool knows_k = ig_dim_constant(module, g->depth, &k);
    bool is_even = knows_n && (n + PANEL - 1) / PANEL % 2 == 0 &&
                   g->asked_panels % g->shape.panels == 0;
    g->is_ragged = !knows_n || n % PANEL != 0;
    g->is_narrow = knows_n && n <= (int64_t)g->shape.panels * PANEL;
    g->is_odd = g->shape.panels > 1 && !is_even;
    g->is_shallow = knows_k && g->span == 0 && ig_gemm_is_shallow(target, k);
    g->is_deep = !knows_k || k > K_BLOCK;
    g->is_heavy = ig_lower_is_heavy(g->lower->body);
    g->has_blocks = g->is_quads && target->has_blocks &&
                    (!g->window || g->copy_stride > 0);
    gemm_classify_tiles(g, row_limit(g));
}

static void open_params(gemm *g) {
    ig_lower *lower = g->lower;
    g->m = ig_lower_param(lower, g->dims[0]);
    g->n = ig_lower_param(lower, g->dims[1]);
    g->k = ig_lower_param(lower, g->depth);
    g->lda = ig_lower_param(lower, g->a->strides[0]);
    if (g->is_heavy) {
        g->stage = k_local(lower->kernel, g->sum, (int64_t)K_CARRIED * PANEL);
    }
    if (g->has_blocks && !g->is_deep) {
        int64_t count = (int64_t)GEMM_BLOCK_ROWS * GEMM_BLOCK_PANELS * PANEL;
        g->sums = k_local(lower->kernel, g->sum, count);
    }
    if (g->is_deep) {
        g->partial = ig_cpu_scratch(lower, row_limit(g) * TILE_COLUMNS);
        g->partial = k_reinterpret(&lower->b, g->partial, g->sum);
    }
    if (g->copy_stride > 0) {
        g->copy = ig_cpu_scratch(lower, row_limit(g) * g->copy_stride);
        g->copy = k_reinterpret(&lower->b, g->copy, (ig_dtype)g->a->type->dtype);
    }
    g->words = g->is_quads ? k_reinterpret(&lower->b, g->panels->buffer, IG_DT_i32)
                           : g->panels->buffer;
}

/* The product in the launch's body, of floats or of 8-bit integers. */
static gemm read_product(ig_lower *lower) {
    ig_op *quads = ig_lower_anchor(lower, IG_OP_matmul_quads);
    ig_op *anchor = quads ? quads : ig_lower_anchor(lower, IG_OP_matmul_panels);
    assert(anchor && "the family's body has its anchor");
    gemm g = { .lower = lower,
               .shape = quads ? ig_gemm_quad_shape_of(lower->target)
                              : ig_gemm_shape_of(lower->target),
               .anchor = &anchor->results[0],
               .a = ig_lower_input(lower, anchor, 0),
               .panels = ig_lower_input(lower, anchor, 1),
               .dims = anchor->results[0].type->dims,
               .space = anchor->results[0].type,
               .groups = 1,
               .is_quads = quads != NULL,
               .sum = quads ? IG_DT_i32 : IG_DT_f32,
               .unit = quads ? IG_QUAD : 1 };
    if (!quads && anchor->operand_count > 2) {
        g.zeros = ig_lower_input(lower, anchor, 2);
    }
    return g;
}

ig_status gemm_lower(gemm *g) {
    ig_lower *lower = g->lower;
    g->line = g->line > 0 ? g->line : 1;
    classify_extents(g);
    lower->shares_strides = true;
    open_params(g);
    lower->cost = gemm_cost(g);
    emit_tiles(g);
    return IG_OK;
}

ig_status ig_lower_cpu_gemm(ig_lower *lower) {
    gemm g = read_product(lower);
    const ig_lower_operand *a = g.a;
    bool has_rows = a &&
                    (ig_dim_is(a->strides[1], 1) || ig_dim_is(a->type->dims[1], 1));
    ig_dtype element = g.is_quads ? IG_DT_u8 : IG_DT_f32;
    if (!has_rows || !g.panels || (ig_dtype)a->type->dtype != element) {
        return ig_lower_unsupported(lower, "this form of matmul");
    }
    g.depth = ig_lower_ceil_div(lower, a->type->dims[1], g.unit);
    if (g.is_quads && !gemm_take_chains(&g, g.anchor->def)) {
        return ig_lower_unsupported(lower, "chains of this length");
    }
    gemm_spread_rows(&g);
    if (!take_tile(&g, g.anchor->def)) {
        return ig_lower_unsupported(lower, "this register tile");
    }
    lower->name = ig_lower_name(lower, g.is_quads ? "gemm_i8" : "gemm");
    return gemm_lower(&g);
}
