/* Elementwise regions, copies, gathers, products_by_columns, reductions and dot
 * products against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* A graph of one body; `signature` and `body` are IR text. */
static void check(const char *signature, const char *body, const int64_t *extents) {
    char text[4096];
    snprintf(text, sizeof text, "module @t {\n  graph @main(%s {\n%s\n  }\n}\n",
             signature, body);
    lower_check(text, extents, 3);
}

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* ---- elementwise ---- */

TEST(elementwise_with_broadcast) {
    for (int64_t n = 0; n < 40; n += 13) {
        check("%x: f32[B, 37], %y: f32[37], %z: f32[B, 1]) -> (f32[B, 37] \"o\")",
              "%0 = add %x, %y : f32[B, 37]\n%1 = mul %0, %z : f32[B, 37]\n"
              "%2 = sub %1, %x : f32[B, 37]\nret %2",
              EXTENTS(n));
    }
}

TEST(extents_that_may_be_one) {
    const char *signature =
        "%x: f32[A, 8], %y: f32[B, 8]) -> (f32[bcast(A, B), 8] \"o\")";
    const char *body = "%0 = add %x, %y : f32[bcast(A, B), 8]\nret %0";
    check(signature, body, EXTENTS(1, 5));
    check(signature, body, EXTENTS(5, 1));
    check(signature, body, EXTENTS(5, 5));
}

/* The run knows whether an operand has an element for each lane or one for all. */
TEST(last_extents_that_may_be_one) {
    const char *signature = "%x: f32[A], %y: f16[B], %z: f32[3, A]) -> "
                            "(f32[3, bcast(A, B)] \"o\")";
    const char *body = "%0 = cast %y {to = f32}\n%1 = add %x, %0\n"
                       "%2 = mul %1, %z\nret %2";
    static const int64_t extents[][2] = { { 1, 1 },  { 1, 5 },   { 5, 1 }, { 37, 1 },
                                          { 1, 64 }, { 40, 40 }, { 0, 1 }, { 1, 0 } };
    for (size_t i = 0; i < IG_COUNT_OF(extents); i++) {
        check(signature, body, extents[i]);
    }
    const char *norm = "%x: f32[3, A], %s: f32[B]) -> (f32[3, A] \"o\")";
    for (size_t i = 0; i < 2; i++) {
        check(norm, "%0 = layer_norm %x, %s {axis = 1, epsilon = 1e-3}\nret %0",
              i ? EXTENTS(37, 37) : EXTENTS(37, 1));
    }
}

TEST(scalars) {
    check("%x: f32[], %y: f32[]) -> (f32[] \"o\")", "%0 = add %x, %y : f32[]\nret %0",
          EXTENTS(0));
}

TEST(other_dtypes) {
    check("%x: i64[B], %y: i64[B]) -> (i64[B] \"o\")",
          "%0 = sub %x, %y : i64[B]\n%1 = mul %0, %x : i64[B]\nret %1", EXTENTS(21));
    check("%x: f64[B], %y: f64[B]) -> (f64[B] \"o\")",
          "%0 = mul %x, %y : f64[B]\nret %0", EXTENTS(21));
    check("%x: f16[B], %y: f16[B]) -> (f16[B] \"o\")",
          "%0 = mul %x, %y : f16[B]\n%1 = add %0, %x : f16[B]\nret %1", EXTENTS(21));
    check("%x: bf16[B], %y: bf16[B]) -> (bf16[B] \"o\")",
          "%0 = add %x, %y : bf16[B]\nret %0", EXTENTS(37));
}

TEST(choices_and_conversions) {
    check("%x: f32[B], %y: f32[B]) -> (f32[B] \"o\", bool[B] \"p\", i32[B] \"q\")",
          "%0 = lt %x, %y : bool[B]\n%1 = where %0, %x, %y : f32[B]\n"
          "%2 = ge %x, %y : bool[B]\n%3 = cast %x {to = i32} : i32[B]\n"
          "%4 = mul %3, %3 : i32[B]\nret %1, %2, %4",
          EXTENTS(29));
}

