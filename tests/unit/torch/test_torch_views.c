/* Views by an index, and items of lists of unknown length, that are written to.
 * Expected values are those of torch 2.15.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

/* a = 1 … 20 as [4, 5], with a[0, 0] = -0, a[1, 2] = inf and a[2, 3] = NaN; the
 * elements of a at the end. */
static const struct {
    const char *body;
    int count;
    const char *expected;
} programs[] = {
    { "    _0 = torch.mul_(torch.unfold(a, 1, 2, 3), 2)\n", 20,
      "-0 4 3 8 10 12 14 inf 18 20 22 24 13 nan 30 32 34 18 38 40" },
    { "    _0 = torch.add_(torch.unfold(a, 0, 2, 2), torch.unfold(a, 0, 2, 2))\n", 20,
      "-0 4 6 8 10 12 14 inf 18 20 22 24 26 nan 30 32 34 36 38 40" },
    { "    _0 = torch.fill_(torch.unfold(a, 1, 3, 1), 7.)\n", 20,
      "7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7" },
    { "    v = torch.select(torch.unfold(torch.t(a), 0, 2, 2), 0, 1)\n"
      "    _0 = torch.sub_(v, 100)\n"
      "    _1 = torch.add_(a, 1)\n"
      "    _2 = torch.neg_(v)\n",
      20, "1 3 96 95 6 7 8 -inf 90 11 12 13 86 nan 16 17 18 81 80 21" },
    { "    v = torch.unfold(a, 0, 2, 1)\n"
      "    _0 = torch.add_(a, 1)\n"
      "    a = torch.select(v, 0, 2)\n",
      10, "12 17 13 18 14 19 nan 20 16 21" },
    { "    _0 = torch.zero_(torch.diagonal(a))\n"
      "    _1 = torch.mul_(torch.diagonal(a, -1), 3)\n"
      "    _2 = torch.fill_(torch.diagonal(a, 9), 5.)\n",
      20, "0 2 3 4 5 18 0 inf 9 10 11 36 0 nan 15 16 17 54 0 20" },
    { "    _0 = torch.add_(torch.diagonal(torch.t(a), 1), 50)\n", 20,
      "-0 2 3 4 5 56 7 inf 9 10 11 62 13 nan 15 16 17 68 19 20" },
    { "    b = torch.mul(torch.unsqueeze(a, 0), torch.ones([2, 1, 1]))\n"
      "    _0 = torch.add_(torch.diagonal(b, 1, -2, -1),"
      " torch.select(torch.slice(b, 2, 1, 5), 1, 0))\n"
      "    a = b\n",
      40,
      "-0 4 3 4 5 6 7 inf 9 10 11 12 13 nan 15 16 17 18 19 25 -0 4 3 4 5 6 7 "
      "inf 9 10 11 12 13 nan 15 16 17 18 19 25" },
    { "    _0 = torch.copy_(torch.as_strided(a, [2, 2], [7, 2],"
      " 1), torch.neg(torch.ones([2])))\n",
      20, "-0 -1 3 -1 5 6 7 inf -1 10 -1 12 13 nan 15 16 17 18 19 20" },
    { "    _0 = torch.add_(torch.as_strided(a, [torch.size(a,"
      " 0)], [torch.add(torch.size(a, 1), 1)], 0), 1)\n",
      20, "1 2 3 4 5 6 8 inf 9 10 11 12 14 nan 15 16 17 18 20 20" },
    { "    v = torch.as_strided(torch.slice(a, 0, 1), [3, 2], [2, 1], 4)\n"
      "    _0 = torch.mul_(a, 2)\n"
      "    _1 = torch.sub_(v, 1)\n",
      20, "-0 4 6 8 9 11 13 inf 17 19 22 24 26 nan 30 32 34 36 38 40" },
    { "    a = torch.add(torch.t(a), 1)\n"
      "    _0 = torch.fill_(torch.as_strided(a, [3, 2], [2, 1], 1), 9.)\n",
      20, "1 9 12 17 9 9 13 18 9 inf 14 19 9 10 nan 20 9 11 16 21" },
    { "    _0 = torch.fill_(torch.as_strided(a, [3, 3], [1, 1], 6), 0.)\n", 20,
      "-0 2 3 4 5 6 0 0 0 0 0 12 13 nan 15 16 17 18 19 20" },
    { "    rows = torch.unbind(a)\n"
      "    _0 = torch.add_(rows[1], 1)\n"
      "    _1 = torch.mul_(rows[-1], rows[0])\n"
      "    _2 = torch.copy_(rows[0], rows[1])\n",
      20, "7 8 inf 10 11 7 8 inf 10 11 11 12 13 nan 15 -0 34 54 76 100" },
    { "    _0 = torch.zero_(torch.unbind(a, 1)[2])\n", 20,
      "-0 2 0 4 5 6 7 0 9 10 11 12 0 nan 15 16 17 0 19 20" },
    { "    rows = torch.unbind(a)\n"
      "    for i in range(torch.len(rows)):\n"
      "      _0 = torch.add_(rows[i], i)\n",
      20, "0 2 3 4 5 7 8 inf 10 11 13 14 15 nan 17 19 20 21 22 23" },
};

