"""Statements that random torch programs are drawn from: a row each.

SPDX-License-Identifier: Apache-2.0

A row writes one line over the program's variables, or a branch or loop with lines in it.
Those that round their results say so: a program without them is compared bit by bit.
"""

import torch

from torch_program import (BOOL, DICT, DTYPES, INT, INTS, TENSOR, TENSORS, Rejected,
                           kind_of)

ROWS = {}


def row(weight=1):
    def register(draw):
        ROWS[draw.__name__] = (draw, weight)
        return draw

    return register


# ---- elementwise ----

UNARY = ("neg", "abs", "sign", "floor", "ceil", "round", "trunc", "relu", "square",
         "logical_not", "isnan", "isinf", "isfinite", "bitwise_not", "signbit", "positive")
ROUNDED = ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "erf", "expm1",
           "log1p", "atan", "reciprocal", "exp2", "log2", "sinh", "cosh", "frac")


@row(2)
def unary(p):
    p.make(f"torch.{p.choice(UNARY)}({p.tensor()})", "unary")


@row(2)
def rounded(p):
    p.make(f"torch.{p.choice(ROUNDED)}({p.tensor()})", "rounded", False)


@row(6)
def arithmetic(p):
    a = p.tensor()
    b = p.scalar() if p.chance(0.4) else p.tensor()
    sign = p.choice(("+", "-", "*", "+", "-", "*", "//", "%", "/"))
    if p.chance(0.2):
        a, b = b, a
    exact = sign in "+-" or (sign == "*" and p.has_ints)
    p.make(f"{a} {sign} {b}", "arithmetic " + sign, exact and p.has_ints)


@row(2)
def compare(p):
    b = p.scalar() if p.chance(0.4) else p.tensor()
    p.make(f"{p.tensor()} {p.choice(('<', '<=', '>', '>=', '==', '!='))} {b}", "compare")


@row(2)
def bitwise(p):
    p.make(f"{p.tensor()} {p.choice('&|^')} {p.tensor()}", "bitwise")


@row()
def shift(p):
    p.make(f"{p.tensor(ints=True)} {p.choice(('<<', '>>'))} {p.between(0, 3)}", "shift")


@row(2)
def binary_call(p):
    name = p.choice(("maximum", "minimum", "fmod", "remainder", "floor_divide", "pow",
                     "logical_and", "logical_or", "logical_xor", "atan2", "eq", "lt",
                     "div", "true_divide", "mul", "sub", "add", "rsub", "hypot", "copysign"))
    b = p.scalar() if p.chance(0.25) else p.tensor()
    extra = ""
    if name == "div" and p.chance(0.6):
        extra = f", rounding_mode='{p.choice(('floor', 'trunc'))}'"
    if name in ("add", "sub") and p.chance(0.4):
        extra = f", alpha={p.between(-2, 3)}"
    p.make(f"torch.{name}({p.tensor()}, {b}{extra})", "binary " + name, name not in (
        "pow", "atan2", "div", "true_divide", "hypot", "remainder", "fmod", "mul"))


@row(2)
def where(p):
    mask = p.tensor(lambda v: v.dtype == torch.bool)
    a = p.tensor()
    b = p.tensor() if p.chance(0.7) else p.scalar()
    p.make(f"torch.where({mask}, {a}, {b})", "where")


@row()
def clamp(p):
    low, high = sorted((p.between(-3, 3), p.between(-3, 3)))
    text = p.choice((f"min={low}", f"max={high}", f"min={low}, max={high}",
                     f"min={low}.5, max={high}.5"))
    p.make(f"torch.clamp({p.tensor()}, {text})", "clamp")


