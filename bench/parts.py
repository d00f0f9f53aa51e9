"""Parts of recommendation models as models of their own: chains, cross layers, dots.

SPDX-License-Identifier: Apache-2.0

Each is what the ONNX exporters write for it, over the same weights as a torch module.
"""

import dataclasses

import numpy as np
import onnx
from onnx_graph import new_model

OPSET = 18
FEATURES = 27  # dense ones and 26 tables


@dataclasses.dataclass(frozen=True)
class Chain:
    """Linear layers, each with a ReLU."""

    sizes: tuple

    def weights(self, rng):
        made = {}
        for layer, (k, n) in enumerate(zip(self.sizes, self.sizes[1:])):
            made[f"{layer}.weight"] = rng.normal(0, 1.4 / np.sqrt(k), (n, k))
            made[f"{layer}.bias"] = rng.normal(0, 0.1, n)
        return made

    def inputs(self, rng, batch):
        return [rng.standard_normal((batch, self.sizes[0]), "float32")]

    def write(self, g, weight):
        x = g.input("x", "float32", ["batch", self.sizes[0]])
        for layer in range(len(self.sizes) - 1):
            operands = [x, weight(f"{layer}.weight"), weight(f"{layer}.bias")]
            x = g.node("Relu", [g.node("Gemm", operands, transB=1)])
        return x

    def forward(self, w, x):
        from torch.nn import functional

        for layer in range(len(self.sizes) - 1):
            x = functional.linear(x, w(f"{layer}.weight"), w(f"{layer}.bias")).relu()
        return x

    @property
    def output_shape(self):
        return (self.sizes[-1],)

    @property
    def work(self):
        """(FLOP a sample, bytes of weights, bytes of input and output a sample)."""
        macs = sum(k * n for k, n in zip(self.sizes, self.sizes[1:]))
        return 2 * macs, 4 * macs, 4 * (self.sizes[0] + self.sizes[-1])


@dataclasses.dataclass(frozen=True)
class Cross:
    """DCNv2: x0 * (W V x + b) + x, low rank."""

    width: int
    rank: int
    layers: int

    def weights(self, rng):
        made = {}
        for layer in range(self.layers):
            made[f"v.{layer}"] = rng.normal(0, 0.01, (self.rank, self.width))
            made[f"w.{layer}"] = rng.normal(0, 0.03, (self.width, self.rank))
            made[f"b.{layer}"] = rng.normal(0, 0.1, self.width)
        return made

    def inputs(self, rng, batch):
        return [rng.standard_normal((batch, self.width), "float32")]

    def write(self, g, weight):
        x0 = x = g.input("x", "float32", ["batch", self.width])
        for layer in range(self.layers):
            low = g.node("Gemm", [x, weight(f"v.{layer}")], transB=1)
            operands = [low, weight(f"w.{layer}"), weight(f"b.{layer}")]
            high = g.node("Gemm", operands, transB=1)
            x = g.node("Add", [g.node("Mul", [x0, high]), x])
        return x

    def forward(self, w, x0):
        from torch.nn import functional

        x = x0
        for layer in range(self.layers):
            low = functional.linear(x, w(f"v.{layer}"))
            x = x0 * functional.linear(low, w(f"w.{layer}"), w(f"b.{layer}")) + x
        return x

    @property
    def output_shape(self):
        return (self.width,)

    @property
    def work(self):
        macs = 2 * self.layers * self.width * self.rank
        return 2 * macs, 4 * macs, 8 * self.width


@dataclasses.dataclass(frozen=True)
class Dots:
    """The lower triangle of all features' dot products."""

    dim: int

    def weights(self, rng):
        return {}

    def inputs(self, rng, batch):
        return [rng.standard_normal((batch, FEATURES, self.dim), "float32")]

    def write(self, g, weight):
        x = g.input("x", "float32", ["batch", FEATURES, self.dim])
        dots = g.node("MatMul", [x, g.node("Transpose", [x], perm=[0, 2, 1])])
        dots = g.node("Transpose", [dots], perm=[1, 2, 0])
        pairs = g.initializer(np.stack(np.tril_indices(FEATURES, -1), axis=1))
        chosen = g.node("GatherND", [dots, pairs])
        return g.node("Transpose", [chosen], perm=[1, 0])

    def forward(self, w, x):
        import torch

        li, lj = torch.tril_indices(FEATURES, FEATURES, -1)
        return torch.bmm(x, x.transpose(1, 2))[:, li, lj]

    @property
    def output_shape(self):
        return (FEATURES * (FEATURES - 1) // 2,)

    @property
    def work(self):
        pairs = FEATURES * (FEATURES - 1) // 2
        return 2 * pairs * self.dim, 0, 4 * (FEATURES * self.dim + pairs)


PARTS = {
    "chain_bottom": Chain((13, 512, 256, 128)),
    "chain_top": Chain((3456, 1024, 1024, 512, 256, 1)),
    "chain_512": Chain((512, 512, 64)),
    "chain_1024": Chain((1024, 1024, 1024, 1)),
    "cross": Cross(3456, 512, 3),
    "dots_64": Dots(64),
    "dots_128": Dots(128),
}


@dataclasses.dataclass(frozen=True)
class Part:
    """Looks like models.Model to the engines."""

    kind: str
    size = "small"

    @property
    def name(self):
        return self.kind

    @property
    def facts(self):
        return PARTS[self.kind]

    @property
    def output_shape(self):
        return self.facts.output_shape

    def make_weights(self):
        made = self.facts.weights(np.random.default_rng(101))
        return {name: array.astype("float32") for name, array in made.items()}

    def make_inputs(self, rng, batch):
        return self.facts.inputs(rng, batch)

    def make_proto(self, weights):
        proto, g = new_model(onnx, OPSET)
        y = self.facts.write(
            g, lambda name: g.initializer(weights[name], "float32", hint=name)
        )
        g.output(y, "float32", ["batch", *self.output_shape])
        return proto

    def torch_module(self, weights):
        import torch

        facts = self.facts

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                for name, array in weights.items():
                    value = torch.nn.Parameter(torch.from_numpy(array), False)
                    self.register_parameter(name.replace(".", "_"), value)

            def forward(self, x):
                return facts.forward(lambda n: getattr(self, n.replace(".", "_")), x)

        return Module().eval()
