# Damaged and foreign artifacts; writing where it cannot be done.
# SPDX-License-Identifier: Apache-2.0

check "an artifact tells what it holds" 0 "input   dense: f32[batch, 13]" \
    "$ingot" inspect "$tmp/dlrm.ingot"
check "its hashes are right" 0 "every hash is right" "$ingot" inspect --check "$tmp/dlrm.ingot"
size=$(stat -c %s "$tmp/dlrm.ingot")
for part in 1 2 3 5 10 100; do
    head -c $((size - size / part / 2)) "$tmp/dlrm.ingot" >"$tmp/cut.ingot"
    check "cut by a ${part}th it is 3" 3 "$tmp/cut.ingot" "$ingot" run "$tmp/cut.ingot"
done
head -c $((size - 1)) "$tmp/dlrm.ingot" >"$tmp/cut.ingot"
check "without its last byte it is 3" 3 "$tmp/cut.ingot" "$ingot" inspect "$tmp/cut.ingot"

# Offsets of entries, from the zip directory.
offset_of() {
    python3 - "$tmp/dlrm.ingot" "$1" <<'PY'
import sys, zipfile
entry = zipfile.ZipFile(sys.argv[1]).getinfo(sys.argv[2])
with open(sys.argv[1], "rb") as file:
    file.seek(entry.header_offset + 26)
    name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
print(entry.header_offset + 30 + name + extra)
PY
}
# patch OFFSET BYTES
patch() {
    cp "$tmp/dlrm.ingot" "$tmp/patched.ingot"
    printf "$2" | dd of="$tmp/patched.ingot" bs=1 seek="$1" conv=notrunc status=none
}
plan=$(offset_of plan)
patch $((plan + 8)) '\143'
check "another version of the format is 4, naming both" 4 "99" \
    "$ingot" inspect "$tmp/patched.ingot"
patch $((plan + 400)) '\377'
check "a flipped byte of the plan is 3" 3 "$tmp/patched.ingot" "$ingot" inspect "$tmp/patched.ingot"
patch $(($(offset_of "code/cpu-$level") + 1000)) '\377\377\377\377'
check "a flipped byte of the code is 3" 3 "$tmp/patched.ingot" "$ingot" inspect "$tmp/patched.ingot"
patch $(($(offset_of weights) + 1000)) '\377\377\377\377'
check "a flipped byte of a constant is found by --check" 3 "$tmp/patched.ingot" \
    "$ingot" inspect --check "$tmp/patched.ingot"
check "models are not artifacts" 2 "--target interpret takes models" \
    "$ingot" run "$tmp/dlrm.ingot" -t interpret

highest=$(tail -n 1 <<<"$levels")
if runs_here "$highest"; then
    skip "an artifact for another CPU" "this machine has every level"
else
    "$ingot" compile "$tmp/relu.ig" -q -t "cpu:$highest" -o "$tmp/foreign.ingot"
    check "an artifact for another CPU is 4" 4 "$highest" \
        "$ingot" run "$tmp/foreign.ingot" --input 'x=f32[1,4]=0'
fi
check "several levels stand side by side" 0 "levels: v2, v3" \
    sh -c "'$ingot' compile '$tmp/relu.ig' -q -t cpu:v2,v3 -o '$tmp/two.ingot' &&
           '$ingot' inspect '$tmp/two.ingot'"

# Weights that stay in the model's file.
mkdir "$tmp/apart" "$tmp/moved"
cp "$tmp/dlrm.onnx" "$tmp/apart/model.onnx"
holds "weights may stay in the model" \
    "$ingot" compile "$tmp/apart/model.onnx" -w reference -o "$tmp/apart/model.ingot"
check "then the artifact is smaller than the tables" 0 "" \
    [ "$(stat -c %s "$tmp/apart/model.ingot")" -lt $((size - 150000)) ]
mv "$tmp/apart/"* "$tmp/moved"
check "both may be moved together" 0 "score: f32[8, 1]" \
    "$ingot" run "$tmp/moved/model.ingot" --inputs "$tmp/in"
touch -d 2001-01-01 "$tmp/moved/model.onnx"
check "another time alone is no change" 0 "score: f32[8, 1]" \
    "$ingot" run "$tmp/moved/model.ingot" --inputs "$tmp/in"
