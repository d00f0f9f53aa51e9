#!/usr/bin/env python3
"""Writes the conformance cases: ops on small inputs with results computed by numpy.

SPDX-License-Identifier: Apache-2.0

    /usr/bin/python3 tests/conform/generate.py        (python3-numpy)

Expected values come from numpy alone, or, where numpy has no such dtype or function,
from the definition written out here (bfloat16, float8, erf, bags).  Real functions are
evaluated in double and rounded once.  The format is described in conform.h.
"""
import itertools
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "cases"
RNG = np.random.default_rng(20260101)
NUMPY = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64
}
FLOATS, SINTS, UINTS = ["f16", "f32", "f64"], ["i8", "i16", "i32",
                                               "i64"], ["u8", "u16", "u32", "u64"]
NUMBERS = FLOATS + SINTS + UINTS
# Relative and absolute tolerance of what is not exact.
TOLERANCE = {"f16": (2e-3, 1e-4), "f32": (2e-6, 1e-7), "f64": (1e-12, 1e-14)}

# ---- narrow floats that numpy lacks: by listing their values ----

# exponent bits, mantissa bits, bias, largest code, has infinity, one NaN and no -0
NARROW = {
    "bf16": (8, 7, 127, 0x7f7f, True, False),
    "f8e4m3fn": (4, 3, 7, 0x7e, False, False),
    "f8e5m2": (5, 2, 15, 0x7b, True, False),
    "f8e4m3fnuz": (4, 3, 8, 0x7f, False, True),
    "f8e5m2fnuz": (5, 2, 16, 0x7f, False, True)
}


def narrow_values(name):
    exponent_bits, mantissa_bits, bias, largest, _, _ = NARROW[name]
    values = []
    for code in range(largest + 1):
        exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        unit = 2.0**(1 - bias - mantissa_bits)
        values.append(mantissa * unit if exponent == 0 else (mantissa +
                                                             (1 << mantissa_bits)) *
                      unit * 2.0**(exponent - 1))
    return values


def round_narrow(name, x, saturate=False):
    """The double nearest to x among the format's values, ties to the even code."""
    _, _, _, largest, has_infinity, one_nan = NARROW[name]
    beyond = math.inf if has_infinity else math.nan
    values = narrow_values(name)
    if math.isnan(x):
        return math.nan
    size = abs(x)
    step = values[-1] - values[-2]
    tie = values[-1] + step / 2
    if math.isinf(x) or size > tie or (size == tie and largest % 2 == 1):
        nearest = values[-1] if saturate else beyond
    else:
        code = min(range(len(values)), key=lambda i: (abs(values[i] - size), i % 2))
        nearest = values[code]
    result = math.copysign(nearest, x)
    return 0.0 if one_nan and result == 0 else result


# ---- writing ----


class File:

    def __init__(self, name, about):
        self.path, self.lines, self.names = HERE / name, [f"# {about}", ""], set()

    def case(self, name, body, inputs, outputs, tolerance=None, dynamic=True, items=()):
        """inputs and items, which are weights: (name, dtype, array); outputs: (dtype, array)."""
        assert name not in self.names, name
        self.names.add(name)
        self.lines.append(f"case {name}")
        if not dynamic:
            self.lines.append("static")
        for label, dtype, array in inputs:
            self.lines.append(f"in {label} {text(dtype, array)}")
        for label, dtype, array in items:
            shape, _, numbers = text(dtype, array).partition("] ")
            self.lines.append(f"+ weight @{label} : {shape}] = {numbers}")
        self.lines += [f"| {line}" for line in body]
        for dtype, array in outputs:
            self.lines.append(f"out {text(dtype, array)}")
        if tolerance:
            self.lines.append("tol {:g} {:g}".format(*tolerance))
        self.lines.append("")

    def write(self):
        self.path.write_text("\n".join(self.lines))


def element(dtype, x):
    if dtype == "bool":
        return "true" if x else "false"
    if dtype in NUMPY and not dtype.startswith("f"):
        return str(int(x))
    x = np.float64(x) if dtype not in NUMPY else x
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    text = repr(NUMPY.get(dtype,
                          np.float64)(x).item()) if dtype in ("f64", ) else str(x)
    return text[:-2] if text.endswith(".0") else text


def text(dtype, array):
    array = np.asarray(array)
    dims = ", ".join(str(d) for d in array.shape)
    return f"{dtype}[{dims}] [{', '.join(element(dtype, x) for x in array.ravel())}]"


# ---- inputs ----


def values(dtype, shape, low=-4.0, high=4.0):
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(np.bool_)
    if dtype.startswith("f"):
        return np.round(RNG.uniform(low, high, shape) * 64).astype(
            NUMPY[dtype]) / NUMPY[dtype](64)
    info = np.iinfo(NUMPY[dtype])
    low, high = max(info.min, int(low * 10)), min(info.max, int(high * 10))
    return RNG.integers(low, high, shape, endpoint=True).astype(NUMPY[dtype])


