#!/usr/bin/env python3
"""Writes scripted models with data sets of several shapes each: batches of 0, 1 and 7,
empty bags, other image sizes than the first.

SPDX-License-Identifier: Apache-2.0

    shapes.py OUT_DIR

A case is a folder with model.pt, test_data_set_K and values.json, which `ingot verify`
reads in every form.  Results are torch's.  Operators of torchvision and FBGEMM take part
where those can be imported.
"""

import json
import pathlib
import sys
import warnings
from typing import List

warnings.filterwarnings("ignore")

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

OUT = pathlib.Path(sys.argv[1])


def node(tensor, number):
    return {"tensor": number, "dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape)}


def case(name, module, sets, tolerance=(1e-4, 1e-5)):
    folder = OUT / name
    folder.mkdir(parents=True)
    script = torch.jit.script(module.eval())
    script.save(str(folder / "model.pt"))
    (folder / "case.json").write_text(json.dumps(
        {"tolerance": {"rtol": tolerance[0], "atol": tolerance[1]}}))
    for index, arguments in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        results = script(*[a.clone() for a in arguments])
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        for i, x in enumerate(arguments):
            np.save(data / f"input_{i}.npy", x.numpy())
        for i, x in enumerate(results):
            np.save(data / f"output_{i}.npy", x.detach().numpy())
        result = [node(x, i) for i, x in enumerate(results)]
        (data / "values.json").write_text(json.dumps({
            "method": "forward",
            "args": [node(x, i) for i, x in enumerate(arguments)],
            "result": result[0] if len(result) == 1 else {"tuple": result}
        }))


# ---- recommendation ----


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.EmbeddingBag(50, 8, mode="sum")
        self.b = nn.EmbeddingBag(50, 8, mode="mean", include_last_offset=True)
        self.c = nn.EmbeddingBag(50, 8, mode="max", padding_idx=3)
        self.l = nn.Linear(24, 4)

    def forward(self, ids, begins, edges):
        x = torch.cat([self.a(ids, begins), self.b(ids, edges), self.c(ids, begins)], 1)
        return self.l(x).relu()


def bags(lengths):
    edges = torch.tensor([0] + lengths).cumsum(0)
    return torch.randint(0, 50, (sum(lengths), )), edges[:-1].clone(), edges


class History(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(30, 6, padding_idx=0)
        self.a = nn.Sequential(nn.Linear(24, 8), nn.PReLU(), nn.Linear(8, 1))

    def forward(self, history, target):
        rows = self.e(history)
        own = self.e(target).unsqueeze(1).expand_as(rows)
        score = self.a(torch.cat([rows, own, rows - own, rows * own], -1)).squeeze(-1)
        score = torch.softmax(score.masked_fill(history == 0, -1e9), -1)
        return (score.unsqueeze(-1) * rows).sum(1)


class Machine(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.ModuleList([nn.Embedding(20 + i, 4) for i in range(3)])

    def forward(self, x):
        rows: List[torch.Tensor] = []
        for i, e in enumerate(self.e):
            rows.append(e(x[:, i]))
        a, b, c, = torch.stack(rows, 1).unbind(1)
        y = torch.stack([a, b, c], 1)
        return (y.sum(1).pow(2) - y.pow(2).sum(1)).sum(1)


def recommendation():
    case("bags", Bags(), [bags(l) for l in ([3, 0, 2], [0], [1], [0, 0, 0], [2, 1, 0, 7])])
    case("history", History(), [(torch.randint(0, 30, (b, t)), torch.randint(1, 30, (b, )))
                                for b, t in ((4, 6), (1, 1), (7, 3), (0, 6))])
    case("machine", Machine(), [(torch.randint(0, 20, (b, 3)), ) for b in (4, 1, 0, 7)])


# ---- images and sequences ----


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 8, 3, 2, 1)
        self.b = nn.BatchNorm2d(8)
        self.d = nn.ConvTranspose2d(8, 4, 2, 2)

    def forward(self, x):
        x = F.max_pool2d(F.hardswish(self.b(self.c(x))), 2, ceil_mode=True)
        x = self.d(x)
        y = F.interpolate(x, scale_factor=1.5, mode="bilinear")
        z = F.interpolate(x, scale_factor=2.0, mode="nearest")
        w = F.interpolate(x, scale_factor=1.25, mode="bicubic", align_corners=True)
        return y, z, w, F.instance_norm(x)


class Speech(nn.Module):
    """Frames of a window, and layers that go on from states whose batch is open by itself."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(12))
        self.lstm, self.gru = nn.LSTM(7, 5, batch_first=True), nn.GRU(5, 3)

    def forward(self, x, h, c, g):
        y = torch.stft(x, 12, 5, window=self.window, return_complex=True).abs()
        y, (h, c) = self.lstm(y.transpose(1, 2), (h, c))
        y, g = self.gru(y.transpose(0, 1), g)
        return y, h, c, g


class Windows(nn.Module):
    """Windows as long as the signal; one of a single element is 1."""

    def forward(self, x):
        n = x.size(1)
        return (x * torch.hann_window(n), x * torch.hamming_window(n, False, 0.6, 0.3),
                x * torch.blackman_window(n, False), x * torch.bartlett_window(n),
                x * torch.bartlett_window(n, False))


class Columns(nn.Module):
    def forward(self, x):
        return F.fold(x, (5, 6), (2, 3), padding=1, stride=2)


class Unpool(nn.Module):
    def forward(self, x):
        y, at = F.max_pool2d(x, 2, 2, return_indices=True)
        return F.max_unpool2d(y, at, [2, 2], [2, 2], [0, 0], None)


class Counts(nn.Module):
    def forward(self, x, w):
        return torch.bincount(x), torch.bincount(x, w, 12), torch.histc(w, 7, -1., 2.)


class Parts(nn.Module):
    def forward(self, x):
        a, b, = torch.chunk(x, 2, 1)
        c, d, = torch.split(x, 3, 1)
        e, f, g = torch.tensor_split(x, 3, 1)
        return a, b, c, d, e, f, g


def images():
    sizes = ((2, 16, 12), (1, 9, 11), (7, 16, 12), (0, 16, 12))
    case("images", Images(), [(torch.randn(b, 3, h, w), ) for b, h, w in sizes])
    case("speech", Speech(), [(torch.randn(b, n), torch.randn(1, b, 5), torch.randn(1, b, 5),
                               torch.randn(1, b, 3)) for b, n in ((2, 31), (1, 7), (3, 20))])
    case("windows", Windows(), [(torch.randn(2, n),) for n in (9, 1, 2, 0, 30)])
    columns = nn.Unfold((2, 3), padding=1, stride=2)
    case("columns", Columns(), [(columns(torch.randn(b, 4, 5, 6)), ) for b in (2, 1, 0)])
    case("unpool", Unpool(), [(torch.randn(b, 3, 6, 8), ) for b in (2, 1, 7, 0)])
    case("counts", Counts(), [(torch.randint(0, 9, (n, )), torch.randn(n)) for n in (20, 1)])
    case("parts", Parts(), [(torch.randn(b, n), ) for b, n in ((2, 6), (1, 5), (0, 4))])


# ---- quantised ----


class Quantised(nn.Module):
    def forward(self, x, w, b):
        q = torch.quantize_per_tensor(x, 0.05, 100, torch.quint8)
        o = torch.ops.quantized
        return (o.hardswish(q, 0.04, 90).int_repr(), o.sigmoid(q, 0.00390625, 0).int_repr(),
                o.softmax(q, 1, 0.00390625, 0).int_repr(),
                o.leaky_relu(q, 0.1, False, 0.05, 60).int_repr(),
                o.layer_norm(q, [4], w, b, 1e-5, 0.05, 128).int_repr(),
                o.add_scalar(q, 0.7).dequantize(), o.add_scalar(q, 9.0).dequantize(),
                o.mul_scalar(q, -0.5).dequantize(), o.clamp(q, -1.0, 1.5).dequantize())


# ---- torchvision ----


class Regions(nn.Module):
    def forward(self, x, r):
        o = torch.ops.torchvision
        a, b = o.ps_roi_align(x, r, 0.5, 2, 3, 2)
        c, d = o.ps_roi_pool(x, r, 0.8, 2, 3)
        return (o.roi_align(x, r, 0.5, 3, 4, 2, True), o.roi_align(x, r, 1.0, 3, 2, 0, False),
                a, b, c, d)


class Boxes(nn.Module):
    def forward(self, boxes, scores):
        return torch.ops.torchvision.nms(boxes, scores, 0.4)


class Deformed(nn.Module):
    def forward(self, x, w, offset, mask, b):
        return torch.ops.torchvision.deform_conv2d(x, w, offset, mask, b, 2, 1, 1, 2, 1, 2,
                                                   2, 3, True)


def some_boxes(count):
    corner = torch.rand(count, 2) * 14
    return torch.cat([corner, corner + torch.rand(count, 2) * 9], 1)


def some_regions(count):
    return torch.cat([torch.randint(0, 2, (count, 1)).float(), some_boxes(count) - 1], 1)


def vision():
    case("regions", Regions(), [(torch.randn(2, 12, 11, 13), some_regions(k))
                                for k in (6, 1, 5)])
    case("boxes", Boxes(), [(some_boxes(n), torch.rand(n)) for n in (40, 1, 0, 7)])
    case("deformed", Deformed(), [(torch.randn(n, 6, 9, 8), torch.randn(4, 3, 3, 3),
                                   torch.randn(n, 54, 5, 8) * 2, torch.rand(n, 27, 5, 8),
                                   torch.randn(4)) for n in (2, 1)])


def main():
    torch.manual_seed(5)
    recommendation()
    images()
    case("quantised", Quantised(), [(torch.randn(3, 4) * 2, torch.rand(4), torch.randn(4))],
         (1e-5, 1e-5))
    try:
        import torchvision  # noqa: F401
    except ImportError:
        return
    vision()


main()