TEST(functions) {
    check("%x: f32[B]) -> (f32[B] \"o\")",
          "%0 = exp %x : f32[B]\n%1 = tanh %0 : f32[B]\n%2 = sigmoid %1 : f32[B]\n"
          "%3 = erf %2 : f32[B]\n%4 = sqrt %3 : f32[B]\nret %4",
          EXTENTS(29));
}

/* Their code stands once: each vector has a count. */
TEST(long_functions) {
    for (int64_t n = 0; n < 40; n += n < 2 ? 1 : 15) {
        check("%x: f32[B, 21]) -> (f32[B, 21] \"o\")",
              "%0 = sin %x : f32[B, 21]\n%1 = atan %0 : f32[B, 21]\nret %1",
              EXTENTS(n));
        check("%x: f64[B], %y: f32[B]) -> (f64[B] \"o\", f32[B] \"p\", bool[B] \"q\")",
              "%0 = cos %x : f64[B]\n%1 = asinh %y : f32[B]\n"
              "%2 = gt %1, %y : bool[B]\nret %0, %1, %2",
              EXTENTS(n));
    }
}

/* Quotients halfway between integers and the numbers beside them, at the ends of 8 bits
 * and of what is kept apart. */
static void put_halves(lower_case *c) {
    static const int64_t wholes[] = { 0, 1, 2, 126, 127, 128, 254, 255, 4194303 };
    ig_tensor *x = &c->inputs[0], *scale = &c->inputs[1];
    double y = ig_tensor_get_f64(scale, 0);
    for (int64_t i = 0; i < x->count; i++) {
        float half = (float)((double)wholes[i / 6 % 9] + 0.5) * (float)y;
        half = i % 3 == 1 ? nextafterf(half, 0) : half;
        half = i % 3 == 2 ? nextafterf(half, INFINITY) : half;
        ig_tensor_set_f64(x, i, (double)(i % 6 < 3 ? half : -half));
    }
}

static float quotients_scale;

static void put_scale(lower_case *c) {
    ig_tensor_set_f64(&c->inputs[1], 0, (double)quotients_scale);
    put_halves(c);
}

/* By one constant, which is not divided by, and by what the run brings. */
TEST(whole_quotients) {
    static const float scales[] = { 0.1F, 0.011764706F, 3e-5F, -0.25F, 1e12F,
                                    1.5F, 1e-30F,       1e30F, 0,      0x1p-149F };
    for (size_t i = 0; i < IG_COUNT_OF(scales); i++) {
        char text[1024];
        quotients_scale = scales[i];
        snprintf(
            text, sizeof text,
            "module @t {\n  graph @main(%%x: f32[B], %%s: f32[]) -> (f32[B] \"a\", f32[B] \"b\", u8[B] \"c\", i8[B] \"d\", i16[B] \"e\") {\n"
            "%%0 = const {value = %.9g} : f32[]\n%%1 = div_round %%x, %%0 : f32[B]\n"
            "%%2 = div_round %%x, %%s : f32[B]\n%%3 = cast %%1 {to = u8} : u8[B]\n"
            "%%4 = cast %%2 {to = i8} : i8[B]\n%%5 = cast %%x {to = i16} : i16[B]\n"
            "ret %%1, %%2, %%3, %%4, %%5\n  }\n}\n",
            (double)scales[i]);
        lower_check_special(text, EXTENTS(100), 0, put_scale);
        lower_check_special(text, EXTENTS(93), 0, NULL);
    }
}

/* Powers of two of either sign, and their neighbours, up to infinity: what is beyond 32
 * bits as an integer is the byte at the end. */
static void put_powers(lower_case *c) {
    ig_tensor *x = &c->inputs[0];
    for (int64_t i = 0; i < x->count; i++) {
        float power = ldexpf(1, (int)(i / 6 % 130));
        power = i % 3 == 1 ? nextafterf(power, 0) : power;
        power = i % 3 == 2 ? nextafterf(power, INFINITY) : power;
        ig_tensor_set_f64(x, i, (double)(i % 6 < 3 ? power : -power));
    }
}

