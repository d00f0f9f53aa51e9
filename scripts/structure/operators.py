"""docs/ops.md, the ONNX operators that are imported, from the tables.

SPDX-License-Identifier: Apache-2.0

Operators and versions are the rows of frontend/onnx/ops/**/*.def.  How an operator runs is
what the lists of tests/conform/expected say of its cases; element types are those of the
newest schema (docs/ops-types.txt).
"""

import pathlib
import re

from structure.tree import find

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "ops.md"
TYPES = ROOT / "docs" / "ops-types.txt"
DOMAINS = {"ai": "ai.onnx", "ml": "ai.onnx.ml", "preview": "ai.onnx.preview",
           "training": "ai.onnx.preview.training", "microsoft": "com.microsoft"}
# What backend cases are called that are not called as their operator.
ALIASES = {"batchnorm": "batchnormalization", "instancenorm": "instancenormalization",
           "greaterequal": "greaterorequal", "lessequal": "lessorequal",
           "constantpad": "pad", "edgepad": "pad", "reflectpad": "pad", "wrappad": "pad",
           "nllloss": "negativeloglikelihoodloss", "sce": "softmaxcrossentropyloss",
           "mvn": "meanvariancenormalization", "tril": "trilu", "triu": "trilu",
           "loop11": "loop", "loop13": "loop", "loop16": "loop", "scan9": "scan",
           "basicdeformconv": "deformconv", "strnormalizer": "stringnormalizer",
           "basicconv": "conv", "nesterovmomentum": "momentum"}
REDUCE = re.compile(r"^REDUCE\((\w+), *(\d+)", re.M)
ROW = re.compile(r"^(ONNX|HOST|LATER|EARLY)\((\w+), *(\w+)(?:, *(\d+))?", re.M)
HEAD = """# ONNX operators

Written by `scripts/ops-page` from the tables; do not edit.  *Versions* are the opsets in
which a form begins that has a row of its own; a row serves until the next.  *Types* are
those of the newest schema.  *Runs*: **compiled**, cases of ONNX's backend data pass as
compiled code in static form; **interpreted**, they pass in the interpreter alone;
**refused**, known and not imported; **imported**, ONNX's data has no case of it (unit and
differential tests have).  Numbers are cases that pass in static, dynamic and constant form.
"""


def read_rows():
    """(domain, name) -> (versions, is it imported)"""
    rows = {}
    for path in sorted((ROOT / "frontend/onnx/ops").rglob("*.def")):
        text = path.read_text()
        found = [(m.group(1), m.group(2), m.group(3), m.group(4))
                 for m in ROW.finditer(text)]
        for name, second in REDUCE.findall(text):
            found += [("ONNX", "ai", name, "1"), ("ONNX", "ai", name, second)]
        for kind, domain, name, since in found:
            if domain not in DOMAINS or kind == "EARLY":
                continue
            versions, is_imported = rows.get((domain, name), ([], False))
            rows[domain, name] = (versions + [int(since)],
                                  is_imported or kind != "LATER")
    return rows


def count_cases(names):
    """operator in small letters -> how many cases the form's list has"""
    lists = {}
    for form in ("interpret-static", "cpu-static", "cpu-dynamic", "cpu-constant"):
        counts = dict.fromkeys(names, 0)
        for case in (ROOT / f"tests/conform/expected/{form}.txt").read_text().split():
            words = case.removeprefix("test_").removeprefix("ai_onnx_ml_").split("_")
            ends = ["".join(words[:i]) for i in range(len(words), 0, -1)]
            ends = [ALIASES.get(e, e) for e in ends]
            owner = next((e for e in ends if e in counts), None)
            if owner:
                counts[owner] += 1
        lists[form] = counts
    return lists


def describe(name, is_imported, lists):
    key = name.lower()
    if not is_imported:
        return "refused"
    static = lists["cpu-static"][key]
    if static:
        others = [lists[f][key] for f in ("cpu-dynamic", "cpu-constant")]
        return f"compiled ({static}, {others[0]}, {others[1]})"
    seen = lists["interpret-static"][key]
    return f"interpreted ({seen})" if seen else "imported"


def make_page():
    rows = read_rows()
    lists = count_cases({name.lower() for _, name in rows})
    types = dict(line.split(" ", 1) for line in TYPES.read_text().splitlines())
    out = [HEAD]
    for domain, label in DOMAINS.items():
        out += [f"## {label}", "", "| operator | versions | types | runs |",
                "|---|---|---|---|"]
        for key in sorted(k for k in rows if k[0] == domain):
            versions, is_imported = rows[key]
            since = ", ".join(str(v) for v in sorted(set(versions)))
            own = types.get(f"{label}.{key[1]}", "")
            out.append(f"| {key[1]} | {since} | {own} | "
                       f"{describe(key[1], is_imported, lists)} |")
        out.append("")
    return "\n".join(out)


SHORT = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16",
         "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
         "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool",
         "string": "string", "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2"}


def shorten(text):
    word = text.removeprefix("tensor(").removesuffix(")")
    return SHORT.get(word, word)


def write_schemas():
    from onnx import defs
    newest = {}
    for schema in defs.get_all_schemas_with_history():
        key = f"{schema.domain or 'ai.onnx'}.{schema.name}"
        if key not in newest or newest[key].since_version < schema.since_version:
            newest[key] = schema
    lines = []
    for key, schema in sorted(newest.items()):
        groups = []
        for constraint in schema.type_constraints:
            seen = sorted({shorten(t) for t in constraint.allowed_type_strs
                           if t.startswith("tensor(")})
            seen += sorted({t.split("(")[0] for t in constraint.allowed_type_strs
                            if not t.startswith("tensor(")})
            groups.append(f"{constraint.type_param_str}: {' '.join(seen)}")
        lines.append(f"{key} {'; '.join(groups)}")
    TYPES.write_text("\n".join(lines) + "\n")


def ops_page_is_current(files):
    if not PAGE.exists() or PAGE.read_text() != make_page():
        find("docs/ops.md", 1, "is not what scripts/ops-page writes: run it")
