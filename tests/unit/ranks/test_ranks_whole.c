/* Compiled programs that meet with whole tensors: sums and joins, the same bits on all
 * ranks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/group.h"
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { WORLD = 3, MAX = 7 };

/* Sums of an f32 and an f64 tensor in one meeting, and the first one joined. */
static const char model[] =
    "module @m {\n"
    "  symbol N {min = 0}\n"
    "  graph @main(%x: f32[N], %y: f64[2]) -> (f32[N] \"a\", f64[2] \"b\", f32[3*N] "
    "\"c\") {\n"
    "    %0, %1 = all_reduce %x, %y {world = 3}\n"
    "    %2 = all_gather %x {world = 3}\n"
    "    ret %0, %1, %2\n"
    "  }\n"
    "}\n";

typedef struct rank {
    const char *group;
    ig_program *program;
    uint32_t index, world;
    int64_t count;
    float x[MAX], sums[MAX], all[WORLD * MAX];
    double y[2], totals[2];
    ig_status status;
    char why[512];
} rank;

static void *run_rank(void *argument) {
    rank *r = argument;
    ig_group *group = NULL;
    ig_session *session = NULL;
    ig_group_options options = {
        .size = sizeof options, .rank = r->index, .world = r->world, .timeout_ms = 20000
    };
    CHECK_OK(ig_group_open(r->group, &options, &group));
    ig_session_options with = { .size = sizeof with, .ranks = ig_group_ranks(group) };
    CHECK_OK(ig_session_create(r->program, &with, &session));
    ig_view in[] = {
        { .data = r->x, .dtype = IG_F32, .rank = 1, .dims = { r->count } },
        { .data = r->y, .dtype = IG_F64, .rank = 1, .dims = { 2 } },
    };
    ig_view out[] = { { .data = r->sums, .capacity = sizeof r->sums },
                      { .data = r->totals, .capacity = sizeof r->totals },
                      { .data = r->all, .capacity = sizeof r->all } };
    r->status = ig_session_run(session, in, 2, out, 3);
    size_t held = ig_session_memory(session);
    if (r->status == IG_OK) {
        r->status = ig_session_run(session, in, 2, out, 3);
        CHECK_INT(ig_session_memory(session), held);
    }
    snprintf(r->why, sizeof r->why, "%s", ig_session_error(session));
    ig_session_destroy(session);
    ig_group_close(group);
    return NULL;
}

typedef struct fixture {
    ig_context *context;
    ig_module *module;
    ig_program *program;
} fixture;

static fixture setup(void) {
    fixture f = { 0 };
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    f.context = ig_context_create(&options);
    ig_status status = ig_import_memory(f.context, model, strlen(model), NULL, NULL,
                                        &f.module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(f.context));
    status = ig_compile(f.module, NULL, &f.program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(f.context));
    return f;
}

static void teardown(fixture *f) {
    ig_program_close(f->program);
    ig_module_close(f->module);
    ig_context_destroy(f->context);
}

/* Values whose sum depends on the order in which they are added. */
static float value_of(uint32_t index, int64_t i) {
    static const float first[] = { 1e8f, 1.25f, -1e8f };
    return i == 1 ? (index == 1 ? NAN : 1) : first[(index + i) % 3];
}

static void run_all(const fixture *f, rank *ranks, uint32_t world, int64_t count) {
    char name[64];
    pthread_t threads[WORLD];
    snprintf(name, sizeof name, "shm:whole-%d-%d", (int)getpid(), (int)count);
    for (uint32_t r = 0; r < world; r++) {
        ranks[r] = (rank){ .group = name,
                           .program = f->program,
                           .index = r,
                           .world = world,
                           .count = count,
                           .y = { 1e16 * (r == 1 ? -1 : 1), r } };
        for (int64_t i = 0; i < count; i++) {
            ranks[r].x[i] = value_of(r, i);
        }
        CHECK(pthread_create(&threads[r], NULL, run_rank, &ranks[r]) == 0);
    }
    for (uint32_t r = 0; r < world; r++) {
        CHECK(pthread_join(threads[r], NULL) == 0);
    }
}

static void check_rank(const rank *r) {
    CHECK_MSG(r->status == IG_OK, "%s", r->why);
    for (int64_t i = 0; i < r->count; i++) {
        double total = 0;
        for (uint32_t from = 0; from < WORLD; from++) {
            total += (double)value_of(from, i);
        }
        CHECK(r->sums[i] == (float)total || (isnan(r->sums[i]) && isnan(total)));
    }
    CHECK(r->totals[0] == 1e16 - 1e16 + 1e16 && r->totals[1] == 3);
    for (int64_t i = 0; i < WORLD * r->count; i++) {
        float want = value_of((uint32_t)(i / r->count), i % r->count);
        CHECK(r->all[i] == want || (isnan(r->all[i]) && isnan(want)));
    }
}

TEST(sums_are_those_of_the_order_of_ranks) {
    static const int64_t counts[] = { 0, 1, 2, 3, MAX };
    fixture f = setup();
    for (size_t i = 0; i < IG_COUNT_OF(counts); i++) {
        rank ranks[WORLD];
        run_all(&f, ranks, WORLD, counts[i]);
        for (uint32_t r = 0; r < WORLD; r++) {
            check_rank(&ranks[r]);
            CHECK(memcmp(ranks[r].sums, ranks[0].sums, sizeof ranks[r].sums) == 0);
        }
    }
    teardown(&f);
}
END_TEST

TEST(a_session_of_another_world_is_refused) {
    fixture f = setup();
    rank ranks[WORLD];
    run_all(&f, ranks, 2, 1);
    CHECK(ranks[0].status == IG_INVALID || ranks[1].status == IG_INVALID);
    CHECK(strstr(ranks[0].why, "one of 3 ranks") || strstr(ranks[1].why, "one of 3"));
    teardown(&f);
}
END_TEST

UNIT_SUITE(ranks_whole, sums_are_those_of_the_order_of_ranks,
           a_session_of_another_world_is_refused)
