/* Tensors of which a run-time condition decides whose memory they share.  Expected
 * values are those of torch 2.15.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

#define FORWARD                               \
    HEAD "  def forward(self: __torch__.M,\n" \
         "    x: Tensor) -> Tensor:\n"        \
         "    a = torch.clone(x)\n"           \
         "    b = torch.mul(x, 2)\n"          \
         "    s = bool(torch.gt(torch.sum(x), 0))\n"
#define A_OR_B      \
    "    if s:\n"   \
    "      c = a\n" \
    "    else:\n"   \
    "      c = b\n"

#define GROWN                          \
    "    l = [1.]\n"                   \
    "    t = [\"a\"]\n"                \
    "    if s:\n"                      \
    "      _0 = torch.append(l, 2.)\n" \
    "      _1 = torch.append(t, \"b\")\n"

static const struct {
    const char *body;
    int count;
    double yes[12], no[12]; /* of x = 1 2 3 4, and of the negative */
} programs[] = {
    { A_OR_B "    _0 = torch.add_(c, 1)\n"
             "    return torch.cat([a, b, c])\n",
      12,
      { 2, 3, 4, 5, 2, 4, 6, 8, 2, 3, 4, 5 },
      { -1, -2, -3, -4, -1, -3, -5, -7, -1, -3, -5, -7 } },
    { A_OR_B "    _0 = torch.add_(a, 1)\n"
             "    _1 = torch.mul_(b, 2)\n"
             "    return torch.cat([c, a])\n",
      8,
      { 2, 3, 4, 5, 2, 3, 4, 5 },
      { -4, -8, -12, -16, 0, -1, -2, -3 } },
    /* rows of one tensor, by indices that stand in the branches */
    { "    if s:\n"
      "      c = torch.select(a, 0, 0)\n"
      "    else:\n"
      "      c = torch.select(a, 0, 1)\n"
      "    _0 = torch.add_(c, 5)\n"
      "    return torch.cat([torch.flatten(a), c])\n",
      6,
      { 6, 7, 3, 4, 6, 7 },
      { -1, -2, 2, 1, 2, 1 } },
    /* a tensor that one branch makes */
    { "    if s:\n"
      "      c = a\n"
      "    else:\n"
      "      c = torch.mul(a, 3)\n"
      "    _0 = torch.add_(a, 1)\n"
      "    _1 = torch.add_(torch.select(c, 0, 0), 10)\n"
      "    return torch.cat([a, c])\n",
      8,
      { 12, 13, 4, 5, 12, 13, 4, 5 },
      { 0, -1, -2, -3, 7, 4, -9, -12 } },
    /* a read in a branch that is taken back does not count */
    { A_OR_B "    _0 = torch.add_(a, 1)\n"
             "    if bool(torch.gt(torch.sum(x), 100)):\n"
             "      d = torch.add(c, 1)\n"
             "    else:\n"
             "      d = torch.sub(c, 1)\n"
             "    return torch.cat([c, d])\n",
      8,
      { 2, 3, 4, 5, 1, 2, 3, 4 },
      { -2, -4, -6, -8, -3, -5, -7, -9 } },
    /* writes to the choice and to what it is of, in one branch, in either order */
    { A_OR_B "    if bool(torch.gt(torch.select(torch.select(x, 0, 0), 0, 0), 0)):\n"
             "      _0 = torch.add_(c, 1)\n"
             "      _1 = torch.mul_(a, 2)\n"
             "    else:\n"
             "      _2 = torch.mul_(b, 3)\n"
             "      _3 = torch.add_(c, 4)\n"
             "    return torch.cat([a, b, c])\n",
      12,
      { 4, 6, 8, 10, 2, 4, 6, 8, 4, 6, 8, 10 },
      { -1, -2, -3, -4, -2, -8, -14, -20, -2, -8, -14, -20 } },
    /* in a loop that the run ends */
    { A_OR_B "    go = torch.lt(torch.abs(torch.sum(c)), 100)\n"
             "    while bool(go):\n"
             "      _0 = torch.mul_(c, 2)\n"
             "      _1 = torch.add_(a, 1)\n"
             "      go = torch.lt(torch.abs(torch.sum(c)), 100)\n"
             "    return torch.cat([a, b, c])\n",
      12,
      { 15, 23, 31, 39, 2, 4, 6, 8, 15, 23, 31, 39 },
      { 2, 1, 0, -1, -16, -32, -48, -64, -16, -32, -48, -64 } },
    /* a choice of a choice */
    { A_OR_B "    if bool(torch.gt(torch.sum(x), -100)):\n"
             "      d = c\n"
             "    else:\n"
             "      d = a\n"
             "    _0 = torch.add_(d, 1)\n"
             "    return torch.cat([a, b, d])\n",
      12,
      { 2, 3, 4, 5, 2, 4, 6, 8, 2, 3, 4, 5 },
      { -1, -2, -3, -4, -1, -3, -5, -7, -1, -3, -5, -7 } },
    /* a view that one way returns */
    { "    _0 = uninitialized(Tensor)\n"
      "    if s:\n"
      "      v = torch.select(a, 0, 1)\n"
      "    else:\n"
      "      v = _0\n"
      "    if s:\n"
      "      r = v\n"
      "    else:\n"
      "      r = torch.select(b, 0, 0)\n"
      "    return torch.mul(r, 1)\n",
      2,
      { 3, 4 },
      { -2, -4 } },
    /* lists that one branch lengthens: what reads them whole asks which one it is */
    { GROWN "    return torch.add(x, torch.sum(torch.tensor(l)))\n",
      4,
      { 4, 5, 6, 7 },
      { 0, -1, -2, -3 } },
    { GROWN "    return torch.add(x, torch.sum(torch.tensor([l, l])))\n",
      4,
      { 7, 8, 9, 10 },
      { 1, 0, -1, -2 } },
    { GROWN "    return torch.add(x, ops.prim.max(l))\n",
      4,
      { 3, 4, 5, 6 },
      { 0, -1, -2, -3 } },
    { GROWN "    return torch.add(x, torch.len(torch.join(\",\", t)))\n",
      4,
      { 4, 5, 6, 7 },
      { 0, -1, -2, -3 } },
    /* libtorch's texts of floats: [1., 2.] and [1.] */
    { GROWN "    return torch.add(x, torch.len(str(l)))\n",
      4,
      { 9, 10, 11, 12 },
      { 3, 2, 1, 0 } },
    { GROWN "    return torch.add(x, torch.len(torch.format(\"{}\", (l, t))))\n",
      4,
      { 19, 20, 21, 22 },
      { 10, 9, 8, 7 } },
    /* an operator that copies what another of nearly its name is a view of */
    { "    c = torch.narrow_copy(a, 0, 0, 1)\n"
      "    _0 = torch.add_(c, 1)\n"
      "    return torch.cat([a, c])\n",
      6,
      { 1, 2, 3, 4, 2, 3 },
      { -1, -2, -3, -4, 0, -1 } },
};

