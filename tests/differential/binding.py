"""The compiler and the runtime from Python, by ctypes: as much as the tests here need.

SPDX-License-Identifier: Apache-2.0

A Model is an imported module; `interpret` and `compile` give its outputs and a Program.
What Ingot answers with a status raises Refused, whose `status` is the name of it.
"""

import ctypes
import functools
import os
import pathlib

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", ROOT / "build" / "release"))
MAX_RANK = 8
STATUS = ("OK", "INVALID", "UNSUPPORTED", "LIMIT", "IO", "CANCELLED", "INTERNAL")

DTYPES = {
    "f32": (1, np.float32), "u8": (2, np.uint8), "i8": (3, np.int8),
    "u16": (4, np.uint16), "i16": (5, np.int16), "i32": (6, np.int32),
    "i64": (7, np.int64), "bool": (9, np.bool_), "f16": (10, np.float16),
    "f64": (11, np.float64), "u32": (12, np.uint32), "u64": (13, np.uint64),
    "bf16": (16, ml_dtypes.bfloat16), "f8e4m3fn": (17, ml_dtypes.float8_e4m3fn),
    "f8e4m3fnuz": (18, ml_dtypes.float8_e4m3fnuz), "f8e5m2": (19, ml_dtypes.float8_e5m2),
    "f8e5m2fnuz": (20, ml_dtypes.float8_e5m2fnuz),
}
NUMPY = {name: np.dtype(kind) for name, (_, kind) in DTYPES.items()}
NAMES = {kind: name for name, kind in NUMPY.items()}
CODES = {name: code for name, (code, _) in DTYPES.items()}
OF_CODE = {code: name for name, code in CODES.items()}

c_int, c_size, c_text, c_ptr = (ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p,
                                ctypes.c_void_p)


class Refused(Exception):
    def __init__(self, status, words):
        super().__init__(f"{STATUS[status]}: {words}")
        self.status, self.words = STATUS[status], words


class View(ctypes.Structure):
    _fields_ = [("data", c_ptr), ("capacity", c_size), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_uint32), ("dims", ctypes.c_int64 * MAX_RANK),
                ("memory", ctypes.c_int32), ("device", ctypes.c_int32)]


class Argument(ctypes.Structure):
    pass


Argument._fields_ = [
    ("kind", c_int), ("dtype", c_text), ("rank", ctypes.c_uint32),
    ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", c_ptr), ("size", c_size),
    ("items", ctypes.POINTER(Argument)), ("item_count", c_size)]


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", c_size), ("message", c_ptr), ("message_user", c_ptr),
                ("progress", c_ptr), ("progress_user", c_ptr),
                ("memory_limit", ctypes.c_uint64), ("cache_folder", c_text),
                ("compile_threads", c_int)]


class ImportOptions(ctypes.Structure):
    _fields_ = [("size", c_size), ("inputs", ctypes.POINTER(c_text)),
                ("input_count", c_size), ("constant_names", c_ptr),
                ("constant_files", c_ptr), ("constant_count", c_size), ("entry", c_text),
                ("resource", c_text), ("rowwise_mean", c_int)]


class CompileOptions(ctypes.Structure):
    _fields_ = [("size", c_size), ("target", c_text), ("passes", c_text),
                ("weights", c_int), ("torch_empty", c_int), ("clamp_ids", c_int),
                ("isolate", c_int), ("no_cache", c_int), ("emit", c_text),
                ("after_pass", c_ptr), ("after_pass_user", c_ptr),
                ("stop_after", c_text)]


class TreeNode(ctypes.Structure):
    _fields_ = [("kind", c_int), ("child_count", ctypes.c_uint32),
                ("size", ctypes.c_uint32), ("leaf", ctypes.c_int32), ("name", c_text),
                ("text", c_text), ("integer", ctypes.c_int64), ("real", ctypes.c_double)]


@functools.cache
def library():
    lib = ctypes.CDLL(str(BUILD / "libingot.so"), mode=ctypes.RTLD_GLOBAL)
    run = ctypes.CDLL(str(BUILD / "libingot-runtime.so"), mode=ctypes.RTLD_GLOBAL)
    for name, result in (
            ("ig_context_create", c_ptr), ("ig_context_messages", c_text),
            ("ig_module_input_name", c_text), ("ig_module_input_type", c_text),
            ("ig_module_output_name", c_text), ("ig_module_output_type", c_text),
            ("ig_module_signature", c_text), ("ig_module_node", TreeNode),
            ("ig_module_node_count", c_size),
            ("ig_module_input_count", c_size), ("ig_module_output_count", c_size)):
        getattr(lib, name).restype = result
    run.ig_session_error.restype = c_text
    return lib, run


def make_view(array):
    view = View(data=array.ctypes.data, dtype=CODES[NAMES[array.dtype]], rank=array.ndim)
    view.dims[:array.ndim] = array.shape
    return view


