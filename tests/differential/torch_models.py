"""Random torch programs, scripted, traced, exported or captured, and what torch gives for them.

SPDX-License-Identifier: Apache-2.0

Expected values of scripted and traced programs are those of the archive that torch has
loaded again; where the program itself, run eagerly, gives others, the difference is torch's
own and the program is left out.  Those of exported (`.pt2`) and captured (torch.compile)
programs are eager's.  A program with attributes is called several times, one call after
the other.
"""

import copy
import dataclasses
import io
import linecache
import random
import re
from typing import Dict, List, Tuple

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from chain import judge_mask
from binding import NUMPY
from torch_program import BOOL, FLOAT, INT, NAMES, TENSOR, Program, Rejected, kind_of
from torch_statements import draw_line, note_return

VARIANTS, MOVE = 3, 2e-6
NARROW_VARIANTS = 8  # a narrow float stays where it is for many a move
UNITS = {torch.float32: 2.0**-23, torch.float64: 2.0**-52, torch.float16: 2.0**-10,
         torch.bfloat16: 2.0**-7}


NARROW = (torch.float16, torch.bfloat16)
FORMS = {"scripted": 45, "traced": 15, "exported": 20, "captured": 20}


class NoProgram(Exception):
    """The seed gives nothing that torch runs as it is written."""


@dataclasses.dataclass
class Call:
    arguments: list   # tensors and numbers
    wanted: list      # results: numpy arrays, or Python numbers
    masks: list
    changed: dict     # place of an argument -> (array, mask) where the call writes to it


@dataclasses.dataclass
class Drawn:
    seed: int
    program: Program
    source: str
    archive: bytes    # None of a captured program
    module: torch.nn.Module
    calls: list
    form: str         # one of FORMS
    statements: list


def draw_program(seed):
    program = Program(seed)
    for _ in range(program.between(1, 3)):
        program.add_argument(program.array(program.dtype(), program.shape(0, 3)))
    if program.chance(0.35):
        program.add_argument(program.between(-3, 6))
    if program.chance(0.15):
        program.add_argument(program.choice((0.5, 2.0, -1.25)))
    if program.chance(0.15):
        program.add_argument(program.chance(0.5))
    if program.chance(0.3):
        program.add_attribute(program.array(program.dtype(), program.shape(0, 2)))
        if program.chance(0.4):
            program.add_attribute(program.between(0, 5))
    wanted = program.choice((3, 5, 8, 12, 18))
    for _ in range(5 * wanted):
        draw_line(program)
        if program.lines and program.chance(0.02):
            note_return(program)
        if len(program.lines) >= wanted:
            return program
    if not program.lines:
        raise NoProgram("no lines")
    return program


def make_module(program, source):
    """The source stands where inspect finds it, as torch.jit.script asks."""
    lines = ["class Drawn(torch.nn.Module):", "    def __init__(self):",
             "        super().__init__()"]
    for name, value in program.attributes.items():
        if isinstance(value, torch.Tensor):
            lines.append(f"        self.register_buffer('{name}', _{name}.clone())")
        else:
            lines.append(f"        self.{name} = {value!r}")
    text = "\n".join(lines) + "\n\n" + source + "\n"
    file = f"<drawn {program.seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"torch": torch, "F": torch.nn.functional, "math": __import__("math"),
             "List": List, "Dict": Dict, "Tuple": Tuple, "__name__": __name__}
    space.update({"_" + n: v for n, v in program.attributes.items()})
    exec(compile(text, file, "exec"), space)
    return space["Drawn"]().eval(), text


def numbers_of(value):
    """A result as numpy has it."""
    if isinstance(value, torch.Tensor):
        value = value.detach().contiguous()
        if value.dtype == torch.bfloat16:
            return value.view(torch.int16).numpy().view(NUMPY["bf16"])
        return value.numpy()
    return np.asarray(value, {bool: np.bool_, int: np.int64, float: np.float64}[type(value)])


def same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool((a == b).all())
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        return bool(((a == b) | (np.isnan(a) & np.isnan(b)) |
                     (np.abs(a - b) <= 1e-6 + 1e-3 * np.abs(b))).all())


