"""The command `ingot`, which lies in this package.  SPDX-License-Identifier: Apache-2.0"""
import os
import sys


def main():
    """Becomes the program: signals, streams and the exit status are its own."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ingot")
    try:
        os.execv(program, ["ingot", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"ingot: {program}: {error.strerror}")
