/* Runs of a session: shapes, outputs, errors.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static ig_session *create(ig_program *program) {
    ig_session *session = NULL;
    CHECK_OK(ig_session_create(program, NULL, &session));
    return session;
}

#define CHECK_ERROR(session, words)                                       \
    CHECK_MSG(strstr(ig_session_error(session), (words)) != NULL, "'%s'", \
              ig_session_error(session))

/* ---- the plain way ---- */

TEST(doubles_any_batch) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    static float x[100 * 16], y[100 * 16];
    for (int batch = 0; batch <= 100; batch += batch < 3 ? 1 : 97 - batch % 2) {
        for (int i = 0; i < batch * 16; i++) {
            x[i] = (float)(i + batch);
            y[i] = -1;
        }
        ig_view in = rt_view2(x, IG_F32, batch, 16), out = rt_room(y, sizeof y);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK_INT(out.rank, 2);
        CHECK_INT(out.dims[0], batch);
        CHECK_INT(out.dims[1], 16);
        CHECK_INT(out.dtype, IG_F32);
        for (int i = 0; i < batch * 16; i++) {
            CHECK(y[i] == 2 * x[i]);
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(session_outlives_the_program) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    ig_program_close(program);
    float x[16] = { 1 };
    ig_view in = rt_view2(x, IG_F32, 1, 16), out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(((float *)out.data)[0] == 2);
    ig_session_destroy(session);
    rt_end(c);
}
END_TEST

TEST(more_shapes_than_the_cache_keeps) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[40 * 16];
    for (int i = 0; i < 40 * 16; i++) {
        x[i] = (float)i;
    }
    for (int round = 0; round < 3; round++) {
        for (int batch = 1; batch <= 40; batch++) {
            ig_view in = rt_view2(x, IG_F32, batch, 16), out = rt_room(NULL, 0);
            CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
            CHECK(((float *)out.data)[batch * 16 - 1] == 2 * x[batch * 16 - 1]);
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(bound_runs_see_new_contents) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[16] = { 1 }, y[16];
    ig_view in = rt_view2(x, IG_F32, 1, 16), out = rt_room(y, sizeof y);
    CHECK_STATUS(ig_session_run_bound(session), IG_INVALID);
    CHECK_OK(ig_session_bind(session, &in, 1, &out, 1));
    for (int i = 0; i < 5; i++) {
        x[0] = (float)i;
        CHECK_OK(ig_session_run_bound(session));
        CHECK(y[0] == 2 * x[0]);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Only addresses move in the last two binds of each round; the first of them follows a
 * bind that planned a shape and then failed. */
TEST(addresses_move_after_a_bind_that_failed) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    static float x[2][9 * 16 + 1], y[2][9 * 16];
    for (int batch = 1; batch < 9; batch++) {
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < batch * 16; i++) {
                x[side][i] = (float)(100 * side + i);
            }
        }
        ig_view in = rt_view2((char *)x[0] + 1, IG_F32, batch, 16);
        ig_view out = rt_room(y[0], sizeof y[0]);
        CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
        for (int side = 0; side < 2; side++) {
            in.data = x[side];
            out = rt_room(y[side], sizeof y[side]);
            CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
            for (int i = 0; i < batch * 16; i++) {
                CHECK(y[side][i] == 2 * x[side][i]);
            }
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Each of these follows a good call of the same shapes, in turn over and beside it. */
TEST(calls_like_the_last_are_checked_as_the_first) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    _Alignas(8) float x[33] = { 1 }, y[32];
    ig_view good = rt_view2(x, IG_F32, 2, 16), bad[4] = { good, good, good, good };
    ig_view over = rt_room(x, sizeof y), out = rt_room(y, sizeof y);
    static const char *const why[] = { "has no data", "is not aligned",
                                       "needs 128 bytes, its memory has 127",
                                       "but was given i32[2, 16]" };
    bad[0].data = NULL;
    bad[1].data = (char *)x + 2;
    bad[2].capacity = 127;
    bad[3].dtype = IG_I32;
    for (int round = 0; round < 8; round++) {
        good.data = x + round % 2;
        good.capacity = round < 4 ? 0 : 128;
        CHECK_OK(ig_session_run(session, &good, 1, &out, 1));
        CHECK(y[0] == 2 * x[round % 2]);
        CHECK_STATUS(ig_session_run(session, &bad[round % 4], 1, &out, 1), IG_INVALID);
        CHECK_ERROR(session, why[round % 4]);
        float first = *(float *)good.data;
        CHECK_OK(ig_session_run(session, &good, 1, &over, 1));
        CHECK(x[0] == 2 * first);
        CHECK_OK(ig_session_run(session, &good, 1, &out, 1));
        CHECK(y[0] == 2 * ((float *)good.data)[0]);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- memory of outputs ---- */

TEST(output_feeds_the_next_run) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[32] = { 1, 3 };
    ig_view in = rt_view2(x, IG_F32, 1, 16), out = rt_room(NULL, 0);
    for (int i = 0; i < 6; i++) {
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        in.data = out.data;
        out.data = NULL;
    }
    CHECK(((float *)in.data)[0] == 64);
    CHECK(((float *)in.data)[1] == 192);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(output_over_its_own_input) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[64 + 8];
    for (int shift = -8; shift <= 8; shift += 4) {
        for (int i = 0; i < 72; i++) {
            x[i] = (float)i;
        }
        ig_view in = rt_view2(x + 8, IG_F32, 2, 16);
        ig_view out = rt_room(x + 8 + shift, 32 * sizeof *x);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        for (int i = 0; i < 32; i++) {
            CHECK(x[8 + shift + i] == 2 * (float)(8 + i));
        }
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(small_or_absent_output_memory_is_an_error) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[32] = { 1 }, y[32];
    ig_view in = rt_view2(x, IG_F32, 2, 16), out = rt_room(y, 127);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "output 'y' needs 128 bytes, its memory has 127");
    out = rt_room(NULL, 128);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    out = rt_room(y, sizeof y);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(y[0] == 2);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* One value returned twice, an input and a constant returned as they are. */
TEST(outputs_that_stand_elsewhere_are_copied) {
    static const float k[4] = { 7, 8, 9, 10 };
    rt_case *c = rt_begin();
    uint32_t four = RT_EXPR(c, RT_INT(4));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &four);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &four);
    uint32_t w = rt_constant(c, "w", k, sizeof k);
    rt_output_of(c, "y again", IG_F32, 1, &four, y);
    rt_output_of(c, "x again", IG_F32, 1, &four, x);
    rt_output_of(c, "w itself", IG_F32, 1, &four, w);
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(x), RT_AT(w)),
              RT_LIST(c, four, four), IG_NONE, IG_NONE);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float memory[5][4] = { { 1, 2, 3, 4 } };
    ig_view in = rt_view(memory[0], IG_F32, 4);
    ig_view out[4];
    for (int i = 0; i < 4; i++) {
        out[i] = rt_room(memory[i + 1], sizeof memory[0]);
    }
    CHECK_OK(ig_session_run(session, &in, 1, out, 4));
    for (int i = 0; i < 4; i++) {
        CHECK(memory[1][i] == memory[0][i] + k[i]);
        CHECK(memory[2][i] == memory[1][i]);
        CHECK(memory[3][i] == memory[0][i]);
        CHECK(memory[4][i] == k[i]);
    }
    /* Rotated over the input: y takes its place, and "x again" still has x. */
    out[0].data = memory[0];
    CHECK_OK(ig_session_run(session, &in, 1, out, 4));
    CHECK(memory[0][1] == 10 && memory[3][1] == 2);
    out[1].data = memory[4];
    CHECK_STATUS(ig_session_run(session, &in, 1, out, 4), IG_INVALID);
    CHECK_ERROR(session, "overlap");
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- wrong calls ---- */

TEST(wrong_types_list_expected_and_given) {
    rt_case *c = rt_scale_case(10);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[64] = { 1 }, y[64];
    ig_view good = rt_view2(x, IG_F32, 2, 16), out = rt_room(y, sizeof y);
    ig_view wrong = good;
    wrong.dtype = IG_I64;
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "input 'x' must be rank 2, but was given i64[2, 16]");
    wrong = rt_view(x, IG_F32, 32);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "f32[32]");
    wrong = rt_view2(x, IG_F32, 2, 15);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "dim 1 is 15, expected 16");
    wrong = rt_view2(x, IG_F32, -2, 16);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "negative");
    wrong = rt_view2(x, IG_F32, INT64_MAX / 2, 16);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "too large");
    wrong = rt_view2(NULL, IG_F32, 2, 16);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "no data");
    wrong = rt_view2((char *)x + 1, IG_F32, 2, 16);
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "not aligned");
    wrong = good;
    wrong.capacity = 127;
    CHECK_STATUS(ig_session_run(session, &wrong, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "needs 128 bytes, its memory has 127");
    CHECK_STATUS(ig_session_run(session, &good, 0, &out, 1), IG_INVALID);
    CHECK_STATUS(ig_session_run(session, &good, 1, &out, 0), IG_INVALID);
    CHECK_ERROR(session, "1 inputs and 1 outputs");
    CHECK_STATUS(ig_session_run_bound(session), IG_INVALID);
    CHECK_OK(ig_session_run(session, &good, 1, &out, 1));
    CHECK(y[0] == 2);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* y = a + b with a symbol for each extent, and a guard that they agree. */
static rt_case *guarded_case(void) {
    rt_case *c = rt_begin();
    uint32_t a_rows = rt_symbol(c, "A", 0, 0), b_rows = rt_symbol(c, "B", 1, 0);
    uint32_t a_dim = RT_EXPR(c, RT_SYM(a_rows)), b_dim = RT_EXPR(c, RT_SYM(b_rows));
    uint32_t a = rt_input(c, "a", IG_F32, 1, &a_dim);
    uint32_t b = rt_input(c, "b", IG_F32, 1, &b_dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &a_dim);
    rt_guard(c, a_dim, b_dim, "a and b disagree on the batch");
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(a), RT_AT(b)),
              RT_LIST(c, a_dim, RT_EXPR(c, RT_INT(1))), a_dim, IG_NONE);
    return c;
}

