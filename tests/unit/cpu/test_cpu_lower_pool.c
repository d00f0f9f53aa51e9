/* Pools against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

static void check(const char *x, const char *attributes, const char *y,
                  const int64_t *extents, bool is_special) {
    char text[512];
    snprintf(text, sizeof text,
             "module @t {\n  graph @main(%%x: %s) -> (%s \"o\") {\n"
             "    %%0 = pool %%x {%s} : %s\n    ret %%0\n  }\n}\n",
             x, y, attributes, y);
    if (is_special) {
        lower_check_special(text, extents, 0, NULL);
    } else {
        lower_check(text, extents, 3);
    }
}

/* Rows of whole groups of vectors, of less than a vector, and of several parts. */
TEST(maxima_with_padding) {
    const char *form = "kernel = [3, 3], strides = [2, 2], before = [1, 1], "
                       "after = [1, 1], op = max";
    check("f32[B, 3, 9, 71]", form, "f32[B, 3, 5, 36]", EXTENTS(2), true);
    check("f32[B, 3, 9, 5]", form, "f32[B, 3, 5, 3]", EXTENTS(2), true);
    check("f32[1, 1, 4, 1300]", form, "f32[1, 1, 2, 650]", EXTENTS(0), false);
    check("u8[B, 2, 7, W]",
          "kernel = [3, 2], before = [2, 1], after = [0, 0], op = max",
          "u8[B, 2, 7, W]", EXTENTS(2, 40), false);
    check("i32[B, 2, 20]", "kernel = [13], before = [6], after = [6], op = max",
          "i32[B, 2, 20]", EXTENTS(2), false);
}

TEST(maxima_of_other_steps) {
    check("f32[B, 2, 9, 71]",
          "kernel = [1, 3], strides = [3, 3], dilations = [1, 2], op = max",
          "f32[B, 2, 3, 23]", EXTENTS(2), false);
    check("f64[B, 2, 30]", "kernel = [2], strides = [5], op = max", "f64[B, 2, 6]",
          EXTENTS(2), false);
    check("f16[B, 2, 3, 4, 19]",
          "kernel = [2, 2, 2], strides = [1, 2, 2], before = [0, 1, 0], "
          "after = [1, 0, 1], op = max",
          "f16[B, 2, 3, 2, 10]", EXTENTS(2), false);
}

TEST(sums) {
    check("f32[B, 2, 9, 40]",
          "kernel = [3, 3], before = [1, 1], after = [1, 1], "
          "op = sum",
          "f32[B, 2, 9, 40]", EXTENTS(2), false);
    check("f32[B, 2, 9, 40]",
          "kernel = [2, 3], strides = [2, 1], before = [1, 1], "
          "after = [1, 1], op = sum",
          "f32[B, 2, 5, 40]", EXTENTS(2), false);
    check("f16[B, 2, 9, W]", "kernel = [3, 2], op = sum", "f16[B, 2, 7, W - 1]",
          EXTENTS(2, 33), false);
}

/* Lanes are channels, windows have one of them. */
TEST(channels_last) {
    const char *text =
        "module @t {\n  graph @main(%x: f32[B, 7, 9, 37]) -> (f32[B, 4, 5, 37] \"o\") {\n"
        "    %0 = reshape %x {to = [B, 1, 7, 9, 37]} : f32[B, 1, 7, 9, 37]\n"
        "    %1 = pool %0 {kernel = [3, 3, 1], strides = [2, 2, 1], before = [1, 1, 0], "
        "after = [1, 1, 0], op = max} : f32[B, 1, 4, 5, 37]\n"
        "    %2 = reshape %1 {to = [B, 4, 5, 37]} : f32[B, 4, 5, 37]\n"
        "    ret %2\n  }\n}\n";
    lower_check(text, EXTENTS(2), 3);
    const char *turned =
        "module @t {\n  graph @main(%x: f32[B, 7, 9, 6]) -> (f32[B, 6, 3, 4] \"o\") {\n"
        "    %0 = transpose %x {perm = [0, 3, 1, 2]} : f32[B, 6, 7, 9]\n"
        "    %1 = pool %0 {kernel = [2, 2], strides = [2, 2], op = max} : "
        "f32[B, 6, 3, 4]\n    ret %1\n  }\n}\n";
    lower_check(turned, EXTENTS(2), 3);
}

/* Elementwise ops on a pool's result, with operands of their own: of whole groups of
 * vectors and what is left, of channels last, of narrow floats, of positions. */
TEST(epilogues) {
    const char *signature =
        "module @t {\n  graph @main(%x: f32[B, 3, 9, W], %y: f32[B, 3, 9, W], "
        "%c: f32[3, 1, 1]) -> (f32[B, 3, 9, W]) {\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", signature,
             "    %0 = pool %x {kernel = [3, 3], before = [1, 1], after = [1, 1], "
             "op = sum} : f32[B, 3, 9, W]\n"
             "    %1 = div %0, %c : f32[B, 3, 9, W]\n"
             "    %2 = add %1, %y : f32[B, 3, 9, W]\n"
             "    %3 = relu %2 : f32[B, 3, 9, W]\n    ret %3\n  }\n}\n");
    lower_check(text, EXTENTS(2, 71), 3);
    lower_check(text, EXTENTS(1, 1), 3);
    lower_check(text, EXTENTS(0, 20), 3);
    lower_check("module @t {\n  graph @main(%x: f16[B, 1, 7, 9, 37], %c: f16[37]) -> "
                "(f16[B, 1, 4, 5, 37]) {\n"
                "    %0 = pool %x {kernel = [3, 3, 1], strides = [2, 2, 1], "
                "before = [1, 1, 0], after = [1, 1, 0], op = max} : "
                "f16[B, 1, 4, 5, 37]\n"
                "    %1 = mul %0, %c : f16[B, 1, 4, 5, 37]\n    ret %1\n  }\n}\n",
                EXTENTS(2), 3);
    lower_check("module @t {\n  graph @main(%x: f32[B, 2, 9, 40]) -> "
                "(i32[B, 2, 4, 20]) {\n"
                "    %0 = pool_indices %x {kernel = [2, 2], strides = [2, 2]} : "
                "i64[B, 2, 4, 20]\n"
                "    %1 = cast %0 {to = i32} : i32[B, 2, 4, 20]\n    ret %1\n  }\n}\n",
                EXTENTS(2), 3);
}

UNIT_SUITE(cpu_lower_pool, epilogues, maxima_with_padding, maxima_of_other_steps, sums,
           channels_last)
