"""Every op, pass, rule and import row is named in a test, by syntax.

SPDX-License-Identifier: Apache-2.0

A word alone does not count: an op must stand where IR text has an op, an ONNX row where
a test makes a node, a torch row where a test calls it.  Rows without a test are in
scripts/untested-rows.txt, a list that may only shrink.
"""
import functools
import pathlib
import re

from structure.tree import find, line_of, list_rows, read, suffix

UNTESTED = "scripts/untested-rows.txt"
IR_TEXT = {".ig", ".txt", ".def", ".c", ".h"}


@functools.lru_cache(maxsize=None)
def collect(files, folders, suffixes, pattern):
    """All that `pattern` finds in files of these folders and suffixes."""
    found = set()
    for name in files:
        if name.startswith(folders) and suffix(name) in suffixes:
            for match in re.findall(pattern, read(name)):
                found.update(m for m in (match if isinstance(match, tuple) else [match])
                             if m)
    return found


# ---- ops, passes, rules ----

def list_tested_ops(files):
    """`%0 = add %x` and, for ops without results, `guard eq(…)` at a line's start."""
    golden = ("tests/golden/", "tests/conform/")
    with_result = collect(files, golden, (".ig", ".txt"), r"(?m)^[|\s]*%[\w%, ]+ = (\w+)\b")
    alone = collect(files, golden, (".ig", ".txt"),
                    r"(?m)^[|\s]*(\w+)(?: +[%@(]| +\w+\(|\s*\{|$| @)")
    return with_result | alone


def every_op_is_tested(files):
    tested = list_tested_ops(tuple(files))
    for name, line, row in list_rows(files, "ir/", "OP"):
        op = row.split(",")[0].strip()
        if op not in tested:
            find(name, line, f"op {op} is in no golden or conformance test")


def every_pass_is_tested(files):
    runs = collect(tuple(files), ("tests/golden/",), (".ig",), r"(?m)^# run: *(.*)$")
    tested = {word for run in runs for word in re.findall(r"\w+", run)}
    for name, line, row in list_rows(files, "passes/", "PASS"):
        pass_name = row.split(",")[0].strip()
        if pass_name not in tested:
            find(name, line, f"pass {pass_name} is in no '# run:' of a golden test")


def every_rule_is_tested(files):
    golden = [n for n in files if n.startswith("tests/golden/passes/")]
    tested = {part for n in golden for part in pathlib.Path(n).with_suffix("").parts[3:]}
    tested |= collect(tuple(files), ("tests/golden/passes/",), (".ig",),
                      r"(?m)^# ---- (\w+) ----$|^# (?:rule: )?(\w+): ")
    for source in files:
        if not source.startswith("passes/") or not source.endswith(".c"):
            continue
        code = read(source)
        for match in re.finditer(r"\bRULE\(\s*\w+,\s*(\w+)\)", code):
            rule = match.group(1).removeprefix("ig_")
            if rule not in tested and not code[:match.start()].endswith("define "):
                find(source, line_of(code, match.start()),
                     f"rule {rule} has no golden case of its name")


# ---- import rows ----

def list_onnx_rows(files):
    for name, line, row in list_rows(files, "frontend/onnx/", "(?:ONNX|HOST)"):
        yield name, line, "onnx::" + row.split(",")[1].strip()


def list_torch_rows(files):
    """The operator without its overload: tests seldom say which overload they take."""
    for name, line, row in list_rows(files, "frontend/torch/", "(?:OP|SCRIPT|ALIAS)"):
        match = re.match(r'\s*"(\w+::\w+)', row)
        if match:
            yield name, line, match.group(1)


def no_torch_row_stands_twice(files):
    """A second row of one overload would be dead, or win by its place."""
    first = {}
    for path, line, row in list_rows(files, "frontend/torch/", "(?:OP|SCRIPT|ALIAS)"):
        match = re.match(r'\s*"(\w+::[\w.]+)', row)
        if match and match.group(1) in first:
            find(path, line, f"{match.group(1)} stands in {first[match.group(1)]} already")
        elif match:
            first[match.group(1)] = f"{path}:{line}"


LAYOUTS = {"ROWS", "KEEP", "SELF"}
TEXT = r'"((?:[^"\\]|\\.)*)"'
NEED = re.compile(r"(\w+) [ib]?\d(?:-\d?)?")


def text_of(column, columns):
    """What a column that takes text holds; "" where the row has none."""
    found = re.search(rf"\b{column}\(((?:\s*{TEXT})+)\)", columns)
    return "".join(re.findall(TEXT, found.group(1))) if found else ""


