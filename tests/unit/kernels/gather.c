/* y[i] = table[ids[i]], reporting ids that are out of range; a tile is one element.
 * Operands: y, table, ids; params: rows of the table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    float *y = call->buffers[0];
    const float *table = call->buffers[1];
    const int64_t *ids = call->buffers[2];
    for (int64_t i = call->tile_begin; i < call->tile_end; i++) {
        if (ids[i] >= 0 && ids[i] < call->params[0]) {
            y[i] = table[ids[i]];
            continue;
        }
        y[i] = 0;
        if (call->report->operand < 0) {
            call->report->operand = 2;
            call->report->position = i;
            call->report->value = ids[i];
        }
    }
}
