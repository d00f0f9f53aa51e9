/* Compiled kernels on values that break things (NaN, infinities, zeros of both signs,
 * huge, tiny and denormal ones, the ends of integers) against the interpreter, at every
 * level.  test_fold_* holds the interpreter itself to values from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* A graph of one body; `signature` and `body` are IR text. */
static void check_with(const char *signature, const char *body, const int64_t *extents,
                       double bound, void (*prepare)(lower_case *c)) {
    char text[4096];
    snprintf(text, sizeof text, "module @t {\n  graph @main(%s {\n%s\n  }\n}\n",
             signature, body);
    lower_check_special(text, extents, bound, prepare);
}

static void check(const char *signature, const char *body, const int64_t *extents) {
    check_with(signature, body, extents, 1e-6, NULL);
}

/* `op` of %x and %y, in a dtype; the result's is `to`. */
static void check_pairs(const char *op, const char *dtype, const char *to) {
    char signature[128], body[256];
    snprintf(signature, sizeof signature,
             "%%x: %s[B, 1], %%y: %s[1, C]) -> (%s[B, C] \"o\")", dtype, dtype, to);
    snprintf(body, sizeof body, "%%0 = %s : %s[B, C]\nret %%0", op, to);
    check(signature, body, EXTENTS(31, 33));
}

static void check_each(const char *op, const char *dtype, const char *to) {
    char signature[128], body[256];
    snprintf(signature, sizeof signature, "%%x: %s[B]) -> (%s[B] \"o\")", dtype, to);
    snprintf(body, sizeof body, "%%0 = %s : %s[B]\nret %%0", op, to);
    check(signature, body, EXTENTS(67));
}

/* ---- elementwise ---- */

TEST(integer_powers) {
    static const char *const dtypes[] = {
        "i8", "u8", "i16", "i32", "u32", "i64", "u64"
    };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        for (size_t k = 0; k < IG_COUNT_OF(dtypes); k++) {
            char signature[128], body[128];
            snprintf(signature, sizeof signature,
                     "%%x: %s[B, 1], %%y: %s[1, C]) -> (%s[B, C] \"o\")", dtypes[i],
                     dtypes[k], dtypes[i]);
            snprintf(body, sizeof body, "%%0 = pow %%x, %%y : %s[B, C]\nret %%0",
                     dtypes[i]);
            check(signature, body, EXTENTS(17, 19));
        }
    }
}

static const char *const floats[] = { "f16", "bf16", "f32", "f64" };
static const char *const integers[] = { "i8",  "u8",  "i16", "u16",
                                        "i32", "u32", "i64", "u64" };

TEST(floats_by_pairs) {
    static const char *const ops[] = { "min %x, %y",
                                       "max %x, %y",
                                       "div %x, %y",
                                       "mod %x, %y",
                                       "mod %x, %y {truncate}",
                                       "add %x, %y",
                                       "mul %x, %y",
                                       "copysign %x, %y" };
    static const char *const compares[] = { "lt %x, %y", "ge %x, %y", "eq %x, %y",
                                            "ne %x, %y" };
    for (size_t k = 0; k < IG_COUNT_OF(floats); k++) {
        for (size_t i = 0; i < IG_COUNT_OF(ops); i++) {
            check_pairs(ops[i], floats[k], floats[k]);
        }
        for (size_t i = 0; i < IG_COUNT_OF(compares); i++) {
            check_pairs(compares[i], floats[k], "bool");
        }
    }
}

TEST(floats_one_by_one) {
    static const char *const ops[] = { "relu %x", "sign %x",  "round %x", "floor %x",
                                       "ceil %x", "trunc %x", "abs %x",   "neg %x" };
    for (size_t k = 0; k < IG_COUNT_OF(floats); k++) {
        for (size_t i = 0; i < IG_COUNT_OF(ops); i++) {
            check_each(ops[i], floats[k], floats[k]);
        }
        for (size_t i = 0; i < IG_COUNT_OF(integers); i++) {
            char cast[32];
            snprintf(cast, sizeof cast, "cast %%x {to = %s}", integers[i]);
            check_each(cast, floats[k], integers[i]);
        }
    }
}

