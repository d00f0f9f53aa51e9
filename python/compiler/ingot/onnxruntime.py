"""ONNX Runtime's classes over Ingot: `import ingot.onnxruntime as onnxruntime`.

What a session options or provider says that means nothing here is taken and ignored; what
would change results is refused.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import enum

import numpy

from .session import NodeArg, Session, maps_type, value_type
from .values import name_of

__all__ = ["GraphOptimizationLevel", "IOBinding", "InferenceSession", "ExecutionMode",
           "NodeArg", "OrtValue", "SessionOptions", "get_available_providers", "get_device"]


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """`intra_op_num_threads` counts (0: as many as there are CPUs)."""

    def __init__(self):
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.optimized_model_filepath = ""
        self.log_severity_level = 2
        self.enable_mem_pattern = self.enable_cpu_mem_arena = True
        self._external = {}

    def add_external_initializers(self, names, values):
        """External tensors of the model by their names, in place of files."""
        for name, value in zip(names, values, strict=True):
            self._external[name] = numpy.ascontiguousarray(value.numpy())

    def add_external_initializers_from_files_in_memory(self, names, buffers, lengths):
        """Files of external data by the locations that the model names."""
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            self._external[name] = memoryview(buffer).cast("B")[:length]

    def add_session_config_entry(self, key, value):
        pass

    def add_free_dimension_override_by_name(self, name, value):
        raise NotImplementedError("give types instead: Session(model, inputs=['x=f32[8, 13]'])")


def _need_cpu(device_type):
    if device_type != "cpu":
        raise NotImplementedError(f"device '{device_type}': values are in the host's memory")


def _array_at(pointer, shape, element_type):
    """numpy's view of memory that is the caller's."""
    dtype = numpy.dtype(element_type)
    count = int(numpy.prod(shape, dtype="i8"))
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return numpy.frombuffer(memory, dtype).reshape(shape)


class OrtValue:
    """An array in the host's memory, which a binding shares, or an output's list of dicts."""

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        _need_cpu(device_type)
        return OrtValue(numpy.asarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """With memory that holds nothing yet."""
        _need_cpu(device_type)
        return OrtValue(numpy.empty(shape, element_type))

    def numpy(self):
        if not self.is_tensor():
            raise ValueError("the value is a list of dicts, and no tensor")
        return numpy.asarray(self._array)

    def update_inplace(self, array):
        """Elements of the same type and extents are copied into the value."""
        _copy_into(self.numpy(), numpy.asarray(array), "the value")

    def shape(self):
        return list(self.numpy().shape)

    def data_type(self):
        return value_type(name_of(self.numpy().dtype)) if self.is_tensor() else \
            maps_type(self._array[0] if self._array else [])

    def data_ptr(self):
        return self.numpy().ctypes.data

    def device_name(self):
        return "cpu"

    def has_value(self):
        return self._array is not None

    def is_tensor(self):
        return not isinstance(self._array, list)

    def __dlpack__(self, **options):
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self):
        return self.numpy().__dlpack_device__()


def _copy_into(target, array, what):
    if target.dtype != array.dtype or target.shape != array.shape:
        raise ValueError(f"{what} is {target.dtype}{list(target.shape)}, and not "
                         f"{array.dtype}{list(array.shape)}")
    numpy.copyto(target, array)


class IOBinding:
    """Inputs and outputs that are named once and used by each run.

    An output that is bound to memory (an OrtValue, or buffer_ptr with shape and element
    type) is written there; ValueError where the run gives other extents.
    """

    def __init__(self, session):
        self._session = session
        self._feed, self._wanted, self._got = {}, {}, []

    def bind_cpu_input(self, name, array):
        self._feed[name] = numpy.asarray(array)

    def bind_ortvalue_input(self, name, value):
        self._feed[name] = value.numpy()

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _need_cpu(device_type)
        self._feed[name] = _array_at(buffer_ptr, shape, element_type)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None,
                    shape=None, buffer_ptr=None):
        _need_cpu(device_type)
        if buffer_ptr is not None and (element_type is None or shape is None):
            raise ValueError(f"output '{name}': memory needs its shape and element type")
        self._wanted[name] = None if buffer_ptr is None else \
            _array_at(buffer_ptr, shape, element_type)

    def bind_ortvalue_output(self, name, value):
        self._wanted[name] = value.numpy()

    def clear_binding_inputs(self):
        self._feed = {}

    def clear_binding_outputs(self):
        self._wanted, self._got = {}, []

    def synchronize_inputs(self):
        pass

    synchronize_outputs = synchronize_inputs

    def _run(self):
        got = self._session.run(list(self._wanted) or None, self._feed)
        targets = list(self._wanted.values()) or [None] * len(got)
        for target, array, name in zip(targets, got, self._wanted):
            if isinstance(array, list) and target is not None:
                raise ValueError(f"output '{name}' is a list of dicts, for which no memory "
                                 "can be bound")
            if target is not None:
                _copy_into(target, array, f"the memory of output '{name}'")
        self._got = [array if target is None else target for target, array in zip(targets, got)]

    def copy_outputs_to_cpu(self):
        return self._got

    def get_outputs(self):
        return [OrtValue(array) for array in self._got]


class InferenceSession(Session):
    def __init__(self, path_or_bytes, sess_options=None, providers=None,
                 provider_options=None, **ignored):
        options = sess_options or SessionOptions()
        more = {"external_data": options._external} if options._external else {}
        threads = sess_options.intra_op_num_threads if sess_options else 0
        super().__init__(path_or_bytes, threads=threads, **more)

    def run(self, output_names, input_feed, run_options=None):
        feed = {name: value.numpy() if isinstance(value, OrtValue) else numpy.asarray(value)
                for name, value in input_feed.items()}
        return super().run(output_names or None, feed)  # no names: all, as there

    def run_with_ort_values(self, output_names, input_feed, run_options=None):
        return [OrtValue(array) for array in self.run(output_names, input_feed)]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, binding, run_options=None):
        binding._run()

    def get_providers(self):
        return ["CPUExecutionProvider"]


def get_available_providers():
    return ["CPUExecutionProvider"]


def get_device():
    return "CPU"
