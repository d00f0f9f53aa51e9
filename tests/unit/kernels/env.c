/* y[t] = the floating-point control register.  SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_cpu.h"
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    int64_t *y = call->buffers[0];
    for (int64_t t = call->tile_begin; t < call->tile_end; t++) {
        y[t] = ig_float_env_read();
    }
}
