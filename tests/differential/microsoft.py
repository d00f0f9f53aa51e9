#!/usr/bin/env python3
"""Writes stored cases of com.microsoft's operators, with ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    microsoft.py [ARCHIVE]        (tests/differential/cases/microsoft.tar.xz)
"""

import math
import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import Cases, i64

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
RANDOM = np.random.default_rng(6)


def case(name, signature, body, *sets, rtol=1e-3, atol=1e-4, by_hand=None):
    body = body.replace("ms.", "com.microsoft.")
    CASES.add(name, 17, signature, body, *sets, rtol=rtol, atol=atol, by_hand=by_hand,
              domains=', "com.microsoft": 1')


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def byte(*shape, dtype=np.uint8):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(dtype)


def small(*shape):
    """Of 7 bits: ONNX Runtime adds pairs of products in 16 bits on AVX2."""
    return RANDOM.integers(-64, 64, shape).astype(np.int8)


def s(value, dtype=np.float32):
    return np.array(value, dtype)


# ---- weights of few bits ----

for bits in (2, 4, 8):
    each = 32 * bits // 8
    rows = 2 * bits // 8 + (2 * bits % 8 > 0)
    signature = (f"float[A, B, 40] a, uint8[3, 2, {each}] b, float[3, 2] scales, "
                 f"uint8[3, {rows}] zeros -> float[A, B, 3] y")
    attributes = f"<K = 40, N = 3, bits = {bits}, block_size = 32>"
    case(f"fixed_matmul_{bits}_bits", signature.replace(f", uint8[3, {rows}] zeros", ""),
         f"y = ms.MatMulNBits{attributes}(a, b, scales)",
         [draw(2, 3, 40), byte(3, 2, each), draw(3, 2)],
         [draw(1, 1, 40), byte(3, 2, each), draw(3, 2)])
    case(f"fixed_matmul_{bits}_bits_zeros", signature,
         f"y = ms.MatMulNBits{attributes}(a, b, scales, zeros)",
         [draw(2, 3, 40), byte(3, 2, each), draw(3, 2), byte(3, rows)])

# ---- activations, sums, embeddings ----

for kind, params in (("Relu", ""), ("LeakyRelu", ", activation_params = [0.3]"),
                     ("Clip", ", activation_params = [-0.5, 0.75]"), ("Sigmoid", ""),
                     ("HardSigmoid", ", activation_params = [0.3, 0.4]"), ("Tanh", "")):
    case(f"fused_conv_{kind}",
         "float[N, C, H, W] x, float[O, C, 2, 3] w, float[O] b -> float[N, O, R, S] y",
         f'y = ms.FusedConv<activation = "{kind}"{params}, pads = [0, 1, 1, 1]>(x, w, b)',
         [draw(2, 3, 4, 5), draw(4, 3, 2, 3), draw(4)],
         [draw(1, 1, 1, 1), draw(1, 1, 2, 3), draw(1)])
case("fused_gemm", "float[A, B] x, float[C, B] w, float[C] b -> float[A, C] y",
     """y = ms.FusedGemm<activation = "LeakyRelu", activation_alpha = 0.3, transB = 1,
     alpha = 0.5>(x, w, b)""", [draw(2, 3), draw(4, 3), draw(4)])
case("fixed_embed_norm", """int32[B, L] words, int32[B, L] kinds, float[9, 8] a, float[5, 8] b,
     float[2, 8] c, float[8] gamma, float[8] beta, int32[B, L] mask ->
     float[B, L, 8] y, int32[B] counts""",
     "y, counts = ms.EmbedLayerNormalization(words, kinds, a, b, c, gamma, beta, mask)",
     [RANDOM.integers(0, 9, (2, 4)).astype(np.int32),
      RANDOM.integers(0, 2, (2, 4)).astype(np.int32), draw(9, 8), draw(5, 8), draw(2, 8),
      draw(8), draw(8), np.array([[1, 1, 1, 0], [1, 0, 0, 0]], np.int32)])

