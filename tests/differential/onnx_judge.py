"""A drawn ONNX model through Ingot: interpreted, and compiled with open or fixed extents.

SPDX-License-Identifier: Apache-2.0

Results are held to ONNX Runtime's.  Where these are open (open_results.py) compiled code is
held to the interpreter, and so it is about which runs are refused.
"""

import itertools

import numpy as np
import onnx

from bodies import find_open_inside
from chain import FLOATS, UNIT, dtype_of, find_difference, judge_mask, names_read
from binding import Context, Refused
from open_results import FREE, HELD, LOOSE, UNKNOWN

FORMS = ("interpret", "dynamic", "static")
OPEN_UNITS = 64  # in the last place, that code and the interpreter may be apart
NOISE = 0.01     # of an open result: what is less sure than that is not compared


def sets_of(form, sets):
    """Those that the form takes: with fixed extents what has those of the first."""
    shapes = [a.shape for a in sets[0].values()]
    if form != "static":
        return sets
    return list(itertools.takewhile(
        lambda inputs: [a.shape for a in inputs.values()] == shapes, sets))


def run_form(context, content, form, statements, sets):
    """For each data set the outputs by name, or the Refused of that run."""
    model = context.load(content, statements if form == "static" else ())
    program, results = None, []
    try:
        if form != "interpret":
            program = model.compile()
        for inputs in sets_of(form, sets):
            arrays = [inputs[n] for n in model.inputs]
            try:
                made = (program.run(arrays) if program
                        else model.interpret(arrays))
                results.append(dict(zip(model.outputs, made)))
            except Refused as error:
                results.append(error)
    finally:
        if program:
            program.close()
        model.close()
    return results


def widen(mask, want):
    """The mask, for the interpreter's result; another shape has no tolerance of its own."""
    steady, off = mask
    if steady.shape != want.shape:
        steady, off = np.ones(want.shape, bool), np.zeros(want.shape)
    if dtype_of(want) not in FLOATS:
        return steady, off
    with np.errstate(all="ignore"):
        wide = np.abs(want.astype(np.float64))
        steady = steady & ~(off > NOISE * wide)
        return steady, off + OPEN_UNITS * UNIT[dtype_of(want)] * np.where(
            np.isfinite(wide), wide, 0)


def compare(drawn, results, interpreted):
    """(data set, output, words) of what is off.  `interpreted`: the interpreter's results,
    or None where these are the ones to judge."""
    for index, result in enumerate(results):
        data = drawn.sets[index]
        model = interpreted[index] if interpreted else None
        if isinstance(model, Refused) or isinstance(result, Refused):
            if model is None or type(model) is not type(result):
                yield index, None, words_of_refusal(model, result)
            continue
        for name, want, mask, level in zip(drawn.output_names, data.wanted, data.masks,
                                           data.levels):
            if level == UNKNOWN:
                continue
            if level == HELD:
                off = model and find_difference(result[name], model[name],
                                                widen(mask, model[name]))
            else:
                off = find_difference(result[name], want, mask)
            if off:
                yield index, name, off


def words_of_refusal(model, result):
    if not isinstance(result, Refused):
        return f"code runs what the interpreter refuses: {model}"
    if model is None or result.status in ("UNSUPPORTED", "LIMIT"):
        return f"run: {result}"
    return f"code refuses what the interpreter runs: {result}"


def name_extents(model):
    for index, value in enumerate(model.graph.input):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"e{index}_{axis}"


def fix_extents(model, given):
    for value in model.graph.input:
        for dim, extent in zip(value.type.tensor_type.shape.dim, given[value.name].shape):
            dim.dim_value = extent


def blame(context, drawn, form):
    """The first node that is off, or refused, by itself: (operator, words)."""
    graph = drawn.graph
    values = {v.name: v for v in graph.root.values}
    for step in graph.steps:
        given = {n: values[n].first for n in step.reads}
        if any(isinstance(v, list) for v in given.values()):
            continue
        makes = [n for n in step.makes if not values[n].is_sequence]
        if not makes or any(values[n].is_open for n in makes):
            continue
        constants = [n for n in step.reads if values[n].is_constant]
        model = step.model(given, constants)
        del model.graph.output[:]
        model.graph.output.extend([onnx.helper.make_tensor_value_info(
            n, onnx.helper.np_dtype_to_tensor_dtype(values[n].first.dtype), None)
            for n in makes])
        types = " ".join(f"{dtype_of(v)}{list(v.shape)}" for v in given.values())
        text = f"{step.node.op_type}({types}) opset {step.opset}"
        statements = [f"{n}={dtype_of(v)}[{','.join(map(str, v.shape))}]"
                      for n, v in given.items() if n not in constants]
        if form == "dynamic":
            name_extents(model)
        else:
            fix_extents(model, given)
        try:
            result = run_form(context, model.SerializeToString(), form, statements,
                              [given])[0]
        except Refused as error:
            return step.node.op_type, f"{text}: {error}"
        if isinstance(result, Refused):
            return step.node.op_type, f"{text}: run: {result}"
        for name in makes:
            mask = judge_mask(values[name].variants)
            off = mask and find_difference(result[name], values[name].first, mask)
            if off:
                return step.node.op_type, f"{text}: {off}"
    return None


