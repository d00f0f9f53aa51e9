#!/usr/bin/env python3
"""Writes the cases of numbers as texts that ONNX's text decides: by hand.

SPDX-License-Identifier: Apache-2.0

    reported_texts.py [ARCHIVE]     (tests/differential/cases/reported_texts.tar.xz)

Written as mended.py's are.
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import INF, NAN, Cases, f32

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
case = CASES.add


def texts(*items):
    return np.array(items, dtype=object)


# Plain digits below 1e8 (f64: 1e16), the fewest that give the number back.
case("floats_as_texts", 13, "float[A] x -> string[A] y", "y = Cast<to = 8>(x)",
     [f32(NAN, -NAN, INF, -INF, -0.0, 0, 100, -20, 1e5, 33554450, 99999992, 1e8, 1234567.5, 0.1,
          1e-4, 1e-5, 2.5e-10, 3.4028235e38)],
     by_hand=[texts("NaN", "NaN", "INF", "-INF", "-0", "0", "100", "-20", "100000", "33554448",
                    "99999992", "1e+08", "1234567.5", "0.1", "0.0001", "1e-05", "2.5e-10",
                    "3.4028235e+38")])
case("doubles_as_texts", 13, "double[A] x -> string[A] y", "y = Cast<to = 8>(x)",
     [np.array([NAN, -INF, 100, 1e15, 9007199254740993.0, 1e16, 123456789.125, 0.1, 5e-324])],
     by_hand=[texts("NaN", "-INF", "100", "1000000000000000", "9007199254740992", "1e+16",
                    "123456789.125", "0.1", "5e-324")])
case("texts_there_and_back", 13, "float[A] x -> float[A] y",
     """t = Cast<to = 8>(x)
     y = Cast<to = 1>(t)""",
     [f32(NAN, INF, -INF, 16777216, 1e7, 0.3, 1e-45)],
     by_hand=[f32(NAN, INF, -INF, 16777216, 1e7, 0.3, 1e-45)])

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "reported_texts.tar.xz"])
