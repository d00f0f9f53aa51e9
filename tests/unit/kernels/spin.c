/* y[t] = t after params[0] rounds of nothing.  SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_cpu.h"
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    int64_t *y = call->buffers[0];
    for (int64_t t = call->tile_begin; t < call->tile_end; t++) {
        for (int64_t i = 0; i < call->params[0]; i++) {
            ig_cpu_pause();
        }
        y[t] = t;
    }
}
