#!/usr/bin/env python3
"""Writes the conformance cases of quantisation.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_quantise.py        (python3-numpy)

As generate.py, whose helpers it uses.  Every step is numpy's in f32, so results are
exact; what is no number becomes 0, as in a cast.
"""
import math

import numpy as np

from generate import NARROW, NUMPY, File, round_narrow

BITS = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "i8": 8, "u8": 8, "i16": 16, "u16": 16,
        "i32": 32, "u32": 32}
ROUNDINGS = ("divide", "multiply", "offset", "factor")
NAN, INF = math.nan, math.inf
F32 = np.float32
EDGES = np.array([
    0.0, -0.0, 0.25, -0.25, 0.75, -0.75, 1.25, -1.25, 1.75, 0.3, -0.7, 0.05, 0.15, 0.35,
    15.75, -16.25, 63.25, 63.75, 64.0, -63.75, -64.25, 127.5, 128.0, 16383.75, -16384.25,
    32767.75, 1e9, -1e9, 1073741824.0, 3.4e38, -3.4e38, 1e-45, -1e-40, INF, -INF, NAN
], F32)
SCALES = {"half": 0.5, "tenth": 0.1, "none": 0.0, "tiny": 1e-40, "huge": 3e38,
          "negative": -0.5}


def limits(dtype):
    bits = BITS[dtype]
    return (-2**(bits - 1), 2**(bits - 1) - 1) if dtype[0] == "i" else (0, 2**bits - 1)


def as_integer(dtype, value):
    low, high = limits(dtype)
    return 0 if np.isnan(value) else int(min(max(float(value), low), high))


def quantised(rounding, x, scale, zero):
    """f32, before it saturates."""
    if rounding == "divide":
        value = x / scale
    else:
        value = x * (scale if rounding == "factor" else F32(1) / scale)
    if rounding == "offset":
        return np.rint(value + F32(zero))
    return np.rint(value) + F32(zero)


def quantize(dtype, rounding, x, scale, zero):
    whole = np.broadcast_arrays(quantised(rounding, x, scale, zero), x)[0]
    return np.array([as_integer(dtype, v) for v in whole.ravel()]).reshape(x.shape)


def attributes(*parts):
    return " {" + ", ".join(p for p in parts if p) + "}"


def quantize_case(file, name, dtype, x, scale, zero, *attrs, shaped=None, rounding="divide"):
    """`shaped`: scale and zero point as they broadcast against x."""
    wide = shaped or (scale, F32(0) if zero is None else F32(zero))
    y = quantize(dtype, rounding, x, *wide)
    inputs = [("x", "f32", x), ("s", "f32", scale)]
    inputs += [] if zero is None else [("z", dtype, zero)]
    rule = "" if rounding == "divide" else f"rounding = {rounding}"
    body = "%0 = quantize " + ", ".join(f"%{n}" for n, _, _ in inputs)
    file.case(f"quantize/{name}", [body + attributes(f"to = {dtype}", rule, *attrs), "ret %0"],
              inputs, [(dtype, y)])


def to_integers(file):
    for dtype in BITS:
        low, high = limits(dtype)
        zero = min(3, high)
        for rounding in ROUNDINGS:
            for name, scale in SCALES.items():
                quantize_case(file, f"{dtype}/{rounding}/{name}", dtype, EDGES, F32(scale),
                              np.array(zero), rounding=rounding)
        for name, zero in (("lowest", low), ("highest", high), ("absent", None)):
            quantize_case(file, f"{dtype}/zero/{name}", dtype, EDGES, F32(0.5),
                          None if zero is None else np.array(zero))


def to_floats(file):
    for dtype in NARROW:
        for saturate in (False, True) if dtype != "bf16" else ():
            scale = F32(0.1)
            y = [round_narrow(dtype, float(v), saturate) for v in EDGES / scale]
            file.case(f"quantize/{dtype}" + ("/saturate" if saturate else ""), [
                "%0 = quantize %x, %s" +
                attributes(f"to = {dtype}", "saturate" if saturate else ""), "ret %0"
            ], [("x", "f32", EDGES), ("s", "f32", scale)], [(dtype, np.array(y))])


