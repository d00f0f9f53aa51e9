"""Packages made by hand: how modules are found, what may be imported, damage.

SPDX-License-Identifier: Apache-2.0
"""
import io
import pickle
import sys
import zipfile

from torch.package import PackageImporter


def package(method=zipfile.ZIP_STORED, **files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        for name, text in files.items():
            z.writestr("top/" + name.replace("__DOT__", ".").replace("__", "/"), text)
    return file.getvalue()


def fails(kind, words, function, *args):
    try:
        function(*args)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError("no failure")


files = {
    "a__b__DOT__py": "from . import c\nfrom .c import VALUE\nimport a.d.e as e\nimport json\n"
                     "import a.c\nlocal = a.c.VALUE\nname = __name__",
    "a__c__DOT__py": "VALUE = 7",
    "a__d__e__DOT__py": "from ..c import *",
    "bad__DOT__py": "import os\n",
    "broken__DOT__py": "1 / 0",
    "r__x__DOT__txt": "h\u00e9",
    "r__x__DOT__pkl": pickle.dumps({"a": [1, 2.5]}, 3),
    "__DOT__data__extern_modules": "json\nnumpy._core.multiarray\n",
}
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    importer, other = (PackageImporter(package(method, **files)) for _ in range(2))
    module = PackageImporter(package(method, **files)).import_module("a.b")
    assert module.VALUE == module.local == module.c.VALUE == module.e.VALUE == 7
    assert module.json is sys.modules["json"] and "a" not in sys.modules
    assert module.name.endswith(">.a.b") and importer.id() != other.id()
    assert importer.import_module("a.c") is not other.import_module("a.c")
    assert importer.load_text("r", "x.txt") == "h\u00e9"
    assert importer.load_binary("r", "x.txt") == "h\u00e9".encode()
    assert importer.load_pickle("r", "x.pkl") == {"a": [1, 2.5]}
    fails(ModuleNotFoundError, "'os'", importer.import_module, "bad")
    fails(ZeroDivisionError, "", importer.import_module, "broken")
    fails(ZeroDivisionError, "", importer.import_module, "broken")
    fails(ImportError, "beyond", PackageImporter(package(
        **{"m__DOT__py": "from ..x import y"})).import_module, "m")
    fails(FileNotFoundError, "r/y", importer.load_text, "r", "y")
fails(zipfile.BadZipFile, "", PackageImporter, b"no archive")
fails(ValueError, "empty", PackageImporter, package())
fails(NotImplementedError, "big-endian", PackageImporter, package(byteorder="big"))
whole = package(**files)
for cut in range(0, len(whole), 97):
    fails(zipfile.BadZipFile, "", PackageImporter, whole[:cut])

# Layers whose forward has no text in the compiler's table.
import torch

pool = object.__new__(torch.nn.modules.pooling.AdaptiveAvgPool2d)
high = object.__new__(torch.nn.modules.pooling.AdaptiveMaxPool1d)
wider = object.__new__(torch.nn.modules.upsampling.Upsample)
pool.__dict__.update(output_size=(None, 1))
high.__dict__.update(output_size=2, return_indices=True)
wider.__dict__.update(size=None, scale_factor=2.0, mode="nearest", align_corners=None,
                      recompute_scale_factor=None)
x = torch.tensor([[[[1.0, 3.0], [5.0, -7.0]]]])
assert pool(x).tolist() == [[[[2.0], [-1.0]]]]
values, positions = high(torch.tensor([[[1.0, 9.0, 4.0, 5.0]]]))
assert values.tolist() == [[[9.0, 5.0]]] and positions.tolist() == [[[1, 3]]]
assert wider(torch.tensor([[[1.0, 2.0]]])).tolist() == [[[1.0, 1.0, 2.0, 2.0]]]

assert torch.nn.functional.interpolate(x, size=(2, 4), mode="area").tolist() == [
    [[[1.0, 1.0, 3.0, 3.0], [5.0, 5.0, -7.0, -7.0]]]]
assert torch.nn.functional.mse_loss(x, x + 2, reduction="sum").item() == 16
assert torch.nn.functional.cross_entropy(torch.zeros([1, 1]), torch.tensor([0])).item() == 0
assert torch.nn.functional.unfold(x, 2).tolist() == [[[1.0], [3.0], [5.0], [-7.0]]]
named = torch.nn.ParameterDict({"w": x})
assert list(named) == ["w"] and named["w"].tolist() == x.tolist() and "v" not in named
# What torch pickles for torch.nn.functional.gelu and torch.add.
gelu = pickle.loads(b"ctorch._C._nn\ngelu\n.")
assert gelu(torch.tensor([0.0])).tolist() == [0.0]
assert pickle.loads(b"ctorch._C\n_VariableFunctionsClass\n.").add(x, x).tolist() == (
    x * 2).tolist()
