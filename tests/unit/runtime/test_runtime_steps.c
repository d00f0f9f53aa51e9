/* Steps beyond launches: control flow, late sizes, rows, host functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

static ig_session *create(ig_program *program, int threads) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = threads };
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

#define CHECK_ERROR(session, words)                                       \
    CHECK_MSG(strstr(ig_session_error(session), (words)) != NULL, "'%s'", \
              ig_session_error(session))

/* ---- if ---- */

/* y = cond ? x + x : x * 2 then + x; both bodies have two steps or one. */
TEST(if_takes_one_branch) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1)), four = RT_EXPR(c, RT_INT(4));
    uint32_t cond = rt_input(c, "cond", IG_BOOL8, 1, &one);
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, RT_EXPR(c, RT_INT(16)), 2, 3);
    ig_plan_step branch = rt_step(c, IG_STEP_if, "choose");
    branch.operands = RT_OPERANDS(c, RT_AT(cond));
    branch.body_count = 1;
    branch.else_count = 2;
    rt_push(c, branch);
    ig_plan_range params = RT_LIST(c, four, four, RT_EXPR(c, RT_INT(0x40000000)));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(x), RT_AT(x)), params, IG_NONE,
              IG_NONE);
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(t), RT_AT(x)), params, IG_NONE, IG_NONE);
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(t), RT_AT(x)), params, IG_NONE,
              IG_NONE);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    char flag = 0;
    float values[4] = { 1, 2, 3, 4 };
    for (int i = 0; i < 4; i++) {
        flag = (char)(i & 1);
        ig_view in[] = { rt_view(&flag, IG_BOOL8, 1), rt_view(values, IG_F32, 4) };
        ig_view out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, in, 2, &out, 1));
        CHECK(((float *)out.data)[3] == (flag ? 8 : 12));
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* y = cond ? x + x : x * 2 then + x by way of memory for n - 5 numbers.  A branch that
 * has no size for some extents is refused where it is taken, and only there. */
