/* Rows of a product of bytes in blocks of up to 16, where the target sums such blocks
 * at once: dot4_block, then the epilogue row by row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The number of rows is a value, so one piece of code serves all blocks of a width.
 */
#include "passes/lower/cpu/gemm.h"

#include <assert.h>

enum { PANEL = IG_PANEL, TILE_COLUMNS = IG_GEMM_TILE_COLUMNS };

/* Sums of a block in memory. */
typedef struct block_sums {
    ig_value *buffer, *step;
} block_sums;

/* A row of a block whose results are written. */
typedef struct block_row {
    const gemm_block *tile;
    const block_sums *sums;
    ig_value *index;
    bool is_tail;   /* some columns may be beyond N */
    uint32_t lanes; /* of the epilogue's vectors */
} block_row;

static block_sums sums_of(const gemm *g, ig_builder *b, const gemm_block *tile) {
    if (!g->is_deep) {
        return (block_sums){ g->sums, k_i64(b, GEMM_BLOCK_PANELS * PANEL) };
    }
    ig_value *row = k_sub(b, tile->row, tile->range->row);
    ig_value *column = k_sub(b, tile->column, tile->range->column);
    ig_value *step = k_i64(b, TILE_COLUMNS);
    ig_value *at = k_add(b, k_mul(b, row, step), column);
    return (block_sums){ k_offset(b, g->partial, at), step };
}

/* The rows' elements of this pass. */
static void read_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                      k_block *out) {
    ig_value *row = tile->row, *k = k_mul(b, tile->range->k, k_i64(b, IG_QUAD));
    out->a = g->a->buffer;
    out->a_step = g->lda;
    if (g->copy) {
        row = k_sub(b, row, tile->range->row);
        out->a = g->copy;
        out->a_step = k_i64(b, g->copy_stride * g->unit);
    }
    out->a = k_offset(b, out->a, k_add(b, k_mul(b, row, out->a_step), k));
}

static void read_panels(const gemm *g, ig_builder *b, const gemm_block *tile,
                        k_block *out) {
    ig_value *line = k_i64(b, PANEL);
    ig_value *panel = k_div(b, tile->column, line);
    ig_value *size = k_mul(b, g->k, line);
    ig_value *at = k_add(b, k_mul(b, panel, size), k_mul(b, tile->range->k, line));
    out->b = k_reinterpret(b, k_offset(b, g->words, at), IG_DT_i8);
    out->b_step = k_mul(b, size, k_i64(b, IG_QUAD));
}

static void sum_block(const gemm *g, ig_builder *b, k_block block, ig_value *is_first) {
    if (!g->is_deep) {
        k_dot4_block(b, &block);
        return;
    }
    k_if first = k_if_open(b, is_first, NULL, 0);
    k_dot4_block(&first.then, &block);
    block.adds = true;
    k_dot4_block(&first.other, &block);
    k_if_close(&first, NULL, NULL);
}

/* ---- the epilogue ---- */

/* One vector of a row's results. */
static ig_site read_site(const gemm *g, ig_builder *b, const block_row *row,
                         ig_value *column) {
    const block_sums *sums = row->sums;
    ig_value *position = k_add(b, k_mul(b, row->index, sums->step), column);
    ig_value *at = k_add(b, row->tile->column, column);
    ig_value *count = row->is_tail ? k_sub(b, g->n, at) : NULL;
    ig_value *line = k_add(b, row->tile->row, row->index);
    ig_site site = gemm_site_at(g, b, line, at, count);
    site.lanes = row->lanes;
    ig_map_set_id(site.values, IG_MAP_PTR(g->anchor),
                  k_load(b, sums->buffer, position, row->lanes));
    return site;
}

static void store_row(const gemm *g, ig_builder *b, const block_row *row) {
    uint32_t count = row->tile->panels * PANEL / row->lanes;
    ig_site *sites = IG_NEW_ARRAY(g->lower->arena, ig_site, count);
    const ig_op *yield = g->lower->body->last;
    for (uint32_t i = 0; i < count; i++) {
        sites[i] = read_site(g, b, row, k_i64(b, (int64_t)i * row->lanes));
        for (uint32_t y = 0; y < yield->operand_count; y++) {
            ig_lower_value(g->lower, &sites[i], yield->operands[y].value);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_lower_store_yields(g->lower, &sites[i]);
    }
}

/* A long epilogue is there once. */
static void store_row_staged(const gemm *g, ig_builder *b, const block_row *row) {
    ig_value *width = k_i64(b, (int64_t)row->tile->panels * PANEL);
    ig_value *step = k_i64(b, row->lanes);
    k_loop columns = k_loop_open(b, k_i64(b, 0), width, step, NULL, 0);
    ig_site site = read_site(g, &columns.b, row, columns.index);
    ig_lower_store_yields(g->lower, &site);
    k_loop_close(&columns, NULL, 0);
}

static void store_rows(const gemm *g, ig_builder *b, block_row row, ig_value *count) {
    k_loop rows = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), NULL, 0);
    row.index = rows.index;
    (g->is_heavy ? store_row_staged : store_row)(g, &rows.b, &row);
    k_loop_close(&rows, NULL, 0);
}

/* Bytes are narrowed side by side: a whole row of a block at once, of 2 or 4 panels. */
static uint32_t row_lanes(const gemm *g, const gemm_block *tile) {
    const ig_op *yield = g->lower->body->last;
    bool is_narrow = !g->is_heavy && tile->panels % 2 == 0;
    for (uint32_t y = 0; y < yield->operand_count; y++) {
        is_narrow &= ig_dtypes[yield->operands[y].value->type->dtype].bits == 8;
    }
    return is_narrow ? tile->panels * PANEL : g->shape.lanes;
}

static void finish_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                        const block_sums *sums, ig_value *count) {
    block_row row = { .tile = tile, .sums = sums, .lanes = row_lanes(g, tile) };
    if (!g->is_ragged) {
        store_rows(g, b, row, count);
        return;
    }
    ig_value *end = k_add(b, tile->column, k_i64(b, (int64_t)tile->panels * PANEL));
    k_if whole = k_if_open(b, k_compare(b, IG_OP_le, end, g->n), NULL, 0);
    store_rows(g, &whole.then, row, count);
    row.is_tail = true;
    row.lanes = g->shape.lanes;
    store_rows(g, &whole.other, row, count);
    k_if_close(&whole, NULL, NULL);
}

void gemm_emit_rows(const gemm *g, ig_builder *b, gemm_block tile, ig_value *rows) {
    assert(g->has_blocks && tile.panels <= GEMM_BLOCK_PANELS && "blocks are so wide");
    const gemm_range *range = tile.range;
    block_sums sums = sums_of(g, b, &tile);
    k_block block = { .sums = sums.buffer,
                      .sums_step = sums.step,
                      .rows = rows,
                      .k = k_sub(b, range->k_end, range->k),
                      .panels = tile.panels };
    read_rows(g, b, &tile, &block);
    read_panels(g, b, &tile, &block);
    ig_value *is_first = k_compare(b, IG_OP_eq, range->k, k_i64(b, 0));
    sum_block(g, b, block, is_first);
    if (!g->is_deep) {
        finish_rows(g, b, &tile, &sums, rows);
        return;
    }
    ig_value *is_last = k_compare(b, IG_OP_eq, range->k_end, g->k);
    k_if last = k_if_open(b, is_last, NULL, 0);
    finish_rows(g, &last.then, &tile, &sums, rows);
    k_if_close(&last, NULL, NULL);
}
