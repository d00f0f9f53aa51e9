# Broken and hostile models: each refused with words, in little time and memory.
# SPDX-License-Identifier: Apache-2.0

# bad_onnx FOLDER WHAT: each file of its list.json.
bad_onnx() {
    local limits=2,64,64,256
    if [ ! -r "$1/list.json" ]; then
        skip "$2" "$1 is absent"
        return
    fi
    is_sanitized && limits=90,0,0,0
    python3 tests/cli/bad_files.py "$ingot" "$1" $limits >"$tmp/bad.log"
    while IFS= read -r line; do
        case $line in
            "pass "*) passed=$((passed + 1)) ;;
            *) report "$line" ;;
        esac
    done <"$tmp/bad.log"
    holds "$2: every file was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \$(grep -c '\"file\"' '$1/list.json') ]"
}
bad_onnx "$cases/models/onnx/bad" "broken and hostile models"
bad_onnx "$cases/reviews/bad_onnx" "models that ask for too much"

# TorchScript archives: those of the list, then those that are made here to hurt.
bad_torch() {
    python3 tests/cli/bad_torch.py "$ingot" "$@" >"$tmp/bad.log" 2>&1
    while IFS= read -r line; do
        case $line in
            "pass "*) passed=$((passed + 1)) ;;
            *) report "$line" ;;
        esac
    done <"$tmp/bad.log"
}
limits=2,64,256
is_sanitized && limits=90,0,0
if [ -r "$cases/models/torch/bad/list.json" ]; then
    bad_torch "$cases/models/torch/bad" $limits "$cases/models/torch/bad/list.json"
    holds "every archive was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \
          \$(grep -c '\"file\"' '$cases/models/torch/bad/list.json') ]"
else
    skip "broken archives" "$cases/models/torch/bad is absent"
fi
holds "archives that hurt are made" python3 tests/cli/files/hostile_files.py "$tmp/hostile"
bad_torch "$tmp/hostile" $limits
holds "and each was tried" sh -c "
    [ \$(grep -c . '$tmp/bad.log') = \$(ls '$tmp/hostile' | wc -l) ]"
rm -rf "$tmp/hostile"

# What a model says many times is compiled once, and nothing is quadratic.
limits="2 300"
is_sanitized && limits="60 0"
for form in "dense 300" "concat 200" "concat 20000"; do
    # shellcheck disable=SC2086
    python3 tests/cli/files/repeated.py $form >"$tmp/repeated.ig"
    # shellcheck disable=SC2086
    holds "$form is compiled in little time and memory" \
        python3 tests/cli/within.py $limits \
        "$ingot" compile "$tmp/repeated.ig" --no-cache -o "$tmp/repeated.ingot"
done

# A loop that doubles a tensor: in the compiled program a limit stops it too.
cat >"$tmp/grow.ig" <<'END'
module @grow {
  symbol N {min = 1}
  symbol M {min = 0}
  graph @main(%x: f32[N], %n: i64[]) -> (f32[M] "y") {
    %0 = const {value = bool[] true} : bool[]
    %1 = loop %n, %0, %x : f32[M] (%i: i64[], %k: bool[], %y: f32[M]) {
      %2 = concat %y, %y {axis = 0} : f32[2*M]
      yield %0, %2
    }
    ret %1
  }
}
END
check "a loop that grows without end meets the limit" 5 "--limit session_bytes=N" \
    "$ingot" run "$tmp/grow.ig" --input 'x=f32[4]=1' --input n=60 \
    --limit session_bytes=50000000
check "and by default one of what a run may grow" 5 "--limit late_bytes=N" \
    "$ingot" run "$tmp/grow.ig" --input 'x=f32[4]=1' --input n=60
check "which can be raised" 0 "f32[33554432]" \
    "$ingot" run "$tmp/grow.ig" --input 'x=f32[4]=1' --input n=23 --limit late_bytes=1000000000
# Text without guards: extents that do not fit each other are an error where they are used.
cat >"$tmp/unguarded.ig" <<'END'
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[C]) -> (f32[1] "z") {
    %one = const {value = [1]} : f32[1]
    %0 = if %c : f32[1] {
      %1 = add %x, %y : f32[bcast(B, C)]
      %2 = slice %1 {starts = [2], sizes = [C], steps = [1]} : f32[C]
      %3 = reduce %2 {axes = [0], keep, op = sum} : f32[1]
      yield %3
    } else {
      yield %one
    }
    ret %0
  }
}
END
for target in cpu interpret; do
    check "$target: extents that do not broadcast are refused" 3 "do not broadcast" \
        "$ingot" run "$tmp/unguarded.ig" -t $target --input c=true --input 'x=f32[2]=1' --input 'y=f32[3]=1'
    check "$target: a slice beyond what there is, too" 3 "slice: " \
        "$ingot" run "$tmp/unguarded.ig" -t $target --input c=true --input 'x=f32[4]=1' --input 'y=f32[4]=1'
    check "$target: not where the branch is not taken" 0 "  1" \
        "$ingot" run "$tmp/unguarded.ig" -t $target --input c=false --input 'x=f32[2]=1' --input 'y=f32[3]=1'
    check "$target: and what fits is computed" 0 "  2" \
        "$ingot" run "$tmp/unguarded.ig" -t $target --input c=true --input 'x=f32[3]=1' --input 'y=f32[1]=1'
done
cat >"$tmp/largest.ig" <<'END'
module @largest {
  graph @main(%x: f32[4], %k: i64[]) -> (f32[K] "y") {
    %0, %1 = topk %x, %k {axis = 0} : f32[K], i64[K]
    ret %0
  }
}
END
check "what is checked in the run names the op that asks" 3 \
    "largest.ig: line 3: topk is asked for more elements than there are" \
    "$ingot" run "$tmp/largest.ig" --input 'x=f32[4]=1' --input k=5
said=$(cat "$tmp/out")
holds "and by how much" test "${said%(5 is not at most 4)*}" != "$said"

cat >"$tmp/collect.ig" <<'END'
module @collect {
  symbol N {min = 1}
  graph @main(%x: f32[N], %n: i64[], %t: f32[]) -> (f32[T, N] "y") {
    %0 = const {value = bool[] true} : bool[]
    %1, %2 = loop %n, %0, %x {scans = 1} : f32[N], f32[T, N] (%i: i64[], %k: bool[], %v: f32[N]) {
      %3 = add %v, %v : f32[N]
      %4 = reduce %3 {op = sum, axes = [0]} : f32[]
      %5 = lt %4, %t : bool[]
      yield %5, %3, %3
    }
    ret %2
  }
}
END
check "rows of a loop that ends early are as many as its trips" 0 "f32[3, 4]" \
    "$ingot" run "$tmp/collect.ig" --input 'x=f32[4]=1' --input n=9223372036854775807 \
    --input t=30
check "rows that grow without end meet the limit" 5 "--limit late_bytes=N" \
    "$ingot" run "$tmp/collect.ig" --input 'x=f32[4096]=0' --input n=1000000000000 \
    --input t=30
check "and is larger for larger inputs" 0 "f32[33554432]" \
    "$ingot" run "$tmp/grow.ig" --input 'x=f32[4194304]=1' --input n=3
