"""Compiles each file that list.json names and holds status, words, time and memory
against what is allowed.

    bad_files.py INGOT FOLDER SECONDS,FACTOR,MIB      FACTOR 0: memory is not looked at

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys
import tempfile

from within import run

LOADS = ("accept", "symbolic", "loads", "when run")


def judge(entry, path, result, words, limits, idle):
    status, seconds, memory = result
    most_seconds, factor, mib = limits
    accepts = any(word in entry["expect"] for word in LOADS)
    if status not in ({0, 3, 4, 5} if accepts else {3, 4, 5}):
        return f"exit status {status}: {words[:300]}"
    if status and (str(path) not in words or "error: " not in words):
        return f"the error does not name the file: {words[:300]}"
    if seconds > most_seconds:
        return f"{seconds:.1f} s of CPU time"
    most = idle + factor * path.stat().st_size + mib * 2**20
    if factor and memory > most:
        return f"{memory / 2**20:.0f} MiB, at most {most / 2**20:.0f}"
    return None


def main():
    ingot, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    limits = [float(text) for text in sys.argv[3].split(",")]
    with tempfile.TemporaryDirectory() as tmp, open(f"{tmp}/words", "w+") as out:
        idle = run([ingot, "--version"], out)[2]
        for entry in json.loads((folder / "list.json").read_text()):
            path = folder / entry["file"]
            out.seek(0)
            out.truncate()
            result = run([ingot, "compile", str(path), "-o", f"{tmp}/x.ingot"], out)
            out.seek(0)
            wrong = judge(entry, path, result, out.read(), limits, idle)
            print(f"{entry['file']}: {wrong}" if wrong else f"pass {entry['file']}")


main()
