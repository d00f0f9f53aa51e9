#!/usr/bin/env python3
"""Writes the conformance cases of bags over quantised tables, with FBGEMM's results.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_fbgemm.py      (torch, fbgemm-gpu-cpu)

Every case is one call of int_nbit_split_embedding_codegen_lookup_function, or of
bounds_check_indices and then of it.
"""
import itertools
import pathlib

import numpy as np
import torch
import fbgemm_gpu  # noqa: F401  (registers the operators)

OPS = torch.ops.fbgemm
HERE = pathlib.Path(__file__).resolve().parent / "cases"
RNG = np.random.default_rng(20260102)
# SparseType's number, bits, the table's type in the IR
TYPES = {
    "fp32": (0, 32, "f32<rowwise{}>"),
    "fp16": (1, 16, "f16<rowwise{}>"),
    "int8": (2, 8, "i8<rowwise f16{}>"),
    "int4": (3, 4, "u4<rowwise f16{}>"),
    "int2": (4, 2, "u2<rowwise f16{}>"),
    "fp8": (6, 8, "u8<rowwise float 4 7{}>")
}
POOLS = {"sum": 0, "mean": 1, "none": 2}  # FBGEMM's
OUTS = {"f32": 0, "f16": 1, "bf16": 5}


def round_up(value, unit):
    return (value + unit - 1) // unit * unit


def rows_of(kind, count, dim, align):
    """The rows as bytes, padded: uint8 [count, stride]."""
    x = torch.from_numpy(RNG.standard_normal((count, dim)).astype(np.float32))
    if kind == "fp32":
        rows = x.numpy().view(np.uint8)
    elif kind == "fp16":
        rows = x.half().numpy().view(np.uint8)
    elif kind == "fp8":
        rows = OPS.FloatToHFP8Quantized(x, 4, 7, 480.0).numpy()
    else:
        rows = OPS.FloatToFusedNBitRowwiseQuantizedSBHalf(x, TYPES[kind][1]).numpy()
        rows = np.roll(rows, 4, axis=1)  # scale and bias to the front
    rows = rows.reshape(count, -1)
    stride = round_up(rows.shape[1], align)
    return np.pad(rows, ((0, 0), (0, stride - rows.shape[1])))


def number(x):
    return str(int(x)) if np.issubdtype(type(x), np.integer) else f"{float(x):.9g}"


def tensor(dtype, array):
    array = np.ascontiguousarray(array)
    return (f"{dtype}[{', '.join(map(str, array.shape))}] "
            f"[{', '.join(number(x) for x in array.ravel())}]")


class Tables:
    """Tables of one call, in one flat storage."""

    def __init__(self, specs, align):
        self.specs, self.blocks, self.offsets, at = specs, [], [], 0
        flat = []
        for kind, count, dim in specs:
            rows = rows_of(kind, count, dim, align)
            self.blocks.append(rows)
            flat.append(np.pad(rows.ravel(), (0, -rows.size % 128)))
            self.offsets.append(at)
            at += flat[-1].size
        self.flat, self.align = torch.from_numpy(np.concatenate(flat)), align

    def items(self):
        lines = []
        for i, ((kind, count, dim), rows) in enumerate(zip(self.specs, self.blocks)):
            bits = TYPES[kind][1]
            factors = 4 if kind.startswith("int") else 0
            tight = dim * bits // 8 + factors
            stride = f" stride {rows.shape[1]}" if rows.shape[1] != tight else ""
            lines.append(f"+ table @t{i} : {TYPES[kind][2].format(stride)}"
                         f"[{count}, {dim}] = inline(0x{rows.tobytes().hex()})")
        return lines

    def look_up(self, ids, offsets, pool, out, weights=None):
        dims = [dim for _, _, dim in self.specs]
        high = {kind: max([d for k, _, d in self.specs if k == kind], default=0)
                for kind in TYPES}
        empty = torch.empty(0, dtype=torch.uint8)
        return OPS.int_nbit_split_embedding_codegen_lookup_function(
            self.flat, empty, torch.full((len(dims), ), 3, dtype=torch.int32),
            torch.tensor(self.offsets), torch.tensor(
                [TYPES[k][0] for k, _, _ in self.specs], dtype=torch.uint8),
            torch.tensor(np.cumsum([0] + dims).astype(np.int32)), sum(dims),
            high["int2"], high["int4"], high["int8"], high["fp16"], high["fp32"],
            torch.from_numpy(ids), torch.from_numpy(offsets), POOLS[pool],
            None if weights is None else torch.from_numpy(weights), OUTS[out],
            None, None, self.align, high["fp8"], 4, 7)


