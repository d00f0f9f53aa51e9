#!/usr/bin/env python3
"""Writes random modules of TorchRec as scripted archives: quantised and sharded bags,
sequences, weighted features, feature processors, methods of KeyedJaggedTensors, whole
models; batches of 0, 1 and more, empty bags, ids of 32 bits, keys in any order.

SPDX-License-Identifier: Apache-2.0

    torchrec_modules.py OUT_DIR [--count 24] [--seed 1] [--kinds bags,sharded,…]

A case is a folder with model.pt, test_data_set_K and values.json, which `ingot verify`
reads.  Results are those of torch and FBGEMM.  A seed gives the same cases again.  Needs
torch, torchrec and fbgemm_gpu.
"""

import argparse
import copy
import json
import logging
import pathlib
import random
import sys
import warnings
from typing import Dict, List

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import numpy as np
import torch
from torch import nn, quantization
import fbgemm_gpu  # noqa: F401
from torchrec import (EmbeddingBagCollection, EmbeddingBagConfig, EmbeddingCollection,
                      EmbeddingConfig, JaggedTensor, KeyedJaggedTensor, KeyedTensor,
                      PoolingType)
from torchrec.fx import Tracer
from torchrec.models.deepfm import SimpleDeepFMNN
from torchrec.models.dlrm import DLRM, DLRM_DCN
from torchrec.modules.embedding_configs import QuantConfig
from torchrec.modules.feature_processor_ import PositionWeightedModuleCollection
from torchrec.modules.fp_embedding_modules import FeatureProcessedEmbeddingBagCollection
from torchrec.quant import embedding_modules as quantised

from values_json import write_set

CPU = torch.device("cpu")
TRACED_WHOLE = ["IntNBitTableBatchedEmbeddingBagsCodegen"]
QUANTISED = {
    EmbeddingBagCollection: quantised.EmbeddingBagCollection,
    EmbeddingCollection: quantised.EmbeddingCollection,
}
ROW_DTYPES = [torch.int8] * 3 + [torch.float16, torch.quint4x2, torch.quint2x4,
                                 torch.float32]

# ---- tables and ids ----


class Draw:
    """Tables, their features, and calls."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.features = []  # (key, rows)

    def tables(self, config, width=None, count=None, **options):
        choose, made = self.random.choice, []
        for t in range(count or choose([1, 1, 2, 3, 5, 9])):
            first = len(self.features)
            rows = choose([1, 3, 17, 500])
            names = [f"f{first + i}" for i in range(choose([1, 1, 1, 2]))]
            self.features += [(name, rows) for name in names]
            made.append(config(name=f"t{t}", num_embeddings=rows, feature_names=names,
                               embedding_dim=width or choose([4, 8, 12, 16, 20, 64, 128]),
                               **{key: value() for key, value in options.items()}))
        return made

    def pooling(self):
        return self.random.choice([PoolingType.SUM, PoolingType.MEAN])

    def kjt(self, batch, weighted=False, longest=4, shuffled=True, more=True):
        order = list(self.features)
        if shuffled and self.random.random() < 0.5:
            self.random.shuffle(order)
        if more and self.random.random() < 0.2:
            order.insert(self.random.randrange(len(order) + 1), ("more", 9))
        lengths = self.numpy.integers(0, longest, len(order) * batch)
        ids = [self.numpy.integers(0, rows, int(lengths[i * batch:(i + 1) * batch].sum()))
               for i, (_, rows) in enumerate(order)]
        dtype = self.random.choice([torch.int64, torch.int64, torch.int32])
        values = torch.from_numpy(np.concatenate(ids)).to(dtype)
        weights = torch.from_numpy(self.numpy.random(len(values), dtype=np.float32))
        return KeyedJaggedTensor(keys=[key for key, _ in order], values=values,
                                 lengths=torch.from_numpy(lengths).to(dtype),
                                 weights=weights if weighted else None)


def quantise(draw, module, output=torch.float, dtypes=ROW_DTYPES):
    weight = draw.random.choice(dtypes)
    observer = quantization.PlaceholderObserver
    config = QuantConfig(activation=observer.with_args(dtype=output),
                         weight=observer.with_args(dtype=weight))
    return quantization.quantize_dynamic(
        module.eval(), qconfig_spec={kind: config for kind in QUANTISED},
        mapping=QUANTISED, inplace=False)


# ---- modules ----


class Bags(nn.Module):
    def __init__(self, bags, form: str, keys: List[str]):
        super().__init__()
        self.bags, self.form, self.keys = bags, form, keys

    def forward(self, kjt: KeyedJaggedTensor):
        pooled = self.bags(kjt)
        if self.form == "values":
            return pooled.values()
        if self.form == "each":
            return [pooled[key] for key in self.keys]
        if self.form == "dict":
            return pooled.to_dict()
        if self.form == "reversed":
            return torch.cat([pooled[key] for key in reversed(self.keys)], 1)
        if self.form == "regroup":
            half = len(self.keys) // 2
            return KeyedTensor.regroup([pooled], [self.keys[half:], self.keys[:half + 1]])
        return pooled


class Sequences(nn.Module):
    def __init__(self, rows, keys: List[str]):
        super().__init__()
        self.rows, self.keys = rows, keys

    def forward(self, kjt: KeyedJaggedTensor):
        found = self.rows(kjt)
        return [(found[key].values(), found[key].lengths()) for key in self.keys]


class TwoTowers(nn.Module):
    def __init__(self, query, candidate, widths):
        super().__init__()
        self.query, self.candidate = query, candidate
        self.project = nn.ModuleList([nn.Linear(width, 16) for width in widths])

    def forward(self, query: KeyedJaggedTensor, candidate: KeyedJaggedTensor):
        a = self.project[0](self.query(query).values()).relu()
        b = self.project[1](self.candidate(candidate).values()).relu()
        return (a * b).sum(dim=1), nn.functional.cosine_similarity(a, b)


class Dense(nn.Module):
    """A model that takes dense features and a KeyedJaggedTensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, dense: torch.Tensor, kjt: KeyedJaggedTensor):
        return torch.sigmoid(self.model(dense, kjt))


