#!/usr/bin/env bash
# The command line as its users meet it: messages, exit statuses, what is left behind.
# SPDX-License-Identifier: Apache-2.0
#
#   tests/cli/run.sh [PART…]        parts: files of this folder without ".sh"
#
# Each part is a file of checks; lib.sh says how they are written.  INGOT_BUILD names the
# build (build/release), INGOT_CASES the folder with further cases.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
source tests/cli/lib.sh

parts=("$@")
if [ ${#parts[@]} = 0 ]; then
    parts=(usage values edges threads artifacts cache store shard inspect compare reduce replay quantize debug/debug isolate sanitize interrupt measure verify structured torchscript interp deploy emit bad install)
fi
for part in "${parts[@]}"; do
    source "tests/cli/$part.sh"
done
finish
