"""ingot load, against a server that keeps up and one that cannot.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import subprocess
import time

from harness import BUILD, RELU, TMP, Server, check, compile_model, finish, skip
from queues import SLOW

IS_FULL = os.environ.get("INGOT_FULL") == "1"


def load(server, model, *words):
    """(exit status, what --json says, stderr)"""
    done = subprocess.run([BUILD / "ingot", "load", f"127.0.0.1:{server.http_port}", model,
                           "--json", *map(str, words)], capture_output=True, text=True,
                          check=False)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except ValueError:
        return done.returncode, None, done.stderr


def times_requests(server):
    status, report, _ = load(server, "m", "--concurrency", 4, "--duration", 0.5, "--rows", 3)
    check("a closed loop", status == 0 and report["good"] == report["requests"] > 50, report)
    check("whose times rise", sorted(report["milliseconds"].values()) ==
          list(report["milliseconds"].values()), report)
    picture = TMP / "times.svg"
    status, report, _ = load(server, "m", "--rate", 200, "--duration", 1, "--svg", picture)
    check("an open loop keeps its rate", status == 0 and 120 < report["requests"] < 290, report)
    check("and draws it", picture.read_text().startswith("<svg") and
          picture.read_text().endswith("</svg>\n"))
    body = TMP / "body.json"
    body.write_text(json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                                            "data": [1, 2, 3, 4]}]}))
    status, report, _ = load(server, "m", "--request", body, "--duration", 0.2)
    check("a body of one's own", status == 0 and report["good"] > 0, report)
    status, _, words = load(server, "nope", "--duration", 0.2)
    check("no such model", status == 3 and "unknown model" in words, (status, words))
    status, _, words = load(server, "m", "--request", TMP / "none", "--duration", 0.2)
    check("no such body", status == 6 and "none" in words, (status, words))
    done = subprocess.run([BUILD / "ingot", "load", "127.0.0.1:1", "m"], capture_output=True,
                          text=True, check=False)
    check("no server", done.returncode == 6 and "cannot connect" in done.stderr, done.stderr)
    done = subprocess.run([BUILD / "ingot", "load", "127.0.0.1", "m"], capture_output=True,
                          text=True, check=False)
    check("no port", done.returncode == 6 and "HOST:PORT" in done.stderr, done.stderr)


def is_charged_for_standing_still(server):
    """Requests that come while the server works are late by what they waited."""
    status, report, _ = load(server, "slow", "--rate", 400, "--duration", 0.5, "-c", 2)
    check("what finds no connection is timed from when it was due",
          report["milliseconds"]["p90"] > 100 or report["unsent"] > 0, report)


def bears_overload(server):
    """Three times what it can: what is good stays near the most that it can."""
    _, high, _ = load(server, "slow", "--concurrency", 8, "--duration", 2)
    _, report, _ = load(server, "slow", "--rate", 3 * high["good_per_second"], "--duration",
                      4, "--deadline", 400)
    share = report["good"] / 4 / high["good_per_second"]
    check("goodput at three times the capacity", share > (0.9 if IS_FULL else 0.5),
          (share, high, report))
    check("others are told that they are late, or refused",
          set(report["statuses"]) <= {"200", "504", "429"}, report)


def heeds_refusals(server):
    """Connections that were refused rest for a second: of a full queue each has two at most."""
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [0] * 4}]}
    waiting = server.connect()
    waiting.request("POST", "/v2/models/full/infer", json.dumps(body))
    server.await_that(lambda: server.post_json("/v2/models/full/infer", body)[0] == 429)
    _, report, _ = load(server, "full", "--rate", 500, "--duration", 1.5, "-c", 4)
    refused = report["statuses"]["429"]
    check("connections rest after a refusal", refused <= 8 and
          report["unsent"] == report["requests"] - refused > 50, report)
    check("what was never sent has no status", report["statuses"] == {"429": refused}, report)
    waiting.close()


def costs_nothing_at_rest(folder):
    """Folders are looked at each second, connections are open, and nobody asks."""
    server = Server(folder, "--loops", "2", "--poll", "1")
    held = [server.connect() for _ in range(20)]
    for connection in held:
        connection.request("GET", "/v2/health/live")
        connection.getresponse().read()
    server.infer("m", [[1, 2, 3, 4]])
    begin, seconds = server.cpu_seconds(), 10 if IS_FULL else 4
    time.sleep(seconds)
    spent = server.cpu_seconds() - begin
    check("a server without requests rests", spent <= 0.02 * seconds, (spent, seconds))
    if server.is_sanitized():
        skip("and is small", "sanitizers are not")
    else:
        check("and is small", server.memory_kb() < 32 << 10, server.memory_kb())
    for connection in held:
        connection.close()
    check("a good end after a rest", server.stop() == 0)


def is_good_for_prometheus(server):
    if not shutil.which("promtool"):
        skip("promtool check metrics", "promtool is absent")
        return
    done = subprocess.run(["promtool", "check", "metrics"], input=server.get("/metrics")[1],
                          capture_output=True, check=False)
    check("promtool has nothing to say", done.returncode == 0 and not done.stdout, done)


def main():
    folder = TMP / "loads"
    compile_model(RELU, folder / "m/1/model.ingot")
    compile_model(SLOW, folder / "slow/1/model.ingot")
    (folder / "slow/config.json").write_text('{"max_batch_size": 0, "dynamic_batching": {'
                                             '"default_queue_policy": {"max_queue_size": 16}}}')
    compile_model(RELU, folder / "full/1/model.ingot")
    (folder / "full/config.json").write_text('{"dynamic_batching": {'
                                             '"max_queue_delay_microseconds": 60000000, '
                                             '"default_queue_policy": {"max_queue_size": 1}}}')
    server = Server(folder, "--loops", "1", "--poll", "0")
    for part in (times_requests, is_charged_for_standing_still, bears_overload, heeds_refusals,
                 is_good_for_prometheus):
        part(server)
    check("a good end", server.stop() == 0)
    costs_nothing_at_rest(folder)


main()
finish()
