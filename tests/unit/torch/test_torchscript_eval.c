/* The partial evaluator: programs whose flow depends on run-time values, aliases in
 * them, and what is refused.  Expected values are those of torch 2.14.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

static const char branches[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor,\n"
    "    n: int) -> Tuple[Tensor, Tensor, int]:\n"
    "    return __torch__.branch(x, n, )\n"
    "def branch(x: Tensor,\n"
    "    n: int) -> Tuple[Tensor, Tensor, int]:\n"
    "  a = torch.clone(x)\n"
    "  if bool(torch.gt(torch.sum(a), 3)):\n"
    "    _0 = torch.add_(torch.select(a, 0, 0), 10)\n"
    "    y, k = torch.mul(a, 2), n\n"
    "  else:\n"
    "    y, k = torch.sub(a, 1), 7\n"
    "  _1 = torch.mul_(torch.slice(torch.slice(a), 1, 1), 3)\n"
    "  return (y, a, k)\n";

/* One branch writes through a view of a tensor that goes on to be used. */
TEST(a_branch_writes_through_a_view) {
    const float x[] = { 1, 2, 3, 4 }, z[] = { 1, 0, 0.5F, 1 };
    const double y1[] = { 22, 24, 6, 8 }, a1[] = { 11, 36, 3, 12 }, k1[] = { 5 };
    const double y2[] = { 0, -1, -0.5, 0 }, a2[] = { 1, 0, 0.5, 3 }, k2[] = { 7 };
    program p;
    CHECK_MSG(import_source(&p, branches, "5") == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], y1, 4);
    check(&p.outputs[1], a1, 4);
    check(&p.outputs[2], k1, 1);
    run(&p, z);
    check(&p.outputs[0], y2, 4);
    check(&p.outputs[1], a2, 4);
    check(&p.outputs[2], k2, 1);
    close(&p);
}
END_TEST

static const char forked[] = HEAD "  def forward(self: __torch__.M,\n"
                                  "    x: Tensor) -> Tensor:\n"
                                  "    d = {\"a\": x}\n"
                                  "    l = [1]\n"
                                  "    if bool(torch.gt(torch.sum(x), 0)):\n"
                                  "      torch._set_item(d, \"b\", torch.mul(x, 2))\n"
                                  "      _0 = torch.append(l, 5)\n"
                                  "    else:\n"
                                  "      pass\n"
                                  "    if torch.__contains__(d, \"b\"):\n"
                                  "      y = torch.add(d[\"b\"], l[-1])\n"
                                  "    else:\n"
                                  "      y = torch.sub(x, torch.len(l))\n"
                                  "    return y\n";

/* What a branch of the run puts into containers is known on either side of it. */
TEST(a_branch_changes_what_containers_hold) {
    const float inputs[][4] = { { 1, 2, 3, 4 }, { -1, -2, -3, -4 } };
    const double expected[][4] = { { 7, 9, 11, 13 }, { -2, -3, -4, -5 } };
    program p;
    CHECK_MSG(import_source(&p, forked, NULL) == IG_OK, "%s", p.c.why);
    for (size_t i = 0; i < IG_COUNT_OF(inputs); i++) {
        run(&p, inputs[i]);
        check(&p.outputs[0], expected[i], 4);
    }
    close(&p);
}
END_TEST

