#!/usr/bin/env python3
"""Random torch programs, scripted, traced, exported and captured: Ingot against torch.

SPDX-License-Identifier: Apache-2.0

    torch_random.py [--count N] [--seed S] [--jobs J] [--log FILE] [--show SEED]

Draws N programs: views and writes through them, branches, loops, lists and dicts, numbers
of Python, attributes as state, all sorts of indexing, every dtype.  Ingot runs each
interpreted and compiled, by turns with open and with fixed extents; captured ones run under
torch.compile, with graph breaks between their lines.  Refusals are counted by their words;
what is off is printed.  Needs torch, numpy, ml_dtypes, onnx and onnxruntime; INGOT_BUILD
names the build.
"""

import argparse
import collections
import json
import re
import sys

sys.dont_write_bytecode = True

import torch

from binding import BUILD

sys.path.insert(0, str(BUILD / "python"))  # torch.compile asks for the package

import torch._dynamo  # noqa: F401  here and not in every worker: seconds of CPU time
import torch.export._trace  # noqa: F401

import ingot.dynamo  # noqa: F401
import torch_judge
import torch_models
from torch_statements import ROWS
from workers import run_seeds

torch.set_num_threads(1)


def cover(drawn):
    tally = collections.Counter(drawn.program.tally)
    tally["form " + drawn.form] += 1
    tally["calls"] += len(drawn.calls)
    tally["compared bit by bit"] += drawn.program.is_exact
    tally["with state"] += bool(drawn.program.attributes)
    tally["with open extents"] += any("_" in s for s in drawn.statements)
    lines = len(drawn.program.lines)
    tally[f"lines {min(30, lines // 5 * 5)}+"] += 1
    nested = max((len(t) - len(t.lstrip())) // 4 - 2 for t in drawn.program.lines)
    tally[f"nested {nested}"] += 1
    for call in drawn.calls:
        for value in [v for v in call.arguments if isinstance(v, torch.Tensor)]:
            tally["of " + torch_models.NAMES[value.dtype]] += 1
            tally["empty tensors"] += value.numel() == 0
            tally["tensors of rank 0"] += value.dim() == 0
        for want in call.wanted:
            tally["results empty"] += want.size == 0
            tally["results of rank 0"] += want.ndim == 0
    return tally


def try_seed(seed, log):
    try:
        drawn = torch_models.draw_model(seed)
    except torch_models.NoProgram as error:
        return {"none": str(error)}
    findings, (judged, elements) = torch_judge.judge(drawn, log)
    return {"findings": findings, "tally": cover(drawn), "judged": judged,
            "elements": elements}


class Report:
    def __init__(self, path=None):
        self.tally, self.none = collections.Counter(), collections.Counter()
        self.kinds = collections.Counter()
        self.judged = self.elements = self.programs = 0
        self.wrong, self.refused = set(), set()
        self.file = open(path, "w", encoding="utf-8") if path else None

    def take(self, entry):
        if self.file:
            kept = {k: v for k, v in entry.items() if k != "tally"}
            self.file.write(json.dumps(kept) + "\n")
            self.file.flush()
        if "none" in entry:
            self.none[re.sub(r"\d+", "…", entry["none"])[:100]] += 1
        elif "crash" in entry:
            if entry["crash"] == "begin":
                self.none["drawing it ends the process"] += 1
                return
            self.wrong.add(entry["seed"])
            print(f"WRONG {entry['seed']}: {entry['crash']}: the process ended with "
                  f"{entry['exit']}", flush=True)
        else:
            self.programs += 1
            self.tally.update(entry["tally"])
            self.judged += entry["judged"]
            self.elements += entry["elements"]
            self.take_findings(entry)

    def take_findings(self, entry):
        for found in entry["findings"]:
            if found["kind"] == "wrong":
                self.wrong.add(entry["seed"])
                print(f"WRONG {entry['seed']} {found['form']}: {found['words'][:300]}",
                      flush=True)
            else:
                self.refused.add(entry["seed"])
                words = found["words"].split("\n")[0]
                words = re.sub(r"<memory>:[^:]*:\d*:?", "", words)
                words = re.sub(r"'[^']*'|\d+", "…", words)[:130]
                self.kinds[f"{found['form']}: {found['kind']}: {words}"] += 1

    def print(self):
        tally = self.tally
        statements = {k: v for k, v in tally.items() if k[0].islower() and not k.startswith(
            ("form ", "calls", "compared", "with ", "lines ", "nested ", "of ", "empty ",
             "tensors ", "results ", "result "))}
        print(f"statements: {sum(statements.values())} of {len(statements)} kinds "
              f"({len(ROWS)} rows)")
        print("  " + ", ".join(f"{k} {v}" for k, v in sorted(statements.items())))
        for title, prefix in (("forms", "form "), ("lines", "lines "),
                              ("nesting", "nested "), ("results", "result "),
                              ("dtypes of arguments", "of ")):
            found = sorted((k[len(prefix):], v) for k, v in tally.items()
                           if k.startswith(prefix))
            print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in found))
        for name in ("calls", "compared bit by bit", "with state", "with open extents",
                     "empty tensors", "tensors of rank 0", "results empty",
                     "results of rank 0"):
            print(f"{name}: {tally[name]}")
        print(f"elements judged: {self.judged} of {self.elements}")
        for words, count in self.none.most_common(12):
            print(f"no program ({count}): {words}")
        for words, count in self.kinds.most_common(40):
            print(f"refused ({count}): {words}")
        print(f"{self.programs} programs, {len(self.refused)} refused in a form, "
              f"{len(self.wrong)} wrong")


def show(seed):
    drawn = torch_models.draw_model(seed)
    print(drawn.source)
    print(drawn.form, drawn.statements)
    for call in drawn.calls:
        print("call", call.arguments, "->", call.wanted)
    for found in torch_judge.judge(drawn)[0]:
        print(json.dumps(found, indent=1))
    if drawn.archive:
        with open(f"/tmp/{seed}.pt{'2' * (drawn.form == 'exported')}", "wb") as file:
            file.write(drawn.archive)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log")
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        return show(options.show)
    report = Report(options.log)
    run_seeds(try_seed, list(range(options.seed, options.seed + options.count)),
              options.jobs, report.take)
    report.print()
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
