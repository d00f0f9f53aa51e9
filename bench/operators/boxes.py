#!/usr/bin/env python3
"""Boxes without those that a better one covers, against ONNX Runtime: answers and CPU time.

SPDX-License-Identifier: Apache-2.0

    $python bench/operators/boxes.py                     # sizes of ROWS below
    $python bench/operators/boxes.py --check 200 --seed 7  # answers alone, of all kinds
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from exports import open_session, time_both
from ingot_runtime import BUILD, Binding, Program
from trees import compile_model

ROWS = [  # batch, classes, boxes, most, share, least score
    (1, 1, 256, 100, 0.5, None),
    (1, 1, 1000, 300, 0.7, None),
    (1, 1, 6000, 2000, 0.7, None),
    (1, 20, 8732, 200, 0.45, 0.01),
    (1, 80, 8400, 100, 0.5, 0.25),
    (8, 80, 1000, 100, 0.5, 0.05),
]


def write_model(path, kind):
    """Extents stay open; limits are constants, where the kind has them."""
    limits = {"most": (np.int64, kind["most"]), "share": (np.float32, kind["share"]),
              "least": (np.float32, kind["least"])}
    constants = [helper.make_tensor(n, helper.np_dtype_to_tensor_dtype(np.dtype(d)), [1], [v])
                 for n, (d, v) in limits.items() if v is not None]
    node = helper.make_node(
        "NonMaxSuppression",
        ["boxes", "scores", *(n if v is not None else "" for n, (_, v) in limits.items())],
        ["y"], center_point_box=kind["centre"])
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "boxes", [value("boxes", TensorProto.FLOAT, ["B", "N", 4]),
                          value("scores", TensorProto.FLOAT, ["B", "C", "N"])],
        [value("y", TensorProto.INT64, ["K", 3])], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
         path)


def draw_boxes(draw, batch, count, centre):
    """Half of them are near another one."""
    low = draw.uniform(0, 600, (batch, count, 2))
    size = draw.uniform(8, 120, (batch, count, 2))
    half = count // 2
    low[:, half:] = low[:, :count - half] + draw.normal(0, 8, (batch, count - half, 2))
    second = size if centre else low + size
    return np.concatenate([low, second], 2).astype(np.float32)


def measure(folder):
    for batch, classes, count, high, share, lowest in ROWS:
        draw = np.random.default_rng(1)
        kind = {"most": high, "share": share, "least": lowest, "centre": 0}
        path = folder / "boxes.onnx"
        write_model(path, kind)
        scores = draw.beta(0.5, 6, (batch, classes, count)).astype(np.float32)
        arrays = [draw_boxes(draw, batch, count, 0), scores]
        artifact, session = compile_model(path), open_session(path)
        rounds = time_both(artifact, session, arrays)
        ratios = sorted(peer / own for own, peer in rounds)
        own, peer = (1e6 * min(r[i] for r in rounds) for i in (0, 1))
        print(f"{batch} x {classes} lists of {count} boxes, at most {high}, share {share}, "
              f"least score {lowest}: {own:.1f} us, ONNX Runtime {peer:.1f} us, ratio "
              f"{ratios[len(ratios) // 2]:.2f} [{ratios[1]:.2f}, {ratios[-2]:.2f}]",
              flush=True)


def draw_kind(draw):
    return {"most": int(draw.choice([0, 1, 5, 2000])),
            "share": float(draw.choice([0, 0.1, 0.5, 0.9, 1])),
            "least": draw.choice([None, -np.inf, 0.0, 0.3, 0.5]),
            "centre": int(draw.integers(2))}


def draw_inputs(draw, kind):
    """Equal scores, zeros of both signs, infinities; boxes of whole numbers that touch, are
    equal or have no area, with corners in either order."""
    batch, classes = (int(draw.integers(1, 4)) for _ in range(2))
    count = int(draw.choice([0, 1, 2, 15, 16, 17, 63, 200, 1500]))
    boxes = draw_boxes(draw, batch, count, kind["centre"])
    if draw.random() < 0.5:
        boxes = draw.integers(0, 6, boxes.shape).astype(np.float32)
    scores = draw.normal(size=(batch, classes, count))
    if draw.random() < 0.5:
        scores = draw.choice([-np.inf, np.inf, -1, -0.0, 0, 1e-45, 0.3, 0.5, 1], scores.shape)
    return [boxes, scores.astype(np.float32)]


def check_kinds(folder, options):
    draw = np.random.default_rng(options.seed)
    for _ in range(options.check):
        kind = draw_kind(draw)
        path = folder / "boxes.onnx"
        write_model(path, kind)
        artifact, session = compile_model(path), open_session(path)
        program = Program(artifact, "mapped", BUILD)
        run = program.session(1)
        for _ in range(8):
            arrays = draw_inputs(draw, kind)
            want = session.run(None, dict(zip(("boxes", "scores"), arrays)))[0]
            got = np.full_like(want, -7)
            run.run(Binding(arrays, [got]))
            if not np.array_equal(got, want):
                raise SystemExit(f"{kind}, boxes {arrays[0].shape}: {got}, not {want}")
        run.close()
        program.close()
    print(f"{options.check} models: the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=int, help="how many drawn models to compare")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.check:
            check_kinds(pathlib.Path(folder), options)
        else:
            measure(pathlib.Path(folder))


if __name__ == "__main__":
    main()
