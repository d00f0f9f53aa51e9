/* Pools, unfold, fold and roll by numbers that only the run knows.  Expected values are
 * those of torch 2.15.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

/* x = 1 … 40 as [1, 2, 5, 4], every third negated, with -0, inf and NaN; h = 5, w =
 * 4. */
static const struct {
    const char *expression;
    int count;
    const char *expected;
} programs[] = {
    { "torch.col2im(torch.im2col(x, [2, 2], [1, 1], [0, 0], [2, 2]), [h, w], [2, "
      "2], [1, 1], [0, 0], [2, 2])",
      40,
      "0 2 3 -4 5 6 inf 8 9 -10 11 12 -13 14 15 -16 0 0 0 0 21 -22 23 24 -25 "
      "26 27 -28 29 30 -31 32 33 -34 35 nan 0 0 0 0" },
    { "torch.avg_pool2d(x, [h, w])", 2, "inf nan" },
    { "torch.max_pool2d(x, [h, w])", 2, "inf nan" },
    { "torch.avg_pool2d(x, [h, 2], [1, 1], [1, 1])", 30,
      "0.1 1.3 inf inf 0 1.8 4.8 inf inf 2 1.8 4.6 inf inf 2.4 5.8 5.8 5.4 "
      "nan nan 2.1 5.9 13.1 nan nan 0 6 13 nan nan" },
    { "torch.avg_pool2d(x, [torch.floordiv(h, 2), 3], [2, torch.floordiv(w, 2)], "
      "[1, 1], True, False)",
      18,
      "1 0.3333333 -4 2.5 inf 10 9 5.333333 2 -0.5 8.333333 24 15 9.333333 2 "
      "0 nan nan" },
    { "torch.avg_pool2d(x, [torch.floordiv(h, 2), 2], [2, 2], [0, 0], False, "
      "True, 3)",
      8, "4.333333 inf 0 7.333333 0 15.33333 19.33333 nan" },
    { "torch.max_pool2d(x, [3, torch.floordiv(w, 2)], [torch.floordiv(h, 2), 1], "
      "[1, 1], [2, 2], True)",
      16, "14 inf 14 inf 14 inf 14 inf 26 35 nan 35 26 35 nan 35" },
    { "torch.max_pool1d(torch.flatten(x, 2), torch.mul(h, w))", 2, "inf nan" },
    { "torch.avg_pool1d(torch.flatten(x, 2), [w])", 10,
      "0.25 inf 5.5 0 9 11.5 0 15 nan 0" },
    { "torch.max_pool3d(x, [1, h, w])", 2, "inf nan" },
    { "torch.im2col(x, [h, 1], [1, 1], [0, 1], [1, 2])", 30,
      "0 2 -4 0 6 8 0 -10 12 0 14 -16 0 18 20 0 -22 24 0 26 -28 0 30 32 0 -34 "
      "nan 0 38 -40" },
    { "torch.col2im(torch.im2col(x, [torch.floordiv(h, 2), 2], [1, 1], [1, 0], "
      "[2, 1]), [h, w], [torch.floordiv(h, 2), 2], [1, 1], [1, 0], [2, 1])",
      40,
      "0 4 6 -4 5 12 inf 8 9 -20 22 12 -13 28 30 -16 17 36 -38 20 21 -44 46 "
      "24 -25 52 54 -28 29 60 -62 32 33 -68 70 nan -37 76 78 -40" },
    { "torch.roll(x, [torch.floordiv(h, 2), torch.neg(w)], [2, -1])", 40,
      "-13 14 15 -16 17 18 -19 20 -0 2 3 -4 5 6 inf 8 9 -10 11 12 33 -34 35 "
      "nan -37 38 39 -40 21 -22 23 24 -25 26 27 -28 29 30 -31 32" },
    { "torch.roll(x, [torch.sub(1, torch.mul(h, 3))], [3])", 40,
      "3 -4 -0 2 inf 8 5 6 11 12 9 -10 15 -16 -13 14 -19 20 17 18 23 24 21 "
      "-22 27 -28 -25 26 -31 32 29 30 35 nan 33 -34 39 -40 -37 38" },
    { "torch.roll(x, [w])", 40,
      "-37 38 39 -40 -0 2 3 -4 5 6 inf 8 9 -10 11 12 -13 14 15 -16 17 18 -19 "
      "20 21 -22 23 24 -25 26 27 -28 29 30 -31 32 33 -34 35 nan" },
};

