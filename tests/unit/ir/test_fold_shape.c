/* Ops that move elements: values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

#define X23 "%0 = const {value = f32[2, 3] [1, 2, 3, 4, 5, 6]}\n"
#define X5 "%0 = const {value = i64[5] [0, 1, 2, 3, 4]}\n"

TEST(shapes_and_sizes) {
    CHECK_VALUE(X23 "%1 = shape %0\n%2 = size %0\nret %1, %2",
                "i64[2] [2, 3]; i64[] [6]");
    CHECK_VALUE(
        "%0 = const {value = f32[] [1]}\n%1 = shape %0\n%2 = size %0\nret %1, %2",
        "i64[0] []; i64[] [1]");
    CHECK_VALUE("%0 = const {value = f32[3, 0] []}\n%1 = shape %0\n%2 = size %0\n"
                "ret %1, %2",
                "i64[2] [3, 0]; i64[] [0]");
}

TEST(reshapes) {
    static const fold_row rows[] = {
        { X23 "%1 = reshape %0 {to = [3, 2]}\nret %1", "f32[3, 2] [1, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[2] [-1, 2]}\n%2 = reshape %0, %1\nret %2",
          "f32[3, 2] [1, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[1] [5]}\n%2 = reshape %0, %1\nret %2",
          "INVALID: operand 0 is f32[2, 3], which does not have as many elements as the shape asked for" },
        { "%0 = const {value = i64[1] [7]}\n%1 = const {value = i64[0] []}\n"
          "%2 = reshape %0, %1\nret %2",
          "i64[] [7]" },
        { "%0 = const {value = f32[0, 3] []}\n%1 = const {value = i64[2] [0, 7]}\n"
          "%2 = reshape %0, %1\nret %2",
          "f32[0, 7] []" },
    };
    CHECK_ROWS(rows);
}

TEST(transposes) {
    static const fold_row rows[] = {
        { X23 "%1 = transpose %0 {perm = [1, 0]}\nret %1",
          "f32[3, 2] [1, 4, 2, 5, 3, 6]" },
        { "%0 = const {value = u8[2, 1, 3] [1, 2, 3, 4, 5, 6]}\n"
          "%1 = transpose %0 {perm = [2, 0, 1]}\nret %1",
          "u8[3, 2, 1] [1, 4, 2, 5, 3, 6]" },
        { "%0 = const {value = u4[2, 2] [1, 2, 3, 4]}\n"
          "%1 = transpose %0 {perm = [1, 0]}\nret %1",
          "u4[2, 2] [1, 3, 2, 4]" },
        { "%0 = const {value = f32[] [1]}\n%1 = transpose %0 {perm = []}\nret %1",
          "f32[] [1]" },
        { "%0 = const {value = f32[2, 0] []}\n%1 = transpose %0 {perm = [1, 0]}\nret %1",
          "f32[0, 2] []" },
    };
    CHECK_ROWS(rows);
}

TEST(expansion_goes_both_ways) {
    static const fold_row rows[] = {
        { "%0 = const {value = f32[2, 1] [1, 2]}\n%1 = expand %0 {to = [2, 3]}\nret %1",
          "f32[2, 3] [1, 1, 1, 2, 2, 2]" },
        { "%0 = const {value = f32[2, 1] [1, 2]}\n%1 = const {value = i64[1] [1]}\n"
          "%2 = expand %0, %1\nret %2",
          "f32[2, 1] [1, 2]" },
        { "%0 = const {value = f32[] [9]}\n%1 = expand %0 {to = [2]}\nret %1",
          "f32[2] [9, 9]" },
        { "%0 = const {value = f32[1] [9]}\n%1 = expand %0 {to = [2, 0]}\nret %1",
          "f32[2, 0] []" },
        { "%0 = const {value = f32[3] [1, 2, 3]}\n%1 = expand %0 {to = [2]}\nret %1",
          "INVALID: operand 0 is f32[3], which does not broadcast with f32[2]" },
    };
    CHECK_ROWS(rows);
}

TEST(slices_by_sizes) {
    static const fold_row rows[] = {
        { X23 "%1 = slice %0 {starts = [0, 1], sizes = [2, 2]}\nret %1",
          "f32[2, 2] [2, 3, 5, 6]" },
        { X23
          "%1 = slice %0 {starts = [1, 2], sizes = [2, 2], steps = [-1, -2]}\nret %1",
          "f32[2, 2] [6, 4, 3, 1]" },
        { X23 "%1 = slice %0 {starts = [0, 3], sizes = [2, 0]}\nret %1",
          "f32[2, 0] []" },
        { X23 "%1 = slice %0 {starts = [0, 2], sizes = [2, 2]}\nret %1",
          "INVALID: operand 0 is f32[2, 3], and the slice leaves its extent 1" },
        { X23
          "%1 = slice %0 {starts = [0, 0], sizes = [2, 2], steps = [1, -1]}\nret %1",
          "INVALID: operand 0 is f32[2, 3], and the slice leaves its extent 1" },
    };
    CHECK_ROWS(rows);
}

/* numpy's x[start:end:step] for x = [0, 1, 2, 3, 4], with ONNX's idioms. */
TEST(slices_by_positions_clamp) {
    static const struct {
        const char *start, *end, *step, *expected;
    } cases[] = {
        { "1", "3", "1", "i64[2] [1, 2]" },
        { "-2", "9223372036854775807", "1", "i64[2] [3, 4]" },
        { "0", "-1", "2", "i64[2] [0, 2]" },
        { "-100", "100", "1", "i64[5] [0, 1, 2, 3, 4]" },
        { "3", "1", "1", "i64[0] []" },
        { "7", "9", "1", "i64[0] []" },
        { "-1", "-9223372036854775808", "-1", "i64[5] [4, 3, 2, 1, 0]" },
        { "9223372036854775807", "-9223372036854775808", "-2", "i64[3] [4, 2, 0]" },
        { "3", "0", "-1", "i64[3] [3, 2, 1]" },
        { "1", "3", "-1", "i64[0] []" },
        { "0", "-6", "-1", "i64[1] [0]" },
        { "2", "9223372036854775807", "9223372036854775807", "i64[1] [2]" },
        { "4", "-9223372036854775808", "-9223372036854775808", "i64[1] [4]" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "%s%%1 = const {value = i64[1] [%s]}\n%%2 = const {value = i64[1] [%s]}\n"
            "%%3 = const {value = i64[1] [0]}\n%%4 = const {value = i64[1] [%s]}\n"
            "%%5 = slice %%0, %%1, %%2, %%3, %%4\nret %%5",
            X5, cases[i].start, cases[i].end, cases[i].step);
        CHECK_VALUE(text, cases[i].expected);
    }
}

