# Variables of the environment: nonsense in them is an error that names it.
# SPDX-License-Identifier: Apache-2.0

run=("$ingot" run "$tmp/relu.ig" --input 'x=f32[1,4]=1')
for text in 1G abc -5 0x10 99999999999999999999999 "1 "; do
    check "INGOT_CACHE_BYTES=$text" 3 "INGOT_CACHE_BYTES is a number of bytes, not '$text'" \
        env "INGOT_CACHE_BYTES=$text" "${run[@]}"
    check "of the caches' own verb too: $text" 3 "INGOT_CACHE_BYTES is a number" \
        env "INGOT_CACHE_BYTES=$text" "$ingot" cache info
done
check "a number is none" 0 "1 1 1 1" env INGOT_CACHE_BYTES=100000 "${run[@]}"
check "nor is nothing" 0 "1 1 1 1" env INGOT_CACHE_BYTES= INGOT_SKIP= INGOT_STOP= "${run[@]}"
check "INGOT_SKIP" 3 "INGOT_SKIP: there is no pass 'nosuch'" env INGOT_SKIP=cse,nosuch "${run[@]}"
check "a pass is none" 0 "1 1 1 1" env INGOT_SKIP=cse "${run[@]}"
check "INGOT_DEBUG" 3 "INGOT_DEBUG has no word 'nosuch'" env INGOT_DEBUG=nosuch "${run[@]}"
check "INGOT_STOP" 3 "INGOT_STOP is after:PASS, not 'cse'" env INGOT_STOP=cse "${run[@]}"
check "and its pass" 3 "INGOT_STOP is after:PASS" env INGOT_STOP=after:nosuch "${run[@]}"
INGOT_DEBUG=help "$ingot" dump "$tmp/relu.ig" --stage plan >"$tmp/out" 2>"$tmp/errors"
holds "help is printed once" [ "$(grep -c 'takes these words' "$tmp/errors")" = 1 ]
check "INGOT_PERF" 3 "is neither map nor jitdump" env INGOT_PERF=nosuch "${run[@]}"
check "INGOT_CAPTURE_CALLS" 3 "INGOT_CAPTURE_CALLS and INGOT_CAPTURE_EVERY are numbers of calls" \
    env "INGOT_CAPTURE=$tmp/captures" INGOT_CAPTURE_CALLS=many "${run[@]}"
check "INGOT_LOG" 3 "INGOT_LOG is text or json, not 'xml'" env INGOT_LOG=xml "${run[@]}"

# Messages as a log: the parts of a diagnostic are fields.
printf 'module @m {\n  graph @"g"(%%x: f32[1]) -> (f32[1]) {\n    %%0 = nosuch %%x : f32[1]\n    ret %%0\n  }\n}\n' \
    >"$tmp/bad.ig"
INGOT_LOG=json "$ingot" run "$tmp/bad.ig" 2>"$tmp/log"
holds "a line of JSON tells level, component, code, words and place" "$python" -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
first = lines[0]
assert first["level"] == "error" and first["component"] == "compiler", first
assert first["code"] == "INVALID" and "nosuch" in first["words"], first
assert first["file"].endswith("bad.ig") and first["line"] == 3, first
assert len(lines) == 1, lines' "$tmp/log"
INGOT_LOG=json "$ingot" run "$tmp/bad.ig" --isolate 2>"$tmp/log"
holds "its code too where another process read the file" grep -q '"code": "INVALID"' "$tmp/log"
INGOT_LOG=text "$ingot" run "$tmp/relu.ig" --input 'x=f32[2,5]=1' 2>"$tmp/log"
holds "a line of text" grep -qE '^20[0-9-]+T[0-9:.]+Z error (ingot|compiler) INVALID.*: ' "$tmp/log"

# An entry that is larger than half of the caches makes room like others.
"$ingot" cache clear >/dev/null
for size in 4 5 6 7 8 9; do
    sed "s/, 4\]/, $size]/g" "$tmp/relu.ig" >"$tmp/size.ig"
    INGOT_CACHE_BYTES=4000 "$ingot" compile "$tmp/size.ig" -q -o "$tmp/size.ingot"
done
holds "no more than so many bytes stay" sh -c \
    "[ \$(find '$INGOT_CACHE_DIR' -type f -printf '%s\n' | awk '{s += \$1} END {print s + 0}') -lt 30000 ]"

"$ingot" info >"$tmp/info"
for name in $(grep -rhoE 'getenv\("INGOT_[A-Z_]*' base driver runtime passes codegen --include='*.c' |
    sed 's/.*"//' | sort -u); do
    holds "info lists $name" grep -q "$name" "$tmp/info"
done
