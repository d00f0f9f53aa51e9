/* ONNX's operator Gradient, at the values of the graph and at others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/unit.h"

#include <math.h>

static void add_strings(onnx_model *m, Onnx__NodeProto *node, const char *name,
                        const char *list) {
    Onnx__AttributeProto *attr =
        onnx_attr(m, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    char **texts = onnx_names(m, list, &attr->n_strings);
    attr->strings = ig_arena_alloc(&m->arena, attr->n_strings * sizeof *attr->strings);
    for (size_t i = 0; i < attr->n_strings; i++) {
        attr->strings[i].data = (uint8_t *)texts[i];
        attr->strings[i].len = strlen(texts[i]);
    }
}

/* z = exp(x * x * c), and the gradients by `xs` where inputs stand for them and
 * `zs`. */
static void build_model(onnx_model *m, const char *ins, const char *outs,
                        const char *xs, const char *zs, const char *y) {
    onnx_model_init(m, 17);
    m->opsets[1] = ig_arena_alloc(&m->arena, sizeof **m->opsets);
    onnx__operator_set_id_proto__init(m->opsets[1]);
    m->opsets[1]->domain = "ai.onnx.preview.training";
    m->opsets[1]->has_version = 1;
    m->opsets[1]->version = 1;
    m->model.n_opset_import = 2;
    onnx_input(m, "x", ONNX_F32, 1, "2");
    onnx_input(m, "c", ONNX_F32, 1, "1");
    onnx_input(m, "p", ONNX_F32, 1, "2");
    onnx_node(m, "Mul", "x,x", "s");
    onnx_node(m, "Mul", "s,c", "t");
    onnx_node(m, "Exp", "t", "z");
    Onnx__NodeProto *node = onnx_node(m, "Gradient", ins, outs);
    node->domain = "ai.onnx.preview.training";
    add_strings(m, node, "xs", xs);
    if (*zs) {
        add_strings(m, node, "zs", zs);
    }
    onnx_attr_s(m, node, "y", y);
    size_t count;
    char **names = onnx_names(m, outs, &count);
    for (size_t i = 0; i < count; i++) {
        onnx_output(m, names[i]);
    }
    onnx_output(m, "z");
}

static ig_status run_model(onnx_model *m, ig_context *context, ig_module **out_module,
                           const ig_argument **outputs) {
    ig_str bytes = onnx_pack(m);
    static const float x[] = { 0.5f, -1 }, c[] = { 2 }, p[] = { 1, 0.25f };
    static const int64_t two[] = { 2 }, one[] = { 1 };
    ig_argument in[] = {
        { .dtype = "f32", .rank = 1, .dims = two, .data = x, .size = sizeof x },
        { .dtype = "f32", .rank = 1, .dims = one, .data = c, .size = sizeof c },
        { .dtype = "f32", .rank = 1, .dims = two, .data = p, .size = sizeof p },
    };
    size_t count;
    IG_TRY(ig_import_memory(context, bytes.data, bytes.size, NULL, NULL, out_module));
    return ig_interpret_run(*out_module, in, 3, outputs, &count);
}

static void expect(const ig_argument *got, size_t index, double want) {
    double is = ig_argument_number(got, index);
    CHECK_MSG(fabs(is - want) <= 1e-5 * fmax(1.0, fabs(want)), "[%zu] is %g, not %g",
              index, is, want);
}

/* 2 c x z and, summed, x^2 z. */
TEST(gradients_are_of_the_graph) {
    onnx_model m;
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    const ig_argument *out = NULL;
    build_model(&m, "x,c", "dx,dc", "x,c", "", "z");
    ig_status status = run_model(&m, context, &module, &out);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    expect(&out[0], 0, 2 * exp(0.5));
    expect(&out[0], 1, -4 * exp(2.0));
    expect(&out[1], 0, 0.25 * exp(0.5) + exp(2.0));
    expect(&out[2], 0, exp(0.5));
    ig_module_close(module);
    ig_context_destroy(context);
    onnx_model_fini(&m);
}

/* At p in place of x, and p in place of t, which nobody wants the gradient by. */
TEST(inputs_stand_for_what_is_named) {
    onnx_model m;
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    const ig_argument *out = NULL;
    build_model(&m, "p,c", "dp", "x", "c", "z");
    ig_status status = run_model(&m, context, &module, &out);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    expect(&out[0], 0, 4 * exp(2.0));
    expect(&out[0], 1, exp(0.125));
    expect(&out[1], 0, exp(0.5));
    ig_module_close(module);
    ig_context_destroy(context);
    onnx_model_fini(&m);
}

static void check_refused(const char *ins, const char *outs, const char *xs,
                          const char *y, const char *words) {
    onnx_model m;
    ig_context *context = ig_context_create(NULL);
    ig_module *module = NULL;
    const ig_argument *out = NULL;
    build_model(&m, ins, outs, xs, "", y);
    CHECK(run_model(&m, context, &module, &out) != IG_OK);
    const char *messages = ig_context_messages(context);
    CHECK_MSG(strstr(messages, words), "'%s' is not in: %s", words, messages);
    ig_module_close(module);
    ig_context_destroy(context);
    onnx_model_fini(&m);
}

TEST(what_does_not_fit_is_refused) {
    check_refused("x", "dx", "x", "none", "its y 'none' is not a value");
    check_refused("x", "dx", "who", "z", "its xs 'who' is not a value");
    check_refused("x,c", "dx", "x", "z", "2 inputs and 1 outputs for 1 xs and 0 zs");
    check_refused("x", "dx", "x,c", "z", "1 inputs and 1 outputs for 2 xs");
    check_refused("c", "dx", "x", "z", "must have the extents of its value");
}

UNIT_SUITE(grad_onnx, gradients_are_of_the_graph, inputs_stand_for_what_is_named,
           what_does_not_fit_is_refused)