TEST(integers_by_pairs) {
    static const char *const ops[] = { "add %x, %y", "mul %x, %y", "shl %x, %y",
                                       "shr %x, %y", "min %x, %y", "max %x, %y" };
    for (size_t k = 0; k < IG_COUNT_OF(integers); k++) {
        for (size_t i = 0; i < IG_COUNT_OF(ops); i++) {
            check_pairs(ops[i], integers[k], integers[k]);
        }
    }
}

/* ---- rows ---- */

/* Rows of one special value, then rows of it with another at the end. */
static void fill_rows(lower_case *c) {
    ig_tensor *x = &c->inputs[0];
    int64_t width = x->dims[x->rank - 1];
    for (int64_t i = 0; i < x->count; i++) {
        int64_t row = i / width, kind = row % (int64_t)IG_COUNT_OF(lower_specials);
        bool is_odd = row >= (int64_t)IG_COUNT_OF(lower_specials) &&
                      i % width == width - 1;
        ig_tensor_set_f64(x, i, is_odd ? 1 : lower_specials[kind]);
    }
}

enum { ROWS = 2 * IG_COUNT_OF(lower_specials) };

TEST(softmax_of_special_rows) {
    static const int64_t widths[] = { 1, 3, 8, 19, 37 };
    for (size_t i = 0; i < IG_COUNT_OF(widths); i++) {
        check_with("%x: f32[B, C]) -> (f32[B, C] \"o\", f32[B, C] \"p\")",
                   "%0 = softmax %x {axis = 1} : f32[B, C]\n"
                   "%1 = softmax %x {axis = 1, log} : f32[B, C]\nret %0, %1",
                   EXTENTS(ROWS, widths[i]), 1e-5, fill_rows);
        check_with("%x: f16[B, C]) -> (f16[B, C] \"o\")",
                   "%0 = softmax %x {axis = 1} : f16[B, C]\nret %0",
                   EXTENTS(ROWS, widths[i]), 1e-2, fill_rows);
    }
}

/* Small numbers, but one special value somewhere in each row. */
static void fill_one_special(lower_case *c) {
    ig_tensor *x = &c->inputs[0];
    int64_t width = x->dims[x->rank - 1];
    for (int64_t i = 0; i < x->count; i++) {
        int64_t row = i / width, kind = row % (int64_t)IG_COUNT_OF(lower_specials);
        bool is_odd = i % width == row * 29 % width;
        ig_tensor_set_f64(x, i, is_odd ? lower_specials[kind] : (double)(i % 7) - 5);
    }
}

/* Lines across, one special value somewhere in each. */
static void fill_one_across(lower_case *c) {
    ig_tensor *x = &c->inputs[0];
    int64_t length = x->dims[1], inner = x->dims[2];
    for (int64_t i = 0; i < x->count; i++) {
        int64_t line = i / inner / length * inner + i % inner;
        int64_t kind = line % (int64_t)IG_COUNT_OF(lower_specials);
        bool is_odd = i / inner % length == line * 29 % length;
        ig_tensor_set_f64(x, i, is_odd ? lower_specials[kind] : (double)(i % 7) - 5);
    }
}

/* Blocks of lines beside one another: in registers (length known) and in memory (open,
 * or long), of one phase to sixteen, shorter and longer than a vector. */
