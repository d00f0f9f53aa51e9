#!/usr/bin/env python3
"""Holds generated graphs against what torch really exports.

SPDX-License-Identifier: Apache-2.0

    check_exports.py      with the Python of bench/peers

A graph's signature is its output as an expression: ops, attributes that differ from
their defaults, constants by value, tables by shape, captured values by their own
expressions.  Names, order and dead nodes do not count, nor does the order of the values
that a Loop carries or an If gives: the dynamo exporter changes it from run to run.
"""

import hashlib
import io
import logging
import sys
import warnings

import numpy as np
import onnx
import torch
from onnx import AttributeProto, numpy_helper

from forms import build_model
from forms_case import TABLE_SETS, Case
from forms_data import data_sets

SMALL = 64


def digest(*parts):
    return hashlib.sha1(repr(parts).encode()).hexdigest()[:16]


def constant_signature(array):
    value = array.tolist() if array.size <= SMALL else "table"
    return digest("constant", str(array.dtype), array.shape, value)


def constant_of(node):
    attribute = node.attribute[0]
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.TENSOR:
        return numpy_helper.to_array(value)
    is_float = attribute.type in (AttributeProto.FLOAT, AttributeProto.FLOATS)
    return np.array(value, "float32" if is_float else "int64")


def attribute_signatures(node, opset):
    defaults = onnx.defs.get_schema(node.op_type, opset).attributes
    for attribute in sorted(node.attribute, key=lambda a: a.name):
        value = onnx.helper.get_attribute_value(attribute)
        default = defaults[attribute.name].default_value
        if default.type and onnx.helper.get_attribute_value(default) == value:
            continue
        yield attribute.name, value


def subgraph(node, name):
    return next(a.g for a in node.attribute if a.name == name)


def if_outputs(node, operands, opset, scope):
    branches = [
        graph_outputs(subgraph(node, name), [], opset, scope)
        for name in ("then_branch", "else_branch")
    ]
    return [digest("If", operands, pair) for pair in zip(*branches)]


def loop_outputs(node, operands, opset, scope):
    """A carried value goes by its initial value; a scan output by its expression."""
    initial = operands[2:]
    arguments = [
        digest("argument", scope["depth"], value)
        for value in ["step", "condition"] + initial
    ]
    proceed, *results = graph_outputs(subgraph(node, "body"), arguments, opset, scope)
    carried = sorted(zip(initial, results))
    loop = digest("Loop", operands[:2], proceed, carried)
    return [digest(loop, value) for value in initial + results[len(initial) :]]


def node_outputs(node, opset, scope):
    if node.op_type == "Constant":
        return [constant_signature(constant_of(node))]
    operands = [scope[name] if name else "none" for name in node.input]
    if node.op_type in ("If", "Loop"):
        write = if_outputs if node.op_type == "If" else loop_outputs
        return write(node, operands, opset, scope)
    attributes = list(attribute_signatures(node, opset))
    return [
        digest(node.op_type, operands, attributes, i) for i in range(len(node.output))
    ]


def graph_outputs(graph, arguments, opset, outer):
    """The signatures of a graph's outputs, given those of its inputs."""
    scope = dict(outer, depth=outer["depth"] + 1)
    for tensor in graph.initializer:
        scope[tensor.name] = constant_signature(numpy_helper.to_array(tensor))
    inputs = [value.name for value in graph.input if value.name not in scope]
    scope.update(zip(inputs, arguments))
    for node in graph.node:
        scope.update(zip(node.output, node_outputs(node, opset, scope)))
    return [scope[value.name] for value in graph.output]


def signature(model):
    arguments = [digest("input", i) for i in range(len(model.graph.input))]
    opset = model.opset_import[0].version
    return graph_outputs(model.graph, arguments, opset, {"depth": 0})


