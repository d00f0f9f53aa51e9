/* Products of 8-bit integers: exact at every level, for all signs, zero points and
 * sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* A product; zero points as text, "" for none. */
typedef struct product {
    int64_t k, n;
    const char *a, *b;           /* dtypes */
    const char *a_zero, *b_zero; /* numbers, or one for each column by a formula */
    bool is_transposed, is_worst;
    int64_t span; /* of weights: -span … span, but for a few large ones; 0: all */
} product;

static int64_t weight_at(const product *p, int64_t i) {
    bool is_signed = p->b[0] == 'i';
    if (p->is_worst) {
        return is_signed ? -128 : 255;
    }
    if (p->span > 0) {
        return i % 531 == 0 ? 127 - i % 2 * 255 : i * 37 % (2 * p->span + 1) - p->span;
    }
    return i * 37 % 256 - (is_signed ? 128 : 0);
}

static void put_numbers(ig_writer *text, const product *p, bool is_zero) {
    int64_t count = is_zero ? p->n : p->k * p->n;
    bool is_signed = p->b[0] == 'i';
    ig_put(text, "[");
    for (int64_t i = 0; i < count; i++) {
        int64_t zero = i * 29 % 256 - (is_signed ? 128 : 0);
        ig_put(text, "%s%lld", i ? ", " : "",
               (long long)(is_zero ? zero : weight_at(p, i)));
    }
    ig_put(text, "]");
}

static void put_product(ig_writer *text, const product *p) {
    long long k = p->k, n = p->n;
    bool has_columns = strcmp(p->b_zero, "columns") == 0;
    ig_put(text, "module @t {\n  weight @w : %s[%lld, %lld] = ", p->b,
           p->is_transposed ? n : k, p->is_transposed ? k : n);
    put_numbers(text, p, false);
    if (has_columns) {
        ig_put(text, "\n  weight @z : %s[%lld] = ", p->b, n);
        put_numbers(text, p, true);
    }
    ig_put(text,
           "\n  graph @main(%%x: %s[B, %lld], %%r: i32[%lld]) -> (i32[B, %lld] \"y\") "
           "{\n",
           p->a, k, n, n);
    ig_put(text, "    %%0 = const {value = %s} : %s[]\n", *p->a_zero ? p->a_zero : "0",
           p->a);
    if (!has_columns) {
        ig_put(text, "    %%1 = const {value = %s} : %s[]\n",
               *p->b_zero ? p->b_zero : "0", p->b);
    }
    const char *w = "@w";
    if (p->is_transposed) {
        ig_put(text, "    %%4 = transpose @w {perm = [1, 0]} : %s[%lld, %lld]\n", p->b,
               k, n);
        w = "%4";
    }
    ig_put(text, "    %%5 = matmul_integer %%x, %s, %s, %s : i32[B, %lld]\n", w, "%0",
           has_columns ? "@z" : "%1", n);
    ig_put(text, "    %%6 = add %%5, %%r : i32[B, %lld]\n    ret %%6\n  }\n}\n", n);
}

static void fill_worst(lower_case *c) {
    ig_tensor *x = &c->inputs[0];
    for (int64_t i = 0; i < x->count; i++) {
        ig_tensor_set_i64(x, i, x->dtype == IG_DT_i8 ? -128 : 255);
    }
}

/* Are all products of the lowered module integer ones? */
static bool stays_integer(const lower_case *c) {
    return (lower_has(c, IG_OP_dot4) || lower_has(c, IG_OP_dot2) ||
            lower_has(c, IG_OP_dot4_block)) &&
           !lower_has(c, IG_OP_muladd);
}

enum { MAX_COUNTS = 8 };