@row(2)
def cast(p):
    x = p.tensor(lambda v: v.dtype == torch.bool or not v.is_floating_point() or bool(
        torch.isfinite(v).all() and (v.abs() < 100).all()))
    if not p.is_exact and p.value(x).is_floating_point() and p.chance(0.9):
        p.make(f"{x}.to({p.choice(('torch.float32', 'torch.float64'))})", "cast", False)
        return  # what was rounded may lie on either side of a whole number
    name = str(DTYPES[p.dtype()])
    if p.chance(0.25):
        p.make(f"{x}.{p.choice(('float', 'long', 'int', 'double', 'bool', 'half'))}()",
               "cast")
    elif p.chance(0.3):
        # A copy: that type_as may give x itself, torch's optimiser does not know (its schema
        # in native_functions.yaml names no alias), and loses writes from the second call on.
        p.make(f"{x}.type_as({p.tensor()}).clone()", "cast")
    else:
        p.make(f"{x}.to({name})", "cast", name in ("torch.float32", "torch.float64",
                                                   "torch.int64"))


@row()
def activation(p):
    x = p.tensor(floats=True)
    call = p.choice(("relu", "gelu", "silu", "elu", "softplus", "leaky_relu", "hardtanh",
                     "hardsigmoid", "hardswish", "logsigmoid", "mish", "selu", "relu6"))
    p.make(f"F.{call}({x})", "activation", call in ("relu", "hardtanh", "relu6"))


# ---- new tensors ----


@row(2)
def create(p):
    dtype = DTYPES[p.dtype()]
    sizes = [p.number(0 if p.has_empty else 1, 4) for _ in range(p.between(0, 3))]
    size = "[" + ", ".join(sizes) + "]"
    like = p.tensor() if p.chance(0.4) else None
    text = p.choice((
        f"torch.zeros({size}, dtype={dtype})", f"torch.ones({size}, dtype={dtype})",
        f"torch.full({size}, {p.scalar()}, dtype={dtype})",
        f"torch.arange({p.number(0, 6)})", f"torch.arange({p.number(-3, 3)}, 9, 2)",
        f"torch.eye({p.number(1, 4)})", f"torch.tensor({p.scalar()})",
        f"torch.tensor([{p.number()}, {p.number()}, 3])",
        f"torch.full({size}, {p.scalar()})", "torch.arange(0.5, 3.0, 0.5)"))
    if like:
        text = p.choice((f"torch.zeros_like({like})", f"torch.ones_like({like})",
                         f"torch.full_like({like}, {p.between(-3, 5)})",
                         f"{like}.new_zeros({size})", f"{like}.new_full({size}, 2)",
                         f"torch.zeros_like({like}, dtype={dtype})",
                         f"{like}.clone()", f"{like}.detach()", f"{like}.contiguous()"))
    p.make(text, "create")


# ---- views ----


def slice_text(p, extent):
    kind = p.between(0, 7)
    if kind == 0 and extent:
        return str(p.between(-extent, extent - 1))
    if kind == 1:
        return "None"
    if kind == 2 and extent:
        return p.number(0, extent - 1)
    start = p.choice(("", str(p.between(-extent - 1, extent + 1))))
    end = p.choice(("", str(p.between(-extent - 1, extent + 1)), p.number(0, extent + 1)))
    step = p.choice(("", "", ":2", ":3"))
    return f"{start}:{end}{step}"


def index_text(p, x):
    value = p.value(x)
    parts = []
    for extent in value.shape:
        if p.chance(0.25):
            break
        parts.append(slice_text(p, extent))
    if p.chance(0.2):
        parts.insert(p.between(0, len(parts)), "...")
        parts = parts[:value.dim()]
    if not parts or parts == ["..."]:
        if not value.dim():
            raise Rejected
        parts = [":"]  # TorchScript has no x[...]
    return ", ".join(parts)


@row(5)
def index(p):
    x = p.tensor(lambda v: v.dim() > 0)
    p.make(f"{x}[{index_text(p, x)}]", "index")


