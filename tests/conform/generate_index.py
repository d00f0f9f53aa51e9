#!/usr/bin/env python3
"""Writes the conformance cases of ops that index, order and count elements.

SPDX-License-Identifier: Apache-2.0

    /usr/bin/python3 tests/conform/generate_index.py        (python3-numpy)

As generate.py, whose helpers it uses: expected values are numpy's, or follow from the
definition by plain loops.
"""
import numpy as np

from generate import FLOATS, NUMPY, SINTS, TOLERANCE, UINTS, File, values

ALL = ["bool"] + FLOATS + SINTS + UINTS


def key(x):
    """Sorts as numbers do, NaN last."""
    return np.where(np.isnan(x), np.inf, x) if x.dtype.kind == "f" else x


def with_nan(x):
    x = x.copy()
    x.ravel()[[1, 4]] = np.nan
    return x


def samples(dtype):
    """Several shapes with equal elements among them."""
    yield "4x5", np.round(values(dtype, (4, 5)))
    yield "2x3x4", values(dtype, (2, 3, 4))
    yield "1", values(dtype, (1, ))
    yield "0x3", values(dtype, (0, 3))
    if dtype.startswith("f"):
        yield "nan", with_nan(values(dtype, (3, 4)))


def inserts(file):
    for dtype in ALL:
        x, y = values(dtype, (4, 6)), values(dtype, (2, 3))
        z = x.copy()
        z[1:3, 5:0:-2] = y
        file.case(f"insert/{dtype}", [
            "%0 = insert %x, %y {starts = [1, 5], steps = [1, -2]}", "ret %0"
        ], [("x", dtype, x), ("y", dtype, y)], [(dtype, z)], dynamic=False)
    x, y = values("f32", (3, 4)), values("f32", (3, 0))
    file.case("insert/none", ["%0 = insert %x, %y {starts = [0, 2]}", "ret %0"],
              [("x", "f32", x), ("y", "f32", y)], [("f32", x)])
    x, y = values("f32", (3, 4)), values("f32", (3, 4))
    file.case("insert/chain", [
        "%0 = add %x, %y", "%1 = neg %y", "%2 = insert %0, %1 {starts = [0, 0]}",
        "%3 = relu %x", "%4 = insert %2, %3 {starts = [0, 0]}", "%5 = mul %4, %0",
        "ret %5"
    ], [("x", "f32", x), ("y", "f32", y)], [("f32", np.maximum(x, 0) * (x + y))])


def extremes(file):
    for dtype in ALL:
        for name, x in samples(dtype):
            for axis in range(x.ndim):
                if x.shape[axis] == 0:
                    continue
                for op, run in (("max", np.argmax), ("min", np.argmin)):
                    y = run(x, axis)
                    file.case(f"arg_reduce/{dtype}/{name}/{op}{axis}", [
                        f"%0 = arg_reduce %x {{op = {op}, axis = {axis}}}", "ret %0"
                    ], [("x", dtype, x)], [("i64", y)])
    x = np.round(values("f32", (4, 5)) / 2)
    for op, run in (("max", np.argmax), ("min", np.argmin)):
        last = 4 - run(x[:, ::-1], 1)
        file.case(f"arg_reduce/last-{op}", [
            f"%0 = arg_reduce %x {{op = {op}, axis = 1, keep, last}}", "ret %0"
        ], [("x", "f32", x)], [("i64", last[:, None])])


def sorted_positions(x, axis, descending):
    if not descending:
        return np.argsort(key(x), axis, kind="stable")
    flipped = np.flip(x, axis)
    order = np.flip(np.argsort(key(flipped), axis, kind="stable"), axis)
    return x.shape[axis] - 1 - order


