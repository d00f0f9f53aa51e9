"""The rows of the whole suite: models of every kind, each with the ratio that it must reach.

SPDX-License-Identifier: Apache-2.0

    $python bench/compare.py --suite all --quick          # ten minutes on an idle machine
    $python bench/compare.py --suite all --only 'resnet*'

A row is a model at one size against its peers, CPU time of one thread, in interleaved
rounds (measure.py).  A row with a bar of 1.1 passes where the low end of the interval of
the ratio's median is 1.1 or more.  Rows of embedding tables against FBGEMM are those of
bags.py and compare_torchrec.py, called as commands of their own.
"""

import argparse
import dataclasses
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import typing

import numpy as np

import measure
from engines import ENGINES
from models import Model, cache_folder, write_onnx
from parts import Part

HERE = pathlib.Path(__file__).resolve().parent
ORT, OPENVINO = "onnxruntime", "openvino"
ROUNDS, QUICK_ROUNDS = 15, 9
TURN_SECONDS, QUICK_TURN_SECONDS = 0.06, 0.03
TOLERANCE = {"rtol": 1e-2, "atol": 2e-3}


@dataclasses.dataclass(frozen=True)
class Given:
    """What engines ask of a model; shapes: (dims, dtype) of each output."""

    name: str
    shapes: tuple
    size: str = "small"


@dataclasses.dataclass(frozen=True)
class Source:
    model: Given
    path: pathlib.Path
    load: str = "mapped"


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    make: typing.Callable  # () -> (path of the ONNX file, input arrays)
    bars: dict  # {peer: least ratio}
    tolerance: dict = dataclasses.field(default_factory=lambda: TOLERANCE)
    engine: str = "ingot"


# ---- where models come from ----


def exported(name, *size, exporter="script"):
    """A model of exports.py; size: all dims of its first input."""

    def make():
        import exports

        path = exports.export(name, exporter, exports.list_models()[name])
        return path, [np.random.default_rng(7).standard_normal(size, "float32")]

    return make


def recommender(name, rows):
    """A model of the literature of served sizes, as torch's newer exporter writes it."""

    def make():
        import exports

        models = exports.list_recommenders([rows], is_wide=True)
        key = f"{name}.wide.{rows}"
        path = exports.export(key, "dynamo", models[key])
        with np.load(path.with_suffix(".npz")) as given:
            return path, [given[n] for n in given]

    return make


def encoder(batch, length, is_int8=False):
    def make():
        import encoder as minilm

        narrow, plain = minilm.models(argparse.Namespace(static=False, all_products=False))
        return narrow if is_int8 else plain, minilm.tokens(100, batch, length)

    return make


def part(kind, batch):
    def make():
        model = Part(kind)
        path = write_onnx(model)
        return path, model.make_inputs(np.random.default_rng(batch), batch)

    return make


def mlperf(batch):
    def make():
        model = Model("mlperf", "large")
        path = write_onnx(model)
        return path, model.make_inputs(np.random.default_rng(batch), batch)

    return make


def write_once(name, write):
    path = cache_folder() / "rows" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        partial = path.with_suffix(".partial")
        write(partial)
        partial.rename(path)
    return path


def first_of(count, rows, columns):
    """The largest along the first axis."""

    def make():
        sys.path.insert(0, str(HERE / "operators"))
        from order import write_model

        path = write_once("topk_first", lambda p: write_model(p, 2, 0, count))
        return path, [np.random.default_rng(1).standard_normal((rows, columns), "float32")]

    return make


