/* y = the positive elements of x, count[0] = how many; params: n.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    int64_t *y = call->buffers[0], *count = call->buffers[1];
    const int64_t *x = call->buffers[2];
    int64_t k = 0;
    for (int64_t i = 0; i < call->params[0]; i++) {
        if (x[i] > 0) {
            y[k++] = x[i];
        }
    }
    count[0] = k;
}
