/* matmul, reduce, softmax, layer_norm, cumsum: values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

#define X23 "%0 = const {value = f32[2, 3] [1, 2, 3, 4, 5, 6]}\n"

/* ---- matmul ---- */

TEST(matrices_and_vectors) {
    static const fold_row rows[] = {
        { X23
          "%1 = const {value = f32[3, 2] [1, 0, 0, 1, 1, 1]}\n%2 = matmul %0, %1\nret %2",
          "f32[2, 2] [4, 5, 10, 11]" },
        { X23 "%1 = const {value = f32[3] [1, 0, -1]}\n%2 = matmul %0, %1\nret %2",
          "f32[2] [-2, -2]" },
        { X23 "%1 = const {value = f32[2] [1, 10]}\n%2 = matmul %1, %0\nret %2",
          "f32[3] [41, 52, 63]" },
        { "%0 = const {value = i32[3] [1, 2, 3]}\n%1 = matmul %0, %0\nret %1",
          "i32[] [14]" },
        { X23 "%1 = matmul %0, %0 {transpose_b}\nret %1",
          "f32[2, 2] [14, 32, 32, 77]" },
        { X23 "%1 = matmul %0, %0 {transpose_a}\nret %1",
          "f32[3, 3] [17, 22, 27, 22, 29, 36, 27, 36, 45]" },
        { "%0 = const {value = f32[2, 0] []}\n%1 = matmul %0, %0 {transpose_b}\nret %1",
          "f32[2, 2] [0, 0, 0, 0]" },
        { "%0 = const {value = f32[0, 2] []}\n%1 = matmul %0, %0 {transpose_b}\nret %1",
          "f32[0, 0] []" },
        { "%0 = const {value = u8[1, 2] [200, 200]}\n%1 = matmul %0, %0 {transpose_b}\nret %1",
          "u8[1, 1] [128]" },
        { X23 "%1 = matmul %0, %0\nret %1",
          "INVALID: operand 1 is f32[2, 3], expected its extent 0 to equal 3, which operand 0 sums over" },
    };
    CHECK_ROWS(rows);
}

/* Of a byte the lowest bits come first; each block has a scale and a zero point. */
TEST(numbers_of_few_bits) {
    static const fold_row rows[] = {
        { "%0 = const {value = f32[1, 4] [1, 10, 100, 1000]}\n"
          "%1 = const {value = u8[2, 2] [33, 67, 240, 136]}\n"
          "%2 = const {value = f32[2, 2] [1, 2, 1, 0.5]}\n"
          "%3 = const {value = f32[2, 2] [0, 1, 8, 8]}\n"
          "%4 = matmul_bits %0, %1, %2, %3 {bits = 4}\nret %4",
          "f32[1, 2] [6421, 62]" },
        { "%0 = const {value = f32[1, 4] [1, 10, 100, 1000]}\n"
          "%1 = const {value = u8[1, 1] [228]}\n"
          "%2 = const {value = f32[1, 1] [2]}\n"
          "%3 = matmul_bits %0, %1, %2 {bits = 2}\nret %3",
          "f32[1, 1] [1976]" },
        { "%0 = const {value = f32[1, 2] [1, 10]}\n"
          "%1 = const {value = u8[1, 2] [0, 129]}\n"
          "%2 = const {value = f32[1, 2] [1, 3]}\n"
          "%3 = matmul_bits %0, %1, %2 {bits = 8}\nret %3",
          "f32[1, 1] [-98]" },
    };
    CHECK_ROWS(rows);
}

TEST(batches_broadcast) {
    CHECK_VALUE("%0 = const {value = f32[2, 1, 1, 2] [1, 2, 3, 4]}\n"
                "%1 = const {value = f32[3, 2, 1] [1, 0, 0, 1, 1, 1]}\n"
                "%2 = matmul %0, %1\nret %2",
                "f32[2, 3, 1, 1] [1, 2, 3, 3, 4, 7]");
    CHECK_VALUE("%0 = const {value = f32[2, 1, 2] [1, 2, 3, 4]}\n"
                "%1 = const {value = f32[2] [1, 1]}\n%2 = matmul %0, %1\nret %2",
                "f32[2, 1] [3, 7]");
    CHECK_VALUE("%0 = const {value = f32[0, 1, 2] []}\n"
                "%1 = const {value = f32[1, 2, 3] [1, 2, 3, 4, 5, 6]}\n"
                "%2 = matmul %0, %1\nret %2",
                "f32[0, 1, 3] []");
}

