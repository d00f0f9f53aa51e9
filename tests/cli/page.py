#!/usr/bin/env python3
"""Does a page hold the ops of the same dump, and nothing of the net?

    page.py PAGE.html DUMP.json [STATES]

DUMP: `ingot dump --format json` at the stage of the page's last state; STATES: how many
states there are at least.
SPDX-License-Identifier: Apache-2.0"""

import base64
import json
import re
import sys
import zlib


def read(page, name):
    found = re.search(f'<script id="{name}" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    assert found, f"no {name} in the page"
    return json.loads(zlib.decompress(base64.b64decode(found[1]))), page.replace(found[1], "")


def ops_of(data, graph):
    runs = graph["ops"]
    return [data["ops"][first + i] for first, count in zip(runs[::2], runs[1::2])
            for i in range(count)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        dump = json.load(file)
    data, rest = read(page, "data")
    code, rest = read(rest, "code")
    last = data["states"][-1]
    graphs = {graph["graph"]: graph for graph in last["graphs"]}
    for wanted in dump["graphs"]:
        graph = graphs[wanted["graph"]]
        assert graph["stage"] == wanted["stage"]
        own = sorted((op["o"], [data["types"][r[1]] for r in op["r"]],
                      [data["sources"][s] for s in op.get("s", [])])
                     for op in ops_of(data, graph))
        assert own == sorted((op["op"], [r["type"] for r in op["results"]], op["sources"])
                             for op in wanted["ops"]), "other ops"
        kernels = {re.search(r"kernel = @([\w.]+)", op["a"])[1] for op in ops_of(data, graph)
                   if op["o"] == "launch"}
        assert not code or kernels <= code.keys(), "kernels without code"
    assert len(data["states"]) >= int(sys.argv[3] if sys.argv[3:] else 1), "states are missing"
    assert not re.search(r"https?:|//[a-z]+\.|\bsrc=|@import|url\(", rest), "the net"
    print(f"{len(page)} bytes, {len(data['states'])} states, {len(code)} kernels")


main()
