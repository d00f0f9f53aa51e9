"""ingot worker: sessions, uploads, loads and runs as octoml-profile's clients ask for them.

The second backend is a stand-in for onnxruntime that does what its input says: it gives
other numbers, hangs, crashes, or takes memory.  Messages of an ordinary session are golden
(worker.log; INGOT_BLESS=1 writes it).  INGOT_OCTOML names the unpacked source of
octoml-profile 0.2.2, whose own client is then tried.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

from harness import BUILD, PATIENCE, TMP, Server, check, finish, floats, grpc, onnx_model, skip

HERE = pathlib.Path(__file__).parent
OTHER, HANG, CRASH, BLOAT = 7, 1001, 1002, 1003
STAND_IN = f"""
import numpy, os, time
class SessionOptions:
    def add_session_config_entry(self, *unused): pass
class InferenceSession:
    def __init__(self, path, options, providers):
        if b"fail here" in open(path, "rb").read(): raise ValueError("no model of mine")
    def get_inputs(self): return []
    def run(self, wanted, feed):
        x = feed["x"]
        what = x.flat[0] if x.size else 0
        if what == {HANG}: time.sleep(1000)
        if what == {CRASH}: os.abort()
        if what == {BLOAT}: held = bytearray(1 << 30)
        return [numpy.maximum(x, 0) + (1 if what == {OTHER} else 0)]
