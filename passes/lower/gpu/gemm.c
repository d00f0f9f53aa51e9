/* Matrix multiplication with an epilogue, on GPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[m, n] = epilogue(sum over k of A[m, k] * B[k, n], m, n)
 *
 * B is packed into panels of 16 columns, [ceil(N / 16), K, 16], zero beyond N
 * (passes/place/pack.c).
 *
 *   grid       tiles of 64 rows x 64 columns of C
 *   block      16 x 16 threads; for every 16 of k, a slice of A and of B goes through
 *              shared memory:
 *
 *                  of A: [16 of k][64 rows]       of B: [16 of k][64 columns]
 *
 *   thread     (down, across) has rows down, down + 16 … and columns across,
 *              across + 16 …: a register tile of 4 x 4, so that a slice's element is
 *              used four times and neighbours in a warp are neighbours in memory
 *
 * Each element is one chain of muladds over k = 0 … K-1, so the bits do not depend on
 * the batch.  Elements beyond M, N or K are zero in shared memory and never stored.
 * K, N, M and strides are params: one kernel serves every shape.
 */
#include "passes/lower/gpu/gpu.h"

#include <assert.h>

enum {
    SIDE = 16, /* threads along each side; also columns of a panel, and k of a slice */
    EACH = 4,  /* rows and columns of a thread */
    TILE = SIDE * EACH,
    SUMS = EACH * EACH,
    LINE = TILE + 1 /* of a slice: odd, so that threads along k use different banks */
};

typedef struct gemm {
    ig_lower *lower;
    const ig_value *anchor; /* the body's matmul */
    const ig_lower_operand *a, *panels;
    const ig_dim *dims; /* [M, N] */
    ig_value *m, *n, *k, *lda, *panel_count, *across_tiles;
    ig_value *down, *across;     /* of this thread */
    ig_value *a_slice, *b_slice; /* shared */
    ig_value *stage; /* this thread's sums in memory: heavy epilogues only */
} gemm;

/* The tile in force: its first row, column and panel. */
typedef struct tile_position {
    ig_value *row, *column, *panel;
} tile_position;

/* `x` + SIDE * `number`. */
static ig_value *stride_on(ig_builder *b, ig_value *x, uint32_t index) {
    return k_add(b, x, k_i64(b, (int64_t)SIDE * index));
}

/* Place of (k, column) of a slice. */
static ig_value *slice_at(ig_builder *b, ig_value *k, ig_value *column) {
    return k_add(b, k_mul(b, k, k_i64(b, LINE)), column);
}

/* ---- slices ---- */

/* Threads along `across` read along k, which is contiguous in A. */
static void copy_a(const gemm *g, ig_builder *b, const tile_position *at,
                   ig_value *k0) {
    ig_value *k = k_add(b, k0, g->across), *k_left = k_sub(b, g->k, k);
    for (uint32_t i = 0; i < EACH; i++) {
        ig_value *position = stride_on(b, g->down, i);
        ig_value *row = k_add(b, at->row, position);
        ig_value *is_there = k_min(b, k_sub(b, g->m, row), k_left);
        ig_value *index = k_add(b, k_mul(b, row, g->lda), k);
        ig_value *x = k_load_count(b, g->a->buffer, index, 1, is_there);
        x = k_cast(b, x, IG_DT_f32);
        k_store(b, x, g->a_slice, slice_at(b, g->across, position));
    }
}

/* Threads along `across` read one line of a panel. */
static void copy_b(const gemm *g, ig_builder *b, const tile_position *at,
                   ig_value *k0) {
    ig_value *k = k_add(b, k0, g->down), *k_left = k_sub(b, g->k, k);
    for (uint32_t i = 0; i < EACH; i++) {
        ig_value *panel = k_add(b, at->panel, k_i64(b, i));
        ig_value *is_there = k_min(b, k_sub(b, g->panel_count, panel), k_left);
        ig_value *line = k_add(b, k_mul(b, panel, g->k), k);
        ig_value *index = k_add(b, k_mul(b, line, k_i64(b, SIDE)), g->across);
        ig_value *x = k_load_count(b, g->panels->buffer, index, 1, is_there);
        x = k_cast(b, x, IG_DT_f32);
        k_store(b, x, g->b_slice, slice_at(b, g->down, stride_on(b, g->across, i)));
    }
}

/* ---- sums ---- */

static k_loop multiply_slice(const gemm *g, ig_builder *b, ig_value *const *sums) {
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, SIDE), k_i64(b, 1), sums, SUMS);
    ig_builder *in = &loop.b;
    ig_value *x[EACH], *y[EACH], *next[SUMS];
    for (uint32_t i = 0; i < EACH; i++) {
        ig_value *row = stride_on(in, g->down, i),
                 *column = stride_on(in, g->across, i);
        x[i] = k_load(in, g->a_slice, slice_at(in, loop.index, row), 1);
        y[i] = k_load(in, g->b_slice, slice_at(in, loop.index, column), 1);
    }
    for (uint32_t i = 0; i < SUMS; i++) {
        next[i] = k_muladd(in, x[i / EACH], y[i % EACH], loop.carried[i]);
    }
    k_loop_close(&loop, next, SUMS);
    return loop;
}

