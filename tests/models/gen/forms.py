#!/usr/bin/env python3
"""Writes one model for every way in which exporters write embedding bags.

SPDX-License-Identifier: Apache-2.0

    forms.py OUT_DIR [--only PATTERN]      write the cases (shell pattern over names)
    forms.py --list                        print the cases, and what is illegal and why

Each case is a folder with model.onnx, test_data_set_K/{input,output}_I.pb and
case.json. Its model pools two or three bags and puts them side by side; compiled, it
must have no loop and one bag launch. Needs python3, numpy, protobuf and protoc only.
The graphs follow what torch 1.6 to 2.15 writes; check_exports.py holds them against a
real torch, and forms_case.py defines the space of cases.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import zlib

import numpy as np

import forms_static
from forms_case import Bag, TABLE_SETS, every_point, legal_cases, why_illegal
from forms_data import data_sets, expected
from forms_dynamo import DynamoWriter
from onnx_graph import fill_tensor, load_schema, new_model

STATIC_WRITERS = {
    "legacy": forms_static.legacy_loop,
    "unrolled": forms_static.unrolled,
    "fixed": forms_static.fixed_length,
    "one_hot": forms_static.one_hot,
}
INPUT_NAMES = ("ids", "bagstart", "weights")
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


def symbolic_dims(case, index):
    """The dims of ids, offsets and weights of one bag, as names."""
    if case.form == "one_hot":
        columns = {"column": [len(TABLE_SETS[case.tables][1])], "squeeze": [1]}
        extra = [columns[style] for style in case.style if style in columns]
        return ["batch"] + sum(extra, []), None, ["batch"]
    if case.two_d:
        dims = ["batch", f"length_{index}"]
        return dims, None, dims
    bags = "batch"
    if case.form == "unrolled":
        bags = case.static_bags + case.last
    return [f"nnz_{index}"], [bags], [f"nnz_{index}"]


def declare_inputs(g, case, index, sample):
    """One bag's inputs; the column style shares the first bag's ids."""
    names = []
    present = (sample.ids, sample.starts, sample.weights)
    for kind, dims, array in zip(INPUT_NAMES, symbolic_dims(case, index), present):
        if array is None:
            names.append(None)
        elif kind == "ids" and index > 0 and "column" in case.style:
            names.append("ids_0")
        else:
            dims = array.shape if case.is_static else dims
            names.append(g.input(f"{kind}_{index}", array.dtype.name, dims))
    return names


def build_model(schema, case, tables, sample, batch):
    model, g = new_model(schema, case.opset)
    weights = [g.initializer(table, "float32", hint="bag.weight") for table in tables]
    bags = []
    for index, table in enumerate(TABLE_SETS[case.tables][1]):
        inputs = declare_inputs(g, case, index, sample[index])
        bags.append(Bag(index, weights[table], *inputs, *tables[table].shape))
    if case.form == "dynamo":
        writer = DynamoWriter(model, g, case)
        pooled = [writer.write(g, bag) for bag in bags]
    else:
        pooled = [STATIC_WRITERS[case.form](g, case, bag) for bag in bags]
    width = sum(bag.dim for bag in bags)
    g.output(g.node("Concat", pooled, axis=1), "float32", [batch, width])
    return model


def write_tensor(schema, path, array, name):
    tensor = fill_tensor(schema.TensorProto(), array, name)
    path.write_bytes(tensor.SerializeToString())


def input_arrays(case, bags):
    arrays = []
    for index, bag in enumerate(bags):
        skip = 1 if index > 0 and "column" in case.style else 0
        arrays += bag.arrays()[skip:]
    return arrays


def write_data_set(schema, folder, model, arrays, output):
    folder.mkdir()
    for i, (info, array) in enumerate(zip(model.graph.input, arrays)):
        write_tensor(schema, folder / f"input_{i}.pb", array, info.name)
    write_tensor(schema, folder / "output_0.pb", output, model.graph.output[0].name)


def write_case(schema, out, case):
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    tables = [
        rng.normal(0, 1, shape).astype("float32")
        for shape in TABLE_SETS[case.tables][0]
    ]
    sets = data_sets(rng, case)
    outputs = [expected(case, tables, bags) for bags in sets.values()]
    batch = len(outputs[0]) if case.is_static else "batch"
    model = build_model(schema, case, tables, next(iter(sets.values())), batch)
    folder = out / case.name
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for k, (bags, output) in enumerate(zip(sets.values(), outputs)):
        write_data_set(
            schema,
            folder / f"test_data_set_{k}",
            model,
            input_arrays(case, bags),
            output,
        )
    facts = {
        "name": case.name,
        "what": f"{len(sets)} data sets: " + ", ".join(sets),
        "opset": {"ai.onnx": case.opset},
        "data_sets": len(sets),
        "tolerance": TOLERANCE,
        "plan": {"loops": 0, "bag_launches": 1},
    }
    (folder / "case.json").write_text(json.dumps(facts, indent=1) + "\n")


def print_list(cases):
    for case in cases:
        print(case.name)
    reasons = collections.Counter(why_illegal(case) for case in every_point())
    legal = reasons.pop(None)
    print(f"\n{legal} cases; illegal combinations, by the first reason:")
    for reason, count in reasons.most_common():
        print(f"{count:6d}  {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--only", default="*", metavar="PATTERN")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cases = [c for c in legal_cases() if fnmatch.fnmatch(c.name, options.only)]
    if options.list:
        print_list(cases)
        return
    if options.out is None:
        parser.error("where to? name a folder")
    schema = load_schema()
    for case in cases:
        write_case(schema, options.out, case)
    print(f"{len(cases)} cases in {options.out}")


if __name__ == "__main__":
    main()
