/* Loops that the run ends and that bind names to other lists.  Expected values are
 * those of torch 2.14.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

static const char bound[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, int, int]:\n"
    "    rows = [x, torch.mul(x, 2)]\n"
    "    k = [1, 2]\n"
    "    y = x\n"
    "    _0 = bool(torch.lt(torch.sum(x), 20))\n"
    "    while _0:\n"
    "      other = [rows[1], torch.add(rows[0], k[1])]\n"
    "      k0 = [k[1], torch.add(k[0], k[1])]\n"
    "      y0 = torch.add(y, 1)\n"
    "      _0, rows, k, y = bool(torch.lt(torch.sum(y0), 20)), other, k0, y0\n"
    "    _1 = torch.append(rows, x)\n"
    "    return (rows[0], rows[1], k[0], torch.add(k[1], torch.len(rows)))\n";

/* Items are carried; the list that is left is a list like any other. */
TEST(items_of_lists_are_carried) {
    const float x[] = { 1, 2, 3, 4 }, big[] = { 10, 10, 10, 10 };
    const double a1[] = { 5, 7, 9, 11 }, b1[] = { 8, 9, 10, 11 }, k1[] = { 5 },
                 n1[] = { 11 };
    const double a2[] = { 10, 10, 10, 10 }, b2[] = { 20, 20, 20, 20 }, k2[] = { 1 },
                 n2[] = { 5 };
    program p;
    CHECK_MSG(import_source(&p, bound, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], a1, 4);
    check(&p.outputs[1], b1, 4);
    check(&p.outputs[2], k1, 1);
    check(&p.outputs[3], n1, 1);
    run(&p, big);
    check(&p.outputs[0], a2, 4);
    check(&p.outputs[1], b2, 4);
    check(&p.outputs[2], k2, 1);
    check(&p.outputs[3], n2, 1);
    close(&p);
}
END_TEST

static const char swapped[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor]:\n"
    "    a = [x]\n"
    "    b = [torch.neg(x)]\n"
    "    y = x\n"
    "    _0 = bool(torch.lt(torch.sum(x), 20))\n"
    "    while _0:\n"
    "      y0 = torch.add(y, 1)\n"
    "      _0, a, b, y = bool(torch.lt(torch.sum(y0), 20)), b, a, y0\n"
    "    return (a[0], b[0])\n";

/* Lists from before the loop change places, an odd number of times. */
TEST(two_names_change_lists) {
    const float x[] = { 1, 2, 3, 4 }, big[] = { 10, 10, 10, 10 };
    const double a1[] = { -1, -2, -3, -4 }, b1[] = { 1, 2, 3, 4 };
    const double a2[] = { 10, 10, 10, 10 }, b2[] = { -10, -10, -10, -10 };
    program p;
    CHECK_MSG(import_source(&p, swapped, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], a1, 4);
    check(&p.outputs[1], b1, 4);
    run(&p, big);
    check(&p.outputs[0], a2, 4);
    check(&p.outputs[1], b2, 4);
    close(&p);
}
END_TEST

static const char unlike[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tensor:\n"
    "    parts = [x]\n"
    "    note = None\n"
    "    y = torch.cat(parts)\n"
    "    _0 = bool(torch.lt(torch.sum(x), 20))\n"
    "    while _0:\n"
    "      parts = [y, torch.slice(y, 0, 0, 1)]\n"
    "      note = y\n"
    "      y0 = torch.cat(parts)\n"
    "      _0, y = bool(torch.lt(torch.sum(y0), 20)), y0\n"
    "    return y\n";

/* What cannot be carried does no harm where nobody looks at it before it is bound. */
TEST(a_name_bound_before_it_is_looked_at_may_be_anything) {
    const float x[] = { 1, 2, 3, 4 };
    const double y[] = { 1, 2, 3, 4, 1, 2, 1, 2, 1, 2, 1, 2 };
    program p;
    CHECK_MSG(import_source(&p, unlike, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], y, 12);
    close(&p);
}
END_TEST

/* The body of `while` and what follows it; `rows`, `old` and `y` are bound before. */
static const struct refused {
    const char *body, *after, *words;
} refused[] = {
    { "      rows = [y, rows[0]]\n", "    return old[0]\n",
      "a list that was bound to a name that a loop of the run binds to other lists" },
    { "      rows = [rows[0], y, y]\n", "    return rows[0]\n",
      "as 'rows' is bound to another list in a loop" },
    { "      rows = [rows[0], torch.len(rows)]\n", "    return rows[0]\n",
      "as 'rows' is bound to another list in a loop" },
    { "      none = y\n", "    return torch.add(y, none)\n",
      "as 'none' changes from None to" },
    { "      _1 = torch._set_item(rows, 0, y)\n      rows = [rows[1], y]\n",
      "    return rows[0]\n", "expected one of the two" },
};

TEST(lists_that_are_not_alike_are_refused) {
    for (size_t i = 0; i < IG_COUNT_OF(refused); i++) {
        program p;
        char source[2000];
        snprintf(source, sizeof source,
                 "%s  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                 "    rows = [x, torch.mul(x, 2)]\n    old = rows\n    y = x\n"
                 "    none = None\n    _0 = bool(torch.lt(torch.sum(x), 20))\n"
                 "    while _0:\n%s      y0 = torch.add(y, 1)\n"
                 "      _0, y = bool(torch.lt(torch.sum(y0), 20)), y0\n%s",
                 HEAD, refused[i].body, refused[i].after);
        CHECK_INT(import_source(&p, source, NULL), IG_UNSUPPORTED);
        CHECK_MSG(strstr(p.c.why, refused[i].words), "%zu: %s", i, p.c.why);
        close(&p);
    }
}
END_TEST

UNIT_SUITE(torch_rebound, items_of_lists_are_carried, two_names_change_lists,
           a_name_bound_before_it_is_looked_at_may_be_anything,
           lists_that_are_not_alike_are_refused)
