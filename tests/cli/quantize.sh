# Models of real numbers as models of integers.  SPDX-License-Identifier: Apache-2.0

has_numpy "quantised models" || return 0
layers="$python tests/cli/models/layers.py"
$layers make "$tmp" || exit 1
mlp=$tmp/mlp.onnx data=$tmp/data.npz

# What is written, and what it answers.
for kind in ig onnx; do
    check "as .$kind" 0 "3 of 3 layers in int8" "$ingot" quantize "$mlp" -c "$data" \
        --method min-max -o "$tmp/mlp8.$kind"
    holds "it runs" "$ingot" run "$tmp/mlp8.$kind" --inputs "$data" -o "$tmp/y.npz"
    holds "and gives what numpy's integers give" $layers judge "$tmp" "$tmp/y.npz"
    holds "interpreted too" "$ingot" run "$tmp/mlp8.$kind" --inputs "$data" \
        -o "$tmp/y.npz" -t interpret
    holds "which are the same" $layers judge "$tmp" "$tmp/y.npz"
    "$ingot" dump "$tmp/mlp8.$kind" --stage plan >"$tmp/plan"
    holds "layers are launches of integers" test "$(grep -c 'launch.*gemm_i8' "$tmp/plan")" = 3
    holds "and no others are but what quantises x" \
        test "$(grep -c '^ *launch' "$tmp/plan")" = 4
done
check "as .ingot" 0 "3 of 3" "$ingot" quantize "$mlp" -c "$data" --method min-max \
    -o "$tmp/mlp8.ingot"
holds "it runs" "$ingot" run "$tmp/mlp8.ingot" --inputs "$data" -o "$tmp/y.npz"
holds "too" $layers judge "$tmp" "$tmp/y.npz"
check "the text stands alone" 0 "first.int8" grep first.int8 "$tmp/mlp8.ig"
mkdir "$tmp/quantised_moved" && cp "$tmp/mlp8.ig" "$tmp"/mlp8.ig.*.weights "$tmp/mlp.onnx" "$tmp/quantised_moved"
holds "and moves with its weights" "$ingot" run "$tmp/quantised_moved/mlp8.ig" --inputs "$data"

holds "the text names its weights by content" grep -q 'mlp8.ig.[0-9a-f]*.weights", [0-9]*, [0-9]*, 0x[0-9a-f]*)' \
    "$tmp/mlp8.ig"
holds "originals that nothing reads are not written" sh -c "! grep -q 'weight @first.weight :' '$tmp/mlp8.ig'"
cp "$tmp/mlp8.ig" "$tmp/quantised_moved/torn.ig"
sed -i 's/mlp8.ig.[0-9a-f]*.weights/torn.ig.weights/' "$tmp/quantised_moved/torn.ig"
cat "$tmp"/mlp8.ig.*.weights | tr '\001\002' '\002\001' >"$tmp/quantised_moved/torn.ig.weights"
check "weights of another writing are refused" 3 "torn.ig.weights" \
    "$ingot" run "$tmp/quantised_moved/torn.ig" --inputs "$data"

# Killed at any moment, a writing over an older one leaves one of both whole.
mkdir "$tmp/killed" && cp "$tmp/mlp.onnx" "$tmp/killed"
"$ingot" quantize -q "$tmp/killed/mlp.onnx" -c "$data" -o "$tmp/killed/q.ig" >/dev/null
for moment in 02 05 1 15 2 25 3 4; do
    timeout -s KILL 0.$moment "$ingot" quantize -q "$tmp/killed/mlp.onnx" --dynamic \
        -o "$tmp/killed/q.ig" >/dev/null 2>&1
    holds "killed after 0.$moment s" "$ingot" run -q -t interpret "$tmp/killed/q.ig" --inputs "$data"
done
check "a whole one" 0 "" "$ingot" quantize -q "$tmp/killed/mlp.onnx" --dynamic -o "$tmp/killed/q.ig"
holds "leaves one file of constants" test "$(ls "$tmp"/killed/q.ig.*.weights | wc -l)" = 1

# Reports.
claims() {
    local what=$1
    shift
    "$ingot" quantize "$mlp" -o "$tmp/out.ig" --json "${options[@]}" >"$tmp/json" 2>"$tmp/err"
    holds "$what" $layers report "$tmp/json" "$@"
}
options=(-c "$data")
claims "errors by layer and at the output, and areas" "quantized == of == 3" \
    "all(0 < each['rms'] < 0.02 and each['cosine'] > 0.999 for each in layers)" \
    "layers[1]['name'] == 'second' and layers[1]['op'] == 'Gemm'" \
    "0 < outputs[0]['rms'] < 0.05 and outputs[0]['max'] < 0.1" \
    "0.5 < auc < 1 and abs(auc - quantized_auc) < 0.01" \
    "layers[1]['zero_point'] == 0 and layers[1]['low'] == 0"
