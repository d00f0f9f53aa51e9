#!/usr/bin/env bash
# The tool on processors that this machine may not be: qemu-user runs it as one that has no more
# than a level of x86-64, and the runtime as aarch64.  SPDX-License-Identifier: Apache-2.0
#
#   tests/levels/run.sh
#
# What is run natively takes levels away by asking for a lower one; here the instructions
# are gone, for the tool, the libraries and what they compile alike.  qemu 7.2 knows no AVX-512, so
# a server of that kind shows what a machine does that has a part of a level.
#
#   INGOT_QUICK        1: one processor alone
#   INGOT_BUILD        the build folder under test (build/release)
#   INGOT_ARM64_ROOT   a folder with Debian's packages for arm64 (build/arm64-root), for unit tests and Python:
#                      mmdebstrap --variant=extract --architectures=arm64 bookworm build/arm64-root \
#                          --include=check,libsubunit-dev,python3.11,libpython3.11-dev
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
source tests/cli/lib.sh

emulator=$(command -v qemu-x86_64)
if [ -z "$emulator" ]; then
    skip "other processors" "there is no qemu-x86_64 (Debian's qemu-user)"
    finish
fi
if [ "$(uname -m)" != x86_64 ] || is_sanitized; then
    skip "other processors" "sanitizers and foreign machines have no emulator here"
    finish
fi

# on CPU COMMAND…: the tool as that processor; what the emulator lacks of it is not told.
on() {
    local cpu=$1 status
    shift
    "$emulator" -cpu "$cpu" "$ingot" "$@" 2>"$tmp/errors"
    status=$?
    grep -v "TCG doesn't support" "$tmp/errors" >&2
    return $status
}

"$ingot" compile "$tmp/dlrm.onnx" -q -t cpu:v2,v3,v4 -o "$tmp/levels.ingot"
"$ingot" compile "$tmp/dlrm.onnx" -q -t cpu:v3 -o "$tmp/v3.ingot"
"$ingot" run "$tmp/dlrm.onnx" -q -t interpret --inputs "$tmp/in" -o "$tmp/scores"
tar -C "$tmp" -xf tests/models/exported.tar.xz

# is_right CPU MODEL: it gives the scores that the interpreter gives here.
is_right() {
    on "$1" verify "$2" --no-cache -i "$tmp/in" --expected "$tmp/scores"
}

# lives CPU LEVEL CASE…: README's commands and these stored cases on a processor of the level.
lives() {
    local cpu=$1 level=$2
    shift 2
    check "$cpu: the level" 0 "this machine: level $level," on "$cpu" info
    check "$cpu: compiles for itself" 0 ": $level, 8 launches" \
        on "$cpu" compile "$tmp/dlrm.onnx" --no-cache -o "$tmp/own.ingot"
    check "$cpu: runs it" 0 "score: f32[8, 1]" on "$cpu" run "$tmp/own.ingot" --inputs "$tmp/in"
    check "$cpu: its scores" 0 "1 passed" is_right "$cpu" "$tmp/own.ingot"
    check "$cpu: of several levels it takes its own" 0 "1 passed" \
        is_right "$cpu" "$tmp/levels.ingot"
    check "$cpu: measures" 0 "p50" on "$cpu" bench "$tmp/own.ingot" --inputs "$tmp/in" \
        --seconds 0.05
    for case in "$@"; do
        check "$cpu: $case" 0 "1 passed" on "$cpu" verify --no-cache "$tmp/exported/$case"
    done
}

lives Nehalem v2 bag qdq
check "code of a higher level is refused" 4 "has code for v3; this machine runs v2" \
    on Nehalem run "$tmp/v3.ingot" --inputs "$tmp/in"
if [ "${INGOT_QUICK:-0}" = 0 ]; then
    # AVX without AVX2 is no level, and more than v3 is not a level either while a part lacks.
    check "SandyBridge: the level" 0 "this machine: level v2," on SandyBridge info
    lives Haswell v3 halves convolutions
    lives Skylake-Server v3 intmm
    check "a processor below all levels" 4 "no level that programs can use" \
        on core2duo compile "$tmp/relu.ig" -o "$tmp/none.ingot"
    check "runs no code" 4 "this machine runs none that Ingot knows" \
        on core2duo run "$tmp/levels.ingot" --inputs "$tmp/in"
    check "but interprets" 0 "y: f32[1, 4]" \
        on core2duo run "$tmp/relu.ig" -t interpret --input 'x=f32[1,4]=1,2,-3,4'
fi

# aarch64: its code is made here, and run by a runtime that is built for it.
arm=build/aarch64
arm_root=/usr/aarch64-linux-gnu
if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    skip "aarch64" "there is no gcc-aarch64-linux-gnu, or no qemu-user"
    finish
fi
check "the runtime is built for aarch64" 0 "" \
    sh -c "cmake --preset aarch64 >/dev/null && cmake --build $arm >/dev/null"
check "with what runs an artifact" 0 "" aarch64-linux-gnu-gcc -std=c11 -Wall -Wextra -Werror \
    -Iinclude tests/levels/run_artifact.c $arm/libingot-runtime.so -o "$tmp/run_artifact"
