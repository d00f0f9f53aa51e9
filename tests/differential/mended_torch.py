#!/usr/bin/env python3
"""Writes the cases of what random torch programs found: small modules, torch's answers.

SPDX-License-Identifier: Apache-2.0

    mended_torch.py [ARCHIVE]        (tests/differential/cases/mended_torch.tar.xz)
"""

import json
import pathlib
import sys
import tempfile

import torch
import torchvision  # noqa: F401  (its operators)

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models" / "gen"))

from store import pack
from values_json import write_set

T = torch.Tensor
torch.backends.quantized.engine = "fbgemm"


class Suppressed(torch.nn.Module):
    """A tenth of f32 exceeds that of f64, so the first box covers the second."""

    def forward(self, boxes: T, scores: T) -> T:
        return torch.ops.torchvision.nms(boxes, scores, 0.1)


TENTHS = torch.tensor([[0.0, 0, 1, 10], [0, 0, 1, 1], [5, 5, 7, 7], [5, 5, 7, 7], [9, 9, 9, 9]])
RANKS = torch.tensor([0.5, 0.25, -1, 0.5, torch.inf])


class QuotientOf0(torch.nn.Module):
    """floor(0 / -1.5) is -0, and its reciprocal -inf."""

    def forward(self, x: T, y: T) -> T:
        return torch.reciprocal(x // y)


class GuardInBranch(torch.nn.Module):
    """A branch that only checks something: it has no results."""

    def forward(self, x: T) -> T:
        if bool(x.sum() > 3):
            y = x.squeeze(-1)
        else:
            y = x.squeeze(-1) + 1
        return x * 2


class ConstantsOfATrace(torch.nn.Module):
    """A trace stores 2.5 as an f64 tensor of rank 0.  The loaded archive takes it for a
    number as the second operand of add, sub, mul and div, and nowhere else."""

    is_traced = True

    def forward(self, x: T, n: T, z: T):
        return (x + 2.5, n - 2.5, z * 2.5, n / 2.5, x // 2.5, n // 2.5, z // 2.5,
                torch.div(n, 2.5, rounding_mode="floor"),
                z * torch.tensor(2.5, dtype=torch.float64))


@torch.library.custom_op("transformers::grouped_mm_fallback", mutates_args=())
def multiply_groups(input: T, weight: T, offs: T) -> T:
    """As transformers defines it, which need not be installed here."""
    bounds = [0] + offs.tolist()
    parts = [input[a:b] @ w for a, b, w in zip(bounds, bounds[1:], weight)]
    return torch.cat(parts + [torch.zeros(len(input) - bounds[-1], weight.size(2))])


class Groups(torch.nn.Module):
    """Rows by the matrix of their group: empty groups, and rows of none."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(24.0).reshape(4, 2, 3) - 12)

    def forward(self, x: T, ends: T) -> T:
        return torch.ops.transformers.grouped_mm_fallback(x, self.weight, ends)


class NarrowGroups(Groups):
    """The same as torch has it, which asks for bf16 and strides of 16 bytes; batches."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(
            (torch.arange(256.0) % 7 - 3).bfloat16().reshape(4, 8, 8))

    def forward(self, x: T, ends: T):
        x = x.to(torch.bfloat16)
        batches = x[:8].reshape(1, 8, 8).expand(4, 8, 8)
        return (torch._grouped_mm(x, self.weight, offs=ends).float(),
                torch._grouped_mm(batches.contiguous(), self.weight).float())


class WeightsByLength(torch.nn.Module):
    """Lengths over all axes but one, which may be the first, the last, or none."""

    def forward(self, v: T, g: T):
        first = torch._weight_norm(v, g.reshape(-1, 1, 1), 0)
        middle = torch._weight_norm(v, g.reshape(1, -1, 1), 1)
        whole = torch._weight_norm(v, g[:1].reshape(()), -1)
        both = torch._weight_norm_interface(v, g.reshape(1, 1, -1), 2)
        return first, middle, whole, both[0], both[1]


class QuantisedWithBias(torch.nn.Module):
    """(1 + 0.4) / 0.5 is nearest to 3: FBGEMM does not round the bias to an integer first."""

    def forward(self, x: T, w: T, b: T):
        x = torch.quantize_per_tensor(x, 1.0, 3, torch.quint8)
        w = torch.quantize_per_tensor(w, 1.0, 0, torch.qint8)
        lines = torch.ops.quantized.linear_prepack(w, b)
        windows = torch.ops.quantized.conv2d_prepack(
            w.reshape(2, 2, 1, 1), b, [1, 1], [0, 0], [1, 1], 1)
        y = torch.ops.quantized.linear(x, lines, 0.5, 5)
        z = torch.ops.quantized.conv2d(x.reshape(-1, 2, 1, 1), windows, 0.5, 5)
        return y.dequantize(), z.dequantize()


