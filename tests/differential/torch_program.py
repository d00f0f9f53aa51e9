"""A random torch program while it is drawn: its lines, and what every variable holds.

SPDX-License-Identifier: Apache-2.0

Each line is run as it is drawn, so that the next one is drawn knowing shapes and values;
a line that torch refuses is not taken.  Bodies of branches and loops are drawn over a copy
of everything, in which tensors that shared memory still do, and then run as a whole.
"""

import copy
import math
import random
import warnings

import torch

warnings.filterwarnings("ignore")

DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64,
          "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
          "bool": torch.bool, "f16": torch.float16, "bf16": torch.bfloat16}
NAMES = {v: k for k, v in DTYPES.items()}
WEIGHTS = {"f32": 45, "f64": 10, "i64": 18, "i32": 6, "bool": 6, "u8": 3, "i8": 2, "i16": 2,
           "f16": 3, "bf16": 3}
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 8)
MAX_ELEMENTS, MAX_RANK = 3000, 5
TENSOR, INT, FLOAT, BOOL, TENSORS, INTS, DICT = "T int float bool List[T] List[int] Dict".split()
HIDDEN = {"torch", "F", "math", "__builtins__"}  # of what lines see: no variables


class Rejected(Exception):
    """The line does not fit; the draw goes on with another."""


class State:
    """Attributes of the module: what `self` is while lines are drawn."""


def kind_of(value):
    if isinstance(value, torch.Tensor):
        return TENSOR
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, list) and value:
        return TENSORS if isinstance(value[0], torch.Tensor) else INTS
    if isinstance(value, dict):
        return DICT
    return None


