#!/usr/bin/env python3
"""Writes cases of matrix products with numpy's answers, computed in double.

SPDX-License-Identifier: Apache-2.0

    products.py OUT_DIR [--count N] [--seed S]

Three kinds.  Computed factors: einsum of two inputs, their axes in any order, batched or
not, with something elementwise behind it or nothing; extents are open, and data sets
have small and large ones.  Layers of 8-bit weights: DequantizeLinear with scales and
zero points for the whole matrix, for each row or for each column, in front of MatMul
or Gemm, or two of them in a row.  Dense layers of f32 weights, as wide as those of real
models, of all of the input's columns or of some in its middle.  Needs onnx.
"""

import argparse
import json
import pathlib
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
EXTENTS = (1, 2, 3, 4, 7, 8, 9, 16, 17, 23, 24, 27, 33, 63, 64, 65, 96, 100, 129, 150)
DEPTHS = (1, 2, 8, 15, 16, 17, 31, 64, 100, 127, 128, 129, 300)
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}  # of sums of a few hundred products near 1


def after(kind, product, z):
    if kind == "relu":
        return np.maximum(product, 0)
    if kind == "sigmoid":
        return 1 / (1 + np.exp(-product))
    return product + z if kind == "add" else product


def value(name, extents):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, extents)


class Computed:
    """x times y, axes in any order."""

    def __init__(self, draw, _):
        batch = draw.choice(("", "", "b", "bh"))
        shared = "" if draw.random() < 0.3 else batch  # one y for all of the batch
        self.axes = [batch + "mk", shared + "kn"]
        for index, axes in enumerate(self.axes):
            free = list(axes)
            if draw.random() < 0.7:  # the batch stays in front
                tail = free[-2:]
                draw.shuffle(tail)
                free = free[:-2] + tail
            else:
                draw.shuffle(free)
            self.axes[index] = "".join(free)
        out = list(batch + "mn")
        if draw.random() < 0.3:
            draw.shuffle(out)
        self.out, self.kind = "".join(out), draw.choice(("", "", "relu", "sigmoid", "add"))
        self.known = {"k": draw.choice(DEPTHS)} if draw.random() < 0.7 else {}
        if draw.random() < 0.3:
            self.known["n"] = draw.choice(EXTENTS)

    def model(self):
        def extents(axes):
            return [self.known.get(axis, axis.upper()) for axis in axes]

        inputs = [value("x", extents(self.axes[0])), value("y", extents(self.axes[1]))]
        equation = f"{self.axes[0]},{self.axes[1]}->{self.out}"
        nodes = [helper.make_node("Einsum", ["x", "y"], ["p"], equation=equation)]
        if self.kind == "add":
            inputs.append(value("z", extents(self.out)))
            nodes.append(helper.make_node("Add", ["p", "z"], ["r"]))
        elif self.kind:
            nodes.append(helper.make_node(self.kind.capitalize(), ["p"], ["r"]))
        last = "r" if self.kind else "p"
        return inputs, nodes, [value(last, extents(self.out))], []

    def data(self, draw, numbers):
        sizes = {axis: draw.choice((1, 2, 3, 5)) for axis in "bh"}
        sizes |= {axis: draw.choice(EXTENTS) for axis in "mn"}
        sizes |= {"k": draw.choice(DEPTHS)} | self.known

        def fill(axes):
            shape = [sizes[axis] for axis in axes]
            return numbers.uniform(-1, 1, shape).astype(np.float32)

        given = [fill(axes) for axes in self.axes]
        given += [fill(self.out)] if self.kind == "add" else []
        wide = [array.astype(np.float64) for array in given]
        product = np.einsum(f"{self.axes[0]},{self.axes[1]}->{self.out}", *wide[:2])
        return given, after(self.kind, product, wide[-1])


