/* Old forms of ONNX operators, by values worked out by hand: where the attribute later
 * became an input, or the meaning changed.  (Newer forms: ONNX's own node cases.)
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_expect.h"
#include "tests/unit/unit.h"

#include <math.h>

TEST(slice_with_attributes) {
    Onnx__NodeProto *node = begin(9, "Slice", "x", "y");
    onnx_attr_ints(&model, node, "starts", 2, INTS(-1, 0));
    onnx_attr_ints(&model, node, "ends", 2, INTS(INT64_MAX, -1));
    onnx_attr_ints(&model, node, "axes", 2, INTS(0, 1));
    expect("y", 0, 2, 2, INTS(1, 2), FLOATS(3, 4));
    expect("y", 0, 0, 2, INTS(0, 2), NULL);
    end();
}
END_TEST

TEST(clip_with_attributes) {
    Onnx__NodeProto *node = begin(7, "Clip", "x", "y");
    onnx_attr_f(&model, node, "min", 1.5F);
    onnx_attr_f(&model, node, "max", 3);
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(1.5F, 1.5F, 2, 3, 3, 3));
    end();
}
END_TEST

TEST(pad_with_attributes_crops_too) {
    Onnx__NodeProto *node = begin(8, "Pad", "x", "y");
    onnx_attr_ints(&model, node, "pads", 4, INTS(0, 1, 1, -1));
    onnx_attr_f(&model, node, "value", 9);
    expect("y", 0, 1, 2, INTS(2, 3), FLOATS(9, 0, 1, 9, 9, 9));
    end();
}
END_TEST

/* exp 0 … exp 3 over their sum: the whole tail from axis 0 on is one axis. */
TEST(softmax_before_13_flattens) {
    Onnx__NodeProto *node = begin(11, "Softmax", "x", "y");
    onnx_attr_i(&model, node, "axis", 0);
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0.09003057F, 0.24472848F, 0.66524094F));
    node->attribute[0]->i = 1; /* rows of their own: the same three numbers twice */
    expect("y", 0, 2, 2, INTS(2, 3),
           FLOATS(0.09003057F, 0.24472848F, 0.66524094F, 0.09003057F, 0.24472848F,
                  0.66524094F));
    node->attribute[0]->i = 0;
    expect("y", 0, 2, 2, INTS(2, 3),
           FLOATS(0.00426978F, 0.01160646F, 0.03154963F, 0.08576079F, 0.23312201F,
                  0.63369131F));
    end();
}
END_TEST

TEST(split_equally_and_by_attribute) {
    Onnx__NodeProto *node = begin(7, "Split", "x", "a,b,c");
    onnx_attr_i(&model, node, "axis", 1);
    expect("a,b,c", 2, 2, 2, INTS(2, 1), FLOATS(2, 5));
    end();
    node = begin(11, "Split", "x", "a,b");
    onnx_attr_i(&model, node, "axis", -1);
    onnx_attr_ints(&model, node, "split", 2, INTS(1, 2));
    expect("a,b", 1, 2, 2, INTS(2, 2), FLOATS(1, 2, 4, 5));
    end();
}
END_TEST

TEST(squeeze_and_unsqueeze_with_attributes) {
    Onnx__NodeProto *node = begin(11, "Unsqueeze", "x", "u");
    onnx_attr_ints(&model, node, "axes", 2, INTS(0, -1));
    expect("u", 0, 1, 4, INTS(1, 1, 3, 1), FLOATS(0, 1, 2));
    node = onnx_node(&model, "Squeeze", "u", "y");
    onnx_attr_ints(&model, node, "axes", 2, INTS(0, 3));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 1, 2));
    end();
}
END_TEST

TEST(reduce_with_attributes) {
    Onnx__NodeProto *node = begin(11, "ReduceMean", "x", "y");
    onnx_attr_ints(&model, node, "axes", 1, INTS(-1));
    onnx_attr_i(&model, node, "keepdims", 0);
    expect("y", 0, 2, 1, INTS(2), FLOATS(1, 4));
    end();
    begin(11, "ReduceSum", "x", "y"); /* no axes: all */
    expect("y", 0, 2, 2, INTS(1, 1), FLOATS(15));
    end();
}
END_TEST

TEST(gemm_scales_and_broadcasts) {
    const int64_t w_dims[2] = { 2, 3 }, c_dims[1] = { 2 };
    Onnx__NodeProto *node = begin(9, "Gemm", "x,w,c", "y");
    onnx_initializer(&model, onnx_tensor(&model, "w", ONNX_F32, 2, w_dims,
                                         FLOATS(1, 0, 1, 0, 2, 0)));
    onnx_initializer(&model,
                     onnx_tensor(&model, "c", ONNX_F32, 1, c_dims, FLOATS(1, 2)));
    onnx_attr_f(&model, node, "alpha", 0.5F);
    onnx_attr_f(&model, node, "beta", 10);
    onnx_attr_i(&model, node, "transB", 1);
    expect("y", 0, 2, 2, INTS(2, 2), FLOATS(11, 21, 14, 24));
    end();
}
END_TEST

