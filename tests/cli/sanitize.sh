# Code that checks what it touches: --sanitize just in time, in artifacts, at each level,
# on several threads.  SPDX-License-Identifier: Apache-2.0

# A plan as lowering leaves it, with kernels that are wrong: `take` believes any id, and
# `copy` writes 16 elements at a time.
cat >"$tmp/wrong.ig" <<'END'
module @wrong {
  plan @main(%x: f32[B, 4], %ids: i64[N]) -> (&f32[N, 4] "rows", &f32[B, 4] "same") {
    %0 = alloc : &f32[N, 4]
    %1 = alloc : &f32[B, 4]
    launch %ids, %x, %0 {kernel = @take, outs = 1, grid = N, cost = 100000}
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1, params = [4*B]}
    ret %0, %1
  }
  kernel @take(%ids: &i64, %x: &f32, %y: &f32) {
    %0, %1 = tiles : i64, i64
    %2 = const {value = 1} : i64
    %3 = const {value = 4} : i64
    for %0, %1, %2 (%i: i64) {
      %4 = load %ids, %i : i64
      %5 = mul %4, %3
      %6 = load %x, %5 : f32<4>
      %7 = mul %i, %3
      store %6, %y, %7
      yield
    }
    ret
  }
  kernel @copy(%x: &f32, %y: &f32, %n: i64) {
    %0 = const {value = 0} : i64
    %1 = const {value = 16} : i64
    for %0, %n, %1 (%i: i64) {
      %2 = load %x, %i : f32<16>
      store %2, %y, %i
      yield
    }
    ret
  }
}
END
wrong=$tmp/wrong.ingot
for target in $levels; do
    check "sanitized code for $target" 0 "" "$ingot" compile "$tmp/wrong.ig" \
        --passes dce --sanitize --target "cpu:$target" -o "$tmp/wrong-$target.ingot"
    if ! runs_here "$target"; then
        skip "sanitized code for $target" "this machine runs $level"
        continue
    fi
    x="x=f32[4,4]=iota"
    check "good ids, $target" 0 "12 13 14 15" "$ingot" run "$tmp/wrong-$target.ingot" \
        --input "$x" --input 'ids=i64[3]=0,3,1'
    for threads in 1 2 4; do
        check "an id in front of the table, $target, $threads threads" 70 \
            "'take' of line 5 loads 16 bytes at byte -48 of operand 1, input 'x', which has 64" \
            "$ingot" run "$tmp/wrong-$target.ingot" --threads $threads \
            --input "$x" --input 'ids=i64[5]=0,3,-3,1,2'
    done
    check "an id far behind the table, $target" 70 \
        "at byte 159999999984 of operand 1, input 'x', which has 64" \
        "$ingot" run "$tmp/wrong-$target.ingot" \
        --input "$x" --input 'ids=i64[3]=0,1,9999999999'
    check "a vector over the end, $target" 70 \
        "'copy' of line 6 stores 64 bytes at byte 0 of operand 1, output 'same', which has 48" \
        "$ingot" run "$tmp/wrong-$target.ingot" \
        --input 'x=f32[3,4]=iota' --input 'ids=i64[1]=0'
    check "nothing at all, $target" 0 "" "$ingot" run "$tmp/wrong-$target.ingot" \
        --input 'x=f32[0,4]=0' --input 'ids=i64[0]=0'
done
check "an artifact says so" 0 "sanitized: " "$ingot" inspect "$tmp/wrong-v2.ingot"
check "in JSON too" 0 '"is_sanitized": true' "$ingot" inspect --json "$tmp/wrong-v2.ingot"
check "the manifest says so" 0 '"sanitized": true' unzip -p "$tmp/wrong-v2.ingot" \
    manifest.json
check "kernels of GPUs have no checks" 4 "only those of CPUs" "$ingot" dump \
    --stage cuda --target cuda:sm_80 --sanitize tests/models/dlrm_onehot.ig

# A kernel that reads what nobody wrote.
cat >"$tmp/gap.ig" <<'END'
module @gap {
  plan @main(%x: f32[4]) -> (&f32[4] "y") {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[4]
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, params = [3]}
    launch %0, %1 {kernel = @copy, outs = 1, grid = 1, params = [4]}
    ret %1
  }
  kernel @copy(%x: &f32, %y: &f32, %n: i64) {
    %0 = const {value = 0} : i64
    %1 = load %x, %0, %n : f32<4>
    store %1, %y, %0, %n
    ret
  }
}
END
check "gaps compile" 0 "" "$ingot" compile "$tmp/gap.ig" --passes dce --sanitize \
    -o "$tmp/gap.ingot"
check "what nobody wrote is NaN" 0 "1 1 1 nan" "$ingot" run "$tmp/gap.ingot" \
    --input 'x=f32[4]=1'

# A model that is right: the same bits.
model=tests/models/dlrm_onehot.ig
given=(--input 'dense=f32[5,13]=random' --input 'ids=i64[5,26]=1')
if "$ingot" inspect "$model" | grep -q "^input *ids"; then
    "$ingot" run "$model" "${given[@]}" --json >"$tmp/plain"
    for threads in 1 3; do
        "$ingot" run "$model" "${given[@]}" --json --sanitize --threads $threads >"$tmp/checked"
        holds "the same bits, checked, $threads threads" cmp "$tmp/plain" "$tmp/checked"
    done
fi
# Bags go where ids and offsets send them: weights that lie closer than their ids, offsets
# past the ids, which are the caller's mistake and no defect.
cat >"$tmp/bag.ig" <<'END'
module @bag {
  weight @t : f32[4, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  graph @main(%ids: i64[N], %off: i64[B], %pairs: i64[M, 2], %poff: i64[B], %w: f32[M]) -> (f32[B, 3] "y", f32[B, 3] "z") {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 3]
    %1 = slice %pairs {starts = [0, 1], sizes = [M, 1]} : i64[M, 1]
    %2 = reshape %1 {to = [M]} : i64[M]
    %3 = bag @t, %2, %poff, %w {operands = [5], pool = [sum]} : f32[B, 3]
    ret %0, %3
  }
}
END
look_up() { # look_up OFFSETS
    "$ingot" run --no-cache --sanitize "$tmp/bag.ig" --input 'ids=i64[5]=0,3,1,2,2' \
        --input "off=i64[2]=$1" --input 'pairs=i64[3,2]=9,0,9,1,9,2' \
        --input 'poff=i64[2]=0,1' --input 'w=f32[3]=1,10,100'
}
check "bags stay inside" 0 "740 850 960" look_up 0,2
check "offsets past the ids" 3 "input 'off' element" look_up 0,6
check "offsets far past the ids" 3 "input 'off' element" look_up 0,4611686018427387904
check "offsets in front of the ids" 3 "input 'off' element" look_up 0,-1

# The caches know the two apart.
for option in "" --sanitize "" --sanitize; do
    check "compiled with '$option'" 0 "" "$ingot" compile $option "$model" -o "$tmp/model.ingot"
    attempt "$ingot" inspect "$tmp/model.ingot"
    holds "it is what was asked for: '$option'" \
        test "$(grep -c '^sanitized' "$tmp/out")" = $((${#option} > 0))
done
check "a confined process can, too" 0 "sanitized: " sh -c \
    "'$ingot' compile --isolate --sanitize '$model' -o '$tmp/model.ingot' && '$ingot' inspect '$tmp/model.ingot'"
check "an artifact takes no --sanitize" 2 "--sanitize has no effect" \
    "$ingot" run "$tmp/gap.ingot" --sanitize --input 'x=f32[4]=1'
