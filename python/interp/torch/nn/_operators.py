"""Functions of torch.nn.functional that are the operator of the same name.

SPDX-License-Identifier: Apache-2.0
"""
from .. import _ops


def __getattr__(name):
    if not _ops.is_known(name):
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}' here")

    def function(input, *args, inplace=False, **kwargs):  # noqa: A002
        made = _ops.call(name, input, *args, **kwargs)
        return input._take(made) if inplace else made
    function.__name__ = function.__qualname__ = name
    function.__module__ = "torch.nn.functional"
    globals()[name] = function
    return function
