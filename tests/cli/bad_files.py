"""Holds each file that list.json names, when its kernels are shown, when it is compiled and
when it is run, to what is allowed: status, words, CPU time and memory.

    bad_files.py INGOT FOLDER SECONDS,FACTOR,EARLY,ALL

EARLY MiB above what an idle command has, or FACTOR times the file, are allowed up to code
generation; ALL MiB in the end.  0: memory is not looked at.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import sys
import tempfile

from within import run, run_within

LOADS = ("accept", "symbolic", "loads", "when run")


def values_of(ingot, path, out):
    """Arguments that give each input of a model that loads a value."""
    if run([ingot, "inspect", str(path), "--json"], out)[0] != 0:
        return []
    out.seek(0)
    words, arguments = out.read(), []
    for port in json.loads(words[words.index("{"):])["inputs"]:
        kind, dims = re.fullmatch(r"(\w+)\[(.*)\]", port["type"]).groups()
        known = [dim if dim.isdigit() else "2" for dim in dims.split(", ") if dim]
        arguments += ["--input", f"{port['name']}={kind}[{','.join(known)}]=1"]
    return arguments


def judge(entry, path, result, words, limits, high):
    status, seconds, memory = result
    accepts = any(word in entry["expect"] for word in LOADS)
    if status not in ({0, 3, 4, 5} if accepts else {3, 4, 5}):
        return f"exit status {status}: {words[:300]}"
    if status and "error: " not in words:
        return f"there is no error: {words[:300]}"
    if status and not accepts and str(path) not in words:
        return f"the error does not name the file: {words[:300]}"
    if seconds > limits[0]:
        return f"{seconds:.1f} s of CPU time"
    if limits[1] and memory > high:
        return f"{memory / 2**20:.0f} MiB, at most {high / 2**20:.0f}"
    return None


def main():
    ingot, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    limits = [float(text) for text in sys.argv[3].split(",")]
    with tempfile.TemporaryDirectory() as tmp, open(f"{tmp}/words", "w+") as out:
        idle = run([ingot, "--version"], out)[2]
        for entry in json.loads((folder / "list.json").read_text()):
            path = folder / entry["file"]
            early = idle + max(limits[1] * path.stat().st_size, limits[2] * 2**20)
            verbs = {
                "dump": (early, ["--stage", "kernel", "-o", f"{tmp}/x.ig"]),
                "compile": (limits[3] * 2**20, ["--no-cache", "-o", f"{tmp}/x.ingot"]),
                "run": (limits[3] * 2**20, ["--no-cache", "-o", f"{tmp}/y",
                                            *values_of(ingot, path, out)]),
            }
            wrong = None
            for verb, (high, arguments) in verbs.items():
                result = run_within([ingot, verb, str(path), *arguments], out, limits[0])
                out.seek(0)
                said = judge(entry, path, result, out.read(), limits, high)
                wrong = wrong or (said and f"{verb}: {said}")
            print(f"{entry['file']}: {wrong}" if wrong else f"pass {entry['file']}")


main()
