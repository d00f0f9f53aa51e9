/* Matrix multiplication by fragments of warps, on GPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * C, its tiles, A and its panels are those of gemm.c.  Factors are bf16 or f16, or f32
 * that are rounded to tf32 where the caller allows it; sums are f32.
 *
 *   block      2 x 2 warps, each of which has 32 x 32 of C: 2 x 4 fragments of 16 x 8.
 *              For every DEPTH of k a slice of A and of B goes through shared memory:
 *
 *                  of A: [64 rows][DEPTH of k]      of B: [64 columns][DEPTH of k]
 *
 *              LINE elements apart, so that the registers of a fragment are in
 *              different banks: 20 words, of which 8 lines times 4 words meet once.
 *              There are two of each: the next slice is loaded to registers while one
 *              is multiplied, and a barrier a slice is enough.
 *   epilogue   sums go through shared memory, and threads take neighbouring columns
 *
 * Each element is summed in one fixed order, whatever the batch.  How a GPU rounds
 * within a fragment is its own affair.
 */
#include "passes/lower/gpu/gemm.h"

#include <assert.h>

enum {
    THREADS = 128,
    SIDE = 32, /* of a warp's part of the tile */
    DOWN = 2,  /* fragments of a warp */
    ACROSS = 4,
    SUMS = DOWN * ACROSS,
    LINE_WORDS = 20,
    STAGE_LINE = GEMM_TILE + 4,
    MAX_LOADS = 16 /* a thread's elements of a slice of A, and of B */
};

typedef struct mma {
    gpu_product *g;
    ig_dtype dtype;
    int64_t lanes, depth, line; /* elements of a register, a slice, a line of it */
    uint32_t loads;
    ig_value *thread, *group,
        *column_index;      /* in a warp: thread = 4 group + column_index */
    ig_value *row, *column; /* of the warp's part */
    ig_value *a_slices, *b_slices, *stage;
} mma;

static ig_value *add_number(ig_builder *b, ig_value *x, int64_t y) {
    return k_add(b, x, k_i64(b, y));
}

static ig_value *multiply_by(ig_builder *b, ig_value *x, int64_t y) {
    return k_mul(b, x, k_i64(b, y));
}

/* ---- slices ---- */

/* Where load `i` of a thread is in a slice of A: neighbours read along k. */
static void place_a(const mma *u, ig_builder *b, uint32_t i, ig_value **row,
                    ig_value **k) {
    ig_value *depth = k_i64(b, u->depth);
    *row = add_number(b, k_div(b, u->thread, depth), i * (THREADS / u->depth));
    *k = k_mod(b, u->thread, depth);
}

/* Of B: neighbours read along a line of a panel. */
static void place_b(const mma *u, ig_builder *b, uint32_t i, uint32_t *panel,
                    ig_value **k) {
    uint32_t lines = THREADS / GEMM_PANEL, turns = (uint32_t)u->depth / lines;
    *panel = i / turns;
    *k = add_number(b, k_div(b, u->thread, k_i64(b, GEMM_PANEL)), i % turns * lines);
}

static void load_slices(const mma *u, ig_builder *b, const gpu_position *at,
                        ig_value *k0, ig_value **out) {
    ig_value *across = k_mod(b, u->thread, k_i64(b, GEMM_PANEL));
    for (uint32_t i = 0; i < u->loads; i++) {
        ig_value *row, *k;
        uint32_t panel;
        place_a(u, b, i, &row, &k);
        out[i] = ig_gemm_load_a(u->g, b, k_add(b, at->row, row), k_add(b, k0, k));
        place_b(u, b, i, &panel, &k);
        out[u->loads + i] = ig_gemm_load_b(u->g, b, add_number(b, at->panel, panel),
                                           k_add(b, k0, k), across);
    }
}

/* To 10 bits after the point, ties away from zero.  A NaN stays one without its low
 * bits. */
