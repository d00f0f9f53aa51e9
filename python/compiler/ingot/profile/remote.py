"""Backends of a machine elsewhere, which runs `ingot worker`.

The protocol is octoml-profile's, over gRPC; docs/serving.md says more.  Needs grpcio and
protobuf: pip install 'ingot[remote]'.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import logging
import os
import pathlib
import tempfile
import threading
import weakref

import torch

from .graph import Bound
from .session import Connection, Outcome

log = logging.getLogger("ingot")
SERVICE = "octoml_profile.RemoteInference"
CHUNK_BYTES, MESSAGE_BYTES = 1 << 20, 1 << 30
HEARTBEAT_SECONDS, CALL_SECONDS = 10, 30
ONNX, EXPORTED = 1, 101
PROFILING, INFERENCE = 1, 2
TYPES = (None, torch.float16, torch.float32, torch.float64, torch.int8, torch.int16,
         torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64,
         torch.bool)  # the protocol's numbers
TAKES_ONNX = ("onnxrt-", "openvino-")


class Messages:
    """Classes of the messages, of the file that tools/serve/profile/profile.proto becomes."""

    def __init__(self):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        path = pathlib.Path(__file__).with_name("profile.desc")
        files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.Add(file)
        find = getattr(message_factory, "GetMessageClass", None)
        find = find or message_factory.MessageFactory(pool).GetPrototype
        for message in files.file[0].message_type:
            setattr(self, message.name, find(pool.FindMessageTypeByName(
                f"profile.{message.name}")))


class Stub:
    """The methods, by name."""

    def __init__(self, address, insecure, token):
        import grpc
        self.grpc, self.messages = grpc, Messages()
        options = [("grpc.max_send_message_length", MESSAGE_BYTES),
                   ("grpc.max_receive_message_length", MESSAGE_BYTES)]
        self.channel = grpc.insecure_channel(address, options) if insecure else \
            grpc.secure_channel(address, grpc.ssl_channel_credentials(), options)
        self.metadata = [("authorization", f"Bearer {token}")] if token else []

    def call(self, name, request, answer, timeout=None):
        """Raises grpc.RpcError.  `request`: a message, or an iterator of them."""
        is_one = hasattr(request, "SerializeToString")
        make = self.channel.unary_unary if is_one else self.channel.stream_unary
        method = make(f"/{SERVICE}/{name}",
                      request_serializer=lambda message: message.SerializeToString(),
                      response_deserializer=answer.FromString)
        return method(request, timeout=timeout, metadata=self.metadata)

    def code(self, error):
        return error.code().name


def _is_loopback(address):
    host = address.rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")


# ---- a session's life ----

def _beat(stub, name, ended):
    while not ended.wait(HEARTBEAT_SECONDS):
        try:
            stub.call("Heartbeat", name, stub.messages.Empty, CALL_SECONDS)
        except stub.grpc.RpcError as error:
            if stub.code(error) == "FAILED_PRECONDITION":
                return
        except ValueError:
            return  # the channel was closed


def _end_session(stub, name, ended):
    ended.set()
    try:
        stub.call("CloseSession", name, stub.messages.Empty, 1)
    except stub.grpc.RpcError:
        pass  # the worker ends it when it hears nothing more


# ---- graphs as files ----

def _export(graph, inputs, path):
    shapes = tuple({axis: torch.export.Dim.AUTO for axis in axes}
                   for axes in graph.open_axes)
    program = torch.export.export(Bound(graph, inputs).eval(), graph.tensors(inputs),
                                  dynamic_shapes=(shapes,) if graph.is_dynamic else None)
    torch.export.save(program, path)
    return []


def _write_onnx(graph, inputs, path):
    from .engines import _write_onnx as write
    import onnx
    names = write(graph, inputs, path)
    used = {i.name for i in onnx.load(path, load_external_data=False).graph.input}
    return [name for name in names if name in used]


# How each kind of file is called, its number, and who writes it: it gives the names of the
# inputs, or none where they are all there in order.
FORMS = {ONNX: ("model.onnx", _write_onnx), EXPORTED: ("model.pt2", _export)}


def _form_of(spec):
    return ONNX if spec.software.startswith(TAKES_ONNX) else EXPORTED


class Loaded:
    """A graph with weights and numbers as they were, on the machine elsewhere."""

    def __init__(self, number, kept):
        self.number, self.kept = number, kept
        self.errors, self.maps = {}, {}  # of each spec: words, places among the given


class RemoteConnection(Connection):
    """Backends of one `ingot worker`.

    address: "host:port" of its gRPC.  insecure: without TLS; None: on loopback alone.
    token: tells the worker whose session it is.
    """

    def __init__(self, address, insecure=None, token=None):
        import grpc
        self.address = address
        insecure = _is_loopback(address) if insecure is None else insecure
        self.stub = Stub(address, insecure, token)
        self.messages = self.stub.messages
        self.uuid, self.specs, self.loaded = None, [], {}
        self.count, self.ended = 0, threading.Event()
        try:
            self.listed = self.stub.call("ListSupportedBackends", self.messages.Empty(),
                                         self.messages.BackendList, CALL_SECONDS)
        except grpc.RpcError as error:
            raise ValueError(f"server_addr '{address}': {error.details()}") from None

    @staticmethod
    def _names(backends):
        return [f"{b.hardware_platform}/{b.software_backend}" for b in backends]

    def supported(self):
        return {name: [] for name in self._names(self.listed.backends)}

    def hardware(self):
        return {b.hardware_platform for b in self.listed.backends}

    def defaults(self):
        return next((self._names(p.backends) for p in self.listed.presets
                     if p.preset_name == "default"), [])

    def check(self, spec):
        if spec.name not in self.supported():
            raise ValueError(f"'{spec}' is not supported; there are: "
                             f"{', '.join(self.supported())}")

    # ---- the session ----

    def open(self, specs):
        if self.uuid is not None or not specs:
            return
        m, self.specs = self.messages, list(specs)
        asked = m.CreateSessionRequest(backends=[m.BackendSpec(
            hardware_platform=s.hardware, software_backend=s.software,
            backend_options=[m.BackendOption(key=k, value=v) for k, v in s.options])
            for s in specs])
        said = self._call("CreateSession", asked, m.CreateSessionReply)
        if said.HasField("error_value"):
            raise ValueError(f"{self.address}: {said.error_value.message}")
        self.uuid, is_ready = said.result_value.session_uuid, said.result_value.ready
        # Also where nobody closes it: at the end of the program.
        self.end = weakref.finalize(self, _end_session, self.stub, self._name(), self.ended)
        threading.Thread(target=_beat, args=(self.stub, self._name(), self.ended),
                         daemon=True).start()
        while not is_ready:
            log.info("%s: another session has the machine; waiting", self.address)
            is_ready = self._call("WaitUntilSessionReady", self._name(),
                                  m.SessionState).ready

    def _name(self):
        return self.messages.SessionName(session_uuid=self.uuid)

    def _call(self, name, request, answer):
        try:
            return self.stub.call(name, request, answer)
        except self.stub.grpc.RpcError as error:
            raise ValueError(f"{self.address}: {error.details()}") from None

    def close(self):
        if self.uuid is not None:
            self.end()
            self.uuid = None
        self.stub.channel.close()

    # ---- loading ----

    def _mask(self, specs):
        mask = sum(1 << i for i, s in enumerate(self.specs) if s not in specs)
        return mask.to_bytes((len(self.specs) + 7) // 8, "little")

    def _upload(self, number, path, mask):
        m, data = self.messages, pathlib.Path(path).read_bytes()
        known = {"session_uuid": self.uuid, "model_id": number, "model_component_id": 1,
                 "filename": os.path.basename(path), "backends_to_skip_bitmask": mask}
        try:
            return self.stub.call("LoadCachedModelComponent", m.Component(
                sha256_hash=hashlib.sha256(data).digest(), **known), m.LoadReply)
        except self.stub.grpc.RpcError as error:
            if self.stub.code(error) != "NOT_FOUND":
                raise
        parts = [m.ComponentPart(chunk=data[i:i + CHUNK_BYTES])
                 for i in range(0, max(len(data), 1), CHUNK_BYTES)]
        for name, value in known.items():
            setattr(parts[0], name, value)
        return self.stub.call("LoadModelComponent", iter(parts), m.LoadReply)

    def _load_form(self, made, graph, inputs, form, specs):
        name, write = FORMS[form]
        mask = self._mask(specs)
        with tempfile.TemporaryDirectory(prefix="ingot-profile-") as folder:
            path = os.path.join(folder, name)
            names = write(graph, inputs, path)
            replies = [self._upload(made.number, path, mask)]
        replies.append(self.stub.call("LoadModel", self.messages.LoadModelRequest(
            session_uuid=self.uuid, model_id=made.number, model_format=form,
            input_names=names, backends_to_skip_bitmask=mask), self.messages.LoadReply))
        positions = [int(n.rpartition("_")[2]) for n in names] if form == ONNX else \
            range(len(graph.given))
        for spec in specs:
            made.maps[spec] = positions
            which = self.specs.index(spec)
            for reply in replies:
                result = reply.result_per_backend[which]
                if result.HasField("error_value"):
                    made.errors[spec] = f"could not be loaded: {result.error_value.message}"

    def _load(self, graph, inputs):
        self.count += 1
        made = Loaded(self.count, [inputs[i] for i in graph.static])
        for form in FORMS:
            specs = [s for s in self.specs if _form_of(s) == form]
            try:
                if specs:
                    self._load_form(made, graph, inputs, form, specs)
            except Exception as error:  # noqa: BLE001: exporters fail by kinds of their own
                words = str(error).strip().split("\n\n")[0]
                made.errors.update({s: f"could not be loaded: {words}" for s in specs})
        return made

    # ---- runs ----

    def _value(self, tensor):
        if tensor.dtype not in TYPES:
            raise ValueError(f"{tensor.dtype} is not a type of the protocol")
        own = tensor.detach().cpu().contiguous()
        data = own.reshape(-1).view(torch.uint8).numpy().tobytes() if own.numel() else b""
        return self.messages.Value(tensor=self.messages.Tensor(
            dtype=TYPES.index(tensor.dtype), shape=tensor.shape, data=data))

    @staticmethod
    def _tensor(value):
        dtype, shape = TYPES[value.tensor.dtype], list(value.tensor.shape)
        if not value.tensor.data:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(bytearray(value.tensor.data), dtype=dtype).reshape(shape)

    def _outcome(self, result):
        if not result.HasField("result_value"):
            return Outcome(error=result.error_value.message)
        value = result.result_value
        return Outcome(list(value.run_times_nanos), [self._tensor(o) for o in value.outputs],
                       None, value.memory_bytes)

    def _run(self, made, graph, inputs, warmups, repeats):
        m = self.messages
        maps = [m.InputMap(input_value_indices=made.maps.get(s, ())) for s in self.specs]
        said = self.stub.call("Run", m.RunRequest(
            session_uuid=self.uuid, model_id=made.number, num_repeats=repeats,
            num_warmups=warmups, mode=PROFILING if repeats else INFERENCE,
            inputs=[self._value(t) for t in graph.tensors(inputs)],
            input_map_per_backend=maps), m.RunReply)
        return {s: self._outcome(r) for s, r in zip(self.specs, said.result_per_backend)}

    def run(self, graph, inputs, specs, warmups, repeats):
        key = graph, graph.held(inputs)
        if key not in self.loaded:
            self.loaded[key] = self._load(graph, inputs)
        made = self.loaded[key]
        try:
            outcomes = self._run(made, graph, inputs, warmups, repeats)
        except (ValueError, self.stub.grpc.RpcError) as error:
            words = error.details() if hasattr(error, "details") else str(error)
            return {spec: Outcome(error=words) for spec in specs}
        outcomes.update({s: Outcome(error=words) for s, words in made.errors.items()})
        return {spec: outcomes[spec] for spec in specs}

    def forget(self, graphs):
        gone = set(graphs)
        self.loaded = {k: v for k, v in self.loaded.items() if k[0] not in gone}
