# verify: what passes, what fails, and what is said.
# SPDX-License-Identifier: Apache-2.0

case=$tmp/case
mkdir -p "$case/test_data_set_0" "$case/test_data_set_1"
cp "$tmp/relu.ig" "$case/model.ig"
put() {
    "$ingot" run "$tmp/relu.ig" -q --input "x=$2" --outputs "$tmp/made" &&
        mv "$tmp/made/y.npy" "$case/$1"
}
put test_data_set_0/input_0.npy 'f32[2,4]=iota'
put test_data_set_0/output_0.npy 'f32[2,4]=iota'
put test_data_set_1/input_0.npy 'f32[1,4]=1,2,3,4'
put test_data_set_1/output_0.npy 'f32[1,4]=1,2,3,4'
for target in cpu interpret; do
    check "$target: a case passes" 0 "1 passed, 0 failed, 0 skipped" \
        "$ingot" verify -t $target "$case"
done
put test_data_set_1/output_0.npy 'f32[1,4]=1,2,3.5,4'
check "a difference is 1" 1 "0 passed, 1 failed, 0 skipped" "$ingot" verify "$case"
check "it names set, output, index and both values" 1 \
    "test_data_set_1: output 'y': at [0, 2] got 3, want 3.5 (1 of 4 differ)" \
    "$ingot" verify "$case"
check "a tolerance may be given" 0 "1 passed" "$ingot" verify --atol 0.6 "$case"
echo '{"tolerance": {"rtol": 0.2, "atol": 0}}' >"$case/case.json"
check "or stand in case.json" 0 "1 passed" "$ingot" verify "$case"
echo '{"tolerance": {"rtol": 0.2, "atol": 0}, "exact_outputs": ["y"]}' >"$case/case.json"
check "exact outputs have none" 1 "1 failed" "$ingot" verify "$case"
echo '{' >"$case/case.json"
check "a case.json that is broken fails" 1 "case.json" "$ingot" verify "$case"
rm "$case/case.json"
put test_data_set_1/output_0.npy 'f32[2,4]=1'
check "another shape fails" 1 "got f32[1, 4], want f32[2, 4]" "$ingot" verify "$case"
rm "$case/test_data_set_1/input_0.npy"
check "a missing input fails" 1 "has 0 inputs, the model takes 1" "$ingot" verify "$case"
rm -r "$case/test_data_set_1" "$case/model.ig"
check "a case without a model has not passed" 1 "0 passed, 1 failed, 0 skipped" \
    "$ingot" verify "$case"
mkdir "$tmp/no_data"
cp "$tmp/relu.ig" "$tmp/no_data/model.ig"
check "nor has one without data" 1 "the folder has no test_data_set_K" \
    "$ingot" verify "$tmp/no_data"
check "unless one is named" 0 "1 passed" "$ingot" verify --model "$tmp/relu.ig" "$case"
"$ingot" compile "$tmp/relu.ig" -q -o "$tmp/relu.ingot"
check "or an artifact" 0 "1 passed" "$ingot" verify --model "$tmp/relu.ingot" "$case"
check "which is not interpreted" 1 "--target interpret takes models" \
    "$ingot" verify -t interpret --model "$tmp/relu.ingot" "$case"
"$ingot" verify --json --model "$tmp/relu.ig" "$case" >"$tmp/json"
holds "verify --json is JSON" is_json
check "a suite without cases is wrong usage" 2 "holds no cases" \
    "$ingot" verify --suite "$tmp/stopped-not" --suite "$tmp/in"
cp "$tmp/relu.ig" "$case/model.ig"
mkdir "$tmp/one_suite"
cp -r "$case" "$tmp/one_suite"
check "a suite is its folders with data sets" 0 "1 passed, 0 failed, 0 skipped" \
    "$ingot" verify --suite "$tmp/one_suite" --form static

# A model, inputs and what is expected, without a folder of cases.
"$ingot" run "$tmp/relu.ig" -q --input 'x=f32[2,4]=-1,2,-3,4,5,-6,7,8' -o "$tmp/want.npz"
"$ingot" run "$tmp/relu.ig" -q --input 'x=f32[2,4]=-1,2,-3,4,5,-6,7,8' -o "$tmp/want"
rm -rf "$tmp/have" && mkdir "$tmp/have"
cp "$tmp/want/y.npy" "$tmp/have/x.npy"
for expected in "$tmp/want.npz" "$tmp/want"; do
    for model in relu.ig relu.ingot; do
        check "$model: inputs and ${expected##*/}" 0 "1 passed, 0 failed, 0 skipped" \
            "$ingot" verify "$tmp/$model" --inputs "$tmp/have" --expected "$expected"
    done
done
"$ingot" run "$tmp/relu.ig" -q --input 'x=f32[2,4]=1' -o "$tmp/other.npz"
check "a difference is told" 1 "output 'y': at [0, 0] got 0, want 1" \
    "$ingot" verify "$tmp/relu.ig" --inputs "$tmp/have" --expected "$tmp/other.npz"
check "within what is given" 0 "1 passed" \
    "$ingot" verify "$tmp/relu.ig" --inputs "$tmp/have" --expected "$tmp/other.npz" --atol 9
check "an output that nothing is stored for" 1 "nothing is stored for it" \
    "$ingot" verify "$tmp/relu.ig" --inputs "$tmp/have" --expected "$tmp/have"
check "one of both is wrong usage" 2 "both --inputs and --expected" \
    "$ingot" verify "$tmp/relu.ig" --inputs "$tmp/have"
"$ingot" verify --json "$tmp/relu.ig" --inputs "$tmp/have" --expected "$tmp/other.npz" \
    >"$tmp/json" 2>"$tmp/out"
holds "as JSON" is_json

# Whole numbers are exact unless something else is said.
cat >"$tmp/whole.ig" <<'IG'
module @whole {
  graph @main(%x: i32[2]) -> (i32[2] "y") {
    %0 = neg %x : i32[2]
    ret %0
  }
}
IG
"$ingot" run "$tmp/whole.ig" -q --input 'x=i32[2]=-100000,7' -o "$tmp/whole.npz"
mkdir "$tmp/whole_in"
"$ingot" run "$tmp/whole.ig" -q --input 'x=i32[2]=100001,-7' -o "$tmp/whole_in/x.npy"
check "whole numbers have no relative tolerance" 1 "got 100001, want 100000" \
    "$ingot" verify "$tmp/whole.ig" --inputs "$tmp/whole_in" --expected "$tmp/whole.npz"
check "but an absolute one when it is given" 0 "1 passed" \
    "$ingot" verify "$tmp/whole.ig" --inputs "$tmp/whole_in" --expected "$tmp/whole.npz" --atol 1
