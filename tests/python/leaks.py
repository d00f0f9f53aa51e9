"""Do calls keep memory?

SPDX-License-Identifier: Apache-2.0
"""
import gc
import os
import sys

CALLS = int(os.environ.get("INGOT_LEAK_CALLS", 1000))
ROUNDS = 5


def kept_blocks(calls):
    """Blocks of Python's memory that CALLS calls keep, in the quietest of some rounds: what
    Python, numpy and torch keep for the next ones is kept once, and a leak in each round."""
    kept = []
    for _ in range(ROUNDS):
        gc.collect()
        before = sys.getallocatedblocks()
        calls(CALLS)
        gc.collect()
        kept.append(sys.getallocatedblocks() - before)
    return min(kept)


def check(test, calls):
    """Less than a block in thirty calls."""
    test.assertLess(kept_blocks(calls), CALLS // 30)
