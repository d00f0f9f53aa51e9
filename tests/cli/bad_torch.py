"""Holds the verbs of the command against archives that are broken or made to hurt.

    bad_torch.py INGOT FOLDER SECONDS,EARLY,MIB [EXPECTATIONS]     MIB 0: not looked at

SECONDS of CPU time and MIB are a command's, EARLY the MiB above those of an idle one up to
code generation; 64 times the file where that is more.

A file is refused: exit status 3, 4 or 5, an error that names it, in plain UTF-8, in
little time and memory.  EXPECTATIONS, a list.json, says of some that they may load;
without it every file may, but for the statuses, time and memory.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from within import run, run_within

# Wrong only where the program is run, which inspect does not do without types.
LISTED = {
    "attr_missing.pt", "constant_index.pt", "recursion.pt", "undefined_name.pt",
    "unknown_namespace.pt", "unknown_op.pt", "wrong_arity.pt", "wrong_type.pt",
}
FILE_FACTOR = 64  # of a file, where that is more than MIB
SHAPES = {"list": ("f32[2,4]", "f32[2,4]=1"), "made": ("f32[2,2]", "f32[2,2]=1")}


def case_of(path, folder):
    """A case folder for verify, of the model alone: it fails when it is compiled."""
    sets = folder / "case" / "test_data_set_0"
    sets.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, folder / "case" / "model.pt")
    call = {"method": "forward", "args": [{"int": 1}], "result": {"int": 1}}
    (sets / "values.json").write_text(json.dumps(call))
    (folder / "case" / "case.json").write_text('{"tolerance": {"rtol": 0, "atol": 0}}')
    return str(folder / "case")


def commands(path, folder, kind):
    shape, value = SHAPES[kind]
    typed, given = ["--input", f"0={shape}"], ["--input", f"0={value}"]
    yield "inspect", ["inspect", path]
    yield "inspect", ["inspect", path, *typed]
    yield "kernels", ["dump", path, "--stage", "kernel", *typed, "-o", f"{folder}/x.ig"]
    yield "compile", ["compile", path, *typed, "-o", f"{folder}/x.ingot"]
    if kind == "list":
        yield "dump", ["dump", path, "--stage", "import", *typed, "-o", f"{folder}/x.ig"]
        yield "run", ["run", path, *given, "--no-cache"]
        yield "verify", ["verify", case_of(path, folder)]


def judge(verb, path, result, words, may_load, limits, idle):
    status, seconds, memory = result
    wanted = {1} if verb == "verify" else {3, 4, 5}
    if status not in wanted | ({0} if may_load else set()):
        return f"exit status {status}: {words[:300]!r}"
    if status and verb != "verify" and (path not in words or "error: " not in words):
        return f"the error does not name the file: {words[:300]!r}"
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\ufffd", words):
        return f"words that are not plain: {words[:300]!r}"
    if seconds > limits[0]:
        return f"{seconds:.1f} s of CPU time"
    is_early = verb in ("inspect", "kernels", "dump")
    share = FILE_FACTOR * pathlib.Path(path).stat().st_size
    high = idle + max(limits[1] * 2**20, share) if is_early else max(limits[2] * 2**20, share)
    if limits[2] and memory > high:
        return f"{memory / 2**20:.0f} MiB, at most {high / 2**20:.0f}"
    return None


def expectations(path):
    """{file: may it load?}; verify and inspect may fail on any."""
    entries = json.loads(pathlib.Path(path).read_text())
    return {e["file"]: not e["expect"].startswith("clear error, nothing") for e in entries}


def main():
    ingot, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    limits = [float(text) for text in sys.argv[3].split(",")]
    known = expectations(sys.argv[4]) if len(sys.argv) > 4 else None
    files = sorted(known or (path.name for path in folder.iterdir()))
    with tempfile.TemporaryDirectory() as name, open(f"{name}/words", "w+b") as out:
        idle = run([ingot, "--version"], out)[2]
        for file in files:
            path, wrong = str(folder / file), None
            kind = "list" if known else "made"
            may_load = known[file] if known else True
            for verb, arguments in commands(path, pathlib.Path(name), kind):
                result = run_within([ingot, *arguments], out, limits[0])
                out.seek(0)
                words = out.read().decode("utf-8", "replace")
                is_list = verb == "inspect" and len(arguments) == 2
                may = may_load or (is_list and (file in LISTED or file.startswith("good")))
                wrong = wrong or judge(verb, path, result, words, may, limits, idle)
                wrong = wrong and (wrong if ": " in wrong[:12] else f"{verb}: {wrong}")
            print(f"{file}: {wrong}" if wrong else f"pass {file}", flush=True)


main()
