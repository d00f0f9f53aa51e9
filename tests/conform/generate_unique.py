#!/usr/bin/env python3
"""Writes the conformance cases of unique along an axis.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_unique.py        (python3-numpy)

Expected values are Python's: rows are tuples, sorted by a stable sort in which NaN is the
largest number and equals itself.
"""
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "cases"
NAN = math.nan


def word(dtype, x):
    if dtype == "bool":
        return "true" if x else "false"
    return str(float(x)) if dtype.startswith("f") else str(int(x))


def text(dtype, array):
    array = np.asarray(array)
    dims = ", ".join(map(str, array.shape))
    return f"{dtype}[{dims}] [{', '.join(word(dtype, x) for x in array.ravel())}]"


def key_of(row):
    return tuple((bool(x != x), 0 if x != x else x) for x in row)


def classes(x, axis, order):
    """Values, first places, inverse and counts."""
    width = math.prod(x.shape[:axis] + x.shape[axis + 1:])
    rows = [key_of(r) for r in np.moveaxis(x, axis, 0).reshape(x.shape[axis], width)]
    at = list(range(len(rows)))
    if order != "runs":
        at.sort(key=lambda i: rows[i])
    groups = []
    for i in at:
        if groups and rows[groups[-1][0]] == rows[i]:
            groups[-1].append(i)
        else:
            groups.append([i])
    if order == "first":
        groups.sort(key=lambda group: group[0])
    inverse = np.zeros(len(rows), np.int64)
    for index, group in enumerate(groups):
        inverse[group] = index
    first = np.array([group[0] for group in groups], np.int64)
    return np.take(x, first, axis), first, inverse, np.array([len(g) for g in groups])


def main():
    lines = ["# unique along an axis.  Written by generate_unique.py.", ""]
    cube = np.array([[[1, 0], [2, 1], [1, 0], [0, 1]], [[1, 0], [2, 1], [1, 0], [0, 0]],
                     [[1, 0], [2, 1], [1, 0], [0, 1]]])
    odd = np.array([[NAN, 1, -0.0], [NAN, 1, 0.0], [math.inf, 1, 0], [1, NAN, 2],
                    [-math.inf, NAN, 2], [1, NAN, 2], [NAN, 0, 5]])
    inputs = [("i64", cube - 1), ("u8", cube), ("bool", cube > 0), ("f32", odd), ("f64", odd),
              ("i64", cube[:0]), ("i64", cube[:, :0]), ("i64", cube[:, :, :0]),
              ("f16", cube[:1] / 2), ("i64", cube[0, 0])]
    for index, (dtype, x) in enumerate(inputs):
        for axis in range(x.ndim):
            for order in ("sorted", "first", "runs"):
                lines += [f"case {dtype}/{index}/{axis}/{order}", f"in x {text(dtype, x)}",
                          f"| %0, %1, %2, %3 = unique %x {{axis = {axis}, order = {order}}}",
                          "| ret %0, %1, %2, %3"]
                kinds = (dtype, "i64", "i64", "i64")
                lines += [f"out {text(k, y)}" for k, y in zip(kinds, classes(x, axis, order))]
                lines.append("")
    (HERE / "unique.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
