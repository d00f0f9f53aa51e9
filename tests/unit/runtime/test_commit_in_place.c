/* Outputs that stand in an input's memory, and the commit step before which nothing is
 * written there.  SPDX-License-Identifier: Apache-2.0 */
#include "ingot/group.h"
#include "runtime/session/session.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <unistd.h>

enum { COMMIT = 1, ADD = 2, N = 4 };

typedef struct table_case {
    rt_case *c;
    uint32_t table, ids, d, y;
} table_case;

/* y = table[ids], which reports ids that are out of range; then table += d. */
static table_case begin_table(void) {
    table_case t = { .c = rt_begin() };
    rt_case *c = t.c;
    uint32_t four = RT_EXPR(c, RT_INT(N));
    t.table = rt_input(c, "table", IG_F32, 1, &four);
    t.ids = rt_input(c, "ids", IG_I64, 1, &four);
    t.d = rt_input(c, "d", IG_F32, 1, &four);
    t.y = rt_output(c, "y", IG_F32, 1, &four);
    rt_output_of(c, "next", IG_F32, 1, &four, t.table);
    c->w.outputs.items[1].in_place_of = 0;
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(t.y), RT_AT(t.table), RT_AT(t.ids)),
              RT_LIST(c, four), four, IG_NONE);
    rt_push(c, rt_step(c, IG_STEP_commit, "commit"));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(t.table), RT_AT(t.d), RT_AT(t.table)),
              RT_LIST(c, four, four), IG_NONE, IG_NONE);
    c->w.steps.items[ADD].outs = 1; /* the last one */
    return t;
}

static ig_session *create(ig_program *program, ig_ranks *ranks) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = 1 };
    options.ranks = ranks;
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

static void check_error(const ig_session *session, const char *words) {
    CHECK_MSG(strstr(ig_session_error(session), words) != NULL, "'%s'",
              ig_session_error(session));
}

typedef struct call {
    float table[N], d[N], y[N];
    int64_t ids[N];
    ig_view in[3], out[2];
} call;

static void begin_call(call *a) {
    *a = (call){ .table = { 1, 2, 3, 4 }, .d = { 1, 1, 1, 1 }, .ids = { 3, 0, 1, 2 } };
    a->in[0] = rt_view(a->table, IG_F32, N);
    a->in[1] = rt_view(a->ids, IG_I64, N);
    a->in[2] = rt_view(a->d, IG_F32, N);
    a->out[0] = rt_room(a->y, sizeof a->y);
    a->out[1] = rt_room(NULL, 0);
}

static void check_table(const call *a, float first) {
    for (int i = 0; i < N; i++) {
        CHECK(a->table[i] == first + (float)i);
    }
}

/* ---- runs ---- */

static int copies;

static ig_status count_copy(ig_queue *queue, const ig_copy *copy) {
    copies++;
    return queue->device->verbs->copy(queue, copy);
}

