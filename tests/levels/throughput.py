"""The inner loops of a layer's and a bag's kernel for aarch64 beside those of loops.c by gcc, as
llvm-mca counts their cycles on a Neoverse V1.

    throughput.py INGOT LLVM_MCA      prints a line each, and fails where ours takes 1.1 times as long

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys
import tempfile

CPU = "neoverse-v1"
MODELS = {
    "gemm": ("fmla", """module @gemm {
  symbol B {min = 0}
  graph @main(%x: f32[B, 64]) -> (f32[B, 128] "y") {
    %w = const {value = f32[64, 128] splat(0.5)} : f32[64, 128]
    %0 = matmul %x, %w : f32[B, 128]
    ret %0
  }
}
"""),
    "bag": ("fadd", """module @bag {
  symbol B {min = 0}
  symbol N {min = 0}
  graph @main(%x: f32[1000, 64], %i: i64[N], %o: i64[B]) -> (f32[B, 64] "y") {
    %0 = bag %x, %i, %o {operands = [1], pool = [sum]} : f32[B, 64]
    ret %0
  }
}
"""),
}


def inner_loops(text):
    """From a label to a branch back to it, where no other loop is in between."""
    lines = [line.split("//")[0].rstrip() for line in text.split("\n")]
    labels, end = {}, -1
    for at, line in enumerate(lines):
        if found := re.match(r"(\.L\w+):", line):
            labels[found[1]] = at
        found = re.match(r"\s+(?:b\.?\w+|cbn?z\s+\w+,)\s+(\.L\w+)$", line)
        if found and end < labels.get(found[1], at) < at:
            end = at
            body = lines[labels[found[1]] + 1:at + 1]
            yield [one for one in body if re.match(r"\s+[a-z]", one)]


def cycles(mca, text, operation):
    """Of the loop with most such operations: cycles by sixteen of them, and its instructions."""
    loop = max(inner_loops(text), key=lambda body: sum(operation in one for one in body))
    count = sum(operation in one for one in loop)
    body = [re.sub(r"\.L\w+$", "out", one) for one in loop]
    said = subprocess.run([mca, "-mtriple=aarch64", f"-mcpu={CPU}", "-iterations=200"],
                          input="\n".join(body) + "\nout:\n", capture_output=True, text=True,
                          check=True).stdout
    total = int(re.search(r"Total Cycles:\s+(\d+)", said)[1])
    return total / 200 * 16 / count, len(loop) * 16 / count


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(ingot, mca):
    is_good = True
    for name, (operation, text) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.ig"
            model.write_text(text)
            ours = output(ingot, "dump", model, "--stage", "asm", "-t", "cpu-arm64")
        theirs = output("aarch64-linux-gnu-gcc", "-O3", f"-mcpu={CPU}", "-S", "-o", "-",
                        "tests/levels/loops.c")
        theirs = re.search(rf"^{name}:.*?^\s+\.size\s+{name},", theirs, re.M | re.S)[0]
        (our, many), (their, few) = (cycles(mca, one, operation) for one in (ours, theirs))
        print(f"{name}: {our:.1f} cycles and {many:.0f} instructions for 16 {operation}, by gcc "
              f"{their:.1f} and {few:.0f}")
        is_good = is_good and our <= 1.1 * their
    return not is_good


sys.exit(main(*sys.argv[1:]))
