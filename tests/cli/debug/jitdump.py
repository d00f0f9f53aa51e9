"""Reads a jitdump file as Linux's jitdump-specification.txt has it, and judges it.

    jitdump.py [--names] FOLDER ARTIFACT KERNEL…

FOLDER holds one jit-PID.dump.  Each kernel must be in it by name, with code that is in the
artifact, and (without --names) with lines of a text that is there, and with how it unwinds.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import struct
import sys
import zipfile

CODE_LOAD, CODE_DEBUG_INFO, CODE_UNWINDING_INFO = 0, 2, 4


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


def read_functions(data, at, code_size):
    """[(offset in the code, bytes)] of a JIT_CODE_UNWINDING_INFO record."""
    size, header_size, mapped_size = struct.unpack_from("<3Q", data, at)
    assert mapped_size == 0 and header_size <= size
    frames, base = data[at + 24:at + 24 + size], (code_size + 7) // 8 * 8
    header, functions = size - header_size, []
    assert frames[header:header + 4] == b"\1\x1b\3\x3b"
    to_frames, count = struct.unpack_from("<iI", frames, header + 4)
    assert header + 4 + to_frames == 0 and header_size == 12 + 8 * count and count
    for i in range(count):
        function, entry = (v + header for v in
                           struct.unpack_from("<ii", frames, header + 12 + 8 * i))
        length, back, to_function, bytes_ = struct.unpack_from("<IIiI", frames, entry)
        cie = entry + 4 - back
        cie_length, number, version = struct.unpack_from("<IIB", frames, cie)
        assert (number, version, frames[cie + 9:cie + 12]) == (0, 1, b"zR\0")
        assert frames[cie + 15:cie + 17] == b"\1\x1b"  # behind factors, register 16
        assert b"\x0c\x07\x08\x90\x01" in frames[cie + 17:cie + 4 + cie_length]
        assert entry + 8 + to_function == function and frames[entry + 16] == 0
        assert b"\x0d\x06" in frames[entry + 17:entry + 4 + length]  # rbp is the frame's
        functions.append((base + function, bytes_))
    return functions


def read_dump(path):
    """[(name, address, code, lines, functions)]"""
    data = open(path, "rb").read()
    magic, version, size, machine, _, pid, time, flags = struct.unpack_from("<6I2Q", data)
    assert (magic, version, size, machine, flags) == (0x4A695444, 1, 40, 62, 0)
    assert path.endswith(f"jit-{pid}.dump"), path
    at, lines, loads, unwinding = size, {}, [], None
    while at < len(data):
        kind, size, when = struct.unpack_from("<IIQ", data, at)
        assert when >= time and at + size <= len(data)
        time = when
        if kind == CODE_DEBUG_INFO:
            address, rows, end = read_lines(data, at + 16)
            lines[address] = rows
            assert end == at + size
        elif kind == CODE_UNWINDING_INFO:
            assert unwinding is None and size == 40 + struct.unpack_from("<Q", data, at + 16)[0]
            unwinding = at + 16
        else:
            assert kind == CODE_LOAD, kind
            own, thread, vma, address, length, number = struct.unpack_from("<II4Q", data,
                                                                           at + 16)
            name, begin = text_at(data, at + 56)
            assert own == pid and thread and vma == address and number == len(loads)
            assert begin + length == at + size
            functions = read_functions(data, unwinding, length) if unwinding else []
            loads.append((name, address, data[begin:at + size], lines.get(address, []),
                          functions))
            unwinding = None
        at += size
    return loads


def check_lines(name, address, code, lines):
    assert lines, f"{name} has no lines"
    positions = [where for where, _, _ in lines]
    assert positions == sorted(positions) and positions[0] == address, name
    assert positions[-1] < address + len(code), name
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
        for name, address, code, lines, functions in found:
            assert len(code) > 32 and code in image, f"{name}: other code"
            if names_only:
                assert not lines and not functions
            else:
                check_lines(name, address, code, lines)
                assert functions[0][0] == 0 and sum(functions[0]) <= len(code), functions


if __name__ == "__main__":
    is_short = sys.argv[1] == "--names"
    main(is_short, *sys.argv[1 + is_short:])
