#!/usr/bin/env python3
"""Quantised image networks (QDQ) against ONNX Runtime and OpenVINO.

SPDX-License-Identifier: Apache-2.0

    quantised.py [--models resnet18,mobilenet_v2] [--batch 1,8] [--threads N] [--json out.json]

Runs with the Python of bench/peers, against the build in INGOT_BUILD (build/release).
The networks are torchvision's, with random weights whose activations keep their size,
exported by torch and quantised by ONNX Runtime's own tool: u8 activations, s8 weights by
channel, 7 bits where --reduce is given.  Method: measure.py.
"""

import argparse
import collections
import pathlib
import tempfile

import numpy as np

import measure
from engines import IngotEngine, OpenVinoEngine, OrtEngine
from models import cache_folder

MODELS = ("resnet18", "mobilenet_v2", "squeezenet1_1", "regnet_x_400mf")
SIZE, CLASSES, SAMPLES = 224, 1000, 4
STEPS = 3  # of the output's scale: the engines round sums in other places

Source = collections.namedtuple("Source", "path model load")
Shape = collections.namedtuple("Shape", "output_shape size")


def images(seed, batch):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((batch, 3, SIZE, SIZE), "float32")


def export(name, path):
    import torch
    import torchvision

    torch.manual_seed(1)
    module = getattr(torchvision.models, name)(weights=None).eval()
    for layer in module.modules():  # activations that neither vanish nor explode
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight, mode="fan_in")
    torch.onnx.export(module, (torch.from_numpy(images(0, 2)), ), str(path), dynamo=False,
                      input_names=["x"], output_names=["y"], opset_version=17,
                      dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})


class Samples:
    def __init__(self):
        self.left = [images(seed, 1) for seed in range(SAMPLES)]

    def get_next(self):
        return {"x": self.left.pop()} if self.left else None


def quantise(name, reduce):
    from onnxruntime import quantization as q

    path = cache_folder() / f"qdq_{name}{'_7bit' if reduce else ''}.onnx"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain, ready = pathlib.Path(folder, "plain.onnx"), pathlib.Path(folder, "ready.onnx")
        export(name, plain)
        q.shape_inference.quant_pre_process(str(plain), str(ready))
        q.quantize_static(str(ready), str(path), Samples(), per_channel=True,
                          reduce_range=reduce, activation_type=q.QuantType.QUInt8,
                          weight_type=q.QuantType.QInt8)
    return path


def check(engines):
    for engine in engines:
        engine.run(0)
    want = engines[1].output(0)
    spread = np.abs(want).max() / 127
    for engine in engines:
        error = np.abs(engine.output(0) - want).max() / spread
        print(f"    {engine.name}: off by at most {error:.1f} steps of the output")


def run_point(name, batch, options):
    source = Source(quantise(name, options.reduce), Shape((CLASSES, ), "small"), "mapped")
    sets = [[images(100 + i, batch)] for i in range(2)]
    engines = []
    for make, peer in ((IngotEngine, "ingot"), (OrtEngine, "onnxruntime"),
                       (OpenVinoEngine, "openvino")):
        engine = make(source, options.threads)
        engine.name = peer
        engine.prepare(sets)
        engines.append(engine)
    check(engines)
    return measure.run_point(f"{name}, batch {batch}", engines, len(sets), options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--batch", default="1,8")
    parser.add_argument("--reduce", action="store_true", help="weights of 7 bits")
    measure.add_options(parser, rounds=15)
    options = parser.parse_args()
    points = []
    for name in options.models.split(","):
        for batch in map(int, options.batch.split(",")):
            point = run_point(name, batch, options)
            measure.show(point)
            points.append(point)
    measure.write_report(options, points)


main()
