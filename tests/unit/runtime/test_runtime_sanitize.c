/* Programs whose launches say that their kernels check what they touch: memory that
 * holds no value is filled, values that live at once lie apart, and accesses that leave
 * their memory are worded.  SPDX-License-Identifier: Apache-2.0 */
#include "base/access.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <math.h>

#define CHECK_ERROR(session, words)                                       \
    CHECK_MSG(strstr(ig_session_error(session), (words)) != NULL, "'%s'", \
              ig_session_error(session))

enum { TWICE = 0x40000000 }; /* 2.0f */

static ig_session *create(ig_program *program, int threads) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = threads };
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

static void mark_launches(rt_case *c) {
    for (size_t i = 0; i < c->w.steps.count; i++) {
        if (c->w.steps.items[i].kind == IG_STEP_launch) {
            c->w.steps.items[i].flags |= IG_STEP_CHECKS;
        }
    }
}

/* Doubles the first `count` of four elements. */
static void double_some(rt_case *c, uint32_t to, uint32_t from, int64_t count) {
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(to), RT_AT(from)),
              RT_LIST(c, RT_EXPR(c, RT_INT(count)), RT_EXPR(c, RT_INT(4)),
                      RT_EXPR(c, RT_INT(TWICE))),
              IG_NONE, IG_NONE);
}

/* y = 4 x, but t = 2 x is written as far as `count` only. */
static rt_case *gap_case(int64_t count) {
    rt_case *c = rt_begin();
    uint32_t four = RT_EXPR(c, RT_INT(4));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, RT_EXPR(c, RT_INT(16)), 0, 1);
    double_some(c, t, x, count);
    double_some(c, y, t, 4);
    mark_launches(c);
    return c;
}

TEST(elements_that_nobody_wrote_are_nan) {
    for (int64_t count = 0; count <= 4; count++) {
        rt_case *c = gap_case(count);
        ig_program *program = rt_open(c, NULL);
        ig_session *session = create(program, 1);
        float x[4] = { 1, 2, 3, 4 }, y[4];
        for (int run = 0; run < 3; run++) {
            ig_view in = rt_view(x, IG_F32, 4), out = rt_room(y, sizeof y);
            CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
            for (int i = 0; i < 4; i++) {
                CHECK(i < count ? y[i] == 4 * x[i] : isnan(y[i]));
            }
        }
        ig_session_destroy(session);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

/* Also where the caller's memory held something before, and in the session's own. */
TEST(outputs_that_nobody_wrote_are_nan) {
    rt_case *c = rt_begin();
    uint32_t four = RT_EXPR(c, RT_INT(4));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    double_some(c, y, x, 3);
    mark_launches(c);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float values[4] = { 1, 2, 3, 4 }, room[4] = { 7, 7, 7, 7 };
    ig_view in = rt_view(values, IG_F32, 4), out = rt_room(room, sizeof room);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(room[2] == 6 && isnan(room[3]));
    out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(((float *)out.data)[2] == 6 && isnan(((float *)out.data)[3]));
    /* An output over its input: the input is read before it is written over. */
    out = rt_room(values, sizeof values);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(values[0] == 2 && values[2] == 6 && isnan(values[3]));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* A chain of sums, each in memory of its own for two steps. */
static rt_case *chain_case(uint32_t links) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), dim = RT_EXPR(c, RT_SYM(batch));
    uint32_t bytes = RT_EXPR(c, RT_SYM(batch), RT_INT(4), RT_OP(MUL));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim), last = x;
    for (uint32_t i = 0; i < links; i++) {
        uint32_t to = i + 1 == links ? y
                                     : rt_buffer(c, IG_SPACE_ARENA, bytes, i, i + 1);
        rt_launch(c, "add", RT_OPERANDS(c, RT_AT(to), RT_AT(last), RT_AT(x)),
                  RT_LIST(c, dim, RT_EXPR(c, RT_INT(1))), dim, IG_NONE);
        last = to;
    }
    mark_launches(c);
    return c;
}

