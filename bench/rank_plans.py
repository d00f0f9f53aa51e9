#!/usr/bin/env python3
"""The planner's cost model against ranks of this host: plans of one model, by both.

SPDX-License-Identifier: Apache-2.0

    $python bench/rank_plans.py --ranks 2 3 4        # predicted and measured
    $python bench/rank_plans.py --chunks 1 2 4       # one plan, the batch in chunks
    $python bench/rank_plans.py --threads            # as many threads of one process

The model looks up drawn tables of f32, ids of fixed counts, and has one thin layer, or with
--chunks those of a DLRM.  Each plan is rated by
`ingot shard --plan` with what `ingot shard --measure` says of this machine, without a
backward pass (what the ranks run has none), and run by `ingot bench --ranks`, plan after
plan, several rounds; medians count.  Times are to the plan that is the fastest by each:
ratios and order are what may be compared.  Agreement is Kendall's: 1 is the same order,
-1 the other.  Ranks that share processors take as long as the work of all of them, not as
the busiest one's, which is why that stands beside.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

from ingot_runtime import BUILD

INGOT = str(pathlib.Path(BUILD) / "ingot")
TABLES = [  # rows, columns, ids of a bag
    (200_000, 64, 1), (150_000, 64, 4), (100_000, 128, 2), (80_000, 32, 10),
    (50_000, 64, 1), (20_000, 128, 8), (10_000, 16, 20), (1_000, 64, 1),
]
DENSE, HIDDEN, TOP = 13, 256, 256


def layers_of(is_dense):
    """Weights by name, and the lines of the graph behind %c, all bags side by side."""
    width = sum(columns for _, columns, _ in TABLES)
    if not is_dense:
        return ({"w": (width + DENSE, 1)},
                ["    %c = concat %x, {bags} {{axis = 1}}", "    %y = matmul %c, @w"])
    return ({"w0": (DENSE, HIDDEN), "w1": (width + HIDDEN, TOP), "w2": (TOP, TOP),
             "w3": (TOP, 1)},
            ["    %d0 = matmul %x, @w0", "    %d1 = relu %d0",
             "    %c = concat %d1, {bags} {{axis = 1}}", "    %h0 = matmul %c, @w1",
             "    %h1 = relu %h0", "    %h2 = matmul %h1, @w2", "    %h3 = relu %h2",
             "    %h4 = matmul %h3, @w3", "    %y = sigmoid %h4"])


def write_model(folder, draw, is_dense):
    """model.ig, with weights of drawn numbers in a file beside it."""
    shapes, lines = layers_of(is_dense)
    shapes = {f"t{i}": table[:2] for i, table in enumerate(TABLES)} | shapes
    text, offset = ["module @m {"], 0
    with open(folder / "model.weights", "wb") as file:
        for name, (rows, columns) in shapes.items():
            data = draw.standard_normal((rows, columns), np.float32) * 0.05
            file.write(data.tobytes())
            text.append(f'  weight @{name} : f32[{rows}, {columns}] = '
                        f'file("model.weights", {offset}, {data.nbytes})')
            offset += data.nbytes
    ids = "".join(f", %ids_{i}: i64[B, {length}]" for i, (*_, length) in enumerate(TABLES))
    text.append(f"  graph @main(%x: f32[B, {DENSE}]{ids}) -> (f32[B, 1]) {{")
    text += [f"    %b{i} = bag @t{i}, %ids_{i} {{operands = [0], pool = [sum]}}"
             for i in range(len(TABLES))]
    bags = ", ".join(f"%b{i}" for i in range(len(TABLES)))
    text += [line.format(bags=bags) if "{bags}" in line else line for line in lines]
    text += ["    ret %y", "  }", "}"]
    (folder / "model.ig").write_text("\n".join(text) + "\n")


# ---- plans ----


def whole(rank, rows, columns):
    return [{"rank": rank, "size": [rows, columns], "offset": [0, 0]}]


def by_rows(world, rows, columns):
    block = -(-rows // world)
    edges = [min(r * block, rows) for r in range(world + 1)]
    return [{"rank": r, "size": [edges[r + 1] - edges[r], columns], "offset": [edges[r], 0]}
            for r in range(world)]


def by_columns(world, i, rows, columns):
    half = columns // 2
    return [{"rank": (i + r) % world, "size": [rows, half], "offset": [0, half * r]}
            for r in range(2)]


def entry(i, kind, shards):
    return {"name": f"t{i}", "sharding_type": kind, "compute_kernel": "fused",
            "shards": shards}


def plans_of(world):
    """Name -> plan."""
    all_tables = [(i, rows, columns) for i, (rows, columns, _) in enumerate(TABLES)]
    half = len(TABLES) // 2
    made = {
        "tables in turn": [entry(i, "table_wise", whole(i % world, r, c))
                           for i, r, c in all_tables],
        "all on rank 0": [entry(i, "table_wise", whole(0, r, c)) for i, r, c in all_tables],
        "most on rank 0": [entry(i, "table_wise", whole(0 if i < 6 else i % world, r, c))
                           for i, r, c in all_tables],
        "by rows": [entry(i, "row_wise", by_rows(world, r, c)) for i, r, c in all_tables],
        "by columns": [entry(i, "column_wise", by_columns(world, i, r, c))
                       for i, r, c in all_tables],
        "half by rows": [entry(i, "row_wise", by_rows(world, r, c)) if i < half else
                         entry(i, "table_wise", whole(i % world, r, c))
                         for i, r, c in all_tables],
    }
    return {name: {"world_size": world, "tables": tables} for name, tables in made.items()}


# ---- both ways to time one ----


def run(*arguments):
    done = subprocess.run([INGOT, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def constraints():
    types = ["table_wise", "row_wise", "column_wise", "data_parallel"]
    return {f"t{i}": {"pooling_factors": [float(length)], "sharding_types": types,
                      "min_partition": columns // 2}
            for i, (_, columns, length) in enumerate(TABLES)}


def topology_of(folder, world):
    path = folder / f"topology{world}.json"
    run("shard", "--measure", "--ranks", world, "-o", path)
    topology = json.loads(path.read_text())
    topology["bwd_compute_multiplier"] = 1e-9
    path.write_text(json.dumps(topology))
    return path


def shard(folder, world, batch, *more):
    given = ["--topology", folder / f"topology{world}.json",
             "--constraints", folder / "constraints.json", "--batch-size", batch]
    return json.loads(run("shard", folder / "model.ig", *given, *more, "--json"))


def median_call(folder, batch, seconds, *more):
    """Milliseconds."""
    ids = itertools.chain.from_iterable(
        ("--input", f"ids_{i}=random:0:{rows}") for i, (rows, *_) in enumerate(TABLES))
    points = json.loads(run("bench", folder / "model.ig", "--batch", batch, "--seconds",
                            seconds, "--json", *ids, *more))
    return points["results"][0]["p50"] * 1e3


def measured(folder, world, batch, seconds, path, *more):
    return median_call(folder, batch, seconds, "--ranks", world, "--plan", path, *more)


def rounds_of(count, runs):
    """Medians of each, in turns."""
    times = [[] for _ in runs]
    for _ in range(count):
        for own, one in zip(times, runs):
            own.append(one())
    return [statistics.median(own) for own in times]


# ---- tables ----


def agreement(a, b):
    """Kendall's: of all pairs, those in the same order less those in the other."""
    pairs = list(itertools.combinations(range(len(a)), 2))
    signs = [np.sign(a[i] - a[k]) * np.sign(b[i] - b[k]) for i, k in pairs]
    return sum(signs) / len(pairs)


