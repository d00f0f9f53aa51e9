/* y[t] = this worker's scratch address, z[t] += 1: who runs which tile, how often.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    int64_t *y = call->buffers[0], *z = call->buffers[1];
    *(int64_t *)call->scratch = call->tile_begin;
    for (int64_t t = call->tile_begin; t < call->tile_end; t++) {
        y[t] = (int64_t)(uintptr_t)call->scratch;
        z[t] += 1;
    }
}
