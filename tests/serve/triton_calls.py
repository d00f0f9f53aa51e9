"""The calls of triton.jsonl, made by tritonclient; needs tritonclient and ml_dtypes.

SPDX-License-Identifier: Apache-2.0

    triton_calls.py record HTTP_PORT GRPC_PORT    a Triton: writes triton.jsonl
    triton_calls.py compare HTTP GRPC HTTP GRPC   two servers: what each of the four clients
                                                  (http, grpc, and both of asyncio) is told

Triton serves `echo`, `batched` and `types` of triton.py with --model-control-mode=explicit,
by a model in Python that gives back what it takes; nvidia-pytriton on PyPI carries the server (it
wants numpy 1).
"""
import asyncio
import base64
import json
import queue
import sys

import grpc
import ml_dtypes
import numpy
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
import tritonclient.http.aio
from tritonclient.grpc import service_pb2_grpc
from tritonclient.utils import InferenceServerException

import triton

ROWS = numpy.array([[1, -2, 3.5, numpy.float32(0.1)], [0, -0.0, 1e-40, 3e38]], numpy.float32)
EDGES = {"a": [True, False], "b": [0, 255], "c": [0, 65535], "d": [0, 2**32 - 1],
         "e": [0, 2**64 - 1], "f": [-128, 127], "g": [-2**15, 2**15 - 1],
         "h": [1.0, -2.5], "i": [-2**31, 2**31 - 1], "j": [-2**63, 2**63 - 1],
         "k": [0.5, -65504], "l": [0.25, -3e38], "m": [0.1, 1e300],
         "s": ["", "a\u20ac\"\\\n"]}
NUMPY = {"BOOL": bool, "FP16": numpy.float16, "FP32": numpy.float32, "FP64": numpy.float64,
         "BYTES": object, "BF16": ml_dtypes.bfloat16}


def array_of(datatype, values):
    if datatype == "BYTES":
        return numpy.array([v.encode() if isinstance(v, str) else v for v in values], object)
    return numpy.array(values, NUMPY.get(datatype) or datatype.lower())


class Api:
    """One client, of HTTP or gRPC, with the differences between the two taken away."""

    def __init__(self, client, module, is_json=False):
        self.client, self.module, self.is_json = client, module, is_json
        self.is_http = module is tritonclient.http

    def input(self, name, array, datatype="FP32", shape=None):
        made = self.module.InferInput(name, list(array.shape), datatype)
        if self.is_http:
            made.set_data_from_numpy(array, binary_data=not self.is_json)
        else:
            made.set_data_from_numpy(array)
        if shape is not None:
            made.set_shape(shape)
        return made

    def output(self, name, **more):
        if self.is_http:
            more["binary_data"] = not self.is_json
        return self.module.InferRequestedOutput(name, **more)

    def infer(self, model, inputs, outputs=None, packing=None, **more):
        if outputs is None and self.is_json:
            outputs = [self.output("o" + i.name()) for i in inputs]
        elif outputs:
            outputs = [self.output(o) if isinstance(o, str) else o for o in outputs]
        if packing and self.is_http:
            more.update(request_compression_algorithm=packing,
                        response_compression_algorithm=packing)
        elif packing:
            more["compression_algorithm"] = packing
        return self.client.infer(model, inputs, outputs=outputs, **more)

    def echo(self, rows, model="echo", datatype="FP32", name="x", shape=None, **more):
        return self.infer(model, [self.input(name, rows, datatype, shape)], **more)

    def types(self, values, names=None, **more):
        return self.infer("types", [self.input(n, array_of(triton.TYPES[n], values[n]),
                                               triton.TYPES[n]) for n in values],
                          outputs=names, **more)


def long(of):
    return {name: values * 7 for name, values in of.items()}


def without(of, *names):
    return {name: values for name, values in of.items() if name not in names}


def empty(of):
    return {name: [] for name in of}


