#!/usr/bin/env python3
"""Random plain Python in torch.packages: Ingot against CPython.

SPDX-License-Identifier: Apache-2.0

    python_random.py [--count N] [--seed S] [--jobs J] [--keep DIR] [--show SEED]

Draws N nets whose dicts, lists, sets, tuples, texts and attributes change under an `if`
that the run decides, in loops, in helpers, and that look at them in every way.  Each is
a package with CPython's values, which Ingot interprets, and every tenth it compiles.
Right, refused (status 4) and wrong ones are counted, and what is neither right nor
refused is printed and fails the run.  Needs torch and numpy; INGOT_BUILD names the build.
"""

import argparse
import collections
import copy
import importlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "models" / "gen"))

import torch
from torch.package import PackageExporter
from values_json import write_set

torch.set_num_threads(1)
KEYS = ('"a"', '"b"', '"c"', "1", "2")
HEAD = "import torch\nimport torch.nn as nn\n\n"
FUNCTIONS = '''
def named(a=1, b=2, c=3, **more):
    return a * 2 + b * 3 + c * 5 + len(more)


def many(*items, last=1):
    return sum(items) * 2 + len(items) + last


class Box:
    def __init__(self):
        self.items = {}
        self.count = 0

'''


class Drawer:
    """A function's names: td dict of tensors, nd dict of numbers by text, kd by any key,
    tl list of tensors, nl of numbers, tp a tuple, st a set, w a text, m a tensor or
    None, box an object, deep a dict of containers."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.left = self.r.randint(4, 14)
        self.fresh = 0

    def pick(self, *texts):
        return self.r.choice(texts)

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def key(self):
        return self.r.choice(KEYS)

    def text(self):
        return self.pick('"a"', '"b"', '"c"')

    def number(self):
        return str(self.r.randint(0, 4))

    def tensor(self):
        return self.pick("x", "y", "x * 2", "x + 1", "x - y", "y * 0.5", "x[0] + x")

    def run(self):
        return self.pick("x.sum() > 0", f"x[{self.r.randint(0, 2)}] > {self.number()} - 2",
                         "y.mean() < 1", "x.max() > x[0]", "bool(y[1] > x[1])",
                         "x[0] > 0 and x[1] > 0", "x[1] < 0 or x.sum() > 1")

    def look(self):
        """A condition over containers."""
        k, t, n = self.key(), self.text(), self.number()
        return self.pick(f"{t} in td", f"{k} in kd", f"{t} not in nd", "td", "not kd", "tl",
                         f"len(nl) > {n}", f"len(kd) == {n}", f"{n} in nl", f"{n} in st",
                         f"nl == [1, {n}]", f"nd == {{{t}: {n}}}", f"tp == (1, {n})",
                         'w == "ab"', '"b" in w', "m is None", "m is not None",
                         'hasattr(box, "extra")', f"{t} in box.items", "box.items",
                         f"st == {{1, {n}}}", f'"p" in deep["in"]', 'len(deep["list"]) > 1',
                         f"{t} in td.keys()", f"nd.get({t}) == {n}", f"nd.get({t}, 0) > 1",
                         f"any(v > 1 for v in nl)", "sorted(nl) == nl", "nl and nl[0] > 1",
                         f"len(set(nl)) == {n}", f"nl.count({n}) > 0", "len(tp) > len(st)",
                         f"getattr(box, 'extra', None) is None", "isinstance(m, torch.Tensor)")

    def change(self):
        k, t, n, v = self.key(), self.text(), self.number(), self.tensor()
        p = self.r.randint(0, 2)
        return self.pick(
            f"td[{t}] = {v}", f"td[{t}] = {v}", f"kd[{k}] = {n}", f"nd[{t}] = {n}",
            f"td.pop({t}, None)", f"kd.pop({k}, 0)", f"td.update({{{t}: {v}}})",
            f"nd.update(b={n})", f"nd.setdefault({t}, {n})", f"td.setdefault({t}, {v})",
            f"tl.append({v})", f"nl.append({n})", f"nl.extend([{n}, 1])", f"nl.insert({p}, {n})",
            "nl.reverse()", "nl.clear()", f"nl += [{n}]", f"nl = nl + [{n}]", f"nl = [{n}] * 2",
            f"tp = tp + ({n},)", f"tp = (1, {n})", f"st.add({n})", f"st.discard({n})",
            'w += "b"', f"w = w + {t}", f"m = {v}", "m = None", f"box.extra = {v}",
            f"box.items[{t}] = {n}", "box.count += 1", f"td = {{**td, {t}: {v}}}",
            f"nd = nd | {{{t}: {n}}}", "nd = dict(nd)", f"kd = {{k: v for k, v in kd.items() if k != {k}}}",
            f'deep["in"]["p"] = {n}', 'deep["list"].append(1)', f'deep["in"] = {{"q": {n}}}',
            f"nl = [v for v in nl if v != {n}]", "nl = sorted(nl)", f"nd.clear()",
            f"st = st | {{{n}}}", f"tl = tl[:1]", f"tl = [{v}] + tl", "nl = list(kd.values())",
            f"y = y + {n}", f"y = y * 0.5 + {v}", f"td, m = {{}}, {v}", f"kd[{k}], n = {n}, 2",
            "td = td.copy()", f"nl[len(nl):] == [] and nl.append({n})", "box = Box()",
            f"tl = [{v} for _ in range({p})]", f"nd = dict(zip(('a', 'b'), nl))",
            f"nd |= {{{t}: {n}}}")

    def use(self):
        k, t, n, v = self.key(), self.text(), self.number(), self.tensor()
        a = self.name()
        return self.pick(
            "y = y + len(td)", "y = y + len(kd) * 2 + len(nl)", f"y = y + td.get({t}, x)",
            f"y = y + kd.get({k}, {n})", f"y = y + (1 if {self.look()} else -1)",
            f"y = y * 2 if {self.look()} else y", "y = y + named(**nd)", "y = y + many(*nl)",
            f"y = y + many(*tp, last={n})", "y = y + sum(nl)", "y = y + sum(kd.values())",
            f"for {a} in td:\n    y = y * 0.5 + td[{a}]", f"for {a} in nl:\n    y = y + {a}",
            f"for {a}, u in kd.items():\n    y = y + u", f"y = y + len(w) + len(st)",
            f"{a}, *u = tp\ny = y + {a} + len(u)", "y = y + (0 if m is None else m)",
            f"y = y + getattr(box, 'extra', x)", "y = y + box.count + len(box.items)",
            f"y = y + sum(v.sum() for v in tl)", f"y = y + (m if m is not None else {v})",
            f"y = y + len([v for v in nl if v > {n}])", f"y = y + (nl or [{n}])[0]",
            f"y = y + (nd or {{'a': {n}}}).get('a', 2)", f"y = y + len(nd | {{'z': 1}})",
            f"y = y + (nd[{t}] if {t} in nd else 7)", "y = y + max(nl + [1]) + min(tp)",
            f"if {t} in td:\n    y = y + td[{t}]", f"if tl:\n    y = y - tl[-1]",
            f"if tl:\n    y = y + torch.stack(tl).sum(0)", "y = y + len(tp) * 3",
            f"y = y + sum(deep['in'].values()) + len(deep['list'])",
            f"for i, {a} in enumerate(sorted(nl)):\n    y = y + i * {a}",
            f"y = y + len(list(td)) + len(tuple(nl))", "y = y + (3 if td.keys() == {'a'} else 5)",
            f"y = y + float(len(nl) > 1) + int({t} in nd)", "y = y + many(*st)",
            f"y = y + (nl[-1] if len(nl) > 1 else {n})", "y = y + many(*[k for k in nl if k], last=0)")

    def block(self, depth, in_loop=False):
        lines = []
        for _ in range(self.r.randint(1, 3)):
            lines += self.statement(depth, in_loop)
        return ["    " + line for line in lines]

    def statement(self, depth, in_loop=False):
        self.left -= 1
        roll = self.r.random()
        if depth >= 3 or self.left <= 0:
            roll *= 0.6
        if roll < 0.34:
            return self.change().split("\n")
        if roll < 0.6:
            return self.use().split("\n")
        if roll < 0.84:
            test = self.run() if self.r.random() < 0.75 else self.look()
            lines = [f"if {test}:"] + self.block(depth + 1, in_loop)
            if self.r.random() < 0.15:
                lines += [f"elif {self.run()}:"] + self.block(depth + 1, in_loop)
            if self.r.random() < 0.4:
                lines += ["else:"] + self.block(depth + 1, in_loop)
            return lines
        if roll < 0.92:
            lines = [f"for {self.name()} in range({self.r.randint(1, 3)}):"]
            lines += self.block(depth + 1, True)
            if self.r.random() < 0.2:
                lines += [f"    if {self.r.choice((self.run(), self.look()))}:",
                          "        " + self.pick("break", "continue")]
            return lines
        if roll < 0.95:
            return [f"while len(nl) < {self.number()}:", f"    nl.append({self.number()})"]
        call = self.pick("helper", "self.method")
        return [f"y = {call}(x, y, td, nl, kd, box)"]

    def function(self, first, tail):
        drawer = self
        lines = drawer.block(1)
        while drawer.left > 0 and first.startswith("def forward"):
            lines += drawer.block(1)
        return [first] + lines + ["    " + line for line in tail]

    def source(self, name):
        start = ["st, tp, w, m, nd = {1}, (1,), \"a\", None, {}", "deep = {\"in\": {}, \"list\": []}",
                 "tl, n = [], 0"]
        saved = self.left
        self.left = 4
        helper = self.function("def helper(x, y, td, nl, kd, box):",
                               [self.pick("return y", "return y + len(td)", "return y * 2")])
        self.left = 4
        method = self.function("def method(self, x, y, td, nl, kd, box):", ["return y"])
        helper[1:1] = ["    " + s for s in start]
        method[1:1] = ["    " + s for s in start]
        # a helper calls no other
        helper[1:] = [re.sub(r"(helper|self\.method)\(.*\)", "y + 1", s) for s in helper[1:]]
        method[1:] = [re.sub(r"self\.method\(.*\)", "y + 2", s) for s in method[1:]]
        self.left = saved
        forward = self.function("def forward(self, x):", [
            "return y, len(nl)" if self.r.random() < 0.2 else "return y"])
        forward[1:1] = ["    " + s for s in start + [
            "y, td, nl, kd, box = x, {\"a\": x}, [1], {}, Box()"]]
        lines = [HEAD.rstrip(), FUNCTIONS, *helper, "", "", f"class {name}(nn.Module):"]
        for body in (method, forward):
            lines += ["    " + s for s in body] + [""]
        return "\n".join(lines)


INPUTS = [[1.5, 2.0, 0.5], [-1.5, -2.0, -3.0], [2.0, -4.0, 1.2], [-0.5, 3.0, -1.1],
          [0.2, 0.1, -0.1]]


def write_case(folder, seed):
    """Writes a case; its source, or None where CPython raises whatever it is given."""
    module_name = f"drawn{seed}"
    source = Drawer(seed).source("Net")
    sources = folder / "src"
    sources.mkdir(exist_ok=True)
    (sources / f"{module_name}.py").write_text(source)
    importlib.invalidate_caches()
    module = importlib.import_module(module_name)
    net = module.Net().eval()
    sets = []
    for values in INPUTS:
        given = torch.tensor(values)
        try:
            sets.append((given, copy.deepcopy(net)(given.clone())))
        except Exception:  # what raises for one input may be right for another
            continue
    sets = [s for s in sets if all(torch.as_tensor(v).isfinite().all() for v in
                                   (s[1] if isinstance(s[1], tuple) else (s[1],)))]
    if not sets:
        return None
    case = folder / module_name
    case.mkdir()
    with PackageExporter(str(case / "package.pt")) as exporter:
        exporter.intern(module_name)
        exporter.extern("**")
        exporter.save_pickle("model", "model.pkl", net)
    for index, (given, result) in enumerate(sets):
        write_set(case / f"test_data_set_{index}", (given,), result)
    (case / "case.json").write_text(json.dumps(
        {"name": module_name, "load": {"package": "model", "resource": "model.pkl"},
         "tolerance": {"rtol": 1e-4, "atol": 1e-4}}))
    del sys.modules[module_name]
    return case


def judge(ingot, case, compiles):
    """'right', 'refused: words' or 'wrong: words'."""
    command = [ingot, "verify", "-q", *([] if compiles else ["-t", "interpret"]), str(case)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "wrong: takes over 300 s"
    if ran.returncode == 0:
        return "right"
    words = next((s for s in (ran.stdout + ran.stderr).split("\n") if s.startswith("FAIL")),
                 f"status {ran.returncode}")
    if ran.returncode < 0 or ": import: " not in words:
        return f"wrong: {words} (status {ran.returncode})"
    read = subprocess.run([ingot, "dump", "-q", "--stage", "import", "--resource",
                           "model/model.pkl", "--input", "x=f32[3]", str(case / "package.pt")],
                          capture_output=True, text=True, timeout=300)
    kind = "refused" if read.returncode == 4 else f"wrong (status {read.returncode})"
    text = re.sub(r"^.*?forward'|^.*?: in '[^']*'", "", words)
    return f"{kind}: {text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--show", type=int)
    args = parser.parse_args()
    if args.show is not None:
        print(Drawer(args.show).source("Net"))
        return 0
    build = os.environ.get("INGOT_BUILD", str(here.parent.parent / "build" / "release"))
    ingot = str(pathlib.Path(build) / "ingot")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(exist_ok=True)
        os.environ.setdefault("INGOT_CACHE_DIR", str(folder / "cache"))
        sys.path.insert(0, str(folder / "src"))
        cases, seed = [], args.seed
        while len(cases) < args.count:
            case = write_case(folder, seed)
            if case:
                cases.append((case, len(cases) % 10 == 0))
            seed += 1
        with ThreadPoolExecutor(args.jobs) as pool:
            verdicts = list(pool.map(lambda c: judge(ingot, *c), cases))
    count = collections.Counter(v.split(":")[0].split(" ")[0] for v in verdicts)
    why = collections.Counter(re.sub(r"\d+", "N", v) for v in verdicts if v.startswith("refused"))
    for words, times in why.most_common(12):
        print(f"  {times:5} {words[:180]}")
    for (case, _), verdict in zip(cases, verdicts):
        if verdict.startswith("wrong"):
            print(f"FAIL {case.name}: {verdict}")
    print(f"{count['right']} right, {count['refused']} refused, {count['wrong']} wrong "
          f"of {len(cases)} drawn (seeds {args.seed} to {seed - 1})")
    is_good = count["wrong"] == 0 and 2 * count["right"] >= len(cases)
    return 0 if is_good else 1


sys.exit(main())
