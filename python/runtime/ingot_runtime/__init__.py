"""Runs models that Ingot compiled.  Needs nothing but this package.

    program = ingot_runtime.Program("model.ingot")
    scores = program(dense, ids)

SPDX-License-Identifier: Apache-2.0
"""
from collections import namedtuple

from ._runtime import (CancelledError, Error, FileError, InternalError, InvalidError,
                       LimitError, Program, Tensor, UnsupportedError, __version__, level)
from .log import LogRecord, set_log

Diagnostic = namedtuple("Diagnostic", "text hint file node operator")
Diagnostic.__doc__ = """One message of an error: its text, and advice; the file, the node (its number, or \
its name where it has no number) and its operator, where the text says them.  What is not said is None."""

# "m.onnx: node 3 'fc' (Gemm) of 'x', 'w': …", "m.pt/code/x.py:8: in 'M.forward': operator
# aten::linear …"; messages of a run name no file: "input 'ids' of node 3 (Gather): …".
_FILE = r"(?!node |input '|args\[)([^\s:][^:]*)(?::\d+)*: "
_NODE = r"\bnode (?:(?:(\d+)(?: '[^']*')?|'([^']*)')(?: \(([^)]*)\))?|\(([^)]*)\))"
_OPERATOR = r"\boperator ([\w.]+(?:::[\w.]+)?)"


def _diagnostic_of(lines):
    import re
    file, position, named = (re.match(_FILE, lines[0]), re.search(_NODE, lines[0]),
                          re.search(_OPERATOR, lines[0]))
    number, name, *kinds = position.groups() if position else (None,) * 4
    kind = kinds[0] or kinds[1] or (named and named[1])
    hints = [line.strip().removeprefix("hint: ") for line in lines[1:]]
    return Diagnostic(lines[0], " ".join(hints) or None, file and file[1],
                      int(number) if number else name, kind or None)


def _diagnostics(error):
    """A Diagnostic of each message; lines that are indented belong to the one before."""
    messages = []
    for line in str(error).splitlines():
        if line.startswith(" ") and messages:
            messages[-1].append(line)
        elif line:
            messages.append([line])
    return [_diagnostic_of(lines) for lines in messages]


Error.diagnostics = property(_diagnostics, doc=_diagnostics.__doc__)

__all__ = ["CancelledError", "Diagnostic", "Error", "FileError", "InternalError", "InvalidError",
           "LimitError", "LogRecord", "Program", "Tensor", "UnsupportedError", "level", "set_log"]
