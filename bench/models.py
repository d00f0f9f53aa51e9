"""Benchmark models: recommendation models with real shapes and seeded random weights.

SPDX-License-Identifier: Apache-2.0

Each model is an ONNX file as the exporter named by its kind writes it; torch_models.py
has the same over the same weights.  Rows a table: `small` is 100 to 2000 as in the test
models, `large` is 200,000 in each of 26 tables, which no cache holds; `mlperf` has the
26 tables of MLPerf's DLRM-DCNv2 with at most 200,000 rows each, `bench` is the benchmark
of the DLRM repository (8 tables, 100 ids a bag) with the rows of `large`.
"""

import dataclasses
import os
import pathlib
import sys

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models" / "gen"))

import forms_static  # noqa: E402
from forms_case import Bag, Case  # noqa: E402
from forms_dynamo import DynamoWriter  # noqa: E402
from onnx_graph import new_model  # noqa: E402

TABLES = 26
SMALL_ROWS = [round(100 * 20 ** ((i / (TABLES - 1)) ** 3)) for i in range(TABLES)]
ROWS = {
    "small": [SMALL_ROWS[i * 7 % TABLES] for i in range(TABLES)],
    "large": [200_000] * TABLES,
}
# Ids a bag of MLPerf's multi-hot Criteo data.
MLPERF_LENGTHS = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12]
MLPERF_LENGTHS += [100, 27, 10, 3, 1, 1]
MLPERF_ROWS = [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000]
MLPERF_ROWS += [3067956, 405282, 10, 2209, 11938, 155, 4, 976, 14, 40000000, 40000000]
MLPERF_ROWS += [40000000, 590152, 12973, 108, 36]
MAX_ROWS = 200_000
EXTERNAL_ABOVE = 1_500_000_000


@dataclasses.dataclass(frozen=True)
class Kind:
    opset: int
    dim: int
    bottom: tuple
    top: tuple
    cross_rank: int = 0  # 0: dot interaction
    lengths: tuple = ()  # ids a bag, the same in each of a table's
    rows: tuple = ()  # of large tables


DLRM = {"dim": 64, "bottom": (13, 512, 256, 64), "top": (415, 512, 256, 1)}
DCN = {"dim": 32, "bottom": (13, 128, 64, 32), "top": (864, 384, 128, 1)}
KINDS = {
    "legacy": Kind(opset=17, **DLRM),
    "dynamo": Kind(opset=18, **DLRM),
    "onehot": Kind(opset=20, **DLRM),
    "dcnv2": Kind(opset=20, cross_rank=64, lengths=tuple(MLPERF_LENGTHS), **DCN),
    "mlperf": Kind(
        opset=20,
        dim=128,
        bottom=(13, 512, 256, 128),
        top=(3456, 1024, 1024, 512, 256, 1),
        cross_rank=512,
        lengths=tuple(MLPERF_LENGTHS),
        rows=tuple(min(rows, MAX_ROWS) for rows in MLPERF_ROWS),
    ),
    "bench": Kind(
        opset=18,
        dim=64,
        bottom=(512, 512, 64),
        top=(100, 1024, 1024, 1024, 1),
        lengths=(100,) * 8,
        rows=(1_000_000,) * 8,
    ),
}
CROSS_LAYERS = 3


@dataclasses.dataclass(frozen=True)
class Model:
    kind: str
    size: str

    @property
    def name(self):
        return f"{self.kind}-{self.size}"

    @property
    def facts(self):
        return KINDS[self.kind]

    @property
    def rows(self):
        tables = len(self.facts.lengths) or TABLES
        is_own = self.size == "large" and self.facts.rows
        return list(self.facts.rows) if is_own else ROWS[self.size][:tables]

    @property
    def output_shape(self):
        return (1,)

    def make_weights(self):
        return make_weights(self)

    def make_inputs(self, rng, batch):
        return make_inputs(rng, self, batch)

    def make_proto(self, weights):
        return GraphWriter(self, weights).write()

    def torch_module(self, weights):
        from torch_models import torch_module

        return torch_module(self, weights)


# Weights, by the names that torch gives them.


def mlp_weights(rng, prefix, sizes):
    weights = {}
    for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        scale = 1.4 / np.sqrt(fan_in)
        matrix = rng.normal(0, scale, (fan_out, fan_in)).astype("float32")
        weights[f"{prefix}.{2 * layer}.weight"] = matrix
        bias = rng.normal(0, 0.08, fan_out).astype("float32")
        weights[f"{prefix}.{2 * layer}.bias"] = bias
    return weights