def sorting(file):
    for dtype in ALL:
        for name, x in samples(dtype):
            for axis, descending in ((0, True), (x.ndim - 1, False)):
                at = sorted_positions(x, axis, descending)
                flag = ", descending" if descending else ""
                file.case(f"sort/{dtype}/{name}/{axis}{descending:d}", [
                    f"%0, %1 = sort %x {{axis = {axis}{flag}}}", "ret %0, %1"
                ], [("x", dtype, x)],
                          [(dtype, np.take_along_axis(x, at, axis)), ("i64", at)])
                k = min(2, x.shape[axis])
                flag = "" if descending else ", smallest"
                first = np.take(at, np.arange(k), axis)
                file.case(f"topk/{dtype}/{name}/{axis}{descending:d}", [
                    f"%0, %1 = topk %x {{axis = {axis}, k = {k}{flag}}}", "ret %0, %1"
                ], [("x", dtype, x)],
                          [(dtype, np.take_along_axis(x, first, axis)), ("i64", first)],
                          dynamic=x.shape[axis] > 2)
    x = values("f32", (3, 7))
    at = np.take(sorted_positions(x, 1, True), np.arange(4), 1)
    file.case("topk/operand", ["%0, %1 = topk %x, %k {axis = 1}", "ret %0, %1"],
              [("x", "f32", x), ("k", "i64", np.array([4]))],
              [("f32", np.take_along_axis(x, at, 1)), ("i64", at)])


def uniques(file):
    for dtype in ALL:
        x = np.round(values(dtype, (3, 5)) / 2).astype(NUMPY[dtype])
        v, first, inverse, counts = np.unique(x, True, True, True)
        file.case(f"unique/{dtype}", ["%0, %1, %2, %3 = unique %x", "ret %0, %1, %2, %3"],
                  [("x", dtype, x)], [(dtype, v), ("i64", first),
                                      ("i64", inverse.ravel()), ("i64", counts)])
        order = np.argsort(first)
        rank = np.argsort(order)
        file.case(f"unique/{dtype}/first", [
            "%0, %1, %2, %3 = unique %x {order = first}", "ret %0, %1, %2, %3"
        ], [("x", dtype, x)], [(dtype, v[order]), ("i64", first[order]),
                               ("i64", rank[inverse.ravel()]), ("i64", counts[order])])
        flat = x.ravel()
        starts = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        of = np.cumsum(np.concatenate([[True], flat[1:] != flat[:-1]])) - 1
        file.case(f"unique/{dtype}/runs", [
            "%0, %1, %2, %3 = unique %x {order = runs}", "ret %0, %1, %2, %3"
        ], [("x", dtype, x)], [(dtype, flat[starts]), ("i64", starts), ("i64", of),
                               ("i64", np.diff(np.append(starts, flat.size)))])
    x = np.zeros((0, ), np.float32)
    none = np.zeros((0, ), np.int64)
    file.case("unique/empty", ["%0, %1, %2, %3 = unique %x", "ret %0, %1, %2, %3"],
              [("x", "f32", x)], [("f32", x)] + [("i64", none)] * 3)


def finding(file):
    for dtype in ALL:
        for name, x in samples(dtype):
            file.case(f"nonzero/{dtype}/{name}", ["%0 = nonzero %x", "ret %0"],
                      [("x", dtype, x)],
                      [("i64", np.argwhere(x))])
        x = values(dtype, (3, 4))
        rows = np.sort(values(dtype, (6, )))
        for side in ("left", "right"):
            flag = " {right}" if side == "right" else ""
            file.case(f"bucketize/{dtype}/{side}",
                      [f"%0 = bucketize %x, %y{flag}", "ret %0"],
                      [("x", dtype, x), ("y", dtype, rows)],
                      [("i64", np.searchsorted(rows, x, side))])
    x, rows = values("f32", (2, 3)), np.sort(values("f32", (2, 5)), 1)
    y = np.stack([np.searchsorted(r, v) for r, v in zip(rows, x)])
    file.case("bucketize/rows", ["%0 = bucketize %x, %y", "ret %0"],
              [("x", "f32", x), ("y", "f32", rows)], [("i64", y)])
    x, rows = np.array([np.nan, 1, -np.inf], np.float32), np.array([0, 1, np.nan],
                                                                   np.float32)
    file.case("bucketize/nan", ["%0 = bucketize %x, %y", "ret %0"],
              [("x", "f32", x), ("y", "f32", rows)], [("i64", np.array([2, 1, 0]))])
    file.case("bucketize/empty", ["%0 = bucketize %x, %y", "ret %0"],
              [("x", "f32", x), ("y", "f32", rows[:0])], [("i64", np.zeros(3, int))])


