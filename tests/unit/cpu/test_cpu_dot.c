/* dot4 and low bits: exact for any bytes, by the instruction that a level should use.
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

/* ---- blocks ---- */

enum {
    BLOCK_ROWS = 16,
    BLOCK_DEPTH = 37, /* quads */
    BLOCK_PANELS = 4,
    A_STEP = 4 * BLOCK_DEPTH + 4,
    B_STEP = 64 * BLOCK_DEPTH,
    SUMS_STEP = 16 * BLOCK_PANELS + 3,
};

typedef struct block_memory {
    uint8_t a[BLOCK_ROWS * A_STEP];
    int8_t b[BLOCK_PANELS * B_STEP];
    int32_t sums[BLOCK_ROWS * SUMS_STEP];
} block_memory;

/* rows and k are params. */
static ig_graph *build_block(cpu_case *c, uint32_t panels, bool adds,
                             bool is_expanded) {
    static const ig_dtype buffers[] = { IG_DT_u8, IG_DT_i8, IG_DT_i32 };
    ig_builder b;
    char name[40];
    snprintf(name, sizeof name, "block%u%s%s", panels, adds ? "adds" : "",
             is_expanded ? "loads" : "");
    ig_graph *kernel = cpu_case_kernel(c, name, buffers, 3, 2, &b);
    ig_value **args = kernel->body.args;
    k_block block = { .a = args[0],
                      .b = args[1],
                      .sums = args[2],
                      .rows = args[3],
                      .k = args[4],
                      .panels = panels,
                      .adds = adds };
    block.a_step = k_i64(&b, A_STEP);
    block.b_step = k_i64(&b, B_STEP);
    block.sums_step = k_i64(&b, SUMS_STEP);
    k_dot4_block(&b, &block);
    ig_op *op = kernel->body.last;
    if (is_expanded) {
        k_expand_block(&b, op);
        ig_op_erase(op);
    }
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

static void fill_block(block_memory *m) {
    for (size_t i = 0; i < sizeof m->a; i++) {
        m->a[i] = i < A_STEP ? 255 : (uint8_t)(i * 41);
    }
    for (size_t i = 0; i < sizeof m->b; i++) {
        m->b[i] = i < B_STEP ? -128 : (int8_t)(i * 29);
    }
    for (size_t i = 0; i < IG_COUNT_OF(m->sums); i++) {
        m->sums[i] = i % 3 ? (int32_t)i * 1000003 : INT32_MIN;
    }
}

static void expect_block(block_memory *m, uint32_t panels, bool adds,
                         const int64_t *size) {
    for (int64_t i = 0; i < size[0] * panels * 16; i++) {
        int64_t row = i / (panels * 16), column = i % (panels * 16);
        int32_t *sum = &m->sums[row * SUMS_STEP + column];
        uint32_t total = adds ? (uint32_t)*sum : 0;
        for (int64_t k = 0; k < 4 * size[1]; k++) {
            int64_t at = column / 16 * B_STEP + (k / 4 * 16 + column % 16) * 4 + k % 4;
            total += (uint32_t)(m->a[row * A_STEP + k] * m->b[at]);
        }
        *sum = (int32_t)total;
    }
}

static void check_block(cpu_case *c, uint32_t panels, bool adds, bool is_expanded) {
    static const int64_t sizes[][2] = { { 1, 1 },  { 16, 16 }, { 7, 37 },
                                        { 16, 0 }, { 15, 17 }, { 3, 15 } };
    static block_memory got, wanted;
    ig_graph *kernel = build_block(c, panels, adds, is_expanded);
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        fill_block(&got);
        fill_block(&wanted);
        expect_block(&wanted, panels, adds, sizes[i]);
        void *buffers[] = { got.a, got.b, got.sums };
        cpu_case_run(c, kernel, buffers, sizes[i], 1);
        CHECK_MSG(memcmp(&got, &wanted, sizeof got) == 0,
                  "%u panels, %lld rows, %lld deep%s", panels, (long long)sizes[i][0],
                  (long long)sizes[i][1], adds ? ", added" : "");
    }
}

