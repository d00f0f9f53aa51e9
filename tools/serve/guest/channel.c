/* Waiting for the other process.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/guest/channel.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void channel_await(_Atomic uint32_t *turn, uint32_t from, int ms) {
    const struct timespec wait = { ms / 1000, ms % 1000 * 1000000L };
    if (atomic_load_explicit(turn, memory_order_acquire) == from) {
        syscall(SYS_futex, turn, FUTEX_WAIT, from, ms < 0 ? NULL : &wait, NULL, 0);
    }
}

void channel_set(_Atomic uint32_t *turn, uint32_t to) {
    atomic_store_explicit(turn, to, memory_order_release);
    syscall(SYS_futex, turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
