#!/usr/bin/env python3
"""Writes the conformance cases of floats of 4 bits and of powers of two (f8e8m0).

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_small.py        (python3-numpy, ml_dtypes)

As generate.py, whose helpers it uses: expected values are those of ml_dtypes 0.5, which
ONNX's reference is made of.
"""
import ml_dtypes
import numpy as np

from generate import NUMPY, File

FLOAT4, POWER = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu
NAN, INF = np.nan, np.inf
HALVES = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 7]


def neighbours(dtype):
    """All ties with the numbers next to them, and what is beyond all values."""
    ties = np.array(HALVES, NUMPY[dtype])
    up, down = (np.nextafter(ties, NUMPY[dtype](end)) for end in (INF, 0))
    beyond = np.array([0, 6, 100, 65504, INF], NUMPY[dtype])
    x = np.concatenate([ties, up, down, beyond])
    return np.concatenate([x, -x, np.array([NAN], NUMPY[dtype])])


def four_bits(file):
    codes = np.arange(16, dtype=np.uint8).view(FLOAT4)
    for dtype in ("f16", "f32", "f64"):
        x = neighbours(dtype)
        # ml_dtypes rounds f64 to f32 before; neighbours of f32 have the same ones here.
        y = neighbours("f32" if dtype == "f64" else dtype).astype(FLOAT4)
        file.case(f"cast/{dtype}-f4e2m1", ["%0 = cast %x {to = f4e2m1}", "ret %0"],
                  [("x", dtype, x)], [("f4e2m1", y.astype(np.float64))])
        file.case(f"cast/f4e2m1-{dtype}", [f"%0 = cast %x {{to = {dtype}}}", "ret %0"],
                  [("x", "f4e2m1", codes.astype(np.float64))],
                  [(dtype, codes.astype(NUMPY[dtype]))])
    for dtype in ("i8", "u8", "i64"):
        x = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 255], object)
        x = np.array([v - 256 if dtype == "i8" and v > 127 else v for v in x], NUMPY[dtype])
        y = x.astype(np.float64).astype(FLOAT4).astype(np.float64)
        file.case(f"cast/{dtype}-f4e2m1", ["%0 = cast %x {to = f4e2m1}", "ret %0"],
                  [("x", dtype, x)], [("f4e2m1", y)])
    x = codes.astype(np.float64)[:15]
    file.case("move/f4e2m1", [
        "%0 = transpose %x {perm = [1, 0]}", "%1 = cast %0 {to = i8}", "ret %0, %1, %x"
    ], [("x", "f4e2m1", x.reshape(3, 5))], [("f4e2m1", x.reshape(3, 5).T),
                                            ("i8", np.trunc(x).reshape(3, 5).T),
                                            ("f4e2m1", x.reshape(3, 5))])


def powers(file):
    codes = np.arange(0, 255, 6, dtype=np.uint8).view(POWER).astype(np.float64)
    single = codes.astype(np.float32)
    for dtype in ("f32", "f64"):
        file.case(f"cast/f8e8m0-{dtype}", [f"%0 = cast %x {{to = {dtype}}}", "ret %0"],
                  [("x", "f8e8m0", np.append(codes, NAN))],
                  [(dtype, np.append(codes, NAN).astype(NUMPY[dtype]))])
        x = (codes if dtype == "f64" else single)[1:]
        x = np.concatenate([x, *(np.nextafter(1.5 * x[:-1], NUMPY[dtype](end))
                                 for end in (0, INF)), 1.5 * x[:-1],
                            np.array([0, NAN, INF], NUMPY[dtype])])
        file.case(f"cast/{dtype}-f8e8m0", ["%0 = cast %x {to = f8e8m0}", "ret %0"],
                  [("x", dtype, x)], [("f8e8m0", nearest(x))])


def nearest(x):
    """ml_dtypes rounds f32; halves of a step go up, as 1.5 and its neighbours do."""
    wide = x.astype(np.float64)
    fraction, exponent = np.frexp(wide)
    power = np.ldexp(1.0, exponent - 1 + (fraction >= 0.75))
    power[wide == 0] = 2.0**-127
    y = np.where(np.isfinite(wide), power, NAN)
    exact = y.astype(np.float32).astype(POWER).astype(np.float64)
    assert np.array_equal(y, exact, equal_nan=True)
    return y


def main():
    file = File("small.txt", "floats of 4 bits and powers of two (generate_small.py)")
    four_bits(file)
    powers(file)
    file.write()


if __name__ == "__main__":
    main()
