"""Ranks: processes that train one model together (docs/training.md).

    ranks = train.Ranks()                            # what torchrun has started
    ranks = train.Ranks("shm:job", rank=0, world=2)  # ranks of one host that meet by a name

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import json
import os
import pickle

import numpy

import ingot_runtime

from ._library import open_library, raise_error

DIVISIONS = {"loss": 0, "all": 1, "dense": 2, "none": 3}
_KINDS = ("", ".momentum1", ".momentum2", ".momentum3")
# A state that has one number for each row: the rule, and which state.
_OF_ROWS = (("rowwise", ".momentum1"), ("partial_rowwise", ".momentum2"))


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_uint32),
                ("world", ctypes.c_uint32), ("timeout_ms", ctypes.c_int64),
                ("chunk", ctypes.c_size_t), ("message", ctypes.c_char_p),
                ("message_size", ctypes.c_size_t), ("host", ctypes.c_void_p)]


class Ranks:
    """This process, as one of `world` that make the same calls.

    group: "env" for those that torchrun has started, "shm:NAME", "mpi" … (ingot/group.h).
    rank, world: of RANK and WORLD_SIZE where they are not given.
    timeout: seconds that ranks wait for each other.
    Raises LimitError when another rank does not come in time.
    """

    def __init__(self, group="env", rank=None, world=None, timeout=60.0):
        self._library = lib = open_library("group")
        lib.ig_group_ranks.restype, pointer = ctypes.c_void_p, ctypes.c_void_p
        lib.ig_group_ranks.argtypes = lib.ig_group_close.argtypes = [pointer]
        lib.ig_group_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Options),
                                      ctypes.POINTER(pointer)]
        lib.ig_group_all_gather.argtypes = [pointer, ctypes.c_char_p, ctypes.c_size_t, pointer]
        self.rank = int(os.environ.get("RANK", 0)) if rank is None else rank
        self.world = int(os.environ.get("WORLD_SIZE", 1)) if world is None else world
        self._text, self._group = ctypes.create_string_buffer(512), pointer()
        options = _Options(size=ctypes.sizeof(_Options), rank=self.rank, world=self.world,
                           timeout_ms=int(1000 * timeout), message_size=len(self._text),
                           message=ctypes.cast(self._text, ctypes.c_char_p))
        self._check(lib.ig_group_open(group.encode(), options, ctypes.byref(self._group)))

    def _check(self, status):
        if status:
            raise_error(status, self._text.value.decode(errors="replace"))

    def handle(self):
        """For ig_trainer_options.ranks."""
        return self._library.ig_group_ranks(self._group)

    def close(self):
        """Trainers over it are to be gone."""
        group, self._group = self._group, ctypes.c_void_p()
        self._library.ig_group_close(group)

    def __del__(self):
        if getattr(self, "_group", None):
            self.close()

    def _gather_bytes(self, mine):
        room = ctypes.create_string_buffer(max(1, self.world * len(mine)))
        self._check(self._library.ig_group_all_gather(self._group, mine, len(mine), room))
        return [room.raw[i * len(mine):(i + 1) * len(mine)] for i in range(self.world)]

    def gather(self, value):
        """The value of each rank, in their order; every rank is to call it."""
        mine = pickle.dumps(value)
        sizes = self._gather_bytes(len(mine).to_bytes(8, "little"))
        high = max(int.from_bytes(size, "little") for size in sizes)
        return [pickle.loads(each) for each in self._gather_bytes(mine.ljust(high, b"\0"))]


class Parts:
    """Which rows and columns of tables are whose: the text of ig_train_describe."""

    def __init__(self, about, ranks):
        self._about, self._ranks = json.loads(about), ranks
        made = self._about["rank"], self._about["world_size"]
        if made != (ranks.rank, ranks.world):
            raise ingot_runtime.InvalidError(
                "the step is of rank {} of {}, and this is rank {} of {}".format(
                    *made, ranks.rank, ranks.world))

    def _is_of_rows(self, table, kind):
        rule = self._about["optimizers"][table["optimizer"]].partition("=")[2]
        return any(rule.startswith(name) and kind == state for name, state in _OF_ROWS)

    def _own_name(self, table, index):
        """What the step of this rank calls its part; None: it has no row of it."""
        part = table["parts"][index]
        rows = sum(count for rank, _, count, _ in part["shards"] if rank == self._ranks.rank)
        is_all = rows == table["rows"] and part["columns"] == table["dim"]
        return None if rows == 0 else table["name"] if is_all else f"{table['name']}.{index}"

    def _cells(self, table, kind):
        """(rank, number of the part, its rows, rows and columns of the whole) of each shard."""
        is_of_rows = self._is_of_rows(table, kind)
        for index, part in enumerate(table["parts"]):
            columns = slice(part["column"], part["column"] + part["columns"])
            for rank, first, rows, base in part["shards"]:
                first += index * table["rows"] if is_of_rows else 0
                yield (rank, index, slice(base, base + rows), slice(first, first + rows),
                       slice(None) if is_of_rows else columns)

    def _shape(self, table, kind):
        is_of_rows = self._is_of_rows(table, kind)
        return ((table["rows"] * len(table["parts"]), 1) if is_of_rows
                else (table["rows"], table["dim"]))

    def join(self, values):
        """All values whole, from those of every rank."""
        whole, values = {}, dict(values)
        for table in self._about["tables"]:
            names = {k: self._own_name(table, k) for k in range(len(table["parts"]))}
            for kind in _KINDS:
                own = {k: values.pop(name + kind) for k, name in names.items()
                       if name is not None and name + kind in values}
                ranks = self._ranks.gather(own)
                some = next((part for parts in ranks for part in parts.values()), None)
                if some is None:
                    continue
                joined = numpy.empty(self._shape(table, kind), some.dtype)
                for rank, number, mine, rows, columns in self._cells(table, kind):
                    part = ranks[rank][number].reshape(len(ranks[rank][number]), -1)
                    joined[rows, columns] = part[mine]
                whole[table["name"] + kind] = joined.reshape(-1, *some.shape[1:]) if (
                    joined.shape[1] == 1) else joined
        return {**values, **whole}

    def cut(self, values, own):
        """This rank's part of all values; `own`: its values now."""
        mine, values = {}, dict(values)
        for table in self._about["tables"]:
            for kind in _KINDS:
                whole = values.pop(table["name"] + kind, None)
                if whole is None:
                    continue
                whole = numpy.asarray(whole).reshape(self._shape(table, kind))
                for rank, number, part, rows, columns in self._cells(table, kind):
                    name = self._own_name(table, number)
                    if rank == self._ranks.rank and name is not None:
                        at = mine.setdefault(name + kind, numpy.empty_like(own[name + kind]))
                        at.reshape(len(at), -1)[part] = whole[rows, columns]
        return {**values, **mine}
