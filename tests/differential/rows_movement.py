"""Rows of operators that move, index and order elements.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from chain import FLOATS
from graph import Rejected
from binding import CODES
from rows import row


def draw_split(g, total, parts):
    cuts = sorted(g.between(0, total) for _ in range(parts - 1))
    return [b - a for a, b in zip([0] + cuts, cuts + [total])]


def factor(g, count):
    """Extents whose product is `count`."""
    shape = []
    while count > 1 and len(shape) < 4 and g.chance(0.75):
        extent = g.choice([d for d in range(1, min(count, 64) + 1) if count % d == 0])
        shape.append(extent)
        count //= extent
    return shape + [count] if count != 1 or g.chance(0.3) else shape


@row("Reshape", weight=2)
def reshape(g, op):
    x = g.pick(g.allowed(op))
    given = {}
    if x.size == 0:
        shape = list(x.shape)
        g.random.shuffle(shape)
        if g.opset < 14:
            raise Rejected("0 copies an extent")
        given = {"allowzero": 1}
    else:
        shape = factor(g, x.size)
        if shape and g.chance(0.5):
            shape[g.random.randrange(len(shape))] = -1
        for i, extent in enumerate(shape):
            if i < x.rank and extent == x.shape[i] and g.chance(0.5):
                shape[i] = 0
    g.add(op, [x, g.numbers_in(shape)], **given)


@row("Flatten")
def flatten(g, op):
    x = g.pick(g.allowed(op))
    axis = g.between(0, x.rank)
    if g.opset >= 11 and x.rank and g.chance(0.3):
        axis = -g.between(1, x.rank)
    g.add(op, [x], **({} if g.chance(0.2) and x.rank else {"axis": axis}))


@row("Squeeze")
def squeeze(g, op):
    x = g.pick(g.allowed(op), lambda v: 1 in v.shape, 1)
    ones = [i for i, e in enumerate(x.shape) if e == 1]
    axes = g.random.sample(ones, g.between(1, len(ones)))
    if g.opset >= 11:
        axes = [a - x.rank if g.chance(0.3) else a for a in axes]
    if g.chance(0.15):
        g.add(op, [x])
    elif g.opset < 13:
        g.add(op, [x], axes=axes)
    else:
        g.add(op, [x, g.numbers_in(axes)])


@row("Unsqueeze")
def unsqueeze(g, op):
    x = g.pick(g.allowed(op), highest=4)
    count = g.between(1, 2)
    axes = g.random.sample(range(x.rank + count), count)
    if g.opset >= 11 and g.chance(0.4):
        axes = [a - x.rank - count for a in axes]
    if g.opset < 13:
        g.add(op, [x], axes=axes)
    else:
        g.add(op, [x, g.numbers_in(axes)])


@row("Transpose", weight=2)
def transpose(g, op):
    x = g.pick(g.allowed(op))
    order = list(range(x.rank))
    g.random.shuffle(order)
    g.add(op, [x], **({"perm": order} if g.chance(0.8) and x.rank else {}))


@row("Expand", since=8)
def expand(g, op):
    x = g.pick(g.allowed(op), highest=4)
    shape = [g.choice((1, 2, 3)) if e == 1 else g.choice((1, e)) for e in x.shape]
    if g.chance(0.4):
        shape = [g.choice((1, 2, 3))] * g.between(1, 2) + shape
    elif g.chance(0.2):
        shape = shape[g.between(0, len(shape)):]
    g.add(op, [x, g.numbers_in(shape)])


@row("Slice", weight=3)
def slice_(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    axes = g.random.sample(range(x.rank), g.between(1, x.rank))

    def position(extent):
        if g.chance(0.15):
            return g.choice((2**31 - 1, -2**31, 2**62, -2**62, 1000, -1000))
        return g.between(-extent - 1, extent + 1)

    starts = [position(x.shape[a]) for a in axes]
    ends = [position(x.shape[a]) for a in axes]
    if g.opset < 10:
        g.add(op, [x], starts=starts, ends=ends, axes=axes)
        return
    dtype = "i64"
    if g.chance(0.3):
        dtype, limit = "i32", 2**31 - 1
        starts, ends = ([max(-limit - 1, min(limit, p)) for p in ps]
                        for ps in (starts, ends))
    inputs = [x, g.numbers_in(starts, dtype), g.numbers_in(ends, dtype)]
    if axes != list(range(len(axes))) or g.chance(0.7):
        axes = [a - x.rank if g.chance(0.3) else a for a in axes]
        inputs.append(g.numbers_in(axes, dtype))
        if g.chance(0.6):
            steps = [g.choice((1, 2, -1, -2, 3, -3)) for _ in axes]
            inputs.append(g.numbers_in(steps, dtype))
    elif g.chance(0.3):
        inputs += [None, g.numbers_in([g.choice((1, 2, -1)) for _ in axes], dtype)]
    g.add(op, inputs)


@row("Split", weight=2)
def split(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    axis, parts = g.axis(x), g.between(1, 3)
    extent = x.shape[axis]
    sizes = draw_split(g, extent, parts)
    given = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    if g.chance(0.6):
        if g.opset < 13:
            g.add(op, [x], parts, split=sizes, **given)
        else:
            g.add(op, [x, g.numbers_in(sizes)], parts, **given)
    elif g.opset >= 18:
        g.add(op, [x], parts, num_outputs=parts, **given)
    elif extent % parts == 0:
        g.add(op, [x], parts, **given)


@row("Concat", weight=2)
def concat(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    axis = g.axis(x)

    def fits(v):
        return v.rank == x.rank and all(
            a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis % x.rank)

    others = []
    for _ in range(g.between(0, 3)):
        found = g.find([x.dtype], fits) if g.chance(0.6) else None
        shape = list(x.shape)
        shape[axis] = g.extent()
        others.append(found or g.make(x.dtype, tuple(shape)))
    parts = [x] + others
    g.random.shuffle(parts)
    g.add(op, parts, axis=axis)


@row("Pad", weight=2)
def pad(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    modes = ("constant", "reflect", "edge") + (("wrap",) if g.opset >= 19 else ())
    mode = g.choice(("constant",) + modes)
    low = -2 if mode == "constant" and g.chance(0.3) else 0
    amounts = [[g.between(low, 3) for _ in x.shape] for _ in range(2)]
    for amount in amounts:
        for i, extent in enumerate(x.shape):
            if mode == "reflect":
                amount[i] = min(amount[i], max(0, extent - 1))
            if mode == "wrap":
                amount[i] = min(amount[i], extent)
            if extent == 0 and mode != "constant":
                amount[i] = 0
    for i, extent in enumerate(x.shape):
        if extent + amounts[0][i] + amounts[1][i] < 0 or (
                min(amounts[0][i], amounts[1][i]) < -extent):
            amounts[0][i] = amounts[1][i] = 0
    given = {} if mode == "constant" and g.chance(0.5) else {"mode": mode}
    if g.opset < 11:
        if mode == "constant" and g.chance(0.5):
            given["value"] = 1.5
        g.add(op, [x], pads=amounts[0] + amounts[1], **given)
        return
    axes = None
    if g.opset >= 18 and g.chance(0.3):
        axes = g.random.sample(range(x.rank), g.between(1, x.rank))
        amounts = [[a[i] for i in axes] for a in amounts]
        axes = g.numbers_in([i - x.rank if g.chance(0.3) else i for i in axes])
    fill = g.make(x.dtype, (), "ints") if mode == "constant" and g.chance(0.6) else None
    inputs = [x, g.numbers_in(amounts[0] + amounts[1])]
    if fill or axes:
        inputs.append(fill)
    if axes:
        inputs.append(axes)
    g.add(op, inputs, **given)


@row("CenterCropPad", since=18)
def center_crop_pad(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    axes = g.random.sample(range(x.rank), g.between(1, x.rank))
    shape = g.numbers_in([g.between(1, 6) for _ in axes], g.choice(("i64", "i32")))
    if len(axes) == x.rank and axes == sorted(axes) and g.chance(0.5):
        g.add(op, [x, shape])
    else:
        g.add(op, [x, shape], axes=axes)


@row("Tile")
def tile(g, op):
    x = g.pick(g.allowed(op), highest=4)
    g.add(op, [x, g.numbers_in([g.choice((1, 1, 2, 3)) for _ in x.shape])])


@row("DepthToSpace")
def depth_to_space(g, op):
    block = g.between(1, 3)
    x = g.pick(g.allowed(op), lambda v: v.rank == 4 and v.shape[1] % block**2 == 0, 4, 4,
               lambda: (g.between(1, 2), block**2 * g.between(1, 2), g.between(1, 3), 2))
    mode = {"mode": g.choice(("DCR", "CRD"))} if g.opset >= 11 and g.chance(0.7) else {}
    g.add(op, [x], blocksize=block, **mode)


@row("SpaceToDepth")
def space_to_depth(g, op):
    block = g.between(1, 3)
    x = g.pick(g.allowed(op), lambda v: v.rank == 4 and v.shape[2] % block == 0 and
               v.shape[3] % block == 0, 4, 4,
               lambda: (g.between(1, 2), 2, block * g.between(1, 3), block * 2))
    g.add(op, [x], blocksize=block)


@row("Shape", weight=2)
def shape_of(g, op):
    x = g.pick(g.allowed(op))
    given = {}
    if g.opset >= 15:
        given = {n: g.between(-x.rank - 1, x.rank + 1) for n in ("start", "end")
                 if g.chance(0.3)}
    made = g.add(op, [x], **given)
    if g.chance(0.5) and x.rank and g.opset >= 8 and not given:
        # What exporters write: an extent taken out of a shape makes another shape.
        last = g.add("Gather", [made, g.constant(np.array([g.between(0, x.rank - 1)]))],
                     axis=0)
        target = g.add("Concat", [last, g.constant(np.array([2]))], axis=0)
        if g.opset >= 9:
            g.add("ConstantOfShape", [target])


@row("Size")
def size_of(g, op):
    g.add(op, [g.pick(g.allowed(op))])


@row("ConstantOfShape", since=9)
def constant_of_shape(g, op):
    from onnx import numpy_helper
    given = {}
    if g.chance(0.7):
        dtype = g.draw_dtype()
        if dtype == "bf16" and g.opset < 20:
            dtype = "f32"
        given["value"] = numpy_helper.from_array(g.draw_array(dtype, (1,)))
    g.add(op, [g.numbers_in(list(g.draw_shape(0, 3)))], **given)


@row("Range", since=11)
def range_(g, op):
    dtype = g.choice([d for d in g.allowed(op) if d in ("f32", "f64", "i16", "i32", "i64")])
    start, delta = g.between(-5, 5), g.choice((-2, -1, 1, 2, 3))
    limit = start + delta * g.between(-1, 9) + g.between(0, 1)
    values = [g.numbers_in(n, dtype, ()) for n in (start, limit, delta)]
    g.add(op, values, rounds=(0, 1))


# ---- indexing ----


def draw_indices(g, shape, extent, dtype=None):
    if extent == 0 and 0 not in shape:
        raise Rejected("nothing to index")
    low = -extent if g.opset >= 11 and g.chance(0.4) else 0
    array = g.numbers.integers(low, max(extent, low + 1), shape)
    return g.put(array.astype(np.int32 if (dtype or g.choice(("i64", "i64", "i32"))) ==
                              "i32" else np.int64))


@row("Gather", weight=2)
def gather(g, op):
    x = g.pick(g.allowed(op), lowest=1, highest=4)
    axis = g.axis(x)
    indices = draw_indices(g, g.draw_shape(0, 2), x.shape[axis])
    g.add(op, [x, indices], **({} if axis == 0 and g.chance(0.5) else {"axis": axis}))


@row("GatherElements", since=11)
def gather_elements(g, op):
    x = g.pick(g.allowed(op), lowest=1, highest=4)
    axis = g.axis(x)
    shape = [g.between(0 if g.empties else 1, e) if e else 0 for e in x.shape]
    shape[axis] = g.between(1, 5)
    g.add(op, [x, draw_indices(g, shape, x.shape[axis])], axis=axis)


@row("GatherND", since=11)
def gather_nd(g, op):
    x = g.pick(g.allowed(op), lowest=1, highest=4)
    batch = g.between(0, x.rank - 1) if g.opset >= 12 and g.chance(0.4) else 0
    depth = g.between(1, x.rank - batch)
    extents = x.shape[batch:batch + depth]
    if 0 in extents:
        raise Rejected("nothing to index")
    shape = x.shape[:batch] + g.draw_shape(1 if not batch else 0, 2)
    parts = [g.numbers.integers(-e if g.chance(0.3) else 0, e, shape) for e in extents]
    g.add(op, [x, g.put(np.stack(parts, -1))], **({"batch_dims": batch} if batch else {}))


def reduction_of(g, since):
    """Sums into one place come in any order: it is left to the chain's variants."""
    if g.opset < since or g.chance(0.4):
        return {}
    kinds = ("none", "add", "mul") + (("max", "min") if g.opset >= 18 else ())
    return {"reduction": g.choice(kinds)}


