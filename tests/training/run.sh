#!/usr/bin/env bash
# Training: gradients, optimizers' steps and learning curves against stored values
# (../shared/models/training), interpreted and compiled.  SPDX-License-Identifier: Apache-2.0
#
#   tests/training/run.sh [PREFIX…]      cases whose names begin so (all)
#
#   INGOT_CASES   folder that holds models/training (../shared)
#   INGOT_BUILD   the build folder under test (build/release)
#   INGOT_QUICK   1: interpreted alone
#   INGOT_FULL    1: learning curves of f32 whole, 500 steps (100); 300 kills (10); torch and
#                 TorchRec load checkpoints, where the python of PATH has them
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
build=${INGOT_BUILD:-build/release}
cases=${INGOT_CASES:-../shared}/models/training
[ $# -gt 0 ] || set -- opt_ grad_ curve_ ckpt_ ranks_
passed=0
failed=0

if [ ! -d "$cases" ]; then
    echo "skip: there are no cases in $cases"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
INGOT_CACHE_DIR=$(mktemp -d)
export INGOT_CACHE_DIR
trap 'rm -rf "$INGOT_CACHE_DIR"' EXIT

# At 0, PRelu has the slope of ONNX's definition, that of the positive side
# (docs/training.md); the case has torch's, that of the negative one.
other='^FAIL grad_prelu_at_0:'

# check TARGET CASE…: adds up what igcheck counts.
check() {
    local target=$1 log
    shift
    log=$("$build/igcheck" cases -q --target "$target" "$@" 2>&1 | grep -v "$other")
    grep '^FAIL ' <<<"$log" | sed "s/^/$target: /"
    passed=$((passed + $(grep -c '^pass ' <<<"$log")))
    failed=$((failed + $(grep -c '^FAIL ' <<<"$log")))
}

# check_wide PREFIX: curves in double precision, all 500 steps within 1e-9 of torch's.
check_wide() {
    local wide case
    wide=$(mktemp -d)
    for case in "$cases/$1"*; do
        /usr/bin/python3 tests/training/wide.py "$build/ingot" "$case" "$wide" >/dev/null 2>&1 ||
            { echo "cpu: $case: no model in double precision"; failed=$((failed + 1)); }
    done
    INGOT_FULL=1 check cpu "$wide"/*
    rm -r "$wide"
}

for prefix in "$@"; do
    # 100 steps of an interpreter take minutes; a checkpoint is no program; ranks meet in
    # compiled ones.
    [[ $prefix = curve_ || $prefix = ckpt_ || $prefix = ranks_ ]] || check interpret "$cases/$prefix"*
    [ "${INGOT_QUICK:-0}" = 1 ] || check cpu "$cases/$prefix"*
    [[ $prefix = curve_* && ${INGOT_QUICK:-0} = 0 ]] && check_wide "$prefix"
done
# The optimizers of TorchRec, as its own cases store them, and its tutorial's losses.
check cpu "$cases"/../torchrec/train_[aelprt]*
log=$(tests/training/verb.sh)
grep -v ' passed, ' <<<"$log"
last=$(tail -n 1 <<<"$log")
passed=$((passed + ${last%% *}))
last=${last#*, }
failed=$((failed + ${last%% *}))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
