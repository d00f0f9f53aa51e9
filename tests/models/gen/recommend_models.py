"""Recommendation models of the literature in torch, small and with seeded weights.

SPDX-License-Identifier: Apache-2.0

MODELS has a function for each; it gives (module, draw), where draw(batch) makes a tuple
of inputs whose first axis is the batch.  All of them script, trace and export.
"""

import math
from typing import Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F

T = torch.Tensor
FIELDS, ROWS, DIM, DENSE, STEPS, ITEMS = 6, 50, 8, 5, 11, 40

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def mlp(*sizes, act=nn.ReLU, last=None):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers += [nn.Linear(fan_in, fan_out), act()]
    layers.pop()
    return nn.Sequential(*layers, *([last] if last else []))


def draw_ids(*shape, rows=ROWS):
    return torch.randint(0, rows, shape)


def draw_fields(batch):
    return (draw_ids(batch, FIELDS),)


def draw_mixed(batch):
    return torch.randn(batch, DENSE), draw_ids(batch, FIELDS)


def draw_history(batch):
    """Ids of a history, 0 where it has ended, and the item that is scored."""
    history = torch.randint(1, ITEMS, (batch, STEPS))
    lengths = torch.randint(1, STEPS + 1, (batch, 1))
    history[torch.arange(STEPS)[None] >= lengths] = 0
    return history, torch.randint(1, ITEMS, (batch,))


class Fields(nn.Module):
    """One table for all fields, as most libraries keep it."""

    def __init__(self, dim=DIM):
        super().__init__()
        self.table = nn.Embedding(FIELDS * ROWS, dim)
        self.register_buffer("starts", torch.arange(FIELDS) * ROWS)

    def forward(self, ids: T) -> T:
        return self.table(ids + self.starts)


class Tables(nn.Module):
    """A table for each field."""

    def __init__(self, dim=DIM):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(ROWS, dim) for _ in range(FIELDS)])

    def forward(self, ids: T) -> T:
        rows = []
        for i, table in enumerate(self.tables):
            rows.append(table(ids[:, i]))
        return torch.stack(rows, dim=1)


# Factorisation.


