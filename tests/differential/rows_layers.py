"""Rows of products, convolutions, norms, reductions, recurrent layers and losses.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from chain import FLOATS, UNIT, dtype_of
from graph import Rejected
from rows import row

SUMS = (2, 2)  # terms are moved, so that what cancels is known


def rounds_of(value, rounds=SUMS):
    return rounds if value.dtype in FLOATS else (0, 0)


@row("Gemm", weight=2)
def gemm(g, op):
    a = g.pick(g.allowed(op), lowest=2, highest=2)
    flip_a, flip_b = g.between(0, 1), g.between(0, 1)
    rows, inner = a.shape[::-1] if flip_a else a.shape
    columns = g.extent()
    b = g.make(a.dtype, (columns, inner) if flip_b else (inner, columns))
    inputs = [a, b]
    if g.opset < 11 or g.chance(0.7):
        inputs.append(g.make(a.dtype, g.choice(((), (1,), (columns,), (1, columns),
                                                (rows, 1), (rows, columns)))))
    given = {n: g.choice((0.5, 1.0, 2.0, -1.0, 0.0)) for n in ("alpha", "beta")
             if g.chance(0.3) and a.dtype in FLOATS}
    g.add(op, inputs, rounds=rounds_of(a), transA=flip_a, transB=flip_b, **given)


@row("MatMul", weight=2)
def matmul(g, op):
    a = g.pick(g.allowed(op), lowest=1, highest=4)
    inner, columns = a.shape[-1], g.extent()
    lead = a.shape[:-2]
    b_lead = tuple(1 if g.chance(0.3) else e for e in lead)[g.between(0, len(lead)):]
    shape = b_lead + (inner, columns) if b_lead or g.chance(0.8) else (inner,)
    other = g.find([a.dtype], lambda v: v.rank >= 2 and v.shape == shape)
    g.add(op, [a, other or g.make(a.dtype, shape)], rounds=rounds_of(a))


EQUATIONS = {
    "ij,jk->ik": 2, "bij,bjk->bik": 3, "bi,bj->bij": 2, "ij->ji": 2, "ii->i": 0,
    "ij->": 2, "ij,ij->i": 2, "...ij,...jk->...ik": 3, "bhid,bhjd->bhij": 4, "i,j->ij": 1,
    "ij,kj->ki": 2, "abc,c": 3, "...i->...": 2, "ii": 0, "...ij,...j->...i": 3,
    "i...,j...->ij...": 3, "...,...->...": 2, "...i,...i": 2, "a...b->...": 2,
}


@row("Einsum", since=12)
def einsum(g, op):
    equation = g.choice(EQUATIONS)
    extents = {c: g.choice((1, 2, 3, 4, 5)) for c in "abcdhijk"}
    dtype = g.draw_dtype(g.allowed(op))
    inputs, dots = [], [g.choice((1, 2, 3)) for _ in range(g.between(0, 2))]
    for term in equation.split("->")[0].split(","):
        own = g.partner_shape(dots)  # they broadcast, also from fewer dims
        shape = tuple(e for c in term.replace("...", ".")
                      for e in (own if c == "." else (extents[c],)))
        found = g.find([dtype], lambda v: v.shape == shape)
        inputs.append(found or g.make(dtype, shape))
    g.add(op, inputs, rounds=rounds_of(inputs[0]), equation=equation)


@row("Softmax", "LogSoftmax", weight=2)
def softmax(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    # Its logarithm is of a sum of 1 or more, of which the last place counts.
    unit = UNIT["f64" if x.dtype == "f64" else "f32"]
    g.add(op, [x], rounds=(2, 4, unit if op == "LogSoftmax" else 0),
          **({"axis": g.axis(x)} if g.chance(0.8) else {}))


@row("LayerNormalization", since=17, weight=2)
def layer_norm(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0, lowest=1)
    axis = g.axis(x)
    shape = x.shape[axis % x.rank:]
    inputs = [x, g.make(x.dtype, shape, "unit")]
    if g.chance(0.6):
        inputs.append(g.make(x.dtype, shape))
    given = {"axis": axis} if g.chance(0.8) or axis % x.rank != x.rank - 1 else {}
    if g.chance(0.4):
        given["epsilon"] = 1e-3
    outputs = [True] + ([True, True] if g.chance(0.15) and x.dtype == "f32" else [])
    g.add(op, inputs, outputs, rounds=lambda x, scale, *_: shifted_by_own(
        x, scale, range(axis % x.ndim, x.ndim), given.get("epsilon", 1e-5)), **given)


@row("RMSNormalization", since=23)
def rms_norm(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0, lowest=1)
    axis = g.axis(x)
    scale = g.make(x.dtype, x.shape[axis % x.rank:], "unit")
    g.add(op, [x, scale], rounds=sums_of(x), axis=axis)


def image_shape(g, lowest=1):
    def draw():
        rank = g.choice((1, 2, 2, 2, 3))
        extents = [g.choice((1, 2, 3, 5, 6, 7, 9)) for _ in range(rank)]
        if rank == 3:
            extents = [min(e, 4) for e in extents]
        batch = 0 if g.empties and g.chance(0.15) else g.choice((1, 1, 2, 3))
        return (batch, g.choice((1, 2, 3, 4, 6)), *[max(lowest, e) for e in extents])

    return draw


def pick_image(g, op, fits=lambda v: True, lowest=1):
    return g.pick(g.allowed(op), lambda v: 3 <= v.rank <= 5 and 0 not in v.shape[1:] and
                  max(v.shape) < 40 and fits(v), 3, 5, image_shape(g, lowest))


def sums_of(x):
    """Norms of doubles take their statistics in f32: stash_type is 1 (Operators.md,
    LayerNormalization), and where there is none kernels do."""
    return (2**29, 2**30) if x.dtype in ("f64", np.float64) else SUMS


def largest_of(array):
    return float(np.abs(array[np.isfinite(array)].astype(np.float64)).max(initial=0))


def shifted(x, scale, centre, deviation):
    """ONNX Runtime multiplies by scale / deviation and adds bias - centre * that, so that
    its error is that of the products (core/providers/cpu/nn/instance_norm.cc)."""
    if dtype_of(x) not in ("f32", "f64") or not x.size:
        return SUMS
    with np.errstate(all="ignore"):
        terms = max(1, x.size / max(1, np.size(deviation)))  # one running sum in f32
        flat = 2**-24 * max(largest_of(x), largest_of(centre)) * largest_of(scale) * max(
            1, terms**0.5 / 4) / (np.min(deviation, initial=np.inf, where=np.isfinite(deviation)))
    return (*sums_of(x), float(flat) if np.isfinite(flat) else 0.0)


def shifted_by_own(x, scale, axes=None, epsilon=1e-5):
    axes = tuple(range(2, x.ndim)) if axes is None else tuple(axes)
    wide = x.astype(np.float64)
    return shifted(x, scale, wide.mean(axes), np.sqrt(wide.var(axes) + epsilon))


@row("BatchNormalization")
def batch_norm(g, op):
    x = g.pick([d for d in g.allowed(op)], lambda v: v.size > 0, lowest=2,
               shape=image_shape(g))
    channels = (x.shape[1],)
    inputs = [x, g.make(x.dtype, channels), g.make(x.dtype, channels),
              g.make(x.dtype, channels), g.make(x.dtype, channels, "unit")]
    g.add(op, inputs, rounds=lambda x, scale, bias, mean, variance: shifted(
        x, scale, mean, np.sqrt(np.abs(variance.astype(np.float64)) + 1e-5)), **({"epsilon": 1e-3} if g.chance(0.5) else {}))


@row("InstanceNormalization")
def instance_norm(g, op):
    x = pick_image(g, op, lambda v: v.size > 0)
    parts = [g.make(x.dtype, (x.shape[1],)) for _ in range(2)]
    g.add(op, [x] + parts, rounds=lambda x, scale, bias: shifted_by_own(x, scale))


@row("GroupNormalization", since=18)
def group_norm(g, op):
    x = pick_image(g, op, lambda v: v.size > 0)
    channels = x.shape[1]
    groups = g.choice([d for d in range(1, channels + 1) if channels % d == 0])
    extent = groups if g.opset < 21 else channels
    parts = [g.make(x.dtype, (extent,)) for _ in range(2)]
    g.add(op, [x] + parts, rounds=lambda x, scale, bias: shifted_by_own(x, scale),
          num_groups=groups)


@row("LRN")
def lrn(g, op):
    x = pick_image(g, op)
    g.add(op, [x], rounds=(1, 4), size=g.choice((1, 3, 5)),
          **({"alpha": 0.1, "beta": 0.6, "bias": 1.5} if g.chance(0.5) else {}))


@row("LpNormalization")
def lp_norm(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    g.add(op, [x], rounds=(1, 2), axis=g.axis(x), p=g.between(1, 2))


@row("MeanVarianceNormalization", since=9)
def mean_variance_norm(g, op):
    x = g.pick(g.allowed(op), lambda v: v.rank == 4 and v.size > 0, 4, 4)
    axes = g.choice(([0, 2, 3], [2, 3], [1], [0, 1, 2, 3]))
    given = {"axes": axes} if axes != [0, 2, 3] or g.chance(0.3) else {}
    # 1e-9 is added to the deviation: what the mean's last place is of a small one counts.
    g.add(op, [x], rounds=lambda x: shifted_by_own(x, np.ones(1), axes, 1e-18), **given)


# ---- quantised ----


def quantised(g, x):
    """x by way of bytes, as a tool that quantises writes it around each node."""
    scale = g.constant(np.float32(g.random.uniform(0.02, 0.3)))
    zero = g.put(g.draw_array(g.choice(("u8", "i8")), (), "ints"), "initializer")
    q = g.add("QuantizeLinear", [x, scale, zero], rounds=(1, 0))
    return g.add("DequantizeLinear", [q, scale, zero], rounds=(0, 1))


@row("QuantizeLinear", since=13, weight=3)
def quantised_layer(g, op):
    x = quantised(g, g.pick(["f32"], lambda v: v.size > 0, 2, 4))
    layer = g.choice(("MatMul", "Gemm", "Conv", "Add", "Mul", "Relu", "Concat"))
    if layer in ("Relu", "Concat", "Add", "Mul"):
        others = [] if layer == "Relu" else [quantised(g, g.make("f32", x.shape))]
        given = {"axis": g.axis(x)} if layer == "Concat" else {}
        y = g.add(layer, [x] + others, rounds=(0, 1), **given)
    else:
        if layer == "Gemm" and x.rank != 2 or layer == "Conv" and x.rank < 3:
            raise Rejected("rank")
        out = g.between(1, 5)
        shape = (out, x.shape[1], *[1] * (x.rank - 2)) if layer == "Conv" else (x.shape[-1], out)
        axis = 0 if layer == "Conv" else 1
        by_row = g.chance(0.5)
        scale = g.constant((g.numbers.random((out,) if by_row else ()) * 0.1 + 0.01).astype("f4"))
        weight = g.add("DequantizeLinear", [
            g.put(g.draw_array("i8", shape), "initializer"), scale], rounds=(0, 1),
            **({"axis": axis} if by_row else {}))
        bias = [g.make("f32", (out,), "ints")] if layer != "MatMul" and g.chance(0.6) else []
        y = g.add(layer, [x, weight] + bias, rounds=SUMS)
    if g.chance(0.4):
        y = g.add("Relu", [y])
    quantised(g, y)


# ---- windows ----


def window_attributes(g, extents, padded=True, dilated=True):
    """Kernel, strides, pads and dilations that leave at least one place."""
    kernel, strides, dilations, begin, end = [], [], [], [], []
    for extent in extents:
        dilation = g.choice((1, 1, 2)) if dilated else 1
        size = g.between(1, max(1, min(3, (extent - 1) // dilation + 1)))
        kernel.append(size)
        dilations.append(dilation)
        strides.append(g.choice((1, 1, 2, 3)))
        highest = min(size - 1, 2) if padded else 0
        begin.append(g.between(0, highest))
        end.append(g.between(0, highest))
    given = {"kernel_shape": kernel}
    if g.chance(0.7):
        given["strides"] = strides
    if padded and g.chance(0.6):
        given["pads"] = begin + end
    elif padded and g.chance(0.3):
        given["auto_pad"] = g.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    if dilated and "auto_pad" not in given and g.chance(0.4):
        given["dilations"] = dilations
    elif any(d > 1 for d in dilations):
        given["kernel_shape"] = [1 if d > 1 else k for d, k in zip(dilations, kernel)]
    return given


@row("Conv", weight=2)
def conv(g, op):
    x = pick_image(g, op)
    channels = x.shape[1]
    group = g.choice([d for d in range(1, channels + 1) if channels % d == 0])
    group = group if g.chance(0.4) else 1
    given = window_attributes(g, x.shape[2:])
    kernel = given["kernel_shape"]
    out = group * g.between(1, 3)
    inputs = [x, g.make(x.dtype, (out, channels // group, *kernel))]
    if g.chance(0.6):
        inputs.append(g.make(x.dtype, (out,)))
    if g.chance(0.3):
        del given["kernel_shape"]
    g.add(op, inputs, rounds=SUMS, group=group, **given)


@row("ConvTranspose")
def conv_transpose(g, op):
    x = pick_image(g, op, lambda v: v.size < 200)
    channels = x.shape[1]
    group = g.choice([d for d in range(1, channels + 1) if channels % d == 0])
    kernel = [g.between(1, 3) for _ in x.shape[2:]]
    strides = [g.between(1, 2) for _ in kernel]
    given = {"strides": strides, "group": group}
    if g.chance(0.4):
        given["pads"] = [g.between(0, k // 2) for k in kernel] * 2
    elif g.chance(0.3):
        given["auto_pad"] = g.choice(("SAME_UPPER", "VALID"))
    if g.chance(0.3):
        given["output_padding"] = [s - 1 for s in strides]
    if g.chance(0.3):
        given["dilations"] = [g.between(1, 2) for _ in kernel]
    out = g.between(1, 3)
    inputs = [x, g.make(x.dtype, (channels, out, *kernel))]
    if g.chance(0.5):
        inputs.append(g.make(x.dtype, (out * group,)))
    g.add(op, inputs, rounds=SUMS, **given)


@row("MaxPool", "AveragePool", "LpPool", weight=2)
def pool(g, op):
    x = pick_image(g, op)
    given = window_attributes(g, x.shape[2:], dilated=(
        op == "MaxPool" and g.opset >= 10 or op == "AveragePool" and g.opset >= 19 or
        op == "LpPool" and g.opset >= 18))
    if (op != "LpPool" and g.opset >= 10 or op == "LpPool" and g.opset >= 18) and (
            g.chance(0.4)):
        given["ceil_mode"] = g.between(0, 1)
    if op == "AveragePool" and g.chance(0.5):
        given["count_include_pad"] = g.between(0, 1)
    if op == "LpPool" and g.chance(0.5):
        given["p"] = g.between(1, 3)
    outputs = 1
    if op == "MaxPool" and g.opset >= 8 and g.chance(0.3):
        outputs = 2
        if g.chance(0.3):
            given["storage_order"] = g.between(0, 1)
    rounds = (0, 0) if op == "MaxPool" else (1, 4)
    g.add(op, [x], outputs, rounds=rounds, **given)


@row("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g, op):
    x = pick_image(g, op)
    given = {"p": g.between(1, 3)} if op == "GlobalLpPool" and g.chance(0.6) else {}
    g.add(op, [x], rounds=(0, 0) if op == "GlobalMaxPool" else (1, 4), **given)


# ---- resampling ----


@row("Upsample", last=9)
def upsample(g, op):
    x = pick_image(g, op, lambda v: v.rank == 4)
    scales = [1.0, 1.0, g.choice((1.0, 2.0, 1.5)), g.choice((1.0, 2.0, 3.0))]
    mode = {"mode": g.choice(("nearest", "linear"))}
    if g.opset < 9:
        g.add(op, [x], rounds=positions_in_f32, scales=scales, **mode)
    else:
        g.add(op, [x, g.constant(np.array(scales, np.float32))], rounds=positions_in_f32, **mode)


@row("Resize", since=10, weight=2)
def resize(g, op):
    x = pick_image(g, op, lambda v: v.size > 0)
    steps = [1.0, 1.0] + [g.choice((0.5, 1.0, 1.5, 2.0, 2.5, 0.7)) for _ in x.shape[2:]]
    scales = g.constant(np.array(steps, np.float32))
    mode = g.choice(("nearest", "nearest", "linear", "cubic"))
    rounds = (0, 0) if mode == "nearest" else positions_in_f32
    if g.opset < 11:
        mode = "nearest" if mode == "nearest" else "linear"
        g.add(op, [x, scales], rounds=rounds, mode=mode)
        return
    if mode == "cubic" and x.rank != 4:
        mode = "nearest"
    given = {"mode": mode, "coordinate_transformation_mode": g.choice(
        ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))}
    if mode == "nearest" and g.chance(0.6):
        given["nearest_mode"] = g.choice(("floor", "ceil", "round_prefer_floor",
                                          "round_prefer_ceil"))
    if mode == "cubic" and g.chance(0.4):
        given.update(cubic_coeff_a=-0.5, exclude_outside=g.between(0, 1))
    empty = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
    if g.chance(0.5):
        sizes = [*x.shape[:2], *[max(1, int(e * s)) for e, s in
                                 zip(x.shape[2:], steps[2:])]]
        if g.opset >= 18 and g.chance(0.3):
            given["axes"] = list(range(2, x.rank))
            sizes = sizes[2:]
            if g.chance(0.4):
                given["keep_aspect_ratio_policy"] = g.choice(
                    ("stretch", "not_larger", "not_smaller"))
        no_scales = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
        g.add(op, [x, empty, no_scales, g.constant(np.array(sizes))], rounds=rounds,
              **given)
        return
    if g.opset >= 18 and mode in ("linear", "cubic") and g.chance(0.3):
        given["antialias"] = 1
    g.add(op, [x, empty, scales], rounds=rounds, **given)


def cubic_weights(x, grid):
    """ONNX Runtime's are differences of numbers up to 6, in f32
    (core/providers/cpu/tensor/grid_sample.cc, GsGetCubicCoeffs)."""
    return 4, 8, min(2.0**-22 * largest_of(x), 1e30)


def linear_weights(x, grid):
    """What the last place of a place is, also of one at 0, times the elements there."""
    return 4, 8, min(2.0**-24 * max(x.shape[2:]) * largest_of(x), 1e30)


def positions_in_f32(x, *_):
    """Of doubles, whose places ONNX Runtime has in f32 (core/providers/cpu/tensor/upsample.cc)."""
    if dtype_of(x) != "f64":
        return 1, 8
    return 1, 8, min(2.0**-22 * max(x.shape[2:]) * largest_of(x), 1e30)


@row("GridSample", since=16)
def grid_sample(g, op):
    x = pick_image(g, op, lambda v: v.rank == 4 and v.size > 0)
    shape = (x.shape[0], g.between(1, 4), g.between(1, 4), 2)
    grid = g.put((g.numbers.random(shape) * 2.6 - 1.3).astype(np.float32))
    if grid.dtype != x.dtype:
        raise Rejected("types")
    modes = ("linear", "nearest", "cubic") if g.opset >= 20 else (
        "bilinear", "nearest", "bicubic")
    mode = g.choice(modes)
    g.add(op, [x, grid], rounds=cubic_weights if "cubic" in mode else
          linear_weights if "linear" in mode else (4, 8), mode=mode, align_corners=g.between(0, 1), padding_mode=g.choice(("zeros", "border", "reflection")))


# ---- reductions ----


REDUCES = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
           "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp")


@row(*REDUCES, weight=1)
def reduce(g, op):
    x = g.pick(g.allowed(op))
    count = g.between(0, x.rank)
    axes = g.random.sample(range(x.rank), count)
    if g.opset >= 11:
        axes = [a - x.rank if g.chance(0.3) else a for a in axes]
    given = {"keepdims": g.between(0, 1)} if g.chance(0.6) else {}
    rounds = (0, 0) if op in ("ReduceMax", "ReduceMin") else rounds_of(x)
    if op == "ReduceLogSumExp" and x.dtype in FLOATS:  # a logarithm of a sum of 1 or more
        rounds = (*rounds, UNIT["f64" if x.dtype == "f64" else "f32"])
    if x.dtype not in FLOATS and op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        raise Rejected("an integer of a rounded number")
    new = g.opset >= (13 if op == "ReduceSum" else 18)
    if not axes and g.chance(0.5):
        g.add(op, [x], rounds=rounds, **given)
    elif new:
        if g.chance(0.3):
            given["noop_with_empty_axes"] = g.between(0, 1)
        g.add(op, [x, g.numbers_in(axes)], rounds=rounds, **given)
    elif axes:
        g.add(op, [x], rounds=rounds, axes=axes, **given)


@row("CumSum", since=11)
@row("CumProd", since=26)
def running(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    given = {n: g.between(0, 1) for n in ("exclusive", "reverse") if g.chance(0.5)}
    axis = g.numbers_in(g.axis(x), g.choice(("i64", "i32")), ())
    g.add(op, [x, axis], rounds=rounds_of(x), **given)


@row("HannWindow", "HammingWindow", "BlackmanWindow", since=17)
def window(g, op):
    g.add(op, [g.numbers_in(g.between(1, 12), g.choice(("i64", "i32")), ())],
          rounds=(0, 4, 5e-8),
          **({"periodic": g.between(0, 1)} if g.chance(0.5) else {}))


# ---- recurrent layers, attention, losses ----


def recurrent_rounds(*inputs):
    """Gates that ONNX Runtime leaves 4 units beyond 1 (core/mlas/lib/tanh.cpp) have a factor in
    the first state."""
    states = [np.abs(i).max(initial=0, where=np.isfinite(i)) for i in inputs[5:7]
              if i is not None]
    return 2, 8, 1.2e-7 * max(states) if max(states, default=0) > 1 else 4e-8


@row("RNN", "GRU", "LSTM")
def recurrent(g, op):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    x = g.pick([d for d in g.allowed(op) if d in ("f32", "f64")],
               lambda v: v.rank == 3 and v.size > 0 and v.size < 300, 3, 3,
               lambda: (g.between(1, 4), g.between(1, 3), g.between(1, 5)))
    layout = 1 if g.opset >= 14 and g.chance(0.15) else 0
    length, batch, width = x.shape if not layout else (x.shape[1], x.shape[0], x.shape[2])
    hidden = g.choice((1, 2, 3, 4))
    way = g.choice(("forward", "forward", "reverse", "bidirectional"))
    ways = 2 if way == "bidirectional" else 1
    if batch > 8 or length > 8:
        raise Rejected("too long")
    inputs = [x, g.make(x.dtype, (ways, gates * hidden, width), "unit"),
              g.make(x.dtype, (ways, gates * hidden, hidden), "unit")]
    state = (ways, batch, hidden) if not layout else (batch, ways, hidden)
    inputs.append(g.make(x.dtype, (ways, 2 * gates * hidden), "unit") if (
        g.chance(0.6)) else None)
    lengths = g.numbers.integers(1, length + 1, batch).astype(np.int32)
    inputs.append(g.put(lengths) if g.chance(0.3) else None)
    inputs.append(g.make(x.dtype, state, "unit") if g.chance(0.4) else None)
    if op == "LSTM":
        inputs.append(g.make(x.dtype, state, "unit") if g.chance(0.4) else None)
        inputs.append(g.make(x.dtype, (ways, 3 * hidden), "unit") if (
            g.chance(0.3)) else None)
    while inputs[-1] is None:
        inputs.pop()
    given = {"direction": way, "hidden_size": hidden}
    if layout:
        given["layout"] = 1
    if op == "GRU" and g.chance(0.5):
        given["linear_before_reset"] = g.between(0, 1)
    if g.chance(0.2):
        given["clip"] = 0.7
    if op == "RNN" and g.chance(0.3):
        given["activations"] = [g.choice(("Relu", "Tanh", "Sigmoid"))] * ways
    if op == "LSTM" and g.chance(0.15):
        given["input_forget"] = 1
    count = 3 if op == "LSTM" else 2
    asked = [g.chance(0.7) for _ in range(count)]
    g.add(op, inputs, asked if any(asked) else [True] * count, rounds=recurrent_rounds, **given)


@row("Attention", since=23, weight=2)
def attention(g, op):
    dtype = g.draw_dtype([d for d in g.allowed(op) if d in ("f32", "f64", "f16")])
    batch, heads, groups = g.between(1, 2), g.choice((1, 2)), g.choice((1, 2))
    queries, keys = g.between(1, 5), g.between(1, 6)
    width, out = g.choice((2, 4)), g.choice((2, 3))
    given = {}
    if g.chance(0.6):
        shapes = [(batch, heads * groups, queries, width), (batch, heads, keys, width),
                  (batch, heads, keys, out)]
    else:
        shapes = [(batch, queries, heads * groups * width), (batch, keys, heads * width),
                  (batch, keys, heads * out)]
        given = {"q_num_heads": heads * groups, "kv_num_heads": heads}
    inputs = [g.make(dtype, shape, "plain") for shape in shapes]
    if g.chance(0.4):
        kind = g.choice((dtype, "bool"))
        inputs.append(g.make(kind, (queries, keys), "plain"))
    if g.chance(0.4):
        given["is_causal"] = 1
    if g.chance(0.3):
        given["scale"] = 0.4
    if g.chance(0.2):
        given["softcap"] = 2.0
    # ONNX Runtime has the square root of the scale in f32, also for doubles.
    g.add(op, inputs, rounds=(2**29, 4) if inputs[0].dtype == "f64" else (2, 4), **given)


@row("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", since=12)
def class_loss(g, op):
    x = g.pick([d for d in g.allowed(op)], lambda v: v.rank >= 2 and v.size > 0, 2, 4)
    classes = x.shape[1]
    labels = g.numbers.integers(0, classes, (x.shape[0], *x.shape[2:]))
    inputs = [x, g.put(labels.astype(g.choice((np.int64, np.int32))))]
    if g.chance(0.4):
        inputs.append(g.make(x.dtype, (classes,), "unit"))
    given = {"reduction": g.choice(("none", "mean", "sum"))} if g.chance(0.7) else {}
    if g.chance(0.3):
        given["ignore_index"] = g.between(0, classes - 1)
    outputs = 2 if op == "SoftmaxCrossEntropyLoss" and g.chance(0.3) else 1
    g.add(op, inputs, outputs, rounds=(2, 4, 6e-8), **given)


# ---- quantised products ----


@row("MatMulInteger", since=10)
def matmul_integer(g, op):
    kind, other = g.choice(("u8", "i8")), g.choice(("u8", "i8"))
    rows, inner, columns = (g.choice((1, 2, 3, 5, 17)) for _ in range(3))
    lead = (2,) if g.chance(0.3) else ()
    a, b = g.make(kind, lead + (rows, inner)), g.make(other, (inner, columns))
    inputs = [a, b]
    if g.chance(0.6):
        inputs.append(g.make(kind, (), "ints"))
        if g.chance(0.6):
            inputs.append(g.make(other, g.choice(((), (columns,))), "ints"))
    g.add(op, inputs)


def scale_of(g):
    return g.constant(np.float32(g.choice((0.25, 0.5, 0.125, 0.03, 0.011))))


@row("QLinearMatMul", since=10)
def qlinear_matmul(g, op):
    kind, other = g.choice((("u8", "u8"), ("u8", "i8"), ("i8", "i8")))
    rows, inner, columns = (g.choice((1, 2, 3, 5, 17)) for _ in range(3))
    a, b = g.make(kind, (rows, inner)), g.make(other, (inner, columns))
    inputs = [a, scale_of(g), g.make(kind, (), "ints"), b, scale_of(g),
              g.make(other, (), "ints"), scale_of(g), g.make(kind, (), "ints")]
    g.add(op, inputs)


@row("ConvInteger", since=10)
def conv_integer(g, op):
    channels, out = g.between(1, 3), g.between(1, 3)
    x = g.make("u8", (g.between(1, 2), channels, g.between(3, 6), g.between(3, 6)))
    given = window_attributes(g, x.shape[2:])
    w = g.make("u8", (out, channels, *given["kernel_shape"]))
    inputs = [x, w]
    if g.chance(0.6):
        inputs.append(g.make("u8", (), "ints"))
        if g.chance(0.5):
            inputs.append(g.make("u8", (), "ints"))
    g.add(op, inputs, **given)


@row("QLinearConv", since=10)
def qlinear_conv(g, op):
    channels, out = g.between(1, 3), g.between(1, 3)
    kind, other = g.choice((("u8", "u8"), ("u8", "i8"), ("i8", "i8")))
    x = g.make(kind, (g.between(1, 2), channels, g.between(3, 6), g.between(3, 6)))
    given = window_attributes(g, x.shape[2:])
    w = g.make(other, (out, channels, *given["kernel_shape"]), how="initializer")
    inputs = [x, scale_of(g), g.make(kind, (), "ints", "initializer"), w, scale_of(g),
              g.make(other, (), "ints", "initializer"), scale_of(g),
              g.make(kind, (), "ints", "initializer")]
    if g.chance(0.5):
        inputs.append(g.make("i32", (out,), "ints", "initializer"))
    g.add(op, inputs, **given)
