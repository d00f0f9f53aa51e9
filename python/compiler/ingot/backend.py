"""ONNX's backend interface: `ingot.backend` is one, for onnx.backend.test and others.

    import ingot.backend
    outputs = ingot.backend.prepare(model).run(inputs)

SPDX-License-Identifier: Apache-2.0
"""
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _compiler  # noqa: F401: without it there is no backend
from .program import compile as compile_model


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


class IngotBackend(Backend):
    @classmethod
    def supports_device(cls, device):
        return device.partition(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """kwargs: options of ingot.compile; what they do not know of is ignored."""
        if not cls.supports_device(device):
            raise ValueError(f"device '{device}': models run on the CPU")
        known = {name: kwargs[name] for name in ("inputs", "target", "threads", "isolate",
                                                 "memory_limit") if name in kwargs}
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
