"""Clicks of Criteo's shape, 13 counts and 26 categories: a DLRM is trained in torch, compiled,
and served by a program of C (examples/server.c) to many clients at once.

    python clicks.py [--no-peer] [--server FILE]

FILE is server.c, compiled; without it the example compiles it by cc and pkg-config.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import pathlib
import socket
import struct
import subprocess
import time

import torch
from torch import nn

from side_by_side import compile_and_check, tell_speed

COUNTS, CATEGORIES, IDS, WIDTH = 13, 26, 1000, 16
CLIENTS, REQUESTS = 8, 50


class Dlrm(nn.Module):
    """Counts and categories to the chance of a click."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(IDS, WIDTH, mode="sum")
                                    for _ in range(CATEGORIES))
        self.bottom = nn.Sequential(nn.Linear(COUNTS, 64), nn.ReLU(), nn.Linear(64, WIDTH),
                                    nn.ReLU())
        pairs = (CATEGORIES + 1) * CATEGORIES // 2
        self.top = nn.Sequential(nn.Linear(WIDTH + pairs, 64), nn.ReLU(), nn.Linear(64, 1))
        self.register_buffer("below", torch.tril_indices(CATEGORIES + 1, CATEGORIES + 1, -1))

    def forward(self, counts, ids):
        dense = self.bottom(torch.log1p(counts))
        rows = [table(ids[:, i:i + 1]) for i, table in enumerate(self.tables)]
        all_rows = torch.stack([dense, *rows], dim=1)
        products = torch.bmm(all_rows, all_rows.transpose(1, 2))[:, self.below[0], self.below[1]]
        return torch.sigmoid(self.top(torch.cat([dense, products], dim=1)))


def make_clicks(rows, taste):
    """Few ids are frequent; clicks follow a hidden taste."""
    counts = torch.poisson(torch.full((rows, COUNTS), 3.0))
    ids = (IDS * torch.rand(rows, CATEGORIES) ** 3).long()
    score = sum(taste[i][ids[:, i]] for i in range(CATEGORIES)) + 0.1 * (counts[:, 0] - 3)
    return counts, ids, torch.bernoulli(torch.sigmoid(score))


def area(scores, labels):
    """Of 1,000,000 pairs of a click and none, how many have the click in front."""
    hits, misses = scores[labels == 1], scores[labels == 0]
    pairs = torch.randint(len(hits), (1_000_000,)), torch.randint(len(misses), (1_000_000,))
    return (hits[pairs[0]] > misses[pairs[1]]).float().mean().item()


def train(model, taste, steps=150, batch=512):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        counts, ids, clicks = make_clicks(batch, taste)
        loss = nn.functional.binary_cross_entropy(model(counts, ids)[:, 0], clicks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def build_server():
    source = pathlib.Path(__file__).resolve().parent.parent / "server.c"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ingot-runtime"], check=True,
                           capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", "-O2", "-pthread", source, *flags, "-o", "server"], check=True)
    return "./server"


def start(server, artifact):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([server, artifact, str(port)])
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server does not answer")


def ask(peer, *inputs):
    """A request as server.c's head comment has it."""
    peer.write(b"".join(struct.pack("=2q", *x.shape) + x.numpy().tobytes() for x in inputs))
    peer.flush()
    status, = struct.unpack("=I", peer.read(4))
    if status:
        size, = struct.unpack("=I", peer.read(4))
        raise RuntimeError(peer.read(size).decode())
    rows, columns = struct.unpack("=2q", peer.read(16))
    data = bytearray(peer.read(4 * rows * columns))
    return torch.frombuffer(data, dtype=torch.float32).reshape(rows, columns)


def load(port, requests):
    """Every client at once; each answer is the program's own, bit for bit."""
    def go(_):
        with socket.create_connection(("127.0.0.1", port)) as peer:
            stream = peer.makefile("rwb")
            return all(torch.equal(ask(stream, *r), wanted) for r, wanted in requests)

    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        assert all(pool.map(go, range(CLIENTS)))
    return CLIENTS * len(requests) / (time.perf_counter() - begin)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--no-peer", action="store_true")
    options.add_argument("--server")
    server = options.parse_args().server or build_server()
    torch.manual_seed(0)
    taste = 0.5 * torch.randn(CATEGORIES, IDS)
    model = Dlrm()
    train(model, taste)
    counts, ids, clicks = make_clicks(4096, taste)
    batch = torch.export.Dim("batch", min=2)
    program = compile_and_check(model, (counts[:64], ids[:64]), ({0: batch}, {0: batch}))
    print(f"area under the curve: {area(program(counts, ids)[:, 0], clicks):.3f}")
    program.save("clicks.ingot")
    requests = [(counts[i:i + i % 9 + 2], ids[i:i + i % 9 + 2]) for i in range(REQUESTS)]
    requests = [(r, program(*r)) for r in requests]
    process, port = start(server, "clicks.ingot")
    try:
        print(f"{CLIENTS} clients: {load(port, requests):.0f} requests a second")
    finally:
        process.kill()
        process.wait()
    tell_speed("64 impressions", program, model, (counts[:64], ids[:64]))


main()
