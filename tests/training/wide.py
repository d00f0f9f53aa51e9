"""A model in double precision: every f32 of its IR text becomes f64, with the same values.

SPDX-License-Identifier: Apache-2.0

    wide.py INGOT CASE FOLDER

Makes FOLDER/NAME-FILE for each model FILE of a learning curve's case: the case's files, and
model_f64.ig in place of its models.  The text is what training writes, at a rate of 0.
"""
import os
import pathlib
import re
import subprocess
import sys

import numpy

NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b")
VALUE = re.compile(r"(\{value = )([^}]*)(\} : f32)")
WEIGHT = re.compile(r"( : (\w+)\[[^]]*\] = )(?:file\(\"([^\"]*)\", (\d+), (\d+)(?:, \w+)?\)|inline\(0x(\w*)\)|"
                    r"(splat\([^)]*\)|\[[^]]*\]))")


def widen_numbers(text):
    """Of the shortest decimal of an f32 all digits of its value."""
    return NUMBER.sub(lambda number: repr(float(numpy.float32(number[0]))), text)


def widen_weight(match, folder):
    begin, dtype, file, offset, size, digits, written = match.groups()
    if written is not None:
        return begin + (widen_numbers(written) if dtype == "f32" else written)
    if file is not None:
        content = (folder / file).read_bytes()[int(offset):int(offset) + int(size)]
    else:
        content = bytes.fromhex(digits)
    if dtype == "f32":
        content = numpy.frombuffer(content, "<f4").astype("<f8").tobytes()
    return f"{begin}inline(0x{content.hex()})"


def widen(ingot, model, to):
    output = "logit" if model.suffix == ".onnx" else ""
    subprocess.run([ingot, "train", model, "-q", "--loss", f"bce_logits:{output}=label",
                    "--optimizer", "*=sgd(lr=0)", "--data", model.parent / "batch0.npz",
                    "--steps", "1", "-o", to], check=True)
    text = pathlib.Path(to).read_text()
    text = WEIGHT.sub(lambda match: widen_weight(match, to.parent), text)
    text = VALUE.sub(lambda match: match[1] + widen_numbers(match[2]) + match[3], text)
    pathlib.Path(to).write_text(re.sub(r"\bf32\b", "f64", text))


def main(ingot, case, folder):
    case = pathlib.Path(case).resolve()
    for model in sorted(case.glob("model*")):
        made = pathlib.Path(folder) / f"{case.name}-{model.name}"
        made.mkdir()
        for file in set(os.listdir(case)) - {each.name for each in case.glob("model*")}:
            (made / file).symlink_to(case / file)
        widen(ingot, model, made / "model_f64.ig")


main(*sys.argv[1:])
