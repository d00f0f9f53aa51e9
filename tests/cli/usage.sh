# Wrong usage is 2, help is 0, files that the user names are 6.
# SPDX-License-Identifier: Apache-2.0

check "no verb is wrong usage" 2 "usage: ingot VERB" "$ingot"
check "an unknown verb is wrong usage" 2 "there is no verb 'compil'" "$ingot" compil
check "an unknown option is named" 2 "there is no option --frob" "$ingot" compile --frob
check "an option without its value is named" 2 "the option -o needs a value" "$ingot" compile x -o
check "a missing model is wrong usage" 2 "expected MODEL -o OUT.ingot, got no MODEL" "$ingot" compile
check "two models are wrong usage" 2 "expected 1 argument, got 2: b is too many" "$ingot" run a b
check "compile needs -o" 2 "compile needs -o FILE" "$ingot" compile "$tmp/relu.ig"
check "a choice is checked" 2 "--form takes static|dynamic|constant" \
    "$ingot" verify --form dynamical "$tmp"
check "a count is checked" 2 "--threads takes a count from 0 to 4096, not 'two'" \
    "$ingot" run --threads two "$tmp/relu.ig"
check "and its range" 2 "--threads takes counts from 1 to 4096 such as 1,2,4, not '5000'" \
    "$ingot" bench --threads 5000 "$tmp/relu.ig"
check "a list of counts too" 2 "--batch takes counts" "$ingot" bench --batch 1,,2 "$tmp/relu.ig"
check "and to its end" 2 "--batch takes counts" "$ingot" bench --batch 1,2, "$tmp/relu.ig"
check "one count is no list" 2 "--batch takes a count from 1" \
    "$ingot" profile --batch 1,2 "$tmp/relu.ig"
check "an option that went is no option" 2 "there is no option --against" \
    "$ingot" verify --against anything "$tmp"
check "a tolerance is a number" 2 "--rtol takes a number that is not negative, not 'x'" \
    "$ingot" verify --rtol x "$tmp"
check "an unknown limit is wrong usage" 2 "there is no limit 'nodes'" \
    "$ingot" info --limit nodes=3
check "a limit needs a number" 2 "--limit takes NAME=N" "$ingot" info --limit rank=many
check "verify needs a case" 2 "verify needs CASE_DIR" "$ingot" verify
check "help is not an error" 0 "usage: ingot VERB" "$ingot" --help
check "the version is told" 0 "ingot 0." "$ingot" --version
for text in --help --man; do
    check "$text says what a model is" 0 ".pt2 (torch.export)" "$ingot" $text
done
for verb in compile run verify dump inspect compare quantize train bench profile shard serve worker; do
    holds "the help of $verb names .pt2" sh -c "'$ingot' $verb --help | grep -qw pt2"
done
check "reduce takes ONNX alone" 0 "MODEL.onnx" "$ingot" reduce --help
holds "and so its help names no other" sh -c "! '$ingot' reduce --help | grep -qw pt2"
for verb in compile run verify dump inspect opt bench profile store shard strip cache info; do
    check "$verb has help" 0 "usage: ingot $verb" "$ingot" "$verb" --help
    holds "the manual has $verb" sh -c "'$ingot' --man | grep -q 'ingot $verb'"
    # Every option that help lists stands in the manual and in the completion.
    for option in $("$ingot" "$verb" --help | grep -o -- '^ *\(-.,\)\? *--[a-z-]*' |
        grep -o -- '--.*'); do
        holds "the completion of $verb has $option" \
            sh -c "'$ingot' --completion | grep -q -- '$verb) words=.*$option'"
    done
done
for shell in bash zsh fish; do
    check "there is completion for $shell" 0 "" "$ingot" --completion $shell
    holds "which knows every verb: $shell" sh -c "
        for verb in compile run verify dump inspect opt bench profile store shard strip cache info; do
            '$ingot' --completion $shell | grep -qw \$verb || exit 1
        done"
    holds "and words of a choice: $shell" \
        sh -c "'$ingot' --completion $shell | grep -q 'embed reference'"
    if command -v $shell >/dev/null; then
        holds "it is a script: $shell" sh -c "'$ingot' --completion $shell | $shell -n"
    else
        skip "completion for $shell is a script" "$shell is absent"
    fi
done
check "a shell without completion is wrong usage" 2 "bash, zsh or fish, not 'tcsh'" \
    "$ingot" --completion tcsh

check "a model that is not there is 6" 6 "cannot read" "$ingot" run "$tmp/none.onnx"
check "a folder is not a model" 6 "$tmp" "$ingot" compile "$tmp" -o "$tmp/x.ingot"
check "a folder for the output that is not there is 6" 6 "cannot write" \
    "$ingot" compile "$tmp/relu.ig" -o "$tmp/none/x.ingot"
