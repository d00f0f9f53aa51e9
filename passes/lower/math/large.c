/* Reduction of large angles modulo pi/2, by integers (Payne and Hanek's method).
 * SPDX-License-Identifier: Apache-2.0
 *
 * x = m 2^e with a 53-bit integer m.  Of x 2/pi only the value modulo 4 counts, and
 * bits of 2/pi that are worth 4 or more after multiplication by 2^e drop out.  So a
 * window of 192 bits of 2/pi, from where bits are worth 2, times m, modulo 4, is enough
 * for every double (no double comes closer to a multiple of pi/2 than 2^-62):
 *
 *     2/pi     00000000 00000000 . a2f9836e 4e441529 fc2757d1 …       32-bit words
 *                  └─ word w ─┘ … 7 words, shifted left by 0 … 31 bits: 6 words t
 *     m t      words of 32 bits, carries from right to left; the first two bits are n
 *
 * w differs from lane to lane and kernel form has no table look-up, so each word is
 * chosen by comparing w with every number it can be: 5 for f32's range, 33 for f64's.
 */
#include "passes/lower/math/large.h"

#include "passes/lower/math/math.h"

enum { WINDOW = 6, WORDS = 40, LAST_SINGLE = 4, LAST_DOUBLE = 32 };

static const uint32_t two_over_pi[WORDS] = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
    0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639,
    0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f,
    0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7,
    0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

static ig_value *with_number(ig_builder *b, ig_opcode code, ig_value *x, double y) {
    return ig_math_with(b, code, x, y);
}

static ig_value *low_half(ig_builder *b, ig_value *x) {
    return with_number(b, IG_OP_and, x, 0xffffffffu);
}

static ig_value *high_half(ig_builder *b, ig_value *x) {
    return with_number(b, IG_OP_shr, x, 32);
}

/* window[i] = the word of 2/pi at w + i, in u64 lanes. */
static void choose_words(ig_builder *b, ig_value *w, int last, ig_value **window) {
    for (int i = 0; i <= WINDOW; i++) {
        window[i] = ig_math_const(b, w, two_over_pi[i]);
    }
    for (int at = 1; at <= last; at++) {
        ig_value *is_here = ig_math_is(b, IG_OP_eq, w, at);
        for (int i = 0; i <= WINDOW; i++) {
            ig_value *word = ig_math_const(b, w, two_over_pi[at + i]);
            window[i] = k_where(b, is_here, word, window[i]);
        }
    }
}

/* words[i] = 32 bits of words i and i + 1, laid end to end and shifted left by `by`. */
static void shift_words(ig_builder *b, ig_value *by, ig_value **words) {
    for (int i = 0; i < WINDOW; i++) {
        ig_value *upper = with_number(b, IG_OP_shl, words[i], 32);
        ig_value *pair = k_binary(b, IG_OP_or, upper, words[i + 1]);
        words[i] = high_half(b, k_binary(b, IG_OP_shl, pair, by));
    }
}

/* product[i] = word i after the point of m t, for 53-bit m; words before drop out. */
static void multiply_words(ig_builder *b, ig_value *m, ig_value *const *t,
                           ig_value **product) {
    ig_value *m0 = low_half(b, m), *m1 = high_half(b, m);
    ig_value *p0[WINDOW], *p1[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        p0[i] = k_mul(b, m0, t[i]);
        p1[i] = k_mul(b, m1, t[i]);
    }
    ig_value *carry = ig_math_const(b, m, 0);
    for (int i = WINDOW - 1; i >= 0; i--) {
        ig_value *sum = k_add(b, low_half(b, p0[i]), carry);
        if (i + 1 < WINDOW) {
            sum = k_add(b, sum, high_half(b, p0[i + 1]));
            sum = k_add(b, sum, low_half(b, p1[i + 1]));
        }
        if (i + 2 < WINDOW) {
            sum = k_add(b, sum, high_half(b, p1[i + 2]));
        }
        product[i] = low_half(b, sum);
        carry = high_half(b, sum);
    }
}