TEST(softmax_of_lines_beside_one_another) {
    static const int64_t inners[] = { 2, 3, 5, 7, 12, 15, 17, 20 };
    static const int64_t lengths[] = { 10, 131 };
    for (size_t i = 0; i < IG_COUNT_OF(inners); i++) {
        char signature[160], body[240];
        for (size_t k = 0; k <= IG_COUNT_OF(lengths); k++) {
            char type[32];
            bool is_open = k == IG_COUNT_OF(lengths);
            snprintf(
                type, sizeof type, is_open ? "f32[B, C, %lld]" : "f32[B, %lld, %lld]",
                (long long)(is_open ? inners[i] : lengths[k]), (long long)inners[i]);
            snprintf(signature, sizeof signature, "%%x: %s) -> (%s \"o\", %s \"p\")",
                     type, type, type);
            snprintf(body, sizeof body,
                     "%%0 = softmax %%x {axis = 1} : %s\n"
                     "%%1 = softmax %%x {axis = 1, log, empty_zero} : %s\nret %%0, %%1",
                     type, type);
            check_with(signature, body, EXTENTS(7, 23), 1e-4, fill_one_across);
        }
        check_with(signature, body, EXTENTS(2, 0), 1e-5, NULL);
    }
    check_with("%x: f16[B, 11, 5]) -> (f16[B, 11, 5] \"o\")",
               "%0 = softmax %x {axis = 1} : f16[B, 11, 5]\nret %0", EXTENTS(9), 1e-2,
               fill_one_across);
    check_with("%x: f64[B, 11, 5]) -> (f64[B, 11, 5] \"o\")",
               "%0 = softmax %x {axis = 1} : f64[B, 11, 5]\nret %0", EXTENTS(9), 1e-9,
               fill_one_across);
}

/* Of extents that the compiler knows: lines of less than a vector to more than
 * eight. */
TEST(softmax_of_lines_in_registers) {
    static const int64_t widths[] = { 1, 2, 3, 5, 8, 13, 16, 27, 64, 100, 128, 150 };
    for (size_t i = 0; i < IG_COUNT_OF(widths); i++) {
        char signature[120], body[200];
        long long width = (long long)widths[i];
        snprintf(signature, sizeof signature,
                 "%%x: f32[B, %lld]) -> (f32[B, %lld] \"o\", f32[B, %lld] \"p\")",
                 width, width, width);
        snprintf(body, sizeof body,
                 "%%0 = softmax %%x {axis = 1} : f32[B, %lld]\n"
                 "%%1 = softmax %%x {axis = 1, log, empty_zero} : f32[B, %lld]\n"
                 "ret %%0, %%1",
                 width, width);
        check_with(signature, body, EXTENTS(ROWS), 1e-4, fill_rows);
        check_with(signature, body, EXTENTS(ROWS), 1e-4, fill_one_special);
    }
}

/* Of lines of whole groups of vectors, and of what is left of them. */
TEST(one_special_value_in_a_long_row) {
    static const int64_t widths[] = { 16, 64, 150, 259 };
    for (size_t i = 0; i < IG_COUNT_OF(widths); i++) {
        const int64_t *extents = EXTENTS(ROWS, widths[i]);
        check_with("%x: f32[B, C]) -> (f32[B, C] \"o\", f32[B, C] \"p\")",
                   "%0 = softmax %x {axis = 1} : f32[B, C]\n"
                   "%1 = softmax %x {axis = 1, log, empty_zero} : f32[B, C]\n"
                   "ret %0, %1",
                   extents, 1e-5, fill_one_special);
        check_with("%x: f32[B, C]) -> (f32[B, C] \"o\", f32[B, C] \"p\")",
                   "%0 = softmax %x {axis = 0} : f32[B, C]\n"
                   "%1 = softmax %x {axis = 0, log} : f32[B, C]\nret %0, %1",
                   extents, 1e-5, fill_one_special);
        check_with("%x: f32[B, C]) -> (f32[B] \"o\", f32[B] \"p\")",
                   "%0 = reduce %x {op = max, axes = [1]} : f32[B]\n"
                   "%1 = reduce %x {op = min, axes = [1]} : f32[B]\nret %0, %1",
                   extents, 0, fill_one_special);
    }
}

