#!/usr/bin/env python3
"""Compares one dense layer, y = relu(x w + b), with the libraries people use for it.

SPDX-License-Identifier: Apache-2.0

    gemm.py --layers dcnv2 --rows 1,64,256 --threads 1 --json out.json

Peers: ONNX Runtime (one-node session, called from Python), oneDNN, MKL, OpenBLAS, BLIS
(called from C).  Inputs are rotated; weights are packed beforehand where a library can.
A layer's limit is the longer of its arithmetic at the FMA rate and its weights once
through a core.  Method: measure.py.

    gemm.py --picks --rows 1,8,64

measures the register tiles of each layer in place of the peers (ingot info --kernels)
and lists the shapes whose tile takes over 5 % longer than the best one.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

import measure
from ingot_runtime import BUILD, Binding, Program
from machine import machine_facts
from models import cache_folder
from native_peers import PeerLoop, SessionLoop, load_native, pointers

LAYERS = {
    "criteo": [(13, 512), (512, 256), (256, 64), (415, 512), (512, 512), (256, 1)],
    "dcnv2": [
        (256, 128),
        (3456, 512),
        (512, 3456),
        (3456, 1024),
        (1024, 1024),
        (1024, 512),
    ],
}
PEERS = ("onnxruntime", "onednn", "mkl", "openblas", "blis")
NARROW = 64  # below this many inputs or outputs a layer has a bar of its own
TOUCHED = 64 << 20  # bytes of inputs and outputs that a turn goes through
MAX_SETS = 64
MAX_SLOWDOWN = 5  # percent that a pick may take longer than the best tile
QUICK = 9, 0.004  # rounds, seconds of a turn: a first look


class Shape(ctypes.Structure):
    _fields_ = [
        ("m", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("n", ctypes.c_int64),
        ("threads", ctypes.c_int32),
    ]


class Layer:
    """A layer, its model file and, for one number of rows, its inputs."""

    def __init__(self, k, n):
        rng = np.random.default_rng(k * 7919 + n)
        self.k, self.n = k, n
        self.w = (rng.standard_normal((k, n)) / np.sqrt(k)).astype("float32")
        self.bias = rng.standard_normal(n).astype("float32")
        self.folder = cache_folder() / f"layer-{k}-{n}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write()

    def write(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", self.k])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", self.n])
        nodes = [
            helper.make_node("Gemm", ["x", "w", "b"], ["z"]),
            helper.make_node("Relu", ["z"], ["y"]),
        ]
        weights = [
            onnx.numpy_helper.from_array(self.w, "w"),
            onnx.numpy_helper.from_array(self.bias, "b"),
        ]
        graph = helper.make_graph(nodes, "layer", [x], [y], weights)
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        self.path = self.folder / "model.onnx"
        onnx.save_model(model, self.path)

    def take_rows(self, m):
        each = 4 * m * (self.k + self.n)
        self.m, self.sets = m, int(min(max(TOUCHED // each, 4), MAX_SETS))
        rng = np.random.default_rng(m)
        draw = lambda: rng.standard_normal((m, self.k), "float32")
        self.inputs = [draw() for _ in range(self.sets)]
        self.outputs = {}

    def room(self, name):
        self.outputs[name] = [
            np.full((self.m, self.n), np.nan, "float32")  # touches its pages
            for _ in range(self.sets)
        ]
        return self.outputs[name]


class IngotEngine:
    name = "ingot"

    def __init__(self, layer, threads, target):
        artifact = layer.folder / "model.ingot"
        command = [BUILD / "ingot", "compile", layer.path, "-o", artifact, "-q"]
        command += ["--target", target]
        subprocess.run(command, check=True)
        self.session = Program(artifact, load="hugepage").session(threads)
        outputs = layer.room(self.name)
        pairs = zip(layer.inputs, outputs)
        bindings = [Binding([x], [y]) for x, y in pairs]
        self.seconds = SessionLoop(self.session, bindings, threads).seconds


class NativeEngine:
    def __init__(self, name, layer, threads):
        self.name, lib = name, load_native(name)
        shape = Shape(layer.m, layer.k, layer.n, threads)
        lib.gemm_open.restype = ctypes.c_void_p
        lib.gemm_version.restype = ctypes.c_char_p
        self.version = lib.gemm_version().decode().strip()
        bias, w = layer.bias.ctypes, layer.w.ctypes
        handle = lib.gemm_open(
            ctypes.byref(shape), ctypes.c_void_p(w.data), ctypes.c_void_p(bias.data)
        )
        if not handle:
            raise LookupError(name)
        self.tables = pointers(layer.inputs), pointers(layer.room(name))
        self.seconds = PeerLoop(lib.gemm_run, handle, *self.tables, threads).seconds


class OrtEngine:
    name = "onnxruntime"

    def __init__(self, layer, threads):
        import onnxruntime as ort

        self.version = ort.__version__
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = ort.InferenceSession(
            str(layer.path), options, providers=["CPUExecutionProvider"]
        )
        pairs = zip(layer.inputs, layer.room(self.name))
        self.bindings = [self.bind(x, y) for x, y in pairs]

    def bind(self, x, y):
        binding = self.session.io_binding()
        binding.bind_input("x", "cpu", 0, x.dtype, x.shape, x.ctypes.data)
        binding.bind_output("y", "cpu", 0, y.dtype, y.shape, y.ctypes.data)
        return binding

    def run(self, index):
        self.session.run_with_iobinding(self.bindings[index])


def open_engines(layer, threads, options):
    engines = [IngotEngine(layer, threads, options.target)]
    for name in options.peers.split(","):
        try:
            maker = OrtEngine if name == "onnxruntime" else None
            engines.append(
                maker(layer, threads) if maker else NativeEngine(name, layer, threads)
            )
        except LookupError:
            print(f"skip: {name} does not do {threads} threads")
    return engines


def check_agreement(layer, engines):
    for engine in engines:
        measure.run_sets(engine, 0, 1, layer.sets, None or (lambda: 0))
        want = np.maximum(layer.inputs[0].astype("f8") @ layer.w + layer.bias, 0)
        np.testing.assert_allclose(
            layer.outputs[engine.name][0], want, rtol=1e-3, atol=1e-4
        )


def limit_seconds(layer, values):
    compute = 2 * layer.m * layer.k * layer.n / (values["fma_gflops"] * 1e9)
    return max(compute, 4 * layer.k * layer.n / (values["resident_gbs"] * 1e9))


def compare_layer(layer, threads, options):
    engines = open_engines(layer, threads, options)
    check_agreement(layer, engines)
    weight_bytes = max(4 * layer.k * layer.n, 1 << 16)
    plan = QUICK if options.quick else None
    rounds = measure.measure_rounds(engines, layer.sets, threads, weight_bytes, plan)
    kept = measure.believable(rounds)
    trustworthy = len(kept) >= len(rounds) // 2
    kept = kept if trustworthy else rounds
    names = [e.name for e in engines]
    us = {n: float(np.median([v[n] for v in kept])) * 1e6 for n in names}
    best = min(names[1:], key=us.get)
    share = [100 * limit_seconds(layer, v) / v["ingot"] for v in kept]
    return {
        "k": layer.k,
        "n": layer.n,
        "m": layer.m,
        "threads": threads,
        "us": us,
        "percent_of_limit": float(np.median(share)),
        "best_peer": best,
        "ratio": measure.ratios(kept, "ingot", best),
        "versions": {e.name: e.version for e in engines[1:]},
        "trustworthy": trustworthy,
    }


def print_point(p):
    r = p["ratio"]
    peers = " ".join(f"{n} {p['us'][n] / p['us']['ingot']:.2f}" for n in p["versions"])
    print(
        f"{p['k']}x{p['n']} m {p['m']} threads {p['threads']}:"
        f" {p['us']['ingot']:.2f} µs, {p['percent_of_limit']:.0f} % of the limit;"
        f" best peer {p['best_peer']}"
        f" {r['median']:.2f} [{r['low']:.2f}, {r['high']:.2f}]; {peers}"
        + ("" if p["trustworthy"] else " - TOO NOISY TO TRUST"),
        flush=True,
    )


def measure_picks(layer, m, target):
    """How the compiler's tile stands among the others; a bad one is measured again."""
    command = [BUILD / "ingot", "info", "--kernels", f"{m},{layer[0]},{layer[1]}"]
    command += ["--json", "-q", "--target", target]
    tables = []
    while len(tables) < 3:
        text = subprocess.run(command, check=True, capture_output=True).stdout
        tables.append(json.loads(text))
        if tables[-1]["pick_behind_percent"] <= MAX_SLOWDOWN:
            break
    return min(tables, key=lambda t: t["pick_behind_percent"])


