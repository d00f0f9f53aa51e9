#!/usr/bin/env python3
"""The same DLRM from ONNX, traced and scripted TorchScript must come to the same plan.

SPDX-License-Identifier: Apache-2.0

    same_plan.py INGOT OUT_DIR [--all]

Writes DLRMs of several sizes, forms of interaction and forms of ids, each by torch's two
ONNX exporters, traced and scripted, and compares the `launch` lines of their plans.
They have to be equal but for names, and for what a bag says of negative ids and empty
bags.  What an exporter cannot write is said and left out.  Without --all every form
occurs once.  Needs torch and onnx.
"""

import argparse
import importlib.util
import itertools
import logging
import pathlib
import re
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import torch

BODY = '''
from typing import List
import torch
from torch import nn

T = torch.Tensor


def mlp(sizes: List[int], last):
    layers = []
    for k, n in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(k, n), nn.ReLU()]
    layers[-1] = last
    return nn.Sequential(*layers)


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom = mlp(SIZES_BOTTOM, nn.ReLU())
        self.bags = nn.ModuleList([TABLE for rows in ROWS])
        n = len(ROWS) + 1
        first, second = torch.TRIANGLE_indices(n, n, offset=OFFSET)
        self.register_buffer("first", first)
        self.register_buffer("second", second)
        self.register_buffer("flat", first * n + second)
        self.top = mlp([WIDTH] + SIZES_TOP, LAST)

    def forward(self, ARGUMENTS):
        x = self.bottom(dense)
        features = [x]
LOOK_UPS
INTERACTION
'''

# How ids come: the call's arguments for a table, the look-up, the table.
IDS = {
    "offsets": (["ids{i}", "off{i}"], "bag(ids{i}, off{i})", "mode=MODE"),
    "last": (["ids{i}", "off{i}"], "bag(ids{i}, off{i})",
             "mode=MODE, include_last_offset=True"),
    "matrix": (["ids{i}"], "bag(ids{i})", "mode=MODE"),
    "one": ([], "bag(ids[:, {i}])", None),
}

INTERACTIONS = {
    "pairs": """
        z = torch.stack(features, dim=1)
        dots = torch.bmm(z, z.transpose(1, 2))
        return self.top(torch.cat([x, dots[:, self.first, self.second]], dim=1))""",
    "flat": """
        z = torch.cat(features, dim=1).view(-1, COUNT, DIM)
        dots = torch.matmul(z, z.permute(0, 2, 1)).flatten(1)
        return self.top(torch.cat([x, dots.index_select(1, self.flat)], dim=1))""",
    "concat": """
        return self.top(torch.cat(features, dim=1))""",
}

SIZES = {
    "small": dict(dense=13, rows=[100] * 4, dim=16, bottom=[32], top=[24, 1]),
    "criteo": dict(dense=13, rows=[100 + 13 * i for i in range(26)], dim=64,
                   bottom=[512, 256], top=[512, 256, 1]),
    "odd": dict(dense=7, rows=[3, 50, 1000], dim=20, bottom=[33, 65], top=[17, 2]),
}


