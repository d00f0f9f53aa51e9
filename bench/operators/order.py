#!/usr/bin/env python3
"""TopK, in full too, against ONNX Runtime: answers and CPU time.

SPDX-License-Identifier: Apache-2.0

    $python bench/operators/order.py
"""

import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exports import open_session, time_both
from ingot_runtime import BUILD, Binding, Program
from trees import compile_model

ROWS = [  # shape, axis, k
    ((64, 20000), 1, 5),
    ((64, 20000), 1, 100),
    ((1, 1000000), 1, 100),
    ((1000, 100), 1, 10),
    ((4096, 16), 1, 2),
    ((1, 1000), 1, 1000),
    ((64, 1000), 1, 1000),
    ((1, 100000), 1, 100000),
    ((1000, 64), 0, 10),
]


def write_model(path, rank, axis, k, dtype=TensorProto.FLOAT):
    value, dims = helper.make_tensor_value_info, [f"d{i}" for i in range(rank)]
    node = helper.make_node("TopK", ["x", "k"], ["y", "at"], axis=axis)
    dims_out = [k if i == axis else d for i, d in enumerate(dims)]
    graph = helper.make_graph(
        [node], "order", [value("x", dtype, dims)],
        [value("y", dtype, dims_out), value("at", TensorProto.INT64, dims_out)],
        [helper.make_tensor("k", TensorProto.INT64, [1], [k])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
         path)


def check(artifact, session, x):
    want = session.run(None, {"x": x})
    got = [np.zeros_like(w) for w in want]
    program = Program(artifact, "mapped", BUILD)
    run = program.session(1)
    run.run(Binding([x], got))
    run.close()
    program.close()
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)


def main():
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "order.onnx"
        for shape, axis, k in ROWS:
            write_model(path, len(shape), axis, k)
            artifact, session = compile_model(path), open_session(path)
            x = draw.normal(size=shape).astype(np.float32)
            check(artifact, session, x)
            rounds = time_both(artifact, session, [x])
            ratios = sorted(peer / own for own, peer in rounds)
            own, peer = (1e6 * min(r[i] for r in rounds) for i in (0, 1))
            print(f"{k} of {shape} along axis {axis}: {own:.1f} us, ONNX Runtime {peer:.1f} us, "
                  f"ratio {ratios[len(ratios) // 2]:.2f} [{ratios[1]:.2f}, {ratios[-2]:.2f}]",
                  flush=True)


if __name__ == "__main__":
    main()