options=(-c "$tmp/sets")
claims "folders of calls" "batches == 2 and auc > 0.5"
options=(-c "$data" --batch 10)
claims "arrays cut into calls" "batches == 7 and auc > 0.5"
options=(-c "$data" --skip 's*')
claims "layers to skip" "quantized == 2" "not layers[1]['quantized']" \
    "'skipped' in layers[1]['why']"
options=(-c "$data" --max-error 1e-9)
claims "a bound that nothing holds" "quantized == 0" "outputs[0]['rms'] <= 1e-9" \
    "all(each['output_rms'] > 1e-9 for each in layers)"
options=(-c "$data" --max-error 10)
claims "one that all hold" "quantized == 3"
for option in "--symmetric" "--per-tensor" "--unsigned-weights" "--weight-bits 7" \
    "--smooth 0.5" "--method percentile --percentile 99.9" "--method entropy" "--dynamic" \
    "--dynamic --smooth 0.5" "--dynamic --unsigned-weights"; do
    options=(-c "$data" $option)
    claims "$option" "quantized == 3 and outputs[0]['rms'] < 0.1 and auc > 0.5"
done
options=(--dynamic)
claims "without data nothing is measured" "quantized == 3 and outputs[0]['rms'] is None"
check "all layers in words" 0 "second  Gemm" "$ingot" quantize "$mlp" -c "$data" \
    -o "$tmp/out.ig"
check "areas in words" 0 "AUC 0." "$ingot" quantize "$mlp" -c "$data" -o "$tmp/out.ig"

# Numbers of bf16.
options=(-c "$data" --precision bf16)
claims "bf16 with data" "format == 'bf16' and quantized == 3" \
    "0 < outputs[0]['rms'] < 0.01 and all(0 < each['rms'] < 0.01 for each in layers)" \
    "layers[0]['scale'] is None and abs(auc - quantized_auc) < 0.01"
options=(--precision bf16)
claims "and without" "quantized == 3 and outputs[0]['rms'] is None"
options=(-c "$data" --precision bf16 --max-error 1e-9 --skip third)
claims "also with a bound" "quantized == 0"
check "as text" 0 "3 of 3 layers in bf16" "$ingot" quantize "$mlp" --precision bf16 \
    -o "$tmp/narrow.ig"
check "when compiling" 0 "second  Gemm" "$ingot" compile "$mlp" --precision bf16 \
    -o "$tmp/narrow.ingot"
check "as JSON" 0 '"format": "bf16"' "$ingot" compile "$mlp" --precision bf16 --json \
    -o "$tmp/narrow.ingot"
for form in "narrow.ig -t interpret" narrow.ig narrow.ingot; do
    holds "$form runs" "$ingot" run "$tmp/"$form --inputs "$data" -o "$tmp/y.npz"
    holds "and gives numpy's numbers" $layers rounded "$tmp" "$tmp/y.npz"
done
holds "weights take two bytes" test "$(stat -c %s "$tmp"/narrow.ig.*.weights)" = 5760
check "f32 is what there was" 0 "MB of constants" "$ingot" compile "$mlp" --precision f32 \
    -o "$tmp/wide.ingot"
holds "and rounds nothing" test "$("$ingot" dump "$mlp" | grep -c bf16)" = 0

# What cannot be.
rm -f "$tmp"/out.*
refuse() {
    check "$1" "$2" "$3" "$ingot" quantize "$mlp" -o "$tmp/out.onnx" "${@:4}"
    holds "and nothing is written" test ! -e "$tmp/out.onnx"
}
refuse "no data" 2 "--calibration DIR" --symmetric
refuse "an empty folder" 3 "there is no calibration data" -c "$tmp/none"
refuse "a file that is not there" 6 "gone.npz: cannot read" -c "$tmp/gone.npz"
refuse "NaN" 3 "input 'x' holds NaN at element 68" -c "$tmp/nan.npz"
refuse "infinities" 3 "holds an infinity" -c "$tmp/inf.npz"
refuse "another shape" 3 "shape.npz" -c "$tmp/shape.npz"
refuse "other names" 3 "1 of 1 inputs have no value" -c "$tmp/other.npz"
refuse "labels that are not there" 3 "no labels called 'clicked'" -c "$data" --labels clicked
refuse "a layer that there is not" 3 "no layer is called 'fourth'" -c "$data" --skip fourth
refuse "all layers skipped" 4 "there is nothing to quantise" -c "$data" --skip '*'
refuse "smoothing beyond 1" 2 "between 0 and 1" -c "$data" --smooth 1.5
refuse "bf16 as ONNX" 2 "bf16 writes no ONNX" --precision bf16
refuse "another precision" 2 "precision" -c "$data" --precision f16
check "bf16 with scales" 3 "neither scales nor ranges" "$ingot" quantize "$mlp" \
    --precision bf16 --symmetric -o "$tmp/out.ig"
