/* Functions that models use now and then: computed in f64, for f32 rounded once at the
 * end.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     atan     |x| is taken to t <= tan(pi / 8) by (x - 1) / (x + 1) or -1 / x; odd
 *              polynomial; asin, acos and atan2 are atan of a quotient
 *     sinh, cosh   by expm1 and exp
 *     asinh, acosh, atanh   log1p of an expression that is small where x is
 *
 * Bounds: f32 below 0.6 ulp; f64 below 4 (erfc 5; lgamma and digamma: 1e-14 about
 * their zeros).  The special functions are in math/special.c.
 */
#include "passes/lower/math/more.h"

#include <math.h>

#define INF ((double)INFINITY)

static ig_value *with_number(ig_builder *b, ig_opcode code, ig_value *x, double y) {
    return ig_math_with(b, code, x, y);
}

static ig_value *constant_like(ig_builder *b, ig_value *like, double value) {
    return ig_math_const(b, like, value);
}

static ig_value *divide_by(ig_builder *b, ig_value *x, ig_value *y) {
    return k_binary(b, IG_OP_div, x, y);
}

/* ---- exponentials ---- */

static ig_value *sinh_of(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *e = ig_math_expm1(b, size);
    ig_value *sum = k_add(b, e, divide_by(b, e, with_number(b, IG_OP_add, e, 1)));
    ig_value *root = ig_math_exp(b, with_number(b, IG_OP_mul, size, 0.5));
    ig_value *large = k_mul(b, with_number(b, IG_OP_mul, root, 0.5), root);
    ig_value *is_large = ig_math_is(b, IG_OP_gt, size, 40);
    ig_value *value = k_where(b, is_large, large, with_number(b, IG_OP_mul, sum, 0.5));
    return ig_math_with_sign(b, value, x);
}

static ig_value *cosh_of(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x);
    ig_value *root = ig_math_exp(b, with_number(b, IG_OP_mul, size, 0.5));
    ig_value *large = k_mul(b, with_number(b, IG_OP_mul, root, 0.5), root);
    ig_value *e = ig_math_exp(b, size);
    ig_value *small = with_number(b, IG_OP_mul, k_add(b, e, ig_math_recip(b, e)), 0.5);
    return k_where(b, ig_math_is(b, IG_OP_gt, size, 40), large, small);
}

/* ---- logarithms ---- */

static ig_value *log2_of(ig_builder *b, ig_value *x) {
    ig_math_parts p = ig_math_split(b, x);
    ig_value *rest = with_number(b, IG_OP_mul, ig_math_log1p(b, p.f),
                                 1.44269504088896340736);
    return ig_math_log_ends(b, x, k_add(b, p.exponent, rest));
}

static ig_value *log10_of(ig_builder *b, ig_value *x) {
    return with_number(b, IG_OP_div, ig_math_log(b, x), 2.30258509299404568402);
}

static ig_value *asinh_of(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x), *square = k_mul(b, x, x);
    ig_value *root = k_unary(b, IG_OP_sqrt, with_number(b, IG_OP_add, square, 1));
    ig_value *part = divide_by(b, square, with_number(b, IG_OP_add, root, 1));
    ig_value *small = ig_math_log1p(b, k_add(b, size, part));
    ig_value *large = with_number(b, IG_OP_add, ig_math_log(b, size),
                                  0.693147180559945309417);
    ig_value *is_large = ig_math_is(b, IG_OP_gt, size, 0x1p30);
    return ig_math_with_sign(b, k_where(b, is_large, large, small), x);
}

static ig_value *acosh_of(ig_builder *b, ig_value *x) {
    ig_value *t = with_number(b, IG_OP_sub, x, 1);
    ig_value *root = k_unary(b, IG_OP_sqrt,
                             k_mul(b, t, with_number(b, IG_OP_add, t, 2)));
    ig_value *small = ig_math_log1p(b, k_add(b, t, root));
    ig_value *large = with_number(b, IG_OP_add, ig_math_log(b, x),
                                  0.693147180559945309417);
    ig_value *value = k_where(b, ig_math_is(b, IG_OP_gt, x, 0x1p30), large, small);
    return k_where(b, ig_math_is(b, IG_OP_lt, x, 1), constant_like(b, x, (double)NAN),
                   value);
}