case("fixed_quantised_embed_norm", """int32[B, L] words, int32[B, L] kinds, uint8[9, 8] a,
     uint8[5, 8] b, uint8[2, 8] c, uint8[8] gamma, uint8[8] beta, int32[B, L] mask, float sa,
     float sb, float sc, float sg, float se, uint8 za, uint8 zb, uint8 zc, uint8 zg, uint8 ze ->
     float[B, L, 8] y, int32[B] counts""",
     """y, counts = ms.QEmbedLayerNormalization(words, kinds, a, b, c, gamma, beta, mask,
     sa, sb, sc, sg, se, za, zb, zc, zg, ze)""",
     [RANDOM.integers(0, 9, (2, 4)).astype(np.int32),
      RANDOM.integers(0, 2, (2, 4)).astype(np.int32), byte(9, 8), byte(5, 8), byte(2, 8),
      byte(8), byte(8), np.array([[1, 1, 1, 0], [1, 0, 0, 0]], np.int32), s(0.01), s(0.02),
      s(0.03), s(0.01), s(0.02), *(s(z, np.uint8) for z in (120, 128, 7, 0, 255))])

# ---- attention ----

case("fixed_multi_head", """float[B, L, 8] q, float[B, S, 8] k, float[B, S, 12] v,
     float[28] bias, int32[B, S] mask -> float[B, L, 12] y""",
     "y = ms.MultiHeadAttention<num_heads = 4>(q, k, v, bias, mask)",
     [draw(2, 3, 8), draw(2, 5, 8), draw(2, 5, 12), draw(28),
      np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)])
case("fixed_multi_head_past", """float[B, L, 8] q, float[B, L, 8] k, float[B, L, 8] v,
     float[B, 2, P, 4] pk, float[B, 2, P, 4] pv ->
     float[B, L, 8] y, float[B, 2, S, 4] nk, float[B, 2, S, 4] nv""",
     """y, nk, nv = ms.MultiHeadAttention<num_heads = 2, unidirectional = 1>
     (q, k, v, , , , pk, pv)""",
     [draw(2, 3, 8), draw(2, 3, 8), draw(2, 3, 8), draw(2, 2, 5, 4), draw(2, 2, 5, 4)])
for causal in (0, 1):
    case(f"fixed_packed_attention_{causal}",
         "float[B, L, 6] x, float[6, 24] w, float[24] b, int32[B, L] mask -> float[B, L, 8] y",
         f"y = ms.Attention<num_heads = 2, unidirectional = {causal}>(x, w, b, mask)",
         [draw(2, 4, 6), draw(6, 24), draw(24),
          np.array([[1, 1, 1, 1], [1, 1, 0, 0]], np.int32)],
         [draw(1, 1, 6), draw(6, 24), draw(24), np.array([[1]], np.int32)])
for rotary, window in ((0, -1), (1, -1), (1, 3)):
    attributes = f"""<num_heads = 4, kv_num_heads = 2, do_rotary = {rotary},
    local_window_size = {window}>"""
    signature = """float[B, L, 64] q, float[B, L, 32] k, float[B, L, 32] v,
    float[B, 2, P, 16] pk, float[B, 2, P, 16] pv, int32[B] lengths, int32[1] total,
    float[M, 8] cos, float[M, 8] sin ->
    float[B, L, 64] y, float[B, 2, T, 16] nk, float[B, 2, T, 16] nv"""
    caches = (draw(12, 8), draw(12, 8))
    case(f"fixed_group_query_{rotary}_{abs(window)}", signature,
         f"""y, nk, nv = ms.GroupQueryAttention{attributes}
         (q, k, v, pk, pv, lengths, total, cos, sin)""",
         [draw(2, 1, 64), draw(2, 1, 32), draw(2, 1, 32), draw(2, 2, 5, 16),
          draw(2, 2, 5, 16), np.array([5, 5], np.int32), np.array([6], np.int32), *caches],
         [draw(1, 4, 64), draw(1, 4, 32), draw(1, 4, 32), draw(1, 2, 0, 16),
          draw(1, 2, 0, 16), np.array([3], np.int32), np.array([4], np.int32), *caches])

for causal in (0, 1):
    case(f"fixed_quantised_attention_{causal}",
         """uint8[B, L, 6] x, int8[6, 24] w, float[24] b, float sx, float[24] sw,
         int32[B, L] mask, uint8 zx, int8[24] zw -> float[B, L, 8] y""",
         f"""y = ms.QAttention<num_heads = 2, unidirectional = {causal}>
         (x, w, b, sx, sw, mask, zx, zw)""",
         [byte(2, 4, 6), small(6, 24), draw(24), s(0.01), np.abs(draw(24)) * np.float32(0.01),
          np.array([[1, 1, 1, 1], [1, 1, 0, 0]], np.int32), s(120, np.uint8),
          np.zeros(24, np.int8)])
