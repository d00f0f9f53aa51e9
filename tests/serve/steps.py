"""Lua before and after models, and models after models.

SPDX-License-Identifier: Apache-2.0
"""
import json
import random
import threading
import time

from harness import (RELU, TMP, Server, check, compile_model, finish, floats, grpc, oip, skip)

# y = 2x, and a second output; takes what RELU gives where they are a chain.
DOUBLE = """module @double {
  symbol B {min = 0}
  graph @main(%y: f32[B, 4], %w: f32[B, 1]) -> (f32[B, 4] "z", f32[B, 1] "v") {
    %0 = add %y, %y : f32[B, 4]
    %1 = add %0, %w : f32[B, 4]
    ret %1, %w
  }
}
"""
# Mixes rows: it is never batched.
MIXED = """module @mixed {
  symbol B {min = 0}
  graph @main(%y: f32[B, 4]) -> (f32[B, 4] "z") {
    %0 = softmax %y {axis = 0} : f32[B, 4]
    ret %0
  }
}
"""
AROUND = """local ingot = require "ingot"
function pre(inputs)
  if inputs.text then -- a list of strings becomes numbers
    local t = ingot.tensor("f32", {#inputs.text, 4})
    for i, word in ipairs(inputs.text) do t[4 * i - 3] = #word end
    return { x = t }
  end
  if not inputs.x then error("neither text nor x", 0) end
  if inputs.x[1] == 1000 then while true do end end
  if inputs.x[1] == 2000 then local t = {} for i = 1, 1e9 do t[i] = tostring(i) .. "a" end end
  if inputs.x[1] == 3000 then return 7 end
  if inputs.x[1] == 4000 then return { nothing = inputs.x } end
  for i = 1, #inputs.x do inputs.x[i] = inputs.x[i] + 1 end
  return inputs
end
function post(outputs)
  local best, at = outputs.y[1], 1
  for i = 2, #outputs.y do if outputs.y[i] > best then best, at = outputs.y[i], i end end
  if best == 501 then error("too good") end
  return { best = ingot.tensor("i64", {1}, {at - 1}), name = { "n" .. at, "" }, y = outputs.y }
end
"""


def infer(server, model, inputs, outputs=None, **more):
    body = {"inputs": inputs, **more}
    if outputs is not None:
        body["outputs"] = [{"name": name} for name in outputs]
    return server.post_json(f"/v2/models/{model}/infer", body)


def port(name, data, shape=None, datatype="FP32"):
    return {"name": name, "datatype": datatype, "shape": shape or [1, len(data)], "data": data}


def outputs_of(answer):
    return {o["name"]: o["data"] for o in answer.get("outputs", [])}


def runs_scripts(server):
    status, answer = infer(server, "around", [port("x", [1, -5, 3, 2])])
    check("pre and post", status == 200 and outputs_of(answer) ==
          {"best": [2], "name": ["n3", ""], "y": [2, 0, 4, 3]}, answer)
    check("results in the order of names",
          [o["name"] for o in answer["outputs"]] == ["best", "name", "y"], answer)
    status, answer = infer(server, "around", [port("x", [1, -5, 3, 2])], ["y", "best", "y"])
    check("some of the results", status == 200 and
          [(o["name"], o["data"]) for o in answer["outputs"]] == [("y", [2, 0, 4, 3]), ("best", [2])],
          answer)
    status, answer = infer(server, "around", [port("text", ["abc", "", "é"], [3], "BYTES")], ["y"])
    check("texts become numbers", status == 200 and
          answer["outputs"][0]["data"] == [3, 0, 0, 0] + [0] * 4 + [2, 0, 0, 0], answer)
    answer = server.get_json("/v2/models/around")
    check("clients are told of the script's ports",
          [(p["name"], p["datatype"], p["shape"]) for p in answer["inputs"]] ==
          [("text", "BYTES", [-1]), ("x", "FP32", [-1, 4])] and
          [p["name"] for p in answer["outputs"]] == ["best", "name"], answer)
    for what, data, status, words in (
            ("an error of pre is the client's", None, 400, "neither text nor x"),
            ("an endless loop ends", 1000, 500, "pre of the script"),
            ("memory ends", 2000, 500, "pre of the script"),
            ("no table", 3000, 500, "no table"),
            ("an input that there is not", 4000, 400, "no input 'nothing'"),
            ("an error of post is the server's", 500, 500, "too good")):
        inputs = [port("q", [1])] if data is None else [port("x", [data, 0, 0, 0])]
        begin = time.monotonic()
        got, answer = infer(server, "around", inputs)
        check(what, got == status and words in answer["error"] and "traceback" not in
              answer["error"] and time.monotonic() - begin < 20, (got, answer))
        check("the next one is served",
              infer(server, "around", [port("x", [1, 2, 3, 4])], ["best"])[0] == 200)
    got, answer = infer(server, "around", [port("x", [1, 2, 3, 4])], ["none"])
    check("an output that there is not", got == 400 and "'none'" in answer["error"], answer)
    got, answer = infer(server, "around", [port("x", [1, 2, 3, 4], [2, 4])])
    check("a shape that is not the data's", got == 400, answer)
    begin = time.monotonic()
    got, answer = infer(server, "patient", [port("x", [1000, 0, 0, 0])],
                        parameters={"timeout": 200000})
    check("a deadline ends a script", got == 504 and time.monotonic() - begin < 10, (got, answer))