def copy_array(data, dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    kind = NUMPY[dtype]
    if not count:
        return np.zeros(shape, kind)
    raw = ctypes.string_at(data, count * kind.itemsize)
    return np.frombuffer(raw, kind).reshape(shape).copy()


def row_major(array):
    array = np.asarray(array)
    return array if array.flags.c_contiguous else np.array(array, order="C")


class Context:
    """Many models, one after the other."""

    def __init__(self, threads=1, memory=2 << 30):
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), cache_folder=b"",
                                 compile_threads=threads, memory_limit=memory)
        self.lib, self.run = library()
        self.handle = c_ptr(self.lib.ig_context_create(ctypes.byref(options)))

    def check(self, status):
        if status:
            words = self.lib.ig_context_messages(self.handle) or b""
            raise Refused(status, words.decode(errors="replace"))

    def load(self, content, statements=(), path=None):
        """A Model of a file's bytes, or of `path`."""
        texts = (c_text * max(1, len(statements)))(*[s.encode() for s in statements])
        options = ImportOptions(size=ctypes.sizeof(ImportOptions), inputs=texts,
                                input_count=len(statements))
        module = c_ptr()
        if path is not None:
            status = self.lib.ig_import(self.handle, str(path).encode(),
                                        ctypes.byref(options), ctypes.byref(module))
        else:
            status = self.lib.ig_import_memory(
                self.handle, content, c_size(len(content)), None,
                ctypes.byref(options), ctypes.byref(module))
        self.check(status)
        return Model(self, module, content)

    def close(self):
        self.lib.ig_context_destroy(self.handle)


class Model:
    def __init__(self, context, handle, content):
        self.context, self.handle, self.content = context, handle, content
        self.lib = context.lib
        self.inputs = [self.text("input_name", i) for i in range(
            self.lib.ig_module_input_count(handle))]
        self.outputs = [self.text("output_name", i) for i in range(
            self.lib.ig_module_output_count(handle))]
        # Of a rank that a branch decides: in code elements, and behind them their extents.
        self.open_ranks = ["[*]" in self.text("output_type", i)
                           for i in range(len(self.outputs))]

    def text(self, what, *index):
        index = [c_size(i) for i in index]
        return getattr(self.lib, f"ig_module_{what}")(self.handle, *index).decode()

    def nodes(self):
        count = self.lib.ig_module_node_count(self.handle)
        return [self.lib.ig_module_node(self.handle, c_size(i)) for i in range(count)]

    def interpret(self, arrays):
        arrays = [row_major(a) for a in arrays]
        items = (Argument * max(1, len(arrays)))()
        keep = []
        for item, array in zip(items, arrays):
            dims = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
            keep.append(dims)
            item.dtype, item.rank = NAMES[array.dtype].encode(), array.ndim
            item.dims, item.data, item.size = dims, array.ctypes.data, array.nbytes
        outputs, count = ctypes.POINTER(Argument)(), c_size()
        self.context.check(self.lib.ig_interpret_run(
            self.handle, items, c_size(len(arrays)), ctypes.byref(outputs),
            ctypes.byref(count)))
        return [copy_array(o.data, o.dtype.decode(), tuple(o.dims[:o.rank]))
                for o in outputs[:count.value]]

    def reset(self):
        self.lib.ig_interpret_reset(self.handle)

    def compile(self, target=None, threads=1):
        options = CompileOptions(size=ctypes.sizeof(CompileOptions), no_cache=1,
                                 target=target.encode() if target else None)
        program = c_ptr()
        self.context.check(self.lib.ig_compile(self.handle, ctypes.byref(options),
                                               ctypes.byref(program)))
        return Program(self.context, program, self.open_ranks)

    def close(self):
        self.lib.ig_module_close(self.handle)


def shape_item(elements, rows):
    """The one item of a sequence: its row of extents begins with its rank."""
    rank = int(rows[0, 0])
    return elements.reshape(rows[0, 1:1 + rank])


class Program:
    def __init__(self, context, handle, open_ranks):
        self.lib, self.handle, self.open_ranks = context.run, handle, open_ranks
        self.session = c_ptr()
        status = self.lib.ig_session_create(handle, None, ctypes.byref(self.session))
        if status:
            raise Refused(status, "no session")

    def run(self, arrays):
        arrays = [row_major(a) for a in arrays]
        inputs = (View * max(1, len(arrays)))(*[make_view(a) for a in arrays])
        output_count = len(self.open_ranks) + sum(self.open_ranks)
        outputs = (View * max(1, output_count))()
        status = self.lib.ig_session_run(self.session, inputs, c_size(len(arrays)),
                                         outputs, c_size(output_count))
        if status:
            raise Refused(status, (self.lib.ig_session_error(self.session) or b"").decode())
        made = iter([copy_array(o.data, OF_CODE[o.dtype], tuple(o.dims[:o.rank]))
                     for o in outputs[:output_count]])
        return [shape_item(next(made), next(made)) if is_open else next(made)
                for is_open in self.open_ranks]

    def reset(self):
        self.lib.ig_session_reset(self.session)

    def close(self):
        self.lib.ig_session_destroy(self.session)
        self.lib.ig_program_close(self.handle)