case("fixed_quantised_attention_past", """uint8[B, L, 6] x, int8[6, 24] w, float[24] b, float sx,
     float sw, uint8 zx, int8 zw, float[2, B, 2, P, 4] past ->
     float[B, L, 8] y, float[2, B, 2, S, 4] present""",
     """y, present = ms.QAttention<num_heads = 2, unidirectional = 1>
     (x, w, b, sx, sw, , zx, zw, past)""",
     [byte(2, 1, 6), small(6, 24), draw(24), s(0.01), s(0.02), s(128, np.uint8),
      s(0, np.int8), draw(2, 2, 2, 3, 4)])
for interleaved in (0, 1):
    attributes = f"<interleaved = {interleaved}>"
    caches = (draw(12, 4), draw(12, 4))
    case(f"fixed_rotary_{interleaved}",
         """float[B, L, 24] x, int64[B, L] at, float[M, 4] cos, float[M, 4] sin ->
         float[B, L, 24] y""", f"y = ms.RotaryEmbedding{attributes}(x, at, cos, sin)",
         [draw(2, 3, 24), np.array([[0, 5, 2], [11, 1, 1]]), *caches],
         [draw(1, 1, 24), np.array([[7]]), *caches])
    case(f"rotary_of_heads_{interleaved}",
         """float[B, N, L, E] x, int64[1] at, float[M, H] cos, float[M, H] sin ->
         float[B, N, L, E] y""", f"y = ms.RotaryEmbedding{attributes}(x, at, cos, sin)",
         [draw(2, 3, 4, 8), i64(3), *caches], [draw(1, 1, 1, 2), i64(0), draw(1, 1), draw(1, 1)])
case("fixed_rotary_of_a_part",
     """float[B, L, 24] x, int64[B, L] at, float[M, 2] cos, float[M, 2] sin ->
     float[B, L, 24] y""",
     "y = ms.RotaryEmbedding<num_heads = 3, rotary_embedding_dim = 4>(x, at, cos, sin)",
     [draw(2, 3, 24), np.array([[0, 5, 2], [11, 1, 1]]), draw(12, 2), draw(12, 2)])
for kind, k, shared in (("relu", 1, 0), ("gelu", 2, 0), ("silu", 2, 1), ("identity", 3, 1)):
    case(f"experts_{kind}", """float[T, D] x, float[T, E] router, float[E, H, D] a, float[E, H] p,
         float[E, D, H] b, float[E, D] q -> float[T, D] y""",
         f"""y = ms.MoE<k = {k}, activation_type = "{kind}",
         normalize_routing_weights = {shared}>(x, router, a, p, b, q)""",
         [draw(5, 6), draw(5, 4), draw(4, 8, 6), draw(4, 8), draw(4, 6, 8), draw(4, 6)],
         [draw(1, 2), draw(1, 3), draw(3, 4, 2), draw(3, 4), draw(3, 2, 4), draw(3, 2)])

# ---- earlier names of ai.onnx's operators ----

case("fused_matmul_of_batches", "float[M, A, B, K] x, float[A, B, N, K] w -> float[A, B, M, N] y",
     "y = ms.FusedMatMul<transBatchA = 1, transB = 1, alpha = 0.5>(x, w)",
     [draw(3, 2, 4, 5), draw(2, 4, 6, 5)], [draw(1, 1, 1, 1), draw(1, 1, 2, 1)])
case("transpose_matmul", "float[K, M] x, float[K, N] w -> float[M, N] y",
     "y = ms.TransposeMatMul<transA = 1>(x, w)", [draw(3, 4), draw(3, 5)])
case("expand_dims", "float[A, B] x -> float[A, B, 1] y, float[1, A, B] z",
     """l = Constant<value = int32 {-1}>()
     f = Constant<value = int32 {0}>()
     y = ms.ExpandDims(x, l)
     z = ms.ExpandDims(x, f)""", [draw(2, 3)], [draw(0, 1)])
for metric in ("sqeuclidean", "euclidean"):
    case(f"distances_{metric}", "float[M, D] a, float[K, D] b -> float[M, K] y",
         f'y = ms.CDist<metric = "{metric}">(a, b)',
         [draw(4, 7), draw(3, 7)], [draw(1, 1), draw(1, 1)])
