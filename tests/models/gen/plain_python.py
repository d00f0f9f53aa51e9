"""torch.packages whose classes are plain Python, against torch itself.

SPDX-License-Identifier: Apache-2.0

    plain_python.py OUT_DIR [--stored]

Writes OUT_DIR/plain/KIND/NAME with package.pt, case.json and test_data_set_K, which
`ingot verify` reads, for each net of plainzoo/nets.py and plainzoo/branches.py; expected values are torch's.
KIND says in which forms a case passes: all; closed: not with open extents; refused:
none, with words at import.  With --stored archives are as small as they get:
tests/models/plain.tar.xz holds them.
"""

import json
import pathlib
import sys
import warnings
import zipfile

warnings.filterwarnings("ignore")

import torch
import torch.fx
from torch.package import PackageExporter

import plainzoo.branches as branches
import plainzoo.nets as zoo
from values_json import write_set


def R(*shape, n=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(n))


X, Y = R(3, 4), R(5, 4, n=2)
SIDES = [(torch.tensor(v),) for v in ([1.5, 2.0, 0.5], [-1.5, -2.0, -3.0], [2.0, -4.0, 1.2],
                                      [-0.5, 3.0, -1.1])]

CASES = {
    "Early": ([(X,), (X.abs() * 4,), (X * 0.01,), (Y,), (X.abs(),)], {}),
    "Containers": ([(X,), (Y,)], {}),
    "Values": ([(X,), (X, 3.0)], {}),
    "Indexing": ([(X, torch.tensor([2, 0])), (X + 1, torch.tensor([1]))], {}),
    "Operators": ([(X,), (X, 2)], {}),
    "Functional": ([(X,)], {}),
    "Layers": ([(X,), (Y,)], {}),
    "Attention": ([(R(2, 5, 8),), (R(1, 3, 8), torch.tril(torch.ones(3, 3)))], {}),
    "State": ([(X,), (X + 1,), (-X,)], {"stateful": True}),
    "Inherited": ([(X,), (Y,)], {}),
    "Loops": ([(R(5, 2, 4),), (R(1, 2, 4),)], {}),
    "Choice": ([(X,), (-X,), (X.abs() * 2,)], {}),
    "Acts": ([(X,)], {}),
    "Bits": ([(X,), (Y,)], {}),
    "Tiny": ([(R(2, 1, 6, 6),)], {}),
    "Traced": ([(X,), (Y,)], {}),
    **{name: (SIDES, {}) for name in ("Dicts", "Lists", "Nested", "Helpers", "Attributes",
                                      "Statements", "Trips", "Bound", "Remembers", "Widely")},
    **{name: ([(X,)], {}) for name in ("Tries", "Yields", "Foreign", "Ordered", "Hooked")},
}
REFUSED = {"Tries", "Yields", "Foreign", "Ordered", "Hooked", "Remembers", "Widely"}
CLOSED = {"Values"}


def shrink(path):
    """Entries stored with one date: equal packages are equal files."""
    with zipfile.ZipFile(path) as old:
        entries = [(name, old.read(name)) for name in old.namelist() if "/.data/ser" not in name]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name, content in entries:
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)


def write_case(folder, name, sets, more):
    folder.mkdir(parents=True)
    torch.manual_seed(7)
    module = getattr(zoo if hasattr(zoo, name) else branches, name)().eval()
    path = folder / "package.pt"
    with PackageExporter(str(path)) as exporter:
        exporter.intern("plainzoo.**")
        exporter.extern(["torch.**", "math", "operator", "functools", "collections", "logging",
                         "enum", "dataclasses", "typing", "numpy", "not_installed_anywhere",
                         "**"])
        exporter.save_pickle("model", "model.pkl", module)
    if "--stored" in sys.argv:
        shrink(path)
    for index, given in enumerate(sets):
        with torch.no_grad():
            result = module(*[a.clone() if torch.is_tensor(a) else a for a in given])
        write_set(folder / f"test_data_set_{index}", given, result)
    case = {"name": name, "load": {"package": "model", "resource": "model.pkl"},
            "tolerance": {"rtol": 1e-4, "atol": 1e-5}, **more}
    (folder / "case.json").write_text(json.dumps(case))


def main():
    out = pathlib.Path(sys.argv[1])
    for name, (sets, more) in CASES.items():
        kind = "refused" if name in REFUSED else "closed" if name in CLOSED else "all"
        write_case(out / "plain" / kind / name, name, sets, more)


main()
