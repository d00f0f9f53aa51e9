"""Who may include whom, down to the rooms of each folder.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re

from structure.tree import CODE, PRODUCT, blank_out, code_files, find, line_of, read

STATUS = "ingot/status.h"
KERNEL = "ingot/kernel.h"
BASE = ["base/", STATUS]
MODEL = ["compose/", "ir/", *BASE]  # for whoever makes or changes graphs
# Graphs, and what they are made of.
CORE = ["ir/*", "ir/module/", "ir/dim/", "ir/tensor/"]
TORCH = "frontend/torch/"
ONNX = "frontend/onnx/"
PT2 = "frontend/pt2/"
LOWER = "passes/lower/"
# What schedules of all targets share.
SCHEDULES = [LOWER + "*", LOWER + "kernel/", LOWER + "math/", *MODEL]
DRIVER = ["driver/*", "runtime/format.h", "runtime/format_debug.h",
          "runtime/stored_format.h", "runtime/train_format.h", "ingot/", *MODEL]
# What reads an opened program.
RUN = ["runtime/program/program.h", "runtime/plan/plan.h", "runtime/*", "runtime/host/",
       *BASE, "ingot/runtime.h"]
TOOL = "tools/ingot/"
SERVE = "tools/serve/"

# Tables that name what other rooms define: the one place where an arrow may point up.
REGISTRIES = {
    "ir/ops.c": "the hooks of every op",
    "passes/engine/pipelines.c": "the passes",
    "passes/lower/schedules.c": "the schedules of each target",
    "frontend/onnx/ops/rows.c": "the import functions of each ONNX operator",
    "frontend/torch/entry/table.c": "the functions of each torch operator",
}

# folder → what its files may include of ours, by quotes or angle brackets: a prefix of the
# path, or `folder/*` for the files that are directly in the folder.
ARROWS = {
    "include/": ["ingot/"],
    "base/": [*BASE, "ingot/custom.h", "ingot/log.h"],
    "media/": ["media/", *BASE],
    "ir/": [*CORE, *BASE],
    "ir/module/": ["ir/module/", *BASE],
    "ir/dim/": ["ir/dim/", "ir/module/", *BASE],
    "ir/tensor/": ["ir/tensor/", *BASE],
    "ir/text/": [*CORE, "ir/text/", *BASE],
    "ir/semantics/": [*CORE, "ir/semantics/", "ir/text/", *BASE],
    "ir/infer/": [*CORE, "ir/infer/", "ir/semantics/", "ir/text/", "media/image.h", *BASE],
    "ir/fold/": [*CORE, "ir/fold/", "ir/infer/", "ir/semantics/", "media/image.h", *BASE],
    "ir/interpret/": [*CORE, "ir/interpret/", "ir/fold/", "ir/infer/", "ir/semantics/",
                      "ir/text/", *BASE],
    "ir/verify/": [*CORE, "ir/verify/", "ir/semantics/", "ir/text/", *BASE],
    "ir/build/": [*CORE, "ir/build/", "ir/verify/", "ir/semantics/", *BASE],
    "ir/parse/": [*CORE, "ir/parse/", "ir/build/", "ir/verify/", "ir/semantics/", "ir/text/",
                  *BASE],
    "compose/": ["compose/", "ir/", *BASE],
    "compose/math/": ["compose/math/", "ir/", *BASE],
    "compose/rows/": ["compose/rows/", "ir/", *BASE],
    "compose/forest/": ["compose/forest/", "ir/", *BASE],
    ONNX + "read/": [ONNX + "read/", "ir/", *BASE],
    ONNX + "import/": [ONNX + "import/", ONNX + "read/", *MODEL],
    ONNX + "edit/": [ONNX + "edit/", ONNX + "read/", "ir/", *BASE],
    ONNX + "ops/": [ONNX + "ops/", ONNX + "import/", ONNX + "read/onnx.pb-c.h", *MODEL],
    PT2: [PT2, TORCH + "entry/torchscript.h", TORCH + "python/", TORCH + "eval/",
          TORCH + "language/", TORCH + "pickle/", TORCH + "archive/", *MODEL],
    TORCH + "archive/": [TORCH + "archive/", *BASE],
    TORCH + "checkpoint/": [TORCH + "checkpoint/", TORCH + "pickle/", TORCH + "archive/",
                            "ir/", *BASE],
    TORCH + "pickle/": [TORCH + "pickle/", TORCH + "archive/", "ir/", *BASE],
    TORCH + "language/": [TORCH + "language/", *BASE],
    TORCH + "eval/": [TORCH + "eval/", TORCH + "language/", TORCH + "pickle/", *MODEL],
    TORCH + "builtin/": [TORCH + "builtin/", TORCH + "eval/", TORCH + "language/", *MODEL],
    TORCH + "container/": [TORCH + "container/", TORCH + "builtin/", TORCH + "eval/",
                           TORCH + "language/", *MODEL],
    TORCH + "aten/": [TORCH + "aten/", TORCH + "eval/", *MODEL],
    TORCH + "fbgemm/": [TORCH + "fbgemm/", TORCH + "aten/", TORCH + "eval/",
                        TORCH + "pickle/", TORCH + "archive/", *MODEL],
    TORCH + "vision/": [TORCH + "vision/", TORCH + "aten/", *MODEL],
    TORCH + "stock/": [TORCH + "stock/", *BASE],
    TORCH + "python/": [TORCH + "python/", TORCH + "container/", TORCH + "eval/",
                        TORCH + "language/", TORCH + "stock/", *MODEL],
    TORCH + "package/": [TORCH + "package/", TORCH + "stock/", TORCH + "eval/program.h",
                         "ir/", *BASE],
    TORCH + "entry/": [TORCH, *MODEL],
    "passes/engine/": ["passes/engine/", "ir/", *BASE],
    "passes/clean/": ["passes/clean/", "passes/engine/", *MODEL],
    "passes/canonical/": ["passes/canonical/", "passes/engine/", *MODEL],
    "passes/bags/": ["passes/bags/", "passes/canonical/", "passes/engine/", *MODEL],
    "passes/recognise/": ["passes/recognise/", "passes/canonical/", "passes/engine/",
                          *MODEL],
    "passes/shard/": ["passes/shard/", "passes/engine/", *MODEL],
    "passes/grad/": ["passes/grad/", "passes/engine/", *MODEL],
    "passes/quantise/": ["passes/quantise/", "passes/engine/", *MODEL],
    "passes/place/": ["passes/place/", "passes/engine/", *MODEL],
    LOWER: ["passes/engine/", *SCHEDULES],
    LOWER + "kernel/": [LOWER + "kernel/", *MODEL],
    LOWER + "math/": [LOWER + "math/", LOWER + "kernel/", *MODEL],
    LOWER + "bag/": [LOWER + "bag/", *SCHEDULES],
    LOWER + "serial/": [LOWER + "serial/", *SCHEDULES],
    LOWER + "cpu/": [LOWER + "cpu/", LOWER + "bag/", LOWER + "serial/", *SCHEDULES],
    LOWER + "gpu/": [LOWER + "gpu/", LOWER + "bag/", LOWER + "serial/", *SCHEDULES],
    "codegen/": ["codegen/backend.h", "ir/", *BASE],
    "codegen/cpu/": ["codegen/cpu/", "codegen/backend.h", "ir/", *BASE, KERNEL,
                     "ingot_build_id.h"],
    "codegen/cuda/": ["codegen/cuda/", "codegen/backend.h", "ir/", *BASE],
    "codegen/null/": ["codegen/null/", "codegen/backend.h", "ir/", *BASE],
    "runtime/": ["runtime/*", "runtime/host/", *BASE, KERNEL,
                 "ingot/log.h", "ingot/runtime.h", "ingot/tree.h", "ingot/dlpack.h",
                 "ingot/store.h"],
    "runtime/plan/": ["runtime/plan/", "runtime/*", *BASE, "ingot/runtime.h", "ingot/tree.h"],
    "runtime/program/": ["runtime/program/", "runtime/plan/", "runtime/plugin/",
                         "runtime/*", "runtime/host/", "runtime/cpu/cpu.h", "runtime/cpu/level.h", *BASE, KERNEL,
                         "ingot/runtime.h"],
    "runtime/session/": ["runtime/session/", *RUN, "runtime/plugin/", KERNEL,
                         "ingot/dlpack.h"],
    "runtime/watch/": ["runtime/watch/", "runtime/session/", *RUN,
                       "runtime/plugin/watch.h", KERNEL],
    "runtime/image/": ["media/image.h", "runtime/host/", "runtime/plugin/", *BASE],
    "runtime/custom/": ["runtime/host/", "runtime/plugin/", *BASE, "ingot/runtime.h"],
    "runtime/text/": ["runtime/text/", "runtime/host/", "runtime/plugin/", *BASE,
                      "ingot/runtime.h"],
    "runtime/store/": ["runtime/store/*", "runtime/format.h", *BASE, "ingot/store.h",
                       "ingot/dynamic.h"],
    "runtime/store/ahead/": ["runtime/store/ahead/", "runtime/store/call.h",
                             "runtime/stored_format.h", *BASE, "ingot/runtime.h",
                             "ingot/lookahead.h", "ingot/dynamic.h"],
    "runtime/train/": ["runtime/train/", "runtime/train_format.h", "runtime/message.h",
                       *BASE, "ingot/trainer.h"],
    "runtime/store/lmdb/": ["runtime/store/lmdb/", "runtime/store/*", *BASE,
                            "ingot/store.h"],
    "runtime/store/redis/": ["runtime/store/redis/", "runtime/store/*", *BASE,
                             "ingot/store.h"],
    "runtime/plugin/": ["runtime/plugin/", "runtime/*", "runtime/host/", *BASE,
                        "ingot/runtime.h"],
    "runtime/capture/": ["runtime/capture/", "runtime/session/session.h", *RUN, KERNEL],
    "runtime/observe/": ["runtime/observe/", *RUN, "runtime/plugin/observe.h", KERNEL],
    "runtime/collective/": ["runtime/collective/", "runtime/host/ranks.h",
                            "runtime/cuda/driver.h", "runtime/message.h", *BASE,
                            "ingot/group.h"],
    "runtime/interp/": ["runtime/interp/*", *BASE, "ingot/interp.h"],
    "runtime/interp/wire/": ["runtime/interp/wire/", "runtime/interp/*", *BASE,
                             "ingot/interp.h"],
    "runtime/interp/process/": ["runtime/interp/process/", "runtime/interp/wire/",
                                "runtime/interp/*", *BASE, "ingot/interp.h"],
    "runtime/interp/child/": ["runtime/interp/wire/", "runtime/interp/*", *BASE,
                              "ingot/interp.h"],
    "runtime/interp/cpython/": ["runtime/interp/cpython/", "runtime/interp/*", *BASE,
                                "ingot/interp.h", "ingot/dlpack.h"],
    "runtime/interp/lua/": ["runtime/interp/lua/", "runtime/interp/*", *BASE,
                            "ingot/interp.h", "ingot/runtime.h"],
    "runtime/host/": ["runtime/host/", *BASE, KERNEL, "ingot/runtime.h"],
    "runtime/tree/": ["runtime/tree/", "runtime/session/session.h", *RUN, "ingot/tree.h"],
    "runtime/cpu/": ["runtime/cpu/", "runtime/device.h", "runtime/message.h",
                     "runtime/host/", *BASE, KERNEL, "ingot/runtime.h"],
    "runtime/cuda/": ["runtime/cuda/", "runtime/session/", *RUN, "runtime/plugin/",
                      KERNEL],
    "runtime/null/": ["runtime/null/", "runtime/device.h", "runtime/message.h", *BASE,
                      KERNEL, "ingot/runtime.h"],
    "driver/": ["codegen/*", "codegen/cuda/cuda.h", "codegen/null/null.h",
                "passes/engine/", "ingot_build_id.h", *DRIVER],
    "driver/import/": ["driver/import/", "driver/values/", "passes/engine/", "passes/grad/",
                       ONNX + "import/onnx.h", PT2 + "pt2.h", TORCH + "entry/torchscript.h",
                       TORCH + "archive/", TORCH + "checkpoint/",
                       "runtime/format.h", *DRIVER],
    "driver/artifact/": ["driver/artifact/", "passes/place/", "passes/shard/divided.h",
                         "runtime/container.h", *DRIVER],
    "driver/checkpoint/": ["driver/checkpoint/", "driver/artifact/", "driver/values/",
                           TORCH + "checkpoint/", TORCH + "pickle/", *DRIVER],
    "driver/cache/": ["driver/cache/", "driver/artifact/", "ingot_build_id.h", *DRIVER],
    "driver/compile/": ["driver/compile/", "driver/artifact/", "driver/cache/",
                        "driver/import/operators.h",
                        "codegen/*", "codegen/null/null.h", "passes/engine/",
                        LOWER + "*", "runtime/",
                        "ingot_build_id.h", *DRIVER],
    "driver/worker/": ["driver/worker/", "driver/compile/", "driver/artifact/",
                       "driver/dump/", "passes/engine/", *DRIVER],
    "driver/defect/": ["driver/defect/", "driver/compile/compile.h", "driver/values/argument.h",
                       ONNX + "edit/edit.h", ONNX + "import/onnx.h",
                       "passes/engine/pass.h", *DRIVER],
    "driver/grad/": ["passes/grad/", "passes/engine/", *DRIVER],
    "driver/dump/": ["driver/dump/", "driver/compile/", "passes/engine/",
                     TORCH + "entry/torchscript.h", TORCH + "package/", PT2 + "json.h",
                     "ingot_build_id.h", *DRIVER],
    "driver/train/": ["passes/grad/", "passes/engine/", "passes/shard/divided.h",
                      "driver/train/", "driver/shard/opened.h", "runtime/container.h",
                      "driver/compile/nested.h", *DRIVER],
    "driver/shard/": ["driver/shard/", "driver/compile/compile.h", "driver/values/weight.h",
                      "driver/artifact/record.h", "passes/shard/mark.h",
                      "passes/shard/divided.h", PT2 + "json.h", *DRIVER],
    "driver/reshard/": ["driver/reshard/", "driver/artifact/", "runtime/container.h",
                        PT2 + "json.h", *DRIVER],
    "driver/quantise/": ["driver/quantise/", "driver/compile/compile.h",
                         "passes/quantise/quantise.h", ONNX + "edit/edit.h",
                         "passes/engine/pass.h", *DRIVER],
    "driver/stored/": ["driver/stored/", "driver/compile/", "driver/values/weight.h",
                       *DRIVER],
    "driver/values/": ["driver/values/", ONNX + "read/onnx_tensor.h", *DRIVER],
    TOOL: [TOOL + "*", TOOL + "cli/", TOOL + "verbs/", "ingot/"],
    "tools/worker/": ["driver/worker/worker.h"],
    TOOL + "cli/": [TOOL + "cli/", "ingot/"],
    TOOL + "model/": [TOOL + "model/", TOOL + "cli/", "ingot/"],
    TOOL + "values/": [TOOL + "values/", TOOL + "model/", TOOL + "cli/", "ingot/"],
    TOOL + "measure/": [TOOL + "measure/", TOOL + "model/", TOOL + "cli/", "ingot/"],
    TOOL + "compare/": [TOOL + "compare/", TOOL + "values/", TOOL + "model/", TOOL + "cli/",
                        "ingot/"],
    TOOL + "train/": [TOOL + "train/", TOOL + "verify/case.h", TOOL + "values/",
                      TOOL + "model/", TOOL + "cli/", "ingot/"],
    TOOL + "quantize/": [TOOL + "quantize/", TOOL + "values/", TOOL + "model/",
                         TOOL + "cli/", "ingot/"],
    TOOL + "reduce/": [TOOL + "reduce/", TOOL + "measure/", TOOL + "cli/", "ingot/"],
    TOOL + "verify/": [TOOL + "verify/", TOOL + "values/", TOOL + "cli/", "ingot/"],
    TOOL + "store/": [TOOL + "store/", TOOL + "measure/", TOOL + "values/", TOOL + "model/",
                      TOOL + "cli/", "ingot/"],
    TOOL + "shard/": [TOOL + "shard/", TOOL + "measure/", TOOL + "values/", TOOL + "model/",
                      TOOL + "cli/", "ingot/"],
    TOOL + "info/": [TOOL + "info/", TOOL + "measure/", TOOL + "values/", TOOL + "model/",
                     TOOL + "cli/", "ingot/"],
    TOOL + "load/": [TOOL + "load/", TOOL + "measure/", TOOL + "cli/", "ingot/"],
    TOOL + "bench/": [TOOL + "bench/", TOOL + "measure/", TOOL + "values/", TOOL + "model/",
                      TOOL + "cli/", "ingot/"],
    TOOL + "verbs/": [TOOL, "ingot/"],
    SERVE: [SERVE + "*", SERVE + "profile/", SERVE + "load/", SERVE + "http/", SERVE + "grpc/", SERVE + "batch/", SERVE + "model/",
            SERVE + "guest/", SERVE + "call/", "ingot/"],
    SERVE + "call/": [SERVE + "call/", "ingot/"],
    SERVE + "guest/": [SERVE + "guest/", "base/confine/", "ingot/"],
    SERVE + "model/": [SERVE + "model/", SERVE + "guest/", SERVE + "call/", "ingot/"],
    SERVE + "batch/": [SERVE + "batch/", SERVE + "model/", SERVE + "call/", "ingot/"],
    SERVE + "http/": [SERVE + "http/", SERVE + "batch/", SERVE + "model/", SERVE + "call/",
                      "ingot/"],
    SERVE + "grpc/": [SERVE + "grpc/", SERVE + "batch/", SERVE + "model/", SERVE + "call/",
                      "ingot/"],
    SERVE + "client/": [SERVE + "client/", SERVE + "grpc/frame.h", SERVE + "model/config.h",
                        SERVE + "call/", "ingot/"],
    SERVE + "load/": [SERVE + "load/", SERVE + "client/", SERVE + "model/config.h",
                      SERVE + "call/"],
    SERVE + "profile/": [SERVE + "profile/", "base/confine/", SERVE + "client/", SERVE + "grpc/", SERVE + "batch/",
                         SERVE + "model/", SERVE + "call/", "ingot/"],
    "tools/igcheck/": ["tools/igcheck/", "ingot/"],
    "tools/igcheck/cases/": ["tools/igcheck/cases/", TOOL + "verify/", TOOL + "values/",
                             TOOL + "model/", TOOL + "cli/", "ingot/"],
    "python/interp/": ["frontend/torch/aten/aten.def"],
    "python/": ["python/", "ingot/"],
    "bench/": ["bench/", "ingot/"],
    "examples/": ["examples/", "ingot/"],
}
LLVM_HOME = "codegen/cpu/"


def may_include(folder, target):
    for rule in ARROWS[folder]:
        if rule.endswith("/*"):
            if os.path.dirname(target) == rule[:-2]:
                return True
        elif target.startswith(rule):
            return True
    return False


def includes_follow_the_arrows(files):
    tree = set(files)
    for name in code_files(files, suffixes=CODE | {".def"}):
        folder = max((f for f in ARROWS if name.startswith(f)), key=len, default=None)
        for index, line in enumerate(read(name).splitlines() if folder else [], 1):
            match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(2)
            is_ours = match.group(1) == '"' or target in tree or f"include/{target}" in tree
            if is_ours and name not in REGISTRIES and not may_include(folder, target):
                find(name, index, f"{folder} may not include {target}")
            if target.startswith("llvm") and not name.startswith(LLVM_HOME):
                find(name, index, f"only {LLVM_HOME} includes LLVM")


def list_pairs(files):
    """Pairs of rooms that ARROWS lets include each other."""
    headers = [n for n in files if n.endswith((".h", ".def"))]
    rooms = {n: max((f for f in ARROWS if n.startswith(f)), key=len, default=None)
             for n in headers}
    allowed = {folder: {rooms[n] for n in headers if rooms[n] not in (None, folder)
                        and may_include(folder, n.removeprefix("include/"))}
               for folder in ARROWS}
    return [(a, b) for a in sorted(allowed) for b in sorted(allowed[a])
            if a < b and a in allowed.get(b, ())]


def arrows_point_one_way(files):
    for pair in list_pairs(files):
        find("scripts/structure/arrows.py", 1,
             "{} and {} may include each other; let one of them know the other".format(*pair))


def declarations_are_in_headers(files):
    """A function of another file is called through its header: an `extern` or a
    prototype of an ig_ function in a .c file would be an arrow that no include shows."""
    declares = re.compile(r"^(?:extern\b[^;={]*;|[ \t]*extern\b[^;={]*;"
                          r"|(?!static\b|typedef\b|return\b)[A-Za-z_][\w \t*]*?"
                          r"\big_\w+\([^;{}]*\)\s*;)", flags=re.M)
    for name in code_files(files, PRODUCT, {".c"}):
        text = blank_out(name)
        for match in declares.finditer(text):
            if match.group().endswith("environ;"):
                continue  # POSIX has no header for it
            find(name, line_of(text, match.start()),
                 "a declaration of another file's symbol; include its header")
