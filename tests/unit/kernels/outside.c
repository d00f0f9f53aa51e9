/* Reports what its params say; params: operand, position, value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kernels/kernel.h"

void kernel(const ig_kernel_call_v0 *call) {
    call->report->operand = call->params[0];
    call->report->position = call->params[1];
    call->report->value = call->params[2];
}
