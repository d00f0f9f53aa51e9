# Ctrl-C: nothing is left, and the status says so.
# SPDX-License-Identifier: Apache-2.0

# stop SIGNAL[,SIGNAL] SECONDS COMMAND…: the status goes to $status, milliseconds of CPU time
# from the signals to the end to $took.
stop() {
    local signal=$1 after=$2
    shift 2
    read -r status took < <(python3 tests/cli/stop.py "$signal" "$after" "$tmp/words" "$@")
}

# Enough kernels that compiling takes a while: every level.
all=cpu:v2,v3,v4,v4-vnni
mkdir "$tmp/stopped"
for after in 0.05 0.2 0.5; do
    interrupt $after "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all \
        -o "$tmp/stopped/x.ingot" >"$tmp/words" 2>&1
    status=$?
    if [ "$status" = 0 ]; then
        skip "Ctrl-C after $after s" "it was done by then"
        rm -f "$tmp/stopped/x.ingot"
        continue
    fi
    holds "Ctrl-C after $after s is 130" [ "$status" = 130 ]
    holds "and says so" grep -q '^error: interrupted$' "$tmp/words"
    holds "and leaves nothing" only "$tmp/stopped"
done
interrupt 0.2 "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all --isolate \
    -o "$tmp/stopped/x.ingot" >"$tmp/out" 2>&1
holds "Ctrl-C ends a child process too" [ $? = 130 ]
holds "and leaves nothing of it" only "$tmp/stopped"
stop INT,INT 0.2 "$ingot" compile "$tmp/dlrm.onnx" --no-cache -q -t $all \
    -o "$tmp/stopped/x.ingot"
holds "a second Ctrl-C is 130" [ "$status" = 130 ]
if is_sanitized; then
    skip "a second Ctrl-C exits at once" "sanitizers take time to exit"
else
    holds "at once ($took ms)" [ "$took" -lt 1000 ]
fi

# What does not stop by itself is left, with the right status and nothing after it.
cat >"$tmp/huge.ig" <<'IG'
module @huge {
  graph @main(%x: f32[1]) -> (f32[] "y") {
    %0 = expand %x {to = [32768, 32768, 32768]} : f32[32768, 32768, 32768]
    %1 = exp %0 : f32[32768, 32768, 32768]
    %2 = reduce %1 {op = sum, axes = [0, 1, 2]} : f32[]
    ret %2
  }
}
IG
for signal in INT TERM; do
    stop $signal 1 "$ingot" run "$tmp/huge.ig" --input 'x=f32[1]=1' -o "$tmp/stopped/y.npy"
    holds "a launch without an end is left by SIG$signal ($status)" [ "$status" = 130 ]
    is_sanitized || holds "soon ($took ms)" [ "$took" -lt 1000 ]
    holds "and leaves nothing" only "$tmp/stopped"
done

# Any verb, at any moment.
mkdir -p "$tmp/stop_case/test_data_set_0"
cp "$tmp/dlrm.onnx" "$tmp/stop_case/model.onnx"
index=0
for input in "$tmp"/in/*; do
    cp "$input" "$tmp/stop_case/test_data_set_0/input_$index.${input##*.}"
    index=$((index + 1))
done
RANDOM=$((${INGOT_SEED:-$$}))
echo "moments drawn with INGOT_SEED=${INGOT_SEED:-$$}"
dlrm="$tmp/dlrm.onnx --no-cache -q -t $all"
for turn in $(seq "${INGOT_MOMENTS:-24}"); do
    case $((turn % 6)) in
        0) words="run $tmp/dlrm.onnx --no-cache -q --inputs $tmp/in -o $tmp/stopped/y.npz" ;;
        1) words="compile $dlrm -o $tmp/stopped/x.ingot" ;;
        2) words="compile $dlrm --isolate -o $tmp/stopped/x.ingot" ;;
        3) words="dump $tmp/dlrm.onnx --stage asm -o $tmp/stopped/x.s" ;;
        4) words="bench $tmp/dlrm.onnx --no-cache -q --seconds 9" ;;
        5) words="verify $tmp/stop_case --no-cache -q -t $all" ;;
    esac
    signal=$((RANDOM % 2 ? 15 : 2))
    # shellcheck disable=SC2086
    stop $signal "0.$(printf %03d $((RANDOM % 700)))" "$ingot" $words
    done_before=$([ "$status" = 0 ] || [ "$status" = 1 ] && echo yes)
    # Before its handler stands, a program ends as any does: by the signal itself.
    holds "stopped at some moment ($turn, $signal): ${words%% *}" \
        [ "$done_before" = yes -o "$status" = 130 -o "$status" = $((128 + signal)) ]
    is_sanitized || holds "soon ($turn, $took ms)" [ "$took" -lt 1000 ]
    [ "$done_before" = yes ] || holds "leaving nothing ($turn)" only "$tmp/stopped"
    rm -f "$tmp/stopped/"*
done

rm -r "$tmp/stop_case"

# A file that may not grow is an error, and leaves nothing.
check "a limit on the size of files is 6" 6 "cannot write" sh -c "
    ulimit -f 8; exec '$ingot' compile '$tmp/dlrm.onnx' --no-cache -q -o '$tmp/stopped/x.ingot'"
holds "and leaves nothing" only "$tmp/stopped"
