#!/usr/bin/env python3
"""Times before the first answer: compiling, opening, and the least call; sizes.

SPDX-License-Identifier: Apache-2.0

    start_up.py [KIND…]           legacy dynamo onehot mlperf

Ingot and ONNX Runtime take turns; medians count, and of ratios those within a turn.
"""

import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from call_cost import ingot_cost_in_c, write_relu
from ingot_runtime import BUILD, BenchViews, Binding, load_library
from measure import load_calibrate
from models import Model, make_inputs, make_weights, write_onnx

REPEATS = 9
COLD_BAR_S, WARM_BAR_S, OPEN_BAR_S, CALL_BAR_US = 1.0, 0.020, 0.005, 0.3
WARM_RATIO, OPEN_RATIO, RUNTIME_BYTES = 0.5, 15, 200_000
FIRST_KINDS = ("legacy", "dynamo")  # these have bars in seconds too


def compile_seconds(path, output, cache):
    """From exec of a new process to the published file."""
    environment = dict(os.environ, INGOT_CACHE_DIR=str(cache))
    start = time.perf_counter()
    command = [BUILD / "ingot", "compile", path, "-o", output]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


def cold_and_warm(path):
    """Seconds with empty caches, with caches filled by the same model, and of ONNX
    Runtime's session in the same turn."""
    with tempfile.TemporaryDirectory() as name:
        folder, turns = pathlib.Path(name), []
        for i in range(REPEATS):
            cache = folder / f"cache{i}"
            outputs = folder / f"cold{i}.ingot", folder / f"warm{i}.ingot"
            ours = [compile_seconds(path, output, cache) for output in outputs]
            turns.append((*ours, onnxruntime_session(path)[1]))
            shutil.rmtree(cache)
            for output in outputs:
                output.unlink()
        return turns


def open_seconds(artifact, arrays):
    """From ig_program_open to the first answer, in C.  (ONNX Runtime's seconds contain
    its Python interface: some 0.1 ms.)"""
    binding = Binding(arrays, [np.zeros((len(arrays[0]), 1), "float32")])
    views, library = BenchViews.of(binding), load_library()  # as its peer is imported
    spent = load_calibrate().bench_open(
        library._handle, os.fsencode(artifact), ctypes.byref(views)
    )
    if spent < 0:
        sys.exit(f"{artifact}: does not run")
    return spent


def onnxruntime_session(path):
    """(session, seconds)."""
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    start = time.perf_counter()
    session = ort.InferenceSession(str(path), options)
    return session, time.perf_counter() - start


def onnxruntime_open_seconds(path, arrays):
    """From the model file to the first answer."""
    start = time.perf_counter()
    session, _ = onnxruntime_session(path)
    session.run(None, dict(zip([i.name for i in session.get_inputs()], arrays)))
    return time.perf_counter() - start


def median(values):
    return statistics.median(values)


def load_compiler():
    lib, pointer = ctypes.CDLL(str(BUILD / "libingot.so")), ctypes.c_void_p
    out = ctypes.POINTER(pointer)
    lib.ig_context_create.restype, lib.ig_context_create.argtypes = pointer, [pointer]
    lib.ig_import.argtypes = [pointer, ctypes.c_char_p, pointer, out]
    lib.ig_compile.argtypes = [pointer, pointer, out]
    for name in ("ig_context_destroy", "ig_module_close", "ig_program_close"):
        getattr(lib, name).argtypes = [pointer]
        getattr(lib, name).restype = None
    return lib


def session_seconds(lib, path):
    """From the model file to a session, in this process, with filled caches."""
    module, program, session = (ctypes.c_void_p() for _ in range(3))
    runtime = load_library()
    start = time.perf_counter()
    context = lib.ig_context_create(None)
    done = lib.ig_import(context, bytes(path), None, ctypes.byref(module))
    done = done or lib.ig_compile(module, None, ctypes.byref(program))
    done = done or runtime.ig_session_create(program, None, ctypes.byref(session))
    spent = time.perf_counter() - start
    runtime.ig_session_destroy(session)
    runtime.ig_program_close(program)
    lib.ig_module_close(module)
    lib.ig_context_destroy(context)
    if done != 0:
        sys.exit(f"{path}: status {done}")
    return spent