class Program:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)
        self.lines, self.indent, self.count = [], 2, 0
        self.env = {"torch": torch, "F": torch.nn.functional, "math": math,
                    "self": State()}
        self.args, self.attributes, self.tally = [], {}, {}
        self.early = None  # (line, its text, what it may return) of a return in the middle
        self.is_exact, self.depth = True, 0
        self.has_empty = self.chance(0.15)
        self.has_ints = self.chance(0.5)  # reals are small whole numbers: exact
        self.kinds = list(WEIGHTS)
        self.has_ends = self.chance(0.1)  # of integers
        if self.chance(0.15):  # halves, that meet Python's numbers
            self.kinds = ["f16", "bf16", "i64"]
        elif self.chance(0.5):  # few dtypes, so that lines fit
            self.kinds = self.random.sample(self.kinds, 3) + ["f32"]

    # ---- chance ----

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, items):
        return self.random.choice(list(items))

    def between(self, low, high):
        return self.random.randint(low, high)

    def extent(self):
        return 0 if self.has_empty and self.chance(0.15) else self.choice(EXTENTS)

    def shape(self, lowest=0, highest=3):
        return [self.extent() for _ in range(self.between(lowest, highest))]

    def dtype(self, kinds=None):
        kinds = list(kinds or self.kinds)
        return self.random.choices(kinds, [WEIGHTS[k] for k in kinds])[0]

    def array(self, dtype, shape):
        kind = DTYPES[dtype]
        if dtype == "bool":
            return torch.randint(0, 2, shape, generator=self.torch).bool()
        if not kind.is_floating_point:
            low = 0 if dtype == "u8" else -6
            values = torch.randint(low, 9, shape, generator=self.torch).to(kind)
            return self.with_ends(values) if self.has_ends else values
        if self.has_ints:
            return torch.randint(-4, 5, shape, generator=self.torch).to(kind)
        values = torch.randn(shape, generator=self.torch, dtype=torch.float64)
        if self.chance(0.08) and values.numel():
            position = self.random.randrange(values.numel())
            values.view(-1)[position] = self.choice((math.nan, math.inf, -math.inf, -0.0))
        return values.to(kind)

    def with_ends(self, values):
        info = torch.iinfo(values.dtype)
        ends = torch.tensor([info.min, info.min + 1, info.max, info.max - 1], dtype=values.dtype)
        chosen = torch.randint(0, 4, values.shape, generator=self.torch)
        is_end = torch.rand(values.shape, generator=self.torch) < 0.3
        return torch.where(is_end, ends[chosen], values)

    # ---- arguments and attributes ----

    def add_argument(self, value):
        name = f"x{len(self.args)}"
        self.args.append((name, kind_of(value), value))
        self.env[name] = copy.deepcopy(value)
        return name

    def add_attribute(self, value):
        name = f"a{len(self.attributes)}"
        self.attributes[name] = copy.deepcopy(value)
        setattr(self.env["self"], name, value)
        return "self." + name

    # ---- variables ----

    def names(self, kind, fits=None):
        found = []
        for name, value in list(self.env.items()):
            if kind_of(value) == kind and (fits is None or fits(value)):
                found.append(name)
        for name in self.attributes:
            value = getattr(self.env["self"], name)
            if kind_of(value) == kind and (fits is None or fits(value)):
                found.append("self." + name)
        return found

    def value(self, name):
        return eval(name, self.env)

    def pick(self, kind=TENSOR, fits=None):
        found = self.names(kind, fits)
        if not found:
            raise Rejected
        return self.choice(found[-4:] if self.chance(0.55) else found)

    def tensor(self, fits=None, floats=False, ints=False):
        def good(value):
            if floats and not value.is_floating_point():
                return False
            if ints and (value.is_floating_point() or value.dtype == torch.bool):
                return False
            return fits is None or fits(value)

        return self.pick(TENSOR, good)

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def number(self, low=-4, high=5):
        """An int in the program's text: a variable or a literal."""
        names = self.names(INT, lambda v: low <= v <= high)
        if names and self.chance(0.4):
            return self.choice(names)
        return str(self.between(low, high))

    def scalar(self):
        """A number of Python, of either kind."""
        names = self.names(INT, lambda v: abs(v) < 20) + self.names(
            FLOAT, lambda v: abs(v) < 20)
        if names and self.chance(0.4):
            return self.choice(names)
        if self.chance(0.5):
            return str(self.between(-4, 5))
        rounded = () if self.has_ints else (0.1, -0.3, 1e-3, 1.7)  # no half holds these
        return str(self.choice((0.5, 2.0, -1.5, 0.25, 3.0) + rounded))

    def axis(self, name):
        rank = self.value(name).dim()
        if not rank:
            raise Rejected
        return self.between(-rank, rank - 1)

    # ---- lines ----

    def run(self, text, env=None):
        """Runs a line over the variables; raises Rejected where torch refuses it."""
        env = self.env if env is None else env
        try:
            exec(text, env)
        except Exception:
            raise Rejected from None
        for value in [v for n, v in env.items() if n not in HIDDEN]:
            if isinstance(value, torch.Tensor) and (
                    value.numel() > MAX_ELEMENTS or value.dim() > MAX_RANK or
                    value.is_complex() or value.dtype not in NAMES):
                raise Rejected
            if isinstance(value, (int, float)) and not isinstance(value, bool) and (
                    not math.isfinite(value) or abs(value) > 1e6):
                raise Rejected
            if isinstance(value, (list, dict)) and len(value) > 12:
                raise Rejected

    def keep(self):
        """Lines may fail half way: everything as it is now."""
        return copy.deepcopy({k: v for k, v in self.env.items() if k not in HIDDEN})

    def restore(self, kept):
        for name in [n for n in self.env if n not in HIDDEN]:
            del self.env[name]
        self.env.update(kept)

    def line(self, text, row, exact=True):
        """Takes the line, when torch does."""
        kept = self.keep()
        try:
            self.run(text)
        except Rejected:
            self.restore(kept)
            raise
        self.lines += ["    " * self.indent + part for part in text.split("\n")]
        self.tally[row] = self.tally.get(row, 0) + 1
        self.is_exact = self.is_exact and exact

    def make(self, expression, row, exact=True):
        """A new variable, or now and then an old one of the same kind."""
        name = self.fresh()
        text = expression
        if self.depth and self.chance(0.5):
            kept = self.keep()
            try:
                self.run(f"{name} = {text}")
                kind = kind_of(self.env[name])
            finally:
                self.restore(kept)
            old = [n for n in self.names(kind) if not n.startswith("self.")]
            if old:
                name = self.choice(old)
        self.line(f"{name} = {text}", row, exact)
        return name

    # ---- the text ----

    def outputs(self):
        names = [n for n in self.env if kind_of(self.env[n]) in (TENSOR, INT, FLOAT, BOOL)
                 and n[0] in "vx"]
        made = [n for n in names if n[0] == "v"]
        chosen = self.random.sample(made, min(len(made), self.between(1, 5)))
        if made and made[-1] not in chosen:
            chosen.append(made[-1])
        if self.chance(0.3):
            chosen += [n for n in names if n[0] == "x"][:1]
        chosen += ["self." + n for n in self.attributes if self.chance(0.5) and kind_of(
            getattr(self.env["self"], n)) in (TENSOR, INT)]
        if not chosen:
            raise Rejected
        return chosen

    def note_return(self, test):
        """A place where the program may end early, with what is there by then."""
        self.early = (len(self.lines), test, {n: kind_of(self.value(n)) for n in self.env
                                              if n[0] in "vx"})

    def early_return(self, kinds, bracket):
        """The lines of it, or none where there are no results of these kinds."""
        if self.early is None:
            return []
        _, test, names = self.early
        found = [[n for n, k in names.items() if k == kind] for kind in kinds]
        if not all(found):
            return []
        self.tally["early return"] = 1
        return [f"        if {test}:", "            return " + bracket([
            self.choice(f) for f in found])]

    def source(self):
        types = {TENSOR: "torch.Tensor", INT: "int", FLOAT: "float", BOOL: "bool"}
        self.chosen = self.outputs()
        kinds = [kind_of(self.value(n)) for n in self.chosen]
        self.container = "tuple"
        if set(kinds) == {TENSOR} and self.chance(0.25):
            self.container = self.choice(("list", "dict"))
        bracket, result = {
            "tuple": (lambda names: f"({', '.join(names)},)",
                      f"Tuple[{', '.join(types[k] for k in kinds)}]"),
            "list": (lambda names: f"[{', '.join(names)}]", "List[torch.Tensor]"),
            "dict": (lambda names: "{" + ", ".join(
                f"'r{i}': {n}" for i, n in enumerate(names)) + "}", "Dict[str, torch.Tensor]"),
        }[self.container]
        self.tally["result " + self.container] = 1
        arguments = ", ".join(f"{n}: {types[k]}" for n, k, _ in self.args)
        lines, early = list(self.lines), self.early_return(kinds, bracket)
        if early:
            lines[self.early[0]:self.early[0]] = early
        return "\n".join([f"    def forward(self, {arguments}) -> {result}:"] + lines +
                         [f"        return {bracket(self.chosen)}"])
