"""Compiles models and runs them.

    import ingot
    program = ingot.compile("model.onnx")          # also .pt, .pt2, ExportedProgram, nn.Module
    scores = program(dense, ids)
    program.save("model.ingot")                    # for ingot.load, or ingot_runtime alone

Nothing is imported that a model does not need: neither torch nor numpy nor onnx.

SPDX-License-Identifier: Apache-2.0
"""
from ingot_runtime import (CancelledError, Diagnostic, Error, FileError, InternalError,
                           InvalidError, LimitError, LogRecord, Tensor, UnsupportedError, level,
                           set_log)

from . import _compiler
from .operators import operator
from .program import Program, compile, dump, load  # noqa: A004
from .session import Session

__version__ = _compiler.__version__
__all__ = ["CancelledError", "Diagnostic", "Error", "FileError", "InternalError",
           "InvalidError", "LimitError", "LogRecord", "Program", "Session", "Tensor", "UnsupportedError",
           "compile", "dump", "level", "load", "operator", "set_log"]