# Inferences, for each of binary, JSON and gRPC.  BF16 and FP16 have no JSON.
INFERENCES = {
    "one row": lambda a: a.echo(ROWS[:1]),
    "two rows": lambda a: a.echo(ROWS),
    "no rows": lambda a: a.echo(ROWS[:0]),
    "100 rows": lambda a: a.echo(numpy.repeat(ROWS, 50, 0)[:100]),
    "an output that is named": lambda a: a.echo(ROWS, outputs=["ox"]),
    "an id": lambda a: a.echo(ROWS, request_id="7"),
    "an id in another script": lambda a: a.echo(ROWS, request_id="a\u20ac\"\\"),
    "a version": lambda a: a.echo(ROWS, model_version="1"),
    "a priority": lambda a: a.echo(ROWS, priority=1),
    "a timeout": lambda a: a.echo(ROWS, timeout=10000000),
    "parameters of its own": lambda a: a.echo(ROWS, parameters={"one": "two", "n": 3}),
    "gzip": lambda a: a.echo(numpy.repeat(ROWS, 50, 0), packing="gzip"),
    "deflate": lambda a: a.echo(numpy.repeat(ROWS, 50, 0), packing="deflate"),
    "a batch": lambda a: a.echo(ROWS, "batched"),
    "as many rows as max_batch_size": lambda a: a.echo(numpy.repeat(ROWS, 2, 0), "batched"),
    "more rows than max_batch_size": lambda a: a.echo(numpy.repeat(ROWS, 3, 0), "batched"),
    "a batch without its axis": lambda a: a.echo(ROWS[0], "batched"),
    "an unknown model": lambda a: a.echo(ROWS, "nope"),
    "an unknown version": lambda a: a.echo(ROWS, model_version="9"),
    "a version that is no number": lambda a: a.echo(ROWS, model_version="x"),
    "an unknown input": lambda a: a.echo(ROWS, name="z"),
    "an unknown output": lambda a: a.echo(ROWS, outputs=["z"]),
    "another type": lambda a: a.echo(ROWS.astype(numpy.int64), datatype="INT64"),
    "another extent": lambda a: a.echo(ROWS[:, :3].copy()),
    "another rank": lambda a: a.echo(ROWS[0]),
    "more rank": lambda a: a.echo(ROWS[None]),
    "less data than the shape": lambda a: a.echo(ROWS, shape=[3, 4]),
    "more data than the shape": lambda a: a.echo(ROWS, shape=[1, 4]),
    "a negative extent": lambda a: a.echo(ROWS, shape=[-2, 4]),
    "an input twice": lambda a: a.infer("echo", [a.input("x", ROWS), a.input("x", ROWS)]),
    "an input too many": lambda a: a.infer("echo", [a.input("x", ROWS), a.input("z", ROWS)],
                                           outputs=["ox"]),
    "an input too few": lambda a: a.types(without(EDGES, "s", "h", "k"), ["oa"]),
    "no input": lambda a: a.infer("echo", [], outputs=["ox"]),
    "an output twice": lambda a: a.echo(ROWS, outputs=["ox", "ox"]),
    "a sequence's request": lambda a: a.echo(ROWS, sequence_id=5, sequence_start=True),
}
BINARY_ONLY = {
    "each type": lambda a: a.types(EDGES),
    "each type, 14 times": lambda a: a.types(long(EDGES)),
    "each type, without elements": lambda a: a.types(empty(EDGES)),
    "outputs in another order": lambda a: a.types(EDGES, ["os", "oa", "om"]),
    "some types": lambda a: a.types(EDGES, ["oh", "ok", "oe"]),
    "zero bytes in a text": lambda a: a.types(dict(EDGES, s=[b"a\0b", b""])),
}
MESSAGES = {
    "live": lambda a: a.client.is_server_live(),
    "ready": lambda a: a.client.is_server_ready(),
    "model ready": lambda a: a.client.is_model_ready("echo"),
    "version ready": lambda a: a.client.is_model_ready("echo", "1"),
    "unknown model ready": lambda a: a.client.is_model_ready("nope"),
    "unknown version ready": lambda a: a.client.is_model_ready("echo", "9"),
    "server metadata": lambda a: a.client.get_server_metadata(),
    "model metadata": lambda a: a.client.get_model_metadata("types"),
    "metadata of a version": lambda a: a.client.get_model_metadata("batched", "1"),
    "metadata of no model": lambda a: a.client.get_model_metadata("nope"),
    "metadata of no version": lambda a: a.client.get_model_metadata("echo", "9"),
    "config": lambda a: a.client.get_model_config("types"),
    "config with a batch": lambda a: a.client.get_model_config("batched"),
    "config of no model": lambda a: a.client.get_model_config("nope"),
    "statistics": lambda a: a.client.get_inference_statistics("echo"),
    "statistics of all": lambda a: a.client.get_inference_statistics(),
    "statistics of no model": lambda a: a.client.get_inference_statistics("nope"),
    "index": lambda a: a.client.get_model_repository_index(),
    "unload": lambda a: a.client.unload_model("batched"),
    "model unloaded": lambda a: a.client.is_model_ready("batched"),
    "inference of a model unloaded": lambda a: a.echo(ROWS, "batched"),
    "load": lambda a: a.client.load_model("batched"),
    "model loaded": lambda a: a.client.is_model_ready("batched"),
    "load of no model": lambda a: a.client.load_model("nope"),
    "load of a name that is none": lambda a: a.client.load_model("..%2f"),
    "unload of no model": lambda a: a.client.unload_model("nope"),
    "no regions": lambda a: a.client.get_system_shared_memory_status(),
    "register": lambda a: a.client.register_system_shared_memory("r", "/ingot-serve-echo", 64),
    "register twice": lambda a: a.client.register_system_shared_memory(
        "r", "/ingot-serve-echo", 64),
    "register what is not there": lambda a: a.client.register_system_shared_memory(
        "q", "/ingot-serve-none", 64),
    "regions": lambda a: a.client.get_system_shared_memory_status(),
    "one region": lambda a: a.client.get_system_shared_memory_status("r"),
    "no such region": lambda a: a.client.get_system_shared_memory_status("q"),
    "inference in shared memory": lambda a: a.infer("echo", [in_region(a, 16)], ["ox"]),
    "result in shared memory": lambda a: a.infer("echo", [in_region(a, 16)],
                                                 [to_region(a, 16)]),
    "an input past its region": lambda a: a.infer("echo", [in_region(a, 16, 56)], ["ox"]),
    "an input of no region": lambda a: a.infer("echo", [in_region(a, 16, 0, "q")], ["ox"]),
    "too little room": lambda a: a.infer("echo", [in_region(a, 16)], [to_region(a, 8)]),
    "an input of another size": lambda a: a.infer("echo", [in_region(a, 12)], ["ox"]),
    "unregister": lambda a: a.client.unregister_system_shared_memory("r"),
    "unregister twice": lambda a: a.client.unregister_system_shared_memory("r"),
    "unregister all": lambda a: a.client.unregister_system_shared_memory(),
}


