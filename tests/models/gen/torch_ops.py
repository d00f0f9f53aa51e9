#!/usr/bin/env python3
"""Writes a model for every sample input that torch knows of: traced, or exported.

SPDX-License-Identifier: Apache-2.0

    torch_ops.py OUT_DIR [--only PATTERN] [--dtypes f32,f64,i64,...] [--samples N]
                 [--form traced|exported|core]

Forms: a traced TorchScript archive (model.pt); a program of torch.export (model.pt2);
the same after run_decompositions().

torch carries, for its own tests, a data base of operators with sample inputs of every
dtype and shape.  Each sample becomes a case: the model (tensors are arguments, all else
is traced in), test_data_set_0/{input,output}_K.npy, values.json and case.json, which
`ingot verify` reads.  Samples whose result depends on chance, needs gradients or is no
tensor are left out.  In-place forms are traced on a copy of their first argument.
Needs a torch that can be imported; its test module wants `expecttest`, which is only
mentioned there, so an empty stand-in serves.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import shutil
import sys
import types
import warnings

warnings.filterwarnings("ignore")
sys.modules.setdefault("expecttest", types.ModuleType("expecttest"))
sys.modules["expecttest"].TestCase = object

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
    "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
    "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
    "c64": torch.complex64,
}
TOLERANCE = {"f32": (1e-4, 1e-5), "f64": (1e-7, 1e-9), "c64": (1e-4, 1e-5),
             "f16": (4e-3, 4e-3), "bf16": (3e-2, 3e-2)}
CHANCE = ("rand", "bernoulli", "dropout", "normal", "multinomial", "cauchy", "uniform",
          "geometric", "exponential", "rrelu", "fractional", "empty", "lowrank",
          "resize", "jiterator", "sparse", "to_sparse", "_scaled", "_backward", "hash_")


def to_numpy(tensor):
    info = {"dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape)}
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.dtype == torch.bfloat16:
        info["stored_as"] = "uint16 bits"
        return tensor.view(torch.int16).numpy().view(np.uint16), info
    return tensor.numpy(), info


def describe(value, tensors):
    """The node of values.json for `value`; its tensors are appended to `tensors`."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return dict(to_numpy(value)[1], tensor=len(tensors) - 1)
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [describe(v, tensors) for v in value]}
    for python_type, kind in ((bool, "bool"), (int, "int"), (float, "float")):
        if isinstance(value, python_type):
            return {kind: value}
    raise TypeError(f"result holds {type(value).__name__}")


class Holes:
    """Arguments with the tensors taken out, so that they become the model's inputs."""

    def __init__(self, arguments):
        self.tensors = []
        self.arguments = self.take(arguments)

    def take(self, value):
        if isinstance(value, torch.Tensor):
            self.tensors.append(value.detach())
            return ("hole", len(self.tensors) - 1)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return ("list", type(value), [self.take(v) for v in value])
        if isinstance(value, dict):
            return ("dict", {k: self.take(v) for k, v in value.items()})
        return ("value", value)

    def fill(self, tensors, node=None):
        kind, *rest = node or self.arguments
        if kind == "hole":
            return tensors[rest[0]]
        if kind == "list":
            return rest[0](self.fill(tensors, v) for v in rest[1])
        if kind == "dict":
            return {k: self.fill(tensors, v) for k, v in rest[0].items()}
        return rest[0]


class Model(torch.nn.Module):
    def __init__(self, function, holes, clones_first):
        super().__init__()
        self.function, self.holes, self.clones_first = function, holes, clones_first

    def forward(self, *tensors):
        tensors = list(tensors)
        if self.clones_first:
            tensors[0] = tensors[0].clone()
        args, kwargs = self.holes.fill(tensors)
        result = self.function(*args, **kwargs)
        if isinstance(result, tuple) and type(result) is not tuple:
            result = tuple(result)  # torch.return_types
        return result


