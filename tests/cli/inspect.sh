# What became of the nodes of a model.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/chain.ig" <<'END'
module @chain {
  graph @main(%x: f32[B, 8], %y: f32[8, 4]) -> (f32[B, 4] "z") {
    %0 = matmul %x, %y : f32[B, 4] loc {node = "product", op = "MatMul", number = 1}
    %1 = const {value = f32[] 0.5} : f32[] loc {node = "half", op = "Constant", number = 2}
    %2 = neg %1 : f32[] loc {node = "minus", op = "Neg", number = 3}
    %3 = add %0, %2 : f32[B, 4] loc {node = "sum", op = "Add", number = 4}
    %4 = exp %x : f32[B, 8] loc {node = "unused", op = "Exp", number = 5}
    %5 = relu %3 : f32[B, 4] loc {node = "above", op = "Relu", number = 6}
    ret %5
  }
}
END
check "an artifact knows what its steps come from" 0 "" \
    "$ingot" compile "$tmp/chain.ig" -o "$tmp/chain.ingot"
holds "each step and each node" python3 tests/cli/sources.py "$tmp/chain.ingot" 6
unzip -p "$tmp/chain.ingot" sources.json >"$tmp/sources.json"
for node in product:step minus:step sum:step above:step unused:removed; do
    holds "the fate of ${node%:*}" \
        grep -q "\"${node%:*}\".*\"fate\": \"${node#*:}\"" "$tmp/sources.json"
done

check "strip removes that" 0 "" "$ingot" strip "$tmp/chain.ingot" -o "$tmp/bare.ingot"
holds "and nothing else" sh -c "unzip -Z1 '$tmp/bare.ingot' >'$tmp/names' &&
    unzip -Z1 '$tmp/chain.ingot' | grep -v sources.json | cmp - '$tmp/names'"
holds "it is smaller" test "$(stat -c %s "$tmp/bare.ingot")" -lt "$(stat -c %s "$tmp/chain.ingot")"
holds "and sound" "$ingot" inspect --check "$tmp/bare.ingot"
for form in chain bare; do
    "$ingot" run "$tmp/$form.ingot" --input 'x=f32[2,8]=3' --input 'y=f32[8,4]=1' \
        -o "$tmp/$form.npz" >/dev/null 2>&1
done
holds "the results are the same" cmp "$tmp/chain.npz" "$tmp/bare.npz"
check "strip in place" 0 "" "$ingot" strip "$tmp/chain.ingot"
holds "gives the same" cmp "$tmp/chain.ingot" "$tmp/bare.ingot"
check "strip takes artifacts" 3 "not an artifact" "$ingot" strip "$tmp/chain.ig"
check "which are there" 6 "cannot read" "$ingot" strip "$tmp/none.ingot"

# Given models: a step without a name, or a node without a fate, is a defect.
found=0
for model in "$cases"/models/onnx/*/model.onnx "$cases"/models/torchrec/dlrm_*/model.pt; do
    [ -f "$model" ] || continue
    "$ingot" compile "$model" -t cpu:v3 --no-cache -q -o "$tmp/given.ingot" \
        >/dev/null 2>&1 || continue # not every model compiles
    found=$((found + 1))
    holds "sources of $(basename "$(dirname "$model")")" \
        python3 tests/cli/sources.py "$tmp/given.ingot"
done
if [ -d "$cases/models/onnx" ]; then
    holds "of at least 20 models ($found)" test "$found" -ge 20
else
    skip "sources of given models" "no $cases/models"
fi

# What a model holds.
check "inspect counts ops" 0 "1  relu" "$ingot" inspect "$tmp/chain.ig"
check "and names open extents" 0 "B               0" "$ingot" inspect "$tmp/chain.ig"
check "as tables too" 0 "| 1 | relu |" "$ingot" inspect "$tmp/chain.ig" --markdown
cat >"$tmp/refused.ig" <<'END'
module @refused {
  graph @main(%x: f32[B, 8], %n: i64[]) -> (f32[B, 8] "y", seq<f32[B, 8]> "s") {
    %0 = seq_empty {of = f32} : seq<f32[B, 8]>
    %1 = seq_insert %0, %x, %n : seq<f32[B, 8]>
    %2 = seq_at %1, %n : f32[B, 8]
    ret %2, %1
  }
}
END
check "everything that would not compile is told" 0 "'seq_at' cannot be compiled yet" \
    "$ingot" inspect "$tmp/refused.ig"
cp "$tmp/out" "$tmp/told"
holds "all at once" sh -c "[ \$(grep -c 'cannot be compiled yet' '$tmp/told') = 3 ]"
"$ingot" inspect "$tmp/refused.ig" --json >"$tmp/json"
holds "JSON says so too" python3 -c '
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
assert not facts["compiles"] and len(facts["refused"]) >= 2, facts
assert {"name": "seq_at", "count": 1} in facts["ops"], facts' "$tmp/json"
"$ingot" compile "$tmp/chain.ig" -o "$tmp/chain.ingot" -q
check "an artifact tells fates" 0 "5 step, 0 view, 0 folded, 2 removed" \
    "$ingot" inspect "$tmp/chain.ingot"
check "info sends models there" 2 "ingot inspect $tmp/chain.ig" "$ingot" info "$tmp/chain.ig"