def edges(dtype):
    if dtype == "bool":
        return np.array([True, False])
    if dtype.startswith("f"):
        info = np.finfo(NUMPY[dtype])
        return np.array([
            0.0, -0.0, 1, -1, 0.5, -2.5, 3.75, np.inf, -np.inf, np.nan, info.max,
            info.tiny, -info.max
        ], NUMPY[dtype])
    info = np.iinfo(NUMPY[dtype])
    return np.array([0, 1, 2, 7, info.max, info.min, info.max - 1, info.min // 2],
                    NUMPY[dtype])


def wide(function, dtype):
    """The function in double, rounded once; integers as they are."""

    def run(*args):
        if not dtype.startswith("f"):
            return function(*args)
        result = function(*[np.asarray(a, np.float64) for a in args])
        if dtype == "f16":  # computed in f32, then rounded
            result = np.asarray(result, np.float32)
        return np.asarray(result).astype(NUMPY[dtype])

    return run


# ---- elementwise ----


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def relu(x):
    return np.where(x > 0, x, np.where(np.isnan(x), x,
                                       0)) if x.dtype.kind == "f" else np.maximum(x, 0)


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))),
                    np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


EXACT, CLOSE = True, False
UNARY = {  # op: (function, dtypes, exact)
    "neg": (np.negative, NUMBERS, EXACT),
    "abs": (np.abs, NUMBERS, EXACT),
    "sign": (np.sign, NUMBERS, EXACT),
    "sqrt": (np.sqrt, FLOATS, CLOSE),
    "rsqrt": (lambda x: 1 / np.sqrt(x), FLOATS, CLOSE),
    "recip": (lambda x: 1 / x, FLOATS, CLOSE),
    "exp": (np.exp, FLOATS, CLOSE),
    "log": (np.log, FLOATS, CLOSE),
    "log1p": (np.log1p, FLOATS, CLOSE),
    "tanh": (np.tanh, FLOATS, CLOSE),
    "erf": (erf, FLOATS, CLOSE),
    "sigmoid": (sigmoid, FLOATS, CLOSE),
    "relu": (relu, NUMBERS, EXACT),
    "softplus": (lambda x: np.logaddexp(x, 0), FLOATS, CLOSE),
    "floor": (np.floor, FLOATS, EXACT),
    "ceil": (np.ceil, FLOATS, EXACT),
    "round": (np.rint, FLOATS, EXACT),
    "trunc": (np.trunc, FLOATS, EXACT),
    "isnan": (np.isnan, FLOATS, EXACT),
    "isinf": (np.isinf, FLOATS, EXACT),
    "not": (np.invert, ["bool"] + SINTS + UINTS, EXACT),
    "sin": (np.sin, FLOATS, CLOSE),
    "cos": (np.cos, FLOATS, CLOSE)
}
PREDICATES = {"isnan", "isinf", "eq", "ne", "lt", "le", "gt", "ge"}


def unary(file):
    for op, (function, dtypes, exact) in UNARY.items():
        for dtype in dtypes:
            out = "bool" if op in PREDICATES else dtype
            run = function if op in PREDICATES else wide(function, dtype)
            tolerance = None if exact else TOLERANCE[dtype]
            body = [f"%0 = {op} %x", "ret %0"]
            x = edges(dtype)
            if op in ("sin", "cos", "exp"):
                x = x[np.abs(np.nan_to_num(x)) < 1e4]
            file.case(f"{op}/{dtype}/edges", body, [("x", dtype, x)], [(out, run(x))],
                      tolerance)
            x = values(dtype, (2, 3))
            file.case(f"{op}/{dtype}/2x3", body, [("x", dtype, x)], [(out, run(x))],
                      tolerance)


