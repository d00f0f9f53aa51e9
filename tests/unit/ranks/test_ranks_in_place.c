/* Programs compiled from text whose outputs stand in the memory of inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/group.h"
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <unistd.h>

UNIT_WITH_LLVM

enum { N = 4, STEPS = 1000000 };

/* y = table[ids], which reports ids that are out of range; then table += d. */
static const char model[] = "module @m {\n"
                            "  graph @main(%table: f32[V], %d: f32[V], %ids: i64[B])\n"
                            "      -> (f32[B] \"y\", f32[V] \"next\") {\n"
                            "    %0 = gather %table, %ids {axis = 0} : f32[B]\n"
                            "    %1 = add %table, %d : f32[V]\n"
                            "    ret %0, %1 {in_place = [-1, 0]}\n"
                            "  }\n"
                            "}\n";

typedef struct program {
    ig_context *context;
    ig_module *module;
    ig_program *program;
} program;

static program open_program(void) {
    program p = { 0 };
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    p.context = ig_context_create(&options);
    CHECK(p.context);
    ig_status status = ig_import_memory(p.context, model, strlen(model), NULL, NULL,
                                        &p.module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(p.context));
    status = ig_compile(p.module, NULL, &p.program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(p.context));
    return p;
}

static void close_program(program *p) {
    ig_program_close(p->program);
    ig_module_close(p->module);
    ig_context_destroy(p->context);
}

typedef struct call {
    float table[N], d[N], y[2];
    int64_t ids[2];
    ig_view in[3], out[2];
} call;

static ig_view view_of(void *data, int32_t dtype, int64_t count) {
    return (ig_view){ .data = data, .dtype = dtype, .rank = 1, .dims = { count } };
}

static void begin_call(call *a) {
    *a = (call){ .table = { 1, 2, 3, 4 }, .d = { 1, 1, 1, 1 }, .ids = { 3, 0 } };
    a->in[0] = view_of(a->table, IG_F32, N);
    a->in[1] = view_of(a->d, IG_F32, N);
    a->in[2] = view_of(a->ids, IG_I64, 2);
    a->out[0] = (ig_view){ .data = a->y, .capacity = sizeof a->y };
}

static void check_table(const call *a, float first) {
    for (int i = 0; i < N; i++) {
        CHECK_MSG(a->table[i] == first + (float)i, "table[%d] is %g", i,
                  (double)a->table[i]);
    }
}

static size_t count_words(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

/* The look-up, commit, and the sum: no step copies, and no memory is had. */
TEST(a_million_steps_of_a_compiled_table) {
    program p = open_program();
    const char *plan = NULL;
    size_t size = 0;
    CHECK_OK(ig_dump(p.module, "plan", NULL, IG_FORMAT_TEXT, &plan, &size));
    CHECK_MSG(count_words(plan, "launch ") == 2 && count_words(plan, "commit") == 1 &&
                  count_words(plan, "copy") == 0,
              "%s", plan);
    CHECK(ig_program_output(p.program, 0).in_place_of == -1);
    CHECK(ig_program_output(p.program, 1).in_place_of == 0);
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = 1 };
    CHECK_OK(ig_session_create(p.program, &options, &session));
    call a;
    begin_call(&a);
    CHECK_OK(ig_session_run(session, a.in, 3, a.out, 2));
    CHECK(a.out[1].data == a.table && a.y[0] == 4 && a.y[1] == 1);
    size_t held = ig_session_memory(session);
    for (int i = 1; i < STEPS; i++) {
        CHECK_OK(ig_session_run_bound(session));
    }
    check_table(&a, STEPS + 1);
    CHECK(a.y[1] == STEPS && ig_session_memory(session) == held);
    ig_session_destroy(session);
    close_program(&p);
}
END_TEST

TEST(a_step_that_fails_leaves_every_byte) {
    program p = open_program();
    ig_session *session = NULL;
    CHECK_OK(ig_session_create(p.program, NULL, &session));
    call a;
    begin_call(&a);
    a.ids[1] = N;
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_table(&a, 1);
    a.ids[1] = 1;
    ig_session_set_deadline(session, 1);
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_CANCELLED);
    check_table(&a, 1);
    ig_session_set_deadline(session, 0);
    CHECK_OK(ig_session_run(session, a.in, 3, a.out, 2));
    check_table(&a, 2);
    ig_session_destroy(session);
    close_program(&p);
}
END_TEST

/* ---- ranks ---- */

typedef struct rank {
    const char *group;
    ig_program *program;
    uint32_t index;
    call call;
    ig_status status;
} rank;

static void *run_rank(void *argument) {
    rank *r = argument;
    ig_group *group = NULL;
    ig_group_options options = {
        .size = sizeof options, .rank = r->index, .world = 2, .timeout_ms = 20000
    };
    CHECK_OK(ig_group_open(r->group, &options, &group));
    ig_session *session = NULL;
    ig_session_options with = { .size = sizeof with, .threads = 1 };
    with.ranks = ig_group_ranks(group);
    CHECK_OK(ig_session_create(r->program, &with, &session));
    r->status = ig_session_run(session, r->call.in, 3, r->call.out, 2);
    ig_session_destroy(session);
    ig_group_close(group);
    return NULL;
}

/* None writes where one of them fails. */
TEST(two_ranks_of_which_one_fails) {
    program p = open_program();
    for (int fails = 0; fails < 2; fails++) {
        char name[64];
        pthread_t threads[2];
        rank ranks[2];
        snprintf(name, sizeof name, "shm:in-place-%d-%d", (int)getpid(), fails);
        for (uint32_t i = 0; i < 2; i++) {
            ranks[i] = (rank){ .group = name, .program = p.program, .index = i };
            begin_call(&ranks[i].call);
        }
        ranks[1].call.ids[0] = fails ? N : 0;
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(pthread_create(&threads[i], NULL, run_rank, &ranks[i]) == 0);
        }
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            CHECK((ranks[i].status == IG_OK) == !fails);
            check_table(&ranks[i].call, fails ? 1 : 2);
        }
    }
    close_program(&p);
}
END_TEST

UNIT_SUITE(ranks_in_place, a_million_steps_of_a_compiled_table,
           a_step_that_fails_leaves_every_byte, two_ranks_of_which_one_fails)
