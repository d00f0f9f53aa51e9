#!/usr/bin/env python3
"""Writes cases of the networks of networks_models.py, by every exporter of torch.

SPDX-License-Identifier: Apache-2.0

    networks.py OUT_DIR [--only PATTERN,…] [--count N] [--ways scripted,traced,…]

A case is a folder NAME-WAY, in the folder `open` or `fixed` as extents of its arguments
are, with model.pt, model.pt2 or model.onnx, a test_data_set_K for each call that the
export is made for, and case.json; `ingot verify` reads it.  Expected values are those of
the module; where an export computes something else, as torch (or ONNX Runtime) itself
runs it, that is said, and its own are expected: a detector that is traced or scripted
resizes otherwise.  What torch cannot export is said and left out.  Needs torch and onnx,
and for some networks torchaudio, torchvision and torchao: what is missing is said.
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

import onnx
import torch
from onnx import numpy_helper
from torch.utils import _pytree as pytree

from networks_models import NETWORKS
from values_json import write_set

TOLERANCE = {"rtol": 1e-3, "atol": 1e-4}


# ---- exporters: each writes a file, and gives the export as a function or None ----

def scripted(network, path):
    script = torch.jit.script(network.module)
    script(*copy.deepcopy(network.calls[0]))  # fills what a first call makes
    script.save(path)
    return script


def traced(network, path):
    trace = torch.jit.trace(network.module, network.calls[0], check_trace=False,
                            strict=False)
    trace.save(path)
    return trace


def exported(network, path, is_core=False):
    program = torch.export.export(network.module, network.calls[0],
                                  dynamic_shapes=network.dynamic, strict=False)
    if is_core:
        program = program.run_decompositions()
    torch.export.save(program, path)
    return program.module()


def core(network, path):
    return exported(network, path, is_core=True)


def by_peer(path):
    """The model as ONNX Runtime runs it; None without it."""
    try:
        import onnxruntime
    except ImportError:
        return None
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def function(*call):
        names = [info.name for info in session.get_inputs()]
        feeds = {name: t.numpy() for name, t in zip(names, leaves(call))}
        return session.run(None, feeds)
    return function


def legacy(network, path):
    torch.onnx.export(network.module, network.calls[0], path, dynamo=False,
                      opset_version=18)
    return by_peer(path)


def dynamo(network, path):
    torch.onnx.export(network.module, network.calls[0], path, dynamo=True,
                      dynamic_shapes=network.dynamic, verbose=False, external_data=False)


WAYS = {way.__name__: (way, ending) for way, ending in [
    (scripted, "pt"), (traced, "pt"), (exported, "pt2"), (core, "pt2"), (legacy, "onnx"),
    (dynamo, "onnx")]}


def has_open_extents(network, way):
    return way == "scripted" or (way in ("exported", "core", "dynamo") and network.dynamic)


# ---- cases ----

def leaves(value):
    """Its tensors and numbers; None is none of them."""
    return [torch.as_tensor(v) for v in pytree.tree_leaves(value) if v is not None]


def shapes(call):
    return [t.shape for t in leaves(call)]


def leaves_match(got, want):
    return shapes(got) == shapes(want) and all(
        torch.allclose(g, w, equal_nan=True, **TOLERANCE)
        for g, w in zip(leaves(got), leaves(want)))


def export_gives(function, call):
    """What the export gives when torch runs it; None where its extents are others."""
    try:
        return function(*copy.deepcopy(call))
    except (RuntimeError, AssertionError):
        return None


def calls_for(network, way, function):
    """The calls that the export is made for, with their results."""
    for index, call in enumerate(network.calls):
        if not has_open_extents(network, way) and shapes(call) != shapes(network.calls[0]):
            continue
        want = network.module(*copy.deepcopy(call))
        got = export_gives(function, call) if function else want
        if got is None:
            print(f"torch's {way} export does not take call {index}")
            continue
        if not leaves_match(got, want):
            print(f"torch's {way} export differs from its module in call {index}")
            want = got
        yield call, want


def write_onnx_set(data, model, call, result):
    data.mkdir()
    for kind, value, declared in [("input", call, model.graph.input),
                                  ("output", result, model.graph.output)]:
        tensors = leaves(value)
        if len(tensors) != len(declared):
            raise ValueError(f"{len(declared)} {kind}s for {len(tensors)} tensors")
        for index, (tensor, info) in enumerate(zip(tensors, declared)):
            proto = numpy_helper.from_array(tensor.detach().contiguous().numpy(), info.name)
            (data / f"{kind}_{index}.pb").write_bytes(proto.SerializeToString())


def write_case(folder, network, way):
    export, ending = WAYS[way]
    folder.mkdir(parents=True)
    path = folder / f"model.{ending}"
    function = export(network, str(path))
    sets = list(calls_for(network, way, function))
    if not sets:
        raise ValueError("no call for which the export is right")
    model = onnx.load(path) if ending == "onnx" else None
    for index, (call, result) in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        if model:
            write_onnx_set(data, model, call, result)
        else:
            write_set(data, call, result)
    case = {"name": folder.name, "model": path.name, "tolerance": TOLERANCE}
    (folder / "case.json").write_text(json.dumps(case))


def write_network(out, name, network, ways):
    written = 0
    for way in ways:
        if network.ways and way not in network.ways:
            continue
        kind = "open" if has_open_extents(network, way) else "fixed"
        folder = out / kind / f"{name}-{way}"
        try:
            with torch.no_grad():
                write_case(folder, network._replace(
                    module=copy.deepcopy(network.module)), way)
            written += 1
        except Exception as error:  # torch's own limits
            shutil.rmtree(folder, ignore_errors=True)
            lines = str(error).strip().splitlines() or [""]
            print(f"torch cannot export {name} {way}: {type(error).__name__}: "
                  f"{lines[0][:150]}")
    return written


def networks_of(kind, count):
    torch.manual_seed(7)
    try:
        for index, network in enumerate(NETWORKS[kind]()):
            if index < count:
                network.module.eval()
                yield f"{kind}{index}", network
    except ImportError as error:
        print(f"{kind}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--ways", default="scripted,traced,exported,legacy,dynamo")
    options = parser.parse_args()
    written = 0
    patterns = options.only.split(",")
    kinds = [k for k in NETWORKS if any(fnmatch.fnmatch(k, p) for p in patterns)]
    for kind in kinds:
        for name, network in networks_of(kind, options.count):
            written += write_network(options.out, name, network, options.ways.split(","))
    print(f"{written} cases")
    sys.exit(written == 0)


if __name__ == "__main__":
    main()
