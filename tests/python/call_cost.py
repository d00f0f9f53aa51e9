#!/usr/bin/env python3
"""What a call from Python costs: relu on f32[1, 16], where there is next to nothing to do.

    PYTHONPATH=build/release/python python tests/python/call_cost.py

Microseconds, the least of many rounds of each in turn.  The call from C is that of
bench/call_cost.py; the peers are there where they are installed.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import ingot
import ingot.onnxruntime
from models import RELU

CALLS, ROUNDS = 2000, 40
BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def round_us(call):
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS * 1e6


def cost_in_c():
    """In a process of its own: bench has a module with the name of our package."""
    code = "import call_cost as c; print(c.ingot_cost_in_c(c.write_relu()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=BENCH, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": ""})
    lines = done.stdout.splitlines()
    return float(lines[-1]) if lines and done.returncode == 0 else None


def onnx_relu(folder):
    from onnx import TensorProto, helper, save_model
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["B", 16]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1],
                              ports[1:])
    path = os.path.join(folder, "relu.onnx")
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                 ir_version=8), path)
    return path


def peer_calls(x):
    """ONNX Runtime's run, and with what is bound once."""
    try:
        import onnxruntime
        with tempfile.TemporaryDirectory() as folder:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            session = onnxruntime.InferenceSession(onnx_relu(folder), options)
    except ImportError as error:
        print(f"without ONNX Runtime: {error}")
        return {}
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    y = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros_like(x))
    binding.bind_ortvalue_output("y", y)
    return {"onnxruntime: session.run(None, feed)": lambda: session.run(None, {"x": x}),
            "onnxruntime: run_with_iobinding":
            lambda: session.run_with_iobinding(binding)}


def calls():
    x = np.ones((1, 16), "f4")
    program = ingot.compile(RELU)
    session = ingot.onnxruntime.InferenceSession(RELU)
    named = {"Program(x), numpy": lambda: program(x),
             "Program.run({'x': x}), numpy": lambda: program.run({"x": x}),
             "ingot.onnxruntime: session.run(None, feed)":
             lambda: session.run(None, {"x": x})}
    try:
        import torch
        t = torch.ones(1, 16)
        named["Program(t), torch"] = lambda: program(t)
        named["torch: torch.relu(t)"] = lambda: torch.relu(t)
    except ImportError:
        pass
    return {**named, **peer_calls(x)}


def main():
    named = calls()
    low = dict.fromkeys(named, float("inf"))
    for _ in range(ROUNDS):
        for name, call in named.items():
            low[name] = min(low[name], round_us(call))
    in_c = cost_in_c()
    rows = {"C: ig_session_run": in_c, **low}
    width = max(map(len, rows))
    print(f"{'':{width}}  {'µs':>6}  {'above C':>7}")
    for name, cost in rows.items():
        above = "" if None in (cost, in_c) else f"{cost - in_c:7.2f}"
        print(f"{name:{width}}  {'N/A' if cost is None else f'{cost:6.2f}'}  {above}")


if __name__ == "__main__":
    main()