/* Two trips that stack x's first row, and none at all. */
TEST(loops_stack_and_may_run_no_trip) {
    const int64_t two = 2, zero = 0, row = 0;
    begin(11, "Identity", "x", "z");
    onnx_ints(&model, "row", -1, &row);
    onnx_ints(&model, "two", -1, &two);
    onnx_ints(&model, "none", -1, &zero);
    Onnx__GraphProto *main = model.graph, *body = onnx_graph(&model, "body");
    model.graph = body;
    onnx_formal(&model, "i");
    onnx_formal(&model, "go");
    onnx_node(&model, "Gather", "x,row", "r");
    onnx_node(&model, "Identity", "go", "next");
    onnx_output(&model, "next");
    onnx_output(&model, "r");
    model.graph = main;
    onnx_attr_g(&model, onnx_node(&model, "Loop", "two,", "y"), "body", body);
    onnx_attr_g(&model, onnx_node(&model, "Loop", "none,", "n"), "body", body);
    expect("y,n", 0, 2, 2, INTS(2, 3), FLOATS(0, 1, 2, 0, 1, 2));
    expect("y,n", 1, 2, 2, INTS(0, 3), NULL);
    end();
}
END_TEST

/* x is 0, 1, 2: the one before the beginning is element 0 going backwards, and numpy's
 * x[-5:-9:-1] is empty. */
TEST(a_slice_going_backwards_starts_at_0_at_min) {
    begin(13, "Slice", "x,from,to,axes,steps", "y");
    onnx_ints(&model, "from", 2, INTS(-3, -5));
    onnx_ints(&model, "to", 2, INTS(-9, -9));
    onnx_ints(&model, "axes", 2, INTS(0, 1));
    onnx_ints(&model, "steps", 2, INTS(-1, -2));
    expect("y", 0, 1, 2, INTS(1, 1), FLOATS(0));
    expect("y", 0, 2, 2, INTS(1, 1), FLOATS(0));
    expect("y", 0, 0, 2, INTS(0, 1), NULL);
    end();
}
END_TEST

/* 0 times infinity is NaN, and x is 0 where it is not below 0. */
TEST(prelu_keeps_0_whatever_its_slope) {
    const float slope = -INFINITY;
    begin(16, "PRelu", "x,s", "y");
    onnx_initializer(&model, onnx_tensor(&model, "s", ONNX_F32, 0, NULL, &slope));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 1, 2));
    end();
}
END_TEST

/* The GRU of 4 hidden units and 3 inputs, whose operand `index` has other extents. */
static void check_gru(int index, const char *words) {
    ig_module *module;
    onnx_attr_i(&model, begin(14, "GRU", "a,w,r,b,,h", "y"), "hidden_size", 4);
    onnx_input(&model, "a", ONNX_F32, 3, "5", "2", "3");
    onnx_input(&model, "w", ONNX_F32, 3, "1", index == 1 ? "11" : "12", "3");
    onnx_input(&model, "r", ONNX_F32, 3, "1", "12", index == 2 ? "5" : "4");
    onnx_input(&model, "b", ONNX_F32, 2, "1", index == 3 ? "12" : "24");
    onnx_input(&model, "h", ONNX_F32, 3, "1", index == 5 ? "3" : "2", "4");
    onnx_output(&model, "y");
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    CHECK_STATUS(status, index ? IG_INVALID : IG_OK);
    CHECK_MSG(!index || strstr(run.why, words), "%s", run.why);
    if (!index) {
        ig_module_destroy(module);
    }
    end();
}

TEST(recurrent_weights_of_other_extents_are_refused) {
    check_gru(0, "");
    check_gru(1, "dim 1 of input 1 must fit");
    check_gru(2, "dim 2 of input 2 must fit");
    check_gru(3, "dim 1 of input 3 must fit");
    check_gru(5, "dim 1 of input 5 must fit");
}

