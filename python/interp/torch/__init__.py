"""A module of torch's shape over Ingot, for model code that runs in embedded interpreters.

Tensors, operators, torch.nn's layers as they come out of packages, torch.package's importer.
Operators are compiled by Ingot, one by one; nothing is differentiated, and nothing random is
drawn.  What is not here says so.  SPDX-License-Identifier: Apache-2.0
"""
import importlib as _importlib
import math as _math
import types as _types

from . import _dtypes, _ops, _utils
from ._dtypes import dtype
from ._tensor import Size, Tensor, device, from_buffer, from_numpy, tensor

__version__ = "2.0.0+ingot"
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
strided, contiguous_format, preserve_format = "strided", 0, 1
for _d in _dtypes.ALL:
    globals()[_d.name] = _d
for _alias, _name in _dtypes.ALIASES.items():
    globals()[_alias] = _dtypes.BY_NAME[_name]
for _kind, _name in _dtypes.STORAGES.items():
    globals()[_kind + "Storage"] = type(_kind + "Storage", (),
                                        {"dtype": _dtypes.BY_NAME[_name]})
UntypedStorage = type("UntypedStorage", (), {"dtype": _dtypes.BY_NAME["uint8"]})

as_tensor = asarray = lambda data, dtype=None, device=None: (
    data.to(dtype) if isinstance(data, Tensor) else tensor(data, dtype))


class _Quiet:
    """What changes how torch differentiates: nothing here."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def __call__(self, function):
        return function


no_grad = inference_mode = enable_grad = set_grad_enabled = _Quiet


def is_tensor(x):
    return isinstance(x, Tensor)


def is_grad_enabled():
    return False


def is_floating_point(x):
    return x.is_floating_point()


def numel(x):
    return x.numel()


def equal(a, b):
    return a.shape == b.shape and a.dtype is b.dtype and _ops.call("all", a == b).item()


def get_default_dtype():
    return _dtypes.BY_NAME["float32"]


def manual_seed(seed):
    """Nothing random is drawn."""


_MADE_OF_EXTENTS = {"zeros", "ones", "empty"}
_WITHOUT_MEANING = {"device", "requires_grad", "layout", "pin_memory", "memory_format"}


def _operator(name):
    if not _ops.is_known(name):
        raise AttributeError(f"module 'torch' has no attribute '{name}' here")

    def operate(*args, **kwargs):
        if name in _MADE_OF_EXTENTS and args and not isinstance(args[0], (list, tuple)):
            args = (list(args),)
        if kwargs.get("requires_grad"):
            raise NotImplementedError("requires_grad: nothing is differentiated here")
        kwargs = {k: v for k, v in kwargs.items() if k not in _WITHOUT_MEANING}
        if name.endswith("_") and not name.endswith("__"):
            return args[0]._take(_ops.call(name[:-1], *args, **kwargs))
        return _ops.call(name, *args, **kwargs)
    operate.__name__ = operate.__qualname__ = name
    operate.__module__ = "torch"
    operate.default = operate  # torch.ops.aten.relu.default
    return operate


def __getattr__(name):
    """Operators, by their name."""
    return globals().setdefault(name, _operator(name))


class _Aten:
    """torch.ops.aten: operators, whatever torch has of the same name."""

    def __getattr__(self, name):
        self.__dict__[name] = _operator(name)
        return self.__dict__[name]


def _load_library(path):
    raise OSError(f"{path}: libraries of operators are not loaded here")


ops = _types.SimpleNamespace(aten=_Aten(), load_library=_load_library)

def _assert(condition, message):
    assert condition, message


def compile(model=None, **how):  # noqa: A001 - Python runs it as it is
    return (lambda given: given) if model is None else model


class _Family:
    """torch.linalg: norm is the operator linalg_norm."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        self.__dict__[name] = _operator(f"{self._name}_{name}")
        return self.__dict__[name]


linalg, fft, special = map(_Family, ("linalg", "fft", "special"))

for _part in ("autograd", "backends", "compiler", "cuda", "distributed", "fx", "jit", "library",
              "nn", "onnx", "package", "utils"):  # some are called as operators are
    _importlib.import_module(f"torch.{_part}")

from ._methods import norm as _norm  # noqa: E402
from .functional import norm, split, tensordot  # noqa: E402

Tensor.norm = _norm


def _add_inner_names():
    """Where pickles find operators that were given as functions: torch._C._nn.gelu."""
    import sys
    import types
    inner = types.ModuleType("torch._C")
    for name in ("_nn", "_VariableFunctions"):
        part = types.ModuleType(f"torch._C.{name}")
        part.__getattr__ = __getattr__
        setattr(inner, name, part)
        sys.modules[part.__name__] = part
    inner._VariableFunctionsClass = inner._VariableFunctions
    inner._log_api_usage_once = lambda text: None
    inner.DisableTorchFunctionSubclass = inner._ExcludeDispatchKeyGuard = _Quiet
    sys.modules["torch._C"] = inner
    return inner


_C = _add_inner_names()
_importlib.import_module("torch._shells")
