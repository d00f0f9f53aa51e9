"""ONNX Runtime's classes over Ingot: `import ingot.onnxruntime as onnxruntime`.

What a session options or provider says that means nothing here is taken and ignored; what
would change results is refused.

SPDX-License-Identifier: Apache-2.0
"""
import enum

import numpy

from .session import NodeArg, Session

__all__ = ["GraphOptimizationLevel", "InferenceSession", "ExecutionMode", "NodeArg",
           "OrtValue", "SessionOptions", "get_available_providers", "get_device"]


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

    def add_session_config_entry(self, key, value):
        pass

    def add_free_dimension_override_by_name(self, name, value):
        raise NotImplementedError("give types instead: Session(model, inputs=['x=f32[8, 13]'])")


class OrtValue:
    """An array that a binding holds."""

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array, device_type="cpu", device_id=0):
        if device_type != "cpu":
            raise NotImplementedError(f"device '{device_type}': values are in the host's memory")
        return OrtValue(array)

    def numpy(self):
        return numpy.asarray(self._array)

    def shape(self):
        return list(self.numpy().shape)

    def data_type(self):
        return f"tensor({self.numpy().dtype})"

    def device_name(self):
        return "cpu"


class IOBinding:
    """Inputs and outputs that are named once and used by each run."""

    def __init__(self, session):
        self._session = session
        self._feed, self._wanted, self._got = {}, [], []

    def bind_cpu_input(self, name, array):
        self._feed[name] = array

    def bind_ortvalue_input(self, name, value):
        self._feed[name] = value.numpy()

    def bind_output(self, name, *unused, **ignored):
        self._wanted.append(name)

    bind_ortvalue_output = bind_output

    def clear_binding_inputs(self):
        self._feed = {}

    def clear_binding_outputs(self):
        self._wanted = []

    def copy_outputs_to_cpu(self):
        return self._got

    def get_outputs(self):
        return [OrtValue(array) for array in self._got]


class InferenceSession(Session):
    def __init__(self, path_or_bytes, sess_options=None, providers=None,
                 provider_options=None, **ignored):
        threads = sess_options.intra_op_num_threads if sess_options else 0
        super().__init__(path_or_bytes, threads=threads)

    def run(self, output_names, input_feed, run_options=None):
        feed = {name: value.numpy() if isinstance(value, OrtValue) else numpy.asarray(value)
                for name, value in input_feed.items()}
        return super().run(output_names, feed)

    def run_with_ort_values(self, output_names, input_feed, run_options=None):
        return [OrtValue(array) for array in self.run(output_names, input_feed)]

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, binding, run_options=None):
        binding._got = self.run(binding._wanted or None, binding._feed)

    def get_providers(self):
        return ["CPUExecutionProvider"]


def get_available_providers():
    return ["CPUExecutionProvider"]


def get_device():
    return "CPU"
