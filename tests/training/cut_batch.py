"""Batches out of one: FOLDER/0.npz, 1.npz … of a stored DLRM's first batch.

SPDX-License-Identifier: Apache-2.0

    cut_batch.py CASE FOLDER COUNT
"""
import sys

import numpy

case, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
batch = numpy.load(f"{case}/batch0.npz")
size = len(batch["label"]) // count
for i in range(count):
    here = slice(i * size, (i + 1) * size)
    part = {name: batch[name][here] for name in ("dense", "label")}
    for name in (name for name in batch.files if name.startswith("ids_")):
        offsets = batch["offsets_" + name[4:]][i * size:(i + 1) * size + 1]
        part[name] = batch[name][offsets[0]:offsets[-1]]
        part["offsets_" + name[4:]] = offsets - offsets[0]
    numpy.savez(f"{folder}/{i}.npz", **part)
