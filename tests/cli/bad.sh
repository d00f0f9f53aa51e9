# Broken and hostile models: each refused with words, in little time and memory.
# SPDX-License-Identifier: Apache-2.0

bad=$cases/models/onnx/bad
if [ ! -r "$bad/list.json" ]; then
    skip "broken and hostile models" "$bad is absent"
else
    limits=2,64,64
    is_sanitized && limits=30,0,0
    python3 tests/cli/bad_files.py "$ingot" "$bad" $limits >"$tmp/bad.log"
    while IFS= read -r line; do
        case $line in
            "pass "*) passed=$((passed + 1)) ;;
            *) report "$line" ;;
        esac
    done <"$tmp/bad.log"
    holds "every file was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \$(grep -c '\"file\"' '$bad/list.json') ]"
fi

# Those that ask for too much; what lists 65,535 launches needs memory for them.
demanding=$cases/reviews/bad_onnx
if [ ! -r "$demanding/list.json" ]; then
    skip "models that ask for too much" "$demanding is absent"
else
    limits=2,0,0
    is_sanitized && limits=60,0,0
    python3 tests/cli/bad_files.py "$ingot" "$demanding" $limits >"$tmp/bad.log"
    holds "models that ask for too much are refused or cheap" \
        sh -c "! grep -v '^pass ' '$tmp/bad.log'"
    holds "and each was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \$(grep -c '\"file\"' '$demanding/list.json') ]"
fi

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
limits=5,1024
is_sanitized && limits=90,0
if [ -r "$cases/models/torch/bad/list.json" ]; then
    bad_torch "$cases/models/torch/bad" $limits "$cases/models/torch/bad/list.json"
    holds "every archive was tried" sh -c "
        [ \$(grep -c . '$tmp/bad.log') = \
          \$(grep -c '\"file\"' '$cases/models/torch/bad/list.json') ]"
else
    skip "broken archives" "$cases/models/torch/bad is absent"
fi
holds "archives that hurt are made" python3 tests/cli/hostile_files.py "$tmp/hostile"
bad_torch "$tmp/hostile" $limits
holds "and each was tried" sh -c "
    [ \$(grep -c . '$tmp/bad.log') = \$(ls '$tmp/hostile' | wc -l) ]"
rm -rf "$tmp/hostile"

# What a model says many times is compiled once, and nothing is quadratic.
limits="2 300"
is_sanitized && limits="60 0"
for form in "dense 300" "concat 200" "concat 20000"; do
    # shellcheck disable=SC2086
    python3 tests/cli/repeated.py $form >"$tmp/repeated.ig"
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
