"""torch.nn's layers, written from the compiler's table of them.

A layer comes out of a pickle with its attributes; its forward is the table's, in TorchScript's
dialect, which is Python.  SPDX-License-Identifier: Apache-2.0
"""
import sys
import types

import torch

from . import container, module, written
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .module import Module
from ..._tables import ABSENT_ATTRIBUTES, LAYERS

# Attributes of layers without weights, which code may make itself.
_MADE = {
    "Identity": {}, "Tanh": {}, "Sigmoid": {}, "Softsign": {}, "LogSigmoid": {}, "Tanhshrink": {},
    "ReLU": {"inplace": False}, "ReLU6": {"inplace": False}, "SiLU": {"inplace": False},
    "Mish": {"inplace": False}, "Hardswish": {"inplace": False}, "Hardsigmoid": {"inplace": False},
    "SELU": {"inplace": False}, "GELU": {"approximate": "none"}, "Softmax": {"dim": None},
    "LogSoftmax": {"dim": None}, "Softmin": {"dim": None}, "GLU": {"dim": -1},
    "LeakyReLU": {"negative_slope": 0.01, "inplace": False},
    "ELU": {"alpha": 1.0, "inplace": False}, "CELU": {"alpha": 1.0, "inplace": False},
    "Softplus": {"beta": 1.0, "threshold": 20.0}, "Flatten": {"start_dim": 1, "end_dim": -1},
    "Dropout": {"p": 0.5, "inplace": False},
}


def _raise(message):
    raise NotImplementedError(message)


_dialect = types.SimpleNamespace(prim=types.SimpleNamespace(
    RaiseException=_raise, dtype=lambda x: x.dtype.code, device=lambda x: x.device))
_NAMES = {"torch": torch, "ops": _dialect, "inf": float("inf"), "nan": float("nan"),
          "annotate": lambda kind, value: value, "unchecked_cast": lambda kind, value: value,
          "List": list, "Tuple": tuple, "Tensor": torch.Tensor, "Optional": {}.get, "int": int,
          "float": float}


class _Layer(Module):
    """Of torch.nn; its class says which."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        made = _MADE.get(type(self).__name__)
        if made is None:
            raise NotImplementedError(
                f"nn.{type(self).__name__}(…) draws its weights at random, which would not be "
                "torch's: load it from a package or a pickle")
        if len(args) > len(made):
            raise TypeError(f"nn.{type(self).__name__} takes {len(made)} arguments")
        self.__dict__.update(made)
        self.__dict__.update(zip(made, args))
        for name, value in kwargs.items():
            if name not in made:
                raise TypeError(f"nn.{type(self).__name__} has no argument '{name}'")
            self.__dict__[name] = value


def _forward_of(name, parameters, body):
    if name in written.FORWARDS:
        return written.FORWARDS[name]
    if body is None:
        def forward(self, *args, **kwargs):
            raise NotImplementedError(f"nn.{name} runs compiled only, not in an interpreter")
        return forward
    code = f"from __future__ import annotations\ndef forward(self, {parameters}):\n{body}"
    names = dict(_NAMES)
    exec(compile(code, f"<torch.nn.{name}>", "exec"), names)  # noqa: S102 - our own table
    plain = names["forward"]

    def forward(self, *args, **kwargs):
        result = plain(self, *args, **kwargs)
        if self.__dict__.get("inplace"):
            return args[0]._take(result) if args else next(iter(kwargs.values()))._take(result)
        return result
    return forward


def _module_of(name):
    full = f"{__name__}.{name}"
    if full not in sys.modules:
        made = types.ModuleType(full)
        sys.modules[full] = made
        globals()[name] = made
    return sys.modules[full]


def _make_layers():
    for modules, classes, parameters, body in LAYERS:
        for name in classes.split("|"):
            home = _module_of(modules)
            if not hasattr(home, name):
                made = type(name, (_Layer,), {"forward": _forward_of(name, parameters, body),
                                              "__module__": home.__name__})
                setattr(home, name, made)
                globals()[name] = made
    for modules, classes, attribute, value in ABSENT_ATTRIBUTES:
        for name in classes.split("|"):
            setattr(getattr(_module_of(modules), name), attribute, value)


_make_layers()
