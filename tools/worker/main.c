/* ingot-worker: the process that compiles what nobody trusts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libingot starts it; it is of no use to people.
 */
#include "driver/worker/worker.h"

int main(void) {
    return ig_worker_main();
}
