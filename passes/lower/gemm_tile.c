/* Register tiles of the GEMM schedule, and which of them a shape gets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/gemm_tile.h"

#include "base/checked.h"

#include <assert.h>

enum {
    CHAINS = 8,       /* as many muladds are in flight at once */
    WAY_BYTES = 4096, /* of L1, on all x86-64 processors: it is indexed within a page */
    LINE_FLOATS = 16,
    COPY_PAYS = 256, /* columns */
};

ig_gemm_shape ig_gemm_shape_of(const ig_target *target) {
    if (target->vector_bytes >= 64) {
        return (ig_gemm_shape){ 16, 1, IG_GEMM_MAX_ROWS, 2 };
    }
    if (target->vector_bytes >= 32) {
        return (ig_gemm_shape){ 8, 2, 6, 1 };
    }
    return (ig_gemm_shape){ 4, 4, 2, 1 };
}

ig_gemm_shape ig_gemm_quad_shape_of(const ig_target *target) {
    ig_gemm_shape shape = ig_gemm_shape_of(target);
    uint32_t columns = shape.vectors * shape.panels;
    uint32_t widened = 2 * columns + 2 + 1; /* the columns, a row, a product */
    uint32_t max = (target->vector_registers - widened) / columns;
    shape.rows = target->has_vnni || shape.rows < max ? shape.rows : max;
    return shape;
}

ig_gemm_shape ig_gemm_chain_shape_of(const ig_target *target) {
    ig_gemm_shape shape = ig_gemm_shape_of(target);
    uint32_t columns = shape.vectors * shape.panels;
    uint32_t max = (target->vector_registers - columns - 2) / (2 * columns);
    shape.rows = shape.rows < max ? shape.rows : max;
    return shape;
}

bool ig_gemm_fits(const ig_target *target, uint32_t rows, uint32_t panels) {
    assert(rows > 0 && panels > 0 && "a tile has rows and panels");
    uint32_t width = panels * ig_gemm_shape_of(target).vectors;
    uint32_t held = rows < width ? rows : width;
    return width * rows + held + 1 <= target->vector_registers;
}

uint32_t ig_gemm_wide_panels(const ig_target *target, uint32_t rows) {
    assert(rows > 0 && "a tile has rows");
    ig_gemm_shape shape = ig_gemm_shape_of(target);
    uint32_t chains = shape.vectors * rows, usual = shape.panels;
    uint32_t panels = (CHAINS + chains - 1) / chains;
    panels = panels < 2 * usual ? 2 * usual : (panels + usual - 1) / usual * usual;
    while (panels > usual && !ig_gemm_fits(target, rows, panels)) {
        panels -= usual;
    }
    return panels;
}

uint32_t ig_gemm_few_rows(const ig_target *target) {
    ig_gemm_shape shape = ig_gemm_shape_of(target);
    uint32_t rows = 1;
    while (rows < shape.rows && ig_gemm_wide_panels(target, rows + 1) > shape.panels) {
        rows++;
    }
    return rows;
}

bool ig_gemm_is_shallow(const ig_target *target, int64_t k) {
    return k > 0 && k * IG_GEMM_TILE_COLUMNS * 4 <= target->l1_bytes / 2;
}

uint32_t ig_gemm_rows_in_l1(const ig_target *target, int64_t distance, uint32_t rows) {
    assert(rows > 0 && rows <= IG_GEMM_MAX_ROWS && "rows of a tile");
    int64_t ways = target->l1_bytes / WAY_BYTES, period = 1;
    while (distance > 0 && distance * period % WAY_BYTES != 0) {
        period *= 2;
    }
    int64_t max = period * (ways - 1);
    return distance <= 0 || ways < 2 || rows <= max ? rows : (uint32_t)max;
}

bool ig_gemm_copies_rows(const ig_target *target, int64_t distance, int64_t n) {
    uint32_t rows = ig_gemm_shape_of(target).rows;
    return n >= COPY_PAYS && ig_gemm_rows_in_l1(target, distance, rows) < rows;
}

