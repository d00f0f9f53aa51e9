"""SPDX-License-Identifier: Apache-2.0"""


def is_compiling():
    return False


def disable(function=None, recursive=True):
    return (lambda decorated: decorated) if function is None else function
