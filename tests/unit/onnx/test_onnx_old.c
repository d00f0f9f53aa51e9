/* Forms that ONNX operators had before opset 7, by values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static onnx_model model;
static onnx_case run;

/* A model with x of f32[A, B] and one node. */
static Onnx__NodeProto *begin(int64_t opset, const char *op, const char *ins) {
    onnx_case_init(&run);
    onnx_model_init(&model, opset);
    onnx_input(&model, "x", ONNX_F32, 2, "A", "B");
    onnx_output(&model, "y");
    return onnx_node(&model, op, ins, "y");
}

static void weight(const char *name, size_t rank, const int64_t *dims,
                   const float *values) {
    onnx_initializer(&model, onnx_tensor(&model, name, ONNX_F32, rank, dims, values));
}

static ig_status import(ig_module **out_module) {
    return ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL,
                                 out_module);
}

/* y of x = [[0, 1, 2], [3, 4, 5]]. */
static void expect(uint32_t rank, const int64_t *dims, const float *values) {
    ig_module *module;
    CHECK_MSG(import(&module) == IG_OK, "%s", run.why);
    CHECK_OK(ig_verify_module(module));
    ig_tensor in, out, want;
    int64_t shape[2] = { 2, 3 };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &in));
    for (int64_t i = 0; i < in.count; i++) {
        ig_tensor_set_f64(&in, i, (double)i);
    }
    CHECK_MSG(ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, &out) ==
                  IG_OK,
              "%s", run.why);
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, rank, dims, &want));
    memcpy(want.data, values, (size_t)want.count * sizeof(*values));
    CHECK_MSG(onnx_case_equal(&run, &out, &want), "%s", run.why);
    ig_module_destroy(module);
}

static void expect_refusal(const char *words) {
    ig_module *module;
    CHECK(import(&module) != IG_OK);
    CHECK_MSG(strstr(run.why, words) != NULL, "%s", run.why);
}

static void end(void) {
    onnx_model_fini(&model);
    onnx_case_fini(&run);
}

#define INTS(...) ((const int64_t[]){ __VA_ARGS__ })
#define FLOATS(...) ((const float[]){ __VA_ARGS__ })

TEST(broadcast_from_an_axis) {
    Onnx__NodeProto *node = begin(6, "Add", "x,c");
    weight("c", 1, INTS(2), FLOATS(10, 20));
    onnx_attr_i(&model, node, "broadcast", 1);
    onnx_attr_i(&model, node, "axis", 0);
    expect(2, INTS(2, 3), FLOATS(10, 11, 12, 23, 24, 25));
    node->attribute[1]->i = 2;
    expect_refusal("axis 2 is outside of a tensor of rank 2");
    end();
}
END_TEST

TEST(broadcast_to_the_last_axes) {
    Onnx__NodeProto *node = begin(1, "Sub", "x,c");
    weight("c", 1, INTS(3), FLOATS(1, 2, 3));
    onnx_attr_i(&model, node, "broadcast", 1);
    expect(2, INTS(2, 3), FLOATS(-1, -1, -1, 2, 2, 2));
    node->attribute[0]->i = 0;
    expect_refusal("are not broadcast without the attribute broadcast");
    end();
}
END_TEST

TEST(broadcast_goes_one_way) {
    Onnx__NodeProto *node = begin(6, "Mul", "x,c");
    weight("c", 3, INTS(1, 2, 3), FLOATS(1, 2, 3, 4, 5, 6));
    onnx_attr_i(&model, node, "broadcast", 1);
    expect_refusal("input 1 has rank 3, more than the 2 of input 0");
    end();
}
END_TEST

TEST(consumed_inputs_say_nothing_about_the_result) {
    Onnx__NodeProto *node = begin(1, "Neg", "x");
    onnx_attr_ints(&model, node, "consumed_inputs", 1, INTS(0));
    expect(2, INTS(2, 3), FLOATS(0, -1, -2, -3, -4, -5));
    end();
}
END_TEST

TEST(prelu_by_channel) {
    begin(6, "PRelu", "n,c");
    onnx_node(&model, "Neg", "x", "n");
    weight("c", 1, INTS(3), FLOATS(1, 2, 3));
    expect(2, INTS(2, 3), FLOATS(0, -2, -6, -3, -8, -15));
    end();
}
END_TEST