TEST(one_hot_of_a_negative_depth_is_refused) {
    for (int k = 0; k < 2; k++) {
        begin(11, "OneHot", k ? "i,d,values" : "i,low,values", "y");
        onnx_ints(&model, "i", 2, INTS(0, 1));
        onnx_initializer(
            &model, onnx_tensor(&model, "values", ONNX_F32, 1, INTS(2), FLOATS(0, 1)));
        onnx_ints(&model, "low", 1, INTS(-2));
        onnx_attr_i(&model, onnx_node(&model, "ReduceMax", "x", "most"), "keepdims", 0);
        onnx_attr_i(&model, onnx_node(&model, "Cast", "most", "n"), "to", 7);
        onnx_node(&model, "Sub", "low,n", "d");
        onnx_output(&model, "y");
        if (k) {
            expect_stop("y", 1, "is -4");
        } else {
            ig_module *module;
            CHECK_STATUS(ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                               NULL, &module),
                         IG_INVALID);
            CHECK_MSG(strstr(run.why, "the depth (input 1) is -2"), "%s", run.why);
        }
        end();
    }
}
END_TEST

/* Of open extents, one of which turns out to be 0. */
TEST(hardmax_of_nothing_is_nothing) {
    begin(13, "Transpose", "x", "t");
    onnx_node(&model, "Hardmax", "t", "y"); /* along the rows of x */
    expect("y", 0, 2, 2, INTS(3, 2), FLOATS(0, 1, 0, 1, 0, 1));
    expect("y", 0, 0, 2, INTS(3, 0), NULL);
    end();
}
END_TEST

TEST(thresholded_relu_of_nan_is_0) {
    begin(16, "Div", "x,x", "d");
    onnx_attr_f(&model, onnx_node(&model, "ThresholdedRelu", "d", "y"), "alpha", -1);
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 1, 1));
    end();
}
END_TEST

/* 2 - 0.75 is 1.25, of which 1 is left; 0 - 0 and 1 - 0.75 are below. */
TEST(shrink_moves_integers_by_fractions) {
    onnx_attr_i(&model, begin(16, "Cast", "x", "i"), "to", 7);
    Onnx__NodeProto *node = onnx_node(&model, "Shrink", "i", "s");
    onnx_attr_f(&model, node, "lambd", 0.5F);
    onnx_attr_f(&model, node, "bias", 0.75F);
    onnx_attr_i(&model, onnx_node(&model, "Cast", "s", "y"), "to", ONNX_F32);
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(0, 0, 1, 2, 3, 4));
    end();
}
END_TEST

/* Without axes an extent of 1 goes; one that is 1 only in this call is refused. */
TEST(squeeze_without_axes_needs_for_extents) {
    ig_tensor in, out[1];
    ig_module *module;
    onnx_case_init(&run);
    onnx_model_init(&model, 13);
    onnx_input(&model, "x", ONNX_F32, 3, "A", "1", "3");
    onnx_node(&model, "Squeeze", "x", "y");
    onnx_output(&model, "y");
    CHECK_OK(
        ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    for (int64_t rows = 0; rows < 4; rows++) {
        ig_status wanted = rows == 1 ? IG_INVALID : IG_OK;
        CHECK_OK(
            ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 3, INTS(rows, 1, 3), &in));
        CHECK_STATUS(
            ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out),
            wanted);
        CHECK(rows == 1 ? strstr(run.why, "axis 0 has extent 1") != NULL
                        : out->rank == 2 && out->dims[0] == rows);
    }
    ig_module_destroy(module);
    end();
}
END_TEST

/* Of ones: whatever is taken of them is 1, but there is only what there is. */
TEST(compress_takes_no_more_than_there_is) {
    const int64_t two = 2;
    onnx_case_init(&run);
    onnx_model_init(&model, 13);
    onnx_input(&model, "c", 9, 1, "N");
    onnx_initializer(&model, onnx_tensor(&model, "x", ONNX_F32, 1, &two, FLOATS(1, 1)));
    onnx_node(&model, "Compress", "x,c", "y");
    onnx_output(&model, "y");
    ig_module *module;
    CHECK_OK(
        ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    for (int64_t entries = 0; entries < 5; entries++) {
        ig_tensor in, out[1];
        CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_bool, 1, &entries, &in));
        memset(in.data, 1, (size_t)entries);
        ig_status status = ig_interpret(ig_module_graph(module, "main"), &in,
                                        &run.arena, out);
        CHECK_STATUS(status, entries > 2 ? IG_INVALID : IG_OK);
        CHECK(entries > 2 ? strstr(run.why, "no more entries") != NULL
                          : out->dims[0] == entries);
    }
    ig_module_destroy(module);
    end();
}
END_TEST

/* ---- extents that no tensor has ---- */

static void expect_refusal(const char *words) {
    ig_module *module;
    onnx_output(&model, "y");
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    CHECK_STATUS(status, IG_INVALID);
    CHECK_MSG(strstr(run.why, words), "%s", run.why);
    end();
}

/* x is [4, 3]. */
static Onnx__NodeProto *begin_resize(const char *ins) {
    onnx_case_init(&run);
    onnx_model_init(&model, 18);
    onnx_input(&model, "x", ONNX_F32, 2, "4", "3");
    return onnx_node(&model, "Resize", ins, "y");
}

