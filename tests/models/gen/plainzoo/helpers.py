"""Functions, constants and classes that the nets use; some they never use.

SPDX-License-Identifier: Apache-2.0
"""
import functools
import logging
import math
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Dict, List, NamedTuple, Optional

import torch
from torch import nn
from torch.nn import functional as F

try:
    import not_installed_anywhere  # noqa: F401
except ImportError:
    not_installed_anywhere = None

logger = logging.getLogger(__name__)
EPS = 1e-5
WIDTHS = [4, 8]
WIDTHS.append(EPS and 16)
ACTS = {"relu": F.relu, "tanh": torch.tanh, "gelu": lambda x: F.gelu(x),
        "half": functools.partial(torch.mul, other=0.5)}
ACTS["swish"] = lambda x: x * torch.sigmoid(x)
Pair = namedtuple("Pair", ["left", "right"])


class Mode(Enum):
    SUM = "sum"
    MEAN = "mean"


class Stats(NamedTuple):
    mean: torch.Tensor
    var: torch.Tensor
    count: int = 0


@dataclass
class Config:
    width: int = 4
    scale: float = 0.5
    names: List[str] = field(default_factory=list)

    @property
    def double(self):
        return self.width * 2

    def scaled(self, x, by=None):
        return x * (self.scale if by is None else by)


class Meter:
    """A class of no base: made in forward."""
    unit = 2

    def __init__(self, start=0):
        self.total = start
        self.seen = []

    def add(self, x):
        self.total = self.total + x.sum() * self.unit
        self.seen.append(x.shape[0])
        return self

    @staticmethod
    def twice(x):
        return x + x

    @classmethod
    def made(cls, start):
        return cls(start)

    def __add__(self, other):
        return self.total + other.total


def stats(x: torch.Tensor, dim: Optional[int] = None, *, eps: float = EPS) -> Stats:
    mean = x.mean() if dim is None else x.mean(dim, keepdim=True)
    centred = x - mean
    var = (centred ** 2).mean() if dim is None else (centred ** 2).mean(dim=dim, keepdim=True)
    return Stats(mean, var + eps, x.numel() if dim is None else x.size(dim))


def never_called(x):
    import numpy as np
    with open("/etc/passwd") as file:
        yield np.asarray(file.read()), x


def apply_all(x, *functions, **options):
    scale = options.pop("scale", 1.0)
    for function in functions:
        x = function(x)
    return x * scale, sorted(options)


@torch.no_grad()
def decorated(x):
    return x.relu()


def recurse(x, n):
    return x if n <= 0 else recurse(x * 1.5, n - 1) + 1


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * self.weight


class Block(nn.Module):
    def __init__(self, width, mode: Mode = Mode.SUM, act="relu"):
        super(Block, self).__init__()
        self.norm = Norm(width)
        self.lin = nn.Linear(width, width)
        self.act = ACTS[act] if act in ("relu", "tanh") else F.silu
        self.mode = mode
        self._gate: Dict[str, float] = {"a": 0.25, "b": 0.75}

    def forward(self, x, skip=True):
        y = self.act(self.lin(self.norm(x)))
        if self.mode is Mode.MEAN:
            y = y / len(self._gate)
        return x + y if skip else y

    def extra(self, x):
        return sum(value * x for value in self._gate.values()) + math.sqrt(4)


def hook(module, given, result):
    return result * 2
