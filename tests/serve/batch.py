"""Batches: what is answered together is, bit for bit, what is answered alone.

SPDX-License-Identifier: Apache-2.0
"""
import array
import json
import math
import os
import random

from harness import (TMP, Server, check, compile_model, finish, floats, grpc, oip, skip)

chance = random.Random(11)
TABLE = "inline(0x" + floats(*(chance.uniform(-1, 1) for _ in range(50 * 4))).hex() + ")"
MATRIX = "inline(0x" + floats(*(chance.uniform(-1, 1) for _ in range(4 * 3))).hex() + ")"
HEAD = f"""module @m {{
  symbol B {{min = 0}}
  symbol N {{min = 0}}
  weight @t : f32[50, 4] = {TABLE}
  weight @w : f32[4, 3] = {MATRIX}
"""
DENSE = HEAD + """  graph @main(%x: f32[B, 4]) -> (f32[B, 3] "y") {
    %0 = matmul %x, @w : f32[B, 3]
    %1 = softmax %0 {axis = 1} : f32[B, 3]
    ret %1
  }
}
"""
MIXING = DENSE.replace("axis = 1", "axis = 0")
OFFSETS = HEAD + """  graph @main(%x: f32[B, 4], %v: i64[N], %o: i64[B], %w: f32[N]) -> (f32[B, 8] "y") {
    %0 = bag @t, %v, %o, %w {operands = [5], pool = [sum], offsets = clamp} : f32[B, 4]
    %1 = concat %x, %0 {axis = 1} : f32[B, 8]
    ret %1
  }
}
"""
# Offsets alone, without an input of rows, in 32 bits.
BARE_OFFSETS = HEAD + """  graph @main(%v: i32[N], %o: i32[B]) -> (f32[B, 4] "y") {
    %0 = cast %v {to = i64} : i64[N]
    %1 = cast %o {to = i64} : i64[B]
    %2 = bag @t, %0, %1 {operands = [1], pool = [mean], offsets = clamp} : f32[B, 4]
    ret %2
  }
}
"""
# The same with the last one's end: one more than rows.
ENDED_OFFSETS = HEAD + """  graph @main(%v: i64[N], %o: i64[M]) -> (f32[M - 1, 4] "y") {
    %0 = bag @t, %v, %o {operands = [1], pool = [sum], last = [offset]} : f32[M - 1, 4]
    ret %0
  }
}
"""
LENGTHS = HEAD + """  graph @main(%x: f32[B, 4], %v: i64[N], %l: i64[2*B]) -> (f32[B, 12] "y") {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[2*B + 1]
    %1 = slice %0 {starts = [0], sizes = [B + 1]} : i64[B + 1]
    %2 = slice %0 {starts = [B], sizes = [B]} : i64[B]
    %3, %4 = bag @t, %v, %1, @t, %v, %2 {operands = [1, 1], pool = [sum, mean], last = [offset, ids]}
    %5 = concat %x, %3, %4 {axis = 1} : f32[B, 12]
    ret %5
  }
}
"""
# A KeyedJaggedTensor alone, as the importer of TorchScript states it, and one with weights.
KJT = HEAD + """  symbol L {min = 0}
  graph @main(%v: i64[N], %l: i64[L]) -> (f32[exact(L / 2), 8] "y") {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[L + 1]
    %1 = slice %0 {starts = [0], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %2 = slice %0 {starts = [exact(L / 2)], sizes = [exact(L / 2)]} : i64[exact(L / 2)]
    %3, %4 = bag @t, %v, %1, @t, %v, %2 {operands = [1, 1], pool = [sum, mean], last = [offset, ids]}
    %5 = concat %3, %4 {axis = 1} : f32[exact(L / 2), 8]
    ret %5
  }
}
"""
WEIGHTED = KJT.replace("%v: i64[N]", "%v: i64[N], %w: f32[N]").replace(
    "bag @t, %v, %1, @t, %v, %2 {operands = [1, 1], pool = [sum, mean]",
    "bag @t, %v, %1, %w, @t, %v, %2, %w {operands = [5, 5], pool = [sum, sum]")
PADDED = HEAD + """  symbol T {min = 1}
  graph @main(%ids: i64[B, T]) -> (f32[B, 4] "y") {
    %0 = bag @t, %ids {operands = [0], pool = [mean]} : f32[B, 4]
    ret %0
  }
}
"""
SEQUENCES = HEAD + """  symbol T {min = 1}
  graph @main(%s: f32[B, T, 4]) -> (f32[B, 4] "y") {
    %0 = matmul %s, %s {transpose_b} : f32[B, T, T]
    %1 = softmax %0 {axis = 2} : f32[B, T, T]
    %2 = matmul %1, %s : f32[B, T, 4]
    %3 = reduce %2 {axes = [1], op = sum} : f32[B, 4]
    ret %3
  }
}
"""
SHARED = HEAD + """  graph @main(%x: f32[B, 4], %user: f32[4]) -> (f32[B, 4] "y") {
    %0 = mul %x, %user : f32[B, 4]
    ret %0
  }
}
"""
TEXTS = HEAD + """  graph @main(%x: f32[B, 4], %s: str[B]) -> (str[B] "s", f32[B, 4] "y") {
    %0 = neg %x : f32[B, 4]
    ret %s, %0
  }
}
"""


