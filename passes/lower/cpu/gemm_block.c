/* One register tile of the GEMM schedule: its sums over k, and its epilogue.
 * SPDX-License-Identifier: Apache-2.0
 *
 * gemm.c explains the parts of each element's sum.
 */
#include "passes/lower/cpu/gemm.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = IG_PANEL,
    TILE_COLUMNS = IG_GEMM_TILE_COLUMNS,
    MAX_ROWS = IG_GEMM_MAX_ROWS,
    CURSORS = GEMM_CURSORS,
};

/* ---- the epilogue ---- */

/* Indices of the epilogue's space, which has axes of rows of its own where its operands
 * do not go through them as one. */
static ig_value *const *index_of(const gemm *g, ig_builder *b, ig_value *row,
                                 ig_value *column) {
    uint32_t last = g->space->rank - 1;
    ig_value **index = IG_NEW_ARRAY(g->lower->arena, ig_value *, last + 1);
    index[last] = g->first_column ? k_add(b, g->first_column, column) : column;
    for (uint32_t d = last; d-- > 1;) {
        ig_value *extent = ig_lower_param(g->lower, g->space->dims[d]);
        index[d] = k_mod(b, row, extent);
        row = k_div(b, row, extent);
    }
    index[0] = row;
    return index;
}

ig_site gemm_site_at(const gemm *g, ig_builder *b, ig_value *row, ig_value *column,
                     ig_value *count) {
    ig_map *values = IG_NEW(g->lower->arena, ig_map);
    ig_map_init(values, g->lower->arena);
    return (ig_site){ .b = b,
                      .lanes = g->shape.lanes,
                      .rank = g->space->rank,
                      .dims = g->space->dims,
                      .index = index_of(g, b, row, column),
                      .count = count,
                      .values = values };
}

static ig_value *valid_lanes(const gemm *g, ig_builder *b, ig_value *column,
                             bool is_tail) {
    return is_tail ? k_sub(b, g->n, column) : NULL;
}

/* All values first, then all stores: no store is between equal loads of the epilogue,
 * so LLVM merges them. */
static void store_tile(const gemm *g, ig_builder *b, const gemm_block *tile,
                       bool is_tail) {
    uint32_t width = tile->panels * g->shape.vectors;
    uint32_t count = tile->rows * width;
    ig_site *sites = IG_NEW_ARRAY(g->lower->arena, ig_site, count);
    const ig_op *yield = g->lower->body->last;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *row = k_add(b, tile->row, k_i64(b, i / width));
        ig_value *column = k_add(b, tile->column,
                                 k_i64(b, (int64_t)(i % width) * g->shape.lanes));
        sites[i] = gemm_site_at(g, b, row, column, valid_lanes(g, b, column, is_tail));
        ig_map_set_id(sites[i].values, IG_MAP_PTR(g->anchor), tile->sums[i]);
        for (uint32_t y = 0; y < yield->operand_count; y++) {
            ig_lower_value(g->lower, &sites[i], yield->operands[y].value);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_lower_store_yields(g->lower, &sites[i]);
    }
}

/* A long epilogue is emitted once and loops over the tile, which goes through
 * memory. */
