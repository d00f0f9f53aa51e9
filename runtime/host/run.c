/* Host function run_number: which run of the session this is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/host.h"

ig_host_fn ig_host_run_number;

bool ig_host_run_number(const ig_host_call *call) {
    int64_t *y = call->buffers[0];
    if (call->bytes[0] < (int64_t)sizeof *y) {
        return false;
    }
    *y = call->run;
    return true;
}
