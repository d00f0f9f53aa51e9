"""Tensors: memory, extents and an element type.

Elements lie row-major; _views.py says what torch's views are here.
SPDX-License-Identifier: Apache-2.0
"""
import math
import operator
import struct

from . import _dtypes, _ops, _views

float32, int64, bool_ = (_dtypes.BY_NAME[n] for n in ("float32", "int64", "bool"))


class Size(tuple):
    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size({list(self)})"


class device:  # noqa: N801 - torch's name
    """All memory is the host's."""

    _is_device = True
    type, index = "cpu", None

    def __init__(self, kind="cpu", index=None):
        if str(kind).partition(":")[0] != "cpu":
            raise NotImplementedError(f"device '{kind}': tensors are in the host's memory")

    def __eq__(self, other):
        return getattr(other, "_is_device", False)

    def __hash__(self):
        return 0

    def __repr__(self):
        return "device(type='cpu')"


def _bytes_of(data):
    return memoryview(data).cast("B")


def memory_as(memory, kind, shape):
    """Bytes (a memoryview) as what programs read; without a copy where struct has the type."""
    count = math.prod(shape)
    if count == 0:
        return _ops.call("empty", list(shape), dtype=kind)._data
    if kind.letter is None:
        bits = memory[:count * 2].cast("h", list(shape))
        whole = Tensor._of(bits, shape, _dtypes.BY_NAME["int16"])
        return _ops.call("view", whole, kind)._data
    return memory[:count * kind.itemsize].cast(kind.letter, list(shape))


