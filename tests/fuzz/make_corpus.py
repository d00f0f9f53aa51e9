#!/usr/bin/env python3
"""Makes the inputs of tests/fuzz/corpus that nobody has lying about (made_*): models with
the operators that conformance data lack and the fields of the format that hardly any
exporter writes, pickles with opcodes that torch does not write, and the texts of the
stored exported programs.

    make_corpus.py                     those
    make_corpus.py artifacts INGOT     artifacts, anew: those of an older format are refused

Needs python3, protobuf and protoc.
SPDX-License-Identifier: Apache-2.0
"""
import importlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import corpus

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9
TYPES = {float: 1, int: 2, str: 3, list: 7}  # a list of bytes: 8
FIELDS = {1: "f", 2: "i", 3: "s", 7: "ints"}


def load_format():
    with tempfile.TemporaryDirectory() as folder:
        proto = ROOT / "frontend/onnx/read"
        subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={folder}",
                        "onnx.proto"], check=True)
        sys.path.insert(0, folder)
        return importlib.import_module("onnx_pb2")


pb = load_format()


def tensor(name, dtype, dims, **payload):
    return pb.TensorProto(name=name, data_type=dtype, dims=dims, **payload)


def ints(name, values, dims=None):
    return tensor(name, INT64, [len(values)] if dims is None else dims, int64_data=values)


def attribute(name, value):
    if isinstance(value, pb.AttributeProto):
        value.name = name
        return value
    if isinstance(value, pb.TensorProto):
        return pb.AttributeProto(name=name, type=4, t=value)
    if isinstance(value, pb.GraphProto):
        return pb.AttributeProto(name=name, type=5, g=value)
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return pb.AttributeProto(name=name, type=8, strings=value)
    kind = TYPES[type(value)]
    value = value.encode() if kind == 3 else value
    return pb.AttributeProto(name=name, type=kind, **{FIELDS[kind]: value})


def node(op, inputs, outputs, domain="", **attributes):
    return pb.NodeProto(op_type=op, input=inputs.split(), output=outputs.split(),
                        domain=domain,
                        attribute=[attribute(n, v) for n, v in attributes.items()])


def value(name, dtype, *dims):
    kind = pb.TypeProto()
    kind.tensor_type.elem_type = dtype
    kind.tensor_type.shape.SetInParent()
    for dim in dims:
        added = kind.tensor_type.shape.dim.add()
        if isinstance(dim, str):
            added.dim_param = dim
        else:
            added.dim_value = dim
    return pb.ValueInfoProto(name=name, type=kind)


def model(nodes, inputs, outputs, opset=21, **fields):
    graph = pb.GraphProto(name="g", node=nodes, input=inputs,
                          output=[pb.ValueInfoProto(name=name) for name in outputs.split()],
                          **fields)
    return pb.ModelProto(ir_version=8, graph=graph,
                         opset_import=[pb.OperatorSetIdProto(domain="", version=opset)])


