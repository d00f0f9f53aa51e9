#!/usr/bin/env bash
# Tests of ingot serve, over loopback, on ports that the kernel chooses.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/serve/run.sh [front|triton|repository|turns|batch|queues|loads|page|hostile|worker|isolate|secure|stored|shadow|steps|deploy…]     without: all
#
# INGOT_BUILD names the build (build/release).  gRPC is spoken by python3-grpcio; where that
# is absent, its checks are skips.
cd "$(dirname "$0")/../.." || exit
build=$(cd "${INGOT_BUILD:-build/release}" && pwd) || exit 1
if [ ! -x "$build/ingot-serve" ]; then
    echo "skip tests/serve: ingot-serve is not built: libnghttp2-dev or libmicrohttpd-dev is absent"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export INGOT_BUILD=$build INGOT_CACHE_DIR=$tmp/cache TMPDIR=$tmp
export PYTHONPATH=$tmp PYTHONDONTWRITEBYTECODE=1
unset INGOT_DEBUG INGOT_SKIP INGOT_STOP
protoc --proto_path=tools/serve/grpc --python_out="$tmp" oip.proto 2>/dev/null
protoc --proto_path=tools/serve/profile --python_out="$tmp" profile.proto 2>/dev/null
python=$(PATH=/usr/bin:$PATH command -v python3)
passed=0 failed=0 skipped=0
[ $# != 0 ] || set -- front triton repository turns batch queues loads page hostile worker isolate secure stored shadow steps deploy
for part; do
    mkdir -p "$tmp/$part" # models that another part left are none of this one's
    INGOT_SERVE_TMP=$tmp/$part "$python" "tests/serve/$part.py" >"$tmp/out" 2>&1
    status=$?
    grep -a '^skip\|^FAIL\|^    ' "$tmp/out"
    line=$(tail -n 1 "$tmp/out")
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
    else
        echo "FAIL $part ended with status $status:"
        tail -n 20 "$tmp/out"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