def compare_plans(folder, world, given):
    topology_of(folder, world)
    plans = plans_of(world)
    plans["the planner's"] = shard(folder, world, given.batch)
    names, predicted, work, paths = list(plans), [], [], []
    for index, name in enumerate(names):
        path = folder / f"plan{world}-{index}.json"
        path.write_text(json.dumps(plans[name]))
        rated = shard(folder, world, given.batch, "--plan", path)
        predicted.append(rated["critical_path"])
        work.append(sum(rank["total"] for rank in rated["ranks"]))
        paths.append(path)
    times = rounds_of(given.rounds, [
        lambda path=path: measured(folder, world, given.batch, given.seconds, path)
        for path in paths])
    print(f"\n{world} ranks, {given.batch} samples each\n")
    print("| plan | predicted, ms | measured p50, ms | predicted, to the best "
          "| work of all ranks | measured |")
    print("|---|---:|---:|---:|---:|---:|")
    rows = sorted(zip(predicted, names, work, times))
    for guess, name, all_work, time in rows:
        print(f"| {name} | {guess:.3f} | {time:.3f} | {guess / min(predicted):.2f} | "
              f"{all_work / min(work):.2f} | {time / min(times):.2f} |")
    chosen = times[predicted.index(min(predicted))]
    print(f"\nagreement of the order: {agreement(predicted, times):.2f}, with the work of all "
          f"ranks {agreement(work, times):.2f}; what is predicted best takes "
          f"{chosen / min(times):.2f} of the fastest")


def compare_chunks(folder, world, given):
    path = folder / "chunks.json"
    path.write_text(json.dumps(plans_of(world)["tables in turn"]))
    times = rounds_of(given.rounds, [
        lambda chunks=chunks: measured(folder, world, given.batch, given.seconds, path,
                                       "--chunks", chunks)
        for chunks in given.chunks])
    print(f"\n{world} ranks, {given.batch} samples each, tables in turn\n")
    print("| chunks | p50, ms | to the first |\n|---:|---:|---:|")
    for chunks, time in zip(given.chunks, times):
        print(f"| {chunks} | {time:.3f} | {time / times[0]:.2f} |")


def compare_threads(folder, world, given):
    """One process of as many threads over ranks, each of which has a part of the batch."""
    path = folder / "in_turn.json"
    path.write_text(json.dumps(plans_of(world)["tables in turn"]))
    kinds = {"as they are chosen": [], "tables in turn": ["--plan", path]}
    runs = [lambda more=more: median_call(folder, given.batch, given.seconds, "--ranks", world,
                                          *more) for more in kinds.values()]
    runs.insert(0, lambda: median_call(folder, given.batch * world, given.seconds,
                                       "--threads", world))
    times = rounds_of(given.rounds, runs)
    print(f"\n{world} ranks, {given.batch} samples each: {times[0]:.3f} ms by threads")
    for name, time in zip(kinds, times[1:]):
        print(f"  {name}: {time:.3f} ms, {times[0] / time:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--batch", type=int, default=512, help="samples of each rank")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--chunks", type=int, nargs="+")
    parser.add_argument("--threads", action="store_true")
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_model(folder, np.random.default_rng(5), bool(given.chunks or given.threads))
        (folder / "constraints.json").write_text(json.dumps(constraints()))
        for world in given.ranks:
            compare = (compare_threads if given.threads else compare_chunks if given.chunks
                       else compare_plans)
            compare(folder, world, given)


if __name__ == "__main__":
    main()