static k_loop emit_sums(const gemm *g, ig_builder *b, const tile_position *at) {
    ig_value *sums[SUMS];
    for (uint32_t i = 0; i < SUMS; i++) {
        sums[i] = k_const(b, IG_DT_f32, 0.0);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), g->k, k_i64(b, SIDE), sums, SUMS);
    copy_a(g, &loop.b, at, loop.index);
    copy_b(g, &loop.b, at, loop.index);
    ig_gpu_barrier(&loop.b);
    k_loop slice = multiply_slice(g, &loop.b, loop.carried);
    ig_gpu_barrier(&loop.b); /* before the next slices take the place of these */
    k_loop_close(&loop, slice.results, SUMS);
    return loop;
}

/* ---- the epilogue ---- */

static void store_position(const gemm *g, ig_builder *b, ig_value *const index[2],
                           ig_value *sum) {
    ig_value *is_there = k_binary(b, IG_OP_and, k_compare(b, IG_OP_lt, index[0], g->m),
                                  k_compare(b, IG_OP_lt, index[1], g->n));
    k_if there = k_if_open(b, is_there, NULL, 0);
    ig_map values;
    ig_map_init(&values, g->lower->arena);
    sum = k_cast(&there.then, sum, (ig_dtype)g->anchor->type->dtype);
    ig_map_set_id(&values, IG_MAP_PTR(g->anchor), sum);
    ig_site site = { .b = &there.then,
                     .lanes = 1,
                     .rank = 2,
                     .dims = g->dims,
                     .index = index,
                     .values = &values };
    ig_lower_store_yields(g->lower, &site);
    k_if_close(&there, NULL, NULL);
}

static void store_sums(const gemm *g, ig_builder *b, const tile_position *at,
                       ig_value *const *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        ig_value *row = stride_on(b, g->down, i / EACH);
        ig_value *column = stride_on(b, g->across, i % EACH);
        ig_value *index[2] = { k_add(b, at->row, row), k_add(b, at->column, column) };
        store_position(g, b, index, sums[i]);
    }
}

/* A long epilogue is emitted once and loops over the sums, which go through memory. */
static void store_staged(const gemm *g, ig_builder *b, const tile_position *at,
                         ig_value *const *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        k_store(b, sums[i], g->stage, k_i64(b, i));
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, SUMS), k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *each = k_i64(in, EACH), *side = k_i64(in, SIDE);
    ig_value *row = k_mul(in, k_div(in, loop.index, each), side);
    ig_value *column = k_mul(in, k_mod(in, loop.index, each), side);
    ig_value *index[2] = { k_add(in, at->row, k_add(in, g->down, row)),
                           k_add(in, at->column, k_add(in, g->across, column)) };
    store_position(g, in, index, k_load(in, g->stage, loop.index, 1));
    k_loop_close(&loop, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const gemm *g = user;
    ig_value *row_tile = k_div(b, tile, g->across_tiles);
    ig_value *column_tile = k_mod(b, tile, g->across_tiles);
    tile_position at = { .row = k_mul(b, row_tile, k_i64(b, TILE)),
                         .column = k_mul(b, column_tile, k_i64(b, TILE)),
                         .panel = k_mul(b, column_tile, k_i64(b, EACH)) };
    k_loop sums = emit_sums(g, b, &at);
    (g->stage ? store_staged : store_sums)(g, b, &at, sums.results);
}

/* ---- the schedule ---- */

static void open_kernel(gemm *g) {
    ig_lower *lower = g->lower;
    ig_dim across = ig_lower_ceil_div(lower, g->dims[1], TILE);
    ig_dim down = ig_lower_ceil_div(lower, g->dims[0], TILE);
    lower->threads = (int64_t)SIDE * SIDE;
    lower->grid = ig_lower_mul(lower, down, across);
    g->m = ig_lower_param(lower, g->dims[0]);
    g->n = ig_lower_param(lower, g->dims[1]);
    g->k = ig_lower_param(lower, g->a->type->dims[1]);
    g->lda = ig_lower_param(lower, g->a->strides[0]);
    g->across_tiles = ig_lower_param(lower, across);
    g->a_slice = ig_gpu_shared(lower, IG_DT_f32, (int64_t)SIDE * LINE);
    g->b_slice = ig_gpu_shared(lower, IG_DT_f32, (int64_t)SIDE * LINE);
    if (ig_lower_is_heavy(lower->body)) {
        g->stage = k_local(lower->kernel, IG_DT_f32, SUMS);
    }
    ig_value *thread = ig_gpu_thread(&lower->b), *side = k_i64(&lower->b, SIDE);
    g->down = k_div(&lower->b, thread, side);
    g->across = k_mod(&lower->b, thread, side);
    g->panel_count = k_ceil_div(&lower->b, g->n, SIDE);
}

static bool is_summed_in_f32(const ig_lower_operand *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    return ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits <= 32;
}

ig_status ig_lower_gpu_gemm(ig_lower *lower) {
    ig_op *anchor = ig_lower_anchor(lower, IG_OP_matmul_panels);
    const ig_lower_operand *a = anchor ? ig_lower_input(lower, anchor, 0) : NULL;
    const ig_lower_operand *panels = anchor ? ig_lower_input(lower, anchor, 1) : NULL;
    if (!a || !panels || !ig_dim_is(a->strides[1], 1) || !is_summed_in_f32(a) ||
        !is_summed_in_f32(panels) || anchor->operand_count > 2) {
        return ig_lower_unsupported(lower, "this form of matmul");
    }
    gemm g = { .lower = lower,
               .anchor = &anchor->results[0],
               .a = a,
               .panels = panels,
               .dims = anchor->results[0].type->dims };
    lower->shares_strides = true;
    lower->name = ig_lower_name(lower, "gemm");
    open_kernel(&g);
    ig_lower_each_tile(lower, emit_tile, &g);
    return IG_OK;
}
