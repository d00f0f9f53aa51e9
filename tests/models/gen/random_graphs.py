#!/usr/bin/env python3
"""Writes cases of random ONNX graphs with ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0

    random_graphs.py OUT_DIR [--count N] [--seed S]

Each graph strings steps of random_steps.py together, over inputs with an open batch;
its data sets have batches of several sizes, in an order that grows and shrinks.  A
graph is drawn from its seed alone: `--count 1 --seed SEED` makes OUT_DIR/SEED again.

How far ONNX Runtime itself may be off is measured: inputs are moved by an ulp or so,
and what that does to the answers widens the case's tolerance.  Needs onnx and
onnxruntime.
"""

import argparse
import json
import multiprocessing
import pathlib
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from random_steps import BATCH, STEPS, Graph, Ids, draw_width

BATCHES = (1, 2, 3, 5, 13, 29, 57, 113, 129, 300)
MAX_ELEMENTS, MAX_RANK = 5000, 6
OPSET = 20
MOVES, MOVE = 4, 1e-6  # of inputs, relative
MAX_CHANGE = 1e-4  # by that, relative to the largest answer
RTOL, ATOL, MOVED_FACTOR = 1e-3, 1e-4, 10


def add_inputs(graph):
    draw = graph.draw
    for index in range(draw.choice((1, 1, 2))):
        graph.add_value(f"x{index}", (BATCH, draw_width(graph)))
    for index in range(draw.choice((0, 1, 2))):
        rows, length = draw.choice((3, 50)), draw.choice((1, 2, 5))
        graph.ids.append(Ids(f"id{index}", rows, length))


def is_small(value):
    known = [extent for extent in value.shape if extent != BATCH]
    return len(value.shape) <= MAX_RANK and np.prod(known or [1]) < MAX_ELEMENTS


def draw_graph(seed):
    graph = Graph(seed)
    add_inputs(graph)
    graph.inputs = list(graph.values)
    names = list(STEPS)
    weights = [STEPS[name].weight for name in names]
    for _ in range(graph.draw.choice((4, 8, 14, 25))):
        STEPS[graph.draw.choices(names, weights)[0]].add(graph)
        graph.values = [value for value in graph.values if is_small(value)]
    return graph


def find_ends(graph):
    """Values that nodes make and nothing reads."""
    read = {name for node in graph.nodes for name in node.input}
    made = {name for node in graph.nodes for name in node.output}
    return [v for v in graph.values if v.name in made and v.name not in read]


def make_model(graph, ends):
    info = helper.make_tensor_value_info
    inputs = [info(v.name, TensorProto.FLOAT, v.shape) for v in graph.inputs]
    inputs += [info(i.name, TensorProto.INT64, (BATCH, i.length)) for i in graph.ids]
    outputs = [info(v.name, TensorProto.FLOAT, v.shape) for v in ends]
    body = helper.make_graph(graph.nodes, "random", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(body, opset_imports=opsets, ir_version=9)


def open_session(model):
    """ONNX Runtime's, or None: a drawn graph may be no ONNX."""
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        onnx.checker.check_model(model, full_check=True)
        return onnxruntime.InferenceSession(model.SerializeToString(), options)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    except Exception as error:  # ONNX Runtime's have no class in common
        print(f"left out: {str(error).splitlines()[0][:120]}")
        return None


def draw_inputs(graph, batch, numbers):
    arrays = {v.name: numbers.standard_normal((batch, v.shape[1])).astype(np.float32)
              for v in graph.inputs}
    for ids in graph.ids:
        arrays[ids.name] = numbers.integers(0, ids.rows, (batch, ids.length))
    return arrays


def moved(arrays, numbers):
    def move(array):
        if array.dtype != np.float32:
            return array
        signs = np.sign(numbers.standard_normal(array.shape))
        return (array * (1 + MOVE * signs)).astype(np.float32)

    return {name: move(array) for name, array in arrays.items()}


def settle_ends(graph, ends, sets):
    """The ends that a small move of the inputs moves little, large ones scaled down,
    and the absolute tolerance that they need."""
    session = open_session(make_model(graph, ends)) if ends else None
    if not session:
        return [], 0.0
    runs = [(session.run(None, given), session.run(None, near))
            for given, moves in sets for near in moves]
    settled, tolerance = [], 0.0
    for index, end in enumerate(ends):
        answers = [(answer[index], near[index]) for answer, near in runs]
        if not all(np.isfinite(a).all() and np.isfinite(b).all() for a, b in answers):
            continue
        scale = max(1.0, *(np.abs(a).max(initial=0) for a, _ in answers))
        change = max(np.abs(a - b).max(initial=0) for a, b in answers) / scale
        if change > MAX_CHANGE:
            continue
        if scale > 1:
            end = graph.op("Mul", [end, graph.scalar(1 / scale)], end.shape)
        settled.append(end)
        tolerance = max(tolerance, ATOL + MOVED_FACTOR * change)
    return settled, float(tolerance)


def write_tensors(folder, kind, arrays):
    for index, array in enumerate(arrays):
        data = numpy_helper.from_array(array).SerializeToString()
        (folder / f"{kind}_{index}.pb").write_bytes(data)


def write_case(out, seed):
    """Nothing where the seed gives no graph that ONNX Runtime answers steadily."""
    graph, numbers = draw_graph(seed), np.random.default_rng(seed)
    batches = graph.draw.sample(BATCHES, 6) + graph.draw.sample(BATCHES[:9:3], 2)
    inputs = [draw_inputs(graph, batch, numbers) for batch in batches]
    sets = [(arrays, [moved(arrays, numbers) for _ in range(MOVES)])
            for arrays in inputs]
    ends, tolerance = settle_ends(graph, find_ends(graph), sets)
    model = make_model(graph, ends)
    session = open_session(model) if ends else None
    if not session:
        return
    folder = out / str(seed)
    for index, arrays in enumerate(inputs):
        data = folder / f"test_data_set_{index}"
        data.mkdir(parents=True)
        write_tensors(data, "input", arrays.values())
        write_tensors(data, "output", session.run(None, arrays))
    onnx.save(model, folder / "model.onnx")
    case = {"name": str(seed), "model": "model.onnx",
            "tolerance": {"rtol": RTOL, "atol": tolerance}}
    (folder / "case.json").write_text(json.dumps(case))


def write_apart(out, seed):
    """In a process of its own: some graphs bring ONNX Runtime down."""
    process = multiprocessing.Process(target=write_case, args=(out, seed))
    process.start()
    process.join()
    if process.exitcode != 0:
        shutil.rmtree(out / str(seed), ignore_errors=True)
    return (out / str(seed)).is_dir()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    written = sum(write_apart(options.out, seed) for seed in seeds)
    print(f"{written} of {options.count} graphs written")


if __name__ == "__main__":
    main()