def in_region(api, size, offset=0, name="r"):
    made = api.module.InferInput("x", [1, 4], "FP32")
    made.set_shared_memory(name, size, offset)
    return made


def to_region(api, size):
    made = api.module.InferRequestedOutput("ox")
    made.set_shared_memory("r", size, 32)
    return made


def stream_requests(api):
    """(model, inputs, more) of one stream."""
    return [("nope" if i == 3 else "echo", [api.input("x", ROWS[i % 2:i % 2 + 1])],
             {"request_id": str(i)}) for i in range(8)]


# ---- recording ----

class Unsent(InferenceServerException):
    def __init__(self):
        super().__init__("kept, not sent")


class Recorder(grpc.UnaryUnaryClientInterceptor):
    """Keeps a message, and does not send it."""
    kept = None

    def intercept_unary_unary(self, go, details, request):
        Recorder.kept = dict(front="grpc", method=details.method.rsplit("/", 1)[1],
                             messages=[as_text(request.SerializeToString())])
        raise Unsent()


def as_text(data):
    return base64.b64encode(data).decode()


def keep_http(method):
    def keep(request_uri, body=None, headers=None):
        Recorder.kept = dict(front="http", method=method, path=request_uri,
                             headers={k: str(v) for k, v in (headers or {}).items()})
        if body is not None:
            Recorder.kept["body"] = as_text(body.encode() if isinstance(body, str)
                                            else bytes(body))
        raise Unsent()
    return keep


def recorded(case, api):
    """The request that a case makes; None: the client refuses to."""
    Recorder.kept = None
    try:
        case(api)
    except InferenceServerException as error:
        if not isinstance(error, Unsent):
            print(error)
    return Recorder.kept


def record(http_port, grpc_port):
    import oip_pb2
    http = tritonclient.http.InferenceServerClient("127.0.0.1:1")
    http._client_stub.get, http._client_stub.post = keep_http("GET"), keep_http("POST")
    rpc = tritonclient.grpc.InferenceServerClient("127.0.0.1:1")
    rpc._client_stub = service_pb2_grpc.GRPCInferenceServiceStub(
        grpc.intercept_channel(rpc._channel, Recorder()))
    binary, text = Api(http, tritonclient.http), Api(http, tritonclient.http, True)
    messages = Api(rpc, tritonclient.grpc)
    calls = []
    for cases, label, api in ((INFERENCES, "", binary), (INFERENCES, " (JSON)", text),
                              (INFERENCES, "", messages), (BINARY_ONLY, "", binary),
                              (BINARY_ONLY, "", messages), (MESSAGES, "", binary),
                              (MESSAGES, "", messages)):
        for name, case in cases.items():
            call = recorded(case, api)
            if not call:
                print("the client refuses:", name, label)
                continue
            calls.append(dict(name=name + label, **call))
            if name in ("gzip", "deflate") and call["front"] == "grpc":
                calls[-1]["packing"] = name.capitalize()
    calls.append(dict(name="a stream", front="stream", method="ModelStreamInfer", messages=[
        as_text(as_message(*each).SerializeToString()) for each in stream_requests(messages)]))
    with open(triton.HERE / "triton.jsonl", "w") as out:
        for call in calls:
            try:
                call["answer"] = triton.ask(grpc, oip_pb2, http_port, grpc_port, call)
            except (ConnectionError, ValueError) as error:
                call["answer"] = ["no answer", type(error).__name__]
                print(call["name"], call["front"], error)
            out.write(json.dumps(call) + "\n")
    print(len(calls), "calls")