def view_text(p, x):
    value = p.value(x)
    rank, size = value.dim(), value.numel()
    axis = p.axis(x) if rank else 0
    other = p.axis(x) if rank else 0
    divisors = [d for d in range(1, size + 1) if size % d == 0] or [1]
    d = p.choice(divisors)
    texts = [f"{x}.view(-1)", f"{x}.reshape(-1)", f"{x}.reshape({d}, -1)",
             f"{x}.view([{d}, {size // d}])", f"{x}.unsqueeze({p.between(-rank - 1, rank)})",
             f"{x}.flatten()", f"{x}.squeeze()",
             f"{x}.unsqueeze(0).expand({', '.join(['2'] + ['-1'] * rank)})"]
    if rank:
        order = list(range(rank))
        p.random.shuffle(order)
        extent = value.shape[axis]
        texts += [f"{x}.transpose({axis}, {other})", f"{x}.permute({order})",
                  f"{x}.squeeze({axis})", f"{x}.flatten({axis % rank})",
                  f"{x}.movedim({axis}, {other})", f"{x}.swapaxes({axis}, {other})",
                  f"{x}.view_as({x})", f"{x}.reshape_as({x})"]
        if extent:
            start = p.between(0, extent - 1)
            length = p.between(0, extent - start)
            texts += [f"{x}.narrow({axis}, {start}, {length})",
                      f"{x}.select({axis}, {p.between(-extent, extent - 1)})",
                      f"{x}.unfold({axis}, {p.between(1, extent)}, {p.between(1, 2)})",
                      f"{x}.chunk(2, {axis})[0]", f"{x}.split(2, {axis})[-1]",
                      f"{x}.unbind({axis})[-1]", f"torch.tensor_split({x}, 2, {axis})[0]"]
        if rank > 1:
            texts += [f"{x}.diagonal({p.between(-1, 1)}, 0, 1)", f"{x}.t()",
                      f"torch.diagonal({x})"]
        if rank == 1 and extent > 3:
            texts.append(f"{x}.as_strided([2, 2], [1, 1], {p.between(0, 1)})")
    return p.choice(texts)


@row(6)
def view(p):
    x = p.tensor()
    p.make(view_text(p, x), "view")


# ---- writes in place ----


def written(p):
    """What may be written to: not arguments alone, and now and then they."""
    return p.tensor()


@row(5)
def write_method(p):
    x = written(p)
    other = p.scalar() if p.chance(0.5) else p.tensor()
    name = p.choice(("add_", "sub_", "mul_", "copy_", "fill_", "zero_", "clamp_", "neg_",
                     "abs_", "maximum", "masked_fill_", "floor_", "relu_", "div_",
                     "bitwise_and_", "logical_not_", "squeeze_", "unsqueeze_", "t_", "pow_"))
    text = {"zero_": "", "neg_": "", "abs_": "", "floor_": "", "relu_": "",
            "logical_not_": "", "squeeze_": "", "t_": "",
            "fill_": p.scalar(), "clamp_": f"{p.between(-3, 0)}, {p.between(0, 3)}",
            "copy_": p.tensor(), "unsqueeze_": "0", "pow_": "2",
            "masked_fill_": f"{p.tensor()} > 0, {p.scalar()}"}.get(name, other)
    if name == "maximum":
        p.line(f"torch.add({x}, {p.tensor()}, out={x})", "write out")
    else:
        p.line(f"{x}.{name}({text})", "write " + name, p.has_ints and name != "div_")


@row(4)
def write_index(p):
    x = p.tensor(lambda v: v.dim() > 0)
    position = index_text(p, x)
    if "None" in position:
        raise Rejected
    other = p.scalar() if p.chance(0.6) else p.tensor()
    sign = p.choice(("=", "=", "=", "+=", "*=", "-="))
    p.line(f"{x}[{position}] {sign} {other}", "write index", p.has_ints or sign == "=")


@row(2)
def write_augmented(p):
    x = written(p)
    other = p.scalar() if p.chance(0.6) else p.tensor()
    p.line(f"{x} {p.choice(('+=', '-=', '*='))} {other}", "write augmented", p.has_ints)


@row(3)
def write_view(p):
    x = p.tensor()
    text = view_text(p, x)
    p.line(f"{text}.{p.choice(('add_', 'mul_', 'sub_'))}({p.number(-2, 3)})", "write view",
           p.has_ints)


# ---- advanced indexing ----


