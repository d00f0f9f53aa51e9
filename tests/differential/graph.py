"""A random graph while it is drawn: values of every scope, and what they are.

SPDX-License-Identifier: Apache-2.0

Every node is run as it is drawn (chain.py), so that the next one is drawn knowing the
values that it reads.  A node that nobody runs is not taken.  One whose result ONNX leaves
open (open_results.py) is taken by some graphs: what comes of it is marked, and code is held
to the interpreter there.
"""

import collections
import dataclasses
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from chain import FLOATS, VARIANTS, Step, Unjudged, dtype_of, variants_of
from binding import CODES, NUMPY
from open_results import FREE, JUDGED, find_open_result, level_of

EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 33)
MAX_ELEMENTS, MAX_RANK = 4000, 6
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 6e4,
           65504.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e10)
INTS = ("i64", "i32", "i8", "u8", "i16", "u16", "u32", "u64")
DTYPE_WEIGHTS = {"f32": 44, "f64": 8, "f16": 7, "bf16": 5, "i64": 11, "i32": 8, "i8": 3,
                 "u8": 4, "i16": 2, "u16": 2, "u32": 2, "u64": 2, "bool": 5}
TYPE_TEXT = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16",
             "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
             "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
             "bool": "bool"}


class Rejected(Exception):
    """What was drawn does not fit; the draw goes on with something else."""


class Value:
    def __init__(self, name, variants, is_constant=False, level=JUDGED):
        self.name, self.variants, self.is_constant = name, variants, is_constant
        self.level = level  # what it is held to (open_results.py)

    @property
    def first(self):
        return self.variants[0]

    is_open = property(lambda self: self.level != JUDGED)
    is_sequence = property(lambda self: isinstance(self.first, list))
    dtype = property(lambda self: dtype_of(self.first))
    shape = property(lambda self: self.first.shape)
    rank = property(lambda self: self.first.ndim)
    size = property(lambda self: self.first.size)


@dataclasses.dataclass
class Scope:
    values: list = dataclasses.field(default_factory=list)
    nodes: list = dataclasses.field(default_factory=list)
    initializers: list = dataclasses.field(default_factory=list)
    is_closed: bool = False  # a function's body: sees nothing around it
    rounds: tuple = (0, 0, 0.0)  # the most of its nodes


