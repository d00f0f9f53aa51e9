/* Rules of reverse mode against differences of the interpreter's results, in f64.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is a graph of floats: its arguments, its ops, and between which numbers its
 * inputs lie.  The gradient of the sum of weights times its last value is held against
 * what the sum does when an element of an input moves a little to both sides.
 */
#include "driver/host.h"
#include "ingot/grad.h"
#include "ingot/group.h"
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "ir/dim/dim.h"
#include "ir/interpret/interpret.h"
#include "tests/unit/unit.h"

#include <math.h>

UNIT_WITH_LLVM

typedef struct grad_row {
    const char *name, *arguments, *ops; /* the last op gives %y */
    double low, high;
    const char *type; /* of %y */
} grad_row;

static const grad_row grad_rows[] = {
#define ROW(name, low, high, arguments, type, ops) \
    { name, arguments, ops, low, high, type },
#include "tests/unit/passes/grad_rows.def"
#undef ROW
};

enum { INPUTS = 8 };

typedef struct grad_check {
    const grad_row *row;
    ig_context *context;
    ig_module *forward, *backward;
    ig_arena arena;
    ig_tensor inputs[INPUTS + 1]; /* the last: weights of the sum */
    uint32_t count;
    uint64_t state;
} grad_check;

static ig_module *read_graph(const grad_check *c) {
    char text[4096];
    ig_module *module = NULL;
    snprintf(text, sizeof text,
             "module @m {\ngraph @main(%s) -> (%s) {\n%s\nret %%y\n}\n}\n",
             c->row->arguments, c->row->type, c->row->ops);
    ig_status status = ig_import_memory(c->context, text, strlen(text), c->row->name,
                                        NULL, &module);
    CHECK_MSG(status == IG_OK, "%s: %s", c->row->name, ig_context_messages(c->context));
    return module;
}

static const ig_graph *entry_of(const ig_module *module) {
    return module->graphs.items[0];
}

/* ---- values ---- */

static double draw(grad_check *c) {
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    double share = (double)(c->state >> 33) / (double)(1u << 31);
    return c->row->low + share * (c->row->high - c->row->low);
}

/* f32 stands in rows of products alone: with numbers of few bits they are exact, and
 * the slope is that of any step. */
static double step_of(const ig_tensor *tensor) {
    return tensor->dtype == IG_DT_f32 ? 0.125 : 1e-6;
}

static double draw_for(grad_check *c, const ig_tensor *tensor) {
    double x = draw(c);
    return tensor->dtype == IG_DT_f32 ? round(x * 16) / 16 : x;
}

/* Floats between the row's bounds; integers 0, 1, 2, 0 …; true and false in turn. */
static void fill_input(grad_check *c, ig_tensor *to, const ig_type *type) {
    int64_t dims[IG_TENSOR_RANK], count = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        CHECK(ig_dim_known(type->dims[i], &dims[i]));
        count *= dims[i];
    }
    *to = (ig_tensor){ 0 };
    CHECK_OK(
        ig_tensor_alloc(&c->arena, NULL, (ig_dtype)type->dtype, type->rank, dims, to));
    for (int64_t i = 0; i < count; i++) {
        if (ig_dtype_is_float((ig_dtype)type->dtype)) {
            ig_tensor_set_f64(to, i, draw_for(c, to));
        } else {
            ig_tensor_set_i64(to, i, type->dtype == IG_DT_bool ? i % 2 : i % 3);
        }
    }
}

/* The sum of the weights times what the graph gives. */
static double weighted_sum(grad_check *c) {
    ig_tensor y = { 0 };
    const ig_graph *graph = entry_of(c->forward);
    ig_status status = ig_interpret(graph, c->inputs, &c->arena, &y);
    CHECK_MSG(status == IG_OK, "%s: %s", c->row->name, ig_context_messages(c->context));
    double sum = 0;
    for (int64_t i = 0; i < y.count; i++) {
        sum += ig_tensor_get_f64(&y, i) * ig_tensor_get_f64(&c->inputs[c->count], i);
    }
    return sum;
}

/* ---- both sides ---- */

static bool is_float(const ig_tensor *tensor) {
    return ig_dtype_is_float(tensor->dtype);
}

