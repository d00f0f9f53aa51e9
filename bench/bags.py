#!/usr/bin/env python3
"""Compares embedding bags with FBGEMM's kernels, table by table and all tables at once.

SPDX-License-Identifier: Apache-2.0

    bags.py --case one --dim 128 --dtype int8 --length 20 --batch 1,64,2048
    bags.py --case one --weighted --mean --ragged --dim 64
    bags.py --case mlperf --batch 1,4,16,64,256
    bags.py --case mlperf --dtype f32 --rows 300000      # with ONNX Runtime
    bags.py --case mlperf --dtype int4 --rows 1000,40000,3000000   # L2, L3, memory

`one`: a table larger than the caches.  `mlperf`: the 26 tables of MLPerf's DLRM-DCNv2,
capped at --rows, with its lengths of bags (214 look-ups a sample); FBGEMM is called once
a table.  FBGEMM runs twice: on memory as numpy allocates it (4 KiB pages), which is what
its users have, and on 2 MiB pages.  Both engines are called from C and read the same
rows and the same ids, which are rotated so that they do not stay in the caches.  The
limit is the lines of all rows at the rate of random lines.  `one` runs torch's bag, too,
where it has one; --ragged draws bags of 0 to 50 ids.  Method: measure.py.
"""

import argparse
import ctypes
import dataclasses
import itertools
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import measure
from bags_peers import OrtEngine, TorchEngine
from ingot_runtime import BUILD, Binding, Program
from machine import machine_facts
from models import MLPERF_LENGTHS, cache_folder
from native_peers import PeerLoop, SessionLoop, load_native, pointers

MLPERF_ROWS = (
    [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956]
    + [405282, 10, 2209, 11938, 155, 4, 976, 14, 40000000, 40000000, 40000000]
    + [590152, 12973, 108, 36]
)
# {dtype: (number in bag_fbgemm.cpp, bits an element, bytes of scale and bias, type in IR)};
# behind a row of int8, in front of narrower ones
DTYPES = {
    "f32": (0, 32, 0, "f32"),
    "f16": (1, 16, 0, "f16"),
    "int8": (2, 8, 8, "u8<rowwise f32>"),
    "int4": (3, 4, 4, "u4<rowwise f16>"),
    "int2": (4, 2, 4, "u2<rowwise f16>"),
}
LINE = 64
TOUCHED = 128 << 20  # bytes of rows that the sets of ids touch
MIN_SETS, MAX_SETS = 48, 8192


