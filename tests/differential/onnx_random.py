#!/usr/bin/env python3
"""Random ONNX graphs: Ingot against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    onnx_random.py [--count N] [--seed S] [--jobs J] [--log FILE] [--show SEED]

Draws N graphs, has each run by ONNX Runtime without optimisations (node by node, and
whole), and by Ingot interpreted and compiled, by turns with open extents and with fixed
ones (--show: with both).  Prints what is off, and what was covered.  Needs numpy, ml_dtypes, onnx and
onnxruntime; INGOT_BUILD names the build.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import onnx

import onnx_judge
import onnx_models
from chain import FLOATS
from open_results import HELD, UNKNOWN
from workers import run_seeds

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEVER = {
    "RandomUniform": "chance", "RandomNormal": "chance", "RandomUniformLike": "chance",
    "RandomNormalLike": "chance", "Bernoulli": "chance", "Multinomial": "chance",
}


def import_rows():
    """Operators that the importer has rows for."""
    tables = sorted((ROOT / "frontend/onnx/ops").glob("**/*.def"))
    text = "\n".join(table.read_text(encoding="utf-8") for table in tables)
    names = re.findall(r"^(?:ONNX|HOST)\(ai, (\w+),|^REDUCE\((\w+),", text, re.M)
    return list(dict.fromkeys(a or b for a, b in names if (a or b) != "Name"))


def depth_of(nodes):
    """The longest way through the nodes, bodies counted as one."""
    depths = {}
    for node in nodes:
        deepest = max([depths.get(n, 0) for n in node.input] + [0]) + 1
        depths.update({o: deepest for o in node.output})
    return max(depths.values(), default=0)


def cover(drawn):
    graph, tally = drawn.graph, collections.Counter(drawn.graph.tally)
    tally[f"opset {graph.opset}"] += 1
    tally["judged by " + drawn.judged_by] += 1
    tally["data sets"] += len(drawn.sets)
    levels = [level for data in drawn.sets for level in data.levels]
    tally["outputs held to the interpreter"] += levels.count(HELD)
    tally["outputs not compared"] += levels.count(UNKNOWN)
    tally[f"depth {min(30, depth_of(drawn.model.graph.node) // 5 * 5)}+"] += 1
    for value in graph.root.values:
        if value.is_sequence:
            tally["sequences"] += 1
            continue
        tally["of " + value.dtype] += 1
        tally["empty values"] += value.size == 0
        tally["values of rank 0"] += value.rank == 0
        tally["extents of 1"] += 1 in value.shape
        if value.dtype in FLOATS and value.size:
            wide = value.first.astype("f8")
            tally["values with NaN"] += bool((wide != wide).any())
            tally["values with inf"] += bool((abs(wide) == float("inf")).any())
    opens = {d.dim_param for i in drawn.model.graph.input
             for d in i.type.tensor_type.shape.dim if d.dim_param}
    tally["graphs with open extents"] += bool(opens)
    tally["graphs with functions"] += bool(graph.functions)
    tally["graphs with empty values"] += any(
        not v.is_sequence and v.size == 0 for v in graph.root.values)
    return tally


def try_seed(seed, log):
    try:
        drawn = onnx_models.draw_model(seed)
    except onnx_models.NoModel as error:
        return {"none": str(error)}
    findings, (judged, elements) = onnx_judge.judge(drawn, log)
    return {"findings": findings, "tally": cover(drawn), "judged": judged,
            "elements": elements, "left": drawn.graph.rejections}


class Report:
    def __init__(self, path=None):
        self.tally, self.left = collections.Counter(), collections.Counter()
        self.kinds, self.none = collections.Counter(), collections.Counter()
        self.judged = self.elements = self.graphs = 0
        self.wrong, self.refused = [], []
        self.file = open(path, "w", encoding="utf-8") if path else None

    def take(self, entry):
        if self.file:
            kept = {k: v for k, v in entry.items() if k != "tally"}
            self.file.write(json.dumps(kept) + "\n")
            self.file.flush()
        if "none" in entry:
            self.none[entry["none"][:100]] += 1
            return
        if "crash" in entry:
            if entry["crash"] == "begin":
                self.none["drawing it ends the process"] += 1
                return
            self.wrong.append(entry["seed"])
            print(f"WRONG {entry['seed']}: {entry['crash']}: the process ended with "
                  f"{entry['exit']}", flush=True)
            return
        self.graphs += 1
        self.tally.update(entry["tally"])
        self.left.update({k: v for k, v in entry["left"].items() if ": rejected" not in k})
        self.judged += entry["judged"]
        self.elements += entry["elements"]
        for found in entry["findings"]:
            words = found["node"] or found["words"]
            if found["kind"] == "wrong":
                self.wrong.append(entry["seed"])
                print(f"WRONG {entry['seed']} {found['form']}: {found['words'][:160]}\n"
                      f"      {found['node'][:240]}", flush=True)
            else:
                self.refused.append(entry["seed"])
                reason = re.sub(r"'[^']*'|\d+", "…", words.split(": ", 1)[-1])[:110]
                self.kinds[f"{found['form']}: {found['blame']}: {reason}"] += 1

    def print(self):
        tally = self.tally
        rows = import_rows()
        drawn = [n for n in rows if tally[n]]
        print(f"operators: {len(drawn)} of {len(rows)} rows drawn, "
              f"{sum(tally[n] for n in rows)} nodes")
        print("  " + " ".join(f"{n} {tally[n]}" for n in sorted(drawn)))
        for name in rows:
            if not tally[name]:
                print(f"  never: {name}: {NEVER.get(name, 'not drawn by these seeds')}")
        for title, prefix in (("depths", "depth "), ("nesting", "nested "),
                              ("dtypes", "of "), ("opsets", "opset "),
                              ("values come from", "from "), ("judged", "judged by ")):
            found = sorted((k[len(prefix):], v) for k, v in tally.items()
                           if k.startswith(prefix))
            print(f"{title}: " + ", ".join(f"{k} {v}" for k, v in found))
        for name in ("empty values", "values of rank 0", "extents of 1", "values with NaN",
                     "values with inf", "sequences", "data sets",
                     "graphs with open extents", "graphs with functions",
                     "graphs with empty values", "open results kept",
                     "outputs held to the interpreter", "outputs not compared"):
            print(f"{name}: {tally[name]}")
        print(f"elements judged: {self.judged} of {self.elements}")
        for words, count in self.left.most_common():
            print(f"left open ({count}): {words}")
        for words, count in self.none.most_common(12):
            print(f"no graph ({count}): {words}")
        for words, count in self.kinds.most_common(40):
            print(f"refused ({count}): {words}")
        print(f"{self.graphs} graphs, {len(set(self.refused))} refused in a form, "
              f"{len(set(self.wrong))} wrong")


def show(seed):
    drawn = onnx_models.draw_model(seed)
    print(onnx.printer.to_text(drawn.model))
    print("inputs:", {k: (v.dtype, v.shape) for k, v in drawn.sets[0].inputs.items()})
    for found in onnx_judge.judge(drawn, forms=onnx_judge.FORMS)[0]:
        print(json.dumps(found, indent=1))
    onnx.save(drawn.model, f"/tmp/{seed}.onnx")


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
