/* Rules of reverse mode against differences of the interpreter's results, in f64.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is a graph of floats: its arguments, its ops, and between which numbers its
 * inputs lie.  The gradient of the sum of weights times its last value is held against
 * what the sum does when an element of an input moves a little to both sides.
 */
#include "driver/host.h"
#include "ingot/grad.h"
#include "ingot/ingot.h"
#include "ir/dim/dim.h"
#include "ir/interpret/interpret.h"
#include "tests/unit/unit.h"

#include <math.h>

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

enum { INPUTS = 8, ELEMENTS = 256 };
static const double step = 1e-6;

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
            ig_tensor_set_f64(to, i, draw(c));
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
    double at = ig_tensor_get_f64(input, index);
    ig_tensor_set_f64(input, index, at + step);
    double above = weighted_sum(c);
    ig_tensor_set_f64(input, index, at - step);
    double below = weighted_sum(c);
    ig_tensor_set_f64(input, index, at);
    return (above - below) / (2 * step);
}

static void check_input(grad_check *c, uint32_t number, const ig_tensor *got) {
    ig_tensor *input = &c->inputs[number];
    CHECK_INT(got->count, input->count);
    for (int64_t i = 0; i < input->count; i++) {
        double want = slope_at(c, input, i), is = ig_tensor_get_f64(got, i);
        CHECK_MSG(fabs(is - want) <= 1e-6 * fmax(1.0, fabs(want)),
                  "%s: input %u [%lld]: the gradient is %.9g, the slope %.9g",
                  c->row->name, number, (long long)i, is, want);
    }
}

static void open_check(grad_check *c, int number) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_grad_options how = { .size = sizeof how, .wanted = "*", .has_seed = 1 };
    c->row = &grad_rows[number];
    c->state = (uint64_t)number + 1;
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

static void add_rows(TCase *tcase) {
    int count = (int)IG_COUNT_OF(grad_rows);
    tcase_add_loop_test(tcase, gradients_are_slopes, 0, count);
    tcase_add_loop_test(tcase, gradients_take_any_number, 0, count);
}

UNIT_SUITE_WITH(grad_rules, add_rows, NULL)