def operators():
    x = value("x", FLOAT, 2, 3, 8, 8)
    m = value("m", FLOAT, "B", 4)
    yield "logic", model(
        [node("Less", "m one", "less"), node("Not", "less", "no"),
         node("GreaterOrEqual", "m one", "more"), node("And", "no more", "both"),
         node("Where", "both m one", "y")],
        [m], "y", initializer=[tensor("one", FLOAT, [], float_data=[1])])
    yield "lp_pool", model([node("GlobalLpPool", "x", "y", p=2)], [x], "y")
    yield "random", model(
        [node("RandomUniform", "", "a", shape=[2, 3], low=-1.0, high=1.0, seed=3.0),
         node("RandomNormal", "", "b", shape=[2, 3], mean=0.5, scale=2.0),
         node("RandomNormalLike", "m", "c", mean=0.5),
         node("RandomUniformLike", "m", "d", high=3.0),
         node("Multinomial", "m", "e", sample_size=3, dtype=7)], [m], "a b c d e")
    yield "swiglu", model([node("SwiGLU", "m m", "y")], [m], "y", opset=28)
    fused = model(
        [node(op, inputs, output, domain="com.microsoft") for op, inputs, output in (
            ("Gelu", "m", "a"), ("BiasGelu", "m v", "b"), ("FastGelu", "m v", "c"),
            ("QuickGelu", "m", "d"), ("FusedMatMul", "m t", "f"),
            ("SkipLayerNormalization", "m m v v v", "g"),
            ("SkipSimplifiedLayerNormalization", "m m v", "h"))] +
        [node("Transpose", "m", "t")], [m], "a b c d f g h",
        initializer=[tensor("v", FLOAT, [4], float_data=[1, 2, 3, 4])])
    fused.opset_import.append(pb.OperatorSetIdProto(domain="com.microsoft", version=1))
    yield "fused", fused
    yield "movement", model(
        [node("Unsqueeze", "m axes", "a"), node("Squeeze", "a axes", "b"),
         node("Flatten", "b", "c", axis=1), node("Transpose", "c", "d", perm=[1, 0]),
         node("Pad", "d pads", "y")], [m], "y",
        initializer=[ints("axes", [1]), ints("pads", [0, 1, 1, 0])])
    yield "upsample", model([node("Upsample", "x scales", "y", mode="linear")], [x], "y",
                            opset=9, initializer=[tensor("scales", FLOAT, [4],
                                                         float_data=[1, 1, 2, 1.5])])
    for mode in ("nearest", "linear", "cubic"):
        yield f"resize_{mode}", model(
            [node("Resize", "x none scales", "y", mode=mode)], [x], "y",
            initializer=[tensor("none", FLOAT, [0]),
                         tensor("scales", FLOAT, [4], float_data=[1, 1, 0.6, 2.5])])
    yield "resize_crop", model(
        [node("Resize", "x roi none sizes", "y",
              coordinate_transformation_mode="tf_crop_and_resize", mode="linear",
              extrapolation_value=7.0)], [x], "y",
        initializer=[tensor("roi", FLOAT, [8], float_data=[0, 0, .1, .2, 1, 1, .8, 1.2]),
                     tensor("none", FLOAT, [0]), ints("sizes", [2, 3, 5, 9])])
    yield "resize_aspect", model(
        [node("Resize", "x none none sizes", "y", mode="linear", axes=[2, 3], antialias=1,
              keep_aspect_ratio_policy="not_larger")], [x], "y",
        initializer=[tensor("none", FLOAT, [0]), ints("sizes", [4, 6])])
    s = value("s", STRING, "N")
    yield "strings", model(
        [node("StringConcat", "s words", "a"), node("StringSplit", "a", "b n", delimiter="b"),
         node("StringNormalizer", "s", "c", case_change_action="LOWER"),
         node("RegexFullMatch", "s", "d", pattern="[a-z]+"), node("Cast", "n", "e", to=8),
         node("Cast", "e", "f", to=1), node("Equal", "a words", "g")],
        [s], "a b c d f g", initializer=[pb.TensorProto(
            name="words", data_type=STRING, dims=[1], string_data=[b"abc"])])
    labels = model(
        [node("CategoryMapper", "s", "a", domain="ai.onnx.ml", cats_int64s=[3, 4],
              cats_strings=[b"x", b"y"]),
         node("LabelEncoder", "a", "b", domain="ai.onnx.ml", keys_int64s=[3, 4],
              values_strings=[b"u", b"v"]),
         node("ZipMap", "c", "z", domain="ai.onnx.ml", classlabels_int64s=[7, 8]),
         node("OneHotEncoder", "b", "c", domain="ai.onnx.ml", cats_strings=[b"u", b"w"])],
        [s], "a b c z")
    labels.opset_import.append(pb.OperatorSetIdProto(domain="ai.onnx.ml", version=2))
    yield "labels", labels
    yield "unique", model([node("Unique", "f", "y", sorted=1)], [value("f", FLOAT, 9)], "y")
    yield "sequences", model(
        [node("SequenceEmpty", "", "empty", dtype=1), node("SequenceInsert", "empty m", "one"),
         node("SequenceConstruct", "m m", "two"), node("SequenceInsert", "two m zero", "three"),
         node("SequenceErase", "three zero", "rest"), node("SequenceLength", "rest", "n"),
         node("SequenceAt", "rest zero", "first"), node("SequenceAt", "one zero", "only"),
         node("ConcatFromSequence", "rest", "all", axis=0),
         node("SplitToSequence", "m halves", "parts", axis=1),
         node("SequenceAt", "parts zero", "part")], [value("m", FLOAT, 2, 4)],
        "n first only all part",
        initializer=[ints("zero", [0], []), ints("halves", [2, 2])])