typedef struct bad_resize {
    float end, scale; /* of the region of axis 0; of the axis */
    const char *words;
} bad_resize;

static const bad_resize bad_resizes[] = {
    { -0.25f, 1, "axis 0 -1 elements" },
    { -0.5f, 1, "axis 0 -2 elements" },
    { -1, 1, "axis 0 -4 elements" },
    { -131072, 1, "axis 0 -524288 elements" },
    { -3e38f, 1, "axis 0 -inf elements" },
    { 3e38f, 1, "axis 0 inf elements" },
    { INFINITY, 1, "axis 0 inf elements" },
    { (float)NAN, 1, "axis 0 nan elements" },
    { 3e18f, 1, "axis 0 1.2e+19 elements" },
    { 1, 0, "the scale of axis 0 is 0" },
    { 1, -1, "the scale of axis 0 is -1" },
    { 1, INFINITY, "the scale of axis 0 is inf" },
    { 1, (float)NAN, "the scale of axis 0 is nan" },
};

START_TEST(a_resize_to_no_extent_is_refused) {
    const int64_t four = 4, two = 2;
    const bad_resize *bad = &bad_resizes[_i];
    Onnx__NodeProto *node = begin_resize("x,roi,scales");
    onnx_attr_s(&model, node, "coordinate_transformation_mode", "tf_crop_and_resize");
    onnx_initializer(&model, onnx_tensor(&model, "roi", ONNX_F32, 1, &four,
                                         FLOATS(0, 0, bad->end, 1)));
    onnx_initializer(&model, onnx_tensor(&model, "scales", ONNX_F32, 1, &two,
                                         FLOATS(bad->scale, 1)));
    expect_refusal(bad->words);
}
END_TEST

static void add_bad_resizes(TCase *tests) {
    tcase_add_loop_test(tests, a_resize_to_no_extent_is_refused, 0,
                        IG_COUNT_OF(bad_resizes));
}

TEST(an_open_extent_is_scaled_by_a_fraction) {
    const int64_t two = 2;
    Onnx__NodeProto *node = begin(13, "Resize", "x,,scales", "y");
    onnx_attr_s(&model, node, "coordinate_transformation_mode", "asymmetric");
    onnx_attr_s(&model, node, "nearest_mode", "floor");
    onnx_initializer(&model, onnx_tensor(&model, "scales", ONNX_F32, 1, &two,
                                         FLOATS(1.5, 1 / 3.0f)));
    expect("y", 0, 2, 2, INTS(3, 1), FLOATS(0, 0, 3));
    end();
}
END_TEST

TEST(resize_to_a_negative_size_is_refused) {
    Onnx__NodeProto *node = begin_resize("x,,,sizes");
    onnx_attr_s(&model, node, "keep_aspect_ratio_policy", "not_larger");
    onnx_ints(&model, "sizes", 2, INTS(-2, 3));
    expect_refusal("axis 0 -2 elements");
}
END_TEST

/* ---- zero points have the elements of what they belong to ---- */

enum { U8 = 2, I8 = 3 }; /* element types of ONNX */

/* u and s are bytes without and with sign, zu and zs such numbers, f is a scale. */
static const struct {
    const char *op, *ins, *words;
} bad_zero_points[] = {
    { "DequantizeLinear", "u,f,zs", "type i8, expected u8" },
    { "DequantizeLinear", "s,f,zu", "type u8, expected i8" },
    { "MatMulInteger", "u,s,zs", "type i8, expected u8" },
    { "MatMulInteger", "u,s,zu,zu", "type u8, expected i8" },
    { "MatMulInteger", "x,s", "input 0 has elements of type f32, expected i8 or u8" },
    { "QLinearMatMul", "u,f,zs,s,f,zs,f,zu", "type i8, expected u8" },
    { "QLinearMatMul", "u,f,zu,s,f,zu,f,zu", "type u8, expected i8" },
    { "ConvInteger", "u,s,zs", "type i8, expected u8" },
    { "ConvInteger", "u,s,zu,zu", "type u8, expected i8" },
    { "QLinearConv", "u,f,zs,s,f,zs,f,zu", "type i8, expected u8" },
    { "QLinearConv", "u,f,zu,s,f,zu,f,zu", "type u8, expected i8" },
};