class Layer:
    """8-bit weights with scales and zero points."""

    def __init__(self, draw, numbers, width):
        self.k, self.n = width, draw.choice((5, 8, 16, 40, 70, 128, 200))
        self.is_transposed, self.has_bias = draw.random() < 0.5, draw.random() < 0.5
        dtype = draw.choice((np.int8, np.uint8))
        low = np.iinfo(dtype).min
        shape = (self.n, self.k) if self.is_transposed else (self.k, self.n)
        self.weight = numbers.integers(low, low + 256, shape).astype(dtype)
        self.axis = draw.choice((None, 0, 1))
        spread = () if self.axis is None else (shape[self.axis], )
        self.scale = numbers.uniform(0.5, 1.5, spread).astype(np.float32)
        self.scale = (self.scale / 70 / np.sqrt(self.k)).astype(np.float32)
        self.zero = None
        if draw.random() < 0.7:
            is_one = draw.random() < 0.3
            zero = draw.choice((0, 3)) if is_one else numbers.integers(
                low, low + 256, spread)
            self.zero = np.full(spread, zero).astype(dtype)
        self.bias = numbers.uniform(-1, 1, self.n).astype(np.float32)

    def real(self):
        def along(array):
            if self.axis is None:
                return array
            return array[:, None] if self.axis == 0 else array[None, :]

        zero = 0 if self.zero is None else along(self.zero.astype(np.float64))
        real = (self.weight - zero) * along(self.scale.astype(np.float64))
        return real.T if self.is_transposed else real

    def apply(self, x):
        is_gemm = self.is_transposed or self.has_bias
        y = x @ self.real()
        return np.maximum(y + self.bias if is_gemm and self.has_bias else y, 0)

    def nodes(self, x, index, constants):
        def constant(name, array):
            constants.append(numpy_helper.from_array(np.asarray(array), f"{name}{index}"))
            return f"{name}{index}"

        ins = [constant("w", self.weight), constant("s", self.scale)]
        ins += [] if self.zero is None else [constant("z", self.zero)]
        axis = {} if self.axis is None else {"axis": self.axis}
        yield helper.make_node("DequantizeLinear", ins, [f"d{index}"], **axis)
        if self.is_transposed or self.has_bias:
            bias = [constant("b", self.bias)] if self.has_bias else []
            yield helper.make_node("Gemm", [x, f"d{index}", *bias], [f"p{index}"],
                                   transB=int(self.is_transposed))
        else:
            yield helper.make_node("MatMul", [x, f"d{index}"], [f"p{index}"])
        yield helper.make_node("Relu", [f"p{index}"], [f"y{index}"])


class Layers:
    def __init__(self, draw, numbers):
        self.width = draw.choice((16, 33, 64, 200, 1100))
        self.layers, width = [], self.width
        for _ in range(draw.choice((1, 2))):
            self.layers.append(Layer(draw, numbers, width))
            width = self.layers[-1].n

    def model(self):
        nodes, constants, x = [], [], "x"
        for index, layer in enumerate(self.layers):
            nodes += layer.nodes(x, index, constants)
            x = f"y{index}"
        outputs = [value(x, ["B", self.layers[-1].n])]
        return [value("x", ["B", self.width])], nodes, outputs, constants

    def data(self, draw, numbers):
        rows = draw.choice((1, 2, 3, 5, 8, 14, 17, 64, 113))
        x = numbers.uniform(-1, 1, (rows, self.width)).astype(np.float32)
        y = x.astype(np.float64)
        for layer in self.layers:
            y = layer.apply(y)
        return [x], y


class Dense:
    """Gemm and Relu over columns of the input."""

    WIDTHS = (1, 13, 64, 415, 512, 1000, 1024, 1030, 2048, 2560, 3072)

    def __init__(self, draw, numbers):
        self.width, self.n = draw.choice(self.WIDTHS), draw.choice((1, 16, 70, 256, 300, 520))
        self.first = draw.choice((0, 0, min(self.width - 1, 7)))
        self.last = self.width - draw.choice((0, min(self.width - self.first - 1, 24)))
        self.k = self.last - self.first
        weight = numbers.uniform(-1, 1, (self.k, self.n)) / np.sqrt(self.k)
        self.weight = weight.astype(np.float32)
        self.bias = numbers.uniform(-1, 1, self.n).astype(np.float32)

    def model(self):
        constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in (
            ("first", [self.first]), ("last", [self.last]), ("axis", [1]),
            ("w", self.weight), ("b", self.bias))]
        nodes = [helper.make_node("Slice", ["x", "first", "last", "axis"], ["columns"]),
                 helper.make_node("Gemm", ["columns", "w", "b"], ["p"]),
                 helper.make_node("Relu", ["p"], ["y"])]
        return ([value("x", ["B", self.width])], nodes, [value("y", ["B", self.n])],
                constants)

    def data(self, draw, numbers):
        rows = draw.choice((1, 2, 5, 11, 13, 14, 15, 64, 97, 200))
        x = numbers.uniform(-1, 1, (rows, self.width)).astype(np.float32)
        columns = x[:, self.first:self.last].astype(np.float64)
        return [x], np.maximum(columns @ self.weight + self.bias, 0)


KINDS = (Layers, Computed, Dense, Computed)


def write_tensors(folder, kind, arrays):
    for index, array in enumerate(arrays):
        data = numpy_helper.from_array(np.ascontiguousarray(array, np.float32))
        (folder / f"{kind}_{index}.pb").write_bytes(data.SerializeToString())


def write_case(out, seed):
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    product = KINDS[seed % len(KINDS)](draw, numbers)
    inputs, nodes, outputs, constants = product.model()
    graph = helper.make_graph(nodes, "product", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=8)
    onnx.checker.check_model(model)
    folder = out / str(seed)
    for index in range(5):
        data = folder / f"test_data_set_{index}"
        data.mkdir(parents=True)
        given, answer = product.data(draw, numbers)
        write_tensors(data, "input", given)
        write_tensors(data, "output", [answer])
    onnx.save(model, folder / "model.onnx")
    case = {"name": str(seed), "model": "model.onnx", "tolerance": TOLERANCE}
    (folder / "case.json").write_text(json.dumps(case))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.count):
        write_case(options.out, seed)


if __name__ == "__main__":
    main()
