/* Nearest elements where torch's product and ONNX's quotient are rounded otherwise.
 * Expected values are those of torch 2.14.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

/* x = 0, 1 … `in` - 1. */
static const struct {
    const char *expression;
    int in, out;
    const char *expected;
} programs[] = {
    { "torch.upsample_nearest2d(x, [1, 6])", 21, 6, "0 3 7 10 14 17" },
    { "torch._upsample_nearest_exact2d(x, [1, 6])", 20, 6, "1 5 8 11 15 18" },
    { "torch._upsample_nearest_exact2d(x, [1, 23])", 14, 23,
      "0 0 1 2 2 3 3 4 5 5 6 6 7 8 8 9 10 10 11 11 12 13 13" },
    /* A scale whose result has the same size, or twice that. */
    { "torch.upsample_nearest2d(x, None, [1.0, 1.1000000000000001])", 3, 3, "0 1 2" },
    { "torch.upsample_nearest2d(x, None, [1.0, 2.1000000000000001])", 7, 14,
      "0 0 1 1 2 2 3 3 4 4 5 5 6 6" },
    { "torch._upsample_nearest_exact2d(x, None, [1.0, 2.1000000000000001])", 7, 14,
      "0 0 1 1 2 2 3 3 4 4 5 5 5 6" },
    { "torch.upsample_nearest1d(torch.select(x, 2, 0), None, [1.1000000000000001])", 3,
      3, "0 0 1" },
    { "torch.upsample_nearest2d(x, None, [2.0, 2.0])", 2, 8, "0 0 1 1 0 0 1 1" },
};

static void check_program(size_t at, bool is_open) {
    program p;
    char source[1000], type[64];
    int in = programs[at].in;
    snprintf(source, sizeof source,
             HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                  "    return %s\n",
             programs[at].expression);
    snprintf(type, sizeof type, is_open ? "f32[B, 1, H, W]" : "f32[1, 1, 1, %d]", in);
    ig_status status = import_shaped(&p, source, type, NULL);
    CHECK_MSG(status == IG_OK, "%s of %s: %s", programs[at].expression, type, p.c.why);
    CHECK_OK(ig_verify_module(p.module));
    int64_t dims[] = { 1, 1, 1, in };
    CHECK_OK(
        ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_f32, 4, dims, &p.inputs[0]));
    for (int i = 0; i < in; i++) {
        ig_tensor_set_f64(&p.inputs[0], i, i);
    }
    status = ig_interpret(ig_module_graph(p.module, "main"), p.inputs, &p.c.arena,
                          p.outputs);
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    CHECK_INT(p.outputs[0].count, programs[at].out);
    char *next = (char *)(uintptr_t)programs[at].expected;
    for (int i = 0; i < programs[at].out; i++) {
        double value = ig_tensor_get_f64(&p.outputs[0], i);
        CHECK_MSG(value == strtod(next, &next), "%s of %s: element %d is %g",
                  programs[at].expression, type, i, value);
    }
    close(&p);
}

TEST(nearest_elements_are_those_of_torch) {
    for (size_t i = 0; i < IG_COUNT_OF(programs); i++) {
        check_program(i, false);
        check_program(i, true);
    }
}
END_TEST

UNIT_SUITE(torch_nearest, nearest_elements_are_those_of_torch)