def indices_text(p, extent, count=None):
    if not extent:
        raise Rejected
    count = p.between(1, 4) if count is None else count
    numbers = [str(p.between(-extent, extent - 1)) for _ in range(count)]
    return f"torch.tensor([{', '.join(numbers)}])"


def positive_indices(p, extent, count):
    if not extent:
        raise Rejected
    return "torch.tensor([" + ", ".join(
        str(p.between(0, extent - 1)) for _ in range(count)) + "])"


@row(3)
def advanced_index(p):
    x = p.tensor(lambda v: v.dim() > 0)
    value = p.value(x)
    kind = p.between(0, 5)
    if kind == 0:
        p.make(f"{x}[{x} > {p.between(-2, 2)}]", "index by mask")
    elif kind == 1 and value.dim() > 1:
        first = indices_text(p, value.shape[0], 3)
        p.make(f"{x}[{first}, {indices_text(p, value.shape[1], 3)}]", "index by two")
    elif kind == 2 and value.dim() > 1:
        p.make(f"{x}[:, {indices_text(p, value.shape[1])}]", "index behind a slice")
    elif kind == 3 and value.dim() > 2:
        p.make(f"{x}[{indices_text(p, value.shape[0], 2)}, :, "
               f"{indices_text(p, value.shape[2], 2)}]", "index around a slice")
    else:
        names = p.names(TENSOR, lambda v: v.dtype == torch.int64 and v.dim() < 3)
        text = p.choice(names) if names and p.chance(0.4) else indices_text(
            p, value.shape[0])
        p.make(f"{x}[{text}]", "index by list")


@row(3)
def advanced_write(p):
    x = p.tensor(lambda v: v.dim() > 0)
    value = p.value(x)
    extent = value.shape[0]
    kind = p.between(0, 5)
    if kind == 0:
        p.line(f"{x}[{x} > {p.between(-2, 2)}] = {p.scalar()}", "write by mask")
    elif kind == 1:
        positions = p.random.sample(range(extent), min(extent, 2))
        p.line(f"{x}[torch.tensor({positions})] = {p.scalar()}", "write by list")
    elif kind == 2:
        p.line(f"{x}.index_fill_(0, {positive_indices(p, extent, 2)}, {p.number()})",
               "write by list")
    elif kind == 3:
        p.line(f"{x}.index_add_(0, {positive_indices(p, extent, extent)}, {x}.clone())",
               "index_add_", p.has_ints)
    elif kind == 4:
        p.line(f"{x}.scatter_(0, torch.zeros_like({x}, dtype=torch.int64)[:1], "
               f"{p.number()})", "scatter_")
    else:
        p.line(f"{x}.masked_fill_({x} == {p.between(-2, 2)}, {p.number()})", "masked_fill_")


@row(3)
def pick_elements(p):
    x = p.tensor(lambda v: v.dim() > 0)
    axis = p.axis(x)
    extent = p.value(x).shape[axis]
    texts = [f"{x}.index_select({axis}, {positive_indices(p, extent, 3)})",
             f"torch.take({x}, {indices_text(p, p.value(x).numel())})",
             f"torch.masked_select({x}, {x} > 0)", f"torch.nonzero({x})",
             f"torch.sort({x}, dim={axis}, stable=True)[0]",
             f"torch.flip({x}, [{axis}])", f"torch.roll({x}, {p.between(-2, 2)}, {axis})",
             f"torch.topk({x}, 1, {axis})[0]",
             f"torch.gather({x}, {axis}, torch.zeros_like({x}, dtype=torch.int64))",
             f"torch.repeat_interleave({x}, 2, {axis})",
             f"torch.unique({x})", f"torch.bincount({x})", f"torch.kthvalue({x}, 1, {axis})[0]"]
    p.make(p.choice(texts), "pick elements")


# ---- reductions ----


