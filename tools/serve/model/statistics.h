/* Counts of one version in one loop: written by that loop's thread, read by any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_STATISTICS_H
#define IG_TOOLS_SERVE_MODEL_STATISTICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { BUCKETS = 17 };

/* The quantity of a histogram.  `rows` are of a run, the others seconds of a
 * request. */
typedef enum measure {
    MEASURE_QUEUE,   /* from the last byte of the request to the start of its run */
    MEASURE_COMPUTE, /* the run that it was part of */
    MEASURE_TOTAL,   /* from its last byte to the answer's first */
    MEASURE_ROWS,
    MEASURE_COUNT
} measure;

typedef struct histogram {
    _Atomic uint64_t buckets[BUCKETS]; /* not summed up; the last has no bound */
    _Atomic uint64_t count, sum;       /* sum: of ns, or rows */
} histogram;

typedef struct statistics {
    _Atomic uint64_t succeeded, failed, runs, rows;
    _Atomic uint64_t last_ms; /* of the last request, since 1970 */
    _Atomic uint64_t failed_ns;
    int64_t cost_ns; /* of a request, as its last runs cost; the loop's thread alone */
    histogram of[MEASURE_COUNT];
} statistics;

/* Upper bounds of all buckets but the last: ns, or rows. */
uint64_t histogram_bound(measure which, size_t bucket);
void histogram_add(statistics *to, measure which, uint64_t value);
void count_up(_Atomic uint64_t *counter, uint64_t more);
uint64_t count_now(const _Atomic uint64_t *counter);
/* Adds what `from` holds now to `to`, which one thread alone uses. */
void statistics_sum(statistics *to, const statistics *from);

#endif
