"""Writes a model with tables of every kind of rows, and plans for two and three ranks.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import sys

os.chdir(sys.argv[1])
random.seed(5)


def numbers(count):
    return "[" + ", ".join(str(random.randint(-9, 9)) for _ in range(count)) + "]"


def codes(rows, row_bytes):
    """Rows of so many bytes behind a scale of 0.1 and a bias of 0 in f16."""
    row = lambda: "".join("%02x" % random.randrange(256) for _ in range(row_bytes))
    return "inline(0x" + "".join("662e0000" + row() for _ in range(rows)) + ")"


def by_rows(name, dim, parts):
    shards, row = [], 0
    for rank, rows in parts:
        shards.append({"rank": rank, "size": [rows, dim], "offset": [row, 0]})
        row += rows
    return {"name": name, "sharding_type": "row_wise", "shards": shards}


def by_columns(name, rows, parts):
    shards, column = [], 0
    for rank, columns in parts:
        shards.append({"rank": rank, "size": [rows, columns], "offset": [0, column]})
        column += columns
    return {"name": name, "sharding_type": "column_wise", "shards": shards}


def write_plan(path, world, *tables):
    with open(path, "w") as out:
        json.dump({"world_size": world, "tables": tables}, out)


tables = ["users", "codes", "nibbles", "same", "rest"]
operands = ", ".join(f"@net.{name}.weight, %ids, %off" for name in tables)
with open("m.ig", "w") as out:
    out.write(f"""module @m {{
  weight @net.users.weight : f32[13, 8] = {numbers(104)}
  table @net.codes.weight : u8<rowwise f16>[9, 8] = {codes(9, 8)}
  table @net.nibbles.weight : u4<rowwise f16>[7, 8] = {codes(7, 4)}
  weight @net.same.weight : f32[4, 4] = splat(3)
  weight @w : f32[8, 70] = {numbers(560)}
  weight @net.rest.weight : f32[5, 4] = {numbers(20)}
  graph @main(%ids: i64[N], %off: i64[B]) {{
    %0, %1, %2, %3, %4 = bag {operands} {{operands = [1, 1, 1, 1, 1],
        pool = [sum, sum, mean, sum, max], negative = error, range = clamp}}
    %5 = matmul %0, @w
    ret %5, %1, %2, %3, %4
  }}
}}
""")
write_plan("two.json", 2, by_rows("users", 8, [(0, 4), (1, 9)]),
           by_columns("codes", 9, [(1, 4), (0, 4)]), by_rows("nibbles", 8, [(1, 7)]),
           by_rows("same", 4, [(0, 2), (1, 2)]))
write_plan("three.json", 3, by_columns("users", 13, [(2, 4), (0, 4)]),
           by_rows("codes", 8, [(1, 5), (2, 2), (1, 2)]),
           by_columns("nibbles", 7, [(2, 2), (0, 4), (1, 2)]),
           by_rows("same", 4, [(2, 4)]), by_rows("rest", 4, [(0, 1), (1, 2), (2, 2)]))
