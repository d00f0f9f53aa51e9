/* dot4: exact for any bytes, by the instruction that each level should use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/cpu_case.h"

enum { GROUPS = 256 };

/* z[i] = dot4 of bytes 4 i … of x and y, and z[i], `lanes` sums at a time. */
static ig_graph *build_dots(cpu_case *c, uint32_t lanes) {
    static const ig_dtype buffers[] = { IG_DT_u8, IG_DT_i8, IG_DT_i32 };
    ig_builder b;
    char name[32];
    snprintf(name, sizeof name, "dots%u", lanes);
    ig_graph *kernel = cpu_case_kernel(c, name, buffers, 3, 0, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), k_i64(&b, GROUPS), k_i64(&b, lanes),
                              NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *at = k_mul(in, loop.index, k_i64(in, 4));
    ig_value *x = k_load(in, args[0], at, 4 * lanes);
    ig_value *y = k_load(in, args[1], at, 4 * lanes);
    ig_value *z = k_load(in, args[2], loop.index, lanes);
    k_store(in, k_dot4(in, x, y, z), args[2], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

/* All pairs of the ends of both types, and numbers between them. */
static void fill_bytes(uint8_t *x, int8_t *y, int32_t *z) {
    static const uint8_t ends[] = { 255, 0, 128, 127, 1, 254 };
    static const int8_t signed_ends[] = { -128, 127, 0, -1, 1, -127, 64 };
    for (int i = 0; i < 4 * GROUPS; i++) {
        x[i] = i < 8 ? 255 : i % 3 ? ends[i % 6] : (uint8_t)(i * 37);
        y[i] = i < 4 ? -128 : i < 8 ? 127 : signed_ends[i / 2 % 7];
    }
    for (int i = 0; i < GROUPS; i++) {
        z[i] = i % 5 ? i * 1000003 : i % 2 ? INT32_MAX : INT32_MIN;
    }
}

static void check_lanes(cpu_case *c, uint32_t lanes) {
    static uint8_t x[4 * GROUPS];
    static int8_t y[4 * GROUPS];
    static int32_t z[GROUPS], before[GROUPS];
    fill_bytes(x, y, before);
    memcpy(z, before, sizeof z);
    void *buffers[] = { x, y, z };
    cpu_case_run(c, build_dots(c, lanes), buffers, NULL, 1);
    for (int i = 0; i < GROUPS; i++) {
        int64_t sum = before[i];
        for (int k = 4 * i; k < 4 * i + 4; k++) {
            sum += (int64_t)x[k] * y[k];
        }
        CHECK_INT(z[i], (int32_t)(uint32_t)sum);
    }
}

TEST(dot4_is_exact_at_every_width) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        cpu_case c;
        cpu_case_open(&c, cpu_levels[i]);
        for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
            check_lanes(&c, lanes);
        }
        cpu_case_close(&c);
    }
}

/* One of these saturates; the others do not. */
TEST(dot4_is_the_instruction_of_its_level) {
    static const struct {
        const char *level, *wanted;
        uint32_t lanes;
    } forms[] = {
        { "v2", "pmaddwd", 4 },
        { "v3", "vpmaddwd", 8 },
        { "v4", "vpmaddwd", 16 },
        { "v4-vnni", "vpdpbusd", 16 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        cpu_case c;
        cpu_case_open(&c, forms[i].level);
        const char *text = cpu_case_text(&c, build_dots(&c, forms[i].lanes),
                                         IG_EMIT_ASM);
        CHECK_MSG(strstr(text, forms[i].wanted), "%s: no %s", forms[i].level,
                  forms[i].wanted);
        CHECK_MSG(!strstr(text, "pmaddubsw"), "%s saturates", forms[i].level);
        cpu_case_close(&c);
    }
}

/* z[i] = its pairs of the products of bytes 4 i …, `lanes` sums at a time. */
static ig_graph *build_chains(cpu_case *c, uint32_t lanes) {
    static const ig_dtype buffers[] = { IG_DT_u8, IG_DT_i8, IG_DT_i32 };
    ig_builder b;
    char name[32];
    snprintf(name, sizeof name, "chains%u", lanes);
    ig_graph *kernel = cpu_case_kernel(c, name, buffers, 3, 0, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), k_i64(&b, GROUPS), k_i64(&b, lanes),
                              NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *at = k_mul(in, loop.index, k_i64(in, 4));
    ig_value *x = k_load(in, args[0], at, 4 * lanes);
    ig_value *y = k_load(in, args[1], at, 4 * lanes);
    ig_value *z = k_load(in, args[2], loop.index, lanes);
    ig_value *pairs = k_const_vector(in, IG_DT_i16, 2 * lanes, 0);
    pairs = k_dot2(in, x, y, pairs);
    pairs = k_dot2(in, x, y, pairs);
    k_store(in, k_add_pairs(in, pairs, z), args[2], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

/* Products whose pairs, twice, come to the ends of 16 bits. */
TEST(dot2_is_exact_up_to_16_bits) {
    static uint8_t x[4 * GROUPS];
    static int8_t y[4 * GROUPS];
    static int32_t z[GROUPS];
    for (size_t l = 0; l < IG_COUNT_OF(cpu_levels); l++) {
        cpu_case c;
        cpu_case_open(&c, cpu_levels[l]);
        for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
            for (int i = 0; i < 4 * GROUPS; i++) {
                x[i] = i % 3 ? 255 : (uint8_t)(i * 37);
                y[i] = (int8_t)(i / 2 % 2 ? -32 : i % 5 ? 32 : -i % 33);
            }
            for (int i = 0; i < GROUPS; i++) {
                z[i] = i % 5 ? i * 1000003 : i % 2 ? INT32_MAX : INT32_MIN;
            }
            void *buffers[] = { x, y, z };
            cpu_case_run(&c, build_chains(&c, lanes), buffers, NULL, 1);
            for (int i = 0; i < GROUPS; i++) {
                int64_t sum = i % 5 ? i * 1000003 : i % 2 ? INT32_MAX : INT32_MIN;
                for (int k = 4 * i; k < 4 * i + 4; k++) {
                    sum += 2 * (int64_t)x[k] * y[k];
                }
                CHECK_INT(z[i], (int32_t)(uint32_t)sum);
            }
        }
        cpu_case_close(&c);
    }
}

UNIT_SUITE(cpu_dot, dot4_is_exact_at_every_width, dot4_is_the_instruction_of_its_level,
           dot2_is_exact_up_to_16_bits)
