"""SPDX-License-Identifier: Apache-2.0"""

enabled = False


def is_available():
    return False
