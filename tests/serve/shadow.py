"""What runs beside the answers: a second version that is compared, and runs that are written down.

SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import subprocess

from harness import BODY, BUILD, RELU, SLOW, TMP, Server, check, compile_model, finish

SHIFTED = RELU.replace("relu %x", "add %x, %x")


def counts(server):
    """Of each model: runs by what became of them, and the largest difference."""
    text = server.get("/metrics")[1].decode()
    found = {}
    for name, outcome, value in re.findall(
            r'^ingot_shadow_runs_total{model="(\w+)",.*outcome="(\w+)"} (\d+)$', text, re.M):
        found.setdefault(name, {})[outcome] = int(value)
    for name, value in re.findall(
            r'^ingot_shadow_difference_max{model="(\w+)",.*} (\S+)$', text, re.M):
        found[name]["largest"] = float(value)
    return found


def compares(server):
    for i in range(20):
        for name in ("same", "other"):
            status, answer = server.infer(name, [[i, -i, 1, 2]])
            check("the first version answers", status == 200 and answer["model_version"] == "1" and
                  answer["outputs"][0]["data"] == [i, 0, 1, 2], answer)
        server.await_that(lambda: sum(counts(server)["other"][k] for k in (
            "same", "different", "failed", "passed_over")) > i)
    report = counts(server)
    check("a version with the same answers", report["same"]["different"] == report["same"]["failed"] ==
          0 and report["same"]["same"] > 0 and report["same"]["largest"] == 0, report)
    check("one with others", report["other"]["different"] > 0 and report["other"]["largest"] == 38,
          report)
    check("and the log tells it once", server.log_text().count("answers otherwise") == 1,
          server.log_text()[-500:])
    check("no shadow of a shadow", "gone" not in report or report["gone"]["same"] == 0, report)
    check("one that is not there", server.infer("gone", [[1, 2, 3, 4]])[0] == 200)


def takes_a_share(server):
    before = counts(server)["share"]
    for _ in range(40):
        server.infer("share", [[1, 2, 3, 4]])
    server.await_that(lambda: sum(counts(server)["share"].values()) >= 10)
    after = counts(server)["share"]
    tried = sum(after[k] - before[k] for k in ("same", "different", "failed", "passed_over"))
    check("a quarter of the runs", tried == 10, (before, after))


def ends_while_it_compares():
    """The version that is compared with is closed after the last comparison."""
    folder = TMP / "ending"
    compile_model(SLOW, folder / "m/1/model.ingot")
    compile_model(SLOW.replace("matmul %3, @w", "relu %3"), folder / "m/2/model.ingot")
    (folder / "m/config.json").write_text(json.dumps({
        "version_policy": {"specific": {"versions": [1, 2]}},
        "ingot": {"shadow": {"version": 1, "share": 1}}}))
    server = Server(folder, "--loops", "1", "--poll", "0")
    status, _ = server.post_json("/v2/models/m/infer", json.loads(BODY))
    check("a run that is compared is answered", status == 200)
    check("a good end while it is compared", server.stop() == 0, server.log_text()[-500:])


def refuses_nonsense():
    folder = TMP / "wrong" / "m"
    compile_model(RELU, folder / "1/model.ingot")
    for share in (0, 2, '"a"', "[]"):
        (folder / "config.json").write_text(
            '{"ingot": {"shadow": {"version": 2, "share": %s}}}' % share)
        server = Server(TMP / "wrong", "--poll", "0", wait=False)
        check(f"a share of {share}", server.await_that(
            lambda: "ingot.shadow" in server.log_text()), server.log_text())
        check("a good end", server.stop() == 0)


def writes_calls():
    folder = TMP / "captured"
    server = Server(TMP / "shadows" / "same" / "1" / "model.ingot", "--name", "m", "--loops", "1",
                    "--capture", folder, "--capture-every", "4", "--quiet")
    for i in range(40):
        server.infer("m", [[i, -i, 1, 2]])
    check("a good end of a server that writes", server.stop() == 0)
    calls = list(folder.glob("*/call_*/outputs.json"))
    check("of four runs one is written", 10 <= len(calls) <= 14, len(calls))
    check("for its user alone", folder.stat().st_mode & 0o77 == 0)
    done = subprocess.run([BUILD / "ingot", "replay", folder, "--trust-code", "--json"],
                          capture_output=True, text=True, check=False)
    check("and replayed", done.returncode == 0 and json.loads(done.stdout),
          (done.returncode, done.stdout[-300:], done.stderr))


def main():
    folder = TMP / "shadows"
    for name, other, share in (("same", RELU, 1), ("other", SHIFTED, 1), ("share", RELU, 0.25),
                               ("gone", None, 1)):
        compile_model(RELU, folder / name / "1/model.ingot")
        if other:
            compile_model(other, folder / name / "2/model.ingot")
        (folder / name / "config.json").write_text(json.dumps({
            "version_policy": {"specific": {"versions": [1, 2]}},
            "ingot": {"shadow": {"version": 2, "share": share}}}))
    server = Server(folder, "--loops", "2", "--poll", "0")
    compares(server)
    takes_a_share(server)
    check("a good end", server.stop() == 0)
    ends_while_it_compares()
    refuses_nonsense()
    writes_calls()


main()
finish()