TEST(guards_hold_or_say_why) {
    rt_case *c = guarded_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float a[8] = { 1, 2 }, b[8] = { 10, 20 }, y[8];
    ig_view in[] = { rt_view(a, IG_F32, 2), rt_view(b, IG_F32, 2) };
    ig_view out = rt_room(y, sizeof y);
    CHECK_OK(ig_session_run(session, in, 2, &out, 1));
    CHECK(y[1] == 22);
    in[1].dims[0] = 3;
    CHECK_STATUS(ig_session_run(session, in, 2, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "a and b disagree on the batch (2 is not equal to 3)");
    in[0].dims[0] = 3;
    CHECK_OK(ig_session_run(session, in, 2, &out, 1));
    CHECK(y[1] == 22);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(ranges_and_multiples_of_symbols) {
    rt_case *c = rt_scale_case(10);
    c->w.symbols.items[0].min = 2;
    c->w.symbols.items[0].max = 8;
    c->w.symbols.items[0].multiple = 2;
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[10 * 16] = { 1 };
    ig_view in = rt_view2(x, IG_F32, 1, 16), out = rt_room(NULL, 0);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "dim 0 of input number 0 is 1; it must be from 2 to 8");
    in.dims[0] = 10;
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    in.dims[0] = 5;
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_ERROR(session, "multiple of 2");
    in.dims[0] = 6;
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- indices ---- */

static rt_case *gather_case(void) {
    static float table[2000];
    for (int i = 0; i < 2000; i++) {
        table[i] = (float)i;
    }
    rt_case *c = rt_begin();
    uint32_t n = rt_symbol(c, "N", 0, 0), dim = RT_EXPR(c, RT_SYM(n));
    uint32_t rows = RT_EXPR(c, RT_INT(2000));
    uint32_t ids = rt_input(c, "sparse_idx_3", IG_I64, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t w = rt_constant(c, "table", table, sizeof table);
    ig_plan_operand id_operand = rt_operand(ids);
    id_operand.low = RT_EXPR(c, RT_INT(0));
    id_operand.high = rows;
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(y), RT_AT(w), id_operand),
              RT_LIST(c, rows), dim, RT_EXPR(c, RT_INT(1000000)));
    return c;
}

TEST(index_errors_name_input_and_position) {
    rt_case *c = gather_case();
    ig_program *program = rt_open(c, NULL);
    for (int threads = 1; threads <= 4; threads++) {
        ig_session *session = NULL;
        ig_session_options options = { .size = sizeof options, .threads = threads };
        CHECK_OK(ig_session_create(program, &options, &session));
        int64_t ids[64];
        for (int i = 0; i < 64; i++) {
            ids[i] = 1999 - i;
        }
        ig_view in = rt_view(ids, IG_I64, 64), out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK(((float *)out.data)[1] == 1998);
        ids[60] = -1;
        ids[17] = 2001;
        ids[40] = 3000;
        CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
        CHECK_ERROR(session,
                    "input 'sparse_idx_3' element 17 is 2001, outside 0..1999");
        ids[17] = 3;
        CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
        CHECK_ERROR(session, "element 40 is 3000");
        ids[40] = ids[60] = 4;
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        CHECK(((float *)out.data)[40] == 4);
        ig_session_destroy(session);
    }
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- symbols that reach only params ---- */

/* y[i] = table[ids[i]] for one id a row; N ids are given, only B rows are looked at. */
TEST(loose_symbols_change_without_a_new_plan) {
    rt_case *c = rt_begin();
    uint32_t rows = rt_symbol(c, "B", 0, 0), n = rt_symbol(c, "N", 1, 0);
    uint32_t row_dim = RT_EXPR(c, RT_SYM(rows)), n_dim = RT_EXPR(c, RT_SYM(n));
    uint32_t ids = rt_input(c, "ids", IG_I64, 1, &row_dim);
    uint32_t table = rt_input(c, "table", IG_F32, 1, &n_dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &row_dim);
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(y), RT_AT(table), RT_AT(ids)),
              RT_LIST(c, n_dim), row_dim, IG_NONE);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    int64_t id[1] = { 0 };
    float values[100] = { 0 };
    size_t memory = 0;
    for (int size = 1; size <= 100; size++) {
        values[size - 1] = (float)size;
        id[0] = size - 1;
        ig_view in[] = { rt_view(id, IG_I64, 1), rt_view(values, IG_F32, size) };
        ig_view out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, in, 2, &out, 1));
        CHECK(((float *)out.data)[0] == (float)size);
        id[0] = size;
        CHECK_STATUS(ig_session_run(session, in, 2, &out, 1), IG_INVALID);
        memory = memory ? memory : ig_session_memory(session);
        CHECK_INT(ig_session_memory(session), memory);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* ---- memory of the run ---- */