class Jagged(nn.Module):
    """Methods of KeyedJaggedTensors, scripted as they are."""

    def __init__(self, key: str, order: List[int], parts: List[int]):
        super().__init__()
        self.key, self.order, self.parts = key, order, parts

    def forward(self, kjt: KeyedJaggedTensor):
        one = kjt[self.key]
        moved = kjt.permute(self.order)
        parts = kjt.split(self.parts)
        dense = one.to_padded_dense(3, -1.0)
        offsets = kjt.offsets()
        return (one.values(), one.lengths(), one.offsets(), moved.values(),
                moved.lengths(), parts[0].values(), parts[1].lengths(), dense, offsets,
                kjt.flatten_lengths().lengths())


# ---- kinds: (module, traced?, calls) of a Draw ----


def outputs(tables):
    """Names of the results: a feature of several tables has the table's too."""
    return [name for table in tables for name in table.feature_names]


def bags(draw):
    weighted = draw.random.random() < 0.25
    tables = draw.tables(EmbeddingBagConfig, pooling=(
        lambda: PoolingType.SUM) if weighted else draw.pooling)
    form = draw.random.choice(["values", "each", "dict", "reversed", "regroup", "all"])
    module = Bags(EmbeddingBagCollection(tables=tables, is_weighted=weighted, device=CPU),
                  form, outputs(tables))
    if draw.random.random() < 0.85:
        module = quantise(draw, module, draw.random.choice([torch.float, torch.half]))
    return module, True, lambda batch: (draw.kjt(batch, weighted), )


def many(draw):
    tables = draw.tables(EmbeddingBagConfig, count=200, pooling=draw.pooling)
    module = Bags(EmbeddingBagCollection(tables=tables, device=CPU), "values", [])
    return quantise(draw, module), True, lambda batch: (draw.kjt(batch), )


def sequences(draw):
    tables = draw.tables(EmbeddingConfig, width=draw.random.choice([4, 16, 64]))
    module = Sequences(EmbeddingCollection(tables=tables, device=CPU), outputs(tables))
    if draw.random.random() < 0.8:
        module = quantise(draw, module)
    return module, True, lambda batch: (draw.kjt(batch), )


def processed(draw):
    tables = draw.tables(EmbeddingBagConfig, pooling=lambda: PoolingType.SUM)
    keys = outputs(tables)
    positions = PositionWeightedModuleCollection({key: 6 for key in keys}, CPU)
    with torch.no_grad():
        for weight in positions.parameters():
            weight.uniform_(0.2, 2)
    module = Bags(FeatureProcessedEmbeddingBagCollection(
        EmbeddingBagCollection(tables=tables, is_weighted=True, device=CPU), positions),
                  "values", keys)
    return module, True, lambda batch: (draw.kjt(batch, more=False, shuffled=False), )


def towers(draw):
    parts, calls = [], []
    for _ in range(2):
        part = Draw(draw.random.randrange(1 << 30))
        tables = part.tables(EmbeddingBagConfig, pooling=part.pooling)
        parts.append(EmbeddingBagCollection(tables=tables, device=CPU))
        calls.append(part)
    widths = [sum(t.embedding_dim * len(t.feature_names) for t in
                  part.embedding_bag_configs()) for part in parts]
    module = quantise(draw, TwoTowers(*parts, widths))
    return module, True, lambda batch: tuple(part.kjt(batch) for part in calls)


def dense_call(draw, width):
    return lambda batch: (torch.from_numpy(
        draw.numpy.standard_normal((batch, width), dtype=np.float32)), draw.kjt(batch))