class QuantisedWithNumbers(torch.nn.Module):
    """As torch.ao.quantization's FX mode writes x + 0.5 and its kin; a quantised weight."""

    def forward(self, x: T):
        q = torch.quantize_per_tensor(x, 0.25, 16, torch.quint8)
        w = torch.quantize_per_tensor(torch.tensor([0.5, -2.0]), 0.5, 8, torch.quint8)
        results = [torch.ops.quantized.add(q, 0.5), torch.ops.quantized.add(-1000, q),
                   torch.ops.quantized.add_relu(q, 0.5), torch.ops.quantized.add_relu(1, q),
                   torch.ops.quantized.mul(q, -0.5), torch.ops.quantized.mul(3, q),
                   torch.ops.quantized.mul_relu(q, -2), torch.ops.quantized.mul_relu(0.5, q),
                   torch.ops.quantized.prelu(q, w, 0.25, 16)]
        return torch.stack([r.dequantize() for r in results])


class QuantisedMeans(torch.nn.Module):
    """Means of four that lie between two steps: these go to the even step, by no scale."""

    def forward(self, x: T):
        q = torch.quantize_per_tensor(x, 0.037, 0, torch.qint8)
        y = torch.nn.functional.avg_pool2d(q, 2)
        z = torch.nn.functional.adaptive_avg_pool2d(q, 2)
        u = torch.nn.functional.interpolate(q, scale_factor=2.0, mode="bilinear")
        return y.int_repr(), z.int_repr(), u.int_repr()


STEPS = (torch.arange(64) * 29 % 61 - 30) * torch.tensor(0.037)

CASES = {
    "quantised_with_numbers": (QuantisedWithNumbers(), [
        (torch.tensor([[1.0, 0.0], [-2.0, -3.75], [9.5, 100.0]]),),
    ]),
    "quantised_means": (QuantisedMeans(), [(STEPS.reshape(1, 4, 4, 4),)]),
    "quantised_with_bias": (QuantisedWithBias(), [
        (torch.tensor([[1.0, 0.0], [2.0, -2.0]]), torch.tensor([[1.0, 0.0], [-1.0, 1.0]]),
         torch.tensor([0.4, -0.4])),
    ]),
    "quotient_of_0": (QuotientOf0(), [
        (torch.tensor([0.0, -0.0, 0.0, 7.5, -7.5]), torch.tensor([-1.5, 2.0, 2.0, 2.0, 2.0])),
    ]),
    "constants_of_a_trace": (ConstantsOfATrace(), [
        (torch.tensor([1.75, -3.0, 0.0]), torch.tensor([4, -7, 0]), torch.tensor(-6.5)),
    ]),
    "groups": (Groups(), [
        (torch.arange(14.0).reshape(7, 2), torch.tensor([0, 3, 3, 6], dtype=torch.int32)),
        (torch.arange(2.0).reshape(1, 2), torch.tensor([0, 0, 1, 1])),
        (torch.zeros(0, 2), torch.zeros(4, dtype=torch.int64)),
    ]),
    "narrow_groups": (NarrowGroups(), [
        ((torch.arange(72.0) % 5 - 2).reshape(9, 8),
         torch.tensor([1, 1, 8, 9], dtype=torch.int32)),
    ]),
    "weights_by_length": (WeightsByLength(), [
        (torch.tensor([1.0, -1, 1, 1]).reshape(4, 1, 1).expand(4, 4, 4).contiguous(),
         torch.tensor([2.0, 0, -4, 0.5])),
        (torch.tensor([0.0, -2, 3e38, torch.inf]).reshape(1, 1, 4).expand(4, 4, 4).contiguous(),
         torch.tensor([1.0, torch.nan, 8, -0.0])),
    ]),
    "suppressed": (Suppressed(), [(TENTHS, RANKS), (TENTHS[:1], RANKS[:1]),
                                  (TENTHS[:0], RANKS[:0])]),
    "suppressed_f64": (Suppressed(), [  # scores that f32 does not tell apart
        (TENTHS.double(), torch.tensor([0.5, 1, 1 + 1e-12, 1, -1], dtype=torch.float64))]),
    "fixed_guard_in_branch": (GuardInBranch(), [(torch.ones(2, 3),)]),
}


def main(archive=HERE / "cases" / "mended_torch.tar.xz"):
    with tempfile.TemporaryDirectory() as scratch:
        for name, (module, sets) in CASES.items():
            folder = pathlib.Path(scratch) / name
            folder.mkdir()
            path, module = str(folder / "model.pt"), module.eval()
            is_traced = getattr(module, "is_traced", False)
            (torch.jit.trace(module, sets[0], check_trace=False) if is_traced
             else torch.jit.script(module)).save(path)
            module = torch.jit.load(path)
            case = {"name": name, "model": "model.pt", "tolerance": {"rtol": 0, "atol": 0}}
            (folder / "case.json").write_text(json.dumps(case))
            for index, arguments in enumerate(sets):
                write_set(folder / f"test_data_set_{index}", arguments, module(*arguments))
        print(f"{len(CASES)} cases, {pack(scratch, archive)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