static void store_staged(const gemm *g, ig_builder *b, const gemm_block *tile,
                         bool is_tail) {
    uint32_t lanes = g->shape.lanes, width = tile->panels * g->shape.vectors;
    for (uint32_t i = 0; i < tile->rows * width; i++) {
        k_store(b, tile->sums[i], g->stage, k_i64(b, (int64_t)i * lanes));
    }
    ig_value *one = k_i64(b, 1), *step = k_i64(b, lanes);
    k_loop rows = k_loop_open(b, k_i64(b, 0), k_i64(b, tile->rows), one, NULL, 0);
    ig_value *row_width = k_i64(&rows.b, (int64_t)width * lanes);
    k_loop columns = k_loop_open(&rows.b, k_i64(&rows.b, 0), row_width, step, NULL, 0);
    ig_builder *inner = &columns.b;
    ig_value *position = k_add(inner, k_mul(inner, rows.index, row_width),
                               columns.index);
    ig_value *row = k_add(inner, tile->row, rows.index);
    ig_value *column = k_add(inner, tile->column, columns.index);
    ig_site site = gemm_site_at(g, inner, row, column,
                                valid_lanes(g, inner, column, is_tail));
    ig_map_set_id(site.values, IG_MAP_PTR(g->anchor),
                  k_load(inner, g->stage, position, lanes));
    ig_lower_store_yields(g->lower, &site);
    k_loop_close(&columns, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

static void finish_tile(const gemm *g, ig_builder *b, const gemm_block *tile) {
    void (*store)(const gemm *, ig_builder *, const gemm_block *,
                  bool) = g->is_heavy ? store_staged : store_tile;
    gemm_ends ends = gemm_ends_of(g, tile->panels);
    if (!ends.may_be_tail || !ends.may_be_whole) {
        store(g, b, tile, ends.may_be_tail);
        return;
    }
    int64_t width = (int64_t)tile->panels * PANEL;
    ig_value *end = k_add(b, tile->column, k_i64(b, width));
    k_if is_whole = k_if_open(b, k_compare(b, IG_OP_le, end, g->n), NULL, 0);
    store(g, &is_whole.then, tile, false);
    store(g, &is_whole.other, tile, true);
    k_if_close(&is_whole, NULL, NULL);
}

/* ---- the K loop ---- */

/* The position of a block in its sum over k. */
typedef struct k_state {
    ig_value *rows[MAX_ROWS]; /* of A, from their start on: k is their index */
    ig_value *taps; /* instead, where windows see zeros around x: those to sum up */
    ig_value *panel_step;
    ig_value *zeros[K_CARRIED]; /* a vector of columns each */
    ig_value *at[1 + CURSORS];  /* carried: the panels at k, then what cursors fetch */
    uint32_t count;
} k_state;

/* Zero points of the tile's columns, for the whole sum. */
static void open_zeros(const gemm *g, ig_builder *b, const gemm_block *tile,
                       k_state *s) {
    for (uint32_t c = 0; g->zeros && c < tile->panels * g->shape.vectors; c++) {
        ig_value *column = k_add(b, tile->column,
                                 k_i64(b, (int64_t)c * g->shape.lanes));
        ig_value *zero = k_load(b, g->zeros->buffer, column, g->shape.lanes);
        s->zeros[c] = k_cast(b, zero, IG_DT_i32);
    }
}

/* Distances of rows are params: were they products, LLVM would make a chain of
 * additions of them, and then move all loads ahead of the arithmetic, out of
 * registers. */
static void open_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                      k_state *s) {
    ig_value *first = k_mul(b, tile->row, g->lda);
    s->rows[0] = k_offset(b, g->a->buffer, first);
    for (uint32_t r = 1; r < tile->rows; r++) {
        ig_dim below = ig_dim_mul(g->lower->module, g->a->strides[0], ig_dim_of(r));
        s->rows[r] = k_offset(b, s->rows[0], ig_lower_param(g->lower, below));
    }
}

static void open_copied_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                             k_state *s) {
    int64_t stride = g->copy_stride * g->unit;
    ig_value *row = k_sub(b, tile->row, tile->range->row);
    s->rows[0] = k_offset(b, g->copy, k_mul(b, row, k_i64(b, stride)));
    for (uint32_t r = 1; r < tile->rows; r++) {
        s->rows[r] = k_offset(b, s->rows[0], k_i64(b, r * stride));
    }
}

static void open_k(const gemm *g, ig_builder *b, const gemm_block *tile, k_state *s) {
    if (g->window && g->window->padding) {
        s->taps = gemm_taps_of(g, b, tile);
    } else if (g->window) {
        gemm_window_rows(g, b, tile, s->rows);
    } else {
        (g->copy ? open_copied_rows : open_rows)(g, b, tile, s);
    }
    s->panel_step = gemm_panel_start(g, b, k_i64(b, 1));
    ig_value *panel = k_div(b, tile->column, k_i64(b, PANEL));
    ig_value *start = k_add(b, gemm_panel_start(g, b, panel),
                            k_mul(b, tile->range->k, k_i64(b, PANEL)));
    open_zeros(g, b, tile, s);
    s->at[0] = k_offset(b, g->words, start);
    s->count = 1 + tile->cursor_count;
    for (uint32_t i = 0; i < tile->cursor_count; i++) {
        s->at[1 + i] = tile->cursors[i].first;
    }
}

