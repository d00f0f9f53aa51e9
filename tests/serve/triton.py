"""Calls that tritonclient makes, answered as Triton 2.51 answers them.

SPDX-License-Identifier: Apache-2.0

    tests/serve/run.sh triton

triton.jsonl holds the requests, byte for byte, and what Triton said: statuses, shapes, types
and bytes of a model that gives back what it takes.  triton_calls.py makes it anew.
"""
import base64
import gzip
import http.client
import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
CODES = {"BOOL": "?", "UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q", "INT8": "b",
         "INT16": "h", "INT32": "i", "INT64": "q", "FP16": "e", "FP32": "f", "FP64": "d"}
# What we answer otherwise, by the beginning of the call's name, with or without its front,
# and why.
DIFFERENT = {
    "zero bytes in a text": "texts of a program end in a zero byte: refused, not cut",
    "http: a negative extent": "what a client broke is its error, not the server's (400, not 500)",
    "JSON: a negative extent": "the same",
    "http aio: a negative extent": "the same",
    "less data than the shape (JSON)": "the same",
    "more data than the shape (JSON)": "the same",
    "JSON: less data than the shape": "the same",
    "JSON: more data than the shape": "the same",
    "too little room": "the same",
    "register what is not there": "the same",
    "load of no model": "what is not there is not found (404), no error of the server (500)",
    "load of a name that is none": "what a client broke is its error",
    "outputs in another order": "in the client's order; Triton leaves it to the backend",
    "some types": "in the client's order",
}

TYPES = {"a": "BOOL", "b": "UINT8", "c": "UINT16", "d": "UINT32", "e": "UINT64", "f": "INT8",
         "g": "INT16", "h": "BF16", "i": "INT32", "j": "INT64", "k": "FP16", "l": "FP32",
         "m": "FP64", "s": "BYTES"}
IR_TYPES = {"BOOL": "bool", "UINT8": "u8", "UINT16": "u16", "UINT32": "u32", "UINT64": "u64",
            "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64", "FP16": "f16",
            "BF16": "bf16", "FP32": "f32", "FP64": "f64", "BYTES": "str"}


def types_model():
    """Each type once, given back."""
    ports = [(name, f"{IR_TYPES[of]}[B]") for name, of in TYPES.items()]
    return ("module @types {\n  symbol B {min = 0}\n  graph @main("
            + ", ".join(f"%{n}: {t}" for n, t in ports) + ") -> ("
            + ", ".join(f'{t} "o{n}"' for n, t in ports) + ") {\n    ret "
            + ", ".join(f"%{n}" for n, _ in ports) + "\n  }\n}\n")


ECHO = """module @echo {
  symbol B {min = 0}
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "ox") {
    ret %x
  }
}
"""


# ---- what an answer says, in the same words for both servers ----

def pack_values(datatype, values):
    flat = []

    def flatten(item):
        if isinstance(item, list):
            for each in item:
                flatten(each)
        else:
            flat.append(item)
    flatten(values)
    if datatype == "BYTES":
        texts = [str(value).encode() for value in flat]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack(f"<{len(flat)}{CODES[datatype]}", *flat)


def say_ports(ports, *fields):
    return [[port.get(field) for field in fields] for port in ports]


def say_json(path, body):
    """What of a description both servers have."""
    if path.endswith("/config"):
        return [body["name"], body["max_batch_size"],
                say_ports(body["input"], "name", "data_type", "dims"),
                say_ports(body["output"], "name", "data_type", "dims")]
    if path.endswith("/index"):
        return sorted(([row["name"], row["version"], row["state"]] for row in body))
    if path.endswith("/stats"):
        return sorted([row["name"], row["version"], sorted(
            {"success", "fail", "queue", "compute_infer"} & set(row["inference_stats"]))]
                      for row in body["model_stats"])
    if "sharedmemory" in path:
        return body
    if path.endswith("/v2"):
        return sorted(body)
    return [body["name"], body["versions"],
            say_ports(body["inputs"], "name", "datatype", "shape"),
            say_ports(body["outputs"], "name", "datatype", "shape")]


def say_infer(body, tail):
    outputs = []
    for output in body["outputs"]:
        size = output.get("parameters", {}).get("binary_data_size")
        if "data" in output:
            data = pack_values(output["datatype"], output["data"])
        elif size is None:
            data = b""
        else:
            data, tail = tail[:size], tail[size:]
        outputs.append([output["name"], output["datatype"], output["shape"], data.hex()])
    return [body["model_name"], body["model_version"], body.get("id", ""), outputs, len(tail)]


