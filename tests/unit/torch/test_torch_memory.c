/* What lies where and lives how long: strides, views and copies, attributes that
 * outlive a call.  Expected values are those of torch 2.15.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

/* A write through a reshape of `b` reaches `b` where strides make that a view; how many
 * of its elements it reaches, by torch 2.15. */
static const struct {
    const char *b;
    int is_view, lies_in_rows;
} orders[] = {
    { "torch.clone(torch.t(a))", 0, 0 },
    { "torch.clone(torch.t(a), memory_format=0)", 1, 1 },
    { "torch.add(torch.t(a), 0.)", 0, 0 },
    { "torch.add(torch.ones([3, 2]), torch.t(a))", 1, 1 },
    { "torch.add(torch.ones([2]), torch.t(a))", 0, 0 },
    { "torch.relu(torch.t(a))", 0, 0 },
    { "torch.t(torch.relu(torch.t(a)))", 1, 1 },
    { "torch.masked_fill(torch.t(a), torch.gt(torch.t(a), 9), 1.)", 1, 1 },
    { "torch.zeros_like(torch.t(a))", 0, 0 },
    { "torch.contiguous(torch.t(a))", 1, 1 },
    { "torch.cumsum(torch.t(a), 0)", 1, 1 },
    { "torch.stack([torch.t(a), torch.t(a)])", 1, 1 },
    { "torch.sum(torch.permute(torch.ones([2, 3, 4]), [2, 1, 0]), [0])", 1, 1 },
    { "torch.mm(torch.t(a), a)", 1, 1 },
    { "torch.slice(torch.clone(a), 1, 0, 2)", 0, 0 },
    { "torch.t(torch.slice(a, 0, 0, 1))", 1, 1 },
};

TEST(results_lie_in_memory_as_torch_lays_them) {
    const float x[] = { 1, 2, 3, 4 };
    for (size_t i = 0; i < IG_COUNT_OF(orders); i++) {
        program p;
        char source[2000];
        snprintf(source, sizeof source,
                 HEAD "  def forward(self: __torch__.M,\n"
                      "    x: Tensor) -> Tuple[Tensor, bool]:\n"
                      "    a = torch.reshape(torch.arange(6.), [2, 3])\n"
                      "    b = %s\n"
                      "    rows = torch.is_contiguous(b)\n"
                      "    _0 = torch.fill_(torch.reshape(b, [-1]), 77.)\n"
                      "    return (torch.sum(torch.eq(b, 77.)), rows)\n",
                 orders[i].b);
        CHECK_MSG(import_source(&p, source, NULL) == IG_OK, "%s: %s", orders[i].b,
                  p.c.why);
        run(&p, x);
        const ig_node *rows =
            &ig_module_graph(p.module, "main")->signature->nodes.items[3];
        CHECK_MSG((ig_tensor_get_f64(&p.outputs[0], 0) > 0) == orders[i].is_view,
                  "%s: %s", orders[i].b, orders[i].is_view ? "no view" : "a view");
        CHECK_MSG(rows->i == orders[i].lies_in_rows, "%s: is_contiguous %lld",
                  orders[i].b, (long long)rows->i);
        close(&p);
    }
}
END_TEST

/* Whether two tensors share memory hangs on an open extent that may be 1. */
TEST(what_strides_of_the_run_decide_is_refused_where_it_shows) {
    static const char *const bodies[] = {
        "    _0 = torch.fill_(torch.reshape(b, [-1]), 77.)\n    return b\n",
        "    c = torch.reshape(b, [-1])\n    _0 = torch.fill_(b, 77.)\n    return c\n",
        "    c = torch.contiguous(b)\n    _0 = torch.fill_(c, 77.)\n    return b\n",
    };
    for (size_t i = 0; i < IG_COUNT_OF(bodies); i++) {
        program p;
        char source[2000];
        snprintf(source, sizeof source,
                 HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                      "    b = torch.t(torch.mul(x, 2))\n%s",
                 bodies[i]);
        CHECK_MSG(import_source(&p, source, NULL) == IG_UNSUPPORTED, "%s", bodies[i]);
        CHECK_MSG(strstr(p.c.why, "strides that are not known at import"), "%s",
                  p.c.why);
        close(&p);
    }
}
END_TEST

/* buf = [1, 1] and d = {"k": 1} are attributes. */
#define HOLDER                                                              \
    "\200\002c__torch__\nM\nq\000)\201}(X\010\000\000\000trainingq\001\210" \
    "X\003\000\000\000buf](K\001K\001eX\001\000\000\000d}(X\001\000\000\000kK\001uub."
#define HOLDER_HEAD            \
    HEAD "  buf : List[int]\n" \
         "  d : Dict[str, int]\n"