/* Where the loads of one k come from. */
typedef struct k_step {
    const k_state *state;
    ig_value *element, *panels; /* of the rows; of the panels */
} k_step;

/* A word of A in every lane. */
static ig_value *load_row(const gemm *g, ig_builder *b, const k_step *at, uint32_t r) {
    ig_value *x = k_load(b, at->state->rows[r], at->element, g->unit);
    if (!g->is_quads) {
        return k_splat(b, x, g->shape.lanes);
    }
    x = k_splat(b, k_regroup(b, x, IG_DT_i32), g->shape.lanes);
    return k_regroup(b, x, IG_DT_u8);
}

static ig_value *load_column(const gemm *g, ig_builder *b, const k_step *at,
                             uint32_t c) {
    ig_value *panel = k_mul(b, at->state->panel_step, k_i64(b, c / g->shape.vectors));
    int64_t lane = (int64_t)(c % g->shape.vectors) * g->shape.lanes;
    ig_value *position = k_offset(b, at->panels, panel);
    ig_value *x = k_load(b, position, k_i64(b, lane), g->shape.lanes);
    if (g->is_quads) {
        return k_regroup(b, x, IG_DT_i8);
    }
    if (g->zeros) {
        x = k_sub(b, k_cast(b, x, IG_DT_i32), at->state->zeros[c]);
    }
    return k_cast(b, x, IG_DT_f32); /* narrow panels are widened here */
}

/* Of rows and columns the fewer ones stay in registers, the others pass by. */
static void multiply_tile(const gemm *g, k_loop *loop, const gemm_block *tile,
                          const k_step *step, ig_value **sums) {
    ig_builder *b = &loop->b;
    uint32_t width = tile->panels * g->shape.vectors;
    k_step at = *step;
    bool holds_rows = tile->rows < width;
    uint32_t kept = holds_rows ? tile->rows : width;
    uint32_t passing = holds_rows ? width : tile->rows;
    ig_value *held[MAX_ROWS];
    assert(kept <= IG_COUNT_OF(held) && "a micro-panel is as wide as planned");
    for (uint32_t i = 0; i < kept; i++) {
        held[i] = holds_rows ? load_row(g, b, &at, i) : load_column(g, b, &at, i);
    }
    for (uint32_t o = 0; o < passing; o++) {
        ig_value *x = holds_rows ? load_column(g, b, &at, o) : load_row(g, b, &at, o);
        for (uint32_t i = 0; i < kept; i++) {
            uint32_t sum = holds_rows ? i * width + o : o * width + i;
            ig_value *row = holds_rows ? held[i] : x,
                     *column = holds_rows ? x : held[i];
            ig_value *before = loop->carried[sum];
            sums[sum] = g->is_quads ? k_dot4(b, row, column, before)
                                    : k_muladd(b, x, held[i], before);
        }
    }
}

/* ---- chains of 16 bits ---- */

/* Sums of a few rows and columns, [rows][width]. */
typedef struct chain_tile {
    uint32_t rows, width, length;
    const k_step *steps; /* [length] */
} chain_tile;

/* Words of all columns meet one row after the other: two registers a sum leave none for
 * more of them. */
static void chain_rows(const gemm *g, ig_builder *b, const chain_tile *t,
                       ig_value **sums) {
    ig_value *pairs[K_CARRIED], *columns[K_CARRIED];
    for (uint32_t i = 0; i < t->rows * t->width; i++) {
        pairs[i] = k_const_vector(b, IG_DT_i16, 2 * g->shape.lanes, 0.0);
    }
    for (uint32_t k = 0; k < t->length; k++) {
        for (uint32_t c = 0; c < t->width; c++) {
            columns[c] = load_column(g, b, &t->steps[k], c);
        }
        for (uint32_t r = 0; r < t->rows; r++) {
            ig_value *x = load_row(g, b, &t->steps[k], r);
            for (uint32_t c = 0; c < t->width; c++) {
                uint32_t i = r * t->width + c;
                pairs[i] = k_dot2(b, x, columns[c], pairs[i]);
            }
        }
    }
    for (uint32_t i = 0; i < t->rows * t->width; i++) {
        sums[i] = k_add_pairs(b, pairs[i], sums[i]);
    }
}