python3 - "$tmp/moved/model.onnx" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    at = data.index(b"table_0.weight") + 100
    file.seek(at)
    file.write(b"\1\2\3\4")
PY
check "a changed table is 3" 3 "model.onnx" \
    "$ingot" run "$tmp/moved/model.ingot" --inputs "$tmp/in"
rm "$tmp/moved/model.onnx"
check "a model that is gone is 3" 3 "model.onnx" \
    "$ingot" run "$tmp/moved/model.ingot" --inputs "$tmp/in"

# Files that cannot be written: nothing is left behind, and what was there stays.
mkdir "$tmp/out_dir"
echo old >"$tmp/out_dir/x.ingot"
check "a file that may not grow so large is 6" 6 "cannot write" \
    bash -c "trap '' XFSZ; ulimit -f 8; exec '$ingot' compile '$tmp/dlrm.onnx' \
             -o '$tmp/out_dir/x.ingot'"
holds "nothing is left of it" only "$tmp/out_dir" x.ingot
holds "the old file stands" grep -q old "$tmp/out_dir/x.ingot"
check "a device is not replaced" 6 "cannot write" \
    "$ingot" compile "$tmp/relu.ig" -o /dev/null
if unshare -rm mount -t tmpfs none "$tmp/apart" 2>/dev/null; then
    check "a full disk is 6, and nothing is left" 0 "cannot write" unshare -rm bash -c "
        mount -t tmpfs -o size=64k none '$tmp/apart' || exit 99
        '$ingot' compile '$tmp/dlrm.onnx' -o '$tmp/apart/x.ingot'
        [ \$? = 6 ] && [ -z \"\$(ls -A '$tmp/apart')\" ]"
else
    skip "a full disk" "no mounts are allowed here"
fi
: >"$tmp/out_dir/.x.ingot.ingot-4194303-0"
holds "the next compile succeeds" "$ingot" compile "$tmp/relu.ig" -q -o "$tmp/out_dir/x.ingot"
holds "and removes what a dead process left" only "$tmp/out_dir" x.ingot

# A table of more than 2 GiB (a sparse file) is not copied.
if is_sanitized; then
    skip "a table of more than 2 GiB" "sanitizers are slow"
elif truncate -s 2300000000 "$tmp/big.bin" 2>"$tmp/out"; then
    printf '\0\0\200\77' | dd of="$tmp/big.bin" bs=4 seek=574999999 conv=notrunc status=none
    cat >"$tmp/big.ig" <<'IG'
module @big {
  symbol N {min = 0}
  weight @t : f32[8984375, 64] = file("big.bin", 0, 2300000000)
  graph @main(%ids: i64[N]) -> (f32[N, 64] "y") {
    %0 = gather @t, %ids {axis = 0, negative = wrap} : f32[N, 64]
    ret %0
  }
}
IG
    holds "a table of more than 2 GiB stays where it is" \
        "$ingot" compile "$tmp/big.ig" -w reference -o "$tmp/big.ingot"
    holds "its artifact is small" [ "$(stat -c %s "$tmp/big.ingot")" -lt 100000 ]
    check "and its last row is found" 0 " 0 0 1" \
        "$ingot" run "$tmp/big.ingot" --input 'ids=[-1]'
    rm -f "$tmp/big.bin"
else
    skip "a table of more than 2 GiB" "no room for a sparse file"
fi

# Weights of 8-bit integers stay so; what they stand for is computed as they are read.
head -c 65536 /dev/zero | tr '\0' '\3' >"$tmp/bytes.bin"
cat >"$tmp/bytes.ig" <<'IG'
module @bytes {
  weight @w : u8[256, 256] = file("bytes.bin", 0, 65536)
  weight @s : f32[256] = splat(0.5)
  graph @main(%x: f32[B, 256]) -> (f32[B, 256] "y") {
    %0 = cast @w {to = f32} : f32[256, 256]
    %1 = const {value = 128} : f32[]
    %2 = sub %0, %1 : f32[256, 256]
    %3 = mul %2, @s : f32[256, 256]
    %4 = matmul %x, %3 : f32[B, 256]
    ret %4
  }
}
IG
holds "a layer of 8-bit weights compiles" \
    "$ingot" compile "$tmp/bytes.ig" -o "$tmp/bytes.ingot"
holds "its artifact has a byte a weight" [ "$(stat -c %s "$tmp/bytes.ingot")" -lt 160000 ]
check "and it multiplies what they stand for" 0 " -16000 -16000 " \
    "$ingot" run "$tmp/bytes.ingot" --input 'x=f32[1,256]=1'

"$ingot" compile "$tmp/relu.ig" -q -o "$tmp/relu.ingot"
# Machine code runs only from what the user called *.ingot: content never decides it.
mkdir -p "$tmp/trust/case/test_data_set_0"
for name in model.onnx model.pt model; do
    cp "$tmp/relu.ingot" "$tmp/trust/$name"
    for verb in "run --input x=f32[1,4]=1" "bench --seconds 0.01" "profile --seconds 0.01"; do
        # shellcheck disable=SC2086
        check "$name with an artifact inside is not run: $verb" 3 "its machine code is not run" \
            "$ingot" $verb "$tmp/trust/$name"
    done
    check "unless it is trusted: $name" 0 "1 2 3 4" \
        "$ingot" run --trust-code --input 'x=f32[1,4]=1,2,3,4' "$tmp/trust/$name"
    check "$name tells what it is" 0 "input   x" "$ingot" inspect "$tmp/trust/$name"
done
"$ingot" run "$tmp/relu.ingot" -q --input 'x=f32[1,4]=1' --outputs "$tmp/trust/made"
cp "$tmp/trust/made/y.npy" "$tmp/trust/case/test_data_set_0/input_0.npy"
cp "$tmp/trust/made/y.npy" "$tmp/trust/case/test_data_set_0/output_0.npy"
cp "$tmp/relu.ingot" "$tmp/trust/case/model.onnx"
check "a case brings no code" 1 "the case's model is a compiled artifact" \
    "$ingot" verify "$tmp/trust/case"
cp "$tmp/relu.ingot" "$tmp/trust/case/code.ingot"
echo '{"model": "code.ingot"}' >"$tmp/trust/case/case.json"
check "nor by its case.json" 1 "the case's model is a compiled artifact" \
    "$ingot" verify "$tmp/trust/case"
check "the user may name it" 0 "1 passed" \
    "$ingot" verify --model "$tmp/trust/case/code.ingot" "$tmp/trust/case"
check "or trust it" 0 "1 passed" "$ingot" verify --trust-code "$tmp/trust/case"

# Weights that were changed are found before they give a wrong number.
patch $(($(offset_of weights) + 1000)) '\377\377\377\377'
check "a flipped byte of a constant is not run" 3 "$tmp/patched.ingot" \
    "$ingot" run "$tmp/patched.ingot" --inputs "$tmp/in"
rm -r "$tmp/trust"

# Other formats: the header of each version is read, and what to do is said.
check "an artifact of an older format" 4 \
    "format_3.ingot: the artifact has format version 3; this runtime reads version 6: compile its model again" \
    "$ingot" run tests/cli/files/format_3.ingot --input 'x=f32[1,4]=1'
for verb in inspect bench profile; do
    check "which $verb says too" 4 "format version 3" "$ingot" $verb tests/cli/files/format_3.ingot
done
# Byte 8 of the plan is the version; no hash covers it.
python3 - "$tmp/relu.ingot" "$tmp/newer.ingot" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.index(b"ingotPLN") + 8] = 200
open(sys.argv[2], "wb").write(data)
PY
check "and of a newer one" 4 "use the runtime of the Ingot that made it" \
    "$ingot" run "$tmp/newer.ingot" --input 'x=f32[1,4]=1'

