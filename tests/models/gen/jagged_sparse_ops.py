#!/usr/bin/env python3
"""Writes random calls of FBGEMM's operators on jagged and sparse features as scripted
archives: running sums, permutations and buckets of segments, tables of ids without
collisions, jagged and dense tensors, inputs of several tables, ads; no, one and many
segments, empty ones, 32 and 64 bits.

SPDX-License-Identifier: Apache-2.0

    jagged_sparse_ops.py OUT_DIR [--count 60] [--seed 1] [--only NAME,…]

A case is a folder with model.pt, test_data_set_K and values.json, which `ingot verify`
reads.  Results are FBGEMM's own, but for operators without a kernel for CPUs: theirs are
worked out here as their documentation says.  A seed gives the same cases again.
"""

import argparse
import json
import linecache
import pathlib
import random
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import torch
import fbgemm_gpu  # noqa: F401  (registers the operators)

from values_json import write_set

OPS = torch.ops.fbgemm
FLOATS = [torch.float32, torch.float32, torch.float16]
NUMBERS = [torch.float32, torch.float32, torch.int64, torch.int32]
INDICES = [torch.int64, torch.int64, torch.int32]


class Draw:
    """Chance, and tensors by it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.choice = self.random.choice
        self.flag = lambda share=0.5: self.random.random() < share

    def below(self, high, count, dtype=torch.int64):
        """Integers of [0, high)."""
        return torch.from_numpy(self.numpy.integers(0, max(high, 1), count)).to(dtype)

    def lengths(self, shape, dtype=torch.int64, longest=4):
        return self.below(longest + 1, shape, dtype)

    def values(self, shape, dtype=torch.float32):
        x = torch.from_numpy(self.numpy.standard_normal(shape))
        return x.to(dtype) if dtype.is_floating_point else (x * 50).to(dtype)

    def ids(self, count, dtype=torch.int64):
        """Small and large ones, some below 0."""
        info = torch.iinfo(dtype)
        x = self.numpy.integers(info.min, info.max, count)
        small = self.numpy.integers(-5, 40, count)
        pick = self.numpy.random(count) < 0.8
        return torch.from_numpy(np.asarray(np.where(pick, small, x))).to(dtype)

    def order(self, count, dtype=torch.int32):
        return torch.from_numpy(self.numpy.permutation(count)).to(dtype)


def total(x):
    return int(x.sum())


def offsets_of(lengths, dtype=None):
    flat = lengths.flatten().long()
    return torch.cat([flat.new_zeros(1), flat.cumsum(0)]).to(dtype or lengths.dtype)


# Each kind: a Draw to (the program's body, how to make tensors for a batch).  Names in
# FIXED are tensors of the module, not arguments.  `F` is torch.ops.fbgemm.


def sums(d):
    kind = d.choice(["complete", "inclusive", "exclusive", "batched_complete"])
    dtype = d.choice(INDICES + [torch.float32])
    rank2 = kind == "batched_complete" or (kind == "complete" and d.flag(0.3))
    rows = d.choice([1, 3])
    return f"return F.asynchronous_{kind}_cumsum(x)", lambda batch: {
        "x": d.values((rows, batch) if rank2 else batch, dtype)}


def ranges(d):
    dtype, kind = d.choice(INDICES), d.choice(["lengths", "offsets", "repeat"])
    if kind == "offsets":
        return "return F.offsets_range(x[:-1], int(x[-1]))", lambda batch: {
            "x": offsets_of(d.lengths(batch, dtype))}
    name = "lengths_range" if kind == "lengths" else "repeat_arange"
    return f"return F.{name}(x)", lambda batch: {"x": d.lengths(batch, dtype)}


def masks(d):
    dtype = d.choice(INDICES)
    return "return F.get_source_mask(x, y, int((x + y).sum()))", lambda batch: {
        "x": d.lengths(batch, dtype), "y": d.lengths(batch, dtype)}


def inverted(d):
    dtype = d.choice(INDICES)
    return "return F.invert_permute(x)", lambda batch: {"x": d.order(batch, dtype)}


def expanded(d):
    dtype = d.choice(INDICES)

    def call(batch):
        order, lengths = d.order(batch, dtype), d.lengths(batch, dtype)
        return {"p": order, "x": offsets_of(lengths),
                "y": offsets_of(lengths[order.long()])}

    return "return F.expand_into_jagged_permute(p, x, y, int(y[-1]))", call


def segment_sums(d):
    dtype, width = d.choice([torch.float32, torch.int32]), d.choice([1, 3])
    more = d.choice([0, 0, 2])  # values of no segment

    def call(batch):
        lengths = d.lengths(batch)
        edges = offsets_of(lengths, torch.int32)[d.choice([0, 0, 1]) if batch else 0:]
        return {"o": edges, "x": d.values((total(lengths) + more) * width, dtype)}

    return f"return F.segment_sum_csr({width}, o, x)", call


def picks(d, count, dtype=torch.int32):
    """Of so many keys: all in another order, or some, some of them twice."""
    if d.flag():
        return d.order(count, dtype)
    return d.below(count, d.choice([1, count, count + 2]), dtype)


def permuted(d):
    kind, keys = d.choice(["2D_sparse_data", "2D_sparse_data", "1D_sparse_data",
                           "2D_sparse_data_input1D", "sparse_features", "sparse_data",
                           "2D_sparse_preallocated_out"]), d.choice([1, 2, 5])
    dtype, index, weight = d.choice(NUMBERS), d.choice(INDICES), d.choice(FLOATS)
    weighted, order = d.flag(), picks(d, keys)
    if kind == "sparse_features":
        dtype = index
    is_fixed = kind != "1D_sparse_data"
    extra = "B, " if kind.endswith("1D") else ""
    tail = ", w" if weighted else (", None" if d.flag(0.3) else "")
    sized = weighted and d.flag(0.3) and not kind.endswith("features")
    if sized:
        tail += ", int(total)"

    def call(batch):
        lengths = d.lengths((keys, batch), index)
        count, pick = total(lengths), order
        if kind == "1D_sparse_data":
            lengths = lengths.flatten()
            pick = picks(d, keys * batch) if batch else d.order(0)
        out = {"p": pick, "l": lengths.flatten() if extra else lengths,
               "v": d.values(count, dtype)}
        if weighted:
            out["w"] = d.values(count, weight)
        if sized:
            out["total"] = torch.tensor(total(lengths[pick.long()]))
        return out

    body = (f"B = l.numel() // {keys}\n" if extra else "") + (
        f"a, b, c = F.permute_{kind}(p, l, v{', ' + extra[:-2] if extra else ''}{tail})\n"
        + ("assert c is not None\nreturn a, b, c" if weighted else "return a, b"))
    return body, call, (["p"] if is_fixed and d.flag(0.4) else [])


def sequences(d):
    keys, width, index = d.choice([1, 3]), d.choice([1, 4]), d.choice(INDICES)
    dtype = d.choice(FLOATS)
    order = d.order(keys)

    def call(batch):
        lengths = d.lengths((keys, batch), index)
        return {"p": order, "l": lengths, "v": d.values((total(lengths), width), dtype)}

    return "return F.permute_sequence_embeddings(p, l, v)", call


def selections(d):
    dtype, index = d.choice(FLOATS), d.choice(INDICES)
    tail = ", int(n)" if d.flag() else ""

    def call(batch):
        lengths = d.lengths(batch, index)
        pick = d.below(batch, d.choice([0, 1, batch]) if batch else 0, index)
        count = total(lengths)
        return {"v": d.values((count, 3), dtype), "l": lengths, "i": pick,
                "n": lengths[pick.long()].sum()}

    return f"return F.jagged_index_select(v, l, i{tail})", call


def row_selections(d):
    dtype, index, count = d.choice(FLOATS), d.choice(INDICES), d.choice([1, 3])
    names = [", ".join(f"{letter}{i}" for i in range(count)) for letter in "xi"]
    if count == 1:
        return "return F.index_select_dim0(x0, i0)", lambda batch: {
            "x0": d.values((7, 3), dtype), "i0": d.below(7, batch, index)}

    def call(batch):
        return ({f"x{i}": d.values((4 + i, 2), dtype) for i in range(count)} |
                {f"i{i}": d.below(4, batch, index) for i in range(count)})

    return f"return F.group_index_select_dim0([{names[0]}], [{names[1]}])", call


def keyed_selections(d):
    keys, dtype, index = d.choice([1, 3]), d.choice(FLOATS), d.choice(INDICES)
    weighted = d.flag()

    def call(batch):
        batch = max(batch, 1)
        lengths = d.lengths(keys * batch, index)
        out = {"v": d.values(total(lengths), dtype), "l": lengths,
               "o": offsets_of(lengths), "i": d.below(batch, d.choice([0, 1, batch]))}
        return out | ({"w": d.values(total(lengths))} if weighted else {})

    def expected(v, l, o, i, w=None):
        batch = len(l) // keys
        picked = [k * batch + j for k in range(keys) for j in i.tolist()]
        rows = [int(o[p]) + e for p in picked for e in range(int(l[p]))]
        return [v[rows], l[picked]] + ([w[rows]] if weighted else [])

    text = f"F.keyed_jagged_index_select_dim1(v, l, o, i, l.numel() // {keys}"
    return "return " + text + (", w)" if weighted else ")"), call, [], expected


def batch_selections(d):
    count, permuted, dtype = d.choice([1, 2, 3]), d.flag(), d.choice(FLOATS)
    rows = [d.choice([1, 4]) for _ in range(count)]
    columns = [d.choice([1, 3, 5]) for _ in range(count)]
    counts = [d.choice([1, 2, 4])] * count if permuted else [
        d.choice([1, 2, 4]) for _ in range(count)]

    def call(batch):
        size = sum(r * c for r, c in zip(rows, columns))
        return {"x": d.values(size, dtype),
                "i": torch.cat([d.below(r, n) for r, n in zip(rows, counts)])}

    return (f"return F.batch_index_select_dim0(x, i, {counts}, {rows}, {columns}, "
            f"{permuted})"), call


def jagged_selections(d):
    dtype, index = d.choice(FLOATS), torch.int64
    kind = d.choice(["jagged_index_select_2d_forward", "jagged_index_select_2d_forward_v2"])

    def call(batch):
        lengths = d.lengths(max(batch, 1), index)
        pick = d.below(len(lengths), d.choice([1, len(lengths)]), index)
        return {"v": d.values((total(lengths), 3), dtype), "i": pick,
                "a": lengths.cumsum(0), "b": lengths[pick].cumsum(0)}

    tail = ", int(b[-1])" if kind.endswith("forward") or d.flag() else ""
    return f"return F.{kind}(v, i, a, b{tail})", call


# ---- ids without repetitions ----


def lengths_of_unique(unique, edges, groups, bags, batch):
    """FBGEMM deals a table's distinct ids out evenly over the bags of its features."""
    lengths = np.zeros(bags, np.int64)
    for g in range(len(groups) - 1):
        count = (groups[g + 1] - groups[g]) * batch
        if count:
            low, high = edges[groups[g]], edges[groups[g + 1]]
            many = ((unique >= low) & (unique < high)).sum()
            position = np.arange(count)
            lengths[groups[g] * batch + position] = many // count + (position < many % count)
    return lengths


