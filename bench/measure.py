"""Interleaved rounds: times that can be believed on a shared machine.

SPDX-License-Identifier: Apache-2.0

In every round each engine runs the same sets of inputs, in an order drawn anew, between
calibrators (tools/ingot/measure/roofline.c).  A round in which a calibrator is more than
20 % off its own median is dropped: something else was running.  What counts is the ratio
of two engines *within* a round; its median over rounds comes with a bootstrap interval.
With one thread the clock is the thread's CPU time, which does not see preemption; with
more it is the wall's.
"""

import ctypes
import functools
import json
import os
import pathlib
import random
import subprocess
import time

import numpy as np

from machine import machine_facts
from models import cache_folder

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 31
MIN_SECONDS = 0.02  # of one engine's turn in a round
# Lets the spinning threads of the engine before go to sleep: ONNX Runtime's spin for
# 50 ms after a run, on a core that the next engine would want.
SETTLE_SECONDS, SETTLE_SECONDS_OF_MANY = 0.003, 0.15
OFF_MEDIAN = 0.2
QUIET_ROUNDS = 8  # at least, of a result that can be trusted
SMALL_MODEL = 1 << 20  # bytes for the calibrator
RESAMPLES = 2000
LINE_BUFFER = 1 << 30
STREAM_BUFFER = 1 << 28


@functools.cache
def probe_memory():
    return load_calibrate().probe_memory(LINE_BUFFER)


def calibrate(threads, resident_bytes):
    """The probes of roofline.c; `resident_bytes`: what a model reads every time."""
    lib, memory = load_calibrate(), probe_memory()
    each = 0.004 if threads == 1 else 0.02  # many threads take a while to get going
    return {
        "fma_gflops": lib.probe_fma(threads, each / 2),
        "line_ns": lib.probe_line(memory, LINE_BUFFER, threads, each),
        "stream_gbs": lib.probe_stream(memory, STREAM_BUFFER, threads, 0.01),
        "resident_gbs": lib.probe_stream(memory, resident_bytes, threads, 0.002),
    }


def byte_peak():
    """10^9 products and sums of bytes a second of one core (byte_peak.c)."""
    source, library = HERE / "native" / "byte_peak.c", cache_folder() / "byte_peak.so"
    if not library.exists() or os.path.getmtime(library) < os.path.getmtime(source):
        library.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-std=gnu11", "-O3", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", library, source], check=True)
    lib = ctypes.CDLL(str(library))
    lib.byte_peak.restype = ctypes.c_double
    words = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return lib.byte_peak("amx_int8" in words, "avx512_vnni" in words)


@functools.cache
def load_calibrate():
    root, library = HERE.parent, cache_folder() / "probes.so"
    sources = [HERE / "native" / "calibrate.c", root / "tools" / "ingot" / "measure" / "roofline.c"]
    newest = max(map(os.path.getmtime, sources))
    if not library.exists() or os.path.getmtime(library) < newest:
        library.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c11", "-O3", "-shared", "-fPIC", "-pthread", "-D_GNU_SOURCE"]
        flags += [f"-I{root / 'include'}", f"-I{root}"]
        subprocess.run(["cc", *flags, "-o", library, *sources], check=True)
    lib = ctypes.CDLL(str(library))
    pointer, size, real = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
    lib.probe_memory.restype, lib.probe_memory.argtypes = pointer, [size]
    lib.probe_fma.restype, lib.probe_fma.argtypes = real, [ctypes.c_int, real]
    for name in ("probe_line", "probe_stream"):
        getattr(lib, name).restype = real
        getattr(lib, name).argtypes = [pointer, size, ctypes.c_int, real]
    lib.bench_call.restype = real
    lib.bench_call.argtypes = [pointer] * 4 + [ctypes.c_int]
    lib.bench_open.restype = real
    lib.bench_open.argtypes = [pointer, ctypes.c_char_p, pointer]
    return lib


def clock_for(threads):
    return time.thread_time if threads == 1 else time.perf_counter


