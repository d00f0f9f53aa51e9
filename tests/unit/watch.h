/* Limits by the clock that hold on a busy machine: what it keeps a process from running
 * is not
 * counted.  SPDX-License-Identifier: Apache-2.0
 *
 *     unit_watch watch = unit_watch_start();
 *     …
 *     CHECK(unit_watch_ms(&watch) < 1000);
 */
#ifndef IG_TESTS_UNIT_WATCH_H
#define IG_TESTS_UNIT_WATCH_H

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

typedef struct unit_watch {
    int64_t begin_ns, waited_ns;
} unit_watch;

/* What the threads of this process have waited for a processor: the second number of
 * schedstat (Linux' Documentation/scheduler/sched-stats), 0 where there is none. */
static inline int64_t unit_waited_ns(void) {
    int64_t sum = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e = threads ? readdir(threads) : NULL; e;
         e = readdir(threads)) {
        char path[300];
        int64_t ran = 0, waited = 0;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        FILE *file = fopen(path, "r");
        if (file) {
            int count = fscanf(file, "%" SCNd64 " %" SCNd64, &ran, &waited);
            sum += count == 2 ? waited : 0;
            (void)fclose(file);
        }
    }
    if (threads) {
        (void)closedir(threads);
    }
    return sum;
}

static inline int64_t unit_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline unit_watch unit_watch_start(void) {
    return (unit_watch){ unit_clock_ns(), unit_waited_ns() };
}

static inline int64_t unit_watch_ms(const unit_watch *w) {
    int64_t waited = unit_waited_ns() -
                     w->waited_ns; /* threads that ended take theirs along */
    return (unit_clock_ns() - w->begin_ns - (waited > 0 ? waited : 0)) / 1000000;
}

#endif