class Bags(torch.nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        padding = case.padding_id if case.padding else None
        self.tables = torch.nn.ModuleList(
            [
                torch.nn.EmbeddingBag(
                    rows,
                    dim,
                    mode=case.mode,
                    include_last_offset=case.last,
                    padding_idx=padding,
                )
                for rows, dim in TABLE_SETS[case.tables][0]
            ]
        )

    def forward(self, *inputs):
        inputs, pooled = iter(inputs), []
        for table in self.tables:
            ids = next(inputs)
            starts = next(inputs) if self.case.has_offsets else None
            weights = next(inputs) if self.case.weighted else None
            pooled.append(table(ids, starts, per_sample_weights=weights))
        return torch.cat(pooled, dim=1)


class Lookups(torch.nn.Module):
    """nn.Embedding, pooled over a fixed length or not at all."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        self.tables = torch.nn.ModuleList(
            [torch.nn.Embedding(*shape) for shape in TABLE_SETS[case.tables][0]]
        )

    def pool(self, rows):
        if self.case.form == "one_hot":
            return rows
        return {
            "sum": lambda: rows.sum(1),
            "mean": lambda: rows.mean(1),
            "max": lambda: rows.amax(1),
        }[self.case.mode]()

    def forward(self, *ids):
        return torch.cat([self.pool(t(i)) for t, i in zip(self.tables, ids)], dim=1)


def example_inputs(case):
    sample = next(iter(data_sets(np.random.default_rng(1), case).values()))
    arrays = [array for bag in sample for array in bag.arrays()]
    # Tracing runs the model, and torch takes no negative ids.
    arrays = [abs(a) if a.dtype.kind == "i" else a for a in arrays]
    return sample, [torch.from_numpy(array) for array in arrays]


def export_legacy(module, inputs, case):
    buffer = io.BytesIO()
    names = [f"x{i}" for i in range(len(inputs))]
    axes = {
        n: dict(enumerate(f"{n}_{d}" for d in range(x.dim())))
        for n, x in zip(names, inputs)
    }
    if case.form == "unrolled":
        axes = None
    torch.onnx.export(
        module,
        tuple(inputs),
        buffer,
        dynamo=False,
        opset_version=case.opset,
        input_names=names,
        dynamic_axes=axes,
    )
    return onnx.load_from_string(buffer.getvalue())


def export_dynamo(module, inputs, case):
    batch = torch.export.Dim("batch", min=1, max=4096)
    shapes = []
    by_bag = 1 + case.has_offsets + case.weighted
    for i, tensor in enumerate(inputs):
        own = torch.export.Dim(f"own_{i // by_bag}", min=2, max=4096)
        is_starts = case.has_offsets and i % by_bag == 1
        first = batch if is_starts or not case.has_offsets else own
        shapes.append({0: first, 1: own} if tensor.dim() == 2 else {0: first})
    program = torch.onnx.export(
        module,
        tuple(inputs),
        dynamo=True,
        opset_version=case.opset,
        verbose=False,
        dynamic_shapes=(tuple(shapes),),
        optimize="unoptimised" not in case.style,
    )
    return program.model_proto


def compared_cases():
    flags = ("weighted", "padding", "last", "two_d")

    def case(form, opset, mode, *set_flags, style=()):
        values = [flag in set_flags for flag in flags]
        return Case(form, opset, mode, *values, "pair", frozenset(style))

    for opset in (11, 12, 13, 17, 18, 20):
        yield from (case("legacy", opset, mode) for mode in ("sum", "mean", "max"))
    for layout in (
        ("last",),
        ("two_d",),
        ("weighted",),
        ("weighted", "last"),
        ("weighted", "two_d"),
    ):
        yield case("legacy", 17, "sum", *layout)
    yield from (case("unrolled", 10, mode) for mode in ("sum", "mean", "max"))
    yield from (case("unrolled", 10, "sum", flag) for flag in ("weighted", "last"))
    for mode in ("sum", "mean", "max"):
        for layout in ((), ("last",), ("padding",), ("padding", "last")):
            yield case("dynamo", 18, mode, *layout)
        yield case("dynamo", 18, mode, style=("unoptimised",))
        yield case("fixed", 18, mode, "two_d")
    yield case("dynamo", 18, "sum", "weighted")
    yield case("dynamo", 18, "sum", "two_d")
    yield case("dynamo", 18, "sum", "weighted", "padding")
    yield case("dynamo", 18, "sum", "padding", style=("unoptimised",))
    yield case("dynamo", 20, "sum")
    yield case("one_hot", 18, "sum")


def exported(case, inputs):
    is_bag = case.form in ("legacy", "unrolled", "dynamo")
    module = (Bags if is_bag else Lookups)(case).eval()
    is_legacy = case.form in ("legacy", "unrolled")
    return (export_legacy if is_legacy else export_dynamo)(module, inputs, case)


def generated(case, sample):
    tables = [np.zeros(shape, "float32") for shape in TABLE_SETS[case.tables][0]]
    model = build_model(onnx, case, tables, sample, "batch")
    return onnx.load_from_string(model.SerializeToString())


def agrees(case):
    sample, inputs = example_inputs(case)
    return signature(exported(case, inputs)) == signature(generated(case, sample))


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    failed, passed = 0, 0
    for case in compared_cases():
        good = agrees(case)
        passed, failed = passed + good, failed + (not good)
        print(f"{'same' if good else 'DIFFERENT':10s} {case.name}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