case("trilu_of_microsoft", "float[A, B] x, int64 k -> float[A, B] y",
     "y = ms.Trilu<upper = 0>(x, k)", [draw(4, 5), s(1, np.int64)], [draw(2, 1), s(-1, np.int64)])
case("fixed_gather_nd_of_microsoft", "float[A, B] x, int64[N, 2] at -> float[N] y",
     "y = ms.GatherND(x, at)", [draw(4, 5), np.array([[0, 4], [3, 1], [-1, -2]])])

# ---- integers with scales ----

for kind, call in (("Add", "y = ms.QLinearAdd(a, sa, za, b, sb, zb, sc, zc)"),
                   ("Mul", "y = ms.QLinearMul(a, sa, za, b, sb, zb, sc, zc)")):
    for dtype, word in ((np.uint8, "uint8"), (np.int8, "int8")):
        case(f"qlinear_{kind}_{word}",
             f"""{word}[A, B] a, float sa, {word} za, {word}[B] b, float sb, {word} zb, float sc,
             {word} zc -> {word}[A, B] y""",
             call,
             [byte(3, 5, dtype=dtype), s(0.1), s(3, dtype), byte(5, dtype=dtype), s(0.07),
              s(9, dtype), s(0.13 if kind == "Add" else 0.9), s(2, dtype)], atol=1)
for kind, call in (
        ("leaky_relu", "y = ms.QLinearLeakyRelu<alpha = 0.3>(x, sx, zx, sy, zy)"),
        ("sigmoid", "y = ms.QLinearSigmoid(x, sx, zx, sy, zy)"),
        ("softmax", "y = ms.QLinearSoftmax<axis = -1, opset = 13>(x, sx, zx, sy, zy)")):
    case(f"qlinear_{kind}",
         "uint8[A, B] x, float sx, uint8 zx, float sy, uint8 zy -> uint8[A, B] y",
         call,
         [byte(3, 6), s(0.05), s(120, np.uint8), s(0.004), s(7, np.uint8)], atol=1)
case("qlinear_average_pool",
     "uint8[N, C, H, W] x, float sx, uint8 zx, float sy, uint8 zy -> uint8[N, C, P, Q] y",
     "y = ms.QLinearAveragePool<kernel_shape = [2, 3], pads = [0, 1, 1, 1]>"
     "(x, sx, zx, sy, zy)",
     [byte(2, 3, 4, 5), s(0.05), s(120, np.uint8), s(0.06), s(90, np.uint8)], atol=1)
case("qlinear_global_pool",
     "uint8[N, C, H, W] x, float sx, uint8 zx, float sy, uint8 zy -> uint8[N, C, 1, 1] y",
     "y = ms.QLinearGlobalAveragePool(x, sx, zx, sy, zy)",
     [byte(2, 3, 4, 5), s(0.05), s(120, np.uint8), s(0.06), s(90, np.uint8)], atol=1)
case("qlinear_concat",
     """float sy, uint8 zy, uint8[A, B] a, float sa, uint8 za, uint8[A, C] b, float sb,
     uint8 zb -> uint8[A, D] y""",
     "y = ms.QLinearConcat<axis = 1>(sy, zy, a, sa, za, b, sb, zb)",
     [s(0.1), s(5, np.uint8), byte(2, 3), s(0.07), s(9, np.uint8), byte(2, 4), s(0.2),
      s(1, np.uint8)], atol=1)
case("qlinear_where", """bool[A, B] c, uint8[A, B] x, float sx, uint8 zx, uint8[B] y, float sy,
     uint8 zy, float sz, uint8 zz -> uint8[A, B] z""",
     "z = ms.QLinearWhere(c, x, sx, zx, y, sy, zy, sz, zz)",
     [byte(3, 5) > 99, byte(3, 5), s(0.1), s(3, np.uint8), byte(5), s(0.2), s(7, np.uint8),
      s(0.15), s(1, np.uint8)], atol=1)

# Of these ONNX Runtime has no kernels for CPUs; numpy answers.
x, scale, bias = draw(2, 3, 4), draw(4), draw(4)
e = np.exp(x + bias - (x + bias).max(2, keepdims=True))
case("bias_softmax", "float[A, B, C] x, float[C] b -> float[A, B, C] y",
     "y = ms.BiasSoftmax<axis = 2>(x, b)", [x, bias],
     by_hand=[e / e.sum(2, keepdims=True)])
