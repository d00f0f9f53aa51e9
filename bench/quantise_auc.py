#!/usr/bin/env python3
"""Trains a DLRM-DCNv2 on planted data and says what quantising it costs.

SPDX-License-Identifier: Apache-2.0

    quantise_auc.py FOLDER                     trains, quantises in several ways, prints a table
    quantise_auc.py FOLDER --ingot build/release/ingot

The data: 13 dense values of long tails, each on a scale of its own, and ids of 8 tables;
labels are drawn from a function of both, of which a model finds an AUC of about 0.76.
The model is trained by torch and written by hand as ONNX (Gather, Gemm, Mul, Add).  It
needs torch and onnx; nothing is random but by seed.
"""

import argparse
import json
import pathlib
import subprocess
import time

import numpy as np

DENSE, TABLES, ROWS, DIM, RANK = 13, 8, 1000, 16, 32
BOTTOM, TOP = [DENSE, 128, 64, DIM], [(TABLES + 1) * DIM, 128, 64, 1]


def draw(count, seed):
    rng, world = np.random.default_rng(seed), np.random.default_rng(1)
    scales = 10.0 ** world.uniform(-1, 1.5, DENSE)
    dense = (rng.standard_normal((count, DENSE)) * scales).astype("f4")
    tails = rng.random((count, DENSE)) < 0.002
    dense = np.where(tails, dense * 10, dense).astype("f4")
    ids = rng.integers(0, ROWS, (count, TABLES))
    effects = world.standard_normal((TABLES, ROWS)) * 0.45
    line = world.standard_normal(DENSE) * 0.35
    pair = world.standard_normal((DENSE, TABLES)) * 0.12
    known = np.tanh(dense / scales)
    found = np.take_along_axis(effects, ids.T, 1).T
    logit = known @ line + found.sum(1) + ((known @ pair) * found * 2).sum(1)
    labels = rng.random(count) < 1 / (1 + np.exp(-logit))
    return dense, ids.astype("i8"), labels.astype("f4")


def train(folder, count=100000, epochs=2):
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(2)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            lines = lambda sizes: torch.nn.ModuleList(
                torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
            self.tables = torch.nn.ModuleList(
                torch.nn.Embedding(ROWS, DIM) for _ in range(TABLES))
            self.bottom, self.top = lines(BOTTOM), lines(TOP)
            width = TOP[0]
            self.v = torch.nn.ModuleList(
                torch.nn.Linear(width, RANK, bias=False) for _ in range(2))
            self.w = torch.nn.ModuleList(torch.nn.Linear(RANK, width) for _ in range(2))

        def forward(self, dense, ids):
            x = dense
            for line in self.bottom:
                x = torch.relu(line(x))
            x = torch.cat([x] + [t(ids[:, i]) for i, t in enumerate(self.tables)], 1)
            first = x
            for v, w in zip(self.v, self.w):
                x = first * w(v(x)) + x
            for line in self.top[:-1]:
                x = torch.relu(line(x))
            return self.top[-1](x)

    model = Model()
    dense, ids, labels = (torch.from_numpy(x) for x in draw(count, 2))
    for table in model.tables:
        torch.nn.init.normal_(table.weight, std=0.1)
    step = torch.optim.Adam(model.parameters(), 2e-3)
    for _ in range(epochs):
        order = torch.randperm(count)
        for part in order.split(1024):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                model(dense[part], ids[part])[:, 0], labels[part])
            step.zero_grad()
            loss.backward()
            step.step()
    write(model, folder / "model.onnx")


def write(model, path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], []

    def constant(name, tensor):
        array = tensor.detach().numpy() if hasattr(tensor, "detach") else tensor
        constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def add(op, inputs, name, **attributes):
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def gemm(x, line, name):
        inputs = [x, constant(name + ".weight", line.weight)]
        if line.bias is not None:
            inputs.append(constant(name + ".bias", line.bias))
        return add("Gemm", inputs, name, transB=1)

    x = "dense"
    for i, line in enumerate(model.bottom):
        x = add("Relu", [gemm(x, line, f"bottom.{i}")], f"bottom.{i}.relu")
    parts = [x]
    for i, table in enumerate(model.tables):
        column = add("Gather", ["ids", constant(f"column.{i}", np.int64(i))], f"ids.{i}",
                     axis=1)
        parts.append(add("Gather", [constant(f"table.{i}", table.weight), column],
                         f"row.{i}"))
    x = first = add("Concat", parts, "all", axis=1)
    for i, (v, w) in enumerate(zip(model.v, model.w)):
        low = gemm(x, v, f"cross.v.{i}")
        product = add("Mul", [first, gemm(low, w, f"cross.w.{i}")], f"cross.{i}.mul")
        x = add("Add", [product, x], f"cross.{i}")
    for i, line in enumerate(model.top):
        x = gemm(x, line, f"top.{i}")
        x = add("Relu", [x], f"top.{i}.relu") if i + 1 < len(model.top) else x
    add("Sigmoid", [x], "y")
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "dlrm",
        [value("dense", TensorProto.FLOAT, ["B", DENSE]),
         value("ids", TensorProto.INT64, ["B", TABLES])],
        [value("y", TensorProto.FLOAT, ["B", 1])], constants)
    onnx.save(helper.make_model(graph, ir_version=8,
                                opset_imports=[helper.make_opsetid("", 17)]), path)


WAYS = {
    "per tensor, min-max": ["--method", "min-max", "--per-tensor"],
    "by channel, min-max": ["--method", "min-max"],
    "by channel, mse": [],
    "mse, smoothed": ["--smooth", "0.7"],
    "mse, 7 bits": ["--weight-bits", "7"],
    "percentile": ["--method", "percentile"],
    "bound 0.02": ["--max-error", "0.02", "--smooth", "0.5"],
    "dynamic": ["--dynamic"],
}


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("folder", type=pathlib.Path)
    parse.add_argument("--ingot", default="build/release/ingot")
    given = parse.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if not (given.folder / "model.onnx").exists():
        train(given.folder)
    dense, ids, labels = draw(50000, 3)
    np.savez(given.folder / "data.npz", dense=dense, ids=ids, labels=labels)
    for name, options in WAYS.items():
        begin = time.monotonic()
        said = subprocess.run(
            [given.ingot, "quantize", given.folder / "model.onnx", "-c",
             given.folder / "data.npz", "--batch", "10000", "-o", given.folder / "out.ig",
             "--json", "-q", *options], capture_output=True, check=True).stdout
        seconds = time.monotonic() - begin
        facts = json.loads(said)
        loss = 100 * (1 - facts["quantized_auc"] / facts["auc"])
        print(f"{name:22} AUC {facts['quantized_auc']:.5f} of {facts['auc']:.5f}: "
              f"{loss:+.3f} % lost, rms {facts['outputs'][0]['rms']:.4f}, "
              f"{facts['quantized']} of {facts['of']} layers, {seconds:.1f} s")


if __name__ == "__main__":
    main()
