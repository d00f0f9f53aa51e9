/* Softmax, layer norm, padding, running sums, ranges, scatters and products of vectors
 * against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

static void check(const char *signature, const char *body, const int64_t *extents) {
    char text[4096];
    snprintf(text, sizeof text, "module @t {\n  graph @main(%s {\n%s\n  }\n}\n",
             signature, body);
    lower_check(text, extents, 3);
}

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* ---- along rows ---- */

TEST(softmax_along_and_across) {
    static const char *const axes[] = { "0", "1", "2" };
    for (size_t i = 0; i < IG_COUNT_OF(axes); i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "%%0 = softmax %%x {axis = %s} : f32[B, 5, 37]\n"
                 "%%1 = softmax %%x {axis = %s, log} : f32[B, 5, 37]\nret %%0, %%1",
                 axes[i], axes[i]);
        check("%x: f32[B, 5, 37]) -> (f32[B, 5, 37] \"o\", f32[B, 5, 37] \"p\")", body,
              EXTENTS(3));
    }
}

TEST(softmax_of_other_dtypes_and_strides) {
    check("%x: f64[B, 19]) -> (f64[B, 19] \"o\")",
          "%0 = softmax %x {axis = 1} : f64[B, 19]\nret %0", EXTENTS(7));
    check("%x: f16[B, 19]) -> (f16[B, 19] \"o\")",
          "%0 = softmax %x {axis = 1} : f16[B, 19]\nret %0", EXTENTS(7));
    check("%x: f32[B, 19]) -> (f32[19, B] \"o\")",
          "%0 = transpose %x {perm = [1, 0]} : f32[19, B]\n"
          "%1 = softmax %0 {axis = 0} : f32[19, B]\nret %1",
          EXTENTS(21));
    check("%x: f32[B]) -> (f32[B] \"o\")",
          "%0 = softmax %x {axis = 0} : f32[B]\nret %0", EXTENTS(0));
}

/* As attention over items ends: scores of one number, also where the axis is that. */
TEST(softmax_beside_axes_of_one) {
    static const char *const axes[] = { "0", "1", "2", "3" };
    for (size_t i = 0; i < IG_COUNT_OF(axes); i++) {
        char body[160];
        snprintf(body, sizeof body,
                 "%%0 = softmax %%x {axis = %s} : f32[1, B, 19, 1]\nret %%0", axes[i]);
        check("%x: f32[1, B, 19, 1]) -> (f32[1, B, 19, 1] \"o\")", body, EXTENTS(5));
    }
    check("%x: f32[1, 1]) -> (f32[1, 1] \"o\")",
          "%0 = softmax %x {axis = 0, log} : f32[1, 1]\nret %0", NULL);
}

TEST(layer_norm_over_the_last_axes) {
    check("%x: f32[B, 37], %s: f32[37], %b: f32[37]) -> (f32[B, 37] \"o\")",
          "%0 = layer_norm %x, %s, %b {axis = 1, epsilon = 1e-5} : f32[B, 37]\nret %0",
          EXTENTS(9));
    check("%x: f32[B, 3, 11], %s: f32[3, 1]) -> (f32[B, 3, 11] \"o\")",
          "%0 = layer_norm %x, %s {axis = 1, epsilon = 1e-3} : f32[B, 3, 11]\nret %0",
          EXTENTS(9));
    check("%x: f32[B, 33]) -> (f32[B, 33] \"o\")",
          "%0 = layer_norm %x {axis = 0, epsilon = 1e-3} : f32[B, 33]\nret %0",
          EXTENTS(4));
    check("%x: f32[B, 1], %s: f32[3]) -> (f32[B, 3] \"o\")",
          "%0 = expand %x {to = [B, 3]} : f32[B, 3]\n"
          "%1 = layer_norm %0, %s {axis = 1, epsilon = 1e-5} : f32[B, 3]\nret %1",
          EXTENTS(5));
}