def every_text():
    return [pb.StringStringEntryProto(key="k", value="v")]


def formats():
    m = value("m", FLOAT, "B", 4)
    m.doc_string = "an input"
    m.type.denotation = "TENSOR"
    m.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    m.metadata_props.extend(every_text())
    sparse = pb.SparseTensorProto(values=tensor("s", FLOAT, [2], float_data=[3, 4]),
                                  indices=ints("i", [1, 6]), dims=[2, 4])
    texts = model(
        [node("Add", "m w", "a"), node("Gemm", "a s", "b", transB=1)], [m], "b",
        initializer=[tensor("w", FLOAT, [4], float_data=[1, 2, 3, 4], doc_string="weights",
                            metadata_props=every_text()),
                     tensor("u", 13, [2], uint64_data=[1, 2**64 - 1])],
        sparse_initializer=[sparse], value_info=[value("a", FLOAT, "B", 4)],
        metadata_props=every_text(), doc_string="a graph",
        quantization_annotation=[pb.TensorAnnotation(
            tensor_name="m", quant_parameter_tensor_names=every_text())])
    texts.domain, texts.model_version, texts.producer_version = "d", 3, "1.0"
    texts.doc_string = "a model"
    texts.metadata_props.extend(every_text())
    texts.graph.node[0].metadata_props.extend(every_text())
    texts.graph.node[1].attribute[0].doc_string = "an attribute"
    yield "texts", texts
    constants = [
        node("Constant", "", "a", value=tensor("", FLOAT, [2], float_data=[1, 2])),
        node("Constant", "", "b", value_floats=pb.AttributeProto(type=6, floats=[1, 2])),
        node("Constant", "", "c", sparse_value=pb.AttributeProto(type=11,
                                                                 sparse_tensor=sparse)),
        node("Add", "a b", "d")]
    yield "constants", model(constants, [], "c d")
    yield "training", pb.ModelProto(
        ir_version=8, graph=model([node("Relu", "m", "y")], [m], "y").graph,
        opset_import=[pb.OperatorSetIdProto(version=17)],
        training_info=[pb.TrainingInfoProto(
            initialization=pb.GraphProto(name="i"), algorithm=pb.GraphProto(name="a"),
            initialization_binding=every_text(), update_binding=every_text())])
    called = model([node("f", "m", "y", domain="local", slope=0.5)], [m], "y")
    called.graph.node[0].overload = "o"
    called.opset_import.add(domain="local", version=1)
    called.functions.append(pb.FunctionProto(
        name="f", domain="local", overload="o", input=["x"], output=["y"],
        attribute=["slope"], attribute_proto=[attribute("alpha", 0.25)],
        node=[node("LeakyRelu", "x", "a",
                   alpha=pb.AttributeProto(type=1, ref_attr_name="slope")),
              node("Elu", "a", "y", alpha=pb.AttributeProto(type=1, ref_attr_name="alpha"))],
        opset_import=[pb.OperatorSetIdProto(version=21)], doc_string="a function",
        value_info=[value("a", FLOAT, "B", 4)], metadata_props=every_text()))
    yield "functions", called


