#!/usr/bin/env python3
"""Writes one torch.package for every class of torch.nn that frontend/torch/stock has.

SPDX-License-Identifier: Apache-2.0

    nn_modules.py OUT_DIR [--only PATTERN]

A case is a folder with package.pt, test_data_set_0/{input,output}_K.npy, values.json and
case.json, which `ingot verify` reads.  The classes are given with the options that change
what they compute; weights and inputs are random with a fixed seed.  Needs torch.
"""

import argparse
import fnmatch
import json
import pathlib
import shutil
import warnings

warnings.filterwarnings("ignore")

import torch
from torch import nn
from torch.package import PackageExporter

from values_json import write_set

TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def write_case(folder, module, args):
    folder.mkdir(parents=True)
    with PackageExporter(str(folder / "package.pt")) as exporter:
        exporter.extern("**")
        exporter.save_pickle("model", "model.pkl", module)
    with torch.no_grad():
        write_set(folder / "test_data_set_0", args, module(*args))
    case = {"name": folder.name, "model": "package.pt", "tolerance": TOLERANCE,
            "load": {"package": "model", "resource": "model.pkl"}}
    (folder / "case.json").write_text(json.dumps(case))


rand = torch.randn


def dense():
    x, x3, x4 = rand(3, 8), rand(2, 4, 9), rand(2, 4, 8, 10)
    yield "linear", nn.Linear(8, 5), x
    yield "linear_no_bias", nn.Linear(8, 5, bias=False), x
    yield "bilinear", nn.Bilinear(8, 6, 5), x, rand(3, 6)
    yield "identity", nn.Sequential(nn.Identity(), nn.Linear(8, 2)), x
    yield "empty", nn.Sequential(), x
    layer = nn.Linear(8, 8)
    yield "shared", nn.Sequential(layer, nn.ReLU(), layer), x
    yield "in_place", nn.Sequential(nn.Linear(8, 4), nn.ReLU(inplace=True)), x
    yield "in_place_all", nn.Sequential(nn.Linear(8, 8), *in_place_layers()), x
    yield "bilinear_rows", nn.Bilinear(4, 5, 6, bias=False), rand(2, 3, 4), rand(2, 3, 5)
    yield "pairwise_power", nn.PairwiseDistance(1.5, keepdim=True), x, rand(3, 8)
    yield "flatten", nn.Flatten(), x4
    yield "flatten_some", nn.Flatten(1, 2), x4
    yield "unflatten", nn.Unflatten(1, (2, -1)), x
    yield "cosine", nn.CosineSimilarity(), x, rand(3, 8)
    yield "pairwise", nn.PairwiseDistance(), x, rand(3, 8)
    yield "layer_norm", nn.LayerNorm((4, 9)), x3
    yield "layer_norm_plain", nn.LayerNorm(9, elementwise_affine=False), x3
    yield "layer_norm_no_bias", nn.LayerNorm(9, bias=False), x3
    yield "group_norm", nn.GroupNorm(2, 4), x4
    yield "rms_norm", nn.RMSNorm(9), x3
    yield "response_norm", nn.LocalResponseNorm(3), x4
    yield "pixel_shuffle", nn.PixelShuffle(2), x4
    yield "pixel_unshuffle", nn.PixelUnshuffle(2), x4
    yield "channel_shuffle", nn.ChannelShuffle(2), x4
    yield "alpha_dropout", nn.AlphaDropout(), x
    yield "dropout", nn.Sequential(nn.Linear(8, 4), nn.Dropout(.5)), x


def in_place_layers():
    """Each changes what the layer before gave."""
    return (nn.ReLU(True), nn.ELU(inplace=True), nn.Hardtanh(-1, .5, True), nn.LeakyReLU(.1, True),
            nn.SiLU(True), nn.Mish(True), nn.ReLU6(True), nn.SELU(True), nn.CELU(1.5, True),
            nn.Hardswish(True), nn.Threshold(.1, .2, True), nn.Hardsigmoid(True),
            nn.RReLU(inplace=True), nn.Dropout(.3, True), nn.AlphaDropout(.4, True))