check "a case that is not there fails" 1 "no such folder" "$ingot" verify "$tmp/none"
check "a suite that is not there is 6" 6 "cannot read" "$ingot" verify --suite "$tmp/none"
mkdir "$tmp/usage_case"
for verb in "compile -o $tmp/x.ingot $tmp/relu.ig" "run $tmp/relu.ig" "bench $tmp/none.ig" \
    "profile $tmp/relu.ig" "verify $tmp/usage_case" "dump $tmp/relu.ig" "opt $tmp/relu.ig"; do
    # shellcheck disable=SC2086
    check "an unknown target is wrong usage: ${verb%% *}" 2 "there is no target 'z80'" \
        "$ingot" $verb --target z80
done
check "an unknown pass is wrong usage" 2 "frobnicate" \
    "$ingot" opt "$tmp/relu.ig" --passes frobnicate
check "a plan that is not lowered is not compiled" 3 \
    "the passes made no launch of a compute" \
    "$ingot" compile "$tmp/relu.ig" --passes fuse,bufferise -o "$tmp/unlowered.ingot"
check "nor is what is no plan" 3 "must end with 'lower'" \
    "$ingot" compile "$tmp/relu.ig" --passes dce -o "$tmp/unlowered.ingot"
check "an unknown pass to stop at too" 2 "frobnicate" \
    "$ingot" dump "$tmp/relu.ig" --after frobnicate
check "a pass that did not run is 3" 3 "pass 'cse' did not run" \
    env INGOT_SKIP=cse "$ingot" dump "$tmp/relu.ig" --after cse
check "compile makes nothing for the interpreter" 2 "try: ingot run MODEL --target interpret" \
    "$ingot" compile "$tmp/relu.ig" --target interpret -o "$tmp/x.ingot"
for stage in llvm asm cuda ptx; do
    check "the text of $stage has one format" 2 "--format json is for modules" \
        "$ingot" dump "$tmp/relu.ig" --stage $stage --format json
done

# A failure has a JSON form.
for arguments in "run $tmp/none.onnx --json" "run $tmp/relu.ig --json --frob" \
    "run --json $tmp/relu.ig" "bench $tmp/relu.ig --json --dim foo=3" \
    "compile $tmp/none.onnx -o $tmp/x.ingot --json" "verify --json" \
    "profile $tmp/none.onnx --json" "inspect $tmp/none.onnx --json"; do
    # shellcheck disable=SC2086
    "$ingot" $arguments >"$tmp/json" 2>"$tmp/errors"
    status=$?
    holds "its status and messages: ingot $arguments" python3 -c '
import json, sys
error = json.load(open(sys.argv[1]))["error"]
assert error["exit_status"] == int(sys.argv[2]) != 0, error
assert error["messages"] and all(error["messages"]), error
assert all(m in open(sys.argv[3]).read() for m in error["messages"])
' "$tmp/json" "$status" "$tmp/errors"
done
"$ingot" verify --json "$tmp/none" >"$tmp/json" 2>"$tmp/out"
holds "a suite that fails is one JSON value" is_json
check "text that is no module is 3" 3 "$tmp/bad.ig:2" \
    sh -c "printf 'module @m {\n  frob\n}\n' >'$tmp/bad.ig'; '$ingot' opt '$tmp/bad.ig'"
check "an artifact is no model" 3 "this is a compiled artifact, not a model" \
    "$ingot" compile "$tmp/dlrm.ingot" -o "$tmp/x.ingot"
printf 'PK\3\4 an archive of something else, long enough to be looked at' >"$tmp/x.pt"
check "a zip file of something else is no model" 3 "this is a zip file" \
    "$ingot" run "$tmp/x.pt"
printf '\x80\x02}q\x01.' >"$tmp/x.pt"
check "a pickle holds no program" 4 "this is a bare pickle: Python objects, no program" \
    "$ingot" run "$tmp/x.pt"
printf '(dp0\nS"a"\np1\nI1\ns.' >"$tmp/x.pt"
check "nor an old one" 4 "this is a bare pickle" "$ingot" inspect "$tmp/x.pt"
printf 'plain words\n' >"$tmp/x.pt"
check "words in a .pt are no ONNX" 3 "this is not a model archive" "$ingot" inspect "$tmp/x.pt"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$tmp/x.pt"
check "a pointer is told from a model" 3 "run git lfs pull" "$ingot" inspect "$tmp/x.pt"
printf '<!DOCTYPE html><p>Not found' >"$tmp/x.onnx"
check "a page from the net too" 3 "this is a web page" "$ingot" inspect "$tmp/x.onnx"
printf '\x40\0\0\0\0\0\0\0{"w":{}}' >"$tmp/x.pt"
check "weights alone are no model" 4 "holds weights only, and no code" \
    "$ingot" compile "$tmp/x.pt" -o "$tmp/x.ingot"
