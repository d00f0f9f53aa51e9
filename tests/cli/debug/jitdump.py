"""Reads a jitdump file as Linux's jitdump-specification.txt has it, and judges it.

    jitdump.py [--names] FOLDER ARTIFACT KERNEL…

FOLDER holds one jit-PID.dump.  Each kernel must be in it by name, with code that is in the
artifact, and (without --names) with lines of a text that is there.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import struct
import sys
import zipfile

CODE_LOAD, CODE_DEBUG_INFO = 0, 2


def text_at(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def read_lines(data, at):
    """{address: [(address, line, file)]} of a JIT_CODE_DEBUG_INFO record."""
    address, count = struct.unpack_from("<QQ", data, at)
    at += 16
    lines = []
    for _ in range(count):
        where, line, discriminator = struct.unpack_from("<QII", data, at)
        name, at = text_at(data, at + 16)
        lines.append((where, line, name))
        assert discriminator == 0
    return address, lines, at


def read_dump(path):
    """[(name, address, code, lines)]"""
    data = open(path, "rb").read()
    magic, version, size, machine, _, pid, time, flags = struct.unpack_from("<6I2Q", data)
    assert (magic, version, size, machine, flags) == (0x4A695444, 1, 40, 62, 0)
    assert path.endswith(f"jit-{pid}.dump"), path
    at, lines, loads = size, {}, []
    while at < len(data):
        kind, size, when = struct.unpack_from("<IIQ", data, at)
        assert when >= time and at + size <= len(data)
        time = when
        if kind == CODE_DEBUG_INFO:
            address, rows, end = read_lines(data, at + 16)
            lines[address] = rows
            assert end == at + size
        else:
            assert kind == CODE_LOAD, kind
            own, thread, vma, address, length, number = struct.unpack_from("<II4Q", data,
                                                                           at + 16)
            name, begin = text_at(data, at + 56)
            assert own == pid and thread and vma == address and number == len(loads)
            assert begin + length == at + size
            loads.append((name, address, data[begin:at + size], lines.get(address, [])))
        at += size
    return loads


def check_lines(name, address, code, lines):
    assert lines, f"{name} has no lines"
    places = [where for where, _, _ in lines]
    assert places == sorted(places) and places[0] == address, name
    assert places[-1] < address + len(code), name
    text = open(lines[0][2], encoding="utf-8").read().split("\n")
    assert os.path.basename(lines[0][2])[:-3] in text[0], text[0]
    assert len({line for _, line, _ in lines}) > 5, f"{name}: hardly a line is told apart"
    for _, line, file in lines:
        assert file == lines[0][2] and 1 <= line <= len(text) and text[line - 1].strip()


def main(names_only, folder, artifact, *kernels):
    dumps = glob.glob(folder + "/jit-*.dump")
    assert len(dumps) == 1, dumps
    loads = read_dump(dumps[0])
    with zipfile.ZipFile(artifact) as archive:
        image = b"".join(archive.read(n) for n in archive.namelist()
                         if n.startswith("code/"))
    for kernel in kernels:
        found = [load for load in loads if kernel in load[0]]
        assert found, f"no {kernel} among {[load[0] for load in loads]}"
        for name, address, code, lines in found:
            assert len(code) > 32 and code in image, f"{name}: other code"
            if names_only:
                assert not lines
            else:
                check_lines(name, address, code, lines)


if __name__ == "__main__":
    is_short = sys.argv[1] == "--names"
    main(is_short, *sys.argv[1 + is_short:])
