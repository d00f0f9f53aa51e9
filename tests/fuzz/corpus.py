#!/usr/bin/env python3
"""The inputs of fuzzers, packed: tests/fuzz/corpus/TARGET.tar, one archive a target.

    corpus.py list [TARGET]            names and sizes; without a target how many each has
    corpus.py add TARGET FILE…         puts files in, under their base names, or replaces them
    corpus.py remove TARGET NAME…      takes inputs out
    corpus.py extract TARGET FOLDER    writes all inputs of a target into a folder

An archive is a plain ustar file whose members are sorted by name and have no date and no
owner, so that the same inputs give the same bytes on every machine.

SPDX-License-Identifier: Apache-2.0
"""
import io
import pathlib
import sys
import tarfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
MAX_NAME_BYTES = 99  # a longer one does not fit into a field of ustar's header


def read_inputs(target):
    """{name: bytes} of a target's archive; nothing where it has none."""
    path = CORPUS / f"{target}.tar"
    if not path.is_file():
        return {}
    with tarfile.open(path, "r:") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def write_inputs(target, inputs):
    """Makes a target's archive anew of {name: bytes}."""
    CORPUS.mkdir(exist_ok=True)
    with tarfile.open(CORPUS / f"{target}.tar", "w:", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(inputs):
            if not 0 < len(name.encode()) <= MAX_NAME_BYTES or "/" in name:
                sys.exit(f"corpus.py: {name} cannot be the name of an input")
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            archive.addfile(member, io.BytesIO(inputs[name]))


def list_targets():
    return sorted(path.stem for path in CORPUS.glob("*.tar"))


def extract(target, folder):
    """Writes a target's inputs into `folder`, and removes what else lies there."""
    inputs = read_inputs(target)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in inputs:
            path.unlink()
    for name, data in inputs.items():
        (folder / name).write_bytes(data)


def list_inputs(targets):
    if targets:
        for name, data in read_inputs(targets[0]).items():
            print(f"{len(data):8} {name}")
    else:
        counts = {target: len(read_inputs(target)) for target in list_targets()}
        for target, count in counts.items():
            print(f"{count:8} {target}")
        print(f"{sum(counts.values()):8} in all")


def main(arguments):
    verb, target, rest = arguments[:1], arguments[1:2], arguments[2:]
    inputs = read_inputs(*target) if target else {}
    if verb == ["list"] and not rest:
        list_inputs(target)
    elif verb == ["add"] and rest:
        inputs.update((pathlib.Path(file).name, pathlib.Path(file).read_bytes())
                      for file in rest)
        write_inputs(*target, inputs)
    elif verb == ["remove"] and rest and inputs.keys() >= set(rest):
        write_inputs(*target, {n: data for n, data in inputs.items() if n not in rest})
    elif verb == ["extract"] and len(rest) == 1 and inputs:
        extract(*target, pathlib.Path(rest[0]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