runner="qemu-aarch64 -L $arm_root -E LD_LIBRARY_PATH=$PWD/$arm $tmp/run_artifact"
for case in bag encoder qdq convolutions halves intmm windows recurrent while; do
    check "aarch64: $case" 0 "$case: good" \
        "$python" tests/levels/aarch64.py "$ingot" "$runner" "$tmp/exported" $case
done
"$ingot" compile "$tmp/dlrm.onnx" -q -t cpu-arm64 -o "$tmp/arm.ingot"
check "an artifact for aarch64 alone says so here" 4 "no plan for cpu, but 'plan-cpu-arm64'" \
    "$ingot" run "$tmp/arm.ingot" --inputs "$tmp/in"
mkdir "$tmp/nothing"
check "one for x86-64 alone says so there" 1 "no plan for cpu-arm64, but 'plan'" \
    $runner "$tmp/levels.ingot" "$tmp/nothing"
root=$(cd "${INGOT_ARM64_ROOT:-build/arm64-root}" 2>/dev/null && pwd)
libraries=$root/usr/lib/aarch64-linux-gnu
if [ -e "$libraries/libcheck_pic.a" ]; then
    tests=(base_{arena,diag,platform,secret,status,text}
        runtime_{dlpack,parts,prepare,profile,program,run,steps,threads,tree})
    check "the runtime's unit tests are built for aarch64" 0 "" env \
        PKG_CONFIG_LIBDIR="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
        sh -c "cmake --preset aarch64 -B $arm-tests -DINGOT_TESTS=ON >/dev/null &&
            cmake --build $arm-tests --target $(printf 'test_%s ' "${tests[@]}")"
    for name in "${tests[@]}"; do
        check "aarch64: test_$name" 0 " 0 failed" qemu-aarch64 -L $arm_root \
            -E "LD_LIBRARY_PATH=$libraries:$PWD/$arm-tests" "$arm-tests/unit/test_$name"
    done
else
    skip "unit tests on aarch64" "there is no check for arm64 (INGOT_ARM64_ROOT)"
fi

# The wheel of the runtime for aarch64, which scripts/wheels makes.
wheel=$(find build/wheels -name '*runtime*aarch64.whl' 2>/dev/null | head -n 1)
arm_python=$root/usr/bin/python3.11
if [ -n "$root" ] && [ -n "$wheel" ] && [ -x "$arm_python" ]; then
    "$ingot" compile "$tmp/relu.ig" -q -t cpu-arm64 -o "$tmp/small.ingot"
    holds "pip takes the wheel for aarch64" build/wheel-tools/bin/pip install -q --no-deps --no-index \
        --only-binary=:all: --platform manylinux_2_34_aarch64 --target "$tmp/arm" "$wheel"
    cat >"$tmp/small.py" <<'PY'
import array, platform, sys
import ingot_runtime
x = memoryview(array.array("f", [-1, 2, -3, 4])).cast("B").cast("f", [1, 4])
print(platform.machine(), memoryview(ingot_runtime.Program(sys.argv[1])(x)).tolist())
PY
    check "which runs an artifact" 0 "aarch64 [[0.0, 2.0, 0.0, 4.0]]" qemu-aarch64 -L "$root" \
        -E PYTHONPATH="$tmp/arm" "$arm_python" "$tmp/small.py" "$tmp/small.ingot"
else
    skip "the wheel for aarch64" "scripts/wheels has made none, or INGOT_ARM64_ROOT has no python3.11"
fi

check "an object is of one machine" 4 "an object is for one machine, not for cpu:v3 and cpu-arm64:neon" \
    "$ingot" compile "$tmp/relu.ig" -t cpu:v3,cpu-arm64 --emit object -o "$tmp/small.o"
"$ingot" compile "$tmp/relu.ig" -q -t cpu-arm64 --emit object -o "$tmp/small.o"
"$ingot" compile "$tmp/relu.ig" -q -t cpu-arm64 --emit header -o "$tmp/small.h"
check "a program for aarch64 links a model" 0 "" aarch64-linux-gnu-gcc -O1 -Wall -Wextra -Werror \
    -Iinclude -I"$tmp" tests/cli/files/linked.c "$tmp/small.o" $arm/libingot-runtime.so -o "$tmp/one"
check "and runs it" 0 "0 2 0 4" \
    qemu-aarch64 -L $arm_root -E "LD_LIBRARY_PATH=$PWD/$arm" "$tmp/one"
check "so does one that opens a library of it" 0 "arm.so: ELF 64-bit LSB shared object, ARM aarch64" \
    sh -c "CC=aarch64-linux-gnu-gcc '$ingot' compile '$tmp/dlrm.onnx' -q -t cpu-arm64 \
        --emit shared -o '$tmp/arm.so' && file -b '$tmp/arm.so' | sed 's/^/arm.so: /'"
check "its assembly" 0 "fmla" "$ingot" dump "$tmp/dlrm.onnx" --stage asm -t cpu-arm64
mca=$(command -v llvm-mca-19 || command -v llvm-mca)
if [ -n "$mca" ]; then
    check "inner loops take no longer than gcc's" 0 "" "$python" tests/levels/throughput.py "$ingot" "$mca"
else
    skip "inner loops beside gcc's" "there is no llvm-mca"
fi
finish
