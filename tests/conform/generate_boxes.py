#!/usr/bin/env python3
"""Writes the conformance cases of boxes without those that a better one covers.

SPDX-License-Identifier: Apache-2.0

    /usr/bin/python3 tests/conform/generate_boxes.py        (python3-numpy)

As generate.py, whose helpers it uses: what should come out follows from the definition
by plain loops.
"""
import numpy as np

from generate import File
from generate_index import key


def suppress_list(edges, scores, share, high, lowest):
    """Numbers of the boxes that are kept, each step in the edges' dtype."""
    dtype, stand = edges.dtype.type, []
    order = sorted(range(len(scores)), key=lambda i: (
        -np.inf if np.isnan(scores[i]) else 0, -key(scores[i:i + 1])[0], i))
    with np.errstate(all="ignore"):
        area = (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])
        for i in order:
            low = np.maximum(edges[i, :2], edges[stand, :2])
            side = np.maximum(np.minimum(edges[i, 2:], edges[stand, 2:]) - low, dtype(0))
            common = side[:, 0] * side[:, 1]
            covered = common / (area[i] + area[stand] - common) > share
            if (lowest is None or scores[i] > lowest) and not covered.any() and len(stand) < high:
                stand.append(i)
    return stand + [-1] * (len(scores) - len(stand)), len(stand)


def suppress_case(file, name, edges, scores, share, high, lowest=None):
    dtype = {"float32": "f32", "float64": "f64"}[edges.dtype.name]
    share = edges.dtype.type(share)
    lists = [[suppress_list(edges[b], line, share, high, lowest) for line in scores[b]]
             for b in range(len(scores))]
    inputs = [("x", dtype, edges), ("y", "f32", scores), ("share", dtype, np.array(share)),
              ("most", "i64", np.array(high))]
    if lowest is not None:
        inputs.append(("least", "f32", np.array(lowest, np.float32)))
    names = ", ".join(f"%{i[0]}" for i in inputs)
    numbers = np.array([[p[0] for p in b] for b in lists], np.int64).reshape(scores.shape)
    counts = np.array([[p[1] for p in b] for b in lists], np.int64).reshape(scores.shape[:2])
    file.case(f"suppress/{name}", [f"%0, %1 = suppress {names}", "ret %0, %1"], inputs,
              [("i64", numbers), ("i64", counts)])


def suppressing(file):
    draw = np.random.default_rng(3)

    def boxes(batch, count, dtype=np.float32):
        low = draw.integers(0, 8, (batch, count, 2))
        return np.concatenate([low, low + draw.integers(0, 5, low.shape)], 2).astype(dtype)

    def scores(*shape):
        return draw.choice(np.arange(-6, 7) / 4, shape).astype(np.float32)

    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        for share in (0, 0.3, 0.5, 1):
            suppress_case(file, f"{name}/{share}", boxes(2, 19, dtype), scores(2, 3, 19), share,
                          99, -0.5)
        suppress_case(file, f"{name}/most", boxes(1, 40, dtype), scores(1, 2, 40), 0.2, 3)
        suppress_case(file, f"{name}/below", boxes(1, 9, dtype), scores(1, 1, 9), -0.25, 9)
    thirds = (boxes(1, 30) / np.float32(3)).astype(np.float32)
    suppress_case(file, "rounded", thirds, scores(1, 2, 30), np.float32(1) / 3, 99)
    odd = np.array([0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 1e-45, np.nan, 0.0], np.float32)
    apart = np.arange(10)[None, :, None] * 4 + np.array([0, 0, 3, 3], np.float32)
    suppress_case(file, "scores", apart.astype(np.float32), odd[None, None], 0.5, 99)
    suppress_case(file, "scores/least", apart.astype(np.float32), odd[None, None], 0.5, 99, 0)
    suppress_case(file, "scores/nan", apart.astype(np.float32), odd[None, None], 0.5, 99, np.nan)
    edges = np.array([[0, 0, 4, 4], [0, 0, np.inf, 4], [np.nan, 0, 4, 4], [4, 4, 0, 0],
                      [0, 0, 4, 4], [1, 1, 1, 1], [1, 1, 1, 1], [-np.inf, 0, np.inf, 4],
                      [0, 0, 1e30, 1e30], [0, 0, 1e-30, 1e-30]], np.float32)
    for share in (0, 0.5, -1):
        suppress_case(file, f"edges/{share}", edges[None], scores(1, 2, 10), share, 99)
    suppress_case(file, "none", boxes(1, 5), scores(1, 2, 5), 0.5, 0)
    suppress_case(file, "below_none", boxes(1, 5), scores(1, 2, 5), 0.5, -1)
    suppress_case(file, "one", boxes(1, 1), scores(1, 1, 1), 0.5, 1)
    suppress_case(file, "no_boxes", boxes(1, 0), scores(1, 2, 0), 0.5, 1)
    suppress_case(file, "no_lists", boxes(2, 3), scores(2, 0, 3), 0.5, 1)


if __name__ == "__main__":
    boxes = File("boxes.txt", "suppress (generate_boxes.py)")
    suppressing(boxes)
    boxes.write()