COMBINE = {
    "none": lambda a, b: b,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": np.minimum,
    "max": np.maximum
}


def scatters(file):
    for dtype in FLOATS + SINTS + UINTS:
        x, u = values(dtype, (4, 3)), values(dtype, (5, 3), -2, 2)
        ids = np.array([[0, -1, 2], [3, 1, 0], [0, -2, 1], [-4, 3, 3], [1, 1, 1]])
        for name, combine in COMBINE.items():
            for fresh in (False, True):
                if fresh and name == "none":
                    continue
                y, touched = x.copy(), np.zeros(x.shape, bool)
                with np.errstate(over="ignore"):
                    for i, k in np.ndindex(ids.shape):
                        at = (ids[i, k], k)
                        y[at] = u[i, k] if fresh and not touched[at] else combine(
                            y[at], u[i, k])
                        touched[at] = True
                flag = ", fresh" if fresh else ""
                file.case(
                    f"scatter_elements/{dtype}/{name}{'-fresh' if fresh else ''}", [
                        "%0 = scatter_elements %x, %i, %u {axis = 0, "
                        f"reduce = {name}{flag}}}", "ret %0"
                    ], [("x", dtype, x), ("i", "i64", ids), ("u", dtype, u)],
                    [(dtype, y)], TOLERANCE.get(dtype))
            z, blocks = values(dtype, (4, 3, 2)), values(dtype, (5, 2), -2, 2)
            pairs = np.array([[0, 1], [3, -1], [0, 1], [-4, 1], [1, 0]])
            y = z.copy()
            with np.errstate(over="ignore"):
                for i, (a, b) in enumerate(pairs):
                    y[a, b] = combine(y[a, b], blocks[i])
            file.case(f"scatter_nd/{dtype}/{name}", [
                f"%0 = scatter_nd %x, %i, %u {{reduce = {name}}}", "ret %0"
            ], [("x", dtype, z), ("i", "i64", pairs), ("u", dtype, blocks)],
                      [(dtype, y)], TOLERANCE.get(dtype), dynamic=False)


def running(file):
    for dtype in FLOATS + ["i8", "i32", "i64", "u8", "u64"]:
        for name, x in samples(dtype):
            for op, run in (("prod", np.multiply), ("max", np.maximum),
                            ("min", np.minimum), ("logsumexp", np.logaddexp)):
                if op == "logsumexp" and not dtype.startswith("f"):
                    continue
                wide = x.astype(np.float64) if dtype.startswith("f") else x
                with np.errstate(over="ignore", invalid="ignore"):
                    y = run.accumulate(wide, 0, dtype=wide.dtype).astype(NUMPY[dtype])
                file.case(f"cumulate/{dtype}/{name}/{op}", [
                    f"%0 = cumulate %x {{op = {op}, axis = 0}}", "ret %0"
                ], [("x", dtype, x)], [(dtype, y)], TOLERANCE.get(dtype))
    x = np.array([[2.0, 3, 4], [-1, 0.5, 2]], np.float32)
    y = np.array([[12.0, 4, 1], [1, 2, 1]], np.float32)
    file.case("cumulate/exclusive-reverse", [
        "%0 = cumulate %x {op = prod, axis = 1, exclusive, reverse}", "ret %0"
    ], [("x", "f32", x)], [("f32", y)])
    x = np.array([3.0, 1, 3, np.nan, 5, np.nan], np.float32)
    for op, y in (("max", [0, 0, 2, 3, 3, 5]), ("min", [0, 1, 1, 3, 3, 5])):
        file.case(f"cumulate_index/{op}", [
            f"%0 = cumulate_index %x {{op = {op}, axis = 0}}", "ret %0"
        ], [("x", "f32", x)], [("i64", np.array(y))])
    x = np.array([[1, 5], [1, 4], [0, 9]], np.int32)
    file.case("cumulate_index/i32", [
        "%0 = cumulate_index %x {op = max, axis = 0}", "ret %0"
    ], [("x", "i32", x)], [("i64", np.array([[0, 0], [1, 0], [1, 2]]))])


