#!/usr/bin/env python3
"""Operators in other company: code against the interpreter.

SPDX-License-Identifier: Apache-2.0

    decorated.py [CASES] [--layers N] [--seed S] [--only PART] [--jobs J] [--save DIR]

Tries N drawn layers (layers.py) and, in CASES, each folder with a model.onnx and a
test_data_set_0, as ONNX's backend data has them.  Each knows one operator or a few.  Here
its inputs come through transposes, slices, expansions and concatenations, or are
constants, and what it gives goes through elementwise operators with broadcast and
transposed partners, reductions and other views: what fusing and layouts decide, which a
case by itself never asks.  Extents are open or fixed.  The compiled program must give what
the interpreter gives.  Needs numpy, ml_dtypes and onnx; INGOT_BUILD names the build.
"""

import argparse
import pathlib
import random
import sys

sys.dont_write_bytecode = True

import numpy as np
import onnx
from onnx import helper, numpy_helper

from binding import NAMES, OF_CODE, Context, Refused
from layers import LAYERS, OPSET
from workers import run_seeds

OLDEST = 13  # opset from which the operators used here have their present form
FLOATS = (np.float32, np.float64)
CHANCE = ("bernoulli", "random", "dropout", "multinomial")
TOLERANCE = {"f32": 1e-4, "f64": 1e-4}  # of the largest element; sums differ in order


class Left(Exception):
    """A case that cannot be decorated."""


def read_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def read_case(folder):
    """(model, inputs by name, the results that are known)."""
    model = onnx.load(folder / "model.onnx")
    opsets = [o.version for o in model.opset_import if not o.domain]
    if not opsets or max(opsets) < OLDEST:
        raise Left("an old opset")
    if any(value.type.tensor_type.elem_type not in OF_CODE for value in model.graph.output):
        raise Left("a result that is not tried")
    data = folder / "test_data_set_0"
    given = {}
    for index, value in enumerate(model.graph.input):
        try:
            given[value.name] = read_tensor(data / f"input_{index}.pb")
        except Exception as error:  # a sequence, or no data
            raise Left(str(error)) from error
        if given[value.name].dtype not in NAMES:
            raise Left("an element type that is not tried")
    known = {}
    for index, value in enumerate(model.graph.output):
        try:
            known[value.name] = read_tensor(data / f"output_{index}.pb")
        except Exception:
            continue
    return model, given, known


def draw_layer(index, draw):
    """The same of a layer, whose result the interpreter knows."""
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    nodes, given = LAYERS[index % len(LAYERS)](draw, numbers)
    inputs = [helper.make_tensor_value_info(name, onnx_type(array), array.shape)
              for name, array in given.items()]
    output = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph(nodes, "layer", inputs, [output]),
                              opset_imports=[helper.make_opsetid("", OPSET)])
    loaded = Context().load(model.SerializeToString())
    return model, given, {"y": loaded.interpret([given[n] for n in loaded.inputs])[0]}