/* One compilation a level; the first count of rows by its kernel form too. */
static void check_level(const product *p, const char *text, const char *level,
                        const int64_t *rows, uint32_t count) {
    ig_tensor inputs[MAX_COUNTS][2], expected[MAX_COUNTS];
    lower_case c;
    lower_open(&c, level, text, rows, 1);
    CHECK(count <= MAX_COUNTS);
    for (uint32_t i = count; i-- > 0;) {
        c.symbols[0] = rows[i];
        lower_inputs(&c, LOWER_SPECIAL, 0);
        if (p->is_worst) {
            fill_worst(&c);
        }
        lower_interpret(&c);
        memcpy(inputs[i], c.inputs, sizeof inputs[i]);
        expected[i] = c.expected[0];
    }
    lower_match_each(&c, lower_run(&c), 0);
    CHECK(stays_integer(&c));
    CHECK(lower_has(&c, IG_OP_dot4_block) == c.cpu.target.has_blocks);
    for (uint32_t i = 1; i < count; i++) {
        c.symbols[0] = rows[i];
        memcpy(c.inputs, inputs[i], sizeof inputs[i]);
        c.expected[0] = expected[i];
        lower_match_each(&c, lower_launch_all(&c), 0);
    }
    lower_close(&c);
}

static void check_product(const product *p, const int64_t *rows, uint32_t count) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_product(&text, p);
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        check_level(p, text.data, cpu_levels[i], rows, count);
    }
    ig_arena_fini(&arena);
}

static const int64_t few_rows[] = { 5, 0, 1, 2, 3, 15, 29 };

TEST(quads_of_all_signs_and_zero_points) {
    static const struct {
        const char *a, *b, *a_zero, *b_zero;
    } cases[] = {
        { "u8", "u8", "", "" },     { "i8", "u8", "3", "" },
        { "u8", "i8", "", "7" },    { "i8", "i8", "127", "columns" },
        { "u8", "u8", "1", "127" }, { "u8", "u8", "3", "columns" },
        { "i8", "i8", "", "" },     { "u8", "i8", "255", "" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        product p = { .k = 21,
                      .n = 37,
                      .a = cases[i].a,
                      .b = cases[i].b,
                      .a_zero = cases[i].a_zero,
                      .b_zero = cases[i].b_zero,
                      .is_transposed = i % 2 };
        check_product(&p, few_rows, IG_COUNT_OF(few_rows));
    }
}

/* Sums of two products that overflow 16 bits. */
TEST(quads_of_the_largest_numbers) {
    static const char *const dtypes[] = { "u8", "i8" };
    static const int64_t rows[] = { 1, 4, 13 };
    for (int i = 0; i < 4; i++) {
        product p = { .k = i % 2 ? 64 : 66,
                      .n = 32,
                      .a = dtypes[i % 2],
                      .b = dtypes[i / 2],
                      .a_zero = "",
                      .b_zero = "",
                      .is_worst = true };
        check_product(&p, rows, IG_COUNT_OF(rows));
    }
}

TEST(quads_of_sampled_sizes) {
    static const int64_t sizes[][2] = { { 1, 1 },  { 2, 16 }, { 3, 17 },  { 4, 7 },
                                        { 5, 33 }, { 63, 8 }, { 64, 129 } };
    static const int64_t rows[] = { 1, 6, 33 };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        product p = { .k = sizes[i][0],
                      .n = sizes[i][1],
                      .a = "u8",
                      .b = "i8",
                      .a_zero = "5",
                      .b_zero = "" };
        check_product(&p, rows, IG_COUNT_OF(rows));
    }
}

/* Passes over K, rows that share sets of L1, tiles of rows and of columns. */
TEST(quads_of_large_sizes) {
    static const int64_t rows[] = { 2, 30, 200 };
    static const int64_t depths[] = { 4096, 5001 };
    for (size_t i = 0; i < IG_COUNT_OF(depths); i++) {
        product p = { .k = depths[i], .n = 18, .a = "i8", .b = "i8" };
        p.a_zero = "";
        p.b_zero = "";
        check_product(&p, rows, 2);
    }
    product wide = { .k = 256, .n = 300, .a = "u8", .b = "u8" };
    wide.a_zero = "128";
    wide.b_zero = "128";
    check_product(&wide, rows, 3);
}