def safe_divide(x, y):
    return (np.sign(x.astype(object)) * np.sign(y.astype(object)) *
            (np.abs(x.astype(object)) // np.abs(y.astype(object)))).astype(x.dtype)


BINARY = {
    "add": (np.add, NUMBERS),
    "sub": (np.subtract, NUMBERS),
    "mul": (np.multiply, NUMBERS),
    "div": (None, NUMBERS),
    "mod": (np.mod, SINTS + UINTS + FLOATS),
    "min": (np.minimum, NUMBERS),
    "max": (np.maximum, NUMBERS),
    "and": (np.bitwise_and, ["bool"] + SINTS + UINTS),
    "or": (np.bitwise_or, ["bool"] + SINTS + UINTS),
    "xor": (np.bitwise_xor, ["bool"] + SINTS + UINTS),
    "eq": (np.equal, NUMBERS + ["bool"]),
    "ne": (np.not_equal, NUMBERS + ["bool"]),
    "lt": (np.less, NUMBERS),
    "le": (np.less_equal, NUMBERS),
    "gt": (np.greater, NUMBERS),
    "ge": (np.greater_equal, NUMBERS)
}
SHAPES = [((2, 3), (2, 3)), ((2, 1, 3), (4, 1)), ((), (6, )), ((0, 3), (1, 3))]


def binary(file):
    for op, (function, dtypes) in BINARY.items():
        for dtype, (a, b) in itertools.product(dtypes, SHAPES):
            if dtype not in ("f32", "i64", "u8") and a != (2, 1, 3):
                continue
            x, y = values(dtype, a), values(dtype, b)
            if op in ("div", "mod"):
                y = np.where(y == 0, NUMPY[dtype](3), y).astype(NUMPY[dtype])
            run = function
            if op == "div":
                run = np.divide if dtype.startswith("f") else safe_divide
            out = "bool" if op in PREDICATES else dtype
            run = run if op in PREDICATES else wide(run, dtype)
            name = "{}/{}/{}-{}".format(
                op, dtype, *["x".join(map(str, s)) or "0d" for s in (a, b)])
            file.case(
                name, [f"%0 = {op} %x, %y", "ret %0"],
                [("x", dtype, x), ("y", dtype, y)], [(out, run(x, y))], TOLERANCE[dtype]
                if op in ("div", "mod") and dtype in TOLERANCE else None)
    for op in ("add", "mul", "min", "max", "eq", "lt"):
        x = edges("f32")
        y = np.roll(x, 3)
        out = "bool" if op in PREDICATES else "f32"
        file.case(f"{op}/f32/edges", [f"%0 = {op} %x, %y", "ret %0"], [("x", "f32", x),
                                                                       ("y", "f32", y)],
                  [(out, BINARY[op][0](x, y))])


def other_elementwise(file):
    for dtype in ["f32", "f64", "f16"]:
        x, y = values(dtype, (2, 4), 0.25, 4), values(dtype, (4, ), -3, 3)
        file.case(f"pow/{dtype}", ["%0 = pow %x, %y", "ret %0"], [("x", dtype, x),
                                                                  ("y", dtype, y)],
                  [(dtype, wide(np.power, dtype)(x, y))], TOLERANCE[dtype])
    x, y = np.arange(-3, 4, dtype=np.int32), np.arange(7, dtype=np.int64) % 4
    file.case("pow/i32-i64", ["%0 = pow %x, %y", "ret %0"], [("x", "i32", x),
                                                             ("y", "i64", y)],
              [("i32", np.power(x, y).astype(np.int32))])
    for dtype in ["f32", "i64", "u8", "bool"]:
        c, x, y = values("bool", (3, 1)), values(dtype, (2, )), values(dtype, ())
        file.case(f"where/{dtype}", ["%0 = where %c, %x, %y", "ret %0"],
                  [("c", "bool", c), ("x", dtype, x),
                   ("y", dtype, y)], [(dtype, np.where(c, x, y))])
    for dtype in UINTS:
        bits = np.iinfo(NUMPY[dtype]).bits
        x, y = values(dtype, (6, ), 0,
                      20), (np.arange(6) * (bits // 6)).astype(NUMPY[dtype])
        for op, run in (("shl", np.left_shift), ("shr", np.right_shift)):
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x, %y", "ret %0"],
                      [("x", dtype, x), ("y", dtype, y)], [(dtype, run(x, y))])
    for dtype in ["f32", "i32", "i8"]:
        x = values(dtype, (8, ))
        y = np.array([3, -3, 2, -2, 5, -5, 1, -1]).astype(NUMPY[dtype])
        file.case(f"mod-truncate/{dtype}", ["%0 = mod %x, %y {truncate}", "ret %0"],
                  [("x", dtype, x), ("y", dtype, y)], [(dtype, np.fmod(x, y))])


def casts(file):
    for source, target in itertools.product(["bool"] + NUMBERS, repeat=2):
        if source == target:
            continue
        x = values(source, (5, ), 0 if target.startswith("u") else -4, 12)
        if source.startswith("f") and not target.startswith("f"):
            x = np.clip(x, 0 if target.startswith("u") else -8,
                        12)  # what numpy defines
        file.case(f"cast/{source}-{target}",
                  [f"%0 = cast %x {{to = {target}}}", "ret %0"], [("x", source, x)],
                  [(target, x.astype(NUMPY[target]))])
    for target in SINTS + UINTS:  # beyond the range: the ends, and 0 for NaN
        info = np.iinfo(NUMPY[target])
        x = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 2.75, -1.5], np.float32)
        y = [info.max, info.min, info.max, info.min, 0, 2, max(info.min, -1)]
        file.case(f"cast/saturate-{target}",
                  [f"%0 = cast %x {{to = {target}}}", "ret %0"], [("x", "f32", x)],
                  [(target, np.array(y, NUMPY[target]))])
    tough = [
        0.0, 1.0, -1.0, 1.0625, 1.1875, 0.001, -0.0007, 300.0, 447.0, 464.0, 470.0,
        -1e6, 57344.0, 61440.0, 1e-9, math.inf, -math.inf, math.nan
    ]
    for target, saturate in itertools.product(NARROW, (False, True)):
        if target == "bf16" and saturate:
            continue
        x = np.array(tough, np.float32)
        y = [round_narrow(target, float(v), saturate) for v in x]
        flag = ", saturate" if saturate else ""
        file.case(f"cast/f32-{target}{'-saturate' if saturate else ''}", [
            f"%0 = cast %x {{to = {target}{flag}}}", "%1 = cast %0 {to = f32}", "ret %1"
        ], [("x", "f32", x)], [("f32", np.array(y, np.float32))])


def bitcasts(file):
    bits = {
        8: [0, 1, 0x7F, 0x80, 0xFF, 0x3A],
        16: [0, 1, 0x3C00, 0x8000, 0x7BFF, 0xFC00, 0x3F80],
        32: [0, 1, 0x3F800000, 0x80000000, 0xFF7FFFFF, 0x7F800000, 0x40490FDB],
        64: [0, 1, 0x3FF0000000000000, 1 << 63, 0x7FEFFFFFFFFFFFFF, 0x400921FB54442D18]
    }
    types = {8: ["i8", "u8"], 16: ["i16", "u16", "f16"], 32: ["i32", "u32", "f32"],
             64: ["i64", "u64", "f64"]}
    for width, words in bits.items():
        words = np.array(words, f"u{width // 8}")
        for source, target in itertools.permutations(types[width], 2):
            file.case(f"bitcast/{source}-{target}",
                      [f"%0 = bitcast %x {{to = {target}}}", "ret %0"],
                      [("x", source, words.view(NUMPY[source]))],
                      [(target, words.view(NUMPY[target]))])
    # bf16 is the upper half of f32
    x = np.array([1.0, -2.5, 0.15625, 3e38], np.float32)
    file.case("bitcast/bf16", [
        "%0 = bitcast %x {to = u32}", "%1 = const {value = u32[] 16}",
        "%2 = shr %0, %1", "%3 = cast %2 {to = u16}", "%4 = bitcast %3 {to = bf16}",
        "%5 = cast %4 {to = f32}", "ret %5"
    ], [("x", "f32", x)], [("f32", (x.view(np.uint32) >> 16 << 16).view(np.float32))])


# ---- movement ----


def movement(file):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for perm in itertools.permutations(range(3)):
        name = "".join(map(str, perm))
        file.case(f"transpose/{name}",
                  [f"%0 = transpose %x {{perm = {list(perm)}}}", "ret %0"],
                  [("x", "f32", x)], [("f32", x.transpose(perm))])
    for dtype in ["bool", "i8", "u16", "f16", "f64", "i64"]:
        y = values(dtype, (3, 4))
        file.case(f"transpose/{dtype}", ["%0 = transpose %x {perm = [1, 0]}", "ret %0"],
                  [("x", dtype, y)], [(dtype, y.T)])
    file.case("reshape", ["%0 = reshape %x {to = [4, 6]}", "ret %0"], [("x", "f32", x)],
              [("f32", x.reshape(4, 6))],
              dynamic=False)
    file.case("expand", ["%0 = expand %x {to = [2, 3, 4]}", "ret %0"],
              [("x", "f32", x[:, :1])], [("f32", np.broadcast_to(x[:, :1], (2, 3, 4)))],
              dynamic=False)
    for axis in (0, 1, 2):
        file.case(f"concat/{axis}",
                  [f"%0 = concat %x, %y, %x {{axis = {axis}}}", "ret %0"],
                  [("x", "f32", x), ("y", "f32", x + 100)],
                  [("f32", np.concatenate([x, x + 100, x], axis))])
    slices = [(slice(0, 2), slice(1, 3), slice(0, 4, 2)),
              (slice(1, 2), slice(2, None, -1), slice(3, 0, -1)),
              (slice(0, 0), slice(0, 3), slice(1, 2))]
    for index, cut in enumerate(slices):
        ranges = [range(*s.indices(d)) for s, d in zip(cut, x.shape)]
        starts, sizes, steps = [r.start for r in ranges], [len(r) for r in ranges
                                                           ], [r.step for r in ranges]
        file.case(f"slice/{index}", [
            f"%0 = slice %x {{starts = {starts}, "
            f"sizes = {sizes}, steps = {steps}}}", "ret %0"
        ], [("x", "f32", x)], [("f32", x[cut])],
                  dynamic=False)
    for mode in ("constant", "edge", "reflect", "wrap"):
        pads = [(1, 0), (0, 2), (2, 1)]
        before, after = [p[0] for p in pads], [p[1] for p in pads]
        file.case(f"pad/{mode}", [
            f"%0 = pad %x {{before = {before}, "
            f"after = {after}, mode = {mode}}}", "ret %0"
        ], [("x", "f32", x)], [("f32", np.pad(x, pads, mode))],
                  dynamic=False)
    file.case("tile", ["%0 = tile %x, %n", "ret %0"], [("x", "f32", x[0]),
                                                       ("n", "i64", np.array([2, 3]))],
              [("f32", np.tile(x[0], (2, 3)))],
              dynamic=False)
    file.case("range/i64", ["%0 = range %a, %b, %c", "ret %0"],
              [(n, "i64", np.int64(v)) for n, v in (("a", 3), ("b", 20), ("c", 4))],
              [("i64", np.arange(3, 20, 4))])
    file.case("range/f32", ["%0 = range %a, %b, %c", "ret %0"],
              [(n, "f32", np.float32(v))
               for n, v in (("a", 1), ("b", -1), ("c", -0.25))],
              [("f32", np.arange(1, -1, -0.25, dtype=np.float32))])


def indexing(file):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for axis, index in ((0, [1, -1, 0]), (1, [[2, 0],
                                              [-3, 1]]), (2, 3), (1, np.zeros((0, ),
                                                                              int))):
        index = np.array(index, np.int64)
        file.case(f"gather/{axis}-{index.ndim}d{index.size}",
                  [f"%0 = gather %x, %i {{axis = {axis}}}", "ret %0"],
                  [("x", "f32", x),
                   ("i", "i64", index)], [("f32", np.take(x, index, axis))])
    for dtype in ["bool", "i8", "f16", "f64", "u32"]:
        y, index = values(dtype, (5, 2)), np.array([4, 0, 2], np.int32)
        file.case(f"gather/{dtype}", ["%0 = gather %x, %i {axis = 0}", "ret %0"],
                  [("x", dtype, y), ("i", "i32", index)], [(dtype, y[index])])
    index = RNG.integers(-3, 3, (2, 5, 4))
    file.case("gather_elements", ["%0 = gather_elements %x, %i {axis = 1}", "ret %0"],
              [("x", "f32", x),
               ("i", "i64", index)], [("f32", np.take_along_axis(x, index, 1))])
    index = np.array([[0, 2], [1, -1]], np.int64)
    file.case("gather_nd", ["%0 = gather_nd %x, %i", "ret %0"], [("x", "f32", x),
                                                                 ("i", "i64", index)],
              [("f32", x[index[:, 0], index[:, 1]])],
              dynamic=False)
    index, updates = np.array([[[2, 0, 1, 2]], [[0, 0, 1,
                                                 1]]]), values("f32", (2, 1, 4))
    y = x.copy()
    np.put_along_axis(y, index, updates, 1)
    file.case("scatter_elements",
              ["%0 = scatter_elements %x, %i, %u {axis = 1}", "ret %0"],
              [("x", "f32", x), ("i", "i64", index),
               ("u", "f32", updates)], [("f32", y)])


# ---- contractions and reductions ----


def contractions(file):
    shapes = [((3, 4), (4, 5)), ((4, ), (4, 5)), ((3, 4), (4, )), ((4, ), (4, )),
              ((2, 1, 3, 4), (5, 4, 2)), ((1, 7), (7, 1)), ((0, 4), (4, 3)),
              ((3, 0), (0, 2)), ((7, 17), (17, 18))]
    for dtype, (a, b) in itertools.product(["f32", "f64", "i32"], shapes):
        if dtype != "f32" and len(a) == 2 and a[0] > 3:
            continue
        x, y = values(dtype, a), values(dtype, b)
        name = "matmul/{}/{}-{}".format(dtype, *["x".join(map(str, s)) for s in (a, b)])
        run = wide(np.matmul, dtype)
        file.case(name, ["%0 = matmul %x, %y", "ret %0"], [("x", dtype, x),
                                                           ("y", dtype, y)],
                  [(dtype, run(x, y))],
                  (1e-5, 1e-5) if dtype == "f32" else TOLERANCE.get(dtype))
    x, y = values("f32", (4, 3)), values("f32", (5, 4))
    file.case("matmul/transposed",
              ["%0 = matmul %x, %y {transpose_a, transpose_b}", "ret %0"],
              [("x", "f32", x), ("y", "f32", y)], [("f32", x.T @ y.T)], (1e-5, 1e-5))
    x, y = values("f16", (3, 8)), values("f16", (8, 2))
    file.case("matmul/f16", ["%0 = matmul %x, %y", "ret %0"], [("x", "f16", x),
                                                               ("y", "f16", y)],
              [("f16",
                (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float16))],
              TOLERANCE["f16"])
    own = np.random.default_rng(5)  # the cases behind stay as they are
    x = own.integers(-99, 99, (3, 9)).astype("f4") / 32
    for name, tile in ("whole", ""), ("tile", ", tile = [2, 16]"):
        w = np.zeros((9, 32), "float16")
        w[:, :20] = own.integers(-99, 99, (9, 20)).astype("f2") / 64
        file.case(f"matmul/panels-f16-{name}",
                  ["%0 = matmul_panels %x, %y {columns = 20" + tile + "}", "ret %0"],
                  [("x", "f32", x),
                   ("y", "f16", w.reshape(9, 2, 16).transpose(1, 0, 2).copy())],
                  [("f32", (x.astype("f8") @ w[:, :20].astype("f8")).astype("f4"))],
                  (1e-5, 1e-5))
    for dtype, low, name, tile in (("i8", -128, "whole", ""), ("u8", 0, "zeros", ""),
                                   ("i8", -128, "zeros", ""),
                                   ("i8", -128, "tile", ", tile = [2, 16]")):
        w, zero = np.zeros((9, 48), NUMPY[dtype]), np.zeros(48, NUMPY[dtype])
        w[:, :37] = own.integers(low, low + 256, (9, 37))
        real, zeros = w[:, :37].astype("f8"), []
        if name == "zeros":
            zero[:37] = own.integers(low, low + 256, 37)
            zeros = [("z", dtype, zero.reshape(3, 16))]
            real -= zero[:37]
        file.case(f"matmul/panels-{dtype}-{name}", [
            "%0 = matmul_panels %x, %y" + (", %z" if zeros else "") +
            " {columns = 37" + tile + "}", "ret %0"
        ], [("x", "f32", x),
            ("y", dtype, w.reshape(9, 3, 16).transpose(1, 0, 2).copy()), *zeros],
                  [("f32", (x.astype("f8") @ real).astype("f4"))], (1e-5, 1e-5))
    for depth, columns in (9, 20), (8, 16), (3, 1):
        quads, panels = (depth + 3) // 4, (columns + 15) // 16
        w = np.zeros((quads * 4, panels * 16), "i1")
        few = np.random.default_rng(depth)
        w[:depth, :columns] = few.integers(-128, 128, (depth, columns))
        x = few.integers(0, 256, (3, depth)).astype("u1")
        x[0], w[:depth, 0] = 255, -128
        packed = w.reshape(quads, 4, panels, 16).transpose(2, 0, 3, 1).copy()
        file.case(f"matmul/quads-{depth}x{columns}",
                  [f"%0 = matmul_quads %x, %y {{columns = {columns}}}", "ret %0"],
                  [("x", "u8", x), ("y", "i8", packed)],
                  [("i32", x.astype("i4") @ w[:depth, :columns].astype("i4"))])
    w = np.zeros((1, 5, 16, 4), "i1")  # a chain of two, and an extra quad of the first
    w[0, :4] = few.integers(-8, 9, (4, 16, 4))
    w[0, 4, 3] = -128, 0, 7, 127
    x, positions = few.integers(0, 256, (3, 16)).astype("u1"), np.array([[1, 1]], "i4")
    x[0] = 255
    whole = w[0, :4].astype("i4")
    whole[1] += w[0, 4]
    file.case("matmul/quads-chain",
              ["%0 = matmul_quads %x, %y, %z {columns = 16, chain = 2}", "ret %0"],
              [("x", "u8", x), ("y", "i8", w), ("z", "i32", positions)],
              [("i32", np.einsum("mqi,qji->mj", x.reshape(3, 4, 4).astype("i4"), whole))])
    split = np.zeros((1, 2, 16, 4), "i1")
    split[0, 0, 0] = 100, 20, -128, 0
    split[0, 1, 0] = 90, 3, -2, 0
    parts = np.concatenate([split, np.zeros((1, 1, 16, 4), "i1")], 1)
    parts[0, 0, 0], parts[0, 2, 0] = (15, 20, -126, 0), (85, 0, -2, 0)
    file.case("matmul/chain-quads",
              ["%0, %1 = chain_quads %x {chain = 2, extra = 1}", "ret %0, %1"],
              [("x", "i8", split)],
              [("i8", parts), ("i32", np.array([[1, 0]], "i4"))])
    for a, b in ((3, 2), (9, 70), (33, 20)):  # both along k, few rows and many
        x, y = own.standard_normal((2, a, 21)), own.standard_normal((1, b, 21))
        for dtype in "f32", "f64", "f16":
            one, two = x.astype(NUMPY[dtype]), y.astype(NUMPY[dtype])
            exact = one.astype("f8") @ two.astype("f8").transpose(0, 2, 1)
            file.case(f"matmul/rows-{dtype}-{a}x{b}",
                      ["%0 = matmul %x, %y {transpose_b}", "ret %0"],
                      [("x", dtype, one), ("y", dtype, two)],
                      [(dtype, exact.astype(NUMPY[dtype]))],
                      TOLERANCE["f16"] if dtype == "f16" else (1e-5, 1e-5))
            exact = one.astype("f8").transpose(0, 2, 1)
            exact = exact @ one.astype("f8")
            file.case(f"matmul/columns-{dtype}-{a}x{b}",
                      ["%0 = matmul %x, %y {transpose_a}", "ret %0"],
                      [("x", dtype, one), ("y", dtype, one)],
                      [(dtype, exact.astype(NUMPY[dtype]))],
                      TOLERANCE["f16"] if dtype == "f16" else (1e-5, 1e-5))


REDUCE = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "sumsq": lambda x, **k: np.sum(x * x, **k),
    "l1": lambda x, **k: np.sum(np.abs(x), **k),
    "l2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "logsum": lambda x, **k: np.log(np.sum(x, **k)),
    "logsumexp": lambda x, **k: np.log(np.sum(np.exp(x), **k))
}
EMPTY = {
    "sum": 0,
    "mean": math.nan,
    "max": -math.inf,
    "min": math.inf,
    "prod": 1,
    "sumsq": 0,
    "l1": 0,
    "l2": 0,
    "logsum": -math.inf,
    "logsumexp": -math.inf
}


