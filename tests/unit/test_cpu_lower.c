/* The CPU's schedules against the interpreter, at every level, with odd extents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lower_case.h"

/* ---- gemm ---- */

/* One text of one symbol, compiled once a level and run with each of `counts`. */
static inline void lower_check_counts(const char *text, const int64_t *counts,
                                      uint32_t count) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    enum { MOST = 64 };
    for (size_t i = 0; i < IG_COUNT_OF(levels); i++) {
        ig_tensor  inputs[MOST][8], expected[MOST];
        lower_case c;
        if (!cpu_level_runs(levels[i])) {
            continue;
        }
        lower_open(&c, levels[i], text, counts, 10);
        CHECK(count <= MOST && c.graph->body.arg_count <= 8);
        for (uint32_t k = 0; k < count; k++) {
            c.symbols[0] = counts[k];
            lower_inputs(&c, 10);
            lower_interpret(&c);
            memcpy(inputs[k], c.inputs, sizeof inputs[k]);
            expected[k] = c.expected[0];
        }
        lower_passes(&c);
        for (uint32_t k = 0; k < count; k++) {
            c.symbols[0] = counts[k];
            memcpy(c.inputs, inputs[k], sizeof inputs[k]);
            c.expected[0] = expected[k];
            lower_match(&c, lower_launch_all(&c), 1e-6);
        }
        lower_close(&c);
    }
}

static void put_weight(ig_writer *text, const char *name, int64_t rows,
                       int64_t columns) {
    ig_put(text, "  weight @%s : f32[%lld, %lld] = [", name, (long long)rows,
           (long long)columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        ig_put(text, "%s%g", i ? ", " : "", (double)(i * 37 % 101 - 50) / 64.0);
    }
    ig_put(text, "]\n");
}

/* relu(x w + b), or another epilogue in %1 and %r. */
static void put_layer(ig_writer *text, int64_t k, int64_t n, const char *epilogue) {
    long long columns = n;
    ig_put(text, "module @t {\n");
    put_weight(text, "w", k, n);
    ig_put(text,
           "  graph @main(%%x: f32[B, %lld], %%b: f32[%lld], %%r: f32[B, %lld]) -> "
           "(f32[B, %lld] \"y\") {\n",
           (long long)k, columns, columns, columns);
    ig_put(text, "    %%0 = matmul %%x, @w : f32[B, %lld]\n", columns);
    ig_put(text, "    %%1 = add %%0, %%b : f32[B, %lld]\n", columns);
    ig_put(text, "    %%2 = %s : f32[B, %lld]\n    ret %%2\n  }\n}\n", epilogue,
           columns);
}

static void check_gemm(int64_t m, int64_t k, int64_t n, const char *epilogue) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_layer(&text, k, n, epilogue);
    lower_check(text.data, &m, 10);
    ig_arena_fini(&arena);
}

/* The same code for any number of rows. */
static void check_rows(int64_t k, int64_t n, const int64_t *rows, uint32_t count) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_layer(&text, k, n, "relu %1");
    lower_check_counts(text.data, rows, count);
    ig_arena_fini(&arena);
}

static void check_all_rows(int64_t k, int64_t n) {
    enum { MOST = 33 };
    int64_t rows[MOST + 1];
    for (int64_t m = 0; m <= MOST; m++) {
        rows[m] = m;
    }
    check_rows(k, n, rows, MOST + 1);
}

TEST(gemm_of_every_row_count) {
    check_all_rows(5, 48);
    check_all_rows(40, 128);
}

TEST(gemm_of_sampled_sizes) {
    uint64_t state = 5;
    for (int i = 0; i < 24; i++) {
        int64_t n = 1 + (int64_t)(lower_random(&state) % 200);
        int64_t k = 1 + (int64_t)(lower_random(&state) % (i % 3 ? 60 : 300));
        check_all_rows(k, n);
    }
}

/* Sums so long that they are made in parts. */
TEST(gemm_of_long_sums) {
    static const int64_t rows[] = { 1, 2, 3, 6, 7, 14, 15, 29 };
    check_rows(1024, 20, rows, IG_COUNT_OF(rows));
    check_rows(1025, 33, rows, IG_COUNT_OF(rows));
    check_rows(2100, 16, rows, IG_COUNT_OF(rows));
}

TEST(gemm_of_odd_columns) {
    static const int64_t columns[] = { 8, 15, 16, 17, 31, 33, 130, 161 };
    for (size_t i = 0; i < IG_COUNT_OF(columns); i++) {
        check_gemm(7, 19, columns[i], "relu %1");
        check_gemm(29, 3, columns[i], "mul %1, %r");
    }
}

/* Few rows take wider slivers of panels, which must leave none over. */
TEST(gemm_of_few_rows_and_any_panels) {
    static const int64_t columns[] = { 16, 32, 61, 64, 80, 96, 112, 128, 192 };
    for (size_t i = 0; i < IG_COUNT_OF(columns); i++) {
        static const int64_t rows[] = { 1, 2, 3, 4, 5, 6, 7 };
        check_rows(6, columns[i], rows, IG_COUNT_OF(rows));
    }
}

TEST(gemm_with_a_long_epilogue) {
    check_gemm(17, 9, 40, "sigmoid %1");
    check_gemm(3, 9, 32, "tanh %1");
}

TEST(gemm_of_many_rows) {
    check_gemm(300, 33, 129, "relu %1");
}

/* ---- the suite ---- */

UNIT_SUITE(cpu_lower, gemm_of_every_row_count, gemm_of_sampled_sizes, gemm_of_long_sums,
           gemm_of_odd_columns, gemm_of_few_rows_and_any_panels,
           gemm_with_a_long_epilogue, gemm_of_many_rows)