/* Sharing memory does no harm to values that live one after the other. */
TEST(chains_give_what_they_gave) {
    for (int threads = 1; threads <= 3; threads++) {
        rt_case *c = chain_case(30);
        ig_program *program = rt_open(c, NULL);
        ig_session *session = create(program, threads);
        static float x[10000], y[10000];
        for (int batch = 10000; batch >= 0; batch = batch ? batch / 10 : -1) {
            for (int i = 0; i < batch; i++) {
                x[i] = (float)(i % 97);
            }
            ig_view in = rt_view(x, IG_F32, batch), out = rt_room(y, sizeof y);
            CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
            for (int i = 0; i < batch; i++) {
                CHECK(y[i] == 31 * x[i]);
            }
        }
        ig_session_destroy(session);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

/* if (cond) r = 8 x, else r = 4 x; y = 2 r.  Values of the branches share memory with
 * r, which lives on. */
TEST(branches_leave_what_lives_on) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1)), four = RT_EXPR(c, RT_INT(4));
    uint32_t bytes = RT_EXPR(c, RT_INT(16));
    uint32_t cond = rt_input(c, "cond", IG_BOOL8, 1, &one);
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t1 = rt_buffer(c, IG_SPACE_ARENA, bytes, 1, 2);
    uint32_t t2 = rt_buffer(c, IG_SPACE_ARENA, bytes, 2, 3);
    uint32_t t3 = rt_buffer(c, IG_SPACE_ARENA, bytes, 4, 5);
    uint32_t r = rt_buffer(c, IG_SPACE_ARENA, bytes, 3, 6);
    ig_plan_step branch = rt_step(c, IG_STEP_if, "choose");
    branch.operands = RT_OPERANDS(c, RT_AT(cond));
    branch.body_count = 3;
    branch.else_count = 2;
    rt_push(c, branch);
    double_some(c, t1, x, 4);
    double_some(c, t2, t1, 4);
    double_some(c, r, t2, 4);
    double_some(c, t3, x, 4);
    double_some(c, r, t3, 4);
    double_some(c, y, r, 4);
    mark_launches(c);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float values[4] = { 1, 2, 3, 4 };
    for (int i = 0; i < 4; i++) {
        char flag = (char)(i & 1);
        ig_view in[] = { rt_view(&flag, IG_BOOL8, 1), rt_view(values, IG_F32, 4) };
        ig_view out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, in, 2, &out, 1));
        CHECK(((float *)out.data)[3] == (flag ? 64 : 32));
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Launches of one phase run at the same time, so what lives in it lives throughout. */
TEST(values_of_a_phase_lie_apart) {
    rt_case *c = rt_begin();
    uint32_t four = RT_EXPR(c, RT_INT(4)), bytes = RT_EXPR(c, RT_INT(16));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, bytes, 0, 0);
    uint32_t u = rt_buffer(c, IG_SPACE_ARENA, bytes, 1, 2);
    double_some(c, t, x, 4);
    double_some(c, u, x, 4);
    double_some(c, y, u, 4);
    c->w.steps.items[1].flags = IG_STEP_JOINS;
    mark_launches(c);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float values[4] = { 1, 2, 3, 4 };
    ig_view in = rt_view(values, IG_F32, 4), out = rt_room(NULL, 0);
    ig_status status = ig_session_run(session, &in, 1, &out, 1);
    CHECK_MSG(status == IG_OK, "%s", ig_session_error(session));
    CHECK(((float *)out.data)[3] == 16);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Offsets fixed at compile time: `distance` bytes between values of 512. */
static ig_status run_fixed(int64_t distance, char why[256]) {
    rt_case *c = chain_case(3);
    c->w.arena_bytes = 1024;
    for (size_t i = 0, k = 0; i < c->w.buffers.count; i++) {
        if (c->w.buffers.items[i].space == IG_SPACE_ARENA) {
            c->w.buffers.items[i].offset = distance * (int64_t)k++;
        }
    }
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float x[128] = { 3 }, y[128];
    ig_view in = rt_view(x, IG_F32, 128), out = rt_room(y, sizeof y);
    ig_status status = ig_session_run(session, &in, 1, &out, 1);
    CHECK(status != IG_OK || y[0] == 12);
    snprintf(why, 256, "%s", ig_session_error(session));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
    return status;
}

TEST(values_that_live_at_once_lie_apart) {
    char why[256];
    CHECK_OK(run_fixed(512, why));
    CHECK_STATUS(run_fixed(448, why), IG_INTERNAL);
    CHECK_MSG(strstr(why, "values 2 'temporary' (steps 0 to 1) and 3 'temporary' "
                          "(steps 1 to 2) share memory"),
              "%s", why);
    CHECK_STATUS(run_fixed(0, why), IG_INTERNAL);
}
END_TEST

