#!/usr/bin/env python3
"""Layers and chains of layers in 8-bit integers against ONNX Runtime, OpenVINO and oneDNN.

SPDX-License-Identifier: Apache-2.0

    int8_layers.py [--only layers|chains] [--rows 1,4,16,64,256] [--json out.json]

Runs with the Python of bench/peers, against the build in INGOT_BUILD (build/release).
A layer is QDQ around Gemm and Relu: bytes go in and the last layer's come out, u8 by
s8 with a scale for each output; --bits 7 draws weights of 7.  `chains` are the MLPs of
DLRM-DCNv2.  oneDNN runs them as torch calls it (onednn::qlinear_pointwise, one call a
layer from Python).  All of Ingot's bytes are checked against sums by numpy; peers, which
may saturate, by steps.  Beside the ratios stand Ingot's rate and its share of the
rate of the machine's own instruction: dot products of 4 bytes, or tiles.  Method:
measure.py.
"""

import argparse
import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import measure
from engines import IngotEngine, OpenVinoEngine, OrtEngine
from models import cache_folder

OPSET, TURN = 17, 0.004
LAYERS = ((512, 512), (1024, 1024), (3456, 512), (512, 3456), (3456, 1024))
CHAINS = {"bottom": (13, 512, 256, 128), "top": (3456, 1024, 1024, 512, 256, 1)}
SET_BYTES, MAX_SETS = 16 << 20, 16
X_ZERO, Y_SCALE = 128, 0.05

Source = collections.namedtuple("Source", "path model load")
Shape = collections.namedtuple("Shape", "output_shape size dtype")
Layer = collections.namedtuple("Layer", "w w_scale bias x_scale x_zero y_scale y_zero")


def draw_layers(sizes, bits):
    """Each with outputs that fill their byte; x of the first is around 128."""
    rng, layers, scale, zero = np.random.default_rng(3), [], np.float32(0.02), X_ZERO
    for i, (k, n) in enumerate(zip(sizes, sizes[1:])):
        high = 2 ** (bits - 1) - 1
        w = np.clip(rng.normal(0, high / 3, (k, n)).round(), -high, high).astype("i1")
        w_scale = rng.uniform(0.5, 1.5, n).astype("f4") / np.float32(high * k**0.5)
        bias = rng.integers(-1000, 1000, n).astype("i4")
        is_last = i + 2 == len(sizes)
        y_zero = X_ZERO if is_last else 0
        layer = Layer(w, w_scale, bias, scale, zero, np.float32(Y_SCALE * 0.4), y_zero)
        layers.append(layer)
        scale, zero = layer.y_scale, y_zero
    return layers


def name_of(sizes, bits):
    return f"int8_{'-'.join(map(str, sizes))}_{bits}"


def write_model(sizes, layers, bits):
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(value, name))
        return name

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    x, scale, zero = "x", "s0", "z0"
    constant(scale, np.float32(layers[0].x_scale))
    constant(zero, np.uint8(layers[0].x_zero))
    for i, layer in enumerate(layers):
        x = node("DequantizeLinear", x, scale, zero)
        w_scale = constant(f"ws{i}", layer.w_scale)
        w = constant(f"w{i}", layer.w)
        w_zero = constant(f"wz{i}", np.zeros(len(layer.w_scale), "i1"))
        w = node("DequantizeLinear", w, w_scale, w_zero, axis=1)
        b_scale = constant(f"bs{i}", layer.w_scale * layer.x_scale)
        b_zero = constant(f"bz{i}", np.zeros(len(layer.w_scale), "i4"))
        b = constant(f"b{i}", layer.bias)
        b = node("DequantizeLinear", b, b_scale, b_zero, axis=0)
        x = node("Gemm", x, w, b)
        x = x if i + 1 == len(layers) else node("Relu", x)
        scale, zero = f"s{i + 1}", f"z{i + 1}"
        constant(scale, np.float32(layer.y_scale))
        constant(zero, np.uint8(layer.y_zero))
        x = node("QuantizeLinear", x, scale, zero)
    nodes[-1].output[0] = "y"
    ins = [helper.make_tensor_value_info("x", TensorProto.UINT8, ["B", sizes[0]])]
    outs = [helper.make_tensor_value_info("y", TensorProto.UINT8, ["B", sizes[-1]])]
    graph = helper.make_graph(nodes, "layers", ins, outs, constants)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model)
    path = cache_folder() / f"{name_of(sizes, bits)}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def reference(layers, x):
    """Bytes of the last layer: sums of integers, each rounded to f32 once."""
    for i, layer in enumerate(layers):
        sums = (x.astype("i4") - layer.x_zero) @ layer.w.astype("i4")
        scale = layer.x_scale * layer.w_scale
        y = sums.astype("f4") * scale + layer.bias.astype("f4") * scale
        y = y if i + 1 == len(layers) else np.maximum(y, 0)
        y = np.rint(y / layer.y_scale) + np.float32(layer.y_zero)
        x = np.clip(y, 0, 255).astype("u1")
    return x


