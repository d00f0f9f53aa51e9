"""The engines that are compared: each runs one model on prepared sets of inputs.

SPDX-License-Identifier: Apache-2.0

An engine is made for a model and a number of threads, prepared with input sets
(everything that can be bound is bound then), and run by the number of a set.  Peers run
as their users would have them run at best:

  ONNX Runtime   all graph optimisations, intra-op threads = n, inter-op 1, sequential,
                 spinning on, IO binding with inputs and outputs bound before
  OpenVINO       LATENCY hint, threads = n, a request with its inputs for every set
  torch          inference mode; eager, compile and compile with freezing are tried on
                 every batch size and the fastest is the peer
"""

import functools
import json
import os
import pathlib
import subprocess
import time

import numpy as np

from ingot_runtime import BUILD, Binding, Program

TRIES = 5


def output_arrays(source, batch):
    """One for each output; a model's `shapes` are of one size and name all of them."""
    shapes = getattr(source.model, "shapes", None)
    if shapes is None:
        dtype = getattr(source.model, "dtype", "float32")
        shapes = [((batch, *source.model.output_shape), dtype)]
    return [np.zeros(*shape) for shape in shapes]


class IngotEngine:
    name, build, options = "ingot", BUILD, ()

    def __init__(self, source, threads):
        self.source = source
        artifact = compiled(source, self.name, self.build, self.options)
        self.program = Program(artifact, source.load, self.build)
        self.session = self.program.session(threads)
        self.settings = {"load": source.load, "threads": threads}

    def prepare(self, sets):
        self.outputs = [output_arrays(self.source, len(s[0])) for s in sets]
        self.bindings = [Binding(s, out) for s, out in zip(sets, self.outputs)]

    def run(self, index):
        self.session.run(self.bindings[index])

    def output(self, index):
        return self.outputs[index][0]

    def close(self):
        self.session.close()
        self.program.close()


class BaselineEngine(IngotEngine):
    """Another build of Ingot, named by INGOT_BASELINE: did a change cost speed?"""

    name, build = "baseline", pathlib.Path(os.environ.get("INGOT_BASELINE", BUILD))


class WinogradEngine(IngotEngine):
    """With 3 x 3 convolutions of fewer products, which no peer is asked to make."""

    name, options = "winograd", ("--winograd",)


@functools.cache
def build_id(build):
    """Of the compiler in `build`: another one may write what its runtime cannot read."""
    report = subprocess.run([build / "ingot", "info", "--json"], capture_output=True)
    return json.loads(report.stdout)["build"]


def compiled(source, engine, build, options=()):
    """The artifact beside an ONNX file, by that build of the compiler."""
    path = pathlib.Path(source.path)
    artifact = path.with_name(f"{path.stem}-{engine}-{build_id(build)}.ingot")
    is_new = artifact.exists() and artifact.stat().st_mtime >= path.stat().st_mtime
    if not is_new:
        for old in path.parent.glob(f"{path.stem}-{engine}-*.ingot"):
            old.unlink(missing_ok=True)
        weights = "reference" if source.model.size == "large" else "embed"
        command = [build / "ingot", "compile", path, "-o", artifact]
        subprocess.run([*command, "--weights", weights, *options], check=True)
    return artifact


class OrtEngine:
    name = "onnxruntime"

    def __init__(self, source, threads):
        import onnxruntime as ort

        self.source = source
        ort.set_default_logger_severity(3)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        providers = ["CPUExecutionProvider"]
        path = str(source.path)
        self.session = ort.InferenceSession(path, options, providers=providers)
        self.settings = {
            "version": ort.__version__,
            "graph_optimization_level": "all",
            "intra_op_num_threads": threads,
            "inter_op_num_threads": 1,
            "binding": "inputs and outputs bound before",
        }

    def prepare(self, sets):
        self.outputs = [output_arrays(self.source, len(s[0])) for s in sets]
        self.sets = sets
        self.bindings = [self.bind(s, out) for s, out in zip(sets, self.outputs)]

    def bind(self, arrays, out):
        binding = self.session.io_binding()
        for port, array in zip(self.session.get_inputs(), arrays):
            binding.bind_input(
                port.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data
            )
        for port, array in zip(self.session.get_outputs(), out):
            binding.bind_output(
                port.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data
            )
        return binding

    def run(self, index):
        self.session.run_with_iobinding(self.bindings[index])

    def output(self, index):
        return self.outputs[index][0]

    def close(self):
        self.bindings = self.session = None