# What an artifact holds says nothing of the machine that made it.
mkdir -p "$tmp/a-secret-folder/of-a-user"
cp "$tmp/dlrm.onnx" "$tmp/a-secret-folder/of-a-user/model.onnx"
cp "$tmp/relu.ig" "$tmp/a-secret-folder/of-a-user/relu.ig"
for model in model.onnx relu.ig; do
    for form in ingot object shared header; do
        "$ingot" compile "$tmp/a-secret-folder/of-a-user/$model" -q --emit $form \
            -o "$tmp/a-secret-folder/of-a-user/made.$form"
        holds "no path of $model in: $form" sh -c "
            ! grep -qa -e a-secret-folder -e '$PWD' '$tmp/a-secret-folder/of-a-user/made.$form'"
    done
done

# A file of one's own that is cut short while it is mapped: words and status 6, no crash.
cp "$tmp/dlrm.ingot" "$tmp/cut.ingot"
"$ingot" bench "$tmp/cut.ingot" -q --seconds 20 >"$tmp/words" 2>&1 &
child=$!
sleep 0.5
truncate -s 4096 "$tmp/cut.ingot"
wait $child
status=$?
holds "an open artifact that is cut short ends the tool with 6 ($status)" [ "$status" = 6 ]
holds "and says why" grep -q 'was cut short while it was read; replace files' "$tmp/words"
mkdir "$tmp/cut"
for after in 0.02 0.05 0.1 0.2; do
    cp "$tmp/dlrm.onnx" "$tmp/cut.onnx"
    "$ingot" compile "$tmp/cut.onnx" --no-cache -q -t cpu:v2,v3,v4,v4-vnni \
        -o "$tmp/cut/x.ingot" >"$tmp/words" 2>&1 &
    child=$!
    sleep $after
    truncate -s 1000 "$tmp/cut.onnx"
    wait $child
    status=$?
    # Before it is read, it is a damaged model; after that, nobody minds.
    holds "a model that is cut short after $after s is 6, 3 or 0 ($status)" \
        [ "$status" = 6 -o "$status" = 3 -o "$status" = 0 ]
    [ "$status" = 0 ] || holds "and leaves nothing" only "$tmp/cut"
    [ "$status" = 0 ] || holds "and has words" grep -q '^error: ' "$tmp/words"
    rm -f "$tmp/cut/"*
