"""Operators of your own as Python functions, for prototypes.

    @ingot.operator("(%id: i64[N], %buckets: i64[]) -> (i64[N])")
    def hash(id, buckets):
        return id * 2654435761 % buckets

    program = ingot.compile("model.onnx", ops={"acme::Hash": hash})

A function takes arrays of numpy, which live as long as the call and are not to be written, and
gives an array, or a tuple of them; a run calls it holding the GIL.  C and IR text are the ways to
ship one (docs/custom-operators.md).

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os

ABI = 1
INVALID = 1
# The numbers of ig_dtype_code.
CODES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16",
         11: "f64", 12: "u32", 13: "u64", 16: "bf16", 17: "f8e4m3fn", 18: "f8e4m3fnuz",
         19: "f8e5m2", 20: "f8e5m2fnuz", 24: "f8e8m0"}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("count", ctypes.c_int64),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_uint32),
                ("dtype", ctypes.c_int32)]


class _Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("user", ctypes.c_void_p),
                ("inputs", ctypes.POINTER(_Tensor)), ("outputs", ctypes.POINTER(_Tensor)),
                ("input_count", ctypes.c_uint32), ("output_count", ctypes.c_uint32),
                ("reason", ctypes.c_void_p), ("reason_size", ctypes.c_size_t)]


_Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))


class _Op(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("version", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32), ("signature", ctypes.c_char_p),
                ("run", _Function), ("extents", _Function), ("user", ctypes.c_void_p)]


class _Table(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("op_bytes", ctypes.c_uint32),
                ("ops", ctypes.POINTER(_Op)), ("op_count", ctypes.c_size_t)]


def operator(signature, version=1):
    """Says what a function takes and gives, in types as IR text has them.

    Extents that only results have are those of the arrays that it gives: it is called twice
    then, and must give the same both times.
    """
    def mark(function):
        function.signature, function.version = signature, version
        return function
    return mark


def _array_of(tensor):
    import numpy

    from .values import numpy_type
    if tensor.dtype not in CODES:
        raise TypeError("texts, and elements smaller than a byte, are not given to Python")
    dtype = numpy_type(CODES[tensor.dtype])
    shape = tuple(tensor.dims[i] for i in range(tensor.rank))
    if tensor.count == 0:
        return numpy.zeros(shape, dtype)
    bytes_ = (ctypes.c_char * (tensor.count * dtype.itemsize)).from_address(tensor.data)
    return numpy.frombuffer(bytes_, dtype).reshape(shape)


def _results_of(function, call):
    given = function(*[_array_of(call.inputs[i]) for i in range(call.input_count)])
    return given if isinstance(given, tuple) else (given,)


def _write_results(function, call):
    import numpy
    results = _results_of(function, call)
    if len(results) != call.output_count:
        raise ValueError(f"{len(results)} results, its signature has {call.output_count}")
    for i, result in enumerate(results):
        target, result = _array_of(call.outputs[i]), numpy.asarray(result)
        if result.shape != target.shape or result.dtype != target.dtype:
            raise ValueError(f"result {i} is {result.dtype}{list(result.shape)}, its signature "
                             f"says {target.dtype}{list(target.shape)}")
        target[...] = result


def _write_extents(dims):
    """dims: (result, axis) of each extent that only results have."""
    def write(function, call):
        import numpy
        results = [numpy.asarray(result) for result in _results_of(function, call)]
        _array_of(call.outputs[0])[...] = [results[i].shape[axis] for i, axis in dims]
    return write


def _guard(function, work):
    """As C calls it: what is raised becomes a status and its words."""
    def run(pointer):
        call = pointer.contents
        try:
            work(function, call)
        except Exception as error:  # whatever it is, C cannot pass it on
            words = f"{type(error).__name__}: {error}".encode()[:call.reason_size - 1]
            ctypes.memmove(call.reason, words + b"\0", len(words) + 1)
            return INVALID
        return 0
    return _Function(run)


def _extents_of(types):
    from .session import split_extents
    return [split_extents(text) for text in types]


def _own_extents(signature):
    """Where the extents stand that only results have, each at its first place."""
    import re
    arguments, _, results = signature.partition("->")
    known = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"\[[^]]*\]", arguments))))
    positions = []
    for i, dims in enumerate(_extents_of(re.findall(r"\w+\[[^]]*\]", results))):
        for axis, dim in enumerate(dims):
            if dim.isidentifier() and dim not in known:
                known.add(dim)
                positions.append((i, axis))
    return positions


class Library:
    """A table of Python functions as C reads it; `address` is there as long as this is."""

    def __init__(self, functions):
        self._rows = (_Op * len(functions))()
        for row, (name, function) in zip(self._rows, functions.items()):
            signature = getattr(function, "signature", None)
            if signature is None:
                raise TypeError(f"{name}: give its argument and result types with @ingot.operator"
                                "(\"(%x: f32[N]) -> (f32[N])\")")
            own = _own_extents(signature)
            row.name, row.signature = name.encode(), signature.encode()
            row.version = function.version
            row.run = _guard(function, _write_results)
            if own:
                row.extents = _guard(function, _write_extents(own))
        self._table = _Table(ABI, ctypes.sizeof(_Op), self._rows, len(functions))
        self.address = ctypes.addressof(self._table)


def options_of(ops):
    """`ops` as keywords of the extensions, and the library that they need as long as they run.

    ops: names with functions, or files (IR text, or libraries of C functions), or a list of
    both.
    """
    items = [ops] if isinstance(ops, (dict, str, os.PathLike)) else list(ops or ())
    libraries = [Library(item) for item in items if isinstance(item, dict)]
    return {"op_files": [os.fspath(item) for item in items if not isinstance(item, dict)],
            "libraries": [library.address for library in libraries]}, libraries
