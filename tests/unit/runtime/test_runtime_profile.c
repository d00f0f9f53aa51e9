/* Profiled runs: the same results, and what each step did.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

enum { ROWS = 100, BLOCK = 7, COLUMNS = 8 };

static ig_session *create(ig_program *program, int threads) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = threads };
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

/* Bytes of a block's rows: 32 each, read and written. */
static void add_work(rt_case *c, uint32_t rows) {
    uint32_t flops = RT_EXPR(c, RT_SYM(rows), RT_INT(COLUMNS), RT_OP(MUL));
    uint32_t bytes = RT_EXPR(c, RT_SYM(rows), RT_INT(64), RT_OP(MUL));
    rt_variant(c)->work = RT_LIST(c, flops, bytes, RT_EXPR(c, RT_INT(3)));
}

/* y = 3 * x, by t = 2 * x and y = t + x for each block of rows. */
static rt_case *rows_case(void) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), r = rt_rows_symbol(c, "r");
    uint32_t eight = RT_EXPR(c, RT_INT(COLUMNS));
    uint32_t dims[] = { RT_EXPR(c, RT_SYM(batch)), eight };
    uint32_t n = RT_EXPR(c, RT_SYM(r), RT_INT(COLUMNS), RT_OP(MUL));
    uint32_t grid = RT_EXPR(c, RT_SYM(r)), cost = RT_EXPR(c, RT_INT(10000));
    ig_plan_operand x = rt_operand(rt_input(c, "x", IG_F32, 2, dims));
    ig_plan_operand y = rt_operand(rt_output(c, "y", IG_F32, 2, dims));
    uint32_t room = RT_EXPR(c, RT_SYM(r), RT_INT(32), RT_OP(MUL));
    uint32_t t = rt_buffer(c, IG_SPACE_WORKER, room, 1, 2);
    x.row_stride = y.row_stride = RT_EXPR(c, RT_INT(32));
    ig_plan_step step = rt_step(c, IG_STEP_rows, "rows");
    step.value = dims[0];
    step.block = RT_EXPR(c, RT_INT(BLOCK));
    step.symbol = r;
    step.body_count = 2;
    rt_push(c, step);
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(t), x),
              RT_LIST(c, n, eight, RT_EXPR(c, RT_INT(0x40000000))), grid, cost);
    add_work(c, r);
    rt_launch(c, "add", RT_OPERANDS(c, y, RT_AT(t), x), RT_LIST(c, n, eight), grid,
              cost);
    return c;
}

static void check_rows(const ig_step_profile *steps, int threads) {
    CHECK(strcmp(steps[0].kind, "rows") == 0);
    CHECK(strcmp(steps[1].name, "scale") == 0);
    CHECK_INT(steps[0].depth, 0);
    for (int i = 1; i < 3; i++) {
        CHECK(strcmp(steps[i].kind, "launch") == 0);
        CHECK_INT(steps[i].depth, 1);
        CHECK_INT(steps[i].threads, threads);
        CHECK_INT(steps[i].tiles, ROWS);
        CHECK(steps[i].calls >= (ROWS + BLOCK - 1) / BLOCK);
        CHECK(steps[i].ns >= 0 && steps[i].begin_ns >= 0);
    }
    CHECK(steps[1].flops == ROWS * COLUMNS && steps[1].bytes == ROWS * 64);
    CHECK(steps[1].lines == 3.0 * (double)steps[1].calls);
    CHECK(steps[2].flops == 0 && steps[2].bytes == 0 && steps[2].lines == 0);
}

