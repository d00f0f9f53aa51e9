#!/usr/bin/env python3
"""Writes the conformance cases of functions that few models use.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_special.py        (python3-numpy, python3-mpmath)

As generate.py, whose helpers it uses: expected values are mpmath's, with 40 digits,
rounded once.
"""
import math

import mpmath
import numpy as np

from generate import NUMPY, SINTS, UINTS, File, values

mpmath.mp.dps = 40
TOLERANCE = {"f16": (1e-3, 1e-7), "f32": (1.2e-7, 1e-30), "f64": (1e-15, 1e-300)}
NAN, INF = math.nan, math.inf


def poles(function):
    """What gamma's relatives are where they are not defined."""

    def run(x):
        x = float(x)
        if x == -INF or (x < 0 and x == math.floor(x)) or x == 0:
            lg = function is mpmath.loggamma
            return INF if lg else (-math.copysign(INF, x) if x == 0 else NAN)
        if x == INF:
            return INF
        if function is mpmath.loggamma:
            return mpmath.log(abs(mpmath.gamma(mpmath.mpf(x))))
        return function(mpmath.mpf(x))

    return run


def plain(function, low=-INF, high=INF):

    def run(x):
        x = float(x)
        if math.isnan(x) or x < low or x > high:
            return NAN
        y = function(mpmath.mpf(x))
        return NAN if isinstance(y, mpmath.mpc) and y.imag != 0 else mpmath.re(y)

    return run


def erfinv(x):
    return mpmath.sign(x) * INF if abs(x) == 1 else mpmath.erfinv(x)


def atanh(x):
    return mpmath.sign(x) * INF if abs(x) == 1 else mpmath.atanh(x)


def log_of(base):
    return lambda x: -INF if x == 0 else mpmath.log(x, base) if x < INF else INF


def saturating(function, left, right):

    def run(x):
        return right if x == INF else left if x == -INF else function(x)

    return run


HALF_PI = mpmath.pi / 2
WIDE = [
    0.0, -0.0, 1e-30, -1e-10, 0.001, -0.1, 0.3, 0.41, -0.42, 0.5, -0.75, 0.99, 1.0, -1.0,
    1.5, -2.4, 2.42, 3.7, -5.25, 7.9, 8.1, 10.0, -20.5, 35.0, -60.0, 88.0, 1e4, -3e7, INF,
    -INF, NAN
]
UNIT = [
    0.0, -0.0, 1e-30, -1e-10, 0.001, -0.1, 0.3, 0.4999, 0.5, -0.75, 0.99, -0.999969482421875,
    1.0, -1.0, 1.5, NAN
]
FUNCTIONS = {
    "tan": (plain(mpmath.tan), [x for x in WIDE if abs(x) < INF] + [NAN]),
    "asin": (plain(mpmath.asin, -1, 1), UNIT),
    "acos": (plain(mpmath.acos, -1, 1), UNIT),
    "atan": (plain(saturating(mpmath.atan, -HALF_PI, HALF_PI)), WIDE),
    "sinh": (plain(saturating(mpmath.sinh, -INF, INF)), WIDE),
    "cosh": (plain(saturating(mpmath.cosh, INF, INF)), WIDE),
    "asinh": (plain(saturating(mpmath.asinh, -INF, INF)), WIDE),
    "acosh": (plain(saturating(mpmath.acosh, NAN, INF), 1), WIDE),
    "atanh": (plain(atanh, -1, 1), UNIT),
    "expm1": (plain(saturating(mpmath.expm1, -1, INF)), WIDE),
    "exp2": (plain(saturating(lambda x: mpmath.mpf(2)**x, 0, INF)), WIDE),
    "log2": (plain(log_of(2), 0), WIDE),
    "log10": (plain(log_of(10), 0), WIDE),
    "erfc": (plain(saturating(mpmath.erfc, 2, 0)), WIDE),
    "erfinv": (plain(erfinv, -1, 1), UNIT),
    "lgamma": (poles(mpmath.loggamma), [x for x in WIDE if not math.isnan(x)] +
               [-0.5, -1.0, -2.5, 1.25, 2.75, 4.5]),
    "digamma": (poles(mpmath.digamma), [x for x in WIDE if x > -INF and abs(x) > 1e-20 or x == 0] +
                [-0.5, -1.0, -2.5, 1.25, 2.75, 4.5])
}


def rounded(dtype, y):
    """Once to the dtype; f16 by way of f32, as it is computed."""
    if isinstance(y, float) and not math.isfinite(y):
        return NUMPY[dtype](y)
    y = mpmath.mpf(y)
    if dtype == "f64":
        return np.float64(float(y))
    with np.errstate(over="ignore"):
        single = np.float32(float(y))
        return NUMPY[dtype](single)


