"""Peers that mean harm: nothing that they do may end the server or stop others.

SPDX-License-Identifier: Apache-2.0
"""
import random
import socket
import struct
import time

from harness import RELU, TMP, Server, check, compile_model, finish, skip

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


def headers(stream, flags=4):
    path = b"/inference.GRPCInferenceService/ModelInfer"
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


def resets_rapidly(server):
    streams = b"".join(headers(i) + frame(3, 0, i, struct.pack(">I", 8))
                       for i in range(1, 20001, 2))
    said = talk(server.grpc_port, PREFACE + streams)
    check("who opens streams to take them back is shown out", len(said) < 200000, len(said))
    check("after rapid resets", is_well(server))


def sits_idle(server):
    before = server.memory_kb()
    peers = []
    for i in range(400):
        peer = socket.create_connection(("127.0.0.1",
                                         server.http_port if i % 2 else server.grpc_port))
        peer.sendall(HEAD if i % 2 else PREFACE + headers(1))
        peers.append(peer)
    check("others are served beside 400 idle peers", is_well(server))
    each = (server.memory_kb() - before) / len(peers)
    if server.is_sanitized():
        skip("which take little memory each", "sanitizers add theirs")
    else:
        check("which take little memory each", each < 24, each)
    end = time.monotonic() + 30
    open_peers = list(peers)
    while open_peers and time.monotonic() < end:
        open_peers = [p for p in open_peers if not is_closed(p)]
        time.sleep(0.1)
    check("and are closed after --idle", not open_peers, len(open_peers))
    for peer in peers:
        peer.close()


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
    for _ in range(300):
        for port, data in ((server.grpc_port, bytearray(good)), (server.http_port,
                                                                 bytearray(text))):
            for _ in range(chance.randrange(1, 6)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            talk(port, bytes(data), False)
    check("after noise", is_well(server))


def main():
    compile_model(RELU, TMP / "relu.ingot")
    server = Server(TMP / "relu.ingot", "--loops", "1", "--idle", "3", "--quiet")
    descriptors = server.descriptors()
    for part in (breaks_http, breaks_grpc, resets_rapidly, leaves_early, sends_noise,
                 sits_idle):
        part(server)
    check("no descriptor is lost", server.await_that(
        lambda: server.descriptors() <= descriptors + 2), server.descriptors())
    check("a good end", server.stop() == 0)


main()
finish()
