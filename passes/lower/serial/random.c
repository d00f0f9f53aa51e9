/* random, on CPUs: Philox4x32-10, as ir/fold/random.c describes it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words are u64 lanes below 2^32, so that a product keeps its upper half.
 *
 *   grid       elements, CHUNK a tile
 */
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include "passes/lower/math/math.h"

#include <assert.h>

enum { CHUNK = 1024 };

typedef struct draw {
    ig_lower *lower;
    const ig_lower_operand *run, *out;
    ig_random kind;
    uint64_t seed;
    int64_t draw_index;
} draw;

static ig_value *make_word(ig_builder *b, uint32_t value) {
    return k_cast(b, k_i64(b, value), IG_DT_u64);
}

static ig_value *low_half(ig_builder *b, ig_value *x) {
    return k_binary(b, IG_OP_and, x, make_word(b, 0xffffffff));
}

static ig_value *high_half(ig_builder *b, ig_value *x) {
    return k_binary(b, IG_OP_shr, x, make_word(b, 32));
}

static ig_value *mix_words(ig_builder *b, ig_value *x, ig_value *y, uint32_t key) {
    ig_value *both = k_binary(b, IG_OP_xor, x, y);
    return k_binary(b, IG_OP_xor, both, make_word(b, key));
}

/* Block number `block` (i64): four words to `c`. */
static void make_block(const draw *d, ig_builder *b, ig_value *block, ig_value **c) {
    uint32_t keys[] = { (uint32_t)d->seed, (uint32_t)(d->seed >> 32) };
    ig_value *run = k_load(b, d->run->buffer, k_i64(b, 0), 1);
    block = k_cast(b, block, IG_DT_u64);
    c[0] = low_half(b, block);
    c[1] = high_half(b, block);
    c[2] = low_half(b, k_cast(b, run, IG_DT_u64));
    c[3] = make_word(b, (uint32_t)d->draw_index);
    for (int round = 0; round < 10; round++) {
        ig_value *first = k_mul(b, c[0], make_word(b, 0xD2511F53));
        ig_value *second = k_mul(b, c[2], make_word(b, 0xCD9E8D57));
        c[0] = mix_words(b, high_half(b, second), c[1], keys[0]);
        c[1] = low_half(b, second);
        c[2] = mix_words(b, high_half(b, first), c[3], keys[1]);
        c[3] = low_half(b, first);
        keys[0] += 0x9E3779B9;
        keys[1] += 0xBB67AE85;
    }
}

/* c[at], for a number at run time. */
static ig_value *pick_word(ig_builder *b, ig_value *const *c, uint32_t count,
                           ig_value *at) {
    assert(count > 0 && "a word to pick");
    ig_value *value = c[0];
    for (uint32_t i = 1; i < count; i++) {
        ig_value *is_here = k_compare(b, IG_OP_eq, at, k_i64(b, i));
        value = k_where(b, is_here, c[i], value);
    }
    return value;
}

/* The first `bits` bits of the 32 (64) of a word, as a fraction in f64. */
static ig_value *make_fraction(ig_builder *b, ig_value *x, uint32_t width,
                               uint32_t bits) {
    ig_value *first = k_binary(b, IG_OP_shr, x, make_word(b, width - bits));
    ig_value *real = k_cast(b, k_cast(b, first, IG_DT_i64), IG_DT_f64);
    return ig_math_with(b, IG_OP_mul, real, 1.0 / (double)((uint64_t)1 << bits));
}

static ig_value *join_words(ig_builder *b, ig_value *low, ig_value *high) {
    return k_binary(b, IG_OP_or, low, k_binary(b, IG_OP_shl, high, make_word(b, 32)));
}

static uint32_t width_of(const draw *d) {
    return ig_dtypes[d->out->type->dtype].bits == 64 ? 64 : 32;
}

