#!/usr/bin/env python3
"""Writes cases of the recommendation models as users would export them.

SPDX-License-Identifier: Apache-2.0

    recommend.py OUT_DIR [--only PATTERN] [--ways dynamo,legacy,traced,scripted]

Models are those of recommend_models.py.  A case is a folder MODEL/WAY with model.onnx or
model.pt, a test_data_set_K for each size of the batch, and case.json; `ingot verify`
reads it.  Expected values are torch's own, computed in double where that is possible and
rounded.  What torch itself cannot export is said and left out.  Needs torch and onnx.
"""

import argparse
import copy
import fnmatch
import json
import logging
import pathlib
import shutil
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import numpy as np
import torch
from onnx import numpy_helper

from recommend_models import MODELS

BATCHES = (4, 1, 2, 3, 17, 65, 130)
TOLERANCE = {"rtol": 1e-4, "atol": 2e-6}


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def in_double(args):
    return [a.double() if a.is_floating_point() else a for a in args]


def expected(module, args):
    """What the module gives, by its copy in double where it can be one."""
    single = as_tuple(module(*args))
    try:
        double = as_tuple(copy.deepcopy(module).double()(*in_double(args)))
    except RuntimeError:
        double = single
    return [d.to(s.dtype) for s, d in zip(single, double)]


def export_dynamo(module, args, path):
    batch = torch.export.Dim("batch", min=1, max=1 << 20)
    shapes = tuple({0: batch} for _ in args)
    torch.onnx.export(module, args, path, dynamo=True, dynamic_shapes=shapes,
                      external_data=False, verbose=False)


def export_legacy(module, args, path):
    names = [f"in_{i}" for i in range(len(args))]
    axes = {name: {0: "batch"} for name in names}
    torch.onnx.export(module, args, path, dynamo=False, input_names=names,
                      dynamic_axes=axes, opset_version=17)


def export_traced(module, args, path):
    torch.jit.trace(module, args, check_trace=False).save(path)


def export_scripted(module, args, path):
    torch.jit.script(module).save(path)


WAYS = {
    "dynamo": ("model.onnx", export_dynamo),
    "legacy": ("model.onnx", export_legacy),
    "traced": ("model.pt", export_traced),
    "scripted": ("model.pt", export_scripted),
}


def write_tensors(data, name, tensors, as_onnx):
    for index, tensor in enumerate(tensors):
        array = tensor.detach().numpy()
        if as_onnx:
            proto = numpy_helper.from_array(array)
            (data / f"{name}_{index}.pb").write_bytes(proto.SerializeToString())
        else:
            np.save(data / f"{name}_{index}.npy", array)


def values_json(args, results):
    """The tree of a call: torch's archives do not say how many results there are."""
    def node(i, t):
        return {"tensor": i, "dtype": str(t.dtype)[6:], "shape": list(t.shape)}
    results = [node(i, t) for i, t in enumerate(results)]
    result = results[0] if len(results) == 1 else {"tuple": results}
    args = [node(i, t) for i, t in enumerate(args)]
    return json.dumps({"method": "forward", "args": args, "result": result})


def write_case(folder, way, module, sets):
    name, export = WAYS[way]
    folder.mkdir(parents=True, exist_ok=True)
    export(module, sets[0][0], str(folder / name))
    for index, (args, results) in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        as_onnx = name.endswith(".onnx")
        write_tensors(data, "input", args, as_onnx)
        write_tensors(data, "output", results, as_onnx)
        if not as_onnx:
            (data / "values.json").write_text(values_json(args, results))
    case = {"name": "/".join(folder.parts[-2:]), "model": name, "tolerance": TOLERANCE}
    (folder / "case.json").write_text(json.dumps(case))


def settle(module):
    """Running statistics and weights as a trained model has them."""
    for child in module.modules():
        if isinstance(child, torch.nn.BatchNorm1d):
            child.running_mean.normal_(0, 0.3)
            child.running_var.uniform_(0.5, 2)
    for weight in module.parameters():
        weight.requires_grad_(False)
    return module.eval()


def write_model(out, name, ways):
    torch.manual_seed(7)
    module, draw = MODELS[name]()
    settle(module)
    batches = [draw(batch) for batch in BATCHES]
    sets = [(args, expected(module, args)) for args in batches]
    written = 0
    for way in ways:
        folder = out / name / way
        try:
            write_case(folder, way, module, sets)
            written += 1
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            lines = str(error).strip().splitlines() or [""]
            print(f"torch cannot export {name} {way}: {lines[0][:150]}", file=sys.stderr)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    names = fnmatch.filter(MODELS, options.only)
    ways = options.ways.split(",")
    written = sum(write_model(options.out, name, ways) for name in names)
    print(f"{written} cases of {len(names)} models")


if __name__ == "__main__":
    main()