TEST(a_million_updates_without_a_copy) {
    table_case t = begin_table();
    ig_program *program = rt_open(t.c, NULL);
    ig_session *session = create(program, NULL);
    ig_device_verbs verbs = *session->queue->verbs;
    call a;
    begin_call(&a);
    CHECK(ig_program_output(program, 0).in_place_of == -1);
    CHECK(ig_program_output(program, 1).in_place_of == 0);
    CHECK_OK(ig_session_run(session, a.in, 3, a.out, 2));
    CHECK(a.out[1].data == a.table && a.y[0] == 4);
    check_table(&a, 2);
    size_t held = ig_session_memory(session);
    verbs.copy = count_copy;
    session->queue->verbs = &verbs;
    for (int i = 1; i < 1000000; i++) {
        CHECK_OK(ig_session_run_bound(session));
    }
    session->queue->verbs = session->queue->device->verbs;
    check_table(&a, 1000001);
    CHECK(copies == 0 && ig_session_memory(session) == held);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

TEST(a_run_that_fails_leaves_every_byte) {
    table_case t = begin_table();
    ig_program *program = rt_open(t.c, NULL);
    ig_session *session = create(program, NULL);
    call a;
    begin_call(&a);
    a.ids[2] = N;
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_table(&a, 1);
    a.ids[2] = 0;
    ig_session_set_deadline(session, 1);
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_CANCELLED);
    check_table(&a, 1);
    ig_session_set_deadline(session, 0);
    CHECK_OK(ig_session_run(session, a.in, 3, a.out, 2));
    check_table(&a, 2);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

TEST(one_memory_for_both_ports) {
    table_case t = begin_table();
    ig_program *program = rt_open(t.c, NULL);
    ig_session *session = create(program, NULL);
    call a;
    float other[N];
    begin_call(&a);
    a.out[1] = rt_room(other, sizeof other);
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_error(session, "shares the memory of input 'table'");
    a.out[1] = rt_room(a.table, sizeof a.table);
    CHECK_OK(ig_session_run(session, a.in, 3, a.out, 2));
    a.in[2] = rt_view(a.table, IG_F32, N);
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_error(session, "inputs 'table' and 'd' overlap");
    a.in[2] = rt_view(a.d, IG_F32, N);
    a.out[0] = rt_room(a.table, sizeof a.table);
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_error(session, "outputs 'y' and 'next' overlap");
    a.out[0] = rt_room(a.y, sizeof a.y);
    a.in[1].memory = IG_MEMORY_CUDA;
    CHECK_STATUS(ig_session_run(session, a.in, 3, a.out, 2), IG_INVALID);
    check_error(session, "is not in the memory of the host");
    check_table(&a, 2);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

/* ---- plans ---- */

static void refuse(table_case *t, const char *words) {
    ig_program *program = NULL;
    rt_pack(t->c);
    CHECK_STATUS(rt_try_open(t->c, t->c->bytes, t->c->size, &program), IG_INVALID);
    CHECK_MSG(strstr(t->c->why, words) != NULL, "'%s'", t->c->why);
    rt_end(t->c);
}

TEST(plans_that_write_before_or_fail_after_commit) {
    table_case t = begin_table();
    ig_plan_step *steps = t.c->w.steps.items, commit = steps[COMMIT];
    steps[COMMIT] = steps[ADD];
    steps[ADD] = commit;
    refuse(&t, "step 1: destination");
    t = begin_table();
    t.c->w.steps.items[ADD] = t.c->w.steps.items[COMMIT];
    refuse(&t, "step 2: commit");
    t = begin_table();
    t.c->w.operands.items[t.c->w.steps.items[ADD].operands.first].high =
        RT_EXPR(t.c, RT_INT(N));
    refuse(&t, "step 2: after commit");
    t = begin_table();
    t.c->w.steps.count = COMMIT;
    refuse(&t, "its commit step");
    t = begin_table();
    t.c->w.outputs.items[1].in_place_of = 2; /* another buffer */
    refuse(&t, "output in place");
    t = begin_table();
    t.c->w.outputs.items[0] = t.c->w.outputs.items[1];
    refuse(&t, "output in place");
    t = begin_table();
    t.c->w.inputs.items[1].role = IG_ROLE_COUNT;
    refuse(&t, "port role");
}
END_TEST

TEST(roles_are_given) {
    table_case t = begin_table();
    t.c->w.inputs.items[1].role = IG_ROLE_OFFSETS;
    t.c->w.inputs.items[1].partner = 2;
    t.c->w.inputs.items[1].keys = 2;
    ig_program *program = rt_open(t.c, NULL);
    ig_port port = ig_program_input(program, 1);
    CHECK(port.role == IG_ROLE_OFFSETS && port.partner == 2 && port.keys == 2);
    CHECK(ig_program_input(program, 0).role == IG_ROLE_NONE);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

TEST(plans_of_other_families_are_refused_in_words) {
    table_case t = begin_table();
    ig_program *program = NULL;
    t.c->w.family = "cpu-other";
    rt_pack(t.c);
    CHECK_STATUS(rt_try_open(t.c, t.c->bytes, t.c->size, &program), IG_UNSUPPORTED);
    CHECK_MSG(strstr(t.c->why, "no plan for " RT_FAMILY ", but 'plan-cpu-other'") !=
                  NULL,
              "'%s'", t.c->why);
    rt_end(t.c);
}
END_TEST

TEST(equal_constants_stand_once) {
    static const float same[2][N] = { { 1, 2, 3, 4 }, { 1, 2, 3, 4 } };
    rt_case *c = rt_begin();
    rt_constant(c, "a", same[0], sizeof same[0]);
    rt_constant(c, "b", same[1], sizeof same[1]);
    rt_constant(c, "c", same[1], sizeof same[1] - 4);
    const ig_plan_constant *all = c->w.constants.items;
    CHECK(all[0].offset == all[1].offset && all[2].offset != all[0].offset);
    CHECK(c->w.weights->spans.count == 2);
    rt_end(c);
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
    ig_session *session = create(r->program, ig_group_ranks(group));
    r->status = ig_session_run(session, r->call.in, 3, r->call.out, 2);
    ig_session_destroy(session);
    ig_group_close(group);
    return NULL;
}

/* None writes where one of them fails. */
TEST(ranks_commit_together_or_not_at_all) {
    table_case t = begin_table();
    ig_program *program = rt_open(t.c, NULL);
    for (int fails = 0; fails < 2; fails++) {
        char name[64];
        pthread_t threads[2];
        rank ranks[2];
        snprintf(name, sizeof name, "shm:commit-%d-%d", (int)getpid(), fails);
        for (uint32_t i = 0; i < 2; i++) {
            ranks[i] = (rank){ .group = name, .program = program, .index = i };
            begin_call(&ranks[i].call);
        }
        ranks[1].call.ids[0] = fails ? -1 : 0;
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(pthread_create(&threads[i], NULL, run_rank, &ranks[i]) == 0);
        }
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            CHECK((ranks[i].status == IG_OK) == !fails);
            check_table(&ranks[i].call, fails ? 1 : 2);
        }
    }
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

UNIT_SUITE(commit_in_place, a_million_updates_without_a_copy,
           a_run_that_fails_leaves_every_byte, one_memory_for_both_ports,
           plans_that_write_before_or_fail_after_commit, roles_are_given,
           plans_of_other_families_are_refused_in_words, equal_constants_stand_once,
           ranks_commit_together_or_not_at_all)
