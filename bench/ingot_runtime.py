"""The C runtime from Python, by ctypes: what include/ingot/runtime.h says, no more.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import functools
import os
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", ROOT / "build" / "release"))
MAX_RANK = 8
MESSAGE_SIZE = 1024
LOADS = {"mapped": 0, "hugepage": 1}
DTYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
          "float64": 11}
DTYPE_NAMES = {code: name for name, code in DTYPES.items()}


class View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("capacity", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_uint32),
        ("dims", ctypes.c_int64 * MAX_RANK),
        ("memory", ctypes.c_int32),
        ("device", ctypes.c_int32),
    ]


class ProgramOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("message", ctypes.c_char_p),
        ("message_size", ctypes.c_size_t),
        ("load", ctypes.c_int),
        ("level", ctypes.c_char_p),
        ("weights_path", ctypes.c_char_p),
        ("files", ctypes.c_void_p),
        ("file_count", ctypes.c_size_t),
        ("check_weights", ctypes.c_int),
    ]


class SessionOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("message", ctypes.c_char_p),
        ("message_size", ctypes.c_size_t),
        ("pool", ctypes.c_void_p),
        ("threads", ctypes.c_int),
        ("allocate", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("memory_user", ctypes.c_void_p),
        ("arena", ctypes.c_void_p),
        ("arena_size", ctypes.c_size_t),
    ]


class IngotError(RuntimeError):
    pass


@functools.cache
def load_library(build=BUILD):
    """The runtime of a build; two builds may be loaded side by side."""
    lib = ctypes.CDLL(str(build / "libingot-runtime.so"))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    views = ctypes.POINTER(View)
    lib.ig_program_open.argtypes = [ctypes.c_char_p, pointer, ctypes.POINTER(pointer)]
    lib.ig_program_close.argtypes = [pointer]
    lib.ig_session_create.argtypes = [pointer, pointer, ctypes.POINTER(pointer)]
    lib.ig_session_destroy.argtypes = [pointer]
    lib.ig_session_run.argtypes = [pointer, views, size, views, size]
    lib.ig_session_error.argtypes = [pointer]
    lib.ig_session_error.restype = ctypes.c_char_p
    for name in ("ig_runtime_level", "ig_runtime_version"):
        getattr(lib, name).restype = ctypes.c_char_p
    for name in ("ig_program_input_count", "ig_program_output_count"):
        getattr(lib, name).argtypes = [pointer]
        getattr(lib, name).restype = size
    return lib


def view_of(array):
    """A view of an array, which must outlive it."""
    view = View(array.ctypes.data, array.nbytes, DTYPES[array.dtype.name], array.ndim)
    view.dims[: array.ndim] = array.shape
    return view


def open_handle(call, options, *before):
    """Runs an open or create with a place for its message."""
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    options.size = ctypes.sizeof(options)
    options.message = ctypes.cast(message, ctypes.c_char_p)
    options.message_size = MESSAGE_SIZE
    handle = ctypes.c_void_p()
    status = call(*before, ctypes.byref(options), ctypes.byref(handle))
    if status != 0:
        raise IngotError(message.value.decode() or f"status {status}")
    return handle


class Program:
    def __init__(self, path, load="mapped", build=BUILD):
        self.lib = load_library(build)
        options = ProgramOptions(load=LOADS[load])
        self.handle = open_handle(self.lib.ig_program_open, options, os.fsencode(path))

    def close(self):
        self.lib.ig_program_close(self.handle)
        self.handle = None

    def session(self, threads=1):
        return Session(self, threads)


class Binding:
    """The views of one call; keeps the arrays behind them alive."""

    def __init__(self, inputs, outputs):
        self.arrays = [np.asarray(a, order="C") for a in inputs] + list(outputs)
        self.inputs = (View * len(inputs))(*map(view_of, self.arrays[: len(inputs)]))
        self.outputs = (View * len(outputs))(*map(view_of, outputs))


class BenchViews(ctypes.Structure):
    """bench_views of calibrate.c."""

    _fields_ = [
        ("inputs", ctypes.c_void_p),
        ("input_count", ctypes.c_size_t),
        ("outputs", ctypes.c_void_p),
        ("output_count", ctypes.c_size_t),
    ]

    @classmethod
    def of(cls, binding):
        ins, outs = binding.inputs, binding.outputs
        return cls(ctypes.addressof(ins), len(ins), ctypes.addressof(outs), len(outs))


class Session:
    def __init__(self, program, threads):
        self.lib = program.lib
        options = SessionOptions(threads=threads)
        create = self.lib.ig_session_create
        self.handle = open_handle(create, options, program.handle)
        self.run_function = self.lib.ig_session_run

    def close(self):
        self.lib.ig_session_destroy(self.handle)
        self.handle = None

    def run(self, binding):
        """Binds and runs."""
        ins, outs = binding.inputs, binding.outputs
        if self.run_function(self.handle, ins, len(ins), outs, len(outs)) != 0:
            raise IngotError(self.lib.ig_session_error(self.handle).decode())
