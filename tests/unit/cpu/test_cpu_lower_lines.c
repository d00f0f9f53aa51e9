/* Positions of extremes, running sums and running extremes against the interpreter, at
 * every level: lines side by side, along the axis, and one element after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* A whole group of vectors and a rest; and less than a vector. */
static const int64_t widths[] = { 150, 9 };

static void check_forms(const char *op, const char *type, const char *result,
                        const char *const *forms, size_t count, bool is_special) {
    for (size_t i = 0; i < count * IG_COUNT_OF(widths); i++) {
        char text[512];
        int64_t width = widths[i / count];
        snprintf(text, sizeof text,
                 "module @t {\n  graph @main(%%x: %s[3, B, W]) -> (%s \"o\") {\n"
                 "    %%0 = %s %%x {%s} : %s\n    ret %%0\n  }\n}\n",
                 type, result, op, forms[i % count], result);
        if (is_special) {
            lower_check_special(text, EXTENTS(7, width), 1e-12, NULL);
        } else {
            lower_check(text, EXTENTS(7, width), 3);
        }
    }
}

/* ---- arg_reduce ---- */

TEST(extremes_across_lines) {
    static const char *const forms[] = { "axis = 1, keep",
                                         "axis = 1, keep, last, op = min" };
    static const char *const types[] = { "f32", "i64", "bool" };
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        bool is_special = types[i][0] == 'f';
        check_forms("arg_reduce", types[i], "i64[3, 1, W]", forms, IG_COUNT_OF(forms),
                    is_special);
    }
    static const char *const dropped[] = { "axis = 0" };
    check_forms("arg_reduce", "f32", "i64[B, W]", dropped, 1, true);
}

/* Widths are those of the axis now. */
TEST(extremes_along_lines) {
    static const char *const tails[] = { ", last", ", op = min" };
    static const char *const types[] = { "f32", "bf16", "i8" };
    for (size_t i = 0; i < IG_COUNT_OF(tails) * IG_COUNT_OF(types) * 2; i++) {
        char text[512];
        const char *type = types[i / IG_COUNT_OF(tails) % IG_COUNT_OF(types)];
        int64_t width = widths[i / IG_COUNT_OF(tails) / IG_COUNT_OF(types)];
        snprintf(
            text, sizeof text,
            "module @t {\n  graph @main(%%x: %s[B, W]) -> (i64[B] \"o\") {\n"
            "    %%0 = arg_reduce %%x {axis = 1%s} : i64[B]\n    ret %%0\n  }\n}\n",
            type, tails[i % IG_COUNT_OF(tails)]);
        lower_check_special(text, EXTENTS(5, width), 0, NULL);
    }
}

/* ---- running sums and extremes ---- */

TEST(running_sums_of_lines) {
    static const char *const forms[] = { "axis = 1", "axis = 1, exclusive",
                                         "axis = 1, reverse", "axis = 0, rising" };
    check_forms("cumsum", "f32", "f32[3, B, W]", forms, IG_COUNT_OF(forms), false);
    check_forms("cumsum", "f16", "f16[3, B, W]", forms, 1, false);
    static const char *const complete[] = { "axis = 1, complete",
                                            "axis = 1, complete, rising" };
    check_forms("cumsum", "i32", "i32[3, B + 1, W]", complete, 2, false);
}

TEST(running_extremes_of_lines) {
    static const char *const forms[] = { "axis = 1, op = max", "axis = 1, op = min",
                                         "axis = 0, op = prod, exclusive",
                                         "axis = 1, op = logsumexp, reverse" };
    check_forms("cumulate", "f32", "f32[3, B, W]", forms, 1, true);
    check_forms("cumulate", "f32", "f32[3, B, W]", forms + 1, 3, false);
    static const char *const cases[] = { "axis = 1, op = max", "axis = 0, op = min" };
    check_forms("cumulate_index", "f32", "i64[3, B, W]", cases, 2, true);
}

/* ---- reductions by several accumulators, of axes that walk as one ---- */

TEST(reductions_of_long_lines) {
    static const char *const kinds[] = { "sum", "min", "prod", "l2", "logsumexp" };
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "module @t {\n  graph @main(%%x: f32[B, 5, W]) -> (f32[B] \"o\", "
                 "f32[5] \"p\") {\n"
                 "    %%0 = reduce %%x {op = %s, axes = [1, 2]} : f32[B]\n"
                 "    %%1 = reduce %%x {op = %s, axes = [0, 2]} : f32[5]\n"
                 "    ret %%0, %%1\n  }\n}\n",
                 kinds[i], kinds[i]);
        lower_check(text, EXTENTS(3, 150), 3);
    }
    const char *max = "module @t {\n  graph @main(%x: f32[B, W]) -> (f32[B] \"o\") {\n"
                      "    %0 = reduce %x {op = max, axes = [1]} : f32[B]\n"
                      "    ret %0\n  }\n}\n";
    lower_check_special(max, EXTENTS(5, 150), 0, NULL);
}

UNIT_SUITE(cpu_lower_lines, extremes_across_lines, extremes_along_lines,
           running_sums_of_lines, running_extremes_of_lines, reductions_of_long_lines)
