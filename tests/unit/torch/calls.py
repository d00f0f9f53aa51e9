#!/usr/bin/env python3
"""Writes calls.txt anew: the calls that it lists, and those given, with torch's values.

SPDX-License-Identifier: Apache-2.0

    calls.py [CALL…]        as in "torch.mish(x)" or "p, q = torch.frexp(x); p"

Each call becomes an archive with the program of test_torchscript_eval.c, which torch
loads and runs.  Lines are sorted.  Needs torch, torchao and
fbgemm_gpu.
"""
import io
import pathlib
import sys
import warnings
import zipfile

warnings.filterwarnings("ignore")

import torch
import torch.ao.quantization.fx._decomposed  # whose operators some call, as
import torchao.quantization  # this one's
import fbgemm_gpu  # noqa: F401  (its operators)

LIST = pathlib.Path(__file__).with_name("calls.txt")
X = [[0.25, -0.5], [0.75, 0.5]]
PICKLE = (b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x88ub.")
SOURCE = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    y = torch.reshape(torch.tensor([0.5, 2., -1.5, 3.]), [2, 2])
    s = torch.reshape(torch.tensor([2., 0.5, 0.5, 1.]), [2, 2])
    k = torch.reshape(torch.tensor([5, -3, 0, 7]), [2, 2])
    b = torch.ne(torch.reshape(torch.tensor([1, 0, 1, 1]), [2, 2]), 0)
    v, w = torch.tensor([0.5, -2., 3.]), torch.tensor([1., 4., -1.5])
    i, z = torch.tensor([1, 0]), torch.reshape(x, [1, 1, 2, 2])
    t = torch.reshape(torch.arange(1., 9.), [1, 2, 2, 2])
    %s
"""


def archive(call):
    statement, _, result = call.rpartition("; ")
    body = f"{statement}\n    return {result}" if statement else f"return {call}"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as entries:
        entries.writestr("m/data.pkl", PICKLE)
        entries.writestr("m/constants.pkl", b"\x80\x02).")
        entries.writestr("m/code/__torch__.py", SOURCE % body)
        entries.writestr("m/version", "3\n")
    out.seek(0)
    return out


def value_text(number):
    return f"{float(number):.9g}"


def line_of(call):
    with torch.no_grad():
        result = torch.jit.load(archive(call))(torch.tensor(X))
    if result.is_complex():
        result = torch.view_as_real(result)
    return f"{call} = " + " ".join(map(value_text, result.flatten().tolist()))


def main():
    lines = LIST.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    calls = {line.rsplit(" = ", 1)[0] for line in lines if not line.startswith("#")}
    calls.update(sys.argv[1:])
    wrong = 0
    for call in sorted(calls):
        try:
            head.append(line_of(call))
        except RuntimeError as error:
            wrong += 1
            print(f"torch does not take {call}: {str(error).strip().splitlines()[-1]}")
    LIST.write_text("\n".join(head) + "\n")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
