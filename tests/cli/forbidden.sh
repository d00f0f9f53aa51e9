# Programs where memory may not become executable.  SPDX-License-Identifier: Apache-2.0

forbid=$tmp/forbid
call=(--input 'x=f32[1,4]=-1,2,-3,4')
mkdir "$tmp/linked"

# The artifact's code is mapped from its file, or from a sealed one in memory.
runs_forbidden() {
    check "an artifact runs without $*" 0 "0 2 0 4" \
        "$forbid" "$@" -- "$ingot" run "$tmp/small.ingot" "${call[@]}"
    holds "and is measured" "$forbid" "$@" -- "$ingot" bench "$tmp/small.ingot" \
        "${call[@]}" --seconds 0.01
}

if ! command -v cc >/dev/null; then
    skip "programs where something is forbidden" "there is no cc"
elif is_sanitized; then
    skip "programs where something is forbidden" "sanitizers map what they need"
elif ! cc -O1 -D_GNU_SOURCE -Wall -Wextra -Werror tests/cli/files/forbid.c -o "$forbid" ||
    ! "$forbid" gain memfd sockets -- true; then
    skip "programs where something is forbidden" "this kernel has no PR_SET_MDWE or seccomp"
else
    "$ingot" compile "$tmp/relu.ig" -q -o "$tmp/small.ingot"
    "$ingot" compile "$tmp/relu.ig" -q --emit object -o "$tmp/linked/small.o"
    "$ingot" compile "$tmp/relu.ig" -q --emit header -o "$tmp/linked/small.h"
    runs_forbidden gain
    runs_forbidden gain memfd
    check "so does a model that is compiled on the way" 0 "0 2 0 4" \
        "$forbid" gain -- "$ingot" run "$tmp/relu.ig" --no-cache "${call[@]}"
    check "which says what forbids it" 4 "programs in memory (memfd_create: " \
        "$forbid" memfd -- "$ingot" run "$tmp/relu.ig" --no-cache "${call[@]}"
    cp "$tmp/small.ingot" "$tmp/shared.ingot"
    chmod o+w "$tmp/shared.ingot"
    check "a file that others may write is copied" 0 "0 2 0 4" \
        "$forbid" gain -- "$ingot" run "$tmp/shared.ingot" "${call[@]}"
    check "into memory that must be allowed" 4 \
        "forbids code from memory (memfd_create: " \
        "$forbid" memfd -- "$ingot" run "$tmp/shared.ingot" "${call[@]}"
    holds "a program links a model" cc -O1 -Wall -Wextra -Werror -Iinclude \
        -I"$tmp/linked" tests/cli/files/linked.c "$tmp/linked/small.o" -o "$tmp/linked/one" \
        -L"$build" -lingot-runtime -Wl,-rpath,"$build"
    check "and runs from its own text" 0 "0 2 0 4" \
        "$forbid" gain memfd -- "$tmp/linked/one"

    # No verb but those that join ranks, open stores or serve opens a socket (docs/privacy.md).
    "$python" tests/cli/files/reshard_case.py "$tmp"
    "$ingot" run "$tmp/dlrm.onnx" -q --inputs "$tmp/in" -o "$tmp/scores"
    INGOT_CAPTURE=$tmp/captured "$ingot" run "$tmp/small.ingot" "${call[@]}" >/dev/null
    cat >"$tmp/line.ig" <<'IG'
module @line {
  weight @w : f32[4, 1] = splat(0.5)
  graph @main(%x: f32[B, 4]) -> (f32[B, 1] "y") {
    %0 = matmul %x, @w : f32[B, 1]
    ret %0
  }
}
IG
    cat >"$tmp/tables.json" <<'TEXT'
{"tables": [{"name": "users", "rows": 100000, "dim": 64}],
 "topology": {"world_size": 2, "compute_device": "cuda"}, "batch_size": 512}
TEXT
    for r in 0 1; do
        "$ingot" compile "$tmp/m.ig" -q --plan "$tmp/two.json" --rank $r -o "$tmp/old$r.ingot"
    done
    verbs=" serve worker load " # which are asked to
    while read -r verb rest; do
        verbs+="$verb "
        # shellcheck disable=SC2086
        holds "ingot $verb opens no socket" "$forbid" sockets -- "$ingot" $verb $rest
    done <<VERBS
compile $tmp/dlrm.onnx -q --no-cache -o $tmp/quiet.ingot
compile $tmp/dlrm.onnx -q --isolate -o $tmp/quiet.ingot
run $tmp/quiet.ingot --inputs $tmp/in
bench $tmp/quiet.ingot --seconds 0.01
profile $tmp/dlrm.onnx --seconds 0.01
dump $tmp/dlrm.onnx --stage plan
inspect $tmp/quiet.ingot --check --json
opt $tmp/relu.ig --passes dce
compare $tmp/dlrm.onnx --inputs $tmp/in
verify $tmp/dlrm.onnx -i $tmp/in --expected $tmp/scores
quantize $tmp/dlrm.onnx -q --dynamic -o $tmp/bytes.ig
train $tmp/line.ig -q --loss mse:y=label -o $tmp/step.ingot
reduce $tmp/dlrm.onnx -q --check false -o $tmp/least.onnx
replay $tmp/captured --trust-code
shard $tmp/tables.json
reshard $tmp/old%r.ingot -q --plan $tmp/three.json -o $tmp/new%r.ingot
store ping memory://
strip $tmp/quiet.ingot -o $tmp/stripped.ingot
cache info
info
VERBS
    for verb in $("$ingot" --help | sed -n 's/^  ingot \([a-z]*\) .*/\1/p'); do
        holds "it was asked of $verb" test -z "${verbs##* $verb *}"
    done
    check "but the filter ends a server" 159 "" sh -c "ulimit -c 0; exec '$forbid' sockets -- \
        '$ingot' serve '$tmp/quiet.ingot' --http-port 0 --grpc-port -1"
fi
