"""Nets of plain Python: each is a case.

SPDX-License-Identifier: Apache-2.0
"""
import math
import operator
from typing import List

import torch
import torch.utils.checkpoint
import torch.nn as nn
import torch.nn.functional as F

from . import helpers
from .helpers import (ACTS, Block, Config, Meter, Mode, Norm, Pair, Stats, apply_all,
                      decorated, recurse, stats)


class Early(nn.Module):
    """Returns, breaks and continues where the run chooses."""

    def forward(self, x):
        for i in range(4):
            x = x * 1.5
            if x.sum() > 20:
                return x, i
            if i == 1:
                continue
            if x.max() > 3.0:
                break
            x = x + 0.1
        else:
            x = x - 1
        y = x.abs()
        if y.mean() < 0.5:
            return y, -1
        return y + 1, 10


class Containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4, Mode.MEAN, "tanh"), Block(4, act="x")])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Sequential(nn.Linear(4, 3), nn.ReLU())})
        self.params = nn.ParameterList([nn.Parameter(torch.full((4,), float(i))) for i in range(3)])
        self.order = ["b", "a"]

    def forward(self, x):
        for block in self.blocks[:-1]:
            x = block(x)
        x = self.blocks[-1](x, skip=False)
        x = self.blocks[0].extra(x)
        for p in self.params:
            x = x + p
        outs = {f"head_{name}": self.heads[name](x) for name in self.order}
        outs["n"] = len(self.blocks) + len(self.heads)
        total = sum(v.sum() for k, v in outs.items() if k.startswith("head"))
        return outs, total


class Values(nn.Module):
    """Tuples, named tuples, dataclasses, classes of no base, comprehensions, slices."""

    def __init__(self):
        super().__init__()
        self.config = Config(width=4, names=["p", "q"])
        self.pair = Pair(2, (3, 4))

    def forward(self, x, scale=2.0, *, shift=0.0):
        s = stats(x, -1)
        mean, var, count = s
        y = (x - mean) / var.sqrt()
        first, *rest = [y[i] for i in range(y.size(0))] if y.size(0) < 8 else [y]
        m = Meter.made(1.5).add(y).add(Meter.twice(y))
        both = m + Meter(0).add(x)
        z, names = apply_all(y, torch.relu, lambda t: t + shift, decorated, scale=scale, b=1, a=2)
        a, b = self.pair
        return {"z": self.config.scaled(z) * self.config.double, "both": both,
                "stats": s, "count": count, "rest": len(rest), "names": names,
                "pair": (a, b[::-1]), "named": self.config.names[-1]}


class Indexing(nn.Module):
    def forward(self, x, idx):
        a = x[0]
        b = x[:, 1:3, None]
        c = x[..., -1]
        d = x[idx]
        e = x[:, [0, 2]]
        y = x.clone()
        y[0, 1] = 5.0
        y[:, -1] += 2
        y[1] = x[0] * 2
        mask = x > 0
        w = torch.where(mask, x, torch.zeros_like(x))
        return a, b, c, d, e, y, w, x.T, x[1:][0], x[-1, -1]


class Operators(nn.Module):
    def forward(self, x, n: int = 3):
        a = 2 - x + 1 / (x.abs() + 1) + 2 ** x - x // 2 + x % 2
        b = (x > 0) & (x < 1) | ~(x != x)
        c = -x if n > 2 else +x
        d = x @ x.t()
        k = 7 // 2 + 7 % 4 - -n ** 2 + (n << 2 | 1)
        e = x * k / 10
        e *= 2
        e -= 1
        ok = 0 < n <= 3 and not x is None
        values, indices = x.max(dim=1)
        best = x.max(1).values + torch.topk(x, 2, dim=-1).values.sum(-1)
        return a, b.float(), c, d, e, ok, values, indices, best, n if ok else "no"


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 12).reshape(3, 4))
        self.table = nn.Parameter(torch.linspace(0, 1, 20).reshape(5, 4))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("var", torch.ones(4))

    def forward(self, x):
        y = F.linear(x, self.weight)
        y = F.softmax(F.layer_norm(y, (3,)), dim=-1) + F.log_softmax(y, -1)
        e = F.embedding(torch.tensor([[1, 2], [0, 4]]), self.table).sum(1)
        n = F.normalize(x, dim=1) + F.batch_norm(x, self.mean, self.var)
        p = F.pad(x, (1, 1), value=2.0)
        m = F.max_pool1d(x.unsqueeze(1), 2)
        i = F.interpolate(x[None, None], scale_factor=2.0, mode="nearest")
        r = F.dropout(F.relu(x, inplace=False), p=0.5, training=self.training)
        z = torch.einsum("ij,kj->ik", x, self.weight)
        c = torch.cat([x, x.mean(dim=1, keepdim=True)], dim=1)
        st = torch.stack((x, x), dim=0).view(2, -1).permute(1, 0)
        o = F.one_hot(torch.arange(3), num_classes=4).to(torch.float32)
        g = F.gelu(x, approximate="tanh") + F.leaky_relu(x, 0.1) + F.softplus(x)
        nrm = x.norm(dim=-1) + torch.norm(x, p=2, dim=1)
        return y, e, n, p, m, i, r, z, c, st, o, g, nrm, F.mse_loss(x, x * 2)


class Scaled(nn.Linear):
    def forward(self, input):
        return super().forward(input) * 2


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x)
        ctx.by = by
        return x * by

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.by, None