@row(4)
def reduce(p):
    x = p.tensor()
    name = p.choice(("sum", "mean", "prod", "amax", "amin", "any", "all", "argmax", "argmin",
                     "cumsum", "cumprod", "var", "std", "norm", "logsumexp", "max", "min",
                     "median", "count_nonzero", "cummax", "aminmax"))
    exact = name in ("amax", "amin", "any", "all", "max", "min", "count_nonzero", "cummax",
                     "aminmax", "median", "argmax", "argmin") or (
        p.has_ints and name in ("sum", "cumsum", "prod", "cumprod"))
    rank = p.value(x).dim()
    tail = {"max": "[0]", "min": "[0]", "median": "[0]", "cummax": "[0]", "aminmax": "[0]"}
    if name in ("cumsum", "cumprod", "cummax"):
        text = f"torch.{name}({x}, {p.axis(x)}){tail.get(name, '')}"
    elif rank and p.chance(0.7):
        keep = f", keepdim={p.choice((True, False))}" if p.chance(0.5) and (
            name not in ("count_nonzero",)) else ""
        if name == "aminmax":
            text = f"torch.aminmax({x}, dim={p.axis(x)})[0]"
        else:
            text = f"torch.{name}({x}, dim={p.axis(x)}{keep}){tail.get(name, '')}"
    elif name in ("cummax", "logsumexp", "aminmax"):
        raise Rejected
    else:
        text = f"torch.{name}({x})"
    p.make(text, "reduce " + name, exact)


@row(2)
def softmax(p):
    x = p.tensor(lambda v: v.dim() > 0, floats=True)
    p.make(f"torch.{p.choice(('softmax', 'log_softmax'))}({x}, {p.axis(x)})", "softmax",
           False)


# ---- joins ----


@row(3)
def join(p):
    x = p.tensor(lambda v: v.dim() > 0)
    y = p.tensor(lambda v: v.dim() == p.value(x).dim())
    axis = p.axis(x)
    texts = [f"torch.cat([{x}, {y}], {axis})", f"torch.stack([{x}, {y}], {axis})",
             f"torch.cat([{x}, {x}], dim={axis})", f"torch.stack([{x}, {x}])",
             f"{x}.repeat({', '.join(['2'] * p.value(x).dim())})", f"torch.tile({x}, [2])",
             f"torch.hstack([{x}, {y}])", f"torch.tril({x})", f"torch.triu({x}, 1)",
             f"torch.outer({x}, {y})",
             f"torch.broadcast_to({x}, {y}.shape)"]
    p.make(p.choice(texts), "join")


@row(2)
def product(p):
    x = p.tensor(lambda v: v.dim() > 0, floats=True)
    y = p.tensor(lambda v: v.dim() > 0, floats=True)
    texts = [f"torch.matmul({x}, {y})", f"torch.matmul({x}, {x}.transpose(-1, -2))",
             f"{x} @ {y}", f"torch.einsum('i,j->ij', {x}, {y})", f"torch.dot({x}, {x})",
             f"F.linear({x}, {y})", f"F.layer_norm({x}, [{x}.size(-1)])",
             f"F.normalize({x}, dim=0)", f"F.pad({x}, [1, 2])",
             f"torch.bmm({x}, {x}.transpose(1, 2))", f"F.one_hot({x}.long().clamp(0, 3), 4)",
             f"torch.addmm({x}, {y}, {y})"]
    p.make(p.choice(texts), "product", False)


@row(2)
def bag(p):
    """Sums over ids between offsets, of which some lie side by side."""
    found = p.names(TENSOR, lambda v: v.dim() == 2 and v.dtype in (
        torch.float32, torch.float64) and v.numel() > 0)
    rows, width = p.between(2, 5), p.between(1, 4)
    table = p.choice(found) if found and p.chance(0.6) else (
        f"torch.arange({rows * width}).reshape({rows}, {width}).float()")
    rows = p.value(table).shape[0] if table in found else rows
    count = p.between(0, 5)
    ids = positive_indices(p, rows, count) if count else "torch.zeros([0], dtype=torch.int64)"
    if p.chance(0.2):
        p.make(f"F.embedding({ids}, {table})", "embedding")
        return
    ends = sorted(p.between(0, count) for _ in range(p.between(0, 3)))
    is_last = p.chance(0.4)
    ends = [0] + ends + [count] * is_last
    given = "".join([
        f", mode='{p.choice(('sum', 'sum', 'mean', 'max'))}'" if p.chance(0.8) else "",
        ", include_last_offset=True" if is_last else "",
        f", padding_idx={p.between(0, rows - 1)}" if p.chance(0.3) else ""])
    if "mode='sum'" in given and count and p.chance(0.4):
        factors = ", ".join(str(p.choice((0.5, 2.0, -1.0))) for _ in range(count))
        given += f", per_sample_weights=torch.tensor([{factors}], dtype={table}.dtype)"
    p.make(f"F.embedding_bag({ids}, {table}, torch.tensor({ends}){given})", "embedding bag",
           p.has_ints and "sum" in given)