/* One is computed in its place among others, the other in a buffer of its own. */
TEST(reductions_that_share_reads_lie_apart) {
    static const char *const texts[] = {
        "module @t {\n  graph @main(%x: f32[B, C]) -> (f32[B, C + 1], f32[B, 1]) {\n"
        "    %0 = reduce %x {op = mean, axes = [1], keep} : f32[B, 1]\n"
        "    %1 = concat %x, %0 {axis = 1} : f32[B, C + 1]\n"
        "    %2 = reduce %x {op = sumsq, axes = [1], keep} : f32[B, 1]\n"
        "    ret %1, %2\n  }\n}\n",
        "module @t {\n  graph @main(%x: f32[B, 5, C], %y: f32[B, 2]) -> "
        "(f32[B, C + 2], f32[B, C]) {\n"
        "    %0 = reduce %x {op = max, axes = [1]} : f32[B, C]\n"
        "    %1 = concat %y, %0 {axis = 1} : f32[B, C + 2]\n"
        "    %2 = reduce %x {op = min, axes = [1]} : f32[B, C]\n"
        "    ret %1, %2\n  }\n}\n",
    };
    static const int64_t sizes[][2] = {
        { 3, 4 }, { 5, 70 }, { 33, 17 }, { 1, 1 }, { 0, 4 }
    };
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        for (size_t k = 0; k < IG_COUNT_OF(sizes); k++) {
            lower_check(texts[i], sizes[k], 3);
        }
    }
}

TEST(reductions_of_special_rows) {
    static const char *const kinds[] = { "max", "min", "sum", "mean", "logsumexp" };
    static const int64_t widths[] = { 0, 1, 8, 37 };
    for (size_t i = 0; i < IG_COUNT_OF(kinds) * IG_COUNT_OF(widths); i++) {
        char body[128];
        snprintf(body, sizeof body,
                 "%%0 = reduce %%x {op = %s, axes = [1]} : f32[B]\nret %%0",
                 kinds[i / IG_COUNT_OF(widths)]);
        check_with("%x: f32[B, C]) -> (f32[B] \"o\")", body,
                   EXTENTS(ROWS, widths[i % IG_COUNT_OF(widths)]), 1e-5, fill_rows);
    }
}

/* Reductions of one tensor are one kernel: of rows, of columns, of all, of a few
 * columns; by vectors and element by element; more of them than one kernel takes. */
TEST(reductions_that_share_reads) {
    static const char *const axes[] = { "0", "1", "0, 1" };
    static const char *const dims[] = { "[C]", "[B]", "[]" };
    static const int64_t sizes[][2] = { { 7, 150 }, { 33, 5 }, { 1, 1 },  { 0, 4 },
                                        { 4, 0 },   { 9, 64 }, { 3, 300 } };
    for (size_t i = 0; i < IG_COUNT_OF(axes); i++) {
        const char *a = axes[i], *d = dims[i];
        char text[1024];
        snprintf(text, sizeof text,
                 "module @t {\n  graph @main(%%x: f32[B, C]) -> "
                 "(f32%s, f32%s, f32%s, f32%s, f32%s) {\n"
                 "    %%0 = reduce %%x {op = min, axes = [%s]} : f32%s\n"
                 "    %%1 = neg %%0 : f32%s\n"
                 "    %%2 = reduce %%x {op = mean, axes = [%s]} : f32%s\n"
                 "    %%3 = reduce %%x {op = max, axes = [%s]} : f32%s\n"
                 "    %%4 = reduce %%x {op = sum, axes = [%s]} : f32%s\n"
                 "    %%5 = reduce %%x {op = l1, axes = [%s]} : f32%s\n"
                 "    ret %%1, %%2, %%3, %%4, %%5\n  }\n}\n",
                 d, d, d, d, d, a, d, d, a, d, a, d, a, d, a, d);
        for (size_t k = 0; k < IG_COUNT_OF(sizes); k++) {
            lower_check_special(text, sizes[k], 1e-5, fill_one_special);
            lower_check(text, sizes[k], 1);
        }
    }
}