check "bf16 of what nobody trusts" 2 "--isolate or --precision" "$ingot" compile "$mlp" \
    --isolate --precision bf16 -o "$tmp/out.ingot"
refuse "six bits" 2 "weight-bits" -c "$data" --weight-bits 6
check "no output" 2 "-o FILE" "$ingot" quantize "$mlp" -c "$data"
check "another format" 2 ".ig, .onnx or .ingot" "$ingot" quantize "$mlp" -c "$data" \
    -o "$tmp/out.txt"
check "text as ONNX" 2 "only ONNX models" "$ingot" quantize "$tmp/mlp8.ig" -c "$data" \
    -o "$tmp/out.onnx"
check "an old opset as ONNX" 4 "opset 11 has no scales by channel" "$ingot" quantize \
    "$tmp/old.onnx" -c "$data" -o "$tmp/out.onnx"
holds "as text" "$ingot" quantize "$tmp/old.onnx" -c "$data" -o "$tmp/out.ig"
check "a folder that is not there" 6 "cannot be written" "$ingot" quantize "$mlp" \
    -c "$data" -o "$tmp/gone/out.ig"

# Tables.
cat >"$tmp/bags.ig" <<'IG'
module @bags {
  weight @big_one : f32[3, 8] = [0, 1.3, 2, 3, 4, 5, 6, 16, 0, -1, -2, -3, -4, -5, -6, -7.5, 1, 1, 1, 1, 1, 1, 1, 1]
  weight @small : f32[2, 4] = [0, 0.5, 1, 1.5, -3, 0, 0, 3]
  weight @shared : f32[2, 2] = [1, 2, 3, 4]
  weight @broken : f32[1, 2] = [1, nan]
  graph @main(%ids: i64[N], %offsets: i64[B], %more: f32[2, 2]) -> (f32[B, 8] "y", f32[B, 4] "z", f32[B, 2] "s", f32[B, 2] "b", f32[2, 2] "t") {
    %0 = bag @big_one, %ids, %offsets {operands = [1], pool = [sum], negative = error} : f32[B, 8]
    %1 = bag @small, %ids, %offsets {operands = [1], pool = [mean], negative = error} : f32[B, 4]
    %2 = bag @shared, %ids, %offsets {operands = [1], pool = [sum], negative = error} : f32[B, 2]
    %3 = bag @broken, %ids, %offsets {operands = [1], pool = [sum], range = clamp} : f32[B, 2]
    %4 = add @shared, %more : f32[2, 2]
    ret %0, %1, %2, %3, %4
  }
}
IG
tables() {
    check "$1" 0 "$2" "$ingot" compile "$tmp/bags.ig" -o "$tmp/bags.ingot" "${@:3}"
}
for format in int8 int4 f16; do
    tables "tables in $format" "big_one                   $format" --quantize-tables $format
done
tables "one by its name" "big_one                   int4" --quantize-tables 'big_*=int4'
holds "whose rows are FBGEMM's" "$ingot" run "$tmp/bags.ingot" --input 'ids=i64[2]=0,1' \
    --input 'offsets=i64[2]=0,1' --input 'more=f32[2,2]=0' -o "$tmp/y.npz"
holds "exactly" $python -c '
import sys, numpy as np
y = np.load(sys.argv[1])["y"]
def row(x, bits=4):
    x = np.float32(x)
    low = np.float32(np.float16(x.min()))
    scale = np.float32(np.float16((x.max() - low) / np.float32(2**bits - 1)))
    return np.clip(np.rint((x - low) * (np.float32(1) / scale)), 0, 2**bits - 1) * scale + low
want = [row([0, 1.3, 2, 3, 4, 5, 6, 16]), row([0, -1, -2, -3, -4, -5, -6, -7.5])]
assert np.allclose(y, want, rtol=1e-6), (y, want)
assert not np.allclose(y[0], [0, 1.3, 2, 3, 4, 5, 6, 16])
' "$tmp/y.npz"
tables "tables by their error" "small                     int2" --quantize-tables '0.001' \
    --quantize-tables 'small=0.5'
tables "others stay" "other ops than look-ups read it" --quantize-tables int8
tables "as do numbers that are none" "its values do not fit 16 bits" --quantize-tables int8
tables "as JSON" '"dtype": "int4"' --quantize-tables int4 --json
check "a format that there is not" 3 "expected int8, int4" "$ingot" compile "$tmp/bags.ig" \
    -o "$tmp/no_tables.ingot" --quantize-tables int3
check "a table that there is not" 3 "is called 'users'" "$ingot" compile "$tmp/bags.ig" \
    -o "$tmp/no_tables.ingot" --quantize-tables users=int8
holds "nothing is written" test ! -e "$tmp/no_tables.ingot"
