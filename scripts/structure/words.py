"""What may be written where: switches and chains over ops, conditions, heads, families.

SPDX-License-Identifier: Apache-2.0
"""
import re

from structure.tree import (PRODUCT, TEXT, blank_out, code_files, find, line_of,
                            list_functions, list_rows, read, suffix)

MAX_COMPARISONS = 5  # with ops in one condition or chain; more are a column or a table
MAX_ARMS = 3         # of one `if … else if …` over ops


def no_switch_over_ops(files):
    for name in code_files(files):
        text = blank_out(name)
        for match in re.finditer(r"\bswitch\s*\([^{;]*(->|\.)code\s*\)|\bcase\s+IG_OP_",
                                 text):
            find(name, line_of(text, match.start()),
                 "a switch over ops; make it a column of ops.def")


COMPARES = re.compile(r"[=!]=\s*IG_OP_\w+|\big_def\([^;{}]*?IG_OP_\w+\)")
NEXT_ARM = re.compile(r"[^{}]*\{[^{}]*\}\s*else\s+if\s*\([^;{}]*", re.S)
NEXT_RETURN = re.compile(r"[^{};]*\{\s*return[^{};]*;\s*\}\s*if\s*\([^;{}]*", re.S)
NEXT_TERM = re.compile(r"[^;{}]*(\|\||\?|:)[^;{}]*", re.S)


def chains(text):
    """(offset, comparisons, arms) of each run of comparisons with ops, a run being those
    that only `||`, `?:`, `else if` or `return …; } if` separate."""
    runs = []
    for match in COMPARES.finditer(text):
        between = text[runs[-1][1]:match.start()] if runs else ""
        is_arm = bool(NEXT_ARM.fullmatch(between))
        if is_arm or NEXT_RETURN.fullmatch(between) or NEXT_TERM.fullmatch(between):
            runs[-1] = [runs[-1][0], match.end(), runs[-1][2] + 1, runs[-1][3] + is_arm]
        else:
            runs.append([match.start(), match.end(), 1, 1])
    return [(run[0], run[2], run[3]) for run in runs]


def no_chain_over_ops(files):
    for name in code_files(files, PRODUCT):
        text = blank_out(name)
        for start, comparisons, arms in chains(text):
            if comparisons > MAX_COMPARISONS or arms > MAX_ARMS:
                find(name, line_of(text, start),
                     f"a chain over ops of {comparisons} comparisons (at most "
                     f"{MAX_COMPARISONS}) in {arms} arms (at most {MAX_ARMS}); make it a "
                     "column or a table")


GONE = re.compile(
    r"\b(ig_onnx_(build\d?|build_scalar|scalar|reshape|slice|constant|axis|tensor|float_tensor)"
    r"|ig_(expand|try)_\w+)\(")


def gone_names_stay_away(files):
    """Vocabularies that ir/build/expr.h has taken the place of."""
    for name in code_files(files):
        text = blank_out(name)
        for match in GONE.finditer(text):
            find(name, line_of(text, match.start()),
                 f"{match.group(1)} is gone; build ops with ir/build/expr.h")


def families_exist(files):
    known = {"none"} | {row.split(",")[0].strip()
                        for _, _, row in list_rows(files, "ir/families.def", "FAMILY")}
    for name, line, row in list_rows(files, "ir/ops.def", "OP"):
        fields = [field.strip() for field in row.split(",")]
        if fields[12] not in known:
            find(name, line, f"{fields[0]}: families.def has no family {fields[12]}")


def passes_ask_for_facts(files):
    """A target that is neither CPU nor GPU states its facts in ir/target.c and no more."""
    for name in code_files(files, ("passes/",)):
        for match in re.finditer(r"\bIG_FAMILY_(CPU|GPU)\b", blank_out(name)):
            if name != "passes/lower/schedules.c":
                find(name, line_of(blank_out(name), match.start()),
                     "asks for the family of a target; make it a fact of ir/target.h")


def conditions_live_in_the_platform(files):
    """#if only where the platform or a foreign library is hidden; guards and NDEBUG."""
    homes = re.compile(r"^(base/platform/|tests/|include/)|shim")
    for name in code_files(files):
        if homes.search(name):
            continue
        for index, line in enumerate(read(name).splitlines(), 1):
            is_known = re.match(r"#ifndef (\w+_H|NDEBUG)$", line)
            if re.match(r"\s*#\s*(if|elif)", line) and not is_known:
                find(name, index, "#if outside of base/platform/ and the LLVM shim")


def files_say_what_they_are(files):
    for name in files:
        is_script = name.startswith(("scripts/", ".ci/")) and not name.endswith(".txt")
        if suffix(name) not in TEXT - {".def"} and not is_script:
            continue
        if "SPDX-License-Identifier: Apache-2.0" not in read(name)[:1200]:
            find(name, 1, "no SPDX line in its head")


def static_functions_are_phrases(files):
    """A name says verb and object: `read_header`, not `header`."""
    for path, name, first, _, _ in list_functions(tuple(code_files(files, PRODUCT))):
        line = blank_out(path).splitlines()[first - 1]
        if "_" not in name and line.startswith("static "):
            find(path, first, f"static function {name} is one word; name verb and object")