TEST(rows_are_profiled_launch_by_launch) {
    static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
    rt_case *c = rows_case();
    ig_program *program = rt_open(c, NULL);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = (float)i;
    }
    for (int threads = 1; threads <= 3; threads++) {
        ig_session *session = create(program, threads);
        ig_view in = rt_view2(x, IG_F32, ROWS, COLUMNS);
        ig_view out = rt_room(y, sizeof y);
        ig_step_profile steps[3];
        int64_t ns = 0;
        CHECK_OK(ig_session_bind(session, &in, 1, &out, 1));
        for (int round = 0; round < 3; round++) {
            memset(y, 0, sizeof y);
            CHECK_OK(ig_session_profile(session, steps, 3, &ns));
            CHECK(y[1] == 3 && y[ROWS * COLUMNS - 1] == 3.0f * x[ROWS * COLUMNS - 1]);
            check_rows(steps, threads);
            CHECK(ns >= steps[0].ns + steps[1].ns + steps[2].ns);
        }
        memset(y, 0, sizeof y);
        CHECK_OK(ig_session_run_bound(session));
        CHECK(y[1] == 3);
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

static void check_events(const ig_step_event *events, size_t count, int threads,
                         int64_t ns) {
    int64_t tiles[3] = { 0 };
    for (size_t i = 0; i < count; i++) {
        CHECK(events[i].step == 1 || events[i].step == 2); /* rows have no kernel */
        CHECK(events[i].thread < (uint32_t)threads);
        CHECK(0 <= events[i].begin_ns && events[i].begin_ns <= events[i].end_ns &&
              events[i].end_ns <= ns);
        tiles[events[i].step] += events[i].tiles;
        for (size_t k = 0; k < i; k++) { /* a thread does one thing at a time */
            CHECK(events[i].thread != events[k].thread ||
                  events[i].begin_ns >= events[k].end_ns ||
                  events[k].begin_ns >= events[i].end_ns);
        }
    }
    CHECK_INT(tiles[1], ROWS);
    CHECK_INT(tiles[2], ROWS);
}

TEST(a_trace_has_each_call_with_its_thread_and_times) {
    static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
    enum { CALLS = 2 * ((ROWS + BLOCK - 1) / BLOCK) };
    rt_case *c = rows_case();
    ig_program *program = rt_open(c, NULL);
    for (int threads = 1; threads <= 3; threads++) {
        ig_session *session = create(program, threads);
        ig_view in = rt_view2(x, IG_F32, ROWS, COLUMNS);
        ig_view out = rt_room(y, sizeof y);
        ig_step_profile steps[3];
        ig_step_event items[4 * CALLS];
        ig_step_events events = { items, IG_COUNT_OF(items), 0 };
        int64_t ns = 0;
        CHECK_OK(ig_session_bind(session, &in, 1, &out, 1));
        CHECK_OK(ig_session_trace(session, steps, 3, &events, &ns));
        CHECK(events.count >= CALLS && events.count <= IG_COUNT_OF(items));
        check_events(items, events.count, threads, ns);
        check_rows(steps, threads);
        items[3].step = 77; /* where there is room for three, no more is written */
        events.capacity = 3;
        CHECK_OK(ig_session_trace(session, steps, 3, &events, &ns));
        CHECK(events.count >= CALLS && items[3].step == 77 && items[2].step <= 2);
        events.items = NULL;
        CHECK_OK(ig_session_trace(session, steps, 3, &events, &ns));
        CHECK_INT(events.count, 0);
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(a_profile_has_a_record_for_each_step) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    ig_step_profile steps[3];
    int64_t ns = 7;
    CHECK_STATUS(ig_session_profile(session, steps, 3, &ns), IG_INVALID);
    CHECK_INT(ns, 0);
    CHECK_STATUS(ig_session_profile(session, steps, 1, &ns), IG_INVALID);
    CHECK_MSG(strstr(ig_session_error(session), "nothing is bound") != NULL, "%s",
              ig_session_error(session));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* The least report wins as in an ordinary run, and the next run is as good as ever. */
TEST(a_profiled_run_reports_as_any_other) {
    static const float table[4] = { 1, 2, 3, 4 };
    rt_case *c = rt_begin();
    uint32_t dim = RT_EXPR(c, RT_SYM(rt_symbol(c, "B", 0, 0)));
    uint32_t ids = rt_input(c, "ids", IG_I64, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t w = rt_constant(c, "table", table, sizeof table);
    ig_plan_operand at = rt_operand(ids);
    at.high = RT_EXPR(c, RT_INT(4));
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(y), RT_AT(w), at),
              RT_LIST(c, RT_EXPR(c, RT_INT(4))), dim, RT_EXPR(c, RT_INT(100000)));
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 2);
    int64_t values[50] = { 0 }, ns;
    ig_step_profile steps[1];
    values[12] = 9;
    values[49] = 7;
    ig_view in = rt_view(values, IG_I64, 50), out = rt_room(NULL, 0);
    CHECK_OK(ig_session_bind(session, &in, 1, &out, 1));
    CHECK_STATUS(ig_session_profile(session, steps, 1, &ns), IG_INVALID);
    CHECK_MSG(strstr(ig_session_error(session), "element 12 is 9") != NULL, "%s",
              ig_session_error(session));
    values[12] = values[49] = 3;
    CHECK_OK(ig_session_profile(session, steps, 1, &ns));
    CHECK_OK(ig_session_run_bound(session));
    CHECK(((float *)out.data)[12] == 4);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- arenas ---- */

TEST(a_session_tells_its_arena) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 2);
    ig_session_facts facts = { .size = sizeof facts };
    ig_session_get_facts(session, &facts);
    CHECK_INT(facts.threads, 2);
    CHECK_INT(facts.arena_bytes, 0);
    CHECK_INT((int64_t)facts.memory, (int64_t)ig_session_memory(session));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

UNIT_SUITE(runtime_profile, rows_are_profiled_launch_by_launch,
           a_trace_has_each_call_with_its_thread_and_times,
           a_profile_has_a_record_for_each_step, a_profiled_run_reports_as_any_other,
           a_session_tells_its_arena)