/* The f64 of an integer below 2^53 (or above -2^53). */
static ig_value *to_real(ig_builder *b, ig_value *x) {
    return k_cast(b, x, IG_DT_f64);
}

/* The fraction after the two bits of n, in quarters of a turn, times pi/2.  Its first
 * 64 bits are read as signed: half and more is a step back from the next n. */
static ig_math_angle angle_of(ig_builder *b, ig_value *const *words) {
    ig_value *first = k_binary(b, IG_OP_or, with_number(b, IG_OP_shl, words[0], 32),
                               words[1]);
    ig_value *second = k_binary(b, IG_OP_or, with_number(b, IG_OP_shl, words[2], 32),
                                words[3]);
    ig_value *head = k_binary(b, IG_OP_or, with_number(b, IG_OP_shl, first, 2),
                              with_number(b, IG_OP_shr, second, 62));
    ig_value *tail = with_number(b, IG_OP_shr, with_number(b, IG_OP_shl, second, 2),
                                 12); /* 52 bits */
    ig_value *is_late = with_number(b, IG_OP_shr, head, 63);
    ig_value *n = k_add(b, with_number(b, IG_OP_shr, first, 62), is_late);
    ig_value *upper = with_number(b, IG_OP_shr, k_reinterpret(b, head, IG_DT_i64), 32);
    ig_value *big = with_number(b, IG_OP_mul, to_real(b, upper), 0x1p-32);
    ig_value *middle = with_number(b, IG_OP_mul, to_real(b, low_half(b, head)),
                                   0x1p-64);
    ig_value *small = with_number(b, IG_OP_mul, to_real(b, tail), 0x1p-116);
    ig_value *high = k_add(b, big, middle);
    ig_value *rest = k_add(b, k_sub(b, middle, k_sub(b, high, big)), small);
    ig_value *sum = k_add(b, high, rest);
    ig_value *lost = k_sub(b, rest, k_sub(b, sum, high));
    ig_value *r = with_number(b, IG_OP_mul, sum, 0x1.921fb54442d18p+0);
    ig_value *low = k_add(b, with_number(b, IG_OP_mul, lost, 0x1.921fb54442d18p+0),
                          with_number(b, IG_OP_mul, sum, 0x1.1a62633145c07p-54));
    return (ig_math_angle){ r, low, k_reinterpret(b, n, IG_DT_i64) };
}

/* The angle of -x. */
static ig_math_angle negate_if(ig_builder *b, ig_value *is_below, ig_math_angle a) {
    ig_value *zero = ig_math_const(b, a.n, 0);
    return (ig_math_angle){
        k_where(b, is_below, ig_math_neg(b, a.r), a.r),
        k_where(b, is_below, ig_math_neg(b, a.low), a.low),
        k_where(b, is_below, k_sub(b, zero, a.n), a.n),
    };
}

ig_math_angle ig_math_reduce_large(ig_builder *b, ig_value *x, bool is_single) {
    ig_value *bits = k_reinterpret(b, ig_math_abs(b, x), IG_DT_u64);
    ig_value *exponent = with_number(b, IG_OP_shr, bits, 52);
    ig_value *mantissa = with_number(b, IG_OP_and, bits, 0x1p52 - 1);
    ig_value *m = with_number(b, IG_OP_or, mantissa, 0x1p52);
    /* e = exponent - 1075; bits worth 2 are e - 2 after the point, and the table
     * begins 64 before it. */
    ig_value *start = with_number(b, IG_OP_sub, exponent, 1075 + 2 - 64);
    ig_value *words[WINDOW + 1], *product[WINDOW];
    int last = is_single ? LAST_SINGLE : LAST_DOUBLE;
    choose_words(b, with_number(b, IG_OP_shr, start, 5), last, words);
    shift_words(b, with_number(b, IG_OP_and, start, 31), words);
    multiply_words(b, m, words, product);
    ig_value *is_below = ig_math_is(b, IG_OP_lt, x, 0);
    return negate_if(b, is_below, angle_of(b, product));
}
