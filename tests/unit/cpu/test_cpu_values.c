/* Compiled kernels on values that break things (NaN, infinities, zeros of both signs,
 * huge, tiny and denormal ones, the ends of integers) against the interpreter, at every
 * level.  test_fold_* holds the interpreter itself to values from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* A graph of one body; `signature` and `body` are IR text. */
static void check_within(const char *signature, const char *body,
                         const int64_t *extents, double bound) {
    char text[4096];
    snprintf(text, sizeof text, "module @t {\n  graph @main(%s {\n%s\n  }\n}\n",
             signature, body);
    lower_check_special(text, extents, bound);
}

static void check(const char *signature, const char *body, const int64_t *extents) {
    check_within(signature, body, extents, 1e-6);
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

UNIT_SUITE(cpu_values, integer_powers, halves_are_compared_as_vectors)
