/* Threads of a pool on CPUs of their own.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/seat.h"

#include <assert.h>

void ig_seats_init(ig_seats *seats, ig_seat *room, int count) {
    CPU_ZERO(&seats->allowed);
    (void)sched_getaffinity(0, sizeof seats->allowed, &seats->allowed);
    seats->count = count;
    seats->seats = room;
    seats->are_fixed = CPU_COUNT(&seats->allowed) < count;
    for (int i = 0; i < count; i++) {
        atomic_init(&room[i].cpu, IG_SEAT_NONE);
    }
}

void ig_seats_add(ig_seats *seats, int index, pthread_t thread) {
    assert(index > 0 && index < seats->count && "seat 0 is the caller's");
    seats->seats[index].thread = thread;
}

void ig_seats_pin(ig_seats *seats, int index) {
    int allowed = CPU_COUNT(&seats->allowed);
    seats->are_fixed = true;
    int rank = allowed > 0 ? index % allowed : -1;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && rank >= 0; cpu++) {
        if (CPU_ISSET(cpu, &seats->allowed) && rank-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)pthread_setaffinity_np(seats->seats[index].thread, sizeof one, &one);
        }
    }
}

static int seen_at(const ig_seats *seats, int index) {
    return atomic_load_explicit(&seats->seats[index].cpu, memory_order_relaxed);
}

static void note_seat(ig_seats *seats, int index, int cpu) {
    if (cpu != seen_at(seats, index)) {
        atomic_store_explicit(&seats->seats[index].cpu, cpu, memory_order_relaxed);
    }
}

/* Sends thread `index` to the CPUs on which no other was seen. */
static void move_away(ig_seats *seats, int index) {
    cpu_set_t left = seats->allowed;
    for (int i = 0; i < seats->count; i++) {
        int cpu = seen_at(seats, i);
        if (i != index && cpu >= 0 && cpu < CPU_SETSIZE) {
            CPU_CLR((size_t)cpu, &left);
        }
    }
    note_seat(seats, index, IG_SEAT_NONE);
    if (CPU_COUNT(&left) > 0) {
        (void)pthread_setaffinity_np(seats->seats[index].thread, sizeof left, &left);
    }
}

void ig_seats_enter_caller(ig_seats *seats) {
    if (seats->are_fixed) {
        return;
    }
    int cpu = sched_getcpu();
    note_seat(seats, 0, cpu);
    for (int i = 1; i < seats->count; i++) {
        if (seen_at(seats, i) == cpu) {
            move_away(seats, i);
        }
    }
}

static bool is_taken(const ig_seats *seats, int index, int cpu) {
    for (int i = 0; i < index; i++) {
        if (seen_at(seats, i) == cpu) {
            return true;
        }
    }
    return false;
}

/* Of two on one CPU the one with the higher index moves. */
void ig_seats_keep_apart(ig_seats *seats, int index) {
    if (seats->are_fixed) {
        return;
    }
    assert(index > 0 && index < seats->count && "only our own threads move");
    int last = seen_at(seats, index), cpu = sched_getcpu();
    note_seat(seats, index, cpu);
    if ((cpu != last || cpu == seen_at(seats, 0)) && is_taken(seats, index, cpu)) {
        move_away(seats, index);
    }
}
