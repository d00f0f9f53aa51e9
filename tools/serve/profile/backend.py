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
ONNX, FXPROTO, EXPORTED = 1, 2, 101
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


# ---- graphs of octoml-profile: FXPROTO ----

DTYPES = {16: "bool", 32: "int8", 33: "int16", 34: "int32", 35: "int64", 48: "uint8",
          65: "float16", 66: "float32", 67: "float64", 81: "bfloat16", 98: "complex32",
          99: "complex64", 100: "complex128"}
FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


def read_varint(data, at):
    """(a number of protobuf, where it ends)"""
    value = 0
    for shift in range(0, 70, 7):
        if at == len(data):
            break
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("model.dat is broken: a number does not end")


def fields_of(data):
    """The values of a message by their numbers: whole ones, and bytes of all others."""
    found, at = {}, 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if key & 7 == 2:
                size, at = read_varint(data, at)
            if size is None or size > len(data) - at:
                raise ValueError("model.dat is broken: a field does not end")
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def part_of(fields, number):
    """A field that is bytes and stands once."""
    value = fields.get(number, [b""])[-1]
    if not isinstance(value, bytes):
        raise ValueError(f"model.dat is broken: field {number} is a number")
    return value


def fx_value(data, nodes):
    """What a Value stands for; a graph's devices are this machine's CPU."""
    import torch
    found = fields_of(data)
    if len(found) != 1:
        raise ValueError("model.dat is broken: a value is not one of its kinds")
    (kind, (*_, value)), = found.items()
    read = {1: lambda: nodes[value.decode()], 3: lambda: int(value.decode()),
            4: lambda: bool(value), 5: lambda: struct.unpack("<d", value)[0],
            6: lambda: None,
            7: lambda: [fx_value(i, nodes) for i in fields_of(value).get(1, [])],
            8: lambda: tuple(fx_value(i, nodes) for i in fields_of(value).get(1, [])),
            9: lambda: torch.device("cpu"), 10: lambda: getattr(torch, DTYPES[value]),
            11: lambda: getattr(torch, FORMATS[value]),
            12: lambda: (torch.strided, torch.sparse_coo)[value],
            13: lambda: value.decode()}
    if kind not in read:
        raise ValueError(f"model.dat holds a value of a kind that is not known: {kind}")
    return read[kind]()


def fx_target(data):
    import operator
    import torch
    of = fields_of(data)
    names = [part_of(of, n).decode() for n in (2, 3)]
    if 1 in of:
        space, op, overload = (part_of(fields_of(part_of(of, 1)), n).decode()
                               for n in (1, 2, 3))
        return getattr(getattr(getattr(torch.ops, space), op), overload or "default")
    if names == ["getitem", ""]:
        return operator.getitem
    if names == ["", "tensor"]:
        return torch.tensor
    raise ValueError(f"a graph calls '{names[0] or names[1]}', which is not known")


def fx_weight(data, folder):
    """A fixed input: a part of a file of weights."""
    import torch
    of = fields_of(part_of(fields_of(data), 2))
    shape = []
    for part in of.get(2, []):
        at = 0
        while isinstance(part, bytes) and at < len(part):
            value, at = read_varint(part, at)
            shape.append(value)
        shape += [part] if isinstance(part, int) else []
    number, offset, size = (of.get(n, [0])[-1] for n in (3, 4, 5))
    empty = torch.empty(shape, dtype=getattr(torch, DTYPES[of[1][-1]]))
    if size != empty.numel() * empty.element_size():
        raise ValueError(f"a weight has {size} bytes, which are not those of its shape")
    if size == 0:
        return empty
    with open(os.path.join(folder, "weights", str(number)), "rb") as file:
        file.seek(offset)
        data = bytearray(file.read(size))
    if len(data) != size:
        raise ValueError(f"weights/{number} ends within a weight")
    return torch.frombuffer(data, dtype=empty.dtype).reshape(shape)


def read_fx(folder):
    """The graph in model.dat as something to call; weights are its first inputs."""
    import torch
    with open(os.path.join(folder, "model.dat"), "rb") as file:
        model = fields_of(file.read())
    graph, nodes = torch.fx.Graph(), {}
    for each in fields_of(part_of(model, 1)).get(1, []):
        node = fields_of(each)
        name = part_of(node, 1).decode()
        if not name.isidentifier():
            raise ValueError(f"a node is called '{name}', which is no name")
        if 2 in node:
            nodes[name] = graph.placeholder(name)
        elif 3 in node:
            call = fields_of(part_of(node, 3))
            pairs = [fields_of(pair) for pair in call.get(3, [])]
            nodes[name] = graph.call_function(
                fx_target(part_of(call, 1)), tuple(fx_value(a, nodes) for a in call.get(2, [])),
                {part_of(p, 1).decode(): fx_value(part_of(p, 2), nodes) for p in pairs})
        else:
            graph.output(fx_value(part_of(fields_of(part_of(node, 4)), 1), nodes))
    if not any(node.op == "output" for node in graph.nodes):
        raise ValueError("model.dat holds no graph that gives anything")
    run = torch.fx.GraphModule(torch.nn.Module(), graph)
    fixed = [fx_weight(part_of(fields_of(each), 1), folder) for each in model.get(2, [])]
    return lambda *inputs: run(*fixed, *inputs)


class Torch(Engine):
    compiles = False

    @staticmethod
    def begin():
        import torch.export  # noqa: F401

    def __init__(self, message):
        import torch
        super().__init__(message)
        torch.set_num_threads(message["threads"])
        if message["format"] == FXPROTO:
            self.call = read_fx(message["folder"])
        else:
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
        return [torch.as_tensor(leaf).detach().numpy() for leaf in tree_leaves(results)
                if leaf is not None]


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
