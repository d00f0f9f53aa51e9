"""The unit of systemd and the recipe of a container: their command lines run, and their words are
known to whoever reads them.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

from harness import BUILD, RELU, TMP, Server, check, compile_model, finish, skip

EXAMPLES = pathlib.Path("examples/serve")
UNIT = (EXAMPLES / "ingot-serve.service").read_text()
RECIPE = (EXAMPLES / "Containerfile").read_text()


def make_keys():
    keys = TMP / "keys"
    keys.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", keys / "server.key", "-out",
                    keys / "server.pem", "-days", "2", "-subj", "/CN=localhost"], check=True,
                   capture_output=True)
    (keys / "tokens").write_text("one\n")


def runs(what, words):
    """The words of a command line, with the places of this test, serve until SIGTERM."""
    folders = {"/var/lib/ingot/models": TMP / "models", "/models": TMP / "models"}
    words = [str(folders.get(w, w)) for w in words]
    words = [str(TMP / "keys" / pathlib.Path(w).name) if w.startswith(("/etc/ingot/", "/keys/"))
             else w for w in words]
    check(what + " runs ingot serve", words[:2] == ["/usr/bin/ingot", "serve"], words)
    server = Server(*words[1:], wait=False, program=BUILD / "ingot")
    check(what + " comes up", server.await_that(lambda: '"code": "serve"' in server.log_text() or
                                                "relu" in server.log_text()), server.log_text())
    server.process.send_signal(signal.SIGHUP)
    check(what + ": a reload", server.await_that(lambda: "read again" in server.log_text()))
    check(what + " ends well", server.stop() == 0)


def is_understood():
    """systemd knows each word of the unit."""
    tool = shutil.which("systemd-analyze")
    if not tool:
        skip("systemd-analyze verify", "systemd-analyze is absent")
        return
    copy = TMP / "ingot-serve.service"
    copy.write_text(UNIT.replace("/usr/bin/ingot", str(BUILD / "ingot")))
    done = subprocess.run([tool, "verify", "--man=no", "--recursive-errors=no", copy],
                          capture_output=True, text=True, check=False)
    check("systemd-analyze verify", done.returncode == 0 and copy.name not in done.stderr,
          done.stderr)
    done = subprocess.run([tool, "security", "--offline=yes", "--threshold=30", copy],
                          capture_output=True, text=True, check=False)
    check("the unit is confined", done.returncode == 0, done.stdout[-400:] + done.stderr)


def main():
    compile_model(RELU, TMP / "models" / "relu" / "1" / "model.ingot")
    make_keys()
    runs("the unit", shlex.split(re.search(r"^ExecStart=(.*)$", UNIT, re.M)[1]))
    entry, command = (json.loads(re.search(rf"^{word} (\[.*\])$", RECIPE, re.M)[1])
                      for word in ("ENTRYPOINT", "CMD"))
    runs("the container", entry + command)
    made = re.findall(r"^pack (\S+) ", pathlib.Path("scripts/packages").read_text(), re.M)
    copied = re.findall(r"(\S+)_\*\.deb", re.search(r"^COPY (.*)$", RECIPE, re.M)[1])
    check("the container's packages are made", copied and set(copied) <= set(made), (copied, made))
    is_understood()


main()
finish()