class DeepFm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.first = Fields(), Fields(1)
        self.deep = nn.Sequential(
            nn.Linear(FIELDS * DIM, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
        self.bias = nn.Parameter(torch.tensor([0.3]))

    def forward(self, ids: T) -> T:
        rows = self.rows(ids)
        square_of_sum = rows.sum(dim=1) ** 2
        sum_of_square = (rows ** 2).sum(dim=1)
        pairs = 0.5 * (square_of_sum - sum_of_square).sum(dim=1, keepdim=True)
        first = self.first(ids).sum(dim=1)
        deep = self.deep(rows.flatten(1))
        return torch.sigmoid(first + pairs + deep + self.bias).squeeze(1)


@model
def deepfm():
    return DeepFm(), draw_fields


class WideDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.rows = Tables(1), Tables()
        self.norm = nn.BatchNorm1d(DENSE)
        self.deep = mlp(FIELDS * DIM + DENSE, 24, 12, 1)

    def forward(self, dense: T, ids: T) -> T:
        rows = self.rows(ids)
        x = torch.cat([self.norm(dense), rows.view(rows.size(0), -1)], dim=-1)
        return torch.sigmoid(self.wide(ids).sum(1) + self.deep(x))


@model
def wide_deep():
    return WideDeep(), draw_mixed


class CrossInteraction(nn.Module):
    """xDeepFM's compressed interaction network."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        sizes = [FIELDS, 7, 5]
        self.convs = nn.ModuleList([
            nn.Conv1d(FIELDS * a, b, 1) for a, b in zip(sizes, sizes[1:])])
        self.head = nn.Linear(12, 1)
        self.deep = mlp(FIELDS * DIM, 16, 1)

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids)
        x, sums = x0, []
        for conv in self.convs:
            outer = torch.einsum("bhd,bmd->bhmd", x, x0)
            x = F.relu(conv(outer.reshape(x.size(0), -1, x.size(2))))
            sums.append(x.sum(-1))
        out = self.head(torch.cat(sums, dim=1)) + self.deep(x0.flatten(1))
        return torch.sigmoid(out)


@model
def xdeepfm():
    return CrossInteraction(), draw_fields


class OuterCin(nn.Module):
    """The same with broadcasting in place of einsum, half of the maps passed on."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        self.first = nn.Conv1d(FIELDS * FIELDS, 8, 1)
        self.second = nn.Conv1d(FIELDS * 4, 6, 1)
        self.head = nn.Linear(10, 1, bias=False)

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids)
        a = x0.unsqueeze(2) * x0.unsqueeze(1)
        a = torch.relu(self.first(a.view(-1, FIELDS * FIELDS, DIM)))
        on, out = torch.split(a, 4, dim=1)
        b = x0.unsqueeze(2) * on.unsqueeze(1)
        b = torch.relu(self.second(b.view(-1, FIELDS * 4, DIM)))
        return self.head(torch.cat([out, b], dim=1).sum(dim=2))


@model
def cin_outer():
    return OuterCin(), draw_fields


class Afm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Fields()
        pairs = [(i, j) for i in range(FIELDS) for j in range(i + 1, FIELDS)]
        self.register_buffer("left", torch.tensor([p[0] for p in pairs]))
        self.register_buffer("right", torch.tensor([p[1] for p in pairs]))
        self.attention = mlp(DIM, 4, 1)
        self.head = nn.Linear(DIM, 1)

    def forward(self, ids: T) -> T:
        x = self.rows(ids)
        products = x[:, self.left] * x[:, self.right]
        weights = F.softmax(self.attention(products), dim=1)
        return self.head(torch.sum(weights * products, dim=1))


@model
def afm():
    return Afm(), draw_fields


class Nfm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Tables()
        self.dense = nn.Linear(DENSE, DIM)
        self.deep = mlp(DIM, 16, 16, 1, act=nn.Tanh)

    def forward(self, dense: T, ids: T) -> T:
        x = torch.cat([self.rows(ids), self.dense(dense)[:, None, :]], 1)
        both = 0.5 * (x.sum(1).pow(2) - x.pow(2).sum(1))
        return self.deep(both)


@model
def nfm():
    return Nfm(), draw_mixed


class Pnn(nn.Module):
    """Inner and outer products of fields."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        pairs = FIELDS * (FIELDS - 1) // 2
        self.kernel = nn.Parameter(torch.randn(DIM, pairs, DIM) * 0.3)
        self.deep = mlp(FIELDS * DIM + 2 * pairs, 20, 1)
        li, lj = torch.triu_indices(FIELDS, FIELDS, 1)
        self.register_buffer("li", li)
        self.register_buffer("lj", lj)

    def forward(self, ids: T) -> T:
        x = self.rows(ids)
        p, q = x.index_select(1, self.li), x.index_select(1, self.lj)
        inner = (p * q).sum(-1)
        outer = (torch.sum(p.unsqueeze(1) * self.kernel, dim=-1).permute(0, 2, 1) * q)
        x = torch.cat([x.flatten(1), inner, outer.sum(-1)], 1)
        return torch.sigmoid(self.deep(x))[:, 0]


@model
def pnn():
    return Pnn(), draw_fields


class FieldAware(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([Fields(4) for _ in range(FIELDS)])
        self.linear = Fields(1)

    def forward(self, ids: T) -> T:
        xs = []
        for table in self.tables:
            xs.append(table(ids))
        total = self.linear(ids).sum(1)
        for i in range(FIELDS - 1):
            for j in range(i + 1, FIELDS):
                total = total + (xs[j][:, i] * xs[i][:, j]).sum(1, keepdim=True)
        return total


@model
def ffm():
    return FieldAware(), draw_fields


class FiBiNet(nn.Module):
    """Squeeze and excitation over fields, bilinear pairs."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        self.squeeze = nn.Sequential(
            nn.Linear(FIELDS, 2, bias=False), nn.ReLU(),
            nn.Linear(2, FIELDS, bias=False), nn.ReLU())
        self.bilinear = nn.Linear(DIM, DIM, bias=False)
        self.each = nn.ModuleList([nn.Linear(DIM, DIM) for _ in range(FIELDS)])
        pairs = FIELDS * (FIELDS - 1) // 2
        self.deep = mlp(2 * pairs * DIM, 16, 1)

    def forward(self, ids: T) -> T:
        x = self.rows(ids)
        weights = self.squeeze(x.mean(dim=-1))
        v = x * weights.unsqueeze(2)
        pairs = []
        for i in range(FIELDS):
            for j in range(i + 1, FIELDS):
                pairs.append(self.bilinear(x[:, i]) * x[:, j])
        for i, layer in enumerate(self.each):
            for j in range(i + 1, FIELDS):
                pairs.append(layer(v[:, i]) * v[:, j])
        return self.deep(torch.stack(pairs, 1).flatten(1))


@model
def fibinet():
    return FiBiNet(), draw_fields


# Cross networks.


