#!/usr/bin/env python3
"""Serving: callers of one thread each, side by side, against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    serve.py --model onehot,mlperf --batch 1,16 --sessions 2 --json out.json

All callers live in this process, each on a CPU and a thread of its own, and call from C:
the loop is that of `ingot bench --sessions` (tools/ingot/measure/load_generator.c), for
both engines.  Ingot has one program with a session a caller.  ONNX Runtime is there
twice, with a session a caller and with one session that all of them call, which its
documentation allows and which keeps one copy of the weights; the better of the two is
the peer.  In
every round the engines take turns in random order; throughput is the calls of all
callers, p99 that of all their latencies.  Rounds in which a calibrator is off its median
are dropped, ratios are taken within rounds (measure.py).  The bars: 1.5 times ONNX
Runtime's throughput, 0.7 times its p99, with the interval's edge.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import sys
import time

import numpy as np

import measure
import onnxruntime_c
from compare import TOLERANCE, Source, dense_work, set_count
from engines import compiled, output_arrays
from ingot_runtime import DTYPES, Binding, Program
from machine import machine_facts
from models import KINDS, ROWS, Model, make_inputs, make_weights, write_onnx
from native_peers import load_native, pointers

ROUNDS = 15
TURN_SECONDS = 0.3
THROUGHPUT_BAR, P99_BAR = 1.5, 0.7
OURS = "ingot"
GOOD = 0


# What serve.c and load_generator.c read.


class Caller(ctypes.Structure):
    _fields_ = [
        ("call", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("next", ctypes.c_size_t),
        ("cpu", ctypes.c_int),
        ("answer", ctypes.c_int),
        ("limit", ctypes.c_double),
        ("seconds", ctypes.POINTER(ctypes.c_double)),
        ("count", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
    ]


class IngotServer(ctypes.Structure):
    _fields_ = [
        ("run", ctypes.c_void_p),
        ("session", ctypes.c_void_p),
        ("views", ctypes.c_void_p),
        ("inputs", ctypes.c_size_t),
        ("outputs", ctypes.c_size_t),
        ("addresses", ctypes.c_void_p),
        ("sets", ctypes.c_size_t),
    ]


class OnnxruntimeServer(ctypes.Structure):
    _fields_ = [
        ("run", ctypes.c_void_p),
        ("session", ctypes.c_void_p),
        ("bindings", ctypes.c_void_p),
        ("sets", ctypes.c_size_t),
    ]


# The engines: the server of each caller, with its sets of inputs and outputs.


class Ingot:
    name, function = OURS, "serve_ingot"

    def __init__(self, source, callers):
        self.program = Program(compiled(source), load=source.load)
        self.sessions = [self.program.session(1) for _ in range(callers)]

    def server(self, caller, sets, outputs):
        session = self.sessions[caller]
        bindings = [Binding(arrays, [out]) for arrays, out in zip(sets, outputs)]
        both = [*bindings[0].inputs, *bindings[0].outputs]
        views = (type(both[0]) * len(both))(*both)
        addresses = [pointers(binding.arrays) for binding in bindings]
        table = (ctypes.c_void_p * len(sets))(*map(ctypes.addressof, addresses))
        server = IngotServer(
            ctypes.cast(session.run_function, ctypes.c_void_p),
            session.handle,
            ctypes.addressof(views),
            len(bindings[0].inputs),
            len(bindings[0].outputs),
            ctypes.addressof(table),
            len(sets),
        )
        server.kept = bindings, views, addresses, table
        return server

    def close(self):
        for session in self.sessions:
            session.close()
        self.program.close()


class Onnxruntime:
    name, function = "onnxruntime", "serve_onnxruntime"

    def __init__(self, source, callers):
        sessions = self.session_count(callers)
        self.sessions = [onnxruntime_c.Session(source.path) for _ in range(sessions)]
        self.bindings = []

    @staticmethod
    def session_count(callers):
        return callers

    def server(self, caller, sets, outputs):
        session = self.sessions[caller % len(self.sessions)]
        bindings = [session.bind(a, out, onnx_code) for a, out in zip(sets, outputs)]
        self.bindings += bindings
        table = (ctypes.c_void_p * len(sets))(*bindings)
        run = onnxruntime_c.address("RunWithBinding")
        at = ctypes.addressof(table)
        server = OnnxruntimeServer(run, session.handle, at, len(sets))
        server.kept = sets, outputs, table
        return server

    def close(self):
        for binding in self.bindings:
            onnxruntime_c.release_binding(binding)
        for session in self.sessions:
            session.close()


class SharedOnnxruntime(Onnxruntime):
    name = "onnxruntime, one session"

    @staticmethod
    def session_count(callers):
        return 1


ENGINES = (Ingot, Onnxruntime, SharedOnnxruntime)


def onnx_code(array):
    return DTYPES[array.dtype.name]


class Load:
    """An engine and its callers."""

    def __init__(self, kind, source, batch, sets):
        self.lib, self.name = load_native("serve"), kind.name
        self.lib.load_generate.restype = ctypes.c_bool
        self.engine = kind(source, len(sets))
        self.outputs = [[output_arrays(source, batch)[0] for _ in own] for own in sets]
        self.servers = [
            self.engine.server(i, own, self.outputs[i]) for i, own in enumerate(sets)
        ]
        self.call = getattr(self.lib, kind.function)
        call, cpus = ctypes.cast(self.call, ctypes.c_void_p), os.sched_getaffinity(0)
        cpus = [sorted(cpus)[i % len(cpus)] for i in range(len(sets))]
        self.callers = (Caller * len(sets))()
        for caller, server, cpu in zip(self.callers, self.servers, cpus):
            caller.call, caller.user = call, ctypes.addressof(server)
            caller.cpu = cpu

    def first_outputs(self):
        """Of every caller's first set."""
        for server in self.servers:
            if self.call(ctypes.byref(server), ctypes.c_size_t(0)) != GOOD:
                sys.exit(f"{self.name}: a call failed")
        return [outputs[0] for outputs in self.outputs]

    def turn(self):
        """{calls a second, p99 in seconds, p50} of all callers together."""
        for caller in self.callers:
            caller.count = 0
        done = self.lib.load_generate(
            self.callers, ctypes.c_size_t(len(self.callers)), ctypes.c_double(TURN_SECONDS)
        )
        if not done or any(caller.answer != GOOD for caller in self.callers):
            sys.exit(f"{self.name}: a call failed")
        took = [np.ctypeslib.as_array(c.seconds, (c.count,)) for c in self.callers]
        together = np.concatenate(took)
        return {
            "per_second": sum(len(t) / t.sum() for t in took),
            "p50": float(np.quantile(together, 0.5)),
            "p99": float(np.quantile(together, 0.99)),
        }

    def close(self):
        libc = ctypes.CDLL(None)
        for caller in self.callers:
            libc.free(caller.seconds)
        self.engine.close()


