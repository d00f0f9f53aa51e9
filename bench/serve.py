#!/usr/bin/env python3
"""Serving: sessions of one thread each, side by side, against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    serve.py --model onehot,mlperf --batch 1,16 --sessions 2 --json out.json

Each session lives in a process of its own that is bound to a CPU, so no interpreter lock
couples them; both engines are driven by the same loop.  In every round the engines take
turns in random order, all sessions of one at once, for the same time; throughput is the
calls of all of them, p99 that of all their latencies.  Rounds in which a calibrator is
off its median are dropped, ratios are taken within rounds (measure.py).  The bars: 1.5
times ONNX Runtime's throughput, 0.7 times its p99, with the interval's edge.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import sys
import time

import numpy as np

import measure
from compare import Source, check_agreement, dense_work, set_count
from engines import ENGINES
from machine import machine_facts
from models import KINDS, ROWS, Model, make_inputs, make_weights, write_onnx

ROUNDS = 15
TURN_SECONDS = 0.25
WARM_SECONDS = 0.1
NAMES = ("ingot", "onnxruntime")
THROUGHPUT_BAR, P99_BAR = 1.5, 0.7


# A session's process.


def call_for(engine, sets, seconds, first):
    """Latencies of calls, one behind the other."""
    clock, run, took = time.perf_counter, engine.run, []
    begin = clock()
    end, number = begin + seconds, first
    while begin < end:
        run(number % sets)
        after = clock()
        took.append(after - begin)
        begin, number = after, number + 1
    return took


def serve(pipe, barrier, name, source, batch, count, cpu):
    os.sched_setaffinity(0, {cpu})
    rng = np.random.default_rng(batch + cpu)
    sets = [make_inputs(rng, source.model, batch) for _ in range(count)]
    engine = ENGINES[name](source, 1)
    engine.prepare(sets)
    first = 0
    pipe.send("ready")
    while pipe.recv() == "turn":
        barrier.wait()
        call_for(engine, count, WARM_SECONDS, first)
        took = call_for(engine, count, TURN_SECONDS, first + count // 2)
        first += len(took)
        pipe.send(np.array(took))
    engine.close()


class Servers:
    """The sessions of one engine."""

    def __init__(self, name, source, batch, count, sessions):
        context = multiprocessing.get_context("spawn")
        cpus = sorted(os.sched_getaffinity(0))
        self.name, self.pipes, self.processes = name, [], []
        barrier = context.Barrier(sessions)
        for i in range(sessions):
            ours, theirs = context.Pipe()
            cpu = cpus[i % len(cpus)]
            arguments = (theirs, barrier, name, source, batch, count, cpu)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)
        for pipe in self.pipes:
            pipe.recv()

    def turn(self):
        """{calls a second, p99 in seconds, p50} of all sessions together."""
        for pipe in self.pipes:
            pipe.send("turn")
        took = [pipe.recv() for pipe in self.pipes]
        all_of_them = np.concatenate(took)
        return {
            "per_second": sum(len(t) / t.sum() for t in took),
            "p50": float(np.quantile(all_of_them, 0.5)),
            "p99": float(np.quantile(all_of_them, 0.99)),
        }

    def close(self):
        for pipe in self.pipes:
            pipe.send("end")
        for process in self.processes:
            process.join()


# A point: a model, a batch size.


def agree(source, batch):
    rng = np.random.default_rng(batch)
    sets = [make_inputs(rng, source.model, batch) for _ in range(4)]
    engines = [ENGINES[name](source, 1) for name in NAMES]
    for engine in engines:
        engine.prepare(sets)
    check_agreement(engines, len(sets))
    for engine in engines:
        engine.close()


def measure_point(source, batch, sessions, cache_bytes):
    agree(source, batch)
    count = set_count(source.model, batch, cache_bytes)
    servers = [Servers(name, source, batch, count, sessions) for name in NAMES]
    resident, rounds = dense_work(source.model)[1], []
    for _ in range(ROUNDS):
        values = measure.calibrate(sessions, resident)
        random.shuffle(servers)
        for server in servers:
            time.sleep(measure.SETTLE_SECONDS)
            values[server.name] = server.turn()
        rounds.append(values)
    for server in servers:
        server.close()
    return rounds


def ratio(rounds, field):
    """Of ours to the peer's."""
    ours, peer = NAMES
    return measure.median_with_interval([v[ours][field] / v[peer][field] for v in rounds])