def is_open_inside(drawn, found, results, interpreted):
    """Is what is off open by a node within a body or a function?  Code is then held to the
    interpreter, and the graph's tally says why."""
    number, name, words = found
    if name is None:
        return False
    try:
        why = find_open_inside(drawn.model, name, drawn.sets[number].inputs)
    except Exception:  # ONNX Runtime's have no class in common
        return False
    if not why:
        return False
    if interpreted and why not in FREE | LOOSE and isinstance(interpreted[number], dict):
        index = drawn.output_names.index(name)
        want = interpreted[number][name]
        if find_difference(results[number][name], want,
                           widen(drawn.sets[number].masks[index], want)):
            return False
    drawn.graph.rejections["inside of a body or function: " + why] += 1
    return True


def without_dead(nodes, wanted):
    """The nodes that something reads, in bodies too: the others may be removed, with what
    they refuse (ops.def: MAY_TRAP)."""
    wanted, kept = set(wanted), []
    for node in reversed(nodes):
        if not wanted & set(node.output):
            continue
        kept.append(onnx.NodeProto())
        kept[-1].CopyFrom(node)
        for body in (a.g for a in kept[-1].attribute if a.type == onnx.AttributeProto.GRAPH):
            left = without_dead(body.node, [o.name for o in body.output])
            del body.node[:]
            body.node.extend(left)
        wanted.update(names_read(kept[-1]))
    return kept[::-1]


def is_of_dead_node(context, drawn, found, results, interpreted):
    """Does the interpreter refuse a node alone that nothing reads, and agree without it?"""
    number, name, _ = found
    if name or not interpreted or isinstance(results[number], Refused) or not isinstance(
            interpreted[number], Refused):
        return False
    model = onnx.ModelProto()
    model.CopyFrom(drawn.model)
    del model.graph.node[:]
    model.graph.node.extend(without_dead(drawn.model.graph.node, drawn.output_names))
    inputs = [s.inputs for s in drawn.sets]
    alive = run_form(context, model.SerializeToString(), "interpret", (), inputs)
    drawn.graph.rejections["a node that nothing reads is refused"] += 1
    return isinstance(alive[number], dict) and not any(
        at == number for at, _, _ in compare(drawn, results, alive))


def judge_form(context, drawn, form, content, interpreted):
    """(None when all is well, else {kind, words, blame}; the results or None)."""
    inputs, results = [s.inputs for s in drawn.sets], None
    try:
        results = run_form(context, content, form, drawn.statements, inputs)
        if form == "static":  # extents that are known let more run
            interpreted = [r if isinstance(r, dict) else None for r in interpreted or ()]
        found = next((f for f in compare(drawn, results, interpreted) if not (
            is_open_inside(drawn, f, results, interpreted) or
            is_of_dead_node(context, drawn, f, results, interpreted))), None)
        if not found:
            return None, results
        number, name, words = found
        kind = "refused run" if words.startswith("run: ") else "wrong"
        words = f"set {number}, {name}: {words}"
    except Refused as error:
        kind, words = "refused", str(error)
        if error.status == "INTERNAL":
            kind = "wrong"
    at = blame(context, drawn, form)
    return {"form": form, "kind": kind, "words": words,
            "blame": at[0] if at else "", "node": at[1] if at else ""}, results


def forms_of(seed):
    """Code is most of the time that a graph takes: each second one has fixed extents."""
    return ("interpret", "static" if seed % 2 else "dynamic")


def judge(drawn, log=None, forms=None):
    """What each form does that is off, and how much was judged."""
    context, content = Context(), drawn.model.SerializeToString()
    findings, interpreted = [], None
    for form in forms or forms_of(drawn.seed):
        if log:
            log.stage(drawn.seed, form)
        found, results = judge_form(context, drawn, form, content, interpreted)
        if form == "interpret":
            interpreted = results
        if found:
            findings.append(found)
    context.close()
    masks = [m for s in drawn.sets for m in s.masks]
    return findings, (int(sum(m[0].sum() for m in masks)),
                      int(sum(m[0].size for m in masks)))
