"""Rows of elementwise operators, casts and activations.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from chain import F32_UNITS, FLOATS, UNIT, dtype_of
from graph import Rejected
from binding import CODES
from rows import row

SMALL = (0, 1)  # results are rounded
LOOSE = (0, 4)  # by an approximation

EXACT = {"Abs": 6, "Neg": 6, "Sign": 9, "Floor": 6, "Ceil": 6, "Round": 11, "Relu": 6,
         "Sqrt": 6, "Reciprocal": 6, "Not": 1, "BitwiseNot": 18, "IsNaN": 9}
ROUNDED = {"Sigmoid": 6, "Tanh": 6, "Erf": 9, "Exp": 6, "Log": 6, "Sin": 7, "Cos": 7,
           "Tan": 7, "Asin": 7, "Acos": 7, "Atan": 7, "Sinh": 9, "Cosh": 9, "Asinh": 9,
           "Acosh": 9, "Atanh": 9, "Softplus": 1, "Softsign": 1, "Mish": 18,
           "HardSwish": 14}
# ONNX Runtime's rational approximations keep an absolute error, not a relative one
# (core/mlas/lib/{logistic,tanh,erf}.cpp).  HardSwish's body multiplies by an f32 of 1 / 6
# (onnx/defs/nn/defs.cc), which counts near -3.
FLAT = {"Sigmoid": 4e-8, "Tanh": 2e-8, "Erf": 2e-8, "Gelu": 6e-8, "Mish": 2e-8,
        "Elu": 7e-8, "Selu": 8e-8, "Celu": 7e-8,
        "HardSwish": 9e-8}  # exp(x) - 1


@row(*EXACT)
def exact(g, op):
    g.add(op, [g.pick(g.allowed(op))], rounds=SMALL if op in ("Sqrt", "Reciprocal")
          else (0, 0))


@row(*ROUNDED)
def rounded(g, op):
    # Their results near 0 are differences of numbers near 1: inputs move too.
    # Softplus is log(1 + exp(x)) there, which has the error of a number near 1.
    g.add(op, [g.pick(g.allowed(op))], rounds=lambda x: (
        1, 4, UNIT[dtype_of(x)] if op == "Softplus" else FLAT.get(op, 0)))


@row("IsInf", since=10)
def is_inf(g, op):
    flags = {n: g.between(0, 1) for n in ("detect_negative", "detect_positive")
             if g.chance(0.5)}
    g.add(op, [g.pick(g.allowed(op))], **flags)


@row("Identity")
def identity(g, op):
    g.add(op, [g.pick()])


@row("Add", "Sub", "Mul", weight=2)
def arithmetic(g, op):
    a = g.pick(g.allowed(op))
    pair = [a, g.partner(a)]
    g.random.shuffle(pair)
    g.add(op, pair, rounds=SMALL)


@row("Div", weight=2)
def divide(g, op):
    a = g.pick(g.allowed(op))
    if a.dtype in FLOATS:
        g.add(op, [a, g.partner(a)], rounds=SMALL)
        return
    b = g.draw_array(a.dtype, g.partner_shape(a.shape), g.choice(("ints", "special")))
    b = np.where(b == 0, 3, b).astype(b.dtype)
    if a.first.dtype.kind == "i" and (a.first == np.iinfo(a.first.dtype).min).any():
        b = np.where(b == -1, 2, b).astype(b.dtype)
    g.add(op, [a, g.constant(b)])


@row("Add", "Sub", "Mul", "Neg", since=7)
def constants_that_wrap(g, op):
    """Numbers at the ends of their type, known before the run: sizes are made so, too."""
    dtype = g.choice(("i64", "i64", "i32"))
    if dtype not in g.allowed(op):
        raise Rejected("not at this opset")
    shape = g.choice(((), (1,), (2,)))
    pair = [g.constant(g.draw_array(dtype, shape, "special"))
            for _ in range(1 if op == "Neg" else 2)]
    made = g.add(op, pair)
    if g.chance(0.5):
        g.add("Add", [made, g.partner(made)])


@row("Mod", since=10)
def modulo(g, op):
    a = g.pick([d for d in g.allowed(op)])
    if a.dtype in FLOATS:
        g.add(op, [a, g.partner(a)], fmod=1)
        return
    b = g.draw_array(a.dtype, g.partner_shape(a.shape), "ints")
    b = g.constant(np.where(b == 0, 3, b).astype(b.dtype))
    if a.first.dtype.kind == "i" and (a.first == np.iinfo(a.first.dtype).min).any():
        raise Rejected("least number")
    g.add(op, [a, b], **({"fmod": g.between(0, 1)} if g.chance(0.6) else {}))


@row("Pow")
def power(g, op):
    a = g.pick(g.allowed(op))
    dtype = a.dtype
    if g.opset >= 12 and g.chance(0.4):
        dtype = g.draw_dtype(g.allowed(op, which=1))
    if dtype in FLOATS and a.dtype in FLOATS:
        b = g.partner(a, dtype=dtype)
    else:
        array = g.draw_array(dtype, g.partner_shape(a.shape), "ints")
        b = g.put(np.abs(array % 4).astype(array.dtype))
    g.add(op, [a, b], rounds=(1, 4) if a.dtype in FLOATS else (0, 0))


@row("And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
def logic(g, op):
    a = g.pick(g.allowed(op))
    g.add(op, [a, g.partner(a)])


@row("Equal", "Less", "Greater", weight=1)
@row("LessOrEqual", "GreaterOrEqual", since=12)
def compare(g, op):
    a = g.pick(g.allowed(op))
    g.add(op, [a, g.partner(a)])


@row("Where", since=9, weight=2)
def where(g, op):
    a = g.pick(g.allowed(op, which=1))
    b = g.partner(a)
    shape = np.broadcast_shapes(a.shape, b.shape)
    condition = g.find(["bool"], lambda v: v.shape == shape)
    g.add(op, [condition or g.make("bool", g.partner_shape(shape)), a, b])


@row("Min", "Max", "Sum", "Mean")
def variadic(g, op):
    a = g.pick(g.allowed(op))
    others = [g.partner(a) for _ in range(g.between(0, 3))]
    moved = op in ("Sum", "Mean")
    g.add(op, [a] + others, rounds=(1, 2) if moved else (0, 0))


@row("BitShift", since=11)
def bit_shift(g, op):
    a = g.pick(g.allowed(op))
    width = a.first.dtype.itemsize * 8
    by = g.numbers.integers(0, width, g.partner_shape(a.shape)).astype(a.first.dtype)
    g.add(op, [a, g.put(by)], direction=g.choice(("LEFT", "RIGHT")))


@row("Clip")
def clip(g, op):
    x = g.pick(g.allowed(op))
    if g.opset < 11:
        ends = sorted((g.random.uniform(-2, 2), g.random.uniform(-2, 2)))
        given = {n: e for n, e in zip(("min", "max"), ends) if g.chance(0.8)}
        g.add(op, [x], **given)
        return
    ends = np.sort(g.draw_array(x.dtype, (2,), "ints"))
    low, high = [g.make_scalar(e) if g.chance(0.75) else None for e in ends]
    g.add(op, [x, low, high] if high else [x, low] if low else [x])


@row("Cast", weight=3)
def cast(g, op):
    x = g.pick(g.allowed(op))
    to = g.draw_dtype()
    if g.main_float in FLOATS and to in FLOATS and g.chance(0.5):
        to = g.choice(FLOATS)
    if to == "bf16" and g.opset < 13:
        raise Rejected("not at this opset")
    g.add(op, [x], to=CODES[to])


@row("CastLike", since=15)
def cast_like(g, op):
    g.add(op, [g.pick(g.allowed(op)), g.pick(g.allowed(op))])


def times_sigmoid(x):
    """What the approximation of sigmoid leaves, times x."""
    wide = np.abs(x[np.isfinite(x)].astype(np.float64))
    return LOOSE + (FLAT["Sigmoid"] * min(wide.max(initial=0), 1e9),)


@row("LeakyRelu", "ThresholdedRelu", "Elu", "Selu", "Celu", "HardSigmoid", "Shrink",
     "Swish")
def activation(g, op):
    names = {"LeakyRelu": ("alpha",), "ThresholdedRelu": ("alpha",), "Elu": ("alpha",),
             "Selu": ("alpha", "gamma"), "Celu": ("alpha",), "Swish": ("alpha",),
             "HardSigmoid": ("alpha", "beta"), "Shrink": ("bias", "lambd")}[op]
    given = {n: g.random.choice((0.0, 0.1, 0.3, 0.5, 1.0, 1.7, -0.4))
             for n in names if g.chance(0.6)}
    if op == "Celu" and given.get("alpha") == 0:
        given = {}
    rounds = times_sigmoid if op == "Swish" else LOOSE + (FLAT.get(op, 0),)
    if op == "Shrink":  # by way of f32 (core/providers/cpu/nn/shrink.h)
        rounds = lambda x: (F32_UNITS if dtype_of(x) == "f64" else 0, 4)  # noqa: E731
    g.add(op, [g.pick(g.allowed(op))], rounds=rounds, **given)


@row("PRelu")
def prelu(g, op):
    x = g.pick(g.allowed(op))
    shape = tuple(1 if g.chance(0.4) else e for e in x.shape)
    g.add(op, [x, g.make(x.dtype, shape[g.between(0, len(shape)):])], rounds=SMALL)


@row("Gelu", since=20)
def gelu(g, op):
    given = {"approximate": g.choice(("none", "tanh"))} if g.chance(0.7) else {}
    g.add(op, [g.pick(g.allowed(op))], rounds=(1, 4, FLAT[op]), **given)


@row("Dropout")
def dropout(g, op):
    x = g.pick(g.allowed(op))
    mask = [True] + [True] * g.chance(0.3)
    if g.opset < 12:
        g.add(op, [x], mask, **({"ratio": 0.3} if g.chance(0.5) else {}))
        return
    ratio = g.constant(np.float32(0.4)) if g.chance(0.5) else None
    mode = g.constant(np.array(False)) if ratio and g.chance(0.5) else None
    g.add(op, [x, ratio, mode][:3 if mode else 2 if ratio else 1], mask)


@row("QuantizeLinear", since=10, weight=2)
def quantize(g, op):
    x = g.pick(["f32"] if g.opset < 19 else [d for d in g.allowed(op) if d in FLOATS])
    style = g.choice(("tensor", "axis"))
    if style == "axis" and (g.opset < 13 or x.rank < 1):
        style = "tensor"
    axis = g.axis(x) if style == "axis" else None
    shape = () if axis is None else (x.shape[axis],)
    scale = g.constant((g.numbers.random(shape) * 0.5 + 0.01).astype(x.first.dtype))
    kind = g.choice(("u8", "i8") + (("u16", "i16") if g.opset >= 21 else ()))
    zero = g.put(g.draw_array(kind, shape, "ints"), "initializer") if (
        g.chance(0.8)) else None
    given = {"axis": axis} if axis is not None else {}
    # A quotient in the middle of two numbers may go to either: the input moves.
    q = g.add(op, [x, scale, zero] if zero else [x, scale], rounds=(1, 0), **given)
    if g.chance(0.6):
        pair = [q, scale, zero] if zero else [q, scale]
        g.add("DequantizeLinear", pair, rounds=SMALL, **given)


@row("DequantizeLinear", since=10)
def dequantize(g, op):
    q = g.pick([d for d in g.allowed(op) if d in ("u8", "i8", "i32", "u16", "i16")])
    scale = g.constant(np.float32(g.random.uniform(0.01, 0.5)))
    zero = g.make(q.dtype, (), "ints", "initializer") if (
        q.dtype != "i32" and g.chance(0.7)) else None
    g.add(op, [q, scale, zero] if zero else [q, scale], rounds=SMALL)


@row("DynamicQuantizeLinear", since=11)
def dynamic_quantize(g, op):
    g.add(op, [g.pick(["f32"])], 3, rounds=(1, 0))
