"""Cases as `ingot verify` reads them, and archives of cases.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import lzma
import pathlib
import tarfile

import numpy as np
from onnx import numpy_helper


def write_tensor(path, array):
    tensor = numpy_helper.from_array(np.asarray(array))
    path.write_bytes(tensor.SerializeToString())


def write_case(folder, model, sets, tolerance=None):
    """`sets`: of each the arrays in, and the arrays out, in the model's order."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    if tolerance is not None:
        case = {"name": folder.name, "model": "model.onnx",
                "tolerance": dict(zip(("rtol", "atol"), tolerance))}
        (folder / "case.json").write_text(json.dumps(case))
    for index, (inputs, outputs) in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for position, array in enumerate(arrays):
                write_tensor(data / f"{kind}_{position}.pb", array)


def pack(folder, archive):
    """The same bytes for the same cases: names in order, no times, no owners."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        # Files of one kind side by side are alike, and become smaller.
        files = sorted((p for p in pathlib.Path(folder).rglob("*") if p.is_file()),
                       key=lambda p: (p.suffix, p.name, str(p)))
        for path in files:
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size, entry.mode = path.stat().st_size, 0o644
            with open(path, "rb") as file:
                tar.addfile(entry, file)
    packed = lzma.compress(whole.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    pathlib.Path(archive).write_bytes(packed)
    return len(packed)