static ig_value *atanh_of(ig_builder *b, ig_value *x) {
    ig_value *size = ig_math_abs(b, x);
    ig_value *part = divide_by(b, with_number(b, IG_OP_mul, size, 2),
                               k_sub(b, constant_like(b, x, 1), size));
    ig_value *value = with_number(b, IG_OP_mul, ig_math_log1p(b, part), 0.5);
    return ig_math_with_sign(b, value, x);
}

/* ---- angles ---- */

static ig_value *tan_of(ig_builder *b, ig_value *x) {
    return divide_by(b, ig_math_sin(b, x), ig_math_cos(b, x));
}

/* (atan(t) / t - 1) / t^2 over t^2 <= tan(pi / 8)^2; to 2e-19. */
static const double atan_terms[] = {
    -0.333333333333333332,  0.199999999999998141,   -0.142857142856620077,
    0.111111111053495388,   -0.0909090876236471477, 0.0769229661116578484,
    -0.0666642880675779718, 0.0587897080152114226,  -0.0523074049475212661,
    0.0455280972755622127,  -0.0345997708719295797, 0.0163160309700207721,
};

/* atan of a number that is not negative. */
static ig_value *atan_of_size(ig_builder *b, ig_value *x) {
    ig_value *is_large = ig_math_is(b, IG_OP_gt, x, 2.41421356237309504880);
    ig_value *is_middle = ig_math_is(b, IG_OP_gt, x, 0.41421356237309504880);
    ig_value *turned = ig_math_neg(b, ig_math_recip(b, x));
    ig_value *shifted = divide_by(b, with_number(b, IG_OP_sub, x, 1),
                                  with_number(b, IG_OP_add, x, 1));
    ig_value *t = k_where(b, is_large, turned, k_where(b, is_middle, shifted, x));
    ig_value *zero = constant_like(b, x, 0);
    ig_value *base = k_where(b, is_middle, constant_like(b, x, 0x1.921fb54442d18p-1),
                             zero);
    base = k_where(b, is_large, constant_like(b, x, 0x1.921fb54442d18p+0), base);
    ig_value *low = k_where(b, is_middle, constant_like(b, x, 0x1.1a62633145c07p-55),
                            zero);
    low = k_where(b, is_large, constant_like(b, x, 0x1.1a62633145c07p-54), low);
    ig_value *z = k_mul(b, t, t);
    ig_value *p = ig_math_poly(b, z, atan_terms, IG_COUNT_OF(atan_terms));
    ig_value *rest = k_muladd(b, k_mul(b, z, t), p, low);
    return k_add(b, base, k_add(b, t, rest));
}

static ig_value *atan_of(ig_builder *b, ig_value *x) {
    return ig_math_with_sign(b, atan_of_size(b, ig_math_abs(b, x)), x);
}

/* atan(x / sqrt(1 - x^2)) */
static ig_value *asin_of(ig_builder *b, ig_value *x) {
    ig_value *one = constant_like(b, x, 1), *size = ig_math_abs(b, x);
    ig_value *square = k_mul(b, k_sub(b, one, size), k_add(b, one, size));
    ig_value *value = atan_of_size(b,
                                   divide_by(b, size, k_unary(b, IG_OP_sqrt, square)));
    return ig_math_with_sign(b, value, x);
}

/* 2 atan(sqrt((1 - x) / (1 + x))) */
static ig_value *acos_of(ig_builder *b, ig_value *x) {
    ig_value *one = constant_like(b, x, 1);
    ig_value *square = divide_by(b, k_sub(b, one, x), k_add(b, one, x));
    return with_number(b, IG_OP_mul, atan_of_size(b, k_unary(b, IG_OP_sqrt, square)),
                       2);
}

/* Is the sign bit set? */
static ig_value *is_signed(ig_builder *b, ig_value *x) {
    return ig_math_is(b, IG_OP_lt, ig_math_bits(b, x), 0);
}