TEST(a_branch_of_no_size_may_be_left_out) {
    rt_case *c = rt_begin();
    uint32_t n = rt_symbol(c, "n", 2, 0);
    uint32_t one = RT_EXPR(c, RT_INT(1)), four = RT_EXPR(c, RT_INT(4));
    uint32_t extent = RT_EXPR(c, RT_SYM(n));
    uint32_t bytes = RT_EXPR(c, RT_SYM(n), RT_INT(-5), RT_OP(ADD), RT_INT(4),
                             RT_OP(MUL));
    uint32_t cond = rt_input(c, "cond", IG_BOOL8, 1, &one);
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    rt_input(c, "by", IG_BOOL8, 1, &extent);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, bytes, 2, 3);
    ig_plan_step branch = rt_step(c, IG_STEP_if, "choose");
    branch.operands = RT_OPERANDS(c, RT_AT(cond));
    branch.body_count = 1;
    branch.else_count = 2;
    rt_push(c, branch);
    ig_plan_range params = RT_LIST(c, four, four, RT_EXPR(c, RT_INT(0x40000000)));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(x), RT_AT(x)), params, IG_NONE,
              IG_NONE);
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(t), RT_AT(x)), params, IG_NONE, IG_NONE);
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(t), RT_AT(x)), params, IG_NONE,
              IG_NONE);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    char flags[16] = { 0 };
    float values[4] = { 1, 2, 3, 4 };
    int64_t extents[] = { 9, 4, 4, 9, 0, 0, 9 };
    for (int i = 0; i < 7; i++) {
        char flag = (char)(i & 1);
        ig_view in[] = { rt_view(&flag, IG_BOOL8, 1), rt_view(values, IG_F32, 4),
                         rt_view(flags, IG_BOOL8, extents[i]) };
        ig_view out = rt_room(NULL, 0);
        ig_status status = ig_session_run(session, in, 3, &out, 1);
        if (flag || extents[i] == 9) {
            CHECK_OK(status);
            CHECK(((float *)out.data)[3] == (flag ? 8 : 12));
        } else {
            CHECK(status == IG_INVALID);
            CHECK_ERROR(session, "or cannot be computed");
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- loops ---- */

typedef enum loop_kind { BY_TRIPS, BY_CONDITION, BY_BOTH } loop_kind;

/* n[0] counts trips; cond = n[0] < 5. */
static rt_case *loop_case(loop_kind kind) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t trip = rt_late_symbol(c, "trip");
    uint32_t trips = rt_input(c, "trips", IG_I64, 1, &one);
    uint32_t n = rt_output(c, "n", IG_I64, 1, &one);
    uint32_t last = rt_output(c, "last", IG_I64, 1, &one);
    uint32_t cond = rt_buffer(c, IG_SPACE_ARENA, one, 0, 9);
    uint32_t start = rt_constant(c, "true", "\1", 1);
    ig_plan_step step = rt_step(c, IG_STEP_store, "zero");
    step.operands = RT_OPERANDS(c, RT_AT(n));
    step.values = RT_LIST(c, RT_EXPR(c, RT_INT(0)));
    rt_push(c, step);
    step.operands = RT_OPERANDS(c, RT_AT(last));
    step.values = RT_LIST(c, RT_EXPR(c, RT_INT(-1)));
    rt_push(c, step);
    step = rt_step(c, IG_STEP_copy, "cond = true");
    step.operands = RT_OPERANDS(c, RT_AT(cond), RT_AT(start));
    step.value = one;
    rt_push(c, step);
    step = rt_step(c, IG_STEP_loop, "loop");
    step.operands = RT_OPERANDS(c, RT_AT(kind == BY_CONDITION ? IG_NONE : trips),
                                RT_AT(kind == BY_TRIPS ? IG_NONE : cond));
    step.symbol = trip;
    step.body_count = 2;
    rt_push(c, step);
    rt_launch(c, "count", RT_OPERANDS(c, RT_AT(n), RT_AT(cond)),
              RT_LIST(c, RT_EXPR(c, RT_INT(5))), IG_NONE, IG_NONE);
    step = rt_step(c, IG_STEP_store, "last = trip");
    step.operands = RT_OPERANDS(c, RT_AT(last));
    step.values = RT_LIST(c, RT_EXPR(c, RT_SYM(trip)));
    rt_push(c, step);
    c->w.buffers.items[cond].last = (uint32_t)c->w.steps.count - 1;
    return c;
}

static void check_loop(loop_kind kind, int64_t trips, int64_t expected) {
    rt_case *c = loop_case(kind);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    for (int i = 0; i < 2; i++) {
        ig_view in = rt_view(&trips, IG_I64, 1), out[2] = { rt_room(NULL, 0) };
        CHECK_OK(ig_session_run(session, &in, 1, out, 2));
        CHECK_INT(*(int64_t *)out[0].data, expected);
        CHECK_INT(*(int64_t *)out[1].data, expected - 1);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}

TEST(loops_count_trips_or_ask_a_condition) {
    check_loop(BY_TRIPS, 7, 7);
    check_loop(BY_TRIPS, 0, 0);
    check_loop(BY_CONDITION, 0, 5);
    check_loop(BY_BOTH, 3, 3);
    check_loop(BY_BOTH, 100, 5);
    check_loop(BY_BOTH, -1, 5);
}
END_TEST

/* ---- sizes learnt from data ---- */

/* y = the positive elements of x, doubled by adding; extents are known after the
 * filter. */
static rt_case *filter_case(void) {
    rt_case *c = rt_begin();
    uint32_t n = rt_symbol(c, "N", 0, 0), k = rt_late_symbol(c, "K");
    uint32_t n_dim = RT_EXPR(c, RT_SYM(n)), k_dim = RT_EXPR(c, RT_SYM(k));
    uint32_t k_bytes = RT_EXPR(c, RT_SYM(k), RT_INT(8), RT_OP(MUL));
    uint32_t n_bytes = RT_EXPR(c, RT_SYM(n), RT_INT(8), RT_OP(MUL));
    uint32_t eight = RT_EXPR(c, RT_INT(8));
    uint32_t x = rt_input(c, "x", IG_I64, 1, &n_dim);
    uint32_t kept = rt_buffer(c, IG_SPACE_ARENA, n_bytes, 0, 2);
    uint32_t count = rt_buffer(c, IG_SPACE_ARENA, eight, 0, 1);
    uint32_t exact = rt_buffer(c, IG_SPACE_ARENA, k_bytes, 2, 3);
    rt_output_of(c, "y", IG_I64, 1, &k_dim, exact);
    rt_launch(c, "filter", RT_OPERANDS(c, RT_AT(kept), RT_AT(count), RT_AT(x)),
              RT_LIST(c, n_dim), IG_NONE, IG_NONE);
    ig_plan_step step = rt_step(c, IG_STEP_read, "K = count");
    step.symbol = k;
    step.operands = RT_OPERANDS(c, RT_AT(count));
    rt_push(c, step);
    step = rt_step(c, IG_STEP_copy, "exact = kept");
    step.operands = RT_OPERANDS(c, RT_AT(exact), RT_AT(kept));
    step.value = k_bytes;
    rt_push(c, step);
    step = rt_step(c, IG_STEP_store, "mark");
    step.operands = RT_OPERANDS(c, RT_AT(exact));
    step.values = RT_NO_LIST;
    rt_push(c, step);
    return c;
}

TEST(sizes_learnt_from_data) {
    rt_case *c = filter_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    int64_t x[200], room[200];
    for (int n = 0; n <= 200; n += 25) {
        int64_t positive = 0;
        for (int i = 0; i < n; i++) {
            x[i] = i % 3 ? i : -i;
            positive += x[i] > 0;
        }
        ig_view in = rt_view(x, IG_I64, n);
        ig_view out = n % 2 ? rt_room(room, sizeof room) : rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK_INT(out.dims[0], positive);
        for (int64_t i = 0, k = 0; i < n; i++) {
            CHECK(x[i] <= 0 || ((int64_t *)out.data)[k++] == x[i]);
        }
    }
    ig_view in = rt_view(x, IG_I64, 200), out = rt_room(room, 100);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "its memory has 100");
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Memory of the caller that is large enough is written by the steps themselves, unless
 * an input lies there. */
TEST(late_outputs_are_written_in_the_memory_that_was_given) {
    rt_case *c = filter_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    int64_t x[6] = { 5, -1, 7, 0, 9, -2 }, room[8], *at = x;
    for (int i = 0; i < 3; i++) {
        ig_view in = rt_view(x, IG_I64, 6), out = rt_room(i == 1 ? at : room, 48);
        if (i == 0) {
            out = rt_room(room, 24); /* to the byte */
        }
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK_INT(out.dims[0], 3);
        const int64_t *y = out.data;
        CHECK(y == (i == 1 ? at : room) && y[0] == 5 && y[1] == 7 && y[2] == 9);
        if (i == 1) { /* over its input: the rest is untouched */
            CHECK(x[3] == 0 && x[4] == 9 && x[5] == -2);
            x[0] = 5, x[1] = 7, x[2] = 9, x[4] = -9;
        }
    }
    ig_view in = rt_view(x, IG_I64, 6), out = rt_room(room, 16);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "its memory has 16");
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(data_outside_of_a_symbols_range) {
    rt_case *c = filter_case();
    c->w.symbols.items[1].max = 3;
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    int64_t x[5] = { 1, 1, 1, 1, 1 };
    ig_view in = rt_view(x, IG_I64, 5), out = rt_room(NULL, 0);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "K is 5; it must be from 0 to 3");
    in.dims[0] = 3;
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* A guard step with a late symbol: the first two elements of x must be equal. */
TEST(guards_where_they_stand) {
    rt_case *c = rt_begin();
    uint32_t two = RT_EXPR(c, RT_INT(2)), eight = RT_EXPR(c, RT_INT(8));
    uint32_t a = rt_late_symbol(c, "a"), b = rt_late_symbol(c, "b");
    uint32_t x = rt_input(c, "x", IG_I64, 1, &two);
    rt_guard(c, RT_EXPR(c, RT_SYM(a)), RT_EXPR(c, RT_SYM(b)), "both must be equal");
    c->w.guards.items[0].at_bind = 0;
    ig_plan_operand second = rt_operand(x);
    second.offset = eight;
    ig_plan_step step = rt_step(c, IG_STEP_read, "a");
    step.symbol = a;
    step.operands = RT_OPERANDS(c, RT_AT(x));
    rt_push(c, step);
    step.symbol = b;
    step.operands = RT_OPERANDS(c, second);
    rt_push(c, step);
    step = rt_step(c, IG_STEP_guard, "guard");
    step.index = 0;
    rt_push(c, step);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    int64_t values[2] = { 4, 4 };
    ig_view in = rt_view(values, IG_I64, 2);
    CHECK_OK(ig_session_run(session, &in, 1, NULL, 0));
    values[1] = 5;
    CHECK_STATUS(ig_session_run(session, &in, 1, NULL, 0), IG_INVALID);
    CHECK_ERROR(session, "both must be equal (4 is not equal to 5)");
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* 24 / (a b) is defined when both were read, whatever stands in b before. */
TEST(definitions_wait_for_all_of_their_values) {
    rt_case *c = rt_begin();
    uint32_t two = RT_EXPR(c, RT_INT(2)), eight = RT_EXPR(c, RT_INT(8));
    uint32_t a = rt_late_symbol(c, "a"), b = rt_late_symbol(c, "b");
    uint32_t d = rt_late_symbol(c, "d"), e = rt_late_symbol(c, "e");
    uint32_t x = rt_input(c, "x", IG_I64, 1, &two);
    ig_plan_symbol *symbols = c->w.symbols.items;
    symbols[d].kind = symbols[e].kind = IG_SYMBOL_DEFINED;
    symbols[d].expr = RT_EXPR(c, RT_INT(24), RT_SYM(a), RT_SYM(b), RT_OP(MUL),
                              RT_OP(EXACT));
    symbols[e].expr = RT_EXPR(c, RT_SYM(d), RT_INT(1), RT_OP(ADD));
    rt_guard(c, RT_EXPR(c, RT_SYM(e)), RT_EXPR(c, RT_INT(5)), "e must be 5");
    c->w.guards.items[0].at_bind = 0;
    ig_plan_operand second = rt_operand(x);
    second.offset = eight;
    ig_plan_step step = rt_step(c, IG_STEP_read, "a");
    step.symbol = a;
    step.operands = RT_OPERANDS(c, RT_AT(x));
    rt_push(c, step);
    step.symbol = b;
    step.operands = RT_OPERANDS(c, second);
    rt_push(c, step);
    step = rt_step(c, IG_STEP_guard, "guard");
    step.index = 0;
    rt_push(c, step);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    static int64_t values[][2] = { { 2, 3 }, { 3, 2 }, { 6, 1 }, { 1, 6 },
                                   { 2, 4 }, { 5, 1 }, { 0, 1 }, { 6, 1 } };
    for (size_t i = 0; i < IG_COUNT_OF(values); i++) {
        ig_view in = rt_view(values[i], IG_I64, 2);
        ig_status status = ig_session_run(session, &in, 1, NULL, 0);
        CHECK_STATUS(status, values[i][0] * values[i][1] == 6 ? IG_OK : IG_INVALID);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- rows ---- */

/* y = (x * 2) + x, block by block, the product in a buffer of the worker's own. */
static rt_case *rows_case(int64_t block_rows) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), r = rt_rows_symbol(c, "r");
    uint32_t eight = RT_EXPR(c, RT_INT(8)), stride = RT_EXPR(c, RT_INT(32));
    uint32_t dims[] = { RT_EXPR(c, RT_SYM(batch)), eight };
    uint32_t n = RT_EXPR(c, RT_SYM(r), RT_INT(8), RT_OP(MUL));
    uint32_t grid = RT_EXPR(c, RT_SYM(r));
    uint32_t x = rt_input(c, "x", IG_F32, 2, dims);
    uint32_t y = rt_output(c, "y", IG_F32, 2, dims);
    uint32_t t = rt_buffer(c, IG_SPACE_WORKER,
                           RT_EXPR(c, RT_SYM(r), RT_INT(32), RT_OP(MUL)), 1, 2);
    ig_plan_operand x_rows = rt_operand(x), y_rows = rt_operand(y);
    x_rows.row_stride = y_rows.row_stride = stride;
    ig_plan_step step = rt_step(c, IG_STEP_rows, "rows");
    step.value = dims[0];
    step.block = RT_EXPR(c, RT_INT(block_rows));
    step.symbol = r;
    step.body_count = 2;
    rt_push(c, step);
    uint32_t cost = RT_EXPR(c, RT_INT(10000));
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(t), x_rows),
              RT_LIST(c, n, eight, RT_EXPR(c, RT_INT(0x40000000))), grid, cost);
    rt_launch(c, "add", RT_OPERANDS(c, y_rows, RT_AT(t), x_rows), RT_LIST(c, n, eight),
              grid, cost);
    return c;
}

TEST(rows_run_block_by_block) {
    static float x[300 * 8], y[300 * 8];
    for (int i = 0; i < 300 * 8; i++) {
        x[i] = (float)i;
    }
    for (int block = 1; block <= 64; block *= 4) {
        rt_case *c = rows_case(block);
        ig_program *program = rt_open(c, NULL);
        for (int threads = 1; threads <= 4; threads++) {
            ig_session *session = create(program, threads);
            for (int batch = 0; batch <= 300; batch += batch < 13 ? 1 : 37) {
                memset(y, 0, sizeof y);
                ig_view in = rt_view2(x, IG_F32, batch, 8), out = rt_room(y, sizeof y);
                CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
                for (int i = 0; i < 300 * 8; i++) {
                    CHECK(y[i] == (i < batch * 8 ? 3 * x[i] : 0));
                }
            }
            ig_session_destroy(session);
        }
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

/* The workers' own memory is where values are that end before the rows or begin after
 * them: here a buffer of `size` bytes, less than theirs and more. */
static void check_shared_arena(int64_t size) {
    static float x[64 * 8], y[64 * 8];
    rt_case *c = rows_case(4);
    uint32_t late = rt_buffer(c, IG_SPACE_ARENA, RT_EXPR(c, RT_INT(size)), 3, 3);
    uint32_t n = RT_EXPR(c, RT_INT(size / 4)), one = RT_EXPR(c, RT_INT(1));
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(late), RT_AT(late)),
              RT_LIST(c, n, n, RT_EXPR(c, RT_INT(0x40000000))), one, one);
    ig_program *program = rt_open(c, NULL);
    for (int threads = 1; threads <= 3; threads++) {
        ig_session *session = create(program, threads);
        ig_view in = rt_view2(x, IG_F32, 64, 8), out = rt_room(y, sizeof y);
        ig_session_facts facts = { .size = sizeof facts };
        int64_t workers = threads * 4 * 32;
        for (int i = 0; i < 64 * 8; i++) {
            x[i] = (float)i;
        }
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        ig_session_get_facts(session, &facts);
        CHECK_INT(facts.arena_bytes, size > workers ? size : workers);
        for (int i = 0; i < 64 * 8; i++) {
            CHECK(y[i] == 3 * x[i]);
        }
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}

TEST(a_worker_s_buffer_shares_the_arena) {
    check_shared_arena(64);
    check_shared_arena(4096);
}
END_TEST

/* One block may be at its last step while another is at its first: what blocks share
 * must not end between the two. */
TEST(what_blocks_share_lives_as_long_as_they) {
    rt_case *c = rows_case(4);
    uint32_t bytes = RT_EXPR(c, RT_INT(32));
    uint32_t shared = rt_buffer(c, IG_SPACE_ARENA, bytes, 0, 2);
    ig_plan_buffer *life = &c->w.buffers.items[shared];
    c->w.operands.items[0].buffer = shared; /* in place of the worker's own */
    c->w.operands.items[3].buffer = shared;
    for (uint32_t first = 0; first <= 2; first++) {
        for (uint32_t last = first; last <= 2; last++) {
            ig_program *program = NULL;
            life->first = first;
            life->last = last;
            rt_pack(c);
            bool is_long = first == 0 && last == 2;
            CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program),
                         is_long ? IG_OK : IG_INVALID);
            CHECK_MSG(is_long || strstr(c->why, "operand"), "%s", c->why);
            ig_program_close(program);
        }
    }
    rt_end(c);
}
END_TEST