def cross_weights(rng, width, rank):
    weights = {}
    for layer in range(CROSS_LAYERS):
        for name, shape in (("v", (rank, width)), ("w", (width, rank))):
            matrix = rng.normal(0, 1 / np.sqrt(shape[1]), shape).astype("float32")
            weights[f"cross.{name}.{layer}.weight"] = matrix
        weights[f"cross.w.{layer}.bias"] = rng.normal(0, 0.1, width).astype("float32")
    return weights


def make_weights(model):
    rng, facts = np.random.default_rng(101), model.facts
    weights = mlp_weights(rng, "bottom", facts.bottom)
    weights.update(mlp_weights(rng, "top", facts.top))
    # Scores should spread, not saturate: the last layer sums large inputs.
    weights[f"top.{2 * len(facts.top) - 4}.weight"] *= np.float32(0.3)
    if facts.cross_rank:
        weights.update(cross_weights(rng, facts.top[0], facts.cross_rank))
    for table, rows in enumerate(model.rows):
        shape = (rows, facts.dim)
        drawn = rng.standard_normal(shape, "float32")
        weights[f"tables.{table}.weight"] = np.multiply(drawn, 0.1, out=drawn)
    return weights


# Inputs.


def draw_ids(rng, model, table, shape):
    """Skewed to small ids in small tables, uniform where caches shall not help."""
    rows = model.rows[table]
    if model.size == "large":
        return rng.integers(0, rows, shape)
    skewed = np.power(rows + 1.0, rng.random(shape)) - 1
    return np.minimum(skewed.astype("int64"), rows - 1)


def bag_inputs(rng, model, table, batch):
    """About five ids a bag, two at least (torch compiles anew for 0 and 1)."""
    lengths = rng.poisson(3, batch) + 2
    offsets = np.zeros(batch, "int64")
    np.cumsum(lengths[:-1], out=offsets[1:])
    return [draw_ids(rng, model, table, int(lengths.sum())), offsets]


def make_inputs(rng, model, batch):
    """One set of inputs in the order of the graph's."""
    width = model.facts.bottom[0]
    dense = np.log1p(rng.gamma(1.0, 3.0, (batch, width))).astype("float32")
    if model.kind == "onehot":
        columns = [draw_ids(rng, model, table, batch) for table in range(TABLES)]
        return [dense, np.stack(columns, axis=1)]
    if model.facts.lengths:
        return [dense] + [
            draw_ids(rng, model, table, (batch, length))
            for table, length in enumerate(model.facts.lengths)
        ]
    bags = [bag_inputs(rng, model, table, batch) for table in range(TABLES)]
    return [dense] + [array for bag in bags for array in bag]


def lookups_per_sample(model):
    each = TABLES if model.kind == "onehot" else 5 * TABLES
    return sum(model.facts.lengths) or each


# The ONNX graph.


