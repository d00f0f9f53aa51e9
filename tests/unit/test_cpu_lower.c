/* The CPU's schedules against the interpreter, at every level, with odd extents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lower_case.h"

/* ---- gemm ---- */

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
static void check_gemm(int64_t m, int64_t k, int64_t n, const char *epilogue) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    long long columns = n;
    ig_put(&text, "module @t {\n");
    put_weight(&text, "w", k, n);
    ig_put(&text,
           "  graph @main(%%x: f32[B, %lld], %%b: f32[%lld], %%r: f32[B, %lld]) -> "
           "(f32[B, %lld] \"y\") {\n",
           (long long)k, columns, columns, columns);
    ig_put(&text, "    %%0 = matmul %%x, @w : f32[B, %lld]\n", columns);
    ig_put(&text, "    %%1 = add %%0, %%b : f32[B, %lld]\n", columns);
    ig_put(&text, "    %%2 = %s : f32[B, %lld]\n    ret %%2\n  }\n}\n", epilogue,
           columns);
    lower_check(text.data, &m, 10);
    ig_arena_fini(&arena);
}

TEST(gemm_of_every_row_count) {
    for (int64_t m = 0; m <= 30; m++) {
        check_gemm(m, 5, 48, "relu %1");
    }
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
        for (int64_t m = 1; m <= 4; m++) {
            check_gemm(m, 6, columns[i], "relu %1");
        }
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

UNIT_SUITE(cpu_lower, gemm_of_every_row_count, gemm_of_odd_columns,
           gemm_of_few_rows_and_any_panels, gemm_with_a_long_epilogue,
           gemm_of_many_rows)
