/* Threads of a block as coroutines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blocks run one after another in an order drawn from the seed.  The threads of a block
 * give way at barriers alone; who goes on is drawn too, so what a barrier orders is
 * seen where the barrier is missing.  A thread's stack stays from block to block.
 */
#ifndef IG_TESTS_CUDA_HOST_SHIM_THREADS_H
#define IG_TESTS_CUDA_HOST_SHIM_THREADS_H

#include "call.h"

#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SHIM_EXPORT extern "C" __attribute__((visibility("default")))

struct shim_index {
    unsigned x, y, z;
};
static shim_index threadIdx, blockIdx, blockDim, gridDim;

enum { SHIM_STACK = 256 * 1024, SHIM_LANES = 32, SHIM_COPIES = 64 };
enum shim_state { SHIM_READY, SHIM_AT_BLOCK, SHIM_AT_WARP, SHIM_ENDED };

struct shim_copy {
    void *to;
    const void *from;
    unsigned bytes, used, group;
};

struct shim_thread {
    jmp_buf at;
    bool is_begun; /* there is something at `at` */
    shim_state state;
    int line;      /* of the barrier that it waits at */
    unsigned mask; /* of the lanes that it waits for */
    unsigned turn; /* of exchanges */
    unsigned copies, group;
    shim_copy later[SHIM_COPIES];
};

static shim_thread shim_threads[SHIM_MAX_THREADS];
static unsigned long long shim_given[SHIM_MAX_THREADS / SHIM_LANES][2][SHIM_LANES];
static const unsigned long long shim_spoilt = 0x7f7f7f7f7f7f7f7full;
static jmp_buf shim_chooser;
static ucontext_t shim_main;
static char *shim_stacks;
static shim_thread *shim_self;
static const shim_call *shim_now;
static unsigned shim_ready[SHIM_MAX_THREADS], shim_ready_count;
static uint64_t shim_random_state;
static bool shim_is_running;

extern "C" char __start_shim_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_shim_shared[] __attribute__((weak, visibility("hidden")));

static inline uint64_t shim_random(uint64_t bound) {
    shim_random_state = shim_random_state * 6364136223846793005u + 1442695040888963407u;
    return (shim_random_state >> 33) % bound;
}

static inline unsigned shim_index() {
    return (unsigned)(shim_self - shim_threads);
}

static inline unsigned shim_lane() {
    return shim_index() % SHIM_LANES;
}

/* ---- giving way ---- */

static void shim_give_way(shim_state state) {
    shim_self->state = state;
    if (_setjmp(shim_self->at) == 0) {
        _longjmp(shim_chooser, 1);
    }
}

static void shim_wait_block(int line) {
    shim_self->line = line;
    shim_give_way(SHIM_AT_BLOCK);
}

static void shim_make_ready(unsigned index) {
    shim_threads[index].state = SHIM_READY;
    shim_ready[shim_ready_count++] = index;
}

/* The last lane of the mask that comes lets all go on. */
static void shim_wait_warp(unsigned mask) {
    unsigned first = shim_index() / SHIM_LANES * SHIM_LANES;
    bool is_last = true;
    for (unsigned lane = 0; lane < SHIM_LANES; lane++) {
        const shim_thread *other = &shim_threads[first + lane];
        bool is_here = other == shim_self ||
                       (other->state == SHIM_AT_WARP && other->mask == mask);
        is_last = is_last && (!(mask >> lane & 1) || is_here);
    }
    shim_self->mask = mask;
    if (!is_last) {
        shim_give_way(SHIM_AT_WARP);
        return;
    }
    for (unsigned lane = 0; lane < SHIM_LANES; lane++) {
        if ((mask >> lane & 1) && &shim_threads[first + lane] != shim_self) {
            shim_make_ready(first + lane);
        }
    }
}

/* What each lane of the mask has told.  It stays until the next exchange but one. */
static const unsigned long long *shim_exchange(unsigned mask, unsigned long long bits) {
    unsigned long long *given =
        shim_given[shim_index() / SHIM_LANES][shim_self->turn++ & 1];
    given[shim_lane()] = bits;
    shim_wait_warp(mask);
    return given;
}

/* ---- copies that are done later ---- */

static void shim_copy_at(unsigned i) {
    shim_copy c = shim_self->later[i];
    shim_self->later[i] = shim_self->later[--shim_self->copies];
    memcpy(c.to, c.from, c.used);
    memset((char *)c.to + c.used, 0, c.bytes - c.used);
}