class GraphWriter:
    def __init__(self, model, weights):
        self.model, self.weights = model, weights
        self.proto, self.g = new_model(onnx, model.facts.opset)

    def weight(self, name):
        return self.g.initializer(self.weights[name], "float32", hint=name)

    def gemm(self, value, prefix):
        operands = [value, self.weight(prefix + ".weight")]
        if prefix + ".bias" in self.weights:
            operands.append(self.weight(prefix + ".bias"))
        return self.g.node("Gemm", operands, transB=1)

    def mlp(self, value, prefix, sizes, last):
        for layer in range(len(sizes) - 1):
            value = self.gemm(value, f"{prefix}.{2 * layer}")
            is_last = layer == len(sizes) - 2
            value = self.g.node(last if is_last else "Relu", [value])
        return value

    def table(self, table):
        return self.weight(f"tables.{table}.weight")

    def pooled_bags(self):
        """Multi-hot bags as the legacy or the dynamo exporter writes them."""
        form = self.model.kind
        case = Case(form, self.g.opset, "sum", *[False] * 4, "", frozenset())
        dynamo = DynamoWriter(self.proto, self.g, case)
        pooled = []
        for index, rows in enumerate(self.model.rows):
            ids = self.g.input(f"ids_{index}", "int64", [f"nnz_{index}"])
            starts = self.g.input(f"bagstart_{index}", "int64", ["batch"])
            values = (self.table(index), ids, starts, None)
            bag = Bag(index, *values, rows, self.model.facts.dim)
            if form == "dynamo":
                pooled.append(dynamo.write(self.g, bag))
            else:
                pooled.append(forms_static.legacy_loop(self.g, case, bag))
        return pooled

    def one_hot_rows(self):
        g = self.g
        ids = g.input("ids", "int64", ["batch", TABLES])
        columns = [g.initializer(table) for table in range(TABLES)]
        chosen = [g.node("Gather", [ids, column], axis=1) for column in columns]
        return [
            g.node("Gather", [self.table(table), column], axis=0)
            for table, column in enumerate(chosen)
        ]

    def fixed_length_sums(self):
        g, sums = self.g, []
        for table, length in enumerate(self.model.facts.lengths):
            ids = g.input(f"ids_{table}", "int64", ["batch", length])
            rows = g.node("Gather", [self.table(table), ids], axis=0)
            sums.append(g.reduce("sum", rows, 1))
        return sums

    def lookups(self):
        if self.model.facts.lengths:
            return self.fixed_length_sums()
        is_onehot = self.model.kind == "onehot"
        return self.one_hot_rows() if is_onehot else self.pooled_bags()

    @property
    def features(self):
        return len(self.model.rows) + 1

    def triangle(self):
        return np.tril_indices(self.features, -1)

    def dot_interaction(self, x, features):
        write = self.legacy_dots if self.model.kind == "legacy" else self.dynamo_dots
        return self.g.node("Concat", [x, write(x, features)], axis=1)

    def dynamo_dots(self, x, features):
        g = self.g
        shape = g.initializer([-1, self.features, self.model.facts.dim])
        stacked = g.node("Reshape", [features, shape], allowzero=1)
        turned = g.node("Transpose", [stacked], perm=[0, 2, 1])
        dots = g.node("MatMul", [stacked, turned])
        dots = g.node("Transpose", [dots], perm=[1, 2, 0])
        pairs = g.initializer(np.stack(self.triangle(), axis=1))
        return g.node("Transpose", [g.node("GatherND", [dots, pairs])], perm=[1, 0])

    def extent(self, value, axis):
        return self.g.node(
            "Gather", [self.g.node("Shape", [value]), self.g.constant(axis)], axis=0
        )

    def legacy_dots(self, x, features):
        g = self.g
        batch, dim = (g.unsqueeze(self.extent(x, axis), [0]) for axis in (0, 1))
        shape = g.node("Concat", [batch, g.constant([-1]), dim], axis=0)
        stacked = g.node("Reshape", [features, shape])
        turned = g.node("Transpose", [stacked], perm=[0, 2, 1])
        dots = g.node("MatMul", [stacked, turned])
        return self.legacy_triangle(dots)

    def legacy_triangle(self, dots):
        """Z[:, li, lj]: flat positions li * columns + lj, gathered from the front."""
        g = self.g
        batch, columns = self.extent(dots, [0]), self.extent(dots, [2])
        flat = g.node("Transpose", [dots], perm=[1, 2, 0])
        flat = g.node("Flatten", [flat], axis=2)
        li, lj = self.triangle()
        at = g.node("Mul", [g.constant(li), columns])
        at = g.node("Add", [g.constant(lj), at])
        chosen = g.node("Gather", [flat, at], axis=0)
        shape = g.node("Concat", [g.constant([-1]), batch], axis=0)
        chosen = g.node("Reshape", [chosen, shape])
        chosen = g.node("Transpose", [chosen], perm=[1, 0])
        shape = g.node("Concat", [batch, g.node("Shape", [at])], axis=0)
        return g.node("Reshape", [chosen, shape])

    def cross(self, first):
        g, value = self.g, first
        for layer in range(CROSS_LAYERS):
            low = self.gemm(value, f"cross.v.{layer}")
            high = self.gemm(low, f"cross.w.{layer}")
            value = g.node("Add", [g.node("Mul", [first, high]), value])
        return value

    def write(self):
        g, facts = self.g, self.model.facts
        dense = g.input("dense", "float32", ["batch", facts.bottom[0]])
        x = self.mlp(dense, "bottom", facts.bottom, "Relu")
        features = g.node("Concat", [x] + self.lookups(), axis=1)
        if facts.cross_rank:
            joined = self.cross(features)
        else:
            joined = self.dot_interaction(x, features)
        prob = self.mlp(joined, "top", facts.top, "Sigmoid")
        g.output(prob, "float32", ["batch", 1])
        return self.proto


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "ingot" / "bench"


def write_onnx(model, weights=None):
    """The path of the model's file, written unless it is there; weights are made then."""
    folder = cache_folder() / model.name
    path = folder / "model.onnx"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    weights = weights or model.make_weights()
    proto = model.make_proto(weights)
    partial = folder / "partial.onnx"
    big = sum(array.nbytes for array in weights.values()) > EXTERNAL_ABOVE
    onnx.save_model(proto, partial, save_as_external_data=big, location="weights.bin")
    partial.rename(path)
    return path