class Cross(nn.Module):
    """DCN of 2017: a vector for each layer."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM + DENSE
        self.w = nn.ParameterList([nn.Parameter(torch.randn(width, 1) * 0.1)
                                   for _ in range(3)])
        self.b = nn.ParameterList([nn.Parameter(torch.randn(width) * 0.1)
                                   for _ in range(3)])
        self.deep = mlp(width, 24, 12)
        self.head = nn.Linear(width + 12, 1)

    def forward(self, dense: T, ids: T) -> T:
        x0 = torch.cat([self.rows(ids).flatten(1), dense], 1)
        x = x0
        for w, b in zip(self.w, self.b):
            x = x0 * torch.matmul(x, w) + b + x
        return torch.sigmoid(self.head(torch.cat([x, self.deep(x0)], 1)))


@model
def dcn_vector():
    return Cross(), draw_mixed


class ColumnCross(nn.Module):
    """The same on columns: bmm of [B, n, 1]."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        width = FIELDS * DIM
        self.w = nn.ParameterList([nn.Parameter(torch.randn(width, 1) * 0.1)
                                   for _ in range(2)])
        self.b = nn.ParameterList([nn.Parameter(torch.randn(width, 1) * 0.1)
                                   for _ in range(2)])

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids).flatten(1).unsqueeze(2)
        x = x0
        for w, b in zip(self.w, self.b):
            xw = torch.tensordot(x, w, dims=([1], [0]))
            x = torch.matmul(x0, xw) + b + x
        return x.squeeze(2)


@model
def dcn_column():
    return ColumnCross(), draw_fields


class CrossV2(nn.Module):
    def __init__(self, rank: int):
        super().__init__()
        self.rows = Tables()
        width = FIELDS * DIM + 16
        self.bottom = mlp(DENSE, 24, 16, last=nn.ReLU())
        self.v = nn.ModuleList([nn.Linear(width, rank, bias=False) for _ in range(3)])
        self.w = nn.ModuleList([nn.Linear(rank if rank else width, width)
                                for _ in range(3)])
        self.rank = rank
        self.top = mlp(width, 32, 1)

    def forward(self, dense: T, ids: T) -> T:
        x0 = torch.cat([self.bottom(dense), self.rows(ids).flatten(1)], 1)
        x = x0
        for v, w in zip(self.v, self.w):
            low = v(x) if self.rank > 0 else x
            x = x0 * w(low) + x
        return torch.sigmoid(self.top(x))


@model
def dcnv2_low_rank():
    return CrossV2(9), draw_mixed


class CrossV2Full(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM
        self.w = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.head = nn.Linear(width, 1)

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids).view(-1, FIELDS * DIM)
        x = x0
        for w in self.w:
            x = x + x0 * w(x)
        return torch.sigmoid(self.head(x))


@model
def dcnv2_full():
    return CrossV2Full(), draw_fields


class CrossMix(nn.Module):
    """DCN-Mix: low-rank experts under a gate."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        self.width = FIELDS * DIM
        self.u = nn.Parameter(torch.randn(2, 3, self.width, 5) * 0.1)
        self.v = nn.Parameter(torch.randn(2, 3, self.width, 5) * 0.1)
        self.c = nn.Parameter(torch.randn(2, 3, 5, 5) * 0.3)
        self.b = nn.Parameter(torch.randn(2, self.width, 1) * 0.1)
        self.gates = nn.ModuleList([nn.Linear(self.width, 1, bias=False)
                                    for _ in range(3)])

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids).flatten(1).unsqueeze(2)
        x = x0
        for layer in range(2):
            outs, scores = [], []
            for e, gate in enumerate(self.gates):
                scores.append(gate(x.squeeze(2)))
                low = torch.tanh(torch.matmul(self.v[layer, e].t(), x))
                low = torch.tanh(torch.matmul(self.c[layer, e], low))
                up = torch.matmul(self.u[layer, e], low) + self.b[layer]
                outs.append((x0 * up).squeeze(2))
            out = torch.stack(outs, 2)
            score = torch.stack(scores, 1).softmax(1)
            x = torch.matmul(out, score) + x
        return x.squeeze(2)


@model
def dcn_mix():
    return CrossMix(), draw_fields


class Gdcn(nn.Module):
    """Gated cross, as torch libraries write it: b outside of the linear."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM
        self.w = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(2)])
        self.g = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(2)])
        self.b = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(2)])

    def forward(self, ids: T) -> T:
        x0 = self.rows(ids).flatten(start_dim=1)
        x = x0
        for w, g, b in zip(self.w, self.g, self.b):
            x = x0 * (w(x) + b) * torch.sigmoid(g(x)) + x
        return x


@model
def gdcn():
    return Gdcn(), draw_fields


class MaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM
        self.norm = nn.LayerNorm(DIM)
        self.masks = nn.ModuleList([mlp(width, 20, width) for _ in range(2)])
        self.layers = nn.ModuleList([
            nn.Sequential(nn.Linear(width, 16), nn.LayerNorm(16), nn.ReLU())
            for _ in range(2)])
        self.head = mlp(32, 8, 1)

    def forward(self, ids: T) -> T:
        x = self.rows(ids)
        flat, normed = x.flatten(1), self.norm(x).flatten(1)
        outs = []
        for mask, layer in zip(self.masks, self.layers):
            outs.append(layer(mask(flat) * normed))
        return torch.sigmoid(self.head(torch.cat(outs, 1)))


