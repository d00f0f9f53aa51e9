#!/usr/bin/env python3
"""Writes stored cases of com.microsoft's operators, with ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    microsoft.py [ARCHIVE]        (tests/differential/cases/microsoft.tar.xz)
"""

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

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "microsoft.tar.xz"])
