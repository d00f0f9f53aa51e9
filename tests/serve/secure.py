"""TLS and tokens: who comes in, what they see, and files that are replaced meanwhile.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time

from harness import (BUILD, PATIENCE, RELU, RUN_BEGINS, SLOW, TMP, Call, Server, check, compile_model,
                     finish, floats, grpc, oip, onnx_model, skip)

BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                               "data": [1, -1, 2, 3]}]})
INFER = "/v2/models/relu/infer"


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def make_certificate(name, authority, host="DNS:localhost"):
    """NAME.pem with those it stands on, and NAME.key, signed by the authority."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            TMP / f"{name}.key", "-out", TMP / "request", "-subj", f"/CN={name}")
    (TMP / "names").write_text(f"subjectAltName={host}\n")
    openssl("x509", "-req", "-in", TMP / "request", "-CA", TMP / f"{authority}.pem", "-CAkey",
            TMP / f"{authority}.key", "-CAcreateserial", "-days", 2, "-extfile", TMP / "names",
            "-out", TMP / f"{name}.pem")


def make_authority(name):
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", TMP / f"{name}.key",
            "-out", TMP / f"{name}.pem", "-days", 2, "-subj", f"/CN={name}")


def replace(name, text):
    """A file put in place by rename."""
    (TMP / "new").write_bytes(text)
    os.replace(TMP / "new", TMP / name)


class Secure(Server):
    """A server with TLS, and clients who trust its authority."""
    authority = "authority"
    token = "one"

    def context(self):
        made = ssl.create_default_context(cafile=TMP / f"{self.authority}.pem")
        return made

    def connect(self):
        return http.client.HTTPSConnection("localhost", self.http_port, timeout=PATIENCE,
                                           context=self.context())

    def channel(self):
        trust = (TMP / f"{self.authority}.pem").read_bytes()
        return grpc.secure_channel(f"localhost:{self.grpc_port}",
                                   grpc.ssl_channel_credentials(trust))

    def ask(self, headers={}):
        """(status, headers, answer)"""
        status, report, body = self.call("POST", INFER, BODY, headers)
        return status, report, json.loads(body)

    def ask_grpc(self, *tokens, method="ModelInfer"):
        if method != "ModelInfer":
            request, answer = oip.Flag(), oip.Flag
        else:
            request, answer = oip.InferRequest(model_name="relu"), oip.InferAnswer
            request.inputs.add(name="x", datatype="FP32", shape=[1, 4])
            request.raw_input_contents.append(floats(1, -1, 2, 3))
        return self.rpc(method, request, answer,
                        [("authorization", f"Bearer {t}") for t in tokens])

    def serial(self, port):
        """The number of the certificate that is shown."""
        with socket.create_connection(("127.0.0.1", port)) as peer, \
                self.context().wrap_socket(peer, server_hostname="localhost") as tls:
            return tls.getpeercert()["serialNumber"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def offer_body(server, size):
    """The answer's status before a body, which a server that asked would wait for."""
    connection = server.connect()
    connection.putrequest("POST", INFER)
    connection.putheader("Content-Length", str(size))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def lets_in(server):
    status, _, answer = server.ask(bearer("one"))
    check("who brings a token is answered", status == 200 and
          answer["outputs"][0]["data"] == [1, 0, 2, 3], answer)
    check("any of them", server.ask(bearer("two"))[0] == 200)
    for what, headers in (("no token", {}), ("another token", bearer("three")),
                          ("part of a token", bearer("on")), ("an empty token", bearer("")),
                          ("a comment", bearer("# three")), ("a longer one", bearer("one1")),
                          ("a password for what is no page", {
                              "Authorization": "Basic " + base64.b64encode(b"a:one").decode()})):
        status, report, answer = server.ask(headers)
        check("refused: " + what, status == 401 and "token" in answer["error"], (status, answer))
    check("and told how", "WWW-Authenticate" in report, report)
    basic = {"Authorization": "Basic " + base64.b64encode(b"anyone:two").decode()}
    check("browsers have a password", server.call("GET", "/", headers=basic)[0] == 200)
    check("which must be a token", server.call("GET", "/metrics", headers={
        "Authorization": "Basic " + base64.b64encode(b"two:no").decode()})[0] == 401)
    check("anybody may ask whether it lives", server.get("/v2/health/live")[0] == 200)
    check("and no more", server.get("/v2")[0] == server.get("/metrics")[0] == 401)
    check("what a stranger would send is not asked for", offer_body(server, 1 << 20) == 401)


def lets_in_grpc(server):
    said = server.ask_grpc("one")
    check("gRPC", not isinstance(said, grpc.RpcError) and
          said.raw_output_contents[0] == floats(1, 0, 2, 3), said)
    for tokens in ((), ("three",), ("on",), ("one1",)):
        said = server.ask_grpc(*tokens)
        is_refused = isinstance(said, grpc.RpcError) and said.code().name == "UNAUTHENTICATED"
        check(f"gRPC, refused: {tokens}", is_refused, said)
    said = server.ask_grpc(method="ServerLive")
    check("gRPC: anybody may ask whether it lives", not isinstance(said, grpc.RpcError), said)
    large = oip.InferRequest(model_name="relu")
    large.inputs.add(name="x", datatype="FP32", shape=[100000, 4])
    large.raw_input_contents.append(floats(*[0.5] * 400000))
    with server.channel() as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                   request_serializer=oip.InferRequest.SerializeToString,
                                   response_deserializer=oip.InferAnswer.FromString)
        said = call(large, metadata=[("authorization", "Bearer two")])
    check("gRPC: large messages", said.raw_output_contents[0] == floats(*[0.5] * 400000))


