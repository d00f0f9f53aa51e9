"""Stored cases compiled for aarch64 and x86-64 into one artifact, and run as aarch64.

    aarch64.py INGOT "RUNNER…" FOLDER CASE…     RUNNER: run_artifact, with its emulator

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def arrays(folder, kind):
    return [np.load(folder / f"{kind}_{i}.npy")
            for i in range(len(list(folder.glob(f"{kind}_*.npy"))))]


def run(runner, artifact, inputs, folder):
    """The bytes of the outputs."""
    with open(folder / "shapes", "w") as shapes:
        for i, x in enumerate(inputs):
            shapes.write(" ".join(map(str, x.shape)) + "\n")
            (folder / f"input_{i}").write_bytes(np.ascontiguousarray(x).tobytes())
    done = subprocess.run([*runner, artifact, folder], capture_output=True, text=True)
    if done.returncode or done.stdout != "neon\n":
        raise RuntimeError(done.stdout + done.stderr)
    return [(folder / f"output_{i}").read_bytes()
            for i in range(len(list(folder.glob("output_*"))))]


def check_case(ingot, runner, case, folder):
    artifact = folder / "case.ingot"
    subprocess.run([ingot, "compile", case / "model.pt2", "-q", "-o", artifact,
                    "--target", "cpu-arm64:neon,v3"], check=True)
    tolerance = json.loads((case / "case.json").read_text()).get("tolerance", {})
    for data in sorted(case.glob("test_data_set_*")):
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            got = run(runner, artifact, arrays(data, "input"), pathlib.Path(inner))
        for one, wanted in zip(got, arrays(data, "output"), strict=True):
            one = np.frombuffer(one, wanted.dtype).reshape(wanted.shape)
            np.testing.assert_allclose(one, wanted, rtol=tolerance.get("rtol", 1e-3),
                                       atol=tolerance.get("atol", 1e-7))


def main(ingot, runner, folder, *cases):
    for case in cases:
        with tempfile.TemporaryDirectory() as scratch:
            check_case(ingot, runner.split(), pathlib.Path(folder) / case, pathlib.Path(scratch))
        print(f"{case}: good")


main(*sys.argv[1:])