if python3 -c 'import zipfile, sys
with zipfile.ZipFile(sys.argv[1], "w") as z:
    z.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
    z.writestr("archive/version", "3\n")' "$tmp/x.pt"; then
    check "nor is a state_dict" 4 "weights or Python objects only, and no code" \
        "$ingot" compile "$tmp/x.pt" -o "$tmp/x.ingot"
fi
check "a folder of inputs that is not there is 6" 6 "cannot read" \
    "$ingot" run "$tmp/dlrm.onnx" --inputs "$tmp/none"
check "types of IR text are its own" 4 "have the types that the text gives them" \
    "$ingot" compile "$tmp/relu.ig" --input 'x=f32[2,4]' -o "$tmp/x.ingot"
check "a full output is 6" 6 "cannot write the output" \
    sh -c "'$ingot' dump '$tmp/relu.ig' >/dev/full"

for arguments in "info" "inspect $tmp/dlrm.ingot" "inspect $tmp/dlrm.onnx" \
    "run $tmp/dlrm.ingot --inputs $tmp/in" "dump $tmp/relu.ig --format json" \
    "bench $tmp/relu.ig --seconds 0.01" "compile $tmp/relu.ig -o $tmp/x.ingot"; do
    # shellcheck disable=SC2086
    "$ingot" $arguments --json >"$tmp/json" 2>"$tmp/out" ||
        "$ingot" $arguments >"$tmp/json" 2>"$tmp/out"
    holds "JSON of: ingot ${arguments%% *}" is_json
done
check "HTML is a page" 0 "<script id=\"data\"" "$ingot" dump "$tmp/relu.ig" --format html
check "dot is a digraph" 0 "digraph" "$ingot" dump "$tmp/relu.ig" --format dot

# Gradients in place of the outputs.
cat >"$tmp/loss.ig" <<'IG'
module @m {
  weight @first.w : f32[2] = splat(3)
  weight @last.w : f32[2] = splat(2)
  graph @main(%x: f32[B, 2]) -> (f32[] "loss", f32[B, 2] "y") {
    %0 = mul %x, @first.w
    %1 = add %0, @last.w
    %2 = reduce %1
    ret %2, %1
  }
}
IG
check "gradients by all weights" 0 '(f32[2] "grad_first.w", f32[2] "grad_last.w")' \
    "$ingot" dump "$tmp/loss.ig" --grad loss
check "by those that a pattern names" 0 '-> (f32[2] "grad_last.w")' \
    "$ingot" dump "$tmp/loss.ig" --grad 'loss:l*'
check "by inputs" 0 '-> (f32[B, 2] "grad_x")' "$ingot" dump "$tmp/loss.ig" --grad loss:x
check "which run" 0 "" "$ingot" dump "$tmp/loss.ig" --grad loss:x -o "$tmp/grad.ig"
check "and give numbers" 0 "3 3" "$ingot" run "$tmp/grad.ig" -t interpret --input 'x=f32[1,2]=1'
check "an output that is none" 3 "the model has no output 'none'" \
    "$ingot" dump "$tmp/loss.ig" --grad none
check "one of two has to be named" 3 "name the output" "$ingot" dump "$tmp/loss.ig" --grad :x
check "a pattern of nothing" 3 "no weight or input is called 'z*'" \
    "$ingot" dump "$tmp/loss.ig" --grad 'loss:x,z*'
check "not of models that nobody trusts" 2 "leave out --isolate or --grad" \
    "$ingot" dump "$tmp/loss.ig" --grad loss --isolate

# Passwords and tokens of URLs are in no message and in no artifact.
url='https://user:hunter2@host/m.onnx?token=hunter2'
for arguments in "run $url" "compile $url -o $tmp/x.ingot" "bench $url" "dump $url" "inspect $url" \
    "verify --suite $url" "verify $url" "run $tmp/relu.ig --inputs $url" "$url" \
    "run $tmp/relu.ig --input x=@$url" "run $tmp/relu.ig --threads $url" \
    "compile $tmp/relu.ig -o $url" "run $tmp/relu.ig --frob=$url" "profile $url --json" \
    "run $tmp/relu.ig --input $url" "info --limit $url" "compile $tmp/relu.ig -t $url -o x"; do
    # shellcheck disable=SC2086
    "$ingot" $arguments >"$tmp/out" 2>&1
    holds "fails: ${arguments%% *}" [ $? != 0 ]
    holds "and keeps the secret: ingot $arguments" sh -c "! grep -q hunter2 '$tmp/out'"
