"""ingot serve --isolate: a model in a confined process; its end harms one request at most.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import random
import select
import signal
import threading
import time

from harness import (BODY, NEGATE, RELU, RUN_BEGINS, SLOW, TMP, Server, check, compile_model,
                     connect_two_loops, finish)

RECOMMENDER = """module @bags {
  symbol B {min = 0}
  weight @t : f32[50, 4] = splat(1.0)
  graph @main(%ids: i64[B]) -> (f32[B, 4] "y") {
    %0 = gather @t, %ids {axis = 0} : f32[B, 4]
    ret %0
  }
}
"""


def facts_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def answers(server, model="m"):
    status, said = server.infer(model, [[-1, 2, -3, 4]])
    return said["outputs"][0]["data"] if status == 200 else (status, said)


def is_confined(server):
    pids = server.children()
    check("a process a model", len(pids) == 2, pids)
    facts = [facts_of(pid) for pid in pids]
    check("each behind a filter", all(f["Seccomp"].strip() == "2" for f in facts) or
          server.is_sanitized(), facts)
    texts = [pathlib.Path(f"/proc/{pid}/environ").read_bytes() for pid in pids]
    check("without the server's environment", not any(b"INGOT_SERVE_TMP" in t for t in texts))


def survives_kills(server):
    for _ in range(5):
        pid = server.children()[0]
        begin = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        said = [answers(server), answers(server, "n")]
        took = time.monotonic() - begin
        good = [[0, 2, 0, 4], [1, -2, 3, -4]]
        bad = [s for s, g in zip(said, good) if s != g]
        check("a kill fails one request at most, at once", len(bad) <= 1 and took < 10 and
              all("signal 9" in str(b) for b in bad), (said, took))
        check("the next succeed", [answers(server), answers(server, "n")] == good)
        check("in a new process", pid not in server.children() and len(server.children()) == 2)


def survives_kills_under_load(server):
    """Requests of several clients while processes are killed: each is right, or says why."""
    wrong, failed, count, end = [], [], [0], time.monotonic() + 2

    def ask():
        while time.monotonic() < end:
            said = answers(server)
            count[0] += 1
            if isinstance(said, tuple):
                failed.append(said)
            elif said != [0, 2, 0, 4]:
                wrong.append(said)

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    draw = random.Random(1)
    for _ in range(5):
        time.sleep(0.25)
        for pid in draw.sample(server.children(), 1):
            os.kill(pid, signal.SIGKILL)
    for client in clients:
        client.join()
    check("no wrong answer", not wrong, wrong[:1])
    check("failures have words", all("process" in str(f) for f in failed), failed[:1])
    check("and are few", len(failed) <= 5 * 8, (len(failed), count[0]))
    check("it serves on", answers(server) == [0, 2, 0, 4])


def ask_slow(connection, number):
    """A request of the slow model, whose result is its input."""
    connection.request("POST", "/v2/models/slow/infer", BODY.replace("-1", str(number)))


def hear(connection):
    answer = connection.getresponse()
    data = json.loads(answer.read())
    return data["outputs"][0]["data"][0] if answer.status == 200 else data


def ask_beside_a_start(server, one, two):
    """Kills the process within a request of one loop, and asks by another while it is started
    again.  Whether it was, still, and what is said then and to the two requests after it."""
    ask_slow(one, 1)
    time.sleep(RUN_BEGINS)
    killed = server.children()
    os.kill(killed[0], signal.SIGKILL)
    server.await_that(lambda: server.children() not in ([], killed))
    ask_slow(two, 2)
    time.sleep(RUN_BEGINS)
    is_early = not select.select([one.sock], [], [], 0)[0]
    check("a killed process fails its request", "signal 9" in str(hear(one)))
    said = [hear(two)]
    for number in (3, 4):
        ask_slow(two, number)
        said.append(hear(two))
    return is_early, said


def answers_whom_it_was_asked_by():
    """Requests of one loop while another starts the process again, and those after them."""
    server = Server(TMP / "slow/1/model.ingot", "--name", "slow", "--loops", "2", "--isolate")
    one, two = connect_two_loops(server, "slow")
    is_early, tries = False, 0
    while not is_early and tries < 5:
        tries += 1
        is_early, said = ask_beside_a_start(server, one, two)
        check("each has its own answer", said == [2, 3, 4], said)
    check("asked while it was started", is_early)
    check("an end", server.stop() == 0)


def drains_what_others_started():
    """The loop that started the process again has ended all its work; another has not."""
    server = Server(TMP / "slow/1/model.ingot", "--name", "slow", "--loops", "2", "--isolate")
    one, two = connect_two_loops(server, "slow")
    os.kill(server.children()[0], signal.SIGKILL)
    ask_slow(one, 1)
    check("the process was ended", "signal 9" in str(hear(one)))
    one.close()
    ask_slow(two, 2)
    time.sleep(RUN_BEGINS)
    server.process.send_signal(signal.SIGTERM)
    said = hear(two)
    check("a run that is under way ends well", said == 2 or "server ends" in str(said), said)
    check("as the server does", server.process.wait() == 0)


compile_model(RELU, TMP / "models/m/1/model.ingot")
compile_model(SLOW, TMP / "slow/1/model.ingot")
answers_whom_it_was_asked_by()
drains_what_others_started()
compile_model(NEGATE, TMP / "models/n/1/model.ingot")
inside = Server(TMP / "models", "--loops", "2", "--poll", "1")
outside = Server(TMP / "models", "--loops", "2", "--poll", "1", "--isolate",
                 "--isolate-memory", "256")
check("the same answers", answers(outside) == answers(inside) == [0, 2, 0, 4])
rows = [[float(i + k) - 40 for k in range(4)] for i in range(64)]
check("in batches", outside.infer("m", rows) == inside.infer("m", rows))
check("of no rows", outside.infer("m", []) == inside.infer("m", []))
check("a wrong shape", outside.post_json("/v2/models/m/infer", {"inputs": [
    {"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]})[0] == 400)
is_confined(outside)
survives_kills(outside)
survives_kills_under_load(outside)
compile_model(RECOMMENDER, TMP / "models/bags/1/model.ingot")
check("a model that comes later", outside.await_that(
    lambda: outside.get("/v2/models/bags/ready")[0] == 200))
ask = {"inputs": [{"name": "ids", "datatype": "INT64", "shape": [2], "data": [1, 99]}]}
check("a bad id is told as inside", inside.await_that(
    lambda: inside.get("/v2/models/bags/ready")[0] == 200) and
      outside.post_json("/v2/models/bags/infer", ask) ==
      inside.post_json("/v2/models/bags/infer", ask),
      (outside.post_json("/v2/models/bags/infer", ask),
       inside.post_json("/v2/models/bags/infer", ask)))
held = outside.descriptors()
for _ in range(20):
    answers(outside)
check("descriptors are flat", outside.await_that(lambda: outside.descriptors() <= held))
check("an end", outside.stop() == 0 and inside.stop() == 0)
check("with all processes", not [p for p in outside.children()])
finish()
