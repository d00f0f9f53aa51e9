# Broken and hostile models: each refused with words, in little time and memory.
# SPDX-License-Identifier: Apache-2.0

bad=$cases/models/onnx/bad
if [ ! -r "$bad/list.json" ]; then
    skip "broken and hostile models" "$bad is absent"
else
    limits=2,64,64
    is_sanitized && limits=30,0,0
    python3 tests/cli/bad_files.py "$ingot" "$bad" $limits >"$tmp/bad.log"
    while IFS= read -r line; do
        case $line in
            "pass "*) passed=$((passed + 1)) ;;
            *) report "$line" ;;
        esac
    done <"$tmp/bad.log"
    holds "every file was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \$(grep -c '\"file\"' '$bad/list.json') ]"
fi