/* What follows a product when its layer is quantised: by numbers of all kinds. */
static void put_layer(ig_writer *text, int64_t n, const char *zero) {
    static const int step = 37;
    ig_put(text, "module @t {\n  weight @w : i8[24, %lld] = [", (long long)n);
    for (int64_t i = 0; i < 24 * n; i++) {
        ig_put(text, "%s%d", i ? ", " : "", (int)(i * step % 256) - 128);
    }
    ig_put(text, "]\n  graph @main(%%x: u8[B, 24], %%s: f32[%lld], %%a: f32[%lld]) -> ",
           (long long)n, (long long)n);
    ig_put(text, "(u8[B, %lld] \"y\") {\n", (long long)n);
    ig_put(text, "%%0 = const {value = 0} : u8[]\n%%1 = const {value = 0} : i8[]\n");
    ig_put(text, "%%2 = matmul_integer %%x, @w, %%0, %%1 : i32[B, %lld]\n",
           (long long)n);
    ig_put(text, "%%3 = cast %%2 {to = f32} : f32[B, %lld]\n", (long long)n);
    ig_put(text, "%%4 = mul %%3, %%s : f32[B, %lld]\n", (long long)n);
    ig_put(text, "%%5 = add %%4, %%a : f32[B, %lld]\n", (long long)n);
    ig_put(text, "%%6 = const {value = 0.37} : f32[]\n");
    ig_put(text, "%%7 = div_round %%5, %%6 : f32[B, %lld]\n", (long long)n);
    ig_put(text, "%%8 = const {value = %s} : f32[]\n", zero);
    ig_put(text, "%%9 = add %%7, %%8 : f32[B, %lld]\n", (long long)n);
    ig_put(text, "%%10 = cast %%9 {to = u8} : u8[B, %lld]\nret %%10\n  }\n}\n",
           (long long)n);
}

TEST(quantised_results) {
    static const char *const zeros[] = { "0", "117", "255", "-3", "0.5" };
    static const int64_t columns[] = { 85, 64, 96, 48, 100 };
    for (size_t i = 0; i < IG_COUNT_OF(zeros); i++) {
        int64_t rows = i == 0 ? 21 : 5;
        ig_arena arena;
        ig_arena_init(&arena, NULL);
        ig_writer text;
        ig_writer_init(&text, &arena);
        put_layer(&text, columns[i], zeros[i]);
        for (size_t l = 0; l < IG_COUNT_OF(cpu_levels); l++) {
            lower_case c;
            lower_open(&c, cpu_levels[l], text.data, &rows, 1);
            lower_inputs(&c, LOWER_SPECIAL, 0);
            lower_interpret(&c);
            lower_match_each(&c, lower_run(&c), 0);
            lower_close(&c);
        }
        ig_arena_fini(&arena);
    }
}

/* The length of the product's chains at a level, and whether some have extra quads. */
static int64_t chain_of(const product *p, const char *level, bool *has_targets) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_product(&text, p);
    lower_case c;
    int64_t rows = 1, chain = 0;
    lower_open(&c, level, text.data, &rows, 1);
    lower_run(&c);
    const ig_graph *weights = ig_module_graph(c.module, "weights");
    *has_targets = false;
    for (const ig_op *op = weights->body.first; op; op = op->next) {
        *has_targets |= op->code == IG_OP_chain_quads;
        chain = op->code == IG_OP_chain_quads ? ig_attr_int(op, IG_chain_quads_chain, 0)
                                              : chain;
    }
    lower_close(&c);
    ig_arena_fini(&arena);
    return chain;
}

/* Small weights go far in 16 bits, and large ones among them stand apart; with all rows
 * of 255, and with what tests give. */
TEST(quads_in_chains) {
    static const int64_t rows[] = { 2, 1, 3, 4, 13, 31 };
    static const struct {
        int64_t k, n, span, chain;
    } cases[] = {
        { 64, 37, 8, 4 },
        { 72, 150, 24, 2 },
        { 12, 45, 60, 1 },
        { 4416, 20, 8, 4 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        product p = { .k = cases[i].k, .n = cases[i].n, .span = cases[i].span };
        bool has_targets = false;
        p.a = i % 2 ? "i8" : "u8";
        p.b = "i8";
        p.a_zero = p.b_zero = "";
        p.is_transposed = i % 2;
        check_product(&p, rows, cases[i].k > 1000 ? 2 : IG_COUNT_OF(rows));
        CHECK_INT(chain_of(&p, "v3", &has_targets), cases[i].chain);
        CHECK(has_targets);
        CHECK_INT(chain_of(&p, "v4-vnni", &has_targets), 0);
        CHECK(!has_targets);
    }
}

UNIT_SUITE(cpu_lower_quads, quads_of_all_signs_and_zero_points,
           quads_of_the_largest_numbers, quads_of_sampled_sizes, quads_of_large_sizes,
           quantised_results, quads_in_chains)
