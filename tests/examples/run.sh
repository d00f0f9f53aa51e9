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
[ $# != 0 ] || names=(two_towers sequences sentences clicks int8 fresh_rows)
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
export PATH=$build:$PATH
root=$PWD passed=0 failed=0 skipped=0
# Why an example cannot run here, or nothing.
lacks() {
    case $1 in
    clicks) command -v cc >/dev/null || echo "there is no cc" ;;
    fresh_rows)
        command -v redis-server >/dev/null || echo "there is no redis-server"
        [ -x "$build/ingot-serve" ] || echo "ingot-serve is not built"
        ;;
    esac
}

for name in "${names[@]}"; do
    why=$(lacks "$name")
    if [ -n "$why" ]; then
        echo "skip $name: $why"
        skipped=$((skipped + 1))
        continue
    fi
    options=(--no-peer)
    if [ "$name" = clicks ]; then
        cc -O2 -Wall -Wextra -Werror -Iinclude examples/server.c -pthread \
            "$build/libingot-runtime.so" -Wl,-rpath,"$build" -o "$folder/server"
        options+=(--server "$folder/server")
    fi
    if (cd "$folder" && "$python" -W ignore "$root/examples/models/$name.py" "${options[@]}") \
        >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 20 "$folder/log"
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
