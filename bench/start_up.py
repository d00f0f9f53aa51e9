"""Times before the first answer: compiling, opening, and the least call.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np

from call_cost import ingot_cost_in_c, write_relu
from ingot_runtime import BUILD, Binding, Program
from models import Model, make_inputs, make_weights, write_onnx

REPEATS = 9
COLD_BAR_S, WARM_BAR_S, OPEN_BAR_S, CALL_BAR_US = 1.0, 0.020, 0.005, 0.3


def compile_seconds(path, output, cache):
    """From exec of a new process to the published file."""
    environment = dict(os.environ, INGOT_CACHE_DIR=str(cache))
    start = time.perf_counter()
    command = [BUILD / "ingot", "compile", path, "-o", output]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return time.perf_counter() - start


def cold_and_warm(path):
    """Medians with empty caches, and with caches filled by the same model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cold, warm = [], []
        for i in range(REPEATS):
            cache = folder / f"cache{i}"
            cold.append(compile_seconds(path, folder / f"cold{i}.ingot", cache))
            warm.append(compile_seconds(path, folder / f"warm{i}.ingot", cache))
            shutil.rmtree(cache)
        return statistics.median(cold), statistics.median(warm)


def open_seconds(artifact, arrays):
    """From ig_program_open to the first answer."""
    out = np.zeros((len(arrays[0]), 1), "float32")
    binding = Binding(arrays, [out])
    start = time.perf_counter()
    program = Program(artifact)
    session = program.session()
    session.run(binding)
    spent = time.perf_counter() - start
    session.close()
    program.close()
    return spent


def onnxruntime_seconds(path):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    start = time.perf_counter()
    ort.InferenceSession(str(path), options)
    return time.perf_counter() - start


def judge_model(kind):
    model = Model(kind, "small")
    path = write_onnx(model, make_weights(model))
    cold, warm = cold_and_warm(path)
    peer = statistics.median(onnxruntime_seconds(path) for _ in range(REPEATS))
    beside = f"(ONNX Runtime's session {peer * 1e3:.0f} ms)"
    artifact = path.with_suffix(".ingot")
    subprocess.run([BUILD / "ingot", "compile", path, "-o", artifact], check=True)
    arrays = make_inputs(np.random.default_rng(5), model, 1)
    opened = statistics.median(open_seconds(artifact, arrays) for _ in range(REPEATS))
    return [
        (f"{kind} compile cold", f"{cold:.3f} s", f"{COLD_BAR_S} s", cold < COLD_BAR_S),
        (
            f"{kind} compile warm {beside}",
            f"{warm * 1e3:.1f} ms",
            f"{WARM_BAR_S * 1e3:.0f} ms",
            warm < WARM_BAR_S,
        ),
        (
            f"{kind} open to first answer",
            f"{opened * 1e3:.2f} ms",
            f"{OPEN_BAR_S * 1e3:.0f} ms",
            opened <= OPEN_BAR_S,
        ),
    ]


def judge_call():
    least = ingot_cost_in_c(write_relu())
    return [
        (
            "bind + run + status of relu f32[1,16]",
            f"{least:.3f} µs",
            f"{CALL_BAR_US} µs",
            0 < least < CALL_BAR_US,
        )
    ]


def judge_start_up():
    """[(what, measured, bar, passed)]."""
    return judge_model("legacy") + judge_model("dynamo") + judge_call()
