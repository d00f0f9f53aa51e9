"""What a reader meets: comments, names, files that are told of, code that stands twice.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import collections
import io
import os
import re
import tokenize

from structure.prose import FILES, count_words, list_comments
from structure.tree import (PRODUCT, blank_out, code_files, find, line_of, list_functions, read,
                            suffix)

BARS = {"headless what": 1.0, "lies/stands": 0.5}  # per 1,000 words of comments


# ---- comments ----

def comments_are_sentences(files):
    """Subject, verb, object: "what is left" names no subject, "lies" and "stands" no deed."""
    rooms = collections.defaultdict(list)
    for name in (n for n in files if re.match(FILES, n)):
        rooms[os.path.dirname(name)] += list_comments(read(name))
    for room, comments in sorted(rooms.items()):
        words, counts = count_words(comments)
        for what, bar in BARS.items():
            if counts[what] > bar * words / 1000:
                find(room, 1, f"{what}: {counts[what]} times in {words} words, at most {bar} per "
                              "1,000; say who does what")


# Files of others that comments name, and attributes that look like files.
FOREIGN = {
    "a.c", "as.def", "b.c", "fts.h", "io.h", "ir.h", "lmdb.h", "mixed_lru_lfu_strategy.h", "nccl.h",
    "onnxruntime_c_api.h", "openjpeg.h", "tree_ensemble_aggregator.h", "turbojpeg.h", "decode.h",
    "whole.ig", "new-whole.ig", "NN-pass.ig", "shard_estimators.py", "schema.py", "_tables.py",
}


def names_of_files(name):
    """(line, path) of each file that the comments of code, or a page, name."""
    text = read(name)
    if name.endswith(".md"):
        for match in re.finditer(r"`([\w./*<>{},-]+\.(?:c|h|def|py|md|sh|ig))(?::\w+)?`", text):
            if not re.search(r"[*<>{]", match.group(1)):
                yield line_of(text, match.start()), match.group(1)
        return
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        for match in re.finditer(r"\b((?:\w+/)*\w+\.(?:c|h|def))\b", comment.group()):
            yield line_of(text, comment.start() + match.start()), match.group(1)


def named_files_exist(files):
    known, bases = set(files), {os.path.basename(n) for n in files}
    ends = {n[i + 1:] for n in files for i in range(len(n)) if n[i] == "/"}
    for name in code_files(files, suffixes={".c", ".h", ".def", ".md"}):
        for line, path in names_of_files(name):
            beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
            if not ({path, beside} & known or path in ends or
                    os.path.basename(path) in FOREIGN or ("/" not in path and path in bases)):
                find(name, line, f"names {path}, which is no file")


# A header of so many prototypes says of at least each fourth what it is.
MIN_PROTOTYPES = 6
PROTOTYPE = re.compile(r"^(?!static\b|typedef\b|return\b|#)[A-Za-z_][\w \t*]*?"
                       r"\b[a-z]\w*\([^;{}]*\)[^;{}]*;", re.M)


def headers_are_commented(files):
    for header in code_files(files, (*PRODUCT, "include/"), {".h"}):
        count = len(PROTOTYPE.findall(blank_out(header)))
        comments = read(header).count("/*") - 1  # without the head
        if count >= MIN_PROTOTYPES and comments < count / 4:
            find(header, 1, f"{count} prototypes and {comments} comments")


# ---- names ----

NEVER = re.compile(r"(?:^|_)(?:most|least|behind|told|asks)(?:_|$)", re.I)
LIBRARY_NAMES = {"most_common", "atleast_1d", "atleast_2d", "atleast_3d"}  # of Python's and numpy's
# "place" says index, position, offset or slot badly.  It is the pass group that gives values
# their buffers, a verb at the begin of a function's name, and "in place"; two public
# structs, which say where a table is kept, have places.
PLACE = re.compile(r"\b(?!\w*(?:in_place|pipeline_place|grad_by_places)\b)(?:\w+_)?places?\b")
PLACE_HOMES = re.compile(r"\big_(?:stored|trainer)_place\b|\btrainer_values\b")
# "number" counts nothing: what is declared as an index, count or id is named so.
NUMBER = re.compile(r"\b(?:u?int(?:8|16|32)_t|size_t|uintptr_t|unsigned)\b \**(?:const )?"
                    r"(?:\w+, \**)*((?:\w+_)?numbers?)\b(?! ?\()")
PYTHON_NUMBER = re.compile(r"\bfor number\b.* in (?:enumerate|range)\(")
VALUES_OF_NUMBERS = {"short_number", "ig_number"}  # a value, and a type of values
# A name that a line of a shell script or of CMake defines or uses.
SHELL_NAME = re.compile(r"\$\{?(\w+)|\b(\w+)=|^ *(\w+)\(\)|^ *(?:function|macro|set)\((\w+)", re.M)


def is_python(name):
    return suffix(name) == ".py" or (name.startswith("scripts/") and
                                     read(name).startswith("#!/usr/bin/env python3"))


def is_shell(name):
    return suffix(name) in (".sh", ".cmake") or name.endswith("CMakeLists.txt") or (
        name.startswith(("scripts/", ".ci/")) and read(name).startswith("#!/usr/bin/env bash"))


def list_names(name):
    """The names that a source has, of C, Python, shell or CMake; none of any other file."""
    if suffix(name) in (".c", ".h", ".def", ".cc", ".cpp", ".hpp"):
        return re.findall(r"\b[A-Za-z_]\w+\b", blank_out(name))
    if is_python(name):
        tokens = tokenize.generate_tokens(io.StringIO(read(name)).readline)
        return [token.string for token in tokens if token.type == tokenize.NAME]
    if is_shell(name):
        return [part for match in SHELL_NAME.findall(read(name)) for part in match if part]
    return []


def list_vague_names(name):
    """Names that say "place" or "number" of an index, a position, a count or an id."""
    if is_python(name):
        tokens = [t.string for t in tokenize.generate_tokens(io.StringIO(read(name)).readline)]
        return [b for a, b, c in zip([""] + tokens, tokens, tokens[1:])
                if b in ("place", "places") and a != "." and c != "="] + [
            "number" for _ in PYTHON_NUMBER.finditer(read(name))]
    if suffix(name) not in (".c", ".h", ".cc", ".cpp", ".hpp"):
        return []
    text = blank_out(name)
    is_home = name.startswith("passes/place/") or PLACE_HOMES.search(text)
    return ([] if is_home else PLACE.findall(re.sub(r"\bTEST\(\w+\)|\bX\(\w+\)", "", text))) + [
        match.group(1) for match in NUMBER.finditer(text)]


def names_avoid_never_words(files):
    """docs/glossary.md: max and min, after and next, given and needs; index, position, id."""
    for name in files:
        words = {w for w in list_names(name) if NEVER.search(w)} - LIBRARY_NAMES
        words |= set(list_vague_names(name)) - VALUES_OF_NUMBERS
        if words:
            find(name, 1, f"{min(words)} has a word that the glossary rules out")


# ---- rooms ----

ROOMS = "docs/rooms.md"
MIN_ROOM_FILES = 8


def rooms_are_described(files):
    """A folder of many files has a README, or a line in docs/rooms.md, which names no other."""
    counts = collections.Counter(os.path.dirname(n) for n in files)
    rows = re.findall(r"^\| `([\w/]+)/` \|.*\| ([^|]*) \|$", read(ROOMS), flags=re.M)
    for folder, count in sorted(counts.items()):
        has_page = f"{folder}/README.md" in files
        if folder and count >= MIN_ROOM_FILES and not folder.startswith("tests/golden") and \
                not folder.startswith("tests/fuzz/corpus") and \
                has_page == (folder in dict(rows)):
            find(ROOMS, 1, f"{folder}/ has a README.md and a line" if has_page else
                 f"{folder}/ has {count} files, and neither a README.md nor a line")
    for folder, first in rows:
        if folder not in counts:
            find(ROOMS, 1, f"{folder}/ is no folder")
        for name in re.findall(r"`([\w./]+)`", first):
            if name not in files and f"{folder}/{name}" not in files:
                find(ROOMS, 1, f"{folder}/{name} is no file")


STATUS = "docs/status.md"
MAX_CLAIM_WORDS = 12
MAX_STATUS_LINE = 100  # of what does not work: one line a thing
SPEED = re.compile(r"\[\d[\d.]*, \d[\d.]*\]|\b\d+(?:\.\d+)? (?:ns|us|ms|seconds|CPU seconds|[MG]B/s)\b"
                   r"|\b(?:is|at|of) 0\.\d|\(0\.\d+\)")


def status_is_a_table(files):
    """A claim of few words and the command that shows it; what was measured is on performance.md."""
    for at, line in enumerate(read(STATUS).splitlines(), 1):
        row = re.fullmatch(r"\| (.*?) \| (.*) \|", line)
        if row and row.group(2) != "shown by" and not row.group(1).startswith("**"):
            if len(row.group(1).split()) > MAX_CLAIM_WORDS:
                find(STATUS, at, f"a claim of {len(row.group(1).split())} words, at most "
                                     f"{MAX_CLAIM_WORDS}")
            if "`" not in row.group(2):
                find(STATUS, at, "a claim without the command that shows it")
        if line.startswith("- ") and len(line) > MAX_STATUS_LINE or line.startswith("  "):
            find(STATUS, at, "more than a line for a thing that does not work")
        if SPEED.search(line):
            find(STATUS, at, "a measurement; its home is docs/performance.md")


# ---- code ----

MIN_COPY_LINES = 6
# Copies that are there, and why.
COPIES = {
    "has_extents": "two rooms of the frontend that share no room below them",
    "ig_fold_seq_length": "a row of each family has its hook in the family's file",
    "ig_host_refuse": "a library that is opened cannot ask the runtime for it",
    "is_one_element": "two rooms of passes that know nothing of each other",
    "put_varint": "the tool's writer and the reader's tests of it",
}


def no_function_stands_twice(files):
    first = {}
    for path, name, start, end, _ in list_functions(tuple(code_files(files, PRODUCT))):
        if end - start + 1 < MIN_COPY_LINES or name in COPIES:
            continue
        body = " ".join("\n".join(read(path).splitlines()[start - 1:end]).split())
        body = re.sub(rf"\b{name}\b", "f", body)
        home = first.setdefault(body, (path, name))
        if home[0] != path:
            find(path, start, f"{name} is {home[1]} of {home[0]} once more; share it")


MAX_NAMES = 5   # compared one by one in a function; more are a table
MAX_BOOLS = 2   # parameters; more are flags or a struct


def names_are_compared_by_tables(files):
    for path, name, first, last, signature in list_functions(tuple(code_files(files, PRODUCT))):
        body = "\n".join(read(path).splitlines()[first - 1:last])
        count = len(re.findall(r'\b(?:strn?cmp|ig_str_is)\([^;"]*?"', body))
        if count > MAX_NAMES:
            find(path, first, f"{name} compares with {count} names, at most {MAX_NAMES}; make "
                              "it a table")
        bools = len(re.findall(r"\bbool \w+", signature))
        if bools > MAX_BOOLS:
            find(path, first, f"{name} has {bools} bools, at most {MAX_BOOLS}")


def asserts_can_fail(files):
    for name in code_files(files, PRODUCT):
        for match in re.finditer(r"\bassert\(\s*(?:[1-9]\d*|true)\s*(?:&&|\|\||\))",
                                 blank_out(name)):
            find(name, line_of(blank_out(name), match.start()), "an assert that cannot fail")


# The fields of the IR's nodes.  What one pass or the driver keeps of them is a side table
# (ig_module_scratch, ig_module_beside), not a field.
NODES = {
    "ig_use": "value user next link",
    "ig_value": "type uses def block name id index",
    "ig_op": "prev next block operands results attrs bodies code operand_count result_count "
             "body_count id loc origins heir",
    "ig_block": "first last parent graph args arg_count",
    "ig_graph": "module name stage is_entry body arg_names result_names signature states "
                "state_count opened_count value_count op_count heads last_head",
}


def nodes_carry_no_luggage(files):
    text = blank_out("ir/graph.h")
    for tag, wanted in NODES.items():
        match = re.search(rf"^struct {tag} \{{(.*?)^\}};", text, re.M | re.S)
        fields = re.findall(r"\b(\w+)(?:\[\])?\s*[,;]", match.group(1)) if match else []
        for field in fields:
            if field not in wanted.split():
                find("ir/graph.h", line_of(text, match.start()),
                     f"{tag} has a field {field}; what one pass keeps is a side table")
        for field in set(wanted.split()) - set(fields):
            find("scripts/structure/reading.py", 1, f"{tag} has no field {field} any more")


# ---- tests and Python ----

MAX_PYTHON_FUNCTION = 100
MAX_PYTHON_FILE = 1200
LONG_PYTHON = {"tests/models/gen/semantics.py": 3000}  # one small program after the other


def python_is_small(files):
    for name in code_files(files, suffixes={".py"}):
        limit = LONG_PYTHON.get(name, MAX_PYTHON_FILE)
        if read(name).count("\n") > limit:
            find(name, 1, f"{read(name).count(chr(10))} lines, at most {limit}")
        if not re.search(rf"(?s)\bdef (?:[^\n]*\n){{{MAX_PYTHON_FUNCTION}}}", read(name)):
            continue
        for node in ast.walk(ast.parse(read(name))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                count = node.end_lineno - node.lineno + 1
                if count > MAX_PYTHON_FUNCTION:
                    find(name, node.lineno, f"{node.name} has {count} lines, at most "
                                            f"{MAX_PYTHON_FUNCTION}")


def unit_tests_test(files):
    for name in code_files(files, ("tests/unit/",), {".c"}):
        if os.path.basename(name).startswith("test_") and "TEST(" not in blank_out(name):
            find(name, 1, "a unit test without a TEST")