def source(size, ids, interaction, mode, triangle, last):
    s = SIZES[size]
    count = len(s["rows"])
    arguments, look, options = IDS[ids]
    table = ("nn.Embedding(rows, DIM)" if options is None
             else f"nn.EmbeddingBag(rows, DIM, {options})")
    names = [a.format(i=i) for i in range(count) for a in arguments] or ["ids"]
    looks = "\n".join(
        f"        features.append({look.format(i=i).replace('bag(', f'self.bags[{i}](')})"
        for i in range(count))
    width = (s["dim"] * (count + 1) if interaction == "concat"
             else s["dim"] + (count + 1) * count // 2)
    text = BODY
    for word, by in [
            ("LOOK_UPS", looks), ("INTERACTION", INTERACTIONS[interaction]),
            ("TABLE", table), ("SIZES_BOTTOM", str([s["dense"], *s["bottom"], s["dim"]])),
            ("SIZES_TOP", str(s["top"])), ("ARGUMENTS", ", ".join(
                f"{n}: T" for n in ["dense", *names])),
            ("ROWS", str(s["rows"])), ("COUNT", str(count + 1)), ("DIM", str(s["dim"])),
            ("WIDTH", str(width)), ("MODE", repr(mode)), ("TRIANGLE", triangle),
            ("OFFSET", "-1" if triangle == "tril" else "1"), ("LAST", last)]:
        text = text.replace(word, by)
    return text, ["dense", *names]


def draw(names, size, ids, batch=4):
    s = SIZES[size]
    args, types = [], []
    for name in names:
        if name == "dense":
            args.append(torch.randn(batch, s["dense"]))
            types.append(f"dense=f32[B, {s['dense']}]")
        elif name == "ids":
            args.append(torch.randint(0, 3, (batch, len(s["rows"]))))
            types.append(f"ids=i64[Bi, {len(s['rows'])}]")
        elif name.startswith("off"):
            last = ids == "last"
            args.append(torch.arange(batch + last) * 2)
            types.append(f"{name}=i64[C{name[3:]}]")
        elif ids == "matrix":
            args.append(torch.randint(0, 3, (batch, 3)))
            types.append(f"{name}=i64[D{name[3:]}, 3]")
        else:
            args.append(torch.randint(0, 3, (2 * batch,)))
            types.append(f"{name}=i64[N{name[3:]}]")
    return tuple(args), types


def export_legacy(module, args, names, path):
    axes = {n: {0: f"{n}_0"} for n in names}
    torch.onnx.export(module, args, path, dynamo=False, input_names=names,
                      dynamic_axes=axes, opset_version=17)


def export_dynamo(module, args, names, path):
    shapes = tuple({0: torch.export.Dim.DYNAMIC} for _ in args)
    torch.onnx.export(module, args, path, dynamo=True, dynamic_shapes=shapes,
                      input_names=names, external_data=False, verbose=False)


def export_traced(module, args, names, path):
    torch.jit.trace(module, args, check_trace=False).save(path)


def export_scripted(module, args, names, path):
    torch.jit.script(module).save(path)


WAYS = {
    "traced": ("pt", export_traced),
    "scripted": ("pt", export_scripted),
    "legacy": ("onnx", export_legacy),
    "dynamo": ("onnx", export_dynamo),
}


def launches(ingot, path, types, names):
    # A traced archive has names of its own for arguments: their places do as well.
    is_onnx = path.endswith(".onnx")
    inputs = [t if is_onnx else f"{i}={t.split('=', 1)[1]}" for i, t in enumerate(types)]
    command = [ingot, "dump", "--stage", "plan", path]
    for one in inputs:
        command += ["--input", one]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    found = [line.strip() for line in run.stdout.splitlines()
             if line.strip().startswith("launch")]
    return [normal(found), found], None


def normal(lines):
    """The lines with their names counted through."""
    known = {}

    def number(match):
        name = match.group(0)
        return known.setdefault(name, f"{name[0]}{len(known)}")
    out = []
    for line in lines:
        line = re.sub(r", (?:wraps|(?:negative|empty) = (?:\w+|\[[^]]*\]))(?=[,}])", "", line)
        out.append(re.sub(r"[%@][\w.$-]+", number, line))
    return out


def variants(everything):
    if everything:
        return list(itertools.product(SIZES, IDS, INTERACTIONS, ["sum", "mean"],
                                      ["tril", "triu"], ["nn.Sigmoid()", "nn.Identity()"]))
    return [("small", "offsets", "pairs", "sum", "tril", "nn.Sigmoid()"),
            ("odd", "last", "flat", "mean", "triu", "nn.Identity()"),
            ("odd", "matrix", "concat", "sum", "tril", "nn.Sigmoid()"),
            ("small", "one", "flat", "sum", "tril", "nn.Identity()"),
            ("criteo", "offsets", "pairs", "sum", "tril", "nn.Sigmoid()")]


def compare(ingot, out, variant):
    name = re.sub(r"\W+", "_", "_".join(variant)).strip("_")
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    text, names = source(*variant)
    (folder / "model.py").write_text(text)
    spec = importlib.util.spec_from_file_location("model_" + name, folder / "model.py")
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    torch.manual_seed(1)
    module = code.Dlrm().eval()
    args, types = draw(names, variant[0], variant[1])
    first, verdict = None, True
    for way, (ending, export) in WAYS.items():
        path = str(folder / f"{way}.{ending}")
        try:
            with torch.no_grad():
                export(module, args, names, path)
        except Exception as error:  # torch's own limits
            print(f"  {name} {way}: torch cannot: {str(error).splitlines()[0][:100]}")
            continue
        plan, why = launches(ingot, path, types, names)
        if plan is None:
            print(f"FAIL {name} {way}: {why}")
            verdict = False
            continue
        first = first or plan
        for i, (a, b) in enumerate(itertools.zip_longest(first[0], plan[0])):
            if a != b:
                print(f"FAIL {name} {way}: launch {i} differs from that of the traced one\n"
                      f"  {(first[1] + [None])[min(i, len(first[1]))]}\n"
                      f"  {(plan[1] + [None])[min(i, len(plan[1]))]}")
                verdict = False
                break
    print(f"{'pass' if verdict else 'FAIL'} {name}")
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ingot")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    verdicts = [compare(options.ingot, options.out, v) for v in variants(options.all)]
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    sys.exit(0 if all(verdicts) else 1)


if __name__ == "__main__":
    main()
