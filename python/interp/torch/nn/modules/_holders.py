"""How modules that hold others are indexed, looped over and made.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import operator

from .module import Module
from ..parameter import Parameter


class ModuleRow(Module):
    """Modules that are numbered."""

    def __init__(self, *parts):
        super().__init__()
        named = len(parts) == 1 and isinstance(parts[0], collections.OrderedDict)
        listed = len(parts) == 1 and not isinstance(parts[0], Module) and not named
        for name, part in parts[0].items() if named else enumerate(
                parts[0] or () if listed else parts):
            self.add_module(str(name), part)

    def _parts(self):
        return self.__dict__["_modules"]

    def __len__(self):
        return len(self._parts())

    def __iter__(self):
        return iter(list(self._parts().values()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            part = type(self).__new__(type(self))
            Module.__init__(part)
            return part.extend(list(self)[index])
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self)[index]

    def __setitem__(self, index, part):
        self._parts()[list(self._parts())[operator.index(index)]] = part

    def append(self, part):
        setattr(self, str(len(self)), part)
        return self

    def extend(self, parts):
        for part in parts:
            self.append(part)
        return self

    __iadd__ = extend


class ParameterRow(ModuleRow):
    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def append(self, part):
        return super().append(part if isinstance(part, Parameter) else Parameter(part))

    def _parts(self):  # tensors that are no parameters stand beside them
        own = self.__dict__
        count = own.get("_size", len(own["_parameters"]))
        return {str(i): getattr(self, str(i)) for i in range(count)}


class ModuleNames(Module):
    """Modules that have names."""

    _table = "_modules"

    def __init__(self, parts=None):
        super().__init__()
        self.update(parts or {})

    def __len__(self):
        return len(self.__dict__[self._table])

    def __iter__(self):
        return iter(self.__dict__[self._table])

    def __contains__(self, name):
        return name in self.__dict__[self._table]

    def __getitem__(self, name):
        return self.__dict__[self._table][name]

    def __setitem__(self, name, part):
        setattr(self, name, part)

    def update(self, parts):
        for name, part in dict(parts).items():
            self[name] = part

    def keys(self):
        return self.__dict__[self._table].keys()

    def values(self):
        return self.__dict__[self._table].values()

    def items(self):
        return self.__dict__[self._table].items()


class ParameterNames(ModuleNames):
    _table = "_parameters"

    def __setitem__(self, name, part):
        super().__setitem__(name, part if isinstance(part, Parameter) else Parameter(part))