def summarise(source, batch, sessions, rounds):
    quiet = measure.believable(rounds)
    kept = quiet if len(quiet) >= len(rounds) // 2 else rounds
    return {
        "model": source.model.name,
        "batch": batch,
        "sessions": sessions,
        "rounds": len(rounds),
        "rounds_kept": len(quiet),
        "trustworthy": kept is quiet,
        "throughput_ratio": ratio(kept, "per_second"),
        "p99_ratio": ratio(kept, "p99"),
        "engines": {
            name: {
                field: float(np.median([v[name][field] for v in kept]))
                for field in ("per_second", "p50", "p99")
            }
            for name in NAMES
        },
    }


def print_point(point):
    where = f"{point['model']} batch {point['batch']}, {point['sessions']} sessions"
    for name, facts in point["engines"].items():
        print(
            f"{where}: {name} {facts['per_second']:.0f} calls/s,"
            f" p50 {facts['p50'] * 1e6:.1f} µs, p99 {facts['p99'] * 1e6:.1f} µs"
        )
    for what in ("throughput_ratio", "p99_ratio"):
        r = point[what]
        print(f"    {what} {r['median']:.2f} [{r['low']:.2f}, {r['high']:.2f}]", end="")
    note = "" if point["trustworthy"] else " - TOO NOISY TO TRUST"
    print(f"; {point['rounds_kept']} of {point['rounds']} rounds kept{note}", flush=True)


def verdicts(point):
    """[(what, measured, bar, passed)]."""
    where = f"{point['model']} batch {point['batch']}, {point['sessions']} sessions"
    calls, tail = point["throughput_ratio"], point["p99_ratio"]
    return [
        (
            f"{where}: throughput vs onnxruntime",
            f"{calls['median']:.2f}x, low {calls['low']:.2f}",
            THROUGHPUT_BAR,
            calls["low"] >= THROUGHPUT_BAR,
        ),
        (
            f"{where}: p99 vs onnxruntime",
            f"{tail['median']:.2f}x, high {tail['high']:.2f}",
            P99_BAR,
            tail["high"] <= P99_BAR,
        ),
    ]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="onehot,mlperf")
    parser.add_argument("--rows", choices=ROWS, default="small")
    parser.add_argument("--batch", default="1,16")
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--load", choices=("mapped", "hugepage"), default="hugepage")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    unknown = set(options.model.split(",")) - set(KINDS)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}")
    return options


def main():
    options, points, judged = parse_options(), [], []
    machine = machine_facts()
    print(json.dumps(machine))
    for kind in options.model.split(","):
        model = Model(kind, options.rows)
        # Servers read the file; weights need not travel to them.
        source = Source(model, write_onnx(model, make_weights(model)), None, options.load)
        for batch in map(int, options.batch.split(",")):
            rounds = measure_point(
                source, batch, options.sessions, machine["last_level_cache"]
            )
            points.append(summarise(source, batch, options.sessions, rounds))
            print_point(points[-1])
            judged += verdicts(points[-1])
    for what, measured, bar, passed in judged:
        print(f"{'pass' if passed else 'MISS'}  {what}: {measured} (bar {bar})")
    missed = sum(not passed for *_, passed in judged)
    print(f"{len(judged) - missed} passed, {missed} failed")
    if options.json:
        result = {"machine": machine, "points": points}
        options.json.write_text(json.dumps(result, indent=1) + os.linesep)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