TEST(large_quotients_are_the_last_byte) {
    static const float scales[] = { 1e-3F, 3e9F };
    for (size_t i = 0; i < 4; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "module @t {\n  graph @main(%%x: f32[B]) -> (u8[B] \"y\") {\n"
            "%%0 = const {value = %.9g} : f32[]\n%%1 = const {value = %d} : f32[]\n"
            "%%2 = div_round %%x, %%0 : f32[B]\n%%3 = add %%2, %%1 : f32[B]\n"
            "%%4 = cast %%3 {to = u8} : u8[B]\nret %%4\n  }\n}\n",
            (double)scales[i / 2], i % 2 ? 7 : 255);
        lower_check_special(text, EXTENTS(1600), 0, put_powers);
    }
}

/* ---- movement ---- */

TEST(views_and_copies) {
    check("%x: f32[B, 6, 5]) -> (f32[5, B, 6] \"o\")",
          "%0 = transpose %x {perm = [2, 0, 1]} : f32[5, B, 6]\nret %0", EXTENTS(7));
    check(
        "%x: f32[B, 6, 5]) -> (f32[B, 2, 5] \"o\")",
        "%0 = slice %x {starts = [0, 1, 0], sizes = [B, 2, 5], steps = [1, 3, 1]} : f32[B, 2, 5]\nret %0",
        EXTENTS(7));
    check("%x: f32[B, 6]) -> (f32[6*B] \"o\")",
          "%0 = transpose %x {perm = [1, 0]} : f32[6, B]\n"
          "%1 = reshape %0 {to = [6*B]} : f32[6*B]\nret %1",
          EXTENTS(7));
    check("%x: f32[B, 1]) -> (f32[3, B, 4] \"o\")",
          "%0 = expand %x {to = [3, B, 4]} : f32[3, B, 4]\nret %0", EXTENTS(7));
}

/* Squares that are whole, and those at both ends; one operand and two. */
TEST(transposes_in_squares) {
    static const char *const types[] = { "f32", "u8" };
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        char text[512];
        const char *t = types[i];
        snprintf(text, sizeof text,
                 "module @t {\n  graph @main(%%x: %s[2, B, 37], %%y: %s[2, B, 37], "
                 "%%z: %s[37, B]) -> (%s[2, 37, B] \"o\") {\n"
                 "    %%0 = transpose %%x {perm = [0, 2, 1]} : %s[2, 37, B]\n"
                 "    %%1 = transpose %%y {perm = [0, 2, 1]} : %s[2, 37, B]\n"
                 "    %%2 = add %%0, %%1 : %s[2, 37, B]\n"
                 "    %%3 = add %%2, %%z : %s[2, 37, B]\n    ret %%3\n  }\n}\n",
                 t, t, t, t, t, t, t, t);
        lower_check(text, EXTENTS(i % 2 ? 3 : 33), 3);
    }
    check("%x: bool[21, B]) -> (bool[B, 21] \"o\")",
          "%0 = transpose %x {perm = [1, 0]} : bool[B, 21]\nret %0", EXTENTS(18));
}

TEST(elements_a_few_apart) {
    for (int step = 2; step <= 5; step++) {
        char body[256];
        snprintf(
            body, sizeof body,
            "%%0 = slice %%x {starts = [0, 1], sizes = [B, 39], steps = [1, %d]} : "
            "f32[B, 39]\n%%1 = neg %%0 : f32[B, 39]\nret %%1",
            step);
        check("%x: f32[B, 200]) -> (f32[B, 39] \"o\")", body, EXTENTS(3));
    }
    check("%x: i64[B, 2]) -> (i64[B] \"o\")",
          "%0 = slice %x {starts = [0, 1], sizes = [B, 1]} : i64[B, 1]\n"
          "%1 = reshape %0 {to = [B]} : i64[B]\n%2 = neg %1 : i64[B]\nret %2",
          EXTENTS(41));
}

