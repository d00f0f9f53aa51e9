/* Threads of a link namespace: each has a stack that none had before.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loader, and so the first libc, allocates a thread's variables of libraries that
 * were opened late.  A libc that takes a stack from its cache itself frees those that
 * are left (get_cached_stack of glibc 2.36), and that of a namespace then has memory of
 * another heap in its lists.  With a stack that is returned to the system, the loader
 * frees them.
 *
 * So pthread_create of the namespace is the one below, for its libraries look for names
 * here first.  A thread that wants a larger stack than any before finds none in the
 * cache.
 */
#include "runtime/interp/cpython/convert.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                          void *);

/* Of this namespace. */
static struct {
    _Atomic(create_thread *) create; /* libc's */
    atomic_size_t largest;           /* bytes of a stack and its guard */
} stacks;

/* NULL: there is none. */
static create_thread *find_next(void) {
    create_thread *next = atomic_load(&stacks.create);
    if (!next) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&next, &symbol, sizeof next);
        atomic_store(&stacks.create, next);
    }
    return next;
}

/* Bytes of a stack that with its guard is a page larger than all before: where memory
 * is not overcommitted, some millions of threads end in EAGAIN. */
static size_t grow_stack(size_t wanted, size_t guard) {
    size_t before = atomic_load(&stacks.largest), both;
    do {
        both = wanted + guard > before + PAGE_BYTES ? wanted + guard
                                                    : before + PAGE_BYTES;
    } while (!atomic_compare_exchange_weak(&stacks.largest, &before, both));
    return both - guard;
}

static void set_stack(pthread_attr_t *attributes) {
    size_t bytes = 0, guard = 0;
    (void)pthread_attr_getstacksize(attributes, &bytes);
    (void)pthread_attr_getguardsize(attributes, &guard);
    (void)pthread_attr_setstacksize(attributes, grow_stack(bytes, guard));
}

static bool has_own_stack(const pthread_attr_t *given) {
    void *start = NULL;
    size_t bytes = 0; /* where there is none, they end at address 0 */
    return given && pthread_attr_getstack(given, &start, &bytes) == 0 &&
           (uintptr_t)start + bytes != 0;
}

IG_API int pthread_create(pthread_t *out_thread, const pthread_attr_t *given,
                          void *(*work)(void *), void *argument) {
    create_thread *next = find_next();
    pthread_attr_t attributes;
    if (!next || has_own_stack(given)) {
        return next ? next(out_thread, given, work, argument) : EAGAIN;
    }
    if (given) {
        attributes = *given; /* its pointers stay the caller's */
        set_stack(&attributes);
        return next(out_thread, &attributes, work, argument);
    }
    int failed = pthread_getattr_default_np(&attributes);
    if (failed) {
        return failed;
    }
    set_stack(&attributes);
    failed = next(out_thread, &attributes, work, argument);
    (void)pthread_attr_destroy(&attributes);
    return failed;
}
