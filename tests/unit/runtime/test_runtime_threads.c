/* Thread pools: same bits for any number of threads, sessions side by side, stopping.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/platform/platform_cpu.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK_ERROR(session, words)                                       \
    CHECK_MSG(strstr(ig_session_error(session), (words)) != NULL, "'%s'", \
              ig_session_error(session))

static ig_session *create(ig_program *program, ig_thread_pool *pool, int threads) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options,
                                   .pool = pool,
                                   .threads = threads };
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

/* ---- who runs what ---- */

/* who[t] = the worker, times[t] = how often tile t ran.  `launches` launches in one
 * phase, of B tiles each. */
static rt_case *who_case(uint32_t launches) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), dim = RT_EXPR(c, RT_SYM(batch));
    (void)rt_input(c, "x", IG_U8, 1, &dim);
    for (uint32_t i = 0; i < launches; i++) {
        uint32_t who = rt_output(c, "who", IG_I64, 1, &dim);
        uint32_t times = rt_output(c, "times", IG_I64, 1, &dim);
        rt_launch(c, "who", RT_OPERANDS(c, RT_AT(who), RT_AT(times)), RT_NO_LIST, dim,
                  RT_EXPR(c, RT_SYM(batch), RT_INT(10000), RT_OP(MUL)));
        IG_LAST(&c->w.steps).flags = i > 0 ? IG_STEP_JOINS : 0;
    }
    return c;
}

enum { TILES = 1000, LAUNCHES = 3 };

static int64_t results[2 * LAUNCHES][TILES];

static int count_workers(const int64_t *who, int tiles) {
    int count = 0;
    for (int i = 0; i < tiles; i++) {
        count += i == 0 || who[i] != who[i - 1]; /* ranges are contiguous */
    }
    return count;
}