TEST(reductions_of_integers_and_logsumexp) {
    check("%x: i32[B, 19]) -> (i32[B] \"o\", i32[19] \"p\")",
          "%0 = neg %x : i32[B, 19]\n%1 = reduce %0 {op = max, axes = [1]} : i32[B]\n"
          "%2 = reduce %0 {op = min, axes = [0]} : i32[19]\nret %1, %2",
          EXTENTS(7));
    check("%x: f32[B, 19]) -> (f32[B] \"o\", f32[19] \"p\")",
          "%1 = reduce %x {op = logsumexp, axes = [1]} : f32[B]\n"
          "%2 = reduce %x {op = logsumexp, axes = [0]} : f32[19]\nret %1, %2",
          EXTENTS(7));
}

/* ---- movement ---- */

TEST(padding_in_every_mode) {
    static const char *const modes[] = { "constant", "edge", "reflect", "wrap" };
    for (size_t i = 0; i < IG_COUNT_OF(modes); i++) {
        char body[256];
        snprintf(
            body, sizeof body,
            "%%0 = pad %%x {before = [2, 5], after = [1, 3], mode = %s} : f32[B + 3, 27]\nret %%0",
            modes[i]);
        check("%x: f32[B, 19]) -> (f32[B + 3, 27] \"o\")", body, EXTENTS(3));
    }
    check(
        "%x: f32[B, 19], %v: f32[]) -> (f32[B + 1, 17] \"o\")",
        "%0 = pad %x, %v {before = [2, -3], after = [-1, 1]} : f32[B + 1, 17]\nret %0",
        EXTENTS(3));
}

TEST(running_sums_and_scatters) {
    check("%x: f32[B, 5, 3]) -> (f32[B, 5, 3] \"o\", f32[B, 5, 3] \"p\")",
          "%0 = cumsum %x {axis = 1} : f32[B, 5, 3]\n"
          "%1 = cumsum %x {axis = 1, exclusive, reverse} : f32[B, 5, 3]\nret %0, %1",
          EXTENTS(4));
    check("%x: f32[B, 5], %i: i64[2, 4], %u: f32[2, 4]) -> (f32[B, 5] \"o\")",
          "%0 = scatter_elements %x, %i, %u {axis = 1} : f32[B, 5]\nret %0",
          EXTENTS(4));
}

TEST(products_of_vectors) {
    check("%x: f32[37], %y: f32[37]) -> (f32[] \"o\")",
          "%0 = matmul %x, %y : f32[]\nret %0", EXTENTS(0));
    check("%x: f32[37], %y: f32[B, 37, 4]) -> (f32[B, 4] \"o\")",
          "%0 = matmul %x, %y : f32[B, 4]\nret %0", EXTENTS(3));
    check("%x: f32[B, 4, 37], %y: f32[37]) -> (f32[B, 4] \"o\")",
          "%0 = matmul %x, %y : f32[B, 4]\n%1 = relu %0 : f32[B, 4]\nret %1",
          EXTENTS(3));
    const char *open =
        "%x: f32[A, 4, 7], %y: f32[B, 7, 3]) -> (f32[bcast(A, B), 4, 3] \"o\")";
    const char *body = "%0 = matmul %x, %y : f32[bcast(A, B), 4, 3]\nret %0";
    check(open, body, EXTENTS(1, 5));
    check(open, body, EXTENTS(5, 1));
}

/* ---- elementwise ---- */

TEST(powers_and_remainders) {
    check("%x: i64[B], %y: i64[B]) -> (i64[B] \"o\", i64[B] \"p\", i64[B] \"q\")",
          "%c = const {value = 3} : i64[]\n%0 = sub %x, %c : i64[B]\n"
          "%1 = pow %0, %y : i64[B]\n%d = const {value = 4} : i64[]\n"
          "%2 = sub %y, %d : i64[B]\n%3 = mod %0, %2 {truncate} : i64[B]\n"
          "%4 = mod %0, %2 : i64[B]\nret %1, %3, %4",
          EXTENTS(29));
    check("%x: f32[B], %y: f32[B]) -> (f32[B] \"o\")",
          "%0 = abs %x : f32[B]\n%1 = pow %0, %y : f32[B]\nret %1", EXTENTS(29));
}

UNIT_SUITE(cpu_lower_norm, softmax_along_and_across, softmax_beside_axes_of_one,
           softmax_of_other_dtypes_and_strides, layer_norm_over_the_last_axes,
           reductions_of_integers_and_logsumexp, padding_in_every_mode,
           running_sums_and_scatters, products_of_vectors, powers_and_remainders)