#define FORWARD                               \
    HEAD "  def forward(self: __torch__.M,\n" \
         "    x: Tensor) -> Tensor:\n"        \
         "    a = torch.clone(x)\n"

static void run_special(program *p) {
    int64_t dims[] = { 4, 5 };
    CHECK_OK(ig_verify_module(p->module));
    CHECK_OK(
        ig_tensor_alloc(&p->c.arena, &p->c.context, IG_DT_f32, 2, dims, &p->inputs[0]));
    for (int i = 0; i < 20; i++) {
        double value = i == 0    ? -0.0
                       : i == 7  ? (double)INFINITY
                       : i == 13 ? (double)NAN
                                 : i + 1;
        ig_tensor_set_f64(&p->inputs[0], i, value);
    }
    ig_status status = ig_interpret(ig_module_graph(p->module, "main"), p->inputs,
                                    &p->c.arena, p->outputs);
    CHECK_MSG(status == IG_OK, "%s", p->c.why);
}

static void check_program(size_t at, const char *type) {
    program p;
    char source[2000];
    snprintf(source, sizeof source, FORWARD "%s    return a\n", programs[at].body);
    ig_status status = import_shaped(&p, source, type, NULL);
    CHECK_MSG(status == IG_OK, "program %zu of %s: %s", at, type, p.c.why);
    run_special(&p);
    CHECK_INT(p.outputs[0].count, programs[at].count);
    char *next = (char *)(uintptr_t)programs[at].expected;
    for (int i = 0; i < programs[at].count; i++) {
        double value = ig_tensor_get_f64(&p.outputs[0], i);
        double expected = strtod(next, &next);
        CHECK_MSG(value == expected || (isnan(value) && isnan(expected)),
                  "program %zu of %s: element %d is %g, not %g", at, type, i, value,
                  expected);
    }
    close(&p);
}

TEST(writes_through_views_by_an_index_reach_their_base) {
    for (size_t i = 0; i < IG_COUNT_OF(programs); i++) {
        check_program(i, "f32[4, 5]");
        check_program(i, "f32[R, C]");
    }
}
END_TEST

/* torch's own result depends on the order in which it writes. */
TEST(different_values_in_one_element_are_refused) {
    static const char body[] = FORWARD
        "    _0 = torch.mul_(torch.unfold(a, 1, 3, 1), 2)\n    return a\n";
    program p;
    CHECK_INT(import_shaped(&p, body, "f32[4, 5]", NULL), IG_UNSUPPORTED);
    CHECK_MSG(strstr(p.c.why, "elements of which may share memory"), "%s", p.c.why);
    close(&p);
    CHECK_MSG(import_shaped(&p, body, "f32[R, C]", NULL) == IG_OK, "%s", p.c.why);
    int64_t dims[] = { 1, 5 };
    CHECK_OK(
        ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_f32, 2, dims, &p.inputs[0]));
    CHECK(ig_interpret(ig_module_graph(p.module, "main"), p.inputs, &p.c.arena,
                       p.outputs) != IG_OK);
    CHECK_MSG(strstr(p.c.why, "elements of which share memory"), "%s", p.c.why);
    close(&p);
}
END_TEST

UNIT_SUITE(torch_views, writes_through_views_by_an_index_reach_their_base,
           different_values_in_one_element_are_refused)
