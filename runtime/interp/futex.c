/* Waiting for a word of memory: what both sides of a namespace have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_cpu.h"
#include "runtime/interp/engine.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 200 }; /* about 5 us: most answers come from a running thread */

void ig_futex_wait(atomic_int *word, int value, int64_t deadline_ns) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != value) {
            return;
        }
        ig_cpu_pause();
    }
    struct timespec until = { .tv_sec = (time_t)(deadline_ns / 1000000000),
                              .tv_nsec = (long)(deadline_ns % 1000000000) };
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                  deadline_ns ? &until : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

void ig_futex_wake(atomic_int *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
