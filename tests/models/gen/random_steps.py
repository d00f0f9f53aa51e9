"""What random_graphs.py strings together: each step adds a node or a few to a graph.

SPDX-License-Identifier: Apache-2.0

A step draws its operands among the graph's values and returns without adding anything
when none fits.  Values are f32; one axis of each, at most, is the batch.  Steps keep
clear of what is ill-conditioned by itself: logarithms of what may be 0, divisions by
it.
"""

import collections
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BATCH = "B"
WIDTHS = (1, 2, 3, 5, 7, 8, 13, 16, 24, 33, 48, 64, 72, 100, 130, 192)

Value = collections.namedtuple("Value", "name shape")
Ids = collections.namedtuple("Ids", "name rows length")  # [batch, length], below rows
Step = collections.namedtuple("Step", "add weight")

STEPS = {}


class Graph:
    def __init__(self, seed):
        self.seed, self.draw = seed, random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.values, self.ids = [], [], [], []
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def add_value(self, name, shape):
        self.values.append(Value(name, tuple(shape)))
        return self.values[-1]

    def constant(self, array):
        name = "c" + self.fresh()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, *shape, scale=0.4):
        array = self.numbers.standard_normal(shape) * scale
        return self.constant(array.astype(np.float32))

    def scalar(self, number):
        return self.constant(np.float32(number))

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def raw(self, op, inputs, count=1, **attributes):
        """A node whose results are no values that steps may draw."""
        names = [self.fresh() for _ in range(count)]
        inputs = [getattr(i, "name", i) for i in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if count == 1 else names

    def op(self, op, inputs, shape, **attributes):
        return self.add_value(self.raw(op, inputs, **attributes), shape)

    def pick(self, fits=lambda shape: True):
        """A value whose shape fits, the last ones more often; None without any."""
        fitting = [value for value in self.values if fits(value.shape)]
        if not fitting:
            return None
        is_late = self.draw.random() < 0.7
        return self.draw.choice(fitting[-6:] if is_late else fitting)

    def chance(self, probability):
        return self.draw.random() < probability


def step(weight=1):
    def register(add):
        STEPS[add.__name__] = Step(add, weight)
        return add

    return register


# ---- what shapes are asked for ----


def has_axis(shape):
    return len(shape) >= 1


def has_last(shape):
    """The last axis is no batch."""
    return len(shape) >= 1 and shape[-1] != BATCH


def is_matrix(shape):
    return len(shape) == 2 and shape[0] == BATCH and shape[1] != BATCH


def is_cube(shape):
    return len(shape) == 3 and shape[0] == BATCH and BATCH not in shape[1:]


def is_batched(shape):
    return len(shape) >= 2 and shape[0] == BATCH and BATCH not in shape[1:]


def has_extent(low):
    return lambda shape: any(e != BATCH and e >= low for e in shape)


def draw_axis(graph, shape, low=1):
    axes = [i for i, e in enumerate(shape) if e != BATCH and e >= low]
    return graph.draw.choice(axes)


def with_extent(shape, axis, extent):
    return shape[:axis] + (extent,) + shape[axis + 1:]


def draw_width(graph):
    return graph.draw.choice(WIDTHS)


# ---- layers ----


@step(3)
def gemm(graph):
    x = graph.pick(is_matrix)
    if not x:
        return
    k, n = x.shape[1], draw_width(graph)
    is_transposed = graph.chance(0.6)
    weight = graph.floats(*((n, k) if is_transposed else (k, n)), scale=k**-0.5)
    bias = [graph.floats(n)] if graph.chance(0.8) else []
    y = graph.op("Gemm", [x, weight] + bias, (BATCH, n), transB=int(is_transposed))
    if graph.chance(0.6):
        kind = graph.draw.choice(("Relu", "Relu", "Sigmoid", "Tanh", "Gelu"))
        graph.op(kind, [y], y.shape)


@step()
def matmul(graph):
    x = graph.pick(lambda shape: len(shape) >= 2 and has_last(shape))
    if not x:
        return
    k, n = x.shape[-1], draw_width(graph)
    y = graph.op("MatMul", [x, graph.floats(k, n, scale=k**-0.5)], x.shape[:-1] + (n,))
    if graph.chance(0.7):
        y = graph.op("Add", [y, graph.floats(n)], y.shape)
    if graph.chance(0.5):
        graph.op("Relu", [y], y.shape)


@step()
def batched_matmul(graph):
    a = graph.pick(is_cube)
    if not a:
        return
    _, m, k = a.shape
    b = graph.pick(lambda s: is_cube(s) and s[1] == k)
    if not b:
        b = graph.op("Transpose", [a], (BATCH, k, m), perm=[0, 2, 1])
    graph.op("MatMul", [a, b], (BATCH, m, b.shape[2]))


@step()
def attention(graph):
    x = graph.pick(lambda s: is_cube(s) and s[1] > 1)
    if not x:
        return
    _, length, width = x.shape
    inner = graph.draw.choice((4, 8, 16))

    def project():
        weight = graph.floats(width, inner, scale=width**-0.5)
        return graph.op("MatMul", [x, weight], (BATCH, length, inner))

    queries, keys = project(), project()
    keys = graph.op("Transpose", [keys], (BATCH, inner, length), perm=[0, 2, 1])
    square = (BATCH, length, length)
    scores = graph.op("MatMul", [queries, keys], square)
    scores = graph.op("Mul", [scores, graph.scalar(inner**-0.5)], square)
    scores = graph.op("Softmax", [scores], square, axis=-1)
    graph.op("MatMul", [scores, x], x.shape)


@step()
def gated(graph):
    x = graph.pick(lambda s: len(s) >= 2 and has_last(s) and s[-1] % 2 == 0)
    if not x:
        return
    shape = x.shape[:-1] + (x.shape[-1] // 2,)
    left, right = graph.raw("Split", [x], 2, axis=-1, num_outputs=2)
    graph.op("Mul", [left, graph.raw("Sigmoid", [right])], shape)


@step()
def outer_product(graph):
    a, b = graph.pick(is_matrix), graph.pick(is_matrix)
    if a and b:
        shape = (BATCH, a.shape[1], b.shape[1])
        graph.op("Einsum", [a, b], shape, equation="bi,bj->bij")


@step()
def bilinear(graph):
    a, b = graph.pick(is_matrix), graph.pick(is_matrix)
    if not (a and b) or a.shape[1] * b.shape[1] > 4000:
        return
    width = graph.draw.choice((3, 8))
    weight = graph.floats(a.shape[1], b.shape[1], width)
    graph.op("Einsum", [a, b, weight], (BATCH, width), equation="bi,bj,ijk->bk")


def draw_recurrent(graph, kind, gates):
    x = graph.pick(lambda s: is_cube(s) and s[1] * s[2] <= 600)
    if not x:
        return
    _, length, width = x.shape
    hidden = graph.draw.choice((2, 4, 8))
    by_time = graph.raw("Transpose", [x], perm=[1, 0, 2])
    weights = [graph.floats(1, gates * hidden, width),
               graph.floats(1, gates * hidden, hidden),
               graph.floats(1, 2 * gates * hidden)]
    every, last = graph.raw(kind, [by_time] + weights, 2, hidden_size=hidden)
    graph.add_value(last, (1, BATCH, hidden))
    graph.add_value(every, (length, 1, BATCH, hidden))


@step()
def lstm(graph):
    draw_recurrent(graph, "LSTM", 4)


@step()
def gru(graph):
    draw_recurrent(graph, "GRU", 3)


# ---- look-ups and interaction ----


def look_up(graph, widths):
    ids = graph.draw.choice(graph.ids) if graph.ids else None
    if not ids:
        return None
    width = graph.draw.choice(widths)
    table = graph.floats(ids.rows, width)
    return graph.op("Gather", [table, ids.name], (BATCH, ids.length, width))


@step()
def pooled_look_up(graph):
    rows = look_up(graph, (4, 8, 16, 24, 64))
    if rows:
        kind = graph.draw.choice(("ReduceSum", "ReduceMean", "ReduceMax"))
        shape = (BATCH, rows.shape[2])
        graph.op(kind, [rows, graph.ints(1)], shape, keepdims=0)


@step()
def flat_look_up(graph):
    rows = look_up(graph, (1, 4, 8))
    if rows:
        width = rows.shape[1] * rows.shape[2]
        graph.op("Reshape", [rows, graph.ints(-1, width)], (BATCH, width))


@step(2)
def dot_interaction(graph):
    first = graph.pick(is_matrix)
    if not first:
        return
    width = first.shape[1]
    alike = [v for v in graph.values if v.shape == first.shape]
    parts = graph.draw.choices(alike, k=graph.draw.choice((2, 3, 4, 5, 9)))
    count = len(parts)
    rows = [graph.raw("Unsqueeze", [part, graph.ints(1)]) for part in parts]
    stack = graph.op("Concat", rows, (BATCH, count, width), axis=1)
    turned = graph.op("Transpose", [stack], (BATCH, width, count), perm=[0, 2, 1])
    dots = graph.op("MatMul", [stack, turned], (BATCH, count, count))
    flat = graph.op("Reshape", [dots, graph.ints(-1, count * count)], (BATCH, count**2))
    positions = [i * count + j for i in range(count) for j in range(i)]
    pairs = (BATCH, len(positions))
    chosen = graph.op("Gather", [flat, graph.ints(*positions)], pairs, axis=1)
    graph.op("Concat", [parts[0], chosen], (BATCH, width + len(positions)), axis=1)


# ---- one element at a time ----

PLAIN = (
    "Relu Sigmoid Tanh Softplus Gelu LeakyRelu Elu HardSigmoid HardSwish Erf Abs Neg "
    "Floor Ceil Round Sign Mish Selu Softsign ThresholdedRelu Celu Sin Cos Identity "
    "Atan"
).split()
OF_POSITIVES = ("Sqrt", "Log", "Reciprocal")


@step(2)
def unary(graph):
    x = graph.pick()
    graph.op(graph.draw.choice(PLAIN), [x], x.shape)


@step()
def unary_bounded(graph):
    x = graph.pick()
    kind = graph.draw.choice(OF_POSITIVES + ("Exp", "Clip"))
    if kind == "Clip":
        graph.op("Clip", [x, graph.scalar(-0.5), graph.scalar(0.7)], x.shape)
        return
    bounded = graph.op("Tanh" if kind == "Exp" else "Abs", [x], x.shape)
    if kind in OF_POSITIVES:
        bounded = graph.op("Add", [bounded, graph.scalar(0.5)], x.shape)
    graph.op(kind, [bounded], x.shape)


def broadcasts(shape, other):
    pairs = list(zip(shape, other))
    return len(shape) == len(other) and all(x == y or 1 in (x, y) for x, y in pairs)


@step(2)
def binary(graph):
    a = graph.pick()
    is_same = graph.chance(0.6)
    b = graph.pick(lambda s: s == a.shape if is_same else broadcasts(s, a.shape))
    if b:
        kind = graph.draw.choice(("Add", "Mul", "Sub", "Max", "Min", "Sum", "Mean"))
        shape = [y if x == 1 else x for x, y in zip(a.shape, b.shape)]
        graph.op(kind, [a, b], shape)


@step()
def binary_with_constant(graph):
    x = graph.pick(has_last)
    if not x:
        return
    kind = graph.draw.choice(("Add", "Mul", "Sub", "Div", "Max", "Min", "PRelu"))
    if kind == "Div":
        graph.op("Div", [x, graph.scalar(2.5)], x.shape)
        return
    other = graph.floats(x.shape[-1] if graph.chance(0.6) else 1)
    is_swapped = kind != "PRelu" and graph.chance(0.3)
    graph.op(kind, [other, x] if is_swapped else [x, other], x.shape)


@step()
def where(graph):
    a = graph.pick()
    b = graph.pick(lambda shape: shape == a.shape)
    kind = graph.draw.choice(("Greater", "Less", "GreaterOrEqual"))
    condition = graph.raw(kind, [a, graph.scalar(0.1)])
    other = graph.scalar(-1.5) if graph.chance(0.5) else b
    graph.op("Where", [condition, a, other], a.shape)


@step()
def cast(graph):
    x = graph.pick()
    wide = graph.raw("Mul", [x, graph.scalar(3)])
    bounded = graph.raw("Clip", [wide, graph.scalar(-1e6), graph.scalar(1e6)])
    whole = graph.raw("Cast", [bounded], to=TensorProto.INT32)
    graph.op("Cast", [whole], x.shape, to=TensorProto.FLOAT)


@step()
def quantised(graph):
    x = graph.pick()
    form = [graph.scalar(0.03), graph.constant(np.uint8(128))]
    codes = graph.raw("QuantizeLinear", [x] + form)
    graph.op("DequantizeLinear", [codes] + form, x.shape)


@step()
def choice_of_branches(graph):
    x = graph.pick(has_axis)
    total = graph.raw("ReduceSum", [x], keepdims=0)
    condition = graph.raw("Greater", [total, graph.scalar(0.37)])

    def branch(kind):
        name = graph.fresh()
        info = helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
        node = helper.make_node(kind, [x.name], [name])
        return helper.make_graph([node], kind, [], [info])

    graph.op("If", [condition], x.shape, then_branch=branch("Relu"),
             else_branch=branch("Neg"))


# ---- over an axis ----

OVER_BATCH = ("ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceL2")
REDUCTIONS = OVER_BATCH + ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSumExp")


@step()
def reduction(graph):
    x = graph.pick(has_axis)
    axes = [i for i, extent in enumerate(x.shape)
            if graph.chance(0.5) and (extent != BATCH or graph.chance(0.1))]
    if not axes:
        return
    keeps = graph.draw.randrange(2)
    has_batch = any(x.shape[i] == BATCH for i in axes)
    kind = graph.draw.choice(OVER_BATCH if has_batch else REDUCTIONS)
    shape = [1 if i in axes else e for i, e in enumerate(x.shape)
             if keeps or i not in axes]
    graph.op(kind, [x, graph.ints(*axes)], shape, keepdims=keeps)


@step()
def softmax(graph):
    x = graph.pick(has_extent(1))
    if x:
        kind = graph.draw.choice(("Softmax", "LogSoftmax"))
        graph.op(kind, [x], x.shape, axis=draw_axis(graph, x.shape))


@step()
def running_sum(graph):
    x = graph.pick(has_extent(1))
    if x:
        axis = graph.constant(np.int64(draw_axis(graph, x.shape)))
        reverse, exclusive = graph.draw.randrange(2), graph.draw.randrange(2)
        graph.op("CumSum", [x, axis], x.shape, reverse=reverse, exclusive=exclusive)


@step(2)
def layer_norm(graph):
    x = graph.pick(lambda s: len(s) >= 2 and has_last(s) and s[-1] > 1)
    if x:
        scale, bias = graph.floats(x.shape[-1], scale=1), graph.floats(x.shape[-1])
        graph.op("LayerNormalization", [x, scale, bias], x.shape, axis=-1)


@step()
def batch_norm(graph):
    x = graph.pick(lambda s: len(s) >= 2 and s[1] != BATCH)
    if not x:
        return
    count = x.shape[1]
    variance = np.abs(graph.numbers.standard_normal(count)).astype(np.float32) + 0.5
    parts = [graph.floats(count) for _ in range(3)] + [graph.constant(variance)]
    graph.op("BatchNormalization", [x] + parts, x.shape)


@step()
def length_norm(graph):
    x = graph.pick(lambda s: len(s) >= 2 and has_last(s))
    if x:
        length = graph.raw("ReduceL2", [x, graph.ints(-1)], keepdims=1)
        length = graph.raw("Max", [length, graph.scalar(1e-2)])
        graph.op("Div", [x, length], x.shape)


@step()
def top(graph):
    x = graph.pick(lambda s: has_last(s) and s[-1] > 1)
    if x:
        count = graph.draw.randrange(1, min(x.shape[-1], 8) + 1)
        is_top = graph.draw.randrange(2)
        values, _ = graph.raw("TopK", [x, graph.ints(count)], 2, largest=is_top)
        graph.add_value(values, x.shape[:-1] + (count,))


# ---- other places for the same elements ----


@step(2)
def concat(graph):
    a = graph.pick(has_axis)
    axis = graph.draw.randrange(len(a.shape))
    if a.shape[axis] == BATCH:
        return

    def fits(s):
        return (len(s) == len(a.shape) and s[axis] != BATCH and
                with_extent(s, axis, 0) == with_extent(a.shape, axis, 0))

    alike = [v for v in graph.values if fits(v.shape)]
    parts = graph.draw.choices(alike, k=graph.draw.choice((2, 2, 3, 4)))
    extent = sum(part.shape[axis] for part in parts)
    if extent <= 600:
        axis -= len(a.shape) if graph.chance(0.5) else 0
        shape = with_extent(a.shape, axis % len(a.shape), extent)
        graph.op("Concat", parts, shape, axis=axis)


@step(2)
def slice_(graph):
    x = graph.pick(has_extent(2))
    if not x:
        return
    axis = draw_axis(graph, x.shape, 2)
    extent = x.shape[axis]
    if graph.chance(0.15):
        bounds = [graph.ints(i) for i in (extent - 1, -extent - 1, axis, -1)]
        graph.op("Slice", [x] + bounds, x.shape)
        return
    begin = graph.draw.randrange(extent)
    end = graph.draw.randrange(begin + 1, extent + 1)
    stride = graph.draw.choice((1, 1, 1, 2))
    bounds = [graph.ints(i) for i in (begin, end, axis, stride)]
    graph.op("Slice", [x] + bounds,
             with_extent(x.shape, axis, -(-(end - begin) // stride)))


@step()
def split(graph):
    x = graph.pick(has_extent(2))
    if not x:
        return
    axis = draw_axis(graph, x.shape, 2)
    first = graph.draw.randrange(1, x.shape[axis])
    extents = (first, x.shape[axis] - first)
    for name, extent in zip(graph.raw("Split", [x, graph.ints(*extents)], 2, axis=axis),
                            extents):
        graph.add_value(name, with_extent(x.shape, axis, extent))


@step()
def transpose(graph):
    x = graph.pick(lambda s: len(s) >= 2)
    if not x:
        return
    order = list(range(len(x.shape)))
    graph.draw.shuffle(order)
    if graph.chance(0.7):
        order.remove(0)
        order.insert(0, 0)
    graph.op("Transpose", [x], [x.shape[i] for i in order], perm=order)


@step(2)
def reshape(graph):
    x = graph.pick(is_batched)
    if not x:
        return
    size = int(np.prod(x.shape[1:]))
    a = graph.draw.choice([d for d in range(1, size + 1) if size % d == 0])
    forms = ([a, size // a], [a, 1, size // a], [size], [1, size])
    form = graph.draw.choice(forms)
    lead = graph.draw.choice((-1, 0))
    graph.op("Reshape", [x, graph.ints(lead, *form)], [BATCH] + form)


@step()
def unsqueeze(graph):
    x = graph.pick(is_batched)
    if x:
        graph.op("Unsqueeze", [x, graph.ints(1)], (BATCH, 1) + x.shape[1:])


@step()
def squeeze(graph):
    x = graph.pick(lambda s: 1 in s)
    if x:
        axis = graph.draw.choice([i for i, e in enumerate(x.shape) if e == 1])
        graph.op("Squeeze", [x, graph.ints(axis)], x.shape[:axis] + x.shape[axis + 1:])


@step()
def expand(graph):
    x = graph.pick(lambda s: 1 in s)
    if x:
        axis = graph.draw.choice([i for i, e in enumerate(x.shape) if e == 1])
        shape = with_extent(x.shape, axis, graph.draw.choice((2, 3, 5)))
        to = [e if i == axis else 1 for i, e in enumerate(shape)]
        graph.op("Expand", [x, graph.ints(*to)], shape)


@step()
def tile(graph):
    x = graph.pick(lambda s: has_last(s) and s[-1] < 50)
    if x:
        times = graph.draw.choice((2, 3))
        repeats = graph.ints(*([1] * (len(x.shape) - 1) + [times]))
        graph.op("Tile", [x, repeats], x.shape[:-1] + (x.shape[-1] * times,))


@step()
def pad(graph):
    x = graph.pick(lambda s: len(s) >= 2 and has_last(s))
    if not x:
        return
    before, after = graph.draw.randrange(3), graph.draw.randrange(3)
    zeros = [0] * (len(x.shape) - 1)
    pads = graph.ints(*zeros, before, *zeros, after)
    shape = x.shape[:-1] + (x.shape[-1] + before + after,)
    graph.op("Pad", [x, pads, graph.scalar(0.25)], shape)


@step()
def pick_along_axis(graph):
    x = graph.pick(has_extent(1))
    if not x:
        return
    axis = draw_axis(graph, x.shape)
    extent, rest = x.shape[axis], x.shape[axis + 1:]
    if graph.chance(0.4):
        position = graph.constant(np.int64(graph.draw.randrange(extent)))
        graph.op("Gather", [x, position], x.shape[:axis] + rest, axis=axis)
        return
    count = graph.draw.choice((1, 2, 5))
    positions = graph.ints(*(graph.draw.randrange(-extent, extent) for _ in range(count)))
    graph.op("Gather", [x, positions], with_extent(x.shape, axis, count), axis=axis)


@step()
def pick_rows(graph):
    x = graph.pick(is_matrix)
    if x:
        width = x.shape[1]
        turned = graph.op("Transpose", [x], (width, BATCH), perm=[1, 0])
        rows = np.array([[0], [graph.draw.randrange(width)], [-1]], np.int64)
        graph.op("GatherND", [turned, graph.constant(rows)], (3, BATCH))


@step()
def write_row(graph):
    x = graph.pick(is_matrix)
    if not x:
        return
    width = x.shape[1]
    turned = graph.op("Transpose", [x], (width, BATCH), perm=[1, 0])
    first = graph.raw("Gather", [turned, graph.ints(0)], axis=0)
    position = graph.constant(np.array([[width - 1]], np.int64))
    kind = graph.draw.choice(("none", "add", "max", "mul"))
    graph.op("ScatterND", [turned, position, first], turned.shape, reduction=kind)


@step()
def triangle(graph):
    x = graph.pick(lambda s: len(s) >= 2 and BATCH not in s[-2:])
    if x:
        diagonal = graph.constant(np.int64(graph.draw.choice((-1, 0, 1))))
        graph.op("Trilu", [x, diagonal], x.shape, upper=graph.draw.randrange(2))


# ---- images ----


def draw_image(graph):
    """A value seen as [batch, channels, height, width]."""
    x = graph.pick(lambda s: is_batched(s) and np.prod(s[1:]) >= 8)
    if not x:
        return None
    size = int(np.prod(x.shape[1:]))
    channels = graph.draw.choice([c for c in (1, 2, 3, 4) if size % c == 0])
    area = size // channels
    heights = [h for h in range(1, min(area, 39) + 1) if area % h == 0]
    height = graph.draw.choice(heights)
    shape = (channels, height, area // height)
    return graph.op("Reshape", [x, graph.ints(-1, *shape)], (BATCH,) + shape)


@step()
def convolution(graph):
    x = draw_image(graph)
    if not x:
        return
    _, channels, height, width = x.shape
    kernel = graph.draw.choice(((1, 1), (3, 3), (1, 3), (2, 2)))
    pad_, stride = graph.draw.randrange(2), graph.draw.choice((1, 1, 2))
    dilation = graph.draw.choice((1, 1, 2))
    group = channels if graph.chance(0.2) else 1
    out = graph.draw.choice((1, 2, 4, 7)) * group
    extents = [(extent + 2 * pad_ - dilation * (k - 1) - 1) // stride + 1
               for extent, k in zip((height, width), kernel)]
    if min(extents) < 1:
        return
    weights = [graph.floats(out, channels // group, *kernel), graph.floats(out)]
    y = graph.op("Conv", [x] + weights, (BATCH, out, *extents), group=group,
                 strides=[stride] * 2, pads=[pad_] * 4, dilations=[dilation] * 2)
    if graph.chance(0.5):
        graph.op("Relu", [y], y.shape)


@step()
def pooling(graph):
    x = draw_image(graph)
    if not x or min(x.shape[2:]) < 2:
        return
    kind = graph.draw.choice(("MaxPool", "AveragePool", "LpPool"))
    shape = x.shape[:2] + tuple((extent - 2) // 2 + 1 for extent in x.shape[2:])
    graph.op(kind, [x], shape, kernel_shape=[2, 2], strides=[2, 2])


@step()
def global_pooling(graph):
    x = draw_image(graph)
    if x:
        kind = graph.draw.choice(("GlobalAveragePool", "GlobalMaxPool"))
        graph.op(kind, [x], x.shape[:2] + (1, 1))


@step()
def instance_norm(graph):
    x = draw_image(graph)
    if x and x.shape[2] * x.shape[3] > 1:
        scale, bias = graph.floats(x.shape[1]), graph.floats(x.shape[1])
        graph.op("InstanceNormalization", [x, scale, bias], x.shape)
