/* Elementwise ops: values worked out by hand, at the edges of each class.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

/* "op" on a constant, or on two. */
static void check_unary(const char *op, const char *x, const char *expected) {
    char text[512];
    snprintf(text, sizeof text, "%%0 = const {value = %s}\n%%1 = %s\nret %%1", x, op);
    CHECK_VALUE(text, expected);
}

static void check_binary(const char *op, const char *x, const char *y,
                         const char *expected) {
    char text[512];
    snprintf(
        text, sizeof text,
        "%%0 = const {value = %s}\n%%1 = const {value = %s}\n%%2 = %s %%0, %%1\nret %%2",
        x, y, op);
    CHECK_VALUE(text, expected);
}

/* ---- one operand ---- */

TEST(signs_and_roundings) {
    check_unary("neg %0", "f32[3] [1, -2, 0]", "f32[3] [-1, 2, -0]");
    check_unary("neg %0", "i8[2] [-128, 5]", "i8[2] [-128, -5]");
    check_unary("neg %0", "u8[2] [1, 0]", "u8[2] [255, 0]");
    check_unary("abs %0", "f32[3] [-0, -inf, nan]", "f32[3] [0, inf, nan]");
    check_unary("abs %0", "i64[2] [-9223372036854775808, -3]",
                "i64[2] [-9223372036854775808, 3]");
    check_unary("sign %0", "f32[5] [-3, -0, 0, 2, nan]", "f32[5] [-1, 0, 0, 1, nan]");
    check_unary("sign %0", "u8[2] [0, 200]", "u8[2] [0, 1]");
    check_unary("floor %0", "f32[4] [-1.5, 1.5, -0.25, inf]",
                "f32[4] [-2, 1, -1, inf]");
    check_unary("ceil %0", "f32[3] [-1.5, 1.5, -0.25]", "f32[3] [-1, 2, -0]");
    check_unary("trunc %0", "f32[3] [-1.5, 1.5, -0.25]", "f32[3] [-1, 1, -0]");
    check_unary("round %0", "f32[6] [0.5, 1.5, 2.5, -0.5, -1.5, 2.4]",
                "f32[6] [0, 2, 2, -0, -2, 2]");
    check_unary("not %0", "bool[2] [true, false]", "bool[2] [false, true]");
    check_unary("not %0", "u8[2] [0, 15]", "u8[2] [255, 240]");
}

TEST(relu_and_extremes_hand_nan_on) {
    check_unary("relu %0", "f32[4] [-1, 2, nan, -inf]", "f32[4] [0, 2, nan, 0]");
    check_unary("relu %0", "i32[2] [-5, 5]", "i32[2] [0, 5]");
    check_binary("min", "f32[4] [1, nan, 3, -inf]", "f32[4] [2, 0, nan, inf]",
                 "f32[4] [1, nan, nan, -inf]");
    check_binary("max", "f32[4] [1, nan, 3, -inf]", "f32[4] [2, 0, nan, inf]",
                 "f32[4] [2, nan, nan, inf]");
    check_binary("max", "u8[1] [200]", "u8[1] [100]", "u8[1] [200]");
    check_binary("max", "i8[1] [-56]", "i8[1] [100]", "i8[1] [100]");
    check_binary("max", "bool[2] [true, false]", "bool[2] [false, false]",
                 "bool[2] [true, false]");
}

TEST(functions_at_points_that_are_exact) {
    check_binary("hypot", "f64[6] [3, 5e-324, 1e308, -0, inf, nan]",
                 "f64[6] [-4, 0, 1e308, 0, nan, 1]",
                 "f64[6] [5, 5e-324, 1.4142135623730951e+308, 0, inf, nan]");
    check_binary("hypot", "f64[2] [3e-320, 1e-200]", "f64[2] [4e-320, 1.5e-200]",
                 "f64[2] [5e-320, 1.8027756377319947e-200]");
    check_unary("sqrt %0", "f32[3] [4, 0, -1]", "f32[3] [2, 0, nan]");
    check_unary("rsqrt %0", "f32[2] [4, 0]", "f32[2] [0.5, inf]");
    check_unary("recip %0", "f32[3] [4, -0, inf]", "f32[3] [0.25, -inf, 0]");
    check_unary("exp %0", "f32[4] [0, -inf, 1000, 1]", "f32[4] [1, 0, inf, 2.7182817]");
    check_unary("log %0", "f32[3] [1, 0, -1]", "f32[3] [0, -inf, nan]");
    check_unary("log1p %0", "f32[2] [0, -1]", "f32[2] [0, -inf]");
    check_unary("sin %0", "f32[1] [0]", "f32[1] [0]");
    check_unary("cos %0", "f32[1] [0]", "f32[1] [1]");
    check_unary("tanh %0", "f32[3] [0, inf, -inf]", "f32[3] [0, 1, -1]");
    check_unary("erf %0", "f32[3] [0, inf, -inf]", "f32[3] [0, 1, -1]");
    check_unary("sigmoid %0", "f32[4] [0, inf, -inf, -1000]", "f32[4] [0.5, 1, 0, 0]");
    check_unary("softplus %0", "f32[3] [0, 1000, -1000]",
                "f32[3] [0.6931472, 1000, 0]");
    check_unary("isnan %0", "f32[3] [0, nan, inf]", "bool[3] [false, true, false]");
    check_unary("isinf %0", "f32[3] [0, -inf, inf]", "bool[3] [false, true, true]");
    check_unary("isinf %0 {skip_positive}", "f32[3] [0, -inf, inf]",
                "bool[3] [false, true, false]");
    check_unary("isinf %0 {skip_negative}", "f32[3] [0, -inf, inf]",
                "bool[3] [false, false, true]");
}

