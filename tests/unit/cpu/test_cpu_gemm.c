/* Register tiles of GEMM: accumulators must stay in registers through the loop over K.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/cpu_case.h"

typedef struct tile {
    const char *level;
    uint32_t rows, vectors, lanes; /* rows × (vectors × lanes) */
} tile;

static const tile tiles[] = {
    { "v4", 14, 2, 16 }, { "v4", 1, 4, 16 }, { "v4-vnni", 6, 4, 16 },
    { "v3", 6, 2, 8 },   { "v3", 1, 4, 8 },  { "v2", 3, 2, 4 },
};

/* C[rows, n] = A[rows, K] * B[K, n], B packed row by row; params: K, stride of A. */
static ig_graph *build_tile(cpu_case *c, const tile *t) {
    static const ig_dtype buffers[] = { IG_DT_f32, IG_DT_f32, IG_DT_f32 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "tile", buffers, 3, 2, &b);
    ig_value **args = kernel->body.args;
    int64_t n = (int64_t)t->vectors * t->lanes;
    ig_value *rows[16], *zeros[K_CARRIED], *sums[K_CARRIED];
    for (uint32_t i = 0; i < t->rows; i++) {
        ig_value *at = k_mul(&b, k_i64(&b, i), args[4]);
        rows[i] = k_offset(&b, args[0], at);
    }
    uint32_t count = t->rows * t->vectors;
    for (uint32_t i = 0; i < count; i++) {
        zeros[i] = k_const_vector(&b, IG_DT_f32, t->lanes, 0);
    }
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[3], k_i64(&b, 1), zeros, count);
    ig_builder *body = &loop.b;
    ig_value *columns[8];
    ig_value *start = k_mul(body, loop.index, k_i64(body, n));
    for (uint32_t v = 0; v < t->vectors; v++) {
        ig_value *at = k_add(body, start, k_i64(body, v * t->lanes));
        columns[v] = k_load(body, args[1], at, t->lanes);
    }
    for (uint32_t i = 0; i < t->rows; i++) {
        ig_value *x = k_load(body, rows[i], loop.index, 1);
        ig_value *all = k_splat(body, x, t->lanes);
        for (uint32_t v = 0; v < t->vectors; v++) {
            uint32_t k = i * t->vectors + v;
            sums[k] = k_muladd(body, all, columns[v], loop.carried[k]);
        }
    }
    k_loop_close(&loop, sums, count);
    for (uint32_t k = 0; k < count; k++) {
        int64_t at = (k / t->vectors) * n + (k % t->vectors) * t->lanes;
        k_store(&b, loop.results[k], args[2], k_i64(&b, at));
    }
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

/* The text of the loop: from the last label before the last conditional jump back, up
 * to that jump. */
static const char *find_loop(const char *text, size_t *out_size) {
    const char *from = strstr(text, "=>This Inner Loop Header");
    CHECK(from != NULL);
    const char *jump = strstr(from, "\tj");
    CHECK(jump != NULL);
    *out_size = (size_t)(jump - from);
    return from;
}

/* Does a line move a vector from or to the stack?  Fourteen rows, the panel, k and its
 * end are more pointers and numbers than there are registers; those wait for no one. */
static bool is_spilling(const char *loop, size_t size) {
    const char *end = loop + size;
    for (const char *line = loop; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((next ? next : end) - line);
        bool is_vector = memmem(line, length, "mm", 2) != NULL; /* xmm, ymm, zmm */
        if (is_vector &&
            (memmem(line, length, "(%rsp", 5) || memmem(line, length, "(%rbp)", 6))) {
            return true;
        }
        line = next ? next + 1 : end;
    }
    return false;
}

static void check_loop(cpu_case *c, const ig_graph *kernel) {
    size_t size = 0;
    const char *text = cpu_case_text(c, kernel, IG_EMIT_ASM);
    const char *loop = find_loop(text, &size);
    if (getenv("INGOT_TEST_SHOW")) {
        printf("%.*s\n", (int)size, loop);
    }
    CHECK_MSG(!is_spilling(loop, size), "the loop spills:\n%.*s", (int)size, loop);
}

static void check_sums(cpu_case *c, const ig_graph *kernel, const tile *t) {
    enum { K = 37, MAX = 16 * 64 };
    static float x[16 * K], w[K * 64], y[MAX];
    int64_t n = (int64_t)t->vectors * t->lanes;
    for (int i = 0; i < 16 * K; i++) {
        x[i] = (float)(i % 13 - 6);
    }
    for (int i = 0; i < K * 64; i++) {
        w[i] = (float)(i % 7 - 3);
    }
    void *buffers[] = { x, w, y };
    int64_t params[] = { K, K };
    cpu_case_run(c, kernel, buffers, params, 1);
    for (int64_t i = 0; i < t->rows; i++) {
        for (int64_t j = 0; j < n; j++) {
            float sum = 0; /* small integers: exact in any order */
            for (int64_t k = 0; k < K; k++) {
                sum += x[i * K + k] * w[k * n + j];
            }
            CHECK(y[i * n + j] == sum);
        }
    }
}