/* Rows so short that the least is not always that of the dtype. */
TEST(extremes_of_integers) {
    static const int64_t widths[] = { 1, 2, 5, 19 };
    for (size_t i = 0; i < IG_COUNT_OF(integers) * IG_COUNT_OF(widths); i++) {
        const char *dtype = integers[i / IG_COUNT_OF(widths)];
        char signature[128], body[512];
        snprintf(
            signature, sizeof signature,
            "%%x: %s[B, C]) -> (%s[B] \"o\", %s[B] \"p\", %s[C] \"q\", %s[C] \"r\")",
            dtype, dtype, dtype, dtype, dtype);
        snprintf(
            body, sizeof body,
            "%%0 = reduce %%x {op = min, axes = [1]} : %s[B]\n"
            "%%1 = reduce %%x {op = max, axes = [1]} : %s[B]\n"
            "%%2 = reduce %%x {op = min, axes = [0]} : %s[C]\n"
            "%%3 = reduce %%x {op = max, axes = [0]} : %s[C]\nret %%0, %%1, %%2, %%3",
            dtype, dtype, dtype, dtype);
        check(signature, body, EXTENTS(3, widths[i % IG_COUNT_OF(widths)]));
    }
}

TEST(layer_norm_of_special_rows) {
    check_with("%x: f32[B, C]) -> (f32[B, C] \"o\")",
               "%0 = layer_norm %x {axis = 1, epsilon = 1e-5} : f32[B, C]\nret %0",
               EXTENTS(ROWS, 19), 1e-3, fill_rows);
}

TEST(running_sums_of_special_values) {
    check("%x: f32[B, C]) -> (f32[B, C] \"o\")",
          "%0 = cumsum %x {axis = 1} : f32[B, C]\nret %0", EXTENTS(9, 37));
}

TEST(pools_of_special_rows) {
    check_with("%x: f32[B, 1, 9, 9]) -> (f32[B, 1, 7, 7] \"o\")",
               "%0 = pool %x {kernel = [3, 3]} : f32[B, 1, 7, 7]\nret %0", EXTENTS(7),
               0, fill_rows);
    check_with("%x: f32[B, 1, 9, 9]) -> (f32[B, 1, 11, 11] \"o\")",
               "%v = const {value = -inf} : f32[]\n"
               "%0 = pad %x, %v {before = [0, 0, 2, 2], after = [0, 0, 2, 2]} : "
               "f32[B, 1, 13, 13]\n"
               "%1 = pool %0 {kernel = [3, 3]} : f32[B, 1, 11, 11]\nret %1",
               EXTENTS(7), 0, fill_rows);
}

TEST(positions_of_special_extremes) {
    check(
        "%x: f32[B, C]) -> (i64[B] \"o\", i64[B] \"p\")",
        "%0 = arg_reduce %x {op = max, axis = 1} : i64[B]\n%1 = arg_reduce %x {op = min, axis = 1, last} : i64[B]\nret %0, %1",
        EXTENTS(37, 29));
}

/* ---- products ---- */

/* A NaN or an infinity in a row of x or a column of y goes nowhere else. */
static void fill_few(lower_case *c) {
    for (uint32_t i = 0; i < 2; i++) {
        ig_tensor *x = &c->inputs[i];
        uint64_t state = i;
        lower_fill(x, 1, &state);
        ig_tensor_set_f64(x, 0, i ? (double)INFINITY : (double)NAN);
        ig_tensor_set_f64(x, x->count - 1, i ? -1e30 : 0x1p-149);
    }
}

