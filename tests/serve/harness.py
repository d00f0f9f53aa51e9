"""Servers that tests start, clients of HTTP and gRPC, and counting.

SPDX-License-Identifier: Apache-2.0
"""
import array
import contextlib
import http.client
import json
import os
import pathlib
import select
import signal
import subprocess
import time

BUILD = pathlib.Path(os.environ["INGOT_BUILD"])
TMP = pathlib.Path(os.environ["INGOT_SERVE_TMP"])
PATIENCE = 60  # seconds, on a machine that is busy

try:
    import grpc
    import oip_pb2 as oip
except ImportError:
    grpc = oip = None

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, is_so, more=""):
    counts["passed" if is_so else "failed"] += 1
    if not is_so:
        print(f"FAIL {what}")
        if more != "":
            print("    " + str(more)[:500])


def skip(what, why):
    counts["skipped"] += 1
    print(f"skip {what}: {why}")


def finish():
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    raise SystemExit(counts["failed"] != 0)


def floats(*values):
    return array.array("f", values).tobytes()


def compile_model(text, path):
    """IR text as an artifact, published by rename."""
    source = TMP / "source.ig"
    source.write_text(text)
    made = TMP / "made.ingot"
    subprocess.run([BUILD / "ingot", "compile", source, "-q", "-o", made], check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    made.rename(path)


RELU = """module @small {
  symbol B {min = 0}
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = relu %x : f32[B, 4]
    ret %0
  }
}
"""
NEGATE = RELU.replace("relu %x", "neg %x")


def slow_to_run(width):
    """IR text of a model whose runs take as long whatever the request is: y is x."""
    square = f"f32[{width}, {width}]"
    return f"""module @slow {{
  symbol B {{min = 0}}
  weight @w : {square} = splat(0.5)
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y", {square} "z") {{
    %0 = const {{value = 0.001}} : f32[]
    %1 = expand %0 {{to = [{width}, {width}]}} : {square}
    %2 = reduce %x {{axes = [0, 1], op = sum}} : f32[]
    %3 = add %1, %2 : {square}
    %4 = matmul %3, @w : {square}
    ret %x, %4
  }}
}}
"""


SLOW = slow_to_run(3072)  # about half a second
BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                               "data": [-1, 0, 0, 0]}], "outputs": [{"name": "y"}]})
RUN_BEGINS = 0.1  # seconds after its request


class Call:
    """A request on a connection of its own, whose answer is read later."""

    def __init__(self, server, path, body=BODY, headers={}, left_out=0):
        self.connection = server.connect()
        self.rest = body[len(body) - left_out:].encode()
        self.connection.putrequest("POST", path)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.connection.putheader(key, value)
        self.connection.endheaders(body[:len(body) - left_out].encode())

    def end(self):
        """Sends what was left out of the body."""
        self.connection.send(self.rest)

    def has_answer(self):
        return bool(select.select([self.connection.sock], [], [], 0)[0])

    def answer(self):
        data = json.loads(self.connection.getresponse().read() or b"null")
        self.connection.close()
        return data

    def number(self):
        """The first of an inference, or what is answered instead."""
        try:
            data = self.answer()
        except (ConnectionError, http.client.HTTPException) as error:
            return repr(error)
        return data["outputs"][0]["data"][0] if "outputs" in data else data


def connect_two_loops(server, model):
    """Connections to two loops: while one runs the slow model, the other answers."""
    while True:
        one = server.connect()
        one.request("POST", f"/v2/models/{model}/infer", BODY)
        time.sleep(RUN_BEGINS)
        for _ in range(8):
            two = server.connect()
            two.request("GET", "/v2/health/live")
            is_other = select.select([two.sock], [], [], RUN_BEGINS)[0] and \
                not select.select([one.sock], [], [], 0)[0]
            if is_other:
                two.getresponse().read()
                one.getresponse().read()
                return one, two
            two.close()
        one.getresponse().read()
        one.close()