/* ---- two operands ---- */

TEST(integers_wrap_and_truncate) {
    check_binary("add", "i8[2] [127, -128]", "i8[2] [1, -1]", "i8[2] [-128, 127]");
    check_binary("sub", "u8[1] [0]", "u8[1] [1]", "u8[1] [255]");
    check_binary("mul", "i32[1] [65536]", "i32[1] [65536]", "i32[1] [0]");
    check_binary("mul", "i64[1] [9223372036854775807]", "i64[1] [2]", "i64[1] [-2]");
    check_binary("div", "i32[4] [7, -7, 7, -7]", "i32[4] [2, 2, -2, -2]",
                 "i32[4] [3, -3, -3, 3]");
    check_binary("div", "i64[1] [-9223372036854775808]", "i64[1] [-1]",
                 "i64[1] [-9223372036854775808]");
    check_binary("div", "i8[1] [-128]", "i8[1] [-1]", "i8[1] [-128]");
    check_binary("div", "u64[1] [18446744073709551615]", "u64[1] [2]",
                 "u64[1] [9223372036854775807]");
    check_binary("div", "f32[3] [1, -1, 0]", "f32[3] [0, 0, 0]",
                 "f32[3] [inf, -inf, nan]");
}

TEST(division_of_an_integer_by_zero_names_op_and_element) {
    check_binary("div", "i32[3] [1, 2, 3]", "i32[3] [1, 1, 0]",
                 "INVALID: div: an integer is divided by zero at element 2");
    check_binary("mod", "u8[2, 2] [1, 2, 3, 4]", "u8[2] [1, 0]",
                 "INVALID: mod: an integer is divided by zero at element 1");
}

TEST(remainders_take_the_sign_of_the_divisor_or_of_the_dividend) {
    check_binary("mod", "i32[4] [7, -7, 7, -7]", "i32[4] [3, 3, -3, -3]",
                 "i32[4] [1, 2, -2, -1]");
    check_binary("mod", "i64[1] [-9223372036854775808]", "i64[1] [-1]", "i64[1] [0]");
    check_binary("mod", "f32[4] [7.5, -7.5, 7.5, -7.5]", "f32[4] [2, 2, -2, -2]",
                 "f32[4] [1.5, 0.5, -0.5, -1.5]");
    CHECK_VALUE(
        "%0 = const {value = i32[2] [-7, 7]}\n%1 = const {value = i32[2] [3, -3]}\n"
        "%2 = mod %0, %1 {truncate}\nret %2",
        "i32[2] [-1, 1]");
    CHECK_VALUE(
        "%0 = const {value = f32[2] [-7.5, 7.5]}\n"
        "%1 = const {value = f32[2] [2, -2]}\n%2 = mod %0, %1 {truncate}\nret %2",
        "f32[2] [-1.5, 1.5]");
}

