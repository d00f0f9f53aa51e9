/* Which CPU each thread of a pool runs on.  SPDX-License-Identifier: Apache-2.0
 *
 * Threads that work together and wait by spinning never sleep, so when the system puts
 * two of them on one CPU it notices only at its next balancing, milliseconds later;
 * until then each waits for the other and all are slower than one thread alone.
 * Therefore a thread that finds itself on another's CPU moves to one that none of them
 * uses.  Only where there are as many CPUs as threads, and only threads of our own: the
 * caller's stays where it is.
 */
#ifndef IG_RUNTIME_CPU_SEAT_H
#define IG_RUNTIME_CPU_SEAT_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { IG_SEAT_NONE = -1 };

typedef struct ig_seats {
    cpu_set_t   allowed; /* of the thread that made the pool */
    int         count;
    bool        are_fixed; /* pinned, or more threads than CPUs */
    atomic_int *cpus;      /* [count]: IG_SEAT_NONE or where it was last seen; [0]: the
                              caller */
} ig_seats;

void ig_seats_init(ig_seats *seats, atomic_int *cpus, int count);
/* Binds thread `index` to the CPU of that rank among the allowed ones. */
void ig_seats_pin(ig_seats *seats, pthread_t thread, int index);
/* The caller of the next task is this thread. */
void ig_seats_enter_caller(ig_seats *seats);
/* Called by thread `index` > 0 before each task: some nanoseconds while none moves. */
void ig_seats_keep_apart(ig_seats *seats, int index);

#endif
