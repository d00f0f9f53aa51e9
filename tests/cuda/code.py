"""Kernels as NVRTC and ptxas make them: every level, no stack, wide loads in bags, fragments in products.

    code.py INGOT [MODEL…]

Without models: those of the tree for the oldest and the newest level; with INGOT_FULL=1 also those of
INGOT_CASES (../shared), for all levels.  What a machine instruction is like is read where nvdisasm is there
(pip install nvidia-cuda-nvdisasm).  Exits with 77 where there is no NVRTC.

SPDX-License-Identifier: Apache-2.0
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEVELS = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]
NOT_THERE = ("has no kernel yet", "cannot be compiled yet", "on a GPU", "no CUDA text", "CUDA C++ has no",
             "no such file")  # weights beside a model that were not made
BAGS = """module @m {
  weight @t : f32[100, 64] = splat(0.5)
  graph @main(%i: i64[N], %o: i64[B]) -> (f32[B, 64] "y") {
    %0 = bag @t, %i, %o {operands = [1], pool = [sum], negative = error} : f32[B, 64]
    ret %0
  }
}
"""
FOREST = """module @m {
  weight @t : f32[6] = [0.5, -0.25, 0, 0, 0, 0]
  weight @n : i64[6] = [8589934592, 17179869185, 0, 0, 0, 0]
  weight @s : i64[2, 2] = [1, 0, 1, 2]
  weight @l : i32[6] = [0, 0, 0, 1, 2, 3]
  weight @w : f32[4, 1] = [1, 2, 4, 0.5]
  graph @main(%x: f32[B, 2]) -> (f32[B, 3] "y") {
    %0 = forest %x, @t, @n, @s, @l, @w {targets = 3} : f32[B, 3]
    ret %0
  }
}
"""
PRODUCT = """module @m {
  weight @w : %s[200, 96] = splat(0.5)
  graph @main(%%x: f32[B, 200]) -> (f32[B, 96] "y") {
    %%0 = cast %%x {to = %s}
    %%1 = cast %%0 {to = f32}
    %%2 = cast @w {to = f32}
    %%3 = matmul %%1, %%2
    %%4 = tanh %%3
    ret %%4
  }
}
"""
MIN_ROWS = 8  # of a table, under way before the first is used


def load_predict():
    loader = importlib.machinery.SourceFileLoader("gpu_predict", str(ROOT / "scripts/gpu-predict"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_predict", loader))
    loader.exec_module(module)
    return module


PREDICT = load_predict()


def has_nvdisasm():
    try:
        return bool(PREDICT.find_nvdisasm())
    except SystemExit:
        return False


def compile_model(ingot, model, level, path, *options):
    """None, or why not."""
    environment = {k: v for k, v in os.environ.items() if k not in ("INGOT_CUDA_DIR", "LD_LIBRARY_PATH")}
    run = subprocess.run([ingot, "compile", str(model), "--target", f"cuda:{level}", "--emit", "cubin", "-o", path,
                          *options],
                         capture_output=True, text=True, env=environment)
    return run.stderr.strip() if run.returncode else None


def is_wide(code):
    return code.startswith("LDG") and ".128" in code


def check_bag(instructions, labels):
    """A loop reads rows by 16 bytes, and MIN_ROWS of them before it uses one.  Bags of one id have no
    such loop."""
    if sum(is_wide(code) for code, _ in instructions) < MIN_ROWS:
        return []
    bodies = [instructions[a:b + 1] for a, b in PREDICT.find_loops(instructions, labels)]
    wide = [[i for i in body if is_wide(i[0]) or not PREDICT.is_global_load(i[0])] for body in bodies]
    rows = max((PREDICT.count_in_flight(body)[0] for body in wide), default=0)
    return [] if rows >= MIN_ROWS else [f"{rows} rows of 16 bytes under way"]


def check_kernel(name, instructions, labels, level):
    body, _ = PREDICT.find_hottest(instructions, labels)
    wrong = []
    if PREDICT.describe(instructions)["local"]:
        wrong.append("local memory")
    if PREDICT.describe(body)["generic_loads"]:
        wrong.append("generic loads in its hottest loop")
    if name.split("_")[0] == "bag" and level in ("sm_80", "sm_90a"):
        wrong += check_bag(instructions, labels)
    return wrong


def check_cubin(path, level, has_listing):
    """Number of kernels, and what is wrong with them."""
    facts, listing = PREDICT.read_cubin(path) if has_listing else (PREDICT.read_facts(path), {})
    wrong = [f"{name}: {of['stack']} bytes of stack" for name, of in facts.items() if of["stack"]]
    for name, (instructions, labels) in listing.items():
        wrong += [f"{name}: {what}" for what in check_kernel(name, instructions, labels, level)]
    return len(facts), wrong


def check_products(ingot, folder):
    """Products of two narrow factors, and of f32 that may be tf32, are multiplied as fragments."""
    wrong = []
    for dtype in ("bf16", "f16", "f32"):
        model, path = os.path.join(folder, "product.ig"), os.path.join(folder, "product.cubin")
        pathlib.Path(model).write_text(PRODUCT % (dtype, dtype))
        for level in ("sm_80", "sm_90a"):
            why = compile_model(ingot, model, level, path, "--precision", "tf32")
            codes = [code for name, (instructions, _) in PREDICT.read_cubin(path)[1].items()
                     if name.startswith("gemm") for code, _ in instructions] if not why else []
            if not any(code.startswith("HMMA") for code in codes):
                wrong.append(f"a product of {dtype} for {level} is not of HMMA {why or ''}")
    return wrong


def find_models(folder):
    models = [pathlib.Path(folder) / name for name in ("bags.ig", "forest.ig")]
    for model, text in zip(models, (BAGS, FOREST)):
        model.write_text(text)
    models += sorted((ROOT / "tests/models").glob("*.ig"))
    if os.environ.get("INGOT_FULL") == "1":
        cases = pathlib.Path(os.environ.get("INGOT_CASES", ROOT / "../shared")) / "models"
        models += sorted(cases.glob("onnx/*/model.onnx")) + sorted(cases.glob("torchrec/*/*.pt2"))
    return models


def main():
    ingot = sys.argv[1]
    levels = LEVELS if os.environ.get("INGOT_FULL") == "1" or sys.argv[2:] else [LEVELS[0], "sm_90a", LEVELS[-1]]
    has_listing, kernels, failed = has_nvdisasm(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for model in [pathlib.Path(m) for m in sys.argv[2:]] or find_models(folder):
            for level in levels:
                path = os.path.join(folder, "k.cubin")
                why = compile_model(ingot, model, level, path)
                if why and "NVRTC, which compiles" in why:
                    print("there is no NVRTC")
                    return 77
                if why and any(words in why for words in NOT_THERE):
                    continue  # said in words
                count, wrong = (0, [why]) if why else check_cubin(path, level, has_listing)
                kernels += count
                failed += len(wrong)
                for what in wrong:
                    print(f"{model.parent.name}/{model.name} for {level}: {what}")
        for what in check_products(ingot, folder) if has_listing else []:
            print(what)
            failed += 1
    print(f"{kernels} kernels, {failed} faults{'' if has_listing else ' (no nvdisasm)'}")
    return failed > 0 or kernels == 0


sys.exit(main())
