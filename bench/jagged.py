#!/usr/bin/env python3
"""Histories of different lengths: jagged attention against what pads them.

    $python bench/jagged.py [--rounds 15] [--json FILE]

Two layers of HSTU (Zhai et al. 2024: silu(q k') / n * causal, gated by u) and the same with
softmax and a mask of lengths, over jagged rows between FBGEMM's jagged_to_padded_dense and
dense_to_jagged; lengths are drawn from 0 … N.  Open batch and open number of rows.  Peers,
interleaved (measure.py), one thread each: torch with FBGEMM on the same program, and ONNX
Runtime on its padded form, exported by torch, which has no conversions to make.  All
results are held against the padded form in f64 first.

Needs INGOT_BUILD's Python package, torch, fbgemm_gpu and onnxruntime (bench/peers).
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import io
import json
import os
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(BUILD / "python"))
warnings.filterwarnings("ignore")

import fbgemm_gpu  # noqa: E402, F401
import ingot  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from measure import run_point, show  # noqa: E402

SETS = 4
TOLERANCE = 1e-4
# Longest history, width, heads, columns of a head, histories of a batch.
SIZES = ((50, 64, 1, 64, 128), (64, 64, 2, 32, 64), (200, 128, 4, 32, 32),
         (200, 256, 4, 64, 32), (512, 256, 4, 64, 16), (1024, 256, 4, 64, 8))


class Layer(nn.Module):
    def __init__(self, size, softmax):
        super().__init__()
        self.longest, width, self.heads, self.columns, _ = size
        self.softmax = softmax
        joined = self.heads * self.columns
        self.uvqk = nn.Linear(width, 4 * joined)
        self.out = nn.Linear(joined, width)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(joined)
        self.register_buffer("causal", torch.ones(self.longest, self.longest).tril())

    def attend(self, q, k, v, lengths):
        """[B, N, heads * columns] each; lengths [B]."""
        split = (-1, self.longest, self.heads, self.columns)
        q, k, v = (x.view(split).transpose(1, 2) for x in (q, k, v))
        a = torch.matmul(q, k.transpose(2, 3)) * self.columns ** -0.5
        if self.softmax:
            there = torch.arange(self.longest)[None] < lengths[:, None]
            mask = there[:, None, :] & (self.causal > 0)[None]
            a = a.masked_fill(~mask[:, None], -1e9).softmax(-1)
        else:
            a = functional.silu(a) / self.longest * self.causal
        joined = (-1, self.longest, self.heads * self.columns)
        return torch.matmul(a, v).transpose(1, 2).reshape(joined)

    def pieces(self, x):
        y = self.uvqk(self.before(x))
        y = y if self.softmax else functional.silu(y)
        return torch.split(y, self.heads * self.columns, dim=-1)

    def finish(self, x, u, a):
        return x + self.out(self.after(a) * u)


class Jagged(nn.Module):
    """x [rows of all histories, width], offsets [B + 1]."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x, offsets):
        lengths = offsets[1:] - offsets[:-1]
        for layer in self.layers:
            u, v, q, k = layer.pieces(x)
            padded = (torch.ops.fbgemm.jagged_to_padded_dense(y, [offsets], [layer.longest], 0.0)
                      for y in (q, k, v))
            a = layer.attend(*padded, lengths)
            a = torch.ops.fbgemm.dense_to_jagged(a, [offsets], x.size(0))[0]
            x = layer.finish(x, u, a)
        return x


class Padded(nn.Module):
    """x [B, N, width], lengths [B]."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x, lengths):
        for layer in self.layers:
            u, v, q, k = layer.pieces(x)
            x = layer.finish(x, u, layer.attend(q, k, v, lengths))
        return x


def draw(generator, size):
    longest, width, _, _, batch = size
    lengths = torch.from_numpy(generator.integers(0, longest + 1, batch))
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])
    return torch.randn(int(offsets[-1]), width), offsets


def pad(x, offsets, longest):
    return torch.ops.fbgemm.jagged_to_padded_dense(x, [offsets], [longest], 0.0)


def unpad(y, offsets):
    lengths = (offsets[1:] - offsets[:-1]).tolist()
    return torch.cat([y[b, :n] for b, n in enumerate(lengths)]).float().numpy()


def exact_rows(module, x, offsets, longest):
    """In f64, which FBGEMM's conversions do not take."""
    with torch.no_grad():
        y = Padded(module.layers).double()(pad(x, offsets, longest).double(),
                                           offsets[1:] - offsets[:-1])
    module.float()
    return unpad(y, offsets)


class IngotEngine:
    name = "ingot"

    def __init__(self, module, sets, _size):
        x, offsets = sets[0]
        dims = {"x": {0: torch.export.Dim("rows", min=2)},
                "offsets": {0: torch.export.Dim("ends", min=3)}}
        self.program = ingot.compile(module, (x, offsets), dims)
        self.sets = [[t.numpy() for t in one] for one in sets]

    def run(self, index):
        return np.asarray(self.program(*self.sets[index]))

    def close(self):
        pass


class TorchEngine:
    name = "torch"

    def __init__(self, module, sets, _size):
        self.module, self.sets = module, sets

    def run(self, index):
        with torch.no_grad():
            return self.module(*self.sets[index]).numpy()

    def close(self):
        pass


class OrtEngine:
    name = "onnxruntime, padded"

    def __init__(self, module, sets, size):
        self.sets = sets
        self.feeds = [{"x": pad(x, offsets, size[0]).numpy(),
                       "lengths": (offsets[1:] - offsets[:-1]).numpy()} for x, offsets in sets]
        file = io.BytesIO()
        example = tuple(torch.from_numpy(v) for v in self.feeds[0].values())
        torch.onnx.export(Padded(module.layers), example, file, dynamo=False,
                          input_names=["x", "lengths"], output_names=["y"],
                          dynamic_axes={"x": {0: "b"}, "lengths": {0: "b"}, "y": {0: "b"}})
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(file.getvalue(), options,
                                                    providers=["CPUExecutionProvider"])
        names = [one.name for one in self.session.get_inputs()]
        self.feeds = [{name: feed[name] for name in names} for feed in self.feeds]

    def run(self, index):
        return self.session.run(None, self.feeds[index])[0]

    def rows(self, index):
        """The same as the others have it."""
        return unpad(torch.from_numpy(self.run(index)), self.sets[index][1])

    def close(self):
        pass


def measure_size(size, softmax, options):
    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    module = Jagged(nn.ModuleList(Layer(size, softmax) for _ in range(2))).eval()
    sets = [draw(generator, size) for _ in range(SETS)]
    engines = [make(module, sets, size) for make in (IngotEngine, TorchEngine, OrtEngine)]
    exact = [exact_rows(module, x, offsets, size[0]) for x, offsets in sets]
    for engine in engines:
        for index, want in enumerate(exact):
            got = getattr(engine, "rows", engine.run)(index)
            np.testing.assert_allclose(got, want, rtol=TOLERANCE, atol=TOLERANCE,
                                       err_msg=engine.name)
    kind = "softmax" if softmax else "hstu"
    name = f"{kind} {size[4]} x 0..{size[0]}, {size[2]} x {size[3]}"
    return run_point(name, engines, SETS, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.threads = 1
    torch.set_num_threads(1)
    points = []
    for size in SIZES:
        for softmax in (False, True):
            points.append(measure_size(size, softmax, options))
            show(points[-1])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(points, indent=1))


if __name__ == "__main__":
    main()
