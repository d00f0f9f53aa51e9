/* y = a + b; params: n, elements a tile.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    float *y = call->buffers[0];
    const float *a = call->buffers[1], *b = call->buffers[2];
    int64_t n = call->params[0], size = call->params[1];
    for (int64_t i = call->tile_begin * size; i < call->tile_end * size && i < n; i++) {
        y[i] = a[i] + b[i];
    }
}
