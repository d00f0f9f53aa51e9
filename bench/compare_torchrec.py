#!/usr/bin/env python3
"""Compares TorchRec's quantised DLRM, from one archive, with torch and FBGEMM.

SPDX-License-Identifier: Apache-2.0

    compare_torchrec.py --kind dlrm,lookups --pooling 1,20 --batch 1,64,1024 --threads 1
    compare_torchrec.py --peer shipped ...

The archive (torchrec_models.py) is scripted: torch runs it as torch.jit.load gives it,
in inference mode; Ingot compiles the same file and leaves the tables in it.  How the
peer is set up:

  avx      FBGEMM's vector kernels are active (bags.py, load_isa_fix); as packaged they
           are not
  huge     the same, and torch's allocator asks for huge pages (THP_MEM_ALLOC_ENABLE)
  shipped  as the packages come: FBGEMM runs its scalar kernels

Ingot's times include the call from Python, as torch's do.  Beside each ratio stands the
limit: multiplications of the MLPs at the measured rate of multiply-adds, or their
weights read once, whichever takes longer; and the lines of the rows.  Method:
measure.py.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

import measure
from bags import load_isa_fix, numbers
from ingot_runtime import BUILD, Binding, Program
from machine import machine_facts

TOUCHED = 128 << 20  # bytes of rows that the sets of inputs touch
MIN_SETS, MAX_SETS = 8, 1024
LINES_OF_ROW = 2  # 68 bytes, aligned to 16
WARM_RUNS = 4  # torch's executor specialises in the first
PEERS = ("avx", "huge", "shipped")
BATCHES = (1, 64, 1024)
# {(kind, pooling): least ratio at each of BATCHES}, with one thread
BARS = {
    ("dlrm", 1): (2.5, 1.3, 1.2),
    ("dlrm", 20): (2.5, 1.3, 1.5),
    ("lookups", 1): (3.0, 1.3, 1.3),
    ("lookups", 20): (3.0, 1.3, 1.3),
}


def compiled(archive, path, keys):
    artifact = path.with_suffix(".ingot")
    names = ", ".join(f'"{key}"' for key in keys)
    jagged = f"kjt(keys=[{names}], values=i64[V], lengths=i64[L], weights=none)"
    command = [BUILD / "ingot", "compile", path, "-o", artifact, "-q"]
    command += ["--weights", "reference", "--input", f"sparse_features={jagged}"]
    if archive.kind == "dlrm":
        command += ["--input", "dense_features=f32[B, 13]"]
    subprocess.run(command, check=True)
    return artifact


class IngotEngine:
    name = "ingot"

    def __init__(self, artifact, threads, columns):
        self.program = Program(artifact, load="hugepage")
        self.session, self.columns = self.program.session(threads), columns

    def prepare(self, sets, batch):
        self.out = np.zeros((batch, self.columns), "f4")
        self.bindings = [Binding(arrays, [self.out]) for arrays in sets]

    def run(self, index):
        self.session.run(self.bindings[index])

    def output(self):
        return self.out


class TorchEngine:
    name = "torch"

    def __init__(self, archive, path, threads):
        import torch

        self.torch, self.archive = torch, archive
        torch.set_num_threads(threads)
        self.module = torch.jit.load(str(path))

    def prepare(self, sets, batch):
        from torchrec_models import torch_arguments

        self.calls = [torch_arguments(self.archive, arrays) for arrays in sets]
        for index in range(WARM_RUNS):
            self.run(index % len(sets))

    def run(self, index):
        with self.torch.inference_mode():
            self.result = self.module(*self.calls[index])

    def output(self):
        return self.result.numpy()


def products():
    """(multiply-adds a sample, bytes of weights) of the two MLPs."""
    from torchrec_models import BOTTOM, DENSE, DIM, TABLES, TOP

    width = DIM + TABLES * (TABLES + 1) // 2
    layers = list(zip([DENSE, *BOTTOM], BOTTOM)) + list(zip([width, *TOP], TOP))
    count = sum(k * n for k, n in layers)
    return count + TABLES * (TABLES + 1) // 2 * DIM, 4 * count


def limits(kind, batch, pooling, values):
    """Seconds that the MLPs and the rows take at least, by a round's calibrators."""
    from torchrec_models import TABLES

    macs, weights = products() if kind == "dlrm" else (0, 0)
    compute = 2 * macs * batch / (values["fma_gflops"] * 1e9)
    read = weights / (values["resident_gbs"] * 1e9)
    lines = TABLES * batch * pooling * LINES_OF_ROW * values["line_ns"] * 1e-9
    return max(compute, read), lines


