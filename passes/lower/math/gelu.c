/* gelu, by erf or by tanh.
 * SPDX-License-Identifier: Apache-2.0
 *
 * By erf it is x P(x), P the normal distribution, and P(-|x|) is exp(Q(|x|)): one
 * polynomial of log erfc, where erf has two forms to be exact near 0, which 1 + erf(x)
 * is not anyway.  Below 0 nothing cancels.
 */
#include "passes/lower/math/math.h"

#include <assert.h>

/* log(erfc(x / sqrt 2) / 2), x in [0, 6], its even and its odd powers; to 6e-9 of what
 * 1 - exp(Q) is.  After 6 it falls on, beyond what exp(Q) is 0 for. */
static const double even_f32[] = {
    -0.6931471744630464,     -0.3183049022273312,    0.004823164161878431,
    -0.00019222092061147155, -7.551409160924015e-06, -1.9732629880789572e-08,
};
static const double odd_f32[] = {
    -0.7978850001255291,   -0.036356377803061855, -4.785587349050082e-06,
    5.265182162350751e-05, 5.901915910097648e-07,
};

/* f32: 2.4 ulp from -1 on, 6 from -2, 24 from -3. */
static ig_value *gelu_by_tail(ig_builder *b, ig_value *x) {
    assert(x->type->dtype == IG_DT_f32 && "the polynomial is of f32");
    ig_value *size = ig_math_with(b, IG_OP_min, ig_math_abs(b, x), 64);
    ig_value *square = k_mul(b, size, size);
    ig_value *even = ig_math_poly(b, square, even_f32, IG_COUNT_OF(even_f32));
    ig_value *odd = ig_math_poly(b, square, odd_f32, IG_COUNT_OF(odd_f32));
    ig_value *tail = ig_math_decay(b, k_muladd(b, size, odd, even));
    ig_value *rest = k_sub(b, ig_math_const(b, x, 1), tail);
    return k_mul(b, x, k_where(b, ig_math_is(b, IG_OP_lt, x, 0), tail, rest));
}

ig_value *ig_math_gelu(ig_builder *b, ig_value *x, bool by_tanh) {
    ig_value *gate;
    if (!by_tanh && x->type->dtype == IG_DT_f32) {
        return gelu_by_tail(b, x);
    }
    if (by_tanh) {
        ig_value *cube = k_mul(b, k_mul(b, x, x), x);
        ig_value *inner = k_add(b, x, ig_math_with(b, IG_OP_mul, cube, 0.044715));
        inner = ig_math_with(b, IG_OP_mul, inner, 0.79788456080286535588);
        gate = ig_math_tanh(b, inner);
    } else {
        gate = ig_math_erf(b, ig_math_with(b, IG_OP_mul, x, 0.70710678118654752440));
    }
    ig_value *half = ig_math_with(b, IG_OP_mul, x, 0.5);
    return k_mul(b, half, ig_math_with(b, IG_OP_add, gate, 1));
}
