/* Threads that run one task together, without a lock.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The caller publishes a task and adds one to `epoch`; each thread that sees a new
 * epoch claims its share of the task, runs it and takes one from `running`.  The caller
 * runs its own share, then those that nobody has claimed by then, so a thread that
 * sleeps, or has no CPU, costs no more than its help; then it waits for zero.  Both
 * waits spin for a while and then sleep on a futex:
 *
 *     caller                               thread
 *     fn, task = …                         spin while epoch = seen, else
 *     running = threads - 1                sleepers++
 *     epoch++                              sleep while epoch = seen
 *     if (sleepers) wake all               sleepers--
 *     fn(task, 0)                          if (claim_share(index))
 *     if (claim_share(i)) fn(task, i)                fn(task, index)
 *     spin while running > 0, else             if (--running = 0 and caller_sleeps)
 *     caller_sleeps; sleep                         wake the caller
 *
 * A share is claimed by moving its ticket from the last epoch to this one: once, and by
 * a thread that is late for an epoch never.  Who runs a share makes no difference to
 * the values it computes.  A sleeper announces itself before it reads the word it
 * sleeps on, and a waker writes that word before it reads the count of sleepers, both
 * in sequential order, so none is missed.  `busy` keeps sessions apart: who cannot
 * claim the pool does its work alone.
 */
#include "runtime/cpu/pool.h"

#include "base/platform/clock.h"
#include "base/platform/platform.h"
#include "base/sized.h"
#include "base/platform/platform_cpu.h"
#include "runtime/cpu/seat.h"
#include "runtime/message.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_THREADS = 1024,
    DEFAULT_SPIN_NS = 50000,
    SPINS_PER_CHECK = 64, /* pauses between two readings of the clock */
    WAKE_NS = 50000,      /* work worth waking threads for, at any rate */
    LINE = 128,
};

typedef struct thread_start {
    _Alignas(LINE) atomic_uint ticket; /* the last epoch whose share was claimed */
    ig_thread_pool *pool;
    int index;
    pthread_t handle;
} thread_start;

struct ig_thread_pool {
    atomic_int references;
    int threads;
    int started; /* of our own */
    int64_t spin_ns;
    void (*run)(void *user, void (*fn)(void *task, int index), void *task, int n);
    void *run_user;
    ig_task_fn *fn;
    void *task;
    atomic_bool stops;
    ig_seats seats;
    _Alignas(LINE) atomic_uint epoch;
    _Alignas(LINE) atomic_uint sleepers;
    _Alignas(LINE) atomic_uint running;
    atomic_uint caller_sleeps;
    _Alignas(LINE) atomic_bool busy;
    atomic_llong wanted_ns; /* when somebody last wanted threads that slept */
    thread_start starts[];
};

/* ---- waiting ---- */

static void futex_wait(atomic_uint *word, unsigned seen) {
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Spins while *word = value, for as long as allowed; true when it has changed. */
static bool spin_while(const atomic_uint *word, unsigned value, int64_t spin_ns) {
    int64_t begin = 0;
    for (;;) {
        for (int i = 0; i < SPINS_PER_CHECK; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != value) {
                return true;
            }
            ig_cpu_pause();
        }
        int64_t now = spin_ns > 0 ? ig_clock_ns() : 0;
        begin = begin ? begin : now;
        if (now - begin >= spin_ns) {
            return false;
        }
    }
}

static void wait_for_epoch(ig_thread_pool *pool, unsigned seen) {
    if (spin_while(&pool->epoch, seen, pool->spin_ns)) {
        return;
    }
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->epoch) == seen) {
        futex_wait(&pool->epoch, seen);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
}