def strange():
    """What no operator takes: refused, but read."""
    odd = node("Relu", "m", "y")
    graph, kind = pb.GraphProto(name="h"), value("v", FLOAT, 2).type
    sparse = pb.SparseTensorProto(values=tensor("s", FLOAT, [0]), indices=ints("i", []),
                                  dims=[2])
    for number, field in ((9, {"tensors": [ints("t", [1])]}), (10, {"graphs": [graph]}),
                          (14, {"type_protos": [kind]}), (13, {"tp": kind}),
                          (12, {"sparse_tensors": [sparse]})):
        odd.attribute.append(pb.AttributeProto(name=f"a{number}", type=number, **field))
    yield "attributes", model([odd], [value("m", FLOAT, 2)], "y")
    inputs = [pb.ValueInfoProto(name=name) for name in ("a", "b", "c")]
    inputs[0].type.map_type.key_type = INT64
    inputs[0].type.map_type.value_type.tensor_type.elem_type = FLOAT
    inputs[1].type.opaque_type.domain, inputs[1].type.opaque_type.name = "d", "n"
    inputs[2].type.sparse_tensor_type.elem_type = FLOAT
    inputs[2].type.sparse_tensor_type.shape.dim.add().dim_value = 2
    yield "types", model([node("Identity", "c", "y")], inputs, "y")
    part = tensor("w", FLOAT, [4], float_data=[1, 2])
    part.segment.begin, part.segment.end = 0, 2
    yield "segment", model([node("Identity", "w", "y")], [], "y", initializer=[part])


def floats(*items):
    return pb.AttributeProto(type=6, floats=items)


def strings(*items):
    return pb.AttributeProto(type=8, strings=[item.encode() for item in items])


def trees(kind, **fields):
    """One tree: x0 <= 1 ? 10 : 20."""
    return dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0],
                nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                nodes_values=floats(1, 0, 0), nodes_modes=strings("BRANCH_LEQ", "LEAF", "LEAF"),
                nodes_missing_value_tracks_true=[1, 0, 0],
                **{f"{kind}_treeids": [0, 0], f"{kind}_nodeids": [1, 2], f"{kind}_ids": [0, 1],
                   f"{kind}_weights": floats(10, 20)}, **fields)


def learners():
    m, rows = value("m", FLOAT, "B", 4), []
    for op, inputs, output, fields in (
            ("FeatureVectorizer", "m m", "a", dict(inputdimensions=[4, 4])),
            ("Imputer", "m", "b", dict(imputed_value_floats=floats(1), replaced_value_float=0.0)),
            ("LinearClassifier", "m", "c d", dict(
                coefficients=floats(*range(8)), intercepts=floats(1, 2), classlabels_ints=[3, 4],
                post_transform="SOFTMAX")),
            ("LinearRegressor", "m", "e", dict(coefficients=floats(1, 2, 3, 4),
                                               intercepts=floats(5))),
            ("Normalizer", "m", "f", dict(norm="L2")),
            ("OneHotEncoder", "m", "g", dict(cats_int64s=[1, 2])),
            ("Scaler", "m", "h", dict(offset=floats(1), scale=floats(1, 2, 3, 4))),
            ("TreeEnsembleClassifier", "m", "i j", trees(
                "class", classlabels_int64s=[5, 6], post_transform="LOGISTIC")),
            ("TreeEnsembleRegressor", "m", "k", trees("target", n_targets=2))):
        rows.append(node(op, inputs, output, domain="ai.onnx.ml", **fields))
    learned = model(rows, [m], "a b c d e f g h i j k")
    learned.opset_import.append(pb.OperatorSetIdProto(domain="ai.onnx.ml", version=3))
    yield "ml", learned


def models():
    for kind in (operators, learners, formats, strange):
        for name, made in kind():
            yield f"{name}.onnx", made.SerializeToString(deterministic=True)


