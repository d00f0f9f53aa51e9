/* Operators that have no row are listed all at once, with the places of their calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

/* A module with two children of one class. */
#define CHILDREN                                                             \
    "\200\002c__torch__\nM\n)\201}(X\010\000\000\000training\211"            \
    "X\001\000\000\000ac__torch__\nS\n)\201}X\010\000\000\000training\211sb" \
    "X\001\000\000\000bc__torch__\nS\n)\201}X\010\000\000\000training\211sbub."

static ig_status import_children(program *p, const char *body, const char *child) {
    char source[4000];
    ig_str pickle = { CHILDREN, sizeof CHILDREN - 1 };
    snprintf(source, sizeof source,
             HEAD "  a : __torch__.S\n"
                  "  b : __torch__.S\n"
                  "  def forward(self: __torch__.M,\n"
                  "    x: Tensor) -> Tensor:\n"
                  "%s"
                  "class S(Module):\n"
                  "  __parameters__ = []\n"
                  "  __buffers__ = []\n"
                  "  training : bool\n"
                  "  def forward(self: __torch__.S,\n"
                  "    x: Tensor) -> Tensor:\n"
                  "%s"
                  "def f(x: Tensor) -> Tensor:\n"
                  "  return torch.frob_f(x)\n",
             body, child);
    return import_pickled(p, source, pickle, "f32[2, 2]", NULL);
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

#define CHECK_SAYS(p, word) \
    CHECK_MSG(strstr((p).c.why, word), "'%s' lacks '%s'", (p).c.why, word)
#define CHECK_SAYS_NOT(p, word) \
    CHECK_MSG(!strstr((p).c.why, word), "'%s' has '%s'", (p).c.why, word)

TEST(children_functions_and_both_branches_are_looked_through) {
    program p;
    CHECK_STATUS(import_children(&p,
                                 "    y = torch.frob_a(x)\n"
                                 "    if bool(torch.gt(torch.sum(y), 0)):\n"
                                 "      z = torch.frob_yes(y)\n"
                                 "    else:\n"
                                 "      z = torch.frob_no(y)\n"
                                 "    w = ops.corp.secret((self.a).forward(z, ))\n"
                                 "    for i in range(3):\n"
                                 "      w = torch.frob_loop_(w)\n"
                                 "    b = self.b\n"
                                 "    return __torch__.f((b).forward(w, ))\n",
                                 "    if self.training:\n"
                                 "      y = torch.frob_train(x)\n"
                                 "    else:\n"
                                 "      y = torch.frob_child(x)\n"
                                 "    return y\n"),
                 IG_UNSUPPORTED);
    CHECK_SAYS(p, "__torch__.py:9: in 'M.forward': operator aten::frob_a is not");
    CHECK_SAYS(p, "operator aten::frob_yes is not");
    CHECK_SAYS(p, "operator aten::frob_no is not");
    CHECK_SAYS(p, "operator corp::secret is not");
    CHECK_SAYS(p, "operator aten::frob_loop_ is not");
    CHECK_SAYS(p, "in 'f': operator aten::frob_f is not");
    CHECK_SAYS(p, "in 'S.forward': operator aten::frob_child is not supported yet "
                  "(2 calls, the first in module 'a')");
    CHECK_SAYS_NOT(p, "frob_train");
    CHECK_INT(count_of(p.c.why, "not supported yet"), 7);
    CHECK_INT(count_of(p.c.why, "hint: "), 1);
    close(&p);
}
END_TEST

/* The call that stops the import is explained; others that nothing takes are named. */
TEST(calls_that_no_overload_takes_are_listed_too) {
    program p;
    CHECK_STATUS(import_children(&p,
                                 "    y = torch.relu(\"text\")\n"
                                 "    n = torch.size(x, 0)\n"
                                 "    z = torch.relu(n)\n"
                                 "    u = torch.relu(torch.frob(x))\n"
                                 "    return torch.sum(z, 0)\n",
                                 "    return x\n"),
                 IG_UNSUPPORTED);
    CHECK_SAYS(p, "(aten::relu): no supported overload takes (str)");
    CHECK_SAYS(p, "__torch__.py:11: in 'M.forward': no overload of aten::relu(int) is "
                  "supported yet");
    CHECK_SAYS(p, "operator aten::frob is not supported yet");
    CHECK_INT(count_of(p.c.why, "supported yet"), 2);
    close(&p);
}
END_TEST

/* Operators of linear algebra that are not there, where they stand. */
TEST(decompositions_that_are_missing_are_named) {
    program p;
    CHECK_STATUS(import_children(&p,
                                 "    y = torch.linalg_svdvals(x)\n"
                                 "    return torch.linalg_pinv(x)\n",
                                 "    return x\n"),
                 IG_UNSUPPORTED);
    CHECK_SAYS(p, "in 'M.forward': operator aten::linalg_svdvals is not supported yet");
    CHECK_SAYS(p, "in 'M.forward': operator aten::linalg_pinv is not supported yet");
    CHECK_SAYS(p, "--ops FILE.ig");
    close(&p);
}
END_TEST

TEST(many_are_listed_on_few_lines) {
    program p;
    char body[4000] = "";
    for (int i = 0; i < 60; i++) {
        char line[60];
        snprintf(line, sizeof line, "    y%d = torch.frob_%d(x)\n", i, i);
        strcat(body, line);
    }
    strcat(body, "    return x\n");
    CHECK_STATUS(import_children(&p, body, "    return x\n"), IG_UNSUPPORTED);
    CHECK_INT(count_of(p.c.why, "is not supported yet"), 11);
    CHECK_SAYS(p, "49 further operators are not supported yet: aten::frob_11, ");
    CHECK(count_of(p.c.why, "\n") < 16);
    close(&p);
}
END_TEST

/* A program that calls itself, and one whose sources have a defect, end too. */
TEST(looking_through_ends) {
    program p;
    CHECK_STATUS(import_children(&p,
                                 "    y = torch.frob(x)\n"
                                 "    return (self).forward(y, )\n",
                                 "    return x\n"),
                 IG_UNSUPPORTED);
    CHECK_INT(count_of(p.c.why, "supported yet"), 1);
    close(&p);
    CHECK_STATUS(import_children(&p,
                                 "    y = torch.frob(x)\n"
                                 "    return __torch__.nowhere.g(y)\n",
                                 "    return x\n"),
                 IG_UNSUPPORTED);
    CHECK_SAYS(p, "operator aten::frob is not supported yet");
    close(&p);
}
END_TEST

UNIT_SUITE(torch_missing, children_functions_and_both_branches_are_looked_through,
           calls_that_no_overload_takes_are_listed_too,
           decompositions_that_are_missing_are_named, many_are_listed_on_few_lines,
           looking_through_ends)
