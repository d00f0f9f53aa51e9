"""Libraries of Ingot that Python opens itself, beside the extensions.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import pathlib

import ingot_runtime

ERRORS = {1: ingot_runtime.InvalidError, 2: ingot_runtime.UnsupportedError,
          3: ingot_runtime.LimitError, 4: ingot_runtime.FileError,
          5: ingot_runtime.CancelledError, 6: ingot_runtime.InternalError}


def open_library(name):
    """libingot-NAME: in the build's folder, in a wheel, or installed."""
    here = pathlib.Path(__file__)
    folders = [ingot_runtime.__path__[0]]
    for start in (here.parent.absolute(), here.resolve().parent):
        folders += [start, *start.parents[:3]]
    for folder in folders:
        for end in (".so", ".so.0"):  # the wheel's
            path = pathlib.Path(folder) / f"libingot-{name}{end}"
            if path.exists():
                return ctypes.CDLL(str(path))
    return ctypes.CDLL(f"libingot-{name}.so.0")


def raise_error(status, text):
    raise ERRORS.get(status, ingot_runtime.Error)(text)
