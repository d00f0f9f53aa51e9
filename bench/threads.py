#!/usr/bin/env python3
"""A session of as many threads as there are processors, against as many processes.

SPDX-License-Identifier: Apache-2.0

    $python bench/threads.py            # 1: threads do as much as independent processes

Each process has one thread and a processor of its own, and all run at once: what they
reach together is what the processors have.  The two ways take turns, since what two
processors of one core give changes with the minute; the ratio is of calls a second, its
median with its interval over rounds.
"""

import argparse
import json
import os
import subprocess

import encoder
import exports
from ingot_runtime import BUILD
from measure import median_with_interval
from models import Model, cache_folder, write_onnx

SECONDS = 2


def text_encoder():
    path = cache_folder() / "encoder.onnx"
    if not path.exists():
        encoder.export(path)
    return path, ["--batch", "8", "--dim", "length=64", "--input", "ids=random:0:1000"]


def resnet():
    path = cache_folder() / "exports" / "resnet50.script.onnx"
    if not path.exists():
        exports.export("resnet50", "script", exports.list_models()["resnet50"])
    return path, ["--batch", "1"]


def dlrm():
    model = Model("onehot", "small")
    rows = min(model.rows)
    return write_onnx(model), ["--batch", "1024", "--input", f"*=random:0:{rows}"]


ROWS = {"MiniLM's shape, 8 x 64": text_encoder, "ResNet-50, batch 1": resnet,
        "one-hot DLRM, batch 1024": dlrm}


def start(processors, path, options):
    """ingot bench with a thread on each of these processors."""
    command = [BUILD / "ingot", "bench", path, *options, "--threads", str(len(processors)),
               "--seconds", str(SECONDS), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, preexec_fn=lambda: os.sched_setaffinity(0, processors))


def calls_a_second(process):
    text, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, process.args))}: status {process.returncode}")
    return json.loads(text)["results"][0]["calls_per_second"]


def one_round(processors, row):
    """What the threads reach, of what the processes reach together."""
    threads = calls_a_second(start(processors, *row))
    started = [start({one}, *row) for one in processors]
    return threads / sum(calls_a_second(process) for process in started)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    processors = os.sched_getaffinity(0)
    for name, make in ROWS.items():
        row = make()
        ratios = [one_round(processors, row) for _ in range(options.rounds)]
        got = median_with_interval(ratios)
        print(f"{name:26} {len(processors)} threads reach {got['median']:.2f} "
              f"[{got['low']:.2f}, {got['high']:.2f}] of {len(processors)} processes", flush=True)


if __name__ == "__main__":
    main()
