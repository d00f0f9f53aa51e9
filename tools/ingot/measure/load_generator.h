/* A load generator: concurrent callers, each on a thread of its own, and the time of
 * every call.  SPDX-License-Identifier: Apache-2.0
 *
 * Knows nothing of sessions, so that peers are measured by the same loop.
 */
#ifndef IG_TOOLS_INGOT_MEASURE_LOAD_GENERATOR_H
#define IG_TOOLS_INGOT_MEASURE_LOAD_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>

enum { LOAD_GOOD, LOAD_ENOUGH, LOAD_FAILED }; /* ENOUGH: the last one */

typedef struct load_caller {
    int (*call)(void *user, size_t index);
    void *user;
    size_t next;  /* number of the next call */
    int cpu;      /* to stay on; -1: any */
    int answer;   /* of the last call */
    double limit; /* private */
    double
        *seconds; /* of each call that counts; the caller of load_generate frees it */
    size_t count, capacity;
} load_caller;

typedef struct load_facts {
    size_t calls;
    double p25, p50, p90, p95, p99, min, mean; /* seconds of a call */
    double per_second;                         /* calls of all callers together */
    double drift; /* how far the halves of a caller's time differ */
} load_facts;

/* Every caller calls for `seconds`, at least three times, after a tenth of that time
 * that does not count.  False: a thread cannot start; see `answer` for the calls. */
bool load_generate(load_caller *callers, size_t count, double seconds);

/* Of calls that counted; sorts no caller's seconds.  False: no memory. */
bool load_summarise(const load_caller *callers, size_t count, load_facts *out);

#endif