class Graph:
    def __init__(self, seed, opset=None):
        self.seed = seed
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = opset or self.random.choice(
            (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18, 19, 20, 21, 21, 22, 23, 23,
             24, 25))
        self.root = Scope()
        self.scopes = [self.root]
        self.inputs, self.steps, self.functions = [], [], []
        self.count, self.used, self.function_count = 0, [], 0
        self.tally, self.rejections = collections.Counter(), collections.Counter()
        self.style = self.random.choices(
            ("plain", "ints", "special", "mixed"), (45, 20, 15, 20))[0]
        self.empties = self.random.random() < 0.2
        self.has_open_dims = self.random.random() < 0.8
        self.narrow = self.random.random() < 0.25  # keeps to one float dtype otherwise
        self.main_float = self.random.choices(FLOATS, (70, 10, 11, 9))[0]
        self.keeps_open = self.random.random() < 0.35

    # ---- chance ----

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, items):
        return self.random.choice(list(items))

    def between(self, low, high):
        return self.random.randint(low, high)

    # ---- scopes and names ----

    def visible(self):
        seen = []
        for scope in reversed(self.scopes):
            seen = scope.values + seen
            if scope.is_closed:
                break
        return seen

    def fresh(self):
        taken = {v.name for scope in self.scopes for v in scope.values}
        taken |= {o for scope in self.scopes for n in scope.nodes for o in n.output}
        free = [n for n in self.used if n not in taken]
        if len(self.scopes) > 1 and free and self.chance(0.4):
            return self.choice(free)
        self.count += 1
        return f"v{self.count}"

    def close_scope(self):
        scope = self.scopes.pop()
        self.used += [o for n in scope.nodes for o in n.output if o]
        return scope

    # ---- values out of nothing ----

    def extent(self):
        if self.empties and self.chance(0.12):
            return 0
        return self.choice(EXTENTS)

    def draw_shape(self, lowest=0, highest=4):
        rank = self.between(lowest, highest)
        shape = [self.extent() for _ in range(rank)]
        while np.prod(shape, dtype=np.int64) > 800:
            shape[self.random.randrange(rank)] = self.choice((1, 2, 3))
        return tuple(shape)

    def draw_dtype(self, dtypes=None):
        dtypes = list(dtypes or DTYPE_WEIGHTS)
        floats = [d for d in dtypes if d in FLOATS]
        if self.main_float in floats and not self.narrow:
            dtypes = [d for d in dtypes if d not in FLOATS or d == self.main_float]
            weights = [59 if d in FLOATS else DTYPE_WEIGHTS[d] for d in dtypes]
        else:
            weights = [DTYPE_WEIGHTS.get(d, 1) for d in dtypes]
        return self.random.choices(dtypes, weights)[0]

    def draw_array(self, dtype, shape, style=None):
        style = style or (self.choice(("plain", "ints", "special", "unit"))
                          if self.style == "mixed" else self.style)
        numbers, kind = self.numbers, NUMPY[dtype]
        if dtype == "bool":
            return numbers.integers(0, 2, shape).astype(bool)
        if dtype not in FLOATS:
            info = np.iinfo(kind)
            if style == "special":
                array = numbers.integers(info.min, info.max, shape, kind, endpoint=True)
                ends = numbers.choice(np.array([info.min, info.max, 0, 1], kind), shape)
                return np.where(numbers.random(shape) < 0.3, ends, array)
            low = 0 if info.min == 0 else -9
            return numbers.integers(low, 10, shape).astype(kind)
        with np.errstate(all="ignore"):
            if style == "ints":
                return numbers.integers(-8, 9, shape).astype(kind)
            if style == "unit":
                return numbers.random(shape).astype(kind)
            array = numbers.standard_normal(shape) * self.choice((1, 1, 3, 0.3))
            if style == "special":
                ends = numbers.choice(np.array(SPECIAL), shape)
                array = np.where(numbers.random(shape) < 0.35, ends, array)
            return array.astype(kind)

    def put(self, array, how=None):
        """A value of these numbers: input, initializer or Constant."""
        array = np.asarray(array)
        how = how or self.random.choices(("input", "initializer", "node"), (55, 35, 10))[0]
        if self.scopes[-1].is_closed or any(s.is_closed for s in self.scopes):
            how = "node"
        if how == "node":
            name = self.fresh()
            node = helper.make_node("Constant", [], [name],
                                    value=numpy_helper.from_array(array))
            self.scopes[-1].nodes.append(node)
            self.tally["Constant"] += 1
            scope = self.scopes[-1]
        else:
            self.count += 1
            name = f"{'x' if how == 'input' else 'w'}{self.count}"
            scope = self.root if how == "input" or self.chance(0.5) else self.scopes[-1]
            if how == "initializer":
                scope.initializers.append(numpy_helper.from_array(array, name))
        value = Value(name, [array] * (1 + VARIANTS), how != "input")
        scope.values.append(value)
        if how == "input":
            self.inputs.append(value)
        self.tally["from " + how] += 1
        return value

    def make(self, dtype, shape, style=None, how=None):
        return self.put(self.draw_array(dtype, shape, style), how)

    def constant(self, array):
        return self.put(array, self.choice(("initializer", "node")))

    def make_scalar(self, number):
        """Of the number's own dtype."""
        return self.put(np.asarray(number), self.choice(("initializer", "node", "input")))

    def numbers_in(self, numbers, dtype="i64", shape=None):
        """Integers that steer a node: mostly constants."""
        array = np.array(numbers, NUMPY[dtype])
        if shape is not None:
            array = array.reshape(shape)
        how = self.random.choices(("initializer", "node", "input"), (55, 30, 15))[0]
        return self.put(array, how)

    # ---- values that are there ----

    def find(self, dtypes=None, fits=None, lowest=0, highest=MAX_RANK):
        found = [v for v in self.visible() if not v.is_sequence and
                 lowest <= v.rank <= highest and (dtypes is None or v.dtype in dtypes) and
                 (fits is None or fits(v))]
        if not found:
            return None
        return self.choice(found[-5:] if self.chance(0.65) else found)

    def pick(self, dtypes=None, fits=None, lowest=0, highest=5, shape=None, style=None):
        """A value that is there, or a new one of a drawn shape."""
        value = self.find(dtypes, fits, lowest, highest) if self.chance(0.8) else None
        if value is not None:
            return value
        for _ in range(20):
            value_shape = shape() if shape else self.draw_shape(lowest, min(highest, 4))
            dtype = self.draw_dtype(dtypes)
            trial = Value("", [np.zeros(value_shape, NUMPY[dtype])])
            if fits is None or fits(trial):
                return self.make(dtype, value_shape, style)
        raise Rejected("no such value")

    def axis(self, value, extra=0):
        rank = value.rank + extra
        if rank == 0:
            raise Rejected("no axis")
        axis = self.random.randrange(rank)
        return axis - rank if self.chance(0.4) and self.opset >= 11 else axis

    def partner_shape(self, shape):
        """A shape that broadcasts with `shape`."""
        other = [1 if self.chance(0.2) else e for e in shape]
        if self.chance(0.1) and len(shape) < 4:
            other = [self.choice((1, 2))] + other
        elif self.chance(0.35):
            other = other[self.between(0, len(other)):]
        return tuple(other)

    def partner(self, value, style=None, dtype=None):
        def fits(other):
            try:
                result = np.broadcast_shapes(other.shape, value.shape)
            except ValueError:
                return False
            return np.prod(result, dtype=np.int64) <= MAX_ELEMENTS

        found = self.find([dtype or value.dtype], fits) if self.chance(0.6) else None
        return found or self.make(dtype or value.dtype, self.partner_shape(value.shape),
                                  style)

    # ---- nodes ----

    def allowed(self, op, domain="", which=0):
        """The dtypes that input `which` of an operator may have at this opset."""
        try:
            schema = onnx.defs.get_schema(op, self.opset, domain)
        except onnx.defs.SchemaError:
            raise Rejected("not at this opset") from None
        text = set(schema.inputs[min(which, len(schema.inputs) - 1)].types)
        return [d for d, t in TYPE_TEXT.items() if f"tensor({t})" in text]

    def check_types(self, op, inputs):
        if op in ("If", "Loop", "Scan") or op.startswith("Sequence"):
            return
        for index, value in enumerate(inputs):
            if value is not None and not value.is_sequence and index < 8:
                if value.dtype not in self.allowed(op, which=index):
                    raise Rejected("type not allowed")

    def add(self, op, inputs, outputs=1, rounds=(0, 0), domain="", **attributes):
        """The node's values.  `outputs`: how many, or for each whether it is asked for;
        `rounds`: by how many last places inputs are moved, and results; or a function of
        the inputs' arrays that says it."""
        if not domain:
            self.check_types(op, inputs)
        asked = [True] * outputs if isinstance(outputs, int) else outputs
        names = []
        for ask in asked:
            name = self.fresh() if ask else ""
            while name and name in names:
                name = self.fresh()
            names.append(name)
        while names and not names[-1]:
            names.pop()
        node = helper.make_node(op, [v.name if v else "" for v in inputs], names,
                                domain=domain, **attributes)
        step = Step(node, self.opset, [f for f in self.functions if domain])
        known = {}
        for value in self.visible():
            known[value.name] = value
        try:
            values = {n: known[n] for n in step.reads}
        except KeyError as error:
            raise Rejected(f"lost {error}") from None
        constants = [n for n in step.reads
                     if values[n].is_constant and not values[n].is_sequence]
        try:
            firsts = step.open({n: v.first for n, v in values.items()}, constants)
            for first in firsts:
                tensors = first if isinstance(first, list) else [first]
                if any(t.size > MAX_ELEMENTS or t.ndim > MAX_RANK for t in tensors):
                    raise Rejected("too large")
            why = find_open_result(step, [v and v.first for v in inputs], firsts)
            if why:
                self.rejections[f"{op}: {why}"] += 1
                if not self.keeps_open or len(self.scopes) > 1 or why in FREE:
                    raise Rejected(why)
                self.tally["open results kept"] += 1
            step.rounds = rounds if callable(rounds) else lambda *_: rounds
            units = step.rounds(*[v and v.first for v in inputs])
            made = variants_of(step, {n: v.variants for n, v in values.items()},
                               self.numbers, *units)
        except Unjudged as error:
            raise Rejected(str(error)) from None
        scope = self.scopes[-1]
        scope.rounds = tuple(map(max, scope.rounds, (*units, 0.0)))
        self.scopes[-1].nodes.append(node)
        if len(self.scopes) == 1:
            self.steps.append(step)
        level = level_of(step, why, [(v.level, v.variants) for v in values.values()])
        results = [Value(n, v, level=level) for n, v in zip(step.makes, made)]
        self.scopes[-1].values += results
        self.tally[domain + ("::" if domain else "") + op] += 1
        self.tally["judged by " + step.judge] += 1
        by_name = {v.name: v for v in results}
        results = [by_name.get(n) for n in names]
        return results[0] if outputs == 1 else results

    # ---- the model ----

    def type_info(self, value, open_dims=()):
        if value.is_sequence:
            return None
        dims = [f"d{e}" if e in open_dims else e for e in value.shape]
        return helper.make_tensor_value_info(value.name, CODES[value.dtype], dims)
