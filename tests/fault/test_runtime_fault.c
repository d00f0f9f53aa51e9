/* Memory runs out at every place in turn; and in steady state none is asked for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The allocating functions of libc are replaced here by ones that count and can be told
 * to fail once.  Sanitizers replace them too, so under these the tests are not built.
 */
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED
#endif

#ifdef IS_SANITIZED

int main(void) {
    printf("skip: memory faults: a sanitizer has its own allocator\n");
    printf("0 passed, 0 failed, 1 skipped\n");
    return 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- libc, with faults ---- */

static atomic_bool is_counting;
static atomic_long calls, locks; /* since counting began */
static atomic_long fail_at;      /* this call fails; 0: none */
static atomic_long live;         /* blocks and mappings */

static bool may_allocate(void) {
    return !atomic_load(&is_counting) ||
           atomic_fetch_add(&calls, 1) + 1 != atomic_load(&fail_at);
}

static void *count_live(void *block) {
    if (block && atomic_load(&is_counting)) {
        atomic_fetch_add(&live, 1);
    }
    return block;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

__attribute__((visibility("default"))) void *malloc(size_t size) {
    return may_allocate() ? count_live(__libc_malloc(size)) : NULL;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    return may_allocate() ? count_live(__libc_calloc(count, size)) : NULL;
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size) {
    if (!may_allocate()) {
        return NULL;
    }
    void *moved = __libc_realloc(block, size);
    return block ? moved : count_live(moved);
}

__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment,
                                                          size_t size) {
    *out = may_allocate() ? count_live(__libc_memalign(alignment, size)) : NULL;
    return *out ? 0 : ENOMEM;
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment,
                                                           size_t size) {
    return may_allocate() ? count_live(__libc_memalign(alignment, size)) : NULL;
}

__attribute__((visibility("default"))) void free(void *block) {
    if (block && atomic_load(&is_counting)) {
        atomic_fetch_sub(&live, 1);
    }
    __libc_free(block);
}

__attribute__((visibility("default"))) void *mmap(void *address, size_t size,
                                                  int access, int flags, int file,
                                                  off_t offset) {
    if (!may_allocate()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    long result = syscall(SYS_mmap, address, size, access, flags, file, offset);
    void *memory = (void *)result;
    return memory == MAP_FAILED ? memory : count_live(memory);
}

__attribute__((visibility("default"))) int munmap(void *address, size_t size) {
    if (atomic_load(&is_counting)) {
        atomic_fetch_sub(&live, 1);
    }
    return (int)syscall(SYS_munmap, address, size);
}

__attribute__((visibility("default"))) int mprotect(void *address, size_t size,
                                                    int access) {
    if (!may_allocate()) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, address, size, access);
}

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*start)(void *), void *argument);

__attribute__((visibility("default"))) int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
    void *argument) {
    static create_fn *real;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &symbol, sizeof real);
    }
    return may_allocate() ? real(thread, attributes, start, argument) : EAGAIN;
}

typedef int lock_fn(pthread_mutex_t *mutex);

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static lock_fn *real;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        memcpy(&real, &symbol, sizeof real);
    }
    atomic_fetch_add(&locks, atomic_load(&is_counting));
    return real(mutex);
}

static void begin_counting(long fails) {
    atomic_store(&calls, 0);
    atomic_store(&locks, 0);
    atomic_store(&live, 0);
    atomic_store(&fail_at, fails);
    atomic_store(&is_counting, true);
}

/* True when the fault was reached. */
static bool end_counting(void) {
    atomic_store(&is_counting, false);
    long at = atomic_load(&fail_at);
    return at > 0 && atomic_load(&calls) >= at;
}

/* ---- the case: a chain with temporaries, rows, and weights ---- */

static rt_case *fault_case(void) {
    static float k[64];
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), r = rt_rows_symbol(c, "r");
    uint32_t dim = RT_EXPR(c, RT_SYM(batch)), one = RT_EXPR(c, RT_INT(1));
    uint32_t bytes = RT_EXPR(c, RT_SYM(batch), RT_INT(4), RT_OP(MUL));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t w = rt_constant(c, "w", k, sizeof k);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, bytes, 0, 3);
    uint32_t own = rt_buffer(c, IG_SPACE_WORKER,
                             RT_EXPR(c, RT_SYM(r), RT_INT(4), RT_OP(MUL)), 2, 3);
    rt_output_of(c, "w again", IG_F32, 1, &one, w);
    uint32_t rows = RT_EXPR(c, RT_SYM(r)), cost = RT_EXPR(c, RT_INT(50000));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(t), RT_AT(x), RT_AT(x)),
              RT_LIST(c, dim, one), dim, cost);
    ig_plan_step step = rt_step(c, IG_STEP_rows, "rows");
    step.value = dim;
    step.block = RT_EXPR(c, RT_INT(8));
    step.symbol = r;
    step.body_count = 2;
    rt_push(c, step);
    ig_plan_operand from = rt_operand(t), to = rt_operand(y);
    from.row_stride = to.row_stride = RT_EXPR(c, RT_INT(4));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(own), from, from), RT_LIST(c, rows, one),
              rows, cost);
    rt_launch(c, "add", RT_OPERANDS(c, to, RT_AT(own), from), RT_LIST(c, rows, one),
              rows, cost);
    rt_pack(c);
    return c;
}