def trace(folder, model, tensors):
    """Saves the model; gives it as a function, and its operators."""
    traced = torch.jit.trace(model, tuple(t.clone() for t in tensors),
                             check_trace=False, strict=False)
    traced.save(str(folder / "model.pt"))
    (folder / "code.txt").write_text(traced.code)
    return traced, [n.kind() for n in traced.inlined_graph.nodes()
                    if not n.kind().startswith("prim::")]


def export(folder, model, tensors, is_core=False):
    program = torch.export.export(model, tuple(t.clone() for t in tensors), strict=False)
    if is_core:
        program = program.run_decompositions()
    torch.export.save(program, str(folder / "model.pt2"))
    (folder / "code.txt").write_text(str(program))
    return program.module(), [str(n.target) for n in program.graph.nodes
                              if n.op == "call_function"]


FORMS = {"traced": trace, "exported": export,
         "core": lambda *args: export(*args, is_core=True)}


def write_case(folder, name, model, tensors, tolerance, form):
    expected = model(*[t.clone() for t in tensors])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    made, ops = FORMS[form](folder, model, tensors)
    after = [t.clone() for t in tensors]
    again = made(*after)
    results, inputs = [], []
    result = describe(again, results)
    wanted = []
    describe(expected, wanted)
    for got, want in zip(results, wanted):
        if not torch.allclose(torch.nan_to_num(got), torch.nan_to_num(want), rtol=1e-5):
            raise ValueError("the model gives something else, or chance plays a part")
    if not results:
        raise ValueError("no tensor in the result")
    args = [describe(t, inputs) for t in tensors]
    for prefix, values in (("input", tensors), ("after_input", after), ("output", wanted)):
        for k, tensor in enumerate(values):
            if prefix != "after_input" or not torch.equal(tensor, tensors[k]):
                np.save(data / f"{prefix}_{k}.npy", to_numpy(tensor)[0])
    (data / "values.json").write_text(
        json.dumps({"method": "forward", "args": args, "result": result}))
    (folder / "case.json").write_text(json.dumps({
        "name": name, "made_with": f"torch {torch.__version__}", "data_sets": 1,
        "ops": collections.Counter(ops),
        "tolerance": {"rtol": tolerance[0], "atol": tolerance[1]}}, indent=1))


def samples_of(op, dtype, count):
    # Some operators have very many samples; take them from all over.
    every = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    step = max(1, len(every) // count)
    return every[::step][:count]


def cases_of(op, dtype_name, count):
    for k, sample in enumerate(samples_of(op, DTYPES[dtype_name], count)):
        holes = Holes(([sample.input, *sample.args], dict(sample.kwargs)))
        if not holes.tensors:
            continue
        yield f"s{k}", op.op, holes, False
        inplace = op.get_inplace()
        if inplace and k < 2 and isinstance(sample.input, torch.Tensor):
            yield f"s{k}_inplace", inplace, holes, True


def write_op(out, op, dtype_name, count, form, tally):
    label = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
    for suffix, function, holes, clones in cases_of(op, dtype_name, count):
        name = f"{label}-{dtype_name}-{suffix}".replace("::", ".").replace("/", "_")
        folder = out / name
        try:
            torch.manual_seed(0)
            with torch.no_grad():
                model = Model(function, holes, clones).eval()
                write_case(folder, name, model, holes.tensors,
                           TOLERANCE.get(dtype_name, TOLERANCE["f32"]), form)
            tally["written"] += 1
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            tally[type(error).__name__] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--dtypes", default="f32,i64,bool,f16")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--form", choices=FORMS, default="traced")
    options = parser.parse_args()
    tally = collections.Counter()
    for op in op_db:
        if not fnmatch.fnmatch(op.name, options.only) or any(
                word in op.name for word in CHANCE):
            continue
        for dtype_name in options.dtypes.split(","):
            if DTYPES[dtype_name] in op.supported_dtypes("cpu"):
                torch.manual_seed(1)
                try:
                    write_op(options.out, op, dtype_name, options.samples, options.form, tally)
                except Exception as error:
                    tally["sample " + type(error).__name__] += 1
    print(dict(tally))


if __name__ == "__main__":
    main()
