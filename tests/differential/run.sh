#!/usr/bin/env bash
# Stored cases that random graphs and programs left, interpreted and compiled.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/differential/run.sh
#
# cases/*.tar.xz hold models with inputs and what ONNX Runtime or torch gave for them;
# neither is needed here.  Each case is run with the extents of its data and, but for those
# called fixed_…, with all of them open.
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
    [ ${#cases[@]} -gt 0 ] || continue
    verify static interpret "${cases[@]}"
    verify static cpu "${cases[@]}"
    mapfile -t cases < <(printf '%s\n' "${cases[@]}" | grep -v '/fixed_[^/]*$')
    [ ${#cases[@]} -gt 0 ] || continue
    verify dynamic interpret "${cases[@]}"
    verify dynamic cpu "${cases[@]}"
done
finish
