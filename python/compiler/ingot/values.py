"""Values of the reference interpreter: (dtype, extents, bytes) of arrays, and back.

The strings of an array are a list in place of the bytes.

SPDX-License-Identifier: Apache-2.0
"""
import numpy
from ingot_runtime import _runtime

NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16",
         "bool": "bool", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16",
         "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
         "float8_e4m3fn": "f8e4m3fn", "float8_e4m3fnuz": "f8e4m3fnuz",
         "float8_e5m2": "f8e5m2", "float8_e5m2fnuz": "f8e5m2fnuz",
         "float8_e8m0fnu": "f8e8m0", "float4_e2m1fn": "f4e2m1",
         "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2"}
PAIR_NAMES = {"complex32": "f16", "complex64": "f32", "complex128": "f64"}  # of both parts
NUMPY_NAMES = {ours: theirs for theirs, ours in NAMES.items()}
BITS = {"f4e2m1": 4, "i4": 4, "u4": 4, "i2": 2, "u2": 2}


def name_of(dtype):
    """Our name of a type of numpy, ml_dtypes or torch, or None."""
    if getattr(dtype, "kind", "") in ("O", "U", "S", "T"):
        return "str"
    return NAMES.get(str(dtype).removeprefix("torch."))


def numpy_type(dtype):
    """numpy's type, or that of ml_dtypes; TypeError where neither has it."""
    if dtype == "str":
        return numpy.dtype("O")
    name = NUMPY_NAMES.get(dtype, "")
    try:
        return numpy.dtype(name)
    except TypeError:
        try:
            import ml_dtypes
            return numpy.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError, TypeError):
            raise TypeError(f"arrays of {dtype} need the package ml_dtypes") from None


def _pack(array, bits):
    """numpy holds one element a byte; low bits first."""
    each = 8 // bits
    flat = array.reshape(-1).view("u1") & ((1 << bits) - 1)
    flat = numpy.pad(flat, (0, -len(flat) % each)).reshape(-1, each)
    return (flat << (bits * numpy.arange(each, dtype="u1"))).sum(axis=1).astype("u1").tobytes()


def _unpack(data, shape, dtype, bits):
    each = 8 // bits
    flat = numpy.frombuffer(data, "u1")[:, None] >> (bits * numpy.arange(each, dtype="u1"))
    flat = (flat & ((1 << bits) - 1)).reshape(-1)[:int(numpy.prod(shape))].astype("i1")
    if dtype.startswith("f"):
        return flat.view(numpy_type(dtype)).reshape(shape)
    if dtype.startswith("i"):  # the sign
        flat = numpy.where(flat >> (bits - 1), flat - (1 << bits), flat).astype("i1")
    return flat.astype(numpy_type(dtype)).reshape(shape)


def value_of(x):
    """Of an array, a list of such, or None; numbers are arrays of rank 0."""
    if x is None:
        return None
    if isinstance(x, (list, tuple)):
        return [value_of(item) for item in x]
    array = numpy.asarray(x)
    name = name_of(array.dtype)
    if name is None:
        raise TypeError(f"elements of {array.dtype} are of no type that a model takes")
    if name == "str":
        return name, array.shape, _runtime.strings(array)
    shape, array = array.shape, numpy.ascontiguousarray(array)
    data = _pack(array, BITS[name]) if name in BITS else array.tobytes()
    return name, shape, data


def array_of(value):
    """The reverse."""
    if value is None:
        return None
    if isinstance(value, list):
        return [array_of(item) for item in value]
    name, shape, data = value
    if name == "str":
        return numpy.array(data, "O").reshape(shape)
    if name in BITS:
        return _unpack(data, shape, name, BITS[name])
    return numpy.frombuffer(bytearray(data), numpy_type(name)).reshape(shape)