/* By tiles where the level has them, and taken apart everywhere. */
TEST(dot4_blocks_are_exact) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        cpu_case c;
        cpu_case_open(&c, cpu_levels[i]);
        bool has_tiles = strcmp(cpu_levels[i], "v4-amx") == 0;
        for (uint32_t panels = 1; panels <= (has_tiles ? 4u : 1u); panels++) {
            check_block(&c, panels, false, !has_tiles);
            check_block(&c, panels, true, !has_tiles);
        }
        check_block(&c, 3, true, true);
        cpu_case_close(&c);
    }
}

TEST(dot4_blocks_are_tiles) {
    static const char *const wanted[] = { "ldtilecfg", "tdpbusd", "tilerelease" };
    cpu_case c;
    cpu_case_open(&c, "v4-amx");
    const char *text = cpu_case_text(&c, build_block(&c, 4, false, false), IG_EMIT_ASM);
    for (size_t i = 0; i < IG_COUNT_OF(wanted); i++) {
        CHECK_MSG(strstr(text, wanted[i]), "no %s", wanted[i]);
    }
    cpu_case_close(&c);
}

/* ---- a few low bits as floats ---- */

/* z[i] = the bits of x[i] that `mask` has, as f32. */
static ig_graph *build_low_bits(cpu_case *c, uint32_t lanes, int mask) {
    static const ig_dtype buffers[] = { IG_DT_i32, IG_DT_f32 };
    ig_builder b;
    char name[32];
    snprintf(name, sizeof name, "bits%u_%d", lanes, mask + 1);
    ig_graph *kernel = cpu_case_kernel(c, name, buffers, 2, 0, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), k_i64(&b, GROUPS), k_i64(&b, lanes),
                              NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *x = k_load(in, args[0], loop.index, lanes);
    ig_value *low = k_binary(in, IG_OP_and, x,
                             k_const_vector(in, IG_DT_i32, lanes, mask));
    k_store(in, k_cast(in, low, IG_DT_f32), args[1], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void check_low_bits(cpu_case *c, uint32_t lanes, int mask) {
    static int32_t x[GROUPS];
    static float z[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
        x[i] = i < 64 ? i : i % 3 ? -i : i % 2 ? INT32_MIN + i : INT32_MAX - i;
    }
    void *buffers[] = { x, z };
    cpu_case_run(c, build_low_bits(c, lanes, mask), buffers, NULL, 1);
    for (int i = 0; i < GROUPS; i++) {
        CHECK_MSG(z[i] == (float)(x[i] & mask), "%d & %d became %g by %u lanes", x[i],
                  mask, (double)z[i], lanes);
    }
}

/* Masks below 16 are an exchange of lanes where vectors have 16. */
TEST(low_bits_are_exact_at_every_width) {
    static const int masks[] = { 0, 1, 3, 5, 8, 15, 16, 31, 255, -1, INT32_MIN };
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        cpu_case c;
        cpu_case_open(&c, cpu_levels[i]);
        for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
            for (size_t k = 0; k < IG_COUNT_OF(masks); k++) {
                check_low_bits(&c, lanes, masks[k]);
            }
        }
        cpu_case_close(&c);
    }
}

TEST(low_bits_are_one_instruction) {
    cpu_case c;
    cpu_case_open(&c, "v4");
    const char *text = cpu_case_text(&c, build_low_bits(&c, 16, 15), IG_EMIT_ASM);
    CHECK_MSG(strstr(text, "vperm") && !strstr(text, "vcvtdq2ps"), "%s", text);
    cpu_case_close(&c);
}

UNIT_SUITE(cpu_dot, low_bits_are_exact_at_every_width, low_bits_are_one_instruction,
           dot4_is_exact_at_every_width, dot4_is_the_instruction_of_its_level,
           dot2_is_exact_up_to_16_bits, dot4_blocks_are_exact, dot4_blocks_are_tiles)
