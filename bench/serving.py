#!/usr/bin/env python3
"""What a server does with three times the requests that it can serve, as JSON.

SPDX-License-Identifier: Apache-2.0

    bench/serving.py [MODEL.onnx…]      of the build that INGOT_BUILD names (build/release)

Without models: a step of 20 ms.  For each, over HTTP: the most that it answers a second, and
then, in the open loop at three times that rate, the share of it that is still good, how long
refusals take, and microseconds of the server's CPU time a request.  An idle machine is wanted;
the microseconds hold on others, too.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

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


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(process, address, model, *words):
    """The JSON of `ingot load`, and the server's microseconds a request."""
    before = cpu_seconds(process)
    done = subprocess.run([BUILD / "ingot", "load", address, model, "--json", "--duration",
                           str(SECONDS), *map(str, words)], capture_output=True, text=True,
                          check=True)
    told = json.loads(done.stdout)
    answered = told["requests"] - told["statuses"].get("0", 0)
    told["cpu_us"] = round((cpu_seconds(process) - before) * 1e6 / max(answered, 1), 2)
    return told


def measure(process, address, model, deadline, connections):
    load(process, address, model, "-c", 8)
    most = max((load(process, address, model, "-c", connections) for _ in range(2)),
               key=lambda told: told["good_per_second"])
    over = load(process, address, model, "--rate", 3 * most["good_per_second"], "-c",
                32 * connections, "--deadline", deadline)
    return {"model": model, "peak_per_second": most["good_per_second"],
            "cpu_us_at_peak": most["cpu_us"],
            "goodput": over["good"] / SECONDS / most["good_per_second"],
            "statuses": over["statuses"], "unsent": over["unsent"],
            "cpu_us_at_three_times": over["cpu_us"],
            "milliseconds": over["milliseconds"],
            "refusals_ms": over["milliseconds_of_others"]}


def main():
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:]]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder)
        places = [(p.stem if p.stem != "model" else p.parent.name, p) for p in paths]
        if not places:
            (models / "slow.ig").write_text(SLOW)
            subprocess.run([BUILD / "ingot", "compile", models / "slow.ig", "-q", "-o",
                            models / "slow.ingot"], check=True)
            places = [("slow", models / "slow.ingot")]
        for name, path in places:
            target = models / "served" / name / "1" / f"model{path.suffix}"
            target.parent.mkdir(parents=True)
            target.write_bytes(path.read_bytes())
            (target.parent.parent / "config.json").write_text(json.dumps(
                {"max_batch_size": 0 if name == "slow" else 64}))
        process = subprocess.Popen(
            [BUILD / "ingot-serve", models / "served", "--http-port", "0", "--grpc-port", "-1",
             "--loops", "1", "--quiet"], stdout=subprocess.PIPE, text=True)
        address = process.stdout.readline().strip()
        while subprocess.run([BUILD / "ingot", "load", address, places[-1][0], "--duration",
                              "0.01"], capture_output=True, check=False).returncode:
            pass
        for name, _ in places:
            is_slow = name == "slow"
            results.append(measure(process, address, name, 400 if is_slow else 50,
                                   8 if is_slow else 64))
        process.terminate()
        process.wait()
    print(json.dumps(results, indent=1))


main()
