# Structured calls: trees of arguments and results, state, inputs that a call changes.
# SPDX-License-Identifier: Apache-2.0

case=$tmp/counts
mkdir -p "$case/test_data_set_0" "$case/test_data_set_1"
cat >"$case/model.ig" <<'EOF'
module @counts {
  weight @calls : i64[] = 0
  graph @main(%a "f.values": f32[V], %b "f.lengths": i64[L], %x "x": f32[3],
      %calls: i64[] = @calls) -> (f32[V] "y", i64[] "n", f32[3] "x_after", i64[])
      as forward(f: kjt(keys=["a", "b"], values=tensor, lengths=tensor, weights=none),
                 x: tensor, by: 2)
      -> {"y": tensor, 7: (int, "text", 2.5, none)} after x: tensor {
    %0 = const {value = 1} : i64[]
    %1 = add %calls, %0 : i64[]
    %2 = neg %a : f32[V]
    %3 = add %x, %x : f32[3]
    ret %2, %1, %3, %1
  }
}
EOF
cat >"$tmp/whole.ig" <<'EOF'
module @m { graph @main(%x "x": i64[N]) -> (i64[N] "y") { ret %x } }
EOF
cat >"$tmp/real.ig" <<'EOF'
module @m { graph @main(%x "x": f32[N]) -> (f32[N] "y") { ret %x } }
EOF
put() { # put FILE KIND VALUE
    "$ingot" run "$tmp/$2.ig" -q --input "x=$3" --outputs "$tmp/made" &&
        mv "$tmp/made/y.npy" "$case/$1"
}
# call SET CALLS: what torch would store of that call.
call() {
    local set=test_data_set_$1
    put $set/input_0.npy real 'f32[4]=1,2,3,4'
    put $set/input_1.npy whole 'i64[2]=3,1'
    put $set/input_2.npy real 'f32[3]=1,1,1'
    put $set/after_input_2.npy real 'f32[3]=2,2,2'
    put $set/output_0.npy real 'f32[4]=-1,-2,-3,-4'
    cat >"$case/$set/values.json" <<EOF
{"method": "forward", "args": [
   {"kjt": {"keys": ["a", "b"], "values": {"tensor": 0, "dtype": "float32", "shape": [4]},
            "lengths": {"tensor": 1, "dtype": "int64", "shape": [2]}, "weights": null}},
   {"tensor": 2, "dtype": "float32", "shape": [3]}, {"int": 2}],
 "result": {"dict": [["y", {"tensor": 0, "dtype": "float32", "shape": [4]}],
   [7, {"tuple": [{"int": $2}, {"str": "text"}, {"float": 2.5}, {"none": true}]}]]},
 "mutated_inputs": [2]}
EOF
}
call 0 1
call 1 1
for target in cpu interpret; do
    check "$target: each call starts anew" 0 "1 passed, 0 failed, 0 skipped" \
        "$ingot" verify -t $target "$case"
done
echo '{"stateful": "in order"}' >"$case/case.json"
check "a sequence of calls keeps its state" 1 \
    "test_data_set_1: result[7][0]: got 2, want 1" "$ingot" verify "$case"
call 1 2
for target in cpu interpret; do
    check "$target: and passes with the values of a sequence" 0 "1 passed" \
        "$ingot" verify -t $target "$case"
done
"$ingot" compile "$case/model.ig" -q -o "$tmp/counts.ingot"
check "an artifact has the tree too" 0 "1 passed" \
    "$ingot" verify --model "$tmp/counts.ingot" "$case"
put test_data_set_0/after_input_2.npy real 'f32[3]=2,2,9'
check "an input that should have become something else" 1 \
    "test_data_set_0: input 'x' after the call: at [2] got 2, want 9" \
    "$ingot" verify "$case"
rm "$case/test_data_set_0/after_input_2.npy"
check "or that should have stayed" 1 "input 'x' after the call: at [0] got 2, want 1" \
    "$ingot" verify "$case"
call 0 1
sed -i 's/"text"}/"other"}/' "$case/test_data_set_0/values.json"
check "strings are compared" 1 'result[7][1]: got "text", want "other"' \
    "$ingot" verify "$case"
call 0 1
sed -i 's/{"none": true}/{"int": 3}/' "$case/test_data_set_0/values.json"
check "kinds too" 1 'result[7][3]: got None, want an int' "$ingot" verify "$case"
call 0 1
sed -i 's/"y", {/"z", {/' "$case/test_data_set_0/values.json"
check "and keys" 1 'result[0]: got "y", want "z"' "$ingot" verify "$case"
check "inputs of IR text are not folded" 0 "0 passed, 0 failed, 1 skipped" \
    "$ingot" verify --form constant "$case"

check "info prints a line an argument" 0 \
    'takes   f: kjt(keys=["a", "b"], values=f32[V], lengths=i64[L], weights=none)' \
    "$ingot" inspect "$tmp/counts.ingot"
check "and what the call gives" 0 'gives   {"y": f32[V], 7: (int, "text", 2.5, none)}' \
    "$ingot" inspect "$case/model.ig"
check "changes" 0 'changes x: f32[3]' "$ingot" inspect "$case/model.ig"
check "and keeps" 0 'state   calls: i64[]' "$ingot" inspect "$tmp/counts.ingot"
kjt=f=kjt:keys=a,b\;lengths=3,1\;values=1.0,2.0,3.0,4.5
check "an artifact takes its arguments by their tree" 0 "-1 -2 -3 -4.5" \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt" --input 'x=f32[3]=1'
check "by its flat inputs too" 0 "-1 -2 -3 -4" "$ingot" run "$tmp/counts.ingot" \
    --input 'f.values=f32[4]=1,2,3,4' --input 'f.lengths=i64[2]=3,1' --input 'x=f32[3]=1'
check "what it was compiled for must be given" 3 "f.keys[1]: expected the str 'b', got the str 'c'" \
    "$ingot" run "$tmp/counts.ingot" --input "${kjt/a,b/a,c}" --input 'x=f32[3]=1'
check "numbers as well" 3 "by: expected the int 2, got the int 3" \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt" --input 'x=f32[3]=1' --input by=3
check "and kinds" 3 "f: expected a KeyedJaggedTensor, got None" \
    "$ingot" run "$tmp/counts.ingot" --input 'f=none' --input 'x=f32[3]=1'
check "an argument without a value is named" 3 "x: expected f32[3], got nothing" \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt"
check "and all arguments are listed" 3 'f: kjt(keys=["a", "b"], values=f32[V]' \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt"
check "an argument that there is not" 2 "the model has no argument 'z'" \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt" --input 'x=f32[3]=1' --input 'z=f32[3]=1'
check "a tensor of another type is refused by its place" 3 "x: expected f32[3], got i64[3]" \
    "$ingot" run "$tmp/counts.ingot" --input "$kjt" --input 'x=i64[3]=1'
"$ingot" inspect --json "$tmp/counts.ingot" >"$tmp/json"
holds "info --json is JSON" is_json
rm -r "$case"
