"""Queues: priorities, limits, deadlines, clients that leave, traces, artifacts in place.

SPDX-License-Identifier: Apache-2.0
"""
import json
import threading
import time

from harness import (NEGATE, RELU, TMP, Server, check, compile_model, finish, floats, grpc, oip,
                     skip, slow_to_run)

SLOW = slow_to_run(1024)  # about 20 ms a run
BODY = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}],
        "outputs": [{"name": "y"}]}


def ask(server, model, headers={}, **parameters):
    """(status, words or answer, seconds)"""
    begin = time.monotonic()
    status, _, body = server.call("POST", f"/v2/models/{model}/infer",
                                  json.dumps(dict(BODY, parameters=parameters)), headers)
    return status, json.loads(body), time.monotonic() - begin


def at_once(server, calls):
    """What calls of ask() that go out together give, each with when it was answered."""
    answers = [None] * len(calls)

    def go(i):
        answers[i] = ask(server, *calls[i][0], **calls[i][1]) + (time.monotonic(),)
    threads = [threading.Thread(target=go, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def goes_first(server):
    """While a run is under way, others come: what is urgent goes before them."""
    calls = [(("slow",), {"priority": 1 if i % 3 == 2 else 2}) for i in range(24)]
    answers = at_once(server, calls)
    check("all are answered", all(a[0] == 200 for a in answers), [a[:2] for a in answers])
    ranks = sorted(range(24), key=lambda i: answers[i][3])
    urgent = [ranks.index(i) for i in range(24) if i % 3 == 2]
    check("urgent requests go first", sum(urgent) / len(urgent) < 10, urgent)


def keeps_limit(server):
    answers = at_once(server, [(("limited",), {})] * 40)
    kinds = [a[0] for a in answers]
    check("who finds the queue full is refused", set(kinds) == {200, 429} and
          kinds.count(200) >= 4, kinds)
    words = next((a[1]["error"] for a in answers if a[0] == 429), "")
    check("with the limit's name", "max_queue_size" in words, words)
    check("and it is empty again", ask(server, "limited")[0] == 200)


def is_refused_over_grpc(server):
    if not grpc:
        skip("refusals of gRPC", "python3-grpcio or protoc is absent")
        return
    for version in ("", "1"):
        request = oip.InferRequest(model_name="held", model_version=version)
        request.inputs.add(name="x", datatype="FP32", shape=[1, 4])
        request.raw_input_contents.append(floats(1, 2, 3, 4))
        error = server.rpc("ModelInfer", request, oip.InferAnswer)
        check("a full queue over gRPC", isinstance(error, grpc.RpcError) and error.code() ==
              grpc.StatusCode.RESOURCE_EXHAUSTED and ("grpc-retry-pushback-ms", "1000") in [
                  tuple(pair) for pair in error.trailing_metadata()], error)


def held_limit(server):
    """Three may wait, for a second each: the fourth is refused at once."""
    held = [server.connect() for _ in range(3)]
    for connection in held:
        connection.request("POST", "/v2/models/held/infer", json.dumps(BODY))
    time.sleep(0.2)
    status, answer, seconds = ask(server, "held")
    check("the limit is exact", status == 429 and seconds < 0.5, (status, answer, seconds))
    for path in ("held", "held/versions/1", "/held"):
        status, headers, body = server.call("POST", f"/v2/models/{path}/infer", json.dumps(BODY))
        check("and when to try again is said", status == 429 and headers["Retry-After"] == "1" and
              b"max_queue_size" in body, (path, status, headers, body))
    for path in ("held/versions/2", "none"):
        status, _, _ = server.call("POST", f"/v2/models/{path}/infer", json.dumps(BODY))
        check("of what is not there the queue says nothing", status == 404, (path, status))
    connection = server.connect()
    for _ in range(3):
        connection.request("POST", "/v2/models/held/infer", json.dumps(BODY) + " " * 100000)
        answer = connection.getresponse()
        check("a connection outlives refusals", answer.status == 429 and answer.read(), answer)
    connection.request("GET", "/v2/health/live")
    check("and is of use after them", connection.getresponse().status == 200)
    connection.close()
    is_refused_over_grpc(server)
    check("those that wait are answered",
          [c.getresponse().status for c in held] == [200] * 3)
    for connection in held:
        connection.close()


def meets_deadlines(server):
    status, answer, seconds = ask(server, "held", {"X-Request-Timeout-Ms": "100"})
    check("a deadline among the headers", status == 504 and seconds < 2, (status, answer))
    status, answer, _ = ask(server, "held", timeout=100000)
    check("a deadline among the parameters", status == 504, (status, answer))
    check("a time that is none", ask(server, "m", {"X-Request-Timeout-Ms": "1s"})[0] == 400)
    before = server.get_json("/v2/models/slow/stats")["model_stats"][0]["execution_count"]
    answers = at_once(server, [(("slow", {"X-Request-Timeout-Ms": "60"}), {})] * 24)
    after = server.get_json("/v2/models/slow/stats")["model_stats"][0]["execution_count"]
    late = [a for a in answers if a[0] == 504]
    check("nothing begins after its deadline", after - before <= 24 - sum(
        "could begin" in a[1]["error"] for a in late), (after - before, len(late)))


def notices_who_left(server):
    def left():
        stats = server.get_json("/v2/models/held/stats")["model_stats"][0]
        return stats["inference_stats"]["fail"]["count"], stats["execution_count"]
    failed, runs = left()
    for _ in range(3):
        connection = server.connect()
        connection.request("POST", "/v2/models/held/infer", json.dumps(BODY))
        connection.close()
    check("clients that leave are noticed", server.await_that(lambda: left()[0] == failed + 3),
          (left(), failed))
    check("and nothing is run for them", left()[1] == runs, (left(), runs))


def is_traced(server):
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    for flags in ("01", "00"):
        ask(server, "m", {"traceparent": f"00-{trace}-{parent}-{flags}"})
    for text in (f"00-{'0' * 32}-{parent}-01", f"ff-{trace}-{parent}-01", f"00-{trace}-{parent}",
                 f"00-{trace.upper()}-{parent}-01", f"00-{trace}-{parent}-01-x", "", "\x7f" * 60):
        check(f"a request whose traceparent is none: {text}", ask(
            server, "m", {"traceparent": text})[0] == 200)
    if grpc:
        request = oip.InferRequest(model_name="m")
        request.inputs.add(name="x", datatype="FP32", shape=[1, 4])
        request.raw_input_contents.append(floats(1, 2, 3, 4))
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")(
                request.SerializeToString(),
                metadata=[("traceparent", f"00-{trace}-{parent}-01")])
    lines = [line for line in map(json.loads, server.log_text().splitlines())
             if line["code"] == "request"]
    check("sampled requests are in the log, and no others",
          [(line["trace"], line["parent"], line["status"]) for line in lines] ==
          [(trace, parent, 0)] * (2 if grpc else 1), lines)


def loop_is_full(folder):
    """--max-queue counts what waits in the loop, whichever model it is for."""
    for name in ("a", "b"):
        compile_model(RELU, folder / name / "1/model.ingot")
        (folder / name / "config.json").write_text(json.dumps(
            {"dynamic_batching": {"max_queue_delay_microseconds": 1000000}}))
    server = Server(folder, "--loops", "1", "--poll", "0", "--max-queue", "3")
    held = [server.connect() for _ in range(3)]
    for model, connection in zip("aba", held):
        connection.request("POST", f"/v2/models/{model}/infer", json.dumps(BODY))
    time.sleep(0.2)
    for model in ("a", "b"):
        status, answer, seconds = ask(server, model)
        check("as many wait as --max-queue says, and no more", status == 429 and seconds < 0.5 and
              "--max-queue" in answer["error"], (status, answer, seconds))
    check("those that wait are answered",
          [c.getresponse().status for c in held] == [200] * 3)
    for connection in held:
        connection.close()
    check("then there is room", ask(server, "b")[0] == 200)
    check("a good end", server.stop() == 0)


def is_mapped(folder):
    """An artifact of `trusted`: the file itself is served, and replaced by rename."""
    compile_model(RELU, folder / "1/model.ingot")
    (folder / "config.json").write_text('{"ingot": {"trusted": true}}')
    server = Server(folder.parent, "--poll", "1", "--loops", "1")
    path = str(folder / "1/model.ingot")

    def is_in_maps():
        return path in open(f"/proc/{server.process.pid}/maps").read()
    check("a trusted artifact is mapped where it lies", is_in_maps())
    compile_model(NEGATE, folder / "1/model.ingot")
    check("another that is put in its place is served", server.await_that(
        lambda: ask(server, folder.name)[1].get("outputs", [{}])[0].get("data") ==
        [-1, -2, -3, -4]))
    (folder / "1/model.ingot").unlink()
    check("and served on when it is gone", ask(server, folder.name)[0] == 200)
    check("a good end", server.stop() == 0)


def main():
    folder = TMP / "queues"
    for name, text, config in (
            ("m", RELU, {}), ("slow", SLOW, {"max_batch_size": 0}),
            ("limited", SLOW, {"max_batch_size": 0, "dynamic_batching": {
                "default_queue_policy": {"max_queue_size": 4}}}),
            ("held", RELU, {"dynamic_batching": {
                "max_queue_delay_microseconds": 1000000,
                "default_queue_policy": {"max_queue_size": 3}}})):
        compile_model(text, folder / name / "1/model.ingot")
        (folder / name / "config.json").write_text(json.dumps(config))
    server = Server(folder, "--loops", "1", "--poll", "0")
    for part in (goes_first, keeps_limit, held_limit, meets_deadlines, notices_who_left,
                 is_traced):
        part(server)
    if not grpc:
        skip("traces of gRPC", "python3-grpcio or protoc is absent")
    check("a good end", server.stop() == 0)
    loop_is_full(TMP / "full")
    is_mapped(TMP / "trusted" / "mapped")


if __name__ == "__main__":
    main()
    finish()