def run_sets(engine, first, count, sets, clock):
    """Seconds a run over `count` sets from `first` on."""
    if hasattr(engine, "seconds"):  # a loop in C
        return engine.seconds(first, count, sets)
    start = clock()
    for i in range(first, first + count):
        engine.run(i % sets)
    return (clock() - start) / count


def runs_a_turn(engine, sets, seconds):
    """How many runs make a turn that is long enough to time."""
    each = min(run_sets(engine, i, 1, sets, time.perf_counter) for i in range(5))
    return max(1, int(seconds / each))


def one_turn(engine, first, count, sets, threads):
    time.sleep(SETTLE_SECONDS if threads == 1 else SETTLE_SECONDS_OF_MANY)
    run_sets(engine, first % sets, 1, sets, time.perf_counter)  # wakes its threads
    return run_sets(engine, first, count, sets, clock_for(threads))


def measure_rounds(engines, sets, threads, resident_bytes, plan=None):
    """[{engine or calibrator: value}], a round each; plan: (rounds, seconds a turn)."""
    plan = plan or (ROUNDS, MIN_SECONDS)
    count = {e.name: runs_a_turn(e, sets, plan[1]) for e in engines}
    highest = max(count.values())
    order, rounds = list(engines), []
    for index in range(plan[0]):
        random.shuffle(order)
        time.sleep(SETTLE_SECONDS if threads == 1 else SETTLE_SECONDS_OF_MANY)
        values = calibrate(threads, resident_bytes)
        for engine in order:
            first = index * highest
            values[engine.name] = one_turn(
                engine, first, count[engine.name], sets, threads
            )
        rounds.append(values)
    return rounds


def believable(rounds):
    """The rounds in which no calibrator is far off its median."""
    probes = ("fma_gflops", "line_ns", "stream_gbs")
    medians = {r: np.median([v[r] for v in rounds]) for r in probes}

    def is_quiet(values):
        off = [abs(values[r] / medians[r] - 1) for r in probes]
        return max(off) <= OFF_MEDIAN

    return [values for values in rounds if is_quiet(values)]


def median_with_interval(values):
    """{median, low, high (95 % bootstrap interval), p10, p90}."""
    values = np.asarray(values)
    picks = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    medians = np.median(values[picks], axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    p10, p90 = np.percentile(values, [10, 90])
    facts = {"median": np.median(values), "low": low, "high": high}
    facts.update(p10=p10, p90=p90)
    return {name: float(value) for name, value in facts.items()}


def ratios(rounds, ours, peer):
    """How many times as long the peer takes, in each round."""
    return median_with_interval([v[peer] / v[ours] for v in rounds])


def run_point(name, engines, sets, options, turn=MIN_SECONDS):
    """What prepared engines take, the first of them ours; closes them.

    options: threads, rounds; turn: seconds of one engine's in a round."""
    plan = (options.rounds, turn)
    rounds = measure_rounds(engines, sets, options.threads, SMALL_MODEL, plan)
    kept = believable(rounds)
    noisy = len(kept) < QUIET_ROUNDS
    kept = rounds if noisy else kept
    ours, *peers = [e.name for e in engines]
    times = {e.name: float(np.median([v[e.name] for v in kept]) * 1e6) for e in engines}
    for engine in engines:
        engine.close()
    return {"name": name, "us": times, "noisy": noisy, "rounds": len(kept),
            "ratios": {peer: ratios(kept, ours, peer) for peer in peers}}


def show(point, note=""):
    """One line: our time, and how many times as long each peer takes."""
    own = next(iter(point["us"].values()))
    time_text = f"{own / 1e3:9.2f} ms" if own >= 1e4 else f"{own:9.1f} us"
    print(f"{point['name']:36s} {time_text}", end="")
    for peer, ratio in point["ratios"].items():
        print(f"   {peer} {ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]",
              end="")
    print(note + ("   TOO NOISY TO TRUST" if point["noisy"] else ""), flush=True)


def write_report(options, points):
    """options: threads, json (a path, or None: no report)."""
    if options.json:
        report = {"machine": machine_facts(), "threads": options.threads, "points": points}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def add_options(parser, rounds):
    """What run_point and write_report want."""
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", type=pathlib.Path)