def reals(count):
    special = [math.nan, math.inf, -math.inf, -0.0, 0.0]
    return [chance.choice(special) if chance.random() < 0.1 else chance.uniform(-2, 2)
            for _ in range(count)]


GOOD, IDS, BEGINS = range(3)  # what is wrong with a request


def ids(count, bad):
    return [99 if bad == IDS and i == count - 1 else chance.randrange(50)
            for i in range(count)]


def ints(values):
    return array.array("q", values).tobytes()


def lengths(count, bad):
    """The last is not 0 where it is to be wrong."""
    return [chance.choice((1, 2, 5) if bad and i == count - 1 else (0, 0, 1, 2, 5))
            for i in range(count)]


def x_of(rows):
    return ("x", "FP32", [rows, 4], floats(*reals(4 * rows)))


def dense(rows, bad):
    return [x_of(rows)]


def offsets(rows, bad):
    sizes = lengths(rows, bad)
    begins = [sum(sizes[:i]) for i in range(rows)]
    total = sum(sizes)
    if bad == BEGINS:
        begins[-1] = total + 3  # past its own ids, into a neighbour's
    return [x_of(rows), ("v", "INT64", [total], ints(ids(total, bad))),
            ("o", "INT64", [rows], ints(begins)), ("w", "FP32", [total], floats(*reals(total)))]


def bare_offsets(rows, bad):
    _, ids_of, begins, _ = offsets(rows, bad)
    return [(name, "INT32", shape, array.array("i", array.array("q", data)).tobytes())
            for name, _, shape, data in (ids_of, begins)]


def ended_offsets(rows, bad):
    _, ids_of, (_, kind, _, begins), _ = offsets(rows, bad)
    return [ids_of, ("o", kind, [rows + 1], begins + ints(ids_of[2]))]


def keyed(rows, bad):
    return [x_of(rows)] + kjt(rows, bad)


def kjt(rows, bad):
    sizes = lengths(2 * rows, bad)
    total = sum(sizes)
    if bad == BEGINS:
        sizes[0] += 1  # more than there are
    return [("v", "INT64", [total], ints(ids(total, bad))),
            ("l", "INT64", [2 * rows], ints(sizes))]


def weighted(rows, bad):
    values, sizes = kjt(rows, bad)
    count = values[2][0]
    return [values, ("w", "FP32", [count], floats(*reals(count))), sizes]


def padded(rows, bad):
    width = chance.choice((1, 3))
    return [("ids", "INT64", [rows, width], ints(ids(rows * width, bad)))]


def sequences(rows, bad):
    steps = chance.choice((1, 3))
    return [("s", "FP32", [rows, steps, 4], floats(*reals(4 * rows * steps)))]


USERS = [floats(*reals(4)) for _ in range(2)]


def shared(rows, bad):
    return [x_of(rows), ("user", "FP32", [4], chance.choice(USERS))]


def texts(rows, bad):
    words = [chance.choice(("", "a", "\u20ac\u20ac", "long" * 9)).encode() for _ in range(rows)]
    return [x_of(rows), ("s", "BYTES", [rows], b"".join(
        len(w).to_bytes(4, "little") + w for w in words))]


def message(model, number, tensors):
    request = oip.InferRequest(model_name=model, id=str(number))
    for name, datatype, shape, data in tensors:
        request.inputs.add(name=name, datatype=datatype, shape=shape)
        request.raw_input_contents.append(data)
    return request


def stream(server, requests):
    """Answers to requests that are sent at once, in order."""
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer",
                                     request_serializer=oip.InferRequest.SerializeToString,
                                     response_deserializer=oip.StreamAnswer.FromString)
        return list(call(iter(requests), timeout=120))


def said(answer):
    """What is to be the same: bytes and shapes, or that it failed."""
    if answer.error_message:
        return "failed"
    return [(list(o.shape), raw) for o, raw in zip(answer.infer_response.outputs,
                                                   answer.infer_response.raw_output_contents)]


def runs_of(server, model):
    stats = server.rpc("ModelStatistics", oip.ModelName(name=model), oip.ModelStatisticsAnswer)
    return stats.model_stats[0].execution_count


COUNT = 10000 if os.environ.get("INGOT_FULL") == "1" else 300
MAY_FAIL = (offsets, bare_offsets, ended_offsets, keyed, kjt, weighted, padded)


