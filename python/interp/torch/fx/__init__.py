"""Graph modules as packages hold them: generated Python, and attributes.

SPDX-License-Identifier: Apache-2.0
"""
from . import _pytree, _symbolic_trace, graph_module
from .graph_module import GraphModule


def wrap(function):
    return function
