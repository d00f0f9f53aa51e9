#!/usr/bin/env python3
"""Tree ensembles of drawn trees against ONNX Runtime: answers and CPU time.

SPDX-License-Identifier: Apache-2.0

    $python bench/operators/trees.py                     # shapes of ROWS below
    $python bench/operators/trees.py --check 200 --seed 7  # answers alone, of all kinds
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exports import open_session, time_both
from ingot_runtime import BUILD, Binding, Program

ROWS = [  # trees, depth, features, targets, whether NaN is tracked
    (10, 4, 20, 1, False),
    (100, 6, 50, 1, False),
    (100, 6, 50, 1, True),
    (100, 6, 50, 5, False),
    (300, 10, 100, 1, False),
    (1000, 6, 50, 1, False),
    (1000, 8, 200, 1, False),
]
MODES = "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ".split()


def draw_nodes(draw, kind):
    """Lists of attributes by name; some branches end early."""
    lists = {k: [] for k in "treeids nodeids featureids modes values truenodeids "
             "falsenodeids missing_value_tracks_true".split()}
    leaves = []
    for tree in range(kind["trees"]):
        todo, used = [(0, 0)], 1
        while todo:
            node, depth = todo.pop(0)
            is_leaf = depth == kind["depth"] or (depth > 1 and draw.random() < kind["ends"])
            children = (0, 0) if is_leaf else (used, used + 1)
            if not is_leaf:
                todo += [(used, depth + 1), (used + 1, depth + 1)]
                used += 2
            else:
                leaves.append((tree, node))
            row = (tree, node, 0 if is_leaf else int(draw.integers(kind["features"])),
                   "LEAF" if is_leaf else str(draw.choice(kind["modes"])),
                   0.0 if is_leaf else float(draw.choice(kind["values"])), *children,
                   int(kind["tracks"] and draw.random() < 0.5))
            for name, value in zip(lists, row):
                lists[name].append(value)
    return {f"nodes_{k}": v for k, v in lists.items()}, leaves


def write_model(path, draw, kind):
    attrs, leaves = draw_nodes(draw, kind)
    weights = []
    for tree, node in leaves:
        many = range(kind["targets"]) if kind["shares"] else [tree % kind["targets"]]
        weights += [(tree, node, t, float(np.float32(draw.normal()))) for t in many]
    if not kind["tracks"]:
        del attrs["nodes_missing_value_tracks_true"]
    for name, column in zip(("treeids", "nodeids", "ids", "weights"), zip(*weights)):
        attrs[f"target_{name}"] = list(column)
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml",
                            n_targets=kind["targets"], aggregate_function=kind["op"], **attrs)
    shape = ["N", kind["features"]]
    graph = helper.make_graph(
        [node], "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", kind["targets"]])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def compile_model(path):
    artifact = path.with_suffix(".ingot")
    done = subprocess.run([BUILD / "ingot", "compile", path, "-o", artifact],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return artifact


def check(artifact, session, x):
    want = session.run(None, {"x": x})[0]
    program = Program(artifact, "mapped", BUILD)
    run, got = program.session(1), np.zeros_like(want)
    run.run(Binding([x], [got]))
    run.close()
    program.close()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def measure(folder, options):
    for trees, depth, features, targets, tracks in ROWS:
        draw = np.random.default_rng(1)
        kind = {"trees": trees, "depth": depth, "features": features, "targets": targets,
                "ends": 0.05, "modes": ["BRANCH_LEQ"], "values": draw.normal(size=1000),
                "tracks": tracks, "shares": False, "op": "SUM"}
        path = folder / "trees.onnx"
        write_model(path, draw, kind)
        artifact, session = compile_model(path), open_session(path)
        for rows in options.rows:
            x = draw.normal(size=(rows, features)).astype(np.float32)
            check(artifact, session, x)
            rounds = time_both(artifact, session, [x])
            ratios = sorted(peer / own for own, peer in rounds)
            own, peer = (1e6 * min(r[i] for r in rounds) for i in (0, 1))
            print(f"{trees} trees of depth {depth}, {features} features, {targets} targets"
                  f"{', NaN tracked' if tracks else ''}, {rows} rows: {own:.1f} us, ONNX "
                  f"Runtime {peer:.1f} us, ratio {ratios[len(ratios) // 2]:.2f} "
                  f"[{ratios[1]:.2f}, {ratios[-2]:.2f}]", flush=True)


def check_kinds(folder, options):
    """Values lie on thresholds, and are infinite or NaN, more often than not."""
    draw = np.random.default_rng(options.seed)
    for _ in range(options.check):
        features, targets = (int(draw.integers(1, n)) for n in (5, 4))
        values = [-np.inf, np.inf, -1, -0.0, 0, 1e-45, 1, 2, 3.5]
        kind = {"trees": int(draw.integers(1, 20)), "depth": int(draw.integers(0, 7)),
                "features": features, "targets": targets, "ends": 0.2, "values": values,
                "modes": MODES[: int(draw.integers(1, 7))], "tracks": draw.random() < 0.5,
                "shares": draw.random() < 0.5,
                "op": str(draw.choice(["SUM", "MIN", "MAX", "AVERAGE"]))}
        path = folder / "trees.onnx"
        write_model(path, draw, kind)
        artifact, session = compile_model(path), open_session(path)
        for rows in (1, 7, 8, 33, 70):
            x = draw.choice([*values, np.nan, 0.5], size=(rows, features))
            try:
                check(artifact, session, x.astype(np.float32))
            except AssertionError as error:
                raise SystemExit(f"{kind}, {rows} rows: {error}") from None
    print(f"{options.check} ensembles: the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=int, help="how many drawn ensembles to compare")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=lambda s: [int(n) for n in s.split(",")],
                        default=[1, 16, 1024])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (check_kinds if options.check else measure)(pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