def compare(server, model, make, is_joined=True):
    """COUNT requests of 0 to 20 rows, 1 % of them wrong, together and alone."""
    wrong_ones = {i: (IDS, BEGINS)[i // 100 % 2] for i in range(7, COUNT, 100)}
    requests = [message(model, i, make(chance.choice((0, 1, 1, 2, 3, 5, 20)), GOOD)
                        if i not in wrong_ones else make(chance.choice((1, 2, 20)),
                                                         wrong_ones[i]))
                for i in range(COUNT)]
    together = stream(server, requests)
    runs = runs_of(server, model)
    alone = stream(server, [message_alone(r) for r in requests])
    check(f"{model}: all are answered, in order",
          [a.infer_response.id for a in together] == [str(i) for i in range(COUNT)],
          len(together))
    wrong = [i for i in range(COUNT) if said(together[i]) != said(alone[i])]
    check(f"{model}: together as alone", not wrong, wrong[:10])
    failed = {i for i in range(COUNT) if together[i].error_message}
    may_fail = set(wrong_ones) if make in MAY_FAIL else set()
    check(f"{model}: none fails but what is wrong", failed <= may_fail and
          (not may_fail or failed), sorted(failed)[:10])
    check(f"{model}: by its own row", all("99" in together[i].error_message for i in failed
                                          if wrong_ones[i] == IDS), sorted(failed)[:4])
    words = {together[i].error_message.replace(model + "'", "alone'") for i in failed} ^ {
        alone[i].error_message.replace(model + "_alone'", "alone'") for i in failed}
    check(f"{model}: in the words that it has alone", not words, sorted(words)[:4])
    check(f"{model}: {'runs are shared' if is_joined else 'each has a run'}",
          runs < COUNT * 0.9 if is_joined else runs == COUNT, runs)


def message_alone(request):
    copy = oip.InferRequest()
    copy.CopyFrom(request)
    copy.model_name += "_alone"
    return copy


FORMS = {"dense": (DENSE, dense), "offsets": (OFFSETS, offsets),
         "bare_offsets": (BARE_OFFSETS, bare_offsets),
         "ended_offsets": (ENDED_OFFSETS, ended_offsets), "keyed": (LENGTHS, keyed),
         "kjt": (KJT, kjt), "weighted": (WEIGHTED, weighted), "padded": (PADDED, padded),
         "sequences": (SEQUENCES, sequences), "shared": (SHARED, shared),
         "texts": (TEXTS, texts)}


def refuses(server):
    rows = [[1.0, 2.0, 3.0, 4.0]] * 5
    status, answer = server.infer("limited", rows)
    check("more rows than max_batch_size", status == 400 and "max_batch_size" in answer["error"],
          answer)
    check("as many as that", server.infer("limited", rows[:4])[0] == 200)
    config = server.get_json("/v2/models/limited/config")
    check("the config tells it", config["max_batch_size"] == 4 and
          config["input"][0]["dims"] == [4], config)
    many = stream(server, [message("limited", i, dense(1, GOOD)) for i in range(8)])
    check("requests that wait for others are answered", all(not a.error_message for a in many))
    check("as batches", runs_of(server, "limited") <= 5, runs_of(server, "limited"))


def meets_deadlines(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                   request_serializer=oip.InferRequest.SerializeToString,
                                   response_deserializer=oip.InferAnswer.FromString)
        try:
            call(message("slow", 0, dense(1, GOOD)), timeout=0.3)
            code = None
        except grpc.RpcError as error:
            code = error.code()
    check("a deadline that passes while it waits", code == grpc.StatusCode.DEADLINE_EXCEEDED,
          code)


def main():
    folder = TMP / "forms"
    for name, (text, _) in FORMS.items():
        compile_model(text, folder / name / "1/model.ingot")
        compile_model(text, folder / (name + "_alone") / "1/model.ingot")
        (folder / (name + "_alone") / "config.json").write_text('{"max_batch_size": 0}')
        (folder / name / "config.json").write_text(
            '{"dynamic_batching": {"max_queue_delay_microseconds": 3000}}')
    for name in ("mixing", "mixing_alone"):
        compile_model(MIXING, folder / name / "1/model.ingot")
    compile_model(DENSE, folder / "limited/1/model.ingot")
    (folder / "limited/config.json").write_text(
        '{"max_batch_size": 4, "dynamic_batching": {"max_queue_delay_microseconds": 20000}}')
    compile_model(DENSE, folder / "slow/1/model.ingot")
    (folder / "slow/config.json").write_text(
        '{"dynamic_batching": {"max_queue_delay_microseconds": 3000000}}')
    server = Server(folder, "--loops", "1", "--poll", "0")
    untried = [line["model"] for line in map(json.loads, server.log_text().splitlines())
               if line["code"] == "batches untried"]
    check("drawn requests try all forms but texts", untried == ["texts"], untried)
    for name, (_, make) in FORMS.items():
        compare(server, name, make)
    compare(server, "mixing", dense, is_joined=False)
    refuses(server)
    meets_deadlines(server)
    check("a good end", server.stop() == 0)


if grpc:
    main()
else:
    skip("batches", "python3-grpcio or protoc is absent")
finish()
