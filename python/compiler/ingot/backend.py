"""ONNX's backend interface: `ingot.backend` is one, for onnx.backend.test and others.

    import ingot.backend
    outputs = ingot.backend.prepare(model).run(inputs)

SPDX-License-Identifier: Apache-2.0
"""
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _compiler
from .program import compile as compile_model
from .values import array_of, value_of


def _feed_of(names, inputs):
    """By name; lists are in the order of the names."""
    if not isinstance(inputs, dict) and len(inputs) != len(names):
        raise ValueError(f"{len(inputs)} inputs were given, there are {len(names)}")
    return inputs if isinstance(inputs, dict) else dict(zip(names, inputs))


class IngotRep(BackendRep):
    """A model that is ready to run; `program` is its ingot.Program."""

    def __init__(self, program):
        self.program = program
        self._names = [port[0] for port in program.inputs]
        self._make = namedtupledict("Outputs", [port[0] for port in program.outputs])

    def run(self, inputs, **kwargs):
        """inputs: a list in the model's order, or a dict by name.  Gives a tuple of
        outputs, which may be asked by name too."""
        return self._make(*self.program.run(_feed_of(self._names, inputs)))


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
        return IngotRep(compile_model(model, **known))

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
