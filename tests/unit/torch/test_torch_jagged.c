/* FBGEMM's conversions of jagged tensors: one axis is an op, several are compositions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

static uint32_t count_ops(const program *p, ig_opcode code, ig_dtype offsets) {
    uint32_t count = 0;
    const ig_graph *graph = ig_module_graph(p->module, "main");
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == code && op->operands[1].value->type->dtype == offsets;
    }
    return count;
}

static const char conversions[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:\n"
    "    v = torch.flatten(x)\n"
    "    o = torch.tensor([0, 1, 4])\n"
    "    a = ops.fbgemm.jagged_to_padded_dense(v, [o], [2], -1.)\n"
    "    b, _0 = ops.fbgemm.dense_to_jagged(torch.mul(a, 2), [torch.to(o, 3)])\n"
    "    c, _1 = ops.fbgemm.dense_to_jagged(a, [o], 3)\n"
    "    d = ops.fbgemm.jagged_1d_to_dense(v, o, 3, 7)\n"
    "    e = ops.fbgemm.jagged_to_padded_dense(v, [torch.tensor([0, 2]), o], [3, 2], 5.)\n"
    "    return (a, b, c, d, e)\n";

/* Offsets of 32 bits stay; a number of rows that is not given is the last offset. */
TEST(one_jagged_axis_is_an_op) {
    const float x[] = { 1, 2, -0.0f, 4 };
    const double a[] = { 1, -1, 2, 0 }, b[] = { 2, 4, 0, 0 }, c[] = { 1, 2, 0 };
    const double d[] = { 1, 7, 7, 2, 0, 4 }, e[] = { 1, 5, 2, 0, 5, 5 };
    program p;
    CHECK_MSG(import_source(&p, conversions, NULL) == IG_OK, "%s", p.c.why);
    CHECK_INT(count_ops(&p, IG_OP_jagged_to_padded, IG_DT_i64), 2);
    CHECK_INT(count_ops(&p, IG_OP_padded_to_jagged, IG_DT_i64), 1);
    CHECK_INT(count_ops(&p, IG_OP_padded_to_jagged, IG_DT_i32), 1);
    run(&p, x);
    check(&p.outputs[0], a, 4);
    check(&p.outputs[1], b, 4);
    check(&p.outputs[2], c, 3);
    check(&p.outputs[3], d, 6);
    check(&p.outputs[4], e, 6);
    close(&p);
}
END_TEST

static const char nested[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor,\n"
    "    n: int) -> Tensor:\n"
    "    o = torch.tensor([0, 1, 4])\n"
    "    a = torch.reshape(torch.flatten(x), [2, n])\n"
    "    return torch._padded_dense_to_jagged_forward(a, [o], 4)\n";

/* torch's own has no zeros for what the dense tensor lacks. */
TEST(a_segment_that_is_too_long_is_an_error) {
    const float x[] = { 1, 2, 3, 4 };
    program p;
    CHECK_MSG(import_source(&p, nested, "2") == IG_OK, "%s", p.c.why);
    int64_t dims[] = { 2, 2 };
    CHECK_OK(
        ig_tensor_alloc(&p.c.arena, &p.c.context, IG_DT_f32, 2, dims, &p.inputs[0]));
    memcpy(p.inputs[0].data, x, sizeof x);
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_STATUS(ig_interpret(graph, p.inputs, &p.c.arena, p.outputs), IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "a segment is longer than the dense tensor") != NULL,
              "%s", p.c.why);
    close(&p);
}
END_TEST

static const char unfit[] = HEAD
    "  def forward(self: __torch__.M,\n"
    "    x: Tensor) -> Tensor:\n"
    "    a, _0 = ops.fbgemm.dense_to_jagged(torch.ones([3, 2]), [torch.tensor([0, 1])])\n"
    "    return a\n";

TEST(a_dense_tensor_has_a_row_for_each_segment) {
    program p;
    CHECK_STATUS(import_source(&p, unfit, NULL), IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "a row for each segment") != NULL, "%s", p.c.why);
    close(&p);
}
END_TEST

UNIT_SUITE(torch_jagged, one_jagged_axis_is_an_op,
           a_segment_that_is_too_long_is_an_error,
           a_dense_tensor_has_a_row_for_each_segment)
