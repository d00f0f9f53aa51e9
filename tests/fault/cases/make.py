"""Writes the small models of this folder: one of each format that is read.

    python tests/fault/cases/make.py        needs torch, onnx, numpy

tower.onnx has a constant in a file of its own, tower.pt deflated code and a loop, bag.pt2
is a program of torch.export.  NAME.npz holds the inputs.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)
x = rng.standard_normal((2, 3), dtype=np.float32)
ids = np.array([1, 4, 2], np.int64)
offsets = np.array([0, 2], np.int64)


def write_onnx():
    w = rng.standard_normal((3, 4), dtype=np.float32)
    b = numpy_helper.from_array(rng.standard_normal(4, dtype=np.float32), "b")
    (here / "tower.bin").write_bytes(w.tobytes())
    outside = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=w.shape,
                          data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "tower.bin"), ("length", str(w.nbytes))):
        outside.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["g"]),
         helper.make_node("Relu", ["g"], ["y"])], "tower",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B", 4])], [outside, b])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                              ir_version=8)
    onnx.save(model, here / "tower.onnx")
    np.savez(here / "tower.onnx.npz", x=x)


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(2):
            x = torch.relu(self.linear(x))
        return x, {"sum": x.sum(1)}


class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(6, 4, mode="sum")

    def forward(self, ids, offsets):
        return torch.sigmoid(self.bag(ids, offsets))


def write_torch():
    torch.manual_seed(7)
    torch.jit.script(Tower()).save(str(here / "tower.pt"))
    np.savez(here / "tower.pt.npz", x=x)
    program = torch.export.export(Bag(), (torch.from_numpy(ids), torch.from_numpy(offsets)))
    torch.export.save(program, here / "bag.pt2")
    np.savez(here / "bag.pt2.npz", ids=ids, offsets=offsets)


write_onnx()
write_torch()
