#!/usr/bin/env python3
"""Writes the conformance cases of conversions between jagged and padded tensors.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_jagged.py        (python3-numpy)

Expected values are moved one by one.
"""
import pathlib

import numpy as np

CASES = pathlib.Path(__file__).resolve().parent / "cases" / "jagged.txt"
FLOATS = ["nan", "inf", "-inf", "-0", "0", "1.5", "-2.5", "0.5"]
INTEGERS = {"i8": 8, "i32": 32, "i64": 64}
DTYPES = ["bool", "i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]


def special(dtype, count):
    """Words for elements, those that break things first."""
    if dtype == "bool":
        words = ["true", "false", "true"]
    elif dtype[0] == "u":
        words = [2**int(dtype[1:]) - 1, 0, 1, 2**(int(dtype[1:]) - 1), 7]
    elif dtype in INTEGERS:
        top = 2**(INTEGERS[dtype] - 1)
        words = [top - 1, -top, 0, -1, 1, top - 2, 7]
    else:
        words = FLOATS
    return [str(words[i % len(words)]) for i in range(count)]


def array(dtype, shape):
    return np.array(special(dtype, int(np.prod(shape))), object).reshape(shape)


def text(dtype, x):
    dims = ", ".join(map(str, x.shape))
    return f"{dtype}[{dims}] [{', '.join(map(str, x.ravel()))}]"


def to_padded(x, offsets, length, padding):
    out = np.full((len(offsets) - 1, length) + x.shape[1:], padding, object)
    for b in range(len(offsets) - 1):
        for n in range(max(0, min(length, offsets[b + 1] - offsets[b]))):
            out[b, n] = x[offsets[b] + n]
    return out


def to_jagged(x, offsets, rows, zero):
    out = np.full((rows, ) + x.shape[2:], zero, object)
    for b in range(len(offsets) - 1):
        for t in range(max(offsets[b], 0), min(rows, offsets[b + 1])):
            if t - offsets[b] < x.shape[1]:
                out[t] = x[b, t - offsets[b]]
    return out


def offsets_of(kind, offsets):
    return text(kind, np.array(offsets, object))


def padded_case(name, dtype, shape, offsets, length, padding=None, kind="i64"):
    x = array(dtype, shape)
    shown = "false" if dtype == "bool" else "0"
    attribute = ""
    if padding is not None:
        shown, attribute = padding[1], f", padding = {padding[0]}"
    return [f"case to_padded/{name}", f"in x {text(dtype, x)}",
            f"in o {offsets_of(kind, offsets)}",
            f"| %0 = jagged_to_padded %x, %o {{length = {length}{attribute}}}", "| ret %0",
            f"out {text(dtype, to_padded(x, offsets, length, shown))}", ""]


def jagged_case(name, dtype, shape, offsets, rows, kind="i64", is_given=False):
    x = array(dtype, shape)
    zero = "false" if dtype == "bool" else "0"
    count = [f"in n i64[] [{rows}]"] if is_given else []
    call = "%x, %o, %n" if is_given else f"%x, %o {{rows = {rows}}}"
    return [f"case to_jagged/{name}", f"in x {text(dtype, x)}",
            f"in o {offsets_of(kind, offsets)}", *count,
            f"| %0 = padded_to_jagged {call}", "| ret %0",
            f"out {text(dtype, to_jagged(x, offsets, rows, zero))}", ""]


def paddings(dtype):
    """Attribute and element; those of integers saturate, as casts do."""
    if dtype == "bool":
        return ("1", "true")
    if dtype[0] == "u":
        return ("300", "255" if dtype == "u8" else "300")
    return {"i8": ("-1000", "-128"), "i64": ("-inf", str(-2**63)), "f32": ("-inf", "-inf"),
            "f64": ("nan", "nan")}.get(dtype, ("-1", "-1"))


def main():
    lines = ["# Rows of parts, padded and back.  Written by generate_jagged.py.", ""]
    for dtype in DTYPES:
        lines += padded_case(dtype, dtype, (7, 3), [0, 2, 2, 7], 3)
        lines += padded_case(f"{dtype}/padding", dtype, (7, 3), [0, 2, 2, 7], 3,
                             paddings(dtype))
        lines += padded_case(f"{dtype}/scalars", dtype, (20, ), [0, 1, 18, 20], 17,
                             paddings(dtype), "i32")
        lines += jagged_case(dtype, dtype, (3, 3, 2), [0, 2, 2, 7], 7)
        lines += jagged_case(f"{dtype}/scalars", dtype, (3, 17), [0, 1, 18, 20], 20, "i32")
    shapes = {"none": ((0, 3), [0, 0, 0], 2), "no_parts": ((3, 2), [0], 2),
              "no_length": ((3, 2), [0, 1, 3], 0), "no_columns": ((3, 0), [0, 1, 3], 2),
              "one": ((1, 1), [0, 1], 1), "falls": ((4, 2), [0, 3, 1, 4], 2),
              "end_beyond": ((4, 2), [0, 2, 9], 2), "begins_late": ((5, 2), [2, 3, 5], 2),
              "wide": ((4, 3, 35), [0, 1, 4], 2)}
    for name, (shape, offsets, length) in shapes.items():
        lines += padded_case(name, "f32", shape, offsets, length)
    shapes = {"none": ((2, 3, 2), [0, 0, 0], 0), "no_parts": ((0, 3, 2), [0], 4),
              "no_length": ((2, 0, 2), [0, 1, 3], 3), "no_columns": ((2, 2, 0), [0, 1, 3], 3),
              "one": ((1, 1, 1), [0, 1], 1), "fewer_rows": ((2, 4, 2), [0, 3, 6], 4),
              "more_rows": ((2, 4, 2), [0, 3, 6], 9), "begins_late": ((2, 4, 2), [2, 3, 5], 6),
              "begins_before": ((2, 4, 2), [-2, 3, 5], 6), "wide": ((2, 3, 3, 35), [0, 1, 4], 4)}
    for name, (shape, offsets, rows) in shapes.items():
        lines += jagged_case(name, "f32", shape, offsets, rows)
        lines += jagged_case(f"{name}/given", "f32", shape, offsets, rows, is_given=True)
    CASES.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
