#!/usr/bin/env python3
"""Image networks of torchvision against ONNX Runtime and other engines, by rounds.

SPDX-License-Identifier: Apache-2.0

    $python bench/images.py                            # all networks, batch 1, one thread
    $python bench/images.py --model resnet18 --batch 1,8 --engines ingot,onnxruntime,openvino

Weights are drawn (nothing is downloaded); normalisations have means and variances of
their own.  Ratios are of interleaved rounds (measure.py).
"""

import argparse
import dataclasses
import pathlib

import numpy as np

import measure
from engines import ENGINES
from models import cache_folder

SIDE = 224
MODELS = (
    "resnet18",
    "resnet50",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "squeezenet1_1",
    "efficientnet_b0",
)
ROUNDS = (9, 0.02)
TOLERANCE = {"rtol": 1e-3, "atol": 1e-4}


@dataclasses.dataclass(frozen=True)
class Network:
    """What engines ask of a model."""

    name: str
    size: str = "small"
    output_shape: tuple = (1000,)


@dataclasses.dataclass(frozen=True)
class Source:
    model: Network
    path: pathlib.Path
    load: str = "mapped"


def draw_module(name):
    import torch
    import torchvision

    torch.manual_seed(0)
    module = getattr(torchvision.models, name)(weights=None).eval()
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.1, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return module


def write_onnx(name):
    """The path of the network's file, exported unless it is there."""
    import torch

    folder = cache_folder() / "images"
    path, partial = folder / f"{name}.onnx", folder / f"{name}.partial"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(
            draw_module(name),
            (torch.zeros(1, 3, SIDE, SIDE),),
            str(partial),
            dynamo=False,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
            opset_version=17,
        )
        partial.rename(path)
    return path


def check_agreement(engines):
    for engine in engines:
        engine.run(0)
    want = np.array(engines[-1].output(0))
    for engine in engines[:-1]:
        np.testing.assert_allclose(engine.output(0), want, **TOLERANCE)


def compare_network(options, name):
    source = Source(Network(name), write_onnx(name))
    engines = [ENGINES[e](source, options.threads) for e in options.engines]
    for batch in options.batch:
        rng = np.random.default_rng(batch)
        images = rng.standard_normal((batch, 3, SIDE, SIDE), "float32")
        for engine in engines:
            engine.prepare([[images]])
        check_agreement(engines)
        rounds = measure.measure_rounds(engines, 1, options.threads, 1 << 26, ROUNDS)
        quiet = measure.believable(rounds)
        print_point(name, batch, options, quiet or rounds, len(rounds))
    for engine in engines:
        engine.close()


def print_point(name, batch, options, rounds, count):
    ours = options.engines[0]
    peak = np.median([v["fma_gflops"] for v in rounds])
    times = "  ".join(
        f"{e} {np.median([v[e] for v in rounds]) * 1e3:.2f} ms" for e in options.engines
    )
    print(f"{name} batch {batch}: {times}; fma {peak:.0f} GFLOP/s", end="")
    print(f", {len(rounds)} of {count} rounds kept", flush=True)
    for peer in options.engines[1:]:
        r = measure.ratios(rounds, ours, peer)
        print(f"    {peer} / {ours} = {r['median']:.2f} [{r['low']:.2f}, {r['high']:.2f}]")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=",".join(MODELS), help="names, by commas")
    parser.add_argument("--batch", default="1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--engines", default="ingot,onnxruntime")
    options = parser.parse_args()
    options.engines = options.engines.split(",")
    options.batch = [int(b) for b in options.batch.split(",")]
    return options


def main():
    options = parse_options()
    for name in options.model.split(","):
        compare_network(options, name)


if __name__ == "__main__":
    main()