def field(number, value):
    """A field of protobuf: a number, a text, or a message that is its fields."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else b"".join(value)
    return bytes([number << 3 | 2, len(data)]) + data


def onnx_model():
    """y = relu(x) of [B, 4], as ONNX."""
    def port(name):
        shape = [field(1, [field(2, "B")]), field(1, [field(1, 4)])]
        return [field(1, name), field(2, [field(1, [field(1, 1), field(2, shape)])])]
    node = [field(1, "x"), field(2, "y"), field(4, "Relu")]
    graph = [field(1, node), field(2, "g"), field(11, port("x")), field(12, port("y"))]
    model = b"".join([field(1, 8), field(7, graph), field(8, [field(1, ""), field(2, 17)])])
    (TMP / "model.onnx").write_bytes(model)
    return model


def go_first():
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)


class Server:
    def __init__(self, *words, wait=True, program=BUILD / "ingot-serve"):
        self.log = open(TMP / "log", "w+")
        self.process = subprocess.Popen(
            [program, *map(str, words), "--http-port", "0", "--grpc-port", "0"],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.http_port = self.read_port()
        self.grpc_port = self.read_port()
        if wait:
            self.await_ready()

    def read_port(self):
        line = self.process.stdout.readline()
        return int(line.rsplit(":", 1)[1]) if line else 0

    def await_ready(self):
        self.await_that(lambda: self.get("/v2/health/ready")[0] == 200)

    def await_that(self, holds, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=PATIENCE)

    def channel(self):
        return grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}")

    def call(self, method, path, body=None, headers={}):
        """(status, headers, body)"""
        connection = self.connect()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), data

    def get(self, path):
        status, _, body = self.call("GET", path)
        return status, body

    def get_json(self, path):
        return json.loads(self.get(path)[1] or b"null")

    def post_json(self, path, value):
        status, _, body = self.call("POST", path, json.dumps(value))
        return status, json.loads(body or b"null")

    def infer(self, model, rows, version=""):
        """One input x of rows of four numbers, as JSON: (status, the answer)."""
        path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
        return self.post_json(path, {"inputs": [
            {"name": "x", "datatype": "FP32", "shape": [len(rows), 4], "data": rows}]})

    def load_a_second(self, model, rate=200):
        """The report of a second of ordinary requests, which another process sends.

        Where it may, that process goes before others on its core: the times are the server's.
        """
        said = subprocess.run(
            [BUILD / "ingot", "load", f"127.0.0.1:{self.http_port}", model, "--json",
             "--rate", str(rate), "--duration", "1", "-c", "8"], capture_output=True, check=False,
            preexec_fn=go_first)
        report = json.loads(said.stdout)
        check("ordinary requests are answered",
              report["good"] + report["unsent"] == report["requests"], report)
        return report

    def p99_while(self, model, goes_on):
        """In milliseconds, of the median second, of which there is one at least."""
        seen = []
        while goes_on() or not seen:
            seen.append(self.load_a_second(model)["milliseconds"]["p99"])
        return sorted(seen)[len(seen) // 2]

    def rpc(self, method, request, answer, metadata=()):
        """The answer, or the error, of a call without a stream."""
        with self.channel() as channel:
            call = channel.unary_unary(f"/inference.GRPCInferenceService/{method}",
                                       request_serializer=type(request).SerializeToString,
                                       response_deserializer=answer.FromString)
            try:
                return call(request, timeout=PATIENCE, metadata=metadata)
            except grpc.RpcError as error:
                return error

    def stop(self):
        """Its exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def log_text(self):
        self.log.flush()
        return (TMP / "log").read_text()

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_kb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def is_sanitized(self):
        return b"__asan_init" in (BUILD / "ingot-serve").read_bytes()

    def children(self):
        """The processes that it has started and that have not ended."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(entry.parent.name))
        return found

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
