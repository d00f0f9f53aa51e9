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
    parts = ", ".join(["%x", "%y"] * (count // 2))  # equal ones in a row would be a loop
    rows = f"{count // 2}*B + {count // 2}*C"
    return [f'  graph @main(%x: f32[B, 4], %y: f32[C, 4]) -> (f32[{rows}, 4] "z") {{',
            f"    %0 = concat {parts} {{axis = 0}} : f32[{rows}, 4]", "    ret %0"]


lines = {"dense": dense, "concat": concat}[sys.argv[1]](int(sys.argv[2]))
print("\n".join(["module @repeated {", *lines, "  }", "}"]))
