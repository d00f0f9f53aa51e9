#!/usr/bin/env python3
"""A text encoder of MiniLM's shape in dynamic int8 against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    encoder.py [--shapes 1x32,8x64] [--all-products|--static] [--threads N] [--json out.json]

Runs with the Python of bench/peers, against the build in INGOT_BUILD (build/release).
The model is all-MiniLM-L6's graph (6 layers, 384 wide, 12 heads, mean of the tokens,
normalised) with drawn weights, exported by torch and quantised by ONNX Runtime's own
tool: layers' weights in int8, activations quantised as they come; --all-products: also
queries by keys and weights by values; --static: QDQ, calibrated by four calls, whose
products are all of bytes.  Both engines run it in int8 and in f32; the
cosine is that of int8 to f32.  Method: measure.py.
"""

import argparse
import collections

import numpy as np

import measure
from engines import IngotEngine, OrtEngine
from models import cache_folder

VOCABULARY, POSITIONS, WIDTH, HEADS, INNER, LAYERS = 30522, 512, 384, 12, 1536, 6
SETS = 4

Source = collections.namedtuple("Source", "path model load")
Shape = collections.namedtuple("Shape", "output_shape size")


def tokens(seed, batch, length):
    rng = np.random.default_rng(seed)
    ids = rng.integers(5, VOCABULARY, (batch, length))
    mask = (np.arange(length) < rng.integers(length // 2, length + 1, (batch, 1)))
    return [ids, mask.astype("int64")]


def build_module():
    import torch
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
            self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x, bias):
            batch, length, _ = x.shape

            def split(t):
                return t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

            scores = split(self.q(x)) @ split(self.k(x)).transpose(-1, -2)
            scores = scores / (WIDTH // HEADS) ** 0.5 + bias
            mixed = scores.softmax(-1) @ split(self.v(x))
            x = self.first(self.o(mixed.transpose(1, 2).reshape(x.shape)) + x)
            return self.second(self.down(nn.functional.gelu(self.up(x))) + x)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(POSITIONS, WIDTH)
            self.norm = nn.LayerNorm(WIDTH)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

        def forward(self, ids, mask):
            x = self.words(ids) + self.positions(torch.arange(ids.shape[1]))
            x, m = self.norm(x), mask.to(torch.float32)
            bias = (1 - m[:, None, None, :]) * torch.finfo(torch.float32).min
            for layer in self.layers:
                x = layer(x, bias)
            mean = (x * m[:, :, None]).sum(1) / m.sum(1, keepdim=True)
            return nn.functional.normalize(mean, dim=1)

    torch.manual_seed(1)
    return Encoder().eval()


def export(path):
    import torch

    ids, mask = map(torch.from_numpy, tokens(0, 2, 16))
    axes = {0: "batch", 1: "length"}
    torch.onnx.export(build_module(), (ids, mask), str(path), dynamo=False, opset_version=17,
                      input_names=["ids", "mask"], output_names=["y"],
                      dynamic_axes={"ids": axes, "mask": axes, "y": {0: "batch"}})


class Samples:
    def __init__(self):
        self.left = [tokens(seed, 2, 64) for seed in range(SETS)]

    def get_next(self):
        return dict(zip(("ids", "mask"), self.left.pop())) if self.left else None


def quantise(plain, narrow, options):
    from onnxruntime import quantization as q

    if options.static:
        ready = narrow.with_suffix(".ready.onnx")
        q.shape_inference.quant_pre_process(str(plain), str(ready))
        q.quantize_static(str(ready), str(narrow), Samples(), per_channel=True,
                          op_types_to_quantize=["MatMul", "Gemm"],
                          activation_type=q.QuantType.QUInt8,
                          weight_type=q.QuantType.QInt8)
        return
    only = {"MatMulConstBOnly": not options.all_products}
    q.quantize_dynamic(str(plain), str(narrow), weight_type=q.QuantType.QInt8,
                       extra_options=only)


def models(options):
    """The model's file in int8, and in f32."""
    folder = cache_folder()
    plain = folder / "encoder.onnx"
    way = "static" if options.static else "all" if options.all_products else "dynamic"
    narrow = folder / f"encoder_{way}.onnx"
    folder.mkdir(parents=True, exist_ok=True)
    if not plain.exists():
        export(plain)
    if not narrow.exists():
        quantise(plain, narrow, options)
    return narrow, plain


def make_engines(options, sets):
    narrow, plain = (Source(path, Shape((WIDTH, ), "small"), "mapped")
                     for path in models(options))
    engines = []
    for make, source, name in ((IngotEngine, narrow, "ingot"),
                               (OrtEngine, narrow, "onnxruntime"),
                               (IngotEngine, plain, "ingot in f32"),
                               (OrtEngine, plain, "onnxruntime in f32")):
        engine = make(source, options.threads)
        engine.name = name
        engine.prepare(sets)
        engines.append(engine)
    return engines


def cosines(engines):
    """Of each engine's answers to those of f32."""
    for engine in engines:
        engine.run(0)
    want = engines[-1].output(0)
    return {e.name: float((e.output(0) * want).sum(1).min()) for e in engines[:-1]}


def run_point(batch, length, options):
    sets = [tokens(100 + i, batch, length) for i in range(SETS)]
    engines = make_engines(options, sets)
    near = cosines(engines)
    point = measure.run_point(f"{batch} x {length}", engines, len(sets), options)
    return {**point, "cosine": near}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="1x32,8x64")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--all-products", action="store_true")
    way.add_argument("--static", action="store_true")
    measure.add_options(parser, rounds=15)
    options = parser.parse_args()
    points = []
    for shape in options.shapes.split(","):
        point = run_point(*map(int, shape.split("x")), options)
        measure.show(point, f"   cosine {point['cosine']['ingot']:.4f}")
        points.append(point)
    measure.write_report(options, points)


if __name__ == "__main__":
    main()