START_TEST(a_zero_point_of_another_type_is_refused) {
    begin(21, bad_zero_points[_i].op, bad_zero_points[_i].ins, "y");
    bool convolves = strstr(bad_zero_points[_i].op, "Conv") != NULL;
    int rank = convolves ? 4 : 2;
    onnx_input(&model, "u", U8, rank, "B", "C", "H", "W");
    onnx_input(&model, "s", I8, rank, "C", "D", "K", "L");
    onnx_input(&model, "f", ONNX_F32, 0);
    onnx_input(&model, "zu", U8, 0);
    onnx_input(&model, "zs", I8, 0);
    expect_refusal(bad_zero_points[_i].words);
}
END_TEST

TEST(quantising_to_another_type_than_the_zero_points_is_refused) {
    Onnx__NodeProto *node = begin(21, "QuantizeLinear", "x,f,zs", "y");
    onnx_input(&model, "f", ONNX_F32, 0);
    onnx_input(&model, "zs", I8, 0);
    onnx_attr_i(&model, node, "output_dtype", U8);
    expect_refusal("type i8, expected u8");
}
END_TEST

/* ---- attributes that are not there ---- */

/* Of [2, 3, 1] the axes from 1 on are one, of three elements. */
TEST(softmax_before_13_flattens_from_axis_1) {
    Onnx__NodeProto *node = begin(11, "Unsqueeze", "x", "u");
    onnx_attr_ints(&model, node, "axes", 1, INTS(2));
    onnx_node(&model, "Softmax", "u", "y");
    expect("y", 0, 2, 3, INTS(2, 3, 1),
           FLOATS(0.09003057F, 0.24472848F, 0.66524094F, 0.09003057F, 0.24472848F,
                  0.66524094F));
    end();
}
END_TEST

TEST(softmax_of_13_is_of_one_axis) {
    Onnx__NodeProto *node = begin(13, "Softmax", "x", "y");
    onnx_attr_i(&model, node, "axis", 0);
    expect("y", 0, 2, 2, INTS(2, 3),
           FLOATS(0.04742587F, 0.04742587F, 0.04742587F, 0.95257413F, 0.95257413F,
                  0.95257413F));
    end();
}
END_TEST

TEST(leaky_relu_keeps_a_hundredth) {
    begin(16, "Neg", "x", "n");
    onnx_node(&model, "LeakyRelu", "n", "y");
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(0, -0.01F, -0.02F, -0.03F, -0.04F, -0.05F));
    end();
}
END_TEST

/* x / (1 + x^2)^0.75 */
TEST(lrn_has_a_power_of_three_quarters) {
    Onnx__NodeProto *node = begin(11, "Unsqueeze", "x", "u");
    onnx_attr_ints(&model, node, "axes", 2, INTS(0, 3));
    node = onnx_node(&model, "LRN", "u", "y");
    onnx_attr_i(&model, node, "size", 1);
    onnx_attr_f(&model, node, "alpha", 1);
    expect("y", 0, 2, 4, INTS(1, 2, 3, 1),
           FLOATS(0, 0.59460356F, 0.59813951F, 0.53348382F, 0.47777487F, 0.43425017F));
    end();
}
END_TEST

TEST(an_average_counts_no_padding) {
    Onnx__NodeProto *node = begin(11, "Unsqueeze", "x", "u");
    onnx_attr_ints(&model, node, "axes", 2, INTS(0, 1));
    node = onnx_node(&model, "AveragePool", "u", "y");
    onnx_attr_ints(&model, node, "kernel_shape", 2, INTS(1, 2));
    onnx_attr_ints(&model, node, "pads", 4, INTS(0, 1, 0, 1));
    expect("y", 0, 2, 4, INTS(1, 1, 2, 4), FLOATS(0, 0.5F, 1.5F, 2, 3, 3.5F, 4.5F, 5));
    end();
}
END_TEST

TEST(sequences_are_reversed_along_axis_0_of_batches_in_axis_1) {
    begin(11, "ReverseSequence", "x,lengths", "y");
    onnx_ints(&model, "lengths", 3, INTS(1, 2, 2));
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(0, 4, 5, 3, 1, 2));
    end();
}
END_TEST

/* Scales of columns: 1, 2 and 4. */
TEST(scales_of_quantisation_are_of_axis_1) {
    begin(13, "QuantizeLinear", "x,scale,zero", "q");
    onnx_node(&model, "DequantizeLinear", "q,scale,zero", "y");
    int64_t three = 3;
    onnx_initializer(
        &model, onnx_tensor(&model, "scale", ONNX_F32, 1, &three, FLOATS(1, 2, 4)));
    onnx_initializer(&model, onnx_tensor(&model, "zero", ONNX_U8, 1, &three,
                                         (const uint8_t[]){ 0, 3, 5 }));
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(0, 0, 0, 3, 4, 4));
    end();
}
END_TEST

/* ---- com.microsoft ---- */

static Onnx__OperatorSetIdProto microsoft;