class Call(ctypes.Structure):
    _fields_ = [
        ("table", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("bags", ctypes.c_int64),
        ("ids", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
    ]


class Calls(ctypes.Structure):
    _fields_ = [
        ("opened", ctypes.c_void_p),
        ("calls", ctypes.c_void_p),
        ("count", ctypes.c_int),
        ("has_weights", ctypes.c_int),
    ]


@dataclasses.dataclass(frozen=True)
class Shape:
    """How bags are pooled."""

    mean: bool = False
    weighted: bool = False
    ragged: bool = False

    @property
    def name(self):
        facts = dataclasses.asdict(self).items()
        return "-".join(key for key, value in facts if value) or "sum"


class Tables:
    """Rows in a file, as FBGEMM lays them out; and the model that pools them."""

    def __init__(self, dtype, dim, rows, lengths, shape=Shape()):
        self.shape, self.operands = shape, 3 if shape.weighted else 2
        self.dtype, self.dim, self.rows, self.lengths = dtype, dim, rows, lengths
        _, bits, beside, self.type = DTYPES[dtype]
        self.row_bytes = bits * dim // 8 + beside
        name = f"bags-{dtype}-{dim}-{len(rows)}-{sum(rows)}"
        self.folder = cache_folder() / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "tables.bin"
        if not self.path.exists():
            self.write_rows()
        self.write_model()

    def write_rows(self):
        rng, partial = np.random.default_rng(5), self.folder / "partial"
        with open(partial, "wb") as file:
            for rows in self.rows:
                self.some_rows(rng, rows).tofile(file)
        partial.rename(self.path)

    def some_rows(self, rng, rows):
        if self.dtype in ("f32", "f16"):
            kind = {"f32": "f4", "f16": "f2"}[self.dtype]
            return rng.standard_normal((rows, self.dim), "f4").astype(kind)
        data = rng.integers(0, 256, (rows, self.row_bytes), "u1")
        if self.dtype == "int8":
            data[:, self.dim :] = np.array([0.01, -1.2], "f4").view("u1")
        else:
            data[:, :4] = np.array([0.1, -0.75], "f2").view("u1")
        return data

    def write_model(self):
        lines, ins, operands, offset = [], [], [], 0
        for i, rows in enumerate(self.rows):
            size = rows * self.row_bytes
            word = "weight" if self.dtype in ("f32", "f16") else "table"
            lines.append(
                f"  {word} @t{i} : {self.type}[{rows}, {self.dim}]"
                f' = file("tables.bin", {offset}, {size})'
            )
            ins += [f"%ids{i}: i64[N{i}]", f"%off{i}: i64[O]"]
            operands += [f"@t{i}", f"%ids{i}", f"%off{i}"]
            if self.shape.weighted:
                ins.append(f"%w{i}: f32[N{i}]")
                operands.append(f"%w{i}")
            offset += size
        count, element = len(self.rows), "f16" if self.dtype == "f16" else "f32"
        results = ", ".join(f"%{i}" for i in range(count))
        masks = ", ".join(["5" if self.shape.weighted else "1"] * count)
        pools = ", ".join(["mean" if self.shape.mean else "sum"] * count)
        ends = ", ".join(["offset"] * count)
        types = ", ".join([f"f32[O - 1, {self.dim}]"] * count)
        lines = ["module @bags {", *lines, f"  graph @main({', '.join(ins)}) {{"]
        lines.append(
            f"    {results} = bag {', '.join(operands)} {{operands = [{masks}],"
            f" pool = [{pools}], last = [{ends}],"
            f" negative = error, to = f32}} : {types}"
        )
        lines.append(f"    %all = concat {results} {{axis = 1}}")
        lines += ["    ret %all", "  }", "}", ""]
        self.model = self.folder / f"{self.shape.name}.ig"
        self.model.write_text("\n".join(lines))

    def lookups(self):
        """Of a call."""
        if self.shape.ragged:
            return int(np.sum(np.arange(self.batch) * 7 % 51)) * len(self.rows)
        return self.batch * sum(self.lengths)

    def ids(self, rng, batch):
        """[ids, offsets (and weights) of each table]; the ids and offsets are in one
        piece of memory, as those of a request are."""
        call = []
        for rows, length in zip(self.rows, self.lengths):
            lengths = np.full(batch, length)
            if self.shape.ragged:
                lengths = rng.permutation(np.arange(batch) * 7 % 51)
            call.append(rng.integers(0, rows, lengths.sum()))
            call.append(np.concatenate([[0], np.cumsum(lengths)]))
        together = np.concatenate(call[::2] + call[1::2])
        parts = np.split(together, np.cumsum([len(a) for a in call[::2] + call[1::2]]))
        half, arrays = len(self.rows), []
        for i in range(half):
            arrays += [parts[i], parts[half + i]]
            if self.shape.weighted:
                arrays.append(rng.random(len(parts[i]), "f4"))
        return arrays

    def take_batch(self, batch, outputs_of):
        self.batch = batch
        touched = self.lookups() * self.row_bytes
        self.sets = int(min(max(TOUCHED // touched, MIN_SETS), MAX_SETS))
        rng = np.random.default_rng(batch)
        self.inputs = [self.ids(rng, batch) for _ in range(self.sets)]
        shape = (batch, len(self.rows) * self.dim)
        self.outputs = {name: np.zeros(shape, "f4") for name in outputs_of}


class IngotEngine:
    name = "ingot"

    def __init__(self, tables, threads, target):
        artifact = tables.model.with_suffix(".ingot")
        command = [BUILD / "ingot", "compile"]
        command += [tables.model, "-o", artifact, "--weights", "reference", "-q"]
        command += ["--target", target]
        subprocess.run(command, check=True)
        self.program = Program(artifact, load="hugepage")
        self.threads = threads
        self.session = self.program.session(threads)

    def prepare(self, tables):
        out = tables.outputs[self.name]
        bindings = [Binding(call, [out]) for call in tables.inputs]
        self.seconds = SessionLoop(self.session, bindings, self.threads).seconds


class FbgemmEngine:
    """Calls of FBGEMM's kernel for one table after the other, on one thread."""

    def __init__(self, name, rows, tables):
        self.name, self.rows, self.lib = name, rows, load_native("fbgemm")
        self.lib.bag_open.restype = ctypes.c_void_p
        number, dim = DTYPES[tables.dtype][0], ctypes.c_int64(tables.dim)
        shape = tables.shape
        self.handle = self.lib.bag_open(number, dim, shape.weighted, shape.mean)

    def calls(self, tables):
        out, calls, at = self.pooled, [], self.rows
        for i, rows in enumerate(tables.rows):
            calls.append(
                Call(at, rows, tables.batch, None, None, None, out[i].ctypes.data)
            )
            at += rows * tables.row_bytes
        return (Call * len(calls))(*calls)

    def prepare(self, tables):
        shape = (len(tables.rows), tables.batch, tables.dim)
        self.pooled = np.zeros(shape, "f4")
        self.kept = self.calls(tables)
        count, calls = len(self.kept), ctypes.addressof(self.kept)
        self.all = Calls(self.handle, calls, count, tables.shape.weighted)
        self.sets = [pointers(arrays) for arrays in tables.inputs]
        ins = (ctypes.c_void_p * len(self.sets))(*map(ctypes.addressof, self.sets))
        run, peer = self.lib.bag_run_set, ctypes.addressof(self.all)
        self.seconds = PeerLoop(run, peer, ins, ins, 1).seconds

    def output(self):
        return np.concatenate(list(self.pooled), axis=1)


def copy_to(path, memory, size):
    """The tables' bytes at an address."""
    target = (ctypes.c_ubyte * size).from_address(memory)
    view = np.frombuffer(target, "u1")
    view[:] = np.memmap(path, "u1", "r", shape=(size,))


def open_engines(tables, threads, target):
    """Ingot first; FBGEMM's kernels are for one thread."""
    engines, shape = [IngotEngine(tables, threads, target)], tables.shape
    is_narrow = tables.dtype in ("int4", "int2")
    if len(tables.rows) == 1 and not is_narrow and not (shape.mean and shape.weighted):
        if tables.dtype != "int8" or not shape.mean:
            engines.append(TorchEngine(tables, threads))
    if len(tables.rows) > 1 and tables.dtype == "f32" and shape == Shape():
        engines.append(OrtEngine(tables, threads))
    return engines + (fbgemm_engines(tables) if threads == 1 else [])


def fbgemm_engines(tables):
    size, engines = tables.path.stat().st_size, []
    plain = np.empty(size + 4096, "u1")
    libc = ctypes.CDLL(None)
    no_huge_pages = 15
    begin = (plain.ctypes.data + 4095) // 4096 * 4096
    libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), no_huge_pages)
    copy_to(tables.path, begin, size)
    engines.append(FbgemmEngine("fbgemm, 4 KiB pages", begin, tables))
    engines[-1].memory = plain
    huge = measure.load_calibrate().probe_memory(size)
    copy_to(tables.path, huge, size)
    engines.append(FbgemmEngine("fbgemm, 2 MiB pages", huge, tables))
    return engines


def check_agreement(tables, engines):
    for engine in engines:
        measure.run_sets(engine, 0, 1, tables.sets, time.perf_counter)
    want = tables.outputs["ingot"]
    for engine in engines[1:]:
        loose = 0.02 if tables.dtype == "f16" else 1e-3  # torch rounds its sums
        np.testing.assert_allclose(engine.output(), want, rtol=loose, atol=loose)


def lines_of(tables):
    """Cache lines of a call's rows; those of small tables are there already."""
    each = 1 + (tables.row_bytes - 1) / LINE
    if tables.row_bytes % LINE == 0:
        each = tables.row_bytes / LINE
    return each * tables.lookups()


def compare(tables, engines, threads, options):
    for engine in engines:
        engine.prepare(tables)
    check_agreement(tables, engines)
    plan = (options.rounds, measure.MIN_SECONDS)
    rounds = measure.measure_rounds(engines, tables.sets, threads, 1 << 20, plan)
    kept = measure.believable(rounds)
    trustworthy = len(kept) >= len(rounds) // 2
    kept = kept if trustworthy else rounds
    lookups = tables.lookups()
    ns = {e.name: np.median([v[e.name] for v in kept]) * 1e9 / lookups for e in engines}
    per_row = lines_of(tables) / tables.lookups()
    share = [100 * per_row * v["line_ns"] * lookups / (v["ingot"] * 1e9) for v in kept]
    return {
        "dtype": tables.dtype,
        "shape": tables.shape.name,
        "target": options.target,
        "rows": max(tables.rows),
        "dim": tables.dim,
        "tables": len(tables.rows),
        "batch": tables.batch,
        "threads": threads,
        "ns_a_row": {name: float(value) for name, value in ns.items()},
        "percent_of_line_limit": float(np.median(share)),
        "line_ns": float(np.median([v["line_ns"] for v in kept])),
        "ratios": {e.name: measure.ratios(kept, "ingot", e.name) for e in engines[1:]},
        "trustworthy": trustworthy,
    }


def print_point(p):
    print(
        f"{p['target']} {p['dtype']} {p['shape']} D{p['dim']} {p['tables']} tables of {p['rows']} rows or less,"
        f" batch {p['batch']}"
        f" threads {p['threads']}: {p['ns_a_row']['ingot']:.1f} ns a row,"
        f" {p['percent_of_line_limit']:.0f} % of the line limit"
        f" ({p['line_ns']:.1f} ns)" + ("" if p["trustworthy"] else " - TOO NOISY")
    )
    for name, r in p["ratios"].items():
        band = f"[{r['low']:.2f}, {r['high']:.2f}]"
        print(f"    {name} / ingot = {r['median']:.2f} {band}", flush=True)


def numbers(text):
    return [int(part) for part in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=("one", "mlperf"), default="one")
    parser.add_argument("--dtype", choices=DTYPES, default="int8")
    parser.add_argument("--dim", type=numbers, default=[128])
    parser.add_argument("--length", type=int, default=20)
    for flag in ("mean", "weighted", "ragged"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--bytes", type=int, default=2 << 30, help="of the one table")
    parser.add_argument("--rows", type=numbers, default=[3000000], help="caps of mlperf's")
    parser.add_argument("--rounds", type=int, default=measure.ROUNDS)
    parser.add_argument("--batch", type=numbers, default=[1, 4, 16, 64, 256, 2048])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--target", default="cpu", help="of Ingot: cpu, cpu:v3 …")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def make_tables(options, dim, cap):
    shape = Shape(options.mean, options.weighted, options.ragged)
    if options.case == "mlperf":
        rows = [min(rows, cap) for rows in MLPERF_ROWS]
        return Tables(options.dtype, dim, rows, MLPERF_LENGTHS, shape)
    _, bits, beside, _ = DTYPES[options.dtype]
    rows = options.bytes // (bits * dim // 8 + beside)
    return Tables(options.dtype, dim, [rows], [options.length], shape)


def main():
    options = parse_options()
    load_isa_fix()
    machine, points = machine_facts(), []
    print(json.dumps(machine), "fbgemm's vectors:", load_native("fbgemm").bag_isa())
    caps = options.rows if options.case == "mlperf" else [None]
    for dim, cap in itertools.product(options.dim, caps):
        tables = make_tables(options, dim, cap)
        for threads in options.threads:
            engines = open_engines(tables, threads, options.target)
            for batch in options.batch:
                tables.take_batch(batch, ["ingot"])
                points.append(compare(tables, engines, threads, options))
                print_point(points[-1])
    if options.json:
        text = json.dumps({"machine": machine, "points": points}, indent=1)
        options.json.write_text(text + "\n")


def load_isa_fix():
    """As packaged FBGEMM finds no vector extension, since a table of libcpuinfo exists
    twice, once filled; torch is loaded and the filled one copied over the other."""
    import torch

    folder = pathlib.Path(torch.__file__).parent / "lib"
    first = ctypes.CDLL(str(folder / "libc10.so"))
    second = ctypes.CDLL(str(folder / "libtorch.so"))
    table = ctypes.c_uint8 * 96
    a = table.in_dll(first, "cpuinfo_isa")
    b = table.in_dll(second, "cpuinfo_isa")
    second.cpuinfo_initialize()
    source, target = (b, a) if sum(b) > sum(a) else (a, b)
    ctypes.memmove(target, source, 96)


if __name__ == "__main__":
    sys.exit(main())
