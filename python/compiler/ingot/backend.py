"""ONNX's backend interface: `ingot.backend` is one, for onnx.backend.test and others.

    import ingot.backend
    outputs = ingot.backend.prepare(model).run(inputs)

SPDX-License-Identifier: Apache-2.0
"""
import numpy
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _compiler
from .program import compile as compile_model
from .values import array_of, numpy_type, value_of

EXTENTS = ".extents"  # of the items of a list, which is two ports of a program
ANY_ROW = 33  # of an item of any rank: the rank, the extents, then ones
THERE = ".there"  # is it?  Of an optional list, which is three


def _feed_of(names, inputs):
    """By name; lists are in the order of the names."""
    if not isinstance(inputs, dict) and len(inputs) != len(names):
        raise ValueError(f"{len(inputs)} inputs were given, there are {len(names)}")
    return inputs if isinstance(inputs, dict) else dict(zip(names, inputs))


def _is_part(name, names):
    return any(name.removesuffix(part) in names for part in (EXTENTS, THERE)
               if name.endswith(part))


def _values_of(ports):
    """Names of the model's values, each with the port of its items' extents or None."""
    by_name = {port[0]: port for port in ports}
    return {name: by_name.get(name + EXTENTS) for name in by_name
            if not _is_part(name, by_name)}


def _parts_of(items, dtype, rank):
    """All elements, and a row of extents for each item."""
    items = [numpy.asarray(x) for x in items]
    empty = numpy.zeros(0, numpy_type(dtype))
    rows = [(x.ndim, *x.shape, *[1] * (ANY_ROW - 1 - x.ndim)) if rank == ANY_ROW else x.shape
            for x in items]
    extents = numpy.array(rows, "i8").reshape(len(items), rank)
    return numpy.concatenate([x.ravel() for x in items] or [empty]), extents


def _items_of(elements, extents):
    rows = [row[1:row[0] + 1] if len(row) == ANY_ROW else row for row in extents]
    sizes = [int(numpy.prod(row)) for row in rows]
    return [elements[end - size:end].reshape(row)
            for row, size, end in zip(rows, sizes, numpy.cumsum(sizes))]


class IngotRep(BackendRep):
    """A model that is ready to run; `program` is its ingot.Program."""

    def __init__(self, program, singles=()):
        self.program = program
        self._takes = _values_of(program.inputs)
        self._gives = _values_of(program.outputs)
        self._dtypes = {port[0]: port[2] for port in program.inputs}
        self._singles = set(singles)  # outputs that are no lists: of any rank, or optional
        self._deep = {port[0].removesuffix(THERE) for port in program.inputs + program.outputs
                      if port[0].endswith(THERE)}
        self._make = namedtupledict("Outputs", list(self._gives))

    def run(self, inputs, **kwargs):
        """inputs: a list in the model's order, or a dict by name.  Gives a tuple of
        outputs, which may be asked by name too."""
        feed = dict(_feed_of(list(self._takes), inputs))
        for name, extents in self._takes.items():
            if extents and name in feed:
                value = feed[name]
                items = value if isinstance(value, list) else [value] if value is not None else []
                feed[name], feed[name + EXTENTS] = _parts_of(items, self._dtypes[name],
                                                             extents[3][1])
                if name in self._deep:
                    feed[name + THERE] = numpy.array(value is not None)
        results = dict(zip([port[0] for port in self.program.outputs], self.program.run(feed)))
        return self._make(*[self._result_of(results, name) for name in self._gives])

    def _result_of(self, results, name):
        if not self._gives[name]:
            return results[name]
        items = _items_of(results[name], results[name + EXTENTS])
        if name in self._deep:
            return items if results[name + THERE] else None
        return (items or [None])[0] if name in self._singles else items


def _has_rank(type_proto):
    kind = type_proto.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        return _has_rank(getattr(type_proto, kind).elem_type)
    return kind != "tensor_type" or type_proto.tensor_type.HasField("shape")


def _statement(name, value):
    """The type of an input whose rank the model does not say, of its value."""
    is_list = isinstance(value, list)
    first = value[0] if is_list and value else value
    if not isinstance(first, tuple):
        return []
    dims = ", ".join(f"n{axis}_{name}" for axis in range(len(first[1])))
    kind = f"{first[0]}[{dims}]"
    return [f"{name}=seq<{kind}>" if is_list else f"{name}={kind}"]


class InterpretedRep(BackendRep):
    """A model for the reference interpreter: slow, and for all that can be imported."""

    def __init__(self, model):
        self._data = model.SerializeToString()
        constants = {tensor.name for tensor in model.graph.initializer}
        takes = [i for i in model.graph.input if i.name not in constants]
        self._names = [i.name for i in takes]
        self._unranked = {i.name for i in takes if not _has_rank(i.type)}
        self._make = namedtupledict("Outputs", [o.name for o in model.graph.output])

    def run(self, inputs, **kwargs):
        feed = _feed_of(self._names, inputs)
        values = {name: value_of(feed[name]) for name in self._names}
        said = [text for name in self._names if name in self._unranked
                for text in _statement(name, values[name])]
        results = _compiler.interpret(data=self._data, path="<ModelProto>", inputs=said,
                                      arguments=list(values.values()))
        return self._make(*[array_of(result) for result in results])


class IngotBackend(Backend):
    @classmethod
    def supports_device(cls, device):
        return device.partition(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """kwargs: options of ingot.compile, and target="interpret"; what they do not know
        of is ignored."""
        if not cls.supports_device(device):
            raise ValueError(f"device '{device}': models run on the CPU")
        known = {name: kwargs[name] for name in ("inputs", "target", "threads", "isolate",
                                                 "memory_limit") if name in kwargs}
        if known.get("target") == "interpret":
            return InterpretedRep(model)
        gives = [o.name for o in model.graph.output if not o.type.HasField("sequence_type")]
        return IngotRep(compile_model(model, **known), gives)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One operator; `opset_version` says which set it is of."""
        feed = _feed_of([name for name in node.input if name], inputs)
        takes = [helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in feed.items()]
        gives = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = helper.make_model(helper.make_graph([node], "node", takes, gives),
                                  opset_imports=[helper.make_opsetid(node.domain, version)])
        return cls.prepare(model, device, **kwargs).run(feed)


is_compatible = IngotBackend.is_compatible
prepare = IngotBackend.prepare
run_model = IngotBackend.run_model
run_node = IngotBackend.run_node
supports_device = IngotBackend.supports_device