@model
def masknet():
    return MaskNet(), draw_fields


class FinalMlp(nn.Module):
    """Two streams that a bilinear form joins by heads."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM
        self.gate = mlp(width, 12, width, last=nn.Sigmoid())
        self.a, self.b = mlp(width, 20, 12), mlp(width, 16, 8)
        self.x, self.y = nn.Linear(12, 1), nn.Linear(8, 1)
        self.xy = nn.Parameter(torch.randn(2 * 6 * 4, 1) * 0.2)

    def forward(self, ids: T) -> T:
        f = self.rows(ids).flatten(1)
        gated = f * self.gate(f) * 2
        x, y = self.a(gated), self.b(f)
        out = self.x(x) + self.y(y)
        hx, hy = x.view(-1, 2, 6), y.view(-1, 2, 4)
        xy = torch.matmul(hx.unsqueeze(2).matmul(self.xy.view(2, 6, 4)), hy.unsqueeze(-1))
        return torch.sigmoid(out + xy.squeeze(-1).sum(dim=1))


@model
def finalmlp():
    return FinalMlp(), draw_fields


class Wukong(nn.Module):
    """Factorisation of compressed fields beside a linear block, normalised."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        self.compress = nn.Parameter(torch.randn(FIELDS, 4) * 0.4)
        self.fm_mlp = mlp(FIELDS * 4, 16, 3 * DIM)
        self.fm_norm = nn.LayerNorm(FIELDS * 4)
        self.linear = nn.Parameter(torch.randn(3, FIELDS) * 0.4)
        self.norm = nn.LayerNorm(DIM)
        self.head = mlp(FIELDS * DIM, 8, 1)

    def forward(self, ids: T) -> T:
        x = self.rows(ids)
        fm = torch.bmm(x, torch.matmul(x.transpose(1, 2), self.compress))
        fm = self.fm_mlp(self.fm_norm(fm.flatten(1))).view(-1, 3, DIM)
        lcb = torch.matmul(self.linear, x)
        x = self.norm(torch.cat([fm, lcb], 1) + x)
        return self.head(x.flatten(1))


@model
def wukong():
    return Wukong(), draw_fields


