# Two ways to run a model, value by value.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/gelu.ig" <<'END_OF_MODEL'
module @gelu {
  graph @main(%x: f32[B, 64]) -> (f32[B, 64] "y", f32[B, 64] "r") {
    %0 = const {value = 1.41421354} : f32[]
    %1 = div %x, %0 : f32[B, 64] "/top/scaled" loc {node = "scale", op = "Div", number = 1}
    %2 = erf %1 : f32[B, 64] loc {node = "erf", op = "Erf", number = 2}
    %3 = const {value = 1} : f32[]
    %4 = add %2, %3 : f32[B, 64] loc {node = "one", op = "Add", number = 3}
    %5 = mul %x, %4 : f32[B, 64] loc {node = "both", op = "Mul", number = 4}
    %6 = const {value = 0.5} : f32[]
    %7 = mul %5, %6 : f32[B, 64] loc {node = "half", op = "Mul", number = 5}
    %8 = relu %x : f32[B, 64] loc {node = "above", op = "Relu", number = 6}
    ret %7, %8
  }
}
END_OF_MODEL
sed 's/1.41421354/1.5/' "$tmp/gelu.ig" >"$tmp/other.ig"
x='x=f32[8,64]=random'

check "a program against the interpreter" 0 "0 of 2 outputs differ; 0 of 6 values" \
    "$ingot" compare "$tmp/gelu.ig" --batch 8
check "another model: the first value that differs" 1 \
    "first difference: value '/top/scaled' (div, f32[B, 64]) of node 1 'scale' (Div)" \
    "$ingot" compare "$tmp/gelu.ig" --against "$tmp/other.ig"
cp "$tmp/out" "$tmp/told"
holds "with its errors" grep -q "64 of 64 elements differ by more than 0.001" "$tmp/told"
holds "and its elements" grep -q "  \[0, 0\]  got 0.421" "$tmp/told"
holds "what follows from it is listed" grep -q "also: output 'y'" "$tmp/told"
holds "what is equal is not" sh -c "! grep -q \"'r'\" '$tmp/told'"
"$ingot" compare "$tmp/gelu.ig" --against "$tmp/other.ig" --only-outputs >"$tmp/told" 2>&1
holds "outputs alone" test $? = 1
holds "are all that is told" test "$(tail -n 1 "$tmp/told")" = "1 of 2 outputs differ"
check "tolerances are taken" 0 "0 of 2 outputs" "$ingot" compare "$tmp/gelu.ig" \
    --against "$tmp/other.ig" --rtol 1

check "the pass that changed bits is named" 1 "pass: recognise_gelu changed the answer" \
    "$ingot" compare "$tmp/gelu.ig" --rtol 0 --atol 0 --batch 8 --bisect -o "$tmp/states"
holds "with the module before" grep -q erf "$tmp/states/before.ig"
holds "and after it" grep -q "gelu %x" "$tmp/states/after.ig"
check "passes of one's own" 1 "pass: recognise_gelu" "$ingot" compare "$tmp/gelu.ig" \
    --rtol 0 --atol 0 -t interpret --passes infer,cse,recognise_gelu,dce --bisect
check "and harmless ones" 0 "0 of 2 outputs" "$ingot" compare "$tmp/gelu.ig" \
    --rtol 0 --atol 0 -t interpret --passes infer,cse,dce --bisect

"$ingot" compare "$tmp/gelu.ig" --against "$tmp/other.ig" --json >"$tmp/json" 2>/dev/null
holds "JSON has it all" "$python" -c '
import json, sys
all = json.load(open(sys.argv[1]))
first = all["differences"][0]
assert all["outputs_differ"] == 1 and all["values_differ"] == 5, all
assert first["value"] == "/top/scaled" and first["op"] == "div", first
assert first["source"] == "node 1 '"'scale'"' (Div)" and first["max_error"] > 0.01
assert len(first["shown"]) == 5 and first["shown"][0]["index"] == "0, 0"
' "$tmp/json"

# Values from files, by their names.
"$ingot" run "$tmp/other.ig" --input "$x" -o "$tmp/values" >/dev/null 2>&1
check "a folder of outputs" 1 "first difference: output 'y'" \
    "$ingot" compare "$tmp/gelu.ig" --input "$x" --against "$tmp/values"