def judge_session(kind, path):
    """In one process, as ONNX Runtime's session is made."""
    lib = load_compiler()
    session_seconds(lib, path)  # fills the caches
    turns = [
        (session_seconds(lib, path), onnxruntime_session(path)[1])
        for _ in range(REPEATS)
    ]
    ratio = median(ours / theirs for ours, theirs in turns)
    ours = median(ours for ours, _ in turns)
    what = f"{kind} warm, model to session in {ours * 1e3:.1f} ms, of ONNX Runtime's"
    return [(what, f"{ratio:.2f}x", f"{WARM_RATIO}x", ratio <= WARM_RATIO)]


def judge_compile(kind, path):
    turns = cold_and_warm(path)
    cold, warm, session = (median(column) for column in zip(*turns))
    ratio = median(w / s for _, w, s in turns)
    verdicts = [
        (f"{kind} compile cold", f"{cold:.3f} s", f"{COLD_BAR_S} s", cold < COLD_BAR_S),
        (
            f"{kind} ingot compile warm, of ONNX Runtime's ({session * 1e3:.0f} ms)",
            f"{ratio:.2f}x",
            f"{WARM_RATIO}x",
            ratio <= WARM_RATIO,
        ),
    ]
    if kind in FIRST_KINDS:
        what, bar = f"{kind} compile warm", f"{WARM_BAR_S * 1e3:.0f} ms"
        verdicts.append((what, f"{warm * 1e3:.1f} ms", bar, warm < WARM_BAR_S))
    return verdicts


def judge_open(kind, path, arrays):
    artifact = path.with_suffix(".ingot")
    subprocess.run([BUILD / "ingot", "compile", path, "-o", artifact], check=True)
    turns = [
        (open_seconds(artifact, arrays), onnxruntime_open_seconds(path, arrays))
        for _ in range(REPEATS)
    ]
    opened, peer = (median(column) for column in zip(*turns))
    ratio = median(theirs / ours for ours, theirs in turns)
    verdicts = [
        (
            f"{kind} open to first answer vs ONNX Runtime ({peer * 1e3:.0f} ms)",
            f"{ratio:.1f}x",
            f"{OPEN_RATIO}x",
            ratio >= OPEN_RATIO,
        )
    ]
    if kind in FIRST_KINDS:
        what, bar = f"{kind} open to first answer", f"{OPEN_BAR_S * 1e3:.0f} ms"
        verdicts.append((what, f"{opened * 1e3:.2f} ms", bar, opened <= OPEN_BAR_S))
    return verdicts


def judge_model(kind):
    model = Model(kind, "small")
    path = write_onnx(model, make_weights(model))
    arrays = make_inputs(np.random.default_rng(5), model, 1)
    verdicts = judge_compile(kind, path) + judge_session(kind, path)
    return verdicts + judge_open(kind, path, arrays)


def judge_size():
    """The runtime library without symbols."""
    with tempfile.TemporaryDirectory() as name:
        stripped = pathlib.Path(name) / "runtime.so"
        library = BUILD / "libingot-runtime.so"
        subprocess.run(["strip", "-o", stripped, library], check=True)
        size = stripped.stat().st_size
    what, bar = "runtime library, stripped", f"{RUNTIME_BYTES} bytes"
    return [(what, f"{size} bytes", bar, size <= RUNTIME_BYTES)]


def judge_call():
    low = ingot_cost_in_c(write_relu())
    return [
        (
            "bind + run + status of relu f32[1,16]",
            f"{low:.3f} µs",
            f"{CALL_BAR_US} µs",
            0 < low < CALL_BAR_US,
        )
    ]


def judge_start_up(kinds=("legacy", "dynamo", "onehot", "mlperf")):
    """[(what, measured, bar, passed)]."""
    verdicts = [verdict for kind in kinds for verdict in judge_model(kind)]
    return verdicts + judge_call() + judge_size()


def main():
    verdicts = judge_start_up(*([sys.argv[1:]] if sys.argv[1:] else []))
    for what, measured, bar, passed in verdicts:
        print(f"{'pass' if passed else 'MISS'}  {what}: {measured} (bar {bar})")
    missed = sum(not passed for *_, passed in verdicts)
    print(f"{len(verdicts) - missed} passed, {missed} failed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