@row(2)
def pairs(p):
    """Complex numbers within one expression: their parts are what goes on."""
    x = p.tensor(lambda v: v.dtype in (torch.float32, torch.float64))
    y = p.tensor(lambda v: v.dtype == p.value(x).dtype and v.shape == p.value(x).shape)
    z = f"torch.complex({x}, {y})"
    p.make(p.choice((
        f"torch.view_as_real({z})", f"{z}.real", f"torch.imag({z})", f"torch.abs({z})",
        f"torch.view_as_real({z} * torch.complex({y}, {x}))", f"torch.view_as_real({z}.conj())",
        f"torch.real({z} + {p.scalar()})", f"torch.view_as_real({z} * {p.scalar()})",
        f"torch.view_as_real({z}.reshape(-1))", f"torch.angle({z})",
        f"torch.view_as_complex(torch.stack([{x}, {y}], -1)).imag",
        f"torch.view_as_real(torch.polar({x}, {y}))", f"torch.view_as_real({z} / 2)")),
        "complex", False)


# ---- numbers of Python ----


@row(4)
def integer(p):
    x = p.tensor()
    rank = p.value(x).dim()
    a, b = p.number(), p.number(1, 5)
    texts = [f"{x}.dim()", f"{x}.numel()", f"{a} + {b}", f"{a} * {b} - 1", f"{a} // {b}",
             f"{a} % {b}", f"-{b} // 2", f"max({a}, {b})", f"min({a}, {b})", f"abs({a})",
             f"int({b} / 2)", f"({b} << 1) | 1", f"{b} >> 1", f"{a} if {a} > {b} else {b}",
             f"int(round({b} * 0.5))", f"{b} ^ 3", f"{a} & 7", f"int(bool({a}))",
             f"(-{b}) % 3", f"divmod({a}, {b})[1]"]
    if rank:
        texts += [f"{x}.size({p.axis(x)})", f"{x}.shape[{p.axis(x)}] * 2", f"len({x})"] * 2
    p.make(p.choice(texts), "integer")


@row()
def integer_of_tensor(p):
    x = p.tensor(lambda v: v.numel() > 0 and bool((v.float().abs() < 50).all()))
    p.make(p.choice((f"int({x}.sum())", f"int({x}.max())", f"int({x}.reshape(-1)[0])",
                     f"int({x}.argmax())", f"int(({x} > 0).sum().item())")),
           "integer of data")


@row()
def real(p):
    a, b = p.scalar(), p.number(1, 5)
    p.make(p.choice((f"float({a})", f"{a} / {b}", f"{a} * 0.5", f"float({b}) ** 2",
                     f"{b} / 4 + {a}", f"math.sqrt({b})", f"float(int({a}))",
                     f"{a} * 1.0 // {b}", f"{a} * 1.0 % {b}")), "real")


@row()
def truth(p):
    a, b = p.scalar(), p.scalar()
    texts = [f"{a} < {b}", f"{a} == {b}", f"not ({a} > {b})", f"{a} > 0 and {b} > 0",
             f"{a} > 0 or {b} < 0", f"{p.tensor()}.is_floating_point()"]
    names = p.names(BOOL)
    if names:
        texts.append(f"not {p.choice(names)}")
    p.make(p.choice(texts), "truth")


# ---- containers ----


