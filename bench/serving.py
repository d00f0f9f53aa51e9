#!/usr/bin/env python3
"""What a server does with three times the requests that it can serve, as JSON.

SPDX-License-Identifier: Apache-2.0

    bench/serving.py [MODEL.onnx…]      of the build that INGOT_BUILD names (build/release)

Without models: a step of 20 ms.  For each, over HTTP: the most that it answers a second, and
then, in the open loop at three times that rate, the share of it that is still good, how long
refusals take, and microseconds of the server's CPU time a request.  An idle machine is wanted.
What holds on others, too, counts the server's CPU time in place of seconds: the microseconds,
those of a refusal (of a model whose queue is full), and goodput_by_cpu, what a second of it
brings at three times the rate, as a share of what it brings at the peak.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("INGOT_BUILD", "build/release")
SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
SLOW = """module @slow {
  symbol B {min = 0}
  weight @w : f32[1024, 1024] = splat(0.5)
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y", f32[1024, 1024] "z") {
    %0 = const {value = 0.001} : f32[]
    %1 = expand %0 {to = [1024, 1024]} : f32[1024, 1024]
    %2 = reduce %x {axes = [0, 1], op = sum} : f32[]
    %3 = add %1, %2 : f32[1024, 1024]
    %4 = matmul %3, @w : f32[1024, 1024]
    ret %x, %4
  }
}
"""


RELU = """module @small {
  symbol B {min = 0}
  graph @main(%x: f32[B, 4]) -> (f32[B, 4] "y") {
    %0 = relu %x : f32[B, 4]
    ret %0
  }
}
"""
FULL = {"dynamic_batching": {"max_queue_delay_microseconds": 60000000,
                             "default_queue_policy": {"max_queue_size": 1}}}


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(process, address, model, *words):
    """The JSON of `ingot load`, and the server's microseconds a request."""
    before = cpu_seconds(process)
    done = subprocess.run([BUILD / "ingot", "load", address, model, "--json", "--duration",
                           str(SECONDS), *map(str, words)], capture_output=True, text=True,
                          check=False)  # 1: none was good
    report = json.loads(done.stdout)
    answered = report["requests"] - report["statuses"].get("0", 0)
    spent = (cpu_seconds(process) - before) * 1e6
    report["cpu_us"] = round(spent / max(answered, 1), 2)
    report["cpu_us_a_good_one"] = spent / max(report["good"], 1)
    return report


def fill(address):
    """A request that waits for a minute, so that the next ones are refused; keep it."""
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [0] * 4}]}
    waiting = http.client.HTTPConnection(address.removeprefix("http://"))
    waiting.request("POST", "/v2/models/full/infer", json.dumps(body))
    time.sleep(0.5)
    return waiting


def measure(process, address, model, deadline, connections):
    load(process, address, model, "-c", 8)
    high = max((load(process, address, model, "-c", connections) for _ in range(2)),
               key=lambda report: report["good_per_second"])
    over = load(process, address, model, "--rate", 3 * high["good_per_second"], "-c",
                32 * connections, "--deadline", deadline)
    return {"model": model, "peak_per_second": high["good_per_second"],
            "cpu_us_at_peak": high["cpu_us"],
            "goodput": over["good"] / SECONDS / high["good_per_second"],
            "goodput_by_cpu": high["cpu_us_a_good_one"] / over["cpu_us_a_good_one"],
            "statuses": over["statuses"], "unsent": over["unsent"],
            "cpu_us_at_three_times": over["cpu_us"],
            "milliseconds": over["milliseconds"],
            "refusals_ms": over["milliseconds_of_others"]}


def main():
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:]]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder)
        entries = [(p.stem if p.stem != "model" else p.parent.name, p) for p in paths]
        for name, text in (("slow", SLOW), ("full", RELU)):
            (models / f"{name}.ig").write_text(text)
            subprocess.run([BUILD / "ingot", "compile", models / f"{name}.ig", "-q", "-o",
                            models / f"{name}.ingot"], check=True)
        entries = entries or [("slow", models / "slow.ingot")]
        for name, path in entries + [("full", models / "full.ingot")]:
            target = models / "served" / name / "1" / f"model{path.suffix}"
            target.parent.mkdir(parents=True)
            target.write_bytes(path.read_bytes())
            config = FULL if name == "full" else {"max_batch_size": 0 if name == "slow" else 64}
            (target.parent.parent / "config.json").write_text(json.dumps(config))
        process = subprocess.Popen(
            [BUILD / "ingot-serve", models / "served", "--http-port", "0", "--grpc-port", "-1",
             "--loops", "1", "--quiet"], stdout=subprocess.PIPE, text=True)
        address = process.stdout.readline().strip()
        while subprocess.run([BUILD / "ingot", "load", address, entries[-1][0], "--duration",
                              "0.01"], capture_output=True, check=False).returncode:
            pass
        for name, _ in entries:
            is_slow = name == "slow"
            results.append(measure(process, address, name, 400 if is_slow else 50,
                                   8 if is_slow else 64))
        waiting = fill(address)
        results.append({"cpu_us_a_refusal": load(process, address, "full", "-c", 64)["cpu_us"]})
        waiting.close()
        process.terminate()
        process.wait()
    print(json.dumps(results, indent=1))


main()