def list_of(results):
    """Of a tuple, a list or a dict, by its keys."""
    if isinstance(results, dict):
        return [results[key] for key in sorted(results)]
    return list(results)


def run_calls(module, calls):
    """Of each call the results, and what is where the arguments were behind it: their
    shapes are the caller's (docs/torchscript.md)."""
    made = []
    with torch.no_grad():
        for arguments in calls:
            arguments = copy.deepcopy(arguments)
            memory = [a.view(a.shape) if isinstance(a, torch.Tensor) else a
                      for a in arguments]
            results = list_of(module(*arguments))
            made.append(([np.array(numbers_of(r)) for r in results],
                         [np.array(numbers_of(a)) for a in memory]))
    return made


# Functions that libraries round differently, also of arguments that are exact.
ROUNDED = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "erf",
    "erfc", "sigmoid", "silu", "gelu", "elu", "mish", "softplus", "log_sigmoid_forward",
    "_softmax", "_log_softmax", "logsumexp", "pow", "rsqrt", "mm", "bmm", "addmm",
    "baddbmm", "dot", "mv", "einsum", "linear", "matmul", "convolution", "mean", "sum",
    "std", "var", "prod", "cumsum", "cumprod", "norm", "linalg_vector_norm",
    "native_layer_norm", "native_batch_norm", "native_group_norm",
}


class Rounding(TorchDispatchMode):
    """The last place of what ROUNDED functions give, drawn."""

    def __init__(self, draw):
        super().__init__()
        self.draw, self.is_narrow = draw, False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if isinstance(result, torch.Tensor):
            self.is_narrow |= result.dtype in NARROW
            if result.is_complex() and name in ("mul", "div", "mul_", "div_"):
                self.move_parts(result)
        if name.rstrip("_") in {n.rstrip("_") for n in ROUNDED}:
            whole = isinstance(result, torch.Tensor)
            for tensor in [result] if whole else list(result)[:1]:
                if tensor.dtype in UNITS and tensor.numel():
                    # Of several sizes: two that move alike leave their difference.
                    shape = tuple(tensor.shape)
                    units = torch.tensor(self.draw.choice([-1.0, 1.0], shape) *
                                         self.draw.uniform(0.5, 1, shape))
                    near = tensor.double() * (1 + units * UNITS[tensor.dtype])
                    if name == "_log_softmax" and tensor.dtype in NARROW:
                        near += units * UNITS[tensor.dtype]  # of a sum that is 1 or more
                    if name == "gelu":  # x times 1 and an erf, which cancel
                        near += units * UNITS[tensor.dtype] * args[0].double().abs()
                    if name == "native_layer_norm":  # (x - mean) / std: the mean's own place
                        near += units * UNITS[tensor.dtype] * (result[1] * result[2]).double()
                    tensor.copy_(near)
        return result

    def move_parts(self, result):
        """Those of a product are sums of products, which cancel."""
        parts = torch.view_as_real(result)
        if parts.numel() and parts.dtype in UNITS:
            units = torch.tensor(self.draw.uniform(-1, 1, tuple(parts.shape)))
            off = units * UNITS[parts.dtype] * result.abs().double().unsqueeze(-1)
            parts.copy_(parts.double() + off)


def holds(floats, dtype):
    """Does the integers' type hold these floats?"""
    info, wide = torch.iinfo(dtype), floats.double().trunc()
    return bool(((wide >= info.min) & (wide < float(info.max) + 1)).all())


def is_integer(tensor):
    return not tensor.is_floating_point() and not tensor.is_complex() and (
        tensor.dtype != torch.bool)


class Defined(TorchDispatchMode):
    """`why`: something that nothing defines happened.  A float became an integer that does not
    hold it, of which torch.Tensor.to says nothing (x86 gives the least one, and code goes on
    with it), or the sign of a NaN was read, of which IEEE 754 (6.3) says nothing."""

    why = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name in ("signbit", "copysign", "copysign_"):
            if any(isinstance(a, torch.Tensor) and bool(a.isnan().any()) for a in args[-1:]):
                self.why = "the sign of a NaN"
        result = func(*args, **(kwargs or {}))
        source = {"_to_copy": 0, "copy_": 1}.get(name)
        if source is not None and args[source].is_floating_point() and is_integer(result) and (
                not holds(args[source], result.dtype)):
            self.why = "an integer that does not hold a float"
        return result