x = byte(2, 3, 8)
case("qlinear_reduce_mean",
     "uint8[A, B, C] x, float sx, uint8 zx, float sy, uint8 zy -> uint8[A, B] y",
     "y = ms.QLinearReduceMean<axes = [2], keepdims = 0>(x, sx, zx, sy, zy)",
     [x, s(0.5), s(100, np.uint8), s(0.25), s(90, np.uint8)], atol=1,
     by_hand=[np.clip(np.rint((x.astype(float) - 100).mean(2) * 2) + 90, 0, 255)
              .astype(np.uint8)])
case("simplified_norm", "float[A, B, C] x, float[C] s -> float[A, B, C] y",
     "y = SimplifiedLayerNormalization<axis = -1, epsilon = 0.00001>(x, s)",
     [draw(2, 3, 4), scale], [draw(1, 1, 1), draw(1)])

case("dynamic_matmul",
     "float[A, B] a, int8[B, C] b, float[C] s, int8[C] z, float[C] bias -> float[A, C] y",
     "y = ms.DynamicQuantizeMatMul(a, b, s, z, bias)",
     [draw(3, 8), small(8, 4), abs(draw(4)), byte(4, dtype=np.int8), draw(4)])
case("matmul_to_float",
     """uint8[A, B] a, int8[B, C] b, float sa, float[C] sb, uint8 za, int8[C] zb, float[C] c
     -> float[A, C] y""", "y = ms.MatMulIntegerToFloat(a, b, sa, sb, za, zb, c)",
     [byte(3, 8), small(8, 4), s(0.02), abs(draw(4)), s(7, np.uint8),
      byte(4, dtype=np.int8), draw(4)])
case("qgemm", """uint8[A, B] a, float sa, uint8 za, int8[C, B] b, float[C] sb, int8[C] zb,
     int32[C] c, float sy, uint8 zy -> uint8[A, C] y""",
     "y = ms.QGemm<transB = 1, alpha = 0.5>(a, sa, za, b, sb, zb, c, sy, zy)",
     [byte(3, 8), s(0.02), s(7, np.uint8), small(4, 8), abs(draw(4)) * 0.01,
      np.zeros(4, np.int8), i64(5, -100, 7, 2000).astype(np.int32), s(0.1),
      s(100, np.uint8)], atol=1)
case("gather_blocks",
     "uint8[R, 32] x, int64[A, B] at, float[R, 2] scales -> float[A, B, 64] y",
     "y = ms.GatherBlockQuantized<block_size = 32, bits = 4, quantize_axis = 1>"
     "(x, at, scales)",
     [byte(5, 32), np.array([[0, 4, 2], [1, 1, 3]]), draw(5, 2)])

# ---- models of images, pools of channels last, recurrent layers of integers ----

def group_norm(x, gamma, beta, groups, is_swished):
    """x [N, C, H, W]"""
    n, c = x.shape[:2]
    parts = x.astype(float).reshape(n, groups, -1)
    mean, deviation = parts.mean(2, keepdims=True), parts.var(2, keepdims=True) + 1e-5
    y = ((parts - mean) / np.sqrt(deviation)).reshape(x.shape)
    y = y * gamma.reshape(c, 1, 1) + beta.reshape(c, 1, 1)
    return (y / (1 + np.exp(-y)) if is_swished else y).astype(np.float32)


LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
for swish in (0, 1):
    x, gamma, beta, skip, bias = draw(2, 3, 5, 6), draw(6), draw(6), draw(2, 6), draw(6)
    case(f"fixed_group_norm_{swish}",
         "float[N, H, W, 6] x, float[6] g, float[6] b -> float[N, H, W, 6] y",
         f"y = ms.GroupNorm<activation = {swish}, groups = 3>(x, g, b)", [x, gamma, beta],
         by_hand=[group_norm(x.transpose(FIRST), gamma, beta, 3, swish).transpose(LAST)])
    s_ = x + skip[:, None, None] + bias
    case(f"fixed_skip_group_norm_{swish}",
         """float[N, H, W, 6] x, float[6] g, float[6] b, float[N, 6] skip, float[6] bias ->
         float[N, H, W, 6] y, float[N, H, W, 6] s""",
         f"y, s = ms.SkipGroupNorm<activation = {swish}, groups = 2>(x, g, b, skip, bias)",
         [x, gamma, beta, skip, bias],
         by_hand=[group_norm(s_.transpose(FIRST), gamma, beta, 2, swish).transpose(LAST), s_])
