/* The clock that only goes forward.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_CLOCK_H
#define IG_BASE_PLATFORM_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t ig_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