def speaks_versions(server):
    for port in (server.http_port, server.grpc_port):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = server.context()
            context.minimum_version = context.maximum_version = version
            with socket.create_connection(("127.0.0.1", port)) as peer, \
                    context.wrap_socket(peer, server_hostname="localhost") as tls:
                check("TLS 1.2 and 1.3", tls.version() in ("TLSv1.2", "TLSv1.3"), tls.version())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection(("127.0.0.1", port)) as peer, \
                    context.wrap_socket(peer):
                check("nothing older", False)
        except OSError:
            check("nothing older", True)


def bears_noise(server):
    """Peers that speak no TLS, stop in the middle of a handshake, or leave after it."""
    for port in (server.http_port, server.grpc_port):
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01" + bytes(511),
                     b"\x16\x03\x01", bytes(5000), b"\xff" * 70000, b""):
            with socket.create_connection(("127.0.0.1", port)) as peer:
                peer.sendall(data)
        with socket.create_connection(("127.0.0.1", port)) as peer, \
                server.context().wrap_socket(peer, server_hostname="localhost"):
            pass
    check("after peers that speak no TLS", server.ask(bearer("one"))[0] == 200)


def load(server, *words):
    return subprocess.run([BUILD / "ingot", "load", *map(str, words), "--duration", "0.3"],
                          capture_output=True, text=True, check=False)


def is_loaded(server):
    address = f"localhost:{server.http_port}"
    trust = ("--ca", TMP / "authority.pem", "--token-file", TMP / "tokens")
    done = load(server, "https://" + address, "relu", "--json", "-c", 3, *trust)
    report = json.loads(done.stdout or "null")
    check("ingot load speaks TLS", done.returncode == 0 and report and report["good"] == report["requests"] > 20,
          done)
    done = load(server, address, "relu", "--json", "--rate", 200, *trust)
    check("and at a rate", done.returncode == 0 and json.loads(done.stdout)["good"] > 20, done)
    done = load(server, address, "relu", "--ca", TMP / "authority.pem")
    check("its token is asked for", done.returncode == 3 and "token" in done.stderr, done)
    for what, words, said in (
            ("an authority that nobody trusts", ("https://" + address, "relu"), "not signed by a trusted"),
            ("another authority", (address, "relu", "--ca", TMP / "other.pem"), "not signed by a trusted"),
            ("another host's certificate", (f"127.0.0.1:{server.http_port}", "relu", *trust),
             "another host"),
            ("no authority", (address, "relu", "--ca", TMP / "relu.ingot"), "relu.ingot"),
            ("no token", (address, "relu", "--token-file", TMP / "none"), "none")):
        done = load(server, *words)
        check(what, done.returncode == 6 and said in done.stderr, done)


def follows_files(server):
    """New certificates and tokens are shown and taken without an end of the server."""
    old = [server.serial(port) for port in (server.http_port, server.grpc_port)]
    kept = server.connect()
    kept.request("GET", "/v2", headers=bearer("one"))
    kept.getresponse().read()
    make_certificate("later", "authority")
    replace("server.pem", (TMP / "later.pem").read_bytes())
    server.process.send_signal(signal.SIGHUP)
    check("half of a pair is told", server.await_that(
        lambda: "not the certificate's key" in server.log_text()))
    check("and not taken", server.serial(server.http_port) == old[0])
    replace("server.key", (TMP / "later.key").read_bytes())
    check("a pair is, without being told", server.await_that(
        lambda: server.serial(server.http_port) != old[0]))
    check("by gRPC, too", server.serial(server.grpc_port) != old[1])
    kept.request("GET", "/v2", headers=bearer("one"))
    check("connections go on", kept.getresponse().status == 200)
    kept.close()
    replace("tokens", b"\n four \r\n")
    server.process.send_signal(signal.SIGHUP)
    check("new tokens", server.await_that(lambda: server.ask(bearer("four"))[0] == 200))
    check("old ones are none", server.ask(bearer("one"))[0] == 401)
    replace("tokens", b"# none\n")
    server.process.send_signal(signal.SIGHUP)
    check("a file without tokens is told", server.await_that(
        lambda: "no token is in it" in server.log_text()))
    check("and opens no door", server.ask(bearer("four"))[0] == 200 and server.ask()[0] == 401)