def along_axes(file):
    x = np.array([[-3, -0.25, 0.25, 7, 1e6], [INF, -INF, NAN, -0.0, 0.75]], F32)
    rows, columns = np.array([0.5, 0.1], F32), np.array([1, 0.5, 0.25, 0, 3], F32)
    blocks = np.array([[1, 0.5, 0.25], [2, 4, 0.1]], F32)
    zeros = np.array([5, 250], np.uint8)
    spread = np.repeat(blocks, 2, 1)[:, :5]
    for rounding in ROUNDINGS:
        quantize_case(file, f"axis/0/{rounding}", "u8", x, rows, zeros, "axis = 0",
                      shaped=(rows[:, None], zeros[:, None].astype(F32)), rounding=rounding)
        quantize_case(file, f"axis/1/{rounding}", "i8", x, columns, None, "axis = 1",
                      shaped=(columns, F32(0)), rounding=rounding)
        quantize_case(file, f"block/{rounding}", "i8", x, blocks, None, "axis = 1",
                      "block = 2", shaped=(spread, F32(0)), rounding=rounding)
        quantize_case(file, f"broadcast/{rounding}", "u8", x, rows[:, None], zeros[:, None],
                      shaped=(rows[:, None], zeros[:, None].astype(F32)), rounding=rounding)
    quantize_case(file, "empty", "u8", np.zeros((0, 3), F32), F32(0.5), np.array(3))
    quantize_case(file, "one", "u8", np.array(2.75, F32), F32(0.5), np.array(3))


# ---- back ----


def wrapped(x, zero):
    """Integers of 32 bits wrap."""
    difference = x.astype(np.int64) - np.int64(zero)
    bits = NUMPY["i32" if x.dtype == np.int32 else "u32"] if x.itemsize == 4 else np.int64
    return difference.astype(bits).astype(F32)


def dequantize(file):
    for dtype, bits in BITS.items():
        low, high = limits(dtype)
        x = np.array([low, low + 1, 0, 1, high - 1, high] + [7, 100, 16777217] * (bits == 32),
                     NUMPY.get(dtype, np.int8))
        for name, zero in (("absent", None), ("one", 1), ("lowest", low), ("highest", high)):
            for label, scale in SCALES.items():
                centred = wrapped(x, 0 if zero is None else zero)
                inputs = [("x", dtype, x), ("s", "f32", F32(scale))]
                inputs += [] if zero is None else [("z", dtype, np.array(zero))]
                body = "%0 = dequantize " + ", ".join(f"%{n}" for n, _, _ in inputs)
                file.case(f"dequantize/{dtype}/{name}/{label}", [body, "ret %0"], inputs,
                          [("f32", centred * F32(scale))])
    x, scales = np.arange(-3, 7, dtype=np.int8).reshape(2, 5), np.array([0.1, 3e4], F32)
    zeros = np.array([-3, 2], np.int8)
    y = (x.astype(F32) - zeros[:, None].astype(F32)) * scales[:, None]
    for to in ("f16", "f32", "f64"):
        file.case(f"dequantize/axis/{to}", [
            "%0 = dequantize %x, %s, %z" + attributes(f"to = {to}", "axis = 0"), "ret %0"
        ], [("x", "i8", x), ("s", "f32", scales), ("z", "i8", zeros)],
                  [(to, y.astype(NUMPY[to]))])
    blocks = np.array([[1, 0.5, 0.25], [2, 4, 0.1]], F32)
    file.case("dequantize/block", [
        "%0 = dequantize %x, %s" + attributes("axis = 1", "block = 2"), "ret %0"
    ], [("x", "i8", x), ("s", "f32", blocks)],
              [("f32", x.astype(F32) * np.repeat(blocks, 2, 1)[:, :5])])


def main():
    file = File("quantise.txt", "Quantisation.  Written by generate_quantise.py.")
    with np.errstate(all="ignore"):
        for part in (to_integers, to_floats, along_axes, dequantize):
            part(file)
    file.write()


if __name__ == "__main__":
    main()