def reductions(file):
    for op, axes in itertools.product(REDUCE, ((0, ), (2, ), (0, 2), (0, 1, 2))):
        x = values("f32", (2, 3, 5), 0.1 if op == "logsum" else -2, 2)
        for keep in (False, True) if axes == (2, ) else (False, ):
            y = wide(lambda v: REDUCE[op](v, axis=axes, keepdims=keep), "f32")(x)
            name = "reduce/{}/{}{}".format(op, "".join(map(str, axes)),
                                           "-keep" if keep else "")
            flag = ", keep" if keep else ""
            file.case(
                name,
                [f"%0 = reduce %x {{op = {op}, axes = {list(axes)}{flag}}}", "ret %0"],
                [("x", "f32", x)], [("f32", y)], (1e-5, 1e-6))
    for op in REDUCE:
        file.case(f"reduce/{op}/nothing",
                  [f"%0 = reduce %x {{op = {op}, axes = [1]}}", "ret %0"],
                  [("x", "f32", np.zeros((2, 0), np.float32))],
                  [("f32", np.full(2, EMPTY[op], np.float32))])
    for op, dtype in itertools.product(("sum", "max", "min", "prod"),
                                       ("i8", "i64", "u8", "f64", "f16")):
        x = values(dtype, (3, 4), -2, 2)
        function = REDUCE[op] if dtype != "f16" else (lambda v, **k: REDUCE[op]
                                                      (v.astype(np.float64), **k))
        y = function(x, axis=1) if dtype.startswith("f") or op in ("max", "min") else \
            REDUCE[op](x, axis=1, dtype=NUMPY[dtype])
        file.case(f"reduce/{op}/{dtype}",
                  [f"%0 = reduce %x {{op = {op}, axes = [1]}}", "ret %0"],
                  [("x", dtype, x)], [(dtype, np.asarray(y).astype(NUMPY[dtype]))],
                  TOLERANCE.get(dtype))
    for axis, shape in ((0, (4, 3)), (1, (3, 7)), (-1, (2, 2, 19)), (1, (3, 1)),
                        (0, (0, 2))):
        x = values("f32", shape)
        with np.errstate(all="ignore"):
            wide_x = x.astype(np.float64)
            shifted = wide_x - wide_x.max(axis=axis, keepdims=True, initial=-np.inf)
            y = np.exp(shifted) / np.exp(shifted).sum(axis=axis, keepdims=True)
        name = "x".join(map(str, shape))
        for log in (False, True):
            z = np.log(y) if log else y
            file.case(f"softmax/{name}{'-log' if log else ''}", [
                f"%0 = softmax %x {{axis = {axis}{', log' if log else ''}}}", "ret %0"
            ], [("x", "f32", x)], [("f32", z.astype(np.float32))], (2e-6, 1e-6))
    for shape in ((3, 8), (2, 3, 5)):
        x, scale, bias = values("f32",
                                shape), values("f32",
                                               shape[-1:]), values("f32", shape[-1:])
        v = x.astype(np.float64)
        y = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
        file.case("layer_norm/" + "x".join(map(str, shape)),
                  ["%0 = layer_norm %x, %s, %b {axis = -1, epsilon = 1e-5}", "ret %0"],
                  [("x", "f32", x), ("s", "f32", scale), ("b", "f32", bias)],
                  [("f32", (y * scale + bias).astype(np.float32))], (1e-5, 1e-5))
    for dtype in ("f32", "i32", "i64"):
        x = values(dtype, (3, 4))
        file.case(f"cumsum/{dtype}", ["%0 = cumsum %x {axis = 1}", "ret %0"],
                  [("x", dtype, x)], [(dtype, np.cumsum(x, 1, dtype=NUMPY[dtype]))],
                  TOLERANCE.get(dtype))
        y = np.flip(np.cumsum(np.flip(x, 0), 0, dtype=NUMPY[dtype]), 0) - x
        file.case(f"cumsum/{dtype}-reverse-exclusive",
                  ["%0 = cumsum %x {axis = 0, reverse, exclusive}", "ret %0"],
                  [("x", dtype, x)], [(dtype, y.astype(NUMPY[dtype]))],
                  (1e-5, 1e-5) if dtype == "f32" else None)