def goes_on(server):
    """relu, then the double of it, which takes w from the client, too."""
    status, answer = infer(server, "chain", [port("x", [1, -5, 3, 2]), port("w", [10])])
    check("a chain of two", status == 200 and
          outputs_of(answer) == {"z": [12, 10, 16, 14], "v": [10]} and
          answer["model_name"] == "chain" and answer["model_version"] == "3", answer)
    status, answer = infer(server, "chain", [port("x", [1, -5, 3, 2]), port("w", [10])], ["v"])
    check("some of its results", status == 200 and outputs_of(answer) == {"v": [10]}, answer)
    for what, inputs, outputs, words in (
            ("an input of the second is missing", [port("x", [1, 2, 3, 4])], None, "'w'"),
            ("one that neither has", [port("x", [1, 2, 3, 4]), port("w", [1]), port("q", [1])], None,
             "no input 'q'"),
            ("an output that it has not", [port("x", [1, 2, 3, 4]), port("w", [1])], ["y"], "'y'"),
            ("rows that disagree", [port("x", [1, 2, 3, 4]), port("w", [1, 2], [2, 1])], None, "")):
        status, answer = infer(server, "chain", inputs, outputs)
        check(what, status == 400 and words in answer["error"], answer)
    status, answer = infer(server, "nowhere", [port("x", [1, 2, 3, 4])])
    check("a second that is not there", status == 503 and "'nobody'" in answer["error"], answer)
    status, answer = infer(server, "circle", [port("x", [1, 2, 3, 4])])
    check("a chain that never ends", status == 500 and "more than 8" in answer["error"], answer)
    status, answer = infer(server, "unmixed", [port("x", [0] * 8, [2, 4])])
    check("a second that mixes rows", status == 200 and outputs_of(answer)["z"] == [0.5] * 8, answer)
    status, answer = infer(server, "scripted", [port("x", [1, -5, 3, 2]), port("w", [10])])
    check("scripts between them", status == 200 and outputs_of(answer) == {"sum": [2 * (1 + 3 + 2) + 4 * 10]},
          answer)


