"""Peers that mean harm: nothing that they do may end the server or stop others.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gzip
import os
import random
import resource
import socket
import struct
import sys
import threading
import time

from harness import RELU, TMP, Server, check, compile_model, finish, skip

PIDFD_GETFD = 438  # a system call
IS_FULL = os.environ.get("INGOT_FULL") == "1"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
HEAD = (b"POST /v2/models/relu/infer HTTP/1.1\r\nHost: a\r\nContent-Type: a\r\n")


def talk(port, data, wait=True):
    """What the server says to these bytes until it closes or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
        said = b""
        try:
            peer.sendall(data)
            peer.settimeout(0.2)
            while wait and (more := peer.recv(65536)):
                said += more
        except (TimeoutError, ConnectionError):
            pass
        return said


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def headers(stream, flags=4, method=b"ModelInfer"):
    path = b"/inference.GRPCInferenceService/" + method
    block = b"\x83\x86\x04" + bytes([len(path)]) + path + b"\x01\x01a"
    return frame(1, flags, stream, block)


def is_well(server):
    return server.infer("relu", [[1, -1, 0, 0]])[0] == 200


def breaks_http(server):
    for what, data in (
            ("no HTTP", b"\x16\x03\x01\x02\0\x01" + bytes(200)),
            ("a header of 1 MB", b"GET / HTTP/1.1\r\nA: " + b"a" * (1 << 20)),
            ("100,000 headers", b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 100000),
            ("two lengths", HEAD + b"Content-Length: 4\r\nContent-Length: 9\r\n\r\n{}{}"),
            ("a negative length", HEAD + b"Content-Length: -4\r\n\r\n"),
            ("a huge length", HEAD + b"Content-Length: 999999999999999999999\r\n\r\n"),
            ("a bad chunk", HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
            ("deep JSON", HEAD + b"Content-Length: 100000\r\n\r\n" + b"[" * 100000),
            ("zeros", bytes(100000))):
        talk(server.http_port, data)
        check("after " + what, is_well(server))


def breaks_grpc(server):
    body = b"\0\0\0\0\x02ab"
    for what, data in (
            ("no HTTP/2", b"GET / HTTP/1.1\r\n\r\n"),
            ("a frame past its size", PREFACE + b"\xff\xff\xff\0\0\0\0\0\1"),
            ("data of no stream", PREFACE + frame(0, 1, 1, body)),
            ("a message that is cut", PREFACE + headers(1) + frame(0, 1, 1, b"\0\0\0\1\0ab")),
            ("a message of 4 GB", PREFACE + headers(1) + frame(0, 1, 1, b"\0\xff\xff\xff\xff")),
            ("a flag of 7", PREFACE + headers(1) + frame(0, 1, 1, b"\7\0\0\0\0")),
            ("gzip that is none", PREFACE + headers(1) + frame(0, 1, 1, b"\1\0\0\0\1a")),
            ("no message", PREFACE + headers(1, 5)),
            ("a broken message", PREFACE + headers(1) + frame(0, 1, 1, b"\0\0\0\0\2\xff\xff")),
            ("headers without end", PREFACE + headers(1, 0) + frame(9, 0, 1, b"a" * 16000) * 40),
            ("windows of 0", PREFACE + frame(8, 0, 0, bytes(4))),
            ("pings", PREFACE + frame(6, 0, 0, bytes(8)) * 5000),
            ("settings", PREFACE + frame(4, 0, 0, struct.pack(">HI", 3, 1)) * 5000)):
        talk(server.grpc_port, data)
        check("after " + what, is_well(server))


def floods_a_stream(server):
    """More messages at once than a stream may have under way: those that come later are taken
    while the first ones are answered."""
    for what, message in (("no model", b"\0\0\0\0\3\x0a\1a"), ("nothing", b"\0\0\0\0\0"),
                          ("no message", b"\0\0\0\0\2\xff\xff")):
        talk(server.grpc_port, PREFACE + headers(1, method=b"ModelStreamInfer") +
             frame(0, 1, 1, message * 1500))
        check(f"after a stream of 1500 that name {what}", is_well(server))


def borrow_sockets(server, known):
    """The server's sockets beyond the known ones, which this process has too from then on."""
    pidfd = os.pidfd_open(server.process.pid)
    call = ctypes.CDLL(None, use_errno=True).syscall
    own = [call(PIDFD_GETFD, pidfd, int(name), 0)
           for name in set(os.listdir(f"/proc/{server.process.pid}/fd")) - known]
    os.close(pidfd)
    return own


def ends_shared_sockets(server):
    """Sockets that another process has too, as one that is just being started has: their events
    go on after the server has closed them, and are of nobody."""
    known = set(os.listdir(f"/proc/{server.process.pid}/fd"))
    with socket.create_connection(("127.0.0.1", server.grpc_port), timeout=10) as peer:
        peer.sendall(PREFACE)
        peer.recv(1)
        own = borrow_sockets(server, known)
    if -1 in own or not own:
        skip("sockets that two processes have", "this system lends none")
        return
    server.await_that(lambda: server.descriptors() <= len(known))
    for _ in range(3):
        before = server.cpu_seconds()
        time.sleep(0.3)
        check("a socket that was closed has no events", server.cpu_seconds() - before < 0.2)
        check("it serves on", is_well(server))
    for each in own:
        os.close(each)


def floods_continuation(server):
    """Headers that never end: empty pieces, small ones, and ones of a large index."""
    pieces = 200000 if IS_FULL else 5000
    before = server.memory_kb()
    for payload in (b"", b"\0\x01a\x01b" * 200, b"\x82" * 16000):
        parcel, sent = frame(9, 0, 1, payload) * 50, 0
        with socket.create_connection(("127.0.0.1", server.grpc_port), timeout=10) as peer:
            try:
                peer.sendall(PREFACE + headers(1, 0))
                while sent < pieces:
                    peer.sendall(parcel)
                    sent += 50
                is_shown_out = server.await_that(lambda: is_closed(peer), 10)
            except (ConnectionError, TimeoutError):
                is_shown_out = True
        check(f"who never ends its headers is shown out ({len(payload)})", is_shown_out, sent)
        check("after a flood of CONTINUATION", is_well(server))
    if not server.is_sanitized():
        check("which leaves little memory behind", server.memory_kb() - before < 20000,
              (before, server.memory_kb()))


def resets_rapidly(server):
    streams = b"".join(headers(i) + frame(3, 0, i, struct.pack(">I", 8))
                       for i in range(1, 20001, 2))
    said = talk(server.grpc_port, PREFACE + streams)
    check("who opens streams to take them back is shown out", len(said) < 200000, len(said))
    check("after rapid resets", is_well(server))


def sits_idle(server):
    before = server.memory_kb()
    peers = []
    wanted = 400
    if IS_FULL:
        wanted = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
    for i in range(wanted):
        peer = socket.create_connection(("127.0.0.1",
                                         server.http_port if i % 2 else server.grpc_port))
        peer.sendall(HEAD if i % 2 else PREFACE + headers(1))
        peers.append(peer)
    check(f"others are served beside {wanted} idle peers", is_well(server))
    each = (server.memory_kb() - before) / len(peers)
    if server.is_sanitized():
        skip("which take little memory each", "sanitizers add theirs")
    else:
        check("which take little memory each", each < 20, each)
    end = time.monotonic() + 30
    open_peers = list(peers)
    while open_peers and time.monotonic() < end:
        open_peers = [p for p in open_peers if not is_closed(p)]
        time.sleep(0.1)
    check("and are closed after --idle", not open_peers, len(open_peers))
    for peer in peers:
        peer.close()


def dribbles(server):
    """Peers that send a byte now and then, and never a whole request."""
    peers = []
    for i in range(200):
        peer = socket.create_connection(("127.0.0.1",
                                         server.http_port if i % 2 else server.grpc_port))
        peer.sendall(HEAD[:20] if i % 2 else PREFACE[:10])
        peers.append(peer)
    slowest = 0
    for step in range(20):
        for i, peer in enumerate(peers):
            try:
                peer.sendall(b"A" if i % 2 else PREFACE[10 + step:11 + step])
            except ConnectionError:
                pass
        begin = time.monotonic()
        check("others are served beside 200 slow peers", is_well(server))
        slowest = max(slowest, time.monotonic() - begin)
    check("soon", slowest < 2, slowest)
    for peer in peers:
        peer.close()


def floods_gzip(server):
    """A KB that unpacks to a MB times as much as a request may have."""
    bomb = gzip.compress(bytes(100 << 20))
    before = server.memory_kb()
    for _ in range(100 if IS_FULL else 10):
        status, _, _ = server.call("POST", "/v2/models/relu/infer", bomb,
                                   {"Content-Encoding": "gzip"})
        check("a bomb of gzip over HTTP", status == 413, status)
        message = b"\1" + struct.pack(">I", len(bomb)) + bomb
        frames = b"".join(frame(0, 0, 1, message[i:i + 16000])
                          for i in range(0, len(message), 16000))
        block = headers(1)[9:] + b"\0\x0dgrpc-encoding\x04gzip"
        talk(server.grpc_port, PREFACE + frame(1, 4, 1, block) + frames + frame(0, 1, 1, b""))
        check("after a bomb over gRPC", is_well(server))
    if not server.is_sanitized():
        check("which leaves no memory behind", server.memory_kb() - before < 80000,
              (before, server.memory_kb()))


def is_closed(peer):
    peer.setblocking(False)
    try:
        while peer.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def leaves_early(server):
    body = b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1,2,3,4]}]}'
    for _ in range(200):
        talk(server.http_port, HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body, False)
        talk(server.grpc_port, PREFACE + headers(1) + frame(0, 0, 1, b"\0\0\0\0\x09ab"), False)
    check("after clients that leave", is_well(server))