def onnx_type(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


class Decorator:
    """Adds nodes before and behind a graph, and the inputs that they take."""

    def __init__(self, draw):
        self.draw = draw
        self.numbers = np.random.default_rng(draw.randrange(1 << 30))
        self.before, self.after, self.constants = [], [], []
        self.inputs, self.given = [], {}
        self.is_open = draw.random() < 0.7

    def add_input(self, name, array):
        dims = [f"{name}_{axis}" if self.is_open and self.draw.random() < 0.8 else extent
                for axis, extent in enumerate(array.shape)]
        self.inputs.append(helper.make_tensor_value_info(name, onnx_type(array), dims))
        self.given[name] = np.ascontiguousarray(array)

    def add_constant(self, array, name=None):
        name = name or f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add_list(self, *numbers):
        return self.add_constant(np.array(numbers, np.int64).reshape(-1))

    # ---- ways in: `name` becomes what a node makes of another input ----

    def give_whole(self, name, array):
        self.add_input(name, array)

    def give_constant(self, name, array):
        if self.inputs:  # one input stays one
            self.add_constant(array, name)
        else:
            self.add_input(name, array)

    def give_transposed(self, name, array):
        order = self.draw.sample(range(array.ndim), array.ndim)
        self.before.append(helper.make_node("Transpose", [name + "_in"], [name],
                                            perm=order))
        self.add_input(name + "_in", array.transpose(np.argsort(order)))

    def give_slice(self, name, array):
        room = [(self.draw.randrange(3), self.draw.randrange(3)) for _ in array.shape]
        starts = [front for front, _ in room]
        ends = [front + extent for front, extent in zip(starts, array.shape)]
        self.before.append(helper.make_node(
            "Slice", [name + "_in", self.add_list(*starts), self.add_list(*ends)], [name]))
        self.add_input(name + "_in", np.pad(array, room))

    def give_reversed(self, name, array):
        axis = self.draw.randrange(array.ndim)
        bounds = [self.add_list(n) for n in (-1, -(1 << 40), axis, -1)]
        self.before.append(helper.make_node("Slice", [name + "_in", *bounds], [name]))
        self.add_input(name + "_in", np.flip(array, axis))

    def give_expanded(self, name, array):
        """The first along an axis stands for all: other data, for reals only, and never a
        row that a norm would find to be one number."""
        if array.dtype not in FLOATS or array.ndim < 2:
            return self.give_whole(name, array)
        axis = self.draw.randrange(array.ndim - 1)
        self.before.append(helper.make_node(
            "Expand", [name + "_in", self.add_list(*array.shape)], [name]))
        self.add_input(name + "_in", array.take([0], axis))

    def give_parts(self, name, array):
        axis = self.draw.randrange(array.ndim)
        parts = np.split(array, [self.draw.randrange(array.shape[axis] + 1)], axis)
        names = [f"{name}_in{i}" for i in range(2)]
        self.before.append(helper.make_node("Concat", names, [name], axis=axis))
        for part, array in zip(names, parts):
            self.add_input(part, array)

    def give_sum(self, name, array):
        if array.dtype not in FLOATS:
            return self.give_whole(name, array)
        extents = [1 if self.draw.random() < 0.5 else d for d in array.shape]
        self.before.append(helper.make_node("Add", [name + "_in", name + "_zero"], [name]))
        self.add_input(name + "_in", array)
        self.add_input(name + "_zero", np.zeros(extents, array.dtype))

    def give_reshaped(self, name, array):
        shape = (-1,) if self.draw.random() < 0.5 else (1, *array.shape)
        self.before.append(helper.make_node(
            "Reshape", [name + "_in", self.add_list(*array.shape)], [name]))
        self.add_input(name + "_in", array.reshape(shape))

    def give(self, name, array):
        if name.isupper() and self.draw.random() < 0.8:
            return self.add_constant(array, name)
        ways = [self.give_whole, self.give_constant, self.give_constant]
        if array.ndim and array.size:
            ways += [self.give_transposed, self.give_slice, self.give_reversed,
                     self.give_expanded, self.give_parts, self.give_sum,
                     self.give_reshaped]
        self.draw.choice(ways)(name, array)

    # ---- ways on: each returns the shape of `new`, made of `x` ----

    def partner(self, new, x, shape, dtype):
        extents = [1 if self.draw.random() < 0.35 else d for d in shape]
        extents = extents[min(self.draw.choice([0, 0, 0, 1, 2]), len(extents)):]
        array = self.numbers.uniform(0.5, 2, extents).astype(dtype)
        name = new + "_with"
        if not extents or self.draw.random() < 0.6:
            self.add_input(name, array)
            return name
        order = self.draw.sample(range(array.ndim), array.ndim)
        self.after.append(helper.make_node("Transpose", [name + "_in"], [name],
                                           perm=order))
        self.add_input(name + "_in", array.transpose(np.argsort(order)))
        return name

    def go_pair(self, new, x, shape, dtype):
        pair = [x, self.partner(new, x, shape, dtype)]
        self.draw.shuffle(pair)
        op = self.draw.choice(["Add", "Mul", "Sub", "Max", "Min"])
        self.after.append(helper.make_node(op, pair, [new]))
        return shape

    def go_choice(self, new, x, shape, dtype):
        other = self.partner(new, x, shape, dtype)
        self.after.append(helper.make_node("Greater", [x, other], [new + "_is"]))
        self.after.append(helper.make_node("Where", [new + "_is", x, other], [new]))
        return shape

    def go_map(self, new, x, shape, dtype):
        op = self.draw.choice(["Relu", "Neg", "Abs", "Tanh", "Sigmoid"])
        self.after.append(helper.make_node(op, [x], [new]))
        return shape

    def go_transposed(self, new, x, shape, dtype):
        order = self.draw.sample(range(len(shape)), len(shape))
        self.after.append(helper.make_node("Transpose", [x], [new], perm=order))
        return tuple(shape[axis] for axis in order)

    def go_slice(self, new, x, shape, dtype):
        axis = self.draw.randrange(len(shape))
        start, step = self.draw.randrange(shape[axis] + 1), self.draw.choice([1, 1, 2])
        bounds = [self.add_list(n) for n in (start, shape[axis], axis, step)]
        self.after.append(helper.make_node("Slice", [x, *bounds], [new]))
        extent = len(range(start, shape[axis], step))
        return shape[:axis] + (extent,) + shape[axis + 1:]

    def go_concat(self, new, x, shape, dtype):
        axis = self.draw.randrange(len(shape))
        extent = self.draw.randrange(4)
        other = shape[:axis] + (extent,) + shape[axis + 1:]
        self.add_input(new + "_with", self.numbers.uniform(-1, 1, other).astype(dtype))
        pair = [x, new + "_with"]
        self.draw.shuffle(pair)
        self.after.append(helper.make_node("Concat", pair, [new], axis=axis))
        return shape[:axis] + (shape[axis] + extent,) + shape[axis + 1:]

    def go_sum(self, new, x, shape, dtype):
        axis, keep = self.draw.randrange(len(shape)), self.draw.randrange(2)
        self.after.append(helper.make_node("ReduceSum", [x, self.add_list(axis)], [new],
                                           keepdims=keep))
        return shape[:axis] + (1,) * keep + shape[axis + 1:]

    def go_flat(self, new, x, shape, dtype):
        self.after.append(helper.make_node("Reshape", [x, self.add_list(-1)], [new]))
        return (int(np.prod(shape)),)

    def go_softmax(self, new, x, shape, dtype):
        axis = self.draw.randrange(len(shape))
        self.after.append(helper.make_node("Softmax", [x], [new], axis=axis))
        return shape

    def go_on(self, value, known):
        """The last value of some steps on `value`, as a result of the graph."""
        x, shape = value.name, known.shape
        for index in range(self.draw.randrange(1, 4)):
            ways = [self.go_pair, self.go_pair, self.go_pair, self.go_choice, self.go_map]
            if shape:
                ways += [self.go_transposed, self.go_slice, self.go_concat, self.go_sum,
                         self.go_softmax]
            if shape and 0 not in shape:
                ways.append(self.go_flat)
            new = f"{value.name}_{index}"
            shape = self.draw.choice(ways)(new, x, shape, known.dtype)
            x = new
        return helper.make_tensor_value_info(x, onnx_type(known), [None] * len(shape))


def decorate(model, given, known, draw):
    """(the bytes of a model, its inputs by name)."""
    graph, decorator = model.graph, Decorator(draw)
    for name, array in given.items():
        decorator.give(name, array)
    results = []
    for value in graph.output:
        array = known.get(value.name)
        is_plain = array is None or array.dtype not in FLOATS or not value.name
        if is_plain or draw.random() < 0.2:
            results.append(value)
        if not is_plain:
            results.append(decorator.go_on(value, array))
    nodes = [*decorator.before, *graph.node, *decorator.after]
    for field, items in ((graph.node, nodes), (graph.input, decorator.inputs),
                         (graph.output, [onnx.ValueInfoProto.FromString(
                             r.SerializeToString()) for r in results])):
        del field[:]
        field.extend(items)
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    graph.initializer.extend(decorator.constants)
    return model.SerializeToString(), decorator.given


# ---- judging ----


def attempt(call):
    try:
        return call()
    except Refused as error:
        return error


def find_off(names, wanted, made):
    """Words for the first difference, or None."""
    if isinstance(wanted, Refused) or isinstance(made, Refused):
        both = isinstance(wanted, Refused) and isinstance(made, Refused)
        return None if both else f"only one refuses: {wanted} | {made}"[:300]
    for name, want, got in zip(names, wanted, made):
        if want.shape != got.shape or want.dtype != got.dtype:
            return f"{name}: {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
        if want.dtype.kind in "iub":
            if (want != got).any():
                return f"{name}: integers differ"
            continue
        wide, tolerance = want.astype("f8"), TOLERANCE.get(NAMES[want.dtype], 2e-3)
        finite = np.abs(wide[np.isfinite(wide)])
        largest = float(finite.max()) if finite.size else 1.0
        if not np.allclose(got.astype("f8"), wide, rtol=tolerance,
                           atol=tolerance * min(largest, 1e3), equal_nan=True):
            return f"{name}: reals differ"
    return None


def judge(content, given, log, seed):
    """(kind, words): kind is good, refused, or wrong."""
    context = Context()
    try:
        log.stage(seed, "import")
        model = context.load(content)
        arrays = [given[name] for name in model.inputs]
        log.stage(seed, "interpret")
        wanted = attempt(lambda: model.interpret(arrays))
        log.stage(seed, "compile")
        program = model.compile()
    except Refused as error:
        return "refused", str(error)
    log.stage(seed, "run")
    for _ in range(2):
        made = attempt(lambda: program.run(arrays))
    off = find_off(model.outputs, wanted, made)
    program.close()
    return ("wrong", off) if off else ("good", "")


def name_of(case):
    if isinstance(case, int):
        return f"{LAYERS[case % len(LAYERS)].__name__[5:]}{case}"
    return case.name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=pathlib.Path, nargs="?")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=pathlib.Path, help="keeps what is wrong")
    options = parser.parse_args()
    cases = [index for index in range(options.layers)
             if options.only in LAYERS[index % len(LAYERS)].__name__]
    if options.cases:
        cases += sorted(path.parent for path in options.cases.rglob("model.onnx")
                        if options.only in path.parent.name and
                        not any(word in path.parent.name for word in CHANCE))
    counts = {"good": 0, "refused": 0, "wrong": 0, "left": 0}

    def draw_case(index):
        draw = random.Random(f"{options.seed} {name_of(cases[index])}")
        case = cases[index]
        known = (draw_layer(case, draw) if isinstance(case, int) else read_case(case))
        return decorate(*known, draw)

    def try_case(index, log):
        try:
            content, given = draw_case(index)
        except Left as reason:
            return {"kind": "left", "words": str(reason)}
        kind, words = judge(content, given, log, index)
        return {"kind": kind, "words": words}

    def take(entry):
        crashed = "crash" in entry
        kind = "wrong" if crashed else entry["kind"]
        counts[kind] += 1
        if kind != "wrong":
            return
        name = name_of(cases[entry["seed"]])
        words = f"{entry['crash']}: exit {entry['exit']}" if crashed else entry["words"]
        print(f"WRONG {name}: {words}", flush=True)
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            content, given = draw_case(entry["seed"])
            (options.save / f"{options.seed}-{name}.onnx").write_bytes(content)
            np.savez(options.save / f"{options.seed}-{name}.npz", **given)

    run_seeds(try_case, list(range(len(cases))), options.jobs, take)
    print(f"{counts['good']} cases agree, {counts['refused']} are refused, "
          f"{counts['left']} cannot be decorated, {counts['wrong']} wrong")
    return 1 if counts["wrong"] else 0


sys.exit(main())
