/* What ONNX's operators take for granted of open extents is checked by the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_expect.h"

#include "passes/engine/pass.h"

static int count_guards(const ig_graph *graph) {
    int count = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == IG_OP_guard;
    }
    return count;
}

/* x and u are [A, B] and [E, F], i is [C, D]: elements next to x would be read, or
 * written to. */
static void check_guards(const char *op, const char *ins, int wanted) {
    ig_module *module;
    ig_pass_options options = { 0 };
    begin(16, op, ins, "y");
    onnx_input(&model, "i", ONNX_I64, 2, "C", "D");
    onnx_input(&model, "u", ONNX_F32, 2, "E", "F");
    onnx_output(&model, "y");
    CHECK_OK(
        ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    CHECK_OK(ig_passes_run(module, &options, ig_pipeline_clean));
    CHECK_INT(count_guards(ig_module_graph(module, "main")), wanted);
    ig_module_destroy(module);
    end();
}

TEST(indices_reach_no_further_than_the_data) {
    check_guards("GatherElements", "x,i", 1); /* D is at most B */
    /* The same; u has the indices' extents. */
    check_guards("ScatterElements", "x,i,u", 3);
}
END_TEST

UNIT_SUITE(guards_onnx, indices_reach_no_further_than_the_data)
