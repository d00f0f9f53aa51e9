#!/usr/bin/env python3
"""Writes stored cases of single operators, with ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    operators.py [ARCHIVE]        (tests/differential/cases/operators.tar.xz)
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import INF, Cases, answer_by_reference, f32, i64

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
case = CASES.add
RANDOM = np.random.default_rng(19)
DRAW = RANDOM.standard_normal


def draw(*shape, dtype=np.float32):
    return DRAW(shape).astype(dtype)


# ---- ai.onnx.ml ----

def learnt(name, signature, body, *sets, version=3, **more):
    case(name, 15, signature, body.replace("ml.", "ai.onnx.ml."), *sets,
         domains=f', "ai.onnx.ml": {version}', rtol=1e-5, atol=1e-6, **more)


learnt("labels_of_integers", "int64[A, B] x -> float[A, B] y",
       """y = ml.LabelEncoder<keys_int64s = [7, -3, 9, 0], values_floats = [0.5, 1.5, -2.5, 4.0],
       default_float = 9.0>(x)""",
       [i64(7, -3, 9, 0, 1, -4, 10, 8).reshape(2, 4)], [i64().reshape(0, 4)],
       [np.array([[np.iinfo(np.int64).min, np.iinfo(np.int64).max]])])
learnt("labels_of_floats", "float[A] x -> int64[A] y",
       "y = ml.LabelEncoder<keys_floats = [1.5, -2.0, 0.0], values_int64s = [3, 8, -1]>(x)",
       [f32(1.5, -2, -0.0, 0, 1, np.nan, INF, -INF)])
learnt("labels_of_one", "int64[A] x -> int64[A] y",
       "y = ml.LabelEncoder<keys_int64s = [4], values_int64s = [5], default_int64 = 6>(x)",
       [i64(3, 4, 5)])
SUPPORTS = ", ".join(str(round(float(v), 3)) for v in DRAW(12))
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    learnt(f"supports_{kernel}", "float[N, 3] x -> float[N, 1] y",
           f"""y = ml.SVMRegressor<kernel_type = "{kernel}", n_supports = 4, rho = [0.25],
           kernel_params = [0.5, 0.75, 3.0], coefficients = [0.5, -1.0, 2.0, 0.125],
           support_vectors = [{SUPPORTS}]>(x)""", [draw(5, 3)], [draw(1, 3)])
learnt("supports_of_one_class", "float[N, 3] x -> float[N, 1] y",
       f"""y = ml.SVMRegressor<kernel_type = "RBF", n_supports = 4, rho = [-0.5], one_class = 1,
       kernel_params = [0.5, 0.0, 3.0], coefficients = [0.5, 1.0, 2.0, 0.125],
       support_vectors = [{SUPPORTS}]>(x)""", [draw(9, 3)])
learnt("supports_of_none", "float[N, 3] x -> float[N, 1] y",
       """y = ml.SVMRegressor<kernel_type = "LINEAR", rho = [0.5], kernel_params = [0.0, 0.0, 3.0],
       coefficients = [0.5, -1.0, 2.0]>(x)""", [draw(4, 3)])

# ---- regions ----

def boxes(batch, number):
    low = RANDOM.random((batch, number, 2)) * 8
    return np.concatenate([low, low + RANDOM.random((batch, number, 2)) * 4],
                          2).astype(np.float32)


def rois(number, limit):
    low = RANDOM.random((number, 2)) * limit * 0.7
    return np.concatenate([low, low + RANDOM.random((number, 2)) * limit * 0.5],
                          1).astype(np.float32)


for mode in ("avg", "max"):
    for ratio in (0, 2):
        for shift in ("half_pixel", "output_half_pixel"):
            case(f"roi_align_{mode}_{ratio}_{shift}", 16,
                 "float[N, C, H, W] x, float[R, 4] rois, int64[R] of -> float[R, C, 3, 2] y",
                 f"""y = RoiAlign<mode = "{mode}", sampling_ratio = {ratio},
                 coordinate_transformation_mode = "{shift}", output_height = 3,
                 output_width = 2, spatial_scale = 0.5>(x, rois, of)""",
                 [draw(2, 3, 7, 9), rois(4, 16), i64(0, 1, 1, 0)],
                 [draw(1, 1, 1, 1), f32(-9, -9, 40, 30, shape=(1, 4)), i64(0)],
                 [draw(1, 2, 4, 4), np.zeros((0, 4), np.float32), i64()], rtol=1e-4,
                 atol=1e-5)

case("max_roi_pool", 1, "float[N, C, H, W] x, float[R, 5] rois -> float[R, C, 3, 2] y",
     "y = MaxRoiPool<pooled_shape = [3, 2], spatial_scale = 0.5>(x, rois)",
     [draw(2, 3, 7, 9), np.concatenate([f32(0, 1, 1, 0, shape=(4, 1)), rois(4, 16)], 1)],
     [draw(1, 1, 2, 2), f32(0, -9, -9, 40, 30, 0, 2.5, 3.5, 1, 1, shape=(2, 5))])

for centre in (0, 1):
    case(f"nms_center_{centre}", 11, """float[B, N, 4] boxes, float[B, C, N] scores,
         int64 most, float iou, float least -> int64[K, 3] y""",
         f"""y = NonMaxSuppression<center_point_box = {centre}>
         (boxes, scores, most, iou, least)""",
         [boxes(2, 9), draw(2, 3, 9), np.array(4), np.float32(0.1), np.float32(-0.5)],
         [boxes(1, 1), draw(1, 1, 1), np.array(4), np.float32(0.5), np.float32(-9)],
         [boxes(1, 20), draw(1, 2, 20), np.array(1), np.float32(0), np.float32(0)],
         [boxes(1, 3), f32(1, 1, 1, shape=(1, 1, 3)), np.array(9), np.float32(1),
          np.float32(-INF)],
         [boxes(1, 5), draw(1, 2, 5), np.array(0), np.float32(0.5), np.float32(-9)])

case("nms_without_limits", 11, """float[B, N, 4] boxes, float[B, C, N] scores,
     int64 most -> int64[K, 3] y""", "y = NonMaxSuppression(boxes, scores, most)",
     [boxes(1, 6), draw(1, 2, 6), np.array(3)])

# ---- warps ----

case("affine_grid", 20, "float[N, 2, 3] theta, int64[4] size -> float[N, H, W, 2] y",
     "y = AffineGrid(theta, size)", [draw(2, 2, 3), i64(2, 1, 3, 4)],
     [draw(1, 2, 3), i64(1, 3, 1, 1)], rtol=1e-4, atol=1e-5)
case("affine_grid_3d", 20, "float[N, 3, 4] theta, int64[5] size -> float[N, D, H, W, 3] y",
     "y = AffineGrid<align_corners = 1>(theta, size)",
     [draw(2, 3, 4), i64(2, 1, 3, 4, 2)], rtol=1e-4, atol=1e-5)
case("col2im", 18, "float[N, A, L] x, int64[2] image, int64[2] block -> float[N, C, H, W] y",
     "y = Col2Im<pads = [1, 0, 1, 2], strides = [2, 1], dilations = [1, 2]>(x, image, block)",
     [draw(2, 12, 25), i64(8, 7), i64(2, 3)], [draw(1, 1, 9), i64(3, 1), i64(1, 1)],
     rtol=1e-5, atol=1e-6)
case("max_unpool", 22, "float[N, C, A, B] x, int64[N, C, A, B] at -> float[N, C, D, E] y",
     "y = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(x, at)",
     [draw(1, 2, 2, 2), np.array([0, 5, 8, 15, 17, 18, 29, 31]).reshape(1, 2, 2, 2)])
case("deform_conv", 19, """float[N, C, H, W] x, float[O, D, 2, 3] w, float[N, P, R, S] offset,
     float[O] bias, float[N, M, R, S] mask -> float[N, O, R, S] y""",
     """y = DeformConv<group = 2, offset_group = 2, pads = [1, 0, 1, 1], strides = [1, 2]>
     (x, w, offset, bias, mask)""",
     [draw(2, 4, 5, 6), draw(6, 2, 2, 3), draw(2, 24, 6, 3), draw(6), draw(2, 12, 6, 3)],
     rtol=1e-3, atol=1e-4)

# ---- transforms and algebra ----

for inverse in (0, 1):
    for parts in (1, 2):
        case(f"dft_{inverse}_{parts}", 17, f"float[N, L, {parts}] x -> float[N, L, 2] y",
             f"y = DFT<axis = 1, inverse = {inverse}>(x)", [draw(2, 6, parts)],
             [draw(1, 1, parts)], [draw(1, 17, parts)], rtol=1e-3, atol=1e-4)
case("dft_of_half", 17, "float[N, L, 1] x, int64 n -> float[N, M, 2] y",
     "y = DFT<axis = 1, onesided = 1>(x, n)", [draw(2, 6, 1), np.array(6)],
     [draw(2, 6, 1), np.array(9)], [draw(2, 6, 1), np.array(3)], rtol=1e-3, atol=1e-4)
case("stft", 17, "float[N, L, 1] x, int64 step, float[W] window -> float[N, F, B, 2] y",
     "y = STFT(x, step, window)", [draw(2, 20, 1), np.array(3), draw(8)],
     [draw(1, 8, 1), np.array(5), draw(8)], rtol=1e-3, atol=1e-4)
case("mel_weights", 17, """int64 bands, int64 length, int64 rate, float low, float high ->
     float[A, B] y""", "y = MelWeightMatrix(bands, length, rate, low, high)",
     [np.array(8), np.array(32), np.array(8192), np.float32(0), np.float32(4096)],
     [np.array(3), np.array(256), np.array(16000), np.float32(125), np.float32(7500)],
     rtol=1e-5, atol=1e-6)
case("det", 22, "float[A, B, N, N] x -> float[A, B] y", "y = Det(x)", [draw(2, 3, 4, 4)],
     [draw(1, 1, 1, 1)], [np.zeros((1, 2, 3, 3), np.float32)],
     [f32(0, 1, 1, 0, shape=(1, 1, 2, 2))], rtol=1e-4, atol=1e-5)
case("linear_attention", 27, """float[B, T, C] q, float[B, T, K] k, float[B, T, V] v,
     float[B, 2, P, R] state, float[B, T, D] decay, float[B, T, E] beta ->
     float[B, T, O] y, float[B, 2, P, R] last""",
     """y, last = LinearAttention<q_num_heads = 4, kv_num_heads = 2>
     (q, k, v, state, decay, beta)""",
     [draw(2, 5, 12), draw(2, 5, 6), draw(2, 5, 10), draw(2, 2, 3, 5), draw(2, 5, 2),
      draw(2, 5, 2)],
     [draw(1, 1, 4), draw(1, 1, 2), draw(1, 1, 2), draw(1, 2, 1, 1), draw(1, 1, 2),
      draw(1, 1, 1)], rtol=1e-3, atol=1e-4, judge=answer_by_reference)

# ---- caches, words, optimisers ----

for mode, first in (("linear", i64(1, 0)), ("circular", i64(3, 4))):
    case(f"tensor_scatter_{mode}", 24,
         "float[B, H, S, D] x, float[B, H, T, D] fresh, int64[B] at -> float[B, H, S, D] y",
         f'y = TensorScatter<mode = "{mode}">(x, fresh, at)',
         [draw(2, 2, 5, 3), draw(2, 2, 2, 3), first],
         [draw(2, 1, 5, 1), draw(2, 1, 0, 1), first], judge=answer_by_reference)
for mode in ("TF", "IDF", "TFIDF"):
    case(f"tfidf_{mode}", 9, "int64[N, L] x -> float[N, 7] y",
         f"""y = TfIdfVectorizer<mode = "{mode}", min_gram_length = 1, max_gram_length = 2,
         max_skip_count = 3, ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5, 6],
         pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
         weights = [1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 0.25]>(x)""",
         [np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]])], [np.array([[5, 6]])],
         [np.array([[7]])])
case("momentum", 1, """float r, int64 t, float[A, B] x, float[A, B] g, float[A, B] v ->
     float[A, B] y, float[A, B] w""",
     """y, w = ai.onnx.preview.training.Momentum<alpha = 0.95, beta = 0.1,
     norm_coefficient = 0.01, mode = "nesterov">(r, t, x, g, v)""",
     [np.float32(0.1), np.array(0), draw(2, 3), draw(2, 3), draw(2, 3)],
     [np.float32(0.1), np.array(5), draw(1, 1), draw(1, 1), draw(1, 1)], rtol=1e-4,
     atol=1e-6, domains=', "ai.onnx.preview.training": 1', judge=answer_by_reference)

# What is kept is random, how it is scaled is not.
for name, ratio, training in (("half", 0.5, True), ("all", 1, True), ("none", 0, True),
                              ("test", 0.5, False)):
    case(f"dropout_{name}", 17,
         "float[A, B] x, float r, bool t, float s -> float[A, B] y, bool u",
         """d, m = Dropout<seed = 3>(x, r, t)
         z = Constant<value = float {0}>()
         k = Mul(x, s)
         w = Where(m, k, z)
         y = Sub(d, w)
         f = Cast<to = 1>(m)
         n = ReduceSum<keepdims = 0>(f)
         e = Size(x)
         g = Cast<to = 1>(e)
         h = Div(n, g)
         i = Sub(h, r)
         j = Abs(i)
         o = Constant<value = float {0.1}>()
         u = Less(j, o)""",
         [draw(32, 16), np.float32(ratio), np.array(training),
          np.float32(1 / (1 - ratio) if training and ratio < 1 else 1)],
         by_hand=[np.zeros((32, 16), np.float32),
                  np.array(name == "half")])

# ---- classifiers by support vectors: pairs of classes, votes, coupled probabilities ----

OTHERS = np.random.default_rng(23)


def numbers(count):
    return ", ".join(str(round(float(v), 3)) for v in OTHERS.standard_normal(count))


def classify(name, counts, kernel="RBF", has_shares=False, transform="NONE"):
    """A classifier with so many vectors of each class, of three features."""
    classes, vectors = len(counts), sum(counts)
    pairs = classes * (classes - 1) // 2
    shares = (f"prob_a = [{numbers(pairs)}], prob_b = [{numbers(pairs)}]," if has_shares else "")
    columns = classes if has_shares else max(2, pairs)
    learnt(f"classes_{name}", f"float[N, 3] x -> int64[N] y, float[N, {columns}] z",
           f"""y, z = ml.SVMClassifier<kernel_type = "{kernel}", kernel_params = [0.5, 0.25, 2.0],
           classlabels_ints = [{", ".join(str(10 + 3 * i) for i in range(classes))}], {shares}
           vectors_per_class = [{", ".join(map(str, counts))}], post_transform = "{transform}",
           coefficients = [{numbers((classes - 1) * vectors)}], rho = [{numbers(pairs)}],
           support_vectors = [{numbers(3 * vectors)}]>(x)""",
           [OTHERS.standard_normal((9, 3)).astype(np.float32)],
           [OTHERS.standard_normal((1, 3)).astype(np.float32)],
           [np.zeros((0, 3), np.float32)])


classify("of_two", [2, 3])
classify("of_two_by_lines", [1, 2], "LINEAR")
classify("of_two_logistic", [2, 2], "POLY", transform="LOGISTIC")
classify("of_three", [2, 1, 2])
classify("of_four_by_tanh", [1, 2, 1, 3], "SIGMOID")
classify("of_three_softmax", [2, 2, 2], "LINEAR", transform="SOFTMAX")
classify("with_shares_of_two", [3, 2], has_shares=True)
classify("with_shares_of_three", [2, 1, 3], has_shares=True)
classify("with_shares_of_five", [1, 2, 1, 2, 1], "POLY", has_shares=True)
for name, weights in (("mixed", "0.5, -1.0, 2.0, 0.25, 1.5, -0.75"),
                      ("positive", "0.5, 1.0, 2.0, 0.25, 1.5, 0.75")):
    learnt(f"classes_without_vectors_{name}", "float[N, 3] x -> int64[N] y, float[N, 2] z",
           f"""y, z = ml.SVMClassifier<coefficients = [{weights}], rho = [0.25],
           classlabels_ints = [4, 9], kernel_params = [0.0, 0.0, 3.0], kernel_type = "LINEAR">(x)""",
           [OTHERS.standard_normal((9, 3)).astype(np.float32)])

# ---- scans of opset 8 over sequences of several lengths ----

for name, directions in (("forward", 0), ("reverse", 1)):
    x = OTHERS.standard_normal((3, 5, 3)).astype(np.float32)
    x[0, 4], x[1, 0, 0] = np.nan, np.inf
    first = OTHERS.standard_normal((3, 3)).astype(np.float32)
    case(f"scan_of_lengths_{name}",
         8, "int64[B] l, float[B, 3] s, float[B, L, 3] x -> float[B, 3] f, float[B, L, 3] y",
         f"""f, y = Scan<num_scan_inputs = 1, directions = [{directions}],
         body = step (float[3] a, float[3] i) => (float[3] c, float[3] o)
         {{ c = Add(a, i) o = Mul(c, i) }}>(l, s, x)""",
         [i64(4, 5, 1), first, x], [i64(5, 5, 5), first, x], [i64(1), first[:1], x[:1, :1]])

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "operators.tar.xz"])
