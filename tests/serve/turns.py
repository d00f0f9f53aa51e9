"""Turns of a loop that take long, while models are loaded.

SPDX-License-Identifier: Apache-2.0
"""
import json
import signal
import time

from harness import NEGATE, RELU, RUN_BEGINS, SLOW, TMP, Call, Server, check, compile_model, finish


def infer(server, model, headers={}):
    return Call(server, f"/v2/models/{model}/infer", headers=headers)


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
    """A version is replaced while a request waits for it, behind runs of other models."""
    server = Server(folder, "--explicit", "--loops", "1")
    for name in ("slow", "slower"):
        server.post_json(f"/v2/repository/models/{name}/load", {})
    load(server, 1).answer()
    first = infer(server, "slow")
    time.sleep(RUN_BEGINS)
    # They are read when that run is over; one run is a turn, and those of a model join.
    calls = [infer(server, name) for name in ("slow", "slower", "m", "slower", "slow")]
    loading = load(server, 2)
    numbers = [call.number() for call in [first] + calls]
    check("all are answered", numbers[:3] + numbers[4:] == [-1] * 5 and numbers[3] in (0, 1),
          numbers)
    check("the load is answered", "error" not in (loading.answer() or {}))
    check("what was loaded is served", infer(server, "m").number() == 1)
    check("an end", server.stop() == 0)


def tells_time_by_the_clock(folder):
    """A request's time begins when it is read, not when the turn began in which it is."""
    server = Server(folder, "--explicit", "--loops", "1")
    for name in ("slow", "m"):
        server.post_json(f"/v2/repository/models/{name}/load", {})
    infer(server, "m").number()
    slow, begin = infer(server, "slow"), time.monotonic()
    slow.answer()
    half = {"X-Request-Timeout-Ms": str(int((time.monotonic() - begin) * 500))}
    slow = infer(server, "slow")
    time.sleep(RUN_BEGINS)
    calls = [infer(server, "m", half if i % 2 else {}) for i in range(8)]
    check("half a run is time enough after it", [call.number() for call in calls] == [1] * 8,
          half)
    check("the run is answered", slow.number() == -1)
    check("an end", server.stop() == 0)


def end_within_requests(folder):
    """Each request's last byte comes while the one before it runs, at the deadline, too: what is
    said to each.  A byte that came after the end has no answer."""
    server = Server(folder / "slow/1/model.ingot", "--name", "slow", "--loops", "1", "--drain", "0")
    calls = [Call(server, "/v2/models/slow/infer", left_out=1) for _ in range(4)]
    time.sleep(RUN_BEGINS)
    first = infer(server, "slow")
    time.sleep(RUN_BEGINS)
    server.process.send_signal(signal.SIGTERM)
    said = []
    for before, call in zip([first] + calls, calls):
        call.end()
        said.append(before.number())
        time.sleep(RUN_BEGINS)
    said.append(calls[-1].number())
    check("a good end", server.process.wait() == 0, (said, server.log_text()[-300:]))
    return said


def ends_with_requests_that_wait(folder):
    has_words, tries = False, 0
    while not has_words and tries < 5:
        tries += 1
        said = end_within_requests(folder)
        has_words = "server ends" in str(said[-1])
    check("who waits for a run at the end is told", has_words, said)
    check("after all runs", said[:-1] == [-1] * 4, said)


def main():
    folder = TMP / "models"
    compile_model(RELU, folder / "m/1/model.ingot")
    compile_model(NEGATE, folder / "m/2/model.ingot")
    compile_model(SLOW, folder / "slow/1/model.ingot")
    compile_model(SLOW, folder / "slower/1/model.ingot")
    knows_loads_of_others(folder)
    keeps_versions_that_wait(folder)
    tells_time_by_the_clock(folder)
    ends_with_requests_that_wait(folder)


main()
finish()
