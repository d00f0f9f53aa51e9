"""The graph of rooms by symbols: what the objects of a build define and ask for.

SPDX-License-Identifier: Apache-2.0

A room is a folder of product code.  Includes tell who may call whom; symbols tell who
does, however the prototype came about: by a macro, by a type of functions, by hand.
"""
import collections
import functools
import os
import re
import subprocess

from structure.arrows import REGISTRIES
from structure.owners import list_promised
from structure.tree import PRODUCT, ROOT, blank_out, code_files, line_of, list_files, read


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


# What a link namespace has in libc's place (runtime/interp/cpython/threads.c): all others mean
# libc's.
INTERPOSED = {"pthread_create"}


def list_symbols(objects):
    """(symbol → source that defines it, [(source, symbol that it asks for)])."""
    run = subprocess.run(["nm", "-A", "-P", "-g", *objects], capture_output=True, text=True,
                         check=True)
    homes, asked = {}, set()
    for line in run.stdout.splitlines():
        path, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        if kind == "U":
            asked.add((objects[path], symbol))
        elif kind in "TDBRVW" and symbol not in INTERPOSED:
            homes[symbol] = objects[path]
    return homes, sorted(asked)


def list_calls(homes, asked):
    """(room, room) → [(source, symbol)], without registries."""
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


def find_circles(calls):
    """Lines that say which rooms are in a circle, and by which symbols."""
    findings = []
    for circle in list_circles(calls):
        findings.append("a circle of rooms: " + " ".join(circle))
        for (a, b), uses in sorted(calls.items()):
            if a in circle and b in circle:
                source, symbol = min(uses)
                findings.append(f"    {a} -> {b}: {len(uses)} symbols, such as {symbol} "
                                f"in {source}")
    return findings


# ---- walls: a declaration in another room than the definition ----

def drop_bodies(text):
    """The text at file level: without what is between braces, and without directives."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*", lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.M | re.S)
    kept, depth = [], 0
    for part in re.split(r"([{}])", text):
        if part == "{":
            depth += 1
        kept.append(part if depth == 0 else re.sub(r"[^\n]", " ", part))
        if part == "}":
            depth -= 1
    return "".join(kept)


def find_walls(homes):
    """Headers that declare a symbol of another room."""
    findings = []
    for header in code_files(list_files(), PRODUCT, {".h"}):
        text = drop_bodies(blank_out(header))
        for match in re.finditer(r"[^;]+;", text):
            statement = match.group()
            if re.match(r"\s*(typedef|static)\b", statement):
                continue
            for word in re.finditer(r"\b(\w+)\s*(?:\([^;]*|\[[^;]*)?;$", statement):
                home = homes.get(word.group(1))
                if home and home not in REGISTRIES and \
                        os.path.dirname(home) != os.path.dirname(header):
                    findings.append(f"{header}:{line_of(text, match.start() + word.start())}: "
                                    f"declares {word.group(1)} of {home}")
    return findings


@functools.lru_cache(maxsize=None)
def list_included(name):
    """Headers that a file includes, itself or through others."""
    seen, left = set(), [name]
    while left:
        for target in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', read(left.pop()), re.M):
            if target not in seen and (ROOT / target).is_file():
                seen.add(target)
                left.append(target)
    return frozenset(seen)


def find_undeclared(homes, asked):
    """Sources that ask for a symbol of a room of which they include no header: whatever
    declared it stands elsewhere."""
    findings, promised = [], list_promised(list_files())
    for source, symbol in asked:
        home = homes.get(symbol)
        if home is None or symbol in promised or source in REGISTRIES or home in REGISTRIES:
            continue
        room = os.path.dirname(home)
        if room != os.path.dirname(source) and \
                not any(os.path.dirname(header) == room for header in list_included(source)):
            findings.append(f"{source}:1: asks for {symbol} of {home}, but includes no header "
                            f"of {room}/")
    return findings


def judge_build(build):
    """(number of objects, lines of findings)."""
    objects = list_objects(build)
    if not objects:
        return 0, []
    homes, asked = list_symbols(objects)
    return len(objects), [*find_circles(list_calls(homes, asked)), *find_walls(homes),
                          *find_undeclared(homes, asked), *find_unshared(homes, asked)]


# ---- exports that nobody asks for ----

GENERATED = "ir/build/build_ops.c"  # a builder of each op, whoever uses it
TABLED = ("ig_host_",)              # rows of a table of their own library name them
# Exports of one file alone; a list that may only shrink.
UNSHARED = "scripts/structure/unshared.txt"
SPARE = 8  # so many more are let pass, until somebody looks


def find_unshared(homes, asked):
    """Functions that a header shows and only their own file, or nothing, uses."""
    wanted = {symbol for source, symbol in asked} | list_promised(list_files())
    others = [n for n in list_files() if n.endswith((".c", ".h", ".cc", ".py", ".def"))]
    named = set()
    for name in others:
        if name.startswith(("tests/", "tools/", "python/", "bench/")):
            named.update(re.findall(r"\big_\w+\b", read(name)))
        elif name.startswith(PRODUCT):
            named.update(re.findall(r'"(ig_\w+)"', read(name)))
    found = {s for s, home in homes.items()
             if s.startswith("ig_") and s not in wanted | named and home != GENERATED
             and not s.startswith(TABLED)}
    listed = {line for line in read(UNSHARED).splitlines() if line and not line.startswith("#")}
    more = sorted(found - listed)
    if len(more) <= SPARE:
        return []
    return [f"{homes[s]}:1: {s} is exported, but only this file uses it; make it static or "
            "take it away" for s in more]
