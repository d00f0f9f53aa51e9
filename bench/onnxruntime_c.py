"""ONNX Runtime's C interface by ctypes: sessions that are called without Python.

SPDX-License-Identifier: Apache-2.0

The package brings the library and no header.  Its interface is a table of functions that
only grows, so a function is named by its place in it.
"""

import ctypes
import functools
import os
import pathlib

VERSION = 17  # of the table: the oldest that has all of these
FUNCTIONS = {
    "GetErrorMessage": 2,
    "CreateEnv": 3,
    "CreateSession": 7,
    "CreateSessionOptions": 10,
    "SetSessionGraphOptimizationLevel": 23,
    "SetIntraOpNumThreads": 24,
    "SetInterOpNumThreads": 25,
    "SessionGetInputCount": 30,
    "SessionGetInputName": 36,
    "SessionGetOutputName": 37,
    "CreateTensorWithDataAsOrtValue": 49,
    "CreateCpuMemoryInfo": 69,
    "GetAllocatorWithDefaultOptions": 78,
    "ReleaseSession": 95,
    "ReleaseValue": 96,
    "RunWithBinding": 133,
    "CreateIoBinding": 134,
    "ReleaseIoBinding": 135,
    "BindInput": 136,
    "BindOutput": 137,
}
ERRORS_ONLY, ALL_OPTIMISATIONS = 3, 99
ARENA, DEFAULT_MEMORY = 1, 0


class ApiBase(ctypes.Structure):
    _fields_ = [("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32))]


@functools.cache
def table():
    import onnxruntime

    folder = pathlib.Path(onnxruntime.__file__).parent / "capi"
    library = ctypes.CDLL(str(next(folder.glob("libonnxruntime.so.*"))))
    library.OrtGetApiBase.restype = ctypes.POINTER(ApiBase)
    api = library.OrtGetApiBase().contents.get_api(VERSION)
    return (ctypes.c_void_p * (max(FUNCTIONS.values()) + 1)).from_address(api)


def address(name):
    return table()[FUNCTIONS[name]]


def invoke(name, *arguments, returns=ctypes.c_void_p):
    kinds = [ctypes.c_size_t if isinstance(a, int) else type(a) for a in arguments]
    function = ctypes.CFUNCTYPE(returns, *kinds)(address(name))
    return function(*arguments)


def call(name, *arguments):
    """Numbers go as they are, everything else as ctypes has it."""
    status = invoke(name, *arguments)
    if status:
        text = invoke("GetErrorMessage", ctypes.c_void_p(status), returns=ctypes.c_char_p)
        raise RuntimeError(f"{name}: {text.decode()}")


def create(name, *arguments):
    """What a function hands out through its last argument."""
    out = ctypes.c_void_p()
    call(name, *arguments, ctypes.pointer(out))
    return out


@functools.cache
def environment():
    return create("CreateEnv", ERRORS_ONLY, ctypes.c_char_p(b"bench"))


@functools.cache
def memory_info():
    return create("CreateCpuMemoryInfo", ARENA, DEFAULT_MEMORY)


class Session:
    """One thread, all optimisations, sequential."""

    def __init__(self, path):
        options = create("CreateSessionOptions")
        call("SetSessionGraphOptimizationLevel", options, ALL_OPTIMISATIONS)
        call("SetIntraOpNumThreads", options, 1)
        call("SetInterOpNumThreads", options, 1)
        name = ctypes.c_char_p(os.fsencode(path))
        self.handle = create("CreateSession", environment(), name, options)
        allocator = create("GetAllocatorWithDefaultOptions")
        count = create("SessionGetInputCount", self.handle).value or 0
        self.inputs = [
            create("SessionGetInputName", self.handle, i, allocator) for i in range(count)
        ]
        self.output = create("SessionGetOutputName", self.handle, 0, allocator)

    def bind(self, arrays, out, code_of):
        """A binding of one set; `code_of`: ONNX's number of a dtype."""
        binding = create("CreateIoBinding", self.handle)
        for name, array in zip(self.inputs, arrays, strict=True):
            value = value_of(array, code_of(array))
            call("BindInput", binding, name, value)
            invoke("ReleaseValue", value, returns=None)
        value = value_of(out, code_of(out))
        call("BindOutput", binding, self.output, value)
        invoke("ReleaseValue", value, returns=None)
        return binding

    def close(self):
        invoke("ReleaseSession", self.handle, returns=None)
        self.handle = None


def value_of(array, code):
    """A tensor over an array's memory."""
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    data = ctypes.c_void_p(array.ctypes.data)
    dims = ctypes.cast(shape, ctypes.c_void_p)
    return create(
        "CreateTensorWithDataAsOrtValue",
        memory_info(),
        data,
        array.nbytes,
        dims,
        array.ndim,
        code,
    )


def release_binding(binding):
    invoke("ReleaseIoBinding", binding, returns=None)
