"""A table in Redis: a server answers from rows there, while a trainer writes them.

    python fresh_rows.py [--no-peer]

Needs the commands `ingot`, `ingot-serve` and `redis-server`, of which it starts one of its own.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

import torch
from torch import nn

from side_by_side import tell_speed

USERS, WIDTH, REFRESH_MS = 2000, 8, 200
TABLE = "users.weight"


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, ids):
        return self.mlp(self.users(ids))


class Redis:
    """A server of one's own on a socket, and pushes of rows: a cell is a string whose key
    docs/stores.md tells."""

    def __init__(self, folder):
        path = f"{folder}/redis"
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path,
                                         "--save", "", "--dir", folder],
                                        stdout=subprocess.DEVNULL)
        self.url, self.peer = f"redis://{path}", socket.socket(socket.AF_UNIX)
        for _ in range(500):
            if self.peer.connect_ex(path) == 0:
                return
            time.sleep(0.02)
        raise RuntimeError("redis-server does not answer")

    def push(self, ids, rows):
        parts = []
        for number, row in zip(ids.tolist(), rows.tolist()):
            words = b"SET", f"_table_{TABLE}_gid_{number}_cid_0_osid_0".encode(), \
                struct.pack(f"={WIDTH}f", *row)
            parts += [b"*3\r\n", *(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)]
        self.peer.sendall(b"".join(parts))
        left = len(b"+OK\r\n") * len(ids)
        while left:
            left -= len(self.peer.recv(left))


class Server:
    """`ingot serve` over the folder, with the table where `url` says."""

    def __init__(self, folder, artifact, url):
        home = pathlib.Path(folder, "models/scores/1")
        home.mkdir(parents=True)
        pathlib.Path(artifact).rename(home / "model.ingot")
        (home.parent / "config.json").write_text(json.dumps(
            {"ingot": {"stores": {TABLE: url}, "refresh": REFRESH_MS}}))
        self.process = subprocess.Popen(
            ["ingot", "serve", home.parent.parent, "--http-port", "0", "--grpc-port", "-1",
             "--quiet"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip() + "/v2/models/scores/infer"

    def ask(self, ids):
        body = json.dumps({"inputs": [{"name": "ids", "datatype": "INT64",
                                       "shape": [len(ids)], "data": ids.tolist()}]})
        with urllib.request.urlopen(self.url, body.encode()) as answer:
            return torch.tensor(json.load(answer)["outputs"][0]["data"])


def train(model, redis, server, ids, target, rounds=5):
    """Each round changes the users' rows, pushes them, and looks when they are served."""
    optimizer = torch.optim.Adam(model.users.parameters(), lr=0.05)
    for index in range(rounds):
        for _ in range(20):
            loss = nn.functional.mse_loss(model(ids)[:, 0], target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        redis.push(ids, model.users.weight.detach()[ids])
        begin = time.perf_counter()
        with torch.no_grad():
            wanted = model(ids)[:, 0]
        while not torch.allclose(server.ask(ids), wanted, rtol=1e-4, atol=1e-5):
            assert time.perf_counter() - begin < 30, "the rows are not served"
        print(f"round {index}: loss {loss.item():.4f}, served after "
              f"{1e3 * (time.perf_counter() - begin):.0f} ms")
    assert loss.item() < 0.1


def main():
    torch.manual_seed(0)
    model = Scores().eval()
    batch = torch.export.Dim("batch", min=2)
    ids = torch.randperm(USERS)[:64]
    torch.export.save(torch.export.export(model, (ids,), dynamic_shapes=({0: batch},)),
                      "scores.pt2")
    with tempfile.TemporaryDirectory() as folder:
        redis = Redis(folder)
        try:
            store = ["ingot", "store", "load", redis.url, "scores.pt2", TABLE]
            subprocess.run(store, check=True)
            subprocess.run(["ingot", "compile", "scores.pt2", "-q", "-o", "scores.ingot",
                            "--store", f"{TABLE}={redis.url}"], check=True)
            server = Server(folder, "scores.ingot", redis.url)
            try:
                train(model, redis, server, ids, torch.randn(len(ids)))
                tell_speed("64 users over HTTP, rows from Redis", server.ask, model, (ids,), rounds=20)
            finally:
                server.process.terminate()
                server.process.wait()
        finally:
            redis.process.terminate()
            redis.process.wait()


main()
