#!/usr/bin/env python3
"""Writes the conformance cases of sequences.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_sequences.py        (python3-numpy)

Expected values are numpy's: lists of arrays, joined and split by its functions.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "cases"
NUMPY = {"f32": np.float32, "i64": np.int64, "bool": np.bool_, "f16": np.float16,
         "u8": np.uint8, "f64": np.float64}


def text(dtype, array):
    array = np.asarray(array)
    dims = ", ".join(map(str, array.shape))
    words = ["true" if x else "false" for x in array.ravel()] if dtype == "bool" else [
        str(int(x)) for x in array.ravel()]
    return f"{dtype}[{dims}] [{', '.join(words)}]"


class File:

    def __init__(self):
        self.lines = ["# Sequences.  Written by generate_sequences.py.", ""]

    def case(self, name, body, inputs, outputs, static=False):
        self.lines += [f"case {name}"] + (["static"] if static else [])
        self.lines += [f"in {name} {text(dtype, x)}" for name, dtype, x in inputs]
        self.lines += [f"| {line}" for line in body]
        self.lines += [f"out {text(dtype, x)}" for dtype, x in outputs] + [""]


def numbers(dtype, *shape):
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 11).reshape(shape).astype(NUMPY[dtype])


def items(dtype, axis, sizes, shape):
    """Arrays that differ along `axis`."""
    out = []
    for i, size in enumerate(sizes):
        dims = list(shape)
        if axis is not None:
            dims[axis] = size
        out.append((numbers(dtype, *dims) + i).astype(NUMPY[dtype]))
    return out


def named(dtype, arrays):
    return [(name, dtype, x) for name, x in zip("xyzw", arrays)]


def joins(file):
    for axis in range(3):
        for sizes in ((2, 3, 1), (0, 4, 2), (5, 0, 0), (1, )):
            xs = items("f32", axis, sizes, (2, 3, 4))
            names = ", ".join("%" + n for n in "xyzw"[:len(xs)])
            file.case(f"join/{axis}/{'-'.join(map(str, sizes))}", [
                f"%0 = seq_make {names}", f"%1 = seq_concat %0 {{axis = {axis}}}",
                "%2 = seq_length %0", "ret %1, %2"
            ], named("f32", xs), [("f32", np.concatenate(xs, axis)), ("i64", len(xs))])
    for dtype, rank in (("i64", 0), ("f16", 1), ("bool", 2), ("u8", 3)):
        xs = items(dtype, None, (0, 0, 0), (2, 3, 2)[:rank])
        for axis in range(rank + 1):
            file.case(f"stack/{dtype}/{axis}", [
                "%0 = seq_make %x, %y, %z", f"%1 = seq_concat %0 {{axis = {axis}, stack}}",
                "ret %1"
            ], named(dtype, xs), [(dtype, np.stack(xs, axis))])


def positions(file):
    xs = items("f64", 0, (2, 0, 3), (0, 2))
    for at in range(-3, 3):
        file.case(f"at/{at}", ["%0 = seq_make %x, %y, %z", "%1 = seq_at %0, %p", "ret %1"],
                  named("f64", xs) + [("p", "i64", at)], [("f64", xs[at])])
    for at in range(-3, 4):
        ys = list(xs)
        ys.insert(at, xs[0] + 5)
        file.case(f"insert/{at}", [
            "%0 = seq_make %x, %y, %z", "%1 = seq_insert %0, %w, %p",
            "%2 = seq_concat %1 {axis = 0}", "ret %2"
        ], named("f64", xs + [xs[0] + 5]) + [("p", "i64", at)],
                  [("f64", np.concatenate(ys))])
    for at in range(-3, 3):
        ys = list(xs)
        del ys[at]
        file.case(f"erase/{at}", [
            "%0 = seq_make %x, %y, %z", "%1 = seq_erase %0, %p",
            "%2 = seq_concat %1 {axis = 0}", "%3 = seq_length %1", "ret %2, %3"
        ], named("f64", xs) + [("p", "i64", at)], [("f64", np.concatenate(ys)), ("i64", 2)])


def splits(file):
    x = numbers("f32", 4, 6, 3)
    for axis in range(3):
        extent = x.shape[axis]
        lists = [[extent], [1, extent - 1], [0, 2, extent - 2, 0]]
        for sizes in lists:
            pieces = np.split(x, np.cumsum(sizes)[:-1], axis)
            for at in range(len(sizes)):
                file.case(f"split/{axis}/{'-'.join(map(str, sizes))}/{at}", [
                    f"%0 = split_to_seq %x, %s {{axis = {axis}}}", "%1 = seq_at %0, %p",
                    f"%2 = seq_concat %0 {{axis = {axis}}}", "ret %1, %2"
                ], [("x", "f32", x), ("s", "i64", sizes), ("p", "i64", at)],
                          [("f32", pieces[at]), ("f32", x)])
        for chunk in (1, 2, extent, extent + 1):
            pieces = np.split(x, range(chunk, extent, chunk), axis)
            file.case(f"chunks/{axis}/{chunk}", [
                f"%0 = split_to_seq %x, %s {{axis = {axis}}}", "%1 = seq_at %0, %p",
                "%2 = seq_length %0", "ret %1, %2"
            ], [("x", "f32", x), ("s", "i64", chunk), ("p", "i64", -1)],
                      [("f32", pieces[-1]), ("i64", len(pieces))])
        for keep in (False, True):
            piece = np.take(x, [1] if keep else 1, axis)
            flag = ", keep" if keep else ""
            file.case(f"ones/{axis}/{'keep' if keep else 'drop'}", [
                f"%0 = split_to_seq %x {{axis = {axis}{flag}}}", "%1 = seq_at %0, %p",
                "ret %1"
            ], [("x", "f32", x), ("p", "i64", 1)], [("f32", piece)])


def flow(file):
    """Branches that give sequences of different lengths; a loop whose items grow."""
    x, y = numbers("f32", 2), numbers("f32", 3) + 1
    for choice in (False, True):
        ys = [x, y, x] if choice else [y]
        file.case(f"branch/{choice}".lower(), [
            "%0 = if %c : seq<f32[k]> {", "  %1 = seq_make %x, %y, %x", "  yield %1",
            "} else {", "  %2 = seq_make %y", "  yield %2", "}",
            "%3 = seq_concat %0 {axis = 0}", "%4 = seq_length %0", "ret %3, %4"
        ], [("c", "bool", choice), ("x", "f32", x), ("y", "f32", y)],
                  [("f32", np.concatenate(ys)), ("i64", len(ys))])
    for trips in (0, 1, 4):
        ys, z = [x], x
        for _ in range(trips):
            z = np.concatenate([z, y])
            ys.insert(0, z)
        file.case(f"loop/{trips}", [
            "%c = const {value = true} : bool[]", "%p = const {value = 0} : i64[]",
            "%s = seq_make %x",
            "%0, %1 = loop %n, %c, %x, %s : f32[k2], seq<f32[m2]>"
            " (%i: i64[], %g: bool[], %z: f32[k], %l: seq<f32[m]>) {",
            "  %2 = concat %z, %y {axis = 0}", "  %3 = seq_insert %l, %2, %p",
            "  yield %g, %2, %3", "}", "%4 = seq_concat %1 {axis = 0}",
            "%5 = seq_at %1, %q", "ret %0, %4, %5"
        ], [("x", "f32", x), ("y", "f32", y), ("n", "i64", trips), ("q", "i64", -1)],
                  [("f32", z), ("f32", np.concatenate(ys)), ("f32", x)])


def optionals(file):
    """Of a sequence: absent or there by a branch, then of another item each trip."""
    x, y = numbers("f32", 2), numbers("f32", 3) + 1
    for there in (False, True):
        for trips in (0, 1, 3):
            ys = ([y] if there else []) + [x] * trips
            file.case(f"optional/{there}/{trips}".lower(), [
                "%0 = if %c : opt<seq<f32[k]>> {", "  %1 = seq_make %y", "  %2 = opt_make %1",
                "  yield %2", "} else {", "  %3 = opt_none : opt<seq<f32[k2]>>", "  yield %3",
                "}", "%t = const {value = true} : bool[]", "%p = const {value = 0} : i64[]",
                "%4 = loop %n, %t, %0 : opt<seq<f32[k3]>>"
                " (%i: i64[], %g: bool[], %o: opt<seq<f32[k4]>>) {",
                "  %5 = seq_length %o", "  %6 = ne %5, %p", "  %7 = if %6 : seq<f32[k5]> {",
                "    %8 = seq_at %o, %p", "    yield %8", "  } else {",
                "    %9 = seq_empty {of = f32} : seq<f32[k6]>", "    yield %9", "  }",
                "  %10 = seq_insert %7, %x", "  %11 = opt_make %10", "  yield %g, %11", "}",
                "%12 = seq_length %0", "%13 = seq_length %4", "%14 = ne %13, %p",
                "%15 = if %14 : f32[k7] {", "  %16 = seq_at %4, %p",
                "  %17 = seq_concat %16 {axis = 0}", "  yield %17", "} else {",
                "  %18 = const {value = f32[0] []}", "  yield %18", "}", "ret %12, %13, %15"
            ], [("c", "bool", there), ("x", "f32", x), ("y", "f32", y), ("n", "i64", trips)],
                      [("i64", int(there)), ("i64", int(bool(ys))),
                       ("f32", np.concatenate(ys) if ys else x[:0])])
    for there in (False, True):
        file.case(f"optional/tensor/{there}".lower(), [
            "%0 = if %c : opt<f32[k]> {", "  %1 = opt_make %x", "  yield %1", "} else {",
            "  %2 = opt_none : opt<f32[k2]>", "  yield %2", "}",
            "%p = const {value = 0} : i64[]", "%3 = seq_length %0", "%4 = ne %3, %p",
            "%5 = if %4 : f32[k3] {", "  %6 = seq_at %0, %p", "  yield %6", "} else {",
            "  yield %y", "}", "ret %3, %5"
        ], [("c", "bool", there), ("x", "f32", x), ("y", "f32", y)],
                  [("i64", int(there)), ("f32", x if there else y)])


def ranks(file):
    """Items of any rank, put in at one place and taken away at another: counted, and
    what is left of one rank is told by how much there is of it."""
    x, y = numbers("f32", 2), np.float32(7)
    for trips in (0, 1, 3):
        for at in (0, -1):
            file.case(f"ranks/{trips}/{at}", [
                "%t = const {value = true} : bool[]", "%s = seq_make %y",
                "%0 = loop %n, %t, %s : seq<f32[*]>"
                " (%i: i64[], %g: bool[], %l: seq<f32[*]>) {",
                "  %1 = seq_insert %l, %x, %p", "  %2 = seq_erase %1, %p",
                "  %3 = seq_insert %2, %x", "  yield %g, %3", "}",
                "%4 = seq_erase %0, %p", "%5 = seq_length %0", "%6 = seq_length %4",
                "ret %5, %6"
            ], [("x", "f32", x), ("y", "f32", y), ("n", "i64", trips), ("p", "i64", at)],
                      [("i64", 1 + trips), ("i64", trips)])


def collect(file):
    """Rows whose extents only a trip knows: parts of x, of as many as a sum says."""
    x, ends = numbers("f32", 9), np.array([2, 3])
    for trips in (1, 2, 3):
        rows = np.stack([x[:5] + i for i in range(trips)])
        file.case(f"collect/{trips}", [
            "%c = const {value = true} : bool[]",
            "%0, %1 = loop %n, %c, %z {scans = 1} : f32[], f32[t, k]"
            " (%i: i64[], %g: bool[], %s: f32[]) {", "  %2 = reduce %e {keep} : i64[1]",
            "  %3 = const {value = [0]} : i64[1]", "  %4 = slice %x, %3, %2",
            "  %5 = add %4, %s", "  %6 = const {value = 1} : f32[]", "  %7 = add %s, %6",
            "  yield %g, %7, %5", "}", "ret %0, %1"
        ], [("x", "f32", x), ("e", "i64", ends), ("n", "i64", trips),
            ("z", "f32", np.float32(0))], [("f32", np.float32(trips)), ("f32", rows)])


def main():
    file = File()
    joins(file)
    positions(file)
    splits(file)
    flow(file)
    optionals(file)
    ranks(file)
    collect(file)
    (HERE / "sequences.txt").write_text("\n".join(file.lines))


if __name__ == "__main__":
    main()