def make_sets(archive, batch, pooling):
    from torchrec_models import TABLES, make_arrays

    rng = np.random.default_rng(batch * 100 + pooling)
    touched = TABLES * batch * pooling * LINES_OF_ROW * 64
    count = int(min(max(TOUCHED // touched, MIN_SETS), MAX_SETS))
    return [make_arrays(rng, archive, batch, pooling) for _ in range(count)]


def check_agreement(engines, sets):
    for number in (0, sets - 1):
        for engine in engines:
            engine.run(number)
        ours, theirs = (engine.output() for engine in engines)
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def compare(options, archive, engines, case):
    batch, pooling, threads = case
    sets = make_sets(archive, batch, pooling)
    for engine in engines:
        engine.prepare(sets, batch)
    check_agreement(engines, len(sets))
    plan = (options.rounds, measure.MIN_SECONDS)
    rounds = measure.measure_rounds(engines, len(sets), threads, products()[1], plan)
    kept = measure.believable(rounds)
    trustworthy = len(kept) >= len(rounds) // 2
    kept = kept if trustworthy else rounds
    bounds = [limits(archive.kind, batch, pooling, values) for values in kept]
    ratio = measure.ratios(kept, "ingot", "torch")
    bar = BARS.get((archive.kind, pooling), (1, 1, 1))
    bar = bar[BATCHES.index(batch)] if batch in BATCHES and threads == 1 else 1.0
    return {
        "kind": archive.kind,
        "pooling": pooling,
        "batch": batch,
        "threads": threads,
        "peer": options.peer,
        "us": {e.name: 1e6 * np.median([v[e.name] for v in kept]) for e in engines},
        "gemm_limit_us": 1e6 * float(np.median([b[0] for b in bounds])),
        "line_limit_us": 1e6 * float(np.median([b[1] for b in bounds])),
        "ratio": ratio,
        "bar": bar,
        "reached": bool(ratio["low"] >= bar),
        "trustworthy": trustworthy,
    }


def print_point(p):
    r, us = p["ratio"], p["us"]
    print(
        f"{p['kind']:7} pooling {p['pooling']:2} batch {p['batch']:4}"
        f" threads {p['threads']} {p['peer']}: ingot {us['ingot']:.1f} us,"
        f" torch {us['torch']:.1f} us; limits: GEMM {p['gemm_limit_us']:.1f},"
        f" lines {p['line_limit_us']:.1f} us; torch / ingot = {r['median']:.2f}"
        f" [{r['low']:.2f}, {r['high']:.2f}], bar {p['bar']}:"
        f" {'reached' if p['reached'] else 'MISSED'}"
        + ("" if p["trustworthy"] else " - TOO NOISY"),
        flush=True,
    )


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="dlrm,lookups")
    parser.add_argument("--pooling", type=numbers, default=[1, 20])
    parser.add_argument("--batch", type=numbers, default=list(BATCHES))
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--peer", choices=PEERS, default="avx")
    parser.add_argument("--rounds", type=int, default=measure.ROUNDS)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def set_up_peer(peer):
    """Before torch is loaded, and before FBGEMM is."""
    if peer == "huge":
        os.environ["THP_MEM_ALLOC_ENABLE"] = "1"
    if peer != "shipped":
        load_isa_fix()
    import fbgemm_gpu  # noqa: F401  (registers the operators of the archive)


def all_points(options):
    from torchrec_models import DIM, KEYS, TABLES, Archive, write_archive

    for kind in options.kind.split(","):
        archive = Archive(kind)
        path = write_archive(archive)
        artifact = compiled(archive, path, KEYS)
        columns = 1 if kind == "dlrm" else TABLES * DIM
        for threads in options.threads:
            ours = IngotEngine(artifact, threads, columns)
            engines = [ours, TorchEngine(archive, path, threads)]
            for pooling in options.pooling:
                for batch in options.batch:
                    case = batch, pooling, threads
                    yield compare(options, archive, engines, case)


def main():
    options = parse_options()
    set_up_peer(options.peer)
    machine, points = machine_facts(), []
    print(json.dumps(machine))
    for point in all_points(options):
        points.append(point)
        print_point(point)
    if options.json:
        text = json.dumps({"machine": machine, "points": points}, indent=1)
        options.json.write_text(text + "\n")
    return 0 if all(p["reached"] for p in points) else 1


if __name__ == "__main__":
    sys.exit(main())
