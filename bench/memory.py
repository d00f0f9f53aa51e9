#!/usr/bin/env python3
"""Anonymous memory of a run: Ingot with mapped weights against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    memory.py [--json FILE] CASE_DIR…        a folder with model.onnx and test_data_set_0
    memory.py --suite ../shared/models/onnx

Each engine opens the model and runs it in a process of its own.  What counts is the
growth of RssAnon from before the model is opened (libraries loaded, inputs read) to
behind the third run: memory that the system cannot take back, as it can pages of mapped
files.  Models that either engine does not take are listed and do not count.  The exit
status is 1 where a ratio is above the bar.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from ingot_runtime import BUILD, DTYPES, Program, View, view_of

BAR = 0.5
RUNS = 3
ENGINES = ("ingot", "onnxruntime")
DTYPE_NAMES = {1: "f32", 6: "i32", 7: "i64", 9: "bool", 11: "f64"}  # of statements


def anonymous_bytes():
    status = pathlib.Path("/proc/self/status").read_text()
    line = next(l for l in status.splitlines() if l.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024


# In a child: growth over opening and running.


def run_ingot(artifact, arrays):
    program = Program(artifact, load="mapped")
    session = program.session()
    inputs = (View * len(arrays))(*map(view_of, arrays))
    count = program.lib.ig_program_output_count(program.handle)
    outputs = (View * max(count, 1))()
    for _ in range(RUNS):
        call = (session.handle, inputs, len(arrays), outputs, count)
        if session.run_function(*call) != 0:
            sys.exit(session.lib.ig_session_error(session.handle).decode())
    return session


def prepare_onnxruntime():
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort, options


def run_onnxruntime(prepared, model, arrays):
    ort, options = prepared
    session = ort.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    for _ in range(RUNS):
        session.run(None, dict(zip(names, arrays)))
    return session


def child(engine, model, inputs):
    with np.load(inputs) as file:
        arrays = [np.require(file[name], requirements="C") for name in file.files]
    if engine == "ingot":
        Program(model).close()  # loads the library; the file's pages are not ours
        before = anonymous_bytes()
        kept = run_ingot(model, arrays)
    else:
        prepared = prepare_onnxruntime()
        before = anonymous_bytes()
        kept = run_onnxruntime(prepared, model, arrays)
    print(json.dumps({"bytes": anonymous_bytes() - before}))
    del kept


# In the parent.


def read_inputs(case):
    """The arrays of the first data set, in the model's order."""
    import onnx
    from onnx import numpy_helper

    folder, arrays = case / "test_data_set_0", []
    while (path := folder / f"input_{len(arrays)}.pb").exists():
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        array = numpy_helper.to_array(tensor)
        if array.dtype.name not in DTYPES:
            raise ValueError(f"inputs of type {array.dtype.name}")
        arrays.append(array)
    return arrays


def grown(engine, model, inputs):
    command = [sys.executable, __file__, "--child", engine, model, inputs]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no words"])[-1]
        raise ValueError(f"{engine}: {last[:120]}")
    return json.loads(done.stdout.splitlines()[-1])["bytes"]


def statement(name, array):
    dims = ", ".join(map(str, array.shape))
    return f"--input={name}={DTYPE_NAMES[DTYPES[array.dtype.name]]}[{dims}]"


def compiled(model, arrays, folder):
    """For any extents, or where that cannot be for those of the data."""
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    names = [port.name for port in graph.input if port.name not in constants]
    artifact = folder / "model.ingot"
    command = [BUILD / "ingot", "compile", "-q", model, "-o", artifact]
    statements = [statement(name, array) for name, array in zip(names, arrays)]
    for extents in ([], statements):
        done = subprocess.run(command + extents, capture_output=True, text=True)
        if done.returncode == 0:
            return artifact
    raise ValueError(f"ingot: {done.stderr.strip().splitlines()[0][:120]}")


def measure_case(case):
    """{engine: bytes}."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, inputs = case / "model.onnx", folder / "inputs.npz"
        arrays = read_inputs(case)
        np.savez(inputs, **{f"x{i:04}": array for i, array in enumerate(arrays)})
        models = {"ingot": compiled(model, arrays, folder), "onnxruntime": model}
        return {engine: grown(engine, models[engine], inputs) for engine in ENGINES}


def judge_memory(cases):
    """[(what, measured, bar, passed)], and the facts behind them."""
    verdicts, facts = [], {}
    for case in cases:
        try:
            held = measure_case(case)
        except (ValueError, StopIteration) as why:
            print(f"skip  {case.name}: {why}", flush=True)
            continue
        ratio = held["ingot"] / max(held["onnxruntime"], 1)
        facts[case.name] = {**held, "ratio": ratio}
        measured = f"{held['ingot'] / 1e6:.2f} of {held['onnxruntime'] / 1e6:.2f} MB"
        what = f"{case.name} anonymous memory"
        verdicts.append((what, f"{measured}, {ratio:.2f}x", BAR, ratio <= BAR))
    return verdicts, facts


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    parser.add_argument("--suite", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    cases = options.cases
    if options.suite:
        cases = cases + sorted(p.parent for p in options.suite.glob("*/model.onnx"))
    verdicts, facts = judge_memory(cases)
    for what, measured, bar, passed in verdicts:
        print(f"{'pass' if passed else 'MISS'}  {what}: {measured} (bar {bar})")
    missed = sum(not passed for *_, passed in verdicts)
    print(f"{len(verdicts) - missed} passed, {missed} failed")
    if options.json:
        options.json.write_text(json.dumps(facts, indent=1) + os.linesep)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