def activations():
    x, x3, x4 = rand(3, 8) * 3, rand(2, 4, 9), rand(2, 4, 8, 10)
    plain = ("ReLU ReLU6 Sigmoid Tanh GELU SiLU Mish Softplus Softsign Hardtanh "
             "Hardsigmoid Hardswish ELU CELU SELU LeakyReLU RReLU PReLU LogSigmoid "
             "Softmin Softmax LogSoftmax Hardshrink Softshrink Tanhshrink GLU")
    for name in plain.split():
        yield f"act_{name}", getattr(nn, name)(), x
    yield "gelu_tanh", nn.GELU("tanh"), x
    yield "softmax_last", nn.Softmax(-1), x3
    yield "log_softmax_1", nn.LogSoftmax(1), x3
    yield "softmax_2d", nn.Softmax2d(), x4
    yield "threshold", nn.Threshold(.1, 20), x
    yield "prelu_channels", nn.PReLU(4), x4
    yield "softplus_steep", nn.Softplus(2, 1), x


def spatial(d, x):
    """What exists for one, two and three dimensions."""
    def make(name, *args, **options):
        return getattr(nn, f"{name}{d}d")(*args, **options)
    linear = ["linear", "bilinear", "trilinear"][d - 1]
    size = [7, (7, 9), (7, 9, 4)][d - 1]
    yield "conv", make("Conv", 4, 6, 3, stride=2, padding=1)
    yield "conv_same", make("Conv", 4, 6, 3, padding="same")
    yield "conv_groups", make("Conv", 4, 8, 2, padding="valid", groups=2, bias=False,
                              dilation=2)
    for mode in ("reflect", "replicate", "circular"):
        yield f"conv_{mode}", make("Conv", 4, 6, 3, padding=1, padding_mode=mode)
    yield "back", make("ConvTranspose", 4, 6, 3, stride=2, padding=1, output_padding=1)
    yield "back_groups", make("ConvTranspose", 4, 6, 2, groups=2, dilation=2, bias=False)
    yield "max_pool", make("MaxPool", 3, stride=2, padding=1, ceil_mode=True)
    yield "max_pool_dilated", make("MaxPool", 2, dilation=2)
    yield "max_pool_indices", make("MaxPool", 2, return_indices=True)
    yield "avg_pool", make("AvgPool", 2)
    yield "avg_pool_valid", make("AvgPool", 3, stride=2, padding=1, ceil_mode=True,
                                 count_include_pad=False)
    yield "adaptive_avg", make("AdaptiveAvgPool", 3)
    yield "adaptive_max", make("AdaptiveMaxPool", 3)
    yield "batch_norm", make("BatchNorm", 4)
    yield "batch_norm_plain", make("BatchNorm", 4, affine=False,
                                   track_running_stats=False)
    yield "instance_norm", make("InstanceNorm", 4)
    yield "instance_norm_full", make("InstanceNorm", 4, affine=True,
                                     track_running_stats=True)
    yield "pad_constant", make("ConstantPad", 1, 2.5)
    yield "pad_zero", make("ZeroPad", 1)
    yield "pad_reflect", make("ReflectionPad", 1)
    yield "pad_replicate", make("ReplicationPad", 2)
    yield "pad_circular", make("CircularPad", 1)
    yield "dropout", make("Dropout")
    yield "up_nearest", nn.Upsample(scale_factor=2)
    yield "up_size", nn.Upsample(size=7)
    yield "up_linear", nn.Upsample(scale_factor=2, mode=linear, align_corners=False)
    yield "up_corners", nn.Upsample(size=size, mode=linear, align_corners=True)


def all_spatial():
    inputs = [rand(2, 4, 9), rand(2, 4, 8, 10), rand(1, 4, 5, 6, 7)]
    for d, x in enumerate(inputs, 1):
        for name, module in spatial(d, x):
            yield f"{name}_{d}d", module, x
    yield "adaptive_indices", nn.AdaptiveMaxPool2d((None, 2), return_indices=True), inputs[1]
    yield ("up_recomputed", nn.Upsample(scale_factor=1.7, mode="bilinear",
                                        recompute_scale_factor=True), inputs[1])
    yield "up_area", nn.Upsample(size=(3, 4), mode="area"), inputs[1]
    yield "adaptive_open", nn.AdaptiveAvgPool2d((None, 3)), inputs[1]
    yield "up_bicubic", nn.Upsample(scale_factor=2, mode="bicubic"), inputs[1]
    yield "up_exact", nn.Upsample(scale_factor=(1.5, 2), mode="nearest-exact"), inputs[1]
    yield "batch_norm_flat", nn.BatchNorm1d(4, momentum=None), rand(3, 4)