TEST(powers_keep_the_type_of_the_base) {
    check_binary("pow", "f32[3] [2, 2, -8]", "f32[3] [10, -1, 0.5]",
                 "f32[3] [1024, 0.5, nan]");
    check_binary("pow", "i32[4] [3, -2, 7, 0]", "i64[4] [4, 3, 0, 0]",
                 "i32[4] [81, -8, 1, 1]");
    check_binary("pow", "i32[5] [2, 1, -1, -1, 0]", "i32[5] [-1, -5, -3, -4, -1]",
                 "i32[5] [0, 1, -1, 1, 0]");
    check_binary("pow", "i32[2] [4, 10]", "f32[2] [0.5, 2]", "i32[2] [2, 100]");
    check_binary("pow", "i64[1] [3037000500]", "f64[1] [1]", "i64[1] [3037000500]");
    check_binary("pow", "f32[1] [2]", "i64[1] [-3]", "f32[1] [0.125]");
    check_binary("pow", "u64[2] [18446744073709551615, 1]", "i64[2] [-1, -5]",
                 "u64[2] [0, 1]");
    check_binary("pow", "u8[2] [2, 3]", "u8[2] [7, 5]", "u8[2] [128, 243]");
    check_binary(
        "pow", "u64[3] [18446744073709551615, 3, 0]",
        "u64[3] [18446744073709551615, 9223372036854775808, 9223372036854775808]",
        "u64[3] [18446744073709551615, 1, 0]");
    check_binary("pow", "i64[2] [-1, 3]",
                 "u64[2] [18446744073709551615, 9223372036854775808]",
                 "i64[2] [-1, 1]");
    check_binary("pow", "u8[3] [255, 2, 1]", "i8[3] [-1, -1, -1]", "u8[3] [0, 0, 1]");
    check_binary("pow", "i8[4] [-2, -2, -128, 0]", "i8[4] [7, 8, 2, 0]",
                 "i8[4] [-128, 0, 0, 1]");
}

TEST(bits_and_shifts) {
    check_binary("and", "u8[1] [12]", "u8[1] [10]", "u8[1] [8]");
    check_binary("or", "i8[1] [-128]", "i8[1] [1]", "i8[1] [-127]");
    check_binary("xor", "bool[2] [true, true]", "bool[2] [true, false]",
                 "bool[2] [false, true]");
    check_binary("shl", "u8[4] [1, 1, 3, 1]", "u8[4] [7, 8, 7, 200]",
                 "u8[4] [128, 0, 128, 0]");
    check_binary("shr", "u8[2] [128, 255]", "u8[2] [7, 9]", "u8[2] [1, 0]");
    check_binary("shr", "i8[2] [-128, 64]", "i8[2] [7, 100]", "i8[2] [-1, 0]");
    check_binary("shr", "i64[1] [-1]", "i64[1] [64]", "i64[1] [-1]");
    check_binary("shl", "u64[1] [1]", "u64[1] [64]", "u64[1] [0]");
}

TEST(comparisons_with_nan_are_false_but_for_ne) {
    const char *x = "f32[3] [1, nan, 2]", *y = "f32[3] [1, nan, 1]";
    check_binary("eq", x, y, "bool[3] [true, false, false]");
    check_binary("ne", x, y, "bool[3] [false, true, true]");
    check_binary("lt", x, y, "bool[3] [false, false, false]");
    check_binary("le", x, y, "bool[3] [true, false, false]");
    check_binary("gt", x, y, "bool[3] [false, false, true]");
    check_binary("ge", x, y, "bool[3] [true, false, true]");
    check_binary("lt", "u64[1] [1]", "u64[1] [18446744073709551615]", "bool[1] [true]");
    check_binary("lt", "i64[1] [1]", "i64[1] [-1]", "bool[1] [false]");
    check_binary("eq", "bool[2] [true, false]", "bool[1] [true]",
                 "bool[2] [true, false]");
}

/* ---- broadcasting ---- */

TEST(broadcasting_is_numpys) {
    check_binary("add", "f32[2, 1] [10, 20]", "f32[3] [1, 2, 3]",
                 "f32[2, 3] [11, 12, 13, 21, 22, 23]");
    check_binary("add", "f32[] [5]", "f32[2] [1, 2]", "f32[2] [6, 7]");
    check_binary("add", "f32[] [5]", "f32[] [1]", "f32[] [6]");
    check_binary("mul", "i64[2, 1, 2] [1, 2, 3, 4]", "i64[2, 1] [1, 10]",
                 "i64[2, 2, 2] [1, 2, 10, 20, 3, 4, 30, 40]");
    check_binary("add", "f32[0, 3] []", "f32[1] [1]", "f32[0, 3] []");
    check_binary("add", "f32[1, 0] []", "f32[2, 1] [1, 2]", "f32[2, 0] []");
    CHECK_VALUE("%0 = const {value = bool[2, 1] [true, false]}\n"
                "%1 = const {value = f32[2] [1, nan]}\n%2 = const {value = f32[] [7]}\n"
                "%3 = where %0, %1, %2\nret %3",
                "f32[2, 2] [1, nan, 7, 7]");
    CHECK_VALUE(
        "%0 = const {value = bool[2] [true, false]}\n"
        "%1 = const {value = bool[2] [false, false]}\n%2 = const {value = bool[] [true]}\n"
        "%3 = where %0, %1, %2\nret %3",
        "bool[2] [false, true]");
}

