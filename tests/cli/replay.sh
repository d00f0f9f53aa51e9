# Calls that a host program wrote down.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/counter.ig" <<'END_OF_MODEL'
module @counter {
  weight @calls : i64[] = 5
  weight @w : f32[4, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  graph @main(%x: f32[B, 4], %id: i64[B], %calls: i64[] = @calls)
      -> (f32[B, 3] "y", f32[B, 4] "rows/of it", i64[]) {
    %0 = const {value = 1} : i64[]
    %1 = add %calls, %0 : i64[]
    %2 = cast %1 {to = f32} : f32[]
    %3 = mul %x, %2 : f32[B, 4]
    %4 = matmul %3, @w : f32[B, 3]
    %5 = gather %x, %id {axis = 0} : f32[B, 4]
    ret %4, %5, %1
  }
}
END_OF_MODEL
"$ingot" compile "$tmp/counter.ig" -o "$tmp/counter.ingot" >/dev/null 2>&1
x='x=f32[2,4]=random' id='id=i64[2]=1,0'
run=("$ingot" run "$tmp/counter.ingot" --input "$x" --input "$id")
captured=$tmp/captured

# Who waits for it has every call; ordinary runs know nothing of it.
check "a run is captured" 0 "" env INGOT_CAPTURE="$captured" "${run[@]}"
session=$(echo "$captured"/counter-*)
holds "with its artifact" cmp "$tmp/counter.ingot" "$session/artifact.ingot"
numpy_holds "its inputs and outputs, for numpy" "$python" -c '
import json, sys
import numpy
call = sys.argv[1] + "/call_0000/"
x, y = numpy.load(call + "input_0.npy"), numpy.load(call + "output_0.npy")
w = numpy.arange(1, 13, dtype="f4").reshape(4, 3)
assert x.shape == (2, 4) and numpy.allclose(y, x * 6 @ w, 1e-5), y
assert numpy.load(call + "input_1.npy").tolist() == [1, 0]
outputs = json.load(open(call + "outputs.json"))
assert outputs["status"] == 0 and outputs["outputs"][1]["name"] == "rows/of it", outputs
facts = json.load(open(sys.argv[1] + "/session.json"))
assert facts["model"] == "counter" and facts["threads"] == 1, facts
' "$session"
holds "nobody else may read it" test "$(stat -c %a "$session" "$session/call_0000" | uniq)" = 700
holds "nor its folder" test "$(stat -c %a "$captured")" = 700
check "a capture is code" 3 "give --trust-code" "$ingot" replay "$session"
check "it runs again" 0 "1 calls: 1 the same bits, 0 within" \
    "$ingot" replay "$session" --trust-code

for i in 0 1; do
    cp -r "$session" "$tmp/changed$i"
    printf '\100' | dd of="$tmp/changed$i/call_0000/output_$i.npy" bs=1 conv=notrunc status=none \
        seek=$(($(stat -c %s "$session/call_0000/output_$i.npy") - 1))
    check "output $i is compared" 1 "differs: output" \
        "$ingot" replay "$tmp/changed$i" --trust-code
done

# It runs anywhere: without the model, its folder, or the file of its weights.
mkdir "$tmp/there"
mv "$captured" "$tmp/there/moved"
check "elsewhere, all sessions" 0 "1 calls: 1 the same bits" \
    "$ingot" replay "$tmp/there/moved" --trust-code
check "with JSON" 0 '"verdict": "the same bits"' \
    "$ingot" replay "$tmp/there/moved" --trust-code --json

check "weights that are elsewhere" 0 "" "$ingot" compile "$tmp/counter.ig" \
    --weights reference -o "$tmp/referring.ingot"
INGOT_CAPTURE=$tmp/referred "$ingot" run "$tmp/referring.ingot" --input "$x" --input "$id" \
    >/dev/null 2>&1
INGOT_CAPTURE=$tmp/compiled "$ingot" run "$tmp/counter.ig" --input "$x" --input "$id" \
    >/dev/null 2>&1
mkdir "$tmp/away"
mv "$tmp/counter.ig" "$tmp/counter.ingot" "$tmp/referring.ingot" "$tmp/away"
check "come along" 0 "1 calls: 1 the same" "$ingot" replay "$tmp/referred" --trust-code
check "as those of programs in memory" 0 "1 calls: 1 the same" \
    "$ingot" replay "$tmp/compiled" --trust-code
mv "$tmp/away"/* "$tmp"

# State goes on from call to call, and bound runs are calls.
check "three calls of a session" 0 "" env INGOT_CAPTURE="$tmp/three" INGOT_CAPTURE_CALLS=3 \
    "$ingot" bench "$tmp/counter.ingot" --seconds 0.1 --batch 4
holds "and no more" sh -c "ls -d '$tmp'/three/*/call_0002 && ! ls -d '$tmp'/three/*/call_0003"
check "in their order" 0 "0 different" "$ingot" replay "$tmp/three" --trust-code
one=$(echo "$tmp"/three/counter-* | cut -d' ' -f1)
mv "$one/call_0002" "$tmp/third"
mv "$one/call_0001" "$one/call_0002"
mv "$tmp/third" "$one/call_0001"
check "in another order they differ" 1 "call_0001: differs: output 'y': at [0, 0]" \
    "$ingot" replay "$one" --trust-code

# What fails, and what never returned.
check "a call that fails" 3 "" env INGOT_CAPTURE="$tmp/failed" \
    "$ingot" run "$tmp/counter.ingot" --input "$x" --input 'id=i64[2]=1,9'
check "fails again" 0 "fails as it did" "$ingot" replay "$tmp/failed" --trust-code
cp -r "$tmp/there/moved" "$tmp/cut"
cut=$(echo "$tmp"/cut/counter-*)
rm "$cut/call_0000/outputs.json"
check "a call that did not return" 0 "did not return when it was captured" \
    "$ingot" replay "$cut" --trust-code
truncate -s 130 "$cut/call_0000/input_0.npy"
check "a value that was cut" 3 "its contents do not match its list" \
    "$ingot" replay "$cut" --trust-code
check "no capture" 3 "no call was captured" "$ingot" replay "$tmp/there" --trust-code
check "none at all" 6 "cannot read" "$ingot" replay "$tmp/nowhere" --trust-code
check "a folder that cannot be" 6 "INGOT_CAPTURE: " \
    env INGOT_CAPTURE="$tmp/counter.ig/x" "${run[@]}"