static Onnx__NodeProto *by_microsoft(Onnx__NodeProto *node) {
    node->domain = ig_arena_strdup(&model.arena, "com.microsoft");
    onnx__operator_set_id_proto__init(&microsoft);
    microsoft.domain = node->domain;
    microsoft.has_version = 1;
    microsoft.version = 1;
    model.opsets[model.model.n_opset_import++] = &microsoft;
    onnx_initializer(&model,
                     onnx_tensor(&model, "c", ONNX_F32, 1, INTS(3), FLOATS(1, 0, -1)));
    return node;
}

TEST(gelus_of_onnx_runtime) {
    by_microsoft(begin(17, "Gelu", "x", "y"));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 0.8413447F, 1.9545F));
    end();
    by_microsoft(begin(17, "BiasGelu", "x,c", "y"));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0.8413447F, 0.8413447F, 0.8413447F));
    end();
    by_microsoft(begin(17, "FastGelu", "x,c", "y"));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0.841192F, 0.841192F, 0.841192F));
    end();
    by_microsoft(begin(17, "QuickGelu", "x", "y"));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 0.8457958F, 1.935659F));
    end();
}
END_TEST

TEST(a_product_fused_with_its_scale) {
    Onnx__NodeProto *node = by_microsoft(begin(17, "FusedMatMul", "x,x", "y"));
    onnx_attr_i(&model, node, "transB", 1);
    onnx_attr_f(&model, node, "alpha", 0.5F);
    expect("y", 0, 2, 2, INTS(2, 2), FLOATS(2.5F, 7, 7, 25));
    end();
}
END_TEST

/* Of 2 x + c: 1, 2, 3 in the first row. */
TEST(norms_of_sums) {
    by_microsoft(begin(17, "SkipLayerNormalization", "x,x,g,c,c", "y"));
    onnx_initializer(&model,
                     onnx_tensor(&model, "g", ONNX_F32, 1, INTS(3), FLOATS(2, 2, 2)));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(-1.44949F, 0, 1.44949F));
    end();
    by_microsoft(begin(17, "SkipSimplifiedLayerNormalization", "x,x,g", "y"));
    onnx_initializer(&model,
                     onnx_tensor(&model, "g", ONNX_F32, 1, INTS(3), FLOATS(1, 1, 1)));
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 0.7745967F, 1.549193F));
    end();
}
END_TEST

/* x is [2, 3]: a scale of three axes would make the result larger. */
TEST(a_scale_that_is_larger_than_the_input_is_refused) {
    static const char *const norms[] = { "RMSNormalization", "LayerNormalization" };
    for (size_t i = 0; i < IG_COUNT_OF(norms); i++) {
        begin(23, norms[i], "x,g", "y");
        onnx_initializer(&model,
                         onnx_tensor(&model, "g", ONNX_F32, 3, INTS(2, 2, 3),
                                     FLOATS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)));
        expect_refusal("scale and bias must fit the last axes of the input");
    }
}
END_TEST

TEST(a_gated_activation) {
    begin(28, "SwiGLU", "x,x", "y");
    expect("y", 0, 1, 2, INTS(1, 3), FLOATS(0, 0.7310586F, 3.523188F));
    end();
}
END_TEST

/* A body that gives each row, which it is handed as `a`, plus all of x, which it is
 * handed as `b`, plus x again by its name outside. */
static Onnx__GraphProto *body_of_map(const char *result, bool has_type) {
    Onnx__GraphProto *main = model.graph, *body = onnx_graph(&model, "body");
    model.graph = body;
    onnx_formal(&model, "a");
    onnx_formal(&model, "b");
    onnx_node(&model, "Add", "a,b", "sum");
    onnx_node(&model, "Add", "sum,x", "more");
    onnx_output(&model, result);
    if (has_type) {
        Onnx__TypeProto *type = ig_arena_alloc(&model.arena, sizeof *type);
        Onnx__TypeProto__Tensor *tensor = ig_arena_alloc(&model.arena, sizeof *tensor);
        onnx__type_proto__init(type);
        onnx__type_proto__tensor__init(tensor);
        tensor->has_elem_type = 1;
        tensor->elem_type = ONNX_F32;
        type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        type->tensor_type = tensor;
        body->output[0]->type = type;
    }
    model.graph = main;
    return body;
}

TEST(a_sequence_is_mapped_item_by_item) {
    begin(18, "SplitToSequence", "x", "rows");
    Onnx__NodeProto *node = onnx_node(&model, "SequenceMap", "rows,x", "sums");
    onnx_attr_g(&model, node, "body", body_of_map("more", true));
    node = onnx_node(&model, "ConcatFromSequence", "sums", "y");
    onnx_attr_i(&model, node, "axis", 0);
    expect("y", 0, 2, 2, INTS(4, 3), FLOATS(0, 3, 6, 6, 9, 12, 3, 6, 9, 9, 12, 15));
    end();
}
END_TEST