TEST(sums_are_wide) {
    CHECK_VALUE("%0 = const {value = f32[3] [16777216, 1, -16777216]}\n"
                "%1 = const {value = f32[3] [1, 1, 1]}\n%2 = matmul %0, %1\nret %2",
                "f32[] [1]");
    CHECK_VALUE("%0 = const {value = f16[1000] splat(0.1)}\n%1 = reduce %0\nret %1",
                "f16[] [100]");
    CHECK_VALUE(
        "%0 = const {value = f32[3] [3e38, 3e38, -3e38]}\n%1 = reduce %0\nret %1",
        "f32[] [3e+38]");
}

/* ---- reduce ---- */

static void check_reduce(const char *op, const char *x, const char *attrs,
                         const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             "%%0 = const {value = %s}\n%%1 = reduce %%0 {op = %s%s}\nret %%1", x, op,
             attrs);
    CHECK_VALUE(text, expected);
}

TEST(every_reduction) {
    const char *x = "f32[2, 2] [1, -2, 3, 4]";
    check_reduce("sum", x, ", axes = [0]", "f32[2] [4, 2]");
    check_reduce("sum", x, ", axes = [-1], keep", "f32[2, 1] [-1, 7]");
    check_reduce("sum", x, "", "f32[] [6]");
    check_reduce("sum", x, ", keep", "f32[1, 1] [6]");
    check_reduce("mean", x, ", axes = [1]", "f32[2] [-0.5, 3.5]");
    check_reduce("max", x, ", axes = [1]", "f32[2] [1, 4]");
    check_reduce("min", x, ", axes = [1]", "f32[2] [-2, 3]");
    check_reduce("prod", x, "", "f32[] [-24]");
    check_reduce("sumsq", x, "", "f32[] [30]");
    check_reduce("l1", x, "", "f32[] [10]");
    check_reduce("l2", "f32[2] [3, -4]", "", "f32[] [5]");
    check_reduce("logsum", "f32[2] [0.5, 0.5]", "", "f32[] [0]");
    check_reduce("logsumexp", "f32[2] [1000, 1000]", "", "f32[] [1000.6932]");
    check_reduce("sum", "i8[2] [127, 1]", "", "i8[] [-128]");
    check_reduce("max", "u8[2] [200, 100]", "", "u8[] [200]");
    check_reduce("min", "i64[2] [-5, 3]", "", "i64[] [-5]");
    check_reduce("mean", "i64[3] [1, 2, 4]", "", "i64[] [2]");
    check_reduce("max", "bool[2] [false, true]", "", "bool[] [true]");
    check_reduce("min", "bool[2] [false, true]", "", "bool[] [false]");
}

TEST(reducing_nothing_gives_the_identity) {
    const char *x = "f32[2, 0] []";
    check_reduce("sum", x, ", axes = [1]", "f32[2] [0, 0]");
    check_reduce("prod", x, ", axes = [1]", "f32[2] [1, 1]");
    check_reduce("max", x, ", axes = [1]", "f32[2] [-inf, -inf]");
    check_reduce("min", x, ", axes = [1]", "f32[2] [inf, inf]");
    check_reduce("mean", x, ", axes = [1]", "f32[2] [nan, nan]");
    check_reduce("l1", x, "", "f32[] [0]");
    check_reduce("l2", x, "", "f32[] [0]");
    check_reduce("sumsq", x, "", "f32[] [0]");
    check_reduce("logsum", x, "", "f32[] [-inf]");
    check_reduce("logsumexp", x, "", "f32[] [-inf]");
    check_reduce("sum", x, ", axes = [0]", "f32[0] []");
    check_reduce("max", "i8[0] []", "", "i8[] [-128]");
    check_reduce("min", "i8[0] []", "", "i8[] [127]");
    check_reduce("min", "u16[0] []", "", "u16[] [65535]");
    check_reduce("max", "bool[0] []", "", "bool[] [false]");
    check_reduce("min", "bool[0] []", "", "bool[] [true]");
    check_reduce("mean", "i32[0] []", "",
                 "INVALID: reduce: the mean of zero integers is not defined");
}

TEST(reductions_hand_nan_on) {
    check_reduce("max", "f32[3] [1, nan, 3]", "", "f32[] [nan]");
    check_reduce("min", "f32[3] [nan, 2, 3]", "", "f32[] [nan]");
    check_reduce("logsumexp", "f32[2] [-inf, -inf]", "", "f32[] [-inf]");
    check_reduce("logsumexp", "f32[2] [inf, 0]", "", "f32[] [inf]");
    check_reduce("logsumexp", "f32[2] [nan, 0]", "", "f32[] [nan]");
}

