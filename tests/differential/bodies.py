"""What happens inside of a graph's bodies and functions, node by node, with their real values.

SPDX-License-Identifier: Apache-2.0

A graph that is drawn asks its own nodes whether ONNX leaves their results open
(open_results.py), and those of bodies for their first values alone: a trip later may meet a
NaN.  This walk asks all of them.  It is slow, so that only a difference is worth it.
"""

import numpy as np
from onnx import numpy_helper

from chain import FLOATS, SUMS_OF_FLOATS, Step, dtype_of, names_read
from open_results import NESTED_SUM, attribute, find_open_result

TRIPS_MAX = 64


def terms_leave_range(step, given):
    """Are the terms of a sum, all of one sign, more than the type holds?  Then their order
    decides about infinity and NaN."""
    if not step.operators & SUMS_OF_FLOATS:
        return False
    sizes = {n: np.asarray(np.abs(np.where(np.isfinite(v.astype(np.float64)), v, 0)), v.dtype)
             if not isinstance(v, list) and dtype_of(v) in FLOATS else v
             for n, v in given.items()}
    return any(not np.isfinite(r.astype(np.float64)).all() for r in step.run(sizes)
               if not isinstance(r, list) and dtype_of(r) in FLOATS)


HALVES = ("a value within a body that leaves halves: ONNX Runtime runs their operators in f32 and "
          "keeps that from node to node (core/optimizer/insert_cast_transformer.cc)")


def leave_halves(given, made):
    """Is one of `made` an infinity that no value given is?"""
    def has_infinity(arrays, dtypes):
        return any(not isinstance(a, list) and dtype_of(a) in dtypes and
                   bool(np.isinf(a.astype(np.float64)).any()) for a in arrays)

    return has_infinity(made, ("f16", "bf16")) and not has_infinity(given, FLOATS)


class Walk:
    """`why`: the first reason by which some node's result is open."""

    def __init__(self, model):
        self.opset = next(o.version for o in model.opset_import if not o.domain)
        self.functions, self.why, self.depth = list(model.functions), None, 0

    def run(self, nodes, known):
        for node in nodes:
            if self.why:
                return
            self.take(node, known)

    def take(self, node, known):
        step = Step(node, self.opset, self.functions if node.domain else ())
        given = {n: known[n] for n in step.reads}
        made = step.open(given, [n for n in step.reads if not isinstance(given[n], list)])
        inputs = [known[n] if n else None for n in node.input]
        enter = {"If": self.enter_if, "Loop": self.enter_loop, "Scan": self.enter_scan}.get(
            node.op_type)
        if node.domain:
            function = next(f for f in self.functions if f.name == node.op_type)
            self.run(function.node, dict(zip(function.input, inputs)))
        elif enter:
            enter(node, inputs, known)
        else:
            self.why = find_open_result(step, inputs, made) or (
                NESTED_SUM if terms_leave_range(step, given) else
                HALVES if self.depth and leave_halves(given.values(), made) else None)
        known.update(zip(step.makes, made))

    def enter(self, body, inputs, known):
        inner = dict(known)
        inner.update((t.name, numpy_helper.to_array(t)) for t in body.initializer)
        inner.update(zip((i.name for i in body.input), inputs))
        self.depth += 1
        self.run(body.node, inner)
        self.depth -= 1
        return [inner.get(o.name) for o in body.output]

    def enter_if(self, node, inputs, known):
        name = "then_branch" if inputs[0].reshape(-1)[0] else "else_branch"
        self.enter(attribute(node, name), [], known)

    def enter_loop(self, node, inputs, known):
        trips, keep, *state = [*inputs, None][:max(2, len(inputs))]
        trips = TRIPS_MAX if trips is None else min(TRIPS_MAX, int(trips.reshape(-1)[0]))
        keep = keep is None or bool(keep.reshape(-1)[0])
        for trip in range(trips):
            if not keep or self.why:
                return
            made = self.enter(attribute(node, "body"),
                              [np.array(trip), np.array(keep), *state], known)
            if not self.why:
                keep, state = bool(made[0].reshape(-1)[0]), made[1:1 + len(state)]

    def enter_scan(self, node, inputs, known):
        count = attribute(node, "num_scan_inputs")
        axes = attribute(node, "scan_input_axes", [0] * count)
        backwards = attribute(node, "scan_input_directions", [0] * count)
        state, rows = inputs[:-count], inputs[-count:]
        length = rows[0].shape[axes[0]]
        for trip in range(length):
            if self.why:
                return
            items = [np.take(r, length - 1 - trip if back else trip, axis)
                     for r, axis, back in zip(rows, axes, backwards)]
            state = self.enter(attribute(node, "body"), [*state, *items],
                               known)[:len(state)]


def find_open_inside(model, name, inputs):
    """Why a node that the model's value `name` comes of, with these inputs, has a result that
    ONNX leaves open, or None."""
    wanted, nodes = {name}, []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            nodes.append(node)
            wanted.update(names_read(node))
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    known.update(inputs)
    walk = Walk(model)
    walk.run(nodes[::-1], known)
    return walk.why
