"""Inputs of a recognition case and the outputs that its graph must give.

SPDX-License-Identifier: Apache-2.0

The reference is a plain loop over bags in float64.  It follows the graph, not torch: an
empty bag is the reduction of nothing (0, -inf; the mean is 0) except in the dynamo forms, which
write zeros.
"""

import dataclasses

import numpy as np

from forms_case import PADDING_ID, TABLE_SETS


@dataclasses.dataclass
class BagData:
    ids: np.ndarray
    starts: np.ndarray = None
    weights: np.ndarray = None

    def arrays(self):
        return [a for a in (self.ids, self.starts, self.weights) if a is not None]


def draw_ids(rng, case, rows, shape):
    """Ids of which some count from the end, and some are the padding id."""
    ids = rng.integers(0, rows, shape)
    if case.padding:
        ids = np.where(rng.random(shape) < 0.3, PADDING_ID, ids)
    ids = np.where(rng.random(shape) < 0.2, ids - rows, ids)
    return ids.astype("int32" if "int32" in case.style else "int64")


def ragged_bag(rng, case, rows, lengths, skipped=(0, 0)):
    """Bags of these lengths, `skipped` ids before the first and after the last."""
    before, after = skipped
    bounds = before + np.concatenate([[0], np.cumsum(lengths)])
    count = int(bounds[-1]) + after
    ids = draw_ids(rng, case, rows, count)
    if case.padding and len(lengths) > 1:
        longest = int(np.argmax(lengths))
        ids[bounds[longest] : bounds[longest + 1]] = PADDING_ID
    starts = (bounds if case.last else bounds[:-1]).astype(ids.dtype)
    weights = rng.uniform(0.2, 1.5, count).astype("float32") if case.weighted else None
    return BagData(ids, starts, weights)


def shaped_bag(rng, case, rows, shape):
    weights = rng.uniform(0.2, 1.5, shape).astype("float32") if case.weighted else None
    return BagData(draw_ids(rng, case, rows, shape), None, weights)


def bags_of(case):
    """(number, rows, dim) of each bag."""
    tables, uses = TABLE_SETS[case.tables]
    return [(index, *tables[table]) for index, table in enumerate(uses)]


def ragged_set(rng, case, lengths, skipped=(0, 0)):
    return [
        ragged_bag(rng, case, rows, np.roll(lengths, number), skipped)
        for number, rows, _ in bags_of(case)
    ]


def shaped_set(rng, case, batch, length):
    return [
        shaped_bag(rng, case, rows, (batch, length + number if length else 0))
        for number, rows, _ in bags_of(case)
    ]


def one_hot_set(rng, case, batch):
    if "column" in case.style:
        rows = min(rows for _, rows, _ in bags_of(case))
        columns = shaped_bag(rng, case, rows, (batch, len(bags_of(case))))
        return [
            BagData(columns.ids, None, shaped_bag(rng, case, rows, batch).weights)
            for _ in bags_of(case)
        ]
    shape = (batch, 1) if "squeeze" in case.style else (batch,)
    bags = [shaped_bag(rng, case, rows, shape) for _, rows, _ in bags_of(case)]
    for bag in bags:
        bag.weights = bag.weights.reshape(batch) if case.weighted else None
    return bags


def may_skip_ids(case):
    return not (case.form == "dynamo" and case.mode == "mean" and case.last)


def ragged_sets(rng, case):
    if case.form == "unrolled" or case.is_static:
        lengths = [2, 0, 3, 1][: case.static_bags]
        sets = {"ragged": ragged_set(rng, case, lengths)}
        if not case.is_static:
            sets["all_empty"] = ragged_set(rng, case, [0] * len(lengths))
        return sets
    sets = {
        "ragged": ragged_set(rng, case, [0, 3, 1, 0, 5, 2]),
        "one_bag": ragged_set(rng, case, [4]),
        "one_empty_bag": ragged_set(rng, case, [0]),
    }
    if case.form == "legacy":
        sets["no_bags"] = ragged_set(rng, case, [])
    if may_skip_ids(case):
        sets["skipped_ids"] = ragged_set(rng, case, [2, 4, 1, 3], skipped=(1, 2))
    return sets


def shaped_sets(rng, case):
    sets = {"even": shaped_set(rng, case, 4, 3)}
    if case.is_static:
        return sets
    sets["one_bag"] = shaped_set(rng, case, 1, 2)
    if case.form != "dynamo":
        sets["no_bags"] = shaped_set(rng, case, 0, 2)
    if case.form == "fixed":
        sets["empty_bags"] = shaped_set(rng, case, 3, 0)
    return sets


def data_sets(rng, case):
    """{what: [data of each bag]}."""
    if case.form == "one_hot":
        batches = (
            {"even": 4} if case.is_static else {"even": 4, "one_bag": 1, "no_bags": 0}
        )
        return {what: one_hot_set(rng, case, batch) for what, batch in batches.items()}
    if case.two_d:
        return shaped_sets(rng, case)
    return ragged_sets(rng, case)


# The reference.


def spans(case, index, bag):
    """[(positions of each bag's ids in the flat list)]."""
    if case.form == "one_hot":
        ids_a_bag = bag.ids.shape[1] if "column" in case.style else 1
        first = index if "column" in case.style else 0
        return [
            range(first + i * ids_a_bag, first + i * ids_a_bag + 1)
            for i in range(len(bag.ids))
        ]
    if case.two_d:
        batch, length = bag.ids.shape
        return [range(i * length, (i + 1) * length) for i in range(batch)]
    bounds = list(bag.starts) + ([] if case.last else [len(bag.ids)])
    if case.form == "dynamo" and case.last and (case.padding or case.mode == "max"):
        bounds[-1] = len(bag.ids)
    return [range(a, b) for a, b in zip(bounds, bounds[1:])]


def pool_nothing(case, dim):
    if case.form == "dynamo":
        return np.zeros(dim)
    return np.full(dim, {"sum": 0.0, "mean": 0.0, "max": -np.inf}[case.mode])


def pool_bag(case, table, ids, weights):
    """ids: one bag's ids, none negative; weights as many, or None."""
    rows = table[ids].astype("float64")
    if weights is not None:
        rows *= weights[:, None]
    if case.padding:
        rows = rows[ids != PADDING_ID]
    if not len(rows):
        return pool_nothing(case, table.shape[1])
    return {"sum": np.sum, "mean": np.mean, "max": np.max}[case.mode](rows, axis=0)


def pool(case, index, table, bag):
    ids = bag.ids.reshape(-1) % len(table)
    weights = None if bag.weights is None else bag.weights.reshape(-1)
    out = np.zeros((0, table.shape[1]))
    pooled = []
    for i, span in enumerate(spans(case, index, bag)):
        at = np.asarray(span, "int64")
        of_bag = [i] if case.form == "one_hot" else at
        pooled.append(
            pool_bag(case, table, ids[at], None if weights is None else weights[of_bag])
        )
    return np.vstack([out] + pooled)


def expected(case, tables, bags):
    """The model's output: all bags side by side."""
    _, uses = TABLE_SETS[case.tables]
    pooled = [
        pool(case, index, tables[table], bags[index])
        for index, table in enumerate(uses)
    ]
    return np.hstack(pooled).astype("float32")
