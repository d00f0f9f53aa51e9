/* Which CPU each thread of a pool runs on.  SPDX-License-Identifier: Apache-2.0
 *
 * Threads that work together hardly sleep, so when the system puts two of them on one
 * CPU - it may do so whenever it wakes one - it notices only at its next balancing,
 * milliseconds later; until then both are slower than one thread alone.  Therefore the
 * caller of a task sends away a thread that was last seen on the caller's CPU before it
 * wakes it, and a thread that finds itself on another's CPU moves to one that none of
 * them uses.  Only where there are as many CPUs as threads, and only threads of our
 * own: the caller's stays where it is.
 */
#ifndef IG_RUNTIME_CPU_SEAT_H
#define IG_RUNTIME_CPU_SEAT_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { IG_SEAT_NONE = -1 };

typedef struct ig_seat {
    atomic_int cpu; /* IG_SEAT_NONE or where its thread was last seen */
    pthread_t thread;
} ig_seat;

typedef struct ig_seats {
    cpu_set_t allowed; /* of the thread that made the pool */
    int count;
    bool are_fixed; /* pinned, or more threads than CPUs */
    ig_seat *seats; /* [count]; [0] is the caller's, whoever that is */
} ig_seats;

void ig_seats_init(ig_seats *seats, ig_seat *room, int count);
/* Thread `index` has been started. */
void ig_seats_add(ig_seats *seats, int index, pthread_t thread);
/* Binds thread `index` to the CPU of that rank among the allowed ones. */
void ig_seats_pin(ig_seats *seats, int index);
/* This thread has the pool for a run: some nanoseconds while no thread moves. */
void ig_seats_enter_caller(ig_seats *seats);
/* Called by thread `index` > 0 before each task: as cheap. */
void ig_seats_keep_apart(ig_seats *seats, int index);

#endif
