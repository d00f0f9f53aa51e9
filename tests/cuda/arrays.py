"""Python's programs on a GPU, over the stand-ins: arrays of a GPU by DLPack, used in place.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import math
import struct
import sys

import ingot

MODEL = b"""module @m {
  weight @w : f32[4] = splat(2)
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = mul %x, @w : f32[B, 4]
    %1 = tanh %0 : f32[B, 4]
    ret %1
  }
}
"""


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """f32[2, 4] in the GPU's memory, as another library would have it; its copy there is queued in
    the stream that the reader names."""

    def __init__(self, driver, values, device=0, strides=(4, 1)):
        self.driver, self.streams = driver, []
        self.values = ctypes.create_string_buffer(struct.pack("8f", *values))
        address = ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(32)) == 0
        self.address, self.device = address.value, device
        self.dims, self.strides = (ctypes.c_int64 * 2)(2, 4), (ctypes.c_int64 * 2)(*strides)

    def read(self):
        assert self.driver.cuMemcpyDtoHAsync_v2(self.values, ctypes.c_uint64(self.address), ctypes.c_size_t(32),
                                                None) == 0
        assert self.driver.cuStreamSynchronize(None) == 0
        return struct.unpack("8f", self.values.raw[:32])

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        assert self.driver.cuMemcpyHtoDAsync_v2(ctypes.c_uint64(self.address), self.values,
                                                ctypes.c_size_t(32), ctypes.c_void_p(stream)) == 0
        tensor = Tensor(self.address, 2, self.device, 2, 2, 32, 1, ctypes.addressof(self.dims),
                        ctypes.addressof(self.strides), 0)
        self.managed = Managed(tensor, None, None)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


def refused(call, words):
    try:
        call()
    except TypeError as error:
        assert words in str(error), error
    except (ValueError, ingot.Error) as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def main():
    path = sys.argv[1]
    with open(path, "wb") as file:
        file.write(MODEL)
    program = ingot.compile(path, target="cuda:sm_90a")
    driver = ctypes.CDLL("libcuda.so.1")
    context, device = ctypes.c_void_p(), ctypes.c_int()
    assert driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert driver.cuCtxPushCurrent_v2(context) == 0
    host = memoryview(struct.pack("8f", *range(8))).cast("f", [2, 4])
    assert [v for row in memoryview(program(host)).tolist() for v in row][1] > 0.9
    for run in range(4):
        array = Array(driver, [(i + run) / 16 for i in range(8)])
        given = program(array) if run % 2 else program.run({"x": array})[0]
        got = [v for row in memoryview(given).tolist() for v in row]
        assert all(abs(y - math.tanh((i + run) / 8)) < 1e-6 for i, y in enumerate(got)), got
        assert len(array.streams) == 1 and array.streams[0] > 2, array.streams
    for run in range(4):  # results stay on the GPU, in the caller's memory
        x, y = Array(driver, [(i - run) / 16 for i in range(8)]), Array(driver, [7] * 8)
        assert program.run({"x": x}, out={"y": y}) == [y] and len(y.streams) == 1
        got = y.read()
        assert all(abs(v - math.tanh((i - run) / 8)) < 1e-6 for i, v in enumerate(got)), got
    mirror = bytearray(32)
    program.run({"x": x}, {"y": memoryview(mirror).cast("f", [2, 4])})
    assert struct.unpack("8f", mirror) == got
    refused(lambda: program.run({"x": x}, {"z": y}), "out names an output that the program does not have")
    refused(lambda: program.run({"x": x}, {"y": Array(driver, range(8), device=1)}), "GPU")
    refused(lambda: program.run({"x": x}, {"y": memoryview(bytes(32)).cast("f", [2, 4])}), "can be written to")
    refused(lambda: program.run({"x": x}, {"y": memoryview(bytearray(64)).cast("f", [4, 4])}), "other extents")
    refused(lambda: program(Array(driver, range(8), strides=(8, 1))), "call .contiguous()")
    refused(lambda: program(Array(driver, range(8), device=1)), "nor in that of the GPU")
    cpu = ingot.compile(path)
    refused(lambda: cpu(Array(driver, range(8))), "not in the host's memory")


main()
