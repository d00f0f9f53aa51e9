"""The graph of rooms by symbols: what the objects of a build define and ask for.

SPDX-License-Identifier: Apache-2.0

A room is a folder of product code.  Includes tell who may call whom; symbols tell who
does, however the prototype came about.
"""
import collections
import os
import subprocess

from structure.arrows import REGISTRIES
from structure.tree import PRODUCT

# Rooms that still ask each other; a list that may only shrink.
KNOWN_CIRCLES = [
    {"runtime/plugin", "runtime/program", "runtime/session"},
]


def list_objects(build):
    """object → source, of the product's folders."""
    objects = {}
    for folder, _, names in os.walk(build):
        if "/CMakeFiles/" not in folder + "/":
            continue
        room, inner = (folder + "/").split("/CMakeFiles/", 1)
        room = os.path.relpath(room, build)
        inner = inner.partition("/")[2]  # without the target's folder
        for name in names:
            source = os.path.normpath(os.path.join(room, inner, name.removesuffix(".o")))
            if name.endswith(".c.o") and source.startswith(PRODUCT) and os.path.isfile(source):
                objects[os.path.join(folder, name)] = source
    return objects


def list_calls(objects):
    """(room, room) → [(source, symbol)], without registries."""
    run = subprocess.run(["nm", "-A", "-P", "-g", *objects], capture_output=True, text=True,
                         check=True)
    homes, asked = {}, []
    for line in run.stdout.splitlines():
        path, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        if kind == "U":
            asked.append((objects[path], symbol))
        elif kind in "TDBRVW":
            homes[symbol] = objects[path]
    calls = collections.defaultdict(list)
    for source, symbol in asked:
        home = homes.get(symbol)
        if home is None or source in REGISTRIES or home in REGISTRIES:
            continue
        if os.path.dirname(source) != os.path.dirname(home):
            calls[os.path.dirname(source), os.path.dirname(home)].append((source, symbol))
    return calls


def list_circles(calls):
    """Strongly connected rooms, sorted, by walks that keep the order of leaving."""
    after, before = collections.defaultdict(set), collections.defaultdict(set)
    for a, b in calls:
        after[a].add(b)
        before[b].add(a)

    def walk(start, edges, seen):
        stack, left = [(start, iter(sorted(edges[start])))], []
        seen.add(start)
        while stack:
            room, rest = stack[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                left.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges[following]))))
        return left

    seen, order = set(), []
    for room in sorted(set(after) | set(before)):
        if room not in seen:
            order += walk(room, after, seen)
    seen, circles = set(), []
    for room in reversed(order):
        if room not in seen:
            circle = sorted(walk(room, before, seen))
            if len(circle) > 1:
                circles.append(circle)
    return circles


def find_circles(build):
    """Lines that say which rooms are in a circle, and by which symbols."""
    objects = list_objects(build)
    calls = list_calls(objects)
    findings = []
    for circle in list_circles(calls):
        if any(known.issuperset(circle) for known in KNOWN_CIRCLES):
            continue
        findings.append("a circle of rooms: " + " ".join(circle))
        for (a, b), uses in sorted(calls.items()):
            if a in circle and b in circle:
                source, symbol = min(uses)
                findings.append(f"    {a} -> {b}: {len(uses)} symbols, such as {symbol} "
                                f"in {source}")
    return len(objects), findings