class Tensor:
    requires_grad, grad, grad_fn, is_cuda, layout = False, None, None, False, "torch.strided"
    is_sparse = is_quantized = is_meta = False
    __array_priority__ = 1000
    device = device()

    def __init__(self, data=()):
        made = tensor(data, dtype=float32)
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, data, shape, kind):
        self = object.__new__(cls)
        self._data, self.shape, self.dtype = data, Size(shape), kind
        self._origin = self._views = None  # of _views.py
        self._is_shared = False  # with what is no tensor
        return self

    # ---- facts ----

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def data(self):
        return self.detach()

    @property
    def T(self):  # noqa: N802
        return _ops.call("permute", self, list(range(self.ndim))[::-1])

    @property
    def mT(self):  # noqa: N802
        return _ops.call("transpose", self, -2, -1)

    def dim(self):
        return len(self.shape)

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def numel(self):
        return self.shape.numel()

    nelement = numel

    def element_size(self):
        return self.dtype.itemsize

    def is_floating_point(self):
        return self.dtype.is_floating_point

    def is_complex(self):
        return False

    def get_device(self):
        return -1

    def is_contiguous(self, memory_format=None):
        raise NotImplementedError("is_contiguous: the order of elements in memory is not torch's here")

    stride = storage_offset = data_ptr = is_contiguous

    # ---- values ----

    def __dlpack__(self, **how):
        data = self._data if hasattr(self._data, "__dlpack__") else self.clone()._data
        return data.__dlpack__(**how)

    def __dlpack_device__(self):
        return 1, 0

    def _raw(self):
        """The elements, of a type that struct has."""
        return self if self.dtype.letter else self.to(float32)

    def _bytes(self):
        data = self._data
        return data.tobytes() if self.numel() else b""

    def tolist(self):
        raw = self._raw()
        if not raw.shape:
            return struct.unpack(raw.dtype.letter, raw._bytes())[0]
        if raw.numel() == 0:
            return _empty_list(raw.shape)
        return memoryview(raw._data).tolist()

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(f"a tensor with {self.numel()} elements cannot be one number")
        raw = self._raw()
        return struct.unpack(raw.dtype.letter, raw._bytes())[0]

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        if self.dtype.is_floating_point or self.numel() != 1:
            raise TypeError("an index must be a tensor of one integer")
        return int(self.item())

    def __len__(self):
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __iter__(self):
        return iter(_ops.call("unbind", self, 0))

    def __repr__(self):
        shown = self.tolist() if self.numel() <= 1000 else "…"
        return f"tensor({shown}, shape={list(self.shape)}, dtype={self.dtype})"

    def __format__(self, how):
        return format(self.item(), how) if not self.shape else repr(self)

    def __hash__(self):
        return id(self)

    def __contains__(self, value):
        return bool((self == value).any())

    def __array__(self, dtype=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def numpy(self):
        import numpy
        if self.dtype.letter is None:
            raise TypeError(f"numpy: cast {self.dtype} first: x.float().numpy()")
        _views.owner_of(self)._is_shared = True
        return numpy.asarray(self._data)

    # ---- the same elements ----

    def _same(self, kind=None):
        """This tensor again, as an object of its own."""
        same = (kind or Tensor)._of(self._data, self.shape, self.dtype)
        _views.link(same, self, None, (), None, None)
        return same

    def detach(self):
        return self._same()

    def clone(self, memory_format=None):
        return _ops.call("clone", self)

    def contiguous(self, memory_format=None):
        if not self._origin:
            return self
        copy = self.clone()  # or torch's view: who changes it has to know
        _views.link(copy, self, "contiguous", (), None, None)
        return copy

    def cpu(self, memory_format=None):
        return self

    resolve_conj = resolve_neg = cpu

    def requires_grad_(self, requires_grad=True):
        if requires_grad:
            raise NotImplementedError("requires_grad: nothing is differentiated here")
        return self

    def to(self, *args, **kwargs):
        """Of another element type; where it is the same, this tensor."""
        kind = kwargs.get("dtype")
        for arg in args:
            if isinstance(arg, _dtypes.dtype):
                kind = arg
            elif isinstance(arg, Tensor):
                kind = arg.dtype
            elif isinstance(arg, (str, device)):
                device(arg.type if isinstance(arg, device) else arg)
        if kind is None or kind is self.dtype:
            return self.clone() if kwargs.get("copy") else self
        return _ops.call("to", self, device(), kind)

    def type_as(self, other):
        return self.to(other.dtype)

    def type(self, kind=None):
        return f"torch.{self.dtype.name}" if kind is None else self.to(kind)

    # ---- changes in place ----

    def _write(self, value):
        """Takes the elements of a tensor that has as many, of this type."""
        if self.dtype.letter:
            memoryview(self._data).cast("B")[:] = _bytes_of(value._data)
        else:  # no buffer of Python's is of such a type
            self._data = _ops.call("clone", _ops.call("reshape", value, list(self.shape)))._data

    def _spread(self, value, shape):
        """A value as elements of this type, as many as `shape` has."""
        value = (value if isinstance(value, Tensor) else tensor(value)).to(self.dtype)
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = value[0]
        same = value.shape == tuple(shape)
        return value if same else _ops.call("clone", _ops.call("expand", value, list(shape)))

    def _become(self, value):
        """Takes the elements of another tensor."""
        _views.check_change(self)
        value = self._spread(value, self.shape)
        if self._origin:
            _views.put(self, _views.positions(self), value)
        elif self.numel():
            self._write(value)
            _views.refresh(self)
        return self

    def _take(self, value):
        """Takes what an operator gave; torch does not make numbers whole on the way."""
        if value.dtype.is_floating_point and not self.dtype.is_floating_point:
            raise RuntimeError(f"a result of {value.dtype} cannot be cast to {self.dtype}")
        return self._become(value)

    def copy_(self, other, non_blocking=False):
        return self._become(other)

    def __setitem__(self, index, value):
        if index is Ellipsis or index == slice(None):
            self._become(value)
            return
        _views.check_change(self)
        at = _views.positions(self)[index]
        _views.put(self, at, self._spread(value, at.shape))

    # ---- indices ----

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        whole = sum(1 for i in index if i is not None and i is not Ellipsis)
        whole += sum(i.ndim - 1 for i in index if isinstance(i, Tensor) and i.dtype is bool_)
        x, where = self, _Where()
        for i in index:
            if i is None:
                x = _ops.call("unsqueeze", x, where.dim)
                where.skip(1)
            elif i is Ellipsis:
                where.skip(self.ndim - whole)
            elif isinstance(i, slice):
                x = _slice(x, where.dim, i)
                where.skip(1)
            elif isinstance(i, bool):
                raise NotImplementedError("x[True]: a bool as an index")
            elif isinstance(i, (Tensor, list)):
                where.pick(i if isinstance(i, Tensor) else tensor(i))
            else:
                x = _ops.call("select", x, where.dim, operator.index(i))
        if where.has_picks:
            return _ops.call("index", x, where.picks)
        return _ops.call("alias", self) if x is self else x

    # ---- operators by name ----

    def __getattr__(self, name):
        if name.startswith("__") or not _ops.is_known(name):
            raise AttributeError(f"a tensor has no '{name}' here")
        if name.endswith("_") and not name.endswith("__"):
            return lambda *args, **kwargs: self._take(
                _ops.call(name[:-1], self, *args, **kwargs))
        return lambda *args, **kwargs: _ops.call(name, self, *_listed(name, args), **kwargs)

    def __reduce_ex__(self, protocol):
        from . import _utils
        import pickle
        if protocol >= 5 and self.numel() and self.dtype.letter:
            data = pickle.PickleBuffer(_bytes_of(self._data))
        else:
            data = self._bytes()
        return _utils._rebuild_elements, (data, self.dtype, tuple(self.shape))

    def __deepcopy__(self, memo):
        return self.clone()


# Methods that take their list as several arguments: x.view(2, 3).
_LISTED = {"view", "reshape", "permute", "expand", "repeat", "tile", "flip"}


def _listed(name, args):
    if name in _LISTED and args and not isinstance(args[0], (tuple, list, _dtypes.dtype)):
        return (list(args),)
    return args


class _Where:
    """The next axis of an index, and the tensors that pick from the axes before it."""

    def __init__(self):
        self.dim, self.picks, self.has_picks = 0, [], False

    def skip(self, count):
        self.dim += count
        self.picks += [None] * count

    def pick(self, by):
        self.dim += by.ndim if by.dtype is bool_ else 1
        self.picks.append(by)
        self.has_picks = True


def _slice(x, dim, how):
    if how == slice(None):
        return x
    start, stop, step = (None if v is None else operator.index(v)
                         for v in (how.start, how.stop, how.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    return _ops.call("slice", x, dim, start, stop, step or 1)


def _empty_list(shape):
    return [_empty_list(shape[1:]) for _ in range(shape[0])] if len(shape) > 1 else []


def _operand(value):
    """A number of numpy's as Python's; None: what no operator takes."""
    if isinstance(value, (Tensor, int, float, bool)):
        return value
    return value.item() if getattr(value, "shape", None) == () else None


def _operator(name):
    def apply(self, other):
        other = _operand(other)
        return NotImplemented if other is None else _ops.call(name, self, other)
    return apply


def _in_place(name):
    def apply(self, other):
        return self._take(_ops.call(name, self, _operand(other)))
    return apply


for _python, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"),
                       ("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "pow"),
                       ("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor")):
    setattr(Tensor, f"__{_python}__", _operator(_name))
    setattr(Tensor, f"__i{_python}__", _in_place(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "matmul"):
    setattr(Tensor, f"__{_name}__", _operator(_name))
for _python in ("add", "mul"):  # in any order
    setattr(Tensor, f"__r{_python}__", getattr(Tensor, f"__{_python}__"))
Tensor.__rsub__ = lambda self, other: _ops.call("rsub", self, other)
Tensor.__rtruediv__ = lambda self, other: _ops.call("mul", _ops.call("reciprocal", self), other)
Tensor.__rpow__ = lambda self, other: _ops.call("pow", other, self)
Tensor.__neg__ = lambda self: _ops.call("neg", self)
Tensor.__invert__ = lambda self: _ops.call("bitwise_not", self)
Tensor.__abs__ = lambda self: _ops.call("abs", self)
for _name, _kind in (("float", "float32"), ("double", "float64"), ("half", "float16"),
                     ("bfloat16", "bfloat16"), ("long", "int64"), ("int", "int32"),
                     ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool")):
    setattr(Tensor, _name, lambda self, _kind=_kind: self.to(_dtypes.BY_NAME[_kind]))


# ---- making ----

def _flatten(data, shape, out):
    if isinstance(data, (list, tuple)):
        if not shape or len(data) != shape[0]:
            raise ValueError("rows of several lengths do not make a tensor")
        for item in data:
            _flatten(item, shape[1:], out)
    else:
        out.append(data.item() if isinstance(data, Tensor) else data)


def tensor(data, dtype=None, device=None, requires_grad=False):  # noqa: ARG001
    if isinstance(data, Tensor):
        return data.clone() if dtype in (None, data.dtype) else data.to(dtype)
    if hasattr(data, "__array_interface__"):
        made = from_numpy(data).clone()
        return made if dtype is None else made.to(dtype)
    shape, row, flat = [], data, []
    while isinstance(row, (list, tuple)):
        shape.append(len(row))
        row = row[0] if row else None
    _flatten(data, shape, flat)
    if dtype is None:
        dtype = (bool_ if flat and all(isinstance(v, bool) for v in flat) else
                 int64 if flat and all(isinstance(v, int) for v in flat) else float32)
    kind = dtype if dtype.letter else float32
    convert = {"?": bool}.get(kind.letter, float if kind.is_floating_point else int)
    memory = memoryview(bytearray(struct.pack(f"{len(flat)}{kind.letter}", *map(convert, flat))))
    return Tensor._of(memory_as(memory, kind, shape), shape, kind).to(dtype)


def from_buffer(view):
    """A tensor over what offers the buffer protocol, row-major; it shares the memory."""
    view = memoryview(view)
    for kind in _dtypes.ALL:
        letters = {"q": "ql", "i": "il"}.get(kind.letter, kind.letter or "")
        if view.format.lstrip("@=<") in tuple(letters) and view.itemsize == kind.itemsize:
            if 0 in view.shape:
                return _ops.call("empty", list(view.shape), dtype=kind)
            return Tensor._of(view, view.shape, kind)
    if view.format == "e":
        bits = view.cast("B").cast("h", view.shape)
        return _ops.call("view", from_buffer(bits), _dtypes.BY_NAME["float16"])
    raise TypeError(f"elements of format '{view.format}' are of no type that tensors have")


def from_numpy(array):
    if not array.flags.c_contiguous:
        made = from_buffer(array.copy())
        made._has_views = True
        return made
    return from_buffer(array)
