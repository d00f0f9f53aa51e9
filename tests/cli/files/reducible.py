"""Writes ONNX models to be made smaller into the folder given.

chain.onnx has some 60 nodes.  In its middle are a Softmax, and behind it a Tanh that reads it
through a Reshape whose shape is computed; then an If whose branches read an outer value.
rows.onnx looks up rows by ids that are computed: of ids 2, 6, 0 it gives 3.25, 7.25, 1.25.

    reducible.py FOLDER

SPDX-License-Identifier: Apache-2.0
"""
import struct
import sys

folder = sys.argv[1]
sys.argv = ["tiny_onnx.py", "/dev/null", "relu"]
from tiny_onnx import F32, I64, field, tensor, value  # noqa: E402

BOOL, WIDTH = 9, 8
count = 0


def node(op, inputs, output, *attributes):
    global count
    count += 1
    return (b"".join(field(1, name) for name in inputs) + field(2, output) +
            field(3, f"node_{count}") + field(4, op) + b"".join(attributes))


def number(name, of):
    return field(5, field(1, name) + field(3, of) + field(20, 2))


def constant(name, dtype, dims, data):
    return b"".join(field(1, d) for d in dims) + field(2, dtype) + field(8, name) + field(9, data)


def branch(op, with_what):
    body = node(op, ["tanh", with_what], f"from_{op}")
    return field(1, body) + field(2, op) + field(12, value(f"from_{op}", tensor(F32)))


def graph_attribute(name, graph):
    return field(5, field(1, name) + field(6, graph) + field(20, 5))


def layers(first, last, at):
    """Nodes of some layers; the last gives `at`_LAST."""
    nodes = []
    for i in range(first, last):
        nodes += [node("MatMul", [f"a{i}", "w0"], f"m{i}"), node("Add", [f"m{i}", "b"], f"s{i}"),
                  node("Relu", [f"s{i}"], f"a{i + 1}")]
    return nodes


weights = [constant("w0", F32, [WIDTH, WIDTH],
                    struct.pack("<64f", *[(i * 7 % 11) / 16 for i in range(64)])),
           constant("b", F32, [WIDTH], struct.pack("<8f", *[i / 8 for i in range(8)])),
           constant("minus", I64, [1], struct.pack("<q", -1)),
           constant("eight", I64, [1], struct.pack("<q", WIDTH)),
           constant("true", BOOL, [], b"\1")]
nodes = [*layers(0, 9, "a"), node("Softmax", ["a9"], "soft", number("axis", 1)),
         node("Concat", ["minus", "eight"], "shape", number("axis", 0)),
         node("Reshape", ["soft", "shape"], "again"), node("Tanh", ["again"], "tanh"),
         node("If", ["true"], "a10", graph_attribute("then_branch", branch("MatMul", "w0")),
              graph_attribute("else_branch", branch("Mul", "b"))),
         *layers(10, 18, "a")]


def write(name, nodes, weights, ports):
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") +
             b"".join(field(5, w) for w in weights) + ports)
    with open(f"{folder}/{name}.onnx", "wb") as out:
        out.write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))


write("chain", nodes, weights,
      field(11, value("a0", tensor(F32, ["B", WIDTH]))) + field(12, value("a18", tensor(F32))))
write("rows",
      [node("Add", ["ids", "one"], "next"), node("Gather", ["table", "next"], "rows"),
       node("Relu", ["rows"], "y")],
      [constant("table", F32, [8, 1], struct.pack("<8f", *[i + 0.25 for i in range(8)])),
       constant("one", I64, [1], struct.pack("<q", 1))],
      field(11, value("ids", tensor(I64, ["N"]))) + field(12, value("y", tensor(F32))))