static void shim_copy_later(void *to, const void *from, unsigned bytes, unsigned used) {
    bool is_good = (bytes == 4 || bytes == 8 || bytes == 16) && used <= bytes &&
                   (uintptr_t)to % bytes == 0 && (uintptr_t)from % bytes == 0;
    if (!is_good) {
        __builtin_trap();
    }
    if (shim_self->copies == SHIM_COPIES) {
        shim_copy_at((unsigned)shim_random(SHIM_COPIES));
    }
    shim_self->later[shim_self->copies++] = { to, from, bytes, used, shim_self->group };
}

static void shim_copy_end_group() {
    shim_self->group++;
}

static void shim_copy_finish(unsigned left) {
    for (unsigned i = shim_self->copies; i-- > 0;) {
        if (shim_self->later[i].group + left < shim_self->group) {
            shim_copy_at(i);
        }
    }
}

/* ---- running ---- */

static void shim_begin_thread() {
    for (;;) {
        shim_now->kernel->run(shim_now->parameters);
        shim_give_way(SHIM_ENDED);
    }
}

static void shim_go_on(unsigned index) {
    shim_self = &shim_threads[index];
    threadIdx.x = index;
    *shim_now->thread = index;
    if (_setjmp(shim_chooser) != 0) {
        return;
    }
    if (shim_self->is_begun) {
        _longjmp(shim_self->at, 1);
    }
    ucontext_t begin;
    getcontext(&begin);
    begin.uc_stack.ss_sp = shim_stacks + (size_t)index * SHIM_STACK;
    begin.uc_stack.ss_size = SHIM_STACK;
    begin.uc_link = &shim_main;
    shim_self->is_begun = true;
    makecontext(&begin, shim_begin_thread, 0);
    setcontext(&begin);
}

/* All wait at one barrier, or all have ended; else nobody can go on. */
static shim_end shim_look(bool *out_is_ended) {
    const shim_thread *first = &shim_threads[0];
    *out_is_ended = first->state == SHIM_ENDED;
    for (unsigned i = 0; i < shim_now->threads; i++) {
        const shim_thread *t = &shim_threads[i];
        if (t->state == SHIM_AT_WARP) {
            return SHIM_STUCK;
        }
        bool is_same = t->state == first->state &&
                       (*out_is_ended || t->line == first->line);
        if (!is_same) {
            return SHIM_DIVERGED;
        }
    }
    return SHIM_DONE;
}

static shim_end shim_run_block() {
    bool is_ended = false;
    shim_end end = SHIM_DONE;
    size_t shared = __start_shim_shared
                        ? (size_t)(__stop_shim_shared - __start_shim_shared)
                        : 0;
    if (shared) {
        memset(__start_shim_shared, 0x7f, shared);
    }
    for (unsigned i = 0; i < SHIM_MAX_THREADS && i < (shim_now->threads + 31) / 32 * 32;
         i++) {
        shim_threads[i].state = SHIM_ENDED;
        shim_threads[i].copies = shim_threads[i].group = 0;
    }
    while (!is_ended && end == SHIM_DONE) {
        for (unsigned i = 0; i < shim_now->threads; i++) {
            shim_make_ready(i);
        }
        while (shim_ready_count) {
            unsigned i = (unsigned)shim_random(shim_ready_count);
            unsigned index = shim_ready[i];
            shim_ready[i] = shim_ready[--shim_ready_count];
            shim_go_on(index);
        }
        end = shim_look(&is_ended);
    }
    return end;
}

static bool shim_make_stacks() {
    if (!shim_stacks) {
        void *room = mmap(NULL, (size_t)SHIM_MAX_THREADS * SHIM_STACK,
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        shim_stacks = room == MAP_FAILED ? NULL : (char *)room;
    }
    return shim_stacks != NULL;
}

SHIM_EXPORT int shim_run(const shim_call *call) {
    if (!shim_make_stacks()) {
        return SHIM_NO_ROOM;
    }
    for (int i = 0; shim_is_running && i < SHIM_MAX_THREADS; i++) {
        shim_threads[i].is_begun = false; /* the last call ended in the midst */
    }
    shim_is_running = true;
    shim_now = call;
    shim_ready_count = 0;
    shim_random_state = call->seed;
    blockDim = { call->threads, 1, 1 };
    gridDim = { (unsigned)call->grid, 1, 1 };
    int64_t first = (int64_t)shim_random((uint64_t)call->grid);
    bool is_back = shim_random(2);
    for (int64_t i = 0; i < call->grid; i++) {
        int64_t block = (first + (is_back ? call->grid - i : i)) % call->grid;
        *call->block = block;
        blockIdx = { (unsigned)block, 0, 0 };
        shim_end end = shim_run_block();
        if (end != SHIM_DONE) {
            return end;
        }
    }
    shim_is_running = false;
    return SHIM_DONE;
}

#endif