class Layers(nn.Module):
    """Of torch.nn in a class of the author's: derived from, asked for, with effects."""
    act = staticmethod(F.softsign)

    def __init__(self):
        super().__init__()
        self.scaled = Scaled(4, 4)
        self.relu = nn.ReLU(inplace=True)
        self.chain = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.BatchNorm1d(4))
        self.gru = nn.GRU(4, 4, batch_first=True)

    @torch.jit.unused
    def side(self, x):
        return x + 1

    def forward(self, x):
        y = x + 1
        z = self.relu(y)  # y, too
        linear = [m for m in self.chain if isinstance(m, nn.Linear)][0]
        if type(self.chain[1]) is nn.Tanh and not isinstance(linear, nn.modules.batchnorm._NormBase):
            z = z + linear(x)
        if torch.backends.cudnn.enabled and torch.cuda.is_available() or torch.jit.is_scripting():
            z = z * 100
        w = Doubled.apply(self.scaled(x), 3)
        c = torch.utils.checkpoint.checkpoint(self.chain[:2], x, use_reentrant=False)
        torch._assert(x.dim() == 2, f"{x.sum()} is not there")
        g, h = self.gru(x.unsqueeze(0))
        name = type(linear).__name__ + self.side.__name__ + Scaled.__module__[-4:]
        return y, z, w, c, self.act(self.side(x)), g, h, len(name)


class Attention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask=None):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.width // self.heads)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        w = scores.softmax(dim=-1)
        y = (w @ v).transpose(1, 2).contiguous().view(b, t, self.width)
        assert y.shape == x.shape, f"{y.shape} is not {x.shape}"
        return x + self.out(y)


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("running", torch.zeros(4))

    def forward(self, x):
        self.calls += 1
        self.running.mul_(0.5).add_(x.mean(0))
        return x + self.running, self.calls


class Wide(nn.Sequential):
    """Inherits forward; a class attribute and a property."""
    factor = 3

    def __init__(self):
        super().__init__(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))

    @property
    def gain(self):
        return self.factor * 2


class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2 + self.in_features


class Base(nn.Module):
    def forward(self, x):
        return self.step(x) + self.bonus

    def step(self, x):
        return x

    bonus = 1.0


class Derived(Base):
    bonus = 2.5

    def step(self, x):
        return super().step(x) * 3


class Inherited(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.scaled, self.derived = Wide(), Scaled(4, 4), Derived()

    def forward(self, x):
        y = self.scaled(self.derived(x))
        return self.wide(y) * self.wide.gain, isinstance(self.derived, Base), hasattr(self, "no")


class Loops(nn.Module):
    """Loops over what is known, over time, until something holds."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 4)

    def forward(self, x):
        h = torch.zeros(x.size(1), 4)
        hs = []
        for t in range(x.size(0)):
            h = torch.tanh(self.cell(torch.cat([x[t], h], dim=-1)))
            hs.append(h)
        n = 0
        total = h.sum()
        while total.abs() < 100:
            total = total * 2 + 1
            n = n + 1
        i = 0
        while True:
            i += 1
            if i > 3:
                break
        return torch.stack(hs), total, n, i


class Choice(nn.Module):
    def forward(self, x):
        big = x.sum() > 0
        y = x * 2 if big else x - 1
        z = y.relu() if big and x.max() > 1 else y
        if x.min() < -100:
            raise ValueError(f"too small: {x.min()}")
        w = {"a": y}
        if big:
            w["a"] = w["a"] + 1
            k = 1
        else:
            k = 2
        return y, z, w, k, recurse(x, 3)


class Acts(nn.Module):
    def forward(self, x: torch.Tensor, names: List[str] = ("relu", "swish", "half")):
        out = []
        for i, name in enumerate(names):
            act = ACTS.get(name)
            out.append(act(x) + i)
        table = {k: operator.add(v, 1) for k, v in zip(names, out)}
        return out, table, [w for w in helpers.WIDTHS if w > 4], Stats(x, x, 1)._asdict()


class Bits(nn.Module):
    """The same memory as another type; int32 has number 3 among types."""
    def forward(self, x: torch.Tensor):
        y = x * 2
        y.view(torch.int32)[0] = 0
        three = x[0, :3].clone()
        return y, three.view(torch.int32), x.view(dtype=torch.int16), x.view(y.dtype), three.view(3)


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.bn = nn.BatchNorm2d(2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2, 3)

    def features(self, x):
        x = F.relu(self.bn(self.conv(x)), inplace=True)
        return self.pool(x).flatten(1)

    def forward(self, x):
        return self.fc(self.features(x))


class Traced(nn.Module):
    """Made a GraphModule of torch.fx, inside of plain Python."""

    def __init__(self):
        super().__init__()
        self.inner = torch.fx.symbolic_trace(Norm(4))
        self.net = nn.Sequential(nn.Linear(4, 4), nn.GELU())

    def forward(self, x):
        return self.net(self.inner(x)) + torch.as_tensor(1.0)


class Tries(nn.Module):
    """Refused: exceptions are not followed."""

    def forward(self, x):
        try:
            return x + 1
        except ValueError:
            return x


class Yields(nn.Module):
    """Refused: a generator."""

    def parts(self, x):
        yield x

    def forward(self, x):
        return sum(self.parts(x))


class Foreign(nn.Module):
    """Refused: a module that is neither here nor known."""

    def forward(self, x):
        import numpy
        return x * numpy.sqrt(2)


class Ordered(nn.Module):
    """Refused: a global whose value depends on the order of statements."""

    def forward(self, x):
        return x * FACTOR


FACTOR = 1
SECOND = FACTOR + 1
FACTOR = SECOND * 3


class Hooked(nn.Module):
    """Refused: hooks are functions that the package does not tell."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.lin.register_forward_hook(helpers.hook)

    def forward(self, x):
        return self.lin(x)
