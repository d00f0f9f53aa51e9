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

/* x, u and c are [A, B], [E, F] and [G, H], i is [C, D], k [K], v [V]: elements next to
 * x would be read, or written to. */
static void check_guards(const char *op, const char *ins, const char *outs,
                         int wanted) {
    ig_module *module;
    ig_pass_options options = { 0 };
    begin(16, op, ins, outs);
    onnx_input(&model, "i", ONNX_I64, 2, "C", "D");
    onnx_input(&model, "u", ONNX_F32, 2, "E", "F");
    onnx_input(&model, "c", ONNX_F32, 2, "G", "H");
    onnx_input(&model, "k", ONNX_I64, 1, "K");
    onnx_input(&model, "v", ONNX_F32, 1, "V");
    onnx_output(&model, "y");
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", run.why);
    CHECK_OK(ig_passes_run(module, &options, ig_pipeline_clean));
    CHECK_INT(count_guards(ig_module_graph(module, "main")), wanted);
    ig_module_destroy(module);
    end();
}

TEST(indices_reach_no_further_than_the_data) {
    check_guards("GatherElements", "x,i", "y", 1); /* D is at most B */
    /* The same; u has the indices' extents. */
    check_guards("ScatterElements", "x,i,u", "y", 3);
}
END_TEST

TEST(one_number_is_one_and_two_are_two) {
    check_guards("TopK", "x,k", "y,z", 1);   /* K is 1 */
    check_guards("OneHot", "i,k,v", "y", 4); /* K is 1, V is 2: it has a 0th, a 1st */
}
END_TEST

TEST(the_addend_of_gemm_does_not_widen_it) {
    check_guards("Gemm", "x,u", "y", 1); /* B is E */
    /* And G is 1 or A, H is 1 or F; of both sums of the addition, too. */
    check_guards("Gemm", "x,u,c", "y", 5);
}
END_TEST

TEST(an_addend_known_to_widen_a_product_is_refused) {
    ig_module *module;
    begin(16, "Gemm", "x,w,c", "y"); /* [A, 2] times [2, 1], plus [2] */
    onnx_initializer(&model,
                     onnx_tensor(&model, "w", ONNX_F32, 2, INTS(2, 1), FLOATS(1, 2)));
    onnx_initializer(&model,
                     onnx_tensor(&model, "c", ONNX_F32, 1, INTS(2), FLOATS(1, 2)));
    onnx_output(&model, "y");
    CHECK_STATUS(
        ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module),
        IG_INVALID);
    CHECK_MSG(strstr(run.why, "does not broadcast to the shape"), "%s", run.why);
    end();
}
END_TEST

UNIT_SUITE(guards_onnx, indices_reach_no_further_than_the_data,
           one_number_is_one_and_two_are_two, the_addend_of_gemm_does_not_widen_it,
           an_addend_known_to_widen_a_product_is_refused)
