# The smallest model that a command still fails on.  SPDX-License-Identifier: Apache-2.0

python3 tests/cli/files/reducible.py "$tmp"
chain=$tmp/chain.onnx small=$tmp/small.onnx
holds "the whole model runs" "$ingot" run "$chain" --input 'a0=f32[3,8]=random'
cp "$chain" "$tmp/kept.onnx"

# Models that are broken end with 3 here, which is no failure like the first.
sound="'$ingot' inspect {} >/dev/null 2>&1 || exit 3"
check "one node is left of 56" 0 "1 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --batch 3 --check "$sound; ! grep -q Softmax {}"
check "its input is what it read, as short as can be" 0 "input   a9: f32[1, 1]" \
    "$ingot" inspect "$small"
holds "it runs" "$ingot" run "$small" --input 'a9=f32[1,1]=1'
holds "the model is as it was" cmp "$chain" "$tmp/kept.onnx"
holds "nothing else is left" sh -c "! ls '$tmp' | grep -q 'onnx[.]part'"

check "two nodes, however far apart" 0 '"nodes": 2, "of": 56' "$ingot" reduce "$chain" -o "$small" \
    --check "$sound; ! { grep -q Softmax {} && grep -q Tanh {}; }" --json
"$ingot" inspect "$small" --json >"$tmp/json"
holds "and nothing between them" "$python" -c '
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
ops = sorted(row["name"] for row in facts["operators"])
assert ops == ["Softmax", "Tanh"], ops
' "$tmp/json"
check "a shape that others compute" 0 "1 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --check "$sound; ! grep -q Reshape {}"
check "is a constant" 0 "again" "$ingot" run "$small" --input 'soft=f32[1,1]=1'
check "branches keep what they read" 0 "1 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --check "$sound; ! grep -q then_branch {}"
check "it is an input" 0 "input   tanh: f32[1, 1]" "$ingot" inspect "$small"

check "what is between two that must stay together is passed by" 0 "2 of 56 nodes" \
    "$ingot" reduce "$chain" -o "$small" --check "$sound; ! { grep -q Softmax {} &&
        grep -q Tanh {} && ! '$ingot' inspect {} | grep -q 'input   again'; }"
check "from the first" 0 "input   a9: f32[1, 1]" "$ingot" inspect "$small"
check "to the second" 0 "output  tanh: f32[1, 1]" "$ingot" inspect "$small"

cat >"$tmp/even.sh" <<'END_OF_SCRIPT'
"$1" inspect "$2" >"$3" 2>/dev/null || exit 3
grep -q Softmax "$3" && grep -q Tanh "$3" || exit 3
awk '/^[A-Z]/ { is_in = /^Operators/ } is_in && /Add|Relu|MatMul/ { count += $1 }
    END { exit !(count % 2) * 5 }' "$3"
END_OF_SCRIPT
check "two go where one does not" 0 "2 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --check "sh '$tmp/even.sh' '$ingot' {} '$tmp/facts'"

# Weights: their extents and values.
check "a product" 0 "1 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --check "$sound; ! grep -q 'MatMul' {}"
holds "of small constants" test "$(stat -c %s "$small")" -lt 200
check "whose values do not matter" 0 "  1" "$ingot" run "$small" --input 'a0=f32[1,1]=1'

# What the inputs of a part read.
rows=$tmp/rows.onnx
seven="$sound; ! '$ingot' run {} -i {inputs} | grep -q 7.25"
check "a part reads what it read in the whole" 0 "1 of 3 nodes" "$ingot" reduce "$rows" \
    -o "$small" --input 'ids=i64[3]=2,6,0' --check "$seven"
check "ids are an input of it" 0 "input   next: i64[2]" "$ingot" inspect "$small"
check "whose values are beside it" 0 "7.25" "$ingot" run "$small" -i "$small.npz"
holds "nothing else is" sh -c "! ls '$tmp' | grep -q 'part'"
check "ids stay within a table that is cut" 0 "1 of 3 nodes" "$ingot" reduce "$rows" \
    -o "$small" --input 'ids=i64[3]=2,6,0' \
    --check "'$ingot' run {} -i {inputs} || exit 3; ! '$ingot' inspect {} | grep -q gather"
check "to one row" 0 "f32[1, 1]  table" "$ingot" inspect "$small"
check "and one id" 0 "  1" "$ingot" run "$small" -i "$small.npz"
check "else ids are a constant" 0 "1 of 3 nodes" "$ingot" reduce "$rows" -o "$tmp/fixed.onnx" \
    --input 'ids=i64[3]=2,6,0' --check "$sound; ! '$ingot' inspect {} | grep -q gather"
holds "as they were" sh -c "! '$ingot' inspect '$tmp/fixed.onnx' | grep 'input   '"
holds "and no inputs are left" test ! -e "$tmp/fixed.onnx.npz"

: >"$tmp/sums"
check "to keep two" 0 "2 of 56 nodes" "$ingot" reduce "$chain" -o "$small" \
    --check "cksum <{} >>'$tmp/sums'; $sound; ! { grep -q Softmax {} && grep -q Tanh {}; }"
holds "no model is looked at twice" test -z "$(sort "$tmp/sums" | uniq -d)"

check "a command that does not fail" 3 "does not fail" \
    "$ingot" reduce "$chain" -o "$small" --check true
check "a failure of the file itself" 3 "another result for the rewritten model" \
    "$ingot" reduce "$chain" -o "$small" --check "! cmp -s {} '$chain'"
check "without a command" 2 "--check COMMAND" "$ingot" reduce "$chain"
check "not over the model" 2 "is the model itself" \
    "$ingot" reduce "$chain" -o "$chain" --check false
printf 'module @m {\n  graph @main(%%x: f32[2]) -> (f32[2]) {\n    ret %%x\n  }\n}\n' >"$tmp/m.ig"
check "other formats" 4 "only ONNX models" "$ingot" reduce "$tmp/m.ig" --check false

# Names with quotes, and signals.
mkdir "$tmp/it's"
cp "$chain" "$tmp/it's/a b.onnx"
check "paths of any kind" 0 "1 of 56 nodes" "$ingot" reduce "$tmp/it's/a b.onnx" \
    -o "$tmp/it's/small.onnx" --check "! grep -q Tanh"
rm -f "$small"
"$ingot" reduce "$chain" -o "$small" --check "sleep 0.1; ! grep -q Tanh {}" \
    >"$tmp/out" 2>&1 &
child=$!
for _ in $(seq 100); do
    [ -e "$small" ] && break
    sleep 0.1
done
kill -INT "$child"
wait "$child"
status=$?
holds "Ctrl-C ends it" test "$status" = 130
holds "and what was found by then is kept" "$ingot" inspect "$small"
check "time ends it as well" 0 "not done" "$ingot" reduce "$chain" -o "$small" --seconds 0.5 \
    --check "sleep 0.2; ! grep -q Tanh {}"
