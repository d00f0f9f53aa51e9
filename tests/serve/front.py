"""Both fronts and one model: what they answer, to the byte.

SPDX-License-Identifier: Apache-2.0
"""
import gzip
import json
import math
import os
import pathlib
import threading
import zlib

from harness import (NEGATE, RELU, TMP, Server, check, compile_model, finish, floats, grpc, oip,
                     skip)

TYPES = """module @types {
  symbol B {min = 0}
  graph @main(%b: bool[B], %i: i8[B], %l: i64[B], %h: bf16[B], %d: f64[B], %s: str[B])
      -> (bool[B] "bo", i8[B] "io", i64[B] "lo", bf16[B] "ho", f64[B] "do", str[B] "so") {
    ret %b, %i, %l, %h, %d, %s
  }
}
"""


def tensor(name, datatype, shape, **more):
    return {"name": name, "datatype": datatype, "shape": shape, **more}


def post_binary(server, model, header, tail, headers={}):
    text = json.dumps(header).encode()
    return server.call("POST", f"/v2/models/{model}/infer", text + tail,
                       {"Inference-Header-Content-Length": str(len(text)), **headers})


def http_describes(server):
    check("live", server.get("/v2/health/live")[0] == 200)
    check("ready", server.get("/v2/health/ready")[0] == 200)
    check("the server's name", server.get_json("/v2")["name"] == "ingot")
    check("metadata", server.get_json("/v2/models/relu") == {
        "name": "relu", "versions": ["1"], "platform": "ingot",
        "inputs": [tensor("x", "FP32", [-1, 4])], "outputs": [tensor("y", "FP32", [-1, 4])]})
    check("of a version", server.get_json("/v2/models/relu/versions/1")["name"] == "relu")
    config = server.get_json("/v2/models/relu/config")
    check("config", config["input"] == [{"name": "x", "data_type": "TYPE_FP32",
                                         "dims": [-1, 4]}], config)
    check("model ready", server.get("/v2/models/relu/ready")[0] == 200)
    check("model not ready", server.get("/v2/models/nope/ready")[0] == 400)
    for path in ("/x", "/v2/x", "/v2/models/relu/x", "/v2/models/relu/versions/1/ready/x",
                 "/v2/models/nope", "/v2/models/relu/versions/7", "/a/b/c/d/e/f/g/h/i/j/k"):
        check(f"no {path}", server.get(path)[0] == 404, server.get(path))
    check("a version is a number", server.get("/v2/models/relu/versions/x")[0] == 404)
    check("inference is a POST", server.get("/v2/models/relu/infer")[0] == 405)
    check("no DELETE", server.call("DELETE", "/v2")[0] == 405)


def http_infers(server):
    status, answer = server.infer("relu", [[1, -2, 3, 4], [-5, 6, -0.0, 8]])
    check("JSON", (status, answer) == (200, {
        "model_name": "relu", "model_version": "1",
        "outputs": [tensor("y", "FP32", [2, 4], data=[1, 0, 3, 4, 0, 6, 0, 8])]}), answer)
    check("no row", server.infer("relu", [])[1]["outputs"][0]["data"] == [])
    data = floats(1, -2, math.inf, -math.inf)
    header = {"id": "a \u20ac\"", "parameters": {"binary_data_output": True},
              "inputs": [tensor("x", "FP32", [1, 4], parameters={"binary_data_size": 16})]}
    for again in range(2):  # the second time the header is known
        status, headers, body = post_binary(server, "relu", header, data)
        size = int(headers.get("Inference-Header-Content-Length", 0))
        check("binary", status == 200 and body[size:] == floats(1, 0, math.inf, 0), body)
        check("its JSON", json.loads(body[:size]) == {
            "id": "a \u20ac\"", "model_name": "relu", "model_version": "1",
            "outputs": [tensor("y", "FP32", [1, 4], parameters={"binary_data_size": 16})]})
    for offset in range(1, 4):  # tensors that are not aligned
        header["id"] = "i" * offset
        status, headers, body = post_binary(server, "relu", header, data)
        check("at any place", body[-16:] == floats(1, 0, math.inf, 0), body)
    header["outputs"] = [{"name": "y", "parameters": {"binary_data": False}}]
    status, _, body = post_binary(server, "relu", header, data)
    check("infinity is null", json.loads(body)["outputs"][0]["data"] == [1, 0, None, 0], body)