static ig_value *atan2_of(ig_builder *b, ig_value *y, ig_value *x) {
    ig_value *ay = ig_math_abs(b, y), *ax = ig_math_abs(b, x);
    ig_value *max = k_max(b, ax, ay), *min = k_min(b, ax, ay);
    ig_value *is_zero = ig_math_is(b, IG_OP_eq, max, 0);
    ig_value *is_infinite = ig_math_is(b, IG_OP_eq, min, INF);
    ig_value *t = divide_by(b, min, max);
    t = k_where(b, is_zero, max, t);
    t = k_where(b, is_infinite, constant_like(b, x, 1), t);
    ig_value *angle = atan_of_size(b, t);
    ig_value *is_steep = k_compare(b, IG_OP_gt, ay, ax);
    ig_value *quarter = constant_like(b, x, 0x1.921fb54442d18p+0);
    angle = k_where(b, is_steep, k_sub(b, quarter, angle), angle);
    ig_value *half = constant_like(b, x, 0x1.921fb54442d18p+1);
    angle = k_where(b, is_signed(b, x), k_sub(b, half, angle), angle);
    ig_value *sum = k_add(b, x, y); /* is not a number when one of them is not */
    ig_value *is_number = k_compare(b, IG_OP_eq, x, x);
    is_number = k_binary(b, IG_OP_and, is_number, k_compare(b, IG_OP_eq, y, y));
    return k_where(b, is_number, ig_math_with_sign(b, angle, y), sum);
}

/* The larger times sqrt(1 + quotient^2), which does not overflow. */
static ig_value *hypot_of(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *ax = ig_math_abs(b, x), *ay = ig_math_abs(b, y);
    ig_value *max = k_max(b, ax, ay), *min = k_min(b, ax, ay);
    ig_value *t = divide_by(b, min, max), *one = constant_like(b, x, 1);
    ig_value *value = k_mul(b, max, k_unary(b, IG_OP_sqrt, k_muladd(b, t, t, one)));
    value = k_where(b, ig_math_is(b, IG_OP_eq, max, 0), max, value);
    ig_value *is_infinite = k_binary(b, IG_OP_or, ig_math_is(b, IG_OP_eq, ax, INF),
                                     ig_math_is(b, IG_OP_eq, ay, INF));
    return k_where(b, is_infinite, constant_like(b, x, INF), value);
}

/* ---- by opcode ---- */

typedef ig_value *(*one_fn)(ig_builder *b, ig_value *x);
typedef ig_value *(*two_fn)(ig_builder *b, ig_value *x, ig_value *y);

static const one_fn of_one[IG_OP_COUNT] = {
    [IG_OP_tan] = tan_of,
    [IG_OP_asin] = asin_of,
    [IG_OP_acos] = acos_of,
    [IG_OP_atan] = atan_of,
    [IG_OP_sinh] = sinh_of,
    [IG_OP_cosh] = cosh_of,
    [IG_OP_asinh] = asinh_of,
    [IG_OP_acosh] = acosh_of,
    [IG_OP_atanh] = atanh_of,
    [IG_OP_log2] = log2_of,
    [IG_OP_log10] = log10_of,
    [IG_OP_erfc] = ig_math_erfc,
    [IG_OP_erfinv] = ig_math_erfinv,
    [IG_OP_lgamma] = ig_math_lgamma,
    [IG_OP_digamma] = ig_math_digamma,
};

static const two_fn of_two[IG_OP_COUNT] = {
    [IG_OP_atan2] = atan2_of,
    [IG_OP_hypot] = hypot_of,
};

ig_value *ig_math_in_double(ig_builder *b, ig_opcode code, ig_value *const *x) {
    ig_dtype dtype = (ig_dtype)x[0]->type->dtype;
    ig_value *wide = k_cast(b, x[0], IG_DT_f64);
    ig_value *value = of_two[code] ? of_two[code](b, wide, k_cast(b, x[1], IG_DT_f64))
                                   : of_one[code](b, wide);
    return k_cast(b, value, dtype);
}

bool ig_math_is_in_double(ig_opcode code) {
    return of_one[code] || of_two[code];
}

bool ig_math_is_long(ig_opcode code) {
    return ig_math_is_in_double(code) || code == IG_OP_sin || code == IG_OP_cos;
}
