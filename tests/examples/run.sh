#!/usr/bin/env bash
# The examples that are programs of Python, on the small data that they make, without their peers.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/examples/run.sh [NAME…]    files of examples/models without their ending
#
#   INGOT_PEERS   a virtual environment with torch, without which they are skips
#   INGOT_BUILD   the build folder under test (build/release)
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=$(cd "${INGOT_BUILD:-build/release}" && pwd) || exit 1
names=("$@")
[ $# != 0 ] || names=(two_towers sequences sentences)
python=
for one in ${PYTHON:-} ${INGOT_PEERS:+"$INGOT_PEERS/bin/python"} python3; do
    "$one" -c "import torch" 2>/dev/null && python=$one && break
done
if [ -z "$python" ] || [ ! -e "$build/python/ingot/_compiler.abi3.so" ]; then
    echo "skip: examples of Python: there is no torch (INGOT_PEERS), or no Python package"
    echo "0 passed, 0 failed, ${#names[@]} skipped"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder/cache PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
root=$PWD passed=0 failed=0
for name in "${names[@]}"; do
    if (cd "$folder" && "$python" -W ignore "$root/examples/models/$name.py" --no-peer) \
        >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 20 "$folder/log"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
