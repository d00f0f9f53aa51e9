"""Modules that hold modules.  How one of them is indexed and looped over is the evaluator's, and
for interpreters in _holders.py.  SPDX-License-Identifier: Apache-2.0
"""
from ._holders import ModuleNames, ModuleRow, ParameterNames, ParameterRow


class Sequential(ModuleRow):
    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class Container(ModuleRow):
    pass


class ModuleList(ModuleRow):
    pass


class ModuleDict(ModuleNames):
    pass


class ParameterList(ParameterRow):
    pass


class ParameterDict(ParameterNames):
    pass