@row(2)
def make_list(p):
    x, y = p.tensor(), p.tensor()
    name = p.fresh()
    texts = [f"[{x}, {y}]", f"[{x} + 1, {x}]", f"[{p.number()}, {p.number()}, 2]",
             f"[i * {p.number()} for i in range({p.between(1, 4)})]"]
    value = p.value(x)
    if value.dim() and value.shape[0]:
        texts += [f"[{x}[i] for i in range(len({x}))]",
                  f"[s + 1 for s in {x}.shape]"]
    p.line(f"{name} = {p.choice(texts)}", "make list")


@row(3)
def use_list(p):
    kind = TENSORS if p.chance(0.6) else INTS
    name = p.pick(kind)
    value = p.value(name)
    item = p.tensor() if kind == TENSORS else p.number()
    position = p.between(-len(value), len(value) - 1)
    if p.chance(0.5):
        texts = [f"{name}.append({item})", f"{name}[{position}] = {item}",
                 f"{name}.insert({position}, {item})", f"{name}.reverse()",
                 f"{name} += [{item}]", f"{name}.extend([{item}])"]
        if kind == INTS:
            texts += [f"{name}.sort()", f"{name}[{position}] += 2"]
        if len(value) > 1:
            texts += [f"{name}.pop()", f"{name}.pop(0)", f"del {name}[0]"]
        p.line(p.choice(texts), "change list")
        return
    texts = [f"{name}[{position}]", f"len({name})"]
    if kind == TENSORS:
        texts += [f"torch.cat({name}, 0)", f"torch.stack({name})", f"{name}[-1] + {item}"]
    else:
        texts += [f"sum({name})", f"max({name})", f"{name}[0] * 2"]
    p.make(p.choice(texts), "read list")


@row()
def make_dict(p):
    name = p.fresh()
    p.line(f"{name} = {{'a': {p.tensor()}, 'b': {p.tensor()} + 1}}", "make dict")


@row(2)
def use_dict(p):
    name = p.pick(DICT)
    key = p.choice(("a", "b", "c"))
    if p.chance(0.5):
        p.line(p.choice((f"{name}['{key}'] = {p.tensor()}",
                         f"{name}['a'] = {name}['a'] + {p.scalar()}",
                         f"{name}['b'].add_(1)")), "change dict")
        return
    text = p.choice((f"{name}['{key}']", f"len({name})", f"{name}['a'] + {name}['b']",
                     f"torch.stack([v.sum() for v in {name}.values()])"))
    p.make(text, "read dict", p.has_ints or "sum" not in text and "+" not in text)


@row()
def unpack(p):
    a, b = p.fresh(), p.fresh()
    x = p.tensor()
    value = p.value(x)
    texts = [f"{a}, {b} = {x}, {p.tensor()}", f"{a}, {b} = {x} + 1, {x}.dim()"]
    if value.dim():
        texts += [f"{a}, {b} = torch.max({x}, {p.axis(x)})",
                  f"{a}, {b} = torch.min({x}, {p.axis(x)})",
                  f"{a}, {b} = {x}.chunk(2, {p.axis(x)})"]
    p.line(p.choice(texts), "unpack")


# ---- state ----


@row(3)
def change_state(p):
    names = [n for n in p.attributes]
    if not names:
        raise Rejected
    name = "self." + p.choice(names)
    value = p.value(name)
    kind = kind_of(value)
    if kind == TENSOR:
        p.line(p.choice((f"{name}.add_({p.number()})", f"{name} = {name} * 2",
                         f"{name}.fill_({p.number()})", f"{name} += {p.number()}",
                         f"{name}.copy_({p.tensor()})")), "state tensor", p.has_ints)
    elif kind == INT:
        p.line(p.choice((f"{name} = {name} + 1", f"{name} += {p.between(1, 3)}",
                         f"{name} = {p.number()}")), "state int")
    else:
        raise Rejected


# ---- control flow ----


