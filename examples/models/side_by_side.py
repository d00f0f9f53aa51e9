"""What the examples share: one model, compiled and in its framework, side by side.

SPDX-License-Identifier: Apache-2.0
"""
import statistics
import sys
import time

import torch

import ingot


def compile_and_check(model, inputs, dynamic_shapes=None, atol=1e-5, **options):
    """The program of a module, after its numbers were compared with the module's."""
    model.eval()
    program = ingot.compile(model, inputs, dynamic_shapes, **options)
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), model(*inputs), rtol=1e-4, atol=atol)
    return program


def _seconds(function, inputs):
    begin = time.perf_counter()
    function(*inputs)
    return time.perf_counter() - begin


def tell_speed(what, program, model, inputs, rounds=200):
    """Medians of interleaved calls, with one thread each; --no-peer leaves the model out."""
    torch.set_num_threads(1)
    peers = {"ingot": program}
    if "--no-peer" not in sys.argv:
        peers["torch"] = model
    with torch.no_grad():
        times = {name: [] for name in peers}
        for _ in range(rounds):
            for name, peer in peers.items():
                times[name].append(_seconds(peer, inputs))
    report = ", ".join(f"{name} {1e6 * statistics.median(t):.0f} us" for name, t in times.items())
    print(f"{what}: {report}")