TEST(long_rows_pass_the_chunk) {
    CHECK_VALUE("%0 = const {value = f32[1000] splat(1.5)}\n%1 = add %0, %0\n"
                "%2 = reduce %1\nret %2",
                "f32[] [3000]");
}

/* ---- rounding ---- */

TEST(narrow_floats_round_to_single_first) {
    check_binary("add", "f16[2] [2048, 1]", "f16[2] [1, 0.00048828125]",
                 "f16[2] [2048, 1]");
    check_binary("mul", "f16[1] [65504]", "f16[1] [2]", "f16[1] [inf]");
    check_binary("add", "bf16[1] [256]", "bf16[1] [1]", "bf16[1] [256]");
    check_binary("add", "f32[1] [16777216]", "f32[1] [1]", "f32[1] [16777216]");
    check_binary("add", "f64[1] [16777216]", "f64[1] [1]", "f64[1] [16777217]");
    check_binary("div", "f32[1] [1]", "f32[1] [3]", "f32[1] [0.33333334]");
}

/* ---- casts ---- */

static void check_cast(const char *x, const char *to, const char *expected) {
    char op[64];
    snprintf(op, sizeof op, "cast %%0 {to = %s}", to);
    check_unary(op, x, expected);
}

TEST(floats_become_integers_by_truncation_and_saturation) {
    check_cast("f32[5] [1.9, -1.9, nan, inf, -inf]", "i8",
               "i8[5] [1, -1, 0, 127, -128]");
    check_cast("f32[3] [300, -300, 127.5]", "i8", "i8[3] [127, -128, 127]");
    check_cast("f32[4] [-1, 255.9, 256, nan]", "u8", "u8[4] [0, 255, 255, 0]");
    check_cast("f32[2] [9.3e18, -9.3e18]", "i64",
               "i64[2] [9223372036854775807, -9223372036854775808]");
    check_cast("f64[2] [1.9e19, -5]", "u64", "u64[2] [18446744073709551615, 0]");
    check_cast("f32[3] [0, nan, 0.1]", "bool", "bool[3] [false, true, true]");
}

TEST(integers_keep_low_bits) {
    check_cast("i32[3] [257, -1, 128]", "i8", "i8[3] [1, -1, -128]");
    check_cast("i8[1] [-1]", "u64", "u64[1] [18446744073709551615]");
    check_cast("u64[1] [18446744073709551615]", "f32", "f32[1] [1.8446744e+19]");
    check_cast("i64[1] [16777217]", "f32", "f32[1] [16777216]");
    check_cast("i64[1] [-3]", "bool", "bool[1] [true]");
    check_cast("bool[2] [true, false]", "f16", "f16[2] [1, 0]");
    check_cast("i8[2] [-9, 7]", "i4", "i4[2] [7, 7]");
    check_cast("i4[3] [-8, 7, -1]", "i32", "i32[3] [-8, 7, -1]");
}

TEST(float8_overflow_follows_saturate) {
    check_cast("f32[4] [1000, -1000, inf, nan]", "f8e4m3fn, saturate",
               "f8e4m3fn[4] [448, -448, 448, nan]");
    check_cast("f32[2] [1000, inf]", "f8e4m3fn", "f8e4m3fn[2] [nan, nan]");
    check_cast("f32[2] [1e6, -inf]", "f8e5m2", "f8e5m2[2] [inf, -inf]");
    check_cast("f32[2] [1e6, -inf]", "f8e5m2, saturate", "f8e5m2[2] [57344, -57344]");
    check_cast("f32[3] [-0, 1000, -inf]", "f8e4m3fnuz, saturate",
               "f8e4m3fnuz[3] [0, 240, -240]");
    check_cast("f64[1] [1.0625000000000003]", "f8e4m3fn", "f8e4m3fn[1] [1.125]");
}

UNIT_SUITE(fold_map, signs_and_roundings, relu_and_extremes_hand_nan_on,
           functions_at_points_that_are_exact, integers_wrap_and_truncate,
           division_of_an_integer_by_zero_names_op_and_element,
           remainders_take_the_sign_of_the_divisor_or_of_the_dividend,
           powers_keep_the_type_of_the_base, bits_and_shifts,
           comparisons_with_nan_are_false_but_for_ne, broadcasting_is_numpys,
           long_rows_pass_the_chunk, narrow_floats_round_to_single_first,
           floats_become_integers_by_truncation_and_saturation, integers_keep_low_bits,
           float8_overflow_follows_saturate)
