"""Folders of models: versions that come, change, break and go, while requests run.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import threading
import time

from harness import (NEGATE, PATIENCE, RELU, TMP, Server, check, compile_model, finish, grpc, oip,
                     skip)

IS_FULL = os.environ.get("INGOT_FULL") == "1"


def first(server, version=""):
    """What [-1, 0, 0, 0] becomes, or the status."""
    status, answer = server.infer("m", [[-1, 0, 0, 0]], version)
    return answer["outputs"][0]["data"][0] if status == 200 else status


def row_of(server, version):
    rows = server.call("POST", "/v2/repository/index")[2]
    return next((r for r in json.loads(rows) if r["version"] == str(version)), None)


def follows_folders(folder):
    server = Server(folder, "--poll", "1", "--loops", "2")
    check("the newest version is served", first(server) == 0)
    check("an old one is not", first(server, 1) == 404)
    compile_model(NEGATE, folder / "m/3/model.ingot")
    check("a new version comes", server.await_that(lambda: first(server) == 1))
    check("and the one before goes", server.await_that(lambda: first(server, 2) == 404))
    (folder / "m/4").mkdir()
    (folder / "m/4/model.ingot").write_bytes(b"no artifact")
    check("a broken version has its words in the index",
          server.await_that(lambda: (row_of(server, 4) or {}).get("reason")))
    check("and is not ready", row_of(server, 4)["state"] == "UNAVAILABLE")
    shutil.rmtree(folder / "m/4")
    check("it goes when its files do", server.await_that(lambda: row_of(server, 4) is None))
    check("what there was is served again", server.await_that(lambda: first(server) == 1))
    overwrite(folder / "m/3/model.ingot")
    check("a file overwritten in place harms nobody", first(server) == 1)
    check("what it was is served on, and its words told",
          server.await_that(lambda: (row_of(server, 3) or {}).get("reason")))
    check("as a version that is ready", row_of(server, 3)["state"] == "READY" and
          first(server) == 1)
    (folder / "m/config.json").write_text('{"version_policy": {"all": {}}}')
    check("a policy brings old versions", server.await_that(lambda: first(server, 1) == 0))
    compile_model(NEGATE, folder / "m/3/model.ingot")
    (folder / "m/config.json").write_text('{"input": [{"name": "zz"}]}')
    check("a config that the model does not fit is told", server.await_that(
        lambda: "zz" in (row_of(server, 3) or {}).get("reason", "")), row_of(server, 3))
    check("an end", server.stop() == 0)
    os.remove(folder / "m/config.json")
    compile_model(NEGATE, folder / "m/3/model.ingot")


def overwrite(path):
    with open(path, "r+b") as file:  # the same inode, cut and filled with zeros
        file.truncate(100)
        file.write(b"\0" * 64)


def loads_on_request(folder):
    server = Server(folder, "--explicit", "--loops", "2")
    check("nothing is there at first", first(server) == 404)
    check("load", server.post_json("/v2/repository/models/m/load", {})[0] == 200)
    check("it is there", first(server) == 1)
    config = {"parameters": {"config": '{"version_policy": {"specific": {"versions": [1]}}}'}}
    check("load with a config", server.post_json("/v2/repository/models/m/load",
                                                 config)[0] == 200)
    check("which holds", first(server) == 0)
    broken = {"parameters": {"config": '{"max_batch_size": -1}'}}
    status, answer = server.post_json("/v2/repository/models/m/load", broken)
    check("a broken config is refused", status == 400 and "max_batch_size" in answer["error"],
          answer)
    check("what was there stays", first(server, 1) == 0)
    check("no such model", server.post_json("/v2/repository/models/q/load", {})[0] == 404)
    check("no path out", server.post_json("/v2/repository/models/..%2fm/load", {})[0] in
          (400, 404))
    check("unload", server.post_json("/v2/repository/models/m/unload", {})[0] == 200)
    check("it is gone", first(server) == 404)
    check("and again", server.post_json("/v2/repository/models/m/unload", {})[0] == 200)
    if grpc:
        load = server.rpc("RepositoryModelLoad", oip.ModelControl(model_name="m"), oip.Nothing)
        check("load over gRPC", not isinstance(load, grpc.RpcError), load)
        index = server.rpc("RepositoryIndex", oip.IndexRequest(), oip.IndexAnswer)
        check("index over gRPC", index.models[0].state == "READY", index)
        server.rpc("RepositoryModelUnload", oip.ModelControl(model_name="m"), oip.Nothing)
        load = server.rpc("RepositoryModelLoad", oip.ModelControl(model_name="q"), oip.Nothing)
        check("no such model over gRPC", load.code() == grpc.StatusCode.NOT_FOUND, load)
    else:
        skip("loading over gRPC", "python3-grpcio or protoc is absent")
    reloads_under_load(server)
    check("an end", server.stop() == 0)


def reloads_under_load(server):
    """No request fails while versions change, and nothing grows."""
    server.post_json("/v2/repository/models/m/load", {})
    is_over = threading.Event()
    seen = []

    def ask():
        connection = server.connect()
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                                       "data": [-1, 0, 0, 0]}]})
        while not is_over.is_set():
            connection.request("POST", "/v2/models/m/infer", body)
            answer = connection.getresponse()
            data = json.loads(answer.read())
            seen.append(data["outputs"][0]["data"][0] if answer.status == 200 else data)
        connection.close()

    def reload_often(times):
        for _ in range(times):
            server.post_json("/v2/repository/models/m/load", {})

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    reload_often(20)
    memory, descriptors = server.memory_kb(), server.descriptors()
    more = 980 if IS_FULL else 80
    reload_often(more)
    is_over.set()
    for thread in threads:
        thread.join()
    check(f"{20 + more} reloads, no failure", len(seen) > 100 and all(s == 1 for s in seen),
          [s for s in seen if s != 1][:3])
    if server.is_sanitized():
        skip("memory is flat", "sanitizers keep what was freed")
    else:
        check("memory is flat", server.memory_kb() < memory + 2048,
              (memory, server.memory_kb()))
    check("descriptors too", server.descriptors() <= descriptors + 4,
          (descriptors, server.descriptors()))


def compiles_beside(folder):
    (folder / "source/1").mkdir(parents=True)
    (folder / "source/1/model.ig").write_text(RELU)
    (folder / "source/config.json").write_text('{"default_model_filename": "model.ig"}')
    server = Server(folder, "--loops", "1")
    check("a model is compiled", server.infer("source", [[-1, 0, 0, 0]])[0] == 200)
    (folder / "source/1/model.ig").write_text("module @broken {")
    check("what does not compile is told", server.await_that(
        lambda: any(r["reason"] for r in json.loads(
            server.call("POST", "/v2/repository/index")[2]) if r["name"] == "source")))
    check("and leaves what there was", server.infer("source", [[-1, 0, 0, 0]])[0] == 200)
    metrics = server.get("/metrics")[1].decode()
    check("metrics", 'ingot_requests_total{model="source",version="1",outcome="success"} 2\n'
          in metrics, metrics[:500])
    check("whose buckets add up", metrics_add_up(metrics))
    check("an end", server.stop() == 0)
    check("each line of the log is JSON",
          all(json.loads(line)["code"] for line in server.log_text().splitlines()))
    left = [name for name in os.listdir(TMP) if name.startswith("ingot-serve-")]
    check("nothing is left behind", not left, left)


def slow_model(layers):
    """A kernel of its own for each layer: the more, the longer it is compiled."""
    ports = "".join(f", %w{i}: f32[{4 + i}, {5 + i}]" for i in range(layers))
    text, last = "", "%x"
    for i in range(layers):
        text += f"    %a{i} = matmul {last}, %w{i} : f32[B, {5 + i}]\n"
        text += f"    %b{i} = tanh %a{i} : f32[B, {5 + i}]\n"
        last = f"%b{i}"
    return (f"module @slow {{\n  symbol B {{min = 0}}\n  graph @main(%x: f32[B, 4]{ports}) -> "
            f'(f32[B, {4 + layers}] "y") {{\n{text}    ret {last}\n  }}\n}}\n')


def others_go_on(folder):
    """A model that takes seconds to compile delays no request of another."""
    server = Server(folder, "--poll", "1", "--loops", "1")
    times = iter(range(3))
    usual = server.p99_while("m", lambda: next(times, None) is not None)
    (folder / "slow/1").mkdir(parents=True)
    (folder / "slow/config.json").write_text('{"default_model_filename": "model.ig"}')
    (folder / "slow/1/model.ig").write_text(slow_model(300 if IS_FULL else 60))
    end = time.monotonic() + 3 * PATIENCE

    def is_loading():
        return time.monotonic() < end and server.get("/v2/models/slow/ready")[0] != 200
    beside = server.p99_while("m", is_loading)
    check("a slow model is compiled", not is_loading(), row_of(server, 1))
    # On a machine that does other work too the scheduler's turns come on top.
    bound = 1.5 * usual + 0.5 if IS_FULL else 4 * usual + 100
    check("others go on meanwhile", beside <= bound, f"p99 {beside} ms, {usual} ms before")
    check("an end", server.stop() == 0)
    shutil.rmtree(folder / "slow")


def metrics_add_up(text):
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    return all(float(value) == float(lines[name.replace("_count", "_bucket").replace(
        "}", ',le="+Inf"}')]) for name, value in lines.items() if "_count{" in name)


def main():
    folder = TMP / "models"
    compile_model(RELU, folder / "m/1/model.ingot")
    compile_model(RELU, folder / "m/2/model.ingot")
    (folder / "m/notes").mkdir()
    follows_folders(folder)
    loads_on_request(folder)
    compiles_beside(folder)
    others_go_on(folder)


main()
finish()