def draw_body(p, lowest=1, highest=4, first=()):
    """Lines one deeper, drawn over a copy of the variables; returns their text."""
    lines, kept, counted = p.lines, p.keep(), p.count
    p.lines, p.indent, p.depth = [], p.indent + 1, p.depth + 1
    try:
        for text in first:
            p.run(text)
        wanted = p.between(lowest, highest)
        for _ in range(4 * wanted):
            draw_line(p)
            if len(p.lines) >= wanted:
                break
        if not p.lines:
            raise Rejected
        return p.lines
    finally:
        p.lines, p.indent, p.depth = lines, p.indent - 1, p.depth - 1
        p.restore(kept)
        p.count = max(counted, p.count)


def nest(p, head, body):
    """The text of a block, without the indentation that `line` adds."""
    cut = 4 * p.indent
    return head + "\n" + "\n".join(text[cut:] for text in body)


def condition(p):
    if p.chance(0.6):
        x = p.tensor(lambda v: v.numel() > 0)
        return p.choice((f"bool({x}.sum() > {p.between(-3, 3)})",
                         f"{x}.max() > {p.number()}", f"bool(({x} == {x}).all())",
                         f"({x} > 0).any()", f"{x}.reshape(-1)[0] < {p.scalar()}"))
    names = p.names(BOOL)
    if names and p.chance(0.4):
        return p.choice(names)
    x = p.tensor()
    return p.choice((f"{p.scalar()} > {p.scalar()}", f"{x}.dim() > 1",
                     f"{x}.numel() % 2 == 0", f"{p.number()} < {p.number()}"))


@row(5)
def branch(p):
    if p.depth > 2:
        raise Rejected
    text = nest(p, f"if {condition(p)}:", draw_body(p))
    if p.chance(0.6):
        text += "\n" + nest(p, "else:", draw_body(p))
    take_block(p, text, "branch")


def take_block(p, text, name, exact=True):
    """Variables that only the block makes are not there for TorchScript behind it."""
    before = set(p.env)
    p.line(text, name + (" nested" if p.depth else ""), exact)
    for made in set(p.env) - before:
        del p.env[made]


@row(5)
def loop(p):
    if p.depth > 2:
        raise Rejected
    name = f"i{p.depth}"
    trips = p.choice((str(p.between(0, 4)), p.number(0, 4)))
    names = p.names(TENSOR, lambda v: v.dim() > 0 and 0 < v.shape[0] < 6)
    if names and p.chance(0.4):
        trips = f"{p.choice(names)}.size(0)"
    first = [f"{name} = 0"]
    body = draw_body(p, first=first)
    cut = "    " * (p.indent + 1)
    if p.chance(0.15):
        body = body + [f"{cut}if {name} == 1:", f"{cut}    {p.choice(('break', 'continue'))}"]
        if p.chance(0.5):
            body = body[-2:] + body[:-2]
    take_block(p, nest(p, f"for {name} in range({trips}):", body), "for")


@row(2)
def loop_over_list(p):
    if p.depth > 2:
        raise Rejected
    name = p.pick(TENSORS)
    item = f"t{p.depth}"
    body = draw_body(p, first=[f"{item} = {name}[0]"])
    total = p.pick(TENSOR)
    if total[0] == "v":
        body = body + ["    " * (p.indent + 1) + f"{total} = {total} + {item}.sum()"]
    take_block(p, nest(p, f"for {item} in {name}:", body), "for over list", p.has_ints)


@row(2)
def while_loop(p):
    if p.depth > 1:
        raise Rejected
    name = p.fresh()
    p.line(f"{name} = 0", "integer")
    body = draw_body(p)
    body = body + ["    " * (p.indent + 1) + f"{name} += 1"]
    test = f"{name} < {p.between(1, 4)}"
    if p.chance(0.5):
        x = p.tensor(lambda v: v.numel() > 0)
        test += f" and bool({x}.sum() < {p.between(0, 40)})"
    take_block(p, nest(p, f"while {test}:", body), "while")


def note_return(p):
    try:
        p.note_return(condition(p))
    except Rejected:
        pass


def draw_line(p):
    names = list(ROWS)
    name = p.random.choices(names, [ROWS[n][1] for n in names])[0]
    try:
        ROWS[name][0](p)
    except Rejected:
        pass