static ig_status import_holder(program *p, const char *body) {
    char source[2000];
    ig_str pickle = { HOLDER, sizeof HOLDER - 1 };
    snprintf(source, sizeof source,
             HOLDER_HEAD
             "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n%s",
             body);
    return import_pickled(p, source, pickle, "f32[2, 2]", NULL);
}

/* Numbers that an attribute's list and dict hold are state: arguments, and results. */
TEST(items_of_attributes_outlive_a_call) {
    const float x[] = { 1, 2, 3, 4 };
    const double y[] = { 31, 62, 93, 124 }, item[] = { 21 }, entry[] = { 10 };
    const int64_t held[] = { 20, 5 };
    program p;
    ig_status status = import_holder(
        &p, "    buf = self.buf\n"
            "    _0 = torch._set_item(buf, 1, torch.add(buf[1], 1))\n"
            "    _1 = torch._set_item(self.d, \"k\", torch.mul(self.d[\"k\"], 2))\n"
            "    return torch.mul(x, torch.add(self.buf[-1], self.d[\"k\"]))\n");
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_INT(graph->state_count, 2);
    CHECK_INT(strcmp(graph->states[0], "buf.1"), 0);
    CHECK_INT(strcmp(graph->states[1], "d.0"), 0);
    for (size_t i = 0; i < 2; i++) {
        ig_tensor *input = &p.inputs[1 + i];
        CHECK_OK(ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_i64, 0, NULL, input));
        memcpy(input->data, &held[i], sizeof held[i]);
    }
    run(&p, x);
    check(&p.outputs[0], y, 4);
    check(&p.outputs[1], item, 1);
    check(&p.outputs[2], entry, 1);
    close(&p);
}
END_TEST

/* Two items that change places: each is what the other was before the call. */
TEST(items_of_attributes_swap) {
    const float x[] = { 1, 2, 3, 4 };
    const double y[] = { 6, 12, 18, 24 }, first[] = { 6 }, second[] = { 20 };
    const int64_t held[] = { 20, 5 };
    program p;
    ig_status status = import_holder(
        &p, "    n = self.buf[0]\n"
            "    _0 = torch._set_item(self.buf, 0, torch.add(self.buf[1], 1))\n"
            "    _1 = torch._set_item(self.buf, 1, n)\n"
            "    return torch.mul(x, self.buf[0])\n");
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    CHECK_INT(ig_module_graph(p.module, "main")->state_count, 2);
    for (size_t i = 0; i < 2; i++) {
        ig_tensor *input = &p.inputs[1 + i];
        CHECK_OK(ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_i64, 0, NULL, input));
        memcpy(input->data, &held[i], sizeof held[i]);
    }
    run(&p, x);
    check(&p.outputs[0], y, 4);
    check(&p.outputs[1], first, 1);
    check(&p.outputs[2], second, 1);
    close(&p);
}
END_TEST

/* What the next call would not find: the attribute, both contents and the line. */
TEST(containers_that_change_their_shape_are_refused) {
    static const char *const cases[][2] = {
        { "    _0 = torch.append(self.buf, 2)\n",
          ":9: in 'M.forward': the call changes attribute 'buf' from a list of 2 items to one of 3" },
        { "    self.buf = [1]\n",
          "attribute 'buf' from a list of 2 items to one of 1" },
        { "    _0 = torch._set_item(self.d, \"j\", 2)\n",
          "attribute 'd' from a dict of 1 items to one of 2" },
        { "    _0 = torch._set_item(self.d, \"j\", 2)\n"
          "    _1 = torch.pop(self.d, \"k\")\n",
          "attribute 'd' from a dict to one of other keys" },
        { "    if bool(torch.gt(torch.sum(x), 0)):\n"
          "      _0 = torch.append(self.buf, 2)\n",
          "attribute 'buf' from a list of 2 items to one that has one length" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        program p;
        char body[600];
        snprintf(body, sizeof body, "%s    return x\n", cases[i][0]);
        CHECK_MSG(import_holder(&p, body) == IG_UNSUPPORTED, "%s: %s", body, p.c.why);
        CHECK_MSG(strstr(p.c.why, cases[i][1]), "'%s' lacks '%s'", p.c.why,
                  cases[i][1]);
        close(&p);
    }
}
END_TEST

/* A list that is as it was when the call ends has not changed. */
TEST(an_item_that_comes_and_goes_is_no_change) {
    program p;
    ig_status status = import_holder(&p, "    _0 = torch.append(self.buf, 2)\n"
                                         "    _1 = torch.pop(self.buf)\n"
                                         "    return x\n");
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    CHECK_INT(ig_module_graph(p.module, "main")->state_count, 0);
    close(&p);
}
END_TEST

UNIT_SUITE(torch_memory, results_lie_in_memory_as_torch_lays_them,
           what_strides_of_the_run_decide_is_refused_where_it_shows,
           items_of_attributes_outlive_a_call, items_of_attributes_swap,
           containers_that_change_their_shape_are_refused,
           an_item_that_comes_and_goes_is_no_change)
