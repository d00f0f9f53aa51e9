#!/usr/bin/env bash
# The node cases of an installed onnx, which may be newer than the stored data, in all forms.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/conform/newest.sh
#
# tests/conform/newest.txt names the cases that do not pass, and why; any other must.
#
#   PYTHON        an interpreter with onnx (python3)
#   INGOT_BUILD   the build folder under test (build/release)
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
ingot=${INGOT_BUILD:-build/release}/ingot
failed=0
skipped=0
passed=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache
version=$("${PYTHON:-python3}" tests/conform/write_cases.py "$folder/cases")
case $? in
0) ;;
77)
    echo "skip: ${PYTHON:-python3}: $version"
    skipped=1
    finish
    ;;
*)
    echo "failed: the cases cannot be written"
    failed=1
    finish
    ;;
esac
find "$folder/cases" -mindepth 1 -maxdepth 1 | sort >"$folder/list"
sed -E '/^(#|$)/d; s/ .*//' tests/conform/newest.txt | sort >"$folder/known"

# A crash ends the cases of its process: they are then missing among those that pass.
for form in "interpret static" "cpu static" "cpu dynamic" "cpu constant"; do
    read -r target way <<<"$form"
    xargs -n 100 -P 2 "$ingot" verify --target "$target" --form "$way" \
        <"$folder/list" >"$folder/output" 2>&1
    sed -nE 's/^pass (test_[^ ]*) .*/\1/p' "$folder/output" | sort >"$folder/good"
    count=$(wc -l <"$folder/good")
    echo "onnx $version, $target, $way: $count of $(wc -l <"$folder/list")"
    passed=$((passed + count))
    sed 's|.*/||' "$folder/list" | comm -23 - "$folder/good" >"$folder/bad"
    skipped=$((skipped + $(comm -12 "$folder/bad" "$folder/known" | wc -l)))
    while read -r name; do
        failed=$((failed + 1))
        echo "failed: $name ($target, $way)"
        grep -aE "^FAIL $name:" "$folder/output" | cut -c 1-300
    done < <(comm -23 "$folder/bad" "$folder/known")
done
finish