# DLRM and relatives.


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom = mlp(DENSE, 16, DIM, last=nn.ReLU())
        self.bags = nn.ModuleList([
            nn.EmbeddingBag(ROWS, DIM, mode="sum" if i % 2 else "mean")
            for i in range(FIELDS)])
        li, lj = torch.tril_indices(FIELDS + 1, FIELDS + 1, offset=-1)
        self.register_buffer("li", li)
        self.register_buffer("lj", lj)
        self.top = mlp(DIM + FIELDS * (FIELDS + 1) // 2, 32, 16, 1, last=nn.Sigmoid())

    def forward(self, dense: T, ids: T) -> T:
        x = self.bottom(dense)
        features = [x]
        for i, bag in enumerate(self.bags):
            features.append(bag(ids[:, i]))
        stacked = torch.stack(features, dim=1)
        dots = torch.bmm(stacked, stacked.transpose(1, 2))
        return self.top(torch.cat([x, dots[:, self.li, self.lj]], dim=1))


@model
def dlrm_bags():
    def draw(batch):
        return torch.randn(batch, DENSE), draw_ids(batch, FIELDS, 3)
    return Dlrm(), draw


class MaskedDots(nn.Module):
    """Interaction by a mask of the triangle, as NVIDIA's DLRM has it in torch."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        self.bottom = mlp(DENSE, DIM, last=nn.ReLU())
        pairs = [i * (FIELDS + 1) + j for i in range(FIELDS + 1) for j in range(i)]
        self.register_buffer("flat", torch.tensor(pairs))
        self.top = mlp(len(pairs) + DIM + 1, 16, 1)

    def forward(self, dense: T, ids: T) -> T:
        x = self.bottom(dense)
        z = torch.cat([x.unsqueeze(1), self.rows(ids)], 1)
        dots = torch.bmm(z, z.permute(0, 2, 1)).view(-1, (FIELDS + 1) * (FIELDS + 1))
        dots = dots.index_select(1, self.flat)
        pad = torch.zeros(dense.size(0), 1)
        return self.top(torch.cat((x, dots, pad), 1))


@model
def dlrm_flat():
    return MaskedDots(), draw_mixed


# Attention over fields and histories.


class AutoInt(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Fields()
        self.layers = nn.ModuleList([nn.MultiheadAttention(DIM, 2, batch_first=True)
                                     for _ in range(2)])
        self.skip = nn.Linear(DIM, DIM)
        self.head = nn.Linear(FIELDS * DIM, 1)

    def forward(self, ids: T) -> Tuple[T, T]:
        x = self.rows(ids)
        y, weights = x, torch.empty(0)
        for layer in self.layers:
            y, weights = layer(y, y, y)
        y = F.relu(y + self.skip(x))
        return torch.sigmoid(self.head(y.flatten(1))), weights


@model
def autoint():
    return AutoInt(), draw_fields


class Dice(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.norm = nn.BatchNorm1d(size, eps=1e-8)
        self.alpha = nn.Parameter(torch.rand(size))

    def forward(self, x: T) -> T:
        p = torch.sigmoid(self.norm(x))
        return self.alpha * (1 - p) * x + p * x


class Din(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM, padding_idx=0)
        self.score = mlp(4 * DIM, 16, 8, 1, act=nn.Sigmoid)
        self.fc1, self.dice = nn.Linear(3 * DIM, 20), Dice(20)
        self.fc2, self.prelu, self.head = nn.Linear(20, 10), nn.PReLU(), nn.Linear(10, 1)

    def forward(self, history: T, target: T) -> T:
        keys, query = self.items(history), self.items(target)
        q = query.unsqueeze(1).expand(-1, keys.size(1), -1)
        scores = self.score(torch.cat([q, keys, q - keys, q * keys], dim=-1)).squeeze(-1)
        scores = scores.masked_fill(history == 0, -1e9) / math.sqrt(DIM)
        weights = F.softmax(scores, dim=1)
        interest = torch.bmm(weights.unsqueeze(1), keys).squeeze(1)
        x = torch.cat([interest, query, interest * query], 1)
        x = self.prelu(self.fc2(self.dice(self.fc1(x))))
        return torch.sigmoid(self.head(x)).squeeze(-1)


@model
def din():
    return Din(), draw_history


class DinPlain(nn.Module):
    """Without softmax: weights that the mask multiplies, from lengths."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.score = mlp(4 * DIM, 12, 1)
        self.head = mlp(2 * DIM, 8, 1, act=nn.LeakyReLU)

    def forward(self, history: T, target: T) -> T:
        keys, query = self.items(history), self.items(target)
        mask = (history > 0).to(torch.float32)
        q = query[:, None].repeat(1, keys.shape[1], 1)
        weights = self.score(torch.cat([q, keys, q - keys, q * keys], 2))[..., 0] * mask
        interest = (weights[:, :, None] * keys).sum(1)
        interest = interest / mask.sum(1, keepdim=True).clamp(min=1)
        return self.head(torch.cat([interest, query], -1))


@model
def din_plain():
    return DinPlain(), draw_history


class Dien(nn.Module):
    """Interests by a GRU, attention by a bilinear form."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.gru = nn.GRU(DIM, 12, batch_first=True)
        self.form = nn.Parameter(torch.randn(12, DIM) * 0.3)
        self.head = mlp(12 + DIM, 10, 1)

    def forward(self, history: T, target: T) -> T:
        states, _ = self.gru(self.items(history))
        query = self.items(target)
        scores = torch.einsum("bth,hd,bd->bt", states, self.form, query)
        scores = torch.where(history == 0, torch.full_like(scores, -2.0 ** 20), scores)
        interest = torch.einsum("bt,bth->bh", scores.softmax(-1), states)
        return self.head(torch.cat([interest, query], 1))


@model
def dien():
    return Dien(), draw_history


class Gru4Rec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.gru = nn.GRU(DIM, 12, num_layers=2, batch_first=True)
        self.out = nn.Linear(12, DIM)

    def forward(self, history: T) -> Tuple[T, T]:
        states, _ = self.gru(self.items(history))
        scores = torch.matmul(self.out(states[:, -1]), self.items.weight.t())
        best = torch.topk(scores, 5, dim=1)
        return best.values, best.indices


@model
def gru4rec():
    return Gru4Rec(), lambda batch: draw_history(batch)[:1]


class SasRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items, self.places = nn.Embedding(ITEMS, DIM), nn.Embedding(STEPS, DIM)
        self.norm1, self.norm2 = nn.LayerNorm(DIM, eps=1e-8), nn.LayerNorm(DIM, eps=1e-8)
        self.last = nn.LayerNorm(DIM, eps=1e-8)
        self.attention = nn.MultiheadAttention(DIM, 2)
        self.conv1, self.conv2 = nn.Conv1d(DIM, DIM, 1), nn.Conv1d(DIM, DIM, 1)
        self.register_buffer("causal", ~torch.tril(
            torch.ones(STEPS, STEPS, dtype=torch.bool)))

    def forward(self, history: T, target: T) -> T:
        x = self.items(history) * DIM ** 0.5
        x = x + self.places(torch.arange(history.size(1)))
        keep = (history != 0).unsqueeze(-1)
        x = x * keep
        y = x.transpose(0, 1)
        q = self.norm1(y)
        a, _ = self.attention(q, y, y, attn_mask=self.causal)
        x = self.norm2((q + a).transpose(0, 1))
        x = x + self.conv2(F.relu(self.conv1(x.transpose(-1, -2)))).transpose(-1, -2)
        x = self.last(x * keep)[:, -1, :]
        return (x * self.items(target)).sum(-1)


@model
def sasrec():
    return SasRec(), draw_history


class ManualSasRec(nn.Module):
    """Attention spelled out, gated feed-forward, scores of all items."""

    def __init__(self):
        super().__init__()
        self.items, self.places = nn.Embedding(ITEMS, DIM), nn.Parameter(
            torch.randn(1, STEPS, DIM) * 0.2)
        self.q, self.k, self.v = (nn.Linear(DIM, DIM) for _ in range(3))
        self.o = nn.Linear(DIM, DIM)
        self.gate, self.up, self.down = (nn.Linear(a, b, bias=False) for a, b in (
            (DIM, 20), (DIM, 20), (20, DIM)))
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)

    def heads(self, x: T) -> T:
        return x.view(x.size(0), x.size(1), 2, DIM // 2).transpose(1, 2)

    def forward(self, history: T) -> T:
        x = self.items(history) + self.places
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(DIM // 2)
        steps = history.size(1)
        mask = torch.triu(torch.ones(steps, steps), diagonal=1) > 0
        scores = scores.masked_fill(mask, float("-inf"))
        a = torch.matmul(F.softmax(scores, dim=-1), v).transpose(1, 2).contiguous()
        x = self.norm1(x + self.o(a.view(x.size(0), x.size(1), DIM)))
        x = self.norm2(x + self.down(F.silu(self.gate(x)) * self.up(x)))
        return F.linear(x[:, -1], self.items.weight)


@model
def sasrec_swiglu():
    return ManualSasRec(), lambda batch: draw_history(batch)[:1]


class Bst(nn.Module):
    """A transformer layer over history and target."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.places = nn.Embedding(STEPS + 1, DIM)
        self.encoder = nn.TransformerEncoderLayer(DIM, 2, 16, batch_first=True)
        self.head = mlp((STEPS + 1) * DIM, 16, 8, 1, act=nn.LeakyReLU)

    def forward(self, history: T, target: T) -> T:
        ids = torch.cat([history, target[:, None]], 1)
        x = self.items(ids) + self.places.weight
        x = self.encoder(x)
        return torch.sigmoid(self.head(x.reshape(x.shape[0], -1)))


@model
def bst():
    return Bst(), draw_history


class Bert4Rec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        layer = nn.TransformerEncoderLayer(
            DIM, 2, 16, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(DIM, ITEMS)

    def forward(self, history: T) -> T:
        x = self.encoder(self.items(history), src_key_padding_mask=history == 0)
        return F.log_softmax(self.out(x), dim=-1)


@model
def bert4rec():
    return Bert4Rec(), lambda batch: draw_history(batch)[:1]


class Hstu(nn.Module):
    """Pointwise attention by SiLU, gated by u."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.uvqk = nn.Linear(DIM, 4 * DIM, bias=False)
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, DIM)
        self.bias = nn.Parameter(torch.randn(2 * STEPS - 1) * 0.1)
        self.register_buffer("causal", torch.tril(torch.ones(STEPS, STEPS)))
        position = torch.arange(STEPS)
        self.register_buffer("gap", position[:, None] - position[None] + STEPS - 1)

    def forward(self, history: T) -> T:
        x = self.items(history)
        b, n, _ = x.shape
        u, v, q, k = torch.split(F.silu(self.uvqk(self.norm(x))), DIM, dim=-1)
        qk = torch.einsum("bnhd,bmhd->bhnm", q.view(b, n, 2, -1), k.view(b, n, 2, -1))
        qk = F.silu(qk + self.bias[self.gap]) / n * self.causal
        a = torch.einsum("bhnm,bmhd->bnhd", qk, v.reshape(b, n, 2, -1)).reshape(b, n, DIM)
        return x + self.out(u * F.layer_norm(a, [DIM]))


@model
def hstu():
    return Hstu(), lambda batch: draw_history(batch)[:1]


class Caser(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.down = nn.Conv2d(1, 3, (STEPS, 1))
        self.across = nn.ModuleList([nn.Conv2d(1, 4, (h, DIM)) for h in (2, 3, 4)])
        self.head = nn.Linear(3 * DIM + 12, DIM)

    def forward(self, history: T, target: T) -> T:
        x = self.items(history).unsqueeze(1)
        parts = [self.down(x).flatten(1)]
        for conv in self.across:
            c = F.relu(conv(x).squeeze(3))
            parts.append(F.max_pool1d(c, c.size(2)).squeeze(2))
        z = F.relu(self.head(torch.cat(parts, 1)))
        return torch.sum(z * self.items(target), -1, keepdim=True)


@model
def caser():
    return Caser(), draw_history


class NextItNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, DIM)
        self.convs = nn.ModuleList([nn.Conv1d(DIM, DIM, 3, dilation=d) for d in (1, 2)])
        self.norms = nn.ModuleList([nn.LayerNorm(DIM) for _ in range(2)])
        self.out = nn.Linear(DIM, ITEMS)

    def forward(self, history: T) -> T:
        x = self.items(history)
        dilation = 1
        for conv, norm in zip(self.convs, self.norms):
            padded = F.pad(x.permute(0, 2, 1), [2 * dilation, 0])
            x = x + F.relu(norm(conv(padded).permute(0, 2, 1)))
            dilation *= 2
        return self.out(x[:, -1])


@model
def nextitnet():
    return NextItNet(), lambda batch: draw_history(batch)[:1]


# Several tasks.


class Mmoe(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Tables()
        width = FIELDS * DIM + DENSE
        self.experts = nn.ModuleList([mlp(width, 20, 12, last=nn.ReLU())
                                      for _ in range(4)])
        self.gates = nn.ModuleList([nn.Linear(width, 4, bias=False) for _ in range(2)])
        self.towers = nn.ModuleList([mlp(12, 8, 1, last=nn.Sigmoid())
                                     for _ in range(2)])

    def forward(self, dense: T, ids: T) -> Tuple[T, T]:
        x = torch.cat([self.rows(ids).flatten(1), dense], 1)
        experts = []
        for expert in self.experts:
            experts.append(expert(x))
        stacked = torch.stack(experts, 1)
        outs = []
        for gate, tower in zip(self.gates, self.towers):
            w = gate(x).softmax(dim=-1)
            outs.append(tower(torch.bmm(w.unsqueeze(1), stacked).squeeze(1)))
        return outs[0], outs[1]


@model
def mmoe():
    return Mmoe(), draw_mixed


class StackedMmoe(nn.Module):
    """Experts as one tensor, tasks by einsum."""

    def __init__(self):
        super().__init__()
        self.rows = Fields()
        width = FIELDS * DIM
        self.w = nn.Parameter(torch.randn(width, 12, 3) * 0.1)
        self.b = nn.Parameter(torch.randn(12, 3) * 0.1)
        self.gate = nn.Parameter(torch.randn(2, width, 3) * 0.1)
        self.head = nn.ModuleList([nn.Linear(12, 1) for _ in range(2)])

    def forward(self, ids: T) -> T:
        x = self.rows(ids).flatten(1)
        e = F.relu(torch.einsum("bi,ijk->bjk", x, self.w) + self.b)
        g = torch.softmax(torch.einsum("bi,tik->tbk", x, self.gate), -1)
        t = torch.einsum("bjk,tbk->tbj", e, g)
        outs = []
        for i, head in enumerate(self.head):
            outs.append(head(t[i]))
        return torch.cat(outs, 1)


@model
def mmoe_stacked():
    return StackedMmoe(), draw_fields


class Ple(nn.Module):
    """Progressive layered extraction: own and shared experts."""

    def __init__(self):
        super().__init__()
        self.rows = Tables()
        width = FIELDS * DIM
        self.own = nn.ModuleList([nn.Linear(width, 10) for _ in range(4)])
        self.shared = nn.ModuleList([nn.Linear(width, 10) for _ in range(2)])
        self.gates = nn.ModuleList([nn.Linear(width, 4) for _ in range(2)])
        self.towers = nn.ModuleList([mlp(10, 6, 1) for _ in range(2)])

    def forward(self, ids: T) -> Tuple[T, T]:
        x = self.rows(ids).flatten(1)
        own, shared = [], []
        for e in self.own:
            own.append(F.relu(e(x)))
        for e in self.shared:
            shared.append(F.relu(e(x)))
        outs = []
        for i, (gate, tower) in enumerate(zip(self.gates, self.towers)):
            mine = torch.stack([own[2 * i], own[2 * i + 1], shared[0], shared[1]], 2)
            w = F.softmax(gate(x), 1)
            outs.append(torch.sigmoid(tower((mine * w.unsqueeze(1)).sum(2))))
        return outs[0], outs[0] * outs[1]


@model
def ple():
    return Ple(), draw_fields


# Retrieval.


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(ROWS, DIM), nn.Embedding(ITEMS, DIM)
        self.u, self.i = mlp(DIM + DENSE, 16, DIM), mlp(DIM, 16, DIM)
        self.temperature = nn.Parameter(torch.tensor(0.2))

    def forward(self, dense: T, user: T, history: T, item: T) -> Tuple[T, T]:
        mask = (history != 0).float().unsqueeze(-1)
        pooled = (self.item(history) * mask).sum(1) / mask.sum(1).clamp(min=1e-6)
        u = F.normalize(self.u(torch.cat([self.user(user) + pooled, dense], 1)), dim=1)
        i = F.normalize(self.i(self.item(item)), p=2.0, dim=-1)
        return (u * i).sum(1) / self.temperature, u @ i.t()


@model
def two_tower():
    def draw(batch):
        history, item = draw_history(batch)
        return torch.randn(batch, DENSE), draw_ids(batch), history, item
    return TwoTower(), draw


class YouTube(nn.Module):
    """Mean of what was watched, softmax over all items."""

    def __init__(self):
        super().__init__()
        self.watched = nn.EmbeddingBag(ITEMS, DIM, mode="mean", padding_idx=0)
        self.deep = mlp(DIM + DENSE, 24, DIM, act=nn.ELU)
        self.items = nn.Linear(DIM, ITEMS)

    def forward(self, dense: T, history: T) -> Tuple[T, T]:
        age = dense[:, :1]
        x = torch.cat([self.watched(history), dense[:, 1:], age.abs().sqrt()], 1)
        p = torch.softmax(self.items(self.deep(x)), -1)
        score, best = p.max(dim=-1)
        return score, best


@model
def youtube():
    def draw(batch):
        return torch.randn(batch, DENSE), draw_history(batch)[0]
    return YouTube(), draw


class Ncf(nn.Module):
    def __init__(self):
        super().__init__()
        self.gu, self.gi = nn.Embedding(ROWS, DIM), nn.Embedding(ITEMS, DIM)
        self.mu, self.mi = nn.Embedding(ROWS, 10), nn.Embedding(ITEMS, 6)
        self.deep = mlp(16, 12, 7, last=nn.ReLU())
        self.head = nn.Linear(DIM + 7, 1)

    def forward(self, user: T, item: T) -> T:
        product = torch.mul(self.gu(user), self.gi(item))
        deep = self.deep(torch.cat([self.mu(user), self.mi(item)], dim=-1))
        return torch.sigmoid(self.head(torch.cat([product, deep], dim=-1))).view(-1)


@model
def ncf():
    return Ncf(), lambda batch: (draw_ids(batch), draw_ids(batch, rows=ITEMS))


class Biased(nn.Module):
    """Matrix factorisation with biases, clipped to the scale of ratings."""

    def __init__(self):
        super().__init__()
        self.p, self.q = nn.Embedding(ROWS, DIM), nn.Embedding(ITEMS, DIM)
        self.bu, self.bi = nn.Embedding(ROWS, 1), nn.Embedding(ITEMS, 1)

    def forward(self, user: T, item: T) -> T:
        dot = torch.einsum("bd,bd->b", self.p(user), self.q(item))
        return torch.clamp(dot + self.bu(user).squeeze(-1) + self.bi(item)[:, 0] + 3.5,
                           1, 5)


@model
def matrix_factors():
    return Biased(), lambda batch: (draw_ids(batch), draw_ids(batch, rows=ITEMS))


class Features(nn.Module):
    """What stands before a model: logs, buckets, hashes, missing values."""

    def __init__(self):
        super().__init__()
        self.buckets = nn.Embedding(6, DIM)
        self.hashed = nn.Embedding(97, DIM)
        self.register_buffer("edges", torch.tensor([-1.0, -0.3, 0.0, 0.4, 1.1]))
        self.register_buffer("mean", torch.randn(DENSE))
        self.deep = mlp(DENSE + DIM * (DENSE + FIELDS), 16, 1)

    def forward(self, dense: T, ids: T) -> T:
        clean = torch.where(torch.isnan(dense), self.mean, dense)
        scaled = torch.sign(clean) * torch.log1p(clean.abs())
        buckets = self.buckets(torch.bucketize(clean, self.edges))
        h = torch.remainder(ids * 2654435761 + 12345, 97)
        rows = self.hashed(h)
        x = torch.cat([scaled, buckets.flatten(1), rows.flatten(1)], 1)
        return self.deep(x)


@model
def features():
    def draw(batch):
        dense = torch.randn(batch, DENSE)
        dense[:, 1:2] = float("nan")
        return dense, draw_ids(batch, FIELDS, rows=1 << 40)
    return Features(), draw