done
mkdir -p "$tmp/redis:/"
cp "$tmp/relu.ig" "$tmp/redis:/u:hunter2@h"
(cd "$tmp" && "$ingot" compile "redis://u:hunter2@h" -q -o named.ingot)
holds "nor is it in an artifact" sh -c "[ -s '$tmp/named.ingot' ] && ! grep -qa hunter2 '$tmp/named.ingot'"

# Exit statuses: every verb, every kind of failure, in words and as JSON.
python3 tests/cli/files/tiny_onnx.py "$tmp/unknown.onnx" unknown
printf '\x08\x08\x3a\x05junk' >"$tmp/broken.onnx"
# status STATUS VERB ARGUMENTS…
status() {
    local wanted=$1
    shift
    check "$wanted: ingot $*" "$wanted" "$([[ $wanted = [01] ]] || echo error: )" "$ingot" "$@"
    "$ingot" "$@" --json >"$tmp/json" 2>"$tmp/errors"
    holds "and as JSON" python3 -c '
import json, sys
told = json.load(open(sys.argv[1]))
assert told["schema"] == 1, told
assert sys.argv[2] in "01" or told["error"]["exit_status"] == int(sys.argv[2]), told
' "$tmp/json" "$wanted"
}
for verb in compile run dump opt bench profile inspect; do
    options=
    [ $verb != compile ] || options="-o $tmp/x.ingot"
    # shellcheck disable=SC2086
    {
        status 2 $verb "$tmp/relu.ig" --frob
        status 2 $verb "$tmp/relu.ig" $options --limit frob=1
        status 3 $verb "$tmp/broken.onnx" $options
        status 4 $verb "$tmp/unknown.onnx" $options
        status 5 $verb "$tmp/relu.ig" $options --limit rank=1
        status 6 $verb "$tmp/none.onnx" $options
    }
done
check "a count past 2^64 is none" 2 "--rank takes a count, not '99999999999999999999999'" \
    "$ingot" dump "$tmp/relu.ig" --rank 99999999999999999999999
for verb in run bench profile; do
    status 2 $verb "$tmp/relu.ig" --input x
    status 2 $verb "$tmp/relu.ig" --input 'frob=f32[1,4]=1'
    status 2 $verb "$tmp/relu.ig" --limit node_count=99999999999999999999999
    status 3 $verb "$tmp/relu.ig" --input 'x=f32[2]=1,frob'
    status 5 $verb "$tmp/relu.ig" --limit session_bytes=1 --input 'x=f32[3,4]=1'
    status 6 $verb "$tmp/relu.ig" --input "x=@$tmp/none.npy"
done
for verb in bench profile; do
    status 2 $verb "$tmp/relu.ig" --dim frob=3
    status 2 $verb "$tmp/dlrm.onnx" --inputs "$tmp/in" --dim batch=3
done
status 2 run "$tmp/relu.ig" --input 'x=f32[1,4]=1' -o "$tmp/x.csv"
status 2 run "$tmp/dlrm.ingot" --inputs "$tmp/in" --clamp-ids
status 2 compile "$tmp/relu.ig" -o "$tmp/x.out"
status 2 strip "$tmp/dlrm.ingot" -o "$tmp/x.out"
status 1 verify "$tmp/none"
status 2 verify
status 2 verify "$tmp/relu.ig" --inputs "$tmp/in"
status 3 verify "$tmp/broken.onnx" --inputs "$tmp/in" --expected "$tmp/in"
status 4 verify "$tmp/unknown.onnx" --inputs "$tmp/in" --expected "$tmp/in"
status 5 verify "$tmp/relu.ig" --inputs "$tmp/in" --expected "$tmp/in" --limit rank=1
status 6 verify "$tmp/relu.ig" --inputs "$tmp/none" --expected "$tmp/none"
status 6 verify --suite "$tmp/none"
status 6 compile "$tmp/relu.ig" -o "$tmp/none/x.ingot"
status 6 dump "$tmp/relu.ig" -o "$tmp/none/x.ig"
status 6 run "$tmp/relu.ig" --input 'x=f32[1,4]=1' -o "$tmp/none/y/z.npz"
status 2 cache
status 2 cache frob
status 0 cache info
status 2 info --kernels 1,2
for verb in compile run verify dump inspect opt bench profile store shard strip cache info; do
    check "$verb: help says where statuses stand" 0 "exit status: 0 good" "$ingot" $verb --help
done
