/* A device that computes nothing, as late as it may: the template of a device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its memory is the host's.  Work stays in the queue until somebody waits for its
 * ticket; copies are done then and launches never, so a session that reads before it
 * waits sees old bytes.  README.md beside this file says how to copy it.
 */
#ifndef IG_RUNTIME_NULL_NULL_H
#define IG_RUNTIME_NULL_NULL_H

#include "runtime/device.h"

extern const ig_device ig_device_null;

enum { IG_NULL_WORKS = 64 }; /* that a queue remembers; more are done before */

typedef struct ig_null_work {
    uint32_t launch_count; /* of a phase; 0: a copy, or a phase of no launch */
    uint32_t step;         /* of the phase's first launch */
    ig_copy copy;
} ig_null_work;

/* The work of a ticket; NULL when there is none or it was forgotten. */
const ig_null_work *ig_null_recall(const ig_queue *queue, ig_ticket ticket);

#endif
