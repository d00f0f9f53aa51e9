"""Turns of a loop that take long, while models are loaded.

SPDX-License-Identifier: Apache-2.0
"""
import json
import select
import time

from harness import NEGATE, RELU, TMP, Server, check, compile_model, finish

# About half a second a run, whatever the request.
SLOW = """module @slow {
  symbol B {min = 0}
  weight @w : f32[3072, 3072] = splat(0.5)
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y", f32[3072, 3072] "z") {
    %0 = const {value = 0.001} : f32[]
    %1 = expand %0 {to = [3072, 3072]} : f32[3072, 3072]
    %2 = reduce %x {axes = [0, 1], op = sum} : f32[]
    %3 = add %1, %2 : f32[3072, 3072]
    %4 = matmul %3, @w : f32[3072, 3072]
    ret %x, %4
  }
}
"""
BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                               "data": [-1, 0, 0, 0]}], "outputs": [{"name": "y"}]})
RUN_BEGINS = 0.1  # seconds after its request


class Call:
    """A request on a connection of its own, whose answer is read later."""

    def __init__(self, server, path, body):
        self.connection = server.connect()
        self.connection.request("POST", path, body)

    def has_answer(self):
        return bool(select.select([self.connection.sock], [], [], 0)[0])

    def answer(self):
        data = json.loads(self.connection.getresponse().read() or b"null")
        self.connection.close()
        return data

    def number(self):
        """The first of an inference, or what is answered instead."""
        data = self.answer()
        return data["outputs"][0]["data"][0] if "outputs" in data else data


def infer(server, model):
    return Call(server, f"/v2/models/{model}/infer", BODY)


def load(server, version):
    """Version 1 makes 0 of what is sent, version 2 makes 1."""
    policy = json.dumps({"version_policy": {"specific": {"versions": [version]}}})
    return Call(server, "/v2/repository/models/m/load",
                json.dumps({"parameters": {"config": policy}}))


def knows_loads_of_others(folder):
    """A loop that was busy while another one loaded a model serves what was loaded."""
    server = Server(folder, "--explicit", "--loops", "2")
    server.post_json("/v2/repository/models/slow/load", {})
    seen = []
    for i in range(40):  # the kernel chooses the loops
        slow, version = infer(server, "slow"), 1 + i % 2
        time.sleep(RUN_BEGINS)
        load(server, version).answer()
        if not slow.has_answer():  # the load was the other loop's
            calls = [infer(server, "m") for _ in range(12)]
            seen += [(call.number(), version - 1) for call in calls]
        slow.answer()
        if len(seen) >= 36:
            break
    check("a loop was busy while the other loaded", len(seen) >= 36, seen)
    check("both serve what was loaded", all(is_so == wanted for is_so, wanted in seen), seen)
    check("an end", server.stop() == 0)


def keeps_versions_that_wait(folder):
    """Requests that are read after a turn's runs wait for the next turn, and a version may be
    replaced between."""
    server = Server(folder, "--explicit", "--loops", "1")
    server.post_json("/v2/repository/models/slow/load", {})
    load(server, 1).answer()
    loading, slow = load(server, 2), infer(server, "slow")
    time.sleep(RUN_BEGINS)
    calls = [infer(server, name) for name in ("slow", "m", "slow")]
    numbers = [call.number() for call in calls]
    check("all are answered", numbers[::2] == [-1, -1] and numbers[1] in (0, 1), numbers)
    check("the load is answered", "error" not in (loading.answer() or {}))
    check("and the first", slow.number() == -1)
    check("what was loaded is served", infer(server, "m").number() == 1)
    check("an end", server.stop() == 0)


def main():
    folder = TMP / "models"
    compile_model(RELU, folder / "m/1/model.ingot")
    compile_model(NEGATE, folder / "m/2/model.ingot")
    compile_model(SLOW, folder / "slow/1/model.ingot")
    knows_loads_of_others(folder)
    keeps_versions_that_wait(folder)


main()
finish()