def one_operand(file):
    for op, (function, points) in FUNCTIONS.items():
        loose = 16 if op in ("lgamma", "digamma", "erfc", "tan", "erfinv") else 5
        for dtype in ("f16", "f32", "f64"):
            with np.errstate(over="ignore"):
                x = np.array(points).astype(NUMPY[dtype])
            more = values(dtype, (3, 7), -1 if points is UNIT else -4, 1 if points is UNIT else 6)
            for name, v in (("edges", x), ("3x7", more)):
                y = np.array([rounded(dtype, function(e)) for e in v.ravel()],
                             NUMPY[dtype]).reshape(v.shape)
                rtol, atol = TOLERANCE[dtype]
                rtol *= loose if dtype == "f64" else 1
                atol = 1e-14 if dtype == "f64" and op in ("lgamma", "digamma") else atol
                file.case(f"{op}/{dtype}/{name}", [f"%0 = {op} %x", "ret %0"],
                          [("x", dtype, v)], [(dtype, y)], (rtol, atol))


def two_operands(file):
    pairs = [(y, x) for y in (0.0, -0.0, 1.5, -3.0, INF, -INF, NAN)
             for x in (0.0, -0.0, 2.0, -0.25, INF, -INF, NAN)]
    for dtype in ("f16", "f32", "f64"):
        y, x = np.array(pairs).T.astype(NUMPY[dtype])
        for op, run in (("atan2", math.atan2), ("hypot", math.hypot),
                        ("copysign", math.copysign)):
            z = np.array([run(float(a), float(b)) for a, b in zip(y, x)])
            file.case(f"{op}/{dtype}", [f"%0 = {op} %y, %x", "ret %0"], [("y", dtype, y),
                                                                       ("x", dtype, x)],
                      [(dtype, z.astype(np.float32 if dtype == "f16" else NUMPY[dtype]).astype(
                          NUMPY[dtype]))], TOLERANCE[dtype])
        with np.errstate(all="ignore"):
            q = y / x if dtype != "f16" else y.astype("f4") / x.astype("f4")
        z = np.clip(np.rint(q), -2.0**22, 2.0**22).astype(NUMPY[dtype])
        file.case(f"div_round/{dtype}", ["%0 = div_round %y, %x", "ret %0"],
                  [("y", dtype, y), ("x", dtype, x)], [(dtype, z)])
        if dtype == "f16":
            continue
        y = np.concatenate([y, np.array([np.finfo(NUMPY[dtype]).max, 1, 1], NUMPY[dtype])])
        x = np.concatenate([x, np.array([INF, 2, 0], NUMPY[dtype])])
        file.case(f"nextafter/{dtype}", ["%0 = nextafter %y, %x", "ret %0"],
                  [("y", dtype, y), ("x", dtype, x)], [(dtype, np.nextafter(y, x))])
    for dtype in SINTS + UINTS:
        info = np.iinfo(NUMPY[dtype])
        x = np.array([0, 0, 6, 12, 35, 100, info.max, info.max - 1, 1], NUMPY[dtype])
        y = np.array([0, 5, 4, 18, 64, 75, 3, 2, info.max], NUMPY[dtype])
        if dtype in SINTS:
            x[3:5] *= -1
            y[4:6] *= -1
        for op, run in (("gcd", math.gcd), ("lcm", math.lcm)):
            bits = [run(int(a), int(b)) % 2**info.bits for a, b in zip(x, y)]
            z = np.array([v - 2**info.bits if v > info.max else v for v in bits], object)
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x, %y", "ret %0"], [("x", dtype, x),
                                                                       ("y", dtype, y)],
                      [(dtype, z.astype(NUMPY[dtype]))])


def signs_of_zero(file):
    """Comparing takes both zeros for one: copysign tells them apart."""
    for dtype in ("f16", "f32", "f64"):
        x = np.array([0.0, -0.0, -0.0, 0.0], NUMPY[dtype])
        y = np.array([1, 1, 2, 2], NUMPY[dtype])
        file.case(f"sign_of_zero/{dtype}",
                  ["%0 = sign %x", "%1 = copysign %y, %0", "ret %1"],
                  [("x", dtype, x), ("y", dtype, y)], [(dtype, np.copysign(y, np.sign(x)))])


def main():
    file = File("special.txt", "functions that few models use (generate_special.py)")
    one_operand(file)
    two_operands(file)
    signs_of_zero(file)
    file.write()


if __name__ == "__main__":
    main()