static const char every_truth[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[int, int]:\n"
    "    a, b = bool(torch.gt(torch.sum(x), 3)), bool(torch.gt(torch.max(x), 2))\n"
    "    every = torch.all(annotate(List[bool], [a, True, b]))\n"
    "    some = torch.any(annotate(List[bool], [False, a, b]))\n"
    "    return (int(every), int(some))\n";

/* all and any of truth values that only the run knows. */
TEST(truth_values_of_the_run_are_joined) {
    const float inputs[][4] = {
        { 1, 2, 3, 4 }, { 1, 1, 1, 1 }, { -4, 3, 0, 0 }, { 0 }
    };
    const double expected[][2] = { { 1, 1 }, { 0, 1 }, { 0, 1 }, { 0, 0 } };
    program p;
    CHECK_MSG(import_source(&p, every_truth, NULL) == IG_OK, "%s", p.c.why);
    for (size_t i = 0; i < IG_COUNT_OF(inputs); i++) {
        run(&p, inputs[i]);
        for (size_t k = 0; k < 2; k++) {
            check(&p.outputs[k], &expected[i][k], 1);
        }
    }
    close(&p);
}
END_TEST

static const char loops[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, int]:\n"
    "    acc = torch.zeros_like(x)\n"
    "    v = torch.view(acc, [-1])\n"
    "    i = 0\n"
    "    _0 = bool(torch.lt(torch.max(torch.add(acc, x)), 20))\n"
    "    while _0:\n"
    "      i0 = torch.add(i, 1)\n"
    "      _1 = torch.add_(v, i0)\n"
    "      _2 = torch.select(torch.select(acc, 0, 0), 0, 0)\n"
    "      _3 = torch.tensor(-1, dtype=ops.prim.dtype(_2), device=ops.prim.device(_2))\n"
    "      _4 = torch.copy_(_2, _3)\n"
    "      _0, i = bool(torch.lt(torch.max(torch.add(acc, x)), 20)), i0\n"
    "    return (acc, v, i)\n";

/* A storage is carried by the loop; two views of it see each other's writes. */
TEST(a_loop_carries_a_storage) {
    const float x[] = { 0, 0, 0, 0 };
    const double acc[] = { -1, 21, 21, 21 }, i[] = { 6 };
    program p;
    CHECK_MSG(import_source(&p, loops, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], acc, 4);
    check(&p.outputs[1], acc, 4);
    check(&p.outputs[2], i, 1);
    close(&p);
}
END_TEST

typedef struct refusal {
    const char *body;
    ig_status status;
    const char *words;
} refusal;

static const refusal refusals[] = {
    { "    ops.prim.RaiseException(\"no\", \"builtins.ValueError\")\n"
      "    return x\n",
      IG_INVALID, "ValueError: no" },
    { "    return torch.tensordot(x, x, [-1, 0, 1], [0, 1, 1])\n", IG_INVALID,
      "axes do not fit" },
    { "    a = ops.fbgemm.kt_regroup_arguments(x, [[\"a\", \"b\"]], [[2, -3]], [[\"b\"]])\n"
      "    return x\n",
      IG_INVALID, "lengths[0][1]" },
    { "    return torch.no_such_op(x)\n", IG_UNSUPPORTED, "aten::no_such_op" },
    { "    t = torch.tensor([[1, 1]], dtype=3)\n"
      "    a, b, c = ops.fbgemm.permute_2D_sparse_preallocated_out(torch.tensor([0], dtype=3), t, torch.tensor([1, 2]), None, None, t)\n"
      "    return a\n",
      IG_UNSUPPORTED, "leave them out" },
    { "    a = ops.fbgemm.reorder_batched_ad_lengths(torch.tensor([1, 1]), torch.tensor([0, 2]), 2, False, 1)\n"
      "    return a\n",
      IG_INVALID, "max_batch_size" },
    { "    t = torch.to(x, 4)\n"
      "    i = torch.flatten(t)\n"
      "    a, b = ops.fbgemm.zero_collision_hash(i, t, 4, True)\n"
      "    return a\n",
      IG_UNSUPPORTED, "readonly=True" },
    { "    t = torch.to(x, 4)\n"
      "    i = torch.flatten(t)\n"
      "    a, b = ops.fbgemm.zero_collision_hash(i, t, 4, False, -1, True)\n"
      "    return a\n",
      IG_UNSUPPORTED, "circular_probe" },
    { "    t = torch.to(x, 4)\n"
      "    i = torch.flatten(t)\n"
      "    a, b = ops.fbgemm.zero_collision_hash(i, t, 4, True, -1, True, None, None, t)\n"
      "    return a\n",
      IG_UNSUPPORTED, "for tables that change" },
    { "    t = torch.to(x, 4)\n"
      "    i = torch.flatten(t)\n"
      "    a, b = ops.fbgemm.zero_collision_hash(i, t, 4, True, -1, True, i)\n"
      "    return a\n",
      IG_INVALID, "offsets" },
    { "    t = torch.to(x, 4)\n"
      "    a, b = ops.fbgemm.zero_collision_hash(t, t, 4, True, -1, True)\n"
      "    return a\n",
      IG_INVALID, "input" },
    { "    return torch.add_(torch.expand(torch.select(x, 0, 0), [3, -1]), 1)\n",
      IG_INVALID, "expanded" },
    { "    l = [1, 2]\n"
      "    return torch.mul(x, l[2])\n",
      IG_INVALID, "list index out of range" },
    { "    if bool(torch.gt(torch.sum(x), 0)):\n"
      "      r : Optional[Tensor] = None\n"
      "    else:\n"
      "      r = x\n"
      "    return r\n",
      IG_UNSUPPORTED, "None in one, Tensor in the other" },
    { "    t = torch.gt(x, 0)\n"
      "    return torch.einsum(\"ij,ij->i\", [t, t])\n",
      IG_INVALID, "cannot be multiplied and summed" },
    { "    return (self).forward(x, )\n", IG_LIMIT, "nested more than" },
    { "    return torch.zeros([1099511627776, 1099511627776])\n", IG_LIMIT,
      "(aten::zeros): the result has more elements than can be counted" },
    { "    y = torch.zeros([2])\n"
      "    return torch.repeat(y, [4611686018427387904])\n",
      IG_LIMIT, "(aten::repeat): the result has more elements than can be counted" },
    { "    return (torch.autograd.grad([x], [x]))[0]\n", IG_UNSUPPORTED,
      "torch.autograd.grad: gradients that a model takes of itself" },
    { "    return torch.jit.fork(x)\n", IG_UNSUPPORTED,
      "torch.jit.fork is not a supported operator" },
    { "    return torch.float32\n", IG_UNSUPPORTED,
      "torch.float32 is not a supported operator" },
    { "    return torch\n", IG_UNSUPPORTED, "torch is not a supported operator" },
};

TEST(what_cannot_be_is_refused_with_words) {
    for (size_t i = 0; i < IG_COUNT_OF(refusals); i++) {
        program p;
        char source[2000];
        snprintf(source, sizeof source,
                 HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n%s",
                 refusals[i].body);
        CHECK_STATUS(import_source(&p, source, NULL), refusals[i].status);
        CHECK_MSG(strstr(p.c.why, refusals[i].words), "'%s' lacks '%s'", p.c.why,
                  refusals[i].words);
        close(&p);
    }
}
END_TEST

/* Each of `uses`, set into `form`, makes a program that is refused in these words. */
static void check_refused(const char *const *uses, size_t count, const char *form,
                          const char *words) {
    for (size_t i = 0; i < count; i++) {
        program p;
        char source[2000];
        snprintf(source, sizeof source, form, uses[i]);
        CHECK_STATUS(import_source(&p, source, NULL), IG_INVALID);
        CHECK_MSG(*p.c.why && strstr(p.c.why, words), "%s: '%s'", uses[i], p.c.why);
        close(&p);
    }
}

/* torch refuses each of them, too: "a Tensor with 12 elements cannot be converted to
 * Scalar", and for conditions "Boolean value of Tensor with more than one value is
 * ambiguous". */
TEST(a_tensor_of_not_one_element_is_no_number) {
    static const char *const uses[] = {
        "    if y:\n      pass\n",
        "    if bool(y):\n      pass\n",
        "    while y:\n      y = torch.neg(y)\n",
        "    a = int(y)\n",
        "    a = float(torch.zeros([0]))\n",
        "    a = annotate(int, y)\n",
        "    a = torch.zeros(2, y)\n",
        "    a = torch.select(x, 0, y)\n",
        "    a = torch.add(x, x, alpha=y)\n",
        "    a = torch.full([2], y)\n",
        "    a = torch.reshape(x, annotate(List[int], [y]))\n",
    };
    check_refused(uses, IG_COUNT_OF(uses),
                  HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                       "    y = torch.zeros([3, 4])\n%s    return x\n",
                  "does not have one element");
}
END_TEST

/* Of no results, too: torch asks that the axis have elements. */
TEST(no_elements_have_no_extreme) {
    static const char *const uses[] = {
        "a = torch.argmax(y, 0)",
        "a = torch.argmin(y)",
        "a = torch.amax(y, [0])",
        "a = torch.amin(y, [1, 0])",
        "a = torch.max(y)",
        "a = torch.min(torch.zeros([0, 0]))",
        "a, b = torch.max(y, 0)",
        "a, b = torch.min(torch.zeros([0, 0]), 1)",
        "a, b = torch.aminmax(y, dim=0)",
    };
    check_refused(uses, IG_COUNT_OF(uses),
                  HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                       "    y = torch.zeros([0, 4])\n    %s\n    return x\n",
                  "no largest or smallest of no elements");
}
END_TEST

TEST(a_number_has_no_axis_to_work_along) {
    static const char *const uses[] = {
        "torch.glu(y, 0)",
        "torch.renorm(y, 2, 0, 1)",
        "torch.diff(y, 1, 0)",
        "torch.trapezoid(y, y, dim=0)",
        "torch.slice_scatter(y, x, 0)",
        "torch.select_scatter(y, y, 0, 0)",
        "torch.narrow(y, 0, 0, 1)",
        "torch.stride(y, 0)",
        "torch.split_with_sizes(y, [1], 0)",
        "torch.unflatten(y, 0, [1, 1])",
    };
    check_refused(uses, IG_COUNT_OF(uses),
                  HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                       "    y = torch.sum(x)\n    a = %s\n    return x\n",
                  "rank 0");
}
END_TEST

TEST(ranks_that_do_not_fit_are_refused) {
    static const char *const uses[] = {
        "torch.bilinear(y, y, x)",
        "torch.cdist(y, y)",
        "torch.scatter(y, 1, torch.zeros([1], dtype=4), x)",
        "torch.index_add(y, 1, torch.zeros([1], dtype=4), y)",
        "torch.take_along_dim(y, torch.zeros(annotate(List[int], []), dtype=4), 0)",
        "torch.softmax(torch.ones([2], dtype=4), 5)",
    };
    check_refused(uses, IG_COUNT_OF(uses),
                  HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                       "    y = torch.sum(x)\n    a = %s\n    return x\n",
                  "rank");
}
END_TEST

/* One axis more than a tensor can have, by each operator that makes axes. */
TEST(too_many_axes_are_refused) {
    static const char *const uses[] = {
        "torch.unsqueeze(y, 0)",
        "torch.stack([y, y])",
        "torch.view(y, MORE)",
        "torch.reshape(y, MORE)",
        "torch.expand(y, MORE)",
        "torch.broadcast_to(y, MORE)",
        "torch.repeat(y, MORE)",
        "torch.tile(y, MORE)",
        "torch.zeros(MORE)",
        "torch.ones(MORE)",
        "torch.full(MORE, 1)",
        "torch.empty(MORE)",
        "torch.randn(MORE)",
        "torch.new_zeros(y, MORE)",
        "torch.unfold(y, 0, 1, 1)",
        "torch.unflatten(y, 0, [1, 1])",
        "torch.diag_embed(y)",
        "torch.one_hot(torch.to(y, 4), 2)",
        "torch.embedding(torch.ones([2, 3]), torch.to(y, 4))",
        "torch.index(y, [torch.zeros([1, 1], dtype=4)])",
        "torch.tensordot(y, y, annotate(List[int], []), annotate(List[int], []))",
        "torch.view_as_real(torch.to(y, 9))",
        "torch.as_strided(y, MORE, MORE)",
    };
    char more[8 * IG_TENSOR_RANK] = "[1", y[8 * IG_TENSOR_RANK], form[2000], use[2000];
    for (uint32_t i = 1; i < IG_TENSOR_RANK; i++) {
        strcat(more, ", 1");
    }
    strcat(strcpy(y, more), "]");
    strcat(more, ", 1]");
    snprintf(form, sizeof form,
             HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                  "    y = torch.ones(%s)\n    a = %%s\n    return x\n",
             y);
    for (size_t i = 0; i < IG_COUNT_OF(uses); i++) {
        const char *hole = strstr(uses[i], "MORE"), *rest = hole ? hole + 4 : "";
        const char *last = hole ? strstr(rest, "MORE") : NULL;
        int before = hole ? (int)(hole - uses[i]) : (int)strlen(uses[i]);
        snprintf(use, sizeof use, "%.*s%s%.*s%s%s", before, uses[i], hole ? more : "",
                 last ? (int)(last - rest) : (int)strlen(rest), rest, last ? more : "",
                 last ? last + 4 : "");
        program p;
        char source[3000];
        snprintf(source, sizeof source, form, use);
        CHECK_STATUS(import_source(&p, source, NULL), IG_LIMIT);
        CHECK_MSG(strstr(p.c.why, "items") || strstr(p.c.why, "32"), "%s: '%s'",
                  uses[i], p.c.why);
        close(&p);
    }
}
END_TEST

static const char dicts[] = HEAD "  def forward(self: __torch__.M,\n"
                                 "    x: Tensor) -> Tensor:\n"
                                 "    d = torch.dict()\n"
                                 "    _0 = torch._set_item(d, \"a\", torch.mul(x, 2))\n"
                                 "    return torch.add(d[\"a\"], torch.len(d))\n";

TEST(a_dict_begins_empty) {
    const float x[] = { 1, 2, 3, 4 };
    const double y[] = { 3, 5, 7, 9 };
    program p;
    CHECK_MSG(import_source(&p, dicts, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], y, 4);
    close(&p);
}
END_TEST

static const char growing[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, Tensor, int]:\n"
    "    rows = torch.unbind(x)\n"
    "    out = annotate(List[Tensor], [])\n"
    "    h = torch.zeros([2])\n"
    "    for i in range(torch.len(rows)):\n"
    "      h = torch.add(h, rows[i])\n"
    "      _0 = torch.append(out, torch.mul(h, 2))\n"
    "    return (torch.stack(out, 1), torch.cat(out), out[-1], torch.len(out))\n";

/* As many rows as an open extent says are unbound, and as many items appended. */
TEST(a_list_grows_with_an_open_extent) {
    const float x[] = { 1, 2, 3, 4 };
    const double stacked[] = { 2, 8, 4, 12 }, joined[] = { 2, 4, 8, 12 },
                 last[] = { 8, 12 }, count[] = { 2 };
    program p;
    CHECK_MSG(import_source(&p, growing, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], stacked, 4);
    check(&p.outputs[1], joined, 4);
    check(&p.outputs[2], last, 2);
    check(&p.outputs[3], count, 1);
    close(&p);
}
END_TEST

static const char spectra[] = HEAD
    "  def forward(self: __torch__.M, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:\n"
    "    s = torch._fft_r2c(x, [0, 1], 0, False)\n"
    "    y = torch._fft_c2r(torch._fft_r2c(x, [0], 1, True), [0], 1, torch.size(x, 0))\n"
    "    r = torch._fft_c2c(s, [0], 2, False)\n"
    "    return (torch.view_as_real(s), torch.view_as_real(r), y)\n";

TEST(spectra_along_an_open_extent) {
    const float x[] = { 1, 2, 3, 4 };
    const double whole[] = { 10, 0, -2, 0, -4, 0, 0, 0 },
                 back[] = { 3, 0, -1, 0, 7, 0, -1, 0 }, same[] = { 1, 2, 3, 4 };
    program p;
    CHECK_MSG(import_source(&p, spectra, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], whole, 8);
    check(&p.outputs[1], back, 8);
    check(&p.outputs[2], same, 4);
    close(&p);
}
END_TEST

TEST(a_mapping_that_there_is_not_is_refused) {
    program p;
    static const char mapped[] = HEAD
        "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"
        "    a, b = ops.torchao.choose_qparams_affine(x, \"SO\", [1, 2], 1)\n"
        "    return a\n";
    CHECK_STATUS(import_source(&p, mapped, NULL), IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "its mapping is 'SO'"), "%s", p.c.why);
    close(&p);
}
END_TEST