/* y = ((x + x) + x) + x … through temporaries that share memory. */
static rt_case *chain_case(uint32_t links) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), dim = RT_EXPR(c, RT_SYM(batch));
    uint32_t bytes = RT_EXPR(c, RT_SYM(batch), RT_INT(4), RT_OP(MUL));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &dim);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t last = x;
    for (uint32_t i = 0; i < links; i++) {
        uint32_t to = i + 1 == links ? y
                                     : rt_buffer(c, IG_SPACE_ARENA, bytes, i, i + 1);
        rt_launch(c, "add", RT_OPERANDS(c, RT_AT(to), RT_AT(last), RT_AT(x)),
                  RT_LIST(c, dim, RT_EXPR(c, RT_INT(1))), dim, IG_NONE);
        last = to;
    }
    return c;
}

TEST(temporaries_share_memory) {
    rt_case *c = chain_case(30);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    static float x[100000], y[100000];
    for (int i = 0; i < 100000; i++) {
        x[i] = (float)(i % 97);
    }
    for (int batch = 100000; batch > 0; batch /= 10) {
        ig_view in = rt_view(x, IG_F32, batch), out = rt_room(y, sizeof y);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
        for (int i = 0; i < batch; i++) {
            CHECK(y[i] == 31 * x[i]);
        }
    }
    CHECK(ig_session_memory(session) < 3 * sizeof x);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* y = 4 x in four launches, the third at the same time as the second: what the second
 * reads and what the third writes share no memory, though no step has both. */
TEST(launches_of_a_phase_share_no_memory) {
    enum { COUNT = 64, BYTES = COUNT * 4 };
    rt_case *c = rt_begin();
    uint32_t count = RT_EXPR(c, RT_INT(COUNT)), one = RT_EXPR(c, RT_INT(1));
    uint32_t bytes = RT_EXPR(c, RT_INT(BYTES));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &count);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &count);
    uint32_t z = rt_output(c, "z", IG_F32, 1, &count);
    uint32_t first = rt_buffer(c, IG_SPACE_ARENA, bytes, 0, 1);
    uint32_t other = rt_buffer(c, IG_SPACE_ARENA, bytes, 2, 3);
    const uint32_t steps[][3] = {
        { first, x, x }, { z, first, x }, { other, x, x }, { y, other, other }
    };
    for (size_t i = 0; i < IG_COUNT_OF(steps); i++) {
        const uint32_t *step = steps[i];
        rt_launch(c, "add",
                  RT_OPERANDS(c, RT_AT(step[0]), RT_AT(step[1]), RT_AT(step[2])),
                  RT_LIST(c, count, one), count, IG_NONE);
        IG_LAST(&c->w.steps).flags = i == 2 ? IG_STEP_JOINS : 0;
    }
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)i;
    }
    ig_view in = rt_view(values, IG_F32, COUNT);
    ig_view out[] = { rt_room(NULL, 0), rt_room(NULL, 0) };
    CHECK_OK(ig_session_run(session, &in, 1, out, 2));
    for (int i = 0; i < COUNT; i++) {
        CHECK(((float *)out[0].data)[i] == 4 * values[i]);
        CHECK(((float *)out[1].data)[i] == 3 * values[i]);
    }
    ig_session_facts facts = { .size = sizeof facts };
    ig_session_get_facts(session, &facts);
    CHECK_INT(facts.arena_min, 2 * BYTES);
    CHECK(facts.arena_bytes >= 2 * BYTES);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(arena_of_the_caller) {
    rt_case *c = chain_case(4);
    ig_program *program = rt_open(c, NULL);
    static char arena[8192];
    float x[1000] = { 1, 2 }, y[1000];
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options,
                                   .arena = arena + 1,
                                   .arena_size = sizeof arena - 1 };
    CHECK_OK(ig_session_create(program, &options, &session));
    ig_view in = rt_view(x, IG_F32, 1000), out = rt_room(y, sizeof y);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(y[1] == 10);
    ig_session_destroy(session);
    options.arena_size = 4000;
    CHECK_OK(ig_session_create(program, &options, &session));
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_LIMIT);
    CHECK_ERROR(session, "need an arena of 8064 bytes");
    in.dims[0] = 100;
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(y[1] == 10);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

