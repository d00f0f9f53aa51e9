"""The cost of a call with next to nothing in it: relu on f32[B, 16] at B = 1.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import subprocess
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

from ingot_runtime import BUILD, Binding, Program
from measure import load_calibrate
from models import cache_folder

WIDTH, OPSET = 16, 17
CALLS, ROUNDS = 2000, 20


def write_relu():
    dims = ["B", WIDTH]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    folder = cache_folder() / "relu"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save_model(model, folder / "model.onnx")
    return folder / "model.onnx"


def best_us(call):
    """Microseconds of the fastest of many rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS)
    return round(best * 1e6, 3)


def arrays():
    return np.ones((1, WIDTH), "float32"), np.zeros((1, WIDTH), "float32")


def ingot_session(path):
    artifact = path.with_suffix(".ingot")
    subprocess.run([BUILD / "ingot", "compile", path, "-o", artifact], check=True)
    session = Program(artifact).session()
    x, y = arrays()
    return session, Binding([x], [y])


def ingot_cost(path):
    session, binding = ingot_session(path)
    return {"ingot, from Python": best_us(lambda: session.run(binding))}


def ingot_cost_in_c(path):
    """bind + run + status, no Python."""
    session, binding = ingot_session(path)
    run = ctypes.cast(session.run_function, ctypes.c_void_p)
    low = load_calibrate().bench_call(
        run, session.handle, binding.inputs, binding.outputs, 200
    )
    return round(low * 1e6, 3)


def onnxruntime_cost(path):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(str(path), options)
    x, y = arrays()
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, x.dtype, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, y.dtype, y.shape, y.ctypes.data)
    return {"onnxruntime": best_us(lambda: session.run_with_iobinding(binding))}


def torch_cost(_):
    import torch

    x = torch.ones(1, WIDTH)
    with torch.inference_mode():
        compiled = torch.compile(torch.relu)
        compiled(x)
        eager_us = best_us(lambda: torch.relu(x))
        return {"torch eager": eager_us, "torch compile": best_us(lambda: compiled(x))}


def openvino_cost(path):
    import openvino

    config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1}
    compiled = openvino.Core().compile_model(str(path), "CPU", config)
    request = compiled.create_infer_request()
    x, _ = arrays()
    request.set_input_tensor(0, openvino.Tensor(x, shared_memory=True))
    return {"openvino": best_us(request.infer)}


COSTS = {
    "ingot": ingot_cost,
    "onnxruntime": onnxruntime_cost,
    "torch": torch_cost,
    "openvino": openvino_cost,
}


def call_costs(engines):
    path, costs = write_relu(), {}
    for engine in engines:
        costs.update(COSTS[engine](path))
    return costs