/* One row stays in registers, and the columns' words pass by. */
static void chain_row(const gemm *g, ig_builder *b, const chain_tile *t,
                      ig_value **sums) {
    ig_value *row[IG_CHAIN_MAX];
    for (uint32_t k = 0; k < t->length; k++) {
        row[k] = load_row(g, b, &t->steps[k], 0);
    }
    for (uint32_t c = 0; c < t->width; c++) {
        ig_value *pairs = k_const_vector(b, IG_DT_i16, 2 * g->shape.lanes, 0.0);
        for (uint32_t k = 0; k < t->length; k++) {
            ig_value *column = load_column(g, b, &t->steps[k], c);
            pairs = k_dot2(b, row[k], column, pairs);
        }
        sums[c] = k_add_pairs(b, pairs, sums[c]);
    }
}

/* Adds a chain to the sums. */
static void add_chain(const gemm *g, ig_builder *b, const chain_tile *t,
                      ig_value **sums) {
    (t->rows == 1 ? chain_row : chain_rows)(g, b, t, sums);
}

static void multiply_chain(const gemm *g, k_loop *loop, const gemm_block *tile,
                           const k_step *step, ig_value **sums) {
    ig_builder *b = &loop->b;
    k_step steps[IG_CHAIN_MAX];
    chain_tile t = { .rows = tile->rows,
                     .width = tile->panels * g->shape.vectors,
                     .length = (uint32_t)g->chain,
                     .steps = steps };
    for (int64_t i = 0; i < g->chain; i++) {
        steps[i] = *step;
        steps[i].element = k_add(b, step->element, k_i64(b, i * g->unit));
        steps[i].panels = k_offset(b, step->panels, k_i64(b, i * PANEL));
    }
    memcpy(sums, loop->carried, t.rows * t.width * sizeof *sums);
    add_chain(g, b, &t, sums);
}

/* A number of the places, as an index from 0 to `max`. */
static ig_value *load_position(const gemm *g, ig_builder *b, ig_value *at,
                               ig_value *max) {
    ig_value *x = k_cast(b, k_load(b, g->targets->buffer, at, 1), IG_DT_i64);
    return k_min(b, k_max(b, x, k_i64(b, 0)), max);
}

/* How many extra quads panel number `panel` has: they are added in the last pass. */
static ig_value *count_extra(const gemm *g, ig_builder *b, const gemm_block *tile,
                             ig_value *row) {
    ig_value *count = load_position(g, b, row, k_i64(b, g->extra));
    if (!g->is_deep) {
        return count;
    }
    ig_value *is_last = k_compare(b, IG_OP_eq, tile->range->k_end, g->k);
    return k_where(b, is_last, count, k_i64(b, 0));
}

/* The rows' element of word `k` of K. */
static ig_value *element_at(const gemm *g, ig_builder *b, ig_value *k) {
    ig_value *element = k_mul(b, k, k_i64(b, g->unit));
    if (!g->window || g->window->run_axes == 0) {
        return element;
    }
    ig_value *run = k_div(b, k, g->window->run);
    return k_add(b, element, gemm_window_shift(g, b, run));
}

