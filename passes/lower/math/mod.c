/* The exact remainder of floats.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     x = m 2^i,  y = n 2^j,  m and n in [0.71, 1.42),  i - j = d = STEP k + c
 *     r = m 2^c - q n,  then k times r = r 2^STEP - q n;  the remainder is r 2^j
 *
 * q is the nearest integer to the quotient, so r stays within n / 2 (and a place, where
 * the quotient was rounded the wrong way: that does no harm), and all products and
 * differences are exact: computed in f64, those of f32 need 24 + 29 bits; n of an f64
 * is cut into 26 and 27 bits.  The usual quotient, below 2^STEP, takes no turn of the
 * loop.
 */
#include "passes/lower/math/more.h"

#include <math.h>

enum { STEP_F32 = 28, STEP_F64 = 22 };

/* State shared by all steps. */
typedef struct divisor {
    ig_value *whole, *high,
        *low; /* low is NULL where the product by `whole` is exact */
} divisor;

static divisor split_divisor(ig_builder *b, ig_value *n, bool is_double) {
    if (!is_double) {
        return (divisor){ n, n, NULL };
    }
    ig_value *mask = ig_math_bits_const(b, n, -(INT64_C(1) << 27));
    ig_value *bits = k_binary(b, IG_OP_and, ig_math_bits(b, n), mask);
    ig_value *high = ig_math_from_bits(b, bits);
    return (divisor){ n, high, k_sub(b, n, high) };
}

static ig_value *reduce_once(ig_builder *b, ig_value *r, const divisor *by) {
    ig_value *q = k_unary(b, IG_OP_round, k_binary(b, IG_OP_div, r, by->whole));
    r = k_sub(b, r, k_mul(b, q, by->high));
    return by->low ? k_sub(b, r, k_mul(b, q, by->low)) : r;
}

/* The most turns that a lane needs, as i64. */
static ig_value *count_turns(ig_builder *b, ig_value *turns) {
    ig_value *max = turns->type->lanes > 1 ? k_hreduce(b, IG_REDUCE_max, turns) : turns;
    return k_cast(b, max, IG_DT_i64);
}

/* The remainder of m 2^d by n, within n / 2 of 0. */
static ig_value *reduce_lifted(ig_builder *b, ig_value *m, ig_value *d,
                               const divisor *by) {
    int step = by->low ? STEP_F64 : STEP_F32;
    ig_value *held = ig_math_with(b, IG_OP_max, d, 0);
    ig_value *turns = k_unary(b, IG_OP_floor, ig_math_with(b, IG_OP_div, held, step));
    ig_value *rest = k_sub(b, held, ig_math_with(b, IG_OP_mul, turns, step));
    ig_value *lifted = k_mul(b, m, ig_math_power_of_two(b, k_cast(b, rest, IG_DT_i64)));
    ig_value *first = reduce_once(b, lifted, by);
    k_loop loop = k_loop_open(b, k_i64(b, 0), count_turns(b, turns), k_i64(b, 1),
                              &first, 1);
    ig_builder *in = &loop.b;
    ig_value *number = k_splat(in, k_cast(in, loop.index, IG_DT_f64), m->type->lanes);
    ig_value *goes_on = k_compare(in, IG_OP_lt, number, turns);
    ig_value *next = ig_math_with(in, IG_OP_mul, loop.carried[0], ldexp(1, step));
    next = k_where(in, goes_on, reduce_once(in, next, by), loop.carried[0]);
    k_loop_close(&loop, &next, 1);
    return loop.results[0];
}

/* x 2^exponent, in halves: 2^exponent may be neither normal nor finite. */
static ig_value *scale_back(ig_builder *b, ig_value *x, ig_value *exponent) {
    ig_value *whole = k_cast(b, exponent, IG_DT_i64);
    ig_value *half = ig_math_with(b, IG_OP_shr, whole, 1);
    x = k_mul(b, x, ig_math_power_of_two(b, half));
    return k_mul(b, x, ig_math_power_of_two(b, k_sub(b, whole, half)));
}

/* Of positive finite numbers. */
static ig_value *remainder_of_sizes(ig_builder *b, ig_value *x, ig_value *y,
                                    bool is_double) {
    ig_math_parts top = ig_math_split(b, x), bottom = ig_math_split(b, y);
    divisor by = split_divisor(b, ig_math_with(b, IG_OP_add, bottom.f, 1), is_double);
    ig_value *d = k_sub(b, top.exponent, bottom.exponent);
    ig_value *r = reduce_lifted(b, ig_math_with(b, IG_OP_add, top.f, 1), d, &by);
    ig_value *is_below = ig_math_is(b, IG_OP_lt, r, 0);
    r = k_where(b, is_below, k_add(b, r, by.whole), r);
    return scale_back(b, r, bottom.exponent);
}

static ig_value *is_positive(ig_builder *b, ig_value *x) {
    ig_value *is_finite = ig_math_is(b, IG_OP_lt, x, (double)INFINITY);
    return k_binary(b, IG_OP_and, is_finite, ig_math_is(b, IG_OP_gt, x, 0));
}

/* x where |x| < |y|, and NaN for x infinite, y zero, and NaN. */
static ig_value *truncate_remainder(ig_builder *b, ig_value *x, ig_value *y,
                                    bool is_double) {
    ig_value *ax = ig_math_abs(b, x), *ay = ig_math_abs(b, y);
    ig_value *one = ig_math_const(b, x, 1);
    ig_value *is_usual = k_binary(b, IG_OP_and, is_positive(b, ax), is_positive(b, ay));
    ig_value *size = remainder_of_sizes(b, k_where(b, is_usual, ax, one),
                                        k_where(b, is_usual, ay, one), is_double);
    ig_value *r = ig_math_with_sign(b, size, x);
    r = k_where(b, is_usual, r, ig_math_const(b, x, (double)NAN));
    return k_where(b, k_compare(b, IG_OP_lt, ax, ay), x, r);
}

/* The remainder with the divisor's sign; x + y is rounded. */
static ig_value *move_to_sign(ig_builder *b, ig_value *r, ig_value *y) {
    ig_value *differs = k_binary(b, IG_OP_xor, ig_math_is(b, IG_OP_lt, r, 0),
                                 ig_math_is(b, IG_OP_lt, y, 0));
    ig_value *is_off = k_binary(b, IG_OP_and, differs, ig_math_is(b, IG_OP_ne, r, 0));
    return k_where(b, is_off, k_add(b, r, y), r);
}

ig_value *ig_math_mod(ig_builder *b, ig_value *x, ig_value *y, bool truncates) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *wide = k_cast(b, x, IG_DT_f64), *by = k_cast(b, y, IG_DT_f64);
    ig_value *r = truncate_remainder(b, wide, by, dtype == IG_DT_f64);
    return k_cast(b, truncates ? r : move_to_sign(b, r, by), dtype);
}