def pickles():
    size = (3).to_bytes(8, "little")
    parts = {
        "pop": b"K\x01K\x020.", "pop_mark": b"K\x01(K\x02K\x031.", "dup": b"K\x012\x86.",
        "bytes": b"B" + size[:4] + b"abc.", "string": b"T" + size[:4] + b"abc.",
        "long_get": b"K\x01r\x00\x01\x00\x00j\x00\x01\x00\x00\x86.",
        "long4": b"\x8b" + size[:4] + b"\x01\x02\x83.",
        "unicode8": b"\x8d" + size + b"abc.", "bytes8": b"\x8e" + size + b"abc.",
        "new_ex": b"c__torch__\nM\n)}\x92.", "buffer": b"\x97\x98.",
        "extensions": b"\x82\x01\x83\x01\x00\x84\x01\x00\x00\x00\x87.",
    }
    for name, code in parts.items():
        yield name, b"\x03\x80\x04" + code


ARTIFACTS = {  # golden cases whose plans have each kind of step
    "late": "bufferise:bufferise_late", "if": "bufferise:bufferise_if",
    "loop": "bufferise:bufferise_loop", "state": "bufferise:bufferise_state",
    "host": "bufferise:bufferise_shapes", "commit": "in_place:bufferise",
    "prepare": "prepare:matrix",
}


def read_golden(golden):
    """The input of a case FILE:CASE of tests/golden/passes/place."""
    file, case = golden.split(":")
    text = (ROOT / f"tests/golden/passes/place/{file}.ig").read_text()
    return text.split(f"# ---- {case} ----\n", 1)[1].split("\n# expect", 1)[0].encode()


def make_artifacts(ingot):
    dense = subprocess.run([sys.executable, ROOT / "tests/cli/repeated.py", "dense", "3"],
                           check=True, stdout=subprocess.PIPE).stdout
    texts = {"rows": dense}
    for name, golden in ARTIFACTS.items():
        texts[name] = read_golden(golden) + b"\n"
    made = {}
    with tempfile.TemporaryDirectory() as tmp:
        sources = {}
        for name, text in texts.items():
            sources[name] = pathlib.Path(tmp) / f"{name}.ig"
            sources[name].write_bytes(text)
        for name, path in sources.items():
            subprocess.run([ingot, "compile", path, "-t", "cpu:v2", "--no-cache", "-q",
                            "-o", path.with_suffix(".ingot")], check=True)
            made[f"{name}.ingot"] = path.with_suffix(".ingot").read_bytes()
    corpus.write_inputs("fuzz_artifact", {
        **{n: data for n, data in corpus.read_inputs("fuzz_artifact").items()
           if not n.endswith(".ingot")}, **made})


def without_traces(value):
    """What the importer does not read, left out: it is most of the text."""
    if isinstance(value, dict):
        return {k: without_traces(v) for k, v in value.items()
                if k not in ("stack_trace", "nn_module_stack", "torch_fn",
                             "source_fn_stack", "guards_code")}
    return [without_traces(v) for v in value] if isinstance(value, list) else value


def exported_texts():
    """The entries in JSON of the stored exported programs, as fuzz_pt2 takes them."""
    with tarfile.open(ROOT / "tests/models/exported.tar.xz") as stored:
        for member in stored:
            path = pathlib.PurePath(member.name)
            if path.name != "model.pt2":
                continue
            text = ""
            with zipfile.ZipFile(stored.extractfile(member)) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        entry = without_traces(json.loads(archive.read(name)))
                        text += f"@{name.split('/', 1)[1]}\n"
                        text += json.dumps(entry, indent=0) + "\n"
            yield path.parent.name, text.encode()


def main():
    if sys.argv[1:2] == ["artifacts"] and len(sys.argv) == 3:
        make_artifacts(sys.argv[2])
        return
    for target, make in (("fuzz_onnx", models), ("fuzz_pickle", pickles),
                         ("fuzz_pt2", exported_texts)):
        corpus.write_inputs(target, {
            **{n: data for n, data in corpus.read_inputs(target).items()
               if not n.startswith("made_")},
            **{f"made_{n}": data for n, data in make()}})


main()
