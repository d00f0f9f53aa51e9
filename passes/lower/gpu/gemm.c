/* Matrix multiplication with an epilogue, on GPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   C[m, n] = epilogue(sum over k of A[m, k] * B[k, n], m, n)
 *
 * B is packed into panels of 16 columns, [ceil(N / 16), K, 16], zero beyond N
 * (passes/place/pack.c).  mma.c multiplies by fragments; all other products are here:
 *
 *   grid       tiles of 64 rows x 64 columns of C
 *   block      16 x 16 threads; for every 16 of k, a slice of A and of B goes through
 *              shared memory:
 *
 *                  of A: [16 of k][64 rows]       of B: [16 of k][64 columns]
 *
 *              There are two of each: the next slice is loaded to registers while one
 *              is multiplied, and a barrier a slice is enough.
 *   thread     (down, across) has rows down, down + 16 … and columns across,
 *              across + 16 …: a register tile of 4 x 4, so that a slice's element is
 *              used four times and neighbours in a warp are neighbours in memory
 *
 * Each element is one chain of muladds over k = 0 … K-1, so the bits do not depend on
 * the batch.  Elements beyond M, N or K are zero in shared memory and never stored.
 * K, N, M and strides are params: one kernel serves every shape.
 */
#include "passes/lower/gpu/gemm.h"

#include <assert.h>

enum {
    SIDE = GEMM_PANEL, /* threads along each side; also k of a slice */
    EACH = 4,          /* rows and columns of a thread */
    SUMS = EACH * EACH,
    LINE = GEMM_TILE +
           1 /* of a slice: odd, so that threads along k use different banks */
};
_Static_assert(SIDE *EACH == GEMM_TILE, "threads have all of a tile");

/* Products of f32 one by one. */
typedef struct scalar_gemm {
    gpu_product *g;
    ig_value *down, *across;       /* of this thread */
    ig_value *a_slices, *b_slices; /* shared */
    ig_value *stage; /* this thread's sums in memory: heavy epilogues only */
} scalar_gemm;

/* ---- what both schedules do ---- */

void ig_gemm_open(gpu_product *g) {
    ig_lower *lower = g->lower;
    ig_dim across = ig_lower_ceil_div(lower, g->dims[1], GEMM_TILE);
    ig_dim down = ig_lower_ceil_div(lower, g->dims[0], GEMM_TILE);
    lower->grid = ig_lower_mul(lower, down, across);
    g->m = ig_lower_param(lower, g->dims[0]);
    g->n = ig_lower_param(lower, g->dims[1]);
    g->k = ig_lower_param(lower, g->a->type->dims[1]);
    g->lda = ig_lower_param(lower, g->a->strides[0]);
    g->across_tiles = ig_lower_param(lower, across);
    g->panel_count = k_ceil_div(&lower->b, g->n, GEMM_PANEL);
}

gpu_position ig_gemm_position(const gpu_product *g, ig_builder *b, ig_value *tile) {
    ig_value *row_tile = k_div(b, tile, g->across_tiles);
    ig_value *column_tile = k_mod(b, tile, g->across_tiles);
    ig_value *size = k_i64(b, GEMM_TILE), *panels = k_i64(b, GEMM_TILE / GEMM_PANEL);
    return (gpu_position){ .row = k_mul(b, row_tile, size),
                           .column = k_mul(b, column_tile, size),
                           .panel = k_mul(b, column_tile, panels) };
}

ig_value *ig_gemm_load_a(const gpu_product *g, ig_builder *b, ig_value *row,
                         ig_value *k) {
    ig_value *is_there = k_min(b, k_sub(b, g->m, row), k_sub(b, g->k, k));
    ig_value *index = k_add(b, k_mul(b, row, g->lda), k);
    return k_load_count(b, g->a->buffer, index, 1, is_there);
}

ig_value *ig_gemm_load_b(const gpu_product *g, ig_builder *b, ig_value *panel,
                         ig_value *k, ig_value *across) {
    ig_value *is_there = k_min(b, k_sub(b, g->panel_count, panel), k_sub(b, g->k, k));
    ig_value *line = k_add(b, k_mul(b, panel, g->k), k);
    ig_value *index = k_add(b, k_mul(b, line, k_i64(b, GEMM_PANEL)), across);
    return k_load_count(b, g->panels->buffer, index, 1, is_there);
}

void ig_gemm_store(const gpu_product *g, ig_builder *b, ig_value *const index[2],
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

/* ---- slices ---- */

/* `x` + SIDE * `index`. */
static ig_value *stride_on(ig_builder *b, ig_value *x, uint32_t index) {
    return k_add(b, x, k_i64(b, (int64_t)SIDE * index));
}

/* Place of (k, column) of a slice. */
static ig_value *slice_at(ig_builder *b, ig_value *k, ig_value *column) {
    return k_add(b, k_mul(b, k, k_i64(b, LINE)), column);
}

/* Threads along `across` read along k, which is contiguous in A, and one line of a
 * panel. */
static void load_slices(const scalar_gemm *s, ig_builder *b, const gpu_position *at,
                        ig_value *k0, ig_value **out) {
    for (uint32_t i = 0; i < EACH; i++) {
        ig_value *row = k_add(b, at->row, stride_on(b, s->down, i));
        out[i] = ig_gemm_load_a(s->g, b, row, k_add(b, k0, s->across));
        ig_value *panel = k_add(b, at->panel, k_i64(b, i));
        out[EACH + i] = ig_gemm_load_b(s->g, b, panel, k_add(b, k0, s->down),
                                       s->across);
    }
}

static void store_slices(const scalar_gemm *s, ig_builder *b, ig_value *const slices[2],
                         ig_value *const *loaded) {
    for (uint32_t i = 0; i < EACH; i++) {
        k_store(b, k_cast(b, loaded[i], IG_DT_f32), slices[0],
                slice_at(b, s->across, stride_on(b, s->down, i)));
        k_store(b, k_cast(b, loaded[EACH + i], IG_DT_f32), slices[1],
                slice_at(b, s->down, stride_on(b, s->across, i)));
    }
}

/* ---- sums ---- */

static k_loop multiply_slice(const scalar_gemm *s, ig_builder *b,
                             ig_value *const slices[2], ig_value *const *sums) {
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, SIDE), k_i64(b, 1), sums, SUMS);
    ig_builder *in = &loop.b;
    ig_value *x[EACH], *y[EACH], *next[SUMS];
    for (uint32_t i = 0; i < EACH; i++) {
        ig_value *row = stride_on(in, s->down, i),
                 *column = stride_on(in, s->across, i);
        x[i] = k_load(in, slices[0], slice_at(in, loop.index, row), 1);
        y[i] = k_load(in, slices[1], slice_at(in, loop.index, column), 1);
    }
    for (uint32_t i = 0; i < SUMS; i++) {
        next[i] = k_muladd(in, x[i / EACH], y[i % EACH], loop.carried[i]);
    }
    k_loop_close(&loop, next, SUMS);
    return loop;
}

