/* Products with numbers of few bits: right at every level, for all widths, blocks,
 * zero points and numbers of rows, which choose between two forms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

typedef struct product {
    int64_t m, n, bits;
    int64_t block, blocks; /* bytes of a block, blocks of a row */
    bool has_zeros, is_open;
    const char *epilogue; /* of %0, gives %1 */
} product;

static void put_product(ig_writer *text, const product *p) {
    long long bytes = (long long)(p->block * p->blocks), n = (long long)p->n;
    long long blocks = (long long)p->blocks, bits = (long long)p->bits;
    long long k = bytes * 8 / bits;
    ig_put(text, "module @t {\n  graph @main(%%x: f32[M, %lld], ", k);
    ig_put(text, "%%w: u8[%lld, %lld], %%s: f32[%lld, %lld]", n, bytes, n, blocks);
    if (p->has_zeros) {
        ig_put(text, ", %%z: f32[%lld, %lld]", n, blocks);
    }
    ig_put(text, ", %%r: f32[%lld]) -> (f32[M, %lld]) {\n", n, n);
    ig_put(text, "    %%0 = matmul_bits %%x, %%w, %%s%s {bits = %lld} : f32[M, %lld]\n",
           p->has_zeros ? ", %z" : "", bits, n);
    ig_put(text, "    %%1 = %s : f32[M, %lld]\n    ret %%1\n  }\n}\n",
           p->epilogue ? p->epilogue : "add %0, %r", n);
}

/* Bytes of all values; zero points as files have them, between the numbers. */
static void fill_numbers(lower_case *c) {
    uint64_t state = 11;
    ig_tensor *bytes = &c->inputs[1];
    for (int64_t i = 0; i < bytes->count; i++) {
        ig_tensor_set_i64(bytes, i, (int64_t)(lower_random(&state) & 255));
    }
}

/* NaN, infinities, zeros of both signs and subnormals among all that is real; sums
 * that overflow depend on their order. */
static void fill_special(lower_case *c) {
    static const double specials[] = { (double)NAN,      -0.0, 0.0,
                                       (double)INFINITY, 0.5,  0x1p-133,
                                       -0x1p-149,        -3.0 };
    uint64_t state = 5;
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        ig_tensor *x = &c->inputs[i];
        for (int64_t k = 0; i != 1 && k < x->count; k++) {
            uint64_t number = lower_random(&state);
            if (number % 3 == 0) {
                ig_tensor_set_f64(x, k, specials[number / 3 % IG_COUNT_OF(specials)]);
            }
        }
    }
}

static void check_product(const product *p, lower_values values) {
    ig_arena arena;
    ig_writer text;
    ig_arena_init(&arena, NULL);
    ig_writer_init(&text, &arena);
    put_product(&text, p);
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        lower_case c;
        lower_open(&c, cpu_levels[i], text.data, &p->m, 10);
        fill_numbers(&c);
        if (values == LOWER_SPECIAL) {
            fill_special(&c);
        }
        lower_compare(&c, 1e-6);
        CHECK_INT(c.launches, 1);
        lower_close(&c);
    }
    ig_arena_fini(&arena);
}

/* Each width; blocks of one vector, of several, and of an odd number of vectors, whole
 * rows; few rows, as many as panels take, and more than a block of them. */
TEST(bits_of_all_widths_and_blocks) {
    static const int64_t blocks[][2] = { { 4, 9 },  { 8, 5 },  { 16, 4 },
                                         { 12, 3 }, { 48, 3 }, { 160, 1 } };
    static const int64_t rows[] = { 1, 2, 3, 21 };
    for (size_t i = 0; i < 3 * IG_COUNT_OF(blocks) * 2; i++) {
        const int64_t *block = blocks[i / 6];
        product p = { .m = rows[i % 4], .n = 37, .bits = 2 << i % 3 };
        p.block = block[0];
        p.blocks = block[1];
        p.has_zeros = i % 2;
        check_product(&p, LOWER_PLAIN);
    }
}

