/* The CPU's schedules against the interpreter, at every level, with odd extents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* ---- gemm ---- */

/* One text of one symbol, compiled once a level and run with each of `counts`. */
static inline void lower_check_counts(const char *text, const int64_t *counts,
                                      uint32_t count) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    enum { MAX = 64 };
    for (size_t i = 0; i < IG_COUNT_OF(levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        ig_tensor inputs[MAX][8], expected[MAX];
        lower_case c;
        lower_open(&c, levels[i], text, counts, 10);
        CHECK(count <= MAX && c.graph->body.arg_count <= 8);
        for (uint32_t k = 0; k < count; k++) {
            c.symbols[0] = counts[k];
            lower_inputs(&c, LOWER_PLAIN, 10);
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

/* relu(x w + b), or another epilogue in %1 and %r, of `rows` rows. */
static void put_rows(ig_writer *text, const char *rows, int64_t k, int64_t n,
                     const char *epilogue) {
    long long columns = n;
    ig_put(text, "module @t {\n");
    put_weight(text, "w", k, n);
    ig_put(
        text,
        "  graph @main(%%x: f32[%s, %lld], %%b: f32[%lld], %%r: f32[%s, %lld]) -> (f32[%s, %lld] \"y\") {\n",
        rows, (long long)k, columns, rows, columns, rows, columns);
    ig_put(text, "    %%0 = matmul %%x, @w : f32[%s, %lld]\n", rows, columns);
    ig_put(text, "    %%1 = add %%0, %%b : f32[%s, %lld]\n", rows, columns);
    ig_put(text, "    %%2 = %s : f32[%s, %lld]\n    ret %%2\n  }\n}\n", epilogue, rows,
           columns);
}

static void put_layer(ig_writer *text, int64_t k, int64_t n, const char *epilogue) {
    put_rows(text, "B", k, n, epilogue);
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

/* Code for `m` rows alone. */
static void check_known(int64_t m, int64_t k, int64_t n) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_rows(&text, ig_arena_printf(&arena, "%lld", (long long)m), k, n, "relu %1");
    lower_check(text.data, NULL, 10);
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
    enum { MAX = 33 };
    int64_t rows[MAX + 1];
    for (int64_t m = 0; m <= MAX; m++) {
        rows[m] = m;
    }
    check_rows(k, n, rows, MAX + 1);
}

TEST(gemm_of_every_row_count) {
    check_all_rows(5, 48);
    check_all_rows(40, 128);
}

TEST(gemm_of_sampled_sizes) {
    uint64_t state = 5;
    for (int i = 0; i < (unit_is_sampled() ? 6 : 24); i++) {
        int64_t n = 1 + (int64_t)(lower_random(&state) % 200);
        int64_t k = 1 + (int64_t)(lower_random(&state) % (i % 3 ? 60 : 300));
        check_all_rows(k, n);
    }
}

/* Sums so long that they are made in passes, in tiles of rows and of columns. */
TEST(gemm_of_long_sums) {
    static const int64_t rows[] = { 1, 2, 3, 6, 7, 14, 15, 29, 91 };
    check_rows(1024, 20, rows, IG_COUNT_OF(rows));
    check_rows(1025, 33, rows, IG_COUNT_OF(rows));
    check_rows(2100, 16, rows, IG_COUNT_OF(rows));
    check_rows(1100, 150, rows, IG_COUNT_OF(rows));
    check_gemm(20, 1100, 40, "tanh %1");
}

TEST(gemm_of_odd_columns) {
    static const int64_t columns[] = { 8, 15, 16, 17, 31, 33, 130, 161 };
    for (size_t i = 0; i < IG_COUNT_OF(columns); i++) {
        check_gemm(7, 19, columns[i], "relu %1");
        check_gemm(29, 3, columns[i], "mul %1, %r");
    }
}

/* Tiles of one block: so few k that storing takes longer than summing up. */
TEST(gemm_of_short_sums) {
    static const int64_t rows[] = { 1, 6, 14, 15, 29, 70 };
    check_rows(32, 150, rows, IG_COUNT_OF(rows));
    check_rows(13, 512, rows, IG_COUNT_OF(rows));
    check_rows(1, 40, rows, IG_COUNT_OF(rows));
}

/* Blocks that known sizes never ask for are not there; those that they do are. */
TEST(gemm_of_known_sizes) {
    static const int64_t columns[] = { 1, 16, 17, 33, 64, 129, 150, 260 };
    for (int64_t m = 0; m <= 45; m++) {
        check_known(m, m % 3 ? 3 : 40, columns[m % 8]);
    }
    check_known(91, 1100, 40);
    check_known(300, 33, 129);
    check_known(7, 600, 150);
}

/* ---- bits ---- */

/* The product of the first `rows` rows of `all`. */
static const float *product_of(lower_case *c, const ig_tensor *all, int64_t rows) {
    c->symbols[0] = rows;
    lower_inputs(c, LOWER_PLAIN, 10);
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        c->inputs[i].data = all[i].data;
    }
    lower_launch_all(c);
    return c->got[0].data;
}

static void check_bits(const char *level, const char *text, int64_t n,
                       const int64_t *rows, uint32_t count) {
    lower_case c;
    ig_tensor all[8];
    lower_open(&c, level, text, &rows[count - 1], 10);
    memcpy(all, c.inputs, sizeof all);
    lower_interpret(&c);
    lower_passes(&c);
    const float *want = product_of(&c, all, rows[count - 1]);
    for (uint32_t i = 0; i < count; i++) {
        const float *got = product_of(&c, all, rows[i]);
        size_t size = (size_t)(rows[i] * n) * sizeof *got;
        CHECK_MSG(memcmp(got, want, size) == 0, "%s: %lld rows have other bits", level,
                  (long long)rows[i]);
    }
    lower_close(&c);
}

/* A row's result does not depend on how many rows there are: all forms sum alike. */
TEST(gemm_bits_are_those_of_a_row) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    static const int64_t rows[] = { 1, 2, 3, 5, 6, 7, 13, 14, 15, 31, 90, 130 };
    static const int64_t depths[] = { 13, 100, 1030 };
    enum { N = 150 };
    for (size_t i = 0; i < IG_COUNT_OF(levels) * IG_COUNT_OF(depths); i++) {
        ig_arena arena;
        ig_arena_init(&arena, NULL);
        ig_writer text;
        ig_writer_init(&text, &arena);
        put_layer(&text, depths[i % IG_COUNT_OF(depths)], N, "relu %1");
        const char *level = levels[i / IG_COUNT_OF(depths)];
        check_bits(level, text.data, N, rows, IG_COUNT_OF(rows));
        ig_arena_fini(&arena);
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

/* A tile that an attribute asks for need not divide the columns of the grid's. */
TEST(gemm_of_asked_tiles) {
    static const int64_t asked[][3] = { { 5, 80, 8 }, { 8, 48, 4 }, { 3, 112, 11 } };
    enum { K = 7, PANEL = 16 };
    for (size_t i = 0; i < IG_COUNT_OF(asked); i++) {
        long long rows = asked[i][0], columns = asked[i][1], panels = asked[i][2];
        int64_t m = 23;
        lower_case c;
        ig_arena arena;
        ig_arena_init(&arena, NULL);
        ig_writer text;
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n  graph @main(%%x: f32[B, %d], %%w: f32[%lld, %d, ",
               K, panels, K);
        ig_put(&text, "%d]) -> (f32[B, %lld] \"y\") {\n", PANEL, panels * PANEL);
        ig_put(&text, "    %%0 = matmul_panels %%x, %%w {columns = %lld, tile = ",
               panels * PANEL);
        ig_put(&text, "[%lld, %lld]} : f32[B, %lld]\n    ret %%0\n  }\n}\n", rows,
               columns, panels * PANEL);
        lower_open(&c, "v4", text.data, &m, 10);
        lower_compare(&c, 1e-6);
        lower_close(&c);
        ig_arena_fini(&arena);
    }
}

TEST(gemm_with_a_long_epilogue) {
    check_gemm(17, 9, 40, "sigmoid %1");
    check_gemm(3, 9, 32, "tanh %1");
}

/* x w + r, where %r is what `residual` makes of %b, of type `b`, whose first extents
 * are B and n. */
static void check_residual(const char *b, const char *residual, int64_t m, int64_t n) {
    ig_arena arena;
    ig_writer text;
    int64_t counts[] = { m, n };
    ig_arena_init(&arena, NULL);
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_weight(&text, "w", 5, 40);
    ig_put(&text, "  graph @main(%%x: f32[B, 5], %%b: %s) -> (f32[B, 40] \"y\") {\n",
           b);
    ig_put(&text, "    %%0 = matmul %%x, @w : f32[B, 40]\n    %s\n", residual);
    ig_put(&text, "    %%2 = sub %%r, %%0 : f32[B, 40]\n    ret %%2\n  }\n}\n");
    lower_check(text.data, counts, 10);
    ig_arena_fini(&arena);
}

TEST(gemm_with_a_residual_of_any_strides) {
    static const int64_t rows[] = { 0, 1, 3, 17 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check_residual("f32[40, B]", "%r = transpose %b {perm = [1, 0]} : f32[B, 40]",
                       rows[i], 0);
        check_residual("f32[B, n]",
                       "guard eq(bcast(n, 40), 40) \"n\"\n"
                       "    %r = reshape %b {to = [B, n]} : f32[B, n]",
                       rows[i], 1);
        check_residual("f32[B, n]",
                       "guard eq(bcast(n, 40), 40) \"n\"\n"
                       "    %r = reshape %b {to = [B, n]} : f32[B, n]",
                       rows[i], 40);
    }
}

TEST(gemm_of_many_rows) {
    check_gemm(300, 33, 129, "relu %1");
}

/* a b, or by transposed factors, plus a row; extents are numbers or symbols. */
static void check_product(const char *m, const char *k, const char *n, int transposed,
                          const int64_t *symbols) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    bool is_a = transposed & 1, is_b = transposed & 2;
    ig_put(
        &text,
        "module @t {\n  graph @main(%%a: f32[%s, %s], %%b: f32[%s, %s], %%r: f32[%s]) "
        "-> (f32[%s, %s] \"y\") {\n",
        is_a ? k : m, is_a ? m : k, is_b ? n : k, is_b ? k : n, n, m, n);
    ig_put(&text, "    %%0 = matmul %%a, %%b {transpose_a = %s, transpose_b = %s}\n",
           is_a ? "true" : "false", is_b ? "true" : "false");
    ig_put(&text, "    %%1 = add %%0, %%r\n    ret %%1\n  }\n}\n");
    lower_check(text.data, symbols, 10);
    ig_arena_fini(&arena);
}

/* Sums of one panel, of several, and of nothing; rows of one height, of two, of any. */
TEST(products_of_computed_matrices) {
    static const int64_t counts[][2] = { { 260, 0 },   { 260, 1 },   { 9, 129 },
                                         { 257, 128 }, { 300, 256 }, { 1, 300 } };
    for (int transposed = 0; transposed < 4; transposed++) {
        check_product("264", "300", "40", transposed, NULL);
        check_product("264", "256", "33", transposed, NULL);
        check_product("257", "129", "32", transposed, NULL);
        check_product("20", "128", "70", transposed, NULL);
        check_product("264", "0", "32", transposed, NULL);
        for (size_t i = 0; i < IG_COUNT_OF(counts); i++) {
            check_product("M", "K", "40", transposed, counts[i]);
        }
    }
}

/* ---- the suite ---- */

UNIT_SUITE(cpu_lower, gemm_of_every_row_count, gemm_of_sampled_sizes, gemm_of_long_sums,
           gemm_of_short_sums, gemm_of_known_sizes, gemm_bits_are_those_of_a_row,
           gemm_of_odd_columns, gemm_of_few_rows_and_any_panels,
           gemm_with_a_long_epilogue, gemm_with_a_residual_of_any_strides,
           gemm_of_many_rows, gemm_of_asked_tiles, products_of_computed_matrices)