def unique_ids(d):
    index, tables = d.choice(INDICES), d.choice([1, 2, 4])
    shares = [d.choice([1, 1, 2, 3]) for _ in range(tables)]
    rows = [d.choice([1, 9, 200]) for _ in range(tables)]
    features = sum(shares)
    edges = np.repeat(np.cumsum([0] + rows), shares + [1])
    groups = np.repeat(np.cumsum([0] + shares), shares + [1])

    def call(batch):
        batch = max(batch, 1)
        lengths = d.lengths(features * batch, index)
        ids = [d.below(r, n, index) for r, n in zip(
            np.repeat(rows, shares), lengths.view(features, -1).sum(1).tolist())]
        return {"e": torch.from_numpy(edges).to(index),
                "g": torch.from_numpy(groups).to(index),
                "o": offsets_of(lengths), "i": torch.cat(ids)}

    def expected(e, g, o, i):
        bags = len(o) - 1
        bag = np.repeat(np.arange(bags), np.diff(o.numpy()))
        numbers = edges[bag // (bags // features)] + i.numpy()
        unique, which = np.unique(numbers, return_inverse=True)
        lengths = lengths_of_unique(unique, edges, groups, bags, bags // features)
        owner = np.searchsorted(edges, unique, "right") - 1
        lengths = torch.from_numpy(lengths).to(index)
        return (lengths, offsets_of(lengths),
                torch.from_numpy(unique - edges[owner]).to(index), torch.from_numpy(which))

    return "return F.jagged_unique_indices(e, g, o, i)", call, (
        ["e", "g"] if d.flag() else []), expected


def hash_sizes(d):
    index, features = d.choice(INDICES), d.choice([1, 3])

    def call(batch):
        lengths = d.lengths(features * max(batch, 1), index)
        return {"o": offsets_of(lengths), "i": d.below(40, total(lengths), index)}

    def expected(o, i):
        parts = np.split(i.numpy(), o.numpy()[::(len(o) - 1) // features][1:-1])
        sizes = torch.tensor([part.max() + 1 if len(part) else 0 for part in parts])
        return offsets_of(sizes, index), torch.arange(features + 1).to(index)

    return (f"return F.jagged_hash_size_cumsum(o, i, (o.numel() - 1) // {features})", call,
            [], expected)


def counted(d):
    dtype, index, count = d.choice(FLOATS), d.choice(INDICES), d.choice([1, 6])
    return f"return F.jagged_acc_weights_and_counts(w, i, {count})", lambda batch: {
        "w": d.values(batch, dtype), "i": d.below(count, batch, index)}


# ---- buckets ----


def boundaries(d, size, high):
    inner = sorted(d.random.sample(range(1, high), size - 1))
    return [0] + inner + [high]


def buckets(d):
    index, keys = d.choice(INDICES), d.choice([1, 2, 3])
    size, weighted, sequence, position = d.choice([1, 2, 3]), d.flag(), d.flag(), d.flag()
    kind = d.choice(["block_bucketize_sparse_features",
                     "block_bucketize_sparse_features_inference",
                     "block_bucketize_sparse_features_2d_weights",
                     "bucketize_sparse_features"])
    floats = torch.float32
    fixed, tensors = [], {}
    if kind == "bucketize_sparse_features":
        text = f"F.{kind}(l, i, {position}, {size}{', w' if weighted else ''})"
        wants = [True, True, weighted, position]
    else:
        tensors["s"] = torch.tensor([d.choice([3, 7, 20]) for _ in range(keys)],
                                    dtype=index)
        options = f"l, i, {position}, {sequence}, s, {size}"
        if kind.endswith("2d_weights"):
            weighted, width = True, d.choice([1, 3])
            options += f", weights=w, weights_dim={width}"
        else:
            options += ", weights=w" if weighted else ""
        wants = [True, True, weighted, position, sequence]
        if d.flag(0.3):
            options += ", keep_orig_idx=True"
        elif d.flag(0.3):
            options += ", keep_orig_idx_per_feature=k"
            tensors["k"] = torch.tensor([d.flag() for _ in range(keys)])
        if d.flag(0.4):
            options += ", total_num_blocks=n"
            tensors["n"] = torch.tensor([size * d.choice([1, 2, 5]) for _ in range(keys)],
                                        dtype=index)
        if d.flag(0.3):
            options += ", block_bucketize_pos=[" + ", ".join(
                f"e{k}" for k in range(keys)) + "]"
            for k in range(keys):
                tensors[f"e{k}"] = torch.tensor(boundaries(d, size, 30), dtype=index)
                if d.flag(0.2) and "n" in tensors:
                    tensors["s"][k] = 0
        if kind.endswith("inference"):
            mapping = sequence and d.flag()  # else FBGEMM leaves it as it was
            options += f", return_bucket_mapping={mapping}"
            wants.append(mapping)
        text = f"F.{kind}({options})"
        if d.flag(0.4):
            fixed = list(tensors)
    varied = "block" in kind and d.flag(0.2)

    def call(batch):
        if varied:
            sizes = d.below(4, keys)
            text_of = {"b": sizes.to(index)}
            lengths = d.lengths(total(sizes), index)
        else:
            text_of, lengths = {}, d.lengths(keys * batch, index)
        out = {"l": lengths, "i": d.ids(total(lengths), index)} | tensors | text_of
        if "e0" in tensors:  # beyond the last boundary, too, but no id below 0
            out["i"] = d.below(60, total(lengths), index)
        if weighted:
            flat = not kind.endswith("2d_weights")
            out["w"] = d.values(total(lengths) if flat else (total(lengths), width), floats)
        return out

    if varied:
        text = text[:-1] + ", batch_size_per_feature=b, max_B=int(b.max()))"
    results = [f"r{i}" for i in range(len(wants))]
    body = ", ".join(results) + f" = {text}\n"
    optional = 3 if kind.endswith("2d_weights") else 2
    body += "".join(f"assert r{i} is not None\n"
                    for i in range(optional, len(wants)) if wants[i])
    body += "return " + ", ".join(r for r, want in zip(results, wants) if want)
    return body, call, fixed


def bucket_permutes(d):
    index, size, keys = d.choice(INDICES), d.choice([2, 3]), 2
    sizes = torch.tensor([4, 9], dtype=index)

    def call(batch):
        lengths = d.lengths(keys * batch, index)
        result = OPS.block_bucketize_sparse_features_inference(
            lengths, d.below(30, total(lengths), index), False, True, sizes, size,
            return_bucket_mapping=True)
        return {"l": lengths, "m": result[0], "b": result[5]}

    return "return F.populate_bucketized_permute(l, m, b)", call


# ---- tables of ids ----


def murmur(d):
    y, seed = (d.random.randrange(-9, 10) for _ in range(2))

    def call(batch):
        while True:  # half of all hashes do not fit into FBGEMM's result
            x = d.ids(1)
            try:
                OPS.murmur_hash3(x, y, seed)
                return {"x": x}
            except RuntimeError:
                pass

    return f"return F.murmur_hash3(x, {y}, {seed})", call


def buffers(d):
    has_metadata, is_long, rows = d.flag(), d.flag(), d.choice([0, 1, 9])
    body = f"a, b = F.create_zch_buffer({rows}, {has_metadata}, None, {is_long})\n"
    return body + ("return a, b" if has_metadata else "return a"), lambda batch: {
        "x": d.values(1)}


def home_of(id_, size):
    """Where an id is looked for first: in a table of no ids it falls back to that."""
    table = torch.full((size, 1), -7, dtype=torch.int64)
    return int(OPS.zero_collision_hash(torch.tensor([id_]), table, 1, True, -1, True)[0])


def fill_table(d, table, ids, starts, sizes, highest):
    """Puts most of the ids where FBGEMM looks for them, some of them nowhere."""
    for id_, start, size in zip(ids.tolist(), starts.tolist(), sizes.tolist()):
        if d.flag(0.25) or size < 1:
            continue
        home = home_of(id_, size)
        for step in range(d.choice([1, 2, highest + 3])):
            at = start + (home + step) % size
            if int(table[at, 0]) in (-1, id_) or d.flag(0.1):
                table[at, 0] = id_
                break


def ids_of_tables(d):
    rows, highest = d.choice([1, 7, 40, 120]), d.choice([0, 1, 3, 16, 17, 50, 300])
    index = d.choice(INDICES)
    narrow = index == torch.int32 or d.flag(0.3)
    is_parted, reserved = d.flag(0.4), 0
    options = f"{highest}, True, -1, True"
    if is_parted:
        options += ", local_sizes=s, offsets=o"
    if d.flag(0.3):
        options += ", disable_fallback=True"
    if rows > 1 and d.flag(0.3):
        reserved = d.choice([1, 2])
        options += f", opt_in_prob={d.choice([1, 50, 100])}, num_reserved_slots={reserved}"
    parts = d.choice([1, 2, 3]) if is_parted and rows > 10 else 1
    edges = np.linspace(0, rows, parts + 1).astype(np.int64)
    ids = d.ids(rows, index)
    owner = d.below(parts, rows).numpy()
    table = torch.full((rows, 1), -1, dtype=torch.int64)
    starts = torch.from_numpy(edges[owner])
    sizes = torch.from_numpy(edges[owner + 1]) - starts - reserved
    fill_table(d, table, ids, starts, sizes, highest)
    table = (torch.where(table < 0, -((-table) % (2 ** 31 - 1)), table % (2 ** 31 - 1))
             .int() if narrow and index == torch.int64 else table.to(index))

    def call(batch):
        pick = d.below(rows, batch)
        out = {"x": ids[pick], "t": table}
        if d.flag(0.3) and batch:
            out["x"][0] = d.ids(1, index)[0]
        if is_parted:
            part = owner[pick.numpy()]
            begins = torch.from_numpy(edges[part])
            out |= {"s": torch.from_numpy(edges[part + 1]) - begins, "o": begins}
        return out

    return f"return F.zero_collision_hash(x, t, {options})[0]", call, (
        ["t"] if d.flag() else [])


# ---- jagged and dense ----


def jagged(d, shape, dtype, index, axes=1, longest=4):
    """Values of a jagged tensor, and the offsets of its axes."""
    offsets, count = [], shape[0]
    for _ in range(axes):
        lengths = d.lengths(count, index, longest)
        offsets.append(offsets_of(lengths))
        count = total(lengths)
    return d.values((count, *shape[1:]), dtype), offsets


def to_dense(d):
    axes, index, dtype = d.choice([1, 1, 2, 3]), d.choice(INDICES), d.choice(NUMBERS[:3])
    inner = [3] if axes > 1 or d.flag() else []
    highest = [d.choice([1, 2, 5]) for _ in range(axes)]
    names = [f"o{i}" for i in range(axes)]
    pad = d.choice([0, -1.0, 2.5])
    if axes == 1 and d.flag(0.4):
        name = "jagged_2d_to_dense" if inner else "jagged_1d_to_dense"
        text = f"F.{name}(v, o0, {highest[0]}{'' if inner else ', -3'})"
        dtype = torch.float32 if inner and dtype == torch.int64 else dtype
    else:
        name = d.choice(["jagged_to_padded_dense", "jagged_to_padded_dense_forward"])
        text = f"F.{name}(v, [{', '.join(names)}], {highest}, {pad})"

    def call(batch):
        values, offsets = jagged(d, (batch, *inner), dtype, index, axes)
        return {"v": values} | dict(zip(names, offsets))

    return "return " + text, call


def with_dense(d):
    axes, index, dtype = d.choice([1, 1, 2]), d.choice(INDICES), d.choice(FLOATS)
    highest = [d.choice([2, 5]) for _ in range(axes)]
    names = [f"o{i}" for i in range(axes)]
    kind = d.choice(["dense_to_jagged", "jagged_dense_elementwise_add",
                     "jagged_dense_elementwise_add_jagged_output",
                     "jagged_dense_dense_elementwise_add_jagged_output",
                     "jagged_dense_elementwise_mul", "dense_to_jagged_forward",
                     "jagged_dense_elementwise_mul_forward",
                     "jagged_dense_dense_elementwise_add_jagged_output_forward"])
    is_dense = kind.startswith("dense")
    longest = min(highest) if is_dense else 6
    offsets_text = f"[{', '.join(names)}]"
    if is_dense:
        more = d.choice(["", "", " + min(o0.numel() - 1, 2)"])
        tail = f", int(o{axes - 1}[-1]){more}" if d.flag() else ""
        text = f"return F.{kind}(y, {offsets_text}{tail})"
        text += "" if kind.endswith("forward") else "[0]"
    else:
        second = ", z" if "dense_dense" in kind else ""
        text = f"return F.{kind}(v, {offsets_text}, y{second})"

    def call(batch):
        values, offsets = jagged(d, (batch, 3), dtype, index, axes, longest)
        dense = (batch, *highest, 3)
        out = {"y": d.values(dense, dtype)} | dict(zip(names, offsets))
        if not is_dense:
            out["v"] = values
        if "dense_dense" in kind:
            out["z"] = d.values(dense, dtype)
        return out

    return text, call


def products(d):
    index, dtype = d.choice(INDICES), d.choice(FLOATS)
    highest = d.choice([4, 7])
    kind = d.choice(["jagged_softmax", "jagged_jagged_bmm", "jagged_dense_bmm",
                     "batched_dense_vec_jagged_2d_mul"])
    heads, name = d.choice([1, 2]), kind + d.choice(["", "", "_forward"])

    def call(batch):
        batch = max(batch, 1)
        x, (offsets, ) = jagged(d, (batch, 3 * heads), dtype, index)
        out = {"x": x, "o": offsets}
        if kind == "jagged_jagged_bmm":
            out["y"] = d.values((len(x), 5), dtype)
        if kind == "jagged_dense_bmm":
            out["y"] = d.values((batch, 3 * heads, 5), dtype)
        if kind.startswith("batched"):
            out["y"] = d.values((batch * heads, highest), dtype)
        return out

    text = {"jagged_softmax": f"x, o, {highest}", "jagged_jagged_bmm": f"x, y, o, {highest}",
            "jagged_dense_bmm": f"x, o, y, {highest}",
            "batched_dense_vec_jagged_2d_mul": "y, x, o"}[kind]
    return f"return F.{name}({text})", call


def parts(d):
    index, kind = d.choice(INDICES), d.choice(["truncated", "masked", "slice"])
    dtype = d.choice(NUMBERS)
    highest = d.choice([1, 2, 5])
    text = {"truncated": f"F.jagged_1d_to_truncated_values(v, l, {highest})",
            "masked": "F.masked_select_jagged_1d(v, l, m)",
            "slice": f"F.jagged_slice(v, l, s, {highest})"}[kind]

    def call(batch):
        lengths = d.lengths(batch, index)
        out = {"v": d.values(total(lengths), dtype), "l": lengths}
        if kind == "masked":
            out["m"] = d.below(2, total(lengths)).bool()
        if kind == "slice":
            out["s"] = torch.minimum(d.lengths(batch, index), lengths)
        return out

    return "return " + text, call


def stacked(d):
    index, keys, rank = d.choice(INDICES), d.choice([1, 3]), d.choice([1, 2])
    dtype = d.choice([torch.float32, torch.float32, torch.int64][:2 if rank == 2 else 3])
    highest = [d.choice([1, 3, 6]) for _ in range(keys)]
    edges = ", ".join(f"int(e[{k}])" for k in range(keys + 1))

    def call(batch):
        lengths = d.lengths((keys, batch), index)
        ends = offsets_of(lengths.sum(1), torch.int64)
        count = total(lengths)
        return {"v": d.values((count, 3) if rank == 2 else count, dtype), "l": lengths,
                "e": ends}

    return f"return F.stacked_jagged_{rank}d_to_dense(v, l, [{edges}], {highest}, -2)", call


def packed(d):
    index, dtype, highest = d.choice(INDICES), d.choice(FLOATS), 3
    inner = d.choice([[], [2], [2, 3]])
    wants = d.flag()
    old = d.flag(0.4)

    def call(batch):
        lengths = d.lengths(batch, index)
        return {"v": d.values((total(lengths), *inner), dtype), "l": lengths}

    if old:
        return f"return F.pack_segments(v, l, {highest})", call
    body = f"a, b = F.pack_segments_v2(v, l, {highest}, {d.flag()}, {wants})\n"
    return body + ("assert b is not None\nreturn a, b" if wants else "return a"), call


# ---- pooled rows ----


def pooled(d):
    kind = d.choice(["permute_pooled_embs", "permute_pooled_embs_auto_grad",
                     "permute_duplicate_pooled_embs", "permute_pooled_embs_split",
                     "permute_duplicate_pooled_embs_split",
                     "merge", "sum"])
    count, dtype = d.choice([1, 2, 4]), d.choice(FLOATS)
    widths = [d.choice([1, 4, 6]) for _ in range(count)]
    if kind in ("merge", "sum"):
        names = [f"x{i}" for i in range(count)]
        if kind == "sum":
            text = f"F.sum_reduce_to_one([{', '.join(names)}], x0.device)"
            widths = [3] * count
        else:
            text = (f"F.merge_pooled_embeddings([{', '.join(names)}], x0.size(0), "
                    "x0.device)")
        return "return " + text, lambda batch: {
            name: d.values((batch, width), dtype) for name, width in zip(names, widths)}
    order = picks(d, count, torch.int64) if "duplicate" in kind else d.order(
        count, torch.int64)
    out_widths = [widths[i] for i in order.tolist()]
    fixed = {"e": offsets_of(torch.tensor(widths)), "p": order,
             "f": offsets_of(torch.tensor(out_widths)),
             "q": torch.argsort(order)}
    lowest = 1 if "duplicate" in kind else 0  # no rows at all are given back as they came
    return f"return F.{kind}(x, e, p, f, q)", lambda batch: {
        "x": d.values((max(batch, lowest), sum(widths)), dtype)} | fixed, list(fixed)


def regrouped(d):
    dtype = d.choice(FLOATS)
    inputs, keys, lengths = d.choice([1, 2, 3]), [], []
    for i in range(inputs):
        count = d.choice([1, 2, 3])
        keys.append([f"k{i}_{j}" for j in range(count)])
        lengths.append([d.choice([1, 4, 6]) for _ in range(count)])
    names = [key for some in keys for key in some]
    groups = [d.random.sample(names, d.random.randint(1, len(names)))
              for _ in range(d.choice([1, 2, 3]))]
    tensors = [f"x{i}" for i in range(inputs)]
    rest = f"{keys!r}, {lengths!r}, {groups!r}"
    listed = ", ".join(tensors)
    if d.flag():
        text = f"return F.regroup_keyed_tensor([{listed}], {rest})"
    else:
        text = (f"a, b, c, e = F.kt_regroup_arguments(x0, {rest})\n"
                f"return a, b, c, F.permute_multi_embedding{d.choice(['', '_function'])}"
                f"([{listed}], a, b, c, e)")
    return text, lambda batch: {
        name: d.values((batch, sum(some)), dtype) for name, some in zip(tensors, lengths)}


# ---- inputs of several tables, ads ----


def combined(d):
    count, padded, by_length = d.choice([1, 2, 4]), d.flag(), d.flag()
    index, weights = d.choice(INDICES), [d.flag(0.6) for _ in range(count)]
    lasts = [d.flag() for _ in range(count)]

    def names(letter):
        return "[" + ", ".join(f"{letter}{i}" for i in range(count)) + "]"

    kind = ("padding_fused_" if padded else "") + "tbe_input_combine"
    text = f"F.{kind}{'_with_length' if by_length else ''}("
    text += f"{names('i')}, {names('o')}, {names('w')}"
    text += "" if by_length else ", lasts"
    text += ", 5)" if padded else ")"

    def call(batch):
        out = {}
        for i in range(count):
            lengths = d.lengths(max(min(batch, 5) if padded else batch, 1), index)
            offsets = offsets_of(lengths)
            out[f"i{i}"] = d.below(50, total(lengths), index)
            out[f"o{i}"] = lengths if by_length else offsets if lasts[i] else offsets[:-1]
            out[f"w{i}"] = d.values(total(lengths) if weights[i] else 0)
        return out | ({} if by_length else {"lasts": torch.tensor(lasts)})

    return "return " + text, call


def ads(d):
    tables, shared = d.choice([1, 2, 3]), d.flag()
    kind = d.choice(["lengths", "indices", "cat", "sequence"])
    index = d.choice(INDICES) if kind in ("lengths", "sequence") else torch.int32
    dtype = d.choice(NUMBERS) if kind != "sequence" else torch.float32
    shared, requests = shared and kind != "sequence", 3
    highest, more = "", d.choice([0, 1, 4])
    if kind in ("lengths", "cat") and not shared and d.flag():
        highest = f", max_batch_size=int(e[-1]) + {more}"

    def call(batch):
        batch = requests if kind == "cat" else max(batch, 1)
        counts = d.lengths(batch, index) + 1  # ads of each request
        segments = (torch.ones_like(counts) if shared else counts) * tables
        lengths = d.lengths(total(segments), index)
        edges, starts = offsets_of(counts), offsets_of(lengths)
        out = {"e": edges}
        if kind == "lengths":
            return out | {"l": lengths}
        new = OPS.reorder_batched_ad_lengths(
            lengths, edges, total(counts), shared, total(counts) + more if highest else 0)
        out |= {"o": starts, "r": offsets_of(new)}
        shape = (total(lengths), 3) if kind == "sequence" else total(lengths)
        values = d.values(shape, dtype)
        if kind == "cat":  # a tensor for each request
            ends = starts[offsets_of(segments).long()]
            return out | {f"v{i}": values[ends[i]:ends[i + 1]] for i in range(batch)}
        return out | {"v": values}

    text = {"lengths": f"reorder_batched_ad_lengths(l, e, int(e[-1]), {shared}{highest})",
            "indices": f"reorder_batched_ad_indices(o, v, r, e, int(e[-1]), {shared}, "
                       "int(r[-1]))",
            "cat": "cat_reorder_batched_ad_indices(o, [v0, v1, v2], r, e, int(e[-1]), "
                   f"{shared}, int(r[-1]){highest})",
            "sequence": "reorder_batched_sequence_embeddings(o, v, r, e, int(e[-1]))"}
    return "return F." + text[kind], call


def unary(d):
    tables, tasks, index = d.choice([1, 3]), d.choice([1, 2]), d.choice(INDICES)
    rows = [d.choice([1, 5]) for _ in range(tables)]
    begins = offsets_of(torch.tensor(rows), index)

    def call(batch):
        batch = max(batch, 1)
        lengths = d.lengths(tables * batch, index)
        counts = lengths.view(tables, batch).sum(1).tolist()
        ids = torch.cat([d.below(r, n, index) for r, n in zip(rows, counts)])
        return {"w": d.values((tasks, sum(rows), 1)), "t": begins,
                "o": offsets_of(lengths), "i": ids}

    return "return F.batched_unary_embeddings(w, t, o, i)", call


KINDS = [sums, ranges, masks, inverted, expanded, segment_sums, permuted, sequences,
         selections, row_selections, keyed_selections, batch_selections,
         jagged_selections, unique_ids, hash_sizes, counted, buckets, bucket_permutes,
         murmur, buffers, ids_of_tables, to_dense, with_dense, products, parts, stacked,
         packed, pooled, regrouped, combined, ads, unary]

# ---- cases ----

HEAD = """import torch
from typing import List
class Program(torch.nn.Module):
    def forward(self, {arguments}):
{fixed}        {body}
"""


def script(body, tensors, fixed):
    """A scripted module of this body: its arguments are the tensors but the fixed."""
    arguments = ", ".join(f"{n}: torch.Tensor" for n in tensors if n not in fixed)
    source = HEAD.format(
        arguments=arguments, fixed="".join(f"        {n} = self.{n}\n" for n in fixed),
        body=body.replace("F.", "torch.ops.fbgemm.").replace("\n", "\n        "))
    linecache.cache["<program>"] = (len(source), None, source.splitlines(True),
                                    "<program>")
    names = {"__name__": "program"}
    exec(compile(source, "<program>", "exec"), names)
    module = names["Program"]()
    for name in fixed:
        module.register_buffer(name, tensors[name])
    return torch.jit.script(module.eval()), source


def parts_of(body, call, fixed=(), expected=None):
    """`expected` stands for the program where FBGEMM has no kernel for CPUs."""
    return body, call, list(fixed), expected


def write_case(folder, kind, seed):
    draw = Draw(seed)
    body, call, fixed, expected = parts_of(*kind(draw))
    program, source = script(body, call(3), fixed)
    folder.mkdir(parents=True)
    number, why = 0, None
    for batch in [3, 1] + draw.random.sample([0, 2, 7, 33], 2):
        tensors = call(batch)
        arguments = [x for name, x in tensors.items() if name not in fixed]
        try:
            result = (expected(**tensors) if expected else
                      program(*[x.clone() for x in arguments]))
        except Exception as error:  # FBGEMM has no answer: no segments at all, say
            why = why or error
            continue
        write_set(folder / f"test_data_set_{number}", arguments, result)
        number += 1
    if not number:
        folder.rmdir()
        raise why
    torch.jit.save(program, str(folder / "model.pt"))
    (folder / "source.txt").write_text(source)
    (folder / "case.json").write_text(json.dumps(
        {"tolerance": {"rtol": 2e-3, "atol": 2e-3}
         if "float16" in (folder / "test_data_set_0/values.json").read_text()
         else {"rtol": 1e-4, "atol": 1e-5}}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(kind.__name__ for kind in KINDS))
    options = parser.parse_args()
    names = options.only.split(",")
    kinds = [kind for kind in KINDS if kind.__name__ in names]
    for i in range(options.count):
        kind, seed = kinds[i % len(kinds)], options.seed * 100_000 + i
        try:
            write_case(options.out / f"{kind.__name__}_{seed}", kind, seed)
        except Exception as error:  # what FBGEMM or torch's compiler refuses
            why = str(error).strip().splitlines()[-1:] or [""]
            print(f"left out: {kind.__name__} {seed}: {type(error).__name__} "
                  f"{why[0][:160]}", file=sys.stderr)


main()
