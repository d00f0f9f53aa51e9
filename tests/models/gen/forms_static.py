"""Bags as legacy loops, unrolled, of one length, and one-hot.

SPDX-License-Identifier: Apache-2.0

Every function writes one bag and returns its [bags, dim] output. `bag` names the values
that feed it: table, ids, starts (offsets), weights; those that a case lacks are None.
"""

import sys

INT64_MAX = sys.maxsize


def length_of(g, value):
    """The extent of axis 0 as a scalar, the way exporters ask for it."""
    return g.node("Gather", [g.node("Shape", [value]), g.constant(0)], axis=0)


def slice_all(g, value, begin):
    """value[begin:], with axes and steps written out."""
    axes, starts = g.constant([0]), g.constant([begin])
    ends, steps = g.constant([INT64_MAX]), g.constant([1])
    return g.node("Slice", [value, starts, ends, axes, steps])


def extended_offsets(g, case, bag, end):
    """One more offset than bags: the last one is where the ids end."""
    if case.last:
        return bag.starts
    starts = bag.starts
    if "int32" in case.style:
        starts = g.node("Cast", [starts], to=7)
    return g.node("Concat", [starts, end], axis=0)


def pooled_rows(g, case, bag, begin, end):
    """Reduces the table's rows for ids[begin:end]; both bounds have one element."""
    axes = g.constant([0])
    ids = g.node("Slice", [bag.ids, begin, end, axes])
    rows = g.node("Gather", [bag.table, ids], axis=0)
    if case.weighted:
        weights = g.node("Slice", [bag.weights, begin, end, axes])
        rows = g.node("Mul", [rows, g.unsqueeze(weights, [1])])
    return g.reduce(case.mode, rows, 0)


def flatten_2d(g, bag):
    """[B, L] ids become a flat list; the offsets are a Range with step L."""
    count = g.node("ReduceProd", [g.node("Shape", [bag.ids])], keepdims=0)
    length = g.node("Gather", [g.node("Shape", [bag.ids]), g.constant(1)], axis=0)
    limit, delta = g.node("Cast", [count], to=7), g.node("Cast", [length], to=7)
    starts = g.node("Range", [g.constant(0), limit, delta])
    flat = g.node("Reshape", [bag.ids, g.constant([-1])])
    weights = bag.weights and g.node("Reshape", [bag.weights, g.constant([-1])])
    return bag._replace(ids=flat, starts=starts, weights=weights)


def legacy_loop(g, case, bag):
    """torch.onnx.export(dynamo=False), opset 11 and up: one Loop over the bags."""
    if case.two_d:
        bag = flatten_2d(g, bag)
    always = g.constant(True, "bool")
    if "cast" in case.style:
        always = g.node("Cast", [g.constant(1)], to=9)
    end_of_ids = None if case.last else g.unsqueeze(length_of(g, bag.ids), [0])
    offsets = extended_offsets(g, case, bag, end_of_ids)
    starts = slice_all(g, offsets, 0) if "starts" in case.style else offsets
    ends = slice_all(g, offsets, 1)
    body = g.subgraph("sub_graph")
    step = body.input(body.fresh("i"), "int64", [])
    body.input(body.fresh("cond"), "bool", [])
    begin = body.node("Gather", [starts, step], axis=0)
    end = body.node("Gather", [ends, step], axis=0)
    begin, end = body.unsqueeze(begin, [0]), body.unsqueeze(end, [0])
    row = pooled_rows(body, case, bag, begin, end)
    body.output(body.node("Cast", [always], to=9), "bool", [])
    body.output(row, "float32", [body.fresh("dim")])
    return g.node("Loop", [length_of(g, ends), always], body=body)


def unrolled(g, case, bag):
    """torch.onnx.export(dynamo=False) at opset 10: the number of bags is static."""
    if "length" in case.style:
        end = g.unsqueeze(length_of(g, bag.ids), [0])
    else:
        end = g.constant([INT64_MAX])
    offsets = extended_offsets(g, case, bag, end)
    rows = []
    for i in range(case.static_bags):
        begin = g.node("Gather", [offsets, g.constant(i)], axis=0)
        end = g.node("Gather", [offsets, g.constant(i + 1)], axis=0)
        row = pooled_rows(g, case, bag, g.unsqueeze(begin, [0]), g.unsqueeze(end, [0]))
        rows.append(g.unsqueeze(row, [0]))
    return g.node("Concat", rows, axis=0)


def fixed_length(g, case, bag):
    """Embedding of [B, L] ids, reduced over L: what models without bags write."""
    rows = g.node("Gather", [bag.table, bag.ids], axis=0)
    if case.weighted:
        rows = g.node("Mul", [rows, g.unsqueeze(bag.weights, [2])])
    axis = -2 if "negative_axis" in case.style else 1
    if "keepdims" in case.style:
        return g.squeeze(g.reduce(case.mode, rows, axis, keepdims=1), [1])
    return g.reduce(case.mode, rows, axis)


def one_hot(g, case, bag):
    """One id a bag: a plain Gather."""
    ids = bag.ids
    if "column" in case.style:
        ids = g.node("Gather", [ids, g.constant(bag.number)], axis=1)
    if "squeeze" in case.style:
        rows = g.squeeze(g.node("Gather", [bag.table, ids], axis=0), [1])
    else:
        rows = g.node("Gather", [bag.table, ids], axis=0)
    if case.weighted:
        rows = g.node("Mul", [rows, g.unsqueeze(bag.weights, [1])])
    return rows