@row("Scatter", since=9, last=10)
@row("ScatterElements", since=11)
def scatter_elements(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0, lowest=1, highest=4)
    axis = g.axis(x)
    shape = [g.between(1, e) for e in x.shape]
    given = reduction_of(g, 16)
    if given.get("reduction", "none") == "none":
        # Two writes to one place: ONNX leaves open which one stays.
        rows = np.stack([g.numbers.permutation(x.shape[axis]) for _ in range(
            int(np.prod(shape)) // shape[axis])], -1)[:shape[axis]]
        moved = [shape[axis]] + shape[:axis % x.rank] + shape[axis % x.rank + 1:]
        indices = g.put(np.moveaxis(rows.reshape(moved), 0, axis).copy())
    else:
        indices = draw_indices(g, shape, x.shape[axis])
    updates = g.make(x.dtype, tuple(shape))
    g.add(op, [x, indices, updates], rounds=(1, 1) if given and x.dtype in FLOATS
          and given["reduction"] in ("add", "mul") else (0, 0), axis=axis, **given)


@row("ScatterND", since=11)
def scatter_nd(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0, lowest=1, highest=4)
    depth = g.between(1, x.rank)
    extents = x.shape[:depth]
    given = reduction_of(g, 16)
    count = int(np.prod(extents))
    if given.get("reduction", "none") == "none":
        positions = g.numbers.permutation(count)[:g.between(1, 6)]
    else:
        positions = g.numbers.integers(0, count, g.between(1, 8))
    indices = np.stack(np.unravel_index(positions, extents), -1)
    updates = g.make(x.dtype, (len(positions),) + x.shape[depth:])
    g.add(op, [x, g.put(indices), updates], rounds=(1, 1) if given and x.dtype in FLOATS
          and given["reduction"] in ("add", "mul") else (0, 0), **given)


@row("NonZero", since=9)
def non_zero(g, op):
    g.add(op, [g.pick(g.allowed(op), lowest=1)])


@row("Compress", since=9)
def compress(g, op):
    x = g.pick(g.allowed(op), lowest=1)
    if g.chance(0.3):
        axis, extent = None, x.size
    else:
        axis = g.axis(x)
        extent = x.shape[axis]
    condition = g.make("bool", (g.between(min(1, extent), extent),))
    g.add(op, [x, condition], **({} if axis is None else {"axis": axis}))


@row("ReverseSequence", since=10)
def reverse_sequence(g, op):
    x = g.pick(g.allowed(op), lambda v: 0 not in v.shape, lowest=2)
    batch, time = g.choice(((0, 1), (1, 0)))
    lengths = g.numbers.integers(1, x.shape[time] + 1, x.shape[batch])
    g.add(op, [x, g.put(lengths)], batch_axis=batch, time_axis=time)


@row("Trilu", since=14)
def trilu(g, op):
    x = g.pick(g.allowed(op), lowest=2)
    inputs = [x] + ([g.numbers_in(g.between(-3, 3), shape=())] if g.chance(0.6) else [])
    g.add(op, inputs, **({"upper": g.between(0, 1)} if g.chance(0.7) else {}))


@row("EyeLike", since=9)
def eye_like(g, op):
    x = g.pick([d for d in g.allowed(op)], lowest=2, highest=2)
    given = {"k": g.between(-3, 3)} if g.chance(0.5) else {}
    if g.chance(0.4):
        given["dtype"] = CODES[g.choice(("f32", "f64", "i64", "i32"))]
    g.add(op, [x], **given)


@row("OneHot", since=9)
def one_hot(g, op):
    indices = g.pick([d for d in g.allowed(op) if d in ("i64", "i32", "f32", "u8")],
                     lambda v: (np.abs(v.first.astype(np.float64)) < 20).all() and
                     (v.first == np.floor(v.first.astype(np.float64))).all(),
                     highest=3, style="ints")
    depth = g.numbers_in(g.between(1, 9), g.choice(("i64", "i32")), g.choice(((), (1,))))
    values = g.make(g.choice(("f32", "i64", "i32")), (2,))
    axis = g.between(-indices.rank - 1, indices.rank)
    g.add(op, [indices, depth, values], **({"axis": axis} if g.chance(0.7) else {}))


# ---- order ----


@row("ArgMax", "ArgMin")
def arg_reduce(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0, lowest=1)
    if has_nan(x):
        raise Rejected("the place of a NaN is open")
    given = {"axis": g.axis(x)}
    if g.chance(0.5):
        given["keepdims"] = g.between(0, 1)
    if g.opset >= 12 and g.chance(0.4):
        given["select_last_index"] = g.between(0, 1)
    g.add(op, [x], **given)


def has_nan(value):
    return value.dtype in FLOATS and np.isnan(value.first.astype(np.float64)).any()


@row("Hardmax")
def hardmax(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0 and not has_nan(v), lowest=1)
    g.add(op, [x], **({"axis": g.axis(x)} if g.chance(0.8) else {}))


@row("TopK")
def top_k(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0 and not has_nan(v), lowest=1)
    axis = g.axis(x)
    k = g.between(0 if g.empties and g.opset >= 10 else 1, x.shape[axis])
    if g.opset < 10:
        g.add(op, [x], 2, k=k, axis=axis)
        return
    given = {}
    if g.opset >= 11 and g.chance(0.5):
        given = {"largest": g.between(0, 1)}
    g.add(op, [x, g.numbers_in([k])], 2, axis=axis, **given)


@row("Unique", since=11)
def unique(g, op):
    x = g.pick(g.allowed(op), lambda v: v.size > 0 and not has_nan(v), lowest=1,
               highest=2, style="ints")
    given = {"axis": g.axis(x)} if g.chance(0.4) else {}
    if g.chance(0.4):
        given["sorted"] = g.between(0, 1)
    g.add(op, [x], [True] + [g.chance(0.5) for _ in range(3)], **given)