TEST(slices_of_some_axes) {
    CHECK_VALUE(X23
                "%1 = const {value = i32[1] [-2]}\n%2 = const {value = i32[1] [3]}\n"
                "%3 = const {value = i64[1] [-1]}\n%4 = slice %0, %1, %2, %3\nret %4",
                "f32[2, 2] [2, 3, 5, 6]");
    CHECK_VALUE("%0 = const {value = f32[0, 2] []}\n%1 = const {value = i64[1] [-1]}\n"
                "%2 = const {value = i64[1] [-9223372036854775808]}\n"
                "%3 = const {value = i64[1] [0]}\n%4 = const {value = i64[1] [-1]}\n"
                "%5 = slice %0, %1, %2, %3, %4\nret %5",
                "f32[0, 2] []");
    CHECK_VALUE(
        X5 "%1 = const {value = i64[1] [0]}\n%2 = slice %0, %1, %1, %1, %1\nret %2",
        "INVALID: the step along axis 0 is 0");
    CHECK_VALUE(
        X23 "%1 = const {value = i64[2] [0, 0]}\n%2 = const {value = i64[2] [1, -1]}\n"
            "%3 = slice %0, %1, %1, %2\nret %3",
        "INVALID: axis 1 is given twice");
}

TEST(concatenations) {
    static const fold_row rows[] = {
        { X23
          "%1 = const {value = f32[1, 3] [7, 8, 9]}\n%2 = concat %0, %1 {axis = 0}\nret %2",
          "f32[3, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9]" },
        { X23
          "%1 = const {value = f32[2, 1] [7, 8]}\n%2 = concat %0, %1, %0 {axis = -1}\n"
          "ret %2",
          "f32[2, 7] [1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 4, 5, 6]" },
        { X23
          "%1 = const {value = f32[2, 0] []}\n%2 = concat %1, %0 {axis = 1}\nret %2",
          "f32[2, 3] [1, 2, 3, 4, 5, 6]" },
        { X23
          "%1 = const {value = f32[2, 2] [1, 2, 3, 4]}\n%2 = concat %0, %1 {axis = 0}\n"
          "ret %2",
          "INVALID: operand 1 is f32[2, 2], expected its extent 1 to equal 3, that of the operands before it" },
    };
    CHECK_ROWS(rows);
}

