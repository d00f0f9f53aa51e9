#!/usr/bin/env bash
# Tests the golden runner itself: it must fail where a file does not hold.
# SPDX-License-Identifier: Apache-2.0
#
# INGOT_BUILD is the build folder under test.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
igcheck=${INGOT_BUILD:-build/release}/igcheck
if [ ! -x "$igcheck" ]; then
    echo "skip: $igcheck is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# report STATUS NAME: counts one check.
report() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $2"
    fi
}

# check NAME STATUS LAST-LINE ARGUMENT…: runs igcheck on $folder, or on a case in it.
check() {
    local name=$1 status=$2 last=$3 got output
    shift 3
    [[ "$*" == *.ig:* ]] || set -- "$@" "$folder"
    output=$("$igcheck" "$@" 2>&1)
    got=$?
    [ "$got" = "$status" ] && [ "$(tail -n 1 <<<"$output")" = "$last" ]
    report $? "$name: status $got, output
$output"
}

module='module @m {
  graph @g(%x: f32[B]) -> (f32[B]) {
    %0 = relu %x : f32[B]
    ret %0
  }
}'
put() { # put TEXT…: one line an argument
    printf '%s\n' "$@" >"$folder/a.ig"
}

check "an empty folder" 0 "0 passed, 0 failed"
put "# run:" "$module" "# expect:" "$module"
check "what is expected" 0 "1 passed, 0 failed"
put "# run:" "$module" "# expect:" "${module/relu/neg}"
check "another output" 1 "0 passed, 1 failed"
check "blessing it" 0 "1 passed, 0 failed" --bless
check "what was blessed" 0 "1 passed, 0 failed"
put "# run:" "$module"
check "nothing expected" 1 "0 passed, 1 failed"
put "$module" "# expect:" "$module"
check "no run line" 1 "0 passed, 1 failed"
put "# run:" "# expect-error: is not defined" "${module/relu %x/relu %y}"
check "the error expected" 0 "1 passed, 0 failed"
put "# run:" "# expect-error: is not there" "${module/relu %x/relu %y}"
check "another error" 1 "0 passed, 1 failed"
put "# run:" "# expect-error: is not defined" "$module"
check "no error" 1 "0 passed, 1 failed"
put "# run:" "${module/relu %x/relu %y}" "# expect:" "$module"
check "an error not expected" 1 "0 passed, 1 failed"
put "# run:" "${module/relu %x/relu %y}"
check "blessing an error" 0 "1 passed, 0 failed" --bless
check "the blessed error" 0 "1 passed, 0 failed"
put "# ---- one ----" "# run:" "$module" "# expect:" "$module" \
    "# ---- two ----" "# run:" "$module" "# expect:" "${module/relu/neg}"
check "two cases, one with another output" 1 "1 passed, 1 failed"
check "a case by name" 0 "1 passed, 0 failed" "$folder/a.ig:one"
check "a case that is not there" 1 "0 passed, 1 failed" "$folder/a.ig:three"
check "blessing two cases" 0 "2 passed, 0 failed" --bless
check "what was blessed of two" 0 "2 passed, 0 failed"
grep -q '^# ---- two ----$' "$folder/a.ig"
report $? "blessing keeps the headings"
put "# run: nonsense" "$module" "# expect:" "$module"
check "an unknown pass" 1 "0 passed, 1 failed"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
