#!/usr/bin/env bash
# The command line as its users meet it: messages, exit statuses, what is left behind.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/cli/run.sh [PART…]        parts: files of this folder without ".sh"
#   tests/cli/run.sh --list         the parts that are run where none is named
#
# Each part is a file of checks; lib.sh says how they are written.  Several parts are several
# runs: none sees a file, a cache or a setting of another.  INGOT_BUILD names the build
# (build/release), INGOT_CASES the folder with further cases.  With INGOT_QUICK=1
# three parts are run where none is named.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

if [ $# = 1 ] && [ "$1" != --list ]; then
    source tests/cli/lib.sh
    source "tests/cli/$1.sh"
    finish
fi

list() {
    if [ "${INGOT_QUICK:-0}" = 1 ]; then
        printf '%s\n' usage artifacts replay
    else
        (cd tests/cli && printf '%s\n' *.sh */*.sh) | sed 's/\.sh$//' | grep -vx 'lib\|run'
    fi
}

if [ "${1:-}" = --list ]; then
    list
    exit
fi
parts=("$@")
[ $# != 0 ] || mapfile -t parts < <(list)
passed=0 failed=0 skipped=0
for part in "${parts[@]}"; do
    counts=
    while IFS= read -r line; do
        [ -z "$counts" ] || echo "$counts"
        counts=$line
    done < <(tests/cli/run.sh "$part")
    if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
    else
        echo "$counts"
        echo "FAIL $part ends without its counts"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
