"""Asserts: how many there are, and that accessors state their preconditions.

SPDX-License-Identifier: Apache-2.0
"""
import re

from structure.tree import (PRODUCT, ROOT, blank_out, code_files, find, line_of, list_functions,
                            read)

MIN_PER_KLOC = 5
# Headers of functions that read or change a struct of ours: each of them asserts what its
# callers must hold to, or leaves that to another function of the header, or to a static
# function next to it.
ACCESSOR_HEADERS = [
    "ir/bag.h",
    "ir/build/build.h",
    "ir/dim/dim.h",
    "ir/dim/handle.h",
    "ir/tensor/dtype.h",
    "ir/tensor/element.h",
    "ir/families.h",
    "ir/graph.h",
    "ir/module/module.h",
    "ir/tensor/span.h",
    "ir/tensor/tensor.h",
    "ir/type.h",
    "passes/lower/kernel/kernel.h",
    "runtime/session/session.h",
    "codegen/cpu/emit.h",
    "codegen/cuda/emit.h",
    "frontend/torch/eval/op.h",
]
# Functions of theirs that take whatever comes, and why.
TAKES_ANYTHING = {
    "ig_attr_of_bool": "any value is an attribute",
    "ig_attr_of_float": "any value is an attribute",
    "ig_attr_of_int": "any value is an attribute",
    "ig_cuda_emit_preamble": "writes a text",
    "ig_dim_const": "any value is a dim",
    "ig_dim_from": "an integer from outside is what it checks",
    "ig_dim_is_static": "asks what the handle is",
    "ig_dim_key": "any handle is a key",
    "ig_dim_known": "asks what the handle is",
    "ig_dim_same": "handles are compared as they are",
    "ig_dtype_from_onnx": "a code from outside is what it checks",
    "ig_dtype_parse": "a name from outside is what it checks",
    "ig_module_destroy": "NULL is no module",
    "ig_module_scratch": "memory of any size",
    "ig_symbol_count": "counts what is there",
    "ig_symbol_is_defined": "asks what the symbol is",
    "ig_ts_fixes_means": "an option of the call",
    "ig_type_is_static": "asks what the type is",
}
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


def list_asserting(functions):
    """(path, name) of what asserts, itself or by calling an accessor or a static function
    next to it that does."""
    accessors = {name for header in ACCESSOR_HEADERS if (ROOT / header).is_file()
                 for name in list_declared(header)}
    asserting, grown = set(), True
    calls = {}
    for path, name, first, last, _ in functions:
        body = "\n".join(blank_out(path).splitlines()[first - 1:last])
        calls[path, name] = set(re.findall(r"\b(\w+)\(", body))
        if ASSERT.search(body):
            asserting.add((path, name))
    while grown:
        names = {name for _, name in asserting if name in accessors}
        more = {(path, name) for (path, name), called in calls.items()
                if called & names or any((path, n) in asserting for n in called)}
        grown = not more <= asserting
        asserting |= more
    return asserting


def accessors_state_preconditions(files):
    functions = list_functions(tuple(code_files(files, PRODUCT)))
    asserting, known = list_asserting(functions), set()
    for header in ACCESSOR_HEADERS:
        if header not in files:
            find(header, 1, "listed in ACCESSOR_HEADERS, but there is no such file")
            continue
        declared = set(list_declared(header))
        for path, name, first, last, _ in functions:
            if name not in declared and path != header:
                continue
            known.add(name)
            is_stated = (path, name) in asserting
            if is_stated and name in TAKES_ANYTHING:
                find(path, first, f"{name} asserts; take it out of TAKES_ANYTHING")
            if not is_stated and name not in TAKES_ANYTHING:
                find(path, first, f"{name} of {header} asserts no precondition")
    for name in sorted(set(TAKES_ANYTHING) - known):
        find("scripts/structure/asserts.py", 1, f"TAKES_ANYTHING: there is no {name}")