static const struct {
    const char *inputs, *result, *why;
    bool has_type;
} bad_maps[] = {
    { "x,x", "more", "input 0 must be a sequence", true },
    { "rows", "more", "the body has 2 inputs and 1 outputs, expected 1 and 1", true },
    { ",x", "more", "input 0", true },
    { "rows,x", "more", "output 0 of the body is not said to be a tensor", false },
    { "rows,x", "none", "which nothing defines", true },
};

TEST(a_map_of_another_form_is_refused) {
    ig_module *module = NULL;
    begin(18, "SplitToSequence", "x", "rows");
    Onnx__NodeProto *node = onnx_node(&model, "SequenceMap", bad_maps[_i].inputs, "y");
    onnx_attr_g(&model, node, "body",
                body_of_map(bad_maps[_i].result, bad_maps[_i].has_type));
    onnx_output(&model, "y");
    CHECK(ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module) !=
          IG_OK);
    CHECK_MSG(strstr(run.why, bad_maps[_i].why), "%s", run.why);
    end();
}
END_TEST

/* Where [0, 5] is not 0, as i64[1, n]: that n is 1 only the run knows. */
static void add_position(void) {
    const int64_t dims[] = { 2 };
    const float numbers[] = { 0, 5 };
    onnx_initializer(&model, onnx_tensor(&model, "w", ONNX_F32, 1, dims, numbers));
    onnx_node(&model, "NonZero", "w", "at");
}

TEST(indices_of_open_depth_give_the_rank_that_is_said) {
    ig_module *module;
    begin(13, "GatherND", "x,at", "y");
    add_position();
    onnx_input(&model, "y", ONNX_F32, 2, "N", "M");
    model.graph->n_input--; /* it is an output */
    ONNX_APPEND(&model, model.graph->output, model.graph->n_output,
                model.graph->input[model.graph->n_input]);
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", run.why);
    CHECK_INT(ig_module_graph(module, "main")->body.last->operands[0].value->type->rank,
              2);
    ig_module_destroy(module);
    end();
}
END_TEST

TEST(addition_of_opset_6_repeats_an_extent_that_is_1_in_the_run) {
    onnx_attr_i(&model, begin(6, "Concat", "x,x", "twice"), "axis", 0);
    Onnx__NodeProto *node = onnx_node(&model, "Add", "twice,x", "y");
    onnx_attr_i(&model, node, "broadcast", 1);
    onnx_attr_i(&model, node, "axis", 0);
    expect("y", 0, 1, 2, INTS(2, 3), FLOATS(0, 2, 4, 0, 2, 4));
    end();
}
END_TEST

/* The numbers of each row are added up one by one, to the row's own sum: x is 0, 1, 2
 * and 3, 4, 5. */
TEST(a_scan_of_opset_8_is_one_for_each_element_of_a_batch) {
    Onnx__NodeProto *node = begin(8, "ReduceSum", "x", "sums");
    onnx_attr_ints(&model, node, "axes", 1, INTS(1));
    onnx_attr_i(&model, node, "keepdims", 0);
    Onnx__GraphProto *main = model.graph, *body = onnx_graph(&model, "body");
    model.graph = body;
    onnx_formal(&model, "s");
    onnx_formal(&model, "v");
    onnx_node(&model, "Add", "s,v", "t");
    onnx_node(&model, "Identity", "t", "u");
    onnx_output(&model, "t");
    onnx_output(&model, "u");
    model.graph = main;
    node = onnx_node(&model, "Scan", ",sums,x", "y,z");
    onnx_attr_i(&model, node, "num_scan_inputs", 1);
    onnx_attr_g(&model, node, "body", body);
    expect("y,z", 0, 2, 1, INTS(2), FLOATS(6, 24));
    expect("y,z", 1, 2, 2, INTS(2, 3), FLOATS(3, 4, 6, 15, 19, 24));
    onnx_attr_ints(&model, node, "directions", 1, INTS(1));
    expect("y,z", 1, 2, 2, INTS(2, 3), FLOATS(5, 6, 6, 17, 21, 24));
    end();
}
END_TEST

/* The input becomes an optional of such a tensor. */
static void make_optional(Onnx__ValueInfoProto *input) {
    Onnx__TypeProto *type = ig_arena_alloc(&model.arena, sizeof *type);
    Onnx__TypeProto__Optional *optional = ig_arena_alloc(&model.arena,
                                                         sizeof *optional);
    onnx__type_proto__init(type);
    onnx__type_proto__optional__init(optional);
    optional->elem_type = input->type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
    type->optional_type = optional;
    input->type = type;
}

