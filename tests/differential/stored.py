"""Models in ONNX's text form and their inputs, stored with ONNX Runtime's answers.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx.reference import ReferenceEvaluator

from onnx_models import run_whole
from store import pack, write_case

INF, NAN = np.inf, np.nan


def f32(*numbers, shape=None):
    return np.array(numbers, np.float32).reshape(
        (len(numbers),) if shape is None else shape)


def i64(*numbers):
    return np.array(numbers, np.int64)


def count(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def answer_by_reference(model, feeds):
    """For operators that ONNX Runtime lacks."""
    return ReferenceEvaluator(model).run(None, feeds), ""


class Cases:
    """Cases by name.  One called fixed_… is not run with all extents open: it needs one
    that the model states."""

    def __init__(self):
        self.cases = {}

    def add(self, name, opset, signature, body, *sets, by_hand=None, rtol=0, atol=0,
            domains="", judge=run_whole):
        """`by_hand`: outputs of the one set, where ONNX Runtime has no such kernel."""
        text = (f'<ir_version: 8, opset_import: ["": {opset}{domains}]>\n'
                f"main ({signature.split('->')[0]}) => ({signature.split('->')[1]}) {{\n"
                f"{body}\n}}")
        assert name not in self.cases, name
        self.cases[name] = (text, sets, by_hand, (rtol, atol), judge)

    def write(self, archive):
        with tempfile.TemporaryDirectory() as folder:
            for name, (text, sets, by_hand, tolerance, judge) in self.cases.items():
                model = onnx.parser.parse_model(text)
                names = [i.name for i in model.graph.input]
                sets = [[np.asarray(a) for a in arrays] for arrays in sets]
                answers = []
                for arrays in sets:
                    outputs, words = by_hand, "no answer"
                    if not by_hand:
                        outputs, words = judge(model, dict(zip(names, arrays)))
                    if outputs is None:
                        sys.exit(f"{name}: {words}")
                    answers.append((arrays, outputs))
                write_case(pathlib.Path(folder) / name, model, answers, tolerance)
            pathlib.Path(archive).parent.mkdir(exist_ok=True)
            print(f"{len(self.cases)} cases, {pack(folder, archive)} bytes")
