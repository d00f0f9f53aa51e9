#!/usr/bin/env python3
"""What embedded interpreters cost: calls, throughput, memory, cycles without growth.

SPDX-License-Identifier: Apache-2.0

    bench/interpreters.py [overhead] [throughput] [memory] [cycles] [children]

Without arguments: all of them, in minutes.  Compiles native/interpreters.c against the
build that INGOT_BUILD names; needs no peers.
"""
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("INGOT_BUILD", HERE.parent / "build" / "release")).resolve()

CLASS = """
class Scale:
    def __call__(self, x):
        return 3 * x
"""


def write_package(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/net/__init__.py", "")
        archive.writestr("p/net/parts.py", CLASS)
        archive.writestr("p/net/scale.pkl", b"\x80\x03cnet.parts\nScale\n)\x81.")
        archive.writestr("p/net/table.pkl", pickle.dumps({"a": [1]}, 3))
        archive.writestr("p/.data/extern_modules", "")


def build_program(folder):
    program = folder / "interpreters"
    source = HERE / "native" / "interpreters.c"
    command = ["cc", "-std=gnu11", "-O2", f"-I{HERE.parent / 'include'}", source, f"-L{BUILD}"]
    command += ["-lingot-interp", "-lpthread", f"-Wl,-rpath,{BUILD}", "-o", program]
    subprocess.run(command, check=True)
    return program


def main():
    cpus = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, package = build_program(folder), folder / "package.pt"
        write_package(package)
        commands = {
            "overhead": ["overhead"],
            "throughput": ["throughput", str(min(cpus, 8)), "0.3"],
            "memory": ["memory", "8", "256"],
            "cycles": ["cycles", package, "10000"],
            "children": ["children", "10000"],
        }
        for what in sys.argv[1:] or commands:
            if what not in commands:
                sys.exit(f"interpreters.py: no measurement {what}; there are: {' '.join(commands)}")
            subprocess.run([program, *commands[what]], check=True)


if __name__ == "__main__":
    main()