# A point: a model, a batch size.


def check_agreement(loads):
    for answers in zip(*(load.first_outputs() for load in loads)):
        for answer in answers[1:]:
            if not np.allclose(answers[0], answer, **TOLERANCE):
                sys.exit(f"answers differ by {np.abs(answers[0] - answer).max():.2g}")


def measure_point(source, batch, callers, cache_bytes):
    count = set_count(source.model, batch, cache_bytes)
    rngs = [np.random.default_rng(batch * callers + i) for i in range(callers)]
    sets = [[make_inputs(g, source.model, batch) for _ in range(count)] for g in rngs]
    loads = [Load(kind, source, batch, sets) for kind in ENGINES]
    check_agreement(loads)
    resident, rounds = dense_work(source.model)[1], []
    for _ in range(ROUNDS):
        values = measure.calibrate(callers, resident)
        random.shuffle(loads)
        for load in loads:
            time.sleep(measure.SETTLE_SECONDS)
            values[load.name] = load.turn()
        rounds.append(values)
    for load in loads:
        load.close()
    return rounds


def ratio(rounds, peer, field):
    """Of ours to the peer's."""
    return measure.median_with_interval([v[OURS][field] / v[peer][field] for v in rounds])


def best_peer(rounds):
    """By throughput."""
    peers = [kind.name for kind in ENGINES if kind.name != OURS]
    return min(peers, key=lambda peer: ratio(rounds, peer, "per_second")["median"])


def summarise(source, batch, sessions, rounds):
    quiet = measure.believable(rounds)
    kept = quiet if len(quiet) >= len(rounds) // 2 else rounds
    peer = best_peer(kept)
    return {
        "model": source.model.name,
        "batch": batch,
        "sessions": sessions,
        "rounds": len(rounds),
        "rounds_kept": len(quiet),
        "trustworthy": kept is quiet,
        "peer": peer,
        "throughput_ratio": ratio(kept, peer, "per_second"),
        "p99_ratio": ratio(kept, peer, "p99"),
        "engines": {
            kind.name: {
                field: float(np.median([v[kind.name][field] for v in kept]))
                for field in ("per_second", "p50", "p99")
            }
            for kind in ENGINES
        },
    }


def print_point(point):
    where = f"{point['model']} batch {point['batch']}, {point['sessions']} sessions"
    for name, facts in point["engines"].items():
        print(
            f"{where}: {name} {facts['per_second']:.0f} calls/s,"
            f" p50 {facts['p50'] * 1e6:.1f} µs, p99 {facts['p99'] * 1e6:.1f} µs"
        )
    print(f"    against {point['peer']}:", end="")
    for what in ("throughput_ratio", "p99_ratio"):
        r = point[what]
        print(f" {what} {r['median']:.2f} [{r['low']:.2f}, {r['high']:.2f}]", end="")
    note = "" if point["trustworthy"] else " - TOO NOISY TO TRUST"
    print(f"; {point['rounds_kept']} of {point['rounds']} rounds kept{note}", flush=True)


def verdicts(point):
    """[(what, measured, bar, passed)]."""
    where = f"{point['model']} batch {point['batch']}, {point['sessions']} sessions"
    calls, tail, peer = point["throughput_ratio"], point["p99_ratio"], point["peer"]
    return [
        (
            f"{where}: throughput vs {peer}",
            f"{calls['median']:.2f}x, low {calls['low']:.2f}",
            THROUGHPUT_BAR,
            calls["low"] >= THROUGHPUT_BAR,
        ),
        (
            f"{where}: p99 vs {peer}",
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
