"""Layers of drawn sizes, for decorated.py: large enough for the schedules of large ones.

SPDX-License-Identifier: Apache-2.0

Each function draws one layer as (nodes, inputs by name): an array whose name is upper case
is a constant in most models.
"""

import numpy as np
from onnx import helper

OPSET = 21


def reals(numbers, *shape):
    return numbers.uniform(-1, 1, shape).astype(np.float32)


def draw_product(draw, numbers):
    m, k, n = draw.randint(1, 40), draw.randint(1, 70), draw.randint(1, 130)
    return ([helper.make_node("MatMul", ["x", "W"], ["y"])],
            {"x": reals(numbers, m, k), "W": reals(numbers, k, n)})


def draw_batched(draw, numbers):
    b, m, k, n = (draw.randint(1, top) for top in (4, 20, 40, 40))
    return ([helper.make_node("MatMul", ["x", "w"], ["y"])],
            {"x": reals(numbers, b, m, k), "w": reals(numbers, b, k, n)})


def draw_gemm(draw, numbers):
    m, k, n = draw.randint(1, 40), draw.randint(1, 70), draw.randint(1, 130)
    turns = draw.randrange(2)
    return ([helper.make_node("Gemm", ["x", "W", "B"], ["y"], transB=turns, alpha=0.5)],
            {"x": reals(numbers, m, k), "W": reals(numbers, *((n, k) if turns else (k, n))),
             "B": reals(numbers, n)})


def draw_conv(draw, numbers, groups=1):
    inner, outer = draw.randint(1, 20), draw.randint(1, 40)
    channels, results = inner * groups, outer * groups
    size, stride = draw.choice([1, 3, 5]), draw.choice([1, 1, 2])
    node = helper.make_node("Conv", ["x", "W", "B"], ["y"], group=groups,
                            strides=[stride] * 2, pads=[size // 2] * 4)
    return ([node], {"x": reals(numbers, draw.randint(1, 3), channels, draw.randint(5, 14),
                                draw.randint(5, 14)),
                     "W": reals(numbers, results, inner, size, size),
                     "B": reals(numbers, results)})


def draw_grouped(draw, numbers):
    return draw_conv(draw, numbers, draw.randint(2, 6))


def draw_depthwise(draw, numbers):
    channels = draw.randint(2, 40)
    node = helper.make_node("Conv", ["x", "W"], ["y"], group=channels, pads=[1] * 4)
    return ([node], {"x": reals(numbers, 2, channels, 7, 9),
                     "W": reals(numbers, channels, 1, 3, 3)})


def draw_transposed(draw, numbers):
    stride = draw.choice([1, 2])
    node = helper.make_node("ConvTranspose", ["x", "W"], ["y"], strides=[stride] * 2)
    inner, outer = draw.randint(1, 20), draw.randint(1, 20)
    return ([node], {"x": reals(numbers, 2, inner, 6, 5),
                     "W": reals(numbers, inner, outer, 2 * stride, 2 * stride)})


def draw_norm(draw, numbers):
    extent = draw.randint(1, 90)
    node = helper.make_node("LayerNormalization", ["x", "S", "B"], ["y"])
    return ([node], {"x": reals(numbers, draw.randint(1, 4), draw.randint(1, 20), extent),
                     "S": reals(numbers, extent), "B": reals(numbers, extent)})


def draw_lookup(draw, numbers):
    rows, width = draw.randint(1, 50), draw.randint(1, 70)
    ids = numbers.integers(0, rows, (draw.randint(1, 9), draw.randint(1, 5)))
    nodes = [helper.make_node("Gather", ["T", "ids"], ["rows"]),
             helper.make_node("ReduceMean", ["rows", "AXES"], ["y"], keepdims=0)]
    return nodes, {"T": reals(numbers, rows, width), "ids": ids,
                   "AXES": np.array([1], np.int64)}


def draw_attention(draw, numbers):
    b, h, q, k, e = (draw.randint(1, top) for top in (3, 3, 20, 30, 40))
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "kt"], ["s"]),
             helper.make_node("Softmax", ["s"], ["p"]),
             helper.make_node("MatMul", ["p", "v"], ["y"])]
    return nodes, {"q": reals(numbers, b, h, q, e), "k": reals(numbers, b, h, k, e),
                   "v": reals(numbers, b, h, k, draw.randint(1, 40))}


def draw_recurrent(draw, numbers):
    time, batch, ins, hidden = (draw.randint(1, top) for top in (6, 5, 30, 30))
    op, gates = draw.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    node = helper.make_node(op, ["x", "W", "R"], ["", "y"], hidden_size=hidden)
    return [node], {"x": reals(numbers, time, batch, ins),
                    "W": reals(numbers, 1, gates * hidden, ins),
                    "R": reals(numbers, 1, gates * hidden, hidden)}


def draw_layers(draw, numbers):
    """Two dense layers with something between them."""
    m, k, n, p = (draw.randint(1, top) for top in (40, 50, 70, 40))
    nodes = [helper.make_node("MatMul", ["x", "W"], ["a"]),
             helper.make_node("Add", ["a", "B"], ["b"]),
             helper.make_node(draw.choice(["Relu", "Sigmoid", "Identity"]), ["b"], ["c"]),
             helper.make_node("MatMul", ["c", "V"], ["y"])]
    return nodes, {"x": reals(numbers, m, k), "W": reals(numbers, k, n),
                   "B": reals(numbers, n), "V": reals(numbers, n, p)}


LAYERS = [draw_product, draw_batched, draw_gemm, draw_conv, draw_grouped, draw_depthwise,
          draw_transposed, draw_norm, draw_lookup, draw_attention, draw_recurrent,
          draw_layers]