static void wait_for_threads(ig_thread_pool *pool) {
    unsigned left;
    while ((left = atomic_load_explicit(&pool->running, memory_order_acquire)) > 0) {
        if (spin_while(&pool->running, left, pool->spin_ns)) {
            continue;
        }
        atomic_store(&pool->caller_sleeps, 1);
        while ((left = atomic_load(&pool->running)) > 0) {
            futex_wait(&pool->running, left);
        }
        atomic_store(&pool->caller_sleeps, 0);
    }
}

/* Takes the share of this epoch; false when somebody has it. */
static bool claim_share(thread_start *share, unsigned epoch) {
    unsigned last = epoch - 1;
    return atomic_load_explicit(&share->ticket, memory_order_relaxed) == last &&
           atomic_compare_exchange_strong_explicit(&share->ticket, &last, epoch,
                                                   memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void *thread_main(void *argument) {
    thread_start *start = argument;
    ig_thread_pool *pool = start->pool;
    unsigned seen = 0;
    (void)ig_float_env_enter();
    for (;;) {
        wait_for_epoch(pool, seen);
        seen = atomic_load_explicit(&pool->epoch, memory_order_acquire);
        if (atomic_load_explicit(&pool->stops, memory_order_relaxed)) {
            return NULL;
        }
        if (!claim_share(start, seen)) {
            continue;
        }
        ig_seats_keep_apart(&pool->seats, start->index);
        pool->fn(pool->task, start->index);
        if (atomic_fetch_sub(&pool->running, 1) == 1 &&
            atomic_load(&pool->caller_sleeps)) {
            futex_wake_all(&pool->running);
        }
    }
}

static void next_epoch(ig_thread_pool *pool) {
    atomic_fetch_add(&pool->epoch, 1);
    if (atomic_load(&pool->sleepers) > 0) {
        futex_wake_all(&pool->epoch);
    }
}

/* ---- running ---- */

/* To wake a thread takes longer than a short run, so that pays only when the next run
 * follows soon enough to find it awake: for the second of two that do. */
static bool is_worth_it(ig_thread_pool *pool, double work_ns) {
    if (pool->run || work_ns >= WAKE_NS ||
        atomic_load_explicit(&pool->sleepers, memory_order_relaxed) == 0) {
        return true;
    }
    int64_t now = ig_clock_ns();
    int64_t last = atomic_exchange_explicit(&pool->wanted_ns, now,
                                            memory_order_relaxed);
    return (double)(now - last) < (double)pool->spin_ns + work_ns;
}

bool ig_thread_pool_claim(ig_thread_pool *pool, double work_ns) {
    bool expected = false;
    bool is_ours = pool->threads > 1 && is_worth_it(pool, work_ns) &&
                   atomic_compare_exchange_strong_explicit(&pool->busy, &expected, true,
                                                           memory_order_acquire,
                                                           memory_order_relaxed);
    if (is_ours && !pool->run) {
        ig_seats_enter_caller(&pool->seats);
    }
    return is_ours;
}

void ig_thread_pool_release(ig_thread_pool *pool) {
    assert(atomic_load(&pool->busy) && "releasing a pool that is not claimed");
    atomic_store_explicit(&pool->busy, false, memory_order_release);
}

typedef struct guest_task {
    ig_task_fn *fn;
    void *task;
} guest_task;

/* A thread of the caller's may have any floating-point environment. */
static void run_guest(void *argument, int index) {
    const guest_task *guest = argument;
    uint32_t old = ig_float_env_enter();
    guest->fn(guest->task, index);
    ig_float_env_leave(old);
}

void ig_thread_pool_run(ig_thread_pool *pool, ig_task_fn *fn, void *task) {
    assert(atomic_load(&pool->busy) && "running on a pool that is not claimed");
    if (pool->run) {
        guest_task guest = { fn, task };
        pool->run(pool->run_user, run_guest, &guest, pool->threads);
        return;
    }
    pool->fn = fn;
    pool->task = task;
    atomic_store_explicit(&pool->running, (unsigned)pool->threads - 1,
                          memory_order_relaxed);
    next_epoch(pool);
    fn(task, 0);
    unsigned epoch = atomic_load_explicit(&pool->epoch, memory_order_relaxed);
    for (int i = pool->threads - 1; i > 0; i--) {
        if (claim_share(&pool->starts[i], epoch)) {
            fn(task, i);
            atomic_fetch_sub_explicit(&pool->running, 1, memory_order_relaxed);
        }
    }
    wait_for_threads(pool);
}

/* ---- life ---- */

/* Signals stay with the host's own threads. */
static bool start_threads(ig_thread_pool *pool, bool pins) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = 0;
    for (int i = 1; i < pool->threads && !failed; i++) {
        thread_start *start = &pool->starts[i];
        start->pool = pool;
        start->index = i;
        failed = pthread_create(&start->handle, NULL, thread_main, start);
        pool->started += !failed;
        ig_seats_add(&pool->seats, i, start->handle);
        if (pins && !failed) {
            ig_seats_pin(&pool->seats, i);
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !failed;
}

/* The options as this library knows them: fields that the caller's struct lacks are
 * zero. */
static ig_status complete_options(const ig_thread_pool_options *options,
                                  ig_thread_pool_options *all) {
    *all = (ig_thread_pool_options){ .size = sizeof *all };
    if (ig_sized_take(all, sizeof *all, options)) {
        return IG_OK;
    }
    ig_message message = { options->message, options->message_size, NULL };
    return ig_message_set(&message, IG_INVALID, IG_UNSIZED_WORDS,
                          "ig_thread_pool_options");
}

ig_status ig_thread_pool_create(const ig_thread_pool_options *options,
                                ig_thread_pool **out_pool) {
    ig_thread_pool_options all;
    *out_pool = NULL;
    IG_TRY(complete_options(options, &all));
    ig_message message = { all.message, all.message_size, NULL };
    int threads = all.threads == 0 && !all.run ? ig_cpu_count() : all.threads;
    if (threads < 1 || threads > MAX_THREADS) {
        return ig_message_set(&message, IG_INVALID,
                              "a pool has 1 to %d threads, not %d", MAX_THREADS,
                              threads);
    }
    void *memory = NULL;
    size_t starts = sizeof(ig_thread_pool) + (size_t)threads * sizeof(thread_start);
    size_t size = starts + (size_t)threads * sizeof(ig_seat);
    if (posix_memalign(&memory, LINE, size) != 0) {
        return ig_message_set(&message, IG_LIMIT, "out of memory for a thread pool");
    }
    memset(memory, 0, size);
    ig_thread_pool *pool = memory;
    atomic_store(&pool->references, 1);
    pool->threads = threads;
    pool->spin_ns = all.spin_ns ? all.spin_ns : DEFAULT_SPIN_NS;
    pool->run = all.run;
    pool->run_user = all.run_user;
    ig_seats_init(&pool->seats, (ig_seat *)((char *)memory + starts), threads);
    if (!pool->run && !start_threads(pool, all.pin != 0)) {
        ig_thread_pool_destroy(pool);
        return ig_message_set(&message, IG_LIMIT, "the system starts no more threads");
    }
    *out_pool = pool;
    return IG_OK;
}

void ig_thread_pool_retain(ig_thread_pool *pool) {
    int references = atomic_fetch_add(&pool->references, 1);
    assert(references > 0 && "a destroyed pool is kept alive");
    (void)references;
}

void ig_thread_pool_destroy(ig_thread_pool *pool) {
    if (!pool || atomic_fetch_sub(&pool->references, 1) != 1) {
        return;
    }
    atomic_store_explicit(&pool->stops, true, memory_order_relaxed);
    next_epoch(pool);
    for (int i = 1; i <= pool->started; i++) {
        (void)pthread_join(pool->starts[i].handle, NULL);
    }
    free(pool);
}

int ig_thread_pool_threads(const ig_thread_pool *pool) {
    return pool->threads;
}