def http_packs(server):
    rows = [[1.0, -1.0, 2.0, 3.0]] * 100
    plain = json.dumps({"inputs": [tensor("x", "FP32", [100, 4], data=rows)]}).encode()
    for name, pack, unpack in (("gzip", gzip.compress, gzip.decompress),
                               ("deflate", zlib.compress, zlib.decompress)):
        status, headers, body = server.call(
            "POST", "/v2/models/relu/infer", pack(plain),
            {"Content-Encoding": name, "Accept-Encoding": "br, " + name})
        check(name, status == 200 and headers.get("Content-Encoding") == name and
              json.loads(unpack(body))["outputs"][0]["shape"] == [100, 4], body[:100])
    _, headers, _ = server.call("GET", "/v2/models/types", None, {"Accept-Encoding": "gzip"})
    check("descriptions are not packed", "Content-Encoding" not in headers, headers)
    status, _, _ = server.call("POST", "/v2/models/relu/infer", b"no gzip",
                               {"Content-Encoding": "gzip"})
    check("broken gzip", status == 400, status)
    status, _, _ = server.call("POST", "/v2/models/relu/infer", gzip.compress(plain) + b"more",
                               {"Content-Encoding": "gzip"})
    check("bytes behind a packed body", status == 400, status)
    status, _, _ = server.call("POST", "/v2/models/relu/infer", plain,
                               {"Content-Encoding": "br"})
    check("an encoding that nobody knows", status == 415, status)
    bomb = gzip.compress(b" " * (8 << 20))
    status, _, _ = server.call("POST", "/v2/models/relu/infer", bomb,
                               {"Content-Encoding": "gzip"})
    check("a body that unpacks to more than --max-body", status == 413, status)
    try:
        status, _, _ = server.call("POST", "/v2/models/relu/infer", b" " * (3 << 20))
    except ConnectionError:
        status = 413  # it was said, and the connection closed, while we still sent
    check("a body of more than --max-body", status == 413, status)


