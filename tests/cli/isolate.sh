# Models that nobody trusts: a confined process does all of the work.
# SPDX-License-Identifier: Apache-2.0

mkdir -p "$tmp/apart"
isolated() {
    "$ingot" compile "$tmp/dlrm.onnx" -q --isolate -o "$tmp/apart/x.ingot" "$@"
}
"$ingot" compile "$tmp/dlrm.onnx" -q --no-cache -o "$tmp/plain.ingot"
holds "an isolated process compiles" isolated
holds "the same artifact" cmp "$tmp/plain.ingot" "$tmp/apart/x.ingot"
rm "$tmp/apart/x.ingot"
check "time has a limit" 5 "isolate_seconds" isolated --limit isolate_seconds=0
if ! is_sanitized; then
    check "memory has a limit" 5 "isolate_bytes" isolated --limit isolate_bytes=8000000
fi
check "other limits hold, and words come through" 5 "kernel_ops" isolated --limit kernel_ops=3
printf 'junk' >"$tmp/junk.onnx"
check "statuses come through" 3 "junk.onnx" \
    "$ingot" compile "$tmp/junk.onnx" --isolate -o "$tmp/apart/x.ingot"
check "a missing model is 6" 6 "no such file" \
    "$ingot" compile "$tmp/none.onnx" --isolate -o "$tmp/apart/x.ingot"
holds "and nothing is left of all that" only "$tmp/apart"
check "a model is not its own result" 2 "is the model itself" \
    "$ingot" compile "$tmp/dlrm.onnx" --isolate -o "$tmp/dlrm.onnx"
check "what is not isolated is refused" 4 "--isolate" isolated --emit asm
check "and so are weights outside" 4 "embeds weights" isolated --weights reference

# A worker that dies takes nobody with it, whatever it dies of.
for signal in SEGV BUS KILL SYS; do
    "$ingot" compile "$tmp/dlrm.onnx" -q --isolate -t cpu:v2,v3,v4,v4-vnni \
        -o "$tmp/apart/x.ingot" >"$tmp/words" 2>&1 &
    host=$!
    worker=
    for _ in $(seq 200); do
        worker=$(pgrep -P $host ingot-worker) && break
        sleep 0.005
    done
    kill -$signal "$worker" 2>/dev/null
    wait $host
    status=$?
    wanted=70
    [ $signal = BUS ] && wanted=6
    holds "a worker ended by SIG$signal is status $wanted ($status)" [ "$status" = $wanted ]
    holds "and has words" grep -q "isolated process" "$tmp/words"
    holds "and leaves nothing" only "$tmp/apart"
done

# verify: the model's declarations, and each of its forms.
apart=$tmp/apart_case
set_0=$apart/test_data_set_0
mkdir -p "$set_0"
python3 tests/cli/files/tiny_onnx.py "$apart/model.onnx" twins
"$ingot" run "$tmp/relu.ig" -q -t interpret --input 'x=f32[2,4]=random' -o "$set_0/input_0.npy"
cp "$set_0/input_0.npy" "$set_0/input_1.npy"
"$ingot" run "$apart/model.onnx" -q -t interpret --inputs "$set_0" -o "$set_0/output_0.npy"
for form in static dynamic constant; do
    check "verify, $form, in isolation" 0 "1 passed, 0 failed" \
        "$ingot" verify "$apart" --form $form --isolate
done
check "and of one call" 0 "" "$ingot" verify "$apart/model.onnx" --isolate \
    --inputs "$set_0" --expected "$set_0"
check "what verify meets in isolation fails the case" 1 "isolate_seconds" \
    "$ingot" verify "$apart" --isolate --limit isolate_seconds=0
check "nothing is interpreted in isolation" 2 "--isolate" \
    "$ingot" verify "$apart" --isolate -t interpret
rm -r "$apart"

# dump: the same text, at each stage and in each form.
for stage in import tensor plan kernel asm; do
    "$ingot" dump "$tmp/dlrm.onnx" -q -s $stage -o "$tmp/here.txt"
    "$ingot" dump "$tmp/dlrm.onnx" -q -s $stage --isolate -o "$tmp/apart.txt"
    holds "dump --stage $stage in isolation" cmp "$tmp/here.txt" "$tmp/apart.txt"
done
"$ingot" dump "$tmp/dlrm.onnx" -q --json --after fold -o "$tmp/here.txt"
"$ingot" dump "$tmp/dlrm.onnx" -q --json --after fold --isolate -o "$tmp/apart.txt"
holds "dump --json --after in isolation" cmp "$tmp/here.txt" "$tmp/apart.txt"
check "a dump's time has a limit" 5 "isolate_seconds" \
    "$ingot" dump "$tmp/dlrm.onnx" --isolate --limit isolate_seconds=0
check "a dump in isolation does not look at extents here" 2 "--isolate keeps it apart" \
    "$ingot" dump "$tmp/twins.onnx" --isolate --dim S=64

# What another user may cut short is copied, not mapped.
chmod o+w "$tmp/dlrm.onnx"
holds "a model that others may write is read all the same" isolated
chmod o-w "$tmp/dlrm.onnx"
rm -f "$tmp/apart/x.ingot"
