#!/usr/bin/env python3
"""Compares Ingot with ONNX Runtime, torch and OpenVINO on recommendation models.

SPDX-License-Identifier: Apache-2.0

    compare.py --model legacy --rows large --batch 1,64 --threads 1,2 --json out.json
    compare.py --suite ground
    compare.py --suite models --threads 1
    compare.py --suite all --quick
    INGOT_BASELINE=../before/build/release compare.py --suite ground --engines ingot,baseline

Runs with the Python of bench/peers, against the build in INGOT_BUILD (build/release).
Every engine's outputs are held against each other before anything is timed.  Method:
measure.py; models: models.py, parts.py; settings of the peers: engines.py.  A suite runs
all its rows and exits with 1 when a bar is missed: `ground` the Criteo DLRMs as exporters
write them, `models` chains, cross layers, interaction and whole models against the best
of all peers, `all` one row or more of every kind of model (rows.py).
"""

import argparse
import collections
import json
import os
import pathlib
import sys

import numpy as np

import measure
from call_cost import call_costs
from engines import ENGINES
from machine import machine_facts
from models import KINDS, ROWS, Model, lookups_per_sample, write_onnx
from parts import PARTS, Part
from rows import run_all

L3_TIMES = 4  # sets of inputs touch this many times the last-level cache
MIN_SETS, MAX_SETS = 48, 4096
MIN_FEW_SETS, MAX_INPUT_BYTES = 8, 256 << 20
MIN_RESIDENT = 1 << 16  # bytes that the calibrator needs
TOLERANCE = {"rtol": 1e-3, "atol": 1e-5}

Source = collections.namedtuple("Source", "model path weights load")

# {(kind, peer): least ratio at batch 1, 64, 1024}
BATCHES = (1, 64, 1024)
BARS = {
    ("legacy", "onnxruntime"): (5, 8, 8),
    ("dynamo", "onnxruntime"): (8, 15, 20),
    ("onehot", "onnxruntime"): (1.4, 1.15, 1.1),
    ("legacy", "torch"): (4, 1.4, 1.2),
    ("dynamo", "torch"): (4, 1.4, 1.2),
}
BASELINE_BAR = 0.98  # of the median, against another build of Ingot
# Of --suite models, against every peer: {kind: (bar at batch 1, bar above)}, batches.
CHAIN_BATCHES, MODEL_BATCHES = (1, 16, 64, 256), (1, 64, 1024)
MODEL_BARS = {
    **{kind: (1.3, 1.05) for kind in PARTS if kind.startswith("chain")},
    "cross": (1.3, 1.1),
    "dots_64": (1.3, 2),
    "dots_128": (1.3, 2),
    "onehot": (1.5, 1.1),
    "mlperf": (1.5, 1.1),
    "bench": (1.5, 1.1),
}
FIRST_ENGINES = ("ingot", "onnxruntime", "torch")
ALL_PEERS = ("onnxruntime", "openvino", "torch")


# One point: a model, a batch size, a number of threads.


