"""Runs models that Ingot compiled.  Needs nothing but this package.

    program = ingot_runtime.Program("model.ingot")
    scores = program(dense, ids)

SPDX-License-Identifier: Apache-2.0
"""
from collections import namedtuple

from ._runtime import (CancelledError, Error, FileError, InternalError, InvalidError,
                       LimitError, Program, Tensor, UnsupportedError, __version__, level)

Diagnostic = namedtuple("Diagnostic", "text hint file node operator")
Diagnostic.__doc__ = """One message of an error: its text, and advice; the file, the node (its number, or \
its name where it has no number) and its operator, where the text says them.  What is not said is None."""

# "m.onnx: node 3 'fc' (Gemm): …", "m.pt2: node 'linear': operator aten::linear …",
# "m.pt/code/x.py:8: in 'M.forward': operator aten::linear …"
_PLACE = (r"([^\s:][^:]*)(?::\d+)*(?:: in '[^']*')?"
          r"(?:: node (?:(\d+)(?: '[^']*')?(?: \(([^)]*)\))?|'([^']*)'))?: (?:operator ([\w.:]+))?")


def _diagnostic_of(lines):
    import re
    place = re.match(_PLACE, lines[0])
    file, number, kind, name, operator = place.groups() if place else (None,) * 5
    node = int(number) if number else name
    hints = [line.strip().removeprefix("hint: ") for line in lines[1:]]
    return Diagnostic(lines[0], " ".join(hints) or None, file, node, kind or operator)


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
           "LimitError", "Program", "Tensor", "UnsupportedError", "level"]
