#!/usr/bin/env bash
# The tool on a GPU, over the stand-ins of tests/cuda_host: run, verify, bench; predictions.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/cuda/run.sh [SEED]
#
# Of ONNX's backend data, 60 cases that the CPU passes are drawn by the hash of the commit, or
# by SEED; with INGOT_FULL=1 all of them are run, and 1880 must pass.
#
#   INGOT_CASES   folder that holds conformance/onnx-*-backend-data.tar.xz (../shared)
#   INGOT_BUILD   the build folder under test (build/release)
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
build=$(cd "${INGOT_BUILD:-build/release}" && pwd) || exit 1
ingot=$build/ingot
list=tests/conform/expected/cpu-static.txt
seed=${1:-$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)}
passed=0
failed=0
skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

skip() { # skip COUNT WHY
    skipped=$((skipped + $1))
    echo "skip: $1 cases on a GPU: $2"
}

# check NAME COMMAND…
check() {
    local name=$1
    shift
    if "$@" >"$folder/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        tail -n 5 "$folder/said" | cut -c 1-300
    fi
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check "scripts/gpu-predict" python3 tests/cuda/predict.py
if [ ! -x "$ingot" ] || [ ! -e "$build/unit/cuda/libcuda.so.1" ]; then
    skip 60 "$ingot or the stand-ins are not built"
    finish
fi
if ! "${CXX:-c++}" --version >/dev/null 2>&1; then
    skip 60 "no C++ compiler"
    finish
fi
export LD_LIBRARY_PATH=$build/unit/cuda INGOT_CUDA_DIR=$build/unit/cuda
export INGOT_CACHE_DIR=$folder/cache

# ---- what NVRTC itself makes: all levels, no stack, wide loads ----

python3 tests/cuda/code.py "$ingot" >"$folder/said" 2>&1
case $? in
0) passed=$((passed + 1)) ;;
77) skip 1 "there is no NVRTC" ;;
*)
    failed=$((failed + 1))
    echo "failed: kernels as NVRTC makes them"
    tail -n 5 "$folder/said" | cut -c 1-300
    ;;
esac

# ---- a small model, from artifact to results, in several orders of work ----

cat >"$folder/m.ig" <<'END'
module @m {
  weight @t : f32[3, 4] = [1, 2, 3, 4, -1, -2, -3, -4, 0.5, 0.25, 0.125, 8]
  weight @w : f32[4, 2] = [1, 0.5, -1, 2, 0.25, -0.5, 3, 1]
  graph @main(%i: i64[B]) -> (f32[B, 2] "y") {
    %0 = gather @t, %i {axis = 0} : f32[B, 4]
    %1 = matmul %0, @w : f32[B, 2]
    %2 = tanh %1 : f32[B, 2]
    ret %2
  }
}
END
ids="i=[0,1,2,2,0]"
check "an artifact for both" "$ingot" compile "$folder/m.ig" --target cpu,cuda:sm_80,sm_90a+ptx \
    -o "$folder/m.ingot"
"$ingot" run "$folder/m.ingot" --input "$ids" -o "$folder/cpu.npy" >/dev/null 2>&1
for order in 0 1 2 3 4 5; do
    check "a run on a GPU, order $order" env INGOT_STAND_IN_SEED=$order "$ingot" run \
        "$folder/m.ig" --target cuda:sm_90a --input "$ids" -o "$folder/gpu$order.npy"
    check "the bits of each order" cmp "$folder/gpu0.npy" "$folder/gpu$order.npy"
done
check "compiled by the driver" env INGOT_STAND_IN_CAPABILITY=10.0 "$ingot" run "$folder/m.ig" \
    --target cuda:sm_90a+ptx --input "$ids" -o "$folder/ptx.npy"
check "with the same bits" cmp "$folder/gpu0.npy" "$folder/ptx.npy"
check "and those of the CPU, as sums are short" cmp "$folder/cpu.npy" "$folder/gpu0.npy"
refuse() {
    ! "$@"
}
check "code for another GPU is refused" refuse env INGOT_STAND_IN_CAPABILITY=8.0 "$ingot" run \
    "$folder/m.ig" --target cuda:sm_90a --input "$ids"
check "where no GPU is, the tool says so" refuse env INGOT_STAND_IN_DEVICES=0 "$ingot" run \
    "$folder/m.ig" --target cuda:sm_90a --input "$ids"
check "an id out of range is an error" refuse "$ingot" run "$folder/m.ig" \
    --target cuda:sm_90a --input "i=[0,3]"