static ig_value *round_factor(const mma *u, ig_builder *b, ig_value *x) {
    if (u->dtype != IG_DT_f32) {
        return x;
    }
    ig_value *bits = k_reinterpret(b, x, IG_DT_u32);
    ig_value *up = k_binary(b, IG_OP_add, bits, k_const(b, IG_DT_u32, 0x1000));
    ig_value *mask = k_const(b, IG_DT_u32, 0xffffe000);
    ig_value *quiet = k_const(b, IG_DT_u32, 0x400000);
    ig_value *rounded = k_where(b, k_compare(b, IG_OP_eq, x, x),
                                k_binary(b, IG_OP_and, up, mask),
                                k_binary(b, IG_OP_or, bits, quiet));
    return k_reinterpret(b, rounded, IG_DT_f32);
}

static void store_slices(const mma *u, ig_builder *b, ig_value *const slices[2],
                         ig_value *const *loaded) {
    ig_value *across = k_mod(b, u->thread, k_i64(b, GEMM_PANEL));
    for (uint32_t i = 0; i < u->loads; i++) {
        ig_value *row, *k;
        uint32_t panel;
        place_a(u, b, i, &row, &k);
        k_store(b, round_factor(u, b, loaded[i]), slices[0],
                k_add(b, multiply_by(b, row, u->line), k));
        place_b(u, b, i, &panel, &k);
        ig_value *column = add_number(b, across, (int64_t)panel * GEMM_PANEL);
        k_store(b, round_factor(u, b, loaded[u->loads + i]), slices[1],
                k_add(b, multiply_by(b, column, u->line), k));
    }
}

/* ---- sums ---- */

/* A register of a fragment whose first row (or column) and k are `first` and `k`. */
static ig_value *load_factor(const mma *u, ig_builder *b, ig_value *slice,
                             ig_value *first, int64_t k) {
    ig_value *row = k_add(b, first, u->group);
    ig_value *at = add_number(b, multiply_by(b, u->column_index, u->lanes), k);
    return k_load(b, slice, k_add(b, multiply_by(b, row, u->line), at),
                  (uint32_t)u->lanes);
}

static void multiply_step(const mma *u, ig_builder *b, ig_value *const slices[2],
                          int64_t k, ig_value **sums) {
    ig_value *factors[DOWN][6], *columns[ACROSS][2];
    for (uint32_t i = 0; i < DOWN; i++) {
        for (uint32_t r = 0; r < 4; r++) {
            ig_value *row = add_number(b, u->row, 16 * i + (r & 1 ? 8 : 0));
            factors[i][r] = load_factor(u, b, slices[0], row,
                                        k + (r & 2 ? 4 * u->lanes : 0));
        }
    }
    for (uint32_t j = 0; j < ACROSS; j++) {
        for (uint32_t r = 0; r < 2; r++) {
            columns[j][r] = load_factor(u, b, slices[1],
                                        add_number(b, u->column, 8 * j),
                                        k + (r ? 4 * u->lanes : 0));
        }
    }
    for (uint32_t i = 0; i < SUMS; i++) {
        ig_value **both = factors[i / ACROSS];
        both[4] = columns[i % ACROSS][0];
        both[5] = columns[i % ACROSS][1];
        sums[i] = k_mma(b, both, sums[i]);
    }
}

static k_loop emit_sums(const mma *u, ig_builder *b, const gpu_position *at) {
    ig_value *carried[SUMS + 2 * MAX_LOADS];
    uint32_t count = SUMS + 2 * u->loads;
    for (uint32_t i = 0; i < SUMS; i++) {
        carried[i] = k_const_vector(b, IG_DT_f32, 4, 0.0);
    }
    load_slices(u, b, at, k_i64(b, 0), carried + SUMS);
    k_loop loop = k_loop_open(b, k_i64(b, 0), u->g->k, k_i64(b, u->depth), carried,
                              count);
    ig_builder *in = &loop.b;
    ig_value *number = k_div(in, loop.index, k_i64(in, u->depth));
    ig_value *half = multiply_by(in, k_mod(in, number, k_i64(in, 2)),
                                 GEMM_TILE * u->line);
    ig_value *slices[] = { k_offset(in, u->a_slices, half),
                           k_offset(in, u->b_slices, half) };
    store_slices(u, in, slices, loop.carried + SUMS);
    ig_gpu_barrier(in);
    load_slices(u, in, at, add_number(in, loop.index, u->depth), carried + SUMS);
    for (uint32_t i = 0; i < SUMS; i++) {
        carried[i] = loop.carried[i];
    }
    for (int64_t k = 0; k < u->depth; k += 8 * u->lanes) {
        multiply_step(u, in, slices, k, carried);
    }
    k_loop_close(&loop, carried, count);
    return loop;
}