TEST(axes_may_come_at_run_time) {
    CHECK_VALUE(X23 "%1 = const {value = i64[1] [1]}\n%2 = reduce %0, %1\nret %2",
                "f32[2] [6, 15]");
    CHECK_VALUE(X23 "%1 = const {value = i64[0] []}\n%2 = reduce %0, %1\nret %2",
                "f32[] [21]");
    CHECK_VALUE(X23 "%1 = const {value = i64[0] []}\n"
                    "%2 = reduce %0, %1 {noop_if_empty}\nret %2",
                "f32[2, 3] [1, 2, 3, 4, 5, 6]");
    CHECK_VALUE(X23 "%1 = reduce %0 {noop_if_empty, op = sumsq}\nret %1",
                "f32[2, 3] [1, 4, 9, 16, 25, 36]");
    CHECK_VALUE(X23 "%1 = const {value = i64[1] [2]}\n%2 = reduce %0, %1\nret %2",
                "INVALID: axis 2 is outside of a tensor of rank 2");
}

/* ---- along an axis ---- */

TEST(softmaxes) {
    static const fold_row rows[] = {
        { "%0 = const {value = f32[2, 2] [0, 0, 1000, 1000]}\n%1 = softmax %0 {axis = 1}\nret %1",
          "f32[2, 2] [0.5, 0.5, 0.5, 0.5]" },
        { "%0 = const {value = f32[2, 2] [0, 5, 0, 5]}\n%1 = softmax %0 {axis = 0}\nret %1",
          "f32[2, 2] [0.5, 0.5, 0.5, 0.5]" },
        { "%0 = const {value = f32[2] [0, 0]}\n%1 = softmax %0 {axis = -1, log}\nret %1",
          "f32[2] [-0.6931472, -0.6931472]" },
        { "%0 = const {value = f32[3] [-inf, 0, -inf]}\n%1 = softmax %0 {axis = 0}\nret %1",
          "f32[3] [0, 1, 0]" },
        { "%0 = const {value = f32[2] [-inf, -inf]}\n%1 = softmax %0 {axis = 0}\nret %1",
          "f32[2] [nan, nan]" },
        { "%0 = const {value = f32[2] [nan, 1]}\n%1 = softmax %0 {axis = 0}\nret %1",
          "f32[2] [nan, nan]" },
        { "%0 = const {value = f32[2, 0] []}\n%1 = softmax %0 {axis = 1}\nret %1",
          "f32[2, 0] []" },
    };
    CHECK_ROWS(rows);
}

TEST(layer_norms) {
    CHECK_VALUE("%0 = const {value = f32[2, 2] [-1, 1, 3, 5]}\n"
                "%1 = layer_norm %0 {axis = 1, epsilon = 0}\nret %1",
                "f32[2, 2] [-1, 1, -1, 1]");
    CHECK_VALUE("%0 = const {value = f32[2, 2] [-1, 1, 3, 5]}\n"
                "%1 = const {value = f32[2] [2, 3]}\n%2 = const {value = f32[1] [10]}\n"
                "%3 = layer_norm %0, %1, %2 {axis = -1, epsilon = 0}\nret %3",
                "f32[2, 2] [8, 13, 8, 13]");
    CHECK_VALUE("%0 = const {value = f32[2, 2] [1, 1, 3, 3]}\n"
                "%1 = layer_norm %0 {axis = 0, epsilon = 0}\nret %1",
                "f32[2, 2] [-1, -1, 1, 1]");
    CHECK_VALUE("%0 = const {value = f32[2] [1, 1]}\n"
                "%1 = layer_norm %0 {axis = 0, epsilon = 1}\nret %1",
                "f32[2] [0, 0]");
}

TEST(running_sums) {
    static const fold_row rows[] = {
        { X23 "%1 = cumsum %0 {axis = 1}\nret %1", "f32[2, 3] [1, 3, 6, 4, 9, 15]" },
        { X23 "%1 = cumsum %0 {axis = 0}\nret %1", "f32[2, 3] [1, 2, 3, 5, 7, 9]" },
        { X23 "%1 = cumsum %0 {axis = 1, exclusive}\nret %1",
          "f32[2, 3] [0, 1, 3, 0, 4, 9]" },
        { X23 "%1 = cumsum %0 {axis = 1, reverse}\nret %1",
          "f32[2, 3] [6, 5, 3, 15, 11, 6]" },
        { X23 "%1 = cumsum %0 {axis = 1, reverse, exclusive}\nret %1",
          "f32[2, 3] [5, 3, 0, 11, 6, 0]" },
        { "%0 = const {value = i8[2] [127, 1]}\n%1 = cumsum %0 {axis = 0}\nret %1",
          "i8[2] [127, -128]" },
        { "%0 = const {value = f32[0] []}\n%1 = cumsum %0 {axis = 0}\nret %1",
          "f32[0] []" },
    };
    CHECK_ROWS(rows);
}

UNIT_SUITE(fold_contract, matrices_and_vectors, numbers_of_few_bits, batches_broadcast,
           sums_are_wide, every_reduction, reducing_nothing_gives_the_identity,
           reductions_hand_nan_on, axes_may_come_at_run_time, softmaxes, layer_norms,
           running_sums)