def tile_text(tile):
    return f"{tile['block_rows']}x{tile['columns']}"


def compare_picks(options):
    tables, bad = [], 0
    for layer in wanted_layers(options):
        for m in options.rows:
            table = measure_picks(layer, m, options.target)
            tables.append(table)
            best = table["candidates"][0]
            pick = next(c for c in table["candidates"] if c["is_pick"])
            is_bad = table["pick_behind_percent"] > MAX_SLOWDOWN
            bad += is_bad
            print(
                f"{layer[0]}x{layer[1]} m {m}: {tile_text(pick)}"
                f" {pick['percent_of_fma']:.1f} % of fma, best {tile_text(best)}"
                f" {best['percent_of_fma']:.1f} %"
                + (f" - {table['pick_behind_percent']:.1f} % BEHIND" if is_bad else ""),
                flush=True,
            )
    print(f"{bad} of {len(tables)} picks take over {MAX_SLOWDOWN} % longer than the best tile")
    return tables


def numbers(text):
    return [int(part) for part in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", choices=[*LAYERS, "all"], default="all")
    parser.add_argument("--shape", help="K,N in place of the known layers")
    parser.add_argument("--rows", type=numbers, default=[1, 2, 4, 8, 16, 64, 256, 2048])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--target", default="cpu", help="what Ingot compiles for")
    parser.add_argument("--quick", action="store_true", help="a first look only")
    parser.add_argument("--picks", action="store_true", help="tiles in place of peers")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def wanted_layers(options):
    if options.shape:
        return [tuple(numbers(options.shape))]
    kinds = LAYERS if options.layers == "all" else [options.layers]
    return [shape for kind in kinds for shape in LAYERS[kind]]


def main():
    options = parse_options()
    machine = machine_facts()
    print(json.dumps(machine))
    points = compare_picks(options) if options.picks else []
    for k, n in [] if options.picks else wanted_layers(options):
        layer = Layer(k, n)
        for m in options.rows:
            layer.take_rows(m)
            for threads in options.threads:
                point = compare_layer(layer, threads, options)
                print_point(point)
                points.append(point)
    if options.json:
        text = json.dumps({"machine": machine, "points": points}, indent=1)
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
