#!/usr/bin/env bash
# Runs the commands of README.md and docs/*.md.  SPDX-License-Identifier: Apache-2.0
#
#   tests/docs/run.sh [PAGE…]        pages without folder and ending: README cli
#
# run.py says how blocks are read, and pages/PAGE.sh makes the files that a page names.
# INGOT_BUILD names the build (build/release).
cd "$(dirname "$0")/../.." || exit
if [ $# = 0 ] && [ "${INGOT_QUICK:-0}" = 1 ]; then
    set -- README
fi
exec "$(PATH=/usr/bin:$PATH command -v python3)" tests/docs/run.py "$@"