class OpenVinoEngine:
    name = "openvino"

    def __init__(self, source, threads):
        import openvino

        config = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
        }
        self.compiled = openvino.Core().compile_model(str(source.path), "CPU", config)
        self.settings = {"version": openvino.__version__, **config}

    def prepare(self, sets):
        import openvino

        self.requests = []
        self.sets = sets
        for arrays in sets:
            request = self.compiled.create_infer_request()
            for i, array in enumerate(arrays):
                request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
            self.requests.append(request)

    def run(self, index):
        self.requests[index].infer()

    def output(self, index):
        return np.array(self.requests[index].get_output_tensor(0).data)

    def close(self):
        self.requests = self.compiled = None


class TorchEngine:
    name = "torch"
    variants = ("eager", "compile", "compile+freezing")

    def __init__(self, source, threads):
        import torch

        self.torch, self.source = torch, source
        torch.set_num_threads(threads)
        self.settings = {"version": torch.__version__, "threads": threads}

    def prepare(self, sets):
        self.sets = [[self.torch.from_numpy(array) for array in s] for s in sets]
        self.results = [None] * len(sets)
        module = self.source.model.torch_module(self.source.weights)
        tried = {
            variant: self.try_variant(module, variant) for variant in self.variants
        }
        best = min(tried, key=lambda variant: tried[variant][0])
        self.settings["variant"] = best
        self.settings["tried_us"] = {
            v: round(t * 1e6, 1) for v, (t, _) in tried.items()
        }
        self.settings["first_call_s"] = {v: round(s, 1) for v, (_, s) in tried.items()}
        with self.torch.inference_mode():
            self.function = self.warmed(module, best)

    def try_variant(self, module, variant):
        """(seconds a run, seconds of the first calls)."""
        start = time.perf_counter()
        with self.torch.inference_mode():
            function = self.warmed(module, variant)
            first = time.perf_counter() - start
            some = self.sets[:8]
            passes = [self.timed(function, some) for _ in range(TRIES)]
        return min(passes) / len(some), first

    def warmed(self, module, variant):
        if variant == "eager":
            module(*self.sets[0])
            return module
        freezing = variant.endswith("freezing")
        with self.torch._inductor.config.patch(freezing=freezing):
            self.torch._dynamo.reset()
            function = self.torch.compile(module)
            self.mark_ragged()
            for arrays in self.sets[:2]:
                function(*arrays)
        return function

    def mark_ragged(self):
        """The number of ids changes from call to call; all else is static."""
        if self.source.model.kind in ("legacy", "dynamo"):
            for ids in self.sets[0][1::2]:
                self.torch._dynamo.mark_dynamic(ids, 0)

    @staticmethod
    def timed(function, sets):
        start = time.perf_counter()
        for arrays in sets:
            function(*arrays)
        return time.perf_counter() - start

    def run(self, index):
        with self.torch.inference_mode():
            self.results[index] = self.function(*self.sets[index])

    def output(self, index):
        return self.results[index].numpy()

    def close(self):
        self.function = self.sets = self.results = None
        self.torch._dynamo.reset()


ENGINE_CLASSES = (IngotEngine, WinogradEngine, BaselineEngine, OrtEngine, OpenVinoEngine,
                  TorchEngine)
ENGINES = {e.name: e for e in ENGINE_CLASSES}
