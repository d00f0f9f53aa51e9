/* The isolated worker: what `ingot-worker` runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_WORKER_WORKER_H
#define IG_DRIVER_WORKER_WORKER_H

#include "ingot/status.h"

/* Serves the one request of the host that started this process (isolate.h); the exit
 * status of the process.  2: nobody did. */
IG_API int ig_worker_main(void);

#endif