def lookups():
    ids = torch.tensor([[1, 2, 3], [4, 0, 9]])
    flat, starts = torch.tensor([1, 2, 3, 4, 5]), torch.tensor([0, 2, 2])
    yield "embedding", nn.Embedding(10, 4, padding_idx=0), ids
    for mode in ("sum", "mean", "max"):
        yield f"bag_{mode}", nn.EmbeddingBag(10, 4, mode=mode), ids
        yield f"bag_{mode}_offsets", nn.EmbeddingBag(10, 4, mode=mode), flat, starts
    yield "bag_padding", nn.EmbeddingBag(10, 4, mode="mean", padding_idx=0), ids
    yield ("bag_last", nn.EmbeddingBag(10, 4, mode="sum", include_last_offset=True),
           flat, torch.tensor([0, 2, 5]))
    yield "bag_last_rows", nn.EmbeddingBag(10, 4, mode="sum", include_last_offset=True), ids
    yield "bag_weighted", nn.EmbeddingBag(10, 4, mode="sum"), ids, None, rand(2, 3)


def recurrent():
    x = rand(5, 3, 6)
    for first in (False, True):
        for both in (False, True):
            options = {"num_layers": 2, "batch_first": first, "bidirectional": both}
            suffix = f"{'_first' if first else ''}{'_both' if both else ''}"
            yield f"lstm{suffix}", nn.LSTM(6, 7, **options), x
            yield f"gru{suffix}", nn.GRU(6, 7, **options), x
            yield f"rnn{suffix}", nn.RNN(6, 7, **options), x
    yield "lstm_state", nn.LSTM(6, 7), x, (rand(1, 3, 7), rand(1, 3, 7))
    yield "gru_state", nn.GRU(6, 7, bias=False), x, rand(1, 3, 7)
    yield "rnn_relu", nn.RNN(6, 7, nonlinearity="relu"), x
    yield "lstm_projected", nn.LSTM(6, 7, proj_size=4), x
    yield "lstm_projected_both", nn.LSTM(6, 7, 2, bias=False, bidirectional=True, proj_size=3), x
    yield "lstm_single", nn.LSTM(6, 7), rand(5, 6)
    yield "gru_single", nn.GRU(6, 7, batch_first=True), rand(5, 6), rand(1, 7)
    yield "lstm_cell", nn.LSTMCell(6, 7), rand(3, 6)
    yield "lstm_cell_state", nn.LSTMCell(6, 7), rand(3, 6), (rand(3, 7), rand(3, 7))
    yield "gru_cell", nn.GRUCell(6, 7), rand(3, 6), rand(3, 7)
    yield "rnn_cell", nn.RNNCell(6, 7, nonlinearity="relu", bias=False), rand(3, 6)


def attention():
    x, first = rand(5, 2, 8), rand(2, 5, 8)
    heads = nn.MultiheadAttention
    hidden = torch.zeros(2, 5, dtype=torch.bool)
    hidden[1, 4] = True
    causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    yield "heads", heads(8, 2), x, x, x
    yield "heads_first", heads(8, 2, batch_first=True), first, rand(2, 6, 8), rand(2, 6, 8)
    yield ("heads_widths", heads(8, 2, kdim=6, vdim=4, bias=False), x, rand(6, 2, 6),
           rand(6, 2, 4))
    yield "heads_extra", heads(8, 2, add_bias_kv=True, add_zero_attn=True), x, x, x
    yield "heads_hidden", heads(8, 2), x, x, x, hidden
    yield "heads_causal", heads(8, 2), x, x, x, None, True, causal
    yield "heads_float", heads(8, 2), x, x, x, None, False, rand(5, 5)
    yield "heads_single", heads(8, 2), rand(5, 8), rand(6, 8), rand(6, 8)
    for norm_first in (False, True):
        for name in ("relu", "gelu"):
            options = {"activation": name, "norm_first": norm_first}
            suffix = f"_{name}{'_norm' if norm_first else ''}"
            yield f"encoder{suffix}", nn.TransformerEncoderLayer(8, 2, 16, **options), x
            yield (f"decoder{suffix}", nn.TransformerDecoderLayer(8, 2, 16, **options), x,
                   rand(6, 2, 8))
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    yield "encoders", nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8)), first
    yield ("encoders_masked", nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), first,
           causal.float() * -1e4, hidden)
    yield "transformer", nn.Transformer(8, 2, 2, 2, 16), x, rand(4, 2, 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    torch.manual_seed(1)
    for group in (dense, activations, all_spatial, lookups, recurrent, attention):
        for name, module, *inputs in group():
            folder = args.folder / name
            if fnmatch.fnmatch(name, args.only):
                shutil.rmtree(folder, ignore_errors=True)
                write_case(folder, module.eval(), inputs)


if __name__ == "__main__":
    main()