TEST(arena_with_fixed_offsets) {
    rt_case *c = chain_case(3);
    c->w.arena_bytes = 1024;
    for (size_t i = 0, k = 0; i < c->w.buffers.count; i++) {
        if (c->w.buffers.items[i].space == IG_SPACE_ARENA) {
            c->w.buffers.items[i].offset = 512 * (int64_t)k++;
        }
    }
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    float x[200] = { 3 }, y[200];
    ig_view in = rt_view(x, IG_F32, 128), out = rt_room(y, sizeof y);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(y[0] == 12);
    in.dims[0] = 129; /* larger than the fixed offsets allow */
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* Counts what is taken and given back. */
static void *count_allocate(void *user, size_t size, size_t alignment) {
    *(int64_t *)user += (int64_t)size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *memory, size_t size) {
    *(int64_t *)user -= (int64_t)size;
    free(memory);
}

TEST(allocator_of_the_caller) {
    rt_case *c = chain_case(4);
    ig_program *program = rt_open(c, NULL);
    int64_t held = 0;
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .allocate = count_allocate };
    CHECK_STATUS(ig_session_create(program, &options, &session), IG_INVALID);
    options.release = count_release;
    options.memory_user = &held;
    CHECK_OK(ig_session_create(program, &options, &session));
    float x[1000] = { 1 };
    ig_view in = rt_view(x, IG_F32, 1000), out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    CHECK(held > 3 * 4000);
    CHECK_INT(held, (int64_t)ig_session_memory(session));
    ig_session_destroy(session);
    CHECK_INT(held, 0);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

static ig_status run_within(ig_program *program, size_t limit, ig_session **out) {
    static float x[3000];
    ig_session_options options = { .size = sizeof options, .memory_limit = limit };
    CHECK_OK(ig_session_create(program, &options, out));
    ig_view in = rt_view(x, IG_F32, 1000), room = rt_room(NULL, 0);
    return ig_session_run(*out, &in, 1, &room, 1);
}

/* The least limit that a run keeps is what its values take: results and what lives
 * between steps.  More values are then refused in words, and fewer run again. */
TEST(the_memory_limit_of_a_session) {
    rt_case *c = chain_case(4);
    ig_program *program = rt_open(c, NULL);
    ig_session *session = NULL;
    CHECK_OK(run_within(program, 0, &session));
    size_t held = ig_session_memory(session), low = 0, high = held;
    ig_session_destroy(session);
    while (high - low > 1) { /* fails at low, runs at high */
        size_t limit = low + (high - low) / 2;
        ig_status status = run_within(program, limit, &session);
        CHECK(status == IG_OK || status == IG_LIMIT);
        *(status == IG_OK ? &high : &low) = limit;
        ig_session_destroy(session);
    }
    CHECK_MSG(high >= 3 * 4000 && high <= held, "%zu of %zu", high, held);
    CHECK_STATUS(run_within(program, high - 1, &session), IG_LIMIT);
    CHECK_ERROR(session, "over the session's memory limit (--limit session_bytes=N)");
    ig_session_destroy(session);
    CHECK_OK(run_within(program, high, &session));
    static float x[3000];
    ig_view in = rt_view(x, IG_F32, 3000), out = rt_room(NULL, 0);
    CHECK_STATUS(ig_session_run(session, &in, 1, &out, 1), IG_LIMIT);
    in = rt_view(x, IG_F32, 10);
    out = rt_room(NULL, 0);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    CHECK_OK(run_within(program, 8 * high, &session));
    for (int size = 1000; size <= 3000; size += 50) { /* what grows gives back */
        in = rt_view(x, IG_F32, size);
        out = rt_room(NULL, 0);
        CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

UNIT_SUITE(runtime_run, the_memory_limit_of_a_session, doubles_any_batch,
           addresses_move_after_a_bind_that_failed, session_outlives_the_program,
           more_shapes_than_the_cache_keeps, bound_runs_see_new_contents,
           calls_like_the_last_are_checked_as_the_first, output_feeds_the_next_run,
           output_over_its_own_input, small_or_absent_output_memory_is_an_error,
           outputs_that_stand_elsewhere_are_copied, wrong_types_list_expected_and_given,
           guards_hold_or_say_why, ranges_and_multiples_of_symbols,
           index_errors_name_input_and_position,
           loose_symbols_change_without_a_new_plan, temporaries_share_memory,
           launches_of_a_phase_share_no_memory, arena_of_the_caller,
           arena_with_fixed_offsets, allocator_of_the_caller)