/* How the sum changes with one element, by a step to both sides. */
static double slope_at(grad_check *c, ig_tensor *input, int64_t index) {
    double at = ig_tensor_get_f64(input, index), step = step_of(input);
    ig_tensor_set_f64(input, index, at + step);
    double above = weighted_sum(c);
    ig_tensor_set_f64(input, index, at - step);
    double below = weighted_sum(c);
    ig_tensor_set_f64(input, index, at);
    return (above - below) / (2 * step);
}

static void check_input(grad_check *c, uint32_t index, const ig_tensor *got) {
    ig_tensor *input = &c->inputs[index];
    CHECK_INT(got->count, input->count);
    for (int64_t i = 0; i < input->count; i++) {
        double want = slope_at(c, input, i), is = ig_tensor_get_f64(got, i);
        CHECK_MSG(fabs(is - want) <= 1e-6 * fmax(1.0, fabs(want)),
                  "%s: input %u [%lld]: the gradient is %.9g, the slope %.9g",
                  c->row->name, index, (long long)i, is, want);
    }
}

static void open_check(grad_check *c, int index) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_grad_options how = { .size = sizeof how, .wanted = "*", .has_seed = 1 };
    c->row = &grad_rows[index];
    c->state = (uint64_t)index + 1;
    c->context = ig_context_create(&options);
    c->forward = read_graph(c);
    c->backward = read_graph(c);
    ig_status status = ig_module_grad(c->backward, &how, NULL);
    CHECK_MSG(status == IG_OK, "%s: %s", c->row->name, ig_context_messages(c->context));
    ig_arena_init(&c->arena, &c->context->budget);
    const ig_graph *graph = entry_of(c->backward);
    c->count = entry_of(c->forward)->body.arg_count;
    CHECK(c->count <= INPUTS && graph->body.arg_count == c->count + 1);
    for (uint32_t i = 0; i <= c->count; i++) {
        fill_input(c, &c->inputs[i], graph->body.args[i]->type);
    }
}

static void close_check(grad_check *c) {
    ig_arena_fini(&c->arena);
    ig_module_close(c->forward);
    ig_module_close(c->backward);
    ig_context_destroy(c->context);
}

static void run_backward(grad_check *c, ig_tensor *got) {
    ig_status status = ig_interpret(entry_of(c->backward), c->inputs, &c->arena, got);
    CHECK_MSG(status == IG_OK, "%s: %s", c->row->name, ig_context_messages(c->context));
}

TEST(gradients_are_slopes) {
    grad_check c = { 0 };
    ig_tensor got[INPUTS];
    uint32_t at = 0;
    open_check(&c, _i);
    run_backward(&c, got);
    for (uint32_t i = 0; i < c.count; i++) {
        if (is_float(&c.inputs[i])) {
            check_input(&c, i, &got[at++]);
        }
    }
    close_check(&c);
}
END_TEST

static void fill_with(ig_tensor *tensor, double number) {
    for (int64_t i = 0; is_float(tensor) && i < tensor->count; i++) {
        ig_tensor_set_f64(tensor, i, number);
    }
}

/* Does the graph itself take these inputs? */
static bool runs_forward(grad_check *c) {
    ig_tensor y = { 0 };
    return ig_interpret(entry_of(c->forward), c->inputs, &c->arena, &y) == IG_OK;
}

/* No number makes a gradient fail that the graph itself takes. */
TEST(gradients_take_any_number) {
    static const double numbers[] = {
        0, -0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 1e300, 1e-320
    };
    grad_check c = { 0 };
    ig_tensor got[INPUTS];
    open_check(&c, _i);
    for (size_t n = 0; n < IG_COUNT_OF(numbers); n++) {
        for (uint32_t i = 0; i < c.count; i++) {
            fill_with(&c.inputs[i], numbers[n]);
        }
        if (runs_forward(&c)) {
            run_backward(&c, got);
        }
    }
    close_check(&c);
}
END_TEST

/* ---- compiled ---- */

static ig_view view_of(const ig_tensor *tensor) {
    ig_view view = { .data = tensor->data, .rank = tensor->rank };
    view.dtype = ig_dtype_number(ig_dtypes[tensor->dtype].name);
    memcpy(view.dims, tensor->dims, tensor->rank * sizeof *tensor->dims);
    return view;
}