/* The extra quads of panel `p` of a tile; sums: [rows][vectors]. */
static void add_panel_extra(const gemm *g, ig_builder *b, const gemm_block *tile,
                            const k_state *s, uint32_t p, ig_value **sums) {
    uint32_t count = tile->rows * g->shape.vectors;
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1), *next[K_CARRIED];
    ig_value *panel = k_add(b, k_div(b, tile->column, k_i64(b, PANEL)), k_i64(b, p));
    ig_value *row = k_mul(b, panel, k_i64(b, 1 + g->extra));
    ig_value *first = k_add(b, gemm_panel_start(g, b, panel),
                            k_mul(b, g->k, k_i64(b, PANEL)));
    ig_value *size = count_extra(g, b, tile, row);
    k_loop loop = k_loop_open(b, zero, size, one, sums, count);
    ig_builder *in = &loop.b;
    ig_value *at = k_add(in, k_add(in, row, one), loop.index);
    ig_value *k = load_position(g, in, at, k_sub(in, g->k, one));
    ig_value *position = k_add(in, first, k_mul(in, loop.index, k_i64(in, PANEL)));
    k_step step = { s, element_at(g, in, k), k_offset(in, g->words, position) };
    chain_tile t = { tile->rows, g->shape.vectors, 1, &step };
    memcpy(next, loop.carried, count * sizeof *next);
    add_chain(g, in, &t, next);
    k_loop_close(&loop, next, count);
    memcpy(sums, loop.results, count * sizeof *sums);
}

/* The excess of chains.  A pass's copy of A has not all of K. */
static void add_extra(const gemm *g, ig_builder *b, const gemm_block *tile, k_state s,
                      ig_value **sums) {
    uint32_t vectors = g->shape.vectors, width = tile->panels * vectors;
    if (g->copy && g->is_deep) {
        open_rows(g, b, tile, &s);
    }
    for (uint32_t p = 0; p < tile->panels; p++) {
        ig_value *own[K_CARRIED];
        for (uint32_t i = 0; i < tile->rows * vectors; i++) {
            own[i] = sums[i / vectors * width + p * vectors + i % vectors];
        }
        add_panel_extra(g, b, tile, &s, p, own);
        for (uint32_t i = 0; i < tile->rows * vectors; i++) {
            sums[i / vectors * width + p * vectors + i % vectors] = own[i];
        }
    }
}

/* ---- ranges of K ---- */

/* Prefetches at the cursor; returns where it is next. */
static ig_value *move_cursor(ig_builder *b, const gemm_cursor *c, ig_value *at,
                             ig_value *k) {
    ig_value *position = at;
    if (c->across) {
        position = k_add(b, at, k_mul(b, k_mod(b, k, k_i64(b, PANEL)), c->across));
    }
    k_prefetch(b, c->buffer, position, c->level);
    ig_value *next = k_add(b, at, c->step);
    return c->last ? k_min(b, next, c->last) : next;
}

/* k from `first` to `end`, which rows have `shift` elements later (NULL: none). */
typedef struct k_range {
    ig_value *first, *end, *shift;
    ig_value *run; /* of windows, its number; NULL: none, or not asked for */
} k_range;

/* Adds the products of a range; `state`: sums and positions, before and after.  The
 * rows' element is carried where it has a shift: an addition to k in the loop would
 * make LLVM load all rows before the arithmetic, out of registers. */
static void sum_range(const gemm *g, ig_builder *b, const gemm_block *tile,
                      const k_state *s, const k_range *range, ig_value **state) {
    uint32_t tile_size = tile->rows * tile->panels * g->shape.vectors;
    uint32_t count = tile_size + s->count;
    int64_t length = g->chain > 0 ? g->chain : 1;
    ig_value *next[K_CARRIED], *step = k_i64(b, length), *unit = k_i64(b, g->unit);
    ig_value *before[K_CARRIED];
    memcpy(before, state, count * sizeof *before);
    if (range->shift) {
        before[count] = k_add(b, k_mul(b, range->first, unit), range->shift);
    }
    k_loop loop = k_loop_open(b, range->first, range->end, step, before,
                              range->shift ? count + 1 : count);
    ig_value **at = &loop.carried[tile_size];
    for (uint32_t i = 0; i < tile->cursor_count; i++) {
        next[tile_size + 1 + i] = at[1 + i];
        for (int64_t k = 0; k < length; k++) {
            ig_value *position = k_add(&loop.b, loop.index, k_i64(&loop.b, k));
            next[tile_size + 1 + i] = move_cursor(&loop.b, &tile->cursors[i],
                                                  next[tile_size + 1 + i], position);
        }
    }
    k_step from = { s, k_mul(&loop.b, loop.index, unit), at[0] };
    if (range->shift) {
        from.element = loop.carried[count];
        next[count] = k_add(&loop.b, from.element, k_i64(&loop.b, length * g->unit));
    }
    (g->chain > 0 ? multiply_chain : multiply_tile)(g, &loop, tile, &from, next);
    next[tile_size] = k_offset(&loop.b, at[0], k_i64(&loop.b, length * PANEL));
    k_loop_close(&loop, next, range->shift ? count + 1 : count);
    memcpy(state, loop.results, count * sizeof *state);
}

