/* Parts of the runtime by themselves: sharing of memory, expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/pool.h"
#include "runtime/memory.h"
#include "runtime/plan/plan.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- sharing memory ---- */

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t bound) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* The most bytes that live at one step: no plan can need less. */
static int64_t lower_bound(const ig_life *lives, size_t count, uint32_t steps) {
    int64_t max = 0;
    for (uint32_t step = 0; step < steps; step++) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            bool is_alive = lives[i].first <= step && step <= lives[i].last;
            sum += is_alive ? lives[i].bytes : 0;
        }
        max = sum > max ? sum : max;
    }
    return max;
}

static void check_no_overlap(const ig_life *lives, size_t count, int64_t total) {
    for (size_t i = 0; i < count; i++) {
        const ig_life *a = &lives[i];
        CHECK(a->offset >= 0 && a->offset % 64 == 0 && a->offset + a->bytes <= total);
        for (size_t k = 0; k < i; k++) {
            const ig_life *b = &lives[k];
            bool in_time = a->first <= b->last && b->first <= a->last;
            bool in_space = a->offset < b->offset + b->bytes &&
                            b->offset < a->offset + a->bytes;
            CHECK(!in_time || !in_space);
        }
    }
}

TEST(shared_memory_never_overlaps_and_is_tight) {
    enum { LIVES = 40, STEPS = 30 };
    ig_life lives[LIVES];
    double sum = 0;
    for (int round = 0; round < 500; round++) {
        for (uint32_t i = 0; i < LIVES; i++) {
            uint32_t first = random_below(STEPS);
            lives[i] = (ig_life){ .bytes = random_below(5000),
                                  .first = first,
                                  .last = first + random_below(STEPS - first),
                                  .id = i };
        }
        int64_t total;
        CHECK(ig_memory_plan(lives, LIVES, &total));
        check_no_overlap(lives, LIVES, total);
        double bound = (double)lower_bound(lives, LIVES, STEPS);
        CHECK((double)total <= 1.2 * bound);
        CHECK_INT(ig_memory_min(lives, LIVES), (int64_t)bound);
        sum += (double)total / bound;
    }
    CHECK_MSG(sum / 500 < 1.02, "%.3f times the lower bound", sum / 500);
}
END_TEST

TEST(a_chain_needs_two_buffers) {
    ig_life lives[20];
    for (uint32_t i = 0; i < 20; i++) {
        lives[i] = (ig_life){ .bytes = 1000, .first = i, .last = i + 1, .id = i };
    }
    int64_t total;
    CHECK(ig_memory_plan(lives, 20, &total));
    CHECK_INT(total, 2 * 1024);
    lives[0].bytes = INT64_MAX - 10;
    CHECK(!ig_memory_plan(lives, 20, &total));
    CHECK(ig_memory_plan(lives, 0, &total));
    CHECK_INT(total, 0);
}
END_TEST

/* The largest first, they need 576 bytes: 320 below, 256 beside its end, 192 above. */
TEST(an_order_that_is_not_by_size_may_need_less) {
    ig_life lives[] = {
        { .bytes = 192, .first = 3, .last = 4, .id = 0 },
        { .bytes = 256, .first = 4, .last = 6, .id = 1 },
        { .bytes = 128, .first = 2, .last = 3, .id = 2 },
        { .bytes = 320, .first = 1, .last = 2, .id = 3 },
    };
    int64_t total;
    CHECK(ig_memory_plan(lives, 4, &total));
    CHECK_INT(total, 448);
    check_no_overlap(lives, 4, total);
}
END_TEST

/* nn.MultiheadAttention's, in lines: orders by size, length or time and lifting what
 * stood too high all end at 27 of them. */
TEST(the_search_leaves_a_circle_of_orders) {
    static const struct {
        uint32_t first, last;
        int64_t lines;
    } rows[] = { { 0, 4, 6 }, { 0, 3, 5 }, { 3, 4, 5 }, { 4, 5, 8 }, { 0, 7, 6 },
                 { 5, 7, 8 }, { 6, 8, 5 }, { 8, 9, 5 }, { 9, 10, 5 } };
    enum { COUNT = IG_COUNT_OF(rows) };
    ig_life lives[COUNT];
    int64_t total;
    for (uint32_t turn = 0; turn < COUNT; turn++) { /* whatever the numbers are */
        for (uint32_t i = 0; i < COUNT; i++) {
            lives[i] = (ig_life){ .bytes = 64 * rows[i].lines,
                                  .first = rows[i].first,
                                  .last = rows[i].last,
                                  .id = (i + turn) % COUNT };
        }
        CHECK(ig_memory_plan(lives, COUNT, &total));
        CHECK_INT(total, 25 * 64);
        check_no_overlap(lives, COUNT, total);
    }
}
END_TEST

/* ---- expressions ---- */

typedef struct expr_row {
    ig_plan_code code[5];
    uint32_t count;
    bool is_good;
    int64_t expected;
} expr_row;

#define BINARY(a, b, op) { RT_INT(a), RT_INT(b), RT_OP(op) }, 3

