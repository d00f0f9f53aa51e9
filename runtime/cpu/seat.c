/* Threads of a pool on CPUs of their own.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/seat.h"

void ig_seats_init(ig_seats *seats, atomic_int *cpus, int count) {
    CPU_ZERO(&seats->allowed);
    (void)sched_getaffinity(0, sizeof seats->allowed, &seats->allowed);
    seats->count = count;
    seats->cpus = cpus;
    seats->are_fixed = CPU_COUNT(&seats->allowed) < count;
    for (int i = 0; i < count; i++) {
        atomic_init(&cpus[i], IG_SEAT_NONE);
    }
}

void ig_seats_pin(ig_seats *seats, pthread_t thread, int index) {
    int allowed = CPU_COUNT(&seats->allowed);
    seats->are_fixed = true;
    int rank = allowed > 0 ? index % allowed : -1;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && rank >= 0; cpu++) {
        if (CPU_ISSET(cpu, &seats->allowed) && rank-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)pthread_setaffinity_np(thread, sizeof one, &one);
        }
    }
}

static int seen_at(const ig_seats *seats, int index) {
    return atomic_load_explicit(&seats->cpus[index], memory_order_relaxed);
}

static int sit_down(ig_seats *seats, int index) {
    int cpu = sched_getcpu();
    if (cpu != seen_at(seats, index)) {
        atomic_store_explicit(&seats->cpus[index], cpu, memory_order_relaxed);
    }
    return cpu;
}

void ig_seats_enter_caller(ig_seats *seats) {
    if (!seats->are_fixed) {
        (void)sit_down(seats, 0);
    }
}

static cpu_set_t free_seats(const ig_seats *seats, int index) {
    cpu_set_t left = seats->allowed;
    for (int i = 0; i < seats->count; i++) {
        int cpu = seen_at(seats, i);
        if (i != index && cpu >= 0 && cpu < CPU_SETSIZE) {
            CPU_CLR((size_t)cpu, &left);
        }
    }
    return left;
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
    int last = seen_at(seats, index);
    int cpu = sit_down(seats, index);
    if (cpu == last && cpu != seen_at(seats, 0)) {
        return;
    }
    cpu_set_t left = free_seats(seats, index);
    if (is_taken(seats, index, cpu) && CPU_COUNT(&left) > 0) {
        (void)sched_setaffinity(0, sizeof left, &left);
        (void)sit_down(seats, index);
    }
}