def sends_noise(server):
    chance = random.Random(7)
    good = PREFACE + headers(1) + frame(0, 1, 1, b"\0\0\0\0\x0a\x0a\x04relu\x1a\x02id")
    text = HEAD + b"Content-Length: 2\r\n\r\n{}"
    for _ in range(500000 if IS_FULL else 300):
        for port, data in ((server.grpc_port, bytearray(good)), (server.http_port,
                                                                 bytearray(text))):
            for _ in range(chance.randrange(1, 6)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            talk(port, bytes(data), False)
    check("after noise", is_well(server))


def time_beside(server, part):
    """Does it while another process sends ordinary requests; their p99."""
    seen, is_over = [], threading.Event()
    watcher = threading.Thread(target=lambda: seen.append(
        server.p99_while("relu", lambda: not is_over.is_set())))
    watcher.start()
    part(server)
    is_over.set()
    watcher.join()
    return seen[0]


def main():
    high = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(high, 65536), high))
    compile_model(RELU, TMP / "relu.ingot")
    cores = sorted(os.sched_getaffinity(0))
    has_own_core = IS_FULL and len(cores) > 1  # bounds are for clients that leave the server's
    if has_own_core:
        os.sched_setaffinity(0, cores[:1])
    server = Server(TMP / "relu.ingot", "--loops", "1", "--idle", "3", "--quiet")
    if has_own_core:
        os.sched_setaffinity(0, cores[1:])
    descriptors = server.descriptors()
    parts = (breaks_http, breaks_grpc, floods_a_stream, ends_shared_sockets, resets_rapidly,
             floods_continuation, leaves_early, sends_noise, dribbles, floods_gzip, sits_idle)
    usual = time_beside(server, lambda _: time.sleep(5)) if IS_FULL else 0
    for part in parts:
        if IS_FULL:
            slow = time_beside(server, part)
            print(f"{part.__name__}: p99 {slow:.3f} ms, {usual:.3f} alone", file=sys.stderr)
            check(f"others beside {part.__name__}", slow < 2 * usual + 1, (slow, usual))
        else:
            part(server)
    check("no descriptor is lost", server.await_that(
        lambda: server.descriptors() <= descriptors + 2), server.descriptors())
    check("a good end", server.stop() == 0)


main()
finish()
