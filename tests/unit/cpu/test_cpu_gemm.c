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

static void check_loop(cpu_case *c, const ig_graph *kernel) {
    size_t size = 0;
    const char *text = cpu_case_text(c, kernel, IG_EMIT_ASM);
    const char *loop = find_loop(text, &size);
    if (getenv("INGOT_TEST_SHOW")) {
        printf("%.*s\n", (int)size, loop);
    }
    static const char *const stack[] = { "(%rsp)", "(%rbp)", "(%rsp," };
    for (size_t i = 0; i < IG_COUNT_OF(stack); i++) {
        const char *at = strstr(loop, stack[i]);
        CHECK_MSG(!at || (size_t)(at - loop) >= size, "the loop spills:\n%.*s",
                  (int)size, loop);
    }
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

UNIT_SUITE(cpu_gemm, register_tiles_stay_in_registers)