/* No row and more than a tile of them; one column, and more than a tile of those. */
TEST(bits_of_sampled_sizes) {
    static const int64_t sizes[][2] = { { 0, 5 },   { 1, 1 },  { 1, 300 },
                                        { 2, 513 }, { 4, 64 }, { 131, 33 } };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        product p = { .m = sizes[i][0], .n = sizes[i][1], .bits = 4 };
        p.block = 16;
        p.blocks = 2;
        check_product(&p, LOWER_PLAIN);
    }
}

/* An epilogue of many instructions. */
TEST(bits_with_a_long_epilogue) {
    for (int64_t m = 1; m < 5; m += 3) {
        product p = { .m = m, .n = 41, .bits = 4, .epilogue = "sigmoid %0" };
        p.block = 16;
        p.blocks = 3;
        check_product(&p, LOWER_PLAIN);
    }
}

TEST(bits_times_special_values) {
    for (int64_t m = 1; m < 32; m += 15) {
        product p = { .m = m, .n = 35, .bits = 4, .block = 4, .blocks = 1 };
        p.has_zeros = m > 1;
        check_product(&p, LOWER_SPECIAL);
    }
}

static void take_apart(lower_case *c) {
    c->decomposes = true;
}

/* Blocks that no vector divides, and extents that the run learns, are taken apart. */
TEST(bits_in_odd_blocks_are_taken_apart) {
    static const char *const texts[] = {
        "module @t {\n  graph @main(%x: f32[2, 28], %w: u8[5, 14], %s: f32[5, 2]) -> (f32[2, 5]) {\n"
        "    %0 = matmul_bits %x, %w, %s {bits = 4} : f32[2, 5]\n    ret %0\n  }\n}\n",
        "module @t {\n  graph @main(%x: f32[2, 6], %w: u8[5, 3], %s: f32[5, 1]) -> (f32[2, 5]) {\n"
        "    %0 = matmul_bits %x, %w, %s {bits = 4} : f32[2, 5]\n    ret %0\n  }\n}\n",
        "module @t {\n  graph @main(%w: u8[5, B], %x: f32[2, 2*B], %s: f32[5, 1]) -> (f32[2, 5]) {\n"
        "    %0 = matmul_bits %x, %w, %s {bits = 4} : f32[2, 5]\n    ret %0\n  }\n}\n",
        "module @t {\n  graph @main(%x: f32[2, 0], %w: u8[5, 0], %s: f32[5, 0]) -> (f32[2, 5]) {\n"
        "    %0 = matmul_bits %x, %w, %s {bits = 4} : f32[2, 5]\n    ret %0\n  }\n}\n",
    };
    const int64_t extents[] = { 16 };
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        lower_check_with(texts[i], extents, 10, take_apart);
    }
}

/* Bytes and tokens that are not contiguous, scales of every other block. */
TEST(bits_of_turned_factors) {
    lower_check(
        "module @t {\n"
        "  graph @main(%w: u8[32, 9], %x: f32[64, B], %s: f32[9, 4]) -> (f32[B, 9]) {\n"
        "    %0 = transpose %w {perm = [1, 0]} : u8[9, 32]\n"
        "    %1 = transpose %x {perm = [1, 0]} : f32[B, 64]\n"
        "    %2 = slice %s {starts = [0, 1], sizes = [9, 2], steps = [1, 2]} : f32[9, 2]\n"
        "    %3 = matmul_bits %1, %0, %2 {bits = 4} : f32[B, 9]\n"
        "    ret %3\n  }\n}\n",
        (int64_t[]){ 5 }, 200);
}

UNIT_SUITE(cpu_lower_bits, bits_of_all_widths_and_blocks, bits_of_sampled_sizes,
           bits_with_a_long_epilogue, bits_times_special_values,
           bits_in_odd_blocks_are_taken_apart, bits_of_turned_factors)