TEST(every_tile_runs_once_and_every_worker_has_some) {
    rt_case *c = who_case(LAUNCHES);
    ig_program *program = rt_open(c, NULL);
    static char x[TILES];
    for (int threads = 1; threads <= 7; threads++) {
        ig_session *session = create(program, NULL, threads);
        for (int tiles = 0; tiles <= TILES; tiles = tiles * 3 + 1) {
            memset(results, 0, sizeof results);
            ig_view in = rt_view(x, IG_U8, tiles), out[2 * LAUNCHES];
            for (int i = 0; i < 2 * LAUNCHES; i++) {
                out[i] = rt_room(results[i], sizeof results[i]);
            }
            CHECK_OK(ig_session_run(session, &in, 1, out, 2 * LAUNCHES));
            int total = 0;
            for (int i = 0; i < LAUNCHES; i++) {
                for (int t = 0; t < TILES; t++) {
                    CHECK_INT(results[2 * i + 1][t], t < tiles);
                }
                total += count_workers(results[2 * i], tiles);
            }
            /* The three launches lie on one line that is cut into equal parts. */
            CHECK(tiles < 300 || total >= threads);
            CHECK(total <= threads + LAUNCHES - 1 || tiles == 0);
        }
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(cheap_launches_stay_with_the_caller) {
    rt_case *c = who_case(1);
    c->w.variants.items[0].cost = RT_EXPR(c, RT_INT(100));
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, NULL, 4);
    static char x[TILES];
    ig_view in = rt_view(x, IG_U8, TILES);
    ig_view out[2] = { rt_room(results[0], sizeof results[0]),
                       rt_room(results[1], sizeof results[1]) };
    CHECK_OK(ig_session_run(session, &in, 1, out, 2));
    CHECK_INT(count_workers(results[0], TILES), 1);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(bits_do_not_depend_on_threads) {
    rt_case *c = rt_scale_case(10000);
    ig_program *program = rt_open(c, NULL);
    enum { BATCH = 1024 };
    static float x[BATCH * 16], y[8][BATCH * 16];
    for (int i = 0; i < BATCH * 16; i++) {
        x[i] = 1.0f / (float)(i + 1) * 1e-38f; /* many of them denormal */
    }
    for (int threads = 1; threads <= 7; threads++) {
        ig_session *session = create(program, NULL, threads);
        ig_view in = rt_view2(x, IG_F32, BATCH, 16);
        ig_view out = rt_room(y[threads], sizeof y[threads]);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK(memcmp(y[1], y[threads], sizeof y[1]) == 0);
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- the floating-point environment ---- */

/* Flush, denormals are zero, round to zero; workers inherit it. */
#if defined(__aarch64__)
enum { OTHER_ENV = 0x1c00000 };
#else
enum { OTHER_ENV = 0xffc0 };
#endif

TEST(every_worker_has_the_same_float_environment) {
    rt_case *c = rt_begin();
    uint32_t n = RT_EXPR(c, RT_INT(64));
    uint32_t y = rt_output(c, "y", IG_I64, 1, &n);
    rt_launch(c, "env", RT_OPERANDS(c, RT_AT(y)), RT_NO_LIST, n,
              RT_EXPR(c, RT_INT(1000000)));
    ig_program *program = rt_open(c, NULL);
    uint32_t before = ig_float_env_read();
    ig_float_env_write(OTHER_ENV);
    ig_session *session = create(program, NULL, 4);
    ig_view out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, NULL, 0, &out, 1));
    uint32_t after = ig_float_env_read();
    ig_float_env_write(before);
    CHECK_INT(after & ~(uint32_t)IG_FLOAT_ENV_FLAGS, OTHER_ENV);
    for (int i = 0; i < 64; i++) {
        CHECK(ig_float_env_is_right((uint32_t)((int64_t *)out.data)[i]));
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- sessions side by side ---- */

typedef struct runner {
    ig_program *program;
    ig_thread_pool *pool;
    pthread_t thread;
    int index, failures;
} runner;

enum { RUNNERS = 8, ROUNDS = 60, MAX_BATCH = 40 };

static void *run_many(void *argument) {
    runner *r = argument;
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .pool = r->pool };
    if (ig_session_create(r->program, &options, &session) != IG_OK) {
        r->failures++;
        return NULL;
    }
    static _Thread_local float x[MAX_BATCH * 16], y[MAX_BATCH * 16];
    for (int i = 0; i < ROUNDS; i++) {
        int batch = 1 + (i * 7 + r->index * 11) % MAX_BATCH;
        for (int k = 0; k < batch * 16; k++) {
            x[k] = (float)(k + i + r->index);
        }
        ig_view in = rt_view2(x, IG_F32, batch, 16), out = rt_room(y, sizeof y);
        if (ig_session_run(session, &in, 1, &out, 1) != IG_OK) {
            r->failures++;
        }
        for (int k = 0; k < batch * 16; k++) {
            r->failures += y[k] != 2 * x[k];
        }
    }
    ig_session_destroy(session);
    return NULL;
}

static void run_side_by_side(const ig_thread_pool_options *options) {
    rt_case *c = rt_scale_case(10000);
    ig_program *program = rt_open(c, NULL);
    ig_thread_pool *pool = NULL;
    if (options) {
        CHECK_OK(ig_thread_pool_create(options, &pool));
    }
    runner runners[RUNNERS];
    for (int i = 0; i < RUNNERS; i++) {
        runners[i] = (runner){ .program = program, .pool = pool, .index = i };
        CHECK_INT(pthread_create(&runners[i].thread, NULL, run_many, &runners[i]), 0);
    }
    for (int i = 0; i < RUNNERS; i++) {
        pthread_join(runners[i].thread, NULL);
        CHECK_INT(runners[i].failures, 0);
    }
    ig_thread_pool_destroy(pool);
    ig_program_close(program);
    rt_end(c);
}

TEST(sessions_share_a_program) {
    run_side_by_side(NULL);
}
END_TEST

TEST(sessions_share_a_pool) {
    ig_thread_pool_options options = { .size = sizeof options, .threads = 3 };
    run_side_by_side(&options);
    options.spin_ns = -1; /* sleeping at once finds lost wake-ups */
    run_side_by_side(&options);
    options.pin = 1;
    options.spin_ns = 1000;
    run_side_by_side(&options);
    options.threads = 0;
    run_side_by_side(&options);
}
END_TEST

TEST(pool_outlives_its_last_session) {
    rt_case *c = rt_scale_case(10000);
    ig_program *program = rt_open(c, NULL);
    ig_thread_pool_options options = { .size = sizeof options, .threads = 2 };
    ig_thread_pool *pool = NULL;
    CHECK_OK(ig_thread_pool_create(&options, &pool));
    CHECK_INT(ig_thread_pool_threads(pool), 2);
    ig_session *session = create(program, pool, 0);
    ig_thread_pool_destroy(pool);
    float x[64] = { 1 };
    ig_view in = rt_view2(x, IG_F32, 4, 16), out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    options.threads = 100000;
    CHECK_STATUS(ig_thread_pool_create(&options, &pool), IG_INVALID);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- threads of the caller ---- */

static atomic_int guest_calls;

static void run_as_guest(void *user, void (*fn)(void *task, int index), void *task,
                         int n) {
    (void)user;
    for (int i = n; i-- > 0;) {
        atomic_fetch_add(&guest_calls, 1);
        fn(task, i);
    }
}

TEST(threads_of_the_caller) {
    rt_case *c = who_case(1);
    ig_program *program = rt_open(c, NULL);
    ig_thread_pool_options options = { .size = sizeof options,
                                       .threads = 5,
                                       .run = run_as_guest };
    ig_thread_pool *pool = NULL;
    CHECK_OK(ig_thread_pool_create(&options, &pool));
    ig_session *session = create(program, pool, 0);
    static char x[TILES];
    memset(results, 0, sizeof results);
    ig_view in = rt_view(x, IG_U8, TILES);
    ig_view out[2] = { rt_room(results[0], sizeof results[0]),
                       rt_room(results[1], sizeof results[1]) };
    CHECK_OK(ig_session_run(session, &in, 1, out, 2));
    CHECK_INT(atomic_load(&guest_calls), 5);
    CHECK_INT(count_workers(results[0], TILES), 5);
    ig_session_destroy(session);
    ig_thread_pool_destroy(pool);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- stopping ---- */

/* 1000 launches, each of about a millisecond. */
static rt_case *long_case(void) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t y = rt_output(c, "y", IG_I64, 1, &one);
    for (int i = 0; i < 1000; i++) {
        rt_launch(c, "spin", RT_OPERANDS(c, RT_AT(y)),
                  RT_LIST(c, RT_EXPR(c, RT_INT(20000))), one, IG_NONE);
    }
    return c;
}

static void *cancel_soon(void *session) {
    usleep(20000);
    ig_session_cancel(session);
    return NULL;
}

TEST(cancelled_runs_stop_and_the_session_lives) {
    rt_case *c = long_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, NULL, 1);
    ig_view out = rt_room(NULL, 0);
    ig_session_cancel(session); /* nothing runs: no effect */
    ig_session_set_deadline(session, 5000000);
    CHECK_STATUS(ig_session_run(session, NULL, 0, &out, 1), IG_CANCELLED);
    CHECK_ERROR(session, "deadline");
    ig_session_set_deadline(session, 0);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, cancel_soon, session), 0);
    CHECK_STATUS(ig_session_run(session, NULL, 0, &out, 1), IG_CANCELLED);
    CHECK_ERROR(session, "cancelled");
    pthread_join(thread, NULL);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- started runs ---- */

TEST(started_runs_give_what_runs_give) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *sessions[2];
    static float x[2][64 * 16];
    ig_view in[2], out[2];
    for (int i = 0; i < 2; i++) {
        sessions[i] = create(program, NULL, 1);
        CHECK_INT(ig_session_has_ended(sessions[i]), 1);
    }
    for (int batch = 0; batch <= 64; batch += 8) {
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < batch * 16; k++) {
                x[i][k] = (float)(k + batch - 100 * i);
            }
            in[i] = rt_view2(x[i], IG_F32, batch, 16);
            out[i] = rt_room(NULL, 0);
            CHECK_OK(ig_session_start(sessions[i], &in[i], 1, &out[i], 1));
        }
        for (int i = 0; i < 2; i++) {
            CHECK_OK(ig_session_wait(sessions[i]));
            CHECK_INT(ig_session_has_ended(sessions[i]), 1);
            CHECK_INT(out[i].dims[0], batch);
            for (int k = 0; k < batch * 16; k++) {
                CHECK(((float *)out[i].data)[k] == 2 * x[i][k]);
            }
        }
    }
    CHECK_OK(ig_session_run(sessions[0], in, 1, out, 1));
    CHECK_STATUS(ig_session_wait(sessions[0]), IG_INVALID);
    CHECK_ERROR(sessions[0], "no run was started");
    in[1].dtype = IG_I64;
    CHECK_STATUS(ig_session_start(sessions[1], &in[1], 1, &out[1], 1), IG_INVALID);
    CHECK_STATUS(ig_session_wait(sessions[1]), IG_INVALID);
    for (int i = 0; i < 2; i++) {
        ig_session_destroy(sessions[i]);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(a_started_run_has_the_session) {
    rt_case *c = long_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, NULL, 1);
    ig_view out = rt_room(NULL, 0);
    CHECK_OK(ig_session_start(session, NULL, 0, &out, 1));
    CHECK_INT(ig_session_has_ended(session), 0);
    CHECK_STATUS(ig_session_start(session, NULL, 0, &out, 1), IG_INVALID);
    CHECK_STATUS(ig_session_bind(session, NULL, 0, &out, 1), IG_INVALID);
    CHECK_STATUS(ig_session_run_bound(session), IG_INVALID);
    CHECK_STATUS(ig_session_run(session, NULL, 0, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "not waited for");
    ig_session_cancel(session); /* counts, whether its thread has begun or not */
    CHECK_STATUS(ig_session_wait(session), IG_CANCELLED);
    CHECK_ERROR(session, "cancelled");
    ig_session_set_deadline(session, 5000000);
    CHECK_OK(ig_session_start(session, NULL, 0, &out, 1));
    CHECK_STATUS(ig_session_wait(session), IG_CANCELLED);
    CHECK_ERROR(session, "deadline");
    ig_session_set_deadline(session, 0);
    CHECK_OK(ig_session_start(session, NULL, 0, &out, 1));
    ig_session_destroy(session); /* stops it: a second has not passed */
    ig_program_close(program);
    rt_end(c);
}
END_TEST

UNIT_SUITE(runtime_threads, every_tile_runs_once_and_every_worker_has_some,
           cheap_launches_stay_with_the_caller, bits_do_not_depend_on_threads,
           every_worker_has_the_same_float_environment, sessions_share_a_program,
           sessions_share_a_pool, pool_outlives_its_last_session, threads_of_the_caller,
           cancelled_runs_stop_and_the_session_lives, started_runs_give_what_runs_give,
           a_started_run_has_the_session)
