#!/usr/bin/env bash
# The Python packages, with numpy; with torch where INGOT_PEERS or PYTHON has it.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/python/run.sh [TEST…]      names as unittest takes them: test_calls.Calls
#
#   INGOT_QUICK   1: test_calls alone where none is named
#   INGOT_BUILD   the build folder under test (build/release)
#   PYTHON        the interpreter (that of INGOT_PEERS, else python3)
set -uo pipefail
cd "$(dirname "$0")" || exit
build=${INGOT_BUILD:-$PWD/../../build/release}
python=
for one in ${PYTHON:-} ${INGOT_PEERS:+"$INGOT_PEERS/bin/python"} python3 /usr/bin/python3; do
    "$one" -c "import numpy" 2>/dev/null && python=$one && break
done
if [ -z "$python" ]; then
    echo "skip: no python3 with numpy"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ ! -e "$build/python/ingot/_compiler.abi3.so" ]; then
    echo "skip: the Python packages were not built (python3-dev)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export INGOT_CACHE_DIR=$folder PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1

# Extensions with sanitizers want them before all else; CPython itself leaks a little.
extension=$build/python/ingot/_compiler.abi3.so
preload=$(ldd "$extension" | sed -nE 's/.*(lib[atu][bs]*san[^ ]*) => ([^ ]+) .*/\2/p' | tr '\n' ' ')
if [ -n "$preload" ]; then
    export LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0
fi
if [ $# = 0 ] && [ "${INGOT_QUICK:-0}" = 1 ]; then
    set -- test_calls
fi
"$python" runner.py "$@"