static void run_special(program *p) {
    int64_t dims[] = { 1, 2, 5, 4 };
    CHECK_OK(ig_verify_module(p->module));
    CHECK_OK(
        ig_tensor_alloc(&p->c.arena, &p->c.context, IG_DT_f32, 4, dims, &p->inputs[0]));
    for (int i = 0; i < 40; i++) {
        double value = i == 0 ? -0.0 : i % 3 ? i + 1 : -i - 1;
        value = i == 6 ? (double)INFINITY : i == 35 ? (double)NAN : value;
        ig_tensor_set_f64(&p->inputs[0], i, value);
    }
    ig_status status = ig_interpret(ig_module_graph(p->module, "main"), p->inputs,
                                    &p->c.arena, p->outputs);
    CHECK_MSG(status == IG_OK, "%s", p->c.why);
}

static void check_program(size_t at, const char *type) {
    program p;
    char source[2000];
    snprintf(source, sizeof source,
             HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                  "    h = torch.size(x, 2)\n    w = torch.size(x, 3)\n"
                  "    return %s\n",
             programs[at].expression);
    ig_status status = import_shaped(&p, source, type, NULL);
    CHECK_MSG(status == IG_OK, "%s of %s: %s", programs[at].expression, type, p.c.why);
    run_special(&p);
    CHECK_INT(p.outputs[0].count, programs[at].count);
    char *next = (char *)(uintptr_t)programs[at].expected;
    for (int i = 0; i < programs[at].count; i++) {
        double value = ig_tensor_get_f64(&p.outputs[0], i);
        double expected = strtod(next, &next);
        bool is_equal = value == expected || (isnan(value) && isnan(expected));
        CHECK_MSG(is_equal || fabs(value - expected) < 1e-5 * (1 + fabs(expected)),
                  "%s of %s: element %d is %g, not %g", programs[at].expression, type,
                  i, value, expected);
    }
    close(&p);
}

TEST(windows_and_shifts_may_be_extents) {
    for (size_t i = 0; i < IG_COUNT_OF(programs); i++) {
        check_program(i, "f32[1, 2, H, W]");
        check_program(i, "f32[1, 2, 5, 4]");
    }
}
END_TEST

/* A window of no elements, and one that is larger than its input. */
TEST(windows_that_do_not_fit_end_the_run) {
    static const char *const words[] = { "too small", "do not fit" };
    for (int i = 0; i < 2; i++) {
        program p;
        char source[1000];
        snprintf(source, sizeof source,
                 HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                      "    h, w = torch.size(x, 2), torch.size(x, 3)\n"
                      "    return torch.max_pool2d(x, [%s, torch.floordiv(w, 2)])\n",
                 i == 0 ? "torch.sub(h, 5)" : "torch.add(h, 3)");
        ig_status status = import_shaped(&p, source, "f32[1, 2, H, W]", NULL);
        if (status == IG_OK) {
            int64_t dims[] = { 1, 2, 5, 4 };
            CHECK_OK(ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_f32, 4, dims,
                                     &p.inputs[0]));
            status = ig_interpret(ig_module_graph(p.module, "main"), p.inputs,
                                  &p.c.arena, p.outputs);
        }
        CHECK(status != IG_OK);
        CHECK_MSG(strstr(p.c.why, words[i]), "%s", p.c.why);
        close(&p);
    }
}
END_TEST

UNIT_SUITE(torch_windows, windows_and_shifts_may_be_extents,
           windows_that_do_not_fit_end_the_run)
