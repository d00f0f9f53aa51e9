"""Writes a model that says the same many times, as IR text.

    repeated.py dense N          N layers of 32 x 32, one after the other
    repeated.py concat N         one concat of N copies of an input of open extent

SPDX-License-Identifier: Apache-2.0
"""
import sys


def dense(count):
    values = ", ".join(f"{(i * 7 % 13 - 6) / 64:g}" for i in range(32 * 32))
    weights = [f"  weight @w{i} : f32[32, 32] = [{values}]" for i in range(count)]
    head = '  graph @main(%x: f32[B, 32]) -> (f32[B, 32] "y") {'
    names = ["x", *range(count)]
    body = [f"    %{i} = matmul %{names[i]}, @w{i} {{transpose_b}} : f32[B, 32]"
            for i in range(count)]
    return [*weights, head, *body, f"    ret %{count - 1}"]


def concat(count):
    copies = ", ".join(["%x"] * count)
    return [f'  graph @main(%x: f32[B, 4]) -> (f32[{count}*B, 4] "y") {{',
            f"    %0 = concat {copies} {{axis = 0}} : f32[{count}*B, 4]", "    ret %0"]


lines = {"dense": dense, "concat": concat}[sys.argv[1]](int(sys.argv[2]))
print("\n".join(["module @repeated {", *lines, "  }", "}"]))
