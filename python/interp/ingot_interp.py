"""What libingot-interp asks of a Python: packages, and objects that move between interpreters.

SPDX-License-Identifier: Apache-2.0
"""
import gc
import io
import pickle
import types

_packages = {}  # number of the library's -> importer


def _of_ours(torch):
    return hasattr(torch, "from_buffer")


def as_tensor(view):
    """A tensor over the caller's memory."""
    import torch
    if _of_ours(torch):
        return torch.from_buffer(view)
    import numpy
    return torch.from_numpy(numpy.asarray(view))


def load_package(number, memory):
    import torch
    from torch.package import PackageImporter
    importer = PackageImporter(memory if _of_ours(torch) else io.BytesIO(memory))
    _packages[number] = importer
    return importer


def unload_package(number):
    _packages.pop(number, None)
    gc.collect()  # an importer and its modules refer to each other


def load_pickle(importer, module, resource):
    return importer.load_pickle(module, resource)


# ---- objects that move ----

def find(number, module, name):
    """A class or function of a package's module."""
    found = _packages[number].import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Pickler(pickle.Pickler):
    """Buffers go beside the text; what a package defines is told by its number."""

    def __init__(self, file):
        self.buffers, self.used = [], set()
        keep = self.buffers.append  # not a method of ours: that would be a cycle
        super().__init__(file, 5, buffer_callback=lambda buffer: keep(buffer.raw()))

    def reducer_override(self, value):
        if not isinstance(value, (type, types.FunctionType)):
            return NotImplemented
        module = getattr(value, "__module__", None) or ""
        for number, importer in _packages.items():
            if module.startswith(importer.id() + "."):
                self.used.add(number)
                return find, (number, module[len(importer.id()) + 1:], value.__qualname__)
        return NotImplemented


def dump(value):
    """Its pickle, the buffers beside, the numbers of the packages that it needs."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.buffers, sorted(pickler.used)


def load(memory, parts):
    """The reverse; parts: where in the memory the pickle and each buffer lie."""
    text, *buffers = (memory[start:start + size] for start, size in parts)
    return pickle.loads(text, buffers=buffers)
