/* Which blocks of the GEMM schedule a product can need, by the known bounds of its
 * extents; the others are not emitted.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows are evenly split among the grid's tiles, so two of them have half of the limit
 * each at least: where M is known to be large, low tiles do not occur, and of several
 * blocks only the highest do.
 */
#include "passes/lower/cpu/gemm.h"

enum { PANEL = IG_PANEL, TILE_COLUMNS = IG_GEMM_TILE_COLUMNS };

bool gemm_has_tile_rows(const gemm *g, int64_t low, int64_t high) {
    return low <= g->high_rows && high >= g->low_rows;
}

/* May a block have `rows` rows?  Tiles of several blocks are evenly split. */
static bool has_block_rows(const gemm *g, gemm_block_rows allowed, uint32_t rows) {
    if (g->line > 1) {
        return rows == g->line;
    }
    if (allowed.is_single) {
        return gemm_has_tile_rows(g, rows, rows);
    }
    int64_t all = g->low_rows > allowed.low ? g->low_rows : allowed.low;
    for (; all <= g->high_rows; all++) {
        int64_t blocks = (all - 1) / g->shape.rows + 1;
        if (all / blocks <= rows && rows <= (all - 1) / blocks + 1) {
            return true;
        }
    }
    return false;
}

bool gemm_has_tile_panels(const gemm *g, uint32_t panels) {
    return g->tile_panels[0] == 0 || g->tile_panels[0] >= panels ||
           g->tile_panels[1] >= panels;
}

/* Micro-panels begin at multiples of the usual width, so those that fill up the last
 * tile have its end, and one panel that is left over is the last one. */
gemm_ends gemm_ends_of(const gemm *g, uint32_t panels) {
    int64_t last = g->tile_panels[1];
    if (!g->is_ragged || last == 0 || g->asked_panels) {
        return (gemm_ends){ .may_be_tail = g->is_ragged, .may_be_whole = true };
    }
    bool is_rest = panels < g->shape.panels;
    bool is_single = last <= panels && g->tile_panels[0] == last;
    bool fills = is_rest || last % panels == 0;
    return (gemm_ends){ .may_be_tail = fills,
                        .may_be_whole = !fills || (!is_rest && !is_single) };
}

gemm_heights gemm_heights_of(const gemm *g, gemm_block_rows allowed) {
    gemm_heights all = { .count = 0 };
    for (uint32_t rows = allowed.low; rows <= allowed.high; rows++) {
        if (has_block_rows(g, allowed, rows)) {
            all.rows[all.count++] = rows;
        }
    }
    return all;
}

/* The least M of a product that has elements: an extent that may be 0 counts as what
 * divides it. */
static int64_t min_rows(const gemm *g) {
    const ig_module *module = g->lower->module;
    int64_t min = 1, max = g->high_rows, low, high;
    for (uint32_t d = 0; d + 1 < g->space->rank && min < max; d++) {
        int64_t divisor = ig_dim_divisor(module, g->space->dims[d]);
        ig_dim_range(module, g->space->dims[d], &low, &high);
        low = low > divisor ? low : divisor;
        min *= low < 1 ? 1 : low < max ? low : max;
    }
    return min;
}

void gemm_classify_tiles(gemm *g, int64_t limit) {
    const ig_module *module = g->lower->module;
    int64_t m = 0, n = 0;
    g->high_rows = limit;
    g->low_rows = min_rows(g);
    g->low_rows = g->low_rows < (limit + 1) / 2 ? g->low_rows : (limit + 1) / 2;
    if (ig_dim_constant(module, g->dims[0], &m) && m > 0) {
        int64_t tiles = (m - 1) / limit + 1, lines = m / g->line;
        g->low_rows = lines / tiles * g->line;
        g->high_rows = ((lines - 1) / tiles + 1) * g->line;
    }
    if (g->span > 0) {
        g->low_rows = g->high_rows = g->span;
    }
    if (ig_dim_constant(module, g->dims[1], &n) && n > 0) {
        int64_t panels = (n - 1) / PANEL + 1, max = TILE_COLUMNS / PANEL;
        g->tile_panels[0] = panels < max ? panels : max;
        g->tile_panels[1] = panels - (panels - 1) / max * max;
    }
}
