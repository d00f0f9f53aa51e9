"""Sizes: folders, files, functions, lines, nesting.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re

from structure.tree import (blank_out, code_files, find, line_of, list_functions, read,
                            suffix, warn)

MAX_LINES = {".c": 800, ".h": 300, ".def": 500}
MAX_FILES = 40
# From here on the next change should make room: a rule that is met exactly leaves none.
WARN_FILES = 32
WARN_DEF_LINES = 400
WARN_PUBLIC_LINES = 250
ONE_ROW_AN_OP = "ir/ops.def"  # as long as there are ops
MAX_FUNCTION_LINES = 70
MAX_PARAMETERS = 6
MAX_NESTING = 4
# Functions that a library calls, and whose parameters it fixes.
CALLED_BACK = {("tools/serve/grpc/peer.c", "give_data"),
               ("tools/serve/grpc/peer.c", "take_header"),
               ("tools/serve/client/call.c", "give_messages"),
               ("tools/serve/client/call.c", "take_header"),
               ("tools/serve/call/keys.c", "keys_show"),
               ("tools/serve/http/door.c", "take_request")}
MAX_COLUMNS = 88
# Data of tests that come in hundreds, and the form in which a file holds many of them.
PACKED = {"tests/fuzz/corpus/": r"\w+\.tar",
          "tests/mutants/": r"\w+\.txt|README\.md|survivors|equivalents"}


def folders_are_small(files):
    counts = collections.Counter(os.path.dirname(n) for n in files)
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES:
            find(folder, 1, f"{count} files, at most {MAX_FILES}")
        elif count > WARN_FILES:
            warn(folder, 1, f"{count} files; more than {MAX_FILES} fail")


def test_data_is_packed(files):
    for name in files:
        for folder, form in PACKED.items():
            if name.startswith(folder) and not re.fullmatch(form, name[len(folder):]):
                find(name, 1, f"a loose file; {os.path.dirname(name)} holds packed ones: "
                              "see the README.md")
        is_area = re.fullmatch(r"tests/mutants/\w+\.txt", name)
        if is_area and not read(name).startswith("mutant "):
            find(name, 1, "begins with no line 'mutant NAME'")


def is_nearly_full(name, count):
    if name.startswith("include/"):
        return count > WARN_PUBLIC_LINES
    return suffix(name) == ".def" and count > WARN_DEF_LINES


def files_are_small(files):
    for name in files:
        limit = MAX_LINES.get(suffix(name))
        count = read(name).count("\n") if limit else 0
        if not limit or name == ONE_ROW_AN_OP:
            continue
        if count > limit:
            find(name, count, f"{count} lines, at most {limit}")
        elif is_nearly_full(name, count):
            warn(name, count, f"{count} lines; more than {limit} fail")


def lines_are_short(files):
    """A line that is one string literal may be long: messages are not cut."""
    for name in code_files(files):
        for index, line in enumerate(read(name).splitlines(), 1):
            if len(line) <= MAX_COLUMNS:
                continue
            if not re.match(r'[\s(?:{]*"(\\.|[^"\\])*"[\s,;)}\\]*$', line):
                find(name, index, f"{len(line)} columns, at most {MAX_COLUMNS}")


def functions_are_small(files):
    for path, name, first, last, signature in list_functions(tuple(files)):
        if last - first + 1 > MAX_FUNCTION_LINES:
            find(path, first, f"{name} has {last - first + 1} lines, "
                              f"at most {MAX_FUNCTION_LINES}")
        inner = re.sub(r"\([^()]*\)", "", signature[1:-1])
        count = inner.count(",") + 1
        if count > MAX_PARAMETERS and (path, name) not in CALLED_BACK:
            find(path, first, f"{name} has {count} parameters, at most {MAX_PARAMETERS}")


def nesting_is_shallow(files):
    """Counts braces that open a statement: after `)`, `else` or `do`."""
    for name in code_files(files):
        text = blank_out(name)
        stack = []
        for match in re.finditer(r"[{}]", text):
            if match.group() == "}":
                if stack:
                    stack.pop()
                continue
            before = text[max(0, match.start() - 80):match.start()].rstrip()
            stack.append(bool(re.search(r"(\)|\belse|\bdo)$", before)))
            if sum(stack) - 1 > MAX_NESTING:
                find(name, line_of(text, match.start()),
                     f"nesting of {sum(stack) - 1}, at most {MAX_NESTING}")
