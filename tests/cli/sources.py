#!/usr/bin/env python3
"""Does each step of an artifact name nodes, and has each node of the model a fate?

    sources.py ARTIFACT [COUNT]     COUNT: nodes of the main graph of an ONNX model
SPDX-License-Identifier: Apache-2.0"""

import json
import sys
import zipfile

FATES = {"step", "view", "folded", "removed"}


def check(path, count):
    with zipfile.ZipFile(path) as artifact:
        sources = json.loads(artifact.read("sources.json"))
    nodes, steps = sources["nodes"], sources["steps"]
    assert steps and nodes, "no steps or no nodes"
    used = set()
    for index, step in enumerate(steps):
        assert step, f"step {index} names no node"
        assert step == sorted(set(step)), f"step {index} names a node twice"
        assert 0 <= step[0] and step[-1] < len(nodes), f"step {index}: no such node"
        used.update(step)
    for index, node in enumerate(nodes):
        assert node["fate"] in FATES, node
        assert (index in used) == (node["fate"] == "step"), node
    numbers = [n["number"] for n in nodes if "graph" not in n and "number" in n]
    if count:
        assert numbers == list(range(1, count + 1)), "a node of the model is missing"
    print(f"{len(nodes)} nodes, {len(steps)} steps")


check(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
