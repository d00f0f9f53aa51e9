"""The benchmark models as torch modules, over the weights of models.py.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np
import torch
from torch import nn

from models import CROSS_LAYERS


def take(module, weights, prefix):
    """Gives a module made without memory the weights of that prefix."""
    for name, _ in list(module.named_parameters()):
        array = torch.from_numpy(weights[f"{prefix}.{name}"])
        setattr(module, name, nn.Parameter(array, requires_grad=False))
    return module


def mlp(weights, prefix, sizes, last):
    layers = []
    for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        linear = nn.Linear(fan_in, fan_out, device="meta")
        layers.append(take(linear, weights, f"{prefix}.{2 * layer}"))
        layers.append(nn.ReLU())
    layers[-1] = last
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    """Bottom MLP, look-ups, interaction, top MLP; subclasses say how each is done."""

    table_class = nn.EmbeddingBag
    table_options = {"mode": "sum"}

    def __init__(self, model, weights):
        super().__init__()
        facts = model.facts
        self.bottom = mlp(weights, "bottom", facts.bottom, nn.ReLU())
        self.top = mlp(weights, "top", facts.top, nn.Sigmoid())
        self.tables = nn.ModuleList()
        for index, rows in enumerate(model.rows):
            made = self.table_class(
                rows, facts.dim, device="meta", **self.table_options
            )
            self.tables.append(take(made, weights, f"tables.{index}"))
        li, lj = np.tril_indices(len(model.rows) + 1, -1)
        self.li, self.lj = torch.from_numpy(li), torch.from_numpy(lj)

    def look_up(self, sparse):
        pairs = zip(sparse[::2], sparse[1::2])
        return [t(ids, starts) for t, (ids, starts) in zip(self.tables, pairs)]

    def interact(self, x, features):
        stacked = features.view(x.shape[0], -1, x.shape[1])
        dots = torch.bmm(stacked, stacked.transpose(1, 2))
        return torch.cat([x, dots[:, self.li, self.lj]], dim=1)

    def forward(self, dense, *sparse):
        x = self.bottom(dense)
        features = torch.cat([x] + self.look_up(sparse), dim=1)
        return self.top(self.interact(x, features))


class OneHot(Dlrm):
    table_class = nn.Embedding
    table_options = {}

    def look_up(self, sparse):
        return [t(sparse[0][:, i]) for i, t in enumerate(self.tables)]


class FixedBags(Dlrm):
    """As many ids in each bag of a table: EmbeddingBag takes them as [batch, length]."""

    def look_up(self, sparse):
        return [t(ids) for t, ids in zip(self.tables, sparse)]


class Dcnv2(FixedBags):
    def __init__(self, model, weights):
        super().__init__(model, weights)
        width, rank = model.facts.top[0], model.facts.cross_rank
        self.v, self.w = nn.ModuleList(), nn.ModuleList()
        for layer in range(CROSS_LAYERS):
            low = nn.Linear(width, rank, bias=False, device="meta")
            high = nn.Linear(rank, width, device="meta")
            self.v.append(take(low, weights, f"cross.v.{layer}"))
            self.w.append(take(high, weights, f"cross.w.{layer}"))

    def interact(self, x, features):
        value = features
        for v, w in zip(self.v, self.w):
            value = features * w(v(value)) + value
        return value


CLASSES = {"legacy": Dlrm, "dynamo": Dlrm, "onehot": OneHot, "dcnv2": Dcnv2}
CLASSES |= {"mlperf": Dcnv2, "bench": FixedBags}


def torch_module(model, weights):
    return CLASSES[model.kind](model, weights).eval()