def unpacks_in_parts(server):
    """Several at once, over both fronts, each more than a turn unpacks."""
    rows = [[float(i), -1.0, 2.0, 3.0] for i in range(30000)]
    plain = json.dumps({"inputs": [tensor("x", "FP32", [len(rows), 4], data=rows)]}).encode()
    wrong = []

    def over_http():
        status, _, body = server.call("POST", "/v2/models/relu/infer", gzip.compress(plain, 1),
                                      {"Content-Encoding": "gzip"})
        if status != 200 or json.loads(body)["outputs"][0]["data"][-4:] != [29999, 0, 2, 3]:
            wrong.append((status, body[:200]))

    def over_grpc():
        with server.channel() as channel:
            call = channel.unary_unary(
                "/inference.GRPCInferenceService/ModelInfer",
                request_serializer=oip.InferRequest.SerializeToString,
                response_deserializer=oip.InferAnswer.FromString)
            answer = call(message_of(rows), compression=grpc.Compression.Gzip, timeout=60)
            if answer.raw_output_contents[0][-16:] != floats(29999, 0, 2, 3):
                wrong.append(answer.raw_output_contents[0][-16:])
    threads = [threading.Thread(target=t) for t in [over_http, over_grpc if grpc else over_http] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("large bodies that are packed", not wrong, wrong[:1])


def http_refuses(server):
    good = tensor("x", "FP32", [1, 4], data=[1, 2, 3, 4])
    for what, words, root in (
            ("no JSON", "failed to parse", "{"),
            ("no body", "has no JSON", ""),
            ("a list", "not a JSON object", []),
            ("no input", "input 'x' of model 'relu' is missing", {"inputs": []}),
            ("another input", "has no input 'z'", {"inputs": [dict(good, name="z")]}),
            ("an input twice", "is given twice", {"inputs": [good, good]}),
            ("another type", "is FP32, not INT64", {"inputs": [dict(good, datatype="INT64")]}),
            ("no type", "datatype", {"inputs": [dict(good, datatype="FP31")]}),
            ("another shape", "has shape [4], expected [-1, 4]",
             {"inputs": [dict(good, shape=[4])]}),
            ("a negative extent", "whole number", {"inputs": [dict(good, shape=[-1, 4])]}),
            ("a huge shape", "", {"inputs": [dict(good, shape=[1 << 62, 4])]}),
            ("too little data", "less data", {"inputs": [dict(good, data=[1])]}),
            ("too much data", "more data", {"inputs": [dict(good, data=[1] * 5)]}),
            ("a text as a number", "is not FP32", {"inputs": [dict(good, data=["1"] * 4)]}),
            ("a number past f32", "is not FP32", {"inputs": [dict(good, data=[1e300] * 4)]}),
            ("deep lists", "is not FP32", {"inputs": [dict(good, data=[[[[[[[[[[1]]]]]]]]]])]}),
            ("an output that is not there", "no output 'z'",
             {"inputs": [good], "outputs": [{"name": "z"}]}),
            ("a size behind nothing", "more than the bytes after",
             {"inputs": [dict(tensor("x", "FP32", [1, 4]),
                              parameters={"binary_data_size": 16})]})):
        body = root if isinstance(root, str) else json.dumps(root)
        status, _, answer = server.call("POST", "/v2/models/relu/infer", body)
        check(what, status == 400 and words in json.loads(answer)["error"], answer)
    check("an unknown model", server.infer("nope", [])[0] == 404)
    check("an unknown version", server.infer("relu", [], version=9)[0] == 404)
    status, _, _ = server.call("POST", "/v2/models/relu/infer", b"{}",
                               {"Inference-Header-Content-Length": "3"})
    check("JSON beyond the body", status == 400)
    status, _, _ = server.call("POST", "/v2/models/relu/infer", b"{}",
                               {"Inference-Header-Content-Length": "-3"})
    check("a length that is none", status == 400)


def http_types(server):
    values = {"b": ("BOOL", [True, False, True]), "i": ("INT8", [-128, 0, 127]),
              "l": ("INT64", [-2**63, 0, 2**63 - 1]), "d": ("FP64", [0.1, -0.0, 1e300]),
              "s": ("BYTES", ["", "a\u20ac", "\"\\\n"])}
    halves = b"\x80\x3f\x00\xc0\xc0\x7f"
    header = {"inputs": [tensor(k, t, [3], data=v) for k, (t, v) in values.items()] +
              [tensor("h", "BF16", [3], parameters={"binary_data_size": 6})],
              "outputs": [{"name": k + "o"} for k in values]}
    status, _, body = post_binary(server, "types", header, halves)
    got = {o["name"]: o["data"] for o in json.loads(body).get("outputs", [])}
    check("each type as JSON", got == {k + "o": v for k, (_, v) in values.items()}, body)
    header["outputs"] = [{"name": n, "parameters": {"binary_data": True}} for n in ("ho", "so")]
    status, headers, body = post_binary(server, "types", header, halves)
    size = int(headers.get("Inference-Header-Content-Length", 0))
    texts = b"".join(len(v.encode()).to_bytes(4, "little") + v.encode()
                     for v in values["s"][1])
    check("BF16 and BYTES behind it", body[size:] == halves + texts, body)
    header["outputs"] = [{"name": "ho"}]
    check("BF16 has no JSON", post_binary(server, "types", header, halves)[0] == 400)
    header["inputs"][1]["data"] = [128, 0, 0]
    check("a number past its type", post_binary(server, "types", header, halves)[0] == 400)


def shared_infer(server, offset=0, size=16):
    where = {"shared_memory_region": "r", "shared_memory_byte_size": size}
    request = {"inputs": [tensor("x", "FP32", [1, 4],
                                 parameters=dict(where, shared_memory_offset=offset))],
               "outputs": [{"name": "y", "parameters": dict(where, shared_memory_offset=32)}]}
    return server.post_json("/v2/models/relu/infer", request)


def http_shares(server):
    path = pathlib.Path("/dev/shm") / f"ingot-serve-test-{os.getpid()}"
    path.write_bytes(bytes(8) + floats(-1, 2, -3, 4) + bytes(100))
    region = "/v2/systemsharedmemory/region/r"
    try:
        check("no region yet", shared_infer(server)[0] == 404)
        for what, key, size in (("no such memory", "no-such-memory", 64), ("a path", "a/b", 64),
                                ("no size", path.name, 0), ("a folder", "..", 64)):
            check(f"{what} is not registered", server.post_json(
                region + "/register", {"key": key, "offset": 0, "byte_size": size})[0] == 400)
        body = json.dumps({"key": path.name, "offset": 0, "byte_size": 64})
        check("register", server.call("POST", region + "/register", body)[0] == 200)
        check("not twice", server.call("POST", region + "/register", body)[0] == 400)
        check("status", server.get_json(region + "/status")[0]["byte_size"] == 64)
        status, answer = shared_infer(server, 8)
        check("what lies in shared memory is read", status == 200 and
              answer["outputs"][0]["parameters"]["shared_memory_region"] == "r", answer)
        check("and the answer written there", path.read_bytes()[32:48] == floats(0, 2, 0, 4))
        check("not beyond the region", shared_infer(server, 56)[0] == 400)
        check("nor with too little room", shared_infer(server, 8, 15)[0] == 400)
        if grpc:
            grpc_shares(server, path)
        os.truncate(path, 12)
        check("memory that was cut is an error", shared_infer(server, 8)[0] == 400)
        check("and no more", server.infer("relu", [[1, 2, 3, 4]])[0] == 200)
        check("unregister", server.call("POST", region + "/unregister")[0] == 200)
        check("is gone", server.get_json("/v2/systemsharedmemory/status") == [])
    finally:
        path.unlink()


def grpc_shares(server, path):
    name = oip.SharedRegion(name="g", key="/" + path.name, byte_size=64)
    added = server.rpc("SystemSharedMemoryRegister", name, oip.Nothing)
    check("register over gRPC", not isinstance(added, grpc.RpcError), added)
    all_of = server.rpc("SystemSharedMemoryStatus", oip.SharedRegion(), oip.SharedStatus)
    check("status over gRPC", sorted(r.key for r in all_of.regions) == ["g", "r"], all_of)
    request = message_of([[0, 0, 0, 0]])
    del request.raw_input_contents[:]
    for entries, offset in ((request.inputs[0].parameters, 8),
                            (request.outputs.add(name="y").parameters, 48)):
        entries.add(key="shared_memory_region").value.string_param = "g"
        entries.add(key="shared_memory_byte_size").value.int64_param = 16
        entries.add(key="shared_memory_offset").value.int64_param = offset
    answer = server.rpc("ModelInfer", request, oip.InferAnswer)
    check("inference in shared memory", path.read_bytes()[48:64] == floats(0, 2, 0, 4), answer)
    check("whose answer says where", answer.outputs[0].parameters[0].value.string_param == "g",
          answer)
    server.rpc("SystemSharedMemoryUnregister", oip.SharedRegion(name="g"), oip.Nothing)


def message_of(rows, model="relu", **more):
    request = oip.InferRequest(model_name=model, id="7", **more)
    request.inputs.add(name="x", datatype="FP32", shape=[len(rows), 4])
    request.raw_input_contents.append(floats(*sum(rows, [])))
    return request


def grpc_answers(server):
    live = server.rpc("ServerLive", oip.Nothing(), oip.Flag)
    check("gRPC live", live.is_so)
    name = oip.ModelName(name="relu")
    check("gRPC model ready", server.rpc("ModelReady", name, oip.Flag).is_so)
    check("gRPC no such model",
          not server.rpc("ModelReady", oip.ModelName(name="nope"), oip.Flag).is_so)
    model = server.rpc("ModelMetadata", name, oip.ModelMetadata)
    check("gRPC metadata", model.inputs[0].name == "x" and
          list(model.inputs[0].shape) == [-1, 4] and list(model.versions) == ["1"], model)
    config = server.rpc("ModelConfig", name, oip.ModelConfigAnswer).config
    check("gRPC config", config.input[0].data_type == 11, config)
    answer = server.rpc("ModelInfer", message_of([[1, -2, 3, -4]]), oip.InferAnswer)
    check("gRPC inference", answer.raw_output_contents[0] == floats(1, 0, 3, 0) and
          answer.id == "7" and list(answer.outputs[0].shape) == [1, 4], answer)
    typed = message_of([[1, -2, 3, -4]])
    typed.inputs[0].contents.fp32_contents.extend(
        [1, -2, 3, -4])
    check("contents beside raw contents",
          code_of(server, "ModelInfer", typed) == grpc.StatusCode.INVALID_ARGUMENT)
    del typed.raw_input_contents[:]
    answer = server.rpc("ModelInfer", typed, oip.InferAnswer)
    check("typed contents", answer.raw_output_contents[0] == floats(1, 0, 3, 0), answer)
    stats = server.rpc("ModelStatistics", name, oip.ModelStatisticsAnswer)
    check("statistics", stats.model_stats[0].inference_stats.success.count >= 2, stats)


def code_of(server, method, request):
    answer = server.rpc(method, request, oip.InferAnswer)
    return answer.code() if isinstance(answer, grpc.RpcError) else None


def grpc_refuses(server):
    codes = grpc.StatusCode
    short = message_of([[1, 2, 3, 4]])
    short.raw_input_contents[0] = b"1234"
    large = message_of([])
    large.raw_input_contents[0] = bytes(3 << 20)
    for what, method, request, code in (
            ("an unknown model", "ModelInfer", message_of([], "nope"), codes.NOT_FOUND),
            ("an unknown version", "ModelInfer", message_of([], model_version="9"),
             codes.NOT_FOUND),
            ("a short tensor", "ModelInfer", short, codes.INVALID_ARGUMENT),
            ("no input", "ModelInfer", oip.InferRequest(model_name="relu"),
             codes.INVALID_ARGUMENT),
            ("no such method", "Nothing", oip.Nothing(), codes.UNIMPLEMENTED),
            ("metadata of nothing", "ModelMetadata", oip.ModelName(name="\u20ac%"),
             codes.NOT_FOUND),
            ("too large", "ModelInfer", large, codes.RESOURCE_EXHAUSTED)):
        got = code_of(server, method, request)
        check("gRPC " + what, got == code, got)


def grpc_streams(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer",
                                     request_serializer=oip.InferRequest.SerializeToString,
                                     response_deserializer=oip.StreamAnswer.FromString)
        requests = []
        for i in range(600):
            requests.append(message_of([[i, -i, 0, 1]], "nope" if i == 9 else "relu"))
            requests[-1].id = str(i)
        answers = list(call(iter(requests), timeout=60))
    good = [a.infer_response for a in answers if not a.error_message]
    check("a stream in order", [int(a.id) for a in good] ==
          [i for i in range(600) if i != 9], len(good))
    check("and right", all(a.raw_output_contents[0] == floats(int(a.id), 0, 0, 1)
                           for a in good))
    check("its bad message alone fails", "nope" in answers[9].error_message)


def main():
    compile_model(RELU, TMP / "relu.ingot")
    compile_model(NEGATE, TMP / "negate.ingot")
    compile_model(TYPES, TMP / "types.ingot")
    server = Server(TMP / "relu.ingot", TMP / "types.ingot", "--loops", "2",
                    "--max-body", "2", "--shared-memory")
    for part in (http_describes, http_infers, http_packs, unpacks_in_parts, http_refuses, http_types,
                 http_shares):
        part(server)
    if grpc:
        for part in (grpc_answers, grpc_refuses, grpc_streams):
            part(server)
    else:
        skip("gRPC", "python3-grpcio or protoc is absent")
    check("SIGTERM ends it well", server.stop() == 0)
    named = Server(TMP / "negate.ingot", "--name", "other", "--loops", "1")
    check("a name of its own", named.infer("other", [[1, 2, 3, 4]])[1]["outputs"][0]["data"] ==
          [-1, -2, -3, -4])
    check("shared memory only where it was asked for",
          named.call("POST", "/v2/systemsharedmemory/unregister")[0] == 501)
    check("and an end", named.stop() == 0)


main()
finish()