def philox(counter, key):
    """Philox4x32-10 as published; the known answers stand below."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1],
             a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c


assert philox([0] * 4, [0] * 2) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]
assert philox([0xffffffff] * 4, [0xffffffff] * 2) == [
    0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd
]
assert philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [
    0xa4093822, 0x299f31d0
]) == [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]


def drawing(file):
    seed, number, run, count = 0x123456789abcdef, 7, 3, 10
    words = np.array([
        philox([i, 0, run, number], [seed & 0xffffffff, seed >> 32]) for i in range(count)
    ], np.uint64).ravel()
    pairs = words[0::2] | words[1::2] << np.uint64(32)

    def case(kind, dtype, y, tolerance=None):
        file.case(f"random/{kind}/{dtype}", [
            f"%0 = random %run {{dtype = {dtype}, shape = [2, 5], kind = {kind}, "
            f"seed = {seed}, number = {number}}}", "ret %0"
        ], [("run", "i64", np.int64(run))], [(dtype, y[:10].reshape(2, 5))], tolerance)

    for dtype in ("u32", "i32", "u8", "i16"):
        case("bits", dtype, words.astype(NUMPY[dtype]))
    for dtype in ("u64", "i64"):
        case("bits", dtype, pairs.astype(NUMPY[dtype]))
    for dtype, bits in (("f16", 11), ("f32", 24)):
        top = (words >> np.uint64(32 - bits)).astype(np.float64)
        case("uniform", dtype, (top / 2**bits).astype(NUMPY[dtype]))
    top = (pairs >> np.uint64(11)).astype(np.float64) / 2**53
    case("uniform", "f64", top)
    for dtype in ("f16", "f32", "f64"):
        drawn = top if dtype == "f64" else words.astype(np.float64) / 2**32
        u, v = 1 - drawn[0::2], 2 * np.pi * drawn[1::2]
        size = np.sqrt(-2 * np.log(u))
        y = np.stack([size * np.cos(v), size * np.sin(v)], 1).ravel()
        case("normal", dtype, y.astype(NUMPY[dtype]), TOLERANCE[dtype])
    zero = np.array([[0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]], np.uint32)
    file.case("random/known-answer", [
        "%0 = run_number", "%1 = random %0 {dtype = u32, shape = [1, 4], kind = bits}",
        "ret %1"
    ], [], [("u32", zero)])


def booleans(file):
    x = np.array([[True, False, True], [False, False, False], [True, True, True]])
    for axis in (0, 1):
        for op, run in (("max", np.any), ("min", np.all)):
            file.case(f"reduce/bool/{op}{axis}", [
                f"%0 = reduce %x {{op = {op}, axes = [{axis}]}}", "ret %0"
            ], [("x", "bool", x)], [("bool", run(x, axis))])


def main():
    file = File("index.txt", "insert, scatters, order, positions (generate_index.py)")
    for part in (inserts, extremes, sorting, uniques, finding, scatters, running,
                 drawing, booleans):
        part(file)
    file.write()


if __name__ == "__main__":
    main()