done
rm -r "$tmp/cut" "$tmp/cut.onnx" "$tmp/cut.ingot"

# One artifact for a CPU and for GPUs, whose code a stand-in for NVRTC makes.
export INGOT_CUDA_DIR=$build/unit/cuda
gpu=cpu:$level,cuda:sm_80,sm_90a+ptx
check "an artifact for two families is made" 0 "$level, cuda-sm_80, cuda-sm_90a, cuda-compute_90" \
    "$ingot" compile tests/models/dlrm_onehot.ig --target "$gpu" -o "$tmp/both.ingot"
check "inspect tells both" 0 "levels: $level, cuda-sm_80, cuda-sm_90a, cuda-compute_90 (here: $level)" \
    "$ingot" inspect --check "$tmp/both.ingot"
check "and so does its JSON" 0 "\"levels\": \"$level, cuda-sm_80" \
    "$ingot" inspect --json "$tmp/both.ingot"
check "strip keeps both" 0 "" "$ingot" strip "$tmp/both.ingot" -o "$tmp/stripped.ingot"
check "what is stripped is for both" 0 "cuda-sm_80" "$ingot" inspect "$tmp/stripped.ingot"
check "bench runs it" 0 "" "$ingot" bench "$tmp/both.ingot" --batch 1 --seconds 0.01
check "a list of levels is not chosen" 2 "unless it is cpu:LEVEL or cuda:LEVEL" \
    "$ingot" run "$tmp/both.ingot" --target cpu,cuda:sm_80
check "nor a family that is not here" 4 "there is no CUDA driver here" \
    "$ingot" run "$tmp/both.ingot" --target cuda:sm_80
check "one for GPUs alone is made" 0 "" \
    "$ingot" compile tests/models/dlrm_onehot.ig --target cuda:sm_80 -o "$tmp/gpu.ingot"
check "and not opened here" 4 "there is no CUDA driver here" "$ingot" inspect "$tmp/gpu.ingot"
check "nor is a program made for them" 4 "there is no CUDA driver here" \
    "$ingot" bench tests/models/dlrm_onehot.ig --target cuda:sm_80
check "NVRTC does not run in isolation" 4 "does not run in isolation" \
    "$ingot" compile tests/models/dlrm_onehot.ig --isolate --target "$gpu" -o "$tmp/no.ingot"
mkdir "$tmp/empty"
INGOT_CUDA_DIR=$tmp/empty check "where no NVRTC is, the error says so" 4 \
    "NVRTC, which compiles CUDA kernels, was not found in INGOT_CUDA_DIR=$tmp/empty" \
    "$ingot" compile tests/models/dlrm_onehot.ig --no-cache --target "$gpu" -o "$tmp/no.ingot"
unset INGOT_CUDA_DIR
