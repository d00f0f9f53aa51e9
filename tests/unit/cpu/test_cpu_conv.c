/* Convolutions against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* One convolution, then `epilogue` on %0; all of a result `out`. */
static void check(const char *args, const char *conv, const char *out,
                  const char *epilogue, const int64_t *extents) {
    char text[2048];
    snprintf(text, sizeof text,
             "module @t {\n  graph @main(%s) -> (%s \"o\") {\n"
             "%%0 = conv %s : %s\n%s\n  }\n}\n",
             args, out, conv, out, epilogue);
    lower_check(text, extents, 3);
}

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* Images that fill less than a vector, some, and more than a chunk of columns. */
TEST(windows_of_one_element) {
    for (int64_t side = 1; side < 40; side += 11) {
        check("%x: f32[B, 3, H, 7], %w: f32[5, 3, 1, 1], %b: f32[5]", "%x, %w, %b",
              "f32[B, 5, H, 7]", "ret %0", EXTENTS(2, side));
    }
    check("%x: f32[B, 3, 29, 31], %w: f32[16, 3, 1, 1]", "%x, %w", "f32[B, 16, 29, 31]",
          "ret %0", EXTENTS(2));
    check("%x: f32[B, 3, 3, 5, 7], %w: f32[9, 3, 1, 1, 1]", "%x, %w",
          "f32[B, 9, 3, 5, 7]", "ret %0", EXTENTS(2));
    check("%x: f32[B, 6, 5, 7], %w: f32[4, 3, 1, 1], %b: f32[4]",
          "%x, %w, %b {group = 2}", "f32[B, 4, 5, 7]", "ret %0", EXTENTS(3));
}

TEST(windows_of_one_element_with_epilogues) {
    check("%x: f32[B, 5, 6, 7], %w: f32[5, 5, 1, 1], %b: f32[5]", "%x, %w, %b",
          "f32[B, 5, 6, 7]", "%1 = add %0, %x : f32[B, 5, 6, 7]\nret %1", EXTENTS(2));
    check("%x: f32[B, 3, 6, 7], %w: f32[5, 3, 1, 1], %y: f32[5, 1, 1]", "%x, %w",
          "f32[B, 5, 6, 7]", "%1 = mul %0, %y : f32[B, 5, 6, 7]\nret %1", EXTENTS(2));
    check("%x: f32[B, 3, 6, 7], %w: f32[5, 3, 1, 1], %y: f32[6, 1]", "%x, %w",
          "f32[B, 5, 6, 7]", "%1 = mul %0, %y : f32[B, 5, 6, 7]\nret %1", EXTENTS(2));
    /* a bias of the channels that is one of the columns too */
    check("%x: f32[B, 3, 6, 7], %w: f32[7, 3, 1, 1], %b: f32[7]", "%x, %w, %b",
          "f32[B, 7, 6, 7]", "%1 = add %0, %b : f32[B, 7, 6, 7]\nret %1", EXTENTS(2));
}

TEST(windows_of_one_element_apart) {
    check("%x: f32[B, 3, 9, 9], %w: f32[5, 3, 1, 1]", "%x, %w {strides = [2, 2]}",
          "f32[B, 5, 5, 5]", "ret %0", EXTENTS(2));
}

TEST(wider_windows) {
    check("%x: f32[B, 4, 9, 37], %w: f32[9, 4, 3, 3], %b: f32[9]", "%x, %w, %b",
          "f32[B, 9, 7, 35]", "ret %0", EXTENTS(2));
    check("%x: f32[B, 6, 9, 21], %w: f32[6, 1, 3, 3]",
          "%x, %w {strides = [2, 2], group = 6}", "f32[B, 6, 4, 10]", "ret %0",
          EXTENTS(2));
    check("%x: f32[B, 3, 1600], %w: f32[4, 3, 5]", "%x, %w", "f32[B, 4, 1596]",
          "ret %0", EXTENTS(2));
}

UNIT_SUITE(cpu_conv, windows_of_one_element, windows_of_one_element_with_epilogues,
           windows_of_one_element_apart, wider_windows)