TEST(register_tiles_stay_in_registers) {
    for (size_t i = 0; i < IG_COUNT_OF(tiles); i++) {
        cpu_case c;
        cpu_case_open(&c, tiles[i].level);
        ig_graph *kernel = build_tile(&c, &tiles[i]);
        check_loop(&c, kernel);
        check_sums(&c, kernel, &tiles[i]);
        cpu_case_close(&c);
    }
}

/* ---- what follows sums ---- */

enum { BOUNDS = 8 };

static float bound_of(int i) {
    return (float)(90 - 7 * i);
}

/* A tile for each of `blocks`, and of each the sums within bounds, less their sign. */
static ig_graph *build_blocks(cpu_case *c, const tile *t) {
    static const ig_dtype buffers[] = { IG_DT_f32, IG_DT_f32, IG_DT_f32 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "blocks", buffers, 3, 2, &b);
    ig_value **args = kernel->body.args, *zeros[K_CARRIED], *sums[K_CARRIED];
    uint32_t count = t->rows * t->vectors, lanes = t->lanes;
    k_loop blocks = k_loop_open(&b, k_i64(&b, 0), args[4], k_i64(&b, 1), NULL, 0);
    ig_builder *in = &blocks.b;
    ig_value *y = k_offset(in, args[2],
                           k_mul(in, blocks.index, k_i64(in, count * lanes)));
    for (uint32_t i = 0; i < count; i++) {
        zeros[i] = k_const_vector(in, IG_DT_f32, lanes, 0);
    }
    k_loop loop = k_loop_open(in, k_i64(in, 0), args[3], k_i64(in, 1), zeros, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *at = k_add(&loop.b, loop.index, k_i64(&loop.b, i));
        ig_value *x = k_splat(&loop.b, k_load(&loop.b, args[0], at, 1), lanes);
        ig_value *w = k_load(&loop.b, args[1], k_i64(&loop.b, (i % 2) * lanes), lanes);
        sums[i] = k_muladd(&loop.b, x, w, loop.carried[i]);
    }
    k_loop_close(&loop, sums, count);
    for (uint32_t i = 0; i < count; i++) {
        k_store(in, loop.results[i], y, k_i64(in, i * lanes));
    }
    k_loop rest = k_loop_open(in, k_i64(in, 0), k_i64(in, count * lanes),
                              k_i64(in, lanes), NULL, 0);
    ig_value *v = k_load(&rest.b, y, rest.index, lanes);
    for (int i = 0; i < BOUNDS; i++) {
        v = k_min(&rest.b, v, k_const_vector(&rest.b, IG_DT_f32, lanes, bound_of(i)));
        v = k_max(&rest.b, v, k_const_vector(&rest.b, IG_DT_f32, lanes, -bound_of(i)));
    }
    k_store(&rest.b, k_unary(&rest.b, IG_OP_abs, v), y, rest.index);
    k_loop_close(&rest, NULL, 0);
    k_loop_close(&blocks, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void check_blocks(cpu_case *c, const ig_graph *kernel, const tile *t) {
    enum { K = 5, BLOCKS = 3, MAX = BLOCKS * 28 * 16 };
    static float x[K + 28], w[32], y[MAX];
    int64_t count = t->rows * t->vectors;
    for (int i = 0; i < 32; i++) {
        w[i] = (float)(i % 11 - 5);
        x[i] = (float)(i % 7 - 3);
    }
    x[3] = -0.0f;
    cpu_case_run(c, kernel, (void *[]){ x, w, y }, (int64_t[]){ K, BLOCKS }, 1);
    for (int64_t i = 0; i < BLOCKS * count * t->lanes; i++) {
        int64_t vector = i / t->lanes % count, lane = i % t->lanes;
        float sum = 0;
        for (int64_t k = 0; k < K; k++) {
            sum += x[k + vector] * w[vector % 2 * t->lanes + lane];
        }
        float bound = bound_of(BOUNDS - 1);
        CHECK(y[i] == fminf(fabsf(sum), bound) && !signbit(y[i]));
    }
}

/* Constants of what follows sums have no registers where these are made. */
TEST(constants_leave_registers_to_sums) {
    static const tile all[] = { { "v4", 14, 2, 16 },
                                { "v3", 6, 2, 8 },
                                { "v2", 6, 2, 4 } };
    for (size_t i = 0; i < IG_COUNT_OF(all); i++) {
        cpu_case c;
        cpu_case_open(&c, all[i].level);
        ig_graph *kernel = build_blocks(&c, &all[i]);
        const char *text = cpu_case_text(&c, kernel, IG_EMIT_ASM);
        CHECK_MSG(!strstr(text, "64-byte Spill") && !strstr(text, "32-byte Spill") &&
                      !strstr(text, "16-byte Spill"),
                  "%s: sums are moved to memory", all[i].level);
        check_blocks(&c, kernel, &all[i]);
        cpu_case_close(&c);
    }
}

UNIT_SUITE(cpu_gemm, register_tiles_stay_in_registers,
           constants_leave_registers_to_sums)
