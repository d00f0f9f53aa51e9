/* i64: y[0] += 1; cond[0] = y[0] < params[0].  SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    int64_t *y = call->buffers[0];
    char *condition = call->buffers[1];
    y[0] += 1;
    condition[0] = y[0] < call->params[0];
}