/* Pixels of three colours, pairs, repeated elements. */
TEST(last_dims_of_few_elements) {
    check("%x: f32[B, 3, 41]) -> (f32[B, 41, 3] \"o\")",
          "%0 = transpose %x {perm = [0, 2, 1]} : f32[B, 41, 3]\nret %0", EXTENTS(3));
    check("%x: u8[3, B], %y: u8[3]) -> (u8[B, 3] \"o\")",
          "%0 = transpose %x {perm = [1, 0]} : u8[B, 3]\n"
          "%1 = add %0, %y : u8[B, 3]\nret %1",
          EXTENTS(150));
    check("%x: f64[2, B], %y: f64[B, 2], %z: f64[B, 1]) -> (f64[B, 2] \"o\", "
          "f64[B, 2] \"p\")",
          "%0 = transpose %x {perm = [1, 0]} : f64[B, 2]\n"
          "%1 = mul %0, %y : f64[B, 2]\n%2 = sub %1, %z : f64[B, 2]\nret %2, %1",
          EXTENTS(29));
    check("%x: f32[2, B, 9, 1]) -> (f32[2, B, 9, 4] \"o\")",
          "%0 = expand %x {to = [2, B, 9, 4]} : f32[2, B, 9, 4]\nret %0", EXTENTS(5));
}

TEST(concatenation_in_place_and_by_copies) {
    check("%x: f32[B, 6], %y: f32[B, 5]) -> (f32[B, 17] \"o\")",
          "%0 = relu %x : f32[B, 6]\n%1 = neg %0 : f32[B, 6]\n"
          "%2 = concat %0, %y, %1 {axis = 1} : f32[B, 17]\nret %2",
          EXTENTS(7));
    check(
        "%x: f32[B, 6]) -> (f32[2*B, 6] \"o\")",
        "%0 = relu %x : f32[B, 6]\n%1 = concat %0, %0 {axis = 0} : f32[2*B, 6]\nret %1",
        EXTENTS(7));
}

TEST(results_returned_as_they_are) {
    check("%x: f32[B, 6]) -> (f32[B, 6] \"o\", f32[B, 6] \"p\")", "ret %x, %x",
          EXTENTS(7));
}

/* ---- gathers ---- */

TEST(gathers) {
    check("%x: f32[B, 3, 20], %i: i64[4]) -> (f32[B, 4, 20] \"o\")",
          "%0 = gather %x, %i {axis = 1} : f32[B, 4, 20]\nret %0", EXTENTS(7));
    check("%x: f32[3], %i: i64[B, 2]) -> (f32[B, 2] \"o\")",
          "%0 = gather %x, %i {axis = 0} : f32[B, 2]\nret %0", EXTENTS(7));
    check("%x: f32[3, 4, 20], %i: i64[B, 2]) -> (f32[B, 20] \"o\")",
          "%0 = gather_nd %x, %i : f32[B, 20]\nret %0", EXTENTS(7));
    check("%x: f32[B, 3], %i: i64[B, 5]) -> (f32[B, 5] \"o\")",
          "%0 = gather_elements %x, %i {axis = 1} : f32[B, 5]\nret %0", EXTENTS(7));
    check("%x: f32[B, 5], %i: i64[37]) -> (f32[B, 37] \"o\")",
          "%0 = gather %x, %i {axis = 1} : f32[B, 37]\nret %0", EXTENTS(3));
    check("%x: f32[5, B], %i: i64[4, B], %y: i32[B, 5], %j: i32[B, 37]) -> "
          "(f32[4, B] \"o\", i32[B, 37] \"p\")",
          "%0 = gather_elements %x, %i {axis = 0} : f32[4, B]\n"
          "%1 = gather_elements %y, %j {axis = 1} : i32[B, 37]\nret %0, %1",
          EXTENTS(21));
}

/* ---- reductions ---- */