def ask_http(port, call):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = base64.b64decode(call["body"]) if "body" in call else None
    connection.request(call["method"], call["path"], body, call["headers"])
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    unpack = {"gzip": gzip.decompress, "deflate": zlib.decompress}
    data = unpack.get(answer.getheader("Content-Encoding"), bytes)(data)
    if answer.status != 200:
        return [answer.status, "error" in json.loads(data or b"{}")]
    if not data:
        return [200]
    size = int(answer.getheader("Inference-Header-Content-Length", len(data)))
    parsed = json.loads(data[:size])
    path = call["path"]
    return [200, say_infer(parsed, data[size:]) if path.endswith("/infer")
            else say_json(path, parsed)]


def say_message(oip, method, data):
    def read(kind):
        return getattr(oip, kind).FromString(data)

    def ports(all_of):
        return [[p.name, p.datatype, list(p.shape)] for p in all_of]

    def config_ports(all_of):
        return [[p.name, p.data_type, list(p.dims)] for p in all_of]

    if method == "ModelInfer":
        return say_answer(read("InferAnswer"))
    if method == "ModelStreamInfer":
        answer = read("StreamAnswer")
        return "error" if answer.error_message else say_answer(answer.infer_response)
    if method in ("ServerLive", "ServerReady", "ModelReady"):
        return read("Flag").is_so
    if method == "ModelMetadata":
        of = read("ModelMetadata")
        return [of.name, list(of.versions), ports(of.inputs), ports(of.outputs)]
    if method == "ModelConfig":
        of = read("ModelConfigAnswer").config
        return [of.name, of.max_batch_size, config_ports(of.input), config_ports(of.output)]
    if method == "RepositoryIndex":
        return sorted([m.name, m.version, m.state] for m in read("IndexAnswer").models)
    if method == "ModelStatistics":
        return sorted([m.name, m.version] for m in read("ModelStatisticsAnswer").model_stats)
    if method == "SystemSharedMemoryStatus":
        regions = read("SharedStatus").regions
        return {e.key: [e.value.name, e.value.key, e.value.offset, e.value.byte_size]
                for e in regions}
    return []


def say_answer(answer):
    return [answer.model_name, answer.model_version, answer.id,
            [[o.name, o.datatype, list(o.shape)] for o in answer.outputs],
            [raw.hex() for raw in answer.raw_output_contents]]


def ask_grpc(grpc, oip, port, call):
    messages = [base64.b64decode(m) for m in call["messages"]]
    path = "/inference.GRPCInferenceService/" + call["method"]
    packing = getattr(grpc.Compression, call.get("packing", "NoCompression"))
    with grpc.insecure_channel(f"127.0.0.1:{port}", compression=packing) as channel:
        try:
            if call["front"] == "stream":
                answers = channel.stream_stream(path)(iter(messages), timeout=60)
                return ["OK", [say_message(oip, call["method"], a) for a in answers]]
            answer = channel.unary_unary(path)(messages[0], timeout=60)
            return ["OK", say_message(oip, call["method"], answer)]
        except grpc.RpcError as error:
            return [error.code().name]


def ask(grpc, oip, http_port, grpc_port, call):
    if call["front"] == "http":
        return ask_http(http_port, call)
    return ask_grpc(grpc, oip, grpc_port, call)


def reason_of(label):
    """Why an answer differs, or "" where it does not."""
    name = label.split(": ", 1)[1]
    return next((why for what, why in DIFFERENT.items()
                 if name.startswith(what) or label.startswith(what)), "")


# ---- the suite ----

def share_memory():
    """What the calls about shared memory name."""
    path = pathlib.Path("/dev/shm/ingot-serve-echo")
    path.write_bytes(struct.pack("<4f", 1, -2, 3, -4) + bytes(112))
    return path


def fill_repository(compile_model, folder):
    for name, text, batch in (("echo", ECHO, 0), ("batched", ECHO, 4),
                              ("types", types_model(), 0)):
        compile_model(text, folder / name / "1/model.ingot")
        (folder / name / "config.json").write_text('{"max_batch_size": %d}' % batch)


def main():
    from harness import TMP, Server, check, compile_model, finish, grpc, oip, skip
    fill_repository(compile_model, TMP / "models")
    shared = share_memory()
    server = Server(TMP / "models", "--explicit", "--load", "*", "--loops", "1",
                    "--shared-memory")
    skipped = 0
    try:
        for line in (HERE / "triton.jsonl").read_text().splitlines():
            call = json.loads(line)
            if call["front"] != "http" and not grpc:
                skipped += 1
                continue
            got = ask(grpc, oip, server.http_port, server.grpc_port, call)
            label = f"{call['front']}: {call['name']}"
            reason = reason_of(label)
            check(label, (got != call["answer"]) == bool(reason),
                  f"{got}\n    Triton: {call['answer']}  {reason}")
    finally:
        shared.unlink()
    if skipped:
        skip(f"{skipped} calls of gRPC", "python3-grpcio or protoc is absent")
    check("an end", server.stop() == 0)
    finish()


if __name__ == "__main__":
    main()
