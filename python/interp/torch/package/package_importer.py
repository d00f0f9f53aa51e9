"""Modules and objects of a torch.package archive.

Weights are views of the archive's memory: an archive that is mapped is never copied.
SPDX-License-Identifier: Apache-2.0
"""
import builtins
import importlib
import io
import itertools
import mmap
import os
import pickle
import types
import zipfile

from .. import _dtypes
from .._utils import Storage

_numbers = itertools.count()
LOCAL_HEADER = 30  # bytes before a record's name
ALIGNMENT = 16  # of the largest element


class _View(io.RawIOBase):
    """Memory as a file."""

    def __init__(self, memory):
        self.memory, self.at = memory, 0

    def readable(self):
        return True

    seekable = readable

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, len(self.memory))[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, to):
        part = self.memory[self.at:self.at + len(to)]
        to[:len(part)] = part
        self.at += len(part)
        return len(part)


class _Archive:
    """Records of a package, below its one top folder."""

    def __init__(self, memory):
        self.memory = memory
        self.zip = zipfile.ZipFile(io.BufferedReader(_View(memory)))
        names = self.zip.namelist()
        if not names:
            raise ValueError("the archive is empty")
        self.top = names[0].partition("/")[0] + "/"
        self.names = {n[len(self.top):] for n in names if n.startswith(self.top)}

    def read(self, name):
        return self.zip.read(self.top + name)

    def view(self, name):
        """Its bytes where they lie, if they are stored as they are."""
        info = self.zip.getinfo(self.top + name)
        if info.compress_type != zipfile.ZIP_STORED:
            return memoryview(self.read(name))
        head = self.memory[info.header_offset:info.header_offset + LOCAL_HEADER]
        if bytes(head[:4]) != b"PK\x03\x04":
            raise ValueError(f"record '{name}' is not where the archive says")
        start = info.header_offset + LOCAL_HEADER + int.from_bytes(
            head[26:28], "little") + int.from_bytes(head[28:30], "little")
        if start + info.file_size > len(self.memory):
            raise ValueError(f"record '{name}' is longer than the archive")
        content = self.memory[start:start + info.file_size]
        # torch aligns records; who packed the archive anew may not have.
        return content if start % ALIGNMENT == 0 else memoryview(bytes(content))


def _open(file):
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as f:
            return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
    if hasattr(file, "read"):
        file = file.read()
    return memoryview(file).cast("B")


class _Unpickler(pickle.Unpickler):
    def __init__(self, importer, data):
        super().__init__(io.BytesIO(data))
        self.importer, self.storages, self.reduced = importer, {}, {}

    def find_class(self, module, name):
        found = self.importer.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def persistent_load(self, saved):
        kind, *rest = saved
        if kind == "storage":
            return self._storage(rest[0], rest[1])
        if kind == "reduce_package":
            key, function, args = rest if len(rest) == 3 else (None, *rest)
            if key is None or key not in self.reduced:
                made = function(self.importer, *args)
                if key is None:
                    return made
                self.reduced[key] = made
            return self.reduced[key]
        raise pickle.UnpicklingError(f"a package holds no '{kind}'")

    def _storage(self, kind, key):
        if key not in self.storages:
            self.storages[key] = Storage(
                self.importer._archive.view(f".data/{key}.storage"), kind.dtype)
        return self.storages[key]