static k_loop emit_sums(const scalar_gemm *s, ig_builder *b, const gpu_position *at) {
    ig_value *carried[SUMS + 2 * EACH];
    for (uint32_t i = 0; i < SUMS; i++) {
        carried[i] = k_const(b, IG_DT_f32, 0.0);
    }
    load_slices(s, b, at, k_i64(b, 0), carried + SUMS);
    k_loop loop = k_loop_open(b, k_i64(b, 0), s->g->k, k_i64(b, SIDE), carried,
                              SUMS + 2 * EACH);
    ig_builder *in = &loop.b;
    ig_value *turn = k_div(in, loop.index, k_i64(in, SIDE));
    ig_value *half = k_mul(in, k_mod(in, turn, k_i64(in, 2)), k_i64(in, SIDE * LINE));
    ig_value *slices[] = { k_offset(in, s->a_slices, half),
                           k_offset(in, s->b_slices, half) };
    store_slices(s, in, slices, loop.carried + SUMS);
    ig_gpu_barrier(in);
    load_slices(s, in, at, k_add(in, loop.index, k_i64(in, SIDE)), carried + SUMS);
    k_loop slice = multiply_slice(s, in, slices, loop.carried);
    for (uint32_t i = 0; i < SUMS; i++) {
        carried[i] = slice.results[i];
    }
    k_loop_close(&loop, carried, SUMS + 2 * EACH);
    return loop;
}

/* ---- the epilogue ---- */

static void store_sums(const scalar_gemm *s, ig_builder *b, const gpu_position *at,
                       ig_value *const *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        ig_value *row = stride_on(b, s->down, i / EACH);
        ig_value *column = stride_on(b, s->across, i % EACH);
        ig_value *index[2] = { k_add(b, at->row, row), k_add(b, at->column, column) };
        ig_gemm_store(s->g, b, index, sums[i]);
    }
}

/* A long epilogue is emitted once and loops over the sums, which go through memory. */
static void store_staged(const scalar_gemm *s, ig_builder *b, const gpu_position *at,
                         ig_value *const *sums) {
    for (uint32_t i = 0; i < SUMS; i++) {
        k_store(b, sums[i], s->stage, k_i64(b, i));
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, SUMS), k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *each = k_i64(in, EACH), *side = k_i64(in, SIDE);
    ig_value *row = k_mul(in, k_div(in, loop.index, each), side);
    ig_value *column = k_mul(in, k_mod(in, loop.index, each), side);
    ig_value *index[2] = { k_add(in, at->row, k_add(in, s->down, row)),
                           k_add(in, at->column, k_add(in, s->across, column)) };
    ig_gemm_store(s->g, in, index, k_load(in, s->stage, loop.index, 1));
    k_loop_close(&loop, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const scalar_gemm *s = user;
    gpu_position at = ig_gemm_position(s->g, b, tile);
    k_loop sums = emit_sums(s, b, &at);
    (s->stage ? store_staged : store_sums)(s, b, &at, sums.results);
    ig_gpu_barrier(b); /* before the next tile's slices take the place of these */
}

/* ---- the schedule ---- */

static void lower_scalars(gpu_product *g) {
    ig_lower *lower = g->lower;
    ig_gemm_open(g);
    lower->threads = (int64_t)SIDE * SIDE;
    scalar_gemm s = { .g = g,
                      .a_slices = ig_gpu_shared(lower, IG_DT_f32, 2 * SIDE * LINE),
                      .b_slices = ig_gpu_shared(lower, IG_DT_f32, 2 * SIDE * LINE) };
    if (ig_lower_is_heavy(lower->body)) {
        s.stage = k_local(lower->kernel, IG_DT_f32, SUMS);
    }
    ig_value *thread = ig_gpu_thread(&lower->b), *side = k_i64(&lower->b, SIDE);
    s.down = k_div(&lower->b, thread, side);
    s.across = k_mod(&lower->b, thread, side);
    ig_lower_each_tile(lower, emit_tile, &s);
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
    gpu_product g = { .lower = lower,
                      .anchor = &anchor->results[0],
                      .a = a,
                      .panels = panels,
                      .dims = anchor->results[0].type->dims };
    lower->shares_strides = true;
    lower->name = ig_lower_name(lower, "gemm");
    (ig_gemm_has_fragments(&g) ? ig_gemm_lower_fragments : lower_scalars)(&g);
    return IG_OK;
}
