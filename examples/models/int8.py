"""A model of 8-bit integers: calibrated on data, with a report of what each layer lost.

    python int8.py [--no-peer]

Needs the command `ingot`, which the wheel has.  SPDX-License-Identifier: Apache-2.0
"""
import json
import subprocess

import numpy as np
import torch
from torch import nn

import ingot
from side_by_side import compile_and_check, tell_speed

FEATURES, HIDDEN, ROWS = 64, 256, 8192


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(),
                                    nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))

    def forward(self, x):
        return torch.sigmoid(self.layers(x))


def make_data(rows, taste):
    """Features on scales of their own, some with long tails, and clicks of a hidden taste."""
    plain = torch.randn(rows, FEATURES)
    label = torch.bernoulli(torch.sigmoid(torch.tanh(plain) @ taste))
    scale = torch.logspace(-1, 1, FEATURES)
    return torch.sign(plain) * plain.abs() ** 1.5 * scale, label


def train(model, x, label, steps=200, batch=512):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        part = torch.randint(len(x), (batch,))
        loss = nn.functional.binary_cross_entropy(model(x[part])[:, 0], label[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def quantize(model_file, data_file, out, *options):
    """The report of `ingot quantize`, as JSON has it."""
    done = subprocess.run(["ingot", "quantize", model_file, "--calibration", data_file, "-o", out,
                           "--json", *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def show(report):
    for layer in report["layers"]:
        print(f"  {layer['name']:<10} cosine {layer['cosine']:.6f}, rms {layer['rms']:.4f}: "
              f"{layer.get('why', 'int8')}")
    for output in report["outputs"]:
        print(f"  output {output['name']}: largest difference {output['max']:.4f}, "
              f"rms {output['rms']:.4f} of the output's")
    print(f"  AUC {report['quantized_auc']:.4f}, was {report['auc']:.4f}")


def main():
    torch.manual_seed(0)
    taste = torch.randn(FEATURES) / 2
    x, label = make_data(2 * ROWS, taste)
    model = Clicks()
    train(model, x[:ROWS], label[:ROWS])
    batch = torch.export.Dim("batch", min=2)
    program = compile_and_check(model, (x[:64],), ({0: batch},))
    torch.export.save(torch.export.export(model, (x[:64],), dynamic_shapes=({0: batch},)),
                      "clicks.pt2")

    # Rows that training has not seen calibrate, and judge: their labels give the AUC.
    np.savez("rows.npz", x=x[ROWS:].numpy(), labels=label[ROWS:].numpy())
    report = quantize("clicks.pt2", "rows.npz", "clicks.ingot", "--smooth", "0.5", "--batch", "512")
    show(report)
    small = ingot.load("clicks.ingot")
    with torch.no_grad():
        off = (small(x[ROWS:]) - model(x[ROWS:])).abs()
    print(f"largest difference of a score: {off.max():.4f}, mean {off.mean():.5f}")
    assert off.mean() < 0.02
    rows = x[:256]
    tell_speed("256 rows in f32", program, model, (rows,))
    tell_speed("256 rows in int8", small, model, (rows,))


main()
