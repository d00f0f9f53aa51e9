#!/usr/bin/env python3
"""Chooses small corpora that hold every operator and every feature of a format.

    choose_corpus.py onnx FOLDER_OF_MODELS      into tests/fuzz/corpus/fuzz_onnx.tar
    choose_corpus.py ir FOLDER_OF_DUMPS         and of tests/golden into …/fuzz_ir_parse.tar

A greedy cover: of the files that add most features for their size, until none adds any.
The features of a model are its operators with their attributes, its element types and the
fields of the messages that it uses; those of a text are its ops with their attributes.
Inputs that this script chose before (chosen_*) are replaced.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

import corpus

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LARGEST = 8192


# ---- ONNX ----

def read_schema():
    """{message: {number: (name of the field, message or None)}}, of onnx.proto."""
    text = (ROOT / "frontend/onnx/read/onnx.proto").read_text()
    schema, path = {}, []
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if match := re.match(r"(message|enum|oneof) (\w+) {", line):
            path.append((match[1], match[2]))
            if match[1] == "message":
                schema[match[2]] = {}
        elif line == "}":
            path.pop()
        elif match := re.match(r"(?:\w+ )?([\w.]+) (\w+) = (\d+)", line):
            owner = [name for kind, name in path if kind == "message"]
            if owner and path[-1][0] != "enum":
                schema[owner[-1]][int(match[3])] = (match[2], match[1].split(".")[-1])
    return schema


def read_number(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def read_fields(data):
    at = 0
    while at < len(data):
        tag, at = read_number(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = read_number(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                size, at = read_number(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def features_of_message(schema, name, data, out, inside=""):
    fields = list(read_fields(data))
    if name == "NodeProto":
        texts = {number: value for number, value in fields if number in (4, 7)}
        inside = f"{texts.get(7, b'').decode()}.{texts.get(4, b'').decode()}"
        out.add(inside)
    for number, value in fields:
        field, kind = schema[name].get(number, (str(number), ""))
        out.add(f"{name}.{field}")
        if name == "AttributeProto" and number == 1:
            out.add(f"{inside}({value.decode()})")
        if name == "TensorProto" and number == 2:
            out.add(f"{name}.data_type={value}")
        if kind in schema and isinstance(value, bytes):
            features_of_message(schema, kind, value, out, inside)


def onnx_features(schema, data):
    opsets = [dict(read_fields(value)) for number, value in read_fields(data) if number == 8]
    if any(o.get(2, 0) < 7 and not o.get(1) for o in opsets):
        return set()  # refused as a whole
    out = set()
    features_of_message(schema, "ModelProto", data, out)
    return out


# ---- IR text ----

OP = re.compile(r"^\s+(?:%[\w, %]* = )?([a-z]\w*)\b(.*)")


def ir_features(data, has_attrs=True):
    out = set()
    for line in data.decode().splitlines():
        if match := OP.match(line):
            out.add(match[1])
            for attrs in re.findall(r"{([^{}]*)}", match[2]) if has_attrs else ():
                names = re.findall(r"(?:^|, )(\w+)(?: =|,|$)", attrs)
                out.update(f"{match[1]}.{name}" for name in names)
        out.update(re.findall(r"\b(?:[iuf]\d+(?:e\dm\d)?|bf16|bool)\b", line))
    return out


def golden_texts():
    """The input and the expectation of each golden case, as texts of their own."""
    for path in sorted((ROOT / "tests/golden").rglob("*.ig")):
        cases = re.split(r"^# ---- (\w+) ----\n", path.read_text(), flags=re.M)
        for name, text in zip(cases[1::2], cases[2::2]):
            parts = re.split(r"^(?=module )", text, flags=re.M)
            for index, part in enumerate(parts[1:]):
                lines = [line for line in part.splitlines() if not line.startswith("#")]
                yield (f"{path.stem}_{name}_{index}.ig",
                       ("\n".join(lines) + "\n").encode())


# ---- the choice ----

def choose(given):
    """{name: (bytes, features)} -> names that together have all features."""
    missing = set().union(*(f for _, f in given.values()))
    chosen = []
    while missing:
        name = max(sorted(given), key=lambda n: len(given[n][1] & missing) /
                   (len(given[n][0]) + 200))
        chosen.append(name)
        missing -= given[name][1]
    return chosen


def replace(target, given, features_of):
    known = {n: (d, features_of(n, d)) for n, d in given if len(d) <= LARGEST}
    chosen = choose(known)
    corpus.write_inputs(target, {
        **{n: data for n, data in corpus.read_inputs(target).items()
           if not n.startswith("chosen_")},
        **{f"chosen_{n}": known[n][0] for n in chosen}})
    size = sum(len(known[n][0]) for n in chosen)
    print(f"{target}: {len(chosen)} of {len(known)} files, {size} bytes")


def main():
    if sys.argv[1:2] == ["onnx"] and len(sys.argv) == 3:
        schema = read_schema()
        models = sorted(pathlib.Path(sys.argv[2]).rglob("model.onnx"))
        replace("fuzz_onnx", [(f"{p.parent.name.removeprefix('test_')}.onnx", p.read_bytes())
                              for p in models], lambda _, data: onnx_features(schema, data))
    elif sys.argv[1:2] == ["ir"] and len(sys.argv) == 3:
        dumps = [(p.name, p.read_bytes()) for p in pathlib.Path(sys.argv[2]).glob("*.ig")]
        names = {name for name, _ in dumps}
        replace("fuzz_ir_parse", [*golden_texts(), *dumps],
                lambda name, data: ir_features(data, name not in names))
    else:
        sys.exit(__doc__)


main()
