"""Random ONNX models with what ONNX Runtime gives for them.

SPDX-License-Identifier: Apache-2.0

A model is drawn from its seed alone.  Its data sets are the inputs that it was drawn
with and, where it has open extents and still runs, the same with other extents.
"""

import dataclasses

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import rows_control
import rows_elementwise
import rows_layers
import rows_movement
from chain import (FLOATS, VARIANTS, Unjudged, as_array, dtype_of, find_difference, judge_mask,
                   names_read, variants_of)
from graph import Graph, Rejected
from binding import CODES
from open_results import FREE, JUDGED, find_open_result, level_of

FAMILIES = (rows_elementwise, rows_movement, rows_layers, rows_control)
SIZES = (2, 3, 5, 8, 12, 18, 28)


@dataclasses.dataclass
class DataSet:
    inputs: dict   # name -> array
    wanted: list   # of each output: array
    masks: list    # of each output: what can be judged, and how far it may be off
    levels: list   # of each output: what it is held to (open_results.py)


@dataclasses.dataclass
class Drawn:
    seed: int
    model: onnx.ModelProto
    graph: Graph
    output_names: list
    sets: list
    judged_by: str
    statements: list  # what fixes every extent of the first data set


class NoModel(Exception):
    """The seed gives nothing that can be judged."""


def draw_graph(seed):
    graph = Graph(seed)
    rows_control.draw_nodes(graph, graph.choice(SIZES))
    return graph


def choose_outputs(graph):
    read = set()
    for node in graph.root.nodes:
        read.update(names_read(node))
    made = {o for n in graph.root.nodes for o in n.output}
    ends = [v for v in graph.root.values if v.name in made and not v.is_sequence]
    chosen = [v for v in ends if v.name not in read or graph.chance(0.15)]
    chosen = [v for v in chosen if judge_mask(v.variants) is not None]
    if not chosen:
        raise NoModel("no outputs that are steady")
    return chosen[-12:]


def needed_nodes(graph, outputs):
    """Without those that nothing reads, most of the time: they test little."""
    if graph.chance(0.15):
        return list(graph.root.nodes)
    wanted, kept = {v.name for v in outputs}, []
    for node in reversed(graph.root.nodes):
        if wanted & set(node.output):
            kept.append(node)
            wanted.update(names_read(node))
    return kept[::-1]


def open_extents(graph):
    """For each input the names of its open extents: by extent, not always right."""
    names = {}
    for value in graph.inputs:
        names[value.name] = [
            f"d{e}" if graph.has_open_dims and graph.chance(0.6) else e
            for e in value.shape]
    return names


def make_model(graph, outputs, nodes, dims):
    read = {n for node in nodes for n in names_read(node)}
    for function in graph.functions:
        read.update(n for node in function.node for n in names_read(node))
    initializers = [t for t in graph.root.initializers if t.name in read]
    inputs = [helper.make_tensor_value_info(v.name, CODES[v.dtype], dims[v.name])
              for v in graph.inputs if v.name in read]
    version = graph.random.choice((8, 9, 10)) if graph.functions else (
        graph.random.choice((4, 6, 7, 8, 9, 10)))
    if graph.opset <= 8 and graph.chance(0.5) and not graph.functions:
        version = 3
        inputs += [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims))
                   for t in initializers]
    infos = [helper.make_tensor_value_info(
        v.name, CODES[v.dtype], [None] * v.rank) for v in outputs]
    body = helper.make_graph(nodes, "random", inputs, infos, initializers)
    opsets = [helper.make_opsetid("", graph.opset)]
    if graph.functions:
        opsets.append(helper.make_opsetid("local", 1))
    return helper.make_model(body, opset_imports=opsets, ir_version=version,
                             functions=graph.functions)


