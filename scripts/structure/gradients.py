"""Ops that take and give floats have a gradient: a rule of their own, or they are taken apart.

SPDX-License-Identifier: Apache-2.0
"""
import re

from structure.tree import find, read

# Ops of the tensor stage without a gradient, by why.
NO_FLOATS = """const weight table dims isnan isinf not and or xor shl shr gcd lcm eq ne lt le gt ge shape
    size run_number measure bind check_index nonzero bucketize arg_reduce suppress cumulate_index
    pool_indices adaptive_pool_indices bag_group bounds guard"""
OF_HOST = """image_decode seq_empty seq_make seq_insert seq_erase seq_at seq_length seq_concat opt_none
    opt_make split_to_seq"""
OF_USERS = "custom"
AFTER_GRADIENTS = """matmul_panels matmul_quads chain_quads conv_panels conv_quads conv_channels
    bag_update fused yield ret"""
WITHOUT = "bitcast random"
MIN_SHARE = 0.95


def list_ops(text):
    """(line, name, stages, expand, grad) of each row."""
    for match in re.finditer(r"(?m)^OP\(([^\n]*(?:\n(?!OP\()[^\n]*)?)", text):
        cells = [cell.strip() for cell in match.group(1).split(",")]
        yield text.count("\n", 0, match.start()) + 1, cells[0], cells[5], cells[10], cells[11]


def ops_of_floats_have_gradients(files):
    name = "ir/ops.def"
    if name not in files:
        return
    known = set(f"{NO_FLOATS} {OF_HOST} {OF_USERS} {AFTER_GRADIENTS} {WITHOUT}".split())
    with_rule = 0
    for line, op, stages, expand, grad in list_ops(read(name)):
        if "T" not in stages.split("|"):
            continue
        has_rule = grad != "none" or expand != "none"
        with_rule += has_rule
        if not has_rule and op not in known:
            find(name, line, f"op {op} has no gradient; say why in scripts/structure/gradients.py")
        if has_rule and op in known:
            find(name, line, f"op {op} has a gradient, and gradients.py lists it among those without")
    share = with_rule / (with_rule + len(WITHOUT.split()))
    if share < MIN_SHARE:
        find(name, 1, f"{share:.1%} of the ops of floats have a gradient, at least {MIN_SHARE:.0%}")