def experts(tokens, width=512, inner=512, count=8, block=32):
    """A mixture of experts of 4-bit weights, two of them for each token."""

    def write(path):
        from onnx import TensorProto, helper, numpy_helper, save

        rng, constants = np.random.default_rng(3), []

        def constant(name, array):
            constants.append(numpy_helper.from_array(array, name))
            return name

        names = ["x", "router"]
        for layer, (out, fan_in) in enumerate(((inner, width), (width, inner))):
            packed = rng.integers(0, 256, (count, out, fan_in // 2)).astype("uint8")
            scales = rng.uniform(0.001, 0.01, (count, out, fan_in // block))
            bias = rng.normal(0, 0.1, (count, out))
            names += [constant(f"w{layer}", packed),
                      constant(f"s{layer}", scales.astype("float32")),
                      constant(f"b{layer}", bias.astype("float32"))]
        node = helper.make_node(
            "QMoE", names, ["y"], domain="com.microsoft", k=2, activation_type="silu",
            expert_weight_bits=4, block_size=block, normalize_routing_weights=1)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [node], "experts",
            [value("x", TensorProto.FLOAT, ["n", width]),
             value("router", TensorProto.FLOAT, ["n", count])],
            [value("y", TensorProto.FLOAT, ["n", width])], constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)

    def make():
        rng = np.random.default_rng(tokens)
        return write_once("experts", write), [rng.standard_normal((tokens, n), "float32")
                                              for n in (width, count)]

    return make


# ---- the rows ----


def image(name, batch, bar, side=224):
    bars = {ORT: bar, OPENVINO: bar}
    return Row(f"{name} b{batch}", exported(name, batch, 3, side, side), bars)


def winograd(name, batch, bar):
    """A row of its own: peers multiply directly."""
    return dataclasses.replace(image(name, batch, bar), name=f"{name} b{batch} --winograd",
                               engine="winograd")


def dense(kind, batch, bar):
    return Row(f"{kind} b{batch}", part(kind, batch), {ORT: bar})


def text(batch, length, bar, is_int8=False):
    kind, bars = ("int8", {ORT: bar}) if is_int8 else ("f32", {ORT: bar, OPENVINO: bar})
    tolerance = {"rtol": 0.1, "atol": 0.03} if is_int8 else TOLERANCE
    return Row(f"minilm {kind} {batch}x{length}", encoder(batch, length, is_int8), bars,
               tolerance)


ROWS = [
    image("efficientnet_b0", 1, 1.1),
    image("norm_unet", 1, 1.1, side=128),
    image("resnet18", 1, 1.0),
    image("resnet18", 8, 1.0),
    image("resnet50", 1, 1.0),
    winograd("resnet18", 1, 1.05), winograd("resnet18", 8, 1.05), winograd("resnet50", 1, 1.05),
    image("densenet121", 1, 1.05),
    image("googlenet", 1, 1.05),
    image("squeezenet1_1", 1, 1.05),
    image("mobilenet_v3_large", 8, 1.2),
    Row("deeplabv3 open 128", exported("deeplabv3_mobilenet_v3_large", 1, 3, 128, 128),
        {ORT: 1.0}),
    Row("upsampler 64", exported("upsampler", 1, 64, 64, 64), {ORT: 1.0}),
    text(8, 64, 1.1), text(8, 128, 1.1), text(1, 128, 1.1),
    text(8, 64, 1.3, is_int8=True), text(1, 128, 1.3, is_int8=True),
    dense("chain_512", 1, 1.3), dense("chain_1024", 1, 1.18), dense("cross", 256, 1.1),
    dense("dots_64", 64, 2.5), dense("dots_64", 256, 2.5),
    dense("dots_128", 64, 2.5), dense("dots_128", 256, 2.5),
    Row("mlperf b1", mlperf(1), {ORT: 1.5}),
    Row("topk first axis", first_of(10, 1000, 64), {ORT: 1.1}),
    Row("qmoe one token", experts(1), {ORT: 1.0}),
    Row("bert4rec b64", recommender("bert4rec", 64), {ORT: 1.2}),
    Row("hstu b64", recommender("hstu", 64), {ORT: 1.3}),
]

# Commands that print rows against FBGEMM as JSON: (name, command, least ratio).
COMMANDS = [
    ("torchrec dlrm 20 ids b1024",
     ["compare_torchrec.py", "--kind", "dlrm", "--pooling", "20", "--batch", "1024",
      "--threads", "1"], 1.5),
    ("int4 bags, caches",
     ["bags.py", "--case", "mlperf", "--dtype", "int4", "--rows", "1000,40000",
      "--batch", "64"], 1.5),
]


# ---- measuring ----


def output_shapes(path, arrays):
    """(dims, dtype) of each output, as ONNX Runtime gives them."""
    from exports import open_session

    session = open_session(path)
    names = [i.name for i in session.get_inputs()]
    return tuple((a.shape, a.dtype.name) for a in session.run(None, dict(zip(names, arrays))))


def check_agreement(engines, row):
    for engine in engines:
        engine.run(0)
    want = np.array(engines[1].output(0))
    for engine in engines:
        np.testing.assert_allclose(engine.output(0), want, err_msg=f"{row.name}: {engine.name}",
                                   **row.tolerance)


def measure_row(row, options):
    path, arrays = row.make()
    source = Source(Given(row.name, output_shapes(path, arrays)), path)
    names = options.given_engines or [row.engine, *row.bars]
    engines = [ENGINES[name](source, 1) for name in names]
    for engine in engines:
        engine.prepare([arrays])
    check_agreement(engines, row)
    run = argparse.Namespace(threads=1, rounds=QUICK_ROUNDS if options.quick else ROUNDS)
    return measure.run_point(row.name, engines, 1, run,
                             QUICK_TURN_SECONDS if options.quick else TURN_SECONDS)


def judge(point, bars):
    for peer, ratio in point["ratios"].items():
        bar = bars.get(peer, 0.98)  # another build: nothing slower than before
        words = f"{ratio['median']:.2f}x, low {ratio['low']:.2f}"
        yield f"{point['name']} vs {peer}", words, bar, ratio["low"] >= bar


def measure_command(name, command, options):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        rounds = str(QUICK_ROUNDS if options.quick else ROUNDS)
        done = subprocess.run([sys.executable, HERE / command[0], *command[1:], "--rounds",
                               rounds, "--json", report], stdout=subprocess.DEVNULL)
        if not report.exists():  # a status other than 0 may be a bar of its own
            raise RuntimeError(f"{command[0]} ends with status {done.returncode}")
        points = json.loads(report.read_text())["points"]
    for point in points:
        named = point.get("ratios") or {"torch": point["ratio"]}
        size = f" {point['rows']}" if "rows" in point else ""
        yield {"name": name + size, "ratios": named}


def run_all(options, machine):
    """All rows whose names match; a row that cannot be run counts as missed."""
    wanted = lambda name: fnmatch.fnmatch(name, options.only or "*")  # noqa: E731
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    points, verdicts = [], []
    for row in filter(lambda row: wanted(row.name), ROWS):
        try:
            point = measure_row(row, options)
        except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
            verdicts.append((row.name, " ".join(str(error).split())[:160], "", False))
            continue
        measure.show(point)
        points.append(point)
        verdicts += judge(point, row.bars)
    for name, command, bar in COMMANDS:
        if not wanted(name) or options.given_engines:
            continue
        try:
            measured = list(measure_command(name, command, options))
        except RuntimeError as error:
            verdicts.append((name, str(error), "", False))
            continue
        for point in measured:
            verdicts += judge(point, dict.fromkeys(point["ratios"], bar))
            points.append(point)
    return points, verdicts
