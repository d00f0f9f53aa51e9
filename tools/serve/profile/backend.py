"""A backend in the user's Python: what `ingot-serve backend` becomes, confined.

Loads models and times runs as child.h says; the messages come from descriptor 3.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import struct
import sys
import time

SOCKET, ALIGN = 3, 64
ONNX, EXPORTED = 1, 101
HEAD = struct.Struct("=QQ")
NUMBERS = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
           "uint16", "uint32", "uint64", "bool")  # from 1 up


def receive(size):
    data = bytearray(size)
    view, have = memoryview(data), 0
    while have < size:
        got = os.readv(SOCKET, [view[have:]])
        if got == 0:
            raise SystemExit(0)
        have += got
    return data


def send(value, blobs=()):
    text = json.dumps(value).encode()
    for data in (HEAD.pack(len(text), sum(map(len, blobs))), text, *blobs):
        view = memoryview(data)
        while view:
            view = view[os.write(SOCKET, view):]


def words_of(error):
    """Its first paragraph: torch's go on about where to ask."""
    text = str(error).strip().split("\n\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def file_of(message, suffix, format_number):
    if message["format"] != format_number:
        raise ValueError(f"takes files that end in {suffix}, not format {message['format']}")
    names = [n for n in os.listdir(message["folder"]) if n.endswith(suffix)]
    if len(names) != 1:
        raise ValueError(f"{len(names)} files end in {suffix}, where the model is one")
    return os.path.join(message["folder"], names[0])


class Engine:
    """A loaded model; `prepare` gives what is timed, of arrays of numpy."""

    @staticmethod
    def begin():
        """Imports what it needs: that memory is not the model's."""

    def __init__(self, message):
        self.names = message["inputs"]

    def prepare(self, arrays):
        raise NotImplementedError

    def arrays(self, results):
        return results


class OnnxRuntime(Engine):
    @staticmethod
    def begin():
        import onnxruntime  # noqa: F401

    def __init__(self, message):
        import onnxruntime
        super().__init__(message)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = message["threads"], 1
        # Else its threads spin on while the next backend is measured.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = onnxruntime.InferenceSession(file_of(message, ".onnx", ONNX), options,
                                                    providers=["CPUExecutionProvider"])
        self.names = self.names or [i.name for i in self.session.get_inputs()]
        self.wanted = message["outputs"] or None

    def prepare(self, arrays):
        feed = dict(zip(self.names, arrays))
        return lambda: self.session.run(self.wanted, feed)


class OpenVino(Engine):
    @staticmethod
    def begin():
        import openvino  # noqa: F401

    def __init__(self, message):
        import openvino
        super().__init__(message)
        # Without a hint it computes in bf16 where the machine can.
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": message["threads"],
                  "INFERENCE_PRECISION_HINT": "f32"}
        model = openvino.Core().compile_model(file_of(message, ".onnx", ONNX), "CPU", config)
        self.request, self.count = model.create_infer_request(), len(model.outputs)
        self.names = self.names or [i.get_any_name() for i in model.inputs]

    def prepare(self, arrays):
        feed = dict(zip(self.names, arrays))
        return lambda: self.request.infer(feed)

    def arrays(self, results):
        return [results[i] for i in range(self.count)]


class Torch(Engine):
    compiles = False

    @staticmethod
    def begin():
        import torch.export  # noqa: F401

    def __init__(self, message):
        import torch
        super().__init__(message)
        torch.set_num_threads(message["threads"])
        path = file_of(message, ".pt2", EXPORTED)
        self.call = torch.export.load(path).module()
        if self.compiles:
            self.call = torch.compile(self.call, backend="inductor")

    def prepare(self, arrays):
        import torch
        tensors = [torch.from_numpy(a) for a in arrays]

        def run():
            with torch.no_grad():
                return self.call(*tensors)
        return run

    def arrays(self, results):
        import torch
        from torch.utils._pytree import tree_leaves
        return [torch.as_tensor(leaf).detach().numpy() for leaf in tree_leaves(results)]


class TorchInductor(Torch):
    compiles = True


ENGINES = {"onnxrt-cpu": OnnxRuntime, "openvino-cpu": OpenVino, "torch-eager-cpu": Torch,
           "torch-inductor-cpu": TorchInductor}


def read_arrays(message, data):
    import numpy
    arrays, at = [], 0
    for entry in message["inputs"]:
        dtype = numpy.dtype(NUMBERS[entry["dtype"] - 1])
        part = memoryview(data)[at:at + entry["size"]]
        arrays.append(numpy.frombuffer(part, dtype).reshape(entry["shape"]))
        at += -entry["size"] % ALIGN + entry["size"]
    return arrays


def measure(run, message):
    """The results of the first run, which does not count, and the times of those that do."""
    results = run()
    for _ in range(message["warmups"] - 1):
        run()
    times, end = [], time.perf_counter_ns() + message["milliseconds"] * 1_000_000
    while len(times) < message["repeats"] or (message["milliseconds"]
                                              and time.perf_counter_ns() < end):
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    return results, times


def run_model(engine, message, data, before):
    import numpy
    arrays = read_arrays(message, data)
    if engine.names and len(engine.names) != len(arrays):
        raise ValueError(f"{len(arrays)} inputs, and the model has {len(engine.names)}")
    run = engine.prepare(arrays)
    results, times = measure(run, message)
    arrays = [numpy.ascontiguousarray(a) for a in engine.arrays(results)]
    outputs = [{"dtype": NUMBERS.index(a.dtype.name) + 1, "shape": a.shape, "size": a.nbytes}
               for a in arrays]
    send({"times": times, "memory": max(resident_bytes() - before, 0), "outputs": outputs},
         [a.tobytes() for a in arrays])


def main(kind):
    os.set_inheritable(SOCKET, False)  # what a backend starts is none of the server's
    models, before = {}, {}
    while True:
        text_size, data_size = HEAD.unpack(receive(HEAD.size))
        message, data = json.loads(receive(text_size)), receive(data_size)
        name = message["model"]
        try:
            if message["do"] == "load":
                kind.begin()
                before[name] = resident_bytes()
                models[name] = kind(message)
                send({})
            else:
                run_model(models[name], message, data, before[name])
        except Exception as error:  # noqa: BLE001: each backend fails by its own kinds
            send({"error": words_of(error)})


if __name__ == "__main__":
    main(ENGINES[sys.argv[1]])