TEST(padding_in_all_modes) {
    static const struct {
        const char *mode, *before, *after, *expected;
    } cases[] = {
        { "constant", "2", "1", "i64[8] [0, 0, 0, 1, 2, 3, 4, 0]" },
        { "edge", "2", "1", "i64[8] [0, 0, 0, 1, 2, 3, 4, 4]" },
        { "reflect", "2", "3", "i64[10] [2, 1, 0, 1, 2, 3, 4, 3, 2, 1]" },
        { "reflect", "0", "9", "i64[14] [0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 3]" },
        { "wrap", "2", "6", "i64[13] [3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]" },
        { "constant", "-1", "-2", "i64[2] [1, 2]" },
        { "edge", "-1", "2", "i64[6] [1, 2, 3, 4, 4, 4]" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s%%1 = pad %%0 {before = [%s], after = [%s], mode = %s}\nret %%1",
                 X5, cases[i].before, cases[i].after, cases[i].mode);
        CHECK_VALUE(text, cases[i].expected);
    }
}

TEST(padding_by_operands) {
    CHECK_VALUE(X23
                "%1 = const {value = i64[2] [1, 0]}\n%2 = const {value = f32[] [9]}\n"
                "%3 = const {value = i64[1] [-1]}\n%4 = pad %0, %1, %2, %3\nret %4",
                "f32[2, 4] [9, 1, 2, 3, 9, 4, 5, 6]");
    CHECK_VALUE(X23
                "%1 = const {value = i64[4] [0, 0, 1, -1]}\n%2 = pad %0, %1\nret %2",
                "f32[3, 2] [1, 2, 4, 5, 0, 0]");
    CHECK_VALUE("%0 = const {value = f32[0] []}\n%1 = const {value = f32[] [3]}\n"
                "%2 = pad %0, %1 {before = [1], after = [1]}\nret %2",
                "f32[2] [3, 3]");
    CHECK_VALUE("%0 = const {value = f32[0] []}\n"
                "%1 = pad %0 {before = [1], after = [1], mode = edge}\nret %1",
                "INVALID: pad: axis 0 has no element to repeat");
}

static void check_range(const char *dtype, const char *start, const char *limit,
                        const char *step, const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             "%%0 = const {value = %s[] [%s]}\n%%1 = const {value = %s[] [%s]}\n"
             "%%2 = const {value = %s[] [%s]}\n%%3 = range %%0, %%1, %%2\nret %%3",
             dtype, start, dtype, limit, dtype, step);
    CHECK_VALUE(text, expected);
}

TEST(ranges) {
    check_range("i64", "0", "5", "2", "i64[3] [0, 2, 4]");
    check_range("i64", "5", "0", "-2", "i64[3] [5, 3, 1]");
    check_range("i32", "3", "3", "1", "i32[0] []");
    check_range("i64", "3", "0", "1", "i64[0] []");
    check_range("f32", "0", "1", "0.25", "f32[4] [0, 0.25, 0.5, 0.75]");
    check_range("f32", "1", "0", "-0.5", "f32[2] [1, 0.5]");
    check_range("f64", "0", "1.1", "0.5", "f64[3] [0, 0.5, 1]");
    check_range("i64", "0", "5", "0", "INVALID: range: the step is 0");
    check_range(
        "i64", "-9223372036854775808", "9223372036854775807", "4611686018427387904",
        "i64[4] [-9223372036854775808, -4611686018427387904, 0, 4611686018427387904]");
}

TEST(tiles) {
    static const fold_row rows[] = {
        { X23 "%1 = const {value = i64[2] [2, 1]}\n%2 = tile %0, %1\nret %2",
          "f32[4, 3] [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[2] [1, 2]}\n%2 = tile %0, %1\nret %2",
          "f32[2, 6] [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[2] [0, 2]}\n%2 = tile %0, %1\nret %2",
          "f32[0, 6] []" },
        { X23 "%1 = const {value = i64[2] [-1, 2]}\n%2 = tile %0, %1\nret %2",
          "INVALID: axis 0 is repeated a negative number of times" },
    };
    CHECK_ROWS(rows);
}

UNIT_SUITE(fold_shape, shapes_and_sizes, reshapes, transposes, expansion_goes_both_ways,
           slices_by_sizes, slices_by_positions_clamp, slices_of_some_axes,
           concatenations, padding_in_all_modes, padding_by_operands, ranges, tiles)
