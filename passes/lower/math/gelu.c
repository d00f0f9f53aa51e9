/* gelu, by erf or by tanh.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/math/math.h"

ig_value *ig_math_gelu(ig_builder *b, ig_value *x, bool by_tanh) {
    ig_value *gate;
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
