/* State and signature trees as a host program sees them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

/* A counter, and a log of what was seen whose length grows by each call's. */
static const char model[] =
    "module @m {\n"
    "  weight @calls : i64[] = 5\n"
    "  weight @seen : f32[0] = []\n"
    "  graph @main(%x: f32[N], %calls: i64[] = @calls, %seen: f32[S] = @seen)\n"
    "      -> (f32[N] \"y\", i64[], f32[N + S])\n"
    "      as step(x: tensor, by: 1) -> {\"y\": tensor} {\n"
    "    %0 = const {value = 1} : i64[]\n"
    "    %1 = add %calls, %0 : i64[]\n"
    "    %2 = cast %1 {to = f32} : f32[]\n"
    "    %3 = mul %x, %2 : f32[N]\n"
    "    %4 = concat %x, %seen {axis = 0} : f32[N + S]\n"
    "    %5 = reduce %seen {op = sum, axes = [0]} : f32[]\n"
    "    %6 = add %3, %5 : f32[N]\n"
    "    ret %6, %1, %4\n"
    "  }\n"
    "}\n";

static ig_context *open_context(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    CHECK(context);
    return context;
}

static ig_module *import(ig_context *context, const char *text) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(context, text, strlen(text), NULL, NULL,
                                        &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    return module;
}

/* Calls in order: x, and the y that they give when state begins with 5 and nothing. */
static const struct {
    float x[3];
    size_t count;
    float y[3];
} calls[] = {
    { { 1, 2 }, 2, { 6, 12 } },         /* 6 x + 0 */
    { { 1 }, 1, { 7 + 3 } },            /* 7 x + 1 + 2 */
    { { 1, 0, -1 }, 3, { 12, 4, -4 } }, /* 8 x + 1 + 1 + 2 */
};

static void check_floats(const float *got, size_t index) {
    for (size_t i = 0; i < calls[index].count; i++) {
        CHECK_MSG(got[i] == calls[index].y[i], "call %zu: y[%zu] is %g", index, i,
                  (double)got[i]);
    }
}

static void check_session(ig_session *session) {
    for (size_t c = 0; c < IG_COUNT_OF(calls); c++) {
        float x[3];
        ig_view in = {
            .data = x, .dtype = IG_F32, .rank = 1, .dims = { (int64_t)calls[c].count }
        };
        ig_view out = { 0 };
        memcpy(x, calls[c].x, sizeof x);
        CHECK_MSG(ig_session_run(session, &in, 1, &out, 1) == IG_OK, "%s",
                  ig_session_error(session));
        CHECK_INT(out.dims[0], calls[c].count);
        check_floats(out.data, c);
    }
}

static ig_program *compile(ig_context *context, ig_module *module) {
    ig_program *program = NULL;
    CHECK_MSG(ig_compile(module, NULL, &program) == IG_OK, "%s",
              ig_context_messages(context));
    return program;
}

