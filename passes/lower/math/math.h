/* Mathematical functions as arithmetic, for emitters without libm.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each builder makes kernel ops on f32 or f64 scalars or vectors of any width.  Only
 * arithmetic, comparisons, selection and bit operations are used, so every target gets
 * the same function; bounds in units of the last place against the true value are given
 * beside each and tested on samples (with INGOT_TEST_ALL=1 on all of f32).  On
 * level v2 muladd rounds twice and the bounds of f32 grow by at most one half.
 */
#ifndef IG_PASSES_LOWER_MATH_MATH_H
#define IG_PASSES_LOWER_MATH_MATH_H

#include "passes/lower/kernel/kernel.h"

ig_value *ig_math_exp(ig_builder *b, ig_value *x);
ig_value *ig_math_expm1(ig_builder *b, ig_value *x);
ig_value *ig_math_exp2(ig_builder *b, ig_value *x);
ig_value *ig_math_log(ig_builder *b, ig_value *x);
ig_value *ig_math_log1p(ig_builder *b, ig_value *x);
ig_value *ig_math_sin(ig_builder *b, ig_value *x);
ig_value *ig_math_cos(ig_builder *b, ig_value *x);
ig_value *ig_math_tanh(ig_builder *b, ig_value *x);
ig_value *ig_math_erf(ig_builder *b, ig_value *x);
ig_value *ig_math_sigmoid(ig_builder *b, ig_value *x);
ig_value *ig_math_softplus(ig_builder *b, ig_value *x);
ig_value *ig_math_rsqrt(ig_builder *b, ig_value *x);
ig_value *ig_math_recip(ig_builder *b, ig_value *x);
ig_value *ig_math_pow(ig_builder *b, ig_value *x, ig_value *y);
ig_value *ig_math_gelu(ig_builder *b, ig_value *x, bool by_tanh);
/* exp, log, tanh … by the op's code. */
ig_value *ig_lower_math(ig_builder *b, ig_opcode code, ig_value *x);

/* ---- shared by the files of these functions ---- */

/* One binary float format in numbers. */
typedef struct ig_math_real {
    ig_dtype real, bits;  /* f32 with i32, f64 with i64 */
    int mantissa;         /* stored bits */
    double exponent_bias; /* as an integer value of `bits` */
    double round;         /* adding it rounds to an integer, which the low bits hold */
    double min_normal;
    double ln2_high, ln2_low; /* high times any exponent is exact */
} ig_math_real;

const ig_math_real *ig_math_real_of(const ig_value *x);
ig_value *ig_math_const(ig_builder *b, const ig_value *like, double value);
/* An integer in every lane, of the integer dtype as wide as `like`. */
ig_value *ig_math_bits_const(ig_builder *b, const ig_value *like, int64_t value);
ig_value *ig_math_bits(ig_builder *b, ig_value *x);         /* its bits */
ig_value *ig_math_from_bits(ig_builder *b, ig_value *bits); /* and back */
ig_value *ig_math_neg(ig_builder *b, ig_value *x);
ig_value *ig_math_abs(ig_builder *b, ig_value *x);
/* c[0] + c[1] x + … */
ig_value *ig_math_poly(ig_builder *b, ig_value *x, const double *c, uint32_t count);
/* 2^n for the low bits `n` of an integer lane. */
ig_value *ig_math_power_of_two(ig_builder *b, ig_value *n);
/* `x`, which is not negative or has that sign, with the sign of `sign`. */
ig_value *ig_math_with_sign(ig_builder *b, ig_value *x, ig_value *sign);
/* x as 2^exponent (1 + f), 1 + f in [0.71, 1.42), for positive finite x. */
typedef struct ig_math_parts {
    ig_value *exponent, *f;
} ig_math_parts;
ig_math_parts ig_math_split(ig_builder *b, ig_value *x);
/* `value` for positive finite x; -inf for 0, NaN below, x for infinity and NaN. */
ig_value *ig_math_log_ends(ig_builder *b, ig_value *x, ig_value *value);
/* exp(x) for an x that is at most 0 or NaN. */
ig_value *ig_math_decay(ig_builder *b, ig_value *x);
/* exp(x + low) for a `low` below half a place of x. */
ig_value *ig_math_exp_sum(ig_builder *b, ig_value *x, ig_value *low);
/* `x` op a constant in every lane. */
ig_value *ig_math_with(ig_builder *b, ig_opcode code, ig_value *x, double constant);
ig_value *ig_math_is(ig_builder *b, ig_opcode compare, ig_value *x, double constant);

#endif
