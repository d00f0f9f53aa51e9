/* Steps that are done once a change of opened weights, and what they keep.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session/session.h"
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

enum { PREPARE, SCALE, ADD, N = 4 };

typedef struct weight_case {
    rt_case *c;
    uint32_t w, x, y, kept, batch;
} weight_case;

/* kept = w * 2, once a change of w; then y = x + kept for x[B, 4]. */
static weight_case begin_weight(void) {
    weight_case t = { .c = rt_begin() };
    rt_case *c = t.c;
    uint32_t four = RT_EXPR(c, RT_INT(N)), bytes = RT_EXPR(c, RT_INT(N * 4));
    t.batch = RT_EXPR(c, RT_SYM(rt_symbol(c, "B", 1, 0)));
    t.w = rt_input(c, "w", IG_F32, 1, &four);
    c->w.inputs.items[0].flags = IG_PORT_WEIGHT;
    uint32_t dims[] = { t.batch, four };
    t.x = rt_input(c, "x", IG_F32, 2, dims);
    t.y = rt_output(c, "y", IG_F32, 1, &four);
    t.kept = rt_buffer(c, IG_SPACE_KEPT, bytes, 0, ADD);
    ig_plan_step prepare = rt_step(c, IG_STEP_prepare, "prepare");
    prepare.operands = RT_OPERANDS(c, RT_AT(t.w));
    prepare.body_count = 1;
    rt_push(c, prepare);
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(t.kept), RT_AT(t.w)),
              RT_LIST(c, four, four, RT_EXPR(c, RT_INT(0x40000000))), IG_NONE, IG_NONE);
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(t.y), RT_AT(t.x), RT_AT(t.kept)),
              RT_LIST(c, four, four), IG_NONE, IG_NONE);
    return t;
}

typedef struct call {
    float w[N], x[2 * N], y[N];
    ig_view in[2], out[1];
} call;

static void begin_call(call *a) {
    *a = (call){ .w = { 1, 2, 3, 4 } };
    a->in[0] = rt_view(a->w, IG_F32, N);
    a->in[1] = rt_view2(a->x, IG_F32, 1, N);
    a->out[0] = rt_room(a->y, sizeof a->y);
}

static void check_run(ig_session *session, call *a, float first) {
    CHECK_OK(ig_session_run(session, a->in, 2, a->out, 1));
    CHECK_MSG(a->y[0] == first, "%g", (double)a->y[0]);
}

static ig_session *create(ig_program *program) {
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = 1 };
    CHECK_OK(ig_session_create(program, &options, &session));
    return session;
}

