"""The backends of this machine: "local/…".

An engine makes of a graph something that runs it; what is timed is one call with inputs
that are ready, on `threads` threads.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import importlib
import importlib.util
import os
import tempfile
import warnings

import torch

from .graph import Bound

ONNX_OPSET = 17


@contextlib.contextmanager
def torch_threads(count):
    before = torch.get_num_threads()
    if count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Engine:
    """What all have in common.  `packages`: {module to import: package to install}."""

    packages: dict = {}

    @classmethod
    def missing(cls):
        """Packages that are to be installed first."""
        return [name for module, name in cls.packages.items()
                if importlib.util.find_spec(module) is None]

    @classmethod
    def import_packages(cls):
        for module in cls.packages:
            importlib.import_module(module)

    def __init__(self, graph, inputs, threads):
        self.graph, self.threads = graph, threads

    def prepare(self, inputs):
        """A function without arguments that runs the graph."""
        raise NotImplementedError

    def tensors(self, results):
        """Results of such a function as torch's tensors."""
        results = results if isinstance(results, (list, tuple)) else [results]
        return [r if isinstance(r, torch.Tensor) else torch.as_tensor(r) for r in results]


class Ingot(Engine):
    packages = {"ingot": "ingot"}

    def __init__(self, graph, inputs, threads):
        import ingot
        super().__init__(graph, inputs, threads)
        shapes = tuple({axis: torch.export.Dim.AUTO for axis in axes}
                       for axes in graph.open_axes)
        self.program = ingot.compile(Bound(graph, inputs), graph.tensors(inputs),
                                     (shapes,) if graph.is_dynamic else None,
                                     threads=threads)

    def prepare(self, inputs):
        program, given = self.program, self.graph.tensors(inputs)
        return lambda: program(*given)


class TorchEager(Engine):
    def prepare(self, inputs):
        return lambda: self.graph.module(*inputs)


class TorchInductor(Engine):
    def __init__(self, graph, inputs, threads):
        super().__init__(graph, inputs, threads)
        self.function = torch.compile(Bound(graph, inputs), backend="inductor",
                                      dynamic=graph.is_dynamic)
        self.function(*(t.clone() for t in graph.tensors(inputs)))

    def prepare(self, inputs):
        function, given = self.function, self.graph.tensors(inputs)
        return lambda: function(*given)


def _write_onnx(graph, inputs, path):
    names = [f"input_{i}" for i in range(len(graph.given))]
    axes = {name: open_axes for name, open_axes in zip(names, graph.open_axes) if open_axes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(Bound(graph, inputs).eval(), graph.tensors(inputs), path,
                          input_names=names, dynamic_axes=axes, opset_version=ONNX_OPSET,
                          dynamo=False)
    return names


class OnnxEngine(Engine):
    """Those that take a file of ONNX."""

    def __init__(self, graph, inputs, threads):
        super().__init__(graph, inputs, threads)
        with tempfile.TemporaryDirectory(prefix="ingot-profile-") as folder:
            path = os.path.join(folder, "model.onnx")
            names = _write_onnx(graph, inputs, path)
            used = self.open(path)
        # What a graph does not use is no input of the file.
        self.holders = {n: p for n, p in zip(names, graph.given) if n in used}

    def open(self, path):
        """Names of the inputs."""
        raise NotImplementedError

    def arrays(self, inputs):
        return {name: inputs[holder].detach().contiguous().numpy()
                for name, holder in self.holders.items()}


class OnnxRuntime(OnnxEngine):
    packages = {"onnx": "onnx", "onnxruntime": "onnxruntime"}

    def open(self, path):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        # Else its threads spin on while the next backend is measured.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = onnxruntime.InferenceSession(path, options,
                                                    providers=["CPUExecutionProvider"])
        return {i.name for i in self.session.get_inputs()}

    def prepare(self, inputs):
        feed = self.arrays(inputs)
        return lambda: self.session.run(None, feed)


class OpenVino(OnnxEngine):
    packages = {"onnx": "onnx", "openvino": "openvino"}

    def open(self, path):
        import openvino
        # Without a hint it computes in bf16 where the machine can.
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": self.threads,
                  "INFERENCE_PRECISION_HINT": "f32"}
        model = openvino.Core().compile_model(path, "CPU", config)
        self.request = model.create_infer_request()
        return {i.get_any_name() for i in model.inputs}

    def prepare(self, inputs):
        feed = self.arrays(inputs)
        return lambda: self.request.infer(feed)

    def tensors(self, results):
        return [torch.as_tensor(results[i].copy()) for i in range(len(results))]


ENGINES = {"ingot-cpu": Ingot, "onnxrt-cpu": OnnxRuntime, "openvino-cpu": OpenVino,
           "torch-eager-cpu": TorchEager, "torch-inductor-cpu": TorchInductor}
# Where nobody says which: those that start quickly.
DEFAULTS = ("ingot-cpu", "onnxrt-cpu", "torch-eager-cpu")
OPTIONS = ("threads",)


def thread_count(spec):
    """Of "[threads=N]"; else torch's.  Raises ValueError for any other option."""
    threads = torch.get_num_threads()
    for name, value in spec.options:
        if name not in OPTIONS:
            raise ValueError(f"{spec}: there is no option '{name}'; there are: "
                             f"{', '.join(OPTIONS)}")
        if not value.isdecimal() or int(value) < 1:
            raise ValueError(f"{spec}: threads is a number from 1 up, not '{value}'")
        threads = int(value)
    return threads