def are_right_together(server):
    """Requests of many clients at once, each as alone; one in ten is bad, and alone so."""
    chance = random.Random(5)
    wrong = []

    def expect(rows, weights):
        z = [2 * max(v, 0) + w for row, w in zip(rows, weights) for v in row]
        return {"z": z, "v": weights}

    def client(seed):
        own = random.Random(seed)
        for i in range(40):
            count = own.randrange(0, 5)
            rows = [[own.randrange(-9, 9) for _ in range(4)] for _ in range(count)]
            weights = [own.randrange(9) for _ in range(count)]
            is_bad = own.random() < 0.1
            inputs = [port("x", sum(rows, []), [count, 4]),
                      port("w", weights + [1] * is_bad, [count + is_bad, 1])]
            status, answer = infer(server, "chain", inputs)
            if (status != 400) if is_bad else (status != 200 or outputs_of(answer) !=
                                               expect(rows, weights)):
                wrong.append((inputs, status, answer))
    threads = [threading.Thread(target=client, args=(chance.random(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("requests of a chain together", not wrong, wrong[:1])
    stats = {m: server.get_json(f"/v2/models/{m}/stats")["model_stats"][0] for m in ("chain", "double")}
    check("and both models count them", all(s["execution_count"] > 0 for s in stats.values()), stats)


def streams(server):
    """Answers of a stream in its order, whichever way its requests go."""
    if not grpc:
        skip("streams of chains", "python3-grpcio or protoc is absent")
        return
    def requests():
        for i in range(60):
            model = ("chain", "relu", "unmixed", "around")[i % 4]
            request = oip.InferRequest(model_name=model, id=str(i))
            request.inputs.add(name="x", datatype="FP32", shape=[1, 4])
            request.raw_input_contents.append(floats(i, 2, 3, 4))
            if model == "chain" and i % 8 == 0:
                request.inputs.add(name="w", datatype="FP32", shape=[1, 1])
                request.raw_input_contents.append(floats(1))
            yield request
    with server.channel() as channel:
        call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer",
                                     request_serializer=oip.InferRequest.SerializeToString,
                                     response_deserializer=oip.StreamAnswer.FromString)
        answers = list(call(requests(), timeout=60))
    check("each is answered", len(answers) == 60, len(answers))
    good = [int(a.infer_response.id) for a in answers if not a.error_message]
    check("in order", good == sorted(good) and len(good) == 53, good)
    check("and those that fail where they stand",
          [i for i, a in enumerate(answers) if a.error_message] == list(range(4, 60, 8)),
          [a.error_message for a in answers if a.error_message][:2])


def follows_the_file(folder, server):
    path = folder / "follow" / "around.lua"
    for text, wanted in (("function post(o) o.y[1] = 7 return o end", 7), ("function post(", 7),
                         ("function post(o) o.y[1] = 8 return o end", 8)):
        path.write_text(text)
        is_there = server.await_that(lambda: outputs_of(infer(server, "follow", [
            port("x", [1, 2, 3, 4])])[1])["y"][0] == wanted)
        check(f"a script that is put in its place: {text}", is_there)
        if text.endswith("("):
            check("a broken one is told", server.await_that(
                lambda: "around.lua:1" in server.log_text()), server.log_text()[-300:])


def refuses_nonsense():
    folder = TMP / "wrong" / "m"
    compile_model(RELU, folder / "1/model.ingot")
    (folder / "empty.lua").write_text("x = 1")
    (folder / "opens.lua").write_text("io.open('/etc/passwd')")
    for ours, words in (({"script": "../a.lua"}, "name of a file"), ({"script": "none.lua"}, "none.lua"),
                        ({"script": "empty.lua"}, "neither function pre"), ({"then": 7}, "not a string"),
                        ({"script": "opens.lua"}, "opens.lua:1"),
                        ({"script": "empty.lua", "script_memory": 0}, "no instructions")):
        (folder / "config.json").write_text(json.dumps({"ingot": ours}))
        server = Server(TMP / "wrong", "--poll", "0", wait=False)
        check(f"config {ours}", server.await_that(lambda: words in server.log_text()),
              server.log_text())
        check("a good end", server.stop() == 0)


def main():
    folder = TMP / "steps"
    ports = {"input": [{"name": "text", "data_type": "TYPE_STRING", "dims": [-1]},
                       {"name": "x", "data_type": "TYPE_FP32", "dims": [-1, 4]}],
             "output": [{"name": "best", "data_type": "TYPE_INT64", "dims": [1]},
                        {"name": "name", "data_type": "TYPE_STRING", "dims": [-1]}]}
    between = ('function post(o) return { y = o.y } end',
               'function post(o) local ingot = require "ingot"\n'
               '  local s = 0 for i = 1, #o.z do s = s + o.z[i] end\n'
               '  return { sum = ingot.tensor("f32", {1}, {s}) } end')
    for name, version, text, config, script in (
            ("relu", 1, RELU, {}, None),
            ("around", 1, RELU, {**ports, "ingot": {"script": "around.lua", "script_memory": 16}}, AROUND),
            ("patient", 1, RELU, {"ingot": {"script": "around.lua", "script_instructions": 10**11}},
             AROUND),
            ("chain", 3, RELU, {"ingot": {"then": "double"}}, None), ("double", 1, DOUBLE, {}, None),
            ("nowhere", 1, RELU, {"ingot": {"then": "nobody"}}, None),
            ("circle", 1, RELU.replace('"y"', '"x"'), {"ingot": {"then": "circle"}}, None),
            ("unmixed", 1, RELU, {"ingot": {"then": "mixed"}}, None), ("mixed", 1, MIXED, {}, None),
            ("scripted", 1, RELU, {"ingot": {"then": "summed", "script": "around.lua"}}, between[0]),
            ("summed", 1, DOUBLE, {"ingot": {"script": "around.lua"}}, between[1]),
            ("follow", 1, RELU, {"ingot": {"script": "around.lua"}}, "function pre(i) return i end")):
        compile_model(text, folder / name / str(version) / "model.ingot")
        (folder / name / "config.json").write_text(json.dumps(config))
        if script:
            (folder / name / "around.lua").write_text(script)
    server = Server(folder, "--loops", "2", "--poll", "1")
    for part in (runs_scripts, goes_on, are_right_together, streams):
        part(server)
    follows_the_file(folder, server)
    check("a good end", server.stop() == 0)
    refuses_nonsense()


main()
finish()
