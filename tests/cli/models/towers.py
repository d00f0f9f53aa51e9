"""Writes a network of several towers as IR text: layers that go over the batch block by
block, with steps between them that do not.

    towers.py WIDTH WIDTH … > model.ig       input width, then that of each layer

After every second layer stand a layer norm over the whole row and a tanh; the last layer
is followed by a softmax, and the first layer's output joins the last one's input.
SPDX-License-Identifier: Apache-2.0
"""
import random
import sys


def weight(name, rows, columns, draw):
    values = ", ".join(f"{draw.uniform(-0.5, 0.5):.4f}" for _ in range(rows * columns))
    shape = f"{rows}, {columns}" if rows > 1 else f"{columns}"
    return f"  weight @{name} : f32[{shape}] = [{values}]"


def towers(widths):
    draw = random.Random(1)
    weights, body, value, first = [], [], "x", None
    count = 0

    def emit(text, *shape):
        nonlocal count
        body.append(f"    %{count} = {text} : f32[{', '.join(map(str, ('B',) + shape))}]")
        count += 1
        return str(count - 1)

    for layer, (depth, width) in enumerate(zip(widths, widths[1:])):
        is_last = layer == len(widths) - 2
        if is_last and first is not None:
            value = emit(f"concat %{value}, %{first} {{axis = 1}}", depth + widths[1])
            depth += widths[1]
        weights += [weight(f"w{layer}", width, depth, draw),
                    weight(f"b{layer}", 1, width, draw)]
        value = emit(f"matmul %{value}, @w{layer} {{transpose_b}}", width)
        value = emit(f"add %{value}, @b{layer}", width)
        if is_last:
            value = emit(f"softmax %{value} {{axis = 1}}", width)
        elif layer % 2 == 1:
            value = emit(f"layer_norm %{value} {{axis = 1, epsilon = 1e-05}}", width)
            value = emit(f"tanh %{value}", width)
        else:
            value = emit(f"relu %{value}", width)
        first = value if first is None else first
    head = f"  graph @main(%x: f32[B, {widths[0]}]) -> (f32[B, {widths[-1]}] \"y\") {{"
    return "\n".join(["module @towers {", *weights, head, *body, f"    ret %{value}",
                      "  }", "}"])


print(towers([int(width) for width in sys.argv[1:]]))