def views_of_ones(file):
    """An extent of 1 between axes that do not lie one behind the other."""
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 1, 3)
    file.case("reshape/transposed-one", [
        "%0 = reshape %x {to = [2, 1, 2, 3]}",
        "%1 = transpose %0 {perm = [0, 1, 3, 2]}",
        "%2 = reshape %1 {to = [6, 2]}",
        "ret %2",
    ], [("x", "f32", x)],
              [("f32", x.reshape(2, 1, 2, 3).transpose(0, 1, 3, 2).reshape(6, 2))])


# ---- recommendation ----


def bag(table, ids, begins, ends, pool, weights=None):
    rows = np.zeros((len(begins), table.shape[1]), np.float64)
    for b, (begin, end) in enumerate(zip(begins, ends)):
        picked = table[ids[begin:end]].astype(np.float64)
        if weights is not None:
            picked = picked * weights[begin:end, None].astype(np.float64)
        if len(picked):
            rows[b] = {
                "sum": picked.sum(0),
                "mean": picked.mean(0),
                "max": picked.max(0)
            }[pool]
    return rows


def recommendation(file):
    pools = ["sum", "mean", "max"]
    for dtype, dim, pool in itertools.product(("f32", "f16", "f64"), (1, 8, 33), pools):
        if dtype != "f32" and (dim != 8 or pool != "sum"):
            continue
        table, ids = values(dtype, (5, dim)), RNG.integers(0, 5, 9)
        begins = np.array([0, 3, 3, 4], np.int64)
        y = bag(table, ids, begins, [3, 3, 4, 9], pool)
        attrs = f"{{operands = [1], pool = [{pool}]}}"
        file.case(f"bag/{dtype}/{dim}/{pool}",
                  [f"%0 = bag %t, %i, %o {attrs}", "ret %0"], [("t", dtype, table),
                                                               ("i", "i64", ids),
                                                               ("o", "i64", begins)],
                  [(dtype, y.astype(NUMPY[dtype]))], TOLERANCE[dtype])
    table, ids, weights = values("f32", (7, 9)), RNG.integers(0, 7,
                                                              6), values("f32", (6, ))
    begins, ends = np.array([2, 0, 5]), np.array([6, 0, 6])
    file.case("bag/ends-weights",
              ["%0 = bag %t, %i, %b, %e, %w {operands = [7], pool = [sum]}", "ret %0"],
              [("t", "f32", table), ("i", "i64", ids), ("b", "i64", begins),
               ("e", "i64", ends), ("w", "f32", weights)],
              [("f32", bag(table, ids, begins, ends, "sum", weights).astype(np.float32))
               ], TOLERANCE["f32"])
    ids = RNG.integers(0, 7, (3, 4)).astype(np.int32)
    fixed = bag(table, ids.ravel(), [0, 4, 8], [4, 8, 12], "mean")
    file.case("bag/fixed", ["%0 = bag %t, %i {operands = [0], pool = [mean]}", "ret %0"],
              [("t", "f32", table), ("i", "i32", ids)],
              [("f32", fixed.astype(np.float32))], TOLERANCE["f32"])
    file.case("bag/rows", ["%0 = bag %t, %i {operands = [0], pool = [none]}", "ret %0"],
              [("t", "f32", table), ("i", "i32", ids)], [("f32", table[ids])])
    x = values("f32", (3, 4, 8))
    pairs = [i * 4 + j for i in range(4) for j in range(i)]
    product = x.astype(np.float64) @ x.astype(np.float64).transpose(0, 2, 1)
    file.case("interact", [f"%0 = interact %x {{pairs = {pairs}}}", "ret %0"],
              [("x", "f32", x)],
              [("f32", product.reshape(3, 16)[:, pairs].astype(np.float32))],
              (1e-5, 1e-5),
              dynamic=False)