static ig_value *draw_uniform(const draw *d, ig_builder *b, ig_value *x) {
    ig_dtype dtype = (ig_dtype)d->out->type->dtype;
    uint32_t bits = dtype == IG_DT_f64    ? 53
                    : dtype == IG_DT_f16  ? 11
                    : dtype == IG_DT_bf16 ? 8
                                          : 24;
    return make_fraction(b, x, width_of(d), bits);
}

/* Element `i` (its last two bits) of a block's pairs (f64: of the one pair). */
static ig_value *draw_normal(const draw *d, ig_builder *b, ig_value *const *c,
                             ig_value *i) {
    ig_value *u, *v, *one = k_i64(b, 1);
    if (width_of(d) == 64) {
        u = make_fraction(b, join_words(b, c[0], c[1]), 64, 53);
        v = make_fraction(b, join_words(b, c[2], c[3]), 64, 53);
    } else {
        ig_value *pair = k_binary(b, IG_OP_and, k_binary(b, IG_OP_shr, i, one), one);
        u = make_fraction(b, pick_word(b, (ig_value *[]){ c[0], c[2] }, 2, pair), 32,
                          32);
        v = make_fraction(b, pick_word(b, (ig_value *[]){ c[1], c[3] }, 2, pair), 32,
                          32);
    }
    ig_value *angle = ig_math_with(b, IG_OP_mul, v, 6.28318530717958647693);
    ig_value *log = ig_math_log(b, k_sub(b, ig_math_const(b, u, 1), u));
    ig_value *size = k_unary(b, IG_OP_sqrt, ig_math_with(b, IG_OP_mul, log, -2));
    ig_value *is_odd = k_compare(b, IG_OP_eq, k_binary(b, IG_OP_and, i, one), one);
    return k_mul(b, size,
                 k_where(b, is_odd, ig_math_sin(b, angle), ig_math_cos(b, angle)));
}

static void emit_element(const draw *d, ig_builder *b, ig_value *i) {
    bool is_double = width_of(d) == 64;
    ig_value *c[4], *x, *index[IG_TENSOR_RANK];
    ig_value *size = k_i64(b, is_double ? 1 : 2), *mask = k_i64(b, is_double ? 1 : 3);
    make_block(d, b, k_binary(b, IG_OP_shr, i, size), c);
    ig_value *part = k_binary(b, IG_OP_and, i, mask);
    if (is_double) {
        ig_value *pairs[] = { join_words(b, c[0], c[1]), join_words(b, c[2], c[3]) };
        x = pick_word(b, pairs, 2, part);
    } else {
        x = pick_word(b, c, 4, part);
    }
    ig_value *value = d->kind == IG_RANDOM_bits      ? x
                      : d->kind == IG_RANDOM_uniform ? draw_uniform(d, b, x)
                                                     : draw_normal(d, b, c, i);
    ig_lower_split(d->lower, b, d->out->type, d->out->type->rank, i, index);
    k_store(b, k_cast(b, value, (ig_dtype)d->out->type->dtype), d->out->buffer,
            ig_lower_at(d->lower, b, d->out, index));
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const draw *d = user;
    ig_dim count = ig_type_count(d->lower->module, d->out->type);
    k_loop loop = ig_lower_open_lines(b, tile, ig_lower_dim(d->lower, count),
                                      ig_lower_tile(d->lower, CHUNK));
    emit_element(d, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_random(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_random);
    assert(op && "the family's body has its anchor");
    draw d = { .lower = lower,
               .run = ig_lower_input(lower, op, 0),
               .out = &lower->outs[0],
               .kind = (ig_random)ig_attr_int(op, IG_random_kind, 0),
               .seed = (uint64_t)ig_attr_int(op, IG_random_seed, 0),
               .draw_index = ig_attr_int(op, IG_random_number, 0) };
    ig_dim count = ig_type_count(lower->module, d.out->type);
    lower->name = "random";
    lower->grid = ig_lower_ceil_div(lower, count, ig_lower_tile(lower, CHUNK));
    lower->cost = ig_lower_mul(lower, count, ig_dim_of(30));
    ig_lower_each_tile(lower, emit_tile, &d);
    return IG_OK;
}