static ig_status run_batch(ig_session *session, int64_t batch) {
    static float x[256], y[256];
    x[0] = x[batch - 1] = (float)batch;
    ig_view in = rt_view(x, IG_F32, batch);
    ig_view out[] = { rt_room(y, sizeof y), rt_room(NULL, 0) };
    ig_status status = ig_session_run(session, &in, 1, out, 2);
    if (status == IG_OK && y[batch - 1] != 6 * (float)batch) {
        return IG_INTERNAL;
    }
    return status;
}

/* Opens, creates, runs two shapes; the first failure ends it. */
static ig_status run_all(const char *path, ig_program_options options, int threads) {
    ig_program *program = NULL;
    ig_session *session = NULL;
    options.size = sizeof options;
    ig_status status = ig_program_open(path, &options, &program);
    if (status == IG_OK) {
        ig_session_options with = { .size = sizeof with, .threads = threads };
        status = ig_session_create(program, &with, &session);
    }
    for (int64_t batch = 20; batch <= 200 && status == IG_OK; batch *= 10) {
        status = run_batch(session, batch);
        if (status == IG_LIMIT) {
            /* The session survives; with memory again it runs. */
            ig_status again = run_batch(session, batch);
            status = again == IG_OK ? IG_LIMIT : IG_INTERNAL;
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    return status;
}

static long sweep(ig_program_options options, int threads) {
    char path[] = "/tmp/ingot-fault-XXXXXX", why[128];
    int file = mkstemp(path);
    rt_case *c = fault_case();
    ig_file_part part = { c->bytes, c->size };
    CHECK_OK(ig_file_publish(path, &part, 1, why));
    close(file);
    CHECK_OK(run_all(path, options, threads)); /* libc allocates its own things once */
    long n = 0;
    bool is_reached = true;
    while (is_reached) {
        begin_counting(++n);
        ig_status status = run_all(path, options, threads);
        is_reached = end_counting();
        CHECK_MSG(status == (is_reached ? IG_LIMIT : IG_OK) ||
                      (is_reached && (status == IG_IO || status == IG_UNSUPPORTED ||
                                      status == IG_OK)),
                  "fault %ld: %s", n, ig_status_name(status));
        /* Threads leave memory of libc's behind for the next ones. */
        CHECK_MSG(threads > 1 || atomic_load(&live) == 0, "fault %ld: %ld blocks leak",
                  n, atomic_load(&live));
    }
    unlink(path);
    rt_end(c);
    return n - 1;
}

TEST(every_allocation_may_fail) {
    CHECK(sweep((ig_program_options){ .load = IG_LOAD_MAPPED }, 1) > 10);
}
END_TEST

TEST(every_allocation_may_fail_with_large_pages) {
    CHECK(sweep((ig_program_options){ .load = IG_LOAD_HUGEPAGE }, 1) > 10);
}
END_TEST

TEST(every_allocation_may_fail_with_threads) {
    CHECK(sweep((ig_program_options){ .load = IG_LOAD_MAPPED }, 3) > 12);
}
END_TEST

TEST(steady_state_allocates_nothing_and_takes_no_lock) {
    for (int threads = 1; threads <= 3; threads++) {
        rt_case *c = fault_case();
        ig_program *program = rt_open(c, NULL);
        ig_session *session = NULL;
        ig_session_options with = { .size = sizeof with, .threads = threads };
        CHECK_OK(ig_session_create(program, &with, &session));
        for (int64_t batch = 1; batch <= 8; batch++) {
            CHECK_OK(run_batch(session, batch * 25));
        }
        ig_status status = IG_OK;
        begin_counting(0);
        for (int64_t i = 0; i < 100 && status == IG_OK; i++) {
            status = run_batch(session, (1 + i % 8) * 25);
        }
        end_counting();
        CHECK_OK(status);
        CHECK_INT(atomic_load(&calls), 0);
        CHECK_INT(atomic_load(&locks), 0);
        ig_session_destroy(session);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

UNIT_SUITE(runtime_fault, every_allocation_may_fail,
           every_allocation_may_fail_with_large_pages,
           every_allocation_may_fail_with_threads,
           steady_state_allocates_nothing_and_takes_no_lock)

#endif
