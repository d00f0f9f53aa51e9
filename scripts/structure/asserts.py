"""Asserts: how many there are, and that accessors state their preconditions.

SPDX-License-Identifier: Apache-2.0
"""
import re

from structure.tree import (PRODUCT, blank_out, code_files, find, line_of, list_functions,
                            read)

MIN_PER_KLOC = 3
# Headers whose functions only read or change a struct of ours: where such a function is
# defined, its body asserts what callers must hold to.
ACCESSOR_HEADERS = [
    "ir/families.h",
]
ASSERT = re.compile(r"\bassert\(")


def measure_asserts(files):
    """(asserts, lines) of product code; static asserts are not counted."""
    count = lines = 0
    for name in code_files(files, PRODUCT, {".c", ".h", ".def"}):
        lines += read(name).count("\n")
        if not name.endswith(".def"):
            count += len(ASSERT.findall(blank_out(name)))
    return count, lines


def asserts_hold_the_floor(files):
    count, lines = measure_asserts(files)
    figure = 1000 * count / max(lines, 1)
    print(f"asserts: {count} in {lines} lines of product code, {figure:.2f} per kloc, "
          f"at least {MIN_PER_KLOC}")
    if figure < MIN_PER_KLOC:
        find("scripts/structure/asserts.py", 1,
             f"{figure:.2f} asserts per kloc, at least {MIN_PER_KLOC}")


def asserts_are_in_words(files):
    """`assert(x && "a fact")`: who reads the failure is told what did not hold."""
    for name in code_files(files, PRODUCT):
        text, full = blank_out(name), read(name)
        for match in ASSERT.finditer(text):
            end = text.find(";", match.end())
            if '"' not in full[match.end():end]:
                find(name, line_of(text, match.start()), "an assert without words")


def list_declared(header):
    return re.findall(r"^[A-Za-z_][\w \t*]*?\b(ig_\w+|k_\w+|bag_\w+)\([^;{}#]*\)[^;{}]*;",
                      blank_out(header), flags=re.M)


def accessors_state_preconditions(files):
    functions = list_functions(tuple(code_files(files, PRODUCT)))
    for header in ACCESSOR_HEADERS:
        if header not in files:
            find(header, 1, "listed in ACCESSOR_HEADERS, but there is no such file")
            continue
        declared = set(list_declared(header))
        for path, name, first, last, _ in functions:
            if name not in declared and path != header:
                continue
            body = "\n".join(blank_out(path).splitlines()[first - 1:last])
            if not ASSERT.search(body):
                find(path, first, f"{name} of {header} asserts no precondition")
