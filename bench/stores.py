#!/usr/bin/env python3
"""Stores beside what they are made of, and a model whose tables lie in one.

    $python bench/stores.py [redis] [lmdb] [transform] [serving] [--json FILE]

redis      rows of 512 bytes in batches of 1,024 against the same one by one, and against
           redis-benchmark -P 100 -d 512 -r 1000000, in turns, on one server that has 95 %
           of its keys
lmdb       batches of 1,024 rows, a commit each, against mdb_get and mdb_put
transform  rows for ids against TorchRec's algorithm written plainly in C++
serving    a DLRM of 8 tables, of which a tenth is in memory, against itself in memory:
           bits, rate of one thread (cpu_rate: of its CPU time alone), and a trace that
           shows fetches beside computing

Needs cc, c++, liblmdb-dev, redis; serving also numpy and onnx.  Exit status 1: a goal is
missed.  SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", ROOT / "build/release")).resolve()
INGOT = BUILD / "ingot"
GOALS = {("redis", "of_single"): 10, ("redis", "get_of_benchmark"): 1,
         ("redis", "set_of_benchmark"): 1, ("lmdb", "get_of_raw"): 0.8,
         ("lmdb", "put_of_raw"): 0.8, ("transform", "of_plain"): 1.5,
         ("transform", "ids_per_second"): 20e6, ("serving", "rate"): 0.9}


def build(source, *libraries):
    folder = pathlib.Path(tempfile.mkdtemp())
    program = folder / source.split(".")[0]
    compiler = ["c++", "-std=c++17"] if source.endswith("pp") else ["cc", "-std=gnu11"]
    subprocess.run([*compiler, "-O2", f"-I{ROOT}/include", f"{ROOT}/bench/native/{source}",
                    "-o", program, f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", *libraries],
                   check=True)
    return program


def answer(*command):
    ran = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        sys.exit(f"{command[0]}: {ran.stdout}")
    return json.loads(ran.stdout)


def measure_redis(folder):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    server = subprocess.Popen(["redis-server", "--port", port, "--dir", folder, "--save", ""],
                              stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)
        program = build("store_rates.c", "-lingot-store", "-llmdb")
        ratios = {"of_single": [], "get_of_benchmark": [], "set_of_benchmark": []}

        def benchmark(tests, count):
            return subprocess.run(
                ["redis-benchmark", "-p", port, "-P", "100", "-d", "512", "-r", "1000000",
                 "-n", count, "-t", tests, "-q"], check=True, capture_output=True,
                text=True).stdout

        benchmark("set", "3000000")  # else most of its keys are not there to be read
        for _ in range(5):
            ours = answer(program, "redis", f"redis://127.0.0.1:{port}/?num_threads=2")
            text = benchmark("set,get", "300000")
            theirs = {name: float(rate) for name, rate in
                      re.findall(r"(SET|GET): ([0-9.]+) requests per second", text)}
            ratios["of_single"].append(ours["get"] / ours["single"])
            ratios["get_of_benchmark"].append(ours["get"] / theirs["GET"])
            ratios["set_of_benchmark"].append(ours["put"] / theirs["SET"])
        result = {name: round(statistics.median(some), 3) for name, some in ratios.items()}
        return {**result, **ours, "benchmark_get": theirs["GET"], "benchmark_set": theirs["SET"]}
    finally:
        server.kill()
        server.wait()


def measure_lmdb(folder):
    return answer(build("store_rates.c", "-lingot-store", "-llmdb"), "lmdb", folder)


def measure_transform(folder):
    del folder
    return answer(build("id_transform.cpp", "-lingot-store"), 8192)


def write_dlrm(path, tables, rows, dim):
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    draw = numpy.random.default_rng(1)
    nodes, weights, inputs = [], [], []

    def weight(name, *shape):
        values = draw.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.05)
        weights.append(numpy_helper.from_array(values, name))
        return name

    def layers(name, value, sizes):
        for i, (m, n) in enumerate(zip(sizes, sizes[1:])):
            out = f"{name}{i}"
            nodes.append(helper.make_node("Gemm", [value, weight(f"{out}.w", m, n),
                                                   weight(f"{out}.b", n)], [f"{out}.y"]))
            value = f"{out}.y"
            if n > 1:
                nodes.append(helper.make_node("Relu", [value], [out]))
                value = out
        return value

    inputs.append(helper.make_tensor_value_info("dense", TensorProto.FLOAT, ["B", 13]))
    parts = [layers("bottom", "dense", [13, 512, 256, dim])]
    for t in range(tables):
        inputs.append(helper.make_tensor_value_info(f"ids{t}", TensorProto.INT64, ["B"]))
        nodes.append(helper.make_node("Gather", [weight(f"t{t}", rows, dim), f"ids{t}"],
                                      [f"row{t}"]))
        parts.append(f"row{t}")
    nodes.append(helper.make_node("Concat", parts, ["all"], axis=1))
    last = layers("top", "all", [dim * (tables + 1), 1024, 512, 1])
    output = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["B", 1])
    graph = helper.make_graph(nodes, "dlrm", inputs, [output], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def measure_serving(folder, trace=None):
    tables, rows, dim = 8, 50000, 64
    model, url = f"{folder}/dlrm.onnx", f"lmdb://{folder}/rows.mdb"
    write_dlrm(model, tables, rows, dim)
    run = lambda *c: subprocess.run([INGOT, *c], check=True, stdout=subprocess.DEVNULL)  # noqa: E731
    for t in range(tables):
        run("store", "load", url, model, f"t{t}")
    run("compile", model, "-o", f"{folder}/whole.ingot")
    run("compile", model, "-o", f"{folder}/stored.ingot", "--store", f"t?={url}")
    program = build("stored_serving.c", "-lingot-lookahead", "-lingot-store",
                    "-lingot-runtime")
    return answer(program, f"{folder}/whole.ingot", f"{folder}/stored.ingot", rows,
                  rows // 10, 64, 25, *([trace] if trace else []))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=[])
    parser.add_argument("--json")
    parser.add_argument("--trace", help="of serving, for trace viewers")
    given = parser.parse_args()
    known = {"redis": measure_redis, "lmdb": measure_lmdb, "transform": measure_transform,
             "serving": measure_serving}
    results, missed = {}, 0
    for name in given.what or known:
        folder = tempfile.mkdtemp()
        try:
            arguments = (folder, given.trace) if name == "serving" else (folder,)
            results[name] = known[name](*arguments)
        finally:
            shutil.rmtree(folder)
        for key, value in results[name].items():
            goal = GOALS.get((name, key))
            is_met = goal is None or value >= goal
            missed += not is_met
            said = "" if goal is None else f"  goal {goal:g}{'' if is_met else '  MISSED'}"
            print(f"{name:10} {key:18} {value}{said}", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(results, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
