"""Seeds in worker processes: what brings one down is a finding, and the rest go on.

SPDX-License-Identifier: Apache-2.0

A worker writes one JSON line a seed; before each stage of it a line that names the
stage, so that a worker that ends tells where.
"""

import json
import multiprocessing
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time

LONGEST = 60   # seconds of CPU time that a seed may take
CHUNK = 50     # seeds of one process
MEMORY = 6 << 30


class Log:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def stage(self, seed, stage):
        self.write({"seed": seed, "stage": stage})

    def write(self, entry):
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()


def work(try_seed, seeds, path):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    log = Log(path)
    for seed in seeds:
        log.stage(seed, "begin")
        signal.setitimer(signal.ITIMER_PROF, LONGEST)  # ends the process
        log.write(try_seed(seed, log) | {"seed": seed})
        signal.setitimer(signal.ITIMER_PROF, 0)
    os._exit(0)


def read_entries(path):
    done, last = [], None
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "stage" in entry:
            last = entry
        else:
            done.append(entry)
            last = None
    return done, last


def run_chunk(try_seed, seeds, take):
    """Calls take(entry) for each seed."""
    left = list(seeds)
    while left:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            process = multiprocessing.Process(target=work,
                                              args=(try_seed, left, file.name))
            process.start()
            process.join()
            done, last = read_entries(file.name)
        for entry in done:
            take(entry)
            left.remove(entry["seed"])
        if last is not None:
            left.remove(last["seed"])
            take({"seed": last["seed"], "crash": last["stage"],
                  "exit": process.exitcode})
        elif process.exitcode and not done:
            sys.exit(f"a worker ended with {process.exitcode}")


def run_seeds(try_seed, seeds, jobs, take):
    """All seeds on `jobs` processes at a time."""
    chunks = [seeds[i:i + CHUNK] for i in range(0, len(seeds), CHUNK)]
    if jobs == 1:
        for chunk in chunks:
            run_chunk(try_seed, chunk, take)
        return
    import threading
    lock, queue = threading.Lock(), list(reversed(chunks))

    def serve():
        while True:
            with lock:
                if not queue:
                    return
                chunk = queue.pop()
            run_chunk(try_seed, chunk, take_one)

    def take_one(entry):
        with lock:
            take(entry)

    threads = [threading.Thread(target=serve) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.2)