def torch_columns_are_spelt(files):
    """A clause of NEEDS, and what PARTS names, are arguments of the row's schema; other columns
    are layouts."""
    for path, line, row in list_rows(files, "frontend/torch/", "OP"):
        schema, columns = re.split(r'(?<=[^\\]"),\s*(?=\w)', row, maxsplit=1)
        arguments = "".join(re.findall(TEXT, schema)).partition(" -> ")[0]
        names = set(re.findall(r"(\w+)(?:=[^,]*)?(?=,|\)$)", arguments))
        clauses = text_of("NEEDS", columns)
        for clause in clauses.split("; ") if clauses else []:
            need = NEED.fullmatch(clause)
            if not need or need.group(1) not in names:
                find(path, line, f"'{clause}' of NEEDS: expected an argument of the row and ranks")
        parts = text_of("PARTS", columns).removeprefix("=")
        for name in re.split(r"; | \* ", parts) if parts else []:
            if name not in names:
                find(path, line, f"'{name}' of PARTS: expected an argument of the row")
        for word in re.findall(r"\b[A-Z]{2,}\b", re.sub(TEXT, "", columns)):
            if word not in LAYOUTS | {"NEEDS", "PARTS"}:
                find(path, line, f"{word} is not a layout: {', '.join(sorted(LAYOUTS))}")


@functools.lru_cache(maxsize=None)
def list_tested_rows(files):
    """Nodes that tests make or write as text, calls in tests' sources, cases of the suites: ONNX's are
    named test_<operator in small letters>…, ours of torch ops/<operator>."""
    unit = ("tests/unit/", "tests/fuzz/", "tests/models/", "tests/cli/")
    node = (r'\bonnx_node\([^"\n]*"(\w+)"|\bbegin\(\d+, "(\w+)"|\bop_type *= *"(\w+)"'
            r'|\b(?:op|raw|make_node)\(\s*"(\w+)"')
    tested = {"onnx::" + n for n in collect(files, unit, (".c", ".h", ".py"), node)}
    text = r"(?m)= ?(?:[a-z]+\.)*([A-Z]\w+) ?[<({]"
    tested |= {"onnx::" + n
               for n in collect(files, ("tests/differential/",), (".py",), text)}
    for case in collect(files, ("tests/conform/expected/",), (".txt",), r"(?m)^test_(\w+)$"):
        words = case.split("_")
        tested |= {"onnx::" + "".join(words[:i + 1]) for i in range(len(words))}
    scripts = (".py", ".c", ".h", ".txt")
    unit += ("tests/differential/mended_torch.py",)
    tested |= {n for n in collect(files, unit, (".c", ".h", ".py"), r"\b(\w+::\w+)\b")}
    for space, name in [(m.split(".")[0], m.split(".")[1]) for m in
                        collect(files, unit, scripts, r"\bops\.(\w+\.\w+)\b")]:
        tested.add(f"{space}::{name}")
    calls = collect(files, unit, scripts,
                    r"\b(?:torch|F|torch\.nn\.functional)\.(\w+)\(")
    calls |= {a.replace(".", "_") for a in collect(
        files, unit, scripts, r"\btorch\.((?:special|linalg|fft)\.\w+)\(")}
    calls |= collect(files, ("tests/models/gen/",), (".py",), r"\b[a-z]\d?\.(\w+)\(")
    calls |= collect(files, ("tests/models/",), (".txt",), r"(?m)^torch/ops/(\w+)$")
    return tested | {"aten::" + n for n in calls}


def every_import_row_is_tested(files):
    tested = set(list_tested_rows(tuple(files)))
    lines = read(UNTESTED).splitlines()
    listed = {n: i for i, n in enumerate(lines, 1) if n and not n.startswith("#")}
    rows = {}
    for path, line, row in [*list_onnx_rows(files), *list_torch_rows(files)]:
        rows.setdefault(row, (path, line))
    tested |= {row for row in rows
               if row.startswith("onnx::") and "onnx::" + row[6:].lower() in tested}
    for row, (path, line) in rows.items():
        if row not in tested and row not in listed:
            find(path, line, f"row {row} is in no test")
    for row, line in listed.items():
        if row not in rows:
            find(UNTESTED, line, f"{row} is no row; take it off the list")
        elif row in tested:
            find(UNTESTED, line, f"{row} is tested now; take it off the list")
