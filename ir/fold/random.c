/* random and run_number.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011): a block of four words is a function
 * of a counter of four words and a key of two:
 *
 *     counter   block number (two words), number of the run, number of the op
 *     key       the seed
 *
 * So an element depends on nothing but seed, op, run and its own number.
 *
 *     f16, bf16, f32   uniform: the first bits of word e of block i / 4
 *     f64              uniform: 53 bits of two words of block i / 2
 *     normal           Box and Muller: elements 2 k and 2 k + 1 are the cosine and the
 *                      sine of one pair of words (f64: of two pairs)
 *     integers         one word, truncated; 64 bits: two words, low one first
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

typedef struct philox {
    uint32_t counter[4], key[2];
} philox;

static void multiply_wide(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low) {
    uint64_t product = (uint64_t)a * b;
    *high = (uint32_t)(product >> 32);
    *low = (uint32_t)product;
}

/* Ten rounds; the counter becomes the block. */
static void scramble_counter(philox *p) {
    uint32_t *c = p->counter;
    for (int round = 0; round < 10; round++) {
        uint32_t high0, low0, high1, low1;
        multiply_wide(0xD2511F53, c[0], &high0, &low0);
        multiply_wide(0xCD9E8D57, c[2], &high1, &low1);
        uint32_t next[] = { high1 ^ c[1] ^ p->key[0], low1, high0 ^ c[3] ^ p->key[1],
                            low0 };
        for (int i = 0; i < 4; i++) {
            c[i] = next[i];
        }
        p->key[0] += 0x9E3779B9;
        p->key[1] += 0xBB67AE85;
    }
}

typedef struct stream {
    uint64_t seed;
    uint32_t run, index;
} stream;

static philox block_of(const stream *s, uint64_t block) {
    philox p = { { (uint32_t)block, (uint32_t)(block >> 32), s->run, s->index },
                 { (uint32_t)s->seed, (uint32_t)(s->seed >> 32) } };
    scramble_counter(&p);
    return p;
}

/* The first `bits` bits of a word, as a fraction. */
static double word_fraction(uint32_t word, unsigned bits) {
    return ldexp((double)(word >> (32 - bits)), -(int)bits);
}

static double words_fraction(uint32_t low, uint32_t high) {
    uint64_t word = (uint64_t)high << 32 | low;
    return ldexp((double)(word >> 11), -53);
}

static double uniform_of(const stream *s, ig_dtype dtype, int64_t i) {
    if (dtype == IG_DT_f64) {
        philox p = block_of(s, (uint64_t)i / 2);
        return words_fraction(p.counter[i % 2 * 2], p.counter[i % 2 * 2 + 1]);
    }
    philox p = block_of(s, (uint64_t)i / 4);
    return word_fraction(p.counter[i % 4], dtype == IG_DT_f16    ? 11
                                           : dtype == IG_DT_bf16 ? 8
                                                                 : 24);
}

/* u is taken from above 0, so that its logarithm is finite. */
static double normal_of(const stream *s, ig_dtype dtype, int64_t i) {
    double u, v;
    if (dtype == IG_DT_f64) {
        philox p = block_of(s, (uint64_t)i / 2);
        u = 1 - words_fraction(p.counter[0], p.counter[1]);
        v = words_fraction(p.counter[2], p.counter[3]);
    } else {
        philox p = block_of(s, (uint64_t)i / 4);
        u = 1 - word_fraction(p.counter[i % 4 / 2 * 2], 32);
        v = word_fraction(p.counter[i % 4 / 2 * 2 + 1], 32);
    }
    double angle = 6.28318530717958647693 * v, size = sqrt(-2 * log(u));
    return size * (i % 2 ? sin(angle) : cos(angle));
}

static int64_t bits_of(const stream *s, ig_dtype dtype, int64_t i) {
    if (ig_dtypes[dtype].bits == 64) {
        philox p = block_of(s, (uint64_t)i / 2);
        uint64_t high = p.counter[i % 2 * 2 + 1];
        return (int64_t)(high << 32 | p.counter[i % 2 * 2]);
    }
    return (int64_t)block_of(s, (uint64_t)i / 4).counter[i % 4];
}

ig_status ig_fold_random(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank;
    const ig_type *type = op->results[0].type;
    ig_dtype dtype = (ig_dtype)type->dtype;
    bool is_normal = ig_attr_int(op, IG_random_kind, 0) == IG_RANDOM_normal;
    stream s = { (uint64_t)ig_attr_int(op, IG_random_seed, 0),
                 (uint32_t)ig_tensor_get_i64(in[0], 0),
                 (uint32_t)ig_attr_int(op, IG_random_number, 0) };
    IG_TRY(ig_eval_shape(eval, op, IG_random_shape, NULL, &rank, dims));
    IG_TRY(ig_eval_alloc(eval, op, dtype, rank, dims, out));
    for (int64_t i = 0; i < out->count; i++) {
        if (!ig_dtype_is_float(dtype)) {
            ig_tensor_set_i64(out, i, bits_of(&s, dtype, i));
        } else {
            ig_tensor_set_f64(
                out, i, is_normal ? normal_of(&s, dtype, i) : uniform_of(&s, dtype, i));
        }
    }
    return IG_OK;
}

/* The key under which a module keeps its number of runs. */
static const char runs;

void ig_fold_count_run(ig_module *module) {
    uintptr_t count = (uintptr_t)ig_module_beside(module, &runs);
    ig_module_keep_beside(module, &runs, (const void *)(count + 1));
}

ig_status ig_fold_run_number(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    (void)in;
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 0, NULL, out));
    ig_tensor_set_i64(out, 0,
                      (int64_t)(uintptr_t)ig_module_beside(ig_op_module(op), &runs));
    return IG_OK;
}