int64_t ig_gemm_copy_stride(int64_t k) {
    int64_t lines = ig_ceil_div(k, LINE_FLOATS);
    return (lines + (lines % 2 == 0)) * LINE_FLOATS;
}

/* Their share of A for one pass takes three eighths of L2 at most. */
int64_t ig_gemm_row_limit(const ig_target *target, int64_t k, uint32_t rows) {
    assert(rows > 0 && "a tile has rows");
    if (ig_gemm_is_shallow(target, k)) {
        return rows;
    }
    int64_t bytes = target->l2_bytes / 8 * 3;
    k = k < IG_GEMM_K_BLOCK ? k : IG_GEMM_K_BLOCK;
    int64_t blocks = k > 0 ? bytes / (k * 4 * rows) : 4;
    blocks = blocks < 2 ? 2 : blocks > 8 ? 8 : blocks;
    return blocks * rows;
}

/* ---- tiles to choose from ---- */

/* The grid's tiles are evenly split into rows, and those into blocks. */
static uint32_t block_rows_of(const ig_target *target, const int64_t shape[3],
                              uint32_t rows) {
    int64_t limit = ig_gemm_row_limit(target, shape[1], rows);
    int64_t height = ig_ceil_div(shape[0], ig_ceil_div(shape[0], limit));
    return (uint32_t)ig_ceil_div(height, ig_ceil_div(height, rows));
}

static ig_gemm_tile pick_tile(const ig_target *target, const int64_t shape[3]) {
    ig_gemm_shape usual = ig_gemm_shape_of(target);
    int64_t panels = ig_ceil_div(shape[2], IG_PANEL);
    int64_t distance = shape[1] * 4;
    bool copies = ig_gemm_copies_rows(target, distance, shape[2]);
    uint32_t max = ig_gemm_rows_in_l1(target, distance, usual.rows);
    ig_gemm_tile pick = { .rows = copies ? usual.rows : max,
                          .panels = usual.panels,
                          .is_pick = true };
    if (shape[0] <= ig_gemm_few_rows(target)) {
        uint32_t wide = ig_gemm_wide_panels(target, (uint32_t)shape[0]);
        pick.rows = wide <= panels ? (uint32_t)shape[0] : pick.rows;
        pick.panels = wide <= panels ? wide : pick.panels;
    }
    pick.panels = pick.panels <= panels ? pick.panels : 1;
    pick.block_rows = block_rows_of(target, shape, pick.rows);
    return pick;
}

static bool is_known(const ig_gemm_tile *tiles, uint32_t count, ig_gemm_tile tile) {
    for (uint32_t i = 0; i < count; i++) {
        if (tiles[i].panels == tile.panels && tiles[i].block_rows == tile.block_rows) {
            return true;
        }
    }
    return false;
}

uint32_t ig_gemm_tiles(const ig_target *target, const int64_t shape[3],
                       ig_gemm_tile out[IG_GEMM_MAX_TILES]) {
    assert(shape[0] > 0 && shape[2] > 0 && "a product with elements");
    int64_t max = IG_GEMM_TILE_COLUMNS / IG_PANEL;
    int64_t panels = ig_ceil_div(shape[2], IG_PANEL);
    uint32_t count = 0;
    max = panels < max ? panels : max;
    out[count++] = pick_tile(target, shape);
    for (uint32_t p = 1; p <= max; p++) {
        uint32_t highest = 0;
        for (uint32_t rows = IG_GEMM_MAX_ROWS; rows > 0; rows--) {
            ig_gemm_tile tile = { .rows = rows, .panels = p };
            if (!ig_gemm_fits(target, rows, p)) {
                continue;
            }
            tile.block_rows = block_rows_of(target, shape, rows);
            highest = highest ? highest : tile.block_rows;
            if (2 * tile.block_rows > highest && count < IG_GEMM_MAX_TILES &&
                !is_known(out, count, tile)) {
                out[count++] = tile;
            }
        }
    }
    return count;
}
