#!/usr/bin/env python3
"""Products of computed matrices, and layers of 8-bit weights, against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    products.py [--only attention|weights] [--threads N] [--rounds N] [--json out.json]

Runs with the Python of bench/peers, against the build in INGOT_BUILD (build/release).
`attention` has queries times keys (both lie along the depth), weights times values, and
rows of features times themselves; queries and keys are of open number.  `weights` has
one linear layer in int8 with a scale for each output, as DequantizeLinear in front of
Gemm, beside the same layer in f32, by both engines.
"""

import argparse
import collections

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import measure
from engines import IngotEngine, OrtEngine
from models import cache_folder

OPSET = 17
TURN = 0.004  # seconds
SET_BYTES, MAX_SETS = 64 << 20, 16
# ONNX Runtime rounds what meets 8-bit weights to 8 bits itself.
AGREEMENT = {"attention": 1e-4, "weights": 3e-2}

Source = collections.namedtuple("Source", "path model load")
Shape = collections.namedtuple("Shape", "output_shape size")
# Of matrices side by side (batch times heads), queries, keys, depth of a head.
SCORES = ((8, 1, 512, 64), (8, 8, 64, 64), (8, 64, 64, 64), (96, 50, 50, 32),
          (32, 128, 128, 64), (12, 512, 512, 64), (4, 512, 512, 128), (1, 200, 200, 64))
VALUES = ((8, 1, 512, 64), (8, 64, 64, 64), (96, 50, 50, 32), (12, 512, 512, 64))
FEATURES = ((1, 27, 27, 64), (64, 27, 27, 64))
LAYERS = ((512, 512), (1024, 1024), (3456, 1024))
ROWS = (1, 8, 64)


def save(name, nodes, inputs, output, constants=()):
    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    body = helper.make_graph(nodes, name, [value(n, s) for n, s in inputs],
                             [value("y", output)], constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=8)
    onnx.checker.check_model(model)
    path = cache_folder() / f"product_{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def scores(name, count, queries, keys, depth):
    """Queries times keys; features times themselves."""
    is_own = name == "features"
    other = "q" if is_own else "k"
    nodes = [helper.make_node("Transpose", [other], ["t"], perm=[0, 2, 1]),
             helper.make_node("MatMul", ["q", "t"], ["y"])]
    first = ["B", queries if is_own else "T", depth]
    inputs = [("q", first)] + ([] if is_own else [("k", ["B", "S", depth])])
    output = ["B", first[1], first[1] if is_own else "S"]
    path = save(f"{name}_{queries if is_own else 'T'}_{depth}", nodes, inputs, output)
    shapes = [(count, queries, depth)] + ([] if is_own else [(count, keys, depth)])
    return Source(path, Shape((queries, keys), "small"), "mapped"), shapes


def values(count, queries, keys, depth):
    nodes = [helper.make_node("MatMul", ["p", "v"], ["y"])]
    inputs = [("p", ["B", "T", "S"]), ("v", ["B", "S", depth])]
    path = save(f"values_{depth}", nodes, inputs, ["B", "T", depth])
    shapes = [(count, queries, keys), (count, keys, depth)]
    return Source(path, Shape((queries, depth), "small"), "mapped"), shapes


def layer(k, n, is_narrow):
    """[N, K], as torch has it."""
    rng = np.random.default_rng(3)
    weight = rng.integers(-127, 128, (n, k)).astype("int8")
    scale = (rng.uniform(0.5, 1.5, n) / 70 / np.sqrt(k)).astype("float32")
    bias = rng.standard_normal(n).astype("float32")
    constants = [numpy_helper.from_array(bias, "b")]
    nodes = []
    if is_narrow:
        constants += [numpy_helper.from_array(weight, "q"),
                      numpy_helper.from_array(scale, "s")]
        nodes = [helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=0)]
    else:
        constants += [numpy_helper.from_array(weight * scale[:, None], "w")]
    nodes.append(helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1))
    path = save(f"layer_{k}_{n}_{'i8' if is_narrow else 'f32'}", nodes, [("x", ["B", k])],
                ["B", n], constants)
    return Source(path, Shape((n, ), "small"), "mapped")


def make_sets(shapes):
    rng = np.random.default_rng(5)
    each = sum(4 * int(np.prod(shape)) for shape in shapes)
    count = max(2, min(MAX_SETS, SET_BYTES // each))
    return [[rng.standard_normal(shape, "float32") for shape in shapes]
            for _ in range(count)]


def prepared(engine, name, sets):
    engine.name = name
    engine.prepare(sets)
    return engine


def check(engines, tolerance):
    for engine in engines:
        engine.run(0)
    want = engines[-1].output(0)
    for engine in engines[:-1]:
        error = np.abs(engine.output(0) - want).max() / np.abs(want).max()
        if not error <= tolerance:
            raise SystemExit(f"{engine.name} is off by {error:.2g} of the largest number")


def run_point(kind, name, engines, set_count, options):
    check(engines, AGREEMENT[kind])
    return measure.run_point(name, engines, set_count, options, TURN)


def attention_points():
    for extents in SCORES:
        yield "queries x keys", extents, scores("scores", *extents)
    for extents in VALUES:
        yield "weights x values", extents, values(*extents)
    for extents in FEATURES:
        yield "features x features", extents, scores("features", *extents)


def attention(options):
    for what, extents, (source, shapes) in attention_points():
        sets = make_sets(shapes)
        engines = [prepared(IngotEngine(source, options.threads), "ingot", sets),
                   prepared(OrtEngine(source, options.threads), "onnxruntime", sets)]
        name = f"{what} {extents[0]} x ({'x'.join(map(str, extents[1:]))})"
        yield run_point("attention", name, engines, len(sets), options)


def weights(options):
    for k, n in LAYERS:
        narrow, wide = layer(k, n, True), layer(k, n, False)
        for rows in ROWS:
            sets = make_sets([(rows, k)])
            engines = [prepared(make(source, options.threads), name, sets)
                       for make, source, name in (
                           (IngotEngine, narrow, "ingot"),
                           (OrtEngine, narrow, "onnxruntime"),
                           (IngotEngine, wide, "ingot in f32"),
                           (OrtEngine, wide, "onnxruntime in f32"))]
            name = f"int8 {k} -> {n}, {rows} rows"
            yield run_point("weights", name, engines, len(sets), options)


KINDS = {"attention": attention, "weights": weights}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=KINDS)
    measure.add_options(parser, rounds=21)
    options = parser.parse_args()
    points = []
    for kind in [options.only] if options.only else KINDS:
        for point in KINDS[kind](options):
            measure.show(point)
            points.append(point)
    measure.write_report(options, points)


main()