def bags_of_views(file):
    x, attrs = np.arange(12, dtype=np.float32).reshape(3, 4), "{operands = [0], pool = [sum]}"
    ids = np.array([[3, 0], [1, 1]])
    file.case("bag/table-transposed",
              ["%0 = transpose %x {perm = [1, 0]}", f"%1 = bag %0, %i {attrs}", "ret %1"],
              [("x", "f32", x), ("i", "i64", ids)], [("f32", x.T[ids].sum(1))])
    ids = np.array([[2, 0], [1, 1]])
    file.case("bag/table-columns", [
        "%0 = slice %x {starts = [0, 1], sizes = [3, 2]}", f"%1 = bag %0, %i {attrs}",
        "ret %1"
    ], [("x", "f32", x), ("i", "i64", ids)], [("f32", x[:, 1:3][ids].sum(1))])


def bags_of_several_tables(file):
    """Ids name a table and a row; of no row is the table's first row (range = first)."""
    attrs = "negative = skip, range = first"
    for counts in ((3, 4), (2, 1, 5)):
        number = len(counts)
        halves = [[values("f32", (count, 5)) for count in counts],
                  [values("f32", (count, 5)) for count in reversed(counts)]]
        which = RNG.integers(0, number, 12)
        row = RNG.integers(0, 7, 12)
        ids = (which << 40) + row
        ids[1], which[-1], ids[-1] = -1, number - 1, 2**62
        row[-1] = which[3] = 0
        ids[3], row[3] = -5, 9
        begins, ends = [0, 2, 2, 5], [2, 2, 5, ids.size]
        both = [np.stack([tables[t][r if r < len(tables[t]) else 0]
                          for t, r in zip(which, row)]) for tables in halves]
        for rows in both:
            rows[ids == -1] = 0
        names = [f"t{i}" for i in range(2 * number)]
        lists = [", ".join("%" + name for name in half)
                 for half in (names[:number], names[number:])]
        given = list(zip(names, ["f32"] * len(names), halves[0] + halves[1]))
        every = np.arange(ids.size)
        file.case(f"bag/tables/{number}", [
            f"%0, %1 = bag {lists[0]}, %i, %o, {lists[1]}, %i, %o {{operands = "
            f"[1, 1], pool = [sum, sum], tables = {[number] * 2}, {attrs}}}", "ret %0, %1"
        ], given + [("i", "i64", ids), ("o", "i64", np.array(begins))],
                  [("f32", bag(rows, every, begins, ends, "sum").astype(np.float32))
                   for rows in both], TOLERANCE["f32"])
        file.case(f"bag/tables/{number}/rows", [
            f"%0 = bag {lists[0]}, %i {{operands = [0], pool = [none], tables = "
            f"[{number}], {attrs}}}", "ret %0"
        ], given[:number] + [("i", "i64", ids)], [("f32", both[0])])


def main():
    HERE.mkdir(exist_ok=True)
    with np.errstate(all="ignore"):
        for name, about, parts in (("unary.txt", "One operand, elementwise.", [
                unary
        ]), ("binary.txt", "Two and three operands, elementwise.", [
                binary, other_elementwise
        ]), ("cast.txt", "Conversions between element types.",
             [casts, bitcasts]), ("move.txt", "Movement and indexing.",
                        [movement, indexing, views_of_ones
                         ]), ("contract.txt", "Products, reductions, normalisations.",
                              [contractions,
                               reductions]), ("recommend.txt", "Bags and interactions.",
                                              [recommendation, bags_of_views,
                                               bags_of_several_tables])):
            file = File(name, about + "  Written by generate.py.")
            for part in parts:
                part(file)
            file.write()


main()
