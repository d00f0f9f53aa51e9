/* Weights that the caller gives and changes, as a host program sees them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

enum { K = 4, N = 20 };

/* Two biases of zeros: folded, or taken for one another, they could not be told apart.
 * The matrix is made into panels. */
static const char model[] =
    "module @m {\n"
    "  weight @b0 : f32[4] = splat(0) {parameter}\n"
    "  weight @b1 : f32[4] = splat(0) {parameter}\n"
    "  weight @w : f32[4, 20] = splat(1) {parameter}\n"
    "  weight @k : f32[20] = splat(2)\n"
    "  graph @main(%x: f32[B, 4]) -> (f32[B, 20] \"y\", f32[B, 4] \"z\") {\n"
    "    %0 = add %x, @b0 : f32[B, 4]\n"
    "    %1 = relu %0 : f32[B, 4]\n"
    "    %2 = add %1, @b1 : f32[B, 4]\n"
    "    %3 = matmul %2, @w : f32[B, 20]\n"
    "    %4 = mul %3, @k : f32[B, 20]\n"
    "    ret %4, %2\n"
    "  }\n"
    "}\n";

typedef struct call {
    float x[2 * K], b0[K], b1[K], w[K * N], y[2 * N], z[2 * K];
    ig_view in[4], out[2];
} call;

static void begin_call(call *a) {
    *a = (call){ .x = { 1, 2, 3, 4 } };
    a->in[0] = (ig_view){ .data = a->x, .dtype = IG_F32, .rank = 2, .dims = { 1, K } };
    a->in[1] = (ig_view){ .data = a->b0, .dtype = IG_F32, .rank = 1, .dims = { K } };
    a->in[2] = (ig_view){ .data = a->b1, .dtype = IG_F32, .rank = 1, .dims = { K } };
    a->in[3] = (ig_view){ .data = a->w, .dtype = IG_F32, .rank = 2, .dims = { K, N } };
    for (int i = 0; i < K * N; i++) {
        a->w[i] = 1;
    }
    a->out[0] = (ig_view){ .data = a->y, .capacity = sizeof a->y };
    a->out[1] = (ig_view){ .data = a->z, .capacity = sizeof a->z };
}

static void check_run(ig_session *session, call *a, float y, float z) {
    ig_status status = ig_session_run(session, a->in, 4, a->out, 2);
    CHECK_MSG(status == IG_OK, "%s", ig_session_error(session));
    for (int i = 0; i < N; i++) {
        CHECK_MSG(a->y[i] == y, "y[%d] is %g", i, (double)a->y[i]);
    }
    CHECK_MSG(a->z[0] == z, "z is %g", (double)a->z[0]);
}

static ig_context *open_context(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    CHECK(context);
    return context;
}

static ig_status import(ig_context *context, const char *names, ig_module **out) {
    ig_import_options options = { .size = sizeof options, .open_weights = names };
    return ig_import_memory(context, model, strlen(model), NULL, &options, out);
}

TEST(one_of_two_equal_biases_changes) {
    ig_context *context = open_context();
    ig_module *module = NULL;
    ig_program *program = NULL;
    ig_session *session = NULL;
    CHECK_OK(import(context, "all", &module));
    CHECK(ig_module_input_count(module) == 4);
    CHECK_OK(ig_compile(module, NULL, &program));
    CHECK(ig_program_input_count(program) == 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(ig_program_input(program, i).is_weight == (i > 0));
    }
    CHECK(strcmp(ig_program_input(program, 2).name, "b1") == 0);
    CHECK_OK(ig_session_create(program, NULL, &session));
    call a;
    begin_call(&a);
    check_run(session, &a, 20, 1);
    a.b1[0] = 10; /* read as it is: no step prepares it */
    check_run(session, &a, 40, 11);
    a.b0[1] = -2; /* relu(0) in place of 2 */
    check_run(session, &a, 36, 11);
    for (int i = 0; i < K * N; i++) {
        a.w[i] = 3; /* of panels that were made of it */
    }
    check_run(session, &a, 36, 11);
    a.in[0].dims[0] = 2;
    check_run(session, &a, 36, 11);
    ig_session_weights_changed(session);
    check_run(session, &a, 108, 11);
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}
END_TEST

TEST(weights_are_opened_by_name) {
    ig_context *context = open_context();
    ig_module *module = NULL;
    CHECK_OK(import(context, "b1,k", &module));
    CHECK(ig_module_input_count(module) == 3);
    CHECK(strcmp(ig_module_input_name(module, 1), "b1") == 0);
    CHECK(strcmp(ig_module_input_name(module, 2), "k") == 0);
    ig_module_close(module);
    CHECK_STATUS(import(context, "b1,q", &module), IG_INVALID);
    CHECK(module == NULL);
    CHECK_MSG(strstr(ig_context_messages(context), "no weight 'q'") != NULL, "%s",
              ig_context_messages(context));
    ig_context_destroy(context);
}
END_TEST

UNIT_SUITE(compiled_open_weights, one_of_two_equal_biases_changes,
           weights_are_opened_by_name)
