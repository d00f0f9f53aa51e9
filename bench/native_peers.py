"""Libraries that are compared kernel by kernel, each behind a small shared object.

SPDX-License-Identifier: Apache-2.0

The sources stand in native/, are compiled into the cache folder when first needed, and
find their library inside the environment of bench/peers.  Loops over inputs run in C.
"""

import ctypes
import functools
import os
import pathlib
import subprocess
import sys
import sysconfig

from models import cache_folder

NATIVE = pathlib.Path(__file__).resolve().parent / "native"
PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
PREFIX = pathlib.Path(sys.prefix)
PYTHON_TAG = sysconfig.get_config_var("EXT_SUFFIX")

# {peer: (source, folder of its library, name of its library)}; more of the source, where
# there is any, stands in MORE.
SOURCES = {
    "onednn": ("gemm_onednn.c", PREFIX / "lib", "libdnnl.so"),
    "mkl": ("gemm_mkl.c", PREFIX / "lib", "libmkl_rt.so.3"),
    "openblas": (
        "gemm_openblas.c",
        PACKAGES / "scipy_openblas64" / "lib",
        "libscipy_openblas64_.so",
    ),
    "blis": ("gemm_blis.c", PACKAGES / "blis", f"cy{PYTHON_TAG}"),
    "fbgemm": ("bag_fbgemm.cpp", PACKAGES / "fbgemm_gpu", "fbgemm.so"),
    "loop": ("loop.c", None, None),
    "serve": ("serve.c", None, None),
}
MORE = {"serve": [NATIVE.parents[1] / "tools" / "ingot" / "measure" / "load_generator.c"]}


class Range(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_long),
        ("count", ctypes.c_long),
        ("sets", ctypes.c_long),
        ("threads", ctypes.c_int),
    ]


def compile_command(sources, folder, library, target):
    is_cpp = sources[0].suffix == ".cpp"
    compiler = ["g++", "-std=c++17"] if is_cpp else ["cc", "-std=gnu11", "-D_GNU_SOURCE"]
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", target, *sources]
    root = NATIVE.parents[1]
    flags += [f"-I{root}", f"-I{root / 'include'}", f"-I{PREFIX / 'include'}"]
    flags += ["-Wl,--no-as-needed", "-l:libgomp.so.1"] if library else []
    if library:
        # An old-style RPATH also serves what the library itself needs.
        flags += [f"-L{folder}", f"-Wl,--disable-new-dtags,-rpath,{folder}"]
        flags += [f"-l:{library}"]
        flags += ["-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{PREFIX / 'lib'}"]
    return compiler + flags + ["-lm"]


@functools.cache
def load_native(name):
    source, folder, library = SOURCES[name]
    sources = [NATIVE / source, *MORE.get(name, [])]
    newest = max(map(os.path.getmtime, sources))
    target = cache_folder() / f"native_{name}.so"
    if not target.exists() or os.path.getmtime(target) < newest:
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(compile_command(sources, folder, library, target), check=True)
    return ctypes.CDLL(str(target))


@functools.cache
def loops():
    lib = load_native("loop")
    lib.loop_peer.restype = lib.loop_session.restype = ctypes.c_double
    return lib


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])


class SessionLoop:
    """An Ingot session on sets of inputs and outputs of the same shapes.

    As a caller would, it keeps its views and fills in addresses.
    """

    def __init__(self, session, bindings, threads):
        self.session, self.threads = session, threads
        first = bindings[0]
        self.counts = (ctypes.c_size_t * 2)(len(first.inputs), len(first.outputs))
        both = [*first.inputs, *first.outputs]
        self.views = (type(both[0]) * len(both))(*both)
        self.bindings = bindings
        self.addresses = [pointers(b.arrays) for b in bindings]
        sets = map(ctypes.addressof, self.addresses)
        self.table = (ctypes.c_void_p * len(bindings))(*sets)

    def seconds(self, first, count, sets):
        reach = Range(first, count, sets, self.threads)
        run = ctypes.cast(self.session.run_function, ctypes.c_void_p)
        handle, counts = self.session.handle, self.counts
        each = loops().loop_session(
            run, handle, self.views, self.table, counts, ctypes.byref(reach)
        )
        if each < 0:
            raise RuntimeError(self.session.lib.ig_session_error(self.session.handle))
        return each


class PeerLoop:
    """A peer's run(handle, in, out) on sets of inputs and outputs."""

    def __init__(self, run, handle, inputs, outputs, threads):
        self.run_pointer = ctypes.cast(run, ctypes.c_void_p)
        self.handle, self.threads = ctypes.c_void_p(handle), threads
        self.tables = inputs, outputs

    def seconds(self, first, count, sets):
        reach = Range(first, count, sets, self.threads)
        ins, outs = self.tables
        return loops().loop_peer(
            self.run_pointer, self.handle, ins, outs, ctypes.byref(reach)
        )
