/* y = x * factor; params: n, elements a tile, the factor's bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    union {
        uint32_t bits;
        float value;
    } factor = { (uint32_t)call->params[2] };
    float *y = call->buffers[0];
    const float *x = call->buffers[1];
    int64_t n = call->params[0], size = call->params[1];
    for (int64_t i = call->tile_begin * size; i < call->tile_end * size && i < n; i++) {
        y[i] = x[i] * factor.value;
    }
}