static void check_program(size_t i, double sign, const double *expected) {
    program p;
    char source[3000];
    float x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = (float)(sign * (k + 1));
    }
    snprintf(source, sizeof source, "%s%s", FORWARD, programs[i].body);
    ig_status status = import_shaped(&p, source, "f32[2, 2]", NULL);
    CHECK_MSG(status == IG_OK, "program %zu: %s", i, p.c.why);
    run(&p, x);
    CHECK_INT(p.outputs[0].count, programs[i].count);
    for (int k = 0; k < programs[i].count; k++) {
        double value = ig_tensor_get_f64(&p.outputs[0], k);
        CHECK_MSG(value == expected[k],
                  "program %zu, x = %g …: element %d is %g, not %g", i, sign, k, value,
                  expected[k]);
    }
    close(&p);
}

TEST(a_choice_shares_the_memory_of_what_was_chosen) {
    for (size_t i = 0; i < IG_COUNT_OF(programs); i++) {
        check_program(i, 1, programs[i].yes);
        check_program(i, -1, programs[i].no);
    }
}
END_TEST

/* What is not tracked that far is refused once a write could be seen. */
TEST(memory_that_is_not_tracked_is_refused) {
    static const struct {
        const char *body, *words;
    } cases[] = {
        { "    if s:\n"
          "      if bool(torch.gt(torch.max(x), 3)):\n"
          "        v = torch.select(a, 0, 0)\n"
          "      else:\n"
          "        v = torch.select(a, 0, 1)\n"
          "    else:\n"
          "      v = torch.select(b, 0, 1)\n"
          "    _0 = torch.add_(a, 1)\n"
          "    return torch.mul(v, 1)\n",
          "reads a tensor that may share its memory" },
        { "    v = torch.select(b, 0, 1)\n"
          "    go = torch.lt(torch.sum(x), 9)\n"
          "    while bool(go):\n"
          "      v = torch.select(a, 0, 0)\n"
          "      go = torch.lt(torch.sum(v), 9)\n"
          "    _0 = torch.add_(a, 1)\n"
          "    return torch.mul(v, 1)\n",
          "reads a tensor that may share its memory" },
        { "    v = torch.meshgrid([torch.select(a, 0, 0)])[0]\n"
          "    _0 = torch.add_(a, 1)\n"
          "    return torch.mul(v, 1)\n",
          "reads what aten::meshgrid gave after the tensor that it is a view of" },
        { "    v = torch.meshgrid([torch.select(a, 0, 0)])[0]\n"
          "    _0 = torch.add_(v, 1)\n"
          "    return a\n",
          "aten::meshgrid gave as a view, which is a copy here" },
        { "    n = torch.storage_offset(torch.select(a, 0, 1))\n"
          "    return torch.add(a, n)\n",
          "the offset of a view in its memory is not known" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        program p;
        char source[3000];
        snprintf(source, sizeof source, "%s%s", FORWARD, cases[i].body);
        ig_status status = import_shaped(&p, source, "f32[2, 2]", NULL);
        CHECK_MSG(status == IG_UNSUPPORTED && strstr(p.c.why, cases[i].words),
                  "program %zu: %s", i, p.c.why);
        close(&p);
    }
}
END_TEST

UNIT_SUITE(torch_choice, a_choice_shares_the_memory_of_what_was_chosen,
           memory_that_is_not_tracked_is_refused)
