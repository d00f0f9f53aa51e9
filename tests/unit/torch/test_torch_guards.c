/* What operators take for granted of open extents is checked by the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

#include "passes/engine/pass.h"

static bool has_guard(const ig_graph *graph) {
    bool is_there = false;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        is_there |= op->code == IG_OP_guard;
    }
    return is_there;
}

/* Is an extent of x that was open by now the number that the program asks for? */
static bool is_settled(const ig_graph *graph) {
    const ig_type *x = graph->body.args[0]->type;
    return ig_dim_is_static(x->dims[0]) || ig_dim_is_static(x->dims[1]) ||
           ig_dim_same(x->dims[0], x->dims[1]);
}

static void check_guarded(const char *use) {
    char source[1000];
    ig_pass_options options = { 0 };
    program p;
    snprintf(source, sizeof source,
             HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                  "    i = torch.zeros([2, 3], dtype=4)\n"
                  "    w = torch.ones([4])\n"
                  "    return %s\n",
             use);
    CHECK_MSG(import_source(&p, source, NULL) == IG_OK, "%s: %s", use, p.c.why);
    CHECK_OK(ig_passes_run(p.module, &options, ig_pipeline_clean));
    const ig_graph *graph = ig_module_graph(p.module, "main");
    CHECK_MSG(is_settled(graph) || has_guard(graph), "%s: no guard", use);
    close(&p);
}

/* x is [R, C]: compiled code would read or write next to it. */
TEST(extents_that_operators_need_are_guarded) {
    static const char *const uses[] = {
        "torch.batch_norm(x, w, w, w, w, False, 0.1, 1e-5, False)",
        "torch.group_norm(x, 2, w, w)",
        "torch.layer_norm(x, [4], w, w)",
        "torch.conv2d(torch.reshape(x, [1, torch.size(x, 0), torch.size(x, 1), 1]), "
        "torch.ones([4, 4, 1, 1]))",
        "torch.gather(x, 1, i)",
        "torch.scatter(x, 1, i, torch.ones([2, 3]))",
        "torch.scatter(torch.ones([9, 9]), 1, i, x)",
        "torch.index_add(torch.ones([9, 4]), 0, torch.zeros([2], dtype=4), x)",
        "torch.expand(x, [3, 4])",
        "torch.narrow(x, 1, 1, 2)",
        "(torch.topk(x, 3, 1))[0]",
        "torch.slice_scatter(torch.ones([9, 4]), x, 0, 1, 3)",
        "torch.index_put(torch.ones([9, 4]), "
        "annotate(List[Optional[Tensor]], [torch.zeros([2], dtype=4)]), x)",
        "torch.sum_to_size(torch.ones([4, 4]), [torch.size(x, 0), 4])",
        "torch.repeat_interleave(x, torch.ones([2], dtype=4), 0)",
        "torch.bincount(torch.zeros([3], dtype=4), torch.reshape(x, [-1]))",
    };
    for (size_t i = 0; i < IG_COUNT_OF(uses); i++) {
        check_guarded(uses[i]);
    }
}
END_TEST

UNIT_SUITE(torch_guards, extents_that_operators_need_are_guarded)