TEST(reductions_along_and_across) {
    static const char *const kinds[] = { "sum", "mean", "max", "min", "prod", "l2" };
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "%%0 = reduce %%x {op = %s, axes = [2]} : f32[B, 5]\n"
                 "%%1 = reduce %%x {op = %s, axes = [1]} : f32[B, 19]\n"
                 "%%2 = reduce %%x {op = %s, axes = [0, 2], keep} : f32[1, 5, 1]\n"
                 "%%3 = reduce %%x {op = %s} : f32[]\nret %%0, %%1, %%2, %%3",
                 kinds[i], kinds[i], kinds[i], kinds[i]);
        check(
            "%x: f32[B, 5, 19]) -> (f32[B, 5] \"o\", f32[B, 19] \"p\", f32[1, 5, 1] \"q\", f32[] \"r\")",
            body, EXTENTS(4));
    }
    check("%x: i64[B, 5]) -> (i64[5] \"o\", i64[B] \"p\")",
          "%0 = reduce %x {op = max, axes = [0]} : i64[5]\n"
          "%1 = reduce %x {op = sum, axes = [1]} : i64[B]\nret %0, %1",
          EXTENTS(4));
}

/* ---- products ---- */

TEST(dot_products) {
    check(
        "%x: f32[B, 70], %y: f32[3, 70]) -> (f32[B, 3] \"o\")",
        "%0 = matmul %x, %y {transpose_b} : f32[B, 3]\n%1 = relu %0 : f32[B, 3]\nret %1",
        EXTENTS(9));
    check("%x: f32[B, 4, 7], %y: f32[7, 5]) -> (f32[B, 4, 5] \"o\")",
          "%0 = matmul %x, %y : f32[B, 4, 5]\nret %0", EXTENTS(9));
    check("%x: f32[B, 4, 7], %y: f32[B, 7, 5]) -> (f32[B, 4, 5] \"o\")",
          "%0 = matmul %x, %y : f32[B, 4, 5]\nret %0", EXTENTS(9));
}

/* A computed right-hand side whose columns lie side by side. */
TEST(products_by_columns) {
    static const int64_t rows[] = { 0, 1, 3, 4, 7, 8, 9, 13 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check("%x: f32[B, 11], %y: f32[11, 70], %z: f32[70]) -> (f32[B, 70] \"o\")",
              "%0 = matmul %x, %y : f32[B, 70]\n%1 = add %0, %z : f32[B, 70]\nret %1",
              EXTENTS(rows[i]));
    }
    check(
        "%x: f32[2, B, K], %y: f32[2, K, N], %z: f32[2, 1, N]) -> (f32[2, B, N] \"o\")",
        "%0 = matmul %x, %y : f32[2, B, N]\n%1 = mul %0, %z : f32[2, B, N]\nret %1",
        EXTENTS(6, 9, 37));
    check("%x: f32[3, 5, B], %y: f32[B, 64]) -> (f32[3, 5, 64] \"o\")",
          "%0 = matmul %x, %y : f32[3, 5, 64]\n%1 = sigmoid %0 : f32[3, 5, 64]\nret %1",
          EXTENTS(21));
    check("%x: f32[B, 5], %y: f32[B, 20]) -> (f32[5, 20] \"o\")",
          "%0 = matmul %x, %y {transpose_a} : f32[5, 20]\nret %0", EXTENTS(9));
    check("%x: f64[B, 9], %y: f64[9, 21]) -> (f64[B, 21] \"o\")",
          "%0 = matmul %x, %y : f64[B, 21]\nret %0", EXTENTS(5));
    check("%x: f32[9], %y: f32[9, B]) -> (f32[B] \"o\")",
          "%0 = matmul %x, %y : f32[B]\nret %0", EXTENTS(35));
    check("%x: f32[24, 24], %y: f32[B, 24]) -> (f32[B, 24] \"o\")",
          "%0 = matmul %y, %x : f32[B, 24]\n%1 = mul %0, %y : f32[B, 24]\nret %1",
          EXTENTS(6));
}

