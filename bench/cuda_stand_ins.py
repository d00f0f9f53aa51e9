#!/usr/bin/env python3
"""Stand-ins for the CUDA libraries that PyPI's torch links, so that it loads on a CPU.

SPDX-License-Identifier: Apache-2.0

PyPI's Linux wheel of torch names 3 GB of CUDA packages. A CPU benchmark never calls
them, but the dynamic loader wants each library, symbol and symbol version at start. For
every missing library this script builds one of the same name whose functions all answer
"no device" (100), so torch reports that CUDA is not available and runs on the CPU.

    cuda_stand_ins.py TORCH_LIB_DIR
"""

import collections
import pathlib
import re
import subprocess
import sys

CUDA_LIBRARY = re.compile(r"lib(cu|nccl|nvrtc|nvshmem)\w*\.so\.\d+$")
CUDA_SYMBOL = re.compile(r"^(_*cu|nccl|nvrtc|nvshmem)\w+$")
DEFAULT_LIBRARY = "libcudart.so."
TEXT_FUNCTION = re.compile(r"(Error|Status)(String|Name)|GetLastError$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def library_facts(library):
    """The CUDA libraries that a library needs, and {symbol version: its library}."""
    needed, versions, source = [], {}, ""
    for line in output_of("objdump", "-p", str(library)).splitlines():
        words = line.split()
        if words[:1] == ["NEEDED"] and CUDA_LIBRARY.match(words[1]):
            needed.append(words[1])
        elif words[:2] == ["required", "from"]:
            source = words[2].rstrip(":")
        elif (
            len(words) == 4 and words[0].startswith("0x") and CUDA_LIBRARY.match(source)
        ):
            versions[words[3]] = source
    return needed, versions


def undefined_symbols(library):
    """(symbol, version) of each undefined symbol; version '' where there is none."""
    for line in output_of("nm", "-D", "--undefined-only", str(library)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version


def collect(folder):
    """What each missing library must define: {library: {(symbol, version)}}."""
    wanted = collections.defaultdict(set)
    loose = set()
    for library in sorted(folder.glob("*.so")):
        needed, versions = library_facts(library)
        for name in needed:
            wanted[name] |= set()
        for symbol, version in undefined_symbols(library):
            if version in versions:
                wanted[versions[version]].add((symbol, version))
            elif not version and CUDA_SYMBOL.match(symbol):
                loose.add((symbol, ""))
    for name in wanted:
        if name.startswith(DEFAULT_LIBRARY):
            wanted[name] |= loose
    return wanted


def stand_in_source(symbols):
    lines = []
    for symbol, _ in sorted(symbols):
        if TEXT_FUNCTION.search(symbol) and "Last" not in symbol:
            lines.append(f'const char *{symbol}(void) {{ return "no CUDA here"; }}')
        else:
            lines.append(f"long {symbol}(void) {{ return 100; }}")
    return "\n".join(lines) + "\n"


def version_script(symbols):
    lines = []
    for version in sorted({version for _, version in symbols if version}):
        names = "; ".join(sorted(symbol for symbol, v in symbols if v == version))
        lines.append(f"{version} {{ {names}; }};\n")
    return "".join(lines)


def build(folder, name, symbols):
    source = folder / (name + ".stand-in.c")
    versions = folder / (name + ".stand-in.map")
    source.write_text(stand_in_source(symbols))
    versions.write_text(version_script(symbols))
    script = [f"-Wl,--version-script={versions}"] if versions.stat().st_size else []
    subprocess.run(
        [
            "gcc",
            "-w",
            "-shared",
            "-fPIC",
            "-fno-builtin",
            "-o",
            str(folder / name),
            f"-Wl,-soname,{name}",
            str(source),
        ]
        + script,
        check=True,
    )
    source.unlink()
    versions.unlink()


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, symbols in sorted(collect(folder).items()):
        build(folder, name, symbols)
        print(f"{name}: {len(symbols)} functions")


if __name__ == "__main__":
    main()
