"""SPDX-License-Identifier: Apache-2.0"""
from .._tensor import Tensor


class Parameter(Tensor):
    """A tensor that modules list; it is not differentiated."""

    def __new__(cls, data, requires_grad=True):
        self = data._same(cls)
        self.__dict__["requires_grad"] = bool(requires_grad)
        return self

    def __init__(self, data=None, requires_grad=True):
        pass

    def __reduce_ex__(self, protocol):
        from .. import _utils
        return _utils._rebuild_parameter, (Tensor._of(self._data, self.shape, self.dtype),
                                           self.requires_grad, None)