/* One run of windows that may see zeros: nothing is added where all of them do, and
 * panels go on as if it were. */
static void sum_padded_run(const gemm *g, ig_builder *b, const gemm_block *tile,
                           const k_state *s, k_range part, ig_value **state) {
    uint32_t tile_size = tile->rows * tile->panels * g->shape.vectors;
    k_state own = *s;
    ig_value *skipped = k_sub(b, part.first, tile->range->k);
    ig_value *is_seen = gemm_enter_run(g, b, tile, s->taps, part.run, own.rows);
    part.end = k_where(b, is_seen, part.end, part.first);
    state[tile_size] = k_offset(b, s->at[0], k_mul(b, skipped, k_i64(b, PANEL)));
    sum_range(g, b, tile, &own, &part, state);
}

/* The same run by run: in each, k and the rows' elements go on together. */
static void sum_runs(const gemm *g, ig_builder *b, const gemm_block *tile,
                     const k_state *s, ig_value **state) {
    uint32_t count = tile->rows * tile->panels * g->shape.vectors + s->count;
    ig_value *run = g->window->run, *one = k_i64(b, 1);
    const gemm_range *range = tile->range;
    ig_value *size = k_max(b, run, one);
    ig_value *first = k_div(b, range->k, size);
    ig_value *last = k_add(b, range->k_end, k_sub(b, size, one));
    k_loop runs = k_loop_open(b, first, k_div(b, last, size), one, state, count);
    ig_builder *in = &runs.b;
    ig_value *start = k_mul(in, runs.index, run), *inner[K_CARRIED];
    k_range part = { k_max(in, range->k, start),
                     k_min(in, range->k_end, k_add(in, start, run)), NULL, runs.index };
    memcpy(inner, runs.carried, count * sizeof *inner);
    if (g->window->padding) {
        sum_padded_run(g, in, tile, s, part, inner);
    } else {
        part.shift = gemm_window_shift(g, in, runs.index);
        sum_range(g, in, tile, s, &part, inner);
    }
    k_loop_close(&runs, inner, count);
    memcpy(state, runs.results, count * sizeof *state);
}

/* The register tile's sums over the k of one pass. */
static void sum_pass(const gemm *g, ig_builder *b, const gemm_block *tile,
                     ig_value **out_sums) {
    uint32_t tile_size = tile->rows * tile->panels * g->shape.vectors;
    k_state s;
    open_k(g, b, tile, &s);
    ig_value *state[K_CARRIED];
    for (uint32_t i = 0; i < tile_size + s.count; i++) {
        state[i] = i < tile_size ? k_const_vector(b, g->sum, g->shape.lanes, 0.0)
                                 : s.at[i - tile_size];
    }
    if (g->window && g->window->run_axes > 0) {
        sum_runs(g, b, tile, &s, state);
    } else {
        k_range whole = { tile->range->k, tile->range->k_end, NULL, NULL };
        sum_range(g, b, tile, &s, &whole, state);
    }
    if (g->targets) {
        add_extra(g, b, tile, s, state);
    }
    memcpy(out_sums, state, tile_size * sizeof *out_sums);
}

/* ---- passes over a long K ---- */

/* Where vector i of a register tile waits between passes. */
static ig_value *partial_position(const gemm *g, ig_builder *b, const gemm_block *tile,
                                  uint32_t i) {
    uint32_t width = tile->panels * g->shape.vectors;
    ig_value *row = k_sub(b, tile->row, tile->range->row);
    ig_value *column = k_sub(b, tile->column, tile->range->column);
    int64_t within = (int64_t)(i / width) * TILE_COLUMNS +
                     (int64_t)(i % width) * g->shape.lanes;
    ig_value *at = k_add(b, k_mul(b, row, k_i64(b, TILE_COLUMNS)), column);
    return k_add(b, at, k_i64(b, within));
}