static void check_compiled(const grad_check *c, const ig_view *got,
                           const ig_tensor *want) {
    CHECK_INT(got->rank, want->rank);
    for (int64_t i = 0; i < want->count; i++) {
        double is = want->dtype == IG_DT_f32 ? (double)((const float *)got->data)[i]
                                             : ((const double *)got->data)[i];
        double must = ig_tensor_get_f64(want, i);
        CHECK_MSG(fabs(is - must) <= 1e-9 * fmax(1.0, fabs(must)),
                  "%s: [%lld] is %.17g, not %.17g", c->row->name, (long long)i, is,
                  must);
    }
}

TEST(compiled_gradients_are_the_same) {
    grad_check c = { 0 };
    ig_program *program = NULL;
    ig_session *session = NULL;
    ig_tensor want[INPUTS];
    ig_view in[INPUTS + 1] = { { .data = NULL } }, out[INPUTS] = { { .data = NULL } };
    ig_compile_options options = { .size = sizeof options };
    open_check(&c, _i);
    run_backward(&c, want);
    size_t count = ig_module_output_count(c.backward);
    ig_status status = ig_compile(c.backward, &options, &program);
    CHECK_MSG(status == IG_OK, "%s: %s", c.row->name, ig_context_messages(c.context));
    ig_group *group = NULL; /* programs of ranks want one */
    CHECK_OK(ig_group_open("self", NULL, &group));
    ig_session_options alone = { .size = sizeof alone, .ranks = ig_group_ranks(group) };
    CHECK_OK(ig_session_create(program, &alone, &session));
    for (uint32_t i = 0; i <= c.count; i++) {
        in[i] = view_of(&c.inputs[i]);
    }
    status = ig_session_run(session, in, c.count + 1, out, count);
    CHECK_MSG(status == IG_OK, "%s: %s", c.row->name, ig_session_error(session));
    for (size_t i = 0; i < count; i++) {
        check_compiled(&c, &out[i], &want[i]);
    }
    ig_session_destroy(session);
    ig_program_close(program);
    ig_group_close(group);
    close_check(&c);
}
END_TEST

/* ---- what is kept for the backward part ---- */

/* The operand of relu may go, and with it its memory: a product makes its result. */
TEST(relu_is_known_by_its_result) {
    static const char text[] =
        "module @m {\n graph @main(%x: f32[3, 4], %w: f32[4, 2]) -> (f32[3, 2]) {\n"
        "  %0 = matmul %x, %w\n  %1 = relu %0\n  ret %1\n }\n}\n";
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    ig_grad_options how = { .size = sizeof how, .wanted = "w" };
    CHECK_OK(ig_import_memory(context, text, strlen(text), "m.ig", NULL, &module));
    CHECK_OK(ig_module_grad(module, &how, NULL));
    uint32_t products = 0;
    for (const ig_op *op = entry_of(module)->body.first; op; op = op->next) {
        const ig_use *use = op->code == IG_OP_matmul ? op->results[0].uses : NULL;
        products += use && use->user->code == IG_OP_relu && !use->next;
    }
    CHECK_INT(products, 1);
    ig_module_close(module);
    ig_context_destroy(context);
}
END_TEST

/* ---- what is refused ---- */

