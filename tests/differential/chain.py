"""Values of a graph, node by node, as ONNX Runtime gives them, and how far they may move.

SPDX-License-Identifier: Apache-2.0

Each value is known in several variants: the first is what ONNX Runtime gives, the others
are what it would give if every result that is rounded had been rounded otherwise.  How
far the variants lie apart is how far another right program may be off; where they
disagree about an integer, a shape or a NaN, nothing is judged.

A node is run by itself, with optimisations off.  Where ONNX Runtime lacks a node's type,
narrow floats are widened to f32 for it, doubles are narrowed to f32 and judged as f32s, a
function is run node by node, and all else is run by ONNX's own evaluator.
"""

import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from binding import CODES, NAMES, NUMPY

warnings.filterwarnings("ignore")
onnxruntime.set_default_logger_severity(4)

VARIANTS = 6
# Operands where 0 is a pole, or the end of what is defined; those of Tan are others.
POLES = {"Div": 1, "Reciprocal": 0, "Log": 0, "Sqrt": 0, "Mod": 1, "Pow": 0, "Tan": 0}
FACTOR = 6  # times the distance of the variants
UNIT = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}
F32_UNITS = 2**29  # in the last place of a double, of one of an f32
FLOATS = tuple(UNIT)
NARROW = ("f16", "bf16")


class Unjudged(Exception):
    """Nobody can say what a node gives."""


def dtype_of(array):
    return NAMES[array.dtype]


def type_proto(value):
    """Rank and element type: a node is run again with other extents."""
    if isinstance(value, list):
        kind = helper.make_tensor_type_proto(CODES[dtype_of(value[0])], None)
        return helper.make_sequence_type_proto(kind)
    return helper.make_tensor_type_proto(CODES[dtype_of(value)], [None] * value.ndim)


class Signs:
    """Where values are moved to, of variants in pairs: the second goes the other way, so
    that what a single rounding decides is always seen."""

    def __init__(self, draw):
        self.draw, self.kept, self.is_second, self.place = draw, [], False, 0

    def begin(self, number):
        self.is_second, self.place = number % 2 == 0, 0
        if not self.is_second:
            self.kept = []

    def take(self, shape):
        self.place += 1
        if self.is_second and self.place <= len(self.kept) and (
                self.kept[self.place - 1].shape == shape):
            return -self.kept[self.place - 1]
        signs = self.draw.choice([-1.0, 1.0], shape) * self.draw.uniform(0.5, 1, shape)
        self.kept.append(signs)
        return signs


def move(array, signs, units, flat=0.0, origin=None):
    """Another rounding: each element some units in the last place off, and `flat`; those
    that differ from `origin` already move further from it."""
    if isinstance(array, list):
        return [move(a, signs, units, flat) for a in array]
    dtype = dtype_of(array)
    if dtype not in UNIT or not array.size:
        return array
    wide = array.astype(np.float64)
    signs = signs.take(array.shape)
    with np.errstate(all="ignore"):
        if origin is not None and origin.shape == array.shape:
            away = np.nan_to_num(np.sign(wide - origin.astype(np.float64)))
            signs = np.where(away != 0, away * np.abs(signs), signs)
        moved = wide + (np.abs(wide) * UNIT[dtype] * units + flat) * signs
        if dtype == "f64":
            return moved
        lowest = np.abs(wide) < np.finfo(np.float32).tiny if dtype == "f32" else False
        return np.where(lowest & (flat == 0), wide, moved).astype(array.dtype)


def free_names(graph):
    """Names that a body reads from around it."""
    known = {i.name for i in graph.input} | {i.name for i in graph.initializer}
    free = []
    for node in graph.node:
        names = [n for n in node.input if n]
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                names += free_names(attribute.g)
        free += [n for n in names if n not in known]
        known.update(node.output)
    free += [o.name for o in graph.output if o.name not in known]
    return list(dict.fromkeys(free))


def names_read(node):
    names = [n for n in node.input if n]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            names += free_names(attribute.g)
    return list(dict.fromkeys(names))