cp "$tmp/out" "$tmp/told"
holds "says what it has no values for" grep -q "6 were not there to compare" "$tmp/told"
cp "$tmp/values/r.npy" "$tmp/values/_top_scaled.npy"
"$python" -m zipfile -c "$tmp/values.npz" "$tmp/values/r.npy"
check "a folder of values" 1 "first difference: value '/top/scaled'" \
    "$ingot" compare "$tmp/gelu.ig" --input "$x" --against "$tmp/values"
check "an archive" 0 "0 of 2 outputs differ; 0 of 0 values compared differ, of 6; 7 were" \
    "$ingot" compare "$tmp/gelu.ig" --input "$x" --against "$tmp/values.npz"

# Artifacts have outputs alone.
"$ingot" compile "$tmp/other.ig" -o "$tmp/other.ingot" >/dev/null 2>&1
check "an artifact on the other side" 1 "first difference: output 'y'" \
    "$ingot" compare "$tmp/gelu.ig" --against "$tmp/other.ingot"
check "an artifact against a model" 1 "1 of 2 outputs differ" \
    "$ingot" compare "$tmp/other.ingot" --against "$tmp/gelu.ig"
check "an artifact is not interpreted" 3 "an artifact is not interpreted" \
    "$ingot" compare "$tmp/other.ingot"
check "what is not there" 6 "cannot read" \
    "$ingot" compare "$tmp/gelu.ig" --against "$tmp/no_such.onnx"
cat >"$tmp/two.ig" <<'END_OF_MODEL'
module @two {
  graph @main(%x: f32[B, 64], %z: f32[B, 64]) -> (f32[B, 64] "y") {
    %0 = add %x, %z : f32[B, 64]
    ret %0
  }
}
END_OF_MODEL
check "another call" 3 "takes 2 inputs" \
    "$ingot" compare "$tmp/gelu.ig" --against "$tmp/two.ig"

# ONNX Runtime, of INGOT_ONNXRUNTIME or of this machine's Python.
python3 tests/cli/files/reducible.py "$tmp"
check "ONNX Runtime that is not there" 4 "name its library" "$ingot" compare "$tmp/chain.onnx" \
    --batch 3 --against "onnxruntime:$tmp/libonnxruntime.so"
cat >"$tmp/where.py" <<'END_OF_PROGRAM'
import glob, importlib.util
found = importlib.util.find_spec("onnxruntime")
print(*glob.glob(f"{found.submodule_search_locations[0]}/capi/libonnxruntime.so*") if found else "")
END_OF_PROGRAM
runtime=${INGOT_ONNXRUNTIME:-$(python3 "$tmp/where.py")}
if [ -n "$runtime" ] && ! is_sanitized; then
    check "ONNX Runtime: outputs and values" 0 "0 of 1 outputs differ; 0 of 55 " \
        "$ingot" compare "$tmp/chain.onnx" --batch 3 --against "onnxruntime:$runtime"
    check "other formats" 4 "only ONNX models" "$ingot" compare "$tmp/gelu.ig" \
        --against "onnxruntime:$runtime"
    found=0
    for model in "$cases"/models/onnx/{bert_tiny,dlrm_criteo_legacy,external_aligned,flow_if,gpt2_tiny_kv}/model.onnx; do
        [ -f "$model" ] || continue
        found=$((found + 1))
        check "given models: $model" 0 " outputs differ; 0 of " "$ingot" compare "$model" \
            --against "onnxruntime:$runtime"
    done
    bert=$cases/models/onnx/bert_tiny/model.onnx
    [ -f "$bert" ] && check "sums in another order: bits differ" 1 "first difference: value" \
        "$ingot" compare "$bert" --against "onnxruntime:$runtime" --rtol 0 --atol 0
    [ "$found" -gt 0 ] || skip "given models against ONNX Runtime" "no $cases"
else
    skip "compare --against onnxruntime" "no libonnxruntime (INGOT_ONNXRUNTIME), or sanitizers"
fi

lists=$cases/models/onnx/flow_sequence/model.onnx
if [ -f "$lists" ]; then
    check "a list among the inputs" 0 "0 of 3 outputs differ" \
        "$ingot" compare "$lists" -b 2 --input 'lens=i64[1]=2' -q
else
    skip "a list among the inputs" "no $cases"
fi
