#!/usr/bin/env python3
"""Runs generated cases with ONNX Runtime, to judge the generator itself.

SPDX-License-Identifier: Apache-2.0

    check_forms.py DIR [PATTERN]      with the Python of bench/peers

Prints each case that onnx.checker or ONNX Runtime refuses or that disagrees, then
counts by cause. ONNX Runtime's known defect is no disagreement: reducing an empty tensor
over a negative axis keeps that axis.
"""

import collections
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

ort.set_default_logger_severity(4)


def open_session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def read_tensors(folder, kind):
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(str(path))) for path in paths]


def short(error):
    return str(error).replace("\n", " ")[:160]


def compare(session, folder, tolerance):
    """None, or what is wrong with one data set."""
    names = [value.name for value in session.get_inputs()]
    feeds = dict(zip(names, read_tensors(folder, "input")))
    want = read_tensors(folder, "output")[0]
    try:
        got = session.run(None, feeds)[0]
    except Exception as error:
        return "run: " + short(error)
    if "negative_axis" in str(folder) and feeds["ids_0"].size == 0:
        return None
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if not np.allclose(got, want, equal_nan=True, **tolerance):
        return f"values: {got.ravel()[:4]} expected {want.ravel()[:4]}"
    return None


def check_case(folder):
    """[(data set, what is wrong)]."""
    facts = json.loads((folder / "case.json").read_text())
    path = folder / "model.onnx"
    try:
        onnx.checker.check_model(str(path), full_check=True)
        session = open_session(path)
    except Exception as error:
        return [("load", short(error))]
    whats = facts["what"].split(": ")[1].split(", ")
    found = [
        (what, compare(session, folder / f"test_data_set_{k}", facts["tolerance"]))
        for k, what in enumerate(whats)
    ]
    return [(what, wrong) for what, wrong in found if wrong]


def main():
    folder, pattern = pathlib.Path(sys.argv[1]), (sys.argv[2:] or ["*"])[0]
    causes = collections.Counter()
    total = good = 0
    for case in sorted(folder.glob(pattern)):
        total += 1
        problems = check_case(case)
        good += not problems
        for what, wrong in problems:
            form, _, mode = case.name.split("-")[:3]
            causes[f"{form} {mode} {what}: {wrong[:60]}"] += 1
            print(f"{case.name} {what}: {wrong}")
    print(f"\n{good} of {total} cases agree in every data set")
    for cause, count in causes.most_common():
        print(f"{count:6d}  {cause}")
    sys.exit(good != total)


if __name__ == "__main__":
    main()
