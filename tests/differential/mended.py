#!/usr/bin/env python3
"""Writes the cases of what random graphs found: small models, ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    mended.py [ARCHIVE]        (tests/differential/cases/mended.tar.xz)

A case is a model in ONNX's text form and its inputs, several sets where extents are open.
One called fixed_… is not run with all extents open: it needs one that the model states.
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import INF, NAN, Cases, answer_by_reference, count, f32, i64

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
case = CASES.add

case("slice_backwards_before_the_beginning", 13, "float[A, B] x -> float[C, D] y",
     """s = Constant<value_ints = [-3, -5]>()
     e = Constant<value_ints = [-9, -9]>()
     a = Constant<value_ints = [0, 1]>()
     t = Constant<value_ints = [-1, -2]>()
     y = Slice(x, s, e, a, t)""",
     [count(1, 3)], [count(2, 3)], [count(0, 3)], [count(7, 9)])

case("slice_backwards_by_inputs", 13,
     "float[A] x, int64[1] s, int64[1] e, int64[1] t -> float[C] y",
     "a = Constant<value_ints = [0]>()\n y = Slice(x, s, e, a, t)",
     [count(2), i64(-5), i64(-9), i64(-1)], [count(9), i64(-1), i64(-20), i64(-3)],
     [count(0), i64(3), i64(-20), i64(-1)])

case("slice_backwards_of_a_part_without_elements", 17,
     "float[A] x, int64[1] s, float y -> float[N] z",
     """e = Constant<value_ints = [99]>()
     b = Constant<value_ints = [0]>()
     o = Constant<value_ints = [1]>()
     l = Constant<value_ints = [-1]>()
     t = Constant<value_ints = [-3]>()
     w = Constant<value = bool[0] {}>()
     u = Slice(x, s, e)
     v = Slice(u, b, o, l, t)
     z = Where(w, v, y)""",
     [count(2), i64(2), f32(5, shape=())], [count(2), i64(0), f32(5, shape=())])

case("slice_behind_the_end_of_two_axes", 13, "float[A, B, C] x, float[N, M] by -> "
     "float[D, E, C] y, float[P, Q, C] z",
     """s = Constant<value_ints = [9, 9]>()
     e = Constant<value_ints = [99, 99]>()
     a = Constant<value_ints = [0, 1]>()
     y = Slice(x, s, e, a)
     n = Shape(by)
     z = Slice(x, n, e, a)""",
     [count(2, 2, 2), count(2, 2)], [count(2, 2, 2), count(1, 1)],
     [count(10, 11, 1), count(1, 2)])

case("columns_of_no_rows_behind_others", 17, "float[A, 4] a, float[B, 4] b -> float[C, 4] y",
     """s = Constant<value_ints = [0]>()
     o = Constant<value_ints = [1]>()
     e = Constant<value_ints = [99]>()
     t = Constant<value_ints = [2]>()
     w = Constant<value_ints = [-1, 4]>()
     n = Constant<value_float = 3.0>()
     m = Constant<value_float = 5.0>()
     even = Slice(b, s, e, o, t)
     odd = Slice(b, o, e, o, t)
     even_less = Min(even, n)
     odd_less = Min(odd, m)
     i = Unsqueeze(even_less, t)
     k = Unsqueeze(odd_less, t)
     both = Concat<axis = 2>(i, k)
     flat = Reshape(both, w)
     y = Concat<axis = 0>(a, flat)""",
     [count(3, 4), count(0, 4)], [count(0, 4), count(2, 4)], [count(2, 4), count(3, 4)],
     [count(0, 4), count(0, 4)])

case("prelu_of_0", 16, "float[N] x, float[N] s -> float[N] y", "y = PRelu(x, s)",
     [f32(0, -0.0, 1, -1, NAN), f32(INF, -INF, INF, 2, 1)])

case("thresholded_relu_of_nan", 16, "float[N] x -> float[N] y",
     "y = ThresholdedRelu<alpha = -0.5>(x)", [f32(NAN, -INF, -0.5, 0, -1, INF, -0.4)])

case("shrink_of_integers", 16, "int64[N] x -> int64[N] y",
     "y = Shrink<lambd = 0.5, bias = 0.75>(x)", [i64(-3, -1, 0, 1, 2, 5)])

case("fixed_squeeze_without_axes", 13, "float[A, 1, B] x -> float[A, B] y", "y = Squeeze(x)",
     [count(2, 1, 3)], [count(0, 1, 3)], [count(5, 1, 2)])

for positive in (0, 1):
    for negative in (0, 1):
        case(f"isinf_{positive}{negative}", 16, "float[N] x -> bool[N] y",
             f"y = IsInf<detect_positive = {positive}, detect_negative = {negative}>(x)",
             [f32(1, INF, -INF, NAN, 3e38, -0.0)])

case("fixed_reduce_of_no_axes", 18, "float[A, B] x, int64[0] a -> float y, float[1, 1] z",
     """y = ReduceSum<keepdims = 0>(x, a)
     z = ReduceMax<keepdims = 1>(x, a)""",
     [count(2, 3), i64()], [count(5, 1), i64()])

case("hard_swish_of_large_numbers", 17, "float[N] x -> float[N] y", "y = HardSwish(x)",
     [f32(3e38, -3e38, 1, -2, 0, 3, -3)], rtol=1e-6)

case("lp_pool_of_narrow_floats", 22, "float[A, B, C, D] x -> float16[A, B, 1, 1] y",
     "h = Cast<to = 10>(x)\n y = GlobalLpPool<p = 2>(h)",
     [f32(300, 400, 0, 0, shape=(1, 1, 2, 2))],
     by_hand=[np.full((1, 1, 1, 1), 500, np.float16)])

case("quotient_as_precise_as_the_scale", 23, "float[N] x, float s -> uint8[N] y",
     """h = Cast<to = 10>(x)
     t = Cast<to = 10>(s)
     y = QuantizeLinear(h, t)""",
     [f32(2.996, 0, 1), f32(0.06586, shape=())],
     by_hand=[np.array([46, 0, 15], np.uint8)])  # 45.5 in f16; some processors' 45.49

WEIGHTS = ", ".join(str(i % 7 - 3) for i in range(16))

case("convolution_and_what_it_reads", 17,
     "float[N, H, W, 4] x -> float[N, 4, H, W] y, bool[N, 4, H, W] z, float[N, 4, 1, 1] p",
     f"""w = Constant<value = float[4, 4, 1, 1] {{{WEIGHTS}}}>()
     t = Transpose<perm = [0, 3, 1, 2]>(x)
     c = Conv(t, w)
     y = Add(c, t)
     d = Conv(t, w)
     z = Greater(t, d)
     m = GlobalAveragePool(t)
     e = Conv(m, w)
     p = Add(m, e)""",
     [count(2, 3, 5, 4)], [count(1, 1, 1, 4)], [count(3, 1, 16, 4)])

case("product_of_a_list_that_leaves_its_type", 13, "int64[N] x -> int64[1] p, int64 s, int64[N] y",
     """w = Constant<value = int64[2] {9223372036854775807, 9223372036854775807}>()
     p = ReduceProd<axes = [0]>(w)
     a = Constant<value = int64[1] {0}>()
     s = ReduceSum<keepdims = 0>(w, a)
     y = Min(p, x)""",
     [i64(0, 1, -5)], by_hand=[i64(1), np.array(-2), i64(0, 1, -5)])  # they wrap

case("extent_of_rows_that_a_loop_carries_on", 13,
     "float[A] x, int64 n -> int64[2] s, int64[2, 2] y",
     """w = Constant<value = float[2] {1, 2}>()
     c = Constant<value = bool {1}>()
     t = Constant<value = int64 {2}>()
     r = Loop(t, c) <body: graph = rows (int64 i, bool k) => (bool k2, int64[?] row) {
         k2 = Identity(k)
         z = NonZero(w)
         e = Constant<value_ints = [0]>()
         row = Squeeze(z, e)
     }>
     s = Shape(r)
     y = Loop(n, c, r) <body: graph = carry (int64 j, bool l, int64[?, ?] v) =>
         (bool l2, int64[?, ?] v2) {
         l2 = Identity(l)
         v2 = Add(v, v)
     }>""",
     [count(1), np.array(2)], [count(3), np.array(0)])

case("value_that_was_the_condition", 17, "int64 n -> bool y",
     """c = Constant<value = bool {1}>()
     y = Loop(n, c, c) <body: graph = turn (int64 i, bool k, bool v) => (bool k2, bool v2) {
         one = Constant<value = int64 {1}>()
         k2 = Less(i, one)
         v2 = Identity(k)
     }>""",
     [np.array(0)], [np.array(1)], [np.array(4)])

case("extremes_of_no_rows_without_elements", 17, "float[A, B] x -> int64[B] y",
     "y = ArgMax<axis = 0, keepdims = 0>(x)", [count(3, 2)], [count(0, 0)], [count(1, 0)])

case("integers_between_elements", 13, "int32[A, B, C] x -> int32[A, E, F] y",
     """s = Constant<value = float[3] {1, 2, 3}>()
     y = Resize<mode = "linear", coordinate_transformation_mode = "asymmetric">(x, "", s)""",
     [np.array([[[-9, -8], [1, -9], [2000000011, -2000000033], [7, 1999999999]]], np.int32)],
     by_hand=[np.array([[  # places in f32, their distances as weights
         [-9, -9, -8, -8, -8, -8], [-4, -6, -7, -8, -8, -8], [1, -2, -6, -9, -9, -9],
         [1000000006, 333333310, -333333385, -1000000021, -1000000021, -1000000021],
         [2000000011, 666666623, -666666764, -2000000033, -2000000033, -2000000033],
         [1000000009, 666666657, 333333305, -17, -17, -17],
         [7, 666666691, 1333333375, 1999999999, 1999999999, 1999999999],
         [7, 666666691, 1333333375, 1999999999, 1999999999, 1999999999]]], np.int32)])

# Without scores each row is the mean of the values that its mask lets take part.
case("mask_with_fewer_columns_than_keys", 23,
     "float[1, 1, Q, 2] q, float[1, 1, K, 2] k, float[1, 1, K, 1] v, float[R, C] m -> "
     "float[1, 1, Q, 1] y",
     "y = Attention(q, k, v, m)",
     *[[np.zeros((1, 1, 2, 2), np.float32), count(1, 1, 5, 2), count(1, 1, 5, 1), m]
       for m in (count(2, 3) * 0, count(1, 5) * 0, f32(0, -INF, 0, -INF, 0, 0, shape=(2, 3)))],
     judge=answer_by_reference)

case("scale_of_more_axes_than_are_normalised", 17,
     "float[A, B, C] x, float[P, Q, R] s, float[S, T] b -> float[A, B, C] y",
     "y = LayerNormalization<axis = -1>(x, s, b)",
     [count(2, 3, 2), count(1, 1, 2) + 1, f32(0.5, -1, shape=(1, 2))],
     [count(2, 3, 2), f32(2, -3, shape=(2, 1, 1)), f32(4, 5, 6, shape=(3, 1))],
     [count(1, 1, 4), count(1, 1, 4), f32(-0.0, shape=(1, 1))], rtol=1e-5)

case("batch_of_one_channel", 15, "float[N] x, float[C] s, float[D] b, float[E] m, float[F] v "
     "-> float[N] y", "y = BatchNormalization<epsilon = 0.0>(x, s, b, m, v)",
     [count(5), f32(2), f32(-1), f32(1), f32(4)], [f32(), f32(2), f32(-1), f32(1), f32(4)],
     [f32(INF), f32(2), f32(-1), f32(1), f32(4)])

case("fixed_pads_that_remove_before_others_repeat", 19,
     "float[4, 6] x, float z -> float[A, B] w, float[A, B] r, float[A, B] e, float s",
     """p = Constant<value_ints = [-1, 3, 2, -2]>()
     n = Constant<value = int64[0] {}>()
     w = Pad<mode = "wrap">(x, p)
     r = Pad<mode = "reflect">(x, p)
     e = Pad<mode = "edge">(x, p)
     s = Pad(z, n)""",
     [count(4, 6), np.float32(7)],
     by_hand=[*(np.pad(count(4, 6)[1:, :4], ((0, 2), (3, 0)), mode)
                for mode in ("wrap", "reflect", "edge")), np.float32(7)])

WEIGHTS = np.arange(-36, 36).reshape(72, 1) % [9, 10] - 4
case("integers_of_an_open_depth_in_a_branch", 13,
     "bool c, uint8[A, B] x -> int32[C, D] y",
     f"""w = Constant<value = int8[72, 2] {{{", ".join(map(str, WEIGHTS.ravel()))}}}>()
     z = Constant<value = uint8 {{117}}>()
     y = If(c) <then_branch = multiplied () => (int32[C, D] p) {{
         p = MatMulInteger(x, w, z)
     }}, else_branch = kept () => (int32[C, D] q) {{ q = Cast<to = 6>(x) }}>""",
     [np.array(True), (np.arange(504) * 37 % 256).astype(np.uint8).reshape(7, 72)],
     [np.array(False), (np.arange(504) * 37 % 256).astype(np.uint8).reshape(7, 72)])

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "mended.tar.xz"])
