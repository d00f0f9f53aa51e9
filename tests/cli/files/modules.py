"""Models whose nodes say which modules they are of.

    modules.py onnx FILE          relu of layers.0.act, as torch's exporter writes it
    modules.py pt2 FROM TO        a copy of an exported program whose nodes are of layers.1.bag
    modules.py odd FROM TO        one whose last node calls mine::odd

SPDX-License-Identifier: Apache-2.0
"""
import json
import sys
import zipfile


def write_onnx(path):
    sys.argv = ["tiny_onnx.py", "/dev/null", "relu"]
    from tiny_onnx import F32, field, model, node, tensor, value
    scopes = "['', 'layers.0', \"layers.0.act\", 'relu_1']"
    entry = field(1, "pkg.torch.onnx.name_scopes") + field(2, scopes)
    other = field(1, "pkg.torch.onnx.fx_node") + field(2, "%relu_1 = ['a', 'b']")
    body = node("Relu", ["x"], field(9, other) + field(9, entry))
    with open(path, "wb") as out:
        out.write(model([value("x", tensor(F32, [2]))], value("y", tensor(F32, [2])), body))


def change_nodes(source, target, change):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("models/model.json"):
                program = json.loads(data)
                change(program["graph_module"]["graph"]["nodes"])
                data = json.dumps(program).encode()
            new.writestr(entry.filename, data)


def name_modules(nodes):
    stack = "L__self__,,m.M;L__self__layers.1.bag,layers.1.bag,torch.nn.EmbeddingBag"
    for node in nodes:
        node["metadata"]["nn_module_stack"] = stack


def call_odd(nodes):
    nodes[-1]["target"] = "torch.ops.mine.odd.default"


if sys.argv[1] == "onnx":
    write_onnx(sys.argv[2])
else:
    change_nodes(*sys.argv[2:4], call_odd if sys.argv[1] == "odd" else name_modules)