def dlrm(draw):
    width = draw.random.choice([8, 16, 32])
    tables = draw.tables(EmbeddingBagConfig, width=width, pooling=draw.pooling)
    collection = EmbeddingBagCollection(tables=tables, device=CPU)
    layers = dict(dense_in_features=13, dense_arch_layer_sizes=[24, width],
                  over_arch_layer_sizes=[20, 1], dense_device=CPU)
    if draw.random.random() < 0.5:
        model = DLRM(collection, **layers)
    else:
        model = DLRM_DCN(collection, dcn_num_layers=2, dcn_low_rank_dim=5, **layers)
    model = Dense(model)
    if draw.random.random() < 0.7:
        model = quantise(draw, model)
    return model, True, dense_call(draw, 13)


def deepfm(draw):
    tables = draw.tables(EmbeddingBagConfig, width=draw.random.choice([8, 16]))
    model = Dense(SimpleDeepFMNN(
        num_dense_features=7, hidden_layer_size=12, deep_fm_dimension=5,
        embedding_bag_collection=EmbeddingBagCollection(tables=tables, device=CPU)))
    return quantise(draw, model), True, dense_call(draw, 7)


def jagged(draw):
    draw.features = [(f"f{i}", 50) for i in range(draw.random.choice([2, 3, 5]))]
    count = len(draw.features)
    order = [draw.random.randrange(count) for _ in range(count)]
    first = draw.random.randrange(count + 1)
    module = Jagged(f"f{draw.random.randrange(count)}", order, [first, count - first])
    weighted = draw.random.random() < 0.4
    return module, False, lambda batch: (draw.kjt(batch, weighted, more=False,
                                                  shuffled=False), )


def sharded(draw):
    from torchrec_shards import shard

    is_sequence = draw.random.random() < 0.25
    if is_sequence:
        tables = draw.tables(EmbeddingConfig, width=draw.random.choice([16, 32]))
        module = Sequences(EmbeddingCollection(tables=tables, device=CPU), outputs(tables))
    else:
        tables = draw.tables(EmbeddingBagConfig, width=draw.random.choice([16, 32, 64]),
                             pooling=lambda: PoolingType.SUM)
        module = Bags(EmbeddingBagCollection(tables=tables, device=CPU), "values", [])
    kinds = ["table_wise", "row_wise"] + ([] if is_sequence else ["column_wise"])
    how = {table.name: draw.random.choice(kinds) for table in tables}
    for table in tables:  # a shard has a row, and a part is not all of it
        if table.num_embeddings < 17 and how[table.name] == "row_wise":
            how[table.name] = "table_wise"
    quantised.quant_prep_enable_quant_state_dict_split_scale_bias_for_types(
        module, [EmbeddingBagCollection, EmbeddingCollection])
    module = quantise(draw, module, dtypes=[torch.int8, torch.int8, torch.quint4x2])
    module = shard(module, how, draw.random.choice([2, 2, 3]))

    def call(batch):
        kjt = draw.kjt(batch, more=False, shuffled=False)
        for i in range(len(kjt.values())):  # ids that no table has a row for
            if draw.random.random() < 0.1:
                kjt.values()[i] = draw.random.choice([-1, -7, 60, 4097, 2**31 - 1])
        return (kjt, )

    module(*call(2))  # how ids are dealt out is made in the first call
    return module, True, call


KINDS = {name: globals()[name] for name in (
    "bags", "sequences", "jagged", "towers", "dlrm", "sharded", "processed", "deepfm")}


# ---- cases ----


def script(module, is_traced):
    if not is_traced:
        return torch.jit.script(module.eval())
    module.eval()
    graph = Tracer(leaf_modules=TRACED_WHOLE).trace(module)
    return torch.jit.script(torch.fx.GraphModule(module, graph))


def write_case(folder, kind, seed):
    torch.manual_seed(seed)
    draw = Draw(seed)
    module, is_traced, call = (many if kind == "many" else KINDS[kind])(draw)
    program = script(module, is_traced)
    folder.mkdir(parents=True)
    torch.jit.save(program, str(folder / "model.pt"))
    is_half = any(x.dtype == torch.half for x in module.buffers())
    tolerance = {"rtol": 2e-3 if is_half else 1e-4, "atol": 2e-3 if is_half else 1e-5}
    (folder / "case.json").write_text(json.dumps({"tolerance": tolerance}))
    number = 0
    for batch in [3, 1] + draw.random.sample([0, 2, 7, 33], 2):
        arguments = call(batch)
        try:
            with torch.no_grad():
                result = program(*copy.deepcopy(arguments))
        except Exception:  # torch has no answer: a batch of 0 in some modules
            continue
        write_set(folder / f"test_data_set_{number}", arguments, result)
        number += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    for i in range(options.count):
        kind, seed = kinds[i % len(kinds)], options.seed * 100_000 + i
        try:
            write_case(options.out / f"{kind}_{seed}", kind, seed)
        except Exception as error:  # what TorchRec itself cannot make or script
            why = str(error).strip().splitlines()[-1:] or [""]
            print(f"left out: {kind} {seed}: {type(error).__name__} {why[0][:160]}",
                  file=sys.stderr)


main()
