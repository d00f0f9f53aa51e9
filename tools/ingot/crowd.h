/* A crowd: callers that call at once, each on a thread of its own, and how long every
 * call took.  SPDX-License-Identifier: Apache-2.0
 *
 * Knows nothing of sessions, so that peers are measured by the same loop.
 */
#ifndef IG_TOOLS_INGOT_CROWD_H
#define IG_TOOLS_INGOT_CROWD_H

#include <stdbool.h>
#include <stddef.h>

enum { CROWD_GOOD, CROWD_ENOUGH, CROWD_FAILED }; /* ENOUGH: the last one */

typedef struct crowd_caller {
    int (*call)(void *user, size_t number);
    void *user;
    size_t next;     /* number of the next call */
    int cpu;         /* to stay on; -1: any */
    int answer;      /* of the last call */
    double limit;    /* private */
    double *seconds; /* of each call that counts; the caller of crowd_run frees it */
    size_t count, capacity;
} crowd_caller;

typedef struct crowd_facts {
    size_t calls;
    double p50, p90, p99, least, mean; /* seconds of a call */
    double per_second;                 /* calls of all callers together */
    double drift; /* how far the halves of a caller's time differ */
} crowd_facts;

/* Every caller calls for `seconds`, at least three times, after a tenth of that time
 * that does not count.  False: a thread cannot start; see `answer` for the calls. */
bool crowd_run(crowd_caller *callers, size_t count, double seconds);

/* Of calls that counted; sorts no caller's seconds.  False: no memory. */
bool crowd_summarise(const crowd_caller *callers, size_t count, crowd_facts *out);

#endif
