#!/usr/bin/env python3
"""Writes the cases of what users of other tools reported: ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    reported.py [ARCHIVE]        (tests/differential/cases/reported.tar.xz)

Written as mended.py's are.
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import INF, Cases, count, f32, i64

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
case = CASES.add

# ---- means of nothing ----

case("mean_of_no_rows", 13, "float[A, B] x -> float[B] y",
     "y = ReduceMean<axes = [0], keepdims = 0>(x)",
     [count(0, 3)], by_hand=[np.full(3, np.nan, np.float32)])

BAGS = """{c} = Constant<value = bool {{1}}>()
     zero = Constant<value_ints = [0]>()
     one = Constant<value_ints = [1]>()
     last = Constant<value_ints = [9223372036854775807]>()
     w = Constant<value = float[4, 2] {{0.5, -1, 2, 3, 4, 5, -6, 7}}>()
     ends = Slice(o, one, last, zero, one)
     n = Size(ends)
     y = Loop(n, {c}) <body: graph = bag (int64 i, bool k) => (bool k2, float[?] row) {{
         k2 = Identity(k)
         b = Gather<axis = 0>(o, i)
         e = Gather<axis = 0>(ends, i)
         b1 = Unsqueeze(b, zero)
         e1 = Unsqueeze(e, zero)
         at = Slice(x, b1, e1, zero)
         rows = Gather<axis = 0>(w, at)
         row = {pool}
     }}>"""
case("mean_of_an_empty_bag", 13, "int64[A] x, int64[B] o -> float[C, 2] y",
     BAGS.format(c="c", pool="ReduceMean<axes = [0], keepdims = 0>(rows)"),
     [i64(1, 2, 3), i64(0, 2, 2, 3)], [i64(1), i64(0, 0, 1)])

# ---- places and weights ----

for mode in ("nearest", "linear", "cubic"):
    for down, along in ((0.5, 0.5), (1.5, 1.5), (0.3, 0.4), (0.75, 1.25)):
        case(f"align_corners_{mode}_{down}_{along}", 13,
             "float[1, 1, A, B] x -> float[1, 1, C, D] y",
             f"""s = Constant<value_floats = [1.0, 1.0, {down}, {along}]>()
             y = Resize<mode = "{mode}", coordinate_transformation_mode = "align_corners">
                 (x, , s)""",
             [np.sqrt(count(1, 1, 7, 13))], [np.sqrt(count(1, 1, 5, 9))], rtol=1e-5, atol=1e-5)

case("fixed_align_corners_of_scales_of_the_run", 13,
     "float[1, 1, A, B] x, float[4] s -> float[1, 1, C, D] y",
     'y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , s)',
     [np.sqrt(count(1, 1, 7, 13)), f32(1, 1, 0.5, 1.5)], rtol=1e-5, atol=1e-5)

for pad in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
    for size in (9, 10):
        case(f"convtranspose_to_{size}_{pad}", 11,
             f"float[1, 2, 5, 5] x, float[2, 3, 3, 3] w -> float[1, 3, {size}, {size}] y",
             f"""y = ConvTranspose<strides = [2, 2], auto_pad = "{pad}",
                 output_shape = [{size}, {size}]>(x, w)""",
             [count(1, 2, 5, 5), count(2, 3, 3, 3)])

for weighs in ("IDF", "TFIDF"):
    case(f"tfidf_of_a_permuted_pool_{weighs}", 9, "int64[A, B] x -> float[A, 6] y",
         f"""y = TfIdfVectorizer<mode = "{weighs}", min_gram_length = 1, max_gram_length = 2,
             max_skip_count = 1, ngram_counts = [0, 4], ngram_indexes = [3, 0, 5, 1, 2, 4],
             pool_int64s = [1, 2, 3, 4, 1, 2, 3, 1],
             weights = [0.5, 2.0, 3.0, 5.0, 7.0, 11.0]>(x)""",
         [np.array([[1, 2, 3, 1], [4, 3, 2, 1], [2, 2, 1, 2]])])

BYTES = np.arange(64, dtype=np.uint8).reshape(8, 8) * 3
for zero in (110, 111):
    case(f"qlinear_add_at_ties_{zero}", 17, "uint8[A, B] a, uint8[A, B] b -> uint8[A, B] y",
         f"""sa = Constant<value_float = 0.02>()
         za = Constant<value = uint8 {{120}}>()
         sb = Constant<value_float = 0.03>()
         zb = Constant<value = uint8 {{100}}>()
         sc = Constant<value_float = 0.04>()
         zc = Constant<value = uint8 {{{zero}}}>()
         y = com.microsoft.QLinearAdd(a, sa, za, b, sb, zb, sc, zc)""",
         [BYTES, BYTES.T.copy()], domains=', "com.microsoft": 1')

# ---- integers that wrap ----

for name, x, by in (("Mul", 2654435761, -7046029254386353131), ("Add", 2**63 - 1, 1),
                    ("Sub", -2**63, 1), ("Sub_of_the_least", -3, -2**63)):
    op = name.split("_")[0]
    case(f"constants_wrap_{name}", 13, "int64[A] x -> int64[A] y, int64[1] z",
         f"""a = Constant<value_ints = [{x}]>()
         b = Constant<value_ints = [{by}]>()
         z = {op}(a, b)
         y = Add(x, z)""",
         [i64(1, -5, 7)])

case("constants_wrap_Neg", 13, "int64[A] x -> int64[A] y",
     """a = Constant<value_ints = [-9223372036854775808]>()
     b = Neg(a)
     y = Add(x, b)""",
     [i64(1, -5, 7)])

for power in (2, 3):  # of doubles: no more than 53 bits
    case(f"integers_to_the_power_of_{power}", 13, "int64[A] x -> int64[A] y",
         f"""n = Constant<value_float = {power}.0>()
         y = Pow(x, n)""",
         [i64(2**31 - 1, -(2**53) - 1, 46341, 0, -1)])

case("int32_constants_wrap", 13, "int32[A] x -> int32[A] y",
     """a = Constant<value = int32[1] {2000000000}>()
     b = Mul(a, a)
     c = Add(b, a)
     y = Add(x, c)""",
     [np.array([1, -5, 7], np.int32)])

case("an_end_that_wraps_and_comes_back", 13, "float[A] x -> float[B] y",
     """m = Constant<value_ints = [9223372036854775807]>()
     o = Constant<value_ints = [1]>()
     z = Constant<value_ints = [0]>()
     n = Add(m, o)
     e = Sub(n, o)
     y = Slice(x, o, e, z)""",
     [count(5)], [count(1)])

case("an_extent_times_a_large_number", 13, "float[A] x -> int64[1] y",
     """s = Shape(x)
     k = Constant<value_ints = [4611686018427387904]>()
     y = Mul(s, k)""",
     [count(5)], [count(1)])

# ---- sizes that the run computes ----

for scale in (1.3, 0.7, 2.3, 0.1):
    for mode in ("nearest", "linear"):
        case(f"open_extents_by_{scale}_{mode}", 13, "float[1, 2, A, B] x -> float[1, 2, C, D] y",
             f"""s = Constant<value_floats = [1.0, 1.0, {scale}, {scale}]>()
             y = Resize<mode = "{mode}", coordinate_transformation_mode = "asymmetric",
                 nearest_mode = "floor">(x, , s)""",
             [np.sqrt(count(1, 2, 10, 13))], [np.sqrt(count(1, 2, 11, 7))],
             rtol=1e-5, atol=1e-5)

for policy in ("not_larger", "not_smaller"):
    case(f"open_extents_{policy}", 19, "float[1, 2, A, B] x -> float[1, 2, C, D] y",
         f"""s = Constant<value_ints = [7, 9]>()
         y = Resize<mode = "linear", axes = [2, 3], keep_aspect_ratio_policy = "{policy}">
             (x, , , s)""",
         [np.sqrt(count(1, 2, 10, 13))], [np.sqrt(count(1, 2, 4, 30))],
         rtol=1e-5, atol=1e-5)

# ---- activations of recurrent layers ----

def recurrent(name, op, gates, attributes, directions=1, **more):
    shapes = [(directions, 3 * gates, 2), (directions, 3 * gates, 3), (directions, 6 * gates)]
    w, r, b = [np.sin(count(*shape)) for shape in shapes]
    case(name, 14, f"""float[T, B, 2] x, float[{directions}, {3 * gates}, 2] w,
         float[{directions}, {3 * gates}, 3] r, float[{directions}, {6 * gates}] b
         -> float[T, {directions}, B, 3] y, float[{directions}, B, 3] h""",
         f"y, h = {op}<hidden_size = 3, {attributes}>(x, w, r, b)",
         [np.cos(count(4, 2, 2)), w, r, b], [np.cos(count(1, 5, 2)), w, r, b],
         rtol=1e-5, atol=1e-5, **more)


for name in ("Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
             "HardSigmoid", "Elu", "Softsign", "Softplus"):
    recurrent(f"rnn_{name}", "RNN", 1, f'activations = ["{name}"], activation_alpha = [0.3], '
              "activation_beta = [0.7]")
    recurrent(f"rnn_{name}_by_default", "RNN", 1, f'activations = ["{name}"]')
recurrent("rnn_two_activations", "RNN", 1, 'direction = "bidirectional", '
          'activations = ["Affine", "HardSigmoid"], activation_alpha = [0.5, 0.3], '
          "activation_beta = [0.1, 0.4]", directions=2)
recurrent("rnn_relu_and_tanh", "RNN", 1, 'direction = "bidirectional", '
          'activations = ["Relu", "Tanh"]', directions=2)
recurrent("lstm_of_keras", "LSTM", 4, 'activations = ["HardSigmoid", "Tanh", "Tanh"]')
recurrent("lstm_of_others", "LSTM", 4, 'direction = "reverse", clip = 0.8, '
          'activations = ["HardSigmoid", "Relu", "Softsign"], activation_alpha = [0.25]')
for before in (0, 1):
    recurrent(f"gru_of_others_{before}", "GRU", 3, f"linear_before_reset = {before}, "
              'activations = ["HardSigmoid", "Softsign"]')

# ---- axes that only the run knows to be 1 ----

case("einsum_of_open_dots", 13, "float[?, A, B] a, float[?, B, C] b -> float[?, A, C] y",
     'y = Einsum<equation = "...ij,...jk->...ik">(a, b)',
     [count(2, 2, 3), count(1, 3, 2)], [count(1, 2, 3), count(4, 3, 2)],
     [count(3, 2, 3), count(3, 3, 2)])

# ---- loops that end before their trip count ----

for called, trips in (("no_count", ""), ("the_largest_count", "m")):
    for rows, shape in (("numbers", ""), ("rows", "[A]")):
        case(f"scans_of_{rows}_with_{called}", 13,
             "int64 n, float[A] x -> float[A] last, float[T, ?] y",
             f"""c = Constant<value = bool {{1}}>()
             m = Constant<value = int64 {{9223372036854775807}}>()
             o = Constant<value = int64 {{1}}>()
             t = Constant<value = float {{1.5}}>()
             go = Less(o, n)
             last, ys = Loop({trips}, c, x) <body: graph = step (int64 i, bool k, float[A] v)
                 => (bool k2, float[A] w, float{shape} r) {{
                 j = Add(i, o)
                 k2 = Less(j, n)
                 w = Add(v, t)
                 s = ReduceSum<keepdims = 0>(w)
                 r = {"Identity(w)" if shape else "Identity(s)"}
             }}>
             y = {"Identity(ys)" if shape else "Unsqueeze(ys, e)"}""".replace(
                 "t = ", "e = Constant<value_ints = [1]>()\n             t = ", 1),
             [np.array(4), count(5)], [np.array(1), count(2)], [np.array(90), count(3)])

case("scans_that_a_loop_in_a_loop_makes", 13, "int64[A] n -> int64[B] y",
     """c = Constant<value = bool {1}>()
     a = Size(n)
     o = Constant<value = int64 {1}>()
     z = Constant<value_ints = [0]>()
     none = Slice(z, z, z)
     y = Loop(a, c, none) <body: graph = outer (int64 i, bool k, int64[?] all)
         => (bool k2, int64[?] more) {
         k2 = Identity(k)
         e = Gather(n, i)
         r = Loop(, c) <body: graph = inner (int64 j, bool l) => (bool l2, int64 v) {
             t = Add(j, o)
             l2 = Less(t, e)
             v = Mul(j, e)
         }>
         more = Concat<axis = 0>(all, r)
     }>""",
     [i64(3, 1, 5)], [i64(2)], [i64(20, 1, 2, 2)])

# ---- strings that are moved ----

def texts(*items):
    return np.array(items, dtype=object)


TEXTS = texts(["a", "bb", ""], ["d", "ee", "a"])
case("where_of_strings", 13, "bool[A, 1] c, string[A, B] a, string[B] b -> string[A, B] y",
     "y = Where(c, a, b)", [np.array([[True], [False]]), TEXTS, texts("x", "y", "z")],
     by_hand=[texts(["a", "bb", ""], ["x", "y", "z"])])
case("scattered_strings", 16,
     "string[A, B] x, int64[C, D] i, string[C, D] u -> string[A, B] y, string[A, B] z",
     """y = ScatterElements<axis = 1>(x, i, u)
     n = Constant<value = int64[1, 1] {-1}>()
     z = ScatterND(y, n, u)""",
     [TEXTS, np.array([[0, -1, 1]]), texts(["p", "q", ""])],
     by_hand=[texts(["p", "", "q"], ["d", "ee", "a"]), texts(["p", "", "q"], ["p", "q", ""])])
case("one_hot_strings", 13, "int64[A] i, string[2] v -> string[A, C] y",
     """d = Constant<value = int64 {3}>()
     y = OneHot(i, d, v)""",
     [i64(0, 2, -1, 7), texts("no", "yes")],
     by_hand=[texts(["yes", "no", "no"], ["no", "no", "yes"], ["no", "no", "yes"],
                    ["no", "no", "no"])])
for mode, ends in (("constant", ("", "")), ("edge", ("a", "d"))):
    case(f"padded_strings_{mode}", 19, "string[A, B] x -> string[A, D] y",
         f"""p = Constant<value_ints = [0, 1, 0, 0]>()
         y = Pad<mode = "{mode}">(x, p)""",
         [TEXTS], by_hand=[np.insert(TEXTS, 0, ends, axis=1)])
case("reversed_strings", 10, "string[A, B] x, int64[B] n -> string[A, B] y",
     "y = ReverseSequence(x, n)", [TEXTS, i64(2, 1, 2)],
     by_hand=[texts(["d", "bb", "a"], ["a", "ee", ""])])

for order, wanted in ((0, [texts("b", "", "ab", "a", "é"), i64(0, 1, 2, 4, 5),
                           i64(0, 1, 2, 0, 3, 4), i64(2, 1, 1, 1, 1)]),
                      (1, [texts("", "a", "ab", "b", "é"), i64(1, 4, 2, 0, 5),
                           i64(3, 0, 2, 3, 1, 4), i64(1, 1, 1, 2, 1)])):
    case(f"unique_strings_{order}", 11,
         "string[A, B] x -> string[C] y, int64[C] i, int64[E] j, int64[C] n",
         f"y, i, j, n = Unique<sorted = {order}>(x)",
         [texts(["b", "", "ab"], ["b", "a", "é"])], by_hand=wanted)
for order, wanted in ((0, [texts(["b", "a"], ["a", "b"], ["a", ""]), i64(0, 1, 3),
                           i64(0, 1, 0, 2), i64(2, 1, 1)]),
                      (1, [texts(["a", ""], ["a", "b"], ["b", "a"]), i64(3, 1, 0),
                           i64(2, 1, 2, 0), i64(1, 1, 2)])):
    case(f"unique_rows_of_strings_{order}", 11,
         "string[A, B] x -> string[C, B] y, int64[C] i, int64[A] j, int64[C] n",
         f"y, i, j, n = Unique<sorted = {order}, axis = 0>(x)",
         [texts(["b", "a"], ["a", "b"], ["b", "a"], ["a", ""])], by_hand=wanted)
case("unique_of_no_strings", 11, "string[A] x -> string[C] y, int64[C] n",
     "y, i, j, n = Unique(x)", [np.array([], dtype=object)],
     by_hand=[np.array([], dtype=object), i64()])

# ---- branches of other ranks ----

SQUEEZED = """zero = Constant<value_ints = [0]>()
     one = Constant<value = int64 {{1}}>()
     s = Shape(x)
     at = Constant<value = int64 {{0}}>()
     n = Gather(s, at)
     c = Equal(n, one)
     q = If(c) <then_branch = squeezed () => (float[?] t) {{ t = Squeeze(x, zero) }},
                else_branch = kept () => (float[?, ?] u) {{ u = Identity(x) }}>
     {rest}"""
case("squeezed_and_summed", 13, "float[A, 3] x -> float y",
     SQUEEZED.format(rest="y = ReduceSum<keepdims = 0>(q)"), [count(4, 3)], [count(1, 3)])
case("squeezed_and_shaped", 13, "float[A, 3] x, float[1, 3] b -> float[A, 3] y, int64 r",
     SQUEEZED.format(rest="""e = Exp(b)
     m = Mul(q, e)
     k = Constant<value_ints = [-1, 3]>()
     y = Reshape(m, k)
     h = Shape(q)
     r = Size(h)"""),
     [count(4, 3), np.zeros((1, 3), np.float32)], [count(1, 3), np.zeros((1, 3), np.float32)])

case("hardmax_of_open_extents", 13, "float[A, B] x -> float[A, B] y", "y = Hardmax(x)",
     [f32(1, 3, 3, -INF, -INF, -INF, shape=(2, 3))], [f32(shape=(2, 0))])

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "reported.tar.xz"])