/* What is a worker's own lives from the first step of the block to its last, and no
 * longer: behind the rows there is no block. */
TEST(a_worker_s_buffer_ends_with_its_rows) {
    rt_case *c = rows_case(4);
    ig_plan_buffer *life = NULL;
    for (size_t i = 0; i < c->w.buffers.count; i++) {
        ig_plan_buffer *buffer = &c->w.buffers.items[i];
        life = buffer->space == IG_SPACE_WORKER ? buffer : life;
    }
    rt_guard(c, RT_EXPR(c, RT_INT(1)), RT_EXPR(c, RT_INT(1)), "always");
    c->w.guards.items[0].at_bind = 0;
    ig_plan_step step = rt_step(c, IG_STEP_guard, "guard"); /* a step behind the rows */
    step.index = 0;
    rt_push(c, step);
    for (uint32_t first = 0; first <= 1; first++) {
        for (uint32_t last = 2; last <= 3; last++) {
            ig_program *program = NULL;
            life->first = first;
            life->last = last;
            rt_pack(c);
            bool is_inside = first == 1 && last == 2;
            ig_status status = rt_try_open(c, c->bytes, c->size, &program);
            CHECK_MSG(status == (is_inside ? IG_OK : IG_INVALID), "%s", c->why);
            CHECK_MSG(is_inside || strstr(c->why, "operand"), "%u to %u: %s", first,
                      last, c->why);
            ig_program_close(program);
        }
    }
    rt_end(c);
}
END_TEST