/* ---- reports ---- */

static rt_case *report_case(int64_t operand, int64_t position, int64_t value) {
    rt_case *c = rt_begin();
    uint32_t four = RT_EXPR(c, RT_INT(4));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, RT_EXPR(c, RT_INT(16)), 0, 0);
    rt_launch(c, "outside", RT_OPERANDS(c, RT_AT(y), RT_AT(x), RT_AT(t)),
              RT_LIST(c, RT_EXPR(c, RT_INT(operand)), RT_EXPR(c, RT_INT(position)),
                      RT_EXPR(c, RT_INT(value))),
              IG_NONE, IG_NONE);
    mark_launches(c);
    return c;
}

static void check_report(int64_t operand, int64_t position, const char *words) {
    rt_case *c = report_case(operand, position, 16);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float x[4] = { 0 };
    for (int run = 0; run < 2; run++) {
        ig_view in = rt_view(x, IG_F32, 4), out = rt_room(NULL, 0);
        CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INTERNAL);
        CHECK_ERROR(session, words);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}

TEST(accesses_that_leave_their_memory_are_worded) {
    int64_t wide = IG_ACCESS_OUTSIDE | INT64_C(64) << IG_ACCESS_BYTES_BIT;
    int64_t store = INT64_C(1) << IG_ACCESS_STORE_BIT;
    check_report(wide, 8,
                 "a defect of Ingot: 'outside' loads 64 bytes at byte 8 of operand 0, "
                 "output 'y', which has 16");
    check_report(wide + store + 1, -4,
                 "'outside' stores 64 bytes at byte -4 of operand 1, input 'x'");
    check_report(wide + store + 2, INT64_MAX,
                 "at byte 9223372036854775807 of operand 2, value 'temporary'");
    check_report(wide + IG_ACCESS_SCRATCH, 0, "of its scratch memory, which has 16");
    check_report(wide + store + IG_ACCESS_LOCAL, 0,
                 "of an array of its own, which has");
    check_report(wide + 3, 0, "of an operand, which has"); /* there are three */
}
END_TEST

/* ---- the flag ---- */

TEST(only_launches_check) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t n = rt_output(c, "n", IG_I64, 1, &one);
    ig_plan_step step = rt_step(c, IG_STEP_store, "zero");
    step.operands = RT_OPERANDS(c, RT_AT(n));
    step.values = RT_LIST(c, RT_EXPR(c, RT_INT(0)));
    step.flags = IG_STEP_CHECKS;
    rt_push(c, step);
    rt_pack(c);
    ig_program *program = NULL;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_INVALID);
    CHECK_MSG(strstr(c->why, "flags"), "%s", c->why);
    rt_end(c);
}
END_TEST

TEST(programs_say_that_they_are_sanitized) {
    for (int is_marked = 0; is_marked < 2; is_marked++) {
        rt_case *c = rt_scale_case(100);
        if (is_marked) {
            mark_launches(c);
        }
        ig_program *program = rt_open(c, NULL);
        ig_program_facts facts = { .size = sizeof facts };
        ig_program_get_facts(program, &facts);
        CHECK_INT(facts.is_sanitized, is_marked);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

/* A profiled run fills memory as well, and later runs go on doing so. */
TEST(profiles_fill_too) {
    rt_case *c = gap_case(2);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
    ig_view in = rt_view(x, IG_F32, 4), out = rt_room(y, sizeof y);
    ig_step_profile steps[2];
    int64_t ns;
    CHECK_OK(ig_session_bind(session, &in, 1, &out, 1));
    CHECK_OK(ig_session_profile(session, steps, 2, &ns));
    CHECK(y[1] == 8 && isnan(y[2]));
    y[2] = 0;
    CHECK_OK(ig_session_run_bound(session));
    CHECK(y[1] == 8 && isnan(y[2]));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

UNIT_SUITE(runtime_sanitize, elements_that_nobody_wrote_are_nan,
           outputs_that_nobody_wrote_are_nan, chains_give_what_they_gave,
           branches_leave_what_lives_on, values_of_a_phase_lie_apart,
           values_that_live_at_once_lie_apart,
           accesses_that_leave_their_memory_are_worded, only_launches_check,
           programs_say_that_they_are_sanitized, profiles_fill_too)