class PackageImporter:
    """file_or_buffer: a path, which is mapped, a file, or memory, which is kept.

    module_allowed(name): whether a module from outside of the package may be imported."""

    def __init__(self, file_or_buffer, module_allowed=lambda name: True):
        self._archive = _Archive(_open(file_or_buffer))
        names = self._archive.names
        if "byteorder" in names and self._archive.read("byteorder") != b"little":
            raise NotImplementedError("a package of big-endian numbers")
        text = (self._archive.read(".data/extern_modules").decode()
                if ".data/extern_modules" in names else "")
        self._extern = set(text.split())
        for name in self._extern:
            if not module_allowed(name):
                raise ImportError(f"the package needs '{name}', which is not allowed")
        self._id = f"<torch_package_{next(_numbers)}>"
        self._builtins = dict(vars(builtins), __import__=self._import)
        self._sources = {}  # name -> path and whether it is a package; None: a folder
        for name in names:
            if name.endswith(".py") and not name.startswith(".data/"):
                self._add_source(name)
        self.modules = {"torch_package_importer": self}

    def _add_source(self, path):
        parts = path[:-len(".py")].split("/")
        is_package = parts[-1] == "__init__"
        parts = parts[:-1] if is_package else parts
        self._sources[".".join(parts)] = (path, is_package)
        for i in range(1, len(parts)):
            self._sources.setdefault(".".join(parts[:i]), (None, True))

    def id(self):  # noqa: A003
        return self._id

    def python_version(self):
        has = ".data/python_version" in self._archive.names
        return self._archive.read(".data/python_version").decode().strip() if has else None

    # ---- modules ----

    def import_module(self, name, package=None):
        if name.startswith("."):
            name = importlib.util.resolve_name(name, package)
        if name.startswith(self._id + "."):
            name = name[len(self._id) + 1:]
        if name in self.modules:
            return self.modules[name]
        if self._is_extern(name):
            return self._import_extern(name)
        if name not in self._sources:
            raise ModuleNotFoundError(
                f"No module named '{name}' in the package, nor among what it may import",
                name=name)
        return self._load(name)

    def _is_extern(self, name):
        if name in self._sources:
            return False
        parts = name.split(".")
        return any(".".join(parts[:i]) in self._extern for i in range(1, len(parts) + 1)) or any(
            n.startswith(name + ".") for n in self._extern)

    @staticmethod
    def _import_extern(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            if not name.startswith("numpy._core"):
                raise
            return importlib.import_module(name.replace("._core", ".core", 1))  # numpy < 2

    def _load(self, name):
        parent, _, last = name.rpartition(".")
        if parent:
            self.import_module(parent)
            if name in self.modules:
                return self.modules[name]
        path, is_package = self._sources[name]
        full = f"{self._id}.{name}"
        module = types.ModuleType(full)
        module.__file__ = f"{self._id}.{path}"
        module.__package__ = full if is_package else full.rpartition(".")[0]
        module.__builtins__ = self._builtins
        module.__torch_package__ = True
        if is_package:
            module.__path__ = [module.__file__]
        self.modules[name] = module
        try:
            if path:
                source = self._archive.read(path)
                exec(compile(source, module.__file__, "exec", dont_inherit=True),  # noqa: S102
                     module.__dict__)
        except BaseException:
            del self.modules[name]
            raise
        if parent:
            setattr(self.modules[parent], last, module)
        return module

    def _import(self, name, names=None, local=None, fromlist=(), level=0):
        """__import__ of the package's modules."""
        if level:
            base = (names or {}).get("__package__") or ""
            base = base[len(self._id) + 1:] if base.startswith(self._id) else base
            parts = base.split(".") if base else []
            if level > len(parts):
                raise ImportError("attempted relative import beyond top-level package")
            above = ".".join(parts[:len(parts) - level + 1])
            name = f"{above}.{name}" if name else above
        module = self.import_module(name)
        if not fromlist:
            return self.import_module(name.partition(".")[0])
        if hasattr(module, "__path__"):
            wanted = getattr(module, "__all__", ()) if "*" in fromlist else fromlist
            for part in wanted:
                if not hasattr(module, part):
                    try:
                        self.import_module(f"{name}.{part}")
                    except ModuleNotFoundError as error:
                        if error.name != f"{name}.{part}":
                            raise
        return module

    # ---- resources ----

    def _record(self, package, resource):
        path = f"{package.replace('.', '/')}/{resource}"
        if path not in self._archive.names:
            raise FileNotFoundError(f"the package holds no '{path}'")
        return path

    def load_binary(self, package, resource):
        return self._archive.read(self._record(package, resource))

    def load_text(self, package, resource, encoding="utf-8", errors="strict"):
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package, resource, map_location=None):
        return _Unpickler(self, self.load_binary(package, resource)).load()
