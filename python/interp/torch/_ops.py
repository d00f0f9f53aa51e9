"""Operators: each call is a TorchScript program of one line, compiled for the types of its
arguments and kept.

So there is no operator here: names, overloads, broadcasting and promotion are those of the
compiler.  SPDX-License-Identifier: Apache-2.0
"""
import collections
import functools
import io
import operator
import re
import zipfile

import ingot

from . import _dtypes
from ._tables import SCHEMAS

KEPT_PROGRAMS = 4096
# What draws numbers would have to draw torch's.
RANDOM = re.compile(r"(rand|normal|bernoulli|multinomial|dropout|uniform|exponential)")
_RETURNS = re.compile(r"-> \((.+)\)$")


class Schema:
    """What all overloads of a name say together."""

    def __init__(self):
        self.is_view = False  # a result may share the memory of an argument
        self.results = set()  # tuples of names, where there are several


def _read_schemas():
    known = collections.defaultdict(Schema)
    for text in SCHEMAS:
        head, _, results = text.rpartition(" -> ")
        name = head.partition("(")[0].removeprefix("aten::").partition(".")[0]
        known[name].is_view |= bool(re.search(r"\([a-z]+(\|[a-z])*\)|\(a ->", results))
        if results.startswith("(") and results.endswith(")") and "," in results:
            parts = results[1:-1].split(", ")
            known[name].results.add(tuple(p.split(" ")[-1] if " " in p else "" for p in parts))
    return dict(known)


KNOWN = _read_schemas()


def is_known(name):
    return name in KNOWN or (name.endswith("_") and name[:-1] in KNOWN)


# ---- programs ----

def _archive(code):
    """A TorchScript file of class M, which has no attributes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("op/data.pkl", b"\x80\x02c__torch__\nM\n)\x81}b.")
        z.writestr("op/code/__torch__.py", code)
        z.writestr("op/constants.pkl", b"\x80\x02).")
        z.writestr("op/version", b"3\n")
    return file.getvalue()


def _compile(types, lines):
    """A program of these lines over tensors x0, x1 … of these types."""
    parameters = "".join(f", x{i}: Tensor" for i in range(len(types)))
    code = ("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
            f"  def forward(self: __torch__.M{parameters}):\n" +
            "".join(f"    {line}\n" for line in lines))
    inputs = [f"x{i}={kind}" for i, kind in enumerate(types)]
    return ingot.compile(_archive(code), inputs=inputs)


def _program_of(name, types, arguments):
    """The program of a call, and the names of its results where there are several.

    The number of results is the overload's, which is the compiler's choice: the most are
    tried first, and it refuses to unpack what is fewer."""
    call = f"torch.{name}({arguments})"
    known = KNOWN.get(name)
    for names in sorted(known.results if known else (), key=lambda n: (-len(n), n)):
        unpacked = ", ".join(f"_{i}" for i in range(len(names)))
        try:
            return _compile(types, [f"{unpacked} = {call}", f"return ({unpacked})"]), names
        except ingot.InvalidError:
            continue
        except ingot.UnsupportedError:
            continue
    return _compile(types, [f"return {call}"]), None


@functools.lru_cache(KEPT_PROGRAMS)
def _kept_program(name, types, arguments):
    program, names = _program_of(name, types, arguments)
    if names and all(names):
        return program, collections.namedtuple(name, names, rename=True)
    return program, (lambda *items: items) if names else None


# ---- calls ----

class _Arguments:
    """Text of a call's arguments; tensors become x0, x1 …"""

    def __init__(self):
        self.tensors, self.types = [], []

    def text(self, value):
        from ._tensor import Tensor
        if isinstance(value, Tensor):
            self.tensors.append(value._data)
            self.types.append(f"{value.dtype.text}[{', '.join(map(str, value.shape))}]")
            return f"x{len(self.tensors) - 1}"
        if isinstance(value, (list, tuple)):
            # One without items would be a list of tensors, in TorchScript's words.
            items = ", ".join(map(self.text, value))
            return f"[{items}]" if value else "annotate(List[int], [])"
        if isinstance(value, _dtypes.dtype):
            return str(value.code)
        if isinstance(value, float):
            return _float_text(value)
        if isinstance(value, str):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if hasattr(value, "__index__"):
            return repr(operator.index(value))
        if hasattr(value, "_is_device"):
            return 'torch.device("cpu")'
        if hasattr(value, "__float__") and not hasattr(value, "shape"):
            return _float_text(float(value))
        raise TypeError(f"operators do not take a {type(value).__name__}")


def _float_text(value):
    if value != value or value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    return repr(value)


def _result(value):
    from ._tensor import Tensor
    if hasattr(value, "__array_interface__"):  # what programs give once numpy was imported
        value = value.base.obj
    if isinstance(value, ingot.Tensor):
        return Tensor._of(value, value.shape, _dtypes.BY_TEXT[value.dtype])
    if isinstance(value, (list, tuple)):
        return type(value)(_result(item) for item in value)
    return value


def call(name, *args, **kwargs):
    """torch.name(*args, **kwargs), where it changes none of its arguments."""
    if RANDOM.search(name) and not _is_still(name, args, kwargs):
        raise NotImplementedError(f"torch.{name} draws random numbers, which would not be torch's")
    if _needs_training(name, args):
        raise NotImplementedError(f"torch.{name} in training draws random numbers or changes its "
                                  "state: call .eval() first")
    known = KNOWN.get(name)
    if not known:
        raise AttributeError(f"torch has no '{name}' here")
    given = _Arguments()
    parts = [given.text(a) for a in args]
    parts += [f"{key}={given.text(a)}" for key, a in kwargs.items() if key != "out"]
    if kwargs.get("out") is not None:
        raise NotImplementedError(f"torch.{name}: out= is not supported")
    program, several = _kept_program(name, tuple(given.types), ", ".join(parts))
    outcome = program(*given.tensors)
    results = several(*map(_result, outcome)) if several else _result(outcome)
    if known.is_view and not _is_new(name, args[0], results):
        from . import _views
        _views.link_results(results, args[0], name, args[1:], kwargs)
    return results


def _is_new(name, source, results):
    """Elements of another type are no view of the source's."""
    return name == "to" and results.dtype is not source.dtype


def _needs_training(name, args):
    """A norm that keeps statistics, layers of rnn with dropout between them."""
    if name in ("batch_norm", "instance_norm"):
        return name == "batch_norm" and len(args) > 5 and args[5] and args[3] is not None
    return name in ("lstm", "gru", "rnn_tanh", "rnn_relu") and len(args) > 6 and bool(
        args[5] and args[6])


def _is_still(name, args, kwargs):
    """dropout outside of training."""
    training = kwargs.get("training", kwargs.get("train", args[2] if len(args) > 2 else None))
    return name.endswith("dropout") and training is False