/* Runs `op` on an optional of `count` items, which are 4 x 5. */
static ig_status run_optional(const char *op, int64_t count, ig_tensor *out) {
    begin(18, op, "x", "y");
    onnx_output(&model, "y");
    make_optional(model.graph->input[0]);
    ig_module *module;
    CHECK_OK(
        ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL, &module));
    CHECK_OK(ig_verify_module(module));
    int64_t shape[2] = { 4, 5 };
    ig_tensor item, in = { .kind = IG_OPTIONAL, .items = &item, .count = count };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &item));
    ig_status status = ig_interpret(ig_module_graph(module, "main"), &in, &run.arena,
                                    out);
    ig_module_destroy(module);
    return status;
}

TEST(an_optional_is_there_or_not) {
    for (int64_t count = 0; count < 2; count++) {
        ig_tensor out;
        CHECK_OK(run_optional("OptionalHasElement", count, &out));
        CHECK_INT(ig_tensor_get_i64(&out, 0), count);
        end();
        CHECK_INT(run_optional("OptionalGetElement", count, &out),
                  count ? IG_OK : IG_INVALID);
        CHECK(!count || (out.rank == 2 && out.dims[0] == 4 && out.dims[1] == 5));
        end();
    }
}
END_TEST

/* x is 0 … 5; the least power of two stands for 0, as in onnx 1.23's to_float8e8m0. */
static void expect_powers(const char *mode, const float *values) {
    Onnx__NodeProto *node = begin(24, "Cast", "x", "p");
    onnx_attr_i(&model, node, "to", 24);
    if (mode) {
        onnx_attr_s(&model, node, "round_mode", mode);
    }
    node = onnx_node(&model, "Cast", "p", "y");
    onnx_attr_i(&model, node, "to", 1);
    expect("y", 0, 2, 2, INTS(2, 3), values);
    end();
}

TEST(powers_of_two_are_rounded_as_the_attribute_says) {
    expect_powers(NULL, FLOATS(0x1p-127F, 1, 2, 4, 4, 8));
    expect_powers("up", FLOATS(0x1p-127F, 1, 2, 4, 4, 8));
    expect_powers("down", FLOATS(0x1p-127F, 1, 2, 2, 4, 4));
    expect_powers("nearest", FLOATS(0x1p-127F, 1, 2, 4, 4, 4));
}
END_TEST

static void add_refusals(TCase *tests) {
    add_bad_resizes(tests);
    tcase_add_loop_test(tests, a_map_of_another_form_is_refused, 0,
                        (int)IG_COUNT_OF(bad_maps));
    tcase_add_loop_test(tests, a_zero_point_of_another_type_is_refused, 0,
                        (int)IG_COUNT_OF(bad_zero_points));
}

UNIT_SUITE_WITH(
    onnx_ops, add_refusals, recurrent_weights_of_other_extents_are_refused,
    one_hot_of_a_negative_depth_is_refused, hardmax_of_nothing_is_nothing,
    slice_with_attributes, clip_with_attributes, pad_with_attributes_crops_too,
    softmax_before_13_flattens, split_equally_and_by_attribute,
    squeeze_and_unsqueeze_with_attributes, reduce_with_attributes,
    gemm_scales_and_broadcasts, loops_stack_and_may_run_no_trip,
    a_slice_going_backwards_starts_at_0_at_min, prelu_keeps_0_whatever_its_slope,
    thresholded_relu_of_nan_is_0, shrink_moves_integers_by_fractions,
    squeeze_without_axes_needs_for_extents, compress_takes_no_more_than_there_is,
    an_open_extent_is_scaled_by_a_fraction, resize_to_a_negative_size_is_refused,
    quantising_to_another_type_than_the_zero_points_is_refused,
    softmax_before_13_flattens_from_axis_1, softmax_of_13_is_of_one_axis,
    gelus_of_onnx_runtime, a_product_fused_with_its_scale, norms_of_sums,
    a_scale_that_is_larger_than_the_input_is_refused, a_gated_activation,
    leaky_relu_keeps_a_hundredth, lrn_has_a_power_of_three_quarters,
    an_average_counts_no_padding,
    sequences_are_reversed_along_axis_0_of_batches_in_axis_1,
    scales_of_quantisation_are_of_axis_1,
    powers_of_two_are_rounded_as_the_attribute_says, a_sequence_is_mapped_item_by_item,
    a_scan_of_opset_8_is_one_for_each_element_of_a_batch, an_optional_is_there_or_not,
    indices_of_open_depth_give_the_rank_that_is_said,
    addition_of_opset_6_repeats_an_extent_that_is_1_in_the_run)