TEST(once_a_change) {
    weight_case t = begin_weight();
    ig_program *program = rt_open(t.c, NULL);
    ig_session *session = create(program);
    call a;
    float other[N] = { 10, 20, 30, 40 };
    begin_call(&a);
    CHECK(ig_program_input(program, 0).is_weight);
    CHECK(!ig_program_input(program, 1).is_weight);
    check_run(session, &a, 2);
    a.w[0] = 5; /* nobody said so */
    check_run(session, &a, 2);
    a.in[1].dims[0] = 2; /* another shape is no other weight */
    check_run(session, &a, 2);
    ig_session_weights_changed(session);
    check_run(session, &a, 10);
    a.in[0].data = other;
    check_run(session, &a, 20);
    a.in[0].data = a.w;
    check_run(session, &a, 10);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

TEST(a_run_that_failed_prepares_again) {
    weight_case t = begin_weight();
    ig_program *program = rt_open(t.c, NULL);
    ig_session *session = create(program);
    call a;
    begin_call(&a);
    ig_session_set_deadline(session, 1);
    CHECK_STATUS(ig_session_run(session, a.in, 2, a.out, 1), IG_CANCELLED);
    ig_session_set_deadline(session, 0);
    a.w[0] = 3;
    check_run(session, &a, 6);
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(t.c);
}
END_TEST

/* The step behind commit writes the weight in place: w = x + w. */
TEST(weights_written_in_place_have_changed) {
    weight_case t = begin_weight();
    rt_case *c = t.c;
    uint32_t four = RT_EXPR(c, RT_INT(N));
    rt_output_of(c, "next", IG_F32, 1, &four, t.w);
    c->w.outputs.items[1].in_place_of = 0;
    rt_push(c, rt_step(c, IG_STEP_commit, "commit"));
    uint32_t last = rt_launch(c, "add",
                              RT_OPERANDS(c, RT_AT(t.w), RT_AT(t.x), RT_AT(t.w)),
                              RT_LIST(c, four, four), IG_NONE, IG_NONE);
    c->w.steps.items[last].outs = 1;
    c->w.buffers.items[t.kept].last = last;
    ig_program *program = rt_open(c, NULL);
    ig_session *session = create(program);
    call a;
    ig_view out[2];
    begin_call(&a);
    out[0] = a.out[0];
    out[1] = rt_room(NULL, 0);
    a.x[0] = 1;
    for (int i = 0; i < 3; i++) { /* y = x + 2 w; w = x + w */
        CHECK_OK(ig_session_run(session, a.in, 2, out, 2));
        CHECK(a.y[0] == (float)(1 + 2 * (i + 1)) && a.w[0] == (float)(i + 2));
    }
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

static void refuse(weight_case *t, const char *words) {
    ig_program *program = NULL;
    rt_pack(t->c);
    CHECK_STATUS(rt_try_open(t->c, t->c->bytes, t->c->size, &program), IG_INVALID);
    CHECK_MSG(strstr(t->c->why, words) != NULL, "'%s'", t->c->why);
    rt_end(t->c);
}

static ig_plan_operand *operand(weight_case *t, uint32_t step, uint32_t index) {
    ig_artifact_writer *w = &t->c->w;
    return &w->operands.items[w->steps.items[step].operands.first + index];
}

TEST(plans_whose_preparing_is_none) {
    weight_case t = begin_weight();
    operand(&t, SCALE, 1)->buffer = t.x; /* no weight */
    refuse(&t, "step 1: operand");
    t = begin_weight();
    operand(&t, PREPARE, 0)->buffer = t.x;
    operand(&t, SCALE, 1)->buffer = t.x;
    refuse(&t, "step 0: opened weight");
    t = begin_weight();
    t.c->w.steps.items[PREPARE].operands.count = 0; /* a weight that it does not name */
    refuse(&t, "step 1: operand");
    t = begin_weight();
    operand(&t, SCALE, 0)->buffer = t.y;
    refuse(&t, "step 1: operand");
    t = begin_weight();
    operand(&t, SCALE, 0)->buffer = rt_buffer(t.c, IG_SPACE_ARENA,
                                              RT_EXPR(t.c, RT_INT(16)), SCALE, ADD);
    refuse(&t, "step 1: operand"); /* it would be read where it was not written */
    t = begin_weight();
    t.c->w.variants.items[0].grid = t.batch; /* another for each call */
    refuse(&t, "step 1: variant");
    t = begin_weight();
    t.c->w.inputs.items[1].flags = IG_PORT_WEIGHT; /* of an extent that changes */
    refuse(&t, "input extent");
    t = begin_weight();
    t.c->w.inputs.items[1].flags = 2;
    refuse(&t, "port role");
    t = begin_weight();
    t.c->w.buffers.items[t.kept].bytes = t.batch;
    refuse(&t, "kept buffer");
    t = begin_weight();
    t.c->w.buffers.items[t.kept].last = SCALE; /* its memory would be another's */
    refuse(&t, "kept buffer");
}
END_TEST

TEST(plans_that_prepare_elsewhere) {
    weight_case t = begin_weight();
    ig_plan_step *steps = t.c->w.steps.items, add = steps[ADD];
    steps[ADD] = steps[SCALE];
    steps[SCALE] = steps[PREPARE];
    steps[PREPARE] = add;
    refuse(&t, "step 1: prepare"); /* after a step of each run */
    t = begin_weight();
    t.c->w.steps.items[PREPARE].body_count = 2;
    t.c->w.steps.items[SCALE] = t.c->w.steps.items[PREPARE];
    t.c->w.steps.items[SCALE].body_count = 1;
    refuse(&t, "step 1: prepare");
    t = begin_weight();
    t.c->w.steps.items[SCALE] = rt_step(t.c, IG_STEP_commit, "commit");
    refuse(&t, "step 1: prepared step");
    t = begin_weight();
    t.c->w.operands.items[t.c->w.steps.items[ADD].operands.first].buffer = t.kept;
    t.c->w.steps.items[ADD].outs = 3;
    refuse(&t, "step 2: destination");
}
END_TEST

UNIT_SUITE(runtime_prepare, once_a_change, a_run_that_failed_prepares_again,
           weights_written_in_place_have_changed, plans_whose_preparing_is_none,
           plans_that_prepare_elsewhere)
