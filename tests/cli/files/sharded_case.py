"""Writes the case of a sharded collection, as `igcheck cases` takes it: FOLDER [wrong].

Numbers are small and whole, so that every order of adding gives the same bits; what is
wanted is computed here.  SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import struct
import sys

folder = sys.argv[1]
is_wrong = "wrong" in sys.argv[2:]
WORLD, BATCH = 3, 2
TABLES = [
    dict(name="users.of it", rows=5, dim=4, features=["u", "both"], pooling="SUM"),
    dict(name="items", rows=7, dim=2, features=["both", "i"], pooling="MEAN"),
]
KEYS = ["i", "both", "u"]
CODES = {"f": "<f4", "q": "<i8", "i": "<i4"}


def save(name, code, shape, numbers):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s)}" % (
        CODES[code], "".join("%d, " % n for n in shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(os.path.join(folder, name + ".npy"), "wb") as to:
        to.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        to.write(struct.pack("<%d%s" % (len(numbers), code), *numbers))


def shard(rank, row, rows, column, columns):
    return dict(offsets=[row, column], sizes=[rows, columns],
                placement="rank:%d/cpu" % rank)


os.makedirs(folder, exist_ok=True)
draw = random.Random(7)
weights = {}
for t in TABLES:
    weights[t["name"]] = [[draw.randint(-8, 8) * 4 for _ in range(t["dim"])]
                          for _ in range(t["rows"])]
    save("weights_before_" + t["name"], "f", (t["rows"], t["dim"]),
         [x for row in weights[t["name"]] for x in row])
plan = {
    "users.of it": dict(sharding_type="row_wise", compute_kernel="fused",
                        shards=[shard(0, 0, 2, 0, 4), shard(1, 2, 2, 0, 4),
                                shard(2, 4, 1, 0, 4)]),
    "items": dict(sharding_type="column_wise", compute_kernel="fused",
                  shards=[shard(2, 0, 7, 0, 1), shard(0, 0, 7, 1, 1)]),
}
with open(os.path.join(folder, "case.json"), "w") as to:
    json.dump(dict(world_size=WORLD, batch_per_rank=BATCH, weighted=True, tables=TABLES,
                   plan=plan, tolerance=dict(rtol=0, atol=0)), to)

for rank in range(WORLD):
    bags = {k: [[draw.randint(0, 4) for _ in range(rank and draw.choice([0, 1, 2, 4]))]
                for _ in range(BATCH)] for k in KEYS}
    ids = [x for k in KEYS for bag in bags[k] for x in bag]
    each = [float(draw.choice([1, 2, -1])) for _ in ids]
    given, at = {}, 0
    for k in KEYS:
        given[k] = []
        for bag in bags[k]:
            given[k].append(each[at:at + len(bag)])
            at += len(bag)
    save("rank%d_input_values" % rank, "i", (len(ids),), ids)
    save("rank%d_input_lengths" % rank, "i", (len(KEYS) * BATCH,),
         [len(bag) for k in KEYS for bag in bags[k]])
    save("rank%d_input_weights" % rank, "f", (len(ids),), each)
    keys, rows = [], [[] for _ in range(BATCH)]
    for t in reversed(TABLES):
        for f in t["features"]:
            keys.append(f + "@" + t["name"] if f == "both" else f)
            for b in range(BATCH):
                ids_of, by = bags[f][b], given[f][b]
                total = [sum(w * weights[t["name"]][i][d] for i, w in zip(ids_of, by))
                         for d in range(t["dim"])]
                if t["pooling"] == "MEAN" and ids_of:
                    total = [x / len(ids_of) for x in total]
                rows[b] += total
    if is_wrong and rank == WORLD - 1:
        rows[-1][-1] += 1
    save("rank%d_output" % rank, "f", (BATCH, len(rows[0])), [x for r in rows for x in r])
    with open(os.path.join(folder, "rank%d.json" % rank), "w") as to:
        json.dump(dict(rank=rank, input_keys=KEYS, output_keys=keys), to)
