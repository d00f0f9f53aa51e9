#!/usr/bin/env python3
"""torch.compile by Ingot against torch.compile by inductor: the first call, and the later ones.

    $python bench/torch_compile.py [--only PATTERN] [--batch 1,64] [--json FILE]
    $python bench/torch_compile.py --train [--only PATTERN] [--batch 256] [--json FILE]

First calls are those of processes of their own, with empty caches, from the call to its
result (imports and the module are there already).  Later calls are interleaved in one
process, one thread each, both without gradients; the table has the time that inductor
takes over Ingot's, within a round (measure.py), with its 95 % interval.  All results are
held against eager first.

--train measures steps: forward, loss, backward, torch's SGD, of a DLRM, an MLP, a block of
a transformer and a CNN; losses of the first steps are held against eager's.

Models: Criteo DLRM of models.py (small tables), MiniLM's shape (BERT of 6 layers, 384
wide, 64 tokens, random weights; where transformers is installed), and the recommendation
models of tests/models/gen.  Needs INGOT_BUILD's Python package, torch and a C++ compiler.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import copy
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", ROOT / "build" / "release"))
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "models" / "gen")]
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from measure import believable, measure_rounds, ratios  # noqa: E402
from recommend_models import MODELS  # noqa: E402

BACKENDS = ("ingot", "inductor")
REPEATS = 3
SETS = 4
TOLERANCE = 1e-3
FEWEST_ROUNDS = 9


def dlrm():
    from models import Model
    model = Model("legacy", "small")
    generator = np.random.default_rng(0)
    return (model.torch_module(model.make_weights()),
            lambda batch: tuple(map(torch.from_numpy, model.make_inputs(generator, batch))))


def minilm():
    import transformers
    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                                     intermediate_size=1536)
    return (transformers.BertModel(config),
            lambda batch: (torch.randint(5, 30000, (batch, 64)), torch.ones(batch, 64).long()))


OWN = {"dlrm": dlrm, "minilm": minilm}


def build(name):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch._dynamo.config.allow_rnn = True
    module, draw = (OWN.get(name) or MODELS[name])()
    return module.eval(), draw


def tensors_of(result):
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result
    return [t for one in values or () for t in tensors_of(one)]


def check(name, got, want):
    for g, w in zip(tensors_of(got), tensors_of(want), strict=True):
        torch.testing.assert_close(g, w, rtol=TOLERANCE, atol=TOLERANCE, msg=name)


def compiled(module, backend):
    if backend == "ingot":  # of INGOT_BUILD, which need not be installed
        from ingot.dynamo import backend
    return torch.compile(module, backend=backend, dynamic=True)


# ---- the first call ----

def first_call(name, batch, backend):
    """In this process, which then ends."""
    module, draw = build(name)
    args = draw(batch)
    with torch.no_grad():
        function = compiled(module, backend)
        start = time.perf_counter()
        result = function(*args)
        seconds = time.perf_counter() - start
        check(f"{name} by {backend}", result, module(*args))
    print(seconds)


def first_calls(name, batch, backend):
    """Its median over processes that have nothing cached."""
    seconds = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            caches = {"TORCHINDUCTOR_CACHE_DIR": folder, "INGOT_CACHE_DIR": folder}
            command = [sys.executable, __file__, "--first", name, str(batch), backend]
            run = subprocess.run(command, env=dict(os.environ, **caches), check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            seconds.append(float(run.stdout.split()[-1]))
    return sorted(seconds)[len(seconds) // 2]


# ---- later calls ----

class Engine:
    def __init__(self, name, module, sets):
        self.name, self.sets = name, sets
        self.function = compiled(module, name)
        for args in sets:
            check(name, self.function(*args), module(*args))

    def run(self, index):
        self.function(*self.sets[index])


def compare_calls(engines, module):
    """How many times Ingot's time inductor's is, and both medians in µs."""
    weights = sum(p.numel() * p.element_size() for p in module.parameters())
    rounds = measure_rounds(engines, SETS, 1, min(max(weights, 1 << 16), 1 << 28))
    quiet = believable(rounds)
    facts = ratios(quiet, *BACKENDS) | {"rounds": len(quiet)}
    for backend in BACKENDS:
        values = sorted(v[backend] for v in quiet)
        facts[backend] = values[len(values) // 2] * 1e6
    return facts


def later_calls(name, batch):
    torch._dynamo.reset()
    module, draw = build(name)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        os.environ["INGOT_CACHE_DIR"] = folder
        sets = [draw(batch) for _ in range(SETS)]
        return compare_calls([Engine(backend, module, sets) for backend in BACKENDS], module)


# ---- steps with gradients ----

class Recommender(nn.Module):
    """The DLRM of bench/training.py: 26 tables, one id a bag."""

    def __init__(self, tables=26, rows=10000, dim=64):
        super().__init__()
        self.rows = rows
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, dim, mode="sum") for _ in range(tables))
        self.bottom = layers(13, 512, 256, dim)
        pairs = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", pairs[0] * (tables + 1) + pairs[1])
        self.top = layers(dim + len(self.pairs), 512, 256, 1)[:-1]

    def forward(self, dense, ids):
        x = self.bottom(dense)
        rows = torch.stack([x, *(bag(ids[i]) for i, bag in enumerate(self.bags))], 1)
        products = torch.bmm(rows, rows.transpose(1, 2)).flatten(1)[:, self.pairs]
        return self.top(torch.cat([x, products], 1)).squeeze(1)

    def draw(self, batch):
        return (torch.randn(batch, 13),
                torch.randint(0, self.rows, (len(self.bags), batch, 1)))


def layers(*widths):
    pairs = zip(widths, widths[1:])
    return nn.Sequential(*(one for a, b in pairs for one in (nn.Linear(a, b), nn.ReLU())))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True,
                                                activation="gelu")
        self.out = nn.Linear(256, 1)

    def forward(self, x):
        return self.out(self.layer(x)).mean((1, 2))


def pictures():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(32, 1), nn.Flatten(0))


TRAINED = {
    "train_dlrm": (Recommender, None),
    "train_mlp": (lambda: nn.Sequential(*layers(256, 512, 256), nn.Linear(256, 1), nn.Flatten(0)),
                  lambda batch: (torch.randn(batch, 256),)),
    "train_block": (Block, lambda batch: (torch.randn(max(1, batch // 32), 32, 256),)),
    "train_cnn": (pictures, lambda batch: (torch.randn(max(1, batch // 8), 3, 32, 32),)),
}


class Steps:
    """Steps of a copy of the module; the first are eager's."""

    def __init__(self, name, module, sets):
        self.name, self.sets = name, sets
        own, eager = copy.deepcopy(module), copy.deepcopy(module)
        self.labels = [torch.rand(len(args[0])).round() for args in sets]
        if name == "ingot":  # of INGOT_BUILD, which need not be installed
            from ingot.dynamo import backend as name
        self.function = torch.compile(own, backend=name)
        self.optimizer = torch.optim.SGD(own.parameters(), lr=0.01)
        other = torch.optim.SGD(eager.parameters(), lr=0.01)
        for index in range(len(sets)):
            want = self.step(eager, other, index)
            torch.testing.assert_close(self.run(index), want, rtol=TOLERANCE, atol=TOLERANCE)

    def step(self, function, optimizer, index):
        loss = functional.binary_cross_entropy_with_logits(function(*self.sets[index]),
                                                           self.labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def run(self, index):
        return self.step(self.function, self.optimizer, index)


def steps(name, batch):
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    make, draw = TRAINED[name]
    module = make()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["INGOT_CACHE_DIR"] = folder
        sets = [(draw or module.draw)(batch) for _ in range(SETS)]
        return compare_calls([Steps(backend, module, sets) for backend in BACKENDS], module)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="*")
    parser.add_argument("--batch", help="rows of a call (1,64; of --train 256)")
    parser.add_argument("--json")
    parser.add_argument("--no-first", action="store_true", help="later calls alone")
    parser.add_argument("--train", action="store_true", help="steps with gradients")
    parser.add_argument("--first", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.first:
        first_call(given.first[0], int(given.first[1]), given.first[2])
        return
    known = TRAINED if given.train else [*OWN, *MODELS]
    names = [n for n in known if fnmatch.fnmatch(n, given.only)]
    batches = given.batch or ("256" if given.train else "1,64")
    found = []
    print(f"torch {torch.__version__}; ratios are inductor's time over ingot's")
    print(f"{'model':24} {'batch':>5} {'first s':>8} {'inductor':>8} {'ratio':>6}   "
          f"{'later µs':>9} {'inductor':>9} {'ratio':>6} interval")
    for name in names:
        for index, batch in enumerate(map(int, batches.split(","))):
            later = steps if given.train else later_calls
            row = {"model": name, "batch": batch, "later": later(name, batch)}
            text = f"{'':26}"
            if index == 0 and not (given.no_first or given.train):
                row["first"] = {b: first_calls(name, batch, b) for b in BACKENDS}
                ours, theirs = row["first"].values()
                text = f"{ours:8.2f} {theirs:8.2f} {theirs / ours:6.1f}  "
            later = row["later"]
            noisy = "" if later["rounds"] >= FEWEST_ROUNDS else "  TOO NOISY TO TRUST"
            print(f"{name:24} {batch:5} {text} {later['ingot']:9.1f} {later['inductor']:9.1f} "
                  f"{later['median']:6.2f} {later['low']:.2f}-{later['high']:.2f}{noisy}",
                  flush=True)
            found.append(row)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