x, gamma, beta, skip = draw(2, 6, 3, 5), draw(6), draw(6), draw(2, 6, 3, 5)
case("fixed_group_norm_first",
     """float[N, 6, H, W] x, float[6] g, float[6] b, float[N, 6, H, W] skip ->
     float[N, 6, H, W] y""",
     "y = ms.SkipGroupNorm<activation = 0, channels_last = 0, groups = 6>(x, g, b, skip)",
     [x, gamma, beta, skip], by_hand=[group_norm(x + skip, gamma, beta, 6, False)])
x, bias, skip = draw(2, 3, 8), draw(8), draw(2, 3, 8)
case("bias_add", "float[N, S, C] x, float[C] b, float[N, S, C] skip -> float[N, S, C] y",
     "y = ms.BiasAdd(x, b, skip)", [x, bias, skip], by_hand=[x + bias + skip])
left, right = np.split(x + bias, 2, 2)
erf = np.vectorize(math.erf)
case("bias_split_gelu", "float[N, S, C] x, float[C] b -> float[N, S, D] y",
     "y = ms.BiasSplitGelu(x, b)", [x, bias],
     by_hand=[(left * right / 2 * (1 + erf(right / 2 ** 0.5))).astype(np.float32)])
for dtype, word in ((np.uint8, "uint8"), (np.int8, "int8")):
    case(f"max_pool_of_last_{word}", f"{word}[N, H, W, C] x -> {word}[N, R, S, C] y",
         """y = ms.NhwcMaxPool<kernel_shape = [2, 3], pads = [1, 1, 0, 1], strides = [2, 1],
         ceil_mode = 1>(x)""", [byte(2, 5, 4, 3, dtype=dtype)], [byte(1, 1, 2, 1, dtype=dtype)])


def rounded(x):
    """As DynamicQuantizeLinear says it, in f32."""
    low, high = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    scale = np.float32((high - low) / np.float32(255))
    zero = np.rint(np.clip(-low / scale, 0, 255))
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale


def lstm(x, w, r, b, h, c):
    """One direction; gates are i, o, f, c."""
    def sigmoid(a):
        return 1 / (1 + np.exp(-a))

    rows = []
    for step in x.astype(float):
        i, o, f, g = np.split(step @ w + h @ r + b[:b.size // 2] + b[b.size // 2:], 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        rows.append(h)
    return np.stack(rows), h, c


for many in (False, True):  # a scale for each gate's row
    x, w, r, b = draw(3, 2, 5), byte(2, 5, 16), byte(2, 4, 16, dtype=np.int8), draw(2, 32)
    h, c = draw(2, 2, 4), draw(2, 2, 4)
    beside = (2, 16) if many else (2,)
    sw, sr = abs(draw(*beside)) * 0.01, abs(draw(*beside)) * 0.01
    zw, zr = byte(*beside), byte(*beside, dtype=np.int8)
    wide = (2, 1, 16 if many else 1)
    real = [((a.astype(float) - z.reshape(wide)) * k.reshape(wide))
            for a, z, k in ((w, zw, sw), (r, zr, sr))]
    bytes_of_x = rounded(x)
    ways = [lstm(bytes_of_x[::1 - 2 * d], real[0][d], real[1][d], b[d], h[d], c[d]) for d in (0, 1)]
    results = [np.stack([ways[0][0], ways[1][0][::-1]], 1)]
    results += [np.stack([way[i] for way in ways]) for i in (1, 2)]
    entries = ", 16" if many else ""
    case(f"fixed_lstm_of_integers_{'rows' if many else 'whole'}",
         f"""float[T, B, 5] x, uint8[2, 5, 16] w, int8[2, 4, 16] r, float[2, 32] b,
         float[2, B, 4] h, float[2, B, 4] c, float[2{entries}] sw, uint8[2{entries}] zw,
         float[2{entries}] sr, int8[2{entries}] zr ->
         float[T, 2, B, 4] y, float[2, B, 4] yh, float[2, B, 4] yc""",
         """y, yh, yc = ms.DynamicQuantizeLSTM<direction = "bidirectional", hidden_size = 4>
         (x, w, r, b, , h, c, , sw, zw, sr, zr)""", [x, w, r, b, h, c, sw, zw, sr, zr],
         by_hand=[a.astype(np.float32) for a in results])

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "microsoft.tar.xz"])