"""


def write_python():
    """A Python that has the stand-in: the worker runs it as `PYTHON -I -c …`."""
    packages = TMP / "packages"
    packages.mkdir()
    (packages / "onnxruntime.py").write_text(STAND_IN)
    path = TMP / "python"
    path.write_text(f'#!/bin/sh\nshift\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return path


class Client:
    """Calls, and what they said."""

    def __init__(self, server, user=""):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}")
        self.metadata = [("authorization", f"Bearer {user}")] if user else []
        self.log = []

    def call(self, name, request, answer=None, timeout=PATIENCE):
        """The answer, or the error."""
        answer = answer or pb.Empty
        parts = request if isinstance(request, list) else None
        make = self.channel.stream_unary if parts else self.channel.unary_unary
        method = make(f"/octoml_profile.RemoteInference/{name}",
                      request_serializer=lambda message: message.SerializeToString(),
                      response_deserializer=answer.FromString)
        try:
            said = method(iter(parts) if parts else request, timeout=timeout,
                          metadata=self.metadata)
        except grpc.RpcError as error:
            said = error
        self.log.append((name, parts or [request], said))
        return said

    def backends(self):
        return self.call("ListSupportedBackends", pb.Empty(), pb.BackendList)

    def open(self, *names, **options):
        specs = [pb.BackendSpec(hardware_platform="here", software_backend=n,
                                backend_options=[pb.BackendOption(key=k, value=v)
                                                 for k, v in options.items()])
                 for n in names]
        return self.call("CreateSession", pb.CreateSessionRequest(backends=specs),
                         pb.CreateSessionReply)

    def session(self, *names):
        self.uuid = self.open(*names).result_value.session_uuid
        return self.uuid

    def wait(self):
        return self.call("WaitUntilSessionReady", pb.SessionName(session_uuid=self.uuid),
                         pb.SessionState)

    def cached(self, data, filename="model.onnx", model=1):
        return self.call("LoadCachedModelComponent", pb.Component(
            session_uuid=self.uuid, model_id=model, model_component_id=1,
            sha256_hash=hashlib.sha256(data).digest(), filename=filename), pb.LoadReply)

    def upload(self, data, filename="model.onnx", model=1):
        step = 1 << 20
        chunks = [data[i:i + step] for i in range(0, len(data), step)] or [b""]
        parts = [pb.ComponentPart(chunk=c) for c in chunks]
        parts[0].session_uuid, parts[0].model_id = self.uuid, model
        parts[0].model_component_id, parts[0].filename = 1, filename
        return self.call("LoadModelComponent", parts, pb.LoadReply)

    def load(self, model=1, skip=b"", form=1):
        return self.call("LoadModel", pb.LoadModelRequest(
            session_uuid=self.uuid, model_id=model, model_format=form, input_names=["x"],
            output_names=["y"], backends_to_skip_bitmask=skip), pb.LoadReply)

    def request(self, rows, model=1, repeats=3, **more):
        data = b"".join(floats(*row) for row in rows)
        tensor = pb.Tensor(dtype=2, shape=[len(rows), 4], data=data)
        return pb.RunRequest(session_uuid=self.uuid, model_id=model, num_repeats=repeats,
                             num_warmups=1, mode=1, inputs=[pb.Value(tensor=tensor)], **more)

    def run(self, rows, **more):
        return self.call("Run", self.request(rows, **more), pb.RunReply)

    def beat(self):
        return self.call("Heartbeat", pb.SessionName(session_uuid=self.uuid))

    def close(self):
        return self.call("CloseSession", pb.SessionName(session_uuid=self.uuid))


def code(said):
    return said.code().name if isinstance(said, grpc.RpcError) else "OK"


def values(result):
    tensor = result.result_value.outputs[0].tensor
    return list(struct.unpack(f"{len(tensor.data) // 4}f", tensor.data))


def errors(said):
    """The words of each backend, "" where it went well."""
    return [r.error_value.message if r.HasField("error_value") else ""
            for r in said.result_per_backend]


def start(*words):
    return Server("worker", "--host", "here", "--python", PYTHON, "--quiet", *words,
                  program=BUILD / "ingot")


# ---- an ordinary session ----

def text_of_log(log, model):
    """Without what differs from run to run."""
    lines = []
    for name, requests, said in log:
        lines.append(f"== {name}")
        lines += [str(m) for m in requests]
        lines += ["--", code(said) if isinstance(said, grpc.RpcError) else str(said)]
    text = "\n".join(lines).replace(str(model), "…")
    text = re.sub(r'session_uuid: ".*"', 'session_uuid: "…"', text)
    text = re.sub(r'(chunk|sha256_hash): ".*"', r'\1: "…"', text)
    return re.sub(r"(run_times_nanos|_nanos|memory_bytes): \d+", r"\1: N", text) + "\n"


def takes_a_session(server, model):
    client = Client(server)
    listed = client.backends()
    check("two backends and a preset", [b.software_backend for b in listed.backends][:2] ==
          ["ingot-cpu", "onnxrt-cpu"] and listed.presets[0].preset_name == "default", listed)
    client.session("ingot-cpu", "onnxrt-cpu")
    check("ready at once", client.wait().ready)
    check("a component that is not there", code(client.cached(model)) == "NOT_FOUND")
    check("uploaded", errors(client.upload(model)) == ["", ""])
    check("loaded", errors(client.load()) == ["", ""], client.log[-1])
    said = client.run([[-1, 2, -3, 4]])
    check("results", [values(r) for r in said.result_per_backend] == [[0, 2, 0, 4]] * 2, said)
    result = said.result_per_backend[1].result_value
    check("as many times as repeats", len(result.run_times_nanos) == 3)
    check("medians and 95th percentiles of them",
          result.p50_nanos == sorted(result.run_times_nanos)[1] and
          result.p95_nanos in result.run_times_nanos)
    check("no difference", result.max_difference == 0 and result.HasField("max_difference"))
    check("a heartbeat", code(client.beat()) == "OK")
    check("closed", code(client.close()) == "OK")
    check("and gone", code(client.beat()) == "FAILED_PRECONDITION")
    golden(text_of_log(client.log, model))
    client.session("onnxrt-cpu")
    check("in a new session the component is there", code(client.cached(model)) == "OK")
    client.close()


def golden(text):
    path = HERE / "worker.log"
    if os.environ.get("INGOT_BLESS"):
        path.write_text(text)
    expected = path.read_text().splitlines() if path.exists() else []
    got = text.splitlines()
    off = next((i for i, (a, b) in enumerate(zip(expected + [""], got + [""])) if a != b),
               None)
    check("the messages are those of worker.log", expected == got,
          off is not None and f"line {off + 1}: {got[off:off + 1]}")


# ---- what may go wrong ----

def refuses(server, model):
    client = Client(server)
    check("a backend that is not there", client.open("tpu").error_value.code == 3)
    check("an option that is not there",
          client.open("ingot-cpu", fp16="").error_value.code == 3)
    check("no backend at all", code(client.open()) == "INVALID_ARGUMENT")
    check("a quota", client.open(*["ingot-cpu"] * 5).error_value.code == 4)
    client.uuid = b"no session"
    check("no such session", code(client.run([[0] * 4])) == "FAILED_PRECONDITION")
    client.session("ingot-cpu", "onnxrt-cpu")
    other = Client(server, "another")
    other.uuid = client.uuid
    check("another user's session", code(other.beat()) == "FAILED_PRECONDITION")
    for name in ("../x", "/x", "a/../../x", "", ".", "a//b"):
        check(f"a name that leads out: '{name}'",
              code(client.upload(model, name)) == "INVALID_ARGUMENT")
    check("a run before a load", all("not loaded" in e for e in errors(client.run([[0] * 4]))))
    check("a load before an upload", all(errors(client.load())), errors(client.load()))
    client.upload(b"fail here", model=2)
    said = errors(client.load(model=2))
    check("what is no model", all(said) and "no model of mine" in said[1], said)
    client.upload(model)
    check("a format of somebody else's", all(errors(client.load(form=2))))
    said = client.load(skip=b"\x01")
    check("a backend that is skipped", said.result_per_backend[0].HasField("skipped") and
          not said.result_per_backend[1].HasField("skipped"))
    client.load()
    check("an input map", values(client.run([[1] * 4], input_map_per_backend=[
        pb.InputMap(input_value_indices=[0])] * 2).result_per_backend[0]) == [1] * 4)
    for positions in ([1], [-1], [0, 0], []):
        check(f"an input map of {positions}", all(errors(client.run(
            [[1] * 4], input_map_per_backend=[pb.InputMap(input_value_indices=positions)] * 2))))
    odd = client.request([[1] * 4])
    odd.inputs[0].tensor.shape[0] = -1
    check("a negative extent", all(errors(client.call("Run", odd, pb.RunReply))))
    check("too many repeats", code(client.run([[1] * 4], repeats=1 << 40)) ==
          "INVALID_ARGUMENT")
    check("no rows", [values(r) for r in client.run([]).result_per_backend] == [[], []])
    special = [float("nan"), float("inf"), -0.0, float("-inf")]
    result = client.run([special]).result_per_backend[1].result_value
    check("NaN and infinities are no difference", result.max_difference == 0, result)
    result = client.run([[OTHER, 0, 0, 0]]).result_per_backend[1].result_value
    check("a difference is told", result.max_difference == 1, result)
    check("broken bytes", code(client.call("Run", Raw(b"\xff" * 9), pb.RunReply)) ==
          "INVALID_ARGUMENT")
    check("no such method", code(client.call("Runs", pb.Empty())) == "UNIMPLEMENTED")
    client.close()


class Raw:
    def __init__(self, data):
        self.data = data

    def SerializeToString(self):  # noqa: N802: protobuf's name
        return self.data


def queues(server, model):
    first, second = Client(server, "a"), Client(server, "b")
    first.session("onnxrt-cpu")
    opened = second.open("onnxrt-cpu").result_value
    second.uuid = opened.session_uuid
    check("the second waits", not opened.ready)
    check("and may not load", code(second.load()) == "FAILED_PRECONDITION")
    waiter = threading.Thread(target=second.wait)
    waiter.start()
    time.sleep(0.2)
    begin = time.monotonic()
    first.close()
    waiter.join()
    check("until the first has closed", second.log[-1][2].ready and
          time.monotonic() - begin < 2, second.log[-1])
    third = Client(server, "c")
    third.session("onnxrt-cpu")
    check("a session without a heartbeat ends", third.wait().ready or third.wait().ready)
    check("and its user is told", code(second.beat()) == "FAILED_PRECONDITION")
    third.close()


def survives(server, model):
    """Jobs that hang, crash or bloat fail, and the next succeed."""
    client = Client(server)
    client.session("onnxrt-cpu")
    client.upload(model)
    client.load()
    good = [[1, -1, 0, 2]]
    for what, words in ((HANG, "--job-seconds"), (CRASH, "signal 6"), (BLOAT, "MemoryError")):
        said = errors(client.run([[what, 0, 0, 0]]))
        # Sanitizers know no bounds of memory.
        is_free = what == BLOAT and server.is_sanitized()
        check(f"{words} is told", is_free or words in said[0], said)
        check("and the next one succeeds", errors(client.run(good)) == [""])
    call = threading.Thread(target=client.run, args=([[HANG, 0, 0, 0]],))
    call.start()
    time.sleep(0.3)
    begin = time.monotonic()
    os.kill(server.children()[0], signal.SIGKILL)
    call.join()
    check("a killed child's job fails within a second", time.monotonic() - begin < 1 and
          "signal 9" in errors(client.log[-1][2])[0], client.log[-1])
    check("the next one succeeds", errors(client.run(good)) == [""])
    bad = (HANG, CRASH) if server.is_sanitized() else (HANG, CRASH, BLOAT)
    runs_many(client, good, bad)
    client.close()
    check("children end with their session", server.await_that(lambda: not server.children()))


def runs_many(client, good, bad):
    count = 10000 if os.environ.get("INGOT_FULL") == "1" else 200
    draw, wrong = random.Random(1), 0
    for _ in range(count):
        is_bad = draw.random() < 0.01
        rows = [[draw.choice(bad), 0, 0, 0]] if is_bad else good
        client.log.clear()
        wrong += bool(errors(client.run(rows, repeats=1))[0]) != is_bad
    check(f"{count} jobs, of which 1 % are bad: only those fail", wrong == 0, wrong)


def keeps_components(server):
    client = Client(server)
    client.session("onnxrt-cpu")
    first, second = b"1" * 700_000, b"2" * 700_000
    check("a component", code(client.upload(first, "a")) == "OK" and
          code(client.cached(first, "a")) == "OK")
    client.upload(second, "weights/b")
    check("the older one makes room", code(client.cached(first, "a")) == "NOT_FOUND" and
          code(client.cached(second, "b")) == "OK")
    check("one that is too large", code(client.upload(b"3" * 1_100_000)) ==
          "RESOURCE_EXHAUSTED")
    check("an empty one", code(client.upload(b"")) == "OK")
    client.close()


def profiles_remotely(server):
    def profile(*words):
        done = subprocess.run(
            [BUILD / "ingot", "profile", TMP / "model.onnx", "--quiet", "--remote",
             f"127.0.0.1:{server.grpc_port}", "--seconds", "0.05", "--json", *words],
            capture_output=True, text=True)
        return done.returncode, done.stdout

    status, text = profile("--batch", "3")
    rows = json.loads(text)["results"] if status == 0 else []
    check("ingot profile --remote times the default backends", [r["backend"] for r in rows] ==
          ["here/ingot-cpu", "here/onnxrt-cpu"] and all(r["runs"] for r in rows) and
          rows[1]["max_difference"] == 0, (status, text))
    status, text = profile("--backend", "here/onnxrt-cpu[threads=1]", "--input",
                           f"x=f32[1,4]={OTHER},0,0,0")
    check("and those that are named", status == 0 and "[threads=1]" in text, text)
    status, text = profile("--backend", "here/tpu")
    check("a backend that is not there", status == 3, (status, text))
    status, text = profile("--backend", "here/onnxrt-cpu", "--input",
                           f"x=f32[1,4]={CRASH},0,0,0")
    check("one that crashes", status == 3 and "signal 6" in text, (status, text))


def message(*fields):
    """A message of protobuf of pairs: numbers, floats, texts, and messages that are bytes."""
    def varint(value):
        return (bytes([value & 127 | 128]) + varint(value >> 7)) if value > 127 else bytes([value])
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def fx_graph(op="relu", weight_bytes=16, name="x", kind=None):
    """Of x and a fixed w: the first half of relu(x + w * 0.5), and a constant behind it."""
    def node(name, *args, **calls):
        (which, target), = calls.items()
        target = message((1, message((1, "aten"), (2, target), (3, which)))) if which not in (
            "python", "torch") else message((2 if which == "python" else 3, target))
        return message((1, name), (3, message((1, target), *((2, a) for a in args))))

    def ref(name):
        return message((1, name))
    seven = message((7, message((1, message((5, 7.0))))))
    results = message((1, ref("first")), (1, kind or ref("c")), (1, message((6, 1))))
    nodes = [message((1, "w"), (2, b"")), message((1, name), (2, b"")),
             node("half", ref("w"), message((5, 0.5)), Scalar="mul"),
             node("sum", ref("x"), ref("half"), Tensor="add"), node("r", ref("sum"), default=op),
             node("parts", ref("r"), message((3, "2")), message((3, "1")), Tensor="split"),
             node("first", ref("parts"), message((3, "0")), python="getitem"),
             message((1, "c"), (3, message((1, message((3, "tensor"))), (2, seven),
                                           (3, message((1, "dtype"), (2, message((10, 66)))))))),
             message((1, "output"), (4, message((1, message((8, results))))))]
    weight = message((1, 66), (2, bytes([4])), (3, 0), (4, 16), (5, weight_bytes))
    return message((1, message(*((1, n) for n in nodes))),
                   (2, message((1, message((2, weight))))))


def reads_fx():
    """The graphs that octoml-profile sends to backends of torch."""
    python = shutil.which("python3")
    if not python or subprocess.run([python, "-c", "import torch, numpy"], check=False,
                                    capture_output=True).returncode:
        skip("FXPROTO", f"{python} has no torch")
        return
    server = Server("worker", "--host", "here", "--python", python, "--quiet",
                    program=BUILD / "ingot")
    client = Client(server)
    client.session("torch-eager-cpu")

    def load(graph, weights=floats(9, 9, 9, 9, 2, 4, 6, 8)):
        client.upload(graph, "model.dat")
        client.upload(weights, "weights/0")
        return errors(client.load(form=2))[0]
    check("FXPROTO is loaded", load(fx_graph()) == "", client.log[-1])
    result = client.run([[1, -9, 3, 4]]).result_per_backend[0].result_value
    check("and run", [list(struct.unpack(f"{len(o.tensor.data) // 4}f", o.tensor.data))
                      for o in result.outputs] == [[2, 0], [7]] and
          list(result.outputs[0].tensor.shape) == [1, 2], result)
    for what, words, data in (
            ("an operator that is not there", "no_such", [fx_graph("no_such")]),
            ("a weight of another size", "those of its shape", [fx_graph(weight_bytes=12)]),
            ("weights that end", "ends within", [fx_graph(), b"1234"]),
            ("no name", "no name", [fx_graph(name="x):\n import os #")]),
            ("a value of no kind", "not known", [fx_graph(kind=message((20, 1)))]),
            ("a node that is not there", "'q'", [fx_graph(kind=message((1, "q")))]),
            ("broken bytes", "does not end", [fx_graph()[:-3]]), ("no bytes", "", [b""])):
        said = load(*data)
        check(what, said and words in said, said)
    client.close()
    client.session("ingot-cpu")
    check("Ingot says who takes it", "backends of torch" in load(fx_graph()), client.log[-1])
    client.close()
    check("an end", server.stop() == 0)


def serves_octoml(server):
    """The original client, unchanged."""
    source = os.environ.get("INGOT_OCTOML")
    if not source:
        skip("octoml-profile's client", "INGOT_OCTOML does not name its source")
        return
    script = HERE / "octoml_client.py"
    said = subprocess.run([sys.executable, script, source, f"127.0.0.1:{server.grpc_port}",
                           TMP / "model.onnx"], capture_output=True, text=True)
    check("octoml-profile's client", said.returncode == 0 and "good" in said.stdout,
          said.stderr)


if not grpc:
    skip("ingot worker", "python3-grpcio is absent")
    finish()
import profile_pb2 as pb  # noqa: E402
PYTHON, MODEL = write_python(), onnx_model()
worker = start("--quota", 4, "--components", 1, "--session-seconds", 3)
takes_a_session(worker, MODEL)
refuses(worker, MODEL)
queues(worker, MODEL)
keeps_components(worker)
profiles_remotely(worker)
serves_octoml(worker)
check("an end", worker.stop() == 0)
worker = start("--job-seconds", 4, "--child-memory", 768)
survives(worker, MODEL)
check("an end after crashes", worker.stop() == 0)
reads_fx()
check("which leaves nothing", not list(TMP.glob("ingot-serve-*")))
finish()