class OneDnnEngine:
    """torch's quantised linear: oneDNN, weights packed before."""

    name = "onednn"

    def __init__(self, layers, threads):
        import torch

        torch.set_num_threads(threads)
        self.torch, self.ops, self.layers = torch, torch.ops.onednn, []
        for layer in layers:
            w = self.ops.qlinear_prepack(torch.from_numpy(layer.w.T.copy()), None)
            bias = torch.from_numpy(layer.bias.astype("f4") * layer.w_scale * layer.x_scale)
            zeros = torch.zeros(len(layer.w_scale), dtype=torch.int32)
            self.layers.append((layer, w, torch.from_numpy(layer.w_scale), zeros, bias))

    def prepare(self, sets):
        self.sets = [self.torch.from_numpy(arrays[0]) for arrays in sets]

    def run(self, index):
        x = self.sets[index]
        with self.torch.inference_mode():
            for layer, w, scales, zeros, bias in self.layers:
                post = "none" if layer is self.layers[-1][0] else "relu"
                x = self.ops.qlinear_pointwise(
                    x, float(layer.x_scale), layer.x_zero, w, scales, zeros, bias,
                    float(layer.y_scale), layer.y_zero, self.torch.uint8, post, [], "")
        self.result = x

    def output(self, index):
        return self.result.numpy()

    def close(self):
        self.layers = self.sets = None


def make_engines(sizes, layers, sets, options):
    path = write_model(sizes, layers, options.bits)
    source = Source(path, Shape((sizes[-1], ), "small", "uint8"), "mapped")
    engines = [make(source, options.threads)
               for make in (IngotEngine, OrtEngine, OpenVinoEngine)]
    engines.append(OneDnnEngine(layers, options.threads))
    for engine in engines:
        engine.prepare(sets)
    return engines


def check(engines, layers, x):
    """Ingot's bytes are exactly the reference's; how many steps the others are off."""
    want, text = reference(layers, x).astype("i4"), ""
    for engine in engines:
        engine.run(0)
        steps = int(np.abs(engine.output(0).astype("i4") - want).max())
        if engine is engines[0] and steps > 0:
            raise SystemExit(f"ingot is off by {steps} steps of the integer reference")
        text += f"   {engine.name} off by {steps}" if steps > 0 else ""
    return text


def run_point(sizes, rows, options):
    layers = draw_layers(sizes, options.bits)
    rng = np.random.default_rng(rows)
    count = int(np.clip(SET_BYTES // (rows * sizes[0]), 2, MAX_SETS))
    sets = [[rng.integers(0, 256, (rows, sizes[0]), "u1")] for _ in range(count)]
    engines = make_engines(sizes, layers, sets, options)
    note = check(engines, layers, sets[0][0])
    name = f"{' -> '.join(map(str, sizes))}, {rows} rows"
    point = measure.run_point(name, engines, count, options, TURN)
    work = 2 * rows * sum(k * n for k, n in zip(sizes, sizes[1:]))
    point["gops"] = work / point["us"]["ingot"] / 1e3
    share = 100 * point["gops"] / options.peak
    measure.show(point, f"   {point['gops']:.0f} GOPS, {share:.0f} %{note}")
    return point


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("layers", "chains"))
    parser.add_argument("--rows", default="1,4,16,64,256")
    parser.add_argument("--bits", type=int, choices=(7, 8), default=8)
    measure.add_options(parser, rounds=15)
    options = parser.parse_args()
    options.peak = measure.byte_peak() * options.threads
    print(f"{options.peak:.0f} GOPS by the machine's own instruction")
    shapes = [] if options.only == "chains" else list(LAYERS)
    shapes += [] if options.only == "layers" else CHAINS.values()
    points = [run_point(sizes, rows, options)
              for sizes in shapes for rows in map(int, options.rows.split(","))]
    measure.write_report(options, points)


main()