TEST(products_with_few_special_values) {
    check_with("%x: f32[B, 19], %y: f32[37, 19]) -> (f32[B, 37] \"o\")",
               "%0 = matmul %x, %y {transpose_b} : f32[B, 37]\nret %0", EXTENTS(9),
               1e-4, fill_few);
    check_with("%x: f32[B, 19], %y: f32[19, 37]) -> (f32[B, 37] \"o\")",
               "%0 = matmul %x, %y : f32[B, 37]\nret %0", EXTENTS(9), 1e-4, fill_few);
}

/* Each column of a quantised weight has a zero point of its own, each row too. */
TEST(zero_points_of_columns_and_rows) {
    static const int64_t rows[] = { 1, 3, 17 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        lower_check(
            "module @t {\n  weight @w : i8[8, 8] = splat(3)\n"
            "  graph @main(%x: f32[B, 8]) -> (f32[B, 8] \"o\", f32[B, 8] \"p\") {\n"
            "    %0 = const {value = 0.25} : f32[]\n"
            "    %1 = const {value = [0, 1, 2, 3, 4, 5, 6, 7]} : i8[8]\n"
            "    %2 = dequantize @w, %0, %1 {axis = 1} : f32[8, 8]\n"
            "    %3 = matmul %x, %2 : f32[B, 8]\n"
            "    %4 = dequantize @w, %0, %1 {axis = 0} : f32[8, 8]\n"
            "    %5 = matmul %x, %4 : f32[B, 8]\n    ret %3, %5\n  }\n}\n",
            &rows[i], 3);
    }
}

/* ---- ids ---- */

/* Negative ids count from the end; the ends of the range are met. */
static void fill_ids(lower_case *c) {
    ig_tensor *ids = &c->inputs[1];
    for (int64_t i = 0; i < ids->count; i++) {
        ig_tensor_set_i64(ids, i, i % 2 ? -1 - i % 5 : i % 5);
    }
}

TEST(gathers_by_ids_of_both_signs) {
    check_with("%x: f32[5, C], %i: i64[N]) -> (f32[N, C] \"o\")",
               "%0 = gather %x, %i {axis = 0} : f32[N, C]\nret %0", EXTENTS(19, 23), 0,
               fill_ids);
}

TEST(halves_are_compared_as_vectors) {
    static const char *const levels[] = { "v3", "v4", "v4-vnni" };
    for (size_t i = 0; i < IG_COUNT_OF(levels); i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        const ig_dtype dtypes[] = { IG_DT_f16, IG_DT_f16 };
        ig_builder b;
        ig_graph *kernel = cpu_case_kernel(&c, "halves", dtypes, 2, 0, &b);
        ig_value **args = kernel->body.args, *at = k_i64(&b, 0);
        ig_value *x = k_cast(&b, k_load(&b, args[0], at, 16), IG_DT_f32);
        ig_value *zero = k_const_vector(&b, IG_DT_f32, 16, 0);
        ig_value *value = k_cast(&b, k_max(&b, x, zero), IG_DT_f16);
        k_store(&b, value, args[1], at);
        ig_make_ret(&b, NULL, 0);
        const char *text = cpu_case_text(&c, kernel, IG_EMIT_ASM);
        CHECK_MSG(!strstr(text, "ucomiss"), "%s compares lane by lane:\n%s", levels[i],
                  text);
        cpu_case_close(&c);
    }
}

UNIT_SUITE(cpu_values, integer_powers, floats_by_pairs, floats_one_by_one,
           integers_by_pairs, softmax_of_special_rows,
           softmax_of_lines_beside_one_another, softmax_of_lines_in_registers,
           one_special_value_in_a_long_row, reductions_that_share_reads,
           reductions_that_share_reads_lie_apart, reductions_of_special_rows,
           extremes_of_integers, layer_norm_of_special_rows,
           running_sums_of_special_values, pools_of_special_rows,
           positions_of_special_extremes, products_with_few_special_values,
           gathers_by_ids_of_both_signs, zero_points_of_columns_and_rows,
           halves_are_compared_as_vectors)