static const char raising[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tensor:\n"
    "    if bool(torch.lt(torch.sum(x), 0)):\n"
    "      ops.prim.RaiseException(\"AssertionError: the sum is negative\")\n"
    "    else:\n"
    "      pass\n"
    "    return torch.neg(x)\n";

/* What only the data decide stops the run. */
TEST(an_exception_that_data_decide_is_raised_by_the_run) {
    const float x[] = { 1, 2, 3, 4 }, y[] = { 1, 2, -3, -4 };
    const double negated[] = { -1, -2, -3, -4 };
    program p;
    CHECK_MSG(import_source(&p, raising, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], negated, 4);
    memcpy(p.inputs[0].data, y, sizeof y);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_STATUS(ig_interpret(graph, p.inputs, &p.c.arena, p.outputs), IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "the sum is negative"), "'%s'", p.c.why);
    close(&p);
}
END_TEST

/* The three forms of a claim about data, as exporters write them. */
static const char claims[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tensor:\n"
    "    _0 = torch._assert_async(torch.all(torch.lt(x, 5)), \"all are below 5\")\n"
    "    _1 = torch._assert_async(torch.gt(torch.sum(x), -9))\n"
    "    _2 = torch._assert_scalar(torch.ne(float(torch.sum(x)), 0), \"no sum of 0\")\n"
    "    _3 = torch._assert_scalar(torch.eq(torch.size(x, 0), 2), \"two rows\")\n"
    "    return torch.neg(x)\n";

TEST(a_claim_about_data_is_held_by_the_run) {
    static const struct {
        float x[4];
        const char *why;
    } cases[] = {
        { { 1, 2, 3, 4 }, NULL },
        { { 1, 5, 3, 4 }, "all are below 5" },
        { { 1, NAN, 3, 4 }, "all are below 5" },
        { { 1, -20, 3, 4 }, "a claim of the model about its data does not hold" },
        { { 1, -1, 3, -3 }, "no sum of 0" },
    };
    program p;
    CHECK_MSG(import_source(&p, claims, NULL) == IG_OK, "%s", p.c.why);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    run(&p, cases[0].x);
    for (size_t k = 1; k < IG_COUNT_OF(cases); k++) {
        memcpy(p.inputs[0].data, cases[k].x, sizeof cases[k].x);
        ig_status status = ig_interpret(graph, p.inputs, &p.c.arena, p.outputs);
        CHECK_STATUS(status, IG_INVALID);
        CHECK_MSG(strstr(p.c.why, cases[k].why), "'%s'", p.c.why);
    }
    close(&p);
}
END_TEST

TEST(a_claim_that_is_known_to_be_broken_is_raised) {
    static const char broken[] = HEAD
        "  def forward(self: __torch__.M,\n"
        "    x: Tensor) -> Tensor:\n"
        "    _0 = torch._assert_scalar(torch.eq(1, 2), \"one is two\")\n"
        "    return torch.neg(x)\n";
    program p;
    CHECK_STATUS(import_source(&p, broken, NULL), IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "one is two"), "'%s'", p.c.why);
    close(&p);
}
END_TEST