def operators_of(nodes, functions):
    """Of the nodes, their bodies and the functions that they call."""
    found = set()
    for node in nodes:
        found.add(node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators_of(attribute.g.node, functions)
        for function in functions:
            if node.domain and function.name == node.op_type:
                found |= operators_of(function.node, functions)
    return found


class Step:
    """One node as a model of its own, which can be run with many values."""

    def __init__(self, node, opset, functions=(), ir_version=10):
        self.node, self.opset, self.functions = node, opset, functions
        self.ir_version = max(ir_version, 8 if functions else 4)
        self.reads = names_read(node)
        self.makes = [o for o in node.output if o]
        self.operators = operators_of([node], functions)
        self.judge, self.runner = "", None

    def model(self, given, constants=(), to_f32=()):
        """`to_f32`: inputs of these types are cast for the node."""
        node, before, after = onnx.NodeProto(), [], []
        node.CopyFrom(self.node)
        outputs = list(self.makes)
        if to_f32:
            rename = {}
            for name in self.reads:
                if dtype_of(given[name]) in to_f32:
                    rename[name] = name + "_f32"
                    before.append(helper.make_node("Cast", [name], [rename[name]],
                                                   to=TensorProto.FLOAT))
            node.input[:] = [rename.get(n, n) for n in node.input]
        inputs = [onnx.ValueInfoProto(name=n, type=type_proto(given[n]))
                  for n in self.reads if n not in constants]
        weights = [onnx.numpy_helper.from_array(np.asarray(given[n]), n)
                   for n in constants]
        graph = helper.make_graph(before + [node] + after, "node", inputs,
                                  [onnx.ValueInfoProto(name=o) for o in outputs], weights)
        opsets = [helper.make_opsetid("", self.opset)]
        if self.functions:
            opsets.append(helper.make_opsetid("local", 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=self.ir_version,
                                 functions=list(self.functions))

    def open_runtime(self, given, constants, to_f32=()):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        options.intra_op_num_threads = 1
        content = self.model(given, constants, to_f32).SerializeToString()
        session = onnxruntime.InferenceSession(content, options,
                                               providers=["CPUExecutionProvider"])

        def run(values):
            feeds = {n: values[n] for n in self.reads if n not in constants}
            if any(dtype_of(v) == "bf16" for v in feeds.values()
                   if not isinstance(v, list)):
                feeds = {n: make_ort_value(v) for n, v in feeds.items()}
                results = session.run_with_ort_values(self.makes, feeds)
                return [read_ort_value(r) for r in results]
            return session.run(self.makes, feeds)

        return run

    def open(self, given, constants):
        """Finds somebody who runs the node; raises Unjudged."""
        tensors = [v for n, v in given.items() if not isinstance(v, list)]
        kinds = {dtype_of(v) for v in tensors}
        is_plain = not self.functions and self.node.op_type not in (
            "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear") and not any(
            a.type == onnx.AttributeProto.GRAPH for a in self.node.attribute)
        ways = [("runtime", lambda: self.open_runtime(given, ()))]
        if constants:
            ways.append(("runtime", lambda: self.open_runtime(given, constants)))
        if kinds & set(NARROW) and is_plain:
            ways.append(("widened", lambda: self.widened(given)))
        if "f64" in kinds and is_plain:
            ways.append(("narrowed", lambda: self.narrowed(given)))
        if self.node.op_type == "Gemm" and not kinds & set(FLOATS):
            ways.append(("numpy", lambda: self.product_of_integers))
        if self.node.domain:
            ways.append(("nodes", self.open_nodes))
        ways.append(("reference", lambda: self.open_reference(given)))
        for judge, way in ways:
            try:
                runner = way()
                first = [as_array(r) for r in runner(given)]
            except Exception as error:  # ONNX Runtime's have no class in common
                words = str(error)
                if not any(w in words for w in ("NOT_IMPLEMENTED", "INVALID_GRAPH",
                                                "Could not find an implementation",
                                                "must be a constant", "Type Error",
                                                "constant", "not supported",
                                                "Unsupported")):
                    raise Unjudged(words.splitlines()[0][:160] if words else "?") from None
                continue
            self.judge, self.runner = self.judge or judge, runner
            return first
        raise Unjudged("nobody runs it: " + words.splitlines()[0][:120])

    def widened(self, given):
        inner = self.open_runtime(given, (), NARROW)
        kinds = {dtype_of(v) for n, v in given.items() if n in self.reads}
        narrow = next(k for k in NARROW if k in kinds)

        def run(values):
            return [r.astype(NUMPY[narrow]) if dtype_of(r) == "f32" else r
                    for r in inner(values)]

        return run

    def narrowed(self, given):
        inner = self.open_runtime(given, (), ("f64",))

        def run(values):
            for name in self.reads:
                wide = np.abs(values[name].astype(np.float64))
                if dtype_of(values[name]) == "f64" and (
                        (wide > 0) & (wide < 1e-30) | (wide > 1e30) & np.isfinite(wide)).any():
                    raise Unjudged("doubles that f32 does not hold")
            return [r.astype(np.float64) if dtype_of(r) == "f32" else r for r in inner(values)]

        return run

    def product_of_integers(self, values):
        """Gemm's; alpha and beta are 1."""
        flips = {a.name: a.i for a in self.node.attribute}
        a, b, *c = (values[n] for n in self.node.input if n)
        result = (a.T if flips.get("transA") else a) @ (b.T if flips.get("transB") else b)
        return [result + c[0] if c else result]

    def open_nodes(self):
        """The called function node by node, each by who runs it."""
        function = next(f for f in self.functions if f.name == self.node.op_type)
        steps = [Step(n, self.opset, self.functions if n.domain else ())
                 for n in function.node]
        fixed = {o for n in function.node if n.op_type == "Constant" for o in n.output}

        def run(values):
            known = {p: values[n] for p, n in zip(function.input, self.node.input) if n}
            for step in steps:
                given = {n: known[n] for n in step.reads}
                made = step.run(given) if step.runner else step.open(
                    given, [n for n in step.reads if n in fixed])
                known.update(zip(step.makes, made))
                if step.judge == "narrowed":
                    self.judge = "narrowed"
            return [known[n] for n in function.output]

        return run

    def open_reference(self, given):
        evaluator = ReferenceEvaluator(self.model(given))
        return lambda values: evaluator.run(None, {n: values[n] for n in self.reads})

    def has_real_attributes(self):
        """Has it, or has a node of its bodies, attributes that are f32?"""
        return any(map(self.takes_reals, self.operators))

    def takes_reals(self, operator):
        if operator in ("HardSwish", "HammingWindow", "HannWindow", "BlackmanWindow"):
            return True
        try:
            schema = onnx.defs.get_schema(operator, self.opset)
        except onnx.defs.SchemaError:
            return False
        return any("FLOAT" in str(a.type) for a in schema.attributes.values())

    def run(self, values):
        return [as_array(r) for r in self.runner(values)]


def as_array(result):
    if isinstance(result, (list, tuple)):
        return [as_array(r) for r in result]
    if result is None:
        raise Unjudged("gives nothing")
    array = np.asarray(result)
    if array.dtype not in NAMES:
        raise Unjudged(f"gives {array.dtype}")
    return array


def make_ort_value(array):
    if dtype_of(array) == "bf16":
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
            array.view(np.uint16), TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def read_ort_value(value):
    if value.element_type() == TensorProto.BFLOAT16:
        # There is no way to numpy: the bits are read where they lie.
        import ctypes
        count = int(np.prod(value.shape()))
        raw = ctypes.string_at(value.data_ptr(), count * 2)
        return np.frombuffer(raw, ml_dtypes.bfloat16).reshape(value.shape()).copy()
    return value.numpy()


def has_huge(arrays):
    """Products and sums of these may leave the range, by the order of the terms."""
    return any(not isinstance(a, list) and dtype_of(a) in FLOATS and bool(
        ((np.abs(a.astype(np.float64)) > (100 if dtype_of(a) == "f16" else 1e15)) &
         np.isfinite(a.astype(np.float64))).any()) for a in arrays)


SUMS_OF_FLOATS = {"MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose", "ReduceSum", "CumSum",
                  "ReduceMean", "AveragePool", "GlobalAveragePool"}


def meet_order(step, first, result, made, units):
    """Of a sum the variant that adds the terms in another order: it is off by `units` in the
    last place of the sum of their sizes, which says more than the terms' own last places
    where they cancel or are many.  Where those sizes leave the range, which the result did
    not, no order is the right one."""
    if not step.operators & SUMS_OF_FLOATS:
        return made
    try:
        sizes = step.run({n: v if isinstance(v, list) or dtype_of(v) not in FLOATS
                          else np.asarray(np.abs(v)) for n, v in first.items()})
    except Exception:  # ONNX Runtime's have no class in common
        return made
    is_sum = step.node.op_type in SUMS_OF_FLOATS  # and no body with one
    return [m if isinstance(m, list) or dtype_of(m) not in FLOATS or m.shape != s.shape
            else reorder(m, r, s, units * is_sum) for m, s, r in zip(made, sizes, result)]


def reorder(made, result, sizes, units):
    with np.errstate(all="ignore"):
        wide, origin = (a.astype(np.float64) for a in (made, result))
        off = units * UNIT[dtype_of(made)] * np.abs(sizes.astype(np.float64))
        other = np.where(wide < origin, wide - off, wide + off)
        return np.where(np.isfinite(off) | ~np.isfinite(origin),
                        np.where(np.isfinite(other), other, wide), np.inf).astype(made.dtype)


def nearest_poles(operator, array):
    if operator != "Tan":
        return np.zeros_like(array)
    return (np.floor(array / np.pi) + 0.5) * np.pi


def meet_poles(step, values, made):
    """The step's result where rounding may have brought its operand to a pole: what lies
    beyond is anything, and an infinity there is a variant that no other agrees with."""
    position = POLES.get(step.node.op_type)
    name = step.node.input[position] if position is not None else ""
    if not name or isinstance(values[name][0], list) or (
            dtype_of(values[name][0]) not in FLOATS):
        return made
    first, *others = [v.astype(np.float64) for v in values[name]]
    with np.errstate(all="ignore"):
        off = np.max([np.abs(o - first) for o in others], axis=0, initial=0)
        far = np.abs(first - nearest_poles(step.node.op_type, first))
        may_be_there = np.broadcast_to((off > 0) & (far <= FACTOR * off), made[0].shape)
    infinite = np.full((), np.inf, made[0].dtype)
    return [np.where(may_be_there, infinite, made[0])]


def meet_equals(step, values, made):
    """The result of Equal where rounding may have parted its operands, or brought them
    together: numbers that are moved are never equal."""
    if step.node.op_type != "Equal":
        return made
    pair = [[v.astype(np.float64) for v in values[n]] for n in step.node.input]
    if dtype_of(values[step.node.input[0]][0]) not in FLOATS:
        return made
    with np.errstate(all="ignore"):
        off = sum(np.max([np.abs(v - first) for v in others], axis=0, initial=0)
                  for first, *others in pair)
        may_be_equal = (off > 0) & (np.abs(pair[0][0] - pair[1][0]) <= FACTOR * off)
    return [made[0] ^ may_be_equal]


def join_near(variants):
    """The first variant with numbers made equal that rounding may have parted."""
    first, *others = variants
    wide = first.astype(np.float64).ravel()
    with np.errstate(all="ignore"):
        off = np.max([np.abs(o.astype(np.float64).ravel() - wide) for o in others], axis=0,
                     initial=0)
    order, joined = np.argsort(wide), first.copy().ravel()
    for before, at in zip(order, order[1:]):
        reach = FACTOR * (off[before] + off[at])
        if 0 < wide[at] - wide[before] <= reach:
            joined[at] = joined[before]
    return joined.reshape(first.shape)


def meet_alike(step, values, made):
    """The result of Unique where rounding may have parted numbers that are the same."""
    name = step.node.input[0] if step.node.op_type == "Unique" else ""
    if not name or dtype_of(values[name][0]) not in FLOATS:
        return made
    joined = join_near(values[name])
    return made if (joined == values[name][0]).all() else step.run({name: joined})


def mark_overflow(array, number):
    """Variants that do not agree about what is not finite."""
    if isinstance(array, list) or dtype_of(array) not in FLOATS:
        return array
    other = (0, np.nan, np.inf, -np.inf)[number % 4]
    return np.where(np.isfinite(array.astype(np.float64)), array, other).astype(
        array.dtype)


def own_flat(step, array):
    """What a body computes of constants of its own may cancel, and these do not move: its
    error is some units of the largest result."""
    if isinstance(array, list) or dtype_of(array) not in FLOATS or not (
            step.functions or step.operators != {step.node.op_type}):
        return 0.0
    wide = np.abs(array.astype(np.float64))
    return 2 * UNIT[dtype_of(array)] * float(wide.max(initial=0, where=np.isfinite(wide)))


def away_from(first, number):
    """What variant `number` moves away from, or None: a move back hides what the value may be
    off already, so that only the first pair may make one."""
    return first if number > 2 and not isinstance(first, list) else None


def variants_of(step, values, draw, units_in, units_out, flat=0.0):
    """What the step gives in each variant, for values of name -> variants.  Its inputs
    are moved by units_in, its results by units_out and by `flat`."""
    first = {n: values[n][0] for n in step.reads}
    results = [step.run(first)]
    if step.judge == "narrowed":
        units_in, units_out = (F32_UNITS * max(1, u) for u in (units_in, units_out))
    all_exact = all(v is values[n][0] for n in step.reads for v in values[n][1:])
    if all_exact and not units_in and not units_out:
        return [[r] * (1 + VARIANTS) for r in results[0]]
    if units_out and step.has_real_attributes() and any(
            dtype_of(r) == "f64" for r in results[0] if not isinstance(r, list)):
        # Attributes are f32 (onnx.proto, AttributeProto.f), and so is what functions make
        # of them (HardSwish); ONNX Runtime and its evaluator take doubles here and there.
        units_out = max(units_out, 2**30)
    unsure = units_in and has_huge(first.values())
    signs = Signs(draw)
    for index in range(1, 1 + VARIANTS):
        signs.begin(index)
        given = {n: values[n][index] for n in step.reads}
        if units_in:
            given = {n: move(v, signs, units_in, 0.0, away_from(first[n], index))
                     for n, v in given.items()}
        try:
            made = step.run(given)
        except Exception as error:
            raise Unjudged(f"not steady: {str(error)[:80]}") from None
        if units_out or flat:
            made = [move(m, signs, units_out, flat + own_flat(step, m),
                         away_from(r, index)) for m, r in zip(made, results[0])]
        if unsure:
            made = [mark_overflow(m, index) for m in made]
        if unsure and any(dtype_of(v) == "f16" for v in first.values()
                          if not isinstance(v, list)):
            # Terms may have left the range where their sum has not.
            made = [m if isinstance(m, list) or dtype_of(m) != "f16" else np.where(
                np.abs(m) > 3000, np.float16(np.inf), m) for m in made]
        if index == VARIANTS and (unsure or units_in and step.node.op_type in SUMS_OF_FLOATS):
            made = meet_order(step, first, results[0], made, units_in)
        if index == VARIANTS and not step.functions:
            made = meet_equals(step, values, meet_poles(step, values, made))
            made = meet_alike(step, values, made)
        results.append(made)
    return [[result[i] for result in results] for i in range(len(step.makes))]


def range_of(dtype):
    """The smallest normal number of a float, and the largest."""
    info = ml_dtypes.finfo(NUMPY[dtype])
    return float(info.tiny), float(info.max)


def judge_mask(variants):
    """Which elements can be judged, and how far each may be off; None: not at all."""
    first, *others = variants
    dtype = dtype_of(first)
    if any(o.shape != first.shape for o in others):
        return None
    if all(o is first for o in others):
        return np.ones(first.shape, bool), np.zeros(first.shape)
    if dtype not in FLOATS:
        same = np.ones(first.shape, bool)
        for other in others:
            same &= other == first
        return same, np.zeros(first.shape)
    with np.errstate(all="ignore"):
        wide = first.astype(np.float64)
        steady, off = np.ones(first.shape, bool), np.zeros(first.shape)
        for other in others:
            other = other.astype(np.float64)
            finite = np.isfinite(wide) & np.isfinite(other)
            alike = (wide == other) | (np.isnan(wide) & np.isnan(other))
            steady &= finite | alike
            off = np.maximum(off, np.where(finite, np.abs(other - wide), 0))
        lowest = float(np.finfo(np.float32).tiny if dtype in ("f32", "bf16")
                      else np.finfo(NUMPY[dtype]).tiny)
        tolerance = FACTOR * off + 4 * UNIT[dtype] * np.abs(wide) + lowest
        # What may leave the range, or is all noise, is not judged.
        largest = float(ml_dtypes.finfo(NUMPY[dtype]).max)
        steady &= ~(np.isfinite(wide) & (np.abs(wide) + tolerance > largest))
    return steady, np.where(np.isfinite(tolerance), tolerance, 0)


def find_difference(got, want, mask):
    """Words about the first element that is off, or None."""
    steady, tolerance = mask
    if got.dtype != want.dtype or got.shape != want.shape:
        return (f"{dtype_of(got)}{list(got.shape)} instead of "
                f"{dtype_of(want)}{list(want.shape)}")
    if dtype_of(got) not in FLOATS:
        bad = (got != want) & steady
    else:
        with np.errstate(all="ignore"):
            a, b = got.astype(np.float64), want.astype(np.float64)
            near = np.abs(a - b) <= tolerance
            bad = ~((a == b) | (np.isnan(a) & np.isnan(b)) | near) & steady
    if not bad.any():
        return None
    position = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    return (f"{int(bad.sum())} of {bad.size} differ: [{', '.join(map(str, position))}] is "
            f"{got[position]}, not {want[position]} (within {tolerance[position]:.3g})")