def set_count(model, batch, cache_bytes):
    """Sets enough that look-ups into large tables do not find their lines cached."""
    if model.size == "small":
        each = sum(array.nbytes for array in model.make_inputs(np.random.default_rng(0), 1))
        high = MAX_INPUT_BYTES // (each * batch)
        return int(min(max(high, MIN_FEW_SETS), MIN_SETS))
    touched = batch * lookups_per_sample(model) * model.facts.dim * 4
    wanted = -(-L3_TIMES * cache_bytes // touched)
    return int(min(max(wanted, MIN_SETS), MAX_SETS))


def check_agreement(engines, sets):
    """Stops when two engines give different scores."""
    for index in range(min(sets, 4)):
        for engine in engines:
            engine.run(index)
        want = np.array(engines[-1].output(index))
        for engine in engines[:-1]:
            got = engine.output(index)
            if not np.allclose(got, want, **TOLERANCE):
                worst = np.abs(got - want).max()
                sys.exit(
                    f"{engine.name} differs from {engines[-1].name} by {worst:.2g}"
                )


def dense_work(model):
    """(FLOP a sample, bytes of weights) of all but the tables."""
    if model.kind in PARTS:
        return model.facts.work[:2]
    facts, flops, weights = model.facts, 0, 0
    layers = list(zip(facts.bottom, facts.bottom[1:])) + list(
        zip(facts.top, facts.top[1:])
    )
    if facts.cross_rank:
        layers += [(facts.top[0], facts.cross_rank)] * 6
    else:
        features = len(model.rows) + 1
        flops += features * (features - 1) * facts.dim  # the triangle of dots
    for fan_in, fan_out in layers:
        flops += 2 * fan_in * fan_out
        weights += 4 * fan_in * fan_out
    return flops, weights


def limit_seconds(model, batch, values):
    """The least time this machine could take in that round: arithmetic at the FMA rate
    or the weights once through the cores, then every row from where its table lies."""
    flops, weights = dense_work(model)
    compute = batch * flops / (values["fma_gflops"] * 1e9)
    stream = weights / (values["resident_gbs"] * 1e9)
    if model.kind in PARTS:
        moved = batch * model.facts.work[2] / (values["stream_gbs"] * 1e9)
        return max(compute, stream, moved)
    row_bytes = batch * lookups_per_sample(model) * model.facts.dim * 4
    if model.size == "large":
        rows = row_bytes / 64 * values["line_ns"] * 1e-9
    else:
        rows = row_bytes / (values["resident_gbs"] * 1e9)
    return max(compute, stream) + rows


def summarise(source, batch, threads, names, rounds):
    quiet = measure.believable(rounds)
    kept = quiet if len(quiet) >= len(rounds) // 2 else rounds
    limits = [limit_seconds(source.model, batch, v) for v in kept]
    point = {
        "model": source.model.name,
        "batch": batch,
        "threads": threads,
        "load_average": os.getloadavg()[0],
        "rounds": len(rounds),
        "rounds_kept": len(quiet),
        "trustworthy": kept is quiet,
        "limit_us": float(np.median(limits)) * 1e6,
        "us": {n: float(np.median([v[n] for v in kept])) * 1e6 for n in names},
        "ratios": {},
    }
    probes = [name for name in rounds[0] if name not in names]
    point["calibrators"] = {r: float(np.median([v[r] for v in kept])) for r in probes}
    point["percent_of_limit"] = {
        n: float(np.median([100 * l / v[n] for l, v in zip(limits, kept)]))
        for n in names
    }
    for peer in names[1:] if names[0] == "ingot" else []:
        point["ratios"][peer] = measure.ratios(kept, "ingot", peer)
    return point


def compare_point(source, engines, batch, threads, cache_bytes):
    count = set_count(source.model, batch, cache_bytes)
    rng = np.random.default_rng(batch)
    sets = [source.model.make_inputs(rng, batch) for _ in range(count)]
    for engine in engines:
        engine.prepare(sets)
    check_agreement(engines, count)
    resident_bytes = max(dense_work(source.model)[1], MIN_RESIDENT)
    rounds = measure.measure_rounds(engines, count, threads, resident_bytes)
    point = summarise(source, batch, threads, [e.name for e in engines], rounds)
    point["settings"] = {e.name: dict(e.settings) for e in engines}
    return point


def compare_model(options, model, machine):
    """All points of a model; one set of engines a number of threads."""
    weights = model.make_weights()
    source = Source(model, write_onnx(model, weights), weights, options.load)
    cache_bytes = machine["last_level_cache"]
    for threads in options.threads:
        engines = [ENGINES[name](source, threads) for name in options.engines]
        for batch in options.batch:
            point = compare_point(source, engines, batch, threads, cache_bytes)
            print_point(point)
            yield point
        for engine in engines:
            engine.close()


# What is printed.


def print_point(point):
    times = "  ".join(
        f"{name} {us:.1f} µs ({point['percent_of_limit'][name]:.0f} %)"
        for name, us in point["us"].items()
    )
    print(
        f"{point['model']} batch {point['batch']} threads {point['threads']}: {times}"
    )
    for peer, r in point["ratios"].items():
        band = f"[{r['low']:.2f}, {r['high']:.2f}]"
        print(f"    {peer} / ingot = {r['median']:.2f} {band}", end="")
        print(f", 10-90 % of rounds {r['p10']:.2f} to {r['p90']:.2f}")
    c = point["calibrators"]
    print(
        f"    limit {point['limit_us']:.1f} µs; fma {c['fma_gflops']:.0f} GFLOP/s,"
        f" line {c['line_ns']:.1f} ns, stream {c['stream_gbs']:.0f} GB/s,"
        f" resident {c['resident_gbs']:.0f} GB/s;"
        f" {point['rounds_kept']} of {point['rounds']} rounds kept",
        "" if point["trustworthy"] else "- TOO NOISY TO TRUST",
        flush=True,
    )


def markdown_table(points):
    lines = ["| model | batch | threads | µs | % of limit | against | ratio (95 %) |"]
    lines.append("|---|---|---|---|---|---|---|")
    for p in points:
        for peer, r in p["ratios"].items():
            cells = [p["model"], p["batch"], p["threads"], f"{p['us']['ingot']:.1f}"]
            cells += [f"{p['percent_of_limit']['ingot']:.0f}", peer]
            cells.append(f"{r['median']:.2f} ({r['low']:.2f} to {r['high']:.2f})")
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


# The bars.


def bar_of(point, peer):
    """At one thread the bar of that row; at two it must only not lose."""
    kind = point["model"].split("-")[0]
    if peer == "baseline":
        return BASELINE_BAR
    row = BARS.get((kind, peer))
    if row is None or point["batch"] not in BATCHES:
        return None
    return row[BATCHES.index(point["batch"])] if point["threads"] == 1 else 1.0


def model_bar(point, peer):
    if peer == "baseline":
        return BASELINE_BAR
    kind = point["model"].split("-")[0]
    bars = MODEL_BARS[kind]
    return bars[point["batch"] > 1] if point["threads"] == 1 else 1.0


def judge_points(points, bar_of=bar_of):
    """[(what, measured, bar, passed)]."""
    for point in points:
        for peer, ratio in point["ratios"].items():
            bar = bar_of(point, peer)
            if bar is not None:
                what = f"{point['model']} batch {point['batch']}"
                what += f" threads {point['threads']} vs {peer}"
                yield what, f"{ratio['median']:.2f}x, low {ratio['low']:.2f}", bar, (
                    ratio["median" if peer == "baseline" else "low"] >= bar
                )


def print_verdicts(verdicts):
    for what, measured, bar, passed in verdicts:
        print(f"{'pass' if passed else 'MISS'}  {what}: {measured} (bar {bar})")
    missed = sum(not passed for *_, passed in verdicts)
    print(f"{len(verdicts) - missed} passed, {missed} failed")
    return missed == 0


def run_ground(options, machine):
    """The whole suite: every model and size, then start-up times."""
    from start_up import judge_start_up

    points = []
    for size in ROWS:
        for kind in ("legacy", "dynamo", "onehot"):
            peers = [peer for k, peer in BARS if k == kind]
            options.engines = options.given_engines or ["ingot"] + peers
            points += compare_model(options, Model(kind, size), machine)
    start_up = [] if options.given_engines else judge_start_up()
    return points, list(judge_points(points)) + start_up


def run_models(options, machine):
    """Chains, cross layers and interaction, then whole models, tables in no cache."""
    points = []
    options.engines = options.given_engines or ["ingot", *ALL_PEERS]
    for kind in MODEL_BARS:
        is_part = kind in PARTS
        options.batch = CHAIN_BATCHES if is_part else MODEL_BATCHES
        model = Part(kind) if is_part else Model(kind, "large")
        points += compare_model(options, model, machine)
    return points, list(judge_points(points, model_bar))


SUITES = {"ground": run_ground, "models": run_models, "all": run_all}


def numbers(text):
    return [int(part) for part in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=[*KINDS, *PARTS], default="legacy")
    parser.add_argument("--rows", choices=ROWS, default="small")
    parser.add_argument("--batch", type=numbers, default=list(BATCHES))
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--engines", help="ingot,onnxruntime,torch unless a suite says")
    parser.add_argument("--load", choices=("mapped", "hugepage"), default="hugepage")
    parser.add_argument("--suite", choices=SUITES)
    parser.add_argument("--only", metavar="PATTERN", help="rows of the suite all, by name")
    parser.add_argument("--quick", action="store_true", help="nine short rounds (suite all)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.given_engines = options.engines and options.engines.split(",")
    options.engines = options.given_engines or list(FIRST_ENGINES)
    return options


def main():
    options = parse_options()
    machine = machine_facts()
    print(json.dumps(machine, indent=1))
    costs = {}
    if options.suite != "all":
        costs = call_costs([e for e in options.engines if e != "baseline"])
        print("one-node call, µs:", costs)
    verdicts = []
    if options.suite:
        points, verdicts = SUITES[options.suite](options, machine)
    else:
        is_part = options.model in PARTS
        model = Part(options.model) if is_part else Model(options.model, options.rows)
        points = list(compare_model(options, model, machine))
    if options.suite != "all":
        print(markdown_table(points))
    good = print_verdicts(verdicts) if verdicts else True
    if options.json:
        result = {"machine": machine, "call_us": costs, "points": points}
        result["verdicts"] = verdicts
        options.json.write_text(json.dumps(result, indent=1) + os.linesep)
    sys.exit(not good)


if __name__ == "__main__":
    main()