cat >"$folder/large.ig" <<'END'
module @m {
  weight @t : f32[40000, 10] = splat(0.5)
  weight @u : f32[20000, 10] = splat(2)
  graph @main(%i: i64[B]) -> (f32[B, 10] "y") {
    %0 = gather @t, %i {axis = 0} : f32[B, 10]
    %1 = gather @u, %i {axis = 0} : f32[B, 10]
    %2 = mul %0, %1 : f32[B, 10]
    ret %2
  }
}
END
large=(env INGOT_STAND_IN_MEMORY=2000000 "$ingot" run "$folder/large.ig" --target cuda:sm_90a --input "i=[0,19999]")
check "tables larger than the card are refused" refuse "${large[@]}"
check "and the larger one is in the host's memory on request" "${large[@]}" --device-memory 1
check "bench" env INGOT_STAND_IN_COUNTS="$folder/counts" "$ingot" bench "$folder/m.ig" \
    --target cuda:sm_90a --seconds 0.2
check "bench launches graphs" grep -qE '^graph_launches [1-9]' "$folder/counts"
profiled() {
    "$ingot" profile "$folder/m.ig" --target cuda:sm_90a --seconds 0.2 --json >"$folder/profile.json" &&
        python3 -c 'import json, sys
steps = [s for s in json.load(open(sys.argv[1]))["steps"] if s["kind"] == "launch"]
sys.exit(not steps or any(s["calls"] != 1 or s["seconds"] <= 0 for s in steps))' "$folder/profile.json"
}
check "profile times launches by events" profiled
check "and leaves nothing" grep -q '^left 0' "$folder/counts"

if [ -e "$build/python/ingot/_compiler.abi3.so" ] && [ -x /usr/bin/python3 ]; then
    check "Python reads a GPU's arrays in place" env LD_LIBRARY_PATH="$build/unit/cuda:$build" \
        PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/cuda/arrays.py \
        "$folder/arrays.ig"
else
    skip 1 "the Python packages were not built"
fi

check "scripts/gpu-check builds" env NVDISASM=/no/such INGOT_BUILD="$build" scripts/gpu-check --build \
    "$folder/there" "$folder/m.ig"
check "and checks" python3 "$folder/there/gpu-check" "$folder/there"

# ---- ONNX's backend data ----

data=$(ls "${INGOT_CASES:-../shared}"/conformance/onnx-*-backend-data.tar.xz 2>/dev/null)
if [ -z "$data" ]; then
    skip 60 "INGOT_CASES has no conformance data"
    finish
fi
mkdir "$folder/data"
tar -C "$folder/data" -xf "$data" || { echo "failed: $data"; failed=1; finish; }
find "$folder/data" -mindepth 3 -maxdepth 4 -name model.onnx -printf '%h\n' | sort >"$folder/cases"
count=60
[ "${INGOT_QUICK:-0}" = 0 ] || count=6
[ "${INGOT_FULL:-0}" = 0 ] || count=$(wc -l <"$list")
shuf -n "$count" --random-source=<(yes "$seed") "$list" | sort >"$folder/drawn"
awk -F/ 'NR == FNR { is[$1] = 1; next } $NF in is' "$folder/drawn" "$folder/cases" >"$folder/chosen"

# verify NUMBER: one of two processes' share; one that crashes goes on behind its case.
verify() {
    awk -v rest="$1" 'NR % 2 == rest' "$folder/chosen" >"$folder/left$1"
    while [ -s "$folder/left$1" ]; do
        mapfile -t cases < <(head -n 32 "$folder/left$1")
        "$ingot" verify --target cuda:sm_90a --form static "${cases[@]}" >"$folder/part$1" 2>&1
        status=$?
        done=${#cases[@]}
        grep -aE '^(pass|FAIL|skip) test_' "$folder/part$1"
        if [ $status -gt 1 ]; then
            done=$(($(grep -acE '^(pass|FAIL|skip) test_' "$folder/part$1") + 1))
            echo "FAIL $(basename "${cases[done - 1]}"): run: ended with status $status"
        fi
        sed -i "1,${done}d" "$folder/left$1"
    done
}

verify 0 >"$folder/result0" &
verify 1 >"$folder/result1"
wait
cat "$folder"/result[01] >"$folder/result"
good=$(grep -c '^pass' "$folder/result")
said=$(grep -cE '^FAIL [^:]*: (import|compile): ' "$folder/result")
bad=$(grep -c '^FAIL' "$folder/result")
passed=$((passed + good))
failed=$((failed + bad - said))
grep -aE '^FAIL' "$folder/result" | grep -avE '^FAIL [^:]*: (import|compile): ' | cut -c 1-300
[ "$said" = 0 ] || skip "$said" "not supported on a GPU, and said so"
if [ "${INGOT_FULL:-0}" = 1 ] && [ "$good" -lt 1880 ]; then
    failed=$((failed + 1))
    echo "failed: $good of $(wc -l <"$folder/chosen") cases pass, 1880 must"
fi
echo "drawn with $seed"
finish