static const char truths[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:\n"
    "    t = torch.gt(x, 0)\n"
    "    _0 = torch.einsum(\"ii->i\", [t])\n"
    "    _1 = torch.einsum(\"ij->j\", [t])\n"
    "    _2 = torch.einsum(\"ij,ij->ji\", [t, torch.lt(x, 4)])\n"
    "    _3 = torch.einsum(\"ij,k->ik\", [t, _0])\n"
    "    return (_0, _1, _2, _3)\n";

/* Sums count them; all else keeps them. */
TEST(einsum_takes_truth_values) {
    const float x[] = { 1, -2, 3, 4 };
    const double diagonal[] = { 1, 1 }, counts[] = { 2, 1 }, both[] = { 1, 1, 0, 0 },
                 outer[] = { 1, 1, 2, 2 };
    program p;
    CHECK_MSG(import_source(&p, truths, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], diagonal, 2);
    check(&p.outputs[1], counts, 2);
    check(&p.outputs[2], both, 4);
    check(&p.outputs[3], outer, 4);
    CHECK_INT(p.outputs[0].dtype, IG_DT_bool);
    CHECK_INT(p.outputs[1].dtype, IG_DT_i64);
    CHECK_INT(p.outputs[2].dtype, IG_DT_bool);
    CHECK_INT(p.outputs[3].dtype, IG_DT_i64);
    close(&p);
}
END_TEST

static const char triangles[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor]:\n"
    "    a = torch.tril_indices(9223372036854775807, 0)\n"
    "    b = torch.triu_indices(2, 2)\n"
    "    return (a, b)\n";

TEST(rows_without_columns_have_no_triangle) {
    const float x[] = { 1, 2, 3, 4 };
    const double upper[] = { 0, 0, 1, 0, 1, 1 };
    program p;
    CHECK_MSG(import_source(&p, triangles, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    CHECK_INT(p.outputs[0].count, 0);
    check(&p.outputs[1], upper, 6);
    close(&p);
}
END_TEST

static const char backwards[] = HEAD "  def forward(self: __torch__.M,\n"
                                     "    x: Tensor) -> Tensor:\n"
                                     "    y = torch.clone(x)\n"
                                     "    for i in range(int(torch.sum(x))):\n"
                                     "      y = torch.add(y, 1)\n"
                                     "    return y\n";

/* A negative count of trips is none, not one without end. */
TEST(a_negative_count_is_no_trip) {
    const float x[] = { 1, 2, -3, -4 }, z[] = { 1, 2, -3, 2 };
    const double same[] = { 1, 2, -3, -4 }, more[] = { 3, 4, -1, 4 };
    program p;
    CHECK_MSG(import_source(&p, backwards, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], same, 4);
    run(&p, z);
    check(&p.outputs[0], more, 4);
    close(&p);
}
END_TEST

static const char hashed[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor,\n"
    "    n: int) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:\n"
    "    i = torch.flatten(torch.to(x, 4))\n"
    "    t, _0 = ops.fbgemm.create_zch_buffer(8, False, None, True)\n"
    "    _1 = torch.select(t, 1, 0)\n"
    "    _2 = torch.fill_(torch.select(_1, 0, 0), 42)\n"
    "    _3 = torch.fill_(torch.select(_1, 0, 2), 9)\n"
    "    _4 = torch.fill_(torch.select(_1, 0, 3), 42)\n"
    "    _5 = torch.fill_(torch.select(_1, 0, 5), 7)\n"
    "    _6 = torch.fill_(torch.select(_1, 0, 6), 1)\n"
    "    a, _7 = ops.fbgemm.zero_collision_hash(i, t, n, True, -1, True)\n"
    "    b, _8 = ops.fbgemm.zero_collision_hash(i, t, 1, True, -1, True, None, None, None, False, True)\n"
    "    c, _9 = ops.fbgemm.zero_collision_hash(i, torch.to(t, 3), 3, True, -1, True, None, None, None, False, False, False, None, -1, 0, 100, 2)\n"
    "    h = ops.fbgemm.murmur_hash3(torch.tensor([6]), 0, 0)\n"
    "    k = ops.fbgemm.murmur_hash3(torch.tensor([9]), 7, -3)\n"
    "    return (a, b, c, torch.remainder(h, 1000003), torch.remainder(k, 1000003))\n";

/* FBGEMM's numbers; the rows that hold no id are those of id -1. */
TEST(ids_are_found_where_they_were_put) {
    const float x[] = { 42, 7, 1, -1 };
    const double near[] = { 0, 5, 6, 1 }, home[] = { 0, -1, -1, 1 };
    const double open[] = { 3, 6, 7, 4 };
    const double hash[] = { (double)(7827708228670008879 % 1000003) };
    const double other[] = { (double)(7380258290086941687 % 1000003) };
    const char *max[] = { "3", "40" }; /* the second in several trips of a loop */
    for (size_t i = 0; i < IG_COUNT_OF(max); i++) {
        program p;
        CHECK_MSG(import_source(&p, hashed, max[i]) == IG_OK, "%s", p.c.why);
        run(&p, x);
        check(&p.outputs[0], near, 4);
        check(&p.outputs[1], home, 4);
        check(&p.outputs[2], open, 4);
        check(&p.outputs[3], hash, 1);
        check(&p.outputs[4], other, 1);
        close(&p);
    }
}
END_TEST

static const char distinct[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:\n"
    "    i = torch.flatten(torch.to(x, 4))\n"
    "    e = torch.tensor([0, 0, 10])\n"
    "    g = torch.tensor([0, 0, 2])\n"
    "    o = torch.tensor([0, 3, 3, 3, 4])\n"
    "    a, b, c, d = ops.fbgemm.jagged_unique_indices(e, g, o, i)\n"
    "    f = ops.fbgemm.batch_index_select_dim0(torch.flatten(x), torch.tensor([0, 0, 1]), [1, 2], [1, 2], [2, 1])\n"
    "    return (a, b, c, d, f)\n";

/* Two features of one table, two bags each: what FBGEMM's kernel does, by hand. */
TEST(distinct_ids_are_shared_out_over_a_tables_bags) {
    const float x[] = { 7, 2, 7, 5 };
    const double lengths[] = { 1, 1, 1, 0 }, offsets[] = { 0, 1, 2, 3, 3 };
    const double ids[] = { 2, 5, 7 }, which[] = { 2, 0, 2, 1 }, rows[] = { 7, 2, 7, 5 };
    program p;
    CHECK_MSG(import_source(&p, distinct, NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], lengths, 4);
    check(&p.outputs[1], offsets, 5);
    check(&p.outputs[2], ids, 3);
    check(&p.outputs[3], which, 4);
    check(&p.outputs[4], rows, 4);
    close(&p);
}
END_TEST

static char *last_equals(char *line) {
    char *found = NULL;
    for (char *at = strstr(line, " = "); at; at = strstr(at + 1, " = ")) {
        found = at;
    }
    return found;
}

/* One line of calls.txt: "torch.abs(x) = 0.25 0.5 0.75 0.5", or with several results
 * "p, q = torch.frexp(x); p = 0.5 -0.5 0.75 0.5". */
static void check_call_line(char *line) {
    const float x[] = { 0.25F, -0.5F, 0.75F, 0.5F };
    char *equals = last_equals(line), *rest = equals + 3;
    char *result = strstr(line, "; ");
    char source[2000];
    program p;
    *equals = 0;
    if (result) {
        *result = 0;
    }
    snprintf(source, sizeof source,
             HEAD
             "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
             "    y = torch.reshape(torch.tensor([0.5, 2., -1.5, 3.]), [2, 2])\n"
             "    s = torch.reshape(torch.tensor([2., 0.5, 0.5, 1.]), [2, 2])\n"
             "    k = torch.reshape(torch.tensor([5, -3, 0, 7]), [2, 2])\n"
             "    b = torch.ne(torch.reshape(torch.tensor([1, 0, 1, 1]), [2, 2]), 0)\n"
             "    v, w = torch.tensor([0.5, -2., 3.]), torch.tensor([1., 4., -1.5])\n"
             "    i, z = torch.tensor([1, 0]), torch.reshape(x, [1, 1, 2, 2])\n"
             "    t = torch.reshape(torch.arange(1., 9.), [1, 2, 2, 2])\n"
             "    %s%s%s\n",
             result ? line : "return ", result ? "\n    return " : line,
             result ? result + 2 : "");
    CHECK_MSG(import_shaped(&p, source, "f32[2, 2]", NULL) == IG_OK, "%s: %s", line,
              p.c.why);
    run(&p, x);
    for (int64_t i = 0; i < p.outputs[0].count; i++) {
        double expected = strtod(rest, &rest);
        double value = ig_tensor_get_f64(&p.outputs[0], i);
        bool is_same = isfinite(expected)
                           ? fabs(value - expected) < 1e-5 * (1 + fabs(expected))
                           : value == expected || (isnan(value) && isnan(expected));
        CHECK_MSG(is_same, "%s: element %lld is %g, not %g", line, (long long)i, value,
                  expected);
    }
    CHECK_MSG(*rest == 0, "%s: has %lld elements, expected more", line,
              (long long)p.outputs[0].count);
    close(&p);
}

TEST(calls_have_the_values_that_torch_gives_them) {
    const char *path = INGOT_SOURCE_DIR "/tests/unit/torch/calls.txt";
    char line[512];
    FILE *file = fopen(path, "r");
    CHECK_MSG(file, "%s cannot be read", path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] != '#') {
            check_call_line(line);
        }
    }
    fclose(file);
}
END_TEST

/* The row of padding, counted from the end, adds nothing. */
TEST(a_negative_padding_id_counts_from_the_end) {
    static const char source[] = HEAD
        "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
        "    i = torch.tensor([1, 0])\n"
        "    a, b, c, d = torch.embedding_bag(x, i, torch.tensor([0, 1]), False, 0, "
        "False, None, False, -1)\n"
        "    return a\n";
    const float x[] = { 1, 2, 3, 4 };
    const double y[] = { 0, 0, 1, 2 };
    program p;
    CHECK_MSG(import_shaped(&p, source, "f32[2, 2]", NULL) == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], y, 4);
    close(&p);
}
END_TEST

/* Classes outside of those asked for are errors of the run, as torch makes them. */
TEST(classes_of_one_hot_are_checked) {
    static const char source[] = HEAD
        "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
        "    return torch.one_hot(torch.to(x, 4), 3)\n";
    const float good[] = { 0, 2, 1, 1 };
    const float wrong[][4] = { { 0, 3, 1, 1 }, { 0, 2, -1, 1 } };
    const double y[] = { 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0 };
    program p;
    CHECK_MSG(import_shaped(&p, source, "f32[2, 2]", NULL) == IG_OK, "%s", p.c.why);
    run(&p, good);
    check(&p.outputs[0], y, 12);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    for (size_t i = 0; i < IG_COUNT_OF(wrong); i++) {
        memcpy(p.inputs[0].data, wrong[i], sizeof wrong[i]);
        CHECK_INT(ig_interpret(graph, p.inputs, &p.c.arena, p.outputs), IG_INVALID);
    }
    CHECK_MSG(strstr(p.c.why, "index 3 at position 1 is out of range"), "%s", p.c.why);
    close(&p);
}
END_TEST

/* The first offset is 0 and none is less than the one before, as torch demands. */
TEST(offsets_of_bags_are_checked) {
    static const char source[] = HEAD
        "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
        "    o = torch.select(torch.to(x, 4), 0, 0)\n"
        "    i = torch.select(torch.to(x, 4), 0, 1)\n"
        "    a, b, c, d = torch.embedding_bag(x, i, o, False, 0, False, None)\n"
        "    return a\n";
    const float good[] = { 0, 1, 1, 0 },
                wrong[][4] = { { 1, 1, 1, 0 }, { 0, 3, 1, 0 } };
    const double y[] = { 1, 0, 0, 1 };
    program p;
    CHECK_MSG(import_shaped(&p, source, "f32[2, 2]", NULL) == IG_OK, "%s", p.c.why);
    run(&p, good);
    check(&p.outputs[0], y, 4);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    for (size_t i = 0; i < IG_COUNT_OF(wrong); i++) {
        memcpy(p.inputs[0].data, wrong[i], sizeof wrong[i]);
        CHECK_INT(ig_interpret(graph, p.inputs, &p.c.arena, p.outputs), IG_INVALID);
    }
    close(&p);
}
END_TEST

UNIT_SUITE(torchscript_eval, classes_of_one_hot_are_checked,
           offsets_of_bags_are_checked, a_negative_padding_id_counts_from_the_end,
           a_branch_writes_through_a_view, truth_values_of_the_run_are_joined,
           a_loop_carries_a_storage, a_branch_changes_what_containers_hold,
           what_cannot_be_is_refused_with_words,
           a_tensor_of_not_one_element_is_no_number, no_elements_have_no_extreme,
           a_number_has_no_axis_to_work_along, ranks_that_do_not_fit_are_refused,
           too_many_axes_are_refused, calls_have_the_values_that_torch_gives_them,
           a_dict_begins_empty,

           a_list_grows_with_an_open_extent, spectra_along_an_open_extent,
           a_mapping_that_there_is_not_is_refused,
           an_exception_that_data_decide_is_raised_by_the_run,
           a_claim_about_data_is_held_by_the_run,
           a_claim_that_is_known_to_be_broken_is_raised, einsum_takes_truth_values,
           rows_without_columns_have_no_triangle, a_negative_count_is_no_trip,
           ids_are_found_where_they_were_put,
           distinct_ids_are_shared_out_over_a_tables_bags)