def moved(calls, draw):
    def move(value):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        signs = torch.tensor(draw.choice([-1.0, 1.0], tuple(value.shape)))
        unit = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float64: 1e-14}.get(
            value.dtype, MOVE)
        return (value.double() * (1 + unit * signs)).to(value.dtype)

    return [[move(a) for a in arguments] for arguments in calls]


def as_results(program, wanted):
    """Results as the program gives them: tensors and Python's numbers."""
    kinds = [kind_of(program.value(n)) for n in program.chosen]
    plain = {INT: int, FLOAT: float, BOOL: bool}
    return [torch.from_numpy(np.array(w)) if k == TENSOR else plain[k](w)
            for k, w in zip(kinds, wanted)]


def other_values(program, draw):
    """Arguments like the drawn ones with other elements."""
    arguments = []
    for _, kind, value in program.args:
        if kind == TENSOR:
            arguments.append(program.array(NAMES[value.dtype], list(value.shape)))
        else:
            arguments.append(value)
    return arguments


def other_shapes(program, draw):
    extents = {}
    arguments = []
    for _, kind, value in program.args:
        if kind == TENSOR:
            shape = [extents.setdefault(e, draw.choice((1, 2, 3, 4, 7))) for e in
                     value.shape]
            arguments.append(program.array(NAMES[value.dtype], shape))
        else:
            arguments.append(value)
    return arguments


def statements_of(program, is_open, draw):
    lines = []
    for name, kind, value in program.args:
        if kind == TENSOR:
            dims = [f"{name}_{i}" if is_open and draw.random() < 0.7 else str(e)
                    for i, e in enumerate(value.shape)]
            lines.append(f"{name}={NAMES[value.dtype]}[{','.join(dims)}]")
        elif is_open and draw.random() < 0.5:
            lines.append(f"{name}=" + {INT: "int", FLOAT: "float", BOOL: "bool"}[kind])
        else:
            lines.append(f"{name}={str(value).lower()}")
    return lines


def export(module, program, is_open):
    """A `.pt2`; its numbers of Python are constants, also the module's own."""
    if "state int" in program.tally:
        raise NoProgram("torch.export takes the module's numbers as constants")
    example = tuple(copy.deepcopy(v) for _, _, v in program.args)
    extents = [{i: torch.export.Dim.AUTO for i in range(v.dim())} if isinstance(
        v, torch.Tensor) else None for v in example] if is_open else None
    with torch.no_grad():
        exported = torch.export.export(copy.deepcopy(module), example,
                                       dynamic_shapes=extents)
    file = io.BytesIO()
    torch.export.save(exported, file)
    return file.getvalue()


def break_graph(source, draw):
    """The source with graph breaks between lines of forward's own."""
    lines = []
    for line in source.split("\n"):
        if re.match(r" {8}\S", line) and not re.match(r" {8}(else|elif|def)\b", line) and (
                draw.random() < 0.25):
            lines.append("        torch._dynamo.graph_break()")
        lines.append(line)
    return "\n".join(lines)


def save(module, program, form):
    if form == "traced":
        example = tuple(copy.deepcopy(v) for _, _, v in program.args)
        fresh = copy.deepcopy(module)
        with torch.no_grad():
            traced = torch.jit.trace(fresh, example, check_trace=False)
        for name, value in program.attributes.items():  # tracing ran it: as it was
            getattr(traced, name).data = value.clone()
        module = traced
    else:
        module = torch.jit.script(copy.deepcopy(module))
    file = io.BytesIO()
    torch.jit.save(module, file)
    return file.getvalue()


