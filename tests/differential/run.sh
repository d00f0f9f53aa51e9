#!/usr/bin/env bash
# Stored cases that random graphs and programs left, interpreted and compiled.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/differential/run.sh
#
# cases/*.tar.xz hold models with inputs and what ONNX Runtime or torch gave for them;
# neither is needed here.  With INGOT_FULL=1 each case is run with the extents of its data
# and, but for those called fixed_…, with all of them open; else, by turns, one case so and
# the next otherwise.  Cases of mended defects are always run both ways.  INGOT_QUICK=1 takes
# one case in sixteen.
#
#   INGOT_BUILD   the build folder under test (build/release)
#   INGOT_ONLY    a pattern of cases: no others are run
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
ingot=${INGOT_BUILD:-build/release}/ingot
passed=0
failed=0
skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

if [ ! -x "$ingot" ]; then
    skipped=1
    echo "skip: $ingot is not built"
    finish
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache

# verify FORM TARGET CASE…: each case is one test.
verify() {
    local form=$1 target=$2 log=$folder/verify.log
    shift 2
    "$ingot" verify -q --form "$form" --target "$target" "$@" >"$log" 2>&1
    passed=$((passed + $(grep -c '^pass ' "$log")))
    failed=$((failed + $(grep -c '^FAIL ' "$log")))
    grep -A1 '^FAIL ' "$log" | sed "s/^FAIL/FAIL $form $target/"
    if [ "$(grep -c '^pass \|^FAIL ' "$log")" != $# ]; then
        failed=$((failed + 1))
        echo "FAIL $form $target: not all of $# cases were run"
        tail -n 3 "$log"
    fi
}

for archive in tests/differential/cases/*.tar.xz; do
    name=$(basename "$archive" .tar.xz)
    mkdir "$folder/$name"
    if ! tar -C "$folder/$name" -xf "$archive"; then
        failed=$((failed + 1))
        echo "FAIL $archive cannot be unpacked"
        continue
    fi
    mapfile -t cases < <(find "$folder/$name" -mindepth 1 -maxdepth 1 \
        -name "${INGOT_ONLY:-*}" | sort)
    every=2
    case $name in mended* | reported*) every=1 ;; esac
    [ "${INGOT_FULL:-0}" = 0 ] && [ -z "${INGOT_ONLY:-}" ] || every=1
    [ "${INGOT_QUICK:-0}" = 0 ] || every=32
    mapfile -t chosen < <(printf '%s\n' "${cases[@]}" |
        awk -v every=$every '/./ && (NR % every == 0 || (/\/fixed_[^\/]*$/ && every == 2))')
    [ ${#chosen[@]} = 0 ] || verify static interpret "${chosen[@]}"
    [ ${#chosen[@]} = 0 ] || verify static cpu "${chosen[@]}"
    mapfile -t chosen < <(printf '%s\n' "${cases[@]}" | grep -v '/fixed_[^/]*$' |
        awk -v every=$every '/./ && NR % every == (every > 1)')
    [ ${#chosen[@]} = 0 ] || verify dynamic interpret "${chosen[@]}"
    [ ${#chosen[@]} = 0 ] || verify dynamic cpu "${chosen[@]}"
done
finish