TEST(cast_to_a_name) {
    Onnx__NodeProto *node = begin(1, "Cast", "x");
    onnx_attr_s(&model, node, "to", "FLOAT");
    expect(2, INTS(2, 3), FLOATS(0, 1, 2, 3, 4, 5));
    end();
    node = begin(1, "Cast", "x");
    onnx_attr_s(&model, node, "to", "NUMBER");
    expect_refusal("to is 'NUMBER', which is not a supported element type");
    end();
}
END_TEST

TEST(reshape_by_an_attribute) {
    Onnx__NodeProto *node = begin(1, "Reshape", "x");
    onnx_attr_ints(&model, node, "shape", 2, INTS(3, -1));
    expect(2, INTS(3, 2), FLOATS(0, 1, 2, 3, 4, 5));
    node->attribute[0]->ints[1] = -2;
    expect_refusal("entry 1 of shape is -2");
    end();
}
END_TEST

TEST(concat_along_axis_1) {
    begin(1, "Concat", "x,x");
    expect(2, INTS(2, 6), FLOATS(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
    end();
}
END_TEST

TEST(pad_by_paddings) {
    Onnx__NodeProto *node = begin(1, "Pad", "x");
    onnx_attr_ints(&model, node, "paddings", 4, INTS(0, 1, 0, 0));
    expect(2, INTS(2, 4), FLOATS(0, 0, 1, 2, 0, 3, 4, 5));
    end();
}
END_TEST

TEST(tile_along_one_axis) {
    begin(1, "Tile", "x,times,axis");
    weight("times", 1, INTS(1), FLOATS(2));
    weight("axis", 1, INTS(1), FLOATS(0));
    expect(2, INTS(4, 3), FLOATS(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
    end();
}
END_TEST

TEST(upsample_of_an_image) {
    Onnx__NodeProto *node = begin(1, "Upsample", "i");
    onnx_attr_f(&model, node, "height_scale", 1);
    onnx_attr_f(&model, node, "width_scale", 2);
    node = onnx_node(&model, "Reshape", "x", "i");
    onnx_attr_ints(&model, node, "shape", 4, INTS(1, 1, 2, 3));
    expect(4, INTS(1, 1, 2, 6), FLOATS(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
    end();
}
END_TEST

/* Before opset 11: of an axis that shrinks the next element, of others the one
 * before. */
TEST(the_nearest_element_of_an_axis_that_shrinks) {
    begin(10, "Resize", "x,scales");
    weight("scales", 1, INTS(2), FLOATS(2, 0.67f));
    expect(2, INTS(4, 2), FLOATS(0, 2, 0, 2, 3, 5, 3, 5));
    end();
}
END_TEST

TEST(layers_that_train_are_refused) {
    Onnx__NodeProto *node = begin(6, "Dropout", "x");
    expect_refusal("is_test is 0");
    onnx_attr_i(&model, node, "is_test", 1);
    expect(2, INTS(2, 3), FLOATS(0, 1, 2, 3, 4, 5));
    end();
}
END_TEST

TEST(batch_norm_that_tests) {
    Onnx__NodeProto *node = begin(6, "BatchNormalization", "x,c,c,c,c");
    weight("c", 1, INTS(3), FLOATS(1, 1, 1));
    onnx_attr_f(&model, node, "epsilon", 0);
    onnx_attr_i(&model, node, "is_test", 1);
    expect(2, INTS(2, 3), FLOATS(0, 1, 2, 3, 4, 5));
    onnx_attr_i(&model, node, "spatial", 0);
    expect_refusal("spatial is 0");
    end();
}
END_TEST

UNIT_SUITE(onnx_old, broadcast_from_an_axis, broadcast_to_the_last_axes,
           broadcast_goes_one_way, consumed_inputs_say_nothing_about_the_result,
           prelu_by_channel, cast_to_a_name, reshape_by_an_attribute,
           concat_along_axis_1, pad_by_paddings, tile_along_one_axis,
           upsample_of_an_image, the_nearest_element_of_an_axis_that_shrinks,
           layers_that_train_are_refused, batch_norm_that_tests)