/* Adds the sums of the passes before. */
static void add_passes(const gemm *g, ig_builder *b, const gemm_block *tile,
                       uint32_t count, ig_value **sums) {
    const ig_type *types[K_CARRIED];
    ig_value *zeros[K_CARRIED], *before[K_CARRIED];
    for (uint32_t i = 0; i < count; i++) {
        types[i] = sums[i]->type;
    }
    ig_value *is_first = k_compare(b, IG_OP_eq, tile->range->k, k_i64(b, 0));
    k_if first = k_if_open(b, is_first, types, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *position = partial_position(g, &first.other, tile, i);
        zeros[i] = k_const_vector(&first.then, g->sum, g->shape.lanes, 0.0);
        before[i] = k_load(&first.other, g->partial, position, g->shape.lanes);
    }
    k_if_close(&first, zeros, before);
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = k_add(b, first.results[i], sums[i]);
    }
}

/* Stores the sums for the next pass, or finishes them. */
static void keep_or_finish(const gemm *g, ig_builder *b, const gemm_block *tile,
                           uint32_t count) {
    ig_value *is_last = k_compare(b, IG_OP_eq, tile->range->k_end, g->k);
    k_if last = k_if_open(b, is_last, NULL, 0);
    finish_tile(g, &last.then, tile);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *position = partial_position(g, &last.other, tile, i);
        k_store(&last.other, tile->sums[i], g->partial, position);
    }
    k_if_close(&last, NULL, NULL);
}

/* ---- what the epilogue reads ---- */

/* Does the epilogue read a row of `x` for each row of the product, line by line? */
static bool has_lines(const gemm *g, const ig_lower_operand *x) {
    uint32_t rank = g->space->rank;
    const ig_dim *dims = g->space->dims;
    bool is_factor = x->buffer == g->a->buffer || x == g->panels || x == g->zeros ||
                     x == g->targets;
    return !is_factor && rank == 2 && x->type->rank <= rank &&
           ig_dim_is(ig_lower_step(g->lower, x, rank, dims, 1), 1) &&
           !ig_dim_is(ig_lower_step(g->lower, x, rank, dims, 0), 0);
}

/* Lines of a residual come into L2 while the tile is summed up: nothing else has read
 * them lately, and their rows are pages apart. */
static void fetch_operand(const gemm *g, ig_builder *b, const gemm_block *tile,
                          const ig_lower_operand *x) {
    int64_t line = g->lower->target->line_bytes * 8 / ig_dtypes[x->type->dtype].bits;
    k_loop rows = k_loop_open(b, k_i64(b, 0), k_i64(b, tile->rows), k_i64(b, 1), NULL,
                              0);
    ig_builder *in = &rows.b;
    ig_value *row = k_add(in, tile->row, rows.index);
    for (int64_t c = 0; c < (int64_t)tile->panels * PANEL; c += line) {
        ig_value *column = k_add(in, tile->column, k_i64(in, c));
        ig_site site = gemm_site_at(g, in, row, column, NULL);
        k_prefetch(in, x->buffer, ig_lower_element(g->lower, &site, x), 2);
    }
    k_loop_close(&rows, NULL, 0);
}

static void fetch_operands(const gemm *g, ig_builder *b, const gemm_block *tile) {
    for (uint32_t i = 0; !g->is_shallow && i < g->lower->in_count; i++) {
        if (has_lines(g, &g->lower->ins[i])) {
            fetch_operand(g, b, tile, &g->lower->ins[i]);
        }
    }
}

void gemm_emit_block(const gemm *g, ig_builder *b, gemm_block tile) {
    ig_value *sums[K_CARRIED];
    uint32_t count = tile.rows * tile.panels * g->shape.vectors;
    tile.sums = sums;
    fetch_operands(g, b, &tile);
    sum_pass(g, b, &tile, sums);
    if (!g->is_deep) {
        finish_tile(g, b, &tile);
        return;
    }
    add_passes(g, b, &tile, count, sums);
    keep_or_finish(g, b, &tile, count);
}