def statements(count, bags, pool, out, weighted, attrs):
    """One bag; feature f has offsets f * bags … of the one array."""
    lines, operands = [], []
    ends_with_ids = pool == "none"  # the last bag of all, without an offset of its own
    for f in range(count):
        more = 0 if ends_with_ids and f == count - 1 else 1
        lines.append(f"| %o{f} = slice %o {{starts = [{f * bags}], "
                     f"sizes = [{bags + more}], steps = [1]}}")
        operands.append(f"@t{f}, %i, %o{f}" + (", %w" if weighted else ""))
    results = ", ".join(f"%{f}" for f in range(count))
    pools = ", ".join([pool] * count)
    lasts = ", ".join(["offset"] * (count - 1) + ["ids" if ends_with_ids else "offset"])
    lines.append(f"| {results} = bag {', '.join(operands)} {{operands = "
                 f"{[5 if weighted else 1] * count}, pool = [{pools}], last = [{lasts}], "
                 f"negative = skip{attrs}, to = {out}}}")
    if pool == "none":
        lines.append(f"| ret {results}")
    else:
        lines.append(f"| %y = concat {results} {{axis = 1}}")
        lines.append("| ret %y")
    return lines


def case(file, name, tables, bags, pool, out="f32", weighted=False, dtype="i64",
         spoil=None):
    count = len(tables.specs)
    lengths = RNG.integers(0, 4, count * bags)
    lengths[1 % lengths.size] = 0
    ids, features = [], np.repeat(np.arange(count), bags)
    for length, f in zip(lengths, features):
        ids += list(RNG.integers(-1, tables.specs[f][1], length))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    np_dtype = np.int64 if dtype == "i64" else np.int32
    ids, offsets = np.array(ids, np_dtype), offsets.astype(np_dtype)
    if any(kind == "fp8" for kind, _, _ in tables.specs):
        ids = np.maximum(ids, 0)  # FBGEMM's kernel reads before the table
    attrs = ""
    if spoil:
        spoil(ids, offsets)
        attrs = ", range = first, offsets = clamp"
    weights = RNG.standard_normal(ids.size).astype(np.float32) if weighted else None
    given_ids, given_offsets = ids.copy(), offsets.copy()
    if spoil:
        rows = torch.tensor([count for _, count, _ in tables.specs])
        OPS.bounds_check_indices(rows, torch.from_numpy(ids), torch.from_numpy(offsets),
                                 1, torch.zeros(1, dtype=torch.int64))
    got = tables.look_up(ids, offsets, pool, out, weights).float().numpy()
    print(f"\ncase fbgemm/{name}", file=file)
    print("static", file=file)
    print("\n".join(tables.items()), file=file)
    print(f"in i {tensor(dtype, given_ids)}\nin o {tensor(dtype, given_offsets)}",
          file=file)
    if weighted:
        print(f"in w {tensor('f32', weights)}", file=file)
    print("\n".join(statements(count, bags, pool, out, weighted, attrs)), file=file)
    if pool == "none":
        for f in range(count):
            mine = np.zeros_like(got)
            window = slice(offsets[f * bags], offsets[(f + 1) * bags])
            mine[window] = got[window]
            print(f"out {tensor(out, mine)}", file=file)
    else:
        print(f"out {tensor(out, got)}", file=file)
    print("tol 1e-05 1e-06" if out == "f32" else "tol 0.01 0.001", file=file)


