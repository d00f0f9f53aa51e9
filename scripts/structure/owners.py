"""Who owns a name: headers declare what their own folder defines, struct tags are unique.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re

from structure.arrows import REGISTRIES
from structure.tree import PRODUCT, blank_out, code_files, find, line_of, list_functions

PROTOTYPE = re.compile(r"^(?!static\b|typedef\b|return\b|#)[A-Za-z_][\w \t*]*?"
                       r"\b([a-z]\w*)\([^;{}]*\)[^;{}]*;", re.M)
DATA = re.compile(r"^extern\b[^;(]*?\b(\w+)(?:\[[^\]]*\])*;", re.M)
DEFINED_DATA = re.compile(r"^(?!static\b|extern\b|typedef\b|return\b)[A-Za-z_][\w \t*]*?"
                          r"\b((?:ig|shard)_\w+)(?:\[[^\]]*\])*\s*=", re.M)
# Headers that are the face of a folder: rooms below it define what they declare.
FACES = {
    "codegen/backend.h": "the backends",
    "frontend/onnx/onnx.h": "what the driver sees of the folder",
    "frontend/torch/torchscript.h": "what the driver sees of the folder",
    "runtime/device.h": "the devices",
    "runtime/plugin/capture.h": "what a library exports that is opened at run time",
    "runtime/plugin/images.h": "what a library exports that is opened at run time",
    "runtime/plugin/observe.h": "what a library exports that is opened at run time",
    "runtime/plugin/watch.h": "what a library exports that is opened at run time",
}
# Headers that still declare what a higher room defines; a list that may only shrink.
WALLS = [
    "runtime/program/program.h",
    "runtime/session/session.h",
]


def list_defined(files):
    """name → folders of the files that define it."""
    defined = collections.defaultdict(set)
    sources = code_files(files, PRODUCT, {".c"})
    for path, name, _, _, _ in list_functions(tuple(code_files(files, PRODUCT))):
        if path.endswith(".c"):
            defined[name].add(path)
    for path in sources:
        for match in DEFINED_DATA.finditer(blank_out(path)):
            defined[match.group(1)].add(path)
    return defined


def headers_declare_their_own(files):
    """A prototype in a lower folder's header of what a higher folder defines would be an
    arrow that no include shows."""
    defined, walls = list_defined(files), set()
    for header in code_files(files, PRODUCT, {".h"}):
        if header in FACES:
            continue
        text = blank_out(header)
        for match in [*PROTOTYPE.finditer(text), *DATA.finditer(text)]:
            name = match.group(1)
            homes = defined.get(name, set()) - set(REGISTRIES)
            if not homes or os.path.dirname(header) in map(os.path.dirname, homes):
                continue
            walls.add(header)
            if header not in WALLS:
                find(header, line_of(text, match.start(1)),
                     f"declares {name} of {min(homes)}; a header declares what its own "
                     "folder defines")
    for header in WALLS:
        if header not in walls:
            find("scripts/structure/owners.py", 1,
                 f"{header} declares its own now; take it off WALLS")


def struct_tags_are_unique(files):
    first = {}
    for header in code_files(files, PRODUCT, {".h"}):
        text = blank_out(header)
        for match in re.finditer(r"\b(?:struct|union|enum) (\w+) \{", text):
            tag = match.group(1)
            if tag in first and first[tag] != header:
                find(header, line_of(text, match.start()),
                     f"{tag} is a type of {first[tag]} too; one name, one thing")
            first.setdefault(tag, header)


# Rooms of one evaluator: a function of one name in two of them is one that does the same.
EVALUATOR = ("frontend/torch/eval/", "frontend/torch/container/", "frontend/torch/python/")


def evaluator_has_one_of_a_name(files):
    first = {}
    for path, name, line, _, _ in list_functions(tuple(code_files(files, EVALUATOR, {".c"}))):
        room = os.path.dirname(path)
        home = first.setdefault(name, (room, path))
        if home[0] != room:
            find(path, line, f"{name} is a function of {home[1]} too; in the evaluator of "
                 "Python one name is one function")
