/* The one clock of all measurements.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_CLOCK_H
#define IG_TOOLS_INGOT_MEASURE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary point in time; never goes back. */
static inline double clock_seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

#endif
