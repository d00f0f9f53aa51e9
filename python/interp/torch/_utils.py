"""What pickles call to make tensors.

SPDX-License-Identifier: Apache-2.0
"""
import math

from . import _ops
from ._tensor import Tensor, memory_as


class Storage:
    """Elements of a pickle: bytes of a package, or of another file."""

    def __init__(self, memory, kind):
        self.memory, self.kind = memoryview(memory).cast("B"), kind


def _strides(shape):
    strides, run = [], 1
    for extent in reversed(shape):
        strides.insert(0, run)
        run *= extent
    return strides


def _rebuild_tensor(storage, offset, shape, strides, kind=None):
    kind = kind or storage.kind
    size, count = kind.itemsize, math.prod(shape)
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if count else 0
    if min(shape, default=0) < 0 or min(strides, default=0) < 0 or offset < 0 or (
            count and (offset + reach) * size > len(storage.memory)):
        raise ValueError("a tensor is larger than its storage")
    memory = storage.memory[offset * size:]
    rows = all(n <= 1 or s == r for n, s, r in zip(shape, strides, _strides(shape)))
    if rows or not count:
        return Tensor._of(memory_as(memory, kind, shape), shape, kind)
    flat = Tensor._of(memory_as(memory, kind, [reach]), [reach], kind)
    return _ops.call("clone", _ops.call("as_strided", flat, list(shape), list(strides), 0))


def _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad=False, hooks=None,
                       metadata=None):
    return _rebuild_tensor(storage, offset, shape, strides)


def _rebuild_tensor_v3(storage, offset, shape, strides, requires_grad, hooks, kind,
                       metadata=None):
    return _rebuild_tensor(storage, offset, shape, strides, kind)


def _rebuild_elements(memory, kind, shape):
    """Of a tensor that was pickled here; shares the memory."""
    return Tensor._of(memory_as(memoryview(memory).cast("B"), kind, shape), shape, kind)


def _rebuild_parameter(data, requires_grad, hooks):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    made = _rebuild_parameter(data, requires_grad, hooks)
    made.__dict__.update(state if isinstance(state, dict) else {})
    return made