static void check_message(const char *text, const char *wanted, const char *words) {
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    ig_grad_options how = { .size = sizeof how, .wanted = wanted };
    CHECK_OK(ig_import_memory(context, text, strlen(text), "m.ig", NULL, &module));
    CHECK(ig_module_grad(module, &how, NULL) != IG_OK);
    const char *messages = ig_context_messages(context);
    CHECK_MSG(strstr(messages, words), "'%s' is not in: %s", words, messages);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(messages_name_node_and_op) {
    check_message("module @m {\n graph @main(%x: f32[3]) -> (f32[3]) {\n"
                  "  %y = quantize %x, %x {to = i8}\n  %z = cast %y {to = f32}\n"
                  "  ret %z\n }\n}\n",
                  "none", "no weight or input is called 'none'");
    check_message("module @m {\n graph @main(%x: f32[3], %i: i64[3]) -> (f32[3]) {\n"
                  "  %y = scatter_elements %x, %i, %x {axis = 0, reduce = mul}\n"
                  "  ret %y\n }\n}\n",
                  "x", "m.ig:3:8: no gradient of 'scatter_elements': products are");
    check_message("module @m {\n graph @main(%x: f32[3], %n: i64[], %c: bool[]) -> "
                  "(f32[3]) {\n"
                  "  %y = loop %n, %c, %x (%i: i64[], %k: bool[], %g: f32[3]) {\n"
                  "   %e = exp %g\n   yield %k, %e\n  } : f32[3]\n  ret %y\n }\n}\n",
                  "x", "no gradient of 'loop': its number of trips depends on");
    check_message("module @m {\n graph @main(%x: f32[3]) -> (i64[3]) {\n"
                  "  %y = cast %x {to = i64}\n  ret %y\n }\n}\n",
                  "x", "name the output");
}
END_TEST

static const char loss_text[] =
    "module @m {\n graph @main(%x: f64[B, 2], %t: f64[C, 2]) -> (f64[]) {\n"
    "  %d = sub %x, %t\n  %q = mul %d, %d\n  %y = reduce %q\n  ret %y\n }\n}\n";

/* The gradient by x where t has `rows` rows of ones, and x two. */
static ig_status run_loss(ig_module *module, int64_t rows, double *out) {
    double x[] = { 1, 2, 3, 4 }, t[] = { 1, 1, 1, 1 };
    const int64_t two[] = { 2, 2 }, own[] = { rows, 2 };
    ig_argument in[] = {
        { .dtype = "f64", .rank = 2, .dims = two, .data = x, .size = sizeof x },
        { .dtype = "f64", .rank = 2, .dims = own, .data = t, .size = sizeof *t },
    };
    in[1].size *= (size_t)rows * 2;
    const ig_argument *outputs = NULL;
    size_t count = 0;
    IG_TRY(ig_interpret_run(module, in, 2, &outputs, &count));
    for (size_t i = 0; i < 4; i++) {
        out[i] = ig_argument_number(outputs, i);
    }
    return IG_OK;
}

/* The same compiled. */
static ig_status run_compiled(ig_session *session, int64_t rows) {
    double x[] = { 1, 2, 3, 4 }, t[] = { 1, 1, 1, 1 };
    ig_view in[] = { { .data = x, .rank = 2, .dims = { 2, 2 } },
                     { .data = t, .rank = 2, .dims = { rows, 2 } } };
    ig_view out = { .data = NULL };
    in[0].dtype = in[1].dtype = ig_dtype_number("f64");
    IG_TRY(ig_session_run(session, in, 2, &out, 1));
    CHECK(((const double *)out.data)[3] == 6);
    return IG_OK;
}

/* Labels' batch and logits': equal, or an error that names both. */
TEST(broadcast_extents_are_to_be_equal) {
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    ig_program *program = NULL;
    ig_session *session = NULL;
    ig_grad_options how = { .size = sizeof how, .wanted = "x" };
    double got[4];
    CHECK_OK(
        ig_import_memory(context, loss_text, strlen(loss_text), "m.ig", NULL, &module));
    CHECK_OK(ig_module_grad(module, &how, NULL));
    CHECK_OK(run_loss(module, 2, got));
    CHECK(got[0] == 0 && got[3] == 6);
    CHECK_STATUS(run_loss(module, 1, got), IG_INVALID);
    const char *messages = ig_context_messages(context);
    CHECK_MSG(strstr(messages, "'x'") && strstr(messages, "'t'"), "%s", messages);
    CHECK_OK(ig_compile(module, NULL, &program));
    CHECK_OK(ig_session_create(program, NULL, &session));
    CHECK_OK(run_compiled(session, 2));
    CHECK_STATUS(run_compiled(session, 1), IG_INVALID);
    const char *words = ig_session_error(session);
    CHECK_MSG(strstr(words, "expected 2 as dim 0 of input 'x'"), "%s", words);
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}
END_TEST

static void add_rows(TCase *tcase) {
    int count = (int)IG_COUNT_OF(grad_rows);
    setenv("INGOT_PROVIDER_DIR", INGOT_BINARY_DIR, 1);
    tcase_add_loop_test(tcase, gradients_are_slopes, 0, count);
    tcase_add_loop_test(tcase, gradients_take_any_number, 0, count);
    tcase_add_loop_test(tcase, compiled_gradients_are_the_same, 0, count);
}

UNIT_SUITE_WITH(grad_rules, add_rows, relu_is_known_by_its_result,
                messages_name_node_and_op, broadcast_extents_are_to_be_equal)