/* A computed right-hand side that is copied into panels. */
TEST(products_by_panels) {
    static const int64_t rows[] = { 0, 1, 5, 7, 8, 9, 15, 17, 29, 128, 131 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check("%x: f32[B, 19], %y: f32[37, 19], %z: f32[37]) -> (f32[B, 37] \"o\")",
              "%0 = matmul %x, %y {transpose_b} : f32[B, 37]\n"
              "%1 = add %0, %z : f32[B, 37]\nret %1",
              EXTENTS(rows[i]));
        check("%x: f32[19, B], %y: f32[53, 19]) -> (f32[B, 53] \"o\")",
              "%0 = matmul %x, %y {transpose_a, transpose_b} : f32[B, 53]\nret %0",
              EXTENTS(rows[i]));
    }
    check("%x: f32[27, 64], %y: f32[27, 64]) -> (f32[27, 27] \"o\")",
          "%0 = matmul %x, %y {transpose_b} : f32[27, 27]\nret %0", EXTENTS(0));
    check("%x: f32[200, 64], %y: f32[300, 64]) -> (f32[200, 300] \"o\")",
          "%0 = matmul %x, %y {transpose_b} : f32[200, 300]\nret %0", EXTENTS(0));
}

TEST(products_by_panels_of_any_depth) {
    static const int64_t depths[] = { 0, 1, 16, 127, 128, 129, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(depths); i++) {
        check(
            "%x: f32[2, B, K], %y: f32[1, N, K], %z: f32[2, 1, N]) -> (f32[2, B, N] \"o\")",
            "%0 = matmul %x, %y {transpose_b} : f32[2, B, N]\n"
            "%1 = mul %0, %z : f32[2, B, N]\nret %1",
            EXTENTS(11, depths[i], 21));
    }
    check("%x: f32[B, 300], %y: f32[40, 300]) -> (f32[B, 40] \"o\")",
          "%0 = matmul %x, %y {transpose_b} : f32[B, 40]\n"
          "%1 = sigmoid %0 : f32[B, 40]\nret %1",
          EXTENTS(23));
    check("%x: f32[B, 30], %y: f32[40, 30]) -> (f32[B, 40] \"o\")",
          "%0 = matmul %x, %y {transpose_b} : f32[B, 40]\n"
          "%1 = sigmoid %0 : f32[B, 40]\nret %1",
          EXTENTS(23));
    check("%x: f64[B, 33], %y: f64[21, 33]) -> (f64[B, 21] \"o\")",
          "%0 = matmul %x, %y {transpose_b} : f64[B, 21]\nret %0", EXTENTS(12));
}

/* Neither axis of the right-hand side lies side by side. */
TEST(products_of_views) {
    check("%x: f32[3, B, 9], %y: f32[20, 3, 9]) -> (f32[3, B, 20] \"o\")",
          "%0 = transpose %y {perm = [1, 2, 0]} : f32[3, 9, 20]\n"
          "%1 = matmul %x, %0 : f32[3, B, 20]\nret %1",
          EXTENTS(10));
    check("%x: f32[B, 9], %y: f32[9, 20, 2]) -> (f32[B, 20] \"o\")",
          "%0 = slice %y {starts = [0, 0, 1], sizes = [9, 20, 1]} : f32[9, 20, 1]\n"
          "%1 = reshape %0 {to = [9, 20]} : f32[9, 20]\n"
          "%2 = matmul %x, %1 : f32[B, 20]\nret %2",
          EXTENTS(10));
}

UNIT_SUITE(cpu_lower_map, elementwise_with_broadcast, extents_that_may_be_one,
           last_extents_that_may_be_one, scalars, other_dtypes, choices_and_conversions,
           functions, long_functions, whole_quotients,
           large_quotients_are_the_last_byte, views_and_copies, transposes_in_squares,
           elements_a_few_apart, last_dims_of_few_elements,
           concatenation_in_place_and_by_copies, results_returned_as_they_are, gathers,
           reductions_along_and_across, dot_products, products_by_columns,
           products_by_panels, products_by_panels_of_any_depth, products_of_views)
