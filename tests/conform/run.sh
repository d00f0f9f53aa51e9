#!/usr/bin/env bash
# ONNX's backend data through `ingot verify`, by target and form.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/conform/run.sh [--bless]
#
# tests/conform/expected/TARGET-FORM.txt lists the cases that pass; one of them that does
# not pass is a failure.  The normal run takes a sample of each list, with INGOT_QUICK=1 a
# twentieth of it.  With INGOT_FULL=1
# every case of the data is run, and one that is not listed may only be refused when it is
# imported or compiled: a wrong result, an error while running or a crash is a failure.
# --bless runs all and writes the lists.
#
# The compiled cases are run once more as code that checks what it touches.
#
#   INGOT_CASES   folder that holds conformance/onnx-*-backend-data.tar.xz (../shared)
#   INGOT_BUILD   the build folder under test (build/release)
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
ingot=${INGOT_BUILD:-build/release}/ingot
lists=tests/conform/expected
full=${INGOT_FULL:-0}
bless=0
[ "${1:-}" != --bless ] || bless=1 full=1
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
    [ "$1" = 0 ] || echo "skip: $1 cases: $2"
}

data=$(ls "${INGOT_CASES:-../shared}"/conformance/onnx-*-backend-data.tar.xz 2>/dev/null)
if [ ! -x "$ingot" ]; then
    skip 1 "$ingot is not built"
    finish
fi
if [ -z "$data" ]; then
    skip "$(cat $lists/*.txt | wc -l)" "INGOT_CASES has no conformance data"
    finish
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache
mkdir "$folder/data"
tar -C "$folder/data" -xf "$data" || { echo "failed: $data"; failed=1; finish; }
# What Bernoulli gives and Dropout keeps is random: there is no value to compare with.
# The last two interpolate by a width that is no whole number, against ONNX's text,
# ONNX Runtime and torch (docs/decisions.md).
find "$folder/data" -mindepth 3 -maxdepth 4 -name model.onnx -printf '%h\n' |
    grep -vE '/test_(bernoulli|training_dropout(_default)?(_mask)?$)' |
    grep -v '/test_resize_downsample_scales_\(cubic\|linear\)_align_corners$' | sort >"$folder/cases"

# verify TARGET FORM <CASES >OUTPUT: two processes; one that crashes goes on behind the
# case that it stopped at.
verify() {
    local half
    cat >"$folder/all"
    split -n r/2 "$folder/all" "$folder/half."
    for half in "$folder"/half.*; do
        verify_half "$1" "$2" "$half" >"$half.out" &
    done
    wait
    cat "$folder"/half.*.out
    rm "$folder"/half.*
}

verify_half() {
    local left=$3.left batch=$3.batch status done
    cp "$3" "$left"
    while [ -s "$left" ]; do
        head -n 64 "$left" >"$batch"
        mapfile -t cases <"$batch"
        "$ingot" verify "${options[@]}" --target "$1" --form "$2" "${cases[@]}" \
            >"$batch.out" 2>&1
        status=$?
        grep -aE '^(pass|FAIL|skip) test_' "$batch.out"
        done=$(wc -l <"$batch")
        if [ $status -gt 1 ]; then
            done=$(($(grep -acE '^(pass|FAIL|skip) test_' "$batch.out") + 1))
            echo "crash $(basename "$(sed -n "${done}p" "$batch")"): status $status"
        fi
        sed -i "1,${done}d" "$left"
    done
    rm -f "$left" "$batch" "$batch.out"
}

# fail WHY <NAMES
fail() {
    local name
    while read -r name; do
        failed=$((failed + 1))
        echo "failed: $name: $1"
        grep -aE "^(FAIL|crash) $name:" "$folder/output" | cut -c 1-300
    done
}

# check TARGET FORM EVERY: of the list, one case in EVERY.
check() {
    local list=$lists/$1-$2.txt count
    if [ "$full" = 1 ]; then
        cp "$folder/cases" "$folder/chosen"
    else
        awk -v every="$(($3 * (1 + 19 * ${INGOT_QUICK:-0})))" 'NR % every == 0' "$list" >"$folder/sample"
        awk -F/ 'NR == FNR { is[$1] = 1; next } $NF in is' "$folder/sample" \
            "$folder/cases" >"$folder/chosen"
    fi
    verify "$1" "$2" <"$folder/chosen" >"$folder/output"
    sed -nE 's/^pass (test_[^ ]*) .*/\1/p' "$folder/output" | sort >"$folder/good"
    [ $bless = 0 ] || cp "$folder/good" "$list"
    sed 's|.*/||' "$folder/chosen" | sort >"$folder/names"
    comm -12 "$folder/names" "$list" >"$folder/wanted"
    fail "it is expected to pass with $1, $2" < <(comm -23 "$folder/wanted" "$folder/good")
    passed=$((passed + $(wc -l <"$folder/good")))
    comm -13 "$list" "$folder/good" | sed "s/^/not listed yet, passes with $1, $2: /"
    comm -23 "$folder/names" <(sort -u "$folder/wanted" "$folder/good") >"$folder/others"
    grep -aE '^FAIL [^:]*: (import|compile): ' "$folder/output" |
        grep -avE 'is damaged|defect|internal|claims' | sed -E 's/^FAIL ([^:]*):.*/\1/' |
        sort >"$folder/said"
    fail "it fails otherwise than by not being supported ($1, $2)" \
        < <(comm -23 "$folder/others" "$folder/said")
    skip "$(comm -12 "$folder/others" "$folder/said" | wc -l)" \
        "not supported with $1, $2, and said so"
    count=$(comm -23 <(sort "$list") "$folder/names" | wc -l)
    skip "$count" "outside of this sample ($1, $2)"
}

options=()
check interpret static 5
check cpu static 3
check cpu dynamic 6
check cpu constant 6
options=(--sanitize) # code that checks what it touches: docs/debugging.md
check cpu static 25
finish
