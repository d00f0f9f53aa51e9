# Operators of the user's own.  SPDX-License-Identifier: Apache-2.0

ops=examples/custom/hash.ig
for kind in hash hashes; do
    "$python" tests/cli/files/tiny_onnx.py "$tmp/$kind.onnx" $kind
done
hashed=(--input 'x=i64[3]=1,2,99999')

check "an operator that nobody knows is named, with what to do" 4 \
    "operator acme::Hash (version 1) is not supported yet" \
    "$ingot" run "$tmp/hash.onnx" "${hashed[@]}"
check "which is a page" 4 "docs/custom-operators.md" "$ingot" run "$tmp/hash.onnx" "${hashed[@]}"
check "a graph serves it" 0 "761 522 239" "$ingot" run "$tmp/hash.onnx" --ops $ops "${hashed[@]}"
check "by the form that fits" 0 "761 522 283" \
    "$ingot" run "$tmp/hashes.onnx" --ops $ops --input 'x=i64[1,3]=1,2,3'
check "also where the model is read in a confined process" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.onnx" --ops $ops --isolate "${hashed[@]}"
check "its ops stand in the graph, as if the model had them" 0 "mod %" \
    "$ingot" dump "$tmp/hash.onnx" --ops $ops --stage import
"$ingot" compile "$tmp/hash.onnx" -q --ops $ops -o "$tmp/hash.ingot"
check "and the artifact needs no file of operators" 0 "761 522 239" \
    "$ingot" run "$tmp/hash.ingot" "${hashed[@]}"
check "a compiled artifact takes none" 2 "--ops has no effect" \
    "$ingot" run "$tmp/hash.ingot" --ops $ops "${hashed[@]}"

# What a file of operators may not be.
refuses() {
    local what=$1 words=$2
    printf 'module @m {\n%s\n}\n' "$3" >"$tmp/bad.ig"
    check "$what" 3 "$words" "$ingot" run "$tmp/hash.onnx" --ops "$tmp/bad.ig" "${hashed[@]}"
}
refuses "a graph without an operator's name" "its name is no operator's" \
    '  graph @f(%x: i64[N]) -> (i64[N]) { ret %x }'
refuses "an operator with weights" "the file has weights" \
    '  weight @w : i64[] = splat(1)
  graph @"acme::Hash"(%x: i64[N], %buckets: i64[]) -> (i64[N]) { ret %x }'
refuses "no form for these dtypes" "none of its forms in --ops" \
    '  graph @"acme::Hash"(%x: f32[N], %buckets: i64[]) -> (f32[N]) { ret %x }'
refuses "no form for this attribute" "none of its forms in --ops" \
    '  graph @"acme::Hash"(%x: i64[N]) -> (i64[N]) { ret %x }'
refuses "text that does not parse" "bad.ig:2" '  graph @"acme::Hash"(%x i64[N])'
check "and no file" 6 "absent.ig" "$ingot" run "$tmp/hash.onnx" --ops "$tmp/absent.ig" "${hashed[@]}"