TEST(sessions_keep_state_between_runs) {
    ig_context *context = open_context();
    ig_module *module = import(context, model);
    ig_program *program = compile(context, module);
    ig_session *session = NULL, *other = NULL;
    CHECK_INT(ig_program_input_count(program), 1);
    CHECK_INT(ig_program_output_count(program), 1);
    CHECK_INT(ig_program_state_count(program), 2);
    CHECK_TEXT(ig_program_state(program, 0).type, "i64[]");
    CHECK_INT(ig_session_create(program, NULL, &session), IG_OK);
    CHECK_INT(ig_session_create(program, NULL, &other), IG_OK);
    check_session(session);
    check_session(other); /* has its own */
    ig_session_reset(session);
    check_session(session);
    ig_session_destroy(session);
    ig_session_destroy(other);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(a_bound_session_goes_on_with_its_state) {
    ig_context *context = open_context();
    ig_module *module = import(context, model);
    ig_program *program = compile(context, module);
    ig_session *session = NULL;
    float x = 1, y = 0;
    ig_view in = { .data = &x, .dtype = IG_F32, .rank = 1, .dims = { 1 } };
    ig_view out = { .data = &y, .capacity = sizeof y };
    CHECK_INT(ig_session_create(program, NULL, &session), IG_OK);
    CHECK_INT(ig_session_bind(session, &in, 1, &out, 1), IG_OK);
    for (int i = 0; i < 5; i++) { /* 6 + i times 1, and i ones seen */
        CHECK_INT(ig_session_run_bound(session), IG_OK);
        CHECK_MSG(y == (float)(6 + 2 * i), "run %d: %g", i, (double)y);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* Looks a row up: an id out of range fails the run. */
static const char failing[] =
    "module @m {\n"
    "  weight @n : i64[] = 0\n"
    "  weight @w : f32[2, 1] = [3, 4]\n"
    "  graph @main(%id: i64[1], %n: i64[] = @n) -> (f32[1, 1], i64[] \"n\", i64[]) {\n"
    "    %0 = const {value = 1} : i64[]\n"
    "    %1 = add %n, %0 : i64[]\n"
    "    %2 = gather @w, %id {axis = 0} : f32[1, 1]\n"
    "    ret %2, %1, %1\n"
    "  }\n"
    "}\n";

TEST(a_failed_run_leaves_state_as_it_was) {
    static const struct {
        int64_t id;
        bool is_good;
        int64_t n;
    } runs[] = { { 1, true, 1 },  { 7, false, 0 }, { 0, true, 2 },
                 { 7, false, 0 }, { 7, false, 0 }, { 1, true, 3 } };
    ig_context *context = open_context();
    ig_module *module = import(context, failing);
    ig_program *program = compile(context, module);
    ig_session *session = NULL;
    CHECK_INT(ig_session_create(program, NULL, &session), IG_OK);
    for (size_t i = 0; i < IG_COUNT_OF(runs); i++) {
        int64_t id = runs[i].id;
        ig_view in = { .data = &id, .dtype = IG_I64, .rank = 1, .dims = { 1 } };
        ig_view out[2] = { { 0 } };
        bool is_good = ig_session_run(session, &in, 1, out, 2) == IG_OK;
        CHECK_INT(is_good, runs[i].is_good);
        CHECK_MSG(!is_good || *(int64_t *)out[1].data == runs[i].n, "run %zu", i);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(the_interpreter_keeps_state_too) {
    ig_context *context = open_context();
    ig_module *module = import(context, model);
    CHECK_INT(ig_module_input_count(module), 1);
    CHECK_INT(ig_module_output_count(module), 1);
    CHECK_INT(ig_module_state_count(module), 2);
    for (size_t c = 0; c < 2 * IG_COUNT_OF(calls); c++) {
        size_t index = c % IG_COUNT_OF(calls), count = 0;
        int64_t extent = (int64_t)calls[index].count;
        const ig_argument *out = NULL;
        ig_argument in = { .dtype = "f32",
                           .rank = 1,
                           .dims = &extent,
                           .data = calls[index].x,
                           .size = calls[index].count * sizeof(float) };
        if (index == 0) {
            ig_interpret_reset(module);
        }
        CHECK_MSG(ig_interpret_run(module, &in, 1, &out, &count) == IG_OK, "%s",
                  ig_context_messages(context));
        CHECK_INT(count, 1);
        check_floats(out[0].data, index);
    }
    ig_module_close(module);
    ig_context_destroy(context);
}

/* Each run has a number of its own, of which random numbers are made. */
TEST(the_interpreter_counts_its_runs) {
    static const char text[] = "module @m {\n  graph @main(%x: f32[1]) -> (i64[]) {\n"
                               "    %0 = run_number : i64[]\n    ret %0\n  }\n}\n";
    ig_context *context = open_context();
    ig_module *module = import(context, text);
    const float x = 0;
    const int64_t extent = 1;
    ig_argument in = {
        .dtype = "f32", .rank = 1, .dims = &extent, .data = &x, .size = sizeof x
    };
    int64_t before = -1;
    for (int run = 0; run < 3; run++) {
        const ig_argument *out = NULL;
        size_t count = 0;
        CHECK_MSG(ig_interpret_run(module, &in, 1, &out, &count) == IG_OK, "%s",
                  ig_context_messages(context));
        int64_t number = *(const int64_t *)out[0].data;
        CHECK_MSG(number != before, "run %d is number %lld, too", run,
                  (long long)number);
        before = number;
    }
    ig_module_close(module);
    ig_context_destroy(context);
}

/* ---- trees ---- */

static void check_tree(const ig_tree_node *nodes, size_t count) {
    static const ig_tree_node wanted[] = {
        { IG_TREE_CALL, 3, 6, -1, "step", "", 2, 0 },
        { IG_TREE_TENSOR, 0, 1, 0, "x", "", 0, 0 },
        { IG_TREE_INT, 0, 1, -1, "by", "", 1, 0 },
        { IG_TREE_DICT, 2, 3, -1, "", "", 0, 0 },
        { IG_TREE_STR, 0, 1, -1, "", "y", 0, 0 },
        { IG_TREE_TENSOR, 0, 1, 0, "", "", 0, 0 },
    };
    CHECK_INT(count, IG_COUNT_OF(wanted));
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(nodes[i].kind, wanted[i].kind);
        CHECK_INT(nodes[i].child_count, wanted[i].child_count);
        CHECK_INT(nodes[i].size, wanted[i].size);
        CHECK_INT(nodes[i].leaf, wanted[i].leaf);
        CHECK_TEXT(nodes[i].name, wanted[i].name);
        CHECK_TEXT(nodes[i].text, wanted[i].text);
        CHECK_INT(nodes[i].integer, wanted[i].integer);
    }
}

TEST(module_and_program_tell_the_same_tree) {
    ig_tree_node nodes[16];
    ig_context *context = open_context();
    ig_module *module = import(context, model);
    ig_program *program = compile(context, module);
    size_t count = ig_module_node_count(module);
    CHECK_TEXT(ig_module_signature(module),
               "step(x: f32[N], by: 1) -> {\"y\": f32[N]}");
    CHECK(count <= IG_COUNT_OF(nodes));
    for (size_t i = 0; i < count; i++) {
        nodes[i] = ig_module_node(module, i);
    }
    check_tree(nodes, count);
    count = ig_program_node_count(program);
    CHECK(count <= IG_COUNT_OF(nodes));
    for (size_t i = 0; i < count; i++) {
        nodes[i] = ig_program_node(program, i);
    }
    check_tree(nodes, count);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(models_without_a_signature_have_a_flat_tree) {
    ig_context *context = open_context();
    ig_module *module = import(context, failing);
    ig_program *program = compile(context, module);
    ig_tree_node result = ig_program_node(program, 2);
    CHECK_INT(ig_program_node_count(program), 5);
    CHECK_TEXT(ig_module_signature(module), "main(id: i64[1]) -> (f32[1, 1], i64[])");
    CHECK_INT(result.kind, IG_TREE_TUPLE);
    CHECK_INT(result.child_count, 2);
    CHECK_TEXT(ig_program_node(program, 4).name, "n");
    CHECK_INT(ig_program_node(program, 4).leaf, 1);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* Nested arguments in, a nested result out, and what it says when they do not fit. */
TEST(calls_are_put_and_read_by_the_tree) {
    ig_context *context = open_context();
    ig_module *module = import(context, model);
    ig_program *program = compile(context, module);
    ig_session *session = NULL;
    ig_call *call = NULL;
    CHECK_INT(ig_session_create(program, NULL, &session), IG_OK);
    CHECK_INT(ig_call_create(program, NULL, &call), IG_OK);
    float x[3] = { 1, 2 };
    ig_view in = { .data = x, .dtype = IG_F32, .rank = 1, .dims = { 2 } }, *inputs;
    size_t count = 0;
    ig_call_begin(call);
    ig_call_put_tensor(call, &in), ig_call_put_int(call, 1);
    CHECK_INT(ig_call_finish(call, &inputs, &count), IG_OK);
    for (size_t i = 0; i < 2; i++) { /* the second time only the data change */
        ig_view out = { 0 };
        ig_call_value value;
        inputs[0].dims[0] = (int64_t)calls[i].count;
        x[0] = calls[i].x[0];
        CHECK_INT(ig_session_run(session, inputs, count, &out, 1), IG_OK);
        CHECK_INT(ig_call_read(call, &out, 1), IG_OK);
        CHECK(ig_call_next(call, &value) && value.kind == IG_TREE_DICT);
        CHECK(ig_call_next(call, &value) && strcmp(value.text, "y") == 0);
        CHECK(ig_call_next(call, &value) && value.view == &out);
        check_floats(value.view->data, i);
        CHECK(!ig_call_next(call, &value));
    }
    in.dtype = IG_F64;
    ig_call_begin(call);
    CHECK_INT(ig_call_put_tensor(call, &in), IG_INVALID);
    CHECK_TEXT(ig_call_error(call), "args[0]: expected f32[N], got f64[2]");
    ig_call_destroy(call);
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* ONNX's ZipMap: inputs without a method, and a record that a host makes dicts of. */
static const char zipped[] =
    "module @m {\n"
    "  graph @main(%x: f32[N, 2]) -> (f32[N, 2] \"p\")\n"
    "      as \"\"(x: tensor) -> (ai.onnx.ml.ZipMap(keys=[-7, \"b\"], values=tensor),) "
    "{\n"
    "    %0 = neg %x : f32[N, 2]\n"
    "    ret %0\n"
    "  }\n"
    "}\n";

TEST(a_list_of_dicts_is_a_record_of_keys_and_values) {
    ig_context *context = open_context();
    ig_module *module = import(context, zipped);
    ig_program *program = compile(context, module);
    ig_call *call = NULL;
    float p[4] = { 0 };
    ig_view out = { .data = p, .dtype = IG_F32, .rank = 2, .dims = { 2, 2 } };
    ig_call_value value;
    CHECK_TEXT(ig_module_signature(module),
               "main(x: f32[N, 2]) -> "
               "(ai.onnx.ml.ZipMap(keys=[-7, \"b\"], values=f32[N, 2]),)");
    CHECK_TEXT(ig_program_node(program, 0).name, "");
    CHECK_INT(ig_call_create(program, NULL, &call), IG_OK);
    CHECK_INT(ig_call_read(call, &out, 1), IG_OK);
    CHECK(ig_call_next(call, &value) && value.kind == IG_TREE_TUPLE);
    CHECK(ig_call_next(call, &value) && value.kind == IG_TREE_RECORD);
    CHECK_TEXT(value.text, IG_TREE_ZIP_MAP);
    CHECK(ig_call_next(call, &value) && value.kind == IG_TREE_LIST);
    CHECK_TEXT(value.name, "keys");
    CHECK(ig_call_next(call, &value) && value.integer == -7);
    CHECK(ig_call_next(call, &value) && strcmp(value.text, "b") == 0);
    CHECK(ig_call_next(call, &value) && value.view == &out);
    CHECK_TEXT(value.name, "values");
    CHECK(!ig_call_next(call, &value));
    ig_call_destroy(call);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

UNIT_SUITE(api_state, sessions_keep_state_between_runs,
           a_bound_session_goes_on_with_its_state, a_failed_run_leaves_state_as_it_was,
           the_interpreter_keeps_state_too, the_interpreter_counts_its_runs,
           module_and_program_tell_the_same_tree,
           models_without_a_signature_have_a_flat_tree,
           calls_are_put_and_read_by_the_tree,
           a_list_of_dicts_is_a_record_of_keys_and_values)