def run_whole(model, arrays):
    """ONNX Runtime's answer to the whole model; None where it lacks something."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
    except Exception as error:
        return None, str(error)
    try:
        if any(dtype_of(a) == "bf16" for a in arrays.values()):
            return None, "bf16"
        return [as_array(r) for r in session.run(None, arrays)], ""
    except Exception as error:
        return None, str(error)


def replay(graph, replaced):
    """All values again with other inputs, and what they are held to; raises Unjudged."""
    levels = {}
    values = {v.name: v.variants for v in graph.root.values if v.is_constant}
    values.update({v.name: v.variants for v in graph.inputs})
    values.update({n: [a] * (1 + VARIANTS) for n, a in replaced.items()})
    for step in graph.steps:
        given = [values[n][0] if n else None for n in step.node.input]
        try:
            made = variants_of(step, values, graph.numbers, *step.rounds(*given))
            why = find_open_result(step, given, [m[0] for m in made])
        except Unjudged:
            raise
        except Exception as error:
            raise Unjudged(str(error)[:80]) from None
        firsts = [m[0] for m in made]
        if why and (not graph.keeps_open or why in FREE):
            raise Unjudged("open result")
        level = level_of(step, why, [(levels.get(n, JUDGED), values[n]) for n in step.reads])
        levels.update((n, level) for n in step.makes)
        if any(f.size > 20000 for f in firsts if not isinstance(f, list)):
            raise Unjudged("too large")
        values.update(zip(step.makes, made))
    return values, levels


def other_extents(graph, dims):
    """The inputs with other open extents, their elements taken from the drawn ones."""
    used = sorted({d for ds in dims.values() for d in ds if isinstance(d, str)})
    news = {d: graph.choice((0, 1, 2, 3, 5, 6, 9, 12, 19, 40)) for d in used}
    replaced = {}
    for value in graph.inputs:
        shape = tuple(news.get(d, d) for d in dims[value.name])
        if shape != value.shape:
            if value.size == 0 and np.prod(shape):
                replaced[value.name] = graph.draw_array(value.dtype, shape)
            else:
                replaced[value.name] = np.resize(value.first, shape)
    return replaced


def other_elements(graph):
    """The inputs with other reals and truths: a branch may go the other way."""
    return {v.name: graph.draw_array(v.dtype, v.shape) for v in graph.inputs
            if v.dtype in FLOATS + ("bool",)}


def make_set(outputs, values, levels, inputs):
    masks = [judge_mask(values[v.name]) for v in outputs]
    if any(m is None for m in masks):
        return None
    return DataSet(inputs, [values[v.name][0] for v in outputs], masks,
                   [levels.get(v.name, JUDGED) for v in outputs])


def draw_sets(graph, model, outputs, dims):
    names = {i.name for i in model.graph.input}
    inputs = {v.name: v.first for v in graph.inputs if v.name in names}
    values = {v.name: v.variants for v in graph.root.values}
    levels = {v.name: v.level for v in graph.root.values}
    sets = [make_set(outputs, values, levels, inputs)]
    has_open = any(isinstance(d, str) for n in names & set(dims) for d in dims[n])
    draws = [other_elements] * graph.chance(0.25) + [lambda g: other_extents(g, dims)] * (
        3 if has_open else 0)
    for draw in draws:
        replaced = draw(graph)
        try:
            replayed, levels = replay(graph, replaced)
        except (Unjudged, Rejected):
            continue
        other = make_set(outputs, replayed, levels, {
            n: replaced.get(n, a) for n, a in inputs.items()})
        if other:
            sets.append(other)
        if len(sets) == 3:
            break
    return sets


def draw_model(seed):
    graph = draw_graph(seed)
    outputs = choose_outputs(graph)
    dims = open_extents(graph)
    model = make_model(graph, outputs, needed_nodes(graph, outputs), dims)
    sets = draw_sets(graph, model, outputs, dims)
    whole, words = run_whole(model, sets[0].inputs)
    if whole is None:
        lacks = ("NOT_IMPLEMENTED", "Could not find an implementation", "bf16",
                 "Type Error", "is invalid")
        if not any(w in words for w in lacks):
            raise NoModel("whole: " + words.splitlines()[0][:150])
        judged_by = "nodes"
    else:
        judged_by = "whole graph"
        for value, got, want, mask in zip(outputs, whole, sets[0].wanted, sets[0].masks):
            off = None if value.is_open else find_difference(got, want, mask)
            if off:
                raise NoModel(f"whole and nodes differ: {value.name}: {off}")
    statements = [f"{n}={dtype_of(a)}[{','.join(map(str, a.shape))}]"
                  for n, a in sets[0].inputs.items()]
    return Drawn(seed, model, graph, [v.name for v in outputs], sets, judged_by,
                 statements)


