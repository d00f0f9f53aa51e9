"""scripts/gpu-predict on a listing that was written by hand, and its formula.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Four rows under way by 16 bytes, then used; a lock that is waited for; a loop of products.
LISTING = """
.text.bag:
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_0:
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.128 R8, desc[UR4][R2.64+0x10] ;
        /*0030*/                   LDG.E.128.CONSTANT R12, desc[UR4][R2.64+0x20] ;
        /*0040*/                   LDG.E.128 R16, desc[UR4][R2.64+0x30] ;
        /*0050*/                   FADD R20, R20, R4 ;
        /*0060*/                   FADD R21, R21, R19 ;
.L_x_1:
        /*0070*/                   ATOMG.E.CAS.STRONG.GPU PT, R22, [R24], R26, R27 ;
        /*0080*/              @P1 BRA `(.L_x_1) ;
        /*0090*/              @P0 BRA `(.L_x_0) ;
        /*00a0*/                   STG.E desc[UR4][R2.64], R20 ;
        /*00b0*/                   EXIT ;
.L_x_2:
        /*00c0*/                   BRA `(.L_x_2);
.text.one_by_one:
.L_x_3:
        /*0000*/                   LD.E R4, [R2.64] ;
        /*0010*/                   FFMA R5, R4, R6, R5 ;
        /*0020*/                   LD.E R4, [R2.64+0x4] ;
        /*0030*/                   FFMA R5, R4, R6, R5 ;
        /*0040*/                   STL [R1], R5 ;
        /*0050*/              @P0 BRA `(.L_x_3) ;
.text.product:
        /*0000*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;
        /*0010*/                   HMMA.1688.F32.TF32 R4, R8, R12, R4 ;
        /*0020*/                   LDS.128 R8, [R20] ;
"""


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "scripts/gpu-predict", *arguments],
                          capture_output=True, text=True, check=False)


def read_kernels():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "listing")
        pathlib.Path(path).write_text(LISTING, encoding="utf-8")
        said = run("--listing", path, "--registers", "32", "--json")
    assert said.returncode == 0, said.stderr
    return {k["kernel"]: k for k in json.loads(said.stdout)["kernels"]}


def main():
    kernels = read_kernels()
    bag, slow, product = kernels["bag"], kernels["one_by_one"], kernels["product"]
    checks = [
        ("loads of the outer loop", bag["loop"]["loads"] == {"LDG 128": 4}),
        ("four under way", bag["loop"]["in_flight"] == 4),
        ("64 bytes a thread", bag["loop"]["in_flight_bytes"] == 64),
        ("memory is the limit", bag["limit"] == "memory"),
        ("at the card's bandwidth", abs(bag["bytes_per_s"] / 4.3e12 - 1) < 0.01),
        ("all threads of 32 registers are held", bag["warps"] == 64),
        ("generic loads are counted", slow["loop"]["generic_loads"] == 2),
        ("one under way", slow["loop"]["in_flight"] == 1),
        ("latency is the limit", slow["limit"] == "latency"),
        ("local memory is seen", slow["local"] == 1),
        ("products", product["loop"]["mma"] == 2 * 16 * 8 * 16 + 2 * 16 * 8 * 8),
        ("no loop", not product["is_loop"] and product["loop"]["shared_bytes"] == 16),
        ("published figures are near", run("--check").returncode == 0),
        ("without nvdisasm there are words",
         run("/no/such.cubin").returncode != 0),
    ]
    for name, is_good in checks:
        if not is_good:
            print(f"failed: gpu-predict: {name}")
    good = sum(ok for _, ok in checks)
    print(f"{good} passed, {len(checks) - good} failed, 0 skipped")
    sys.exit(good != len(checks))


main()
