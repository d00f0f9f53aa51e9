"""What machine the figures are from.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import platform
import re

LEVELS = (
    ("v4-amx", {"avx512f", "avx512bw", "avx512vl", "avx512_vnni", "amx_tile", "amx_int8"}),
    ("v4-vnni", {"avx512f", "avx512bw", "avx512vl", "avx512_vnni"}),
    ("v4", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}),
    ("v3", {"avx2", "fma", "f16c"}),
    ("v2", {"sse4_2"}),
)
CACHE = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
UNITS = {"K": 1 << 10, "M": 1 << 20}


def cpu_fields():
    """The first processor's fields of /proc/cpuinfo."""
    text = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def isa_class(flags):
    return next((name for name, needs in LEVELS if needs <= flags), "v1")


def cache_sizes():
    """{"L1d": bytes, ...} of the first core."""
    sizes = {}
    for index in sorted(CACHE.glob("index*")):
        level = (index / "level").read_text().strip()
        kind = (index / "type").read_text().strip()
        number, unit = re.match(r"(\d+)([KM])", (index / "size").read_text()).groups()
        if kind != "Instruction":
            sizes["L" + level] = int(number) * UNITS[unit]
    return sizes


def huge_page_mode():
    if not HUGE_PAGES.exists():
        return "none"
    return re.search(r"\[(\w+)\]", HUGE_PAGES.read_text()).group(1)


def machine_facts():
    fields, caches = cpu_fields(), cache_sizes()
    return {
        "cpu": fields.get("model name", "unknown"),
        "family": fields.get("cpu family", ""),
        "model": fields.get("model", ""),
        "isa_class": isa_class(set(fields.get("flags", "").split())),
        "cores": len(os.sched_getaffinity(0)),
        "caches": caches,
        "last_level_cache": max(caches.values(), default=32 << 20),
        "transparent_huge_pages": huge_page_mode(),
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }
