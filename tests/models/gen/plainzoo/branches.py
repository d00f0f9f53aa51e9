"""Containers and attributes that one side of a run-time `if` changes.

SPDX-License-Identifier: Apache-2.0
"""
import torch
import torch.nn as nn


def put(d, key, value, condition):
    if condition:
        d[key] = value
    return d


def first_or(items, absent):
    return items[0] if items else absent


def pair(a, b=None, *rest, **more):
    return (a if b is None else a + b) + len(rest) * 10 + len(more) * 100


class Dicts(nn.Module):
    """Every way to look at a dict."""

    def forward(self, x):
        d = {"a": x}
        if x.sum() > 0:
            d["b"] = x * 2
        e = {**d}
        e.update(c=x)
        f = dict(d)
        g = d | {"z": x}
        y = x + len(d) + 2 * len(e) + 4 * len(list(f)) + 8 * len(g.items())
        y = y + (16 if "b" in d else 0) + (32 if "b" not in e.keys() else 0)
        y = y + (64 if d == {"a": x} else 0) if len(d) > 2 else y
        y = y + sum(v.sum() for v in d.values()) + pair(**d)
        for k in sorted(d, reverse=True):
            y = y * 2 + d[k] if k == "b" else y + d[k]
        return y + d.get("b", x) + d.setdefault("q", x) + d.pop("b", x), len(d), list(d)


class Lists(nn.Module):
    """Every way to look at a list, a tuple, a set, a text."""

    def forward(self, x):
        items, names, seen, text = [x], (1,), {1, 2}, "a"
        if x.sum() > 0:
            items.append(x * 2)
            names = names + (2,)
            seen.add(3)
            text += "b"
        else:
            seen.discard(1)
        a, *rest = items
        y = a + len(rest) + pair(*items) + items[-1]
        y = y + (1 if 2 in names else 2) + (4 if seen == {2, 1} else 8) + len(text)
        y = y + (16 if names == (1,) else 32) + torch.cat(items).sum() + len(items * 2)
        other = [x]
        other.extend(items)
        other += items
        y = y + len(other) + len([v for v in items]) + len(items[1:]) + len(sorted(names))
        return y + len(seen | {9}) + (64 if "b" in text else 0), text == "ab"


class Nested(nn.Module):
    """Branches in branches, in loops, of dicts in dicts."""

    def forward(self, x):
        d = {"in": {}, "list": [[]]}
        for i in range(3):
            if x[i] > 0:
                d["in"][i] = x * i
                if x[i] > 1:
                    d["list"][0].append(x[i])
            elif x[i] < -1:
                d["list"].append([])
        y = x + (1 if 2 in d["in"] else -1) + 10 * len(d["list"]) + 100 * len(d["list"][0])
        if d["in"]:
            y = y * 2
        return y + sum(d["in"].keys())


class Helpers(nn.Module):
    """The caller looks at what a branch in a helper changed."""

    def fill(self, d, x):
        put(d, "a", x, x.sum() > 0)
        return put(d, "b", x * 2, x[0] > 1)

    def forward(self, x):
        d = self.fill({}, x)
        y = x + len(d)
        if "b" in d:
            y = y + d["b"]
        found = first_or([x] if x[1] > 0 else [], None)
        return y if found is None else y + found


class Attributes(nn.Module):
    """Attributes that one side makes, or makes another."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def note(self, x):
        box = Box()
        if x.sum() > 0:
            box.extra = x * 2
        if x[0] > 1:
            box.items["k"] = x
        return box

    def forward(self, x):
        box = self.note(x)
        y = x + (1 if hasattr(box, "extra") else 2) + len(box.items)
        kept = None
        if x[1] > 0:
            kept = x * 3
        return y + getattr(box, "extra", x) + (0 if kept is None else kept)


class Box:
    def __init__(self):
        self.items = {}


class Statements(nn.Module):
    """Choices within expressions, tests of `while`, comprehensions, early ends."""

    def forward(self, x):
        e = ({"a": x} if x.sum() > 0 else {}) or {"z": x}
        todo = [x[0]]
        while len(todo) < 3:
            todo.append(todo[-1] + 1)
            if todo[-1] > 3:
                break
        picked = [v for v in (x[0], None if x[1] > 0 else x[1]) if v is not None]
        y = x + (1 if "z" in e else 2) + len(todo) + 10 * len(picked)
        for i, v in enumerate(picked):
            if v > 1:
                todo.pop()
                continue
            if i and v < -1:
                return y - len(todo)
        return y + len(todo)


class Trips(nn.Module):
    """In a loop of the run each trip ends apart."""

    def forward(self, x):
        y, n = x, 0
        while y.sum() < 20 and n < 6:
            d = {}
            if y[0] > n:
                d["k"] = y
            for key in ("k", "l"):
                y = y + (d[key] if key in d else 1)
            n += 1
        return y, n


def remember(value, items=[]):
    items.append(value)
    return len(items)


class Remembers(nn.Module):
    """Refused: a list that is a default outlives the call that changes it."""

    def forward(self, x):
        return x + remember(1) + remember(2)


class Widely(nn.Module):
    """Refused: 4,096 ways to fill a dict."""

    def forward(self, x):
        d = {}
        for i in range(12):
            if x[i % 3] > i:
                d[i] = 1
        return x + len(d)


class Bound(nn.Module):
    """Defaults of functions that are made in a loop are of that trip."""

    def forward(self, x):
        steps = []
        for i in range(3):
            if x[i] > 0:
                steps.append(lambda v, i=i: v * (i + 1))
        for step in steps:
            x = step(x) + 1
        return x