def follows_files_at_once():
    """A loop that is busy while tokens are read again knows them when it reads on."""
    replace("tokens", b"old\n")
    server = Server(TMP / "slow.ingot", "--name", "slow", "--loops", "1", "--token-file",
                    TMP / "tokens")
    slow = Call(server, "/v2/models/slow/infer", headers=bearer("old"))
    time.sleep(RUN_BEGINS)
    replace("tokens", b"new\n")
    server.process.send_signal(signal.SIGHUP)
    check("they are read again", server.await_that(
        lambda: "are read again" in server.log_text()))
    late = [Call(server, "/v2/models/slow/infer", headers=bearer(name)) for name in ("old", "new")]
    check("an old token is none after that", "token" in str(late[0].number()))
    check("a new one is", late[1].number() == -1)
    check("what ran was let in", slow.number() == -1)
    check("an end of a server with tokens", server.stop() == 0)


def profiles(*words):
    done = subprocess.run([BUILD / "ingot", "profile", TMP / "model.onnx", "--quiet", "--seconds",
                           "0.05", "--json", *map(str, words)], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def measures():
    """A worker behind TLS, and who it works for."""
    onnx_model()
    replace("tokens", b"one\n")
    server = Secure("worker", "--host", "here", "--tls-cert", TMP / "server.pem", "--tls-key", TMP / "server.key",
                    "--token-file", TMP / "tokens", wait=False, program=BUILD / "ingot")
    address = f"grpcs://localhost:{server.grpc_port}"
    trust = ("--ca", TMP / "authority.pem")
    tokens = ("--token-file", TMP / "tokens")
    status, said = profiles("--remote", address, *trust, *tokens, "--backend", "here/ingot-cpu",
                            "--batch", 2)
    check("a worker behind TLS", status == 0 and "here/ingot-cpu" in said, (status, said))
    status, said = profiles("--remote", address, *trust)
    check("has no work for strangers", status == 3 and "token" in said, (status, said))
    status, said = profiles("--remote", address, *tokens)
    check("and shows who it is", status != 0 and "not signed by a trusted" in said, (status, said))
    check("a good end", server.stop() == 0)


def refuses(*words):
    done = subprocess.run([BUILD / "ingot-serve", TMP / "relu.ingot", "--http-port", "0",
                           "--grpc-port", "0", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=PATIENCE)
    return done.returncode, done.stderr


def refuses_to_start():
    pair = ("--tls-cert", TMP / "server.pem", "--tls-key", TMP / "server.key")
    for what, words in (("no TLS", ("--token-file", TMP / "tokens")), ("no tokens", pair),
                        ("neither", ())):
        status, said = refuses("--address", "0.0.0.0", *words)
        check("beyond loopback: " + what, status == 2 and "--insecure" in said, (status, said))
    for what, words, exit_status, part in (
            ("a certificate alone", pair[:2], 2, "go together"),
            ("another's key", (*pair[:3], TMP / "other.key"), 6, "not the certificate's key"),
            ("no such file", (*pair[:3], TMP / "nowhere"), 6, "nowhere"),
            ("a key in place of tokens", ("--token-file", TMP), 6, str(TMP)),
            ("what is no certificate", ("--tls-cert", TMP / "tokens", *pair[2:]), 6, "tokens")):
        status, said = refuses(*words)
        check(what, status == exit_status and part in said, (status, said))
    server = Server(TMP / "relu.ingot", "--address", "0.0.0.0", "--insecure", "--quiet")
    check("--insecure", server.infer("relu", [[1, 2, 3, 4]])[0] == 200)
    check("a good end", server.stop() == 0)


def main():
    compile_model(RELU, TMP / "relu.ingot")
    make_authority("authority")
    make_authority("other")
    make_certificate("server", "authority")
    (TMP / "tokens").write_text("# who may come\none\n\ntwo\n")
    server = Secure(TMP / "relu.ingot", "--loops", "2", "--tls-cert", TMP / "server.pem",
                    "--tls-key", TMP / "server.key", "--token-file", TMP / "tokens")
    descriptors = server.descriptors()
    lets_in(server)
    if grpc:
        lets_in_grpc(server)
    else:
        skip("gRPC with TLS", "python3-grpcio or protoc is absent")
    for part in (speaks_versions, bears_noise, is_loaded, follows_files):
        part(server)
    check("no descriptor is lost", server.await_that(
        lambda: server.descriptors() <= descriptors + 2), server.descriptors())
    check("a good end", server.stop() == 0)
    compile_model(SLOW, TMP / "slow.ingot")
    follows_files_at_once()
    refuses_to_start()
    if grpc:
        measures()


main()
finish()
