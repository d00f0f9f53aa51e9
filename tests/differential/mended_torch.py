#!/usr/bin/env python3
"""Writes the cases of what random torch programs found: small modules, torch's answers.

SPDX-License-Identifier: Apache-2.0

    mended_torch.py [ARCHIVE]        (tests/differential/cases/mended_torch.tar.xz)
"""

import json
import pathlib
import sys
import tempfile

import torch

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models" / "gen"))

from store import pack
from values_json import write_set

T = torch.Tensor


class QuotientOf0(torch.nn.Module):
    """floor(0 / -1.5) is -0, and its reciprocal -inf."""

    def forward(self, x: T, y: T) -> T:
        return torch.reciprocal(x // y)


class GuardInBranch(torch.nn.Module):
    """A branch that only checks something: it has no results."""

    def forward(self, x: T) -> T:
        if bool(x.sum() > 3):
            y = x.squeeze(-1)
        else:
            y = x.squeeze(-1) + 1
        return x * 2


CASES = {
    "quotient_of_0": (QuotientOf0(), [
        (torch.tensor([0.0, -0.0, 0.0, 7.5, -7.5]), torch.tensor([-1.5, 2.0, 2.0, 2.0, 2.0])),
    ]),
    "fixed_guard_in_branch": (GuardInBranch(), [(torch.ones(2, 3),)]),
}


def main(archive=HERE / "cases" / "mended_torch.tar.xz"):
    with tempfile.TemporaryDirectory() as place:
        for name, (module, sets) in CASES.items():
            folder = pathlib.Path(place) / name
            folder.mkdir()
            torch.jit.script(module.eval()).save(str(folder / "model.pt"))
            case = {"name": name, "model": "model.pt", "tolerance": {"rtol": 0, "atol": 0}}
            (folder / "case.json").write_text(json.dumps(case))
            for number, arguments in enumerate(sets):
                write_set(folder / f"test_data_set_{number}", arguments, module(*arguments))
        print(f"{len(CASES)} cases, {pack(place, archive)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