def spoil(ids, offsets):
    """Ids out of range in both directions, and offsets outside of the ids."""
    ids[0], ids[-1], ids[ids.size // 2] = 1000, -7, np.iinfo(ids.dtype).max
    offsets[0], offsets[-1] = -100, ids.size + 3


def sums(file):
    for name, shape in (("1d", (5, )), ("2d", (3, 4)), ("none", (0, ))):
        x = torch.from_numpy(RNG.integers(-3, 9, shape))
        got = OPS.asynchronous_complete_cumsum(x)
        axis = len(shape) - 1
        attrs = f"axis = {axis}, complete = true"
        print(f"\ncase cumsum/{name}\nstatic\nin x {tensor('i64', x.numpy())}\n"
              f"| %0 = cumsum %x {{{attrs}}}\n| %1 = cumsum %x {{{attrs}, rising = true}}\n"
              f"| ret %0, %1\nout {tensor('i64', got.numpy())}\n"
              f"out {tensor('i64', torch.cummax(got, axis)[0].numpy())}", file=file)


def bounds(file):
    cases = [([5], [1, 2, 3, 4, 9, 9, 9, 9], [0, 5, 3, 8]),
             ([5], [1, 2, 3, 4, 9, 9, 9, 9], [2, 3, 6, 7]),
             ([5, 2], [1, 2, 3, 4, 9, 9, 9, 9], [-5, 3, 20, 9, 100]),
             ([5, 2], [1, -1, 3, -2, 2, 1, 9, -3], [3, 3, 4, 5, 6]),
             ([5], [1, 2, 3, 4], [-5, -3, 2, 100]), ([3, 2], [], [0, 0, 0]),
             ([7, 9], [6, 8, -1, 7, 9], [0, 1, 2, 3, 5])]
    for index, (rows, ids, offsets) in enumerate(cases):
        for dtype in (torch.int64, torch.int32):
            name = "i64" if dtype == torch.int64 else "i32"
            r, i = torch.tensor(rows), torch.tensor(ids, dtype=dtype)
            o, wrong = torch.tensor(offsets, dtype=dtype), torch.zeros(1,
                                                                       dtype=torch.int64)
            print(f"\ncase bounds/{name}/{index}\nin i {tensor(name, i.numpy())}\n"
                  f"in o {tensor(name, o.numpy())}\nin r {tensor('i64', r.numpy())}\n"
                  "| %0, %1, %2 = bounds %i, %o, %r {range = first}\n| ret %0, %1, %2",
                  file=file)
            OPS.bounds_check_indices(r, i, o, 1, wrong)
            print(f"out {tensor(name, i.numpy())}\nout {tensor(name, o.numpy())}\n"
                  f"out {tensor('i64', wrong.numpy())}", file=file)


def main():
    with open(HERE / "bounds.txt", "w", encoding="utf-8") as file:
        print("# Checks of ids and offsets.  Written by generate_fbgemm.py.", file=file)
        bounds(file)
    with open(HERE / "fbgemm.txt", "w", encoding="utf-8") as file:
        print("# Bags over quantised tables.  Written by generate_fbgemm.py.", file=file)
        sums(file)
        for kind, align in itertools.product(TYPES, (1, 16)):
            dims = (16, 24) if kind == "int2" else (12, 20)
            tables = Tables([(kind, 7, dims[0]), (kind, 5, dims[1])], align)
            for pool, weighted in (("sum", False), ("mean", True)):
                name = f"{kind}/{align}/{pool}{'/weighted' if weighted else ''}"
                case(file, name, tables, 3, pool, weighted=weighted)
        for kind in ("int8", "int4", "int2", "fp16"):
            case(file, f"{kind}/none", Tables([(kind, 7, 8), (kind, 5, 8)], 1), 2, "none",
                 dtype="i32")
        mixed = [("int8", 9, 16), ("int4", 6, 8), ("fp16", 4, 24), ("fp32", 3, 8),
                 ("int2", 5, 16)]
        for out in OUTS:
            case(file, f"mixed/{out}", Tables(mixed, 16), 2, "sum", out=out)
        case(file, "spoilt", Tables([("int8", 7, 12), ("int4", 5, 20)], 1), 3, "sum",
             spoil=spoil)
        case(file, "spoilt/mean", Tables([("int8", 7, 12)], 1), 4, "mean", dtype="i32",
             spoil=spoil)


main()