def loosen(mask, variants):
    """torch's vectorised erf, exp and tanh keep an absolute error (sleef, 1 ulp of 1);
    what a float outside of an integer's range becomes is undefined (torch.Tensor.to), and
    x86 gives the least integer."""
    if mask is not None and variants[0].dtype in (np.int64, np.int32):
        return mask[0] & (variants[0] != np.iinfo(variants[0].dtype).min), mask[1]
    if mask is None or len(variants) == 1 or variants[0].dtype.kind in "iub":
        return mask
    return mask[0], mask[1] + {np.dtype(np.float64): 1e-14}.get(variants[0].dtype, 3e-7)


def choose_form(program, draw):
    form = draw.choices(list(FORMS), list(FORMS.values()))[0]
    only_tensors = all(k == TENSOR for _, k, _ in program.args) and all(
        kind_of(v) == TENSOR for v in program.attributes.values()) and all(
        kind_of(program.value(n)) == TENSOR for n in program.chosen)
    is_traced = only_tensors and program.container != "dict"
    return "scripted" if form == "traced" and not is_traced else form


def make_archive(module, program, form, is_open, calls):
    """The archive's bytes, and a function that gives the module whose results are expected."""
    load = lambda: copy.deepcopy(module)  # noqa: E731
    if form == "captured":
        return None, load
    try:
        if form == "exported":  # which has its own order of views and rebound state
            archive = export(module, program, is_open)
            return archive, lambda: torch.export.load(io.BytesIO(archive)).module()
        archive = save(module, program, form)
        load = lambda: torch.jit.load(io.BytesIO(archive))  # noqa: E731
        wanted = run_calls(load(), calls)
    except Exception as error:
        words = str(error).strip().splitlines() or ["?"]
        raise NoProgram(f"{form}: {words[0][:90]}") from None
    eager = run_calls(copy.deepcopy(module), calls)
    if form == "scripted" and not all(same(a, b) for (x, _), (y, _) in zip(wanted, eager)
                                      for a, b in zip(x, y)):
        raise NoProgram("torch's own forms differ")
    return archive, load


def draw_model(seed):
    draw = random.Random(seed ^ 0x5EED)
    program = draw_program(seed)
    try:
        source = program.source()
    except Rejected:
        raise NoProgram("no outputs") from None
    form = choose_form(program, draw)
    if form == "captured":
        source = break_graph(source, draw)
    module, text = make_module(program, source)
    first = [v for _, _, v in program.args]
    calls = [first, other_values(program, draw)]
    if program.attributes:
        calls.append(first)
    is_open = form != "traced" and draw.random() < 0.4
    archive, load = make_archive(module, program, form, is_open, calls[:1])
    # Calls that torch itself refuses end the list.
    for count in range(len(calls), 0, -1):
        try:
            wanted = run_calls(load(), calls[:count])
            calls = calls[:count]
            break
        except Exception:
            continue
    if is_open and not program.attributes:
        try:
            others = other_shapes(program, draw)
            wanted += run_calls(load(), [others])
            calls.append(others)
        except Exception:
            pass
    with Defined() as defined:
        run_calls(load(), calls)
    if defined.why:
        raise NoProgram(defined.why)
    variants = [wanted]
    if not program.is_exact:
        numbers = np.random.default_rng(seed)
        rounding = Rounding(numbers)
        while len(variants) <= (NARROW_VARIANTS if rounding.is_narrow else VARIANTS):
            try:
                with rounding:
                    variants.append(run_calls(load(), moved(calls, numbers)))
            except Exception:
                raise NoProgram("not steady") from None
    result = []
    for index, arguments in enumerate(calls):
        results = [[v[index][0][i] for v in variants] for i in range(
            len(wanted[index][0]))]
        masks = [loosen(judge_mask(r if len(r) > 1 else [r[0], r[0]]), r) for r in results]
        changed = {}
        for position, before in enumerate(arguments):
            after = [v[index][1][position] for v in variants]
            if isinstance(before, torch.Tensor):
                changed[position] = (after[0], loosen(judge_mask(
                    after if len(after) > 1 else [after[0], after[0]]), after))
        result.append(Call(arguments, wanted[index][0], masks, changed))
    statements = statements_of(program, is_open, draw) if form == "scripted" else []
    return Drawn(seed, program, text, archive, module, result, form, statements)


