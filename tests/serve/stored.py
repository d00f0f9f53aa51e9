"""Models whose tables lie in stores: rows that change, stores that stop, loops that share rows.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from harness import BUILD, TMP, Server, check, finish, grpc, oip, skip

ROWS, REFRESH_MS = 100_000, 300
MODEL = f"""module @m {{
  weight @users : f32[{ROWS}, 2] = splat(0.5)
  graph @main(%i: i64[N]) -> (f32[N, 2] "y") {{
    %0 = gather @users, %i {{axis = 0}} : f32[N, 2]
    ret %0
  }}
}}
"""


def ingot(*words):
    subprocess.run([BUILD / "ingot", *map(str, words)], check=True, capture_output=True)


def make_model(name, url, **config):
    """An artifact whose rows lie in the store, which its config.json names."""
    folder = TMP / "stored" / name
    (folder / "1").mkdir(parents=True, exist_ok=True)
    (TMP / "m.ig").write_text(MODEL)
    ingot("compile", TMP / "m.ig", "-q", "-o", folder / "1/model.ingot", "--store",
          "*=memory://")
    (folder / "config.json").write_text(json.dumps({"ingot": {"stores": {"users": url}, **config}}))


def ask(server, model, ids, timeout_ms=None):
    """(status, rows or words, parameters, seconds)"""
    headers = {"X-Request-Timeout-Ms": str(timeout_ms)} if timeout_ms else {}
    begin = time.monotonic()
    status, _, body = server.call("POST", f"/v2/models/{model}/infer", json.dumps({"inputs": [
        {"name": "i", "datatype": "INT64", "shape": [len(ids)], "data": ids}]}), headers)
    answer, seconds = json.loads(body), time.monotonic() - begin
    if status != 200:
        return status, answer["error"], None, seconds
    data = answer["outputs"][0]["data"]
    return status, [tuple(data[i:i + 2]) for i in range(0, len(data), 2)], answer.get(
        "parameters"), seconds


def reads_lmdb(server, url):
    for number in (3, 4, 7):
        ingot("store", "put", url, "users", number, f"{number},-{number}")
    status, rows, report, _ = ask(server, "files", [4, 3, 7, 4])
    check("rows of a file", (status, rows) == (200, [(4, -4), (3, -3), (7, -7), (4, -4)]),
          (status, rows))
    check("which are told", report == {"rows_absent": 0, "rows_late": 0, "rows_stale": 0}, report)
    status, rows, report, _ = ask(server, "files", [4, 99])
    check("rows that no store has", rows == [(4, -4), (0, 0)] and report["rows_absent"] == 1,
          (rows, report))
    status, words, _, _ = ask(server, "files", [ROWS])
    check("an id out of range", status == 400 and str(ROWS) in words, (status, words))
    ingot("store", "put", url, "users", 4, "40,41")
    begin = time.monotonic()
    is_there = server.await_that(lambda: ask(server, "files", [4])[1] == [(40, 41)])
    check("a row that was pushed", is_there and time.monotonic() - begin < 5)
    if grpc:
        request = oip.InferRequest(model_name="files")
        request.inputs.add(name="i", datatype="INT64", shape=[2])
        request.raw_input_contents.append(struct.pack("<2q", 4, 98))
        said = server.rpc("ModelInfer", request, oip.InferAnswer)
        report = {p.key: p.value.int64_param for p in said.parameters}
        check("gRPC tells them, too", report == {"rows_absent": 1, "rows_late": 0, "rows_stale": 0},
              report)


def shares_rows(server):
    """Both loops, at once, over one memory."""
    wrong = []

    def go():
        for _ in range(50):
            status, rows, _, _ = ask(server, "files", [3, 7])
            if (status, rows) != (200, [(3, -3), (7, -7)]):
                wrong.append((status, rows))
    threads = [threading.Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("two loops", not wrong, wrong[:3])


class Redis:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", TMP], stdout=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                self.peer = socket.create_connection(("127.0.0.1", self.port))
                return
            except OSError:
                time.sleep(0.05)

    def push(self, rows):
        """Rows by id, in one pipeline."""
        parts = []
        for number, row in rows.items():
            key = f"_table_users_gid_{number}_cid_0_osid_0".encode()
            value = struct.pack("<2f", *row)
            parts.append(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$8\r\n%s\r\n" % (len(key), key, value))
        self.peer.sendall(b"".join(parts))
        want, got = 5 * len(rows), 0
        while got < want:
            got += len(self.peer.recv(1 << 16))

    def signal(self, which):
        os.kill(self.process.pid, which)


def follows_trainer(server, redis):
    """A trainer pushes 10,000 rows a second; each is served a second later at the latest."""
    ended, pushed, slowest = threading.Event(), [0, 0], [0]

    def train():
        step, due = 0, time.monotonic()
        while not ended.is_set():
            step += 1
            redis.push({i: (step, i % 1000) for i in range(1000)})
            pushed[0], pushed[1] = step, time.monotonic()
            due += 0.1
            slowest[0] = max(slowest[0], time.monotonic() - due)
            time.sleep(max(0, due - time.monotonic()))
    redis.push({i: (0, i % 1000) for i in range(1000)})
    trainer = threading.Thread(target=train)
    trainer.start()
    late, asked, end = [], 0, time.monotonic() + 3
    times = {}
    while time.monotonic() < end:
        begin = time.monotonic()
        times.setdefault(pushed[0], pushed[1] or begin)
        status, rows, report, _ = ask(server, "live", [asked % 1000, (asked * 7) % 1000])
        known = max((step for step, at in times.items() if at < begin - 1), default=0)
        asked += 1
        if status != 200 or min(r[0] for r in rows) < known:
            late.append((status, rows, known, report))
    ended.set()
    trainer.join()
    check("rows are served a second after they were pushed", not late and asked > 20 and
          pushed[0] > 10, (late[:3], len(late), asked, pushed, slowest))


def bears_stops(server, redis):
    redis.push({i: (i, i) for i in range(100)})
    ask(server, "live", list(range(100)))
    time.sleep(REFRESH_MS / 1000)
    ask(server, "live", list(range(100)))
    redis.signal(signal.SIGSTOP)
    time.sleep(2 * REFRESH_MS / 1000)
    status, rows, report, seconds = ask(server, "live", [1, 2, 3], 400)
    check("a store that stands still: old rows", (status, rows) == (200, [(1, 1), (2, 2), (3, 3)]),
          (status, rows))
    check("within the deadline", seconds < 1.5, seconds)
    check("and told", report and report["rows_stale"] == 3, report)
    status, rows, report, seconds = ask(server, "live", [1, 5000, 2], 400)
    check("rows that do not come are zeros", (status, rows) == (200, [(1, 1), (0, 0), (2, 2)]) and
          report["rows_late"] == 1, (status, rows, report))
    check("within the deadline, too", seconds < 1.5, seconds)
    status, words, _, seconds = ask(server, "live", [5001])
    check("without a deadline they fail the request", status != 200 and seconds < 5,
          (status, words, seconds))
    redis.signal(signal.SIGCONT)
    redis.push({i: (i + 1, i) for i in range(10)})
    check("and when it goes on", server.await_that(
        lambda: ask(server, "live", [1, 2])[1] == [(2, 1), (3, 2)]))
    check("nothing is stale", server.await_that(
        lambda: ask(server, "live", [1, 2])[2]["rows_stale"] == 0))
    redis.process.kill()
    redis.process.wait()
    time.sleep(2 * REFRESH_MS / 1000)
    status, rows, report, seconds = ask(server, "live", [1, 2], 400)
    check("a store that is gone", (status, rows) == (200, [(2, 1), (3, 2)]) and
          report["rows_stale"] == 2 and seconds < 1.5, (status, rows, report, seconds))


def main():
    url = f"lmdb://{TMP}/rows.mdb"
    ingot("store", "put", url, "users", 1, "1,-1")
    make_model("files", url, refresh=REFRESH_MS)
    make_model("none", f"lmdb://{TMP}/nowhere.mdb")
    redis = Redis() if shutil.which("redis-server") else None
    if redis:
        make_model("live", f"redis://127.0.0.1:{redis.port}/?timeout=1s", refresh=REFRESH_MS,
                   store_timeout=1000)
    server = Server(TMP / "stored", "--loops", "2", "--poll", "0", wait=False)
    server.await_that(lambda: ask(server, "files", [1])[0] == 200)
    reads_lmdb(server, url)
    shares_rows(server)
    index = {m["name"]: m for m in server.post_json("/v2/repository/index", {})[1]}
    check("a store that is not there", index["none"]["state"] == "UNAVAILABLE" and
          "nowhere.mdb" in index["none"]["reason"], index["none"])
    if redis:
        follows_trainer(server, redis)
        bears_stops(server, redis)
    else:
        skip("rows of Redis", "redis-server is absent")
    check("a good end", server.stop() == 0)
    server = Server(TMP / "stored" / "files" / "1" / "model.ingot", "--isolate", wait=False)
    check("--isolate asks no stores", server.await_that(lambda: "isolated" in server.log_text()),
          server.log_text())
    check("a good end after it", server.stop() == 0)


main()
finish()