/* ---- the epilogue ---- */

static void stage_sums(const mma *u, ig_builder *b, ig_value *const *sums) {
    for (uint32_t i = 0; i < 4 * SUMS; i++) {
        uint32_t sum = i / 4, lane = i % 4;
        ig_value *row = k_add(b, u->row, u->group);
        ig_value *column = k_add(b, u->column, multiply_by(b, u->column_index, 2));
        row = add_number(b, row, 16 * (sum / ACROSS) + (lane & 2 ? 8 : 0));
        column = add_number(b, column, 8 * (sum % ACROSS) + (lane & 1));
        k_store(b, k_extract(b, sums[sum], lane), u->stage,
                k_add(b, multiply_by(b, row, STAGE_LINE), column));
    }
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const mma *u = user;
    gpu_position at = ig_gemm_position(u->g, b, tile);
    k_loop sums = emit_sums(u, b, &at);
    stage_sums(u, b, sums.results);
    ig_gpu_barrier(b);
    k_loop loop = ig_gpu_share_out(u->g->lower, b, u->thread, k_i64(b, 0),
                                   k_i64(b, GEMM_TILE * GEMM_TILE));
    ig_builder *in = &loop.b;
    ig_value *tile_size = k_i64(in, GEMM_TILE);
    ig_value *row = k_div(in, loop.index, tile_size);
    ig_value *column = k_mod(in, loop.index, tile_size);
    ig_value *sum = k_load(in, u->stage,
                           k_add(in, multiply_by(in, row, STAGE_LINE), column), 1);
    ig_value *index[2] = { k_add(in, at.row, row), k_add(in, at.column, column) };
    ig_gemm_store(u->g, in, index, sum);
    k_loop_close(&loop, NULL, 0);
    ig_gpu_barrier(b); /* before the next tile's sums take the place of these */
}

/* ---- the schedule ---- */

bool ig_gemm_has_fragments(const gpu_product *g) {
    ig_dtype a = (ig_dtype)g->a->type->dtype, b = (ig_dtype)g->panels->type->dtype;
    bool is_narrow = a == IG_DT_bf16 || a == IG_DT_f16;
    bool is_rounded = a == IG_DT_f32 && g->lower->options->tf32;
    return g->lower->target->has_fragments && a == b && (is_narrow || is_rounded);
}

void ig_gemm_lower_fragments(gpu_product *g) {
    ig_dtype dtype = (ig_dtype)g->a->type->dtype;
    int64_t lanes = 32 / ig_dtypes[dtype].bits;
    mma u = { .g = g,
              .dtype = dtype,
              .lanes = lanes,
              .depth = 16 * lanes,
              .line = LINE_WORDS * lanes,
              .loads = (uint32_t)(16 * lanes * GEMM_TILE / THREADS) };
    assert(u.loads <= MAX_LOADS && "registers hold a slice");
    ig_gemm_open(g);
    g->lower->threads = THREADS;
    u.a_slices = ig_gpu_shared(g->lower, dtype, 2 * GEMM_TILE * u.line);
    u.b_slices = ig_gpu_shared(g->lower, dtype, 2 * GEMM_TILE * u.line);
    u.stage = ig_gpu_shared(g->lower, IG_DT_f32, (int64_t)GEMM_TILE * STAGE_LINE);
    ig_builder *b = &g->lower->b;
    u.thread = ig_gpu_thread(b);
    ig_value *lane = k_mod(b, u.thread, k_i64(b, 32));
    ig_value *warp = k_div(b, u.thread, k_i64(b, 32));
    u.group = k_div(b, lane, k_i64(b, 4));
    u.column_index = k_mod(b, lane, k_i64(b, 4));
    u.row = multiply_by(b, k_div(b, warp, k_i64(b, 2)), SIDE);
    u.column = multiply_by(b, k_mod(b, warp, k_i64(b, 2)), SIDE);
    ig_lower_each_tile(g->lower, emit_tile, &u);
}
