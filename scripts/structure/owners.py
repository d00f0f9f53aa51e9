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
    defined = list_defined(files)
    for header in code_files(files, PRODUCT, {".h"}):
        text = blank_out(header)
        for match in [*PROTOTYPE.finditer(text), *DATA.finditer(text)]:
            name = match.group(1)
            homes = defined.get(name, set()) - set(REGISTRIES)
            if not homes or os.path.dirname(header) in map(os.path.dirname, homes):
                continue
            find(header, line_of(text, match.start(1)),
                 f"declares {name} of {min(homes)}; a header declares what its own "
                 "folder defines")


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


# What a rule of names is not about: verbs, which say what is done and not with what, and the
# families of targets, which have a room in each part of the tree.
VERBS = {"ig_check", "ig_fold", "ig_import", "ig_interpret", "ig_make", "ig_open", "ig_parse"}
TARGETS = {"ig_cpu", "ig_cuda", "ig_null"}
TYPE = re.compile(r"\b(?:struct|union|enum) (ig_\w+) \{|^\} (ig_\w+);", re.M)


def list_types(files):
    """tag → header, of the product and what it shows."""
    types = {}
    for header in code_files(files, (*PRODUCT, "include/"), {".h"}):
        for match in TYPE.finditer(blank_out(header)):
            types.setdefault(match.group(1) or match.group(2), header)
    return types


def list_promised(files):
    """Functions of the public headers."""
    return {name for header in code_files(files, ("include/",), {".h"})
            for name in re.findall(r"\b(ig_\w+)\(", blank_out(header))}


def list_exported(files):
    """(path, line, name, text of the head) of each function that other files see, without
    those that a public header promises."""
    promised = list_promised(files)
    for path, name, line, _, signature in list_functions(tuple(code_files(files, PRODUCT,
                                                                          {".c"}))):
        lines = blank_out(path).splitlines()
        head = " ".join(lines[max(line - 2, 0):line])
        if name.startswith("ig_") and name not in promised and "static " not in lines[line - 1]:
            yield path, line, name, head + signature


def name_prefix(name, types):
    """The longest type that begins the name, or its first word."""
    words = name.split("_")
    for count in range(len(words) - 1, 1, -1):
        prefix = "_".join(words[:count])
        if prefix in types:
            return prefix
    return "_".join(words[:2])


def prefixes_have_one_owner(files):
    """ig_span_… is about an ig_span: a function of another part of the tree that is named so
    takes or gives one, or a type of its own whose name begins so.  A word that is no type
    belongs to one part."""
    types, homes = list_types(files), {}
    for path, line, name, head in list_exported(files):
        prefix, part = name_prefix(name, types), path.split("/")[0]
        if prefix in VERBS | TARGETS:
            continue
        if prefix not in types:
            home = homes.setdefault(prefix, path)
            if home.split("/")[0] != part:
                find(path, line, f"{name}: {prefix}_ is a prefix of {home}; one name, one owner")
        elif types[prefix].split("/")[0] not in (part, "include") and \
                not re.search(rf"\b{prefix}\b|\b{prefix}_\w+ [*\w]", head.replace(name, "")):
            find(path, line, f"{name} is about no {prefix} of {types[prefix]}; one name, one "
                 "owner")
