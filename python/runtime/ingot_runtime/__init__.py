"""Runs models that Ingot compiled.  Needs nothing but this package.

    program = ingot_runtime.Program("model.ingot")
    scores = program(dense, ids)

SPDX-License-Identifier: Apache-2.0
"""
from ._runtime import (CancelledError, Error, FileError, InternalError, InvalidError,
                       LimitError, Program, Tensor, UnsupportedError, __version__, level)

__all__ = ["CancelledError", "Error", "FileError", "InternalError", "InvalidError",
           "LimitError", "Program", "Tensor", "UnsupportedError", "level"]