/* An id out of range in a block is named by its place in the whole input. */
TEST(index_errors_in_rows_count_from_the_start) {
    static const float table[4] = { 1, 2, 3, 4 };
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), r = rt_rows_symbol(c, "r");
    uint32_t dim = RT_EXPR(c, RT_SYM(batch));
    uint32_t ids = rt_input(c, "ids", IG_I64, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t w = rt_constant(c, "table", table, sizeof table);
    ig_plan_operand id_rows = rt_operand(ids), y_rows = rt_operand(y);
    id_rows.row_stride = RT_EXPR(c, RT_INT(8));
    y_rows.row_stride = RT_EXPR(c, RT_INT(4));
    id_rows.high = RT_EXPR(c, RT_INT(4));
    ig_plan_step step = rt_step(c, IG_STEP_rows, "rows");
    step.value = dim;
    step.block = RT_EXPR(c, RT_INT(7));
    step.symbol = r;
    step.body_count = 1;
    rt_push(c, step);
    rt_launch(c, "gather", RT_OPERANDS(c, y_rows, RT_AT(w), id_rows),
              RT_LIST(c, RT_EXPR(c, RT_INT(4))), RT_EXPR(c, RT_SYM(r)),
              RT_EXPR(c, RT_INT(100000)));
    ig_program *program = rt_open(c, NULL);
    for (int threads = 1; threads <= 7; threads += 2) {
        ig_session *session = create(program, threads);
        int64_t values[50] = { 0 };
        values[12] = 9; /* 5th of block 1 */
        values[14] = 4; /* 1st of block 2 */
        values[49] = 7;
        ig_view in = rt_view(values, IG_I64, 50), out = rt_room(NULL, 0);
        CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
        CHECK_ERROR(session, "input 'ids' element 12 is 9, outside 0..3");
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- host functions ---- */

static uint32_t push_host(rt_case *c, const char *name, ig_plan_range operands,
                          ig_plan_range params) {
    ig_plan_step step = rt_step(c, IG_STEP_host, name);
    step.index = ig_artifact_host(&c->w, name, IG_HOST_VERSION);
    step.operands = operands;
    step.variants = (ig_plan_range){ (uint32_t)c->w.variants.count, 1 };
    ig_plan_variant variant = {
        .kernel = IG_NONE, .grid = IG_NONE, .params = params, .cost = IG_NONE
    };
    IG_PUSH(c->w.arena, &c->w.variants, variant);
    return rt_push(c, step);
}

static rt_case *cumsum_case(int64_t exclusive, int64_t reverse) {
    rt_case *c = rt_begin();
    uint32_t two = RT_EXPR(c, RT_INT(2)), three = RT_EXPR(c, RT_INT(3));
    uint32_t dims[] = { two, three, two };
    uint32_t x = rt_input(c, "x", IG_F32, 3, dims);
    uint32_t y = rt_output(c, "y", IG_F32, 3, dims);
    push_host(c, "cumsum", RT_OPERANDS(c, RT_AT(y), RT_AT(x)),
              RT_LIST(c, two, three, two, RT_EXPR(c, RT_INT(IG_F32)),
                      RT_EXPR(c, RT_INT(exclusive)), RT_EXPR(c, RT_INT(reverse))));
    rt_kernel(c, "add");
    return c;
}

TEST(host_cumsum) {
    static const float expected[4][6] = {
        { 1, 2, 4, 6, 9, 12 },
        { 0, 0, 1, 2, 4, 6 }, /* forward, exclusive */
        { 9, 12, 8, 10, 5, 6 },
        { 8, 10, 5, 6, 0, 0 }, /* reverse, both */
    };
    for (int i = 0; i < 4; i++) {
        rt_case *c = cumsum_case(i % 2, i / 2);
        ig_program *program = rt_open(c, NULL);
        ig_session *session = create(program, 1);
        float x[12] = { 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 };
        ig_view in = { .data = x, .dtype = IG_F32, .rank = 3, .dims = { 2, 3, 2 } };
        ig_view out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        for (int k = 0; k < 12; k++) {
            CHECK(((float *)out.data)[k] == expected[i][k % 6]);
        }
        ig_session_destroy(session);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

/* A host function sees how much of a buffer lies behind where it begins. */
TEST(host_functions_stay_inside_of_what_is_left) {
    enum { HELD = 12 * 4 };
    for (int64_t offset = 0; offset <= HELD + 4; offset += 4) {
        rt_case *c = rt_begin();
        uint32_t two = RT_EXPR(c, RT_INT(2)), three = RT_EXPR(c, RT_INT(3));
        uint32_t dims[] = { two, three, two };
        uint32_t x = rt_input(c, "x", IG_F32, 3, dims);
        uint32_t y = rt_output(c, "y", IG_F32, 3, dims);
        ig_plan_operand late = rt_operand(x);
        late.offset = RT_EXPR(c, RT_INT(offset));
        push_host(c, "cumsum", RT_OPERANDS(c, RT_AT(y), late),
                  RT_LIST(c, two, three, two, RT_EXPR(c, RT_INT(IG_F32)),
                          RT_EXPR(c, RT_INT(0)), RT_EXPR(c, RT_INT(0))));
        rt_kernel(c, "add");
        ig_program *program = rt_open(c, NULL);
        ig_session *session = create(program, 1);
        float values[64] = { 1 };
        ig_view in = {
            .data = values, .dtype = IG_F32, .rank = 3, .dims = { 2, 3, 2 }
        };
        ig_view out = rt_room(NULL, 0);
        ig_status status = ig_session_run(session, &in, 1, &out, 1);
        CHECK_MSG((status == IG_OK) == (offset == 0), "offset %lld: %s",
                  (long long)offset, ig_status_name(status));
        ig_session_destroy(session);
        ig_program_close(program);
        rt_end(c);
    }
}
END_TEST

TEST(host_scatter_elements) {
    rt_case *c = rt_begin();
    uint32_t three = RT_EXPR(c, RT_INT(3)), two = RT_EXPR(c, RT_INT(2));
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &three);
    uint32_t ids = rt_input(c, "ids", IG_I64, 1, &two);
    uint32_t updates = rt_input(c, "updates", IG_F32, 1, &two);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &three);
    ig_plan_operand id_operand = rt_operand(ids);
    id_operand.low = RT_EXPR(c, RT_INT(-3));
    id_operand.high = three;
    push_host(c, "scatter_elements",
              RT_OPERANDS(c, RT_AT(y), RT_AT(x), id_operand, RT_AT(updates)),
              RT_LIST(c, one, three, one, two, RT_EXPR(c, RT_INT(4))));
    rt_kernel(c, "add");
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    float values[3] = { 1, 2, 3 }, new[2] = { 10, 20 };
    int64_t at[2] = { -1, 0 };
    ig_view in[] = { rt_view(values, IG_F32, 3), rt_view(at, IG_I64, 2),
                     rt_view(new, IG_F32, 2) };
    ig_view out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, in, 3, &out, 1));
    const float *result = out.data;
    CHECK(result[0] == 20 && result[1] == 2 && result[2] == 10);
    at[1] = 3;
    CHECK_STATUS(ig_session_run(session, in, 3, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "input 'ids' element 1 is 3, outside -3..2");
    at[1] = -4;
    CHECK_STATUS(ig_session_run(session, in, 3, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "input 'ids' element 1 is -4, outside -3..2");
    at[1] = INT64_MIN;
    CHECK_STATUS(ig_session_run(session, in, 3, &out, 1), IG_INVALID);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(unknown_host_function_is_unsupported) {
    rt_case *c = rt_begin();
    push_host(c, "no_such_thing", (ig_plan_range){ 0, 0 }, RT_NO_LIST);
    rt_kernel(c, "add");
    rt_pack(c);
    ig_program *program = NULL;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_UNSUPPORTED);
    CHECK(strstr(c->why, "no_such_thing") != NULL);
    rt_end(c);
}
END_TEST

/* Steps of the runtime itself never leave a buffer, whatever the plan says. */
TEST(copies_stay_inside) {
    rt_case *c = rt_begin();
    uint32_t n = rt_symbol(c, "N", 0, 0), dim = RT_EXPR(c, RT_SYM(n));
    uint32_t four = RT_EXPR(c, RT_INT(4));
    uint32_t x = rt_input(c, "x", IG_U8, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_U8, 1, &four);
    ig_plan_operand from = rt_operand(x);
    from.offset = four;
    ig_plan_step step = rt_step(c, IG_STEP_copy, "copy");
    step.operands = RT_OPERANDS(c, RT_AT(y), from);
    step.value = four;
    rt_push(c, step);
    rt_kernel(c, "add");
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program, 1);
    char bytes[8] = "abcdefg";
    ig_view in = rt_view(bytes, IG_U8, 8), out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(memcmp(out.data, "efg", 4) == 0);
    in.dims[0] = 7;
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "outside of a buffer");
    in.dims[0] = 3;
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

UNIT_SUITE(runtime_steps, if_takes_one_branch, a_branch_of_no_size_may_be_left_out,
           loops_count_trips_or_ask_a_condition, sizes_learnt_from_data,
           late_outputs_are_written_in_the_memory_that_was_given,
           data_outside_of_a_symbols_range, guards_where_they_stand,
           definitions_wait_for_all_of_their_values, rows_run_block_by_block,
           what_blocks_share_lives_as_long_as_they, a_worker_s_buffer_shares_the_arena,
           a_worker_s_buffer_ends_with_its_rows,
           index_errors_in_rows_count_from_the_start, host_cumsum,
           host_functions_stay_inside_of_what_is_left, host_scatter_elements,
           unknown_host_function_is_unsupported, copies_stay_inside)
