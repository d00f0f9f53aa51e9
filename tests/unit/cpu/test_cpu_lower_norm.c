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

static void take_apart(lower_case *c) {
    c->decomposes = true;
}

/* Masks whose batch, rows and keys are those of the scores or 1, as the run knows. */
TEST(attention_with_masks_of_any_extents) {
    static const char *const texts[] = {
        "module @t {\n  graph @main(%q: f32[B, 2, L, 8], %k: f32[B, 2, S, 8], "
        "%v: f32[B, 2, S, 4], %m: f32[M, 1, R, K]) -> (f32[bcast(B, M), 2, L, 4]) {\n"
        "%0 = attention %q, %k, %v, %m {scale = 0.25}\nret %0\n  }\n}\n",
        "module @t {\n  graph @main(%q: f32[B, L, 8], %k: f32[B, S, 8], "
        "%v: f32[B, S, 4], %m: bool[M, R, K]) -> (f32[bcast(B, M), L, 4]) {\n"
        "%0 = attention %q, %k, %v, %m {scale = 0.25, masked = -9}\nret %0\n  }\n}\n",
    };
    static const int64_t extents[][6] = {
        /* B, L, S, M, R, K */
        { 2, 3, 5, 2, 3, 5 },    { 2, 3, 5, 1, 1, 1 },   { 1, 3, 5, 3, 1, 5 },
        { 2, 33, 40, 1, 33, 1 }, { 1, 1, 17, 2, 1, 17 }, { 2, 0, 5, 2, 1, 5 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(extents); i++) {
        lower_check_with(texts[0], extents[i], 3, take_apart);
        lower_check_with(texts[1], extents[i], 3, take_apart);
    }
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

/* Elementwise ops on a norm, with operands of their own: a number a row, a row, an
 * element each, in order and across. */
TEST(layer_norm_with_an_epilogue) {
    const char *text = "%0 = layer_norm %x {axis = 2, epsilon = 1e-5} : f32[B, 3, W]\n"
                       "%1 = mul %0, %s : f32[B, 3, W]\n"
                       "%2 = add %1, %r : f32[B, 3, W]\n"
                       "%3 = transpose %y {perm = [0, 2, 1]} : f32[B, 3, W]\n"
                       "%4 = add %2, %3 : f32[B, 3, W]\n"
                       "%5 = relu %4 : f32[B, 3, W]\nret %5";
    const char *signature = "%x: f32[B, 3, W], %s: f32[3, 1], %r: f32[W], "
                            "%y: f32[B, W, 3]) -> (f32[B, 3, W])";
    check(signature, text, EXTENTS(2, 37));
    check(signature, text, EXTENTS(2, 1));
    check(signature, text, EXTENTS(0, 20));
    check("%x: f16[B, 40], %y: f16[B, 40]) -> (f32[B, 40])",
          "%0 = layer_norm %x {axis = 1, epsilon = 1e-5, rms} : f16[B, 40]\n"
          "%1 = add %0, %y : f16[B, 40]\n%2 = cast %1 {to = f32} : f32[B, 40]\nret %2",
          EXTENTS(5));
    check("%x: f32[B, 6, 4, 9], %s: f32[6, 1, 1]) -> (f32[B, 6, 4, 9])",
          "%0 = reshape %x {to = [B, 6, 36]} : f32[B, 6, 36]\n"
          "%1 = layer_norm %0 {axis = 2, epsilon = 1e-5} : f32[B, 6, 36]\n"
          "%2 = reshape %1 {to = [B, 6, 4, 9]} : f32[B, 6, 4, 9]\n"
          "%3 = mul %2, %s : f32[B, 6, 4, 9]\n%4 = relu %3 : f32[B, 6, 4, 9]\nret %4",
          EXTENTS(2));
}

/* Groups of one channel, of some, that no vector divides, and of all; blocks of some
 * groups; more places than a part of the sums has, one, and none. */
TEST(norms_of_groups_of_channels_last) {
    static const int64_t sizes[][2] = { { 32, 32 },  { 24, 8 }, { 7, 7 },    { 10, 2 },
                                        { 160, 40 }, { 96, 2 }, { 130, 13 }, { 1, 1 } };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        char signature[128], body[256];
        long long channels = (long long)sizes[i][0], groups = (long long)sizes[i][1];
        snprintf(signature, sizeof signature,
                 "%%x: f32[B, H, 3, %lld], %%s: f32[%lld]) -> (f32[B, H, 3, %lld])",
                 channels, channels, channels);
        snprintf(
            body, sizeof body,
            "%%0 = group_norm_last %%x {groups = %lld, epsilon = 1e-5} : f32[B, H, 3, %lld]\n"
            "%%1 = mul %%0, %%s : f32[B, H, 3, %lld]\nret %%1",
            groups, channels, channels);
        check(signature, body, EXTENTS(2, 5));
        check(signature, body, EXTENTS(1, 131));
        check(signature, body, EXTENTS(1, 1));
        check(signature, body, EXTENTS(0, 4));
        check(signature, body, EXTENTS(3, 0));
    }
}

/* Far from 0, nearly constant: a mean that is rounded costs no digit. */
TEST(norms_of_groups_far_from_zero) {
    check("%x: f32[B, 300, 20]) -> (f32[B, 300, 20])",
          "%0 = const {value = 4096.0} : f32[]\n%1 = const {value = 0.01} : f32[]\n"
          "%2 = mul %x, %1 : f32[B, 300, 20]\n%3 = add %2, %0 : f32[B, 300, 20]\n"
          "%4 = group_norm_last %3 {groups = 5, epsilon = 1e-5} : f32[B, 300, 20]\n"
          "ret %4",
          EXTENTS(2));
}

TEST(norms_of_groups_of_special_values) {
    lower_check_special(
        "module @t {\n  graph @main(%x: f32[B, 9, 12]) -> (f32[B, 9, 12]) {\n"
        "    %0 = group_norm_last %x {groups = 4, epsilon = 1e-5} : f32[B, 9, 12]\n"
        "    %1 = sigmoid %0 : f32[B, 9, 12]\n    ret %1\n  }\n}\n",
        EXTENTS(3), 1e-5, NULL);
}

/* Vectors side by side, and what they leave: known and open. */
TEST(reductions_across_rows) {
    static const char *const kinds[] = { "sum", "mean", "max", "l2", "logsumexp" };
    static const char *const widths[] = { "6", "16", "40", "131", "C" };
    for (size_t i = 0; i < IG_COUNT_OF(kinds) * IG_COUNT_OF(widths); i++) {
        char signature[128], body[200];
        const char *c = widths[i % IG_COUNT_OF(widths)];
        snprintf(signature, sizeof signature, "%%x: f32[B, 5, %s, 3]) -> (f32[B, %s])",
                 c, c);
        snprintf(body, sizeof body,
                 "%%0 = transpose %%x {perm = [0, 1, 3, 2]} : f32[B, 5, 3, %s]\n"
                 "%%1 = add %%0, %%0 : f32[B, 5, 3, %s]\n"
                 "%%2 = reduce %%1 {op = %s, axes = [1, 2]} : f32[B, %s]\nret %%2",
                 c, c, kinds[i / IG_COUNT_OF(widths)], c);
        check(signature, body, EXTENTS(3, 77));
        check(signature, body, EXTENTS(0, 5));
    }
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

/* Lines of whole vectors and what they leave, of elements of other sizes, by
 * strides. */
TEST(scatters_into_long_lines) {
    static const char *const dtypes[] = { "f32", "u8", "bool", "i64", "f16" };
    static const int64_t widths[] = { 16, 37, 130 };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes) * IG_COUNT_OF(widths); i++) {
        char signature[160], body[160];
        const char *t = dtypes[i / IG_COUNT_OF(widths)];
        snprintf(signature, sizeof signature,
                 "%%x: %s[B, C], %%i: i64[2, 4], %%u: %s[2, 4]) -> (%s[B, C])", t, t,
                 t);
        snprintf(body, sizeof body,
                 "%%0 = scatter_elements %%x, %%i, %%u {axis = 1} : %s[B, C]\nret %%0",
                 t);
        check(signature, body, EXTENTS(3, widths[i % IG_COUNT_OF(widths)]));
    }
    check("%x: f32[40, B], %i: i64[2, 4], %u: f32[2, 4]) -> (f32[B, 40] \"o\")",
          "%0 = transpose %x {perm = [1, 0]} : f32[B, 40]\n"
          "%1 = scatter_elements %0, %i, %u {axis = 1} : f32[B, 40]\nret %1",
          EXTENTS(3));
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

UNIT_SUITE(cpu_lower_norm, attention_with_masks_of_any_extents,
           norms_of_groups_of_channels_last, norms_of_groups_far_from_zero,
           norms_of_groups_of_special_values, reductions_across_rows,
           softmax_along_and_across, softmax_beside_axes_of_one,
           softmax_of_other_dtypes_and_strides, layer_norm_over_the_last_axes,
           layer_norm_with_an_epilogue, reductions_of_integers_and_logsumexp,
           padding_in_every_mode, running_sums_and_scatters, scatters_into_long_lines,
           products_of_vectors, powers_and_remainders)
