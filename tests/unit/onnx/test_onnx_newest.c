/* Forms of ONNX operators that opsets 25 to 28 brought, by values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_expect.h"

/* A scale of 0 weighs all columns that a row sees alike: rows become means of rows. */
static void expect_window(int64_t left, int64_t right, const float *values) {
    Onnx__NodeProto *node = begin(25, "Unsqueeze", "x,axes", "q");
    onnx_ints(&model, "axes", 2, INTS(0, 1));
    node = onnx_node(&model, "Attention", "q,q,q", "y");
    onnx_attr_f(&model, node, "scale", 0);
    onnx_attr_i(&model, node, "left_window_size", left);
    onnx_attr_i(&model, node, "right_window_size", right);
    expect("y", 0, 4, 4, INTS(1, 1, 4, 3), values);
    end();
}

TEST(attention_sees_a_window) {
    expect_window(
        1, 0, FLOATS(0, 1, 2, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F, 8.5F, 9.5F));
    expect_window(
        INT64_MAX, 1,
        FLOATS(1.5F, 2.5F, 3.5F, 3, 4, 5, 4.5F, 5.5F, 6.5F, 4.5F, 5.5F, 6.5F));
    expect_window(-1, 0, FLOATS(0, 1, 2, 1.5F, 2.5F, 3.5F, 3, 4, 5, 4.5F, 5.5F, 6.5F));
    expect_window(0, INT64_MAX,
                  FLOATS(4.5F, 5.5F, 6.5F, 6, 7, 8, 7.5F, 8.5F, 9.5F, 9, 10, 11));
}
END_TEST

TEST(modulo_of_floats_has_the_sign_of_the_divisor_since_28) {
    float four[] = { 4 };
    begin(28, "Neg", "x", "n");
    onnx_initializer(&model, onnx_tensor(&model, "four", ONNX_F32, 0, NULL, four));
    onnx_node(&model, "Mod", "n,four", "y");
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(0, 3, 2, 1, 0, 3));
    end();
}
END_TEST

TEST(space_to_depth_keeps_channels_together) {
    Onnx__NodeProto *node = begin(28, "Reshape", "x,shape", "r");
    onnx_ints(&model, "shape", 4, INTS(1, 3, 2, 2));
    node = onnx_node(&model, "SpaceToDepth", "r", "y");
    onnx_attr_i(&model, node, "blocksize", 2);
    onnx_attr_s(&model, node, "mode", "CRD");
    expect("y", 0, 4, 4, INTS(1, 12, 1, 1),
           FLOATS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    end();
}
END_TEST

static void scatter_rows(int64_t first) {
    const int64_t two[] = { 2, 2 };
    Onnx__NodeProto *node = begin(24, "TensorScatter", "x,fresh,first", "y");
    onnx_attr_i(&model, node, "axis", 1);
    onnx_initializer(
        &model, onnx_tensor(&model, "fresh", ONNX_F32, 2, two, FLOATS(7, 8, 9, 6)));
    onnx_ints(&model, "first", 2, INTS(0, first));
}

TEST(rows_are_scattered_into_the_cache_alone) {
    scatter_rows(1);
    expect("y", 0, 2, 2, INTS(2, 3), FLOATS(7, 8, 2, 3, 9, 6));
    end();
    scatter_rows(2); /* of which the last would lie behind the end */
    expect_stop("y", 2, "index 2 at position 1 is out of range: the axis has 2");
    end();
}
END_TEST

TEST(lengths_of_reversed_sequences_are_within_them) {
    begin(11, "ReverseSequence", "x,lengths", "y");
    onnx_ints(&model, "lengths", 3, INTS(1, -1, 2));
    expect_stop("y", 2, "index -1 at position 1");
    end();
}
END_TEST

TEST(nothing_has_no_largest_element) {
    Onnx__NodeProto *node = begin(13, "ArgMax", "x", "y");
    onnx_attr_i(&model, node, "axis", 0);
    expect_stop("y", 0, "zero elements have no largest or smallest");
    end();
}
END_TEST

TEST(no_integers_have_no_mean) {
    Onnx__NodeProto *node = begin(13, "Cast", "x", "i");
    onnx_attr_i(&model, node, "to", ONNX_I64);
    node = onnx_node(&model, "ReduceMean", "i", "y");
    onnx_attr_i(&model, node, "keepdims", 0);
    expect_stop("y", 0,
                "(ReduceMean) of 'i': the mean of zero integers is not defined");
    end();
}
END_TEST

UNIT_SUITE(onnx_newest, attention_sees_a_window, nothing_has_no_largest_element,
           no_integers_have_no_mean, rows_are_scattered_into_the_cache_alone,
           lengths_of_reversed_sequences_are_within_them,
           modulo_of_floats_has_the_sign_of_the_divisor_since_28,
           space_to_depth_keeps_channels_together)
