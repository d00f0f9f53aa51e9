#!/usr/bin/env python3
"""Writes the cases of numbers as texts and of ai.onnx.ml that ONNX's text decides: by hand.

SPDX-License-Identifier: Apache-2.0

    reported_texts.py [ARCHIVE]     (tests/differential/cases/reported_texts.tar.xz)

Written as mended.py's are.
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

from stored import INF, NAN, Cases, count, f32, i64

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

ML = ', "ai.onnx.ml": 1'
case("features_of_other_widths", 13, "float[A, B] a, float[A, C] b -> float[A, 5] y",
     "y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2, 3]>(a, b)",
     [count(2, 4), count(2, 1)], [count(2, 2), count(2, 3)], domains=ML)
case("features_of_vectors", 13, "float[B] a, int64[C] b -> float[A, 4] y",
     "y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2, 2]>(a, b)",
     [count(2), i64(2**40, -3)], by_hand=[f32(0, 1, 2**40, -3, shape=(1, 4))], domains=ML)
case("best_of_two_linear_classes", 13, "float[A, 2] x -> int64[A] l, float[A, 2] y",
     """l, y = ai.onnx.ml.SVMClassifier<kernel_type = "LINEAR", classlabels_ints = [4, 6],
         coefficients = [1.0, -0.5, 0.5, 0.25], rho = [0.25, 0.125],
         kernel_params = [0.0, 0.0, 0.0]>(x)""",
     [f32(2, 0, 0, 2, -4, 0, shape=(3, 2))],
     by_hand=[i64(4, 6, 6), f32(2.25, 1.25, -0.75, 0.75, -3.75, -1.75, shape=(3, 2))],
     domains=ML)

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "reported_texts.tar.xz"])
