"""Runs models that Ingot compiled.  Needs nothing but this package.

    program = ingot_runtime.Program("model.ingot")
    scores = program(dense, ids)

SPDX-License-Identifier: Apache-2.0
"""
from collections import namedtuple

from ._runtime import (CancelledError, Error, FileError, InternalError, InvalidError,
                       LimitError, Program, Tensor, UnsupportedError, __version__, level)

Diagnostic = namedtuple("Diagnostic", "text hint file node operator")
Diagnostic.__doc__ = """One message of an error: its text, and advice; the file, the number of \
the node and its operator, where the text says them.  What is not said is None."""

_PLACE = r"([^\s:][^:]*)(?::\d+:\d+)?(?:: node (\d+) \(([^)]*)\))?: "


def _diagnostic_of(lines):
    import re
    place = re.match(_PLACE, lines[0])
    file, node, operator = place.groups() if place else (None, None, None)
    hints = [line.strip().removeprefix("hint: ") for line in lines[1:]]
    return Diagnostic(lines[0], " ".join(hints) or None, file, node and int(node), operator)


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