def as_message(model, inputs, more):
    from tritonclient.grpc._utils import _get_inference_request
    return _get_inference_request(model_name=model, inputs=inputs, model_version="",
                                  outputs=None, request_id=more["request_id"], sequence_id=0,
                                  sequence_start=False, sequence_end=False, priority=0,
                                  timeout=None, parameters=None)


# ---- comparing ----

def say_result(result):
    if not hasattr(result, "get_response"):
        return say_description(result)
    answer = result.get_response()
    is_http = isinstance(answer, dict)
    said = []
    for output in answer["outputs"] if is_http else answer.outputs:
        name = output["name"] if is_http else output.name
        try:
            array = result.as_numpy(name)
        except (KeyError, ValueError):  # it lies in shared memory
            array = None
        array = None if array is None else [
            str(array.dtype), array.shape,
            array.tolist() if array.dtype == object else array.tobytes().hex()]
        said.append([name, output["datatype"] if is_http else output.datatype, array])
    return [said, answer.get("id", "") if is_http else answer.id]


def say_description(result):
    """HTTP's descriptions; those of gRPC are compared in the transcript."""
    if not isinstance(result, (dict, list)):
        return result if isinstance(result, (bool, type(None))) else type(result).__name__
    if isinstance(result, list):
        return len(result)
    kind = "/config" if "max_batch_size" in result else \
        "/stats" if "model_stats" in result else "/models/m"
    return triton.say_json(kind, result) if "extensions" not in result else sorted(result)


async def outcome(case, api):
    try:
        result = case(api)
        if asyncio.iscoroutine(result):
            result = await result
        return say_result(result)
    except InferenceServerException as error:
        return ["error", str(error.status())]


async def stream_of(api, is_aio):
    requests = stream_requests(api)
    if is_aio:
        async def feed():
            for model, inputs, more in requests:
                yield dict(model_name=model, inputs=inputs, **more)
        return [say_result(r) if r else "error" async for r, _ in api.client.stream_infer(feed())]
    results = queue.Queue()
    api.client.start_stream(lambda result, error: results.put(result))
    for model, inputs, more in requests:
        api.client.async_stream_infer(model, inputs, **more)
    got = [results.get(timeout=30) for _ in requests]
    api.client.stop_stream()
    return [say_result(r) if r else "error" for r in got]


async def everything(http_port, grpc_port):
    """{name: what the client was told}"""
    said = {}
    http, rpc = f"127.0.0.1:{http_port}", f"127.0.0.1:{grpc_port}"
    for label, client, module, is_json in (
            ("http", tritonclient.http.InferenceServerClient(http), tritonclient.http, False),
            ("JSON", tritonclient.http.InferenceServerClient(http), tritonclient.http, True),
            ("grpc", tritonclient.grpc.InferenceServerClient(rpc), tritonclient.grpc, False),
            ("http aio", tritonclient.http.aio.InferenceServerClient(http), tritonclient.http,
             False),
            ("grpc aio", tritonclient.grpc.aio.InferenceServerClient(rpc), tritonclient.grpc,
             False)):
        api = Api(client, module, is_json)
        shared = triton.share_memory()
        for cases in (INFERENCES,) if is_json else (INFERENCES, BINARY_ONLY, MESSAGES):
            for name, case in cases.items():
                said[f"{label}: {name}"] = await outcome(case, api)
        shared.unlink()
        if "grpc" in label:
            said[f"{label}: a stream"] = await stream_of(api, "aio" in label)
        closed = client.close()
        if asyncio.iscoroutine(closed):
            await closed
    return said


def compare(first, second):
    theirs, ours = asyncio.run(everything(*first)), asyncio.run(everything(*second))
    different = 0
    for name, said in theirs.items():
        listed = bool(triton.reason_of(name))
        if said != ours[name]:
            different += not listed
            print("listed   " if listed else "DIFFERENT", name)
            print("    first ", str(said)[:300])
            print("    second", str(ours[name])[:300])
    print(f"{len(theirs)} calls, {different} different and not listed")


if sys.argv[1] == "record":
    shared_memory = triton.share_memory()
    record(*map(int, sys.argv[2:4]))
    shared_memory.unlink()
else:
    ports = list(map(int, sys.argv[2:6]))
    compare(ports[:2], ports[2:])
