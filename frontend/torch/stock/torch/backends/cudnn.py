"""SPDX-License-Identifier: Apache-2.0"""

enabled = benchmark = deterministic = allow_tf32 = False


def is_available():
    return False