static const expr_row expr_rows[] = {
    { BINARY(2, 3, ADD), true, 5 },
    { BINARY(INT64_MAX, 1, ADD), false, 0 },
    { BINARY(-4, 3, MUL), true, -12 },
    { BINARY(INT64_MAX, 2, MUL), false, 0 },
    { BINARY(-4, 3, MIN), true, -4 },
    { BINARY(-4, 3, MAX), true, 3 },
    { BINARY(7, 2, FLOOR), true, 3 },
    { BINARY(-7, 2, FLOOR), true, -4 },
    { BINARY(7, 0, FLOOR), false, 0 },
    { BINARY(INT64_MIN, -1, FLOOR), false, 0 },
    { BINARY(7, 2, CEIL), true, 4 },
    { BINARY(-7, 2, CEIL), true, -3 },
    { BINARY(7, 0, CEIL), false, 0 },
    { BINARY(7, -2, FLOOR), true, -4 },
    { BINARY(7, -2, CEIL), true, -3 },
    { BINARY(-8, -2, EXACT), true, 4 },
    { BINARY(8, 2, EXACT), true, 4 },
    { BINARY(9, 2, EXACT), false, 0 },
    { BINARY(0, 0, EXACT), false, 0 },
    { BINARY(1, 5, BCAST), true, 5 },
    { BINARY(4, 1, BCAST), true, 4 },
    { BINARY(4, 5, BCAST), true, 4 },
    { { RT_SYM(0), RT_INT(3), RT_SYM(1), RT_OP(MUL), RT_OP(ADD) }, 5, true, 310 },
};

TEST(expressions_evaluate_with_checks) {
    const int64_t symbols[] = { 10, 100 };
    for (size_t i = 0; i < IG_COUNT_OF(expr_rows); i++) {
        const expr_row *row = &expr_rows[i];
        ig_plan_range range = { 0, row->count };
        ig_plan plan = { .codes = row->code, .exprs = &range, .exprs_count = 1 };
        int64_t value = 0;
        CHECK_INT(ig_plan_evaluate(&plan, 0, symbols, &value), row->is_good);
        CHECK(!row->is_good || value == row->expected);
        bool is_constant = ig_plan_expr_is_constant(&plan, 0, &value);
        CHECK_INT(is_constant, row->is_good && row->count == 3);
    }
}
END_TEST

/* ---- seats ---- */

/* In the first task thread 1 goes to the caller's CPU, where both would take turns. */
typedef struct seat_case {
    int seen[2];
    int crowded; /* CPU that thread 1 goes to, or -1 */
    atomic_int begun;
} seat_case;

static void look_around(void *task, int index) {
    seat_case *c = task;
    while (index == 0 && !atomic_load(&c->begun)) {
        sched_yield(); /* or the caller would take the other share too */
    }
    atomic_store(&c->begun, index == 1);
    if (c->crowded >= 0 && index == 1) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)c->crowded, &one);
        CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    }
    c->seen[index] = sched_getcpu();
}

TEST(threads_leave_each_others_cpu) {
    cpu_set_t allowed, one;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (CPU_COUNT(&allowed) < 2) {
        printf("skip threads_leave_each_others_cpu: one CPU\n");
        return;
    }
    ig_thread_pool_options options = { .size = sizeof options, .threads = 2 };
    ig_thread_pool *pool = NULL;
    CHECK_OK(ig_thread_pool_create(&options, &pool));
    seat_case c = { { -1, -1 }, sched_getcpu(), 0 };
    CPU_ZERO(&one);
    CPU_SET((size_t)c.crowded, &one); /* the caller stays, so that the test can tell */
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK(ig_thread_pool_claim(pool, 1e9));
    ig_thread_pool_run(pool, look_around, &c);
    CHECK_INT(c.seen[0], c.seen[1]);
    c.crowded = -1;
    ig_thread_pool_run(pool, look_around, &c);
    CHECK(c.seen[0] != c.seen[1]);
    ig_thread_pool_release(pool);
    ig_thread_pool_destroy(pool);
    CHECK_INT(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}
END_TEST

/* ---- shares ---- */

enum { SHARES = 3 };

static void count_share(void *task, int index) {
    ((int64_t *)task)[16 * index]++; /* no two threads have one share */
}

TEST(each_share_runs_once_whoever_has_it) {
    enum { RUNS = 20000 };
    for (int spins = 0; spins < 2; spins++) {
        ig_thread_pool_options options = { .size = sizeof options,
                                           .threads = SHARES,
                                           .spin_ns = spins ? 5000 : -1 };
        ig_thread_pool *pool = NULL;
        int64_t counts[16 * SHARES] = { 0 };
        CHECK_OK(ig_thread_pool_create(&options, &pool));
        CHECK(ig_thread_pool_claim(pool, 1e9));
        for (int64_t run = 1; run <= RUNS; run++) {
            ig_thread_pool_run(pool, count_share, counts);
            for (int i = 0; i < SHARES; i++) {
                CHECK_INT(counts[16 * i], run);
            }
        }
        ig_thread_pool_release(pool);
        ig_thread_pool_destroy(pool);
    }
}
END_TEST

TEST(threads_that_sleep_are_not_woken_for_little) {
    ig_thread_pool_options options = { .size = sizeof options,
                                       .threads = 2,
                                       .spin_ns = -1 };
    ig_thread_pool *pool = NULL;
    CHECK_OK(ig_thread_pool_create(&options, &pool));
    usleep(100000);
    CHECK(!ig_thread_pool_claim(pool, 1000));
    CHECK(ig_thread_pool_claim(pool, 1e6));
    ig_thread_pool_release(pool);
    ig_thread_pool_destroy(pool);
}
END_TEST

UNIT_SUITE(runtime_parts, each_share_runs_once_whoever_has_it,
           threads_that_sleep_are_not_woken_for_little, threads_leave_each_others_cpu,
           shared_memory_never_overlaps_and_is_tight, a_chain_needs_two_buffers,
           an_order_that_is_not_by_size_may_need_less,
           the_search_leaves_a_circle_of_orders, expressions_evaluate_with_checks)
